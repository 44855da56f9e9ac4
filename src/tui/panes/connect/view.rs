//! Draws the form for a new profile and the result of the test.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{Connect, Stage};
use crate::{
    operations::{ConnectionTest, Finding, Probe},
    tui::{
        keymap::{Action, Focus},
        kit::{
            boxes::{page as page_box, page_room, write_waiting},
            text_page::TextPage,
        },
        state::{
            context::Context,
            forms::connect::{ConnectForm, LABELS},
        },
    },
};

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
    let (rows, cursor) = form.0.draw(buffer, area, LABELS, theme);
    let rest = Rect {
        y: (area.y + rows + 1).min(area.bottom()),
        height: area.height.saturating_sub(rows + 1),
        ..area
    };
    let mut page = TextPage::new(area.width, theme);
    let key = context.keys.key(Focus::ConnectField, Action::Review);
    let text = format!(
        "{key} tests the connection: nothing is created, and nothing is saved before you have seen it."
    );
    page.text(&text, theme.dim());
    if form.is_of_keyring() {
        page.text(
            "The keyring is in memory: the key is never on disk, and is lost after a reboot.",
            theme.dim(),
        );
    }
    page.draw_still(buffer, rest);
    cursor
}

fn checked(
    checkup: &ConnectionTest,
    form: &ConnectForm,
    width: u16,
    context: &Context,
) -> TextPage {
    let theme = context.theme;
    let mut page = TextPage::new(width, theme);
    match &checkup.probe {
        Ok(probe) => found(&mut page, probe, context),
        Err(why) => page.text(why, theme.error()),
    }
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
    let next = if checkup.is_good() {
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
