//! One change to many groups: a preview for each group, the confirmation, and the durable batch.

use super::{Prepared, Ready, UNDONE, prepare};
use crate::{
    cli::{
        args::{AgainBatch, Update},
        commands::prelude::*,
        input::{fields, forgotten},
        output::json::{LEFT_OUT, REQUESTS, left_out as skipped, requests},
    },
    config::guard,
    directory::BatchId,
    domain::batch::{BulkChange, EditPlan, EditRow, Verdict},
    operations::{NextStep, batch::RunLimits},
};

/// A checked change, and how to start it.
struct EditRequest {
    plan: EditPlan,
    all_named: bool,
    mutation: Mutation,
    reason: Option<String>,
    options: BatchOptions,
}

/// `update` of several groups.
pub(super) async fn update(
    session: &Session,
    arguments: Update,
    change: BulkChange,
    given: Given,
) -> Result<Prepared, CliError> {
    let (groups, many) = (arguments.groups, arguments.many);
    session.operations.may(NextStep::BULK_EDIT)?;
    let selected = Selected::of(session, (&groups, given), None, UNDONE).await?;
    let plan = plan(session, change, &selected.ids, many.include_old).await?;
    let request = EditRequest {
        plan,
        all_named: selected.all_named,
        mutation: arguments.mutation,
        reason: many.reason,
        options: many.pace.options(BatchOptions::default()),
    };
    begin(session, request).await
}

/// Blanks around the key of a row to remove count only if a group has such a row, as for a single update. A row that no group
/// has is refused.
async fn plan(
    session: &Session,
    change: BulkChange,
    ids: &[UserGroupId],
    include_old: bool,
) -> Result<EditPlan, CliError> {
    let plan_edit = |change| session.operations.plan_edit(change, ids, include_old);
    let typed = change.key().to_owned();
    let key = visible(&typed);
    let without = change
        .without_blanks()
        .filter(|without| !without.key().is_empty());
    let mut plan = plan_edit(change).await?;
    if let Some(without) = without {
        let without = plan_edit(without).await?;
        match (plan.has_row(), without.has_row()) {
            (true, true) => {
                return Err(CliError::Guarded(format!(
                    "some groups have the key \"{key}\" with these blanks, others without; {UNDONE}. Update each group separately"
                )));
            }
            (true, false) => {}
            (false, _) => plan = without,
        }
    }
    if plan.lacks_row() {
        let what = match plan.change.field() {
            Field::Mapping => "--unmap: none of the groups has a row",
            _ => "--remove-property: none of the groups has the key",
        };
        if fields::is_another_key(&typed, &plan.keys()) {
            return Err(fields::missing_key(what, &typed, &plan.keys()));
        }
        output::context(&format!("! {what} \"{key}\""));
    }
    Ok(plan)
}

/// Refuses arguments that are for one group. Returns the change.
pub(super) fn check(arguments: &Update) -> Result<BulkChange, CliError> {
    let is_of_one = arguments.apply.is_some()
        || !arguments.replace.fields().is_empty()
        || arguments.if_unchanged
        || arguments.assurance.exists
        || arguments.token.reveal
        || arguments.token.token_out.is_some();
    if is_of_one {
        return Err(CliError::Usage(format!(
            "--apply, --replace-mapping, --replace-properties, --if-unchanged, --exists, --reveal and --token-out work for one \
             group only; {UNDONE}"
        )));
    }
    prepare::no_curl(&arguments.mutation)?;
    // Nothing of these words is repeated: they were not looked up yet.
    let others = || arguments.groups.ids.iter().skip(1).map(UserGroupId::as_str);
    // IDs may stand behind a reason of one word; a name is for one group only.
    let unquoted = others().find_map(forgotten::text);
    if let Some(option) = unquoted.filter(|_| arguments.fields.name.is_some()) {
        return Err(CliError::Usage(format!(
            "a word of {option} is read as another ID; {UNDONE}. Put the text of {option} in quotes"
        )));
    }
    let field = others().find_map(forgotten::field);
    if let Some(written) = field.filter(|_| arguments.is_nothing()) {
        return Err(CliError::Usage(format!(
            "update needs a change; {UNDONE}. Write it as {written}"
        )));
    }
    let mut values = others().filter_map(forgotten::value);
    let value = values.find(|option| ["--map", "--property"].contains(option));
    if let Some(option) = value.filter(|_| arguments.is_nothing()) {
        return Err(CliError::Usage(format!(
            "update needs a change; {UNDONE}. Put {option} before the change"
        )));
    }
    let (unmap, remove) = (&arguments.unmap, &arguments.remove_property);
    let only_where = arguments.many.if_value.as_deref();
    fields::bulk_change(&arguments.fields, unmap, remove, only_where)
}

