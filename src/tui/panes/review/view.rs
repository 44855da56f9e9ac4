//! How the review looks: the page, and below it the buttons, which say why they cannot be pressed.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{Copy, Page, Review, Stage, choosing};
use crate::{
    domain::{facts::Field, history::Ending, text::oddities, update::Objection},
    tui::{
        keymap::{Action, Focus},
        panes::View,
        state::{confirmation::Level, context::Desk},
        widgets::{
            boxes::{page as page_box, words_that_fit},
            changes::{self, Of},
            paint,
            text_page::Sheet,
        },
    },
};

pub(super) fn draw(review: &Review, buffer: &mut Buffer, area: Rect, desk: &Desk) {
    let title = match (review.creating, review.page) {
        (true, Page::Difference) => "Review: a group to be created",
        (true, Page::Json) => "Review: a group to be created, as JSON",
        (true, Page::Curl) => "Review: a group to be created, as curl",
        (false, Page::Difference) => "Review: an update",
        (false, Page::Json) => "Review: an update, as JSON",
        (false, Page::Curl) => "Review: an update, as curl",
    };
    let inner = page_box(buffer, area, title, desk.theme);
    let buttons = paint::row(inner, inner.height.saturating_sub(1));
    let body = Rect {
        height: inner.height.saturating_sub(2),
        ..inner
    };
    let (sheet, _) = page(review, body.width, desk);
    sheet.draw(buffer, body, review.scroll.at);
    draw_buttons(review, buffer, buttons, desk);
}

/// Columns and rows of the page, as `draw` finds them.
fn room(desk: &Desk) -> (u16, u16) {
    let (columns, rows) = desk.size;
    (columns.saturating_sub(4), rows.saturating_sub(8))
}

/// Lines one can scroll through.
pub(super) fn lines(review: &Review, desk: &Desk) -> usize {
    let (width, rows) = room(desk);
    page(review, width, desk).0.last_scroll(rows) + 1
}

/// The line of the choice under the cursor.
pub(super) fn row_of_choice(review: &Review, desk: &Desk) -> Option<usize> {
    let Copy::Read(choices) = &review.copy else {
        return None;
    };
    let (_, rows) = page(review, room(desk).0, desk);
    rows.get(choices.at).copied()
}

/// Scrolls so far that the choice under the cursor is in sight.
pub(super) fn show_choice(review: &mut Review, desk: &Desk) {
    let Some(row) = row_of_choice(review, desk) else {
        return;
    };
    // The last line of a long page says how much more there is.
    let height = usize::from(room(desk).1).saturating_sub(CHOICE_LINES + 1);
    let at = review.scroll.at;
    review.scroll.at = at.clamp(row.saturating_sub(height), row);
}

/// Lines of a choice whose values are short.
const CHOICE_LINES: usize = 3;

/// The page, and on which of its lines each choice begins.
fn page(review: &Review, width: u16, desk: &Desk) -> (Sheet, Vec<usize>) {
    let theme = desk.theme;
    let mut sheet = Sheet::new(width, theme);
    let mut rows = Vec::new();
    if let Stage::Failed(trouble) = &review.stage {
        let style = if trouble.ending == Some(Ending::Unknown) {
            theme.unknown()
        } else {
            theme.error()
        };
        sheet.text(&trouble.text, style);
        sheet.text("Your text is kept: Back leads to the form.", theme.dim());
        sheet.blank();
    }
    match review.page {
        Page::Difference => {
            difference(review, &mut sheet, &mut rows, desk);
            sheet.blank();
            request(review, &mut sheet, desk);
        }
        Page::Json => request(review, &mut sheet, desk),
        Page::Curl => {
            let key = desk.keys.key(review.focus(), Action::CopyMenu);
            let text = format!("The request for a shell; {key} copies it, in one line");
            sheet.heading(&text);
            sheet.text(
                "The API key is left out: put it into GROUPDESK_API_KEY.",
                theme.dim(),
            );
            sheet.blank();
            let curl = review.curl(desk).unwrap_or_default();
            sheet.indented(2, &curl, Style::new());
        }
    }
    (sheet, rows)
}

fn difference(review: &Review, sheet: &mut Sheet, rows: &mut Vec<usize>, desk: &Desk) {
    let theme = desk.theme;
    sheet.field("group", review.id.as_str(), theme.title(), "");
    for oddity in oddities(review.id.as_str()) {
        let text = format!("! character {}: {}", oddity.position, oddity.what);
        sheet.field("", &text, theme.warning(), "");
    }
    if !review.near.is_empty() {
        let near: Vec<String> = review.near.iter().map(|id| format!("\"{id}\"")).collect();
        sheet.field("known and near", &near.join(", "), theme.warning(), "");
    }
    if let Some(reason) = &review.asks.guard {
        sheet.field("! guard", reason, theme.warning(), "");
    }
    copy(review, sheet, rows, desk);
    beside(review, sheet, desk);
    sheet.blank();
    if review.change.is_empty() {
        let text = if review.creating {
            "with nothing but its id"
        } else {
            "no field changes"
        };
        sheet.text(text, theme.dim());
    }
    let of = if review.creating {
        Of::Creation
    } else {
        Of::Known
    };
    changes::write(sheet, &review.change, of, review.unchanged_too, theme);
    along(review, sheet, desk);
}

