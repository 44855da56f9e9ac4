//! How the token pane looks at each stage.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{Stage, TokenPane, handing::where_to};
use crate::{
    domain::{history::Ending, known::KnownGroup},
    operations::{Done, Guarded},
    tui::{
        keymap::{Action, Focus},
        panes::{View, history::ending_style, new_file::NewFile},
        state::{confirmation::Level, context::Desk},
        widgets::{boxes::page as page_box, paint, text_page::Sheet},
    },
};

/// Signs that stand for a token, whatever its length.
const MASKED: usize = 16;
/// Rows from which the whole check fits.
const WHOLE_CHECK: u16 = 15;

pub(super) fn draw(
    pane: &TokenPane,
    buffer: &mut Buffer,
    area: Rect,
    desk: &Desk,
) -> Option<Position> {
    let inner = page_box(buffer, area, &pane.title(desk), desk.theme);
    if let Stage::Check { on_reason, .. } = pane.stage {
        let mut sheet = Sheet::new(inner.width, desk.theme);
        if inner.height < WHOLE_CHECK {
            brief_check(&mut sheet, pane, desk);
        } else {
            check(&mut sheet, pane, desk);
        }
        return draw_fields(pane, buffer, inner, &sheet, on_reason, desk);
    }
    let sheet = sheet(pane, inner.width, desk);
    sheet.draw(buffer, inner, pane.scroll.at);
    let below = (sheet.height() as u16 + 1).min(NewFile::lowest(inner));
    pane.file.draw(buffer, inner, below, desk.theme)
}

/// Lines one can scroll through.
pub(super) fn lines(pane: &TokenPane, desk: &Desk) -> usize {
    let rows = desk.size.1.saturating_sub(6);
    sheet(pane, desk.size.0.saturating_sub(4), desk).last_scroll(rows) + 1
}

fn sheet(pane: &TokenPane, width: u16, desk: &Desk) -> Sheet {
    let mut sheet = Sheet::new(width, desk.theme);
    match &pane.stage {
        Stage::Reading(_) => {
            sheet.text("reading the group from the service", desk.theme.dim());
        }
        Stage::Current(done) => {
            current(&mut sheet, done, desk);
            secret(&mut sheet, pane, done, desk);
            pane.draw_waiting(&mut sheet, desk);
            sheet.blank();
            let rotate = desk.keys.key(Focus::Token, Action::Rotate);
            let text = match desk.forbidden(Guarded::Rotate) {
                Some(why) => format!("{rotate} would rotate it, but {why}."),
                None => format!("{rotate} rotates it: asks first, and shows what will happen."),
            };
            sheet.text(&text, desk.theme.dim());
        }
        Stage::Check { .. } => {}
        Stage::Rotating(_) => {
            sheet.heading("Rotating: one request is on its way.");
            sheet.text(
                "It is sent once and never repeated. Leaving this screen does not stop it; a message says how it ended.",
                desk.theme.dim(),
            );
        }
        Stage::Rotated { done, confirming } => {
            rotated(&mut sheet, done, confirming.is_some(), desk);
            secret(&mut sheet, pane, done, desk);
            pane.draw_handing(&mut sheet, desk);
            sheet.blank();
            sheet.text(&pane.what_now(desk), desk.theme.dim());
        }
        Stage::Failed(trouble) => {
            let style = trouble.ending.map_or(desk.theme.error(), |ending| {
                ending_style(ending, desk.theme)
            });
            sheet.text(&trouble.text, style);
            sheet.blank();
            let key = desk.keys.key(Focus::Token, Action::Refresh);
            let text = format!("{key} reads the group: only that tells which token is current.");
            sheet.text(&text, desk.theme.dim());
        }
    }
    sheet
}

fn known(pane: &TokenPane, desk: &Desk) -> Option<KnownGroup> {
    desk.groups.get(&pane.id)
}

fn facts(sheet: &mut Sheet, group: &KnownGroup, desk: &Desk) {
    let plain = Style::new();
    sheet.field("group", group.title(), desk.theme.title(), "");
    sheet.field("user group id", group.id.as_str(), plain, "");
    match &group.environment_tag {
        Some(known) => sheet.field(
            "tag",
            known.value.as_str(),
            plain,
            &crate::tui::widgets::group_details::origin(known, desk),
        ),
        None => sheet.field("tag", "?", plain, "comes back from update and rotate only"),
    }
}

fn rotated_ago(group: &KnownGroup, desk: &Desk) -> String {
    match &group.last_rotated {
        Some(last) => {
            let since = desk.since(last.at);
            match &last.by {
                Some(by) => format!("{since} by {by}, as far as this desk knows"),
                None => format!("changed elsewhere, seen {since}"),
            }
        }
        None => "not known here".into(),
    }
}

fn current(sheet: &mut Sheet, done: &Done, desk: &Desk) {
    for warning in &done.warnings {
        let style = if warning.is_alarm() {
            desk.theme.error()
        } else {
            desk.theme.warning()
        };
        sheet.text(&format!("! {warning}"), style);
    }
    facts(sheet, &done.group, desk);
    sheet.field(
        "last rotated~",
        &rotated_ago(&done.group, desk),
        Style::new(),
        "",
    );
    fingerprint(sheet, &done.group);
}

fn fingerprint(sheet: &mut Sheet, group: &KnownGroup) {
    if let Some(known) = &group.fingerprint {
        sheet.field("fingerprint", &known.value.to_string(), Style::new(), "");
    }
}