/// Repeats a batch of edits, or reverses it.
pub(super) async fn again(
    session: &Session,
    arguments: AgainBatch,
    before: BatchOptions,
    is_reverse: bool,
) -> Result<Prepared, CliError> {
    prepare::no_curl(&arguments.mutation)?;
    session.operations.may(NextStep::BULK_EDIT)?;
    let (id, old) = (BatchId(arguments.number), arguments.include_old);
    let plan = if is_reverse {
        session.operations.plan_reverse_edit(id, old).await?
    } else {
        session.operations.plan_edit_again(id, old).await?
    };
    let plan = plan.ok_or_else(|| {
        CliError::Guarded(format!(
            "batch {} is a bulk rotation, which cannot be undone; {UNDONE}",
            id.0
        ))
    })?;
    let request = EditRequest {
        plan,
        all_named: true,
        mutation: arguments.mutation,
        reason: arguments.reason,
        options: arguments.pace.options(before),
    };
    begin(session, request).await
}

/// Shows the preview, asks for confirmation, and creates the durable batch.
async fn begin(session: &Session, request: EditRequest) -> Result<Prepared, CliError> {
    let (plan, mutation, all_named) = (&request.plan, &request.mutation, request.all_named);
    session.say_where();
    let operations = &session.operations;
    let (none, typed) = (DesiredFields::default(), plan.change.typed());
    operations.no_secret_in(&none, &typed).await?;
    fields::say_cells(&none, &typed);
    let (changing, _, skipped) = plan.counts();
    if mutation.dry_run {
        say(session, plan)?;
        let left_out = all_named && skipped > 0;
        return Ok(Err(prepare::exit_of_dry_run(left_out, changing, true)));
    }
    output::context(&lines(session, plan, super::NAMED));
    if changing == 0 {
        if skipped > 0 {
            return Err(CliError::Guarded(format!(
                "no group can be changed now; {UNDONE}"
            )));
        }
        let what = match plan.rows.as_slice() {
            [] => "no group to change",
            _ => "all groups already have this value",
        };
        output::say(&format!("{what}; {UNDONE}"));
        if session.json {
            output::json_line(super::summary(None, &[], None))?;
        }
        return Ok(Err(Exit::Done));
    }
    let review = Review::of(session, Guarded::Bulk, mutation)?;
    review.can_ask()?;
    operations.ready().await?;
    let profile = operations.profile();
    let (level, reason_of_guard) = guard::level_of_bulk_edit(&profile.guards, profile.production);
    if let Some(reason) = reason_of_guard {
        output::context(&format!("! guard: {reason}"));
    }
    let words = format!("edit {changing} in {}", profile.name);
    let what = format!("Reads each group, then sends one update: {}.", plan.change);
    review.ask_at(level, &what, &words).await?;
    let begun = operations.begin_edit(plan, request.reason, request.options);
    let (batch, skipped) = (begun.await?, left_out(plan));
    Ok(Ok(Ready {
        batch,
        skipped: skipped.map(|(id, why)| (id.clone(), why)).collect(),
        all_named,
        tokens: None,
        schedule: None,
        pace: RunLimits::of(request.options),
    }))
}

