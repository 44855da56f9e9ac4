//! Who did what to which group, and how it ended; append-only, newest first. A rotation is one row with its steps. From
//! an entry back to its request: copied as curl, or prepared as an edit that reverts it. Nothing is sent from here.

use std::borrow::Cow;

use super::prelude::*;
use crate::{
    domain::{
        Change, Entry, Fingerprint, Part,
        history::changes_text,
        merge,
        operation_record::{OperationRecord, RecordGrouper},
        undo,
    },
    operations::{Call, as_curl, request},
    search::{RowFacts, RowTest},
    tui::{
        kit::ChangeTarget,
        page::list_page::{Can, Col, Command, ListPage, Rows, col, command, unless},
        state::Proposal,
    },
};

/// What a row is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CompareWith {
    /// The state before the entry.
    Before,
    /// What is known now.
    Now,
}

/// An operation with its steps.
#[derive(Debug)]
pub struct Row {
    number: i64,
    /// How it began, with how it ended.
    entry: Entry,
    record: OperationRecord,
}

#[derive(Debug, Default)]
pub struct History {
    /// Limits the history to one group; `None`: the whole profile.
    id: Option<UserGroupId>,
    rows: Vec<Row>,
    /// Show this difference instead of the entry.
    compare_with: Option<CompareWith>,
}

pub type HistoryPage = ListPage<History>;

impl History {
    pub fn of(id: Option<UserGroupId>) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }
}

impl Rows for History {
    type Row = Row;
    type Key = i64;
    const PLACE: Focus = Focus::History;
    const ROW: &'static str = "entry";
    const TESTS: &'static [RowTest] = &[
        RowTest::Time,
        RowTest::Operator,
        RowTest::Operation,
        RowTest::Group,
    ];

    fn job(&self) -> Option<Job> {
        Some(Job::History(self.id.clone()))
    }

    fn take(&mut self, outcome: &Outcome) -> bool {
        let Outcome::History(entries) = outcome else {
            return false;
        };
        let mut grouper = RecordGrouper::default();
        let entries = entries.iter();
        let mut records: Vec<_> = entries
            .flat_map(|entry| grouper.push(entry.number, entry.value.clone()))
            .collect();
        records.extend(grouper.finish());
        let rows = records.into_iter().map(|record| {
            let (number, entry) = record.whole();
            Row {
                number,
                entry,
                record,
            }
        });
        self.rows = rows.collect();
        self.rows.sort_by_key(|row| -row.number);
        true
    }

    fn all<'a>(&'a self, _context: &'a Context) -> Vec<&'a Row> {
        self.rows.iter().collect()
    }

    fn key(row: &Row) -> i64 {
        row.number
    }

    fn facts(row: &Row) -> RowFacts<'_> {
        RowFacts {
            at: Some(row.entry.at),
            by: Some(&row.entry.by),
            operation: Some(row.entry.operation),
            ..RowFacts::default()
        }
    }

    fn group(row: &Row) -> Option<&str> {
        Some(row.entry.user_group_id.as_str())
    }

    fn more_words(row: &Row, _context: &Context) -> String {
        let reason = row.entry.reason.as_deref().unwrap_or_default();
        format!("{} {reason}", row.entry.ending.as_str())
    }

    fn columns(&self) -> Vec<Col<Row>> {
        let col = col::<Row>;
        vec![
            col("WHEN", (5, 13), 1, |row, context| {
                Cell::new(context.stamp(row.entry.at))
            })
            .kept(12)
            .right(),
            col("WHAT", (6, 7), 0, |row, _| {
                Cell::new(row.entry.operation.as_str())
            })
            .kept(7),
            col("GROUP", (8, 40), 0, |row, _| {
                Cell::new(row.entry.user_group_id.as_str())
            })
            .id(),
            col("RESULT", (11, 14), 2, |row, context| {
                let ending = result(row);
                let word = ending.as_str().replace('_', " ");
                Cell::new(word).styled(ending_style(ending, context.theme))
            })
            .kept(14),
            col("BY", (12, 24), 3, |row, _| Cell::new(row.entry.by.as_str())),
            col("FINGERPRINT", (20, 20), 4, |row, context| {
                Cell::new(tokens_of(&row.entry, context.theme))
            }),
        ]
    }

    fn commands() -> Vec<Command<HistoryPage>> {
        vec![
            command(Action::Enter, HistoryPage::always, HistoryPage::open_group),
            command(Action::ReverseEdit, can_reverse, reverse),
            command(
                Action::Detail,
                |page, context| {
                    page.needs_row(context)?;
                    Ok(match page.kind.compare_with {
                        None => None,
                        Some(CompareWith::Before) => Some("diff with now"),
                        Some(CompareWith::Now) => Some("details"),
                    })
                },
                |page, _| {
                    page.kind.compare_with = match page.kind.compare_with {
                        None => Some(CompareWith::Before),
                        Some(CompareWith::Before) => Some(CompareWith::Now),
                        Some(CompareWith::Now) => None,
                    };
                },
            ),
            command(
                Action::CopyCurl,
                |page, context| {
                    let wanted = entry(page, context).and_then(undo::created_with);
                    wanted.map(|_| None).map_err(Cow::from)
                },
                copy_curl,
            ),
        ]
    }

    fn heading(&self) -> Cow<'static, str> {
        match &self.id {
            Some(id) => format!("History of {id}").into(),
            None => Self::PLACE.page().into(),
        }
    }

    fn when_empty(&self, _context: &Context) -> String {
        "No changes yet: every create, update and rotate is recorded here".into()
    }

    /// A difference takes as many rows as it needs, up to half of the page.
    fn detail_rows(page: &HistoryPage, _context: &Context) -> u16 {
        page.kind.compare_with.map_or(9, |_| u16::MAX)
    }

    fn describe(&self, row: &Row, page: &mut TextPage, context: &Context) -> String {
        let compared = match self.compare_with {
            None => "",
            Some(CompareWith::Before) => ": before and after it",
            Some(CompareWith::Now) => ": after it and now",
        };
        match self.compare_with {
            None => describe(page, row, context),
            Some(compare_with) => compare(page, &row.entry, compare_with, context),
        }
        let (what, id) = (row.entry.operation.as_str(), &row.entry.user_group_id);
        format!("{what} {id}{compared}")
    }
}

