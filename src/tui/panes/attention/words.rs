//! What a row says: what it is, where and since when, and the key for its next step.
//!
//! The ages of the tokens of each profile, as bars.

use std::time::Duration;

use crate::tui::panes::prelude::*;
use crate::{
    domain::{
        HandOffState, Operation, RunnerState, TokenAge,
        age::{DEFAULT_LIMIT, days, due_within},
        rotation::State,
    },
    operations::{
        Refused,
        attention::{Ages, Concern, ConcernKind},
    },
    tui::page::list_page::profile_name,
};

/// Why the next step of the row is refused.
pub(super) fn why_refused(concern: &Concern, context: &Context) -> Option<String> {
    let at = concern.acting();
    let profile = at.and_then(|at| context.profiles.get(at));
    let refused = concern.refused(profile, context.view_only_reason());
    let is_keyless = at.is_some_and(|at| context.keyless.contains(&ProfileIndex(at)));
    let keyless = (is_keyless && concern.sends_a_change()).then_some(Refused::NoKey);
    refused.or(keyless).map(|refused| refused.to_string())
}

pub(super) fn place(concern: &Concern) -> String {
    let Concern { place, kind, .. } = concern;
    match (kind, kind.group(), kind.batch()) {
        (_, Some(id), _) => format!("{place} {id}"),
        (.., Some(batch)) => format!("{place} batch {}", batch.id.0),
        (ConcernKind::Alarms(environment, _), ..) if environment != place => {
            format!("{place} {}", visible(environment))
        }
        _ => place.clone(),
    }
}

/// Sign, text and style of an entry.
pub(super) fn what(concern: &Concern, theme: Theme) -> (&'static str, String, Style) {
    match &concern.kind {
        ConcernKind::Alarms(_, alarms) => {
            let text = match alarms.len() {
                1 => "ALARM".to_owned(),
                count => format!("{count} ALARMS"),
            };
            ("x", text, theme.error())
        }
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
            Some(RunnerState::Killed | RunnerState::Silent | RunnerState::Revoked) | None => {
                ("x", "batch unfinished".into(), theme.error())
            }
        },
        ConcernKind::NotDone(..) => ("!", "batch partly done".into(), theme.warning()),
        ConcernKind::Unwritten(_) => ("!", "tokens not in file".into(), theme.warning()),
        ConcernKind::UnwrittenToken(..) => ("!", "token not in file".into(), theme.warning()),
        ConcernKind::Revived(..) => ("x", "replaced token valid".into(), theme.error()),
        ConcernKind::ChangedElsewhere(_) => ("~", "changed elsewhere".into(), theme.news()),
        ConcernKind::Over(count, _) => {
            let text = format!("{} overdue", counted(*count, "token"));
            ("!", text, theme.age(TokenAge::Over))
        }
        ConcernKind::Due(count, _) => {
            let text = format!("{} due soon", counted(*count, "token"));
            ("!", text, theme.age(TokenAge::Due))
        }
        ConcernKind::Draft(_, 1) => ("d", "draft".into(), theme.label()),
        ConcernKind::Draft(_, versions) => {
            ("d", format!("draft, {versions} versions"), theme.label())
        }
        ConcernKind::NewKey(_) => ("!", "new API key".into(), theme.warning()),
        ConcernKind::NoProfile(_) => ("!", "no profile".into(), theme.warning()),
    }
}

/// What Enter does, in the footer and in the row.
pub(super) fn enter_word(concern: &Concern) -> &'static str {
    match &concern.kind {
        ConcernKind::Alarms(..) => "acknowledge",
        ConcernKind::NewKey(_) => "choose",
        ConcernKind::Batch(batch) if batch.is_run() => "watch",
        ConcernKind::Over(..) | ConcernKind::Due(..) => "list",
        _ => "open",
    }
}

