//! How the review looks: the page, and below it the buttons, which say why they cannot be pressed.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{Copy, Review, Stage};
use crate::{
    domain::{history::Ending, text::oddities},
    tui::{
        changes::{self, Of},
        desk::Desk,
        frame::page as page_box,
        keymap::Action,
        level::Level,
        panes::View,
        sheet::Sheet,
        widgets::paint,
    },
};

pub(super) fn draw(review: &Review, buffer: &mut Buffer, area: Rect, desk: &Desk) {
    let title = if review.creating {
        "Review: a group to be created"
    } else {
        "Review: an update"
    };
    let inner = page_box(buffer, area, title, desk.theme);
    let buttons = paint::row(inner, inner.height.saturating_sub(1));
    let body = Rect {
        height: inner.height.saturating_sub(2),
        ..inner
    };
    page(review, body.width, desk).draw(buffer, body, review.scroll.at);
    draw_buttons(review, buffer, buttons, desk);
}

/// Lines one can scroll through.
pub(super) fn lines(review: &Review, desk: &Desk) -> usize {
    let rows = desk.size.1.saturating_sub(8);
    page(review, desk.size.0.saturating_sub(2), desk).last_scroll(rows) + 1
}

fn page(review: &Review, width: u16, desk: &Desk) -> Sheet {
    let theme = desk.theme;
    let mut sheet = Sheet::new(width, theme);
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
    copy(review, &mut sheet, desk);
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
    changes::write(&mut sheet, &review.change, of, review.unchanged_too, theme);
    sheet.blank();
    let method = if review.creating { "GET" } else { "PUT" };
    let url = desk
        .profile()
        .map(crate::config::profile::Profile::url)
        .unwrap_or_default();
    sheet.heading(&format!("The request: {method} {url}"));
    for line in review.request_text().lines() {
        sheet.indented(2, line, Style::new());
    }
    sheet
}

fn copy(review: &Review, sheet: &mut Sheet, desk: &Desk) {
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
        Copy::Unreadable(why) => sheet.field(label, why, theme.error(), "r tries again"),
        Copy::Read(foreign) if foreign.is_empty() => sheet.field(
            label,
            "read just now: the same, as far as it is returned (the mapping never is)",
            theme.ok(),
            "",
        ),
        Copy::Read(foreign)
            if foreign
                .iter()
                .all(|difference| difference.mine.as_ref() == Some(&difference.theirs)) =>
        {
            let fields: Vec<&str> = foreign.iter().map(|difference| difference.field).collect();
            let text = format!(
                "read just now: it already holds your {}, by your request or by someone else's",
                fields.join(" and ")
            );
            sheet.field(label, &text, theme.ok(), "");
        }
        Copy::Read(foreign) => {
            sheet.field(
                label,
                "read just now: CHANGED BY SOMEONE",
                theme.warning(),
                "",
            );
            for difference in foreign {
                let base = difference.base.as_deref().unwrap_or("not known");
                sheet.indented(
                    2,
                    &format!("{}: it was   {base}", difference.field),
                    theme.dim(),
                );
                sheet.indented(
                    2,
                    &format!("{}: theirs   {}", difference.field, difference.theirs),
                    theme.warning(),
                );
                match &difference.mine {
                    Some(mine) if difference.is_overwritten() => {
                        let text = format!("{}: yours    {mine}", difference.field);
                        sheet.indented(2, &text, theme.warning());
                        sheet.indented(2, "! sending yours OVERWRITES theirs", theme.error());
                    }
                    Some(_) => sheet.indented(2, "yours is the same", theme.dim()),
                    None => sheet.indented(2, "yours leaves it out", theme.dim()),
                }
            }
        }
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
    let apply = match review.asks.level {
        Level::Button => format!("[ {word} ]"),
        Level::Key => format!("[ {word}: press y ]"),
        Level::Typed | Level::Words => format!("[ {word}: press y, then type ]"),
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
    paint::text(buffer, x + 2, line.y, room, &note, theme.dim());
}
