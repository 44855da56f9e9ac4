//! How what waits looks: a row each with its next step, and below them how old the tokens of every profile are.

use std::time::Duration;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{AttentionPane, not_handed_off};
use crate::{
    domain::{
        age::{TokenAge, USUAL_LIMIT},
        batch::BatchKind,
        handoff::HandOffState,
        history::Operation,
        rotation::State,
    },
    operations::attention::{Ages, Concern, Matter},
    tui::{
        keymap::{Action, Focus},
        state::context::Context,
        theme::Theme,
        widgets::{
            boxes::{titled, with_details},
            columns::{Cell, Column, widest},
            paint,
        },
    },
};

const DAY: u64 = 24 * 60 * 60;
/// Cells of one count of the histogram with its bar.
const BUCKET: u16 = 9;
/// Cells of the longest bar.
const LONGEST: usize = 4;

pub(super) fn draw(
    pane: &AttentionPane,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let ages: Vec<_> = pane
        .found
        .ages
        .iter()
        .filter(|(profile, _)| !pane.only_here || *profile == context.current.0)
        .collect();
    // The box and the row of titles.
    let rows = u16::try_from(ages.len())
        .unwrap_or(u16::MAX)
        .saturating_add(2);
    let (rows, below) = with_details(area, if ages.is_empty() { 0 } else { rows });
    let hint = if pane.is_read {
        "Nothing waits: no open rotation, hand-off, batch or draft"
    } else {
        "reading the directory"
    };
    let shown = pane.shown(context);
    pane.list.draw(
        buffer,
        rows,
        ("Attention", hint),
        &shown,
        (
            |window: &[&Concern]| columns(window, context),
            |concern, here| cells(concern, context, here),
        ),
        context.theme,
    );
    if !ages.is_empty() && below.height > 0 {
        histogram(&ages, buffer, below, context);
    }
    None
}

/// The filter that finds what is over its limit, or due.
pub(super) fn filter(limit: Option<Duration>, is_over: bool) -> String {
    let all = limit.unwrap_or(USUAL_LIMIT).as_secs() / DAY;
    let due = all.saturating_sub(due_days(limit));
    if is_over {
        format!("age>{all}d")
    } else {
        format!("age>{due}d -age>{all}d")
    }
}

/// Days before the limit from which a token is due.
pub(super) fn due_days(limit: Option<Duration>) -> u64 {
    let limit = limit.unwrap_or(USUAL_LIMIT);
    let last = (limit / 6).max(Duration::from_secs(7 * DAY)).min(limit / 2);
    last.as_secs().div_ceil(DAY)
}

fn days(time: Duration) -> String {
    format!("{}d", time.as_secs() / DAY)
}

fn columns(window: &[&Concern], context: &Context) -> Vec<Column> {
    let places: Vec<String> = window.iter().map(|concern| place(concern)).collect();
    let places = widest(places.iter().map(String::as_str), 56).max(8);
    let steps: Vec<String> = window
        .iter()
        .map(|concern| step(concern, context))
        .collect();
    let steps = widest(steps.iter().map(String::as_str), 60).max(10);
    let by = widest(
        window.iter().filter_map(|concern| concern.by.as_deref()),
        24,
    )
    .max(4);
    vec![
        Column::new("  WHAT", 19, 21, 0),
        Column::new("WHERE", places.min(24), places, 0),
        Column::new("SINCE", 6, 6, 2).right(),
        Column::new("NEXT STEP", steps.min(30), steps, 1),
        Column::new("BY", 4, by, 3),
    ]
}

fn place(concern: &Concern) -> String {
    let place = &concern.place;
    match &concern.matter {
        Matter::Rotation(_, _, id)
        | Matter::Change(_, _, id)
        | Matter::HandOff { id, .. }
        | Matter::ChangedElsewhere(id)
        | Matter::Draft(id, _) => format!("{place} {id}"),
        Matter::Batch(batch) => match batch.kind {
            BatchKind::Rotate => format!("{place} rotate {}", batch.id.0),
            BatchKind::Edit(_) => format!("{place} edit {}", batch.id.0),
        },
        Matter::Over(..) | Matter::Due(..) | Matter::NoProfile(_) => place.clone(),
    }
}

