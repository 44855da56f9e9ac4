//! Draws the token pane in each of its stages.

use super::{
    Stage, TokenPane, WITHHELD,
    progress::{Steps, draw_plan},
};
use crate::tui::panes::prelude::*;
use crate::tui::{
    kit::{severity_style, write_waiting},
    page::group_details::{self, by},
    panes::history::ending_style,
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
    if let Stage::Check { confirm, .. } = &pane.stage {
        let (keys, theme) = (&context.keys, context.theme);
        let mut page = TextPage::new(inner.width, theme);
        if inner.height < WHOLE_CHECK {
            brief_check(&mut page, pane);
        } else {
            check(&mut page, pane, context);
        }
        // If not all of it fits, the end matters most.
        return confirm.draw_below(&page, None, (buffer, inner), (keys, theme), None);
    }
    let page = text_page(pane, inner.width, context);
    page.draw(buffer, inner, pane.scroll.at);
    let below = page.height() as u16 + 1;
    pane.file.draw(buffer, inner, below, context.theme)
}

/// Number of lines to scroll through.
pub(super) fn lines(pane: &TokenPane, context: &Context) -> usize {
    let (width, rows) = page_room(context.size);
    text_page(pane, width, context).last_scroll(rows) + 1
}

fn text_page(pane: &TokenPane, width: u16, context: &Context) -> TextPage {
    let mut page = TextPage::new(width, context.theme);
    match &pane.stage {
        Stage::Reading(ticket) => {
            if let Some(line) = context.waiting(Some(*ticket)) {
                write_waiting(&mut page, &line, context.theme);
            }
        }
        Stage::Current(done) => {
            current(&mut page, done, context);
            secret(&mut page, pane, done, context);
            pane.draw_waiting(&mut page, context);
            page.blank();
            let rotate = context.keys.key(Focus::Token, Action::Rotate);
            let text = match pane.disabled(Action::Rotate, context) {
                Some(why) => format!("{rotate} would rotate it, but {why}."),
                None => format!("{rotate} rotates it: asks first, and shows what will happen."),
            };
            page.dim(&text);
        }
        Stage::Check { .. } => {}
        Stage::Rotating(ticket) => {
            let is_sent = pane.steps.as_ref().is_some_and(Steps::are_sent);
            let heading = if is_sent {
                "Rotating: one request sent."
            } else {
                "Rotating: nothing is sent yet."
            };
            page.heading(heading);
            page.dim("It is never repeated.");
            if is_sent {
                page.dim("Leaving this page does not stop it; a message reports the result.");
            }
            page.blank();
            if let Some(steps) = &pane.steps {
                steps.draw(&mut page, context);
            }
            // The elapsed time is shown at the step itself.
            if let Some(line) = context.waiting(Some(*ticket)) {
                page.blank();
                page.dim(line.esc);
            }
        }
        Stage::Rotated { done, confirming } => {
            rotated(&mut page, done, *confirming, context);
            secret(&mut page, pane, done, context);
            pane.draw_handing(&mut page, context);
            page.blank();
            page.dim(&pane.what_now(context));
        }
        Stage::Failed(error) => {
            let key = context.keys.key(Focus::Token, Action::Refresh);
            if let Some(at) = pane.resolved_at {
                let at = context.moment(at);
                page.heading(&format!("Resolved {at}: {key} reads the group."));
            }
            let style = match error.ending {
                _ if pane.resolved_at.is_some() => context.theme.dim(),
                Some(ending) => ending_style(ending, context.theme),
                None if error.is_cancelled => context.theme.dim(),
                None => context.theme.error(),
            };
            page.text(&error.text, style);
            page.blank();
            if let Some(steps) = &pane.steps {
                steps.draw(&mut page, context);
                page.blank();
            }
            let is_unsent = pane.steps.as_ref().is_some_and(|steps| !steps.are_sent());
            if pane.resolved_at.is_none() && (!is_unsent || error.severity() == Severity::Unknown) {
                let why = "only that shows which token is current";
                page.dim(&format!("{key} reads the group: {why}."));
            }
        }
    }
    page
}

fn known(pane: &TokenPane, context: &Context) -> Option<KnownGroup> {
    context.groups.get(&pane.id)
}

/// The values of the group beside its token.
const FACTS: [&str; 3] = ["name", "ID", "tag"];

fn current(page: &mut TextPage, done: &Done, context: &Context) {
    for warning in &done.warnings {
        let severity = Severity::of_warning(warning.is_alarm());
        let style = severity_style(severity, context.theme);
        page.text(&format!("! {warning}"), style);
    }
    group_details::some(page, &done.group, &FACTS, context);
    let rotated = group_details::rotated(&done.group, context);
    let (rotated, origin) = match &done.group.last_rotated {
        Some(_) => (
            rotated.trim_start_matches("rotated "),
            "according to the directory",
        ),
        None => ("unknown", ""),
    };
    page.field("last rotated", rotated, Style::new(), origin);
    fingerprint(page, &done.group);
}

