//! What people attach to a group for each other: a note, labels, a favourite. Stored in the directory, never sent.

mod plan;

use std::{collections::BTreeSet, fmt, str::FromStr};

use jiff::Timestamp;

use super::text::visible;
pub use plan::{AnnotationDifference, AnnotationPlan};

/// Maximum length of a note, in characters.
pub const MAX_NOTE_LEN: usize = 500;
/// Maximum length of a label, in characters.
const MAX_LABEL_LEN: usize = 32;
/// Maximum number of labels of a group.
const MAX_LABELS: usize = 20;

/// Why a text is not a valid note or label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnnotation {
    #[error("invalid note: expected at most {MAX_NOTE_LEN} characters")]
    LongNote,
    #[error("invalid note: expected one line")]
    LinesInNote,
    #[error(
        "invalid label {0:?}: expected letters, digits and - _ . / : (no spaces or commas), at most {MAX_LABEL_LEN} characters"
    )]
    BadLabel(String),
    #[error("a group has at most {MAX_LABELS} labels")]
    ManyLabels,
    /// Somebody else has written the note since it was seen; this is the present one.
    #[error("{}", changed(.0))]
    NoteChanged(Box<Annotation>),
}

/// A label: lower case, without spaces; accepted with or without a `#`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(String);

impl FromStr for Label {
    type Err = InvalidAnnotation;

    fn from_str(text: &str) -> Result<Self, InvalidAnnotation> {
        Self::parse(text)
    }
}

impl Label {
    pub fn parse(text: &str) -> Result<Self, InvalidAnnotation> {
        let bare = text.trim().trim_start_matches('#').to_lowercase();
        let is_allowed = |c: char| c.is_alphanumeric() || "-_./:".contains(c);
        let length = bare.chars().count();
        if length == 0
            || length > MAX_LABEL_LEN
            || bare.starts_with('-')
            || !bare.chars().all(is_allowed)
        {
            return Err(InvalidAnnotation::BadLabel(text.trim().to_owned()));
        }
        Ok(Self(bare))
    }

    /// Parses several labels, separated by spaces or commas.
    pub fn parse_all(text: &str) -> Result<BTreeSet<Self>, InvalidAnnotation> {
        let words = text.split(|c: char| c.is_whitespace() || c == ',');
        let words = words.filter(|word| !word.is_empty()).map(Self::parse);
        labels(words.collect::<Result<_, _>>()?)
    }

    /// The label without `#`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Refuses more labels than a group may have.
pub fn labels(labels: BTreeSet<Label>) -> Result<BTreeSet<Label>, InvalidAnnotation> {
    if labels.len() > MAX_LABELS {
        return Err(InvalidAnnotation::ManyLabels);
    }
    Ok(labels)
}

/// All labels as text, each with its `#`.
pub fn labels_text(labels: &BTreeSet<Label>) -> String {
    let labels: Vec<String> = labels.iter().map(Label::to_string).collect();
    labels.join(" ")
}

/// Validates a note: one line, trimmed; `None` if empty.
pub fn note(text: &str) -> Result<Option<String>, InvalidAnnotation> {
    let text = text.trim();
    if text.contains(['\n', '\r']) {
        return Err(InvalidAnnotation::LinesInNote);
    }
    if text.chars().count() > MAX_NOTE_LEN {
        return Err(InvalidAnnotation::LongNote);
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Who wrote something, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribution {
    pub at: Timestamp,
    /// The operator, for example `ana@bastion2`.
    pub by: String,
}

/// What is written beside one group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotation {
    pub note: Option<String>,
    /// Author of the note, also of its removal.
    pub noted: Option<Attribution>,
    pub labels: BTreeSet<Label>,
    /// Author of the labels.
    pub labelled: Option<Attribution>,
    pub is_favourite: bool,
}

impl Annotation {
    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.note.is_none() && self.labels.is_empty() && !self.is_favourite
    }

    /// The labels as text, each with its `#`.
    pub fn labels_text(&self) -> String {
        labels_text(&self.labels)
    }

    /// The change that a file with these annotations asks for; absent ones are left out.
    pub fn as_change(&self) -> AnnotationChange {
        AnnotationChange {
            note: self.note.clone(),
            labels: Some(self.labels.clone()).filter(|labels| !labels.is_empty()),
            favourite: self.is_favourite.then_some(true),
            ..AnnotationChange::default()
        }
    }

    /// Applies a change; returns whether anything is different now.
    pub fn apply(
        &mut self,
        change: &AnnotationChange,
        by: &Attribution,
    ) -> Result<bool, InvalidAnnotation> {
        let before = self.clone();
        if let Some(text) = &change.note {
            let wanted = note(text)?;
            let is_seen = change.seen.as_ref().is_none_or(|seen| seen.0 == self.note);
            if !is_seen && wanted != self.note {
                return Err(InvalidAnnotation::NoteChanged(Box::new(before)));
            }
            self.note = wanted;
        }
        if let Some(labels) = &change.labels {
            self.labels.clone_from(labels);
        }
        self.labels.extend(change.add.iter().cloned());
        for label in &change.remove {
            self.labels.remove(label);
        }
        if self.labels.len() > MAX_LABELS {
            return Err(InvalidAnnotation::ManyLabels);
        }
        if let Some(is_favourite) = change.favourite {
            self.is_favourite = is_favourite;
        }
        if self.note != before.note {
            self.noted = Some(by.clone());
        }
        if self.labels != before.labels {
            self.labelled = Some(by.clone());
        }
        Ok(*self != before)
    }
}

/// A note as it was seen; `None` if there was none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenNote(pub Option<String>);

fn changed(now: &Annotation) -> String {
    let by = now.noted.as_ref();
    let by = by.map_or_else(String::new, |noted| format!(" by {}", visible(&noted.by)));
    match &now.note {
        Some(note) => format!(
            "Note not saved: it was changed{by} to \"{}\"",
            visible(note)
        ),
        None => format!("Note not saved: it was removed{by}"),
    }
}

/// A change of an annotation; what is not named stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnnotationChange {
    /// The new note; an empty one removes it.
    pub note: Option<String>,
    /// The note that the new one is based on; the change is refused if the note is a different one by now. `None`
    /// overwrites any note.
    pub seen: Option<SeenNote>,
    /// Replaces all labels.
    pub labels: Option<BTreeSet<Label>>,
    pub add: BTreeSet<Label>,
    pub remove: BTreeSet<Label>,
    pub favourite: Option<bool>,
}

