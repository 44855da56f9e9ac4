//! Draws the review: the page, and below it what confirms it, or why nothing can be sent now.

use super::{Page, RemoteCopy, Review, Stage, choices};
use crate::tui::panes::prelude::*;
use crate::{
    domain::spreadsheet,
    domain::{facts::Field, pasted::odd_digits, text::oddities, update::UnsafeUpdate},
    tui::kit::{ChangeTarget, flight_style, side_by_side},
};

/// From this width on, the request is beside the changes.
const SIDE_BY_SIDE_WIDTH: u16 = 100;

pub(super) fn draw(
    review: &Review,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let title = match (review.asked.creating, review.page) {
        (true, Page::Difference) => "Review: new group",
        (true, Page::Json) => "Review: new group, as JSON",
        (true, Page::Curl) => "Review: new group, as curl",
        (false, Page::Difference) => "Review: update",
        (false, Page::Json) => "Review: update, as JSON",
        (false, Page::Curl) => "Review: update, as curl",
    };
    let area = match request_width(review, area.width) {
        Some(right) => {
            let (left, right) = side_by_side(buffer, area, right, context.theme);
            draw_request(review, buffer, right, context);
            left
        }
        None => area,
    };
    let inner = page_box(buffer, area, title, context.theme);
    let (page, ..) = page(review, inner.width, context);
    let (keys, why_not) = ((&context.keys, context.theme), why_not(review, context));
    let (confirm, scroll) = (&review.confirm, Some(review.scroll.at));
    confirm.draw_below(&page, scroll, (buffer, inner), keys, why_not.as_deref())
}

/// Why nothing can be confirmed now; while it is being sent, how long that takes.
fn why_not(review: &Review, context: &Context) -> Option<String> {
    let Stage::Sending(ticket) = review.stage else {
        return review.disabled(Action::Confirm, context);
    };
    let line = context.waiting(Some(ticket)).map(|line| line.whole());
    let is_unsent = context.is_unsent_change(ticket);
    Some(line.unwrap_or_else(|| {
        let text = if is_unsent {
            "nothing is sent yet"
        } else {
            "sending; leaving does not stop it"
        };
        text.into()
    }))
}

/// Width of the request when it is beside the changes, in cells.
fn request_width(review: &Review, width: u16) -> Option<u16> {
    (width >= SIDE_BY_SIDE_WIDTH && review.page == Page::Difference).then_some(width * 2 / 5)
}

fn draw_request(review: &Review, buffer: &mut Buffer, area: Rect, context: &Context) {
    let title = review.request_title(context);
    let inner = titled(buffer, area, &title, false, context.theme);
    let mut page = TextPage::new(inner.width, context.theme);
    review.write_body(&mut page, context);
    let key = context.keys.key(review.focus(), Action::OtherView);
    page.draw_with(buffer, inner, 0, &format!("{key}: "));
}

/// Columns and rows of the page, computed in the same way as in `draw`.
fn room(review: &Review, context: &Context) -> (u16, u16) {
    let (columns, rows) = page_room(context.size);
    // Includes the line between them.
    let right = request_width(review, context.size.0).map_or(0, |right| right + 1);
    let area = Rect::new(0, 0, columns - right, rows);
    let (keys, theme) = (&context.keys, context.theme);
    let why_not = why_not(review, context);
    let rows = review.confirm.room(area, keys, theme, why_not.as_deref());
    (area.width, rows)
}

/// Number of lines to scroll through.
pub(super) fn lines(review: &Review, context: &Context) -> usize {
    let (width, rows) = room(review, context);
    page(review, width, context).0.last_scroll(rows) + 1
}

/// The line of the choice under the cursor.
pub(super) fn row_of_choice(review: &Review, context: &Context) -> Option<usize> {
    let RemoteCopy::Read(choices) = &review.copy else {
        return None;
    };
    let (_, rows, _) = page(review, room(review, context).0, context);
    rows.get(choices.at).copied()
}

/// If the difference is on the screen, the width of its lines, and how many have been on the screen when this is.
pub(super) fn seen(review: &Review, context: &Context) -> Option<(u16, usize)> {
    let (width, rows) = room(review, context);
    if review.page != Page::Difference {
        return None;
    }
    let (page, ..) = page(review, width, context);
    let at = review.scroll.at.min(page.last_scroll(rows));
    // The last row of a page that goes on says how much more there is.
    let own_row = usize::from(at < page.last_scroll(rows));
    let seen = at + usize::from(rows) - own_row.min(usize::from(rows));
    Some((width, seen))
}

