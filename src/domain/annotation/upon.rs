//! What the note, the labels and the favourite in a file would change, and what of the present annotation stays.

use std::fmt;

use serde_json::{Value, json};

use super::{Annotation, AnnotationChange, Label, SeenNote};
use crate::domain::text::visible;

/// A column in which a file differs from the present value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differing {
    /// `note`, `labels` or `favourite`.
    pub column: &'static str,
    /// As JSON; null if there is none.
    pub here: Value,
    pub said: Value,
}

impl Differing {
    /// Whether a present value would be lost.
    pub fn is_replacement(&self) -> bool {
        match &self.here {
            Value::Null => false,
            Value::Array(labels) => !labels.is_empty(),
            _ => self.column != "favourite",
        }
    }
}

/// For example `note: "call first" -> "call Li first"`.
impl fmt::Display for Differing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, here, said } = self;
        write!(f, "{column}: {} -> {}", shown(here), shown(said))
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => format!("\"{}\"", visible(text)),
        Value::Array(labels) if labels.is_empty() => "none".into(),
        Value::Array(labels) => {
            let labels = labels.iter().filter_map(Value::as_str);
            let labels: Vec<_> = labels.map(|label| format!("#{label}")).collect();
            labels.join(" ")
        }
        other => other.to_string(),
    }
}

/// What a file would do to an annotation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnnotationPlan {
    /// Based on what was seen: it is refused if the note is a different one by now, and keeps labels that others add.
    pub change: AnnotationChange,
    pub changed: Vec<Differing>,
    /// Written here by somebody, and kept.
    pub kept: Vec<Differing>,
}

impl AnnotationChange {
    /// Plans this change for the present annotation. What somebody wrote or removed is replaced only if `replaces` is
    /// set.
    pub fn upon(&self, here: &Annotation, replaces: bool) -> AnnotationPlan {
        let mut plan = AnnotationPlan::default();
        let note = self.note.as_ref().filter(|text| !text.is_empty());
        if self.note.is_some() && note != here.note.as_ref() {
            let differing = Differing {
                column: "note",
                here: json!(here.note),
                said: json!(note),
            };
            if plan.takes(differing, replaces || here.noted.is_none()) {
                plan.change.note.clone_from(&self.note);
                plan.change.seen = Some(SeenNote(here.note.clone()));
            }
        }
        if let Some(labels) = self.labels.as_ref().filter(|said| **said != here.labels) {
            let names = |labels: &mut dyn Iterator<Item = &Label>| -> Value {
                labels.map(Label::as_str).collect()
            };
            let differing = Differing {
                column: "labels",
                here: names(&mut here.labels.iter()),
                said: names(&mut labels.iter()),
            };
            if plan.takes(differing, replaces || here.labelled.is_none()) {
                plan.change.add = labels.difference(&here.labels).cloned().collect();
                plan.change.remove = here.labels.difference(labels).cloned().collect();
            }
        }
        if let Some(is_favourite) = self.favourite.filter(|said| *said != here.is_favourite) {
            let differing = Differing {
                column: "favourite",
                here: json!(here.is_favourite),
                said: json!(is_favourite),
            };
            if plan.takes(differing, replaces || is_favourite) {
                plan.change.favourite = Some(is_favourite);
            }
        }
        plan
    }
}

impl AnnotationPlan {
    fn takes(&mut self, differing: Differing, is_taken: bool) -> bool {
        if is_taken {
            self.changed.push(differing);
        } else {
            self.kept.push(differing);
        }
        is_taken
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::annotation::Written;

    fn said(note: &str, labels: &str, favourite: bool) -> AnnotationChange {
        AnnotationChange {
            note: Some(note.into()),
            labels: Some(Label::parse_all(labels).expect("labels")),
            favourite: Some(favourite),
            ..AnnotationChange::default()
        }
    }

    fn columns(differing: &[Differing]) -> Vec<&'static str> {
        differing.iter().map(|one| one.column).collect()
    }

    #[test]
    fn gaps_are_filled_and_what_somebody_wrote_stays_unless_it_is_to_be_replaced() {
        let by = Written {
            at: Timestamp::UNIX_EPOCH,
            by: "ana".into(),
        };
        let mut here = Annotation::default();
        let file = said("call first", "vip sso", true);
        let plan = file.upon(&here, false);
        assert_eq!(columns(&plan.changed), ["note", "labels", "favourite"]);
        here.apply(&plan.change, &by).expect("written");
        assert_eq!(file.upon(&here, false), AnnotationPlan::default());

        let other = said("", "vip trial", false);
        let kept = other.upon(&here, false);
        assert_eq!(columns(&kept.kept), ["note", "labels", "favourite"]);
        assert!(kept.change.is_empty() && kept.changed.is_empty());
        assert_eq!(kept.kept[0].to_string(), "note: \"call first\" -> none");
        assert_eq!(kept.kept[1].to_string(), "labels: #sso #vip -> #trial #vip");
        let plan = other.upon(&here, true);
        // A label that was added meanwhile is kept.
        let more = AnnotationChange {
            add: Label::parse_all("later").expect("a label"),
            ..AnnotationChange::default()
        };
        here.apply(&more, &by).expect("written");
        here.apply(&plan.change, &by).expect("written");
        assert_eq!((here.note.as_deref(), here.is_favourite), (None, false));
        assert_eq!(here.labels_text(), "#later #trial #vip");
        // A removal counts as written by somebody, too.
        assert_eq!(columns(&file.upon(&here, false).kept), ["note", "labels"]);
    }
}