impl AnnotationChange {
    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_alike_however_they_are_written() {
        let labels = Label::parse_all(" #VIP, sso\ttier/gold ").expect("labels");
        let names: Vec<&str> = labels.iter().map(Label::as_str).collect();
        assert_eq!(names, ["sso", "tier/gold", "vip"]);
        for text in ["-vip", "#", "a b", "x\u{1b}", &"x".repeat(33)] {
            assert!(Label::parse(text).is_err(), "{text:?}");
        }
        let many: Vec<String> = (0..21).map(|n| format!("l{n}")).collect();
        let many = Label::parse_all(&many.join(" "));
        assert_eq!(many, Err(InvalidAnnotation::ManyLabels));
    }

    #[test]
    fn a_change_names_who_made_it_and_leaves_the_rest() {
        let written = |second| Attribution {
            at: Timestamp::constant(second, 0),
            by: "ana".into(),
        };
        let mut annotation = Annotation::default();
        let text = AnnotationChange {
            note: Some("  call first ".into()),
            ..AnnotationChange::default()
        };
        assert_eq!(annotation.apply(&text, &written(1)), Ok(true));
        let labels = |text| Label::parse_all(text).expect("labels");
        let more = AnnotationChange {
            add: labels("vip sso"),
            remove: labels("trial"),
            ..AnnotationChange::default()
        };
        assert_eq!(annotation.apply(&more, &written(2)), Ok(true));
        assert_eq!(annotation.apply(&more, &written(3)), Ok(false));
        assert_eq!(annotation.note.as_deref(), Some("call first"));
        assert_eq!(annotation.noted, Some(written(1)));
        assert_eq!(annotation.labelled, Some(written(2)));
        assert_eq!(annotation.labels_text(), "#sso #vip");
        let none = AnnotationChange {
            note: Some(String::new()),
            labels: Some(BTreeSet::new()),
            ..AnnotationChange::default()
        };
        assert_eq!(annotation.apply(&none, &written(4)), Ok(true));
        assert!(annotation.is_empty());
        let from = |seen: Option<&str>, text: &str| AnnotationChange {
            note: Some(text.into()),
            seen: Some(SeenNote(seen.map(Into::into))),
            ..AnnotationChange::default()
        };
        assert_eq!(annotation.apply(&from(None, "one"), &written(5)), Ok(true));
        let refused = annotation.apply(&from(None, "two"), &written(6));
        let now = Box::new(annotation.clone());
        assert_eq!(refused, Err(InvalidAnnotation::NoteChanged(now)));
        assert_eq!(
            annotation.note.as_deref(),
            Some("one"),
            "nothing is changed"
        );
        let same = annotation.apply(&from(None, "one"), &written(7));
        assert_eq!(same, Ok(false), "both wrote the same");
        let next = annotation.apply(&from(Some("one"), "two"), &written(8));
        assert_eq!(next, Ok(true));
        assert_eq!(note("two\nlines"), Err(InvalidAnnotation::LinesInNote));
        assert_eq!(note(&"x".repeat(501)), Err(InvalidAnnotation::LongNote));
    }
}
