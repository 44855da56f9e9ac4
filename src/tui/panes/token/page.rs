//! Draws the token pane in each of its stages.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{
    Stage, TokenPane,
    progress::{Steps, draw_plan},
};
use crate::{
    domain::{history::Ending, known::KnownGroup, text::visible},
    operations::Done,
    tui::{
        keymap::{Action, Focus},
        panes::{View, history::ending_style, new_file::NewFile},
        state::{confirmation::Level, context::Context, message::Ticket},
        widgets::{
            boxes::{page as page_box, page_room, write_waiting},
            group_details::{age, by, masked},
            paint,
            text_page::TextPage,
        },
    },
};

/// Number of mask characters for a token of any length.
const MASKED: usize = 16;
/// From this number of rows on, the whole check fits.
const WHOLE_CHECK: u16 = 15;

pub(super) fn draw(
    pane: &TokenPane,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let inner = page_box(buffer, area, &pane.title(context), context.theme);
    if let Stage::Check { on_reason, .. } = pane.stage {
        let mut sheet = TextPage::new(inner.width, context.theme);
        if inner.height < WHOLE_CHECK {
            brief_check(&mut sheet, pane, context);
        } else {
            check(&mut sheet, pane, context);
        }
        return draw_fields(pane, buffer, inner, &sheet, on_reason, context);
    }
    let sheet = sheet(pane, inner.width, context);
    sheet.draw(buffer, inner, pane.scroll.at);
    let below = (sheet.height() as u16 + 1).min(NewFile::lowest(inner));
    pane.file.draw(buffer, inner, below, context.theme)
}

/// Number of lines to scroll through.
pub(super) fn lines(pane: &TokenPane, context: &Context) -> usize {
    let (width, rows) = page_room(context.size);
    sheet(pane, width, context).last_scroll(rows) + 1
}

fn sheet(pane: &TokenPane, width: u16, context: &Context) -> TextPage {
    let mut sheet = TextPage::new(width, context.theme);
    match &pane.stage {
        Stage::Reading(ticket) => {
            if let Some(line) = context.waiting(Some(*ticket)) {
                write_waiting(&mut sheet, &line, context.theme);
            }
        }
        Stage::Current(done) => {
            current(&mut sheet, done, context);
            secret(&mut sheet, pane, done, context);
            pane.draw_waiting(&mut sheet, context);
            sheet.blank();
            let rotate = context.keys.key(Focus::Token, Action::Rotate);
            let text = match pane.disabled(Action::Rotate, context) {
                Some(why) => format!("{rotate} would rotate it, but {why}."),
                None => format!("{rotate} rotates it: asks first, and shows what will happen."),
            };
            sheet.text(&text, context.theme.dim());
        }
        Stage::Check { .. } => {}
        Stage::Rotating(ticket) => {
            let is_sent = pane.steps.as_ref().is_some_and(Steps::are_sent);
            let heading = if is_sent {
                "Rotating: one request sent."
            } else {
                "Rotating: nothing is sent yet."
            };
            sheet.heading(heading);
            sheet.text(
                "It is never repeated. Leaving this page does not stop it; a message reports the result.",
                context.theme.dim(),
            );
            sheet.blank();
            if let Some(steps) = &pane.steps {
                steps.draw(&mut sheet, context);
            }
            // The elapsed time is shown at the step itself.
            if let Some(line) = context.waiting(Some(*ticket)) {
                sheet.blank();
                sheet.text(line.esc, context.theme.dim());
            }
        }
        Stage::Rotated { done, confirming } => {
            rotated(&mut sheet, done, *confirming, context);
            secret(&mut sheet, pane, done, context);
            pane.draw_handing(&mut sheet, context);
            sheet.blank();
            sheet.text(&pane.what_now(context), context.theme.dim());
        }
        Stage::Failed(trouble) => {
            let style = trouble.ending.map_or(context.theme.error(), |ending| {
                ending_style(ending, context.theme)
            });
            sheet.text(&trouble.text, style);
            sheet.blank();
            if let Some(steps) = &pane.steps {
                steps.draw(&mut sheet, context);
                sheet.blank();
            }
            let key = context.keys.key(Focus::Token, Action::Refresh);
            let text = format!("{key} reads the group: only that tells which token is current.");
            sheet.text(&text, context.theme.dim());
        }
    }
    sheet
}

