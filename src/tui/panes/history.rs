//! Who did what to which group, and how it ended; append-only, newest first.

mod reuse;

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::View;
use crate::{
    domain::{
        group::UserGroupId,
        history::{Ending, Entry, changes_text},
    },
    operations::Numbered,
    search::normalize::lowered,
    tui::{
        keymap::{Action, Focus},
        state::{
            context::{Context, Navigation},
            message::{Job, Outcome, Ticket},
            navigation::PaneRequest,
            notices::Severity,
        },
        theme::Theme,
        widgets::{
            boxes::boxed,
            columns::{Cell, Column, widest},
            paint,
            scroll::Cursor,
            table,
            text_field::TextField,
            text_page::TextPage,
        },
    },
};

#[derive(Debug)]
pub struct History {
    /// Of one group, or of the whole profile.
    id: Option<UserGroupId>,
    entries: Vec<Numbered<Entry>>,
    ticket: Option<Ticket>,
    filter: TextField,
    filtering: bool,
    cursor: Cursor,
}

/// Rows of the box with the whole entry.
const DETAIL_ROWS: u16 = 8;

impl History {
    pub fn of(id: Option<UserGroupId>, context: &mut Context) -> Self {
        let ticket = context.start(Job::History(id.clone()));
        Self {
            id,
            entries: Vec::new(),
            ticket: Some(ticket),
            filter: TextField::new("filter", ""),
            filtering: false,
            cursor: Cursor::default(),
        }
    }

    fn shown(&self) -> Vec<&Entry> {
        let words = lowered(self.filter.text());
        let words: Vec<&str> = words.split_whitespace().collect();
        self.entries
            .iter()
            .map(|numbered| &numbered.value)
            .filter(|entry| {
                let text = lowered(&format!(
                    "{} {} {} {} {}",
                    entry.by,
                    entry.operation.as_str(),
                    entry.user_group_id.as_str(),
                    entry.ending.as_str(),
                    entry.reason.as_deref().unwrap_or_default()
                ));
                words.iter().all(|word| text.contains(word))
            })
            .collect()
    }
}

impl View for History {
    fn focus(&self) -> Focus {
        if self.filtering {
            Focus::Filter
        } else {
            Focus::History
        }
    }

    fn title(&self, _desk: &Context) -> String {
        "History".into()
    }

