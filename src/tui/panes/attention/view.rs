//! Draws what needs attention: one row per entry with its next step, and below them the ages of the tokens of every
//! profile.

use std::time::Duration;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{AttentionPane, why_not_hand_off};
use crate::{
    domain::{
        age::{DEFAULT_LIMIT, TokenAge, due_within},
        batch::{BatchKind, RunnerState},
        handoff::HandOffState,
        history::Operation,
        rotation::State,
    },
    operations::attention::{Ages, Concern, ConcernKind},
    tui::{
        keymap::{Action, Focus},
        state::context::Context,
        theme::Theme,
        widgets::{
            boxes::{titled, with_details},
            columns::{Cell, Column, widest},
            paint,
            time_format::days,
        },
    },
};

const HOUR: u64 = 60 * 60;
/// Width of one count of the histogram with its bar, in cells.
const BUCKET: u16 = 9;
/// Width of the longest bar, in cells.
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
    // Two rows for the box, one for the titles.
    let rows = u16::try_from(ages.len())
        .unwrap_or(u16::MAX)
        .saturating_add(2);
    let (rows, below) = with_details(area, if ages.is_empty() { 0 } else { rows });
    let hint = if !pane.is_read {
        "reading the directory".to_owned()
    } else if let hidden @ 1.. = pane.hidden(context) {
        let key = context.keys.key(Focus::Attention, Action::ShowHidden);
        format!("Nothing else waits: {hidden} hidden, {key} shows them")
    } else {
        "Nothing waits: no open rotation, hand-off, batch or draft".to_owned()
    };
    let shown = pane.shown(context);
    pane.list.draw(
        buffer,
        rows,
        ("Attention", &hint),
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

/// The maximum token age of a profile, if it is configured.
pub(super) fn limit(profile: usize, context: &Context) -> Option<Duration> {
    context.profiles.get(profile)?.max_token_age
}

/// The duration in whole days if it is at least two, otherwise in hours.
fn about(time: Duration) -> String {
    match time.as_secs() / HOUR {
        hours @ 0..48 => format!("{hours}h"),
        hours => format!("{}d", hours / 24),
    }
}

fn columns(window: &[&Concern], context: &Context) -> Vec<Column> {
    let places: Vec<String> = window.iter().map(|concern| place(concern)).collect();
    let places = widest(places.iter().map(String::as_str), 56).max(8);
    let steps: Vec<String> = window
        .iter()
        .map(|concern| step(concern, context))
        .collect();
    let steps = widest(steps.iter().map(String::as_str), 90).max(10);
    let by = widest(
        window.iter().filter_map(|concern| concern.by.as_deref()),
        24,
    )
    .max(4);
    vec![
        Column::new("  WHAT", 19, 21, 0),
        Column::new("WHERE", places.min(24), places, 0),
        Column::new("SINCE", 6, 6, 2).right(),
        Column::new("NEXT STEP", steps.min(30), steps, 1).sentence(),
        Column::new("BY", 4, by, 3),
    ]
}

fn place(concern: &Concern) -> String {
    let place = &concern.place;
    match &concern.kind {
        ConcernKind::Rotation(_, _, id)
        | ConcernKind::Change(_, _, id)
        | ConcernKind::HandOff { id, .. }
        | ConcernKind::ChangedElsewhere(id)
        | ConcernKind::Draft(id, _) => format!("{place} {id}"),
        ConcernKind::Batch(batch) | ConcernKind::NotDone(batch, _) => match batch.kind {
            BatchKind::Rotate => format!("{place} rotate {}", batch.id.0),
            BatchKind::Edit(_) => format!("{place} edit {}", batch.id.0),
        },
        ConcernKind::Over(..) | ConcernKind::Due(..) | ConcernKind::NoProfile(_) => place.clone(),
    }
}

/// Sign, text and style of an entry.
fn what(concern: &Concern, theme: Theme) -> (&'static str, String, Style) {
    match &concern.kind {
        ConcernKind::Rotation(_, State::Unknown, _) => {
            ("?", "rotation unknown".into(), theme.unknown())
        }
        ConcernKind::Rotation(_, State::Conflict, _) => {
            ("x", "rotation conflict".into(), theme.error())
        }
        ConcernKind::Rotation(_, State::Rotated, _) => {
            ("!", "not confirmed".into(), theme.warning())
        }
        ConcernKind::Rotation(..) => ("?", "rotation open".into(), theme.unknown()),
        ConcernKind::Change(_, operation, _) => {
            let word = match operation {
                Operation::Create => "create unknown",
                Operation::Update => "update unknown",
                _ => "first read unknown",
            };
            ("?", word.into(), theme.unknown())
        }
        ConcernKind::HandOff { state, .. } if *state == HandOffState::Failed => {
            ("x", "hand-off failed".into(), theme.error())
        }
        ConcernKind::HandOff { .. } => ("x", "hand-off due".into(), theme.error()),
        ConcernKind::Batch(batch) => match batch.runner.as_ref().map(|runner| runner.state) {
            Some(RunnerState::Running) => ("/", "batch running".into(), theme.focus()),
            Some(RunnerState::Paused) => ("!", "batch paused".into(), theme.warning()),
            Some(RunnerState::Killed | RunnerState::Silent) | None => {
                ("x", "batch unfinished".into(), theme.error())
            }
        },
        ConcernKind::NotDone(..) => ("!", "batch not all done".into(), theme.warning()),
        ConcernKind::ChangedElsewhere(_) => ("~", "changed elsewhere".into(), theme.news()),
        ConcernKind::Over(1, _) => ("!", "1 token over".into(), theme.age(TokenAge::Over)),
        ConcernKind::Over(count, _) => {
            let text = format!("{count} tokens over");
            ("!", text, theme.age(TokenAge::Over))
        }
        ConcernKind::Due(1, _) => ("!", "1 token due".into(), theme.age(TokenAge::Due)),
        ConcernKind::Due(count, _) => {
            let text = format!("{count} tokens due");
            ("!", text, theme.age(TokenAge::Due))
        }
        ConcernKind::Draft(..) => ("d", "draft".into(), theme.label()),
        ConcernKind::NoProfile(_) => ("!", "no profile".into(), theme.warning()),
    }
}

/// The key for the next step, and what it does.
fn step(concern: &Concern, context: &Context) -> String {
    let key = |action| context.keys.key(Focus::Attention, action);
    if let Some(until) = concern.hidden_until {
        let until = until.strftime("%d %b %H:%M UTC");
        return format!("{} show; back {until}", key(Action::Hide));
    }
    let (enter, read) = (key(Action::Enter), key(Action::Refresh));
    match &concern.kind {
        ConcernKind::Rotation(_, State::Conflict, _) => format!("{enter} look at the group"),
        ConcernKind::Rotation(..) => format!("{read} read it; never rotate"),
        ConcernKind::Change(..) => format!("{read} read it"),
        ConcernKind::HandOff { exit, .. } => {
            let exit = exit.map_or_else(String::new, |exit| format!(": exit {exit}"));
            match why_not_hand_off(concern, context) {
                Some(why) => why,
                None => format!("{} run again{exit}", key(Action::HandOff)),
            }
        }
        ConcernKind::Batch(batch) => {
            let (left, all) = (batch.counts.not_started, batch.counts.planned());
            let told = batch.last_run_in_words(|at| context.when(at));
            if batch.is_run() {
                return format!("{enter} watch: {left} of {all} left");
            }
            match (left, batch.counts.unknown) {
                (0, 0) => format!("{} close: nothing left", key(Action::Resume)),
                (0, unknown) => format!("{read} read {unknown} UNKNOWN"),
                _ => {
                    let why = told.map_or_else(String::new, |told| format!(", {told}"));
                    format!("{} resume: {left} of {all} left{why}", key(Action::Resume))
                }
            }
        }
        ConcernKind::NotDone(batch, _) => {
            let done = batch.counts.in_short();
            match batch.counts.not_applied {
                0 => format!("{enter} look: {done}"),
                _ => format!("{} retry: {done}", key(Action::Resume)),
            }
        }
        ConcernKind::ChangedElsewhere(_) => format!("{enter} compare: token"),
        ConcernKind::Over(_, oldest) => format!("{enter} list: oldest {}", days(*oldest)),
        ConcernKind::Due(..) => {
            let limit = concern.profile.and_then(|at| limit(at, context));
            format!(
                "{enter} list: next {}",
                about(due_within(limit.unwrap_or(DEFAULT_LIMIT)))
            )
        }
        ConcernKind::Draft(..) => format!("{} open", key(Action::Edit)),
        ConcernKind::NoProfile(open) => format!("bind a profile: {open} open"),
    }
}

fn since(concern: &Concern, context: &Context) -> String {
    if let ConcernKind::Due(_, left) = concern.kind {
        return format!("in {}", days(left));
    }
    let at = concern.since;
    at.map_or_else(|| "-".into(), |at| context.clock(at))
}

fn cells<'a>(concern: &'a Concern, context: &Context, here: bool) -> Vec<Cell<'a>> {
    let (sign, what, style) = what(concern, context.theme);
    let is_hidden = concern.hidden_until.is_some();
    let rest = if is_hidden {
        context.theme.dim()
    } else {
        Style::new()
    };
    let style = match (here && !context.theme.keeps_colours(), is_hidden) {
        (true, _) => Style::new(),
        (false, true) => rest,
        (false, false) => style,
    };
    let cells = [
        Cell::new(place(concern)),
        Cell::new(since(concern, context)),
        Cell::new(step(concern, context)),
        Cell::new(concern.by.as_deref().unwrap_or_default()),
    ];
    let first = Cell::new(format!("{sign} {what}")).styled(style);
    let rest = cells.map(|cell| if here { cell } else { cell.styled(rest) });
    std::iter::once(first).chain(rest).collect()
}

