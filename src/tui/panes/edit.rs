//! The form of a group: name, mapping as rows, properties as JSON. Text is never lost: leaving keeps a draft.

mod begin;
mod draft;
mod external_editor;
mod prefill;
mod view;

use std::sync::OnceLock;

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::View;
use crate::{
    domain::{change::Change, text::visible},
    tui::{
        forms::group::{Edit, Section},
        keymap::{Action, Focus},
        state::{
            context::{Ask, Desk},
            message::{Outcome, Ticket},
            navigation::{Opening, Proposal},
            notices::Severity,
        },
        widgets::{properties::Place, text_field::did_not_fit},
    },
};

impl Edit {
    /// Where the keys of the focused field hold, also while a cell of it is typed into.
    fn field_focus(&self) -> Focus {
        match (self.section, self.properties.place()) {
            (Section::Name, _) => Focus::EditName,
            (Section::Mapping, _) => Focus::EditMapping,
            (Section::Properties, Place::Text) => Focus::EditProperties,
            (Section::Properties, Place::Rows | Place::Cell | Place::Kind) => Focus::EditRows,
        }
    }

    fn is_changed(&self) -> bool {
        self.has_unread() || self.change().is_none_or(|change| !change.is_empty())
    }

    fn keep_draft(&self, desk: &mut Desk) {
        let key = (desk.current, self.id.clone());
        self.keep(desk);
        if self.is_changed() && !self.is_under_way(desk) {
            desk.drafts.leave(&key, self.clone());
            desk.say(
                Severity::Info,
                format!("draft of {} kept; nothing was sent", self.id),
            );
        }
    }

    /// What the form holds is on its way to the service.
    fn is_under_way(&self, desk: &Desk) -> bool {
        let Ok(wanted) = self.wanted() else {
            return false;
        };
        desk.running.values().any(|job| {
            job.profile == desk.current
                && matches!(&job.sends, Some((id, sent)) if *id == self.id && *sent == wanted)
        })
    }

    /// Takes over what is being typed into a cell; false, and said why, if it cannot be.
    fn commit(&mut self, desk: &mut Desk) -> bool {
        self.mapping.commit();
        let is_done = self.properties.commit();
        if !is_done {
            let why = self.properties.refused().unwrap_or("the cell is not valid");
            let key = desk.keys.key(Focus::EditCell, Action::Back);
            let text = format!("properties: {why}; mend the cell, or {key} leaves it as it was");
            desk.messages.refuse(desk.now, text);
        }
        is_done
    }

    fn review(&mut self, desk: &mut Desk) {
        if !self.commit(desk) {
            self.section = Section::Properties;
            return;
        }
        if let Some(why) = self.unread(desk) {
            desk.say(Severity::Warning, why);
            return;
        }
        match self.sendable() {
            Err((text, field)) => {
                self.go_to_problem();
                desk.messages
                    .refuse(desk.now, format!("no review yet: {field}: {text}"));
            }
            Ok(wanted) if !self.creating && Change::between(&self.base, &wanted).is_empty() => {
                desk.say(
                    Severity::Info,
                    "nothing is changed; there is nothing to review",
                );
            }
            Ok(wanted) => {
                // Kept from here on: whatever the review comes to, the text is not lost.
                self.keep(desk);
                let proposal = Proposal {
                    id: self.id.clone(),
                    creating: self.creating,
                    base: self.base.clone(),
                    wanted,
                };
                desk.ask(Ask::Push(Opening::Review(Box::new(proposal))));
            }
        }
    }

    fn go_to_problem(&mut self) {
        if self.mapping.go_to_next_problem() {
            self.section = Section::Mapping;
        } else if self.properties.value().is_err() && !self.properties.is_blank() {
            self.section = Section::Properties;
            self.properties.go_to_problem();
        } else if let Err((_, field)) = self.sendable() {
            self.section = match field {
                "name" => Section::Name,
                "mapping" => Section::Mapping,
                _ => Section::Properties,
            };
        }
    }
}

impl View for Edit {
    fn focus(&self) -> Focus {
        match self.section {
            Section::Name => Focus::EditName,
            Section::Mapping if self.mapping.is_editing() => Focus::EditCell,
            Section::Mapping => Focus::EditMapping,
            Section::Properties => match self.properties.place() {
                Place::Text => Focus::EditProperties,
                Place::Rows => Focus::EditRows,
                Place::Cell => Focus::EditCell,
                Place::Kind => Focus::EditType,
            },
        }
    }

    fn title(&self, _desk: &Desk) -> String {
        let what = if self.creating { "Create" } else { "Edit" };
        format!("{what} {}", visible(self.id.as_str()))
    }

    fn status(&self, desk: &Desk) -> String {
        let key = |action| desk.keys.key(self.field_focus(), action);
        match self.judged() {
            _ if self.has_unread() => {
                let (whole, field) = (key(Action::EditWhole), key(Action::EditOutside));
                format!("a text from the editor: {whole} or {field}")
            }
            Err(_) => format!("a problem: {} goes there", key(Action::NextProblem)),
            Ok(change) => match change.count() {
                0 => "nothing changed".into(),
                1 => "1 change".into(),
                count => format!("{count} changes"),
            },
        }
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        match action {
            Action::NextField if self.commit(desk) => self.section = self.section.next(),
            Action::PreviousField if self.commit(desk) => self.section = self.section.previous(),
            Action::RowsOrJson if self.properties.switch() => {
                desk.properties_as_rows = self.properties.place() == Place::Rows;
            }
            Action::NextProblem => self.go_to_problem(),
            Action::Review => self.review(desk),
            Action::EditOutside => self.open_field(desk),
            Action::EditWhole => self.open_group(desk),
            Action::Discard => self.discard(desk),
            Action::Refresh => self.read_again(desk),
            Action::Back => {
                self.leave(desk);
                desk.ask(Ask::Pop);
            }
            _ => {}
        }
    }

    fn disabled(&self, action: Action, desk: &Desk) -> Option<String> {
        match action {
            Action::RowsOrJson => {
                let problem = self.properties.why_no_rows();
                problem.map(ToString::to_string)
            }
            Action::Refresh => self.no_reading(),
            Action::Discard => self.nothing_to_discard(desk),
            _ => None,
        }
    }

    fn sync(&mut self, desk: &mut Desk) {
        self.judged = OnceLock::new();
        if self.section == Section::Mapping {
            self.elsewhere.look(&self.id, &self.mapping, &desk.groups);
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        self.waits(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, desk: &mut Desk) {
        self.take_copy(outcome, desk);
    }

    fn lost(&mut self, _desk: &mut Desk) {
        self.reading = None;
    }

    fn leave(&mut self, desk: &mut Desk) {
        if let Some(ticket) = self.reading.take() {
            desk.cancel(ticket);
        }
        self.mapping.commit();
        self.properties.settle();
        self.keep_draft(desk);
    }

    fn input(&mut self, key: KeyEvent, _desk: &mut Desk) {
        match self.section {
            Section::Name => self.name.key(key),
            Section::Mapping => self.mapping.key(key),
            Section::Properties => self.properties.key(key),
        };
    }

    fn paste(&mut self, text: &str, desk: &mut Desk) -> bool {
        match self.section {
            Section::Name => {
                let pasted = self.name.paste(text);
                if pasted.cut > 0 {
                    desk.say(Severity::Warning, did_not_fit(pasted.cut));
                }
            }
            Section::Mapping => view::say_pasted(&self.mapping.paste(text), desk),
            Section::Properties => view::say_properties(&self.properties.paste(text), desk),
        }
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        view::draw(self, buffer, area, desk)
    }
}
