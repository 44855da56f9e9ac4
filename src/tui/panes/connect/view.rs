//! Draws the form for a new profile and the result of the test.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{Connect, Stage};
use crate::{
    domain::text::{visible, wrap},
    operations::{ConnectionTest, Finding, Probe},
    tui::{
        keymap::{Action, Focus},
        kit::{
            boxes::{page as page_box, page_room, write_waiting},
            paint,
            text_field::TextField,
            text_page::TextPage,
        },
        state::{
            context::Context,
            forms::connect::{ConnectForm, ConnectRow, ENVIRONMENTS, KeySourceChoice},
        },
    },
};

/// Width of the label and what precedes a value, in cells.
const LABEL: usize = 16;

pub(super) fn draw(
    pane: &Connect,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let inner = page_box(buffer, area, "Connect to a service", context.theme);
    match &pane.stage {
        Stage::Form => return draw_form(&pane.form, buffer, inner, context),
        Stage::Checking(ticket) => {
            let mut page = TextPage::new(inner.width, context.theme);
            page.heading("Testing the connection.");
            page.text("Name, connection, and one request that the service can only refuse. Nothing is created.", context.theme.dim());
            if let Some(line) = context.waiting(Some(*ticket)) {
                page.blank();
                write_waiting(&mut page, &line, context.theme);
            }
            page.draw(buffer, inner, 0);
        }
        Stage::Checked(checkup) | Stage::Writing(_, checkup) => {
            checked(checkup, &pane.form, inner.width, context).draw(buffer, inner, pane.scroll.at);
        }
    }
    None
}

/// Number of lines to scroll through.
pub(super) fn lines(checkup: &ConnectionTest, form: &ConnectForm, context: &Context) -> usize {
    let (width, rows) = page_room(context.size);
    checked(checkup, form, width, context).last_scroll(rows) + 1
}

fn draw_form(
    form: &ConnectForm,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let theme = context.theme;
    let rows: Vec<(ConnectRow, u16)> = form
        .rows()
        .into_iter()
        .map(|row| {
            let is_here = row == form.row;
            let note = form
                .field(row)
                .map(|field| note(field, is_here, area.width).0.len());
            (row, 1 + note.unwrap_or(usize::from(is_here)) as u16)
        })
        .collect();
    let here = rows.iter().position(|(row, _)| *row == form.row)?;
    // In a low window, the rows at the top are dropped first.
    let mut first = 0;
    let height = |rows: &[(ConnectRow, u16)]| rows.iter().map(|(_, height)| height).sum::<u16>();
    while first < here && height(&rows[first..=here]) > area.height {
        first += 1;
    }
    let mut y = area.y;
    let mut cursor = None;
    for (row, height) in &rows[first..] {
        let left = area.bottom().saturating_sub(y);
        if left == 0 {
            return cursor;
        }
        let place = Rect {
            y,
            height: (*height).min(left),
            ..area
        };
        let is_here = *row == form.row;
        let found = if let Some(field) = form.field(*row) {
            let (lines, style) = note(field, is_here, area.width);
            let style = if style { theme.error() } else { theme.dim() };
            for (index, line) in (1..place.height).zip(&lines) {
                let x = place.x + LABEL as u16;
                paint::text(buffer, x, place.y + index, place.width, line, style);
            }
            field.draw(buffer, paint::row(place, 0), theme, is_here)
        } else {
            draw_choice(form, *row, buffer, place, is_here, context);
            None
        };
        cursor = cursor.or(found.filter(|_| is_here));
        y += height;
    }
    let rest = Rect {
        y: (y + 1).min(area.bottom()),
        height: area.bottom().saturating_sub(y + 1),
        ..area
    };
    let mut page = TextPage::new(area.width, theme);
    let key = context.keys.key(Focus::ConnectField, Action::Review);
    let text = format!(
        "{key} tests the connection: nothing is created, and nothing is written before you have seen it."
    );
    page.text(&text, theme.dim());
    if form.source == KeySourceChoice::Keyring {
        page.text(
            "The keyring is in memory: the key is never on disk, and is lost after a reboot.",
            theme.dim(),
        );
    }
    page.draw_still(buffer, rest);
    cursor
}

/// The text below a field, and whether it is an error: errors are always shown, hints only at the cursor.
fn note(field: &TextField, is_here: bool, width: u16) -> (Vec<String>, bool) {
    let text = match &field.error {
        Some(error) => error,
        None if is_here => &field.hint,
        None => "",
    };
    if text.is_empty() {
        return (Vec::new(), false);
    }
    let room = usize::from(width).saturating_sub(LABEL).max(1);
    (wrap(&visible(text), room), field.error.is_some())
}