    fn status(&self, _desk: &Context) -> String {
        if self.ticket.is_some() {
            "reading".into()
        } else {
            format!("{} of {}", self.shown().len(), self.entries.len())
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let rows = self.shown().len();
        if self
            .cursor
            .act(action, rows, usize::from(context.size.1 / 2))
        {
            return;
        }
        match action {
            Action::Filter => self.filtering = true,
            Action::Enter if self.filtering => self.filtering = false,
            Action::Back if self.filtering || !self.filter.is_empty() => {
                self.filtering = false;
                self.filter.set_text("");
            }
            Action::Back => {
                self.leave(context);
                context.navigate(Navigation::Pop);
            }
            Action::Refresh => {
                self.leave(context);
                self.ticket = Some(context.start(Job::History(self.id.clone())));
            }
            Action::CopyCurl => self.copy_curl(context),
            Action::ReverseEdit => self.reverse(context),
            Action::Enter => {
                let id = self
                    .shown()
                    .get(self.cursor.at)
                    .map(|entry| entry.user_group_id.clone());
                match id {
                    Some(id) if context.groups.contains(&id) => {
                        context.navigate(Navigation::Push(PaneRequest::Group(id)));
                    }
                    Some(id) => context.say(
                        Severity::Info,
                        format!("\"{id}\" is not in the directory: reading it could create it"),
                    ),
                    None => context.say(Severity::Info, "no entry here"),
                }
            }
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, _desk: &mut Context) {
        if self.filtering {
            self.filter.key(key);
            self.cursor.at = 0;
        }
    }

    fn paste(&mut self, text: &str, _desk: &mut Context) -> bool {
        if self.filtering {
            self.filter.paste(text);
        }
        self.filtering
    }

    fn leave(&mut self, context: &mut Context) {
        if let Some(ticket) = self.ticket.take() {
            context.cancel(ticket);
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::CopyCurl => self.cannot_copy(),
            Action::ReverseEdit => self.cannot_reverse(context),
            _ => None,
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        self.ticket == Some(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        self.ticket = None;
        if let Outcome::History(entries) = outcome {
            self.entries.clone_from(entries);
        } else if let Outcome::Failed(trouble) = outcome {
            context.say(Severity::Error, trouble.text.clone());
        }
    }

    fn lost(&mut self, _desk: &mut Context) {
        self.ticket = None;
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let mut area = area;
        let mut cursor = None;
        if self.filtering || !self.filter.is_empty() {
            cursor = self
                .filter
                .draw(buffer, paint::row(area, 0), context.theme, self.filtering);
            area.y += 1;
            area.height = area.height.saturating_sub(1);
        }
        let below = DETAIL_ROWS.min(area.height / 2);
        let rows = Rect {
            height: area.height - below,
            ..area
        };
        let title = match &self.id {
            Some(id) => format!("History of {id}"),
            None => "History".into(),
        };
        let entries = self.shown();
        let inner = boxed(buffer, rows, &title, context.theme);
        let inner = Rect {
            x: inner.x - 1,
            width: inner.width + 2,
            ..inner
        };
        self.draw_rows(buffer, inner, &entries, context);
        if let Some(entry) = entries.get(self.cursor.at) {
            let place = Rect {
                y: rows.bottom(),
                height: below,
                ..area
            };
            let title = format!("{} {}", entry.operation.as_str(), entry.user_group_id);
            let inner = boxed(buffer, place, &title, context.theme);
            let mut sheet = TextPage::new(inner.width, context.theme);
            describe(&mut sheet, entry, context);
            sheet.draw_still(buffer, inner);
        }
        cursor.filter(|_| self.filtering)
    }
}

impl History {
    fn draw_rows(&self, buffer: &mut Buffer, area: Rect, entries: &[&Entry], context: &Context) {
        let hint = if self.ticket.is_some() {
            "reading the history"
        } else {
            "nothing yet: every create, update and rotate is written down here"
        };
        table::draw(
            buffer,
            area,
            (entries, &self.cursor),
            columns,
            |entry, here| cells(entry, context, here),
            hint,
            context.theme,
        );
    }
}

fn columns(window: &[&Entry]) -> Vec<Column> {
    let ids = widest(window.iter().map(|entry| entry.user_group_id.as_str()), 40).max(8);
    let who = widest(window.iter().map(|entry| entry.by.as_str()), 24).max(12);
    vec![
        Column::new("AGO", 4, 5, 0).right(),
        Column::new("WHAT", 6, 6, 0),
        Column::new("GROUP", 8, ids, 0),
        Column::new("RESULT", 11, 14, 1),
        Column::new("BY", 12, who, 2),
        Column::new("TOKEN", 20, 20, 3),
    ]
}

fn cells<'a>(entry: &'a Entry, context: &Context, here: bool) -> Vec<Cell<'a>> {
    let ending = Cell::new(entry.ending.as_str().replace('_', " "));
    vec![
        Cell::new(context.age(entry.at)),
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

fn describe(sheet: &mut TextPage, entry: &Entry, context: &Context) {
    let ending = entry.ending.as_str().replace('_', " ");
    let at = entry.at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    sheet.field(
        "result",
        &ending,
        ending_style(entry.ending, context.theme),
        &at,
    );
    if let Some(changes) = &entry.changes {
        sheet.field("changes", &changes_text(changes), Style::new(), "");
    }
    let tokens = tokens(entry, context.theme);
    if !tokens.is_empty() {
        sheet.field("token", &tokens, Style::new(), "fingerprints");
    }
    if let Some(reason) = &entry.reason {
        sheet.field("reason", reason, Style::new(), "");
    }
    if let Some(note) = &entry.note {
        sheet.field("note", note, Style::new(), "");
    }
    sheet.field("by", &entry.by, Style::new(), "");
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