fn known(pane: &TokenPane, context: &Context) -> Option<KnownGroup> {
    context.groups.get(&pane.id)
}

fn facts(sheet: &mut TextPage, group: &KnownGroup, context: &Context) {
    let plain = Style::new();
    sheet.field("group", group.title(), context.theme.title(), "");
    sheet.field("user group id", group.id.as_str(), plain, "");
    match &group.environment_tag {
        Some(known) => sheet.field(
            "tag",
            known.value.as_str(),
            plain,
            &crate::tui::widgets::group_details::origin(known, context),
        ),
        None => sheet.field("tag", "?", plain, "comes back from update and rotate only"),
    }
}

fn rotated_ago(group: &KnownGroup, context: &Context) -> String {
    match &group.last_rotated {
        Some(last) => {
            let since = context.moment(last.at);
            match &last.by {
                Some(by) => format!("{since} by {by}, as known here"),
                None => format!("changed outside, noticed {since}"),
            }
        }
        None => "not known here".into(),
    }
}

fn current(sheet: &mut TextPage, done: &Done, context: &Context) {
    for warning in &done.warnings {
        let style = if warning.is_alarm() {
            context.theme.error()
        } else {
            context.theme.warning()
        };
        sheet.text(&format!("! {warning}"), style);
    }
    facts(sheet, &done.group, context);
    sheet.field(
        "last rotated",
        &rotated_ago(&done.group, context),
        Style::new(),
        "",
    );
    fingerprint(sheet, &done.group);
}

fn fingerprint(sheet: &mut TextPage, group: &KnownGroup) {
    if let Some(known) = &group.fingerprint {
        sheet.field("fingerprint", &known.value.to_string(), Style::new(), "");
    }
}

/// Writes the token, masked unless it is revealed.
fn secret(sheet: &mut TextPage, pane: &TokenPane, done: &Done, context: &Context) {
    let Some(token) = &done.token else {
        sheet.field("token", "not returned", context.theme.error(), "");
        return;
    };
    if let Some(replaced) = &pane.replaced {
        sheet.field("token", replaced, context.theme.warning(), "");
        return;
    }
    // On a line of its own, masked or not: the page must not move, and a wrapped token cannot be copied.
    if let Some(until) = pane.revealed_until {
        let left = until.duration_since(context.now).as_secs().max(0);
        let note = format!("hidden again in {left}s");
        sheet.field("token", "", Style::new(), &note);
        sheet.indented(2, token.expose(), context.theme.warning());
    } else {
        let key = context.keys.key(pane.page_focus(), Action::Reveal);
        let note = format!("{key} shows it for 20 s");
        sheet.field("token", "", Style::new(), &note);
        let mask = context.theme.mask().repeat(MASKED);
        sheet.indented(2, &mask, Style::new());
    }
}

fn rotated(sheet: &mut TextPage, done: &Done, confirming: Option<Ticket>, context: &Context) {
    let theme = context.theme;
    let word = match done.ending {
        Ending::Confirmed | Ending::Superseded => "ROTATED".to_owned(),
        ending => ending.as_str().replace('_', " ").to_uppercase(),
    };
    let answer = format!(
        "answered {} in {} ms",
        done.status,
        done.latency.as_millis()
    );
    sheet.field("result", &word, ending_style(done.ending, theme), &answer);
    let confirmation = match (done.ending, confirming.is_some()) {
        (_, true) => "confirming",
        (Ending::Confirmed, false) => "confirmed",
        (Ending::Recovered, false) => {
            "the answer was lost; reading the group shows a new token: rotated by this call or by someone else. \
             If the old one leaked, rotate again"
        }
        (Ending::Superseded, false) => {
            "rotated, and someone rotated again after this: the token below is theirs"
        }
        (_, false) => "not confirmed",
    };
    let waits = context.waiting(confirming);
    let waits = waits.map_or_else(String::new, |line| line.text);
    sheet.field("confirmation", confirmation, Style::new(), &waits);
    for warning in &done.warnings {
        sheet.text(&format!("! {warning}"), theme.warning());
    }
    sheet.blank();
    facts(sheet, &done.group, context);
    if let Some(before) = done.previous_fingerprint {
        sheet.field(
            "old token",
            &format!("fingerprint {before}"),
            theme.dim(),
            "revoked by this rotation",
        );
    }
    if let Some(known) = &done.group.fingerprint {
        sheet.field(
            "new token",
            &format!("fingerprint {}", known.value),
            Style::new(),
            "",
        );
    }
}