/// The token, masked unless it was asked for.
fn secret(sheet: &mut Sheet, pane: &TokenPane, done: &Done, desk: &Desk) {
    let Some(token) = &done.token else {
        sheet.field("token", "not returned", desk.theme.error(), "");
        return;
    };
    // A line of its own, masked or not: the page must not move, and a token cut in two cannot be copied.
    if let Some(until) = pane.revealed_until {
        let left = until.duration_since(desk.now).as_secs().max(0);
        let note = format!("hidden again in {left}s");
        sheet.field("token", "", Style::new(), &note);
        sheet.indented(2, token.expose(), desk.theme.warning());
    } else {
        let key = desk.keys.key(pane.page_focus(), Action::Reveal);
        let note = format!("{key} reveals it for 20 s");
        sheet.field("token", "", Style::new(), &note);
        let mask = desk.theme.mask().repeat(MASKED);
        sheet.indented(2, &mask, Style::new());
    }
}

fn rotated(sheet: &mut Sheet, done: &Done, confirming: bool, desk: &Desk) {
    let theme = desk.theme;
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
    let confirmation = match (done.ending, confirming) {
        (_, true) => "being read back",
        (Ending::Confirmed, false) => "confirmed by reading it back",
        (Ending::Recovered, false) => {
            "the answer was lost; reading the group shows a new token: rotated by this call or by someone else. \
             If the old one leaked, rotate again"
        }
        (Ending::Superseded, false) => {
            "rotated, and someone rotated again after this: the token below is theirs"
        }
        (_, false) => "not confirmed",
    };
    sheet.field("confirmation", confirmation, Style::new(), "");
    for warning in &done.warnings {
        sheet.text(&format!("! {warning}"), theme.warning());
    }
    sheet.blank();
    facts(sheet, &done.group, desk);
    if let Some(before) = done.previous_fingerprint {
        sheet.field(
            "old token",
            &format!("fingerprint {before}"),
            theme.dim(),
            "dead since the rotation",
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

fn check(sheet: &mut Sheet, pane: &TokenPane, desk: &Desk) {
    let plain = Style::new();
    let Some(profile) = desk.profile() else {
        return;
    };
    let word = profile.environment_word();
    let style = if profile.production {
        desk.theme.production()
    } else {
        desk.theme.testing()
    };
    sheet.pieces(vec![
        (format!(" {word} "), style),
        (format!("  {}  {}", profile.name, profile.url()), plain),
    ]);
    sheet.blank();
    if let Some(group) = &known(pane, desk) {
        facts(sheet, group, desk);
        sheet.field("last rotated~", &rotated_ago(group, desk), plain, "");
        fingerprint(sheet, group);
    }
    sheet.blank();
    sheet.text(
        "1  The group is read; anything unexpected stops here.",
        plain,
    );
    sheet.text(
        "2  One rotate request is sent. Dashboards with the old token stop working.",
        plain,
    );
    sheet.text(&format!("3  {}", where_to(desk)), plain);
    guarded(sheet, pane, desk);
}

/// Why a guard asks more than usual, and the words it wants.
fn guarded(sheet: &mut Sheet, pane: &TokenPane, desk: &Desk) {
    let asks = super::asks(desk);
    if let Some(reason) = asks.guard {
        sheet.text(&format!("! guard: {reason}"), desk.theme.warning());
    }
    if asks.level == Level::Words {
        let words = pane.expected(asks.level, desk);
        sheet.text(&format!("Type: {words}"), desk.theme.title());
    }
}

/// What matters most, for a low window.
fn brief_check(sheet: &mut Sheet, pane: &TokenPane, desk: &Desk) {
    sheet.text(
        "One rotate request. Dashboards with the old token stop working.",
        Style::new(),
    );
    sheet.text(pane.id.as_str(), desk.theme.title());
    guarded(sheet, pane, desk);
}

fn draw_fields(
    pane: &TokenPane,
    buffer: &mut Buffer,
    area: Rect,
    sheet: &Sheet,
    on_reason: bool,
    desk: &Desk,
) -> Option<Position> {
    let typed = super::asks(desk).level >= Level::Typed;
    let rows = if typed { 3 } else { 2 };
    let top = (sheet.height() as u16 + 1).min(area.height.saturating_sub(rows));
    let page = Rect {
        height: top,
        ..area
    };
    // Where not all of it fits, its end matters most.
    sheet.draw(buffer, page, sheet.last_scroll(top));
    let line = |index| Rect {
        height: 2.min(area.height.saturating_sub(top + index)),
        ..paint::row(area, top + index)
    };
    let reason_at = pane
        .reason
        .draw(buffer, paint::row(area, top), desk.theme, on_reason);
    if typed {
        let typed_at = pane.typed.draw(buffer, line(1), desk.theme, !on_reason);
        if on_reason { reason_at } else { typed_at }
    } else {
        let style = if on_reason {
            desk.theme.dim()
        } else {
            desk.theme.warning()
        };
        let key = desk.keys.key(Focus::RotateCheck, Action::Confirm);
        let text = if on_reason {
            let next = desk.keys.key(Focus::RotateReason, Action::NextField);
            format!("{next}, then {key} rotates")
        } else {
            format!("Press {key} to rotate now. Enter does nothing.")
        };
        paint::line(buffer, line(1), &text, style, desk.theme);
        reason_at.filter(|_| on_reason)
    }
}
