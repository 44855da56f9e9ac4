//! The two lines above every pane: the environment, the address, the rights and the operator; and the breadcrumb path.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{ANSWER_WIDTH, in_flight};
use crate::{
    domain::visible,
    operations::PlaceProblem,
    tui::{
        app::App,
        kit::paint::{self, columns, cut},
        state::Context,
        theme::Theme,
    },
};

/// Draws the word of the environment; returns the column where it ends.
pub(super) fn draw_environment(buffer: &mut Buffer, line: Rect, context: &Context) -> u16 {
    let Some(profile) = context.profile() else {
        return line.x;
    };
    let text = format!(" {} ", profile.environment_word());
    let style = context.theme.environment(profile.production);
    paint::text(buffer, line.x, line.y, line.width, &text, style)
}

/// Warns that this may not be the environment it seems to be, or that nothing is sent to it.
fn alarm(context: &Context) -> Option<&'static str> {
    if context.wrong_environment.contains(&context.current) {
        return Some(" ! WRONG ENVIRONMENT ");
    }
    match context.place_problems.get(&context.current)? {
        PlaceProblem::Alarmed { .. } => Some(" ! ALARM "),
        PlaceProblem::OnTrial { .. } => Some(" ! UNVERIFIED KEY "),
        _ => Some(" ! WHICH ENVIRONMENT? "),
    }
}

/// Draws line 1: environment, place, rights and operator; the last answer and what is in flight.
pub(super) fn draw(buffer: &mut Buffer, line: Rect, context: &Context) {
    let theme = context.theme;
    let Some(profile) = context.profile() else {
        paint::text(
            buffer,
            line.x,
            line.y,
            line.width,
            " groupdesk",
            theme.title(),
        );
        return;
    };
    let mut x = draw_environment(buffer, line, context) + 1;
    if let Some(alarm) = alarm(context) {
        let room = line.right().saturating_sub(x);
        x = paint::text(buffer, x, line.y, room, alarm, theme.production()) + 1;
    }
    if !profile
        .name
        .eq_ignore_ascii_case(profile.environment_word())
    {
        let room = line.right().saturating_sub(x + 1);
        let name = cut(&profile.name, room.into(), theme);
        x = paint::text(buffer, x, line.y, line.width, &name, theme.title()) + 2;
    }
    // Ten people can have ten profile names for the same place, so its own name is shown as well.
    let place = context.live.place_name.as_deref();
    let place = place.filter(|place| *place != profile.name);
    let place = place.map_or_else(String::new, |place| format!("in {}", visible(place)));
    let host = profile
        .base_url
        .split_once("://")
        .map_or(profile.base_url.as_str(), |(_, host)| host);
    let rights = match profile.read_only {
        true => "READ-ONLY",
        false if context.is_viewer() => "viewer",
        false => profile.rights(),
    };
    let parts = [
        (place.as_str(), theme.title()),
        (host, Style::new()),
        (
            rights,
            if profile.read_only {
                theme.warning()
            } else {
                Style::new()
            },
        ),
        (context.operator.as_str(), theme.dim()),
    ];
    // What is in flight matters more than the address and the operator.
    let rights_width = columns(rights) + 2;
    let left = usize::from(line.right().saturating_sub(x));
    let (right, right_style) = in_flight(
        context,
        left.saturating_sub(rights_width + 1)
            .max(ANSWER_WIDTH.into())
            .min(left),
    );
    let right_width = columns(&right) as u16;
    let badge = context.attention_badge();
    let badge_width = match columns(&badge) as u16 {
        0 => 0,
        width => width + 2,
    };
    let end = line
        .right()
        .saturating_sub(right_width.max(ANSWER_WIDTH) + 1 + badge_width);
    for (text, style) in parts {
        // A part that does not fit is left out as a whole: cut off, it could be read as something else.
        if text.is_empty() || x + columns(text) as u16 > end {
            continue;
        }
        x = paint::text(buffer, x, line.y, end - x, text, style) + 2;
    }
    let at = line.right().saturating_sub(right_width);
    if at + 1 >= x {
        paint::text(buffer, at, line.y, right_width, &right, right_style);
    }
    // To the left of the last answer, so that it does not move with each answer.
    let before = right_width.max(ANSWER_WIDTH) + badge_width;
    let at = line.right().saturating_sub(before);
    if badge_width > 0 && at >= x {
        paint::text(buffer, at, line.y, badge_width, &badge, theme.warning());
    }
}

