//! `update`: reads the group, merges the edits into it, and sends what may be sent (hazard 4 of
//! docs/design/service.md).

use std::mem;

use super::{answer, assurance, mistyped::ask_before_reading, reading, token_file};
use crate::{
    api::failure::Call,
    cli::{
        args::Update,
        commands::{batch, prelude::*},
        input::fields::{Edits, say_cells},
        output::token_file::TokenFile,
    },
    domain::update::{Edit, Plan},
    operations::{add_new, not_created, sendable},
};

/// How to send a change.
pub(crate) struct How {
    /// Fields that are sent whole although others may have changed them.
    pub(crate) replace: Vec<Field>,
    pub(crate) if_unchanged: bool,
    pub(crate) assurance: UnknownIdPolicy,
    pub(crate) mutation: Mutation,
    pub(crate) token: TokenArgs,
    /// It brings back values of an earlier change.
    pub(crate) undoes: bool,
}

impl How {
    /// For a group that the directory knows; nothing is replaced, no token comes out.
    pub(crate) fn of(mutation: Mutation) -> Self {
        Self {
            replace: Vec::new(),
            if_unchanged: false,
            assurance: UnknownIdPolicy::KnownOnly,
            mutation,
            token: TokenArgs::default(),
            undoes: false,
        }
    }
}

impl Run for Update {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("update", &[
            "groupdesk update acme-eu --map 40=214 --unmap 134 --dry-run",
            "groupdesk update --filter tag:customer --map 7=213 --if-value 40 --dry-run",
        ], &[
            one("ID", &[&json::ANSWER]),
            one("ID --dry-run", &[&review::REQUEST]),
            lines(", of many groups", &[&batch::ITEM, &batch::SUM]),
            one(", of many groups --dry-run", &[&batch::edit::PLAN]),
        ]),
    ];

    async fn run(mut self, global: &Global) -> Result<Exit, CliError> {
        token_file::prepare_for(&self.token)?;
        let Some(id) = self.single().cloned() else {
            return batch::update(global, self).await;
        };
        if self.is_nothing() {
            let text = "update needs a change, for example --name NAME; nothing was sent";
            return Err(CliError::Usage(text.into()));
        }
        let (apply, fields) = (self.apply.take(), mem::take(&mut self.fields));
        let [unmap, remove] = [&mut self.unmap, &mut self.remove_property].map(mem::take);
        let edits = async {
            match apply {
                Some(file) => Edits::of_file(file, id.clone()).await,
                None => Edits::read(fields, unmap, remove).await,
            }
        };
        in_session_with(global, edits, async |session, edits| {
            update(session, &id, self, edits).await
        })
        .await
    }
}

async fn update(
    session: &Session,
    id: &UserGroupId,
    arguments: Update,
    edits: Edits,
) -> Result<Exit, CliError> {
    let how = How {
        replace: arguments.replace.fields(),
        if_unchanged: arguments.if_unchanged,
        assurance: assurance(arguments.assurance.exists),
        token: arguments.token,
        ..How::of(arguments.mutation)
    };
    lay_over(session, id, &edits, how).await
}

/// Refuses what cannot be confirmed or sent, before anything is sent. Returns what is known of the group.
async fn may_update(
    session: &Session,
    id: &UserGroupId,
    how: &How,
) -> Result<Option<KnownGroup>, CliError> {
    let review = Review::of(session, Guarded::Update, &how.mutation)?;
    let known = session.operations.known(id, how.assurance).await?;
    review.begin()?;
    if how.assurance == UnknownIdPolicy::Exists {
        let yes = how.mutation.yes || how.mutation.dry_run;
        ask_before_reading(session, id, known.as_ref(), yes).await?;
    }
    if how.mutation.dry_run && !known.as_ref().is_some_and(KnownGroup::is_seen) {
        let would = session.operations.would_look_up(id, how.assurance).await;
        would.map_err(|failure| failure.of_change(id, "updated"))?;
        return Err(CliError::Guarded(format!(
            "\"{id}\" was never read here, and a dry run does not read it, because that could create it: what would be sent \
             depends on what it has. To read it first: {}",
            id.command("get", "--exists")
        )));
    }
    Ok(known)
}

/// Reads the group for an update that may be sent; also the file of `--token-out`, which is created before.
pub(crate) async fn read_to_update(
    session: &Session,
    id: &UserGroupId,
    how: &How,
) -> Result<(Done, Option<TokenFile>), CliError> {
    let known = may_update(session, id, how).await?;
    let file = if how.mutation.dry_run {
        None
    } else {
        token_file(&how.token)?
    };
    let read = read_first(session, id, known.as_ref(), how).await?;
    Ok((read, file))
}