fn left_out(plan: &EditPlan) -> impl Iterator<Item = (&UserGroupId, String)> {
    plan.rows.iter().filter_map(|row| match &row.verdict {
        Verdict::Skipped(skip) => Some((&row.id, skip.to_string())),
        Verdict::Change | Verdict::Same => None,
    })
}

fn say(session: &Session, plan: &EditPlan) -> Result<(), CliError> {
    let url = session.operations.profile().url();
    if !session.json {
        return output::result(&format!(
            "{}\nwould send {} PUT {url}, one per group; nothing was changed",
            lines(session, plan, usize::MAX),
            plan.counts().0
        ));
    }
    output::json(&planned(plan, &url))
}

shape! {
    pub(crate) PLAN = "edit-plan", "what a bulk edit would do";
    fn planned(plan: &EditPlan, url: &str) {
        ..REQUESTS = requests("PUT", url);
        "change": text = plan.change, "what is set or removed; human-readable, may change";
        "changing": [CHANGING] = plan.changing().map(changing), "groups that would be updated";
        "same": texts = plan.rows.iter().filter(|row| row.verdict == Verdict::Same).map(|row| row.id.as_str()), "IDs of groups that already have this value";
        ..LEFT_OUT = skipped(left_out(plan));
        "unread": number = plan.unverified().map_or(0, |(count, _)| count), "number of updates that also send a field that cannot be read, with its last known value";
    }

    CHANGING = "", "";
    fn changing(row: &EditRow) {
        "user_group_id": text = row.id.as_str(), "the group";
        "before": text or "the row does not exist" = row.before.as_ref(), "current value of the row; for a property its JSON";
        "after": text or "the row is removed" = row.after.as_ref(), "new value of the row";
    }
}

/// The preview for a person, with at most `most` groups of each kind.
fn lines(session: &Session, plan: &EditPlan, most: usize) -> String {
    let (changing, same, skipped) = plan.counts();
    let mut lines = vec![
        plan.change.to_string(),
        format!("{changing} to change, {same} already set, {skipped} skipped"),
    ];
    lines.extend(plan.changing().take(most).map(line));
    let more = |count: usize| super::more(count).filter(|_| count > most);
    lines.extend(more(changing));
    let left_out = left_out(plan).take(most);
    lines.extend(left_out.map(|(id, why)| format!("  skip {id}: {why}")));
    lines.extend(more(skipped));
    if plan.unread().next().is_some() {
        lines.push(format!("  {}", proposals::to_read(plan.unread())));
    }
    if plan.old() > 0 {
        lines.push("  --include-old also includes values last sent more than 30 days ago".into());
    }
    if let Some((count, oldest)) = plan.unverified() {
        lines.push(format!(
            "! for {count} of them, {} {} sent again as last sent, the oldest {} by {}",
            oldest.field.as_str(),
            oldest.field.is(),
            human::ago(oldest.at, session.operations.now()),
            visible(&oldest.by)
        ));
    }
    lines.join("\n")
}

/// For example `~ acme-eu: 40 -> 213`, with the signs of docs/design/console.md.
fn line(row: &EditRow) -> String {
    let (sign, values) = match (&row.before, &row.after) {
        (Some(before), Some(after)) => ('~', format!("{before} -> {after}")),
        (None, Some(after)) => ('+', after.clone()),
        (Some(before), None) => ('-', before.clone()),
        (None, None) => (' ', String::new()),
    };
    let recent = row.recent.as_ref().map(|recent| {
        let fields = recent.fields.iter().map(|field| field.as_str());
        format!(
            " (! {} changed by {} within 24 h)",
            joined(fields, ", "),
            visible(&recent.by)
        )
    });
    format!(
        "  {sign} {}: {}{}",
        row.id,
        visible(&values),
        recent.unwrap_or_default()
    )
}
