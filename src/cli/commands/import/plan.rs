//! What the rows of a file would change, as far as is known here; nothing is sent.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
};

use futures_util::StreamExt;
use jiff::Timestamp;
use serde_json::json;

use super::checked::{Checked, piece};
use crate::{
    api::inspect::escape_hidden,
    cli::{
        error::CliError,
        output::{self, review},
        session::Session,
    },
    domain::{change::DesiredFields, text::visible},
    formats::{GroupRow, Need, Plan, Planned},
    operations::{Sending, Warning, batch::Control, changes_json, request},
};

/// How many rows are named before a confirmation.
const NAMED: usize = 20;

/// A plan that was shown: what is sent is what it said.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) plan: Plan,
    /// What the rows that would update a group begin with, as far as they touch it; by their numbers.
    pub(crate) bases: HashMap<usize, DesiredFields>,
    /// Reads came before the plan: from then on what they showed counts as read in this run.
    pub(crate) refreshed: Option<Timestamp>,
}

impl Shown {
    fn takes(&mut self, number: usize, row: &GroupRow, planned: &Planned) {
        self.plan.count(planned.need);
        if planned.need == Need::Update {
            self.bases
                .insert(number, planned.base.clone().touched_by(&row.said));
        }
    }

    /// When the group was read in this run.
    fn read_at(&self, planned: &Planned) -> Option<Timestamp> {
        let begun = self.refreshed?;
        planned.seen.filter(|seen| *seen >= begun)
    }
}

/// Groups that are read at the same time before a plan.
const AT_ONCE: usize = 8;

/// Reads the groups of all rows that were seen before.
async fn refresh(session: &Session, checked: &Checked) -> Result<(), CliError> {
    let control = Control::default();
    let mut rows = checked.read()?;
    while let Some(next) = rows.recv().await {
        let ids = piece(next)?.into_iter().map(|(_, row)| row.id).collect();
        let known = session.operations.show_some(ids).await?;
        let seen = known.into_iter().flatten();
        let seen = seen.filter(|group| group.last_seen.is_some());
        let reads = seen.map(|group| {
            let control = &control;
            async move {
                let read = session
                    .operations
                    .read_patiently(&group.id, control, |_| {});
                read.await
            }
        });
        let mut reading = futures_util::stream::iter(reads).buffer_unordered(AT_ONCE);
        while let Some(read) = reading.next().await {
            if read?.warnings.iter().any(Warning::is_alarm) {
                return Err(CliError::Guarded(
                    "a group raised an alarm while it was read; nothing was sent".into(),
                ));
            }
        }
    }
    Ok(())
}

/// Begins a plan; with `refreshes` after reading.
async fn begin(session: &Session, checked: &Checked, refreshes: bool) -> Result<Shown, CliError> {
    let begun = session.operations.now();
    if refreshes {
        refresh(session, checked).await?;
    }
    Ok(Shown {
        refreshed: refreshes.then_some(begun),
        ..Shown::default()
    })
}

/// Tells of every row what it needs.
pub(crate) async fn tell(
    session: &Session,
    checked: &Checked,
    sending: Sending,
    refreshes: bool,
) -> Result<Shown, CliError> {
    let mut shown = begin(session, checked, refreshes).await?;
    let mut rows = checked.read()?;
    while let Some(next) = rows.recv().await {
        let mut text = String::new();
        for (number, row, planned) in planned(session, piece(next)?).await? {
            shown.takes(number, &row, &planned);
            let told = if session.json {
                json_line(sending, number, &row, &planned, shown.read_at(&planned))
            } else {
                lines(sending, &row, &planned)
            };
            text.push_str(&told);
        }
        if !text.is_empty() {
            output::result(&text)?;
        }
    }
    Ok(shown)
}