/// The key for the next step, and what it does.
pub(super) fn step(concern: &Concern, context: &Context) -> String {
    let key = |action| context.keys.key(Focus::Attention, action);
    let enter = format!("{} {}", key(Action::Enter), enter_word(concern));
    let read = key(Action::Refresh);
    let refused = why_refused(concern, context);
    match (&concern.kind, refused) {
        (ConcernKind::Alarms(_, alarms), refused) => {
            let what = visible(alarms.first().map_or("", |alarm| &alarm.what));
            match (concern.profile, refused) {
                (_, Some(why)) => format!("{what}; {why}"),
                (Some(_), None) => format!("{enter}: {what}"),
                (None, None) => format!("bind a profile: {what}"),
            }
        }
        (ConcernKind::Rotation(_, State::Conflict, _), _) => format!("{enter} the group"),
        (ConcernKind::Rotation(..), Some(why)) => format!("never rotate; {why}"),
        (ConcernKind::Rotation(..), None) => format!("{read} read it; never rotate"),
        (ConcernKind::Change(..), None) => format!("{read} read it"),
        (ConcernKind::HandOff { exit, .. }, None) => {
            let exit = exit.map_or_else(String::new, |exit| format!(": exit {exit}"));
            format!("{} run again{exit}", key(Action::HandOff))
        }
        (ConcernKind::Batch(batch), refused) => {
            let (left, all) = (batch.counts.not_started, batch.counts.planned());
            let told = batch.last_run_in_words(|at| context.when(at));
            let resume = key(Action::Resume);
            match (left, batch.counts.unknown, refused) {
                _ if batch.is_run() => format!("{enter}: {left} of {all} left"),
                (0, unknown, _) if unknown > 0 => match context.view_only_reason() {
                    Some(why) => format!("{unknown} UNKNOWN; {why}"),
                    None => format!("{read} read {unknown} UNKNOWN"),
                },
                (_, _, Some(why)) => why,
                (0, ..) => format!("{resume} close: nothing left"),
                _ => {
                    let why = told.map_or_else(String::new, |told| format!(", {told}"));
                    format!("{resume} resume: {left} of {all} left{why}")
                }
            }
        }
        (ConcernKind::NotDone(batch, _), None) => {
            let done = batch.counts.in_short();
            if batch.can_be_retried() {
                format!("{} retry: {done}", key(Action::Resume))
            } else {
                format!("{enter}: {done}")
            }
        }
        (ConcernKind::Unwritten(batch), None) => {
            let (count, number) = (batch.unwritten, batch.id.0);
            format!("{count}: groupdesk batches resume {number} --token-out FILE")
        }
        (ConcernKind::UnwrittenToken(_, id), None) => id.command("get", "--token-out FILE"),
        (ConcernKind::Revived(..), None) => format!("{enter}: rotate it again"),
        (ConcernKind::ChangedElsewhere(_), _) => format!("{enter}: compare the token"),
        // Listing them is allowed whatever forbids rotating them.
        (ConcernKind::Over(_, oldest), _) => format!("{enter}: oldest {}", days(*oldest)),
        (ConcernKind::Due(..), _) => {
            let limit = concern.profile.and_then(|at| limit(at, context));
            format!(
                "{enter}: due within {}",
                about(due_within(limit.unwrap_or(DEFAULT_LIMIT)))
            )
        }
        (ConcernKind::Draft(..), None) => format!("{} open", key(Action::Edit)),
        (ConcernKind::NewKey(open), None) => format!("{enter} the environment: {open} open"),
        (ConcernKind::NoProfile(open), _) => match context.view_only_reason() {
            Some(why) => format!("{open} open; {why}"),
            None => format!("bind a profile: {open} open"),
        },
        (_, Some(why)) => why,
    }
}

pub(super) fn since(concern: &Concern, context: &Context) -> String {
    if let ConcernKind::Due(_, left) = concern.kind {
        return format!("due in {}", days(left));
    }
    let at = concern.since;
    at.map_or_else(|| "-".into(), |at| context.stamp(at))
}

const HOUR: u64 = 60 * 60;
/// Width of one count with its bar and a gap, in cells. Below the greatest, titles are short.
const BUCKET: std::ops::RangeInclusive<u16> = 6..=9;
/// What the title of the last count needs beyond the least width: it has no short form.
const LAST_NEEDS: u16 = 1;
/// Number of counts, and how many of them are always shown: what is over the limit, and what is unknown.
const BUCKETS: std::ops::RangeInclusive<u16> = 3..=7;
/// Width of the longest bar, in cells.
const LONGEST: usize = 4;