/// Minimum width of the breadcrumb path, in cells.
const MIN_BREADCRUMB_WIDTH: usize = 18;

/// Drops parts from the end of a status until it fits; the most important ones come first.
fn parts_that_fit(mut status: String, room: usize) -> String {
    while columns(&status) > room {
        let Some(at) = status.rfind("  ") else {
            break;
        };
        status.truncate(at);
        status.truncate(status.trim_end().len());
    }
    status
}

/// The breadcrumb path in this many cells; the steps after the first are dropped when there is too little room.
fn breadcrumb_in(titles: &[String], room: usize, theme: Theme) -> String {
    let step = format!(" {} ", theme.step());
    let whole = format!(" {}", titles.join(&step));
    let [first, rest @ ..] = titles else {
        return whole;
    };
    if columns(&whole) <= room || rest.len() < 2 {
        return cut(&whole, room, theme);
    }
    let more = theme.ellipsis();
    let ways = (1..rest.len()).map(|from| {
        let rest = rest[from..].join(&step);
        format!(" {first}{step}{more}{step}{rest}")
    });
    let mut last = whole;
    for breadcrumb in ways {
        if columns(&breadcrumb) <= room {
            return breadcrumb;
        }
        last = breadcrumb;
    }
    cut(&last, room, theme)
}

/// Draws line 2: the breadcrumb path with its counts, and the status of the pane.
pub(super) fn breadcrumb(buffer: &mut Buffer, line: Rect, app: &App) {
    let theme = app.context.theme;
    let titles: Vec<String> = app
        .stack
        .iter()
        .map(|pane| pane.view().title(&app.context))
        .collect();
    let counts = app.top().counts(&app.context);
    let counted: usize = counts.iter().map(|(text, _)| columns(text) + 2).sum();
    let width = usize::from(line.width);
    // A condition that holds on every page comes before the status of this one, and never gives way.
    let condition = app.context.directory_condition().unwrap_or_default();
    let condition = cut(&condition, width.saturating_sub(2), theme);
    let status = app.top().status(&app.context);
    let status = if condition.is_empty() {
        status
    } else {
        format!("{condition}  {status}")
    };
    let first = status.split("  ").next().map_or(0, columns) + 2;
    let most = if condition.is_empty() {
        // The first part of the status leaves a long title at least half of the line.
        width.saturating_sub(first + counted).max(width / 2)
    } else {
        width.saturating_sub(first)
    };
    let title = columns(titles.last().map_or("", String::as_str)) + 1;
    let here = title.min(most);
    let least = MIN_BREADCRUMB_WIDTH.max(here) + counted;
    let room = width.saturating_sub(least + 2);
    let mut status = parts_that_fit(status.trim_end().to_owned(), room);
    if condition.is_empty() && here + counted + columns(&status) + 2 > width {
        status.clear();
    }
    let status_width = columns(&status) as u16;
    let room = line.width.saturating_sub(if status.is_empty() {
        0
    } else {
        status_width + 2
    });
    let fits = room >= 16 || !condition.is_empty();
    let room = if fits { room } else { line.width };
    // Counts are shortened before the title of the current page.
    let path = usize::from(room);
    let path = path.saturating_sub(counted).max(title.min(path));
    let path = breadcrumb_in(&titles, path, theme);
    let mut x = paint::text(buffer, line.x, line.y, room, &path, theme.title());
    for (text, style) in counts {
        let left = (line.x + room).saturating_sub(x + 2);
        let text = paint::words_that_fit(&text, left.into(), theme);
        x = paint::text(buffer, x + 2, line.y, left, &text, style);
    }
    if fits {
        let at = line.right() - status_width;
        paint::text(buffer, at, line.y, status_width, &status, Style::new());
        paint::text(buffer, at, line.y, status_width, &condition, theme.error());
    }
}