fn check(sheet: &mut TextPage, pane: &TokenPane, context: &Context) {
    let plain = Style::new();
    let Some(profile) = context.profile() else {
        return;
    };
    let word = profile.environment_word();
    let style = if profile.production {
        context.theme.production()
    } else {
        context.theme.testing()
    };
    sheet.pieces(vec![
        (format!(" {word} "), style),
        (format!("  {}  {}", profile.name, profile.url()), plain),
    ]);
    sheet.blank();
    if let Some(group) = &known(pane, context) {
        facts(sheet, group, context);
        let (age, style) = age(group, context);
        sheet.field("token", &masked(group, context), plain, "");
        let by = group.last_rotated.as_ref().map(|last| match &last.by {
            Some(by) => format!("rotated by {}", visible(by)),
            None => "changed outside".to_owned(),
        });
        sheet.field("age", &age, style, &by.unwrap_or_default());
    }
    note(sheet, pane, context);
    sheet.blank();
    draw_plan(sheet, context);
    guarded(sheet, pane, context);
}

/// Writes the note of the group: it may say whom to ask first.
fn note(sheet: &mut TextPage, pane: &TokenPane, context: &Context) {
    let Some(annotation) = context.annotations.get(pane.id.as_str()) else {
        return;
    };
    if let Some(note) = &annotation.note {
        let noted = annotation.noted.as_ref();
        let noted = noted.map_or_else(String::new, |noted| by(noted, context));
        sheet.short_field("note", note, &noted);
    }
}

/// Writes why a guard raised the confirmation, and the words it requires.
fn guarded(sheet: &mut TextPage, pane: &TokenPane, context: &Context) {
    let asks = super::required_confirmation(context);
    if let Some(reason) = asks.guard {
        sheet.text(&format!("! guard: {reason}"), context.theme.warning());
    }
    if asks.level == Level::Words {
        let words = pane.expected(asks.level, context);
        sheet.text(&format!("Type: {words}"), context.theme.title());
    }
}

/// Writes the most important parts, for a low window.
fn brief_check(sheet: &mut TextPage, pane: &TokenPane, context: &Context) {
    sheet.text(
        "One rotate request. Dashboards with the old token stop working.",
        Style::new(),
    );
    sheet.text(pane.id.as_str(), context.theme.title());
    guarded(sheet, pane, context);
}

fn draw_fields(
    pane: &TokenPane,
    buffer: &mut Buffer,
    area: Rect,
    sheet: &TextPage,
    on_reason: bool,
    context: &Context,
) -> Option<Position> {
    let typed = super::required_confirmation(context).level >= Level::Typed;
    let rows = if typed { 3 } else { 2 };
    let top = (sheet.height() as u16 + 1).min(area.height.saturating_sub(rows));
    let page = Rect {
        height: top,
        ..area
    };
    // If not all of it fits, the end matters most.
    sheet.draw(buffer, page, sheet.last_scroll(top));
    let line = |index| Rect {
        height: 2.min(area.height.saturating_sub(top + index)),
        ..paint::row(area, top + index)
    };
    let reason_at = pane
        .reason
        .draw(buffer, paint::row(area, top), context.theme, on_reason);
    if typed {
        let typed_at = pane.typed.draw(buffer, line(1), context.theme, !on_reason);
        if on_reason { reason_at } else { typed_at }
    } else {
        let style = if on_reason {
            context.theme.dim()
        } else {
            context.theme.warning()
        };
        let key = context.keys.key(Focus::RotateCheck, Action::Confirm);
        let text = if on_reason {
            let next = context.keys.key(Focus::RotateReason, Action::NextField);
            format!("{next}, then {key} rotates")
        } else {
            format!("Press {key} to rotate now. Enter does nothing.")
        };
        paint::line(buffer, line(1), &text, style, context.theme);
        reason_at.filter(|_| on_reason)
    }
}
