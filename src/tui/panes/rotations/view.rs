//! Draws the rotations: the rows, the details of the one under the cursor, and the dialog that asks for a reason.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{Abandoning, Rotations};
use crate::{
    domain::rotation::State,
    operations::RotationRow,
    tui::{
        keymap::{Action, Focus},
        state::context::Context,
        theme::Theme,
        widgets::{
            boxes::{below, popup, titled, with_details},
            columns::{Cell, Column, widest},
            text_page::TextPage,
        },
    },
};

/// Rows of the box with the details.
const DETAIL_ROWS: u16 = 9;

pub(super) fn draw(
    pane: &Rotations,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let (rows, below) = with_details(area, DETAIL_ROWS);
    let hint = if pane.list.pending.is_waiting() {
        "reading the journal".to_owned()
    } else {
        let token = context.keys.key(Focus::List, Action::Token);
        let rotate = context.keys.key(Focus::Token, Action::Rotate);
        format!("nothing was rotated here yet: {token} on a group, then {rotate}")
    };
    pane.list.draw(
        buffer,
        rows,
        ("Rotations (open first)", &hint),
        &pane.rows,
        (columns, |row, here| cells(row, context, here)),
        context.theme,
    );
    if let Some(row) = pane.selected() {
        let title = format!("rotation {} of {}", row.id.0, row.user_group_id);
        let inner = titled(buffer, below, &title, false, context.theme);
        let mut page = TextPage::new(inner.width, context.theme);
        describe(&mut page, row, context);
        page.draw_still(buffer, inner);
    }
    let asking = pane.abandoning.as_ref()?;
    draw_dialog(asking, buffer, area, context)
}

fn columns(window: &[RotationRow]) -> Vec<Column> {
    let ids = widest(window.iter().map(|row| row.user_group_id.as_str()), 40).max(8);
    let who = widest(window.iter().map(|row| row.by.as_str()), 24).max(12);
    vec![
        Column::new("WHEN", 5, 5, 0).right(),
        Column::new("STATE", 11, 11, 0),
        Column::new("GROUP", ids, ids, 0).id(),
        Column::new("TOKEN", 20, 20, 1),
        Column::new("BY", 12, who, 2),
    ]
}

fn cells<'a>(row: &'a RotationRow, context: &Context, here: bool) -> Vec<Cell<'a>> {
    let state = row.rotation.state;
    let word = Cell::new(state.as_str().replace('_', " "));
    vec![
        Cell::new(context.clock(row.started_at)),
        if here {
            word
        } else {
            word.styled(state_style(state, context.theme))
        },
        Cell::new(row.user_group_id.as_str()),
        Cell::new(tokens(row, context.theme)),
        Cell::new(row.by.as_str()),
    ]
}

fn tokens(row: &RotationRow, theme: Theme) -> String {
    let previous = row.rotation.previous;
    match row.rotation.fingerprint {
        Some(new) => format!("{previous} {} {new}", theme.arrow()),
        None => previous.to_string(),
    }
}

fn describe(page: &mut TextPage, row: &RotationRow, context: &Context) {
    let state = row.rotation.state;
    let word = state.as_str().replace('_', " ");
    page.field("state", &word, state_style(state, context.theme), "");
    page.text(&meaning(state, context), context.theme.dim());
    page.field("token", &tokens(row, context.theme), Style::new(), "");
    if let Some(reason) = &row.reason {
        page.field("reason", reason, Style::new(), "");
    }
    if let Some(note) = &row.note {
        page.field("note", note, Style::new(), "");
    }
    let at = row.started_at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    page.field("by", &row.by, Style::new(), &at);
}

/// What a state means for the person, and what to do next.
fn meaning(state: State, context: &Context) -> String {
    let key = context.keys.key(Focus::Rotations, Action::Refresh);
    let text = match state {
        State::Intended => "Recorded, not sent; its process may still be running.",
        State::Sent => "The request may have been sent; its process may still be running.",
        State::Rotated => return format!("Rotated, not confirmed. {key} reads the group."),
        State::Confirmed => "Rotated, and read back.",
        State::Unknown => {
            return format!("Result unknown. {key} reads the group; never rotate to find out.");
        }
        State::Recovered => {
            "A new token is current: by this call or by someone else. After a leak, rotate again."
        }
        State::NotApplied => "The old token is current. It is safe to rotate again.",
        State::Superseded => "Rotated, and then rotated again by someone else.",
        State::Conflict => {
            "The answers contradict each other. Look, then abandon it with what you found."
        }
        State::Abandoned => "Closed by hand.",
    };
    text.into()
}

fn state_style(state: State, theme: Theme) -> Style {
    match state {
        State::Unknown => theme.unknown(),
        State::Rotated | State::Confirmed | State::Recovered => theme.ok(),
        State::Conflict => theme.error(),
        State::Intended
        | State::Sent
        | State::NotApplied
        | State::Superseded
        | State::Abandoned => theme.warning(),
    }
}

fn draw_dialog(
    asking: &Abandoning,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let inner = popup(buffer, area, (70, 9), "Abandon a rotation", context.theme);
    let cursor = asking.reason.draw(buffer, inner, context.theme, true);
    let below = below(inner, 2);
    let mut page = TextPage::new(below.width, context.theme);
    let state = asking.row.rotation.state.as_str();
    let text = format!(
        "The rotation of {} is {state}. If you abandon it, nobody will find out how it ended, and its token may be rotated again.",
        asking.row.user_group_id
    );
    page.text(&text, context.theme.warning());
    page.text(
        "Nothing is sent. The reason is recorded in the history.",
        context.theme.dim(),
    );
    page.draw_still(buffer, below);
    cursor
}
