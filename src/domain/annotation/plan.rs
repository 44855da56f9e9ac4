//! What the note, the labels and the favourite in a file would change, and what of the present annotation stays.

use std::fmt;

use serde_json::{Value, json};

use super::{Annotation, AnnotationChange, Label, SeenNote};
use crate::domain::text::visible;

/// A column in which a file differs from the present value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotationDifference {
    /// `note`, `labels` or `favourite`.
    pub column: &'static str,
    /// As JSON; null if there is none.
    pub current: Value,
    pub wanted: Value,
}

impl AnnotationDifference {
    /// Whether a present value would be lost.
    pub fn is_replacement(&self) -> bool {
        match &self.current {
            Value::Null => false,
            Value::Array(labels) => !labels.is_empty(),
            _ => self.column != "favourite",
        }
    }
}

/// For example `note: "call first" -> "call Li first"`.
impl fmt::Display for AnnotationDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            column,
            current,
            wanted,
        } = self;
        write!(f, "{column}: {} -> {}", shown(current), shown(wanted))
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
    pub changed: Vec<AnnotationDifference>,
    /// Written here by somebody, and kept.
    pub kept: Vec<AnnotationDifference>,
}

impl AnnotationChange {
    /// Plans this change for the present annotation. What somebody wrote or removed is replaced only if `replaces` is
    /// set.
    pub fn plan(&self, current: &Annotation, replaces: bool) -> AnnotationPlan {
        let mut plan = AnnotationPlan::default();
        let note = self.note.as_ref().filter(|text| !text.is_empty());
        if self.note.is_some() && note != current.note.as_ref() {
            let difference = AnnotationDifference {
                column: "note",
                current: json!(current.note),
                wanted: json!(note),
            };
            if plan.record(difference, replaces || current.noted.is_none()) {
                plan.change.note.clone_from(&self.note);
                plan.change.seen = Some(SeenNote(current.note.clone()));
            }
        }
        if let Some(labels) = self
            .labels
            .as_ref()
            .filter(|wanted| **wanted != current.labels)
        {
            let names = |labels: &mut dyn Iterator<Item = &Label>| -> Value {
                labels.map(Label::as_str).collect()
            };
            let difference = AnnotationDifference {
                column: "labels",
                current: names(&mut current.labels.iter()),
                wanted: names(&mut labels.iter()),
            };
            if plan.record(difference, replaces || current.labelled.is_none()) {
                plan.change.add = labels.difference(&current.labels).cloned().collect();
                plan.change.remove = current.labels.difference(labels).cloned().collect();
            }
        }
        if let Some(is_favourite) = self
            .favourite
            .filter(|wanted| *wanted != current.is_favourite)
        {
            let difference = AnnotationDifference {
                column: "favourite",
                current: json!(current.is_favourite),
                wanted: json!(is_favourite),
            };
            if plan.record(difference, replaces || is_favourite) {
                plan.change.favourite = Some(is_favourite);
            }
        }
        plan
    }
}

impl AnnotationPlan {
    fn record(&mut self, difference: AnnotationDifference, is_taken: bool) -> bool {
        if is_taken {
            self.changed.push(difference);
        } else {
            self.kept.push(difference);
        }
        is_taken
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::annotation::Attribution;

    fn change(note: &str, labels: &str, favourite: bool) -> AnnotationChange {
        AnnotationChange {
            note: Some(note.into()),
            labels: Some(Label::parse_all(labels).expect("labels")),
            favourite: Some(favourite),
            ..AnnotationChange::default()
        }
    }

    fn columns(difference: &[AnnotationDifference]) -> Vec<&'static str> {
        difference.iter().map(|one| one.column).collect()
    }

    #[test]
    fn gaps_are_filled_and_what_somebody_wrote_stays_unless_it_is_to_be_replaced() {
        let by = Attribution {
            at: Timestamp::UNIX_EPOCH,
            by: "ana".into(),
        };
        let mut current = Annotation::default();
        let file = change("call first", "vip sso", true);
        let plan = file.plan(&current, false);
        assert_eq!(columns(&plan.changed), ["note", "labels", "favourite"]);
        current.apply(&plan.change, &by).expect("written");
        assert_eq!(file.plan(&current, false), AnnotationPlan::default());

        let other = change("", "vip trial", false);
        let kept = other.plan(&current, false);
        assert_eq!(columns(&kept.kept), ["note", "labels", "favourite"]);
        assert!(kept.change.is_empty() && kept.changed.is_empty());
        assert_eq!(kept.kept[0].to_string(), "note: \"call first\" -> none");
        assert_eq!(kept.kept[1].to_string(), "labels: #sso #vip -> #trial #vip");
        let plan = other.plan(&current, true);
        // A label that was added meanwhile is kept.
        let more = AnnotationChange {
            add: Label::parse_all("later").expect("a label"),
            ..AnnotationChange::default()
        };
        current.apply(&more, &by).expect("written");
        current.apply(&plan.change, &by).expect("written");
        assert_eq!(
            (current.note.as_deref(), current.is_favourite),
            (None, false)
        );
        assert_eq!(current.labels_text(), "#later #trial #vip");
        // A removal counts as written by somebody as well.
        assert_eq!(
            columns(&file.plan(&current, false).kept),
            ["note", "labels"]
        );
    }
}