/// How it ended; a new token that did not arrive counts more than that it is confirmed.
fn result(row: &Row) -> Ending {
    let handed = row.record.handed_off();
    let failed = handed.filter(|ending| *ending == Ending::NotHandedOff);
    failed.unwrap_or(row.entry.ending)
}

fn describe(page: &mut TextPage, row: &Row, context: &Context) {
    let (entry, theme) = (&row.entry, context.theme);
    let ending = result(row);
    let word = ending.as_str().replace('_', " ");
    let at = context.whole_time(entry.at);
    page.field("result", &word, ending_style(ending, theme), &at);
    if let Some(changes) = &entry.changes {
        page.plain("changes", &changes_text(changes, theme.arrow()));
    }
    let tokens = tokens_of(entry, theme);
    if !tokens.is_empty() {
        page.plain("fingerprint", &tokens);
    }
    if let Some(reason) = &entry.reason {
        page.plain("reason", reason);
    }
    if let [(_, _)] = &row.record.steps[..] {
        if let Some(note) = &entry.note {
            page.plain("note", note);
        }
        page.plain("by", &entry.by);
        return;
    }
    for (at, (_, step)) in row.record.steps.iter().enumerate() {
        let label = if at == 0 { "steps" } else { "" };
        let reason = step.reason.as_ref().filter(|_| step.reason != entry.reason);
        let said = reason.into_iter().chain(&step.note);
        let note = said.fold(String::new(), |note, text| note + ": " + text);
        let word = step.ending.as_str().replace('_', " ");
        let when = format!("{} by {}", context.whole_time(step.at), step.by);
        let text = format!("{} {word}{note}", step.operation.as_str());
        page.field(label, &text, ending_style(step.ending, theme), &when);
    }
}

fn compare(page: &mut TextPage, entry: &Entry, compare_with: CompareWith, context: &Context) {
    let theme = context.theme;
    match difference(entry, compare_with, context) {
        Ok(change) if change.is_empty() => {
            page.text("The same now as after this entry.", theme.ok());
        }
        Ok(change) => page.change(&change, ChangeTarget::Creation, false),
        Err(why) => page.dim(&format!("No difference to show: {why}.")),
    }
}

fn tokens_of(entry: &Entry, theme: Theme) -> String {
    let before = entry.previous_fingerprint;
    let before = before.filter(|_| before != entry.fingerprint);
    tokens(before, entry.fingerprint, theme)
}

