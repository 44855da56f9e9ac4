//! Decisions in a review: whose value is sent if somebody else changed it, and whether a field is sent whose current
//! value is not known here (hazard 4).
//!
//! Draws the choices of a review: the old value, theirs and mine below each other, with a mark at the one that is sent.

use crate::domain::{
    Part,
    history::Entry,
    merge::{Conflict, Merge, Resolution},
    text::{bounded, visible},
};
use crate::operations::Numbered;
use crate::tui::panes::prelude::*;

/// A field that the service may have and this installation does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unknown {
    pub field: &'static str,
    /// A value was typed for it.
    pub is_typed: bool,
    /// It is replaced as a whole; otherwise it is left out of the request.
    pub is_replaced: bool,
}

/// One row with a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice<'a> {
    Conflict(&'a Conflict),
    Unknown(Unknown),
}

/// All choices of a review; the cursor is on one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choices {
    pub merge: Merge,
    unknown: Vec<Unknown>,
    pub at: usize,
    /// When the service's copy was read.
    pub read_at: Timestamp,
    /// Of each value that this edit did not begin with: when it was sent and by whom, if the history says it.
    authors: Vec<Option<(Timestamp, String)>>,
}

impl Choices {
    /// The defaults: mine where this edit changed a value, theirs where it did not, and nothing is replaced that was
    /// not typed.
    pub(super) fn of(
        base: &DesiredFields,
        now: &DesiredFields,
        typed: &DesiredFields,
        read_at: Timestamp,
    ) -> Self {
        let fields = [
            ("mapping", now.mapping.is_some(), typed.mapping.is_some()),
            (
                "properties",
                now.properties.is_some(),
                typed.properties.is_some(),
            ),
        ];
        let unknown = fields.into_iter().filter(|(_, is_known, _)| !is_known);
        Self {
            merge: Merge::of(base, now, typed),
            unknown: unknown
                .map(|(field, _, is_typed)| Unknown {
                    field,
                    is_typed,
                    is_replaced: is_typed,
                })
                .collect(),
            at: 0,
            read_at,
            authors: Vec::new(),
        }
    }

    /// Whether the service has values that this edit did not begin with.
    pub(super) fn has_foreign(&self) -> bool {
        !self.merge.conflicts.is_empty() || !self.merge.left_out.is_empty()
    }

    /// Names who sent these values, as far as the history of the group says it; its newest entry is the first.
    pub(super) fn name_authors(&mut self, entries: &[Numbered<Entry>]) {
        let foreign = self.merge.foreign();
        let authors = foreign.map(|(part, value)| {
            let mut entries = entries.iter().map(|entry| &entry.value);
            let last = entries.find_map(|entry| Some((entry, entry.accepted(part)?)));
            let (entry, _) = last.filter(|(_, accepted)| *accepted == value.as_deref())?;
            Some((entry.at, entry.by.clone()))
        });
        self.authors = authors.collect();
    }

    /// Says who changed the values, in capitals as far as it is no name.
    fn changed_by(&self, context: &Context) -> String {
        let Some((at, by)) = self.authors.iter().flatten().max() else {
            return "CHANGED ELSEWHERE".into();
        };
        let is_other = |author: &Option<(Timestamp, String)>| {
            author.as_ref().is_none_or(|(_, other)| other != by)
        };
        let others = self.authors.iter().any(is_other);
        let others = if others { " AND OTHERS" } else { "" };
        let by = if context.is_other_person(by) {
            visible(by)
        } else {
            "YOU".into()
        };
        format!("CHANGED BY {by} {}{others}", context.moment(*at))
    }

    /// Takes over decisions about the same values that were made before the copy was read again.
    pub(super) fn keep(&mut self, before: &Self) {
        self.merge.keep_choices(&before.merge);
        for row in &mut self.unknown {
            let same = before.unknown.iter().find(|old| old.field == row.field);
            row.is_replaced = same.map_or(row.is_replaced, |old| old.is_replaced);
        }
        self.at = before.at.min(self.count().saturating_sub(1));
    }

    pub(super) fn count(&self) -> usize {
        self.merge.conflicts.len() + self.unknown.len()
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Choice<'_>> {
        let conflicts = self.merge.conflicts.iter().map(Choice::Conflict);
        conflicts.chain(self.unknown.iter().copied().map(Choice::Unknown))
    }

    /// Toggles the choice under the cursor.
    pub(super) fn toggle(&mut self) {
        let conflicts = self.merge.conflicts.len();
        if let Some(row) = self.merge.conflicts.get_mut(self.at) {
            row.take = row.take.other();
        } else if let Some(row) = self.unknown.get_mut(self.at.wrapping_sub(conflicts)) {
            row.is_replaced = !row.is_replaced;
        }
    }

    /// The fields to send according to the choices.
    pub(super) fn result(&self) -> DesiredFields {
        let mut result = self.merge.result();
        for row in &self.unknown {
            match (row.field, row.is_replaced) {
                ("mapping", true) => drop(result.mapping.get_or_insert_default()),
                ("mapping", false) => result.mapping = None,
                (_, true) => drop(result.properties.get_or_insert_default()),
                (_, false) => result.properties = None,
            }
        }
        result
    }
}

const LABEL: &str = "saved values";