fn fingerprint(page: &mut TextPage, group: &KnownGroup) {
    if let Some(known) = &group.fingerprint {
        page.plain("fingerprint", &known.value.to_string());
    }
}

/// Writes the token, masked unless it is revealed.
fn secret(page: &mut TextPage, pane: &TokenPane, done: &Done, context: &Context) {
    let Some(token) = done.token() else {
        if done.withholds_token() {
            page.field("token", "withheld", context.theme.error(), WITHHELD);
        } else {
            page.field("token", "not returned", context.theme.error(), "");
        }
        return;
    };
    if let Some(replaced) = &pane.replaced {
        page.field("token", replaced, context.theme.warning(), "");
        return;
    }
    // On a line of its own, masked or not: the page must not move, and a wrapped token cannot be copied.
    if let Some(until) = pane.revealed_until {
        let left = until.duration_since(context.now).as_secs().max(0);
        let note = format!("hidden again in {left} s");
        page.field("token", "", Style::new(), &note);
        page.indented(2, token.expose(), context.theme.warning());
    } else {
        let key = context.keys.key(pane.page_focus(), Action::Reveal);
        let note = format!("{key} shows it for 20 s");
        page.field("token", "", Style::new(), &note);
        let mask = context.theme.mask().repeat(MASKED);
        page.indented(2, &mask, Style::new());
    }
}

fn rotated(page: &mut TextPage, done: &Done, confirming: Option<Ticket>, context: &Context) {
    let theme = context.theme;
    let word = match done.ending {
        Ending::Confirmed | Ending::Superseded => "ROTATED".to_owned(),
        ending => ending.as_str().replace('_', " ").to_uppercase(),
    };
    let answer = format!(
        "responded {} in {} ms",
        done.status,
        done.latency.as_millis()
    );
    page.field("result", &word, ending_style(done.ending, theme), &answer);
    let confirmation = match (done.ending, confirming.is_some()) {
        (_, true) => "confirming",
        (Ending::Confirmed, false) => "confirmed",
        (Ending::Recovered, false) => {
            "the response was lost; a read shows a new token: rotated by this call or by someone else. If the old one leaked, \
             rotate again"
        }
        (Ending::Superseded, false) => {
            "rotated, and then rotated again by someone else: the token below is theirs"
        }
        (_, false) => "not confirmed",
    };
    let waits = context.waiting(confirming);
    let waits = waits.map_or_else(String::new, |line| line.text);
    page.field("confirmation", confirmation, Style::new(), &waits);
    for warning in &done.warnings {
        page.warning(&format!("! {warning}"));
    }
    page.blank();
    group_details::some(page, &done.group, &FACTS, context);
    if let Some(before) = done.previous_fingerprint {
        let (old, note) = (format!("fingerprint {before}"), "revoked by this rotation");
        page.field("old token", &old, theme.dim(), note);
    }
    if let Some(known) = &done.group.fingerprint {
        page.plain("new token", &format!("fingerprint {}", known.value));
    }
}

fn check(page: &mut TextPage, pane: &TokenPane, context: &Context) {
    let plain = Style::new();
    let Some(profile) = context.profile() else {
        return;
    };
    let word = profile.environment_word();
    let style = context.theme.environment(profile.production);
    page.pieces(vec![
        (format!(" {word} "), style),
        (format!("  {}  {}", profile.name, profile.url()), plain),
    ]);
    page.blank();
    if let Some(group) = &known(pane, context) {
        let shown = ["name", "ID", "tag", "token", "age"];
        group_details::some(page, group, &shown, context);
    }
    note(page, pane, context);
    page.blank();
    draw_plan(page, context);
}

/// Writes the note of the group: it may say whom to ask first.
fn note(page: &mut TextPage, pane: &TokenPane, context: &Context) {
    let Some(annotation) = context.annotations.get(pane.id.as_str()) else {
        return;
    };
    if let Some(note) = &annotation.note {
        let noted = annotation.noted.as_ref();
        let noted = noted.map_or_else(String::new, |noted| by(noted, context));
        page.short_field("note", note, &noted);
    }
}

/// Writes the most important parts, for a low window.
fn brief_check(page: &mut TextPage, pane: &TokenPane) {
    page.text(
        "One rotate request. Dashboards with the old token stop working.",
        Style::new(),
    );
    page.heading(pane.id.as_str());
}