/// The position that shows the end of the changes, and the line on which they end.
pub(super) fn end_of_changes(review: &Review, context: &Context) -> (usize, usize) {
    let rows = room(review, context).1;
    let (page, end) = all_of_difference(review, review.seen_at, context);
    let at = (end + 1).saturating_sub(usize::from(rows));
    (at.min(page.last_scroll(rows)), end)
}

/// Scrolls so that the choice under the cursor is visible.
pub(super) fn show_choice(review: &mut Review, context: &Context) {
    let Some(row) = row_of_choice(review, context) else {
        return;
    };
    // The last line of a long page says how much more there is.
    let height = usize::from(room(review, context).1).saturating_sub(CHOICE_LINES + 1);
    let at = review.scroll.at;
    review.scroll.at = at.clamp(row.saturating_sub(height), row);
}

/// Number of lines of a choice with short values.
const CHOICE_LINES: usize = 3;

/// The page, the line on which each choice begins, and the number of lines up to the last change.
fn page(review: &Review, width: u16, context: &Context) -> (TextPage, Vec<usize>, usize) {
    let theme = context.theme;
    let mut page = TextPage::new(width, theme);
    let mut rows = Vec::new();
    let mut end = 0;
    write_failure(review, &mut page, context);
    match review.page {
        Page::Difference => {
            end = difference(review, &mut page, &mut rows, context);
            // The request is one key away if it is not beside the changes.
            if context.size.0 < SIDE_BY_SIDE_WIDTH {
                page.blank();
                let key = context.keys.key(review.focus(), Action::OtherView);
                let line = review.request_line(context);
                page.field("request", &line, Style::new(), &format!("{key} shows it"));
            }
        }
        Page::Json => {
            page.heading(&format!("The request: {}", review.request_line(context)));
            review.write_body(&mut page, context);
        }
        Page::Curl => {
            let key = context.keys.key(review.focus(), Action::CopyCurl);
            let text = format!("The request as a curl command; {key} copies it as one line");
            page.heading(&text);
            page.dim("Without the API key: set it in GROUPDESK_API_KEY.");
            page.blank();
            let curl = review.curl(context).unwrap_or_default();
            page.indented(2, &curl, Style::new());
        }
    }
    (page, rows, end)
}

fn all_of_difference(review: &Review, width: u16, context: &Context) -> (TextPage, usize) {
    let mut page = TextPage::new(width, context.theme);
    write_failure(review, &mut page, context);
    let end = difference(review, &mut page, &mut Vec::new(), context);
    (page, end)
}

fn write_failure(review: &Review, page: &mut TextPage, context: &Context) {
    let theme = context.theme;
    if let Stage::Failed(error) = &review.stage {
        let style = if error.ending == Some(Ending::Unknown) {
            theme.unknown()
        } else {
            theme.error()
        };
        page.text(&error.text, style);
        let key = context.keys.key(review.focus(), Action::Back);
        let text = format!("Your text is kept: {key} goes back to the form.");
        page.dim(&text);
        page.blank();
    }
}

/// Writes what is decided and what changes; returns the line on which that ends. Unchanged values that are also sent follow.
fn difference(
    review: &Review,
    page: &mut TextPage,
    rows: &mut Vec<usize>,
    context: &Context,
) -> usize {
    let theme = context.theme;
    page.field("group", review.asked.id.as_str(), theme.title(), "");
    for oddity in oddities(review.asked.id.as_str()) {
        let text = format!("! character {}: {}", oddity.position, oddity.what);
        page.field("", &text, theme.warning(), "");
    }
    let changed = spreadsheet::changed("ID", review.asked.id.as_str());
    if let Some(what) = changed.filter(|_| review.asked.creating) {
        page.field("", &format!("! the ID is {what}"), theme.warning(), "");
    }
    let digits = odd_digits(review.asked.id.as_str(), context.groups.ids());
    if let Some(what) = digits.filter(|_| review.asked.creating) {
        page.field("", &format!("! {what}"), theme.warning(), "");
    }
    if !review.similar.is_empty() {
        let similar: Vec<String> = review
            .similar
            .iter()
            .map(|id| format!("\"{id}\""))
            .collect();
        page.field("similar", &similar.join(", "), theme.warning(), "");
    }
    if let Some(by) = &review.asked.loaded_from {
        let text = format!("of {}, loaded into the form", visible(by));
        page.field("! draft", &text, theme.warning(), "");
    }
    copy(review, page, rows, context);
    uncertain(review, page, context);
    page.blank();
    if review.change.is_empty() {
        let text = if review.asked.creating {
            "with its ID only"
        } else {
            "no field changes"
        };
        page.dim(text);
    }
    let of = ChangeTarget::of(review.asked.creating);
    page.change(&review.change, of, review.unchanged_too);
    let end = page.height();
    write_unchanged(review, page, context);
    write_replaced(review, page, context);
    end
}