/// Writes how the service's copy compares; appends to `rows` the line on which each choice begins.
pub(super) fn write(
    page: &mut TextPage,
    choices: &Choices,
    rows: &mut Vec<usize>,
    context: &Context,
) {
    let theme = context.theme;
    let merge = &choices.merge;
    // Not "just now": a review may stay open for as long as a phone call.
    let read = context.moment(choices.read_at);
    if merge.has_no_remote_changes() {
        let text = format!("read {read}: unchanged since you started (mapping cannot be checked)");
        page.field(LABEL, &text, theme.ok(), "");
    } else if !choices.has_foreign() {
        let text = format!(
            "read {read}: it already has your {}, by your request or by someone else's",
            labels(&merge.agreed)
        );
        page.field(LABEL, &text, theme.ok(), "");
    } else {
        let rows = match merge.conflicts.len() {
            0 => String::new(),
            1 => "; 1 row to decide".to_owned(),
            more => format!("; {more} rows to decide"),
        };
        let text = format!("read {read}: {}{rows}", choices.changed_by(context));
        page.field(LABEL, &text, theme.warning(), "");
        if !merge.agreed.is_empty() {
            let text = format!("The same as yours: {}", labels(&merge.agreed));
            page.field("", &text, theme.dim(), "");
        }
        if !merge.left_out.is_empty() {
            let text = format!("Yours omits: {}", labels(&merge.left_out));
            page.field("", &text, theme.dim(), "");
        }
    }
    if choices.count() > 0 {
        // Always the key of a review, in every place of it.
        let key = context.keys.key(Focus::Review, Action::Choose);
        let text = format!("{key} chooses the value; the request is updated.");
        page.field("", &text, theme.dim(), "");
    }
    for (index, choice) in choices.rows().enumerate() {
        rows.push(page.height());
        let head = if index == choices.at { ">" } else { " " };
        match choice {
            Choice::Conflict(row) => conflicts(page, head, row, theme),
            Choice::Unknown(row) => unknown(page, head, row, theme),
        }
    }
}

fn conflicts(page: &mut TextPage, head: &str, row: &Conflict, theme: Theme) {
    let there = |value: &Option<String>| match value {
        Some(value) => bounded(value).into_owned(),
        None => "(not there)".into(),
    };
    let base = if row.base_known {
        there(&row.base)
    } else {
        "unknown".into()
    };
    let text = format!("{head} {}: it was {base}", row.part.label());
    page.indented(0, &text, head_style(head, theme));
    let theirs = row.take == Resolution::Theirs;
    option(page, theirs, "theirs", &there(&row.theirs), theme);
    let mine = there(&row.mine);
    if theirs {
        option(page, false, "mine  ", &mine, theme);
    } else {
        let text = format!("{mine}  ! OVERWRITES theirs");
        option(page, true, "mine  ", &text, theme);
    }
}

fn unknown(page: &mut TextPage, head: &str, row: Unknown, theme: Theme) {
    let text = format!("{head} {}: the current value is unknown", row.field);
    page.indented(0, &text, head_style(head, theme));
    let kept = "it is not in the request";
    option(page, !row.is_replaced, "omit     ", kept, theme);
    let by = if row.is_typed {
        "as a whole, by what you typed"
    } else {
        "by nothing: EMPTIES the field"
    };
    option(page, row.is_replaced, "replace  ", by, theme);
}

fn head_style(head: &str, theme: Theme) -> Style {
    if head == ">" {
        theme.cursor_row()
    } else {
        theme.title()
    }
}

fn option(page: &mut TextPage, chosen: bool, word: &str, text: &str, theme: Theme) {
    let (mark, style) = if chosen {
        ("(*)", theme.warning())
    } else {
        ("( )", theme.dim())
    };
    page.indented(4, &format!("{mark} {word}  {text}"), style);
}

fn labels(parts: &[Part]) -> String {
    let labels: Vec<String> = parts.iter().map(Part::label).collect();
    labels.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing_but_a_name() -> DesiredFields {
        DesiredFields {
            name: Some("Acme".into()),
            ..DesiredFields::default()
        }
    }

    #[test]
    fn an_unknown_field_is_left_out_unless_it_was_typed_or_chosen() {
        let now = nothing_but_a_name();
        let typed = DesiredFields {
            mapping: Some([("7".to_owned(), "40".to_owned())].into_iter().collect()),
            ..nothing_but_a_name()
        };
        let mut choices = Choices::of(&now, &now, &typed, Timestamp::UNIX_EPOCH);
        assert_eq!(choices.count(), 2);
        assert_eq!(choices.result(), typed);
        choices.toggle();
        assert_eq!(choices.result(), nothing_but_a_name(), "left out by choice");
        choices.at = 1;
        choices.toggle();
        let emptied = choices.result();
        assert_eq!(emptied.properties, Some(serde_json::Map::new()));
        let mut again = Choices::of(&now, &now, &typed, Timestamp::UNIX_EPOCH);
        again.keep(&choices);
        assert_eq!((again.result(), again.at), (emptied, 1));
    }

    #[test]
    fn what_is_known_leaves_no_choice() {
        let known = DesiredFields {
            mapping: Some([].into_iter().collect()),
            properties: Some(serde_json::Map::new()),
            ..nothing_but_a_name()
        };
        let mut choices = Choices::of(&known, &known, &known, Timestamp::UNIX_EPOCH);
        assert_eq!(choices.count(), 0);
        choices.toggle();
        assert_eq!(choices.result(), known);
    }
}
