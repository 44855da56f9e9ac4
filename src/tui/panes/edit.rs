//! The form of a group: name, mapping as rows, properties as JSON. Input is never lost: leaving the form keeps a draft.
//!
//! How a form starts: from what is known about a group, empty, or from a draft.

mod draft;
mod external_editor;
mod view;

use std::sync::OnceLock;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::prelude::*;
use crate::{
    domain::Change,
    operations::Changes,
    tui::{
        kit::{PastedPairs, PropertiesFocus, Reaction},
        state::{Proposal, Section, UnsentDraft},
    },
};

impl GroupForm {
    /// The place whose keys apply in the focused section, even while one of its cells is being edited.
    fn field_focus(&self) -> Focus {
        match self.focus() {
            Focus::EditCell if self.section == Section::Mapping => Focus::EditMapping,
            Focus::EditCell | Focus::EditType => Focus::EditRows,
            focus => focus,
        }
    }

    fn is_changed(&self) -> bool {
        self.has_unread() || self.change().is_none_or(|change| !change.is_empty())
    }

    fn keep_draft(&self, context: &mut Context) {
        let key = (context.current, self.id.clone());
        self.keep(context);
        if self.is_only_prefilled() {
            context.mention("Nothing was sent");
        } else if self.is_changed() && !self.is_under_way(context) {
            context.drafts.leave(&key, self.clone());
            let text = if self.is_unsaved(context) {
                format!(
                    "Draft of {} not kept yet: it stays here until it can be saved",
                    self.id
                )
            } else {
                format!("Draft of {} saved; nothing was sent", self.id)
            };
            context.say(Severity::Info, text);
        }
    }

    /// Whether drafts cannot be saved, so that the input is only in memory.
    fn is_unsaved(&self, context: &Context) -> bool {
        let key = (context.current, self.id.clone());
        let is_away = context.outage.is_some();
        context.drafts.is_unsaved(&key, is_away)
    }

    /// Whether the content of the form is being sent to the service.
    fn is_under_way(&self, context: &Context) -> bool {
        let Ok(wanted) = self.wanted() else {
            return false;
        };
        context.running.values().any(|running| {
            running.profile == context.current
                && matches!(&running.job.sends, Some((id, sent)) if *id == self.id && *sent == wanted)
        })
    }

    /// Takes over the text of the cell being edited; returns false, after saying why, if it is not valid.
    fn commit(&mut self, context: &mut Context) -> bool {
        self.mapping.commit();
        let is_done = self.properties.commit();
        if !is_done {
            let why = self.properties.refused().unwrap_or("the cell is not valid");
            let key = context.keys.key(Focus::EditCell, Action::Back);
            let text = format!("Properties: {why}; correct the cell, or {key} restores it");
            context.refuse(text);
        }
        is_done
    }

    fn review(&mut self, context: &mut Context) {
        if let Some(proposal) = self.proposal(context) {
            context.open_pane(PaneRequest::Review(Box::new(proposal)));
        }
    }