fn histogram(ages: &[&(usize, Ages)], buffer: &mut Buffer, area: Rect, context: &Context) {
    let theme = context.theme;
    let limits: Vec<Option<Duration>> = ages.iter().map(|(at, _)| limit(*at, context)).collect();
    let same = limits
        .first()
        .filter(|first| limits.iter().all(|one| one == *first));
    let title = match same {
        Some(Some(limit)) => format!("Token age  limit {}", about(*limit)),
        Some(None) => format!("Token age  usual limit {}", about(DEFAULT_LIMIT)),
        None => {
            let limits = limits.iter().map(|one| about(one.unwrap_or(DEFAULT_LIMIT)));
            let limits: Vec<_> = limits.collect();
            format!("Token age  limits {}", limits.join(", "))
        }
    };
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
    // If each row has a limit of its own, the titles are fractions of it.
    let [third, two, due, twice] = match same {
        Some(limit) => {
            let limit = limit.unwrap_or(DEFAULT_LIMIT);
            let due = limit.saturating_sub(due_within(limit));
            [limit / 3, limit * 2 / 3, due, limit * 2].map(about)
        }
        None => ["1/3", "2/3", "due", "2x"].map(str::to_owned),
    };
    let titles = [
        format!("<{third}"),
        format!("<{two}"),
        format!("<{due}"),
        "due".into(),
        "over".into(),
        format!(">{twice}"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_days_and_more_are_told_in_days() {
        assert_eq!(about(Duration::from_hours(12)), "12h");
        assert_eq!(about(Duration::from_hours(800)), "33d");
    }
}