/// What a person sees before the confirmation: how many rows need what, and the first of them.
pub(super) async fn check_screen(
    session: &Session,
    checked: &Checked,
    sending: Sending,
    done: &[usize],
    refreshes: bool,
) -> Result<Shown, CliError> {
    let done: HashSet<usize> = done.iter().copied().collect();
    let mut shown = begin(session, checked, refreshes).await?;
    let mut named = String::new();
    let mut rows = checked.read()?;
    while let Some(next) = rows.recv().await {
        let mut left = piece(next)?;
        left.retain(|(number, _)| !done.contains(number));
        for (number, row, planned) in planned(session, left).await? {
            shown.takes(number, &row, &planned);
            if shown.plan.all() <= NAMED {
                let word = told(word(sending, planned.need));
                writeln!(named, "  {word} {}", visible(row.id.as_str()))
                    .expect("a String takes it");
            }
        }
    }
    let plan = shown.plan;
    let more = plan.all().saturating_sub(NAMED);
    if more > 0 {
        writeln!(named, "  and {more} more").expect("a String takes it");
    }
    output::context(&format!(
        "{} rows, as far as is known here: {}\n{named}",
        plan.all(),
        in_words(sending, plan)
    ));
    Ok(shown)
}

/// The sum of it.
pub(crate) fn say_sum(session: &Session, sending: Sending, plan: Plan) -> Result<(), CliError> {
    if session.json {
        let mut sum = json!({"dry_run": true, "rows": plan.all()});
        for (word, count) in counts(sending, plan) {
            sum[word] = count.into();
        }
        return output::result(&sum.to_string());
    }
    output::result(&format!(
        "{}, as far as is known; nothing was sent",
        in_words(sending, plan)
    ))
}

/// For example `create 3, update 0, unchanged 7`; what was not asked for only where there is some.
pub(crate) fn in_words(sending: Sending, plan: Plan) -> String {
    let counts = counts(sending, plan).into_iter();
    let is_said = |(word, count): &(&str, usize)| {
        *count > 0
            || *word == "unchanged"
            || *word == "create" && sending.create
            || *word == "update" && sending.update
    };
    let parts: Vec<_> = counts
        .filter(is_said)
        .map(|(word, count)| format!("{} {count}", told(word)))
        .collect();
    parts.join(", ")
}

/// A [`word`] for people. Nobody has read the rest: that it is unchanged would be too much to say.
fn told(word: &str) -> String {
    match word {
        "unchanged" => "as last known".to_owned(),
        word => word.replace('_', " "),
    }
}

/// How many rows of each [`word`].
fn counts(sending: Sending, plan: Plan) -> [(&'static str, usize); 5] {
    let asked = |is_asked: bool, count: usize| if is_asked { (count, 0) } else { (0, count) };
    let (create, not_known) = asked(sending.create, plan.create);
    let (update, exists) = asked(sending.update, plan.update);
    [
        ("create", create),
        ("update", update),
        ("unchanged", plan.unchanged),
        ("not_known", not_known),
        ("exists", exists),
    ]
}

async fn planned(
    session: &Session,
    rows: Vec<(usize, GroupRow)>,
) -> Result<impl Iterator<Item = (usize, GroupRow, Planned)>, CliError> {
    let ids = rows.iter().map(|(_, row)| row.id.clone()).collect();
    let known = session.operations.show_some(ids).await?;
    let rows = rows.into_iter().zip(known);
    Ok(rows.map(|((number, row), known)| {
        let planned = Planned::of(&row, known.as_ref());
        (number, row, planned)
    }))
}

fn json_line(
    sending: Sending,
    number: usize,
    row: &GroupRow,
    planned: &Planned,
    read_at: Option<Timestamp>,
) -> String {
    let word = word(sending, planned.need);
    let is_sent = matches!(word, "create" | "update");
    let line = json!({
        "row": number,
        "user_group_id": row.id.as_str(),
        "plan": word,
        "request": is_sent.then(|| request(&row.id, &planned.wanted)),
        "changes": changes_json(&planned.change),
        "read_at": read_at.map(|at| at.to_string()),
    });
    escape_hidden(&format!("{line}\n"))
}

fn lines(sending: Sending, row: &GroupRow, planned: &Planned) -> String {
    let mut text = String::new();
    if planned.need == Need::Unchanged {
        return text;
    }
    let word = word(sending, planned.need);
    writeln!(text, "{word} {}", visible(row.id.as_str())).expect("a String takes it");
    let is_creation = planned.need == Need::Create;
    for line in review::lines(&planned.change, is_creation).lines() {
        writeln!(text, "  {line}").expect("a String takes it");
    }
    text
}

/// What would be done, where not all of it was asked for.
fn word(sending: Sending, need: Need) -> &'static str {
    match need {
        Need::Create if !sending.create => "not_known",
        Need::Update if !sending.update => "exists",
        need => need.as_str(),
    }
}