/// Writes what may have taken effect, and what cannot be known well enough.
fn uncertain(review: &Review, page: &mut TextPage, context: &Context) {
    let theme = context.theme;
    let Some(read) = &review.read else { return };
    for open in &read.open {
        let text = format!(
            "The {} of {} may have taken effect; its result is still unknown (change m{})",
            open.operation.as_str(),
            context.when(open.since()),
            open.id.0
        );
        page.field("! open", &text, theme.warning(), "");
    }
    for objection in &review.plan.objections {
        let field = objection.field().as_str();
        let (is, it) = (objection.field().is(), objection.field().it());
        let text = match objection {
            UnsafeUpdate::PartialChange { at, .. } => {
                let from = at.map_or_else(String::new, |at| format!(" ({})", context.moment(at)));
                format!(
                    "groupdesk cannot read the {field}, and others may have changed {it}: this replaces all of {it} with the last \
                     known value{from} plus your change"
                )
            }
            UnsafeUpdate::NotStated { at, .. } => {
                let from = at.map_or_else(String::new, |at| format!(" ({})", context.moment(at)));
                format!(
                    "it is unknown what the service does if {field} {is} omitted: the last known value{from} is sent"
                )
            }
            UnsafeUpdate::WouldClear { .. } => format!(
                "omitting the {field} would clear {it}, and the value is unknown: enter {it} as well"
            ),
            UnsafeUpdate::Restored { at, .. } => format!(
                "the directory was restored from an older copy, and later changes of the {field} may be missing: {it} {is} sent as \
                 known {}. If the values are wrong, enter all of {it}",
                context.moment(*at)
            ),
            UnsafeUpdate::Uncertain { .. } => format!(
                "the open change above may have changed the {field}: enter {it} as well, or abandon that change"
            ),
        };
        page.field(&format!("! {field}"), &text, theme.warning(), "");
    }
}

/// Writes all rows of the fields that are sent as last known.
fn write_replaced(review: &Review, page: &mut TextPage, context: &Context) {
    let theme = context.theme;
    for objection in &review.plan.objections {
        let (UnsafeUpdate::PartialChange { field, .. } | UnsafeUpdate::Restored { field, .. }) =
            objection
        else {
            continue;
        };
        let send = &review.plan.send;
        page.field(field.as_str(), "All rows that are sent:", theme.dim(), "");
        if *field == Field::Mapping {
            for (schema, source) in send.mapping.iter().flatten() {
                page.indented(4, &format!("{schema} = {source}"), theme.dim());
            }
        } else if *field == Field::Properties {
            for (key, value) in send.properties.iter().flatten() {
                page.indented(4, &format!("{key}: {value}"), theme.dim());
            }
        }
    }
}

/// Writes what is sent although nobody changed it, with its age.
fn write_unchanged(review: &Review, page: &mut TextPage, context: &Context) {
    let theme = context.theme;
    let has_objection = |field| {
        review
            .plan
            .objections
            .iter()
            .any(|other| other.field() == field)
    };
    let unchanged = review.plan.unchanged.iter();
    for field in unchanged.filter(|one| !one.is_read && !has_objection(one.field)) {
        let name = field.field.as_str();
        let text = format!("Sent again as last known: {}", context.moment(field.at));
        page.field(name, &text, theme.dim(), "");
    }
}

fn copy(review: &Review, page: &mut TextPage, rows: &mut Vec<usize>, context: &Context) {
    let theme = context.theme;
    let label = "saved values";
    match &review.copy {
        RemoteCopy::NotAsked => page.field(
            "! creates",
            "The service creates this group if it does not know the ID; nothing can delete it. \
             If it knows the ID, it returns the group unchanged.",
            theme.warning(),
            "",
        ),
        RemoteCopy::Reading(ticket) => match context.waiting(Some(*ticket)) {
            Some(line) => {
                let style = flight_style(line.is_long, theme);
                page.field(label, &line.whole(), style, "");
            }
            None => page.field(label, "reading", theme.dim(), ""),
        },
        RemoteCopy::Alarm(text) => page.error(text),
        RemoteCopy::Unreadable(why) => {
            let key = context.keys.key(review.focus(), Action::Refresh);
            page.field(label, why, theme.error(), &format!("{key} tries again"));
        }
        RemoteCopy::Read(choices) => choices::write(page, choices, rows, context),
    }
}