/// What may have arrived, and what cannot be known well enough.
fn beside(review: &Review, sheet: &mut Sheet, desk: &Desk) {
    let theme = desk.theme;
    let Some(read) = &review.read else { return };
    for open in &read.open {
        let text = format!(
            "the {} of {} may have arrived: nobody knows yet (m{} of the open ones)",
            open.operation.as_str(),
            desk.moment(open.since()),
            open.id.0
        );
        sheet.field("! open", &text, theme.warning(), "");
    }
    for objection in &review.plan.objections {
        let field = objection.field().as_str();
        let text = match objection {
            Objection::InPart { at, .. } => {
                let from = at.map_or_else(String::new, |at| format!(" ({})", desk.moment(at)));
                format!(
                    "others may have changed the {field}, which cannot be read: all of it is replaced by the last known \
                     value{from}, with your change in it"
                )
            }
            Objection::NotTold { at, .. } => {
                let from = at.map_or_else(String::new, |at| format!(" ({})", desk.moment(at)));
                format!(
                    "nobody has said what the service does with a {field} that is left out: it is sent along as last \
                     known{from}"
                )
            }
            Objection::WouldClear { .. } => format!(
                "left out, the {field} would be cleared, and nothing is known that could be sent: give it, too"
            ),
            Objection::Unsure { .. } => format!(
                "the {field} may have been changed by what is open above: give it, too, or close that with a reason"
            ),
        };
        sheet.field(&format!("! {field}"), &text, theme.warning(), "");
        if let Objection::InPart {
            field: Field::Mapping,
            ..
        } = objection
        {
            for (schema, source) in review.plan.send.mapping.iter().flatten() {
                sheet.indented(4, &format!("{schema} = {source}"), theme.dim());
            }
        }
        if let Objection::InPart {
            field: Field::Properties,
            ..
        } = objection
        {
            for (key, value) in review.plan.send.properties.iter().flatten() {
                sheet.indented(4, &format!("{key}: {value}"), theme.dim());
            }
        }
    }
}

/// What is sent although nobody changed it, with its age.
fn along(review: &Review, sheet: &mut Sheet, desk: &Desk) {
    let theme = desk.theme;
    let told = |field| {
        review
            .plan
            .objections
            .iter()
            .any(|other| other.field() == field)
    };
    let travels = review.plan.travels.iter();
    for travels in travels.filter(|one| !one.is_read && !told(one.field)) {
        let field = travels.field.as_str();
        let text = format!("sent along as last known: {}", desk.moment(travels.at));
        sheet.field(field, &text, theme.dim(), "");
    }
}

fn request(review: &Review, sheet: &mut Sheet, desk: &Desk) {
    let method = review.method().as_str();
    let url = desk
        .profile()
        .map(crate::config::profile::Profile::url)
        .unwrap_or_default();
    sheet.heading(&format!("The request: {method} {url}"));
    for line in review.request_text().lines() {
        sheet.indented(2, line, Style::new());
    }
}

fn copy(review: &Review, sheet: &mut Sheet, rows: &mut Vec<usize>, desk: &Desk) {
    let theme = desk.theme;
    let label = "service copy";
    match &review.copy {
        Copy::NotAsked => sheet.field(
            "! creates",
            "The service creates this group if it does not know the id; nothing can delete it. \
             If it knows the id, it returns the group unchanged.",
            theme.warning(),
            "",
        ),
        Copy::Reading(_) => sheet.field(label, "being read now", theme.dim(), ""),
        Copy::Alarm(text) => sheet.text(text, theme.error()),
        Copy::Unreadable(why) => {
            let key = desk.keys.key(review.focus(), Action::Refresh);
            sheet.field(label, why, theme.error(), &format!("{key} tries again"));
        }
        Copy::Read(choices) => choosing::write(sheet, choices, rows, desk),
    }
}

fn draw_buttons(review: &Review, buffer: &mut Buffer, line: Rect, desk: &Desk) {
    let theme = desk.theme;
    let style = |on: bool| if on { theme.cursor_row() } else { Style::new() };
    let gutter = |on: bool| if on { "> " } else { "  " };
    let sending = matches!(review.stage, Stage::Sending(_));
    let mut x = line.x;
    let mut put = |text: &str, style: Style| {
        x = paint::text(
            buffer,
            x,
            line.y,
            line.right().saturating_sub(x),
            text,
            style,
        );
        x
    };
    put(gutter(!review.on_apply), Style::new());
    put("[ Back ]", style(!review.on_apply));
    let word = review.apply_word();
    let blocked = review.disabled(Action::Confirm, desk);
    let key = desk.keys.key(Focus::ReviewKey, Action::Confirm);
    let apply = match review.asks.level {
        Level::Button => format!("[ {word} ]"),
        Level::Key => format!("[ {word}: press {key} ]"),
        Level::Typed | Level::Words => format!("[ {word}: press {key}, then type ]"),
    };
    let apply_style = match (&blocked, review.on_apply) {
        (Some(_), false) => theme.dim(),
        (_, on) => style(on),
    };
    put("  ", Style::new());
    put(gutter(review.on_apply), Style::new());
    let x = put(&apply, apply_style);
    let note = match blocked {
        Some(_) if sending => "sending; leaving does not stop it".to_owned(),
        Some(why) => why,
        None => String::new(),
    };
    let room = line.right().saturating_sub(x + 2);
    let note = words_that_fit(&note, usize::from(room), theme);
    paint::text(buffer, x + 2, line.y, room, &note, theme.dim());
}