/// Reads the group, merges the edits into it, and sends what may be sent.
pub(crate) async fn lay_over(
    session: &Session,
    id: &UserGroupId,
    edits: &Edits,
    how: How,
) -> Result<Exit, CliError> {
    let (read, file) = read_to_update(session, id, &how).await?;
    let base = DesiredFields::of(&read.group);
    let edit = Edit {
        wanted: edits.apply(&base)?,
        base,
        whole: edits.whole(),
        replace: how.replace.clone(),
        ..Edit::default()
    };
    send(session, id, &edit, read, how, file).await
}

/// Shows what would be sent on top of what was read, asks, and sends it.
pub(crate) async fn send(
    session: &Session,
    id: &UserGroupId,
    edit: &Edit,
    read: Done,
    how: How,
    mut file: Option<TokenFile>,
) -> Result<Exit, CliError> {
    let How {
        assurance,
        mutation,
        token,
        undoes,
        ..
    } = how;
    // The read withdrew a fact that the update relied on, so a person has to look first.
    if read.warnings.iter().any(Warning::is_of_facts) {
        return answer(session, &read, None, &token, file.as_mut()).await;
    }
    if edit.fields().is_empty() {
        if mutation.dry_run {
            let nothing = Change::between(&edit.base, &edit.base);
            let request = DesiredFields::default();
            let change = (&request, &nothing);
            return review::dry_run(session, Call::Update, id, change, mutation.curl);
        }
        output::say("no changes; no update was sent");
        return answer(session, &read, None, &token, file.as_mut()).await;
    }
    let mut edit = edit.clone();
    let mut plan = read.plan(&edit, session.operations.operator());
    // Who is asked sees what is not known well enough, and decides; without a question it needs an option or a fact.
    let doubtful = if !mutation.yes && confirm::has_person(session.no_input) {
        plan.in_doubt()
    } else {
        Vec::new()
    };
    let doubts = review::doubts(&doubtful, &plan, session.operations.now());
    if !doubtful.is_empty() {
        edit.replace.extend_from_slice(&plan.replaced);
        edit.sends_unchanged = Plan::sends_as_known(&doubtful);
        plan = read.plan(&edit, session.operations.operator());
    }
    // Report an update that cannot be sent before the person is asked to confirm it.
    sendable(id, &session.operations.profile().name, &plan, &read.open)?;
    // Nor is a secret shown that the update would be refused for.
    let operations = &session.operations;
    operations.no_secret_in(&edit.base, &edit.wanted).await?;
    say_cells(&edit.base, &edit.wanted);
    let change = Change::between(&edit.base, &plan.send);
    let beside = review::beside(&plan, &read, session.operations.now());
    for text in [&beside, &doubts]
        .into_iter()
        .filter(|text| !text.is_empty())
    {
        output::context(text);
    }
    if mutation.dry_run {
        let would = operations.would_update(&read, &edit, assurance).await;
        would.map_err(|failure| failure.of_change(id, "updated"))?;
        let change = (&plan.send, &change);
        return review::dry_run(session, Call::Update, id, change, mutation.curl);
    }
    if !mutation.yes {
        human::say_warnings(&read);
        output::context(&review::lines(&change, false));
    }
    let weight = Weight {
        undoes,
        is_blind: plan.is_blind,
    };
    let question = format!("Update \"{id}\"?");
    let review = Review::of(session, Guarded::Update, &mutation)?;
    let about = (Guarded::Update, id);
    review.ask_about(about, weight, &question).await?;
    let updating = Box::pin(operations.update_edit(id, &edit, assurance));
    let updated = session.in_flight.during(updating).await;
    let mut done = updated.map_err(|failure| failure.of_change(id, "updated"))?;
    // Repeat the warnings of the first read, because they are still news to whoever started the command.
    add_new(&mut done.warnings, &read.warnings);
    answer(session, &done, None, &token, file.as_mut()).await
}

/// The get before an update (hazard 4). An alarm ends the command, and nothing more is sent.
async fn read_first(
    session: &Session,
    id: &UserGroupId,
    known: Option<&KnownGroup>,
    how: &How,
) -> Result<Done, CliError> {
    let (operations, assurance) = (&session.operations, how.assurance);
    let read = if how.if_unchanged {
        reading(session, known, Box::pin(operations.look_up_unchanged(id))).await
    } else {
        reading(session, known, Box::pin(operations.look_up(id, assurance))).await
    };
    let read = read.map_err(|failure| match failure {
        // It may have created the group.
        Failure::NotWritten(_) if assurance == UnknownIdPolicy::Exists => failure,
        failure => failure.before(id, "updated"),
    })?;
    not_created(id, &read)?;
    Ok(read)
}