/// The token before and the one after, as far as known.
pub fn tokens(before: Option<Fingerprint>, after: Option<Fingerprint>, theme: Theme) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!("{before} {} {after}", theme.arrow()),
        (Some(one), None) | (None, Some(one)) => one.to_string(),
        (None, None) => String::new(),
    }
}

fn entry<'a>(page: &'a HistoryPage, context: &'a Context) -> Result<&'a Entry, &'static str> {
    let row = page.selected(context).ok_or("no entry here")?;
    Ok(&row.entry)
}

/// What the entry changed, or how that compares with the current group; otherwise why that cannot be shown.
fn difference(
    entry: &Entry,
    compare_with: CompareWith,
    context: &Context,
) -> Result<Change, &'static str> {
    let (before, after) = undo::changed(entry)?;
    if compare_with == CompareWith::Before {
        return Ok(Change::between(&before, &after));
    }
    let group = context.groups.get(&entry.user_group_id);
    let known = DesiredFields::of(&group.ok_or(why_not_known(context))?);
    let parts = merge::parts(&[&before, &after]);
    if !parts.iter().all(|part| part.is_known_in(&known)) {
        return Err("the current values are unknown");
    }
    let mut now = after.clone();
    for part in &parts {
        part.carry(&known, &mut now);
    }
    Ok(Change::between(&after, &now))
}

fn why_not_known(context: &Context) -> &'static str {
    context
        .why_incomplete()
        .unwrap_or("the group is not in the directory")
}

fn copy_curl(page: &mut HistoryPage, context: &mut Context) {
    let Ok(entry) = entry(page, context) else {
        return;
    };
    if let (Ok(wanted), Some(profile)) = (undo::created_with(entry), context.profile()) {
        let request = request(&entry.user_group_id, &wanted);
        let curl = as_curl(profile, Call::GetOrCreate, &request);
        context.copy("curl command", &curl);
    }
}

fn can_reverse(page: &HistoryPage, context: &Context) -> Can {
    unless(context.read_only_reason())?;
    reversal(page, context).map(|_| None).map_err(Cow::from)
}

/// The fields that the update of the entry changed, and their values before.
fn reversal(
    page: &HistoryPage,
    context: &Context,
) -> Result<(Vec<Part>, DesiredFields), &'static str> {
    let entry = entry(page, context)?;
    let (parts, before) = undo::before(entry)?;
    let group = context.groups.get(&entry.user_group_id);
    // An undo is only the undo.
    if context.has_own_draft(&entry.user_group_id) {
        return Err("you have a draft of this group; send or discard the draft first");
    }
    let now = DesiredFields::of(&group.ok_or(why_not_known(context))?);
    if parts.iter().all(|part| part.is_known_in(&now)) {
        Ok((parts, before))
    } else {
        Err("the current values are unknown")
    }
}

/// Opens the form and its review with the values that these parts had before the update.
fn reverse(page: &mut HistoryPage, context: &mut Context) {
    let (Ok(entry), Ok((parts, before))) = (entry(page, context), reversal(page, context)) else {
        return;
    };
    let Some(group) = context.groups.get(&entry.user_group_id) else {
        return;
    };
    let at = entry.at;
    match GroupForm::carrying(&group, &parts, &before, context) {
        Ok(mut edit) => {
            let ago = context.ago(at);
            let text = format!("Filled with the values of {ago}, before that update");
            context.say(Severity::Info, text);
            edit.prefilled = Some(edit.content());
            let proposal = edit.proposal(context);
            context.open_pane(PaneRequest::Edit(Box::new(edit)));
            if let Some(proposal) = proposal {
                let proposal = Proposal {
                    restores: true,
                    ..proposal
                };
                let review = PaneRequest::Review(Box::new(proposal));
                context.open_pane(review);
            }
        }
        Err(why) => context.say(Severity::Warning, why),
    }
}

pub(super) fn ending_style(ending: Ending, theme: Theme) -> Style {
    match ending {
        Ending::Found | Ending::Existed => Style::new(),
        Ending::Created
        | Ending::Updated
        | Ending::Rotated
        | Ending::Confirmed
        | Ending::Recovered
        | Ending::HandedOff => theme.ok(),
        Ending::NotApplied | Ending::Superseded | Ending::Abandoned => theme.warning(),
        Ending::Conflict
        | Ending::Refused
        | Ending::Unreachable
        | Ending::CreatedByGet
        | Ending::NotHandedOff => theme.error(),
        Ending::Unknown => theme.unknown(),
    }
}
