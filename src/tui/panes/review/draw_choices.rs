//! Draws the choices of a review: the old value, theirs and mine below each other, with a mark at the one that is sent.

use ratatui::style::Style;

use super::choices::{Choice, Choices, Unknown};
use crate::{
    domain::merge::{Conflict, Part, Resolution},
    tui::{
        keymap::{Action, Focus},
        kit::text_page::TextPage,
        state::context::Context,
        theme::Theme,
    },
};

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
    } else if merge.conflicts.is_empty() && merge.left_out.is_empty() {
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
        let text = format!("read {read}: CHANGED BY SOMEONE{rows}");
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
    let there = |value: &Option<String>| value.clone().unwrap_or_else(|| "(not there)".into());
    let base = if row.base_known {
        there(&row.base)
    } else {
        "unknown".into()
    };
    let style = head_style(head, theme);
    page.indented(
        0,
        &format!("{head} {}: it was {base}", row.part.label()),
        style,
    );
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