fn draw_choice(
    form: &ConnectForm,
    row: ConnectRow,
    buffer: &mut Buffer,
    place: Rect,
    is_here: bool,
    context: &Context,
) {
    let theme = context.theme;
    let (label, words, at, hint) = if row == ConnectRow::Environment {
        let hint = match ENVIRONMENTS[form.environment] {
            "Customer" => {
                "production: responses must be tagged Customer; changes need stronger confirmation"
            }
            "Testing" => "responses must be tagged Testing",
            _ => "any tag is accepted; counts as production",
        };
        ("environment", ENVIRONMENTS.to_vec(), form.environment, hint)
    } else {
        let words = KeySourceChoice::ALL.map(KeySourceChoice::word).to_vec();
        let hint = "Space or the arrows choose; no key is written to the file";
        ("API key from", words, form.source as usize, hint)
    };
    let label_style = if is_here { theme.title() } else { theme.dim() };
    paint::text(buffer, place.x, place.y, place.width, label, label_style);
    let mut x = place.x + LABEL as u16;
    let all: usize = words.iter().map(|word| word.len() + 3).sum();
    // If not all choices fit, only the selected one is shown.
    let is_narrow = LABEL + all > usize::from(place.width) + 1;
    if is_narrow {
        let text = format!("[{}] {} of {}", words[at], at + 1, words.len());
        let style = if is_here {
            theme.cursor_row()
        } else {
            Style::new()
        };
        let left = place.right().saturating_sub(x);
        x = paint::text(buffer, x, place.y, left, &text, style);
    }
    for (index, word) in words.iter().enumerate().filter(|_| !is_narrow) {
        let chosen = index == at;
        let style = match (chosen, is_here) {
            (true, true) => theme.cursor_row(),
            (true, false) => Style::new(),
            (false, _) => theme.dim(),
        };
        let text = if chosen {
            format!("[{word}]")
        } else {
            format!(" {word} ")
        };
        let left = place.right().saturating_sub(x);
        x = paint::text(buffer, x, place.y, left, &text, style) + 1;
    }
    if is_here && place.height > 1 {
        let x = place.x + LABEL as u16;
        let left = place.right().saturating_sub(x);
        paint::text(buffer, x, place.y + 1, left, hint, theme.dim());
    }
}

fn checked(
    checkup: &ConnectionTest,
    form: &ConnectForm,
    width: u16,
    context: &Context,
) -> TextPage {
    let theme = context.theme;
    let mut page = TextPage::new(width, theme);
    let is_good = match &checkup.probe {
        Ok(probe) => {
            found(&mut page, probe, context);
            probe.finding.is_good()
        }
        Err(why) => {
            page.text(why, theme.error());
            false
        }
    };
    page.blank();
    let edit = &checkup.edit;
    let (what, file) = (edit.is_new_file(), edit.file.display());
    let heading = if what {
        format!("A new file, which only you can read: {file}")
    } else {
        format!("Lines to add to {file}; nothing else changes:")
    };
    page.heading(&heading);
    for line in edit.lines.lines() {
        page.indented(2, line, theme.key_hint());
    }
    if form.key().is_some() {
        page.text(
            "The key goes into the kernel's keyring, not into the file.",
            theme.dim(),
        );
    }
    page.blank();
    let word = checkup.profile.environment_word();
    let key = |action| context.keys.key(Focus::ConnectCheck, action);
    let (write, back) = (key(Action::WriteFile), key(Action::Back));
    let next = if is_good {
        format!("{write} writes it and opens the list ({word}). {back} goes back to the form.")
    } else {
        format!("{back} goes back to the form. {write} writes it anyway ({word}).")
    };
    page.text(&next, Style::new());
    page
}

fn found(page: &mut TextPage, probe: &Probe, context: &Context) {
    let theme = context.theme;
    let style = match probe.finding {
        Finding::Accepted => theme.ok(),
        Finding::MayNotChange | Finding::Busy => theme.warning(),
        Finding::NotFound
        | Finding::KeyRefused
        | Finding::Slash
        | Finding::Redirected
        | Finding::WebPage
        | Finding::ServiceFailed
        | Finding::Strange
        | Finding::NoAnswer
        | Finding::NotReached => theme.error(),
    };
    page.text(&probe.text, style);
    page.blank();
    for step in &probe.steps {
        let (text, style) = match &step.result {
            Ok(text) => (text, Style::new()),
            Err(text) => (text, theme.error()),
        };
        let text = format!("{}: {text}, {} ms", step.what, step.took.as_millis());
        page.indented(2, &text, style);
    }
}
