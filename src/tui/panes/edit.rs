//! The form of a group: name, mapping as rows, properties as JSON. Text is never lost: leaving keeps a draft.

mod prefill;
mod view;

use crossterm::event::KeyEvent;
use jiff::Timestamp;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{Pane, View, review::Review};
use crate::{
    domain::{
        change::{Change, Wanted},
        group::{Mapping, UserGroupId},
        known::KnownGroup,
        text::visible,
    },
    tui::{
        desk::{Ask, Desk},
        keymap::{Action, Focus},
        messages::Severity,
        widgets::{json_editor::JsonEditor, mapping_table::MappingTable, text_field::TextField},
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Name,
    Mapping,
    Properties,
}

impl Section {
    fn next(self) -> Self {
        match self {
            Self::Name => Self::Mapping,
            Self::Mapping => Self::Properties,
            Self::Properties => Self::Name,
        }
    }

    fn previous(self) -> Self {
        self.next().next()
    }
}

#[derive(Debug, Clone)]
pub struct Edit {
    pub id: UserGroupId,
    /// What was known when the form was opened.
    pub base: Wanted,
    /// The group is not known here: the form ends in a create.
    pub creating: bool,
    /// When the form was opened; a draft says how old its base is.
    pub opened_at: Timestamp,
    name: TextField,
    mapping: MappingTable,
    properties: JsonEditor,
    section: Section,
}

/// Longest name that a field takes, in characters.
const LONGEST_NAME: usize = 1_000;

impl Edit {
    /// The form of a known group, or its draft where there is one.
    pub fn of(group: &KnownGroup, desk: &mut Desk) -> Self {
        Self::draft_or(group.id.clone(), Wanted::of(group), false, desk)
    }

    /// The form of a group that is to be created.
    pub fn create(id: UserGroupId, desk: &mut Desk) -> Self {
        let base = Wanted {
            name: None,
            mapping: None,
            properties: None,
        };
        Self::draft_or(id, base, true, desk)
    }

    fn draft_or(id: UserGroupId, base: Wanted, creating: bool, desk: &mut Desk) -> Self {
        if let Some(draft) = desk.drafts.get(&(desk.current, id.clone())).cloned() {
            let mut draft = draft;
            if draft.creating && !creating {
                // It exists by now: what was typed for its creation becomes an update.
                draft.becomes_update(base);
            }
            let age = desk.age(draft.opened_at);
            desk.say(
                Severity::Info,
                format!(
                    "your unsent draft, begun {age} ago; the review reads the service's copy first"
                ),
            );
            return draft;
        }
        let name = base.name.clone().unwrap_or_default();
        Self {
            name: TextField::new("name", name).with_longest(LONGEST_NAME),
            // What is yet to be has an empty mapping, not an unknown one.
            mapping: if creating {
                MappingTable::new(Some(&Mapping::new()))
            } else {
                MappingTable::new(base.mapping.as_ref())
            },
            properties: JsonEditor::new(base.properties.as_ref()),
            section: Section::Name,
            opened_at: desk.now,
            id,
            base,
            creating,
        }
    }

    /// What the form asks for, or where it cannot be understood and why. A field of which nothing is known and nothing
    /// was typed is left out.
    pub fn wanted(&self) -> Result<Wanted, (String, &'static str)> {
        let name = self.name.text();
        let name = (self.base.name.is_some() || !name.is_empty()).then(|| name.to_owned());
        let mapping = self
            .mapping
            .value()
            .map_err(|problem| (problem.text, "mapping"))?;
        let mapping = (self.base.mapping.is_some() || !mapping.is_empty()).then_some(mapping);
        let untouched = self.base.properties.is_none() && self.properties.is_blank();
        let properties = if untouched {
            None
        } else {
            let value = self.properties.value().map_err(|problem| {
                let text = format!(
                    "line {}, column {}: {}",
                    problem.line, problem.column, problem.text
                );
                (text, "properties")
            })?;
            Some(value.clone())
        };
        Ok(Wanted {
            name,
            mapping,
            properties,
        })
    }

    /// What would change, as far as the form can be understood.
    fn change(&self) -> Option<Change> {
        Some(Change::between(&self.base, &self.wanted().ok()?))
    }

    fn is_changed(&self) -> bool {
        self.change().is_none_or(|change| !change.is_empty())
    }

    fn keep_draft(&self, desk: &mut Desk) {
        let key = (desk.current, self.id.clone());
        if self.is_under_way(desk) {
            // The draft of the review stays until it is known how that ended.
            return;
        }
        if self.is_changed() {
            desk.drafts.insert(key, self.clone());
            desk.say(
                Severity::Info,
                format!("draft of {} kept; nothing was sent", self.id),
            );
        } else {
            desk.drafts.remove(&key);
        }
    }

    /// What was left blank stays left out, as it was for the creation.
    fn becomes_update(&mut self, known: Wanted) {
        self.creating = false;
        self.base = Wanted {
            name: known.name.filter(|_| !self.name.is_empty()),
            mapping: known
                .mapping
                .filter(|_| self.mapping.value().is_ok_and(|rows| !rows.is_empty())),
            properties: known.properties.filter(|_| !self.properties.is_blank()),
        };
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

    /// What the form held has been sent and taken.
    pub fn is_sent(&mut self, wanted: &Wanted) {
        self.base = wanted.clone();
        self.creating = false;
    }

    fn review(&mut self, desk: &mut Desk) {
        self.mapping.commit();
        match self.wanted() {
            Err((text, field)) => {
                self.go_to_problem();
                desk.say(Severity::Warning, format!("{field}: {text}"));
            }
            Ok(wanted) if !self.creating && Change::between(&self.base, &wanted).is_empty() => {
                desk.say(
                    Severity::Info,
                    "nothing is changed; there is nothing to review",
                );
            }
            Ok(wanted) => {
                // Kept from here on: whatever the review comes to, the text is not lost.
                desk.drafts
                    .insert((desk.current, self.id.clone()), self.clone());
                let review = Review::of(self, wanted, desk);
                desk.ask(Ask::Push(Pane::Review(Box::new(review))));
            }
        }
    }

    fn go_to_problem(&mut self) {
        if self.mapping.go_to_next_problem() {
            self.section = Section::Mapping;
        } else if self.properties.value().is_err() && !self.properties.is_blank() {
            self.section = Section::Properties;
            self.properties.go_to_problem();
        }
    }
}

impl View for Edit {
    fn focus(&self) -> Focus {
        match self.section {
            Section::Name => Focus::EditName,
            Section::Mapping if self.mapping.is_editing() => Focus::EditCell,
            Section::Mapping => Focus::EditMapping,
            Section::Properties => Focus::EditProperties,
        }
    }

    fn title(&self, _desk: &Desk) -> String {
        let what = if self.creating { "Create" } else { "Edit" };
        format!("{what} {}", visible(self.id.as_str()))
    }

    fn status(&self, _desk: &Desk) -> String {
        match self.change() {
            None => "a problem: F8 goes there".into(),
            Some(change) => match change.count() {
                0 => "nothing changed".into(),
                1 => "1 change".into(),
                count => format!("{count} changes"),
            },
        }
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        match action {
            Action::NextField => {
                self.mapping.commit();
                self.section = self.section.next();
            }
            Action::PreviousField => {
                self.mapping.commit();
                self.section = self.section.previous();
            }
            Action::NextProblem => self.go_to_problem(),
            Action::Review => self.review(desk),
            Action::Back => {
                self.leave(desk);
                desk.ask(Ask::Pop);
            }
            _ => {}
        }
    }

    fn leave(&mut self, desk: &mut Desk) {
        self.mapping.commit();
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
                    desk.say(
                        Severity::Warning,
                        format!("{} characters did not fit", pasted.cut),
                    );
                }
            }
            Section::Mapping => view::say_pasted(&self.mapping.paste(text), desk),
            Section::Properties => {
                if !self.properties.paste(text) {
                    desk.say(
                        Severity::Warning,
                        "not pasted: that is more than the service takes; the text is unchanged",
                    );
                }
            }
        }
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        view::draw(self, buffer, area, desk)
    }
}