/// Sign, words and style of what it is.
fn what(concern: &Concern, theme: Theme) -> (&'static str, String, Style) {
    match &concern.matter {
        Matter::Rotation(_, State::Unknown, _) => ("?", "rotation unknown".into(), theme.unknown()),
        Matter::Rotation(_, State::Conflict, _) => ("x", "rotation conflict".into(), theme.error()),
        Matter::Rotation(_, State::Rotated, _) => ("!", "not confirmed".into(), theme.warning()),
        Matter::Rotation(..) => ("?", "rotation open".into(), theme.unknown()),
        Matter::Change(_, operation, _) => {
            let word = match operation {
                Operation::Create => "create unknown",
                Operation::Update => "update unknown",
                _ => "first read unknown",
            };
            ("?", word.into(), theme.unknown())
        }
        Matter::HandOff { state, .. } if *state == HandOffState::Failed => {
            ("x", "hand-off failed".into(), theme.error())
        }
        Matter::HandOff { .. } => ("x", "hand-off due".into(), theme.error()),
        Matter::Batch(_) => ("x", "batch unfinished".into(), theme.error()),
        Matter::ChangedElsewhere(_) => ("~", "changed elsewhere".into(), theme.news()),
        Matter::Over(1, _) => ("!", "1 token over".into(), theme.age(TokenAge::Over)),
        Matter::Over(count, _) => {
            let text = format!("{count} tokens over");
            ("!", text, theme.age(TokenAge::Over))
        }
        Matter::Due(1, _) => ("!", "1 token due".into(), theme.age(TokenAge::Due)),
        Matter::Due(count, _) => {
            let text = format!("{count} tokens due");
            ("!", text, theme.age(TokenAge::Due))
        }
        Matter::Draft(..) => ("d", "draft".into(), theme.label()),
        Matter::NoProfile(_) => ("!", "no profile".into(), theme.warning()),
    }
}

/// The key that helps, and what it does.
fn step(concern: &Concern, context: &Context) -> String {
    let key = |action| context.keys.key(Focus::Attention, action);
    let (enter, read) = (key(Action::Enter), key(Action::Refresh));
    match &concern.matter {
        Matter::Rotation(_, State::Conflict, _) => format!("{enter} look at the group"),
        Matter::Rotation(..) => format!("{read} read it; never rotate"),
        Matter::Change(..) => format!("{read} read it"),
        Matter::HandOff { exit, .. } => {
            let exit = exit.map_or_else(String::new, |exit| format!(": exit {exit}"));
            match not_handed_off(concern, context) {
                Some(why) => why,
                None => format!("{} run again{exit}", key(Action::HandOff)),
            }
        }
        Matter::Batch(batch) => {
            let (left, all) = (batch.counts.not_started, batch.counts.planned());
            format!("{} resume: {left} of {all} left", key(Action::Resume))
        }
        Matter::ChangedElsewhere(_) => format!("{enter} compare: token"),
        Matter::Over(_, oldest) => format!("{enter} list: oldest {}", days(*oldest)),
        Matter::Due(..) => {
            let profile = concern.profile.and_then(|at| context.profiles.get(at));
            let limit = profile.and_then(|profile| profile.max_token_age);
            format!("{enter} list: next {}d", due_days(limit))
        }
        Matter::Draft(..) => format!("{} open", key(Action::Edit)),
        Matter::NoProfile(open) => format!("bind a profile: {open} open"),
    }
}