/// The maximum token age of a profile, if it is configured.
pub(super) fn limit(profile: usize, context: &Context) -> Option<Duration> {
    context.profiles.get(profile)?.max_token_age
}

/// The duration in whole days if it is at least two, otherwise in hours.
pub(super) fn about(time: Duration) -> String {
    match time.as_secs() / HOUR {
        hours @ 0..48 => format!("{hours}h"),
        hours => format!("{}d", hours / 24),
    }
}

pub(super) fn histogram(
    ages: &[&(usize, Ages)],
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) {
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
        .map(|(profile, _)| profile_name(ProfileIndex(*profile), context))
        .collect();
    let names_width = widest(names.iter().copied(), 16).max(8);
    let first = inner.x + names_width + 1;
    let room = inner.right().saturating_sub(first);
    let buckets = room.saturating_sub(LAST_NEEDS) / BUCKET.start();
    let buckets = buckets.clamp(*BUCKETS.start(), *BUCKETS.end());
    let bucket = (room / buckets).clamp(*BUCKET.start(), *BUCKET.end());
    // Where there is no room for all, the freshest are not shown: nobody needs to act on them.
    let skipped = usize::from(BUCKETS.end() - buckets);
    // If each row has a limit of its own, the titles are fractions of it.
    let [third, two, due, twice] = match same {
        Some(limit) => {
            let limit = limit.unwrap_or(DEFAULT_LIMIT);
            let due = limit.saturating_sub(due_within(limit));
            [limit / 3, limit * 2 / 3, due, limit * 2].map(about)
        }
        None => ["1/3", "2/3", "due", "2x"].map(str::to_owned),
    };
    let [soon, over] = match bucket {
        ..8 => ["soon", "over"],
        8 => ["soon", "overdue"],
        _ => ["due soon", "overdue"],
    };
    let titles = [
        format!("<{third}"),
        format!("<{two}"),
        format!("<{due}"),
        soon.into(),
        over.into(),
        format!(">{twice}"),
        "unknown".into(),
    ];
    let most = ages
        .iter()
        .flat_map(|(_, ages)| counts(ages, skipped))
        .map(|(count, _)| count);
    let most = most.max().unwrap_or(0).max(1);
    // The count is worth more than its bar.
    let digits = most.to_string().len();
    let longest = LONGEST.min(usize::from(bucket).saturating_sub(digits + 2));
    for (at, title) in titles.iter().skip(skipped).enumerate() {
        let x = first + at as u16 * bucket;
        let is_last = at as u16 + 1 == buckets;
        let room = inner.right().saturating_sub(x);
        let room = if is_last { room } else { room.min(bucket - 1) };
        paint::text(buffer, x, inner.y, room, title, theme.heading());
    }
    for (line, ((_, ages), name)) in ages.iter().zip(&names).enumerate() {
        let row = paint::row(inner, line as u16 + 1);
        if row.height == 0 {
            break;
        }
        let name = paint::cut(name, names_width.into(), theme);
        paint::text(buffer, row.x, row.y, names_width, &name, Style::new());
        for (at, (count, age)) in counts(ages, skipped).enumerate() {
            let x = first + at as u16 * bucket;
            let room = inner.right().saturating_sub(x).min(bucket - 1);
            let cells = (count * longest).div_ceil(most);
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

/// The counts of a row, freshest first, without the first ones.
fn counts(ages: &Ages, skipped: usize) -> impl Iterator<Item = (usize, TokenAge)> {
    let [first, second, third] = ages.fresh;
    let mut all = [
        (first, TokenAge::Fresh),
        (second, TokenAge::Fresh),
        (third, TokenAge::Fresh),
        (ages.due, TokenAge::Due),
        (ages.over, TokenAge::Over),
        (ages.far, TokenAge::Far),
        (ages.unknown, TokenAge::Unknown),
    ];
    // The title of the first one shown means all that are younger.
    if skipped < ages.fresh.len() {
        all[skipped].0 = ages.fresh[..=skipped].iter().sum();
    }
    all.into_iter().skip(skipped)
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