    /// The proposal for the review; `None`, after saying why, if there is nothing to review.
    pub(super) fn proposal(&mut self, context: &mut Context) -> Option<Proposal> {
        if !self.commit(context) {
            self.section = Section::Properties;
            return None;
        }
        if let Some(why) = self.unread(context) {
            context.say(Severity::Warning, why);
            return None;
        }
        match self.sendable() {
            Err((text, field)) => {
                self.go_to_problem();
                context.refuse(format!("No review yet: {field}: {text}"));
            }
            Ok(wanted) if !self.creating && Change::between(&self.base, &wanted).is_empty() => {
                context.say(Severity::Info, "No changes to review");
            }
            Ok(wanted) => {
                // Whatever happens in the review, the input is not lost. What was only loaded is kept once it is sent.
                self.keep(context);
                return Some(Proposal {
                    id: self.id.clone(),
                    creating: self.creating,
                    base: self.base.clone(),
                    wanted,
                    restores: false,
                    loaded_from: self.loaded_from.clone(),
                });
            }
        }
        None
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

impl View for GroupForm {
    fn about(&self) -> Vec<UserGroupId> {
        vec![self.id.clone()]
    }

    fn focus(&self) -> Focus {
        match self.section {
            Section::Name => Focus::EditName,
            Section::Mapping if self.mapping.is_editing() => Focus::EditCell,
            Section::Mapping => Focus::EditMapping,
            Section::Properties => match self.properties.place() {
                PropertiesFocus::Text => Focus::EditProperties,
                PropertiesFocus::Rows => Focus::EditRows,
                PropertiesFocus::Cell => Focus::EditCell,
                PropertiesFocus::ValueType => Focus::EditType,
            },
        }
    }

    fn title(&self, _context: &Context) -> String {
        let what = if self.creating { "Create" } else { "Edit" };
        format!("{what} {}", visible(self.id.as_str()))
    }

    fn status(&self, context: &Context) -> String {
        let key = |action| context.keys.key(self.field_focus(), action);
        match self.cached_change() {
            _ if self.has_unread() => {
                format!("a text from the editor: {}", key(Action::EditWhole))
            }
            Err(_) => format!("a problem: {} goes there", key(Action::NextProblem)),
            Ok(change) => {
                let changes = match change.count() {
                    0 => "nothing changed".to_owned(),
                    count => counted(count, "change"),
                };
                if self.is_unsaved(context) {
                    format!("{changes}, not kept yet")
                } else {
                    changes
                }
            }
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        self.cached_change = OnceLock::new();
        self.loading = None;
        match action {
            Action::NextField if self.commit(context) => self.section = self.section.next(),
            Action::PreviousField if self.commit(context) => self.section = self.section.previous(),
            Action::RowsOrJson if self.properties.switch() => {
                context.properties_as_rows = self.properties.place() == PropertiesFocus::Rows;
            }
            Action::NextProblem => self.go_to_problem(),
            Action::Review => self.review(context),
            Action::EditWhole => self.open_group(context),
            Action::Discard => self.ask_to_discard(context),
            Action::LoadDraft => self.load_other(context),
            Action::Refresh => self.read_again(context),
            Action::Back => self.pop(context),
            _ => {}
        }
    }

    fn hint(&self, action: Action, context: &Context) -> Option<&'static str> {
        let in_cell = matches!(self.focus(), Focus::EditCell | Focus::EditType);
        let is_unsaved = || {
            self.is_unsaved(context)
                .then_some("leave (draft NOT saved)")
        };
        match action {
            Action::Back if in_cell => None,
            Action::Back if !self.is_changed() || self.is_only_prefilled() => Some("leave"),
            Action::Back => is_unsaved(),
            _ => None,
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::RowsOrJson => {
                let problem = self.properties.why_no_rows();
                problem.map(ToString::to_string)
            }
            Action::Refresh => self.why_not_read_again(),
            Action::Discard => self.why_not_discard(context),
            Action::LoadDraft => self.why_not_load(context),
            _ => None,
        }
    }

    fn confirmed(&mut self, context: &mut Context) {
        if let Some((by, at)) = self.loading.take() {
            self.load_of(&by, at, context);
        } else {
            self.discard(context);
        }
    }

    fn sync(&mut self, context: &mut Context) {
        if !std::mem::take(&mut self.is_only_moved) {
            self.cached_change = OnceLock::new();
        }
        self.keep_what_is_sent(context);
        if self.prefilled.is_some() && !self.is_only_prefilled() {
            self.prefilled = None;
        }
        self.ask_last_updates(context);
        if self.section == Section::Mapping {
            self.data_source_usage
                .update(&self.id, &self.mapping, &context.groups);
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.reading, &self.updates.reading]
    }

    fn changed(&mut self, changes: &Changes, context: &mut Context) {
        if changes.groups.iter().any(|group| group.id == self.id) {
            self.note_remote_changes(context);
            self.updates.invalidate();
        }
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        if let Outcome::History(entries) = outcome {
            self.updates.take(entries);
        } else {
            self.take_copy(outcome, context);
        }
    }

    fn leave(&mut self, context: &mut Context) {
        context.give_up(&self.reading);
        context.give_up(&self.updates.reading);
        self.updates.invalidate();
        self.mapping.commit();
        self.properties.settle();
        self.keep_draft(context);
        context.live.seen(&self.id);
    }

    fn field(&mut self) -> Option<&mut TextField> {
        match self.section {
            Section::Name => Some(&mut self.name),
            Section::Mapping => self.mapping.cell(),
            Section::Properties => self.properties.cell(),
        }
    }

    fn hold_back(&mut self, secret: &str, _context: &mut Context) -> bool {
        if let Some(field) = self.field()
            && field.hold_back(secret)
        {
            self.properties.forget_typed();
            return true;
        }
        if self.mapping.hold_back(secret) {
            return true;
        }
        let text = zeroize::Zeroizing::new(self.properties.text());
        let is_open = self.focus() == Focus::EditProperties || self.focus() == Focus::EditRows;
        let has_it = is_open && text.contains(secret);
        if has_it {
            self.properties.set_text(&text.replace(secret, ""));
        }
        has_it
    }

    fn input(&mut self, key: KeyEvent, context: &mut Context) {
        let reaction = match self.section {
            Section::Name => self.name.key(key),
            Section::Mapping => self.mapping.key(key),
            Section::Properties => self.properties.key(key),
        };
        let is_json = self.focus() == Focus::EditProperties;
        // Comparing all of a long text takes longer than a key may.
        self.is_only_moved = is_json && reaction == Reaction::Moved;
        if !self.is_only_moved {
            self.cached_change = OnceLock::new();
        }
        if is_json
            && reaction == Reaction::Refused
            && key == KeyEvent::new(KeyCode::Char('t'), KeyModifiers::CONTROL)
        {
            let why = self.properties.why_no_rows();
            let why = why.map_or_else(|| "it is formatted already".to_owned(), ToString::to_string);
            let now = context.now;
            context
                .messages
                .refuse(now, format!("Not formatted: {why}"));
        }
    }

    fn paste(&mut self, text: &str, context: &mut Context) -> bool {
        let pasted = match self.section {
            Section::Name => {
                let cut = self.name.paste(text);
                PastedPairs::Text { cut }
            }
            Section::Mapping => self.mapping.paste(text),
            Section::Properties => self.properties.paste(text),
        };
        view::report_pasted(pasted, self.field_focus(), context);
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}

impl GroupForm {
    /// The form of a known group, or of one's own draft if there is one.
    pub fn of(group: &KnownGroup, context: &mut Context) -> Self {
        Self::known(group, None, context)
    }

    /// The same, or the draft of this author if there is no draft of one's own.
    fn known(group: &KnownGroup, author: Option<&str>, context: &mut Context) -> Self {
        let base_at = group.last_seen.unwrap_or(context.now);
        let base = DesiredFields::of(group);
        let new = Self::new(group.id.clone(), base, base_at, false);
        new.or_draft(author, context)
    }

    /// The form of a group to be created, or one's own draft of it.
    pub fn create(id: UserGroupId, context: &mut Context) -> Self {
        Self::unknown(id, None, context)
    }

    /// The same, or the draft of this author if there is no draft of one's own.
    fn unknown(id: UserGroupId, author: Option<&str>, context: &mut Context) -> Self {
        let new = Self::new(id, DesiredFields::default(), context.now, true);
        new.or_draft(author, context)
    }

    fn or_draft(mut self, author: Option<&str>, context: &mut Context) -> Self {
        // Another console may have stored a newer one.
        context.read_drafts();
        let key = (context.current, self.id.clone());
        let unsent = context.drafts.get(&key).cloned();
        let is_own = |unsent: &UnsentDraft| context.other_author(unsent).is_none();
        if let Some(unsent) = unsent.as_ref().filter(|unsent| is_own(unsent)) {
            Self::say_opened(unsent, context);
            let form = unsent.form.clone();
            let mut draft = form.unwrap_or_else(|| Self::of_draft(unsent.draft.clone()));
            if !self.creating {
                draft.becomes_update(self.base);
            }
            return draft;
        }
        if context.properties_as_rows {
            self.properties.switch();
        }
        let mut others = context.drafts.others(&key).iter();
        let asked = others.find(|other| Some(other.by.as_str()) == author);
        if let Some(asked) = asked.cloned() {
            self.load_now(&asked, context);
        } else if let Some(other) = unsent {
            Self::say_edited_by_other(&other, context);
        }
        self
    }

    /// The group exists: what was typed to create it becomes an update. Fields that were left blank stay out of it, as they
    /// were out of the creation.
    fn becomes_update(&mut self, known: DesiredFields) {
        if !self.creating {
            return;
        }
        self.creating = false;
        self.base = DesiredFields {
            name: known.name.filter(|_| !self.name.is_empty()),
            mapping: known
                .mapping
                .filter(|_| self.mapping.value().is_ok_and(|rows| !rows.is_empty())),
            properties: known.properties.filter(|_| !self.properties.is_blank()),
        };
    }
}