fn since(concern: &Concern, context: &Context) -> String {
    if let Matter::Due(_, left) = concern.matter {
        return format!("in {}", days(left));
    }
    let Some(at) = concern.since else {
        return "-".into();
    };
    // A clock time does not grow old on the screen.
    if context.now.duration_since(at).as_hours() < 24 {
        at.to_zoned(context.zone.clone())
            .strftime("%H:%M")
            .to_string()
    } else {
        context.age(at)
    }
}

fn cells<'a>(concern: &'a Concern, context: &Context, here: bool) -> Vec<Cell<'a>> {
    let (sign, what, style) = what(concern, context.theme);
    let style = if here && !context.theme.keeps_colours() {
        Style::new()
    } else {
        style
    };
    vec![
        Cell::new(format!("{sign} {what}")).styled(style),
        Cell::new(place(concern)),
        Cell::new(since(concern, context)),
        Cell::new(step(concern, context)),
        Cell::new(concern.by.as_deref().unwrap_or_default()),
    ]
}

fn histogram(ages: &[&(usize, Ages)], buffer: &mut Buffer, area: Rect, context: &Context) {
    let theme = context.theme;
    let limit = context.profile().and_then(|profile| profile.max_token_age);
    let title = match limit {
        Some(limit) => format!("Token age  limit {}", days(limit)),
        None => format!("Token age  usual limit {}", days(USUAL_LIMIT)),
    };
    let limit = limit.unwrap_or(USUAL_LIMIT);
    let inner = titled(buffer, area, &title, false, theme);
    let names: Vec<&str> = ages
        .iter()
        .map(|(profile, _)| {
            context
                .profiles
                .get(*profile)
                .map_or("", |known| &known.name)
        })
        .collect();
    let names_width = widest(names.iter().copied(), 16).max(8);
    let first = inner.x + names_width + 1;
    let due = limit.saturating_sub(Duration::from_secs(due_days(Some(limit)) * DAY));
    let titles = [
        format!("<{}", days(limit / 3)),
        format!("<{}", days(limit * 2 / 3)),
        format!("<{}", days(due)),
        "due".into(),
        "over".into(),
        format!(">{}", days(limit * 2)),
        "unknown".into(),
    ];
    let most = ages
        .iter()
        .flat_map(|(_, ages)| counts(ages))
        .map(|(count, _)| count);
    let most = most.max().unwrap_or(0).max(1);
    for (at, title) in titles.iter().enumerate() {
        let x = first + at as u16 * BUCKET;
        let room = inner.right().saturating_sub(x).min(BUCKET);
        paint::text(buffer, x, inner.y, room, title, theme.heading());
    }
    for (line, ((_, ages), name)) in ages.iter().zip(&names).enumerate() {
        let row = paint::row(inner, line as u16 + 1);
        if row.height == 0 {
            break;
        }
        let name = paint::cut(name, names_width.into(), theme);
        paint::text(buffer, row.x, row.y, names_width, &name, Style::new());
        for (at, (count, age)) in counts(ages).into_iter().enumerate() {
            let x = first + at as u16 * BUCKET;
            let room = inner.right().saturating_sub(x).min(BUCKET - 1);
            let cells = (count * LONGEST).div_ceil(most);
            let bar = if theme.ascii { "#" } else { "█" }.repeat(cells);
            let gap = if cells == 0 { "" } else { " " };
            let text = format!("{bar}{gap}{count}");
            let style = if count == 0 {
                Style::new()
            } else {
                theme.age(age)
            };
            paint::text(buffer, x, row.y, room, &text, style);
        }
    }
}

fn counts(ages: &Ages) -> [(usize, TokenAge); 7] {
    let [first, second, third] = ages.fresh;
    [
        (first, TokenAge::Fresh),
        (second, TokenAge::Fresh),
        (third, TokenAge::Fresh),
        (ages.due, TokenAge::Due),
        (ages.over, TokenAge::Over),
        (ages.far, TokenAge::Far),
        (ages.unknown, TokenAge::Unknown),
    ]
}
