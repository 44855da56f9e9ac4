//! Who did what to which group, and how it ended; append-only, newest first.

mod filter;
mod reuse;

use crossterm::event::KeyEvent;
use jiff::Timestamp;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use self::filter::HistoryFilter;
use super::{View, filtered_list::FilteredList};
use crate::{
    domain::{
        group::UserGroupId,
        history::{Ending, Entry, changes_text},
    },
    operations::{Changes, Numbered},
    tui::widgets::text_field::TextField,
    tui::{
        keymap::{Action, Focus},
        state::{
            context::Context,
            message::{Job, Outcome, Pending},
        },
        theme::Theme,
        widgets::{
            boxes::{titled, with_details},
            changes::{self, ChangeTarget},
            columns::{Cell, Column, widest},
            text_page::TextPage,
        },
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

#[derive(Debug)]
pub struct History {
    /// Limits the history to one group; `None`: the whole profile.
    id: Option<UserGroupId>,
    entries: Vec<Numbered<Entry>>,
    list: FilteredList,
    /// What ages in the filter count from.
    now: Timestamp,
    /// Show this difference instead of the entry.
    compare_with: Option<CompareWith>,
}

/// Rows of the box with the full entry.
const DETAIL_ROWS: u16 = 8;

impl History {
    pub fn of(id: Option<UserGroupId>, context: &mut Context) -> Self {
        let list = FilteredList::with_filter("");
        context.ask(&list.pending, Job::History(id.clone()));
        Self {
            id,
            entries: Vec::new(),
            list,
            now: context.now,
            compare_with: None,
        }
    }

    /// Replaces the entries; the cursor stays on its entry.
    fn take(&mut self, entries: &[Numbered<Entry>]) {
        let on = self.rows().get(self.list.cursor.at).map(|one| one.number);
        self.entries = entries.to_vec();
        let rows = self.rows();
        let found = rows.iter().position(|entry| Some(entry.number) == on);
        let rows = rows.len();
        self.list.stay_on(found, rows);
    }

    fn filter(&self) -> HistoryFilter {
        HistoryFilter::parse(self.list.filter(), self.now)
    }

    fn shown(&self) -> Vec<&Entry> {
        self.rows().iter().map(|numbered| &numbered.value).collect()
    }

    fn rows(&self) -> Vec<&Numbered<Entry>> {
        let filter = self.filter();
        let entries = self.entries.iter();
        entries.filter(|entry| filter.finds(&entry.value)).collect()
    }
}

impl View for History {
    fn focus(&self) -> Focus {
        self.list.focus(Focus::History)
    }

    fn title(&self, _context: &Context) -> String {
        "History".into()
    }

    fn status(&self, _context: &Context) -> String {
        if self.list.pending.is_waiting() {
            "reading".into()
        } else {
            format!("{} of {}", self.shown().len(), self.entries.len())
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let rows = self.shown().len();
        if self.list.act(action, rows, context) {
            return;
        }
        match action {
            Action::Refresh => context.ask(&self.list.pending, Job::History(self.id.clone())),
            Action::CopyCurl => self.copy_curl(context),
            Action::ReverseEdit => self.reverse(context),
            Action::Detail => {
                self.compare_with = match self.compare_with {
                    None => Some(CompareWith::Before),
                    Some(CompareWith::Before) => Some(CompareWith::Now),
                    Some(CompareWith::Now) => None,
                };
            }
            Action::Enter => {
                let shown = self.shown();
                let entry = shown.get(self.list.cursor.at);
                let id = entry.map(|entry| entry.user_group_id.clone());
                context.open_group(id, "no entry here");
            }
            _ => {}
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.list.field()
    }

    fn input(&mut self, key: KeyEvent, context: &mut Context) {
        self.now = context.now;
        if self.list.key(key) {
            self.list.cursor.at = 0;
        }
    }

    fn paste(&mut self, text: &str, _context: &mut Context) -> bool {
        self.list.paste(text)
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::CopyCurl => self.why_not_copy(),
            Action::ReverseEdit => self.why_not_reverse(context),
            Action::Enter if self.list.is_filtering() => None,
            Action::Enter | Action::Detail if self.entry().is_err() => Some("none here".into()),
            _ => self.list.disabled(action),
        }
    }

    fn hint(&self, action: Action, _context: &Context) -> Option<&'static str> {
        match (action, self.compare_with) {
            (Action::Detail, Some(CompareWith::Before)) => Some("diff with now"),
            (Action::Detail, Some(CompareWith::Now)) => Some("details"),
            _ => None,
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.list.pending]
    }

    fn changed(&mut self, _changes: &Changes, context: &mut Context) {
        context.ask(&self.list.pending, Job::History(self.id.clone()));
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        if let Outcome::History(entries) = outcome {
            self.take(entries);
        } else if let Outcome::Failed(error) = outcome {
            context.say_error(error);
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let (area, cursor) = self.list.draw_filter(buffer, area, 0, context.theme);
        // A difference takes as many rows as it needs, up to half of the page.
        let room = self.compare_with.map_or(DETAIL_ROWS, |_| u16::MAX);
        let (rows, below) = with_details(area, room);
        let title = match &self.id {
            Some(id) => format!("History of {id}"),
            None => "History".into(),
        };
        let nothing = self.filter().nothing();
        let hint = if self.list.pending.is_waiting() {
            "reading the history"
        } else if !self.entries.is_empty() {
            nothing.as_str()
        } else {
            "No changes yet: every create, update and rotate is recorded here"
        };
        let entries = self.shown();
        self.list.draw(
            buffer,
            rows,
            (&title, hint),
            &entries,
            (columns, |entry, here| cells(entry, context, here)),
            context.theme,
        );
        if let Some(entry) = entries.get(self.list.cursor.at) {
            let compare_with = match self.compare_with {
                None => "",
                Some(CompareWith::Before) => ": before and after it",
                Some(CompareWith::Now) => ": after it and now",
            };
            let (what, id) = (entry.operation.as_str(), &entry.user_group_id);
            let title = format!("{what} {id}{compare_with}");
            let inner = titled(buffer, below, &title, false, context.theme);
            let mut page = TextPage::new(inner.width, context.theme);
            match self.compare_with {
                None => describe(&mut page, entry, context),
                Some(compare_with) => compare(&mut page, entry, compare_with, context),
            }
            page.draw_still(buffer, inner);
        }
        cursor
    }
}

fn columns(window: &[&Entry]) -> Vec<Column> {
    let ids = widest(window.iter().map(|entry| entry.user_group_id.as_str()), 40).max(8);
    let who = widest(window.iter().map(|entry| entry.by.as_str()), 24).max(12);
    vec![
        Column::new("WHEN", 5, 5, 0).right(),
        Column::new("WHAT", 6, 6, 0),
        Column::new("GROUP", ids, ids, 0).id(),
        Column::new("RESULT", 11, 14, 1),
        Column::new("BY", 12, who, 2),
        Column::new("TOKEN", 20, 20, 3),
    ]
}

fn cells<'a>(entry: &'a Entry, context: &Context, here: bool) -> Vec<Cell<'a>> {
    let ending = Cell::new(entry.ending.as_str().replace('_', " "));
    vec![
        Cell::new(context.clock(entry.at)),
        Cell::new(entry.operation.as_str()),
        Cell::new(entry.user_group_id.as_str()),
        if here {
            ending
        } else {
            ending.styled(ending_style(entry.ending, context.theme))
        },
        Cell::new(entry.by.as_str()),
        Cell::new(tokens(entry, context.theme)),
    ]
}

fn tokens(entry: &Entry, theme: Theme) -> String {
    match (entry.previous_fingerprint, entry.fingerprint) {
        (Some(before), Some(after)) if before != after => {
            format!("{before} {} {after}", theme.arrow())
        }
        (_, Some(fingerprint)) | (Some(fingerprint), None) => fingerprint.to_string(),
        (None, None) => String::new(),
    }
}

fn compare(page: &mut TextPage, entry: &Entry, compare_with: CompareWith, context: &Context) {
    let theme = context.theme;
    match reuse::difference(entry, compare_with, context) {
        Ok(change) if change.is_empty() => {
            page.text("The same now as after this entry.", theme.ok());
        }
        Ok(change) => changes::write(page, &change, ChangeTarget::Creation, false, theme),
        Err(why) => page.text(&format!("No difference to show: {why}."), theme.dim()),
    }
}

fn describe(page: &mut TextPage, entry: &Entry, context: &Context) {
    let ending = entry.ending.as_str().replace('_', " ");
    let at = entry.at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    page.field(
        "result",
        &ending,
        ending_style(entry.ending, context.theme),
        &at,
    );
    if let Some(changes) = &entry.changes {
        page.field("changes", &changes_text(changes), Style::new(), "");
    }
    let tokens = tokens(entry, context.theme);
    if !tokens.is_empty() {
        page.field("token", &tokens, Style::new(), "fingerprints");
    }
    if let Some(reason) = &entry.reason {
        page.field("reason", reason, Style::new(), "");
    }
    if let Some(note) = &entry.note {
        page.field("note", note, Style::new(), "");
    }
    page.field("by", &entry.by, Style::new(), "");
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
