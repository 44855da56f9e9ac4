//! The note and the labels of a group: two lines, stored in the directory for everybody who uses it, never sent to the
//! service.

use std::collections::BTreeSet;

use super::prelude::*;
use crate::{
    domain::{
        Annotation, AnnotationChange, Label,
        annotation::{MAX_NOTE_LEN, SeenNote},
        capitalised,
    },
    tui::{
        kit::Form,
        page::{group_details::by, prompt::FRAME},
        state::groups,
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoteRow {
    Note,
    Labels,
}

#[derive(Debug)]
pub struct NotePane {
    id: UserGroupId,
    /// The initial values of the fields; the note is updated if somebody else has written one since.
    before: Annotation,
    form: Form<NoteRow>,
    /// Reads what is stored: another process may have written it since the list was read.
    reading: Pending,
    /// The running save.
    saving: Pending,
    /// Somebody else has written a note meanwhile; the input is kept.
    is_overtaken: bool,
    /// Since the last action.
    is_unseen: bool,
    /// Labels of all groups, for completion.
    known: BTreeSet<Label>,
}

/// Width of the field labels, in cells.
const LABEL: u16 = 6;
const WIDTH: u16 = 76;
/// Of the two fields, kept free so that nothing moves when one has a line below it.
const MIN_ROWS: u16 = 3;

impl NotePane {
    pub fn of(id: UserGroupId, context: &mut Context) -> Self {
        let before = context.annotations.of.get(&id).cloned().unwrap_or_default();
        let note = before.note.as_deref().unwrap_or_default();
        let labels = labels_text(&before);
        let reading = Pending::default();
        context.ask(&reading, Job::ReadNote(id.clone()));
        Self {
            reading,
            id,
            form: Form::default()
                .text(
                    NoteRow::Note,
                    "Note",
                    TextField::new("", note).with_longest(MAX_NOTE_LEN),
                )
                .text(NoteRow::Labels, "Labels", TextField::new("", labels)),
            saving: Pending::default(),
            is_overtaken: false,
            is_unseen: false,
            known: context.annotations.known_labels(),
            before,
        }
    }

    fn is_on_labels(&self) -> bool {
        self.form.key() == NoteRow::Labels
    }

    /// Completes the label that is being typed; whether there was one.
    fn complete(&mut self) -> bool {
        let text = self.form.typed(NoteRow::Labels);
        let start = text.rfind([' ', ',']).map_or(0, |at| at + 1);
        let (before, typed) = text.split_at(start);
        let typed = typed.trim_start_matches('#').to_lowercase();
        let mut known = self.known.iter().map(Label::as_str);
        let found = known.find(|label| label.starts_with(&typed) && *label != typed);
        let Some(found) = found.filter(|_| !typed.is_empty()) else {
            return false;
        };
        let text = format!("{before}{found} ");
        if let Some(labels) = self.form.field_of(NoteRow::Labels) {
            labels.set_text(&text);
        }
        true
    }

    fn save(&mut self, context: &mut Context) {
        let labels = match Label::parse_all(self.form.typed(NoteRow::Labels)) {
            Ok(labels) => labels,
            Err(invalid) => {
                let problem = (NoteRow::Labels, invalid.to_string());
                self.form.refuse([problem]);
                return;
            }
        };
        let note = self.form.typed(NoteRow::Note).trim();
        let is_same = self.before.note.as_deref().unwrap_or_default() == note;
        if !is_same || labels != self.before.labels {
            let change = AnnotationChange {
                note: (!is_same).then(|| note.to_owned()),
                seen: (!is_same).then(|| SeenNote(self.before.note.clone())),
                add: &labels - &self.before.labels,
                remove: &self.before.labels - &labels,
                ..AnnotationChange::default()
            };
            let job = Job::Annotate(vec![self.id.clone()], Box::new(change));
            // The save compares with what is stored.
            context.give_up(&self.reading);
            self.saving.begin(context.start(job));
        } else {
            context.close_pane();
        }
    }

    /// Another process has written the note. What was typed stays, and Enter replaces the other note; without input, the
    /// other note is the text.
    fn take_note(&mut self, now: &Annotation, what: &str, context: &mut Context) {
        let is_typed = self.has_typed_note();
        let stored = now.note.as_deref().unwrap_or_default();
        self.before.note.clone_from(&now.note);
        self.before.noted.clone_from(&now.noted);
        if let Some(note) = self.form.field_of(NoteRow::Note) {
            note.begins_with(stored);
            if !is_typed {
                note.set_text(stored);
            }
        }
        if is_typed {
            self.is_overtaken = true;
            self.form.focus(NoteRow::Note);
            let by = now.noted.as_ref();
            let by = by.map_or_else(String::new, |noted| format!(" by {}", visible(&noted.by)));
            let text = format!("{what} the note was changed{by} meanwhile");
            context.say(Severity::Warning, capitalised(text.trim()));
        }
    }

    fn has_typed_note(&self) -> bool {
        let before = self.before.note.as_deref().unwrap_or_default();
        self.form.typed(NoteRow::Note).trim() != before
    }

    fn has_typed_labels(&self) -> bool {
        let labels = Label::parse_all(self.form.typed(NoteRow::Labels));
        labels.map_or(true, |labels| labels != self.before.labels)
    }

    /// The line below the fields. The whole of another note, to compare.
    fn foot(&self, context: &Context) -> String {
        let written = self.before.noted.as_ref().or(self.before.labelled.as_ref());
        let written = written.map_or_else(String::new, |written| by(written, context));
        if self.is_overtaken {
            let key = context.keys.key(Focus::Note, Action::Enter);
            return match &self.before.note {
                None => format!("{key} saves yours: the note was removed {written}"),
                Some(note) => format!("{key} replaces theirs: {}   {written}", visible(note)),
            };
        }
        if self.is_on_labels() {
            return "Separate labels with spaces; Tab completes a known one".into();
        }
        let last = if written.is_empty() {
            ""
        } else {
            "   last written "
        };
        format!("Stored in the directory, never sent{last}{written}")
    }
}

/// Labels as they are typed.
fn labels_text(annotation: &Annotation) -> String {
    let labels = annotation.labels.iter().map(Label::as_str);
    labels.flat_map(|label| [label, " "]).collect()
}

impl View for NotePane {
    fn focus(&self) -> Focus {
        Focus::Note
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let is_unseen = std::mem::take(&mut self.is_unseen);
        match action {
            Action::Enter if is_unseen => {
                let key = context.keys.key(Focus::Note, action);
                context.refuse(format!(
                    "Not saved: the note has just changed; {key} again saves yours"
                ));
            }
            Action::Enter => self.save(context),
            Action::Back if self.saving.is_waiting() => context.close_pane(),
            Action::NextField if self.is_on_labels() && self.complete() => {}
            Action::NextField | Action::PreviousField => self.form.go(true),
            Action::Back => {
                if self.unsaved().is_some() {
                    context.mention("The note was not saved");
                }
                context.close_pane();
            }
            _ => {}
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.form.field()
    }

    fn take_back(&mut self, field: &str, _context: &mut Context) {
        let row = match field {
            "note" => NoteRow::Note,
            "label" => NoteRow::Labels,
            _ => return,
        };
        if let Some(field) = self.form.field_of(row) {
            field.take_back();
        }
    }

    fn unsaved(&self) -> Option<String> {
        let is_typed = self.has_typed_note() || self.has_typed_labels();
        let id = visible(self.id.as_str());
        is_typed.then(|| format!("the note of {id} is not saved"))
    }

    fn sync(&mut self, context: &mut Context) {
        let now = context.annotations.of.get(&self.id);
        let now = now.cloned().unwrap_or_default();
        if self.saving.is_waiting() {
            return;
        }
        if now.note != self.before.note {
            self.take_note(&now, "", context);
            // It may have come just before the key that saves.
            self.is_unseen = self.is_overtaken;
        }
        // What was typed of the labels adds and removes some, whatever else there is.
        if now.labels != self.before.labels && !self.has_typed_labels() {
            if let Some(labels) = self.form.field_of(NoteRow::Labels) {
                let text = labels_text(&now);
                labels.begins_with(&text);
                labels.set_text(&text);
            }
            self.before.labels = now.labels;
            self.before.labelled = now.labelled;
        }
    }

    fn disabled(&self, action: Action, _context: &Context) -> Option<String> {
        (action == Action::Enter && self.saving.is_waiting())
            .then(|| "the note is being saved".into())
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.reading, &self.saving]
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::Annotated(changed, change) => {
                context.say(Severity::Done, groups::saved(changed, change));
                context.close_pane();
            }
            Outcome::NoteChanged(_, now, _) => self.take_note(now, "Not saved:", context),
            Outcome::Failed(error) => {
                context.say_error(error);
            }
            _ => {}
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let theme = context.theme;
        let title = format!("Note and labels of {}", visible(self.id.as_str()));
        let inside = WIDTH.min(area.width).saturating_sub(FRAME.0);
        let foot = self.foot(context);
        let foot_rows = paint::wrapped_lines(&foot, inside).len() as u16;
        let height = self.form.rows(inside, LABEL).max(MIN_ROWS) + foot_rows + FRAME.1;
        let inner = popup(buffer, area, (WIDTH, height), &title, theme);
        let (rows, below) = split_below(inner, foot_rows);
        let (_, cursor) = self.form.draw(buffer, rows, LABEL, theme);
        let style = if self.is_overtaken {
            theme.warning()
        } else {
            theme.dim()
        };
        paint::wrapped(buffer, below, &foot, style, theme);
        cursor
    }
}
