//! The ages of the tokens of each profile, as bars.

use std::time::Duration;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use crate::{
    domain::age::{DEFAULT_LIMIT, TokenAge, due_within},
    operations::attention::Ages,
    tui::{
        kit::{boxes::titled, columns::widest, paint},
        page::list_page::profile_name,
        state::{context::Context, message::ProfileIndex},
    },
};

const HOUR: u64 = 60 * 60;
/// Width of one count with its bar and a gap, in cells, and the least that its title needs.
const BUCKET: std::ops::RangeInclusive<u16> = 7..=9;
/// Number of counts.
const BUCKETS: u16 = 7;
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
    let room = inner.right().saturating_sub(first) / BUCKETS;
    let bucket = room.clamp(*BUCKET.start(), *BUCKET.end());
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
    // The count is worth more than its bar.
    let digits = most.to_string().len();
    let longest = LONGEST.min(usize::from(bucket).saturating_sub(digits + 2));
    for (at, title) in titles.iter().enumerate() {
        let x = first + at as u16 * bucket;
        let room = inner.right().saturating_sub(x).min(bucket);
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
