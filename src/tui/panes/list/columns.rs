//! Which columns fit into the list, in which order they get space, and how wide each is.
//!
//! Statistics over all groups: the ages of their tokens, and whether their tags differ. Recomputed only when the groups
//! or the date have changed.

use std::time::Duration;

use crate::tui::panes::prelude::*;
use crate::{
    domain::{TokenAge, age},
    search::{Entry, Index, ListColumn, Row, SortBy, in_ranges},
    tui::{
        kit::{Column, columns::Layout, paint::WHOLE_ID},
        state::Loading,
    },
};

/// Width of a name before later columns get space, and maximum width, in cells.
const NAME: (u16, u16) = (16, 40);
/// Minimum and maximum width of a property's value, in cells.
const PROPERTY: (u16, u16) = (8, 20);
/// Below this width the age gets space before the name.
const NARROW_WIDTH: u16 = 60;

/// Below this width the name is shortened before token, mapping and properties are dropped.
const ROOMY_WIDTH: u16 = 96;

/// The sort order of a click on a column title.
pub(super) fn sort_of(column: &ListColumn) -> Option<SortBy> {
    SortBy::parse(&column.word())
}

/// What the columns depend on, besides the available width.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Needs {
    /// Width of the longest name and of the longest id.
    pub(super) names: usize,
    pub(super) ids: usize,
    /// The profile has a maximum token age, so tokens can be due.
    pub(super) has_limit: bool,
    /// The tags differ, or one is wrong.
    pub(super) has_tags: bool,
    pub(super) has_labels: bool,
}

impl Needs {
    fn ids(self) -> u16 {
        self.ids.clamp(8, WHOLE_ID) as u16
    }

    fn names(self) -> u16 {
        self.names.clamp(4, NAME.1.into()) as u16
    }

    /// Minimum and maximum width of a column; `None` if it would show nothing.
    pub(super) fn width(self, column: &ListColumn) -> Option<(u16, u16)> {
        let width = match column {
            ListColumn::Name => (self.names().min(NAME.0), self.names()),
            ListColumn::Id => (self.ids(), self.ids()),
            ListColumn::Age | ListColumn::Tag => (8, 8),
            // As wide as its title.
            ListColumn::Token => (11, 11),
            ListColumn::Map => (3, 3),
            ListColumn::Props => (5, 5),
            // A day of yesterday: `25 Nov`.
            ListColumn::Read => (6, 6),
            ListColumn::Due => (12, 12),
            ListColumn::By => (14, 14),
            ListColumn::Labels => (16, 16),
            ListColumn::Property(_) => PROPERTY,
        };
        let says_something = match column {
            ListColumn::Due => self.has_limit,
            ListColumn::Tag => self.has_tags,
            ListColumn::Labels => self.has_labels,
            _ => true,
        };
        says_something.then_some(width)
    }

    /// The effective columns: the chosen ones, or the default ones.
    fn shown(self, chosen: &[ListColumn]) -> Vec<ListColumn> {
        let columns = if chosen.is_empty() {
            &ListColumn::ALL
        } else {
            chosen
        };
        let columns = columns.iter();
        let columns = columns.filter(|column| self.width(column).is_some());
        columns.cloned().collect()
    }

    /// Total width of all columns at their maximum, or only of the first ones up to PROPS.
    pub(super) fn whole(self, chosen: &[ListColumn], up_to_props: bool, gap: u16) -> u16 {
        let columns = self.shown(chosen);
        let is_asked = |column: &&ListColumn| !up_to_props || rank(column) <= 4;
        let widths = columns.iter().filter(is_asked);
        let widths = widths.filter_map(|column| self.width(column));
        let all: u16 = widths.map(|(_, most)| most + gap).sum();
        all.saturating_sub(gap)
    }
}

/// The order in which columns get space. The name gets its minimum right after the id.
fn rank(column: &ListColumn) -> usize {
    match column {
        ListColumn::Id => 0,
        ListColumn::Age => 1,
        ListColumn::Name => 2,
        ListColumn::Property(_) => 3,
        ListColumn::Token | ListColumn::Map | ListColumn::Props => 4,
        ListColumn::Due => 5,
        ListColumn::Labels => 6,
        ListColumn::By => 7,
        ListColumn::Read => 8,
        ListColumn::Tag => 9,
    }
}

/// The columns that fit, and how many more there are to the right.
#[derive(Debug, Clone)]
pub(super) struct ListLayout {
    pub(super) columns: Vec<ListColumn>,
    pub(super) layout: Layout,
    pub(super) hidden: usize,
}

/// The sort order and whether it is descending; `None`: sorted by best match.
pub(super) type Order<'a> = (Option<&'a SortBy>, bool);

/// Distributes the width: each column needs its minimum, and none takes space from an earlier one. The first `skipped`
/// columns besides name and id are scrolled out.
pub(super) fn fit(
    needs: Needs,
    chosen: &[ListColumn],
    (room, gap): (u16, u16),
    skipped: usize,
    (sort, is_falling): Order<'_>,
) -> ListLayout {
    let columns = needs.shown(chosen);
    let is_fixed = |column: &ListColumn| matches!(column, ListColumn::Id | ListColumn::Name);
    let scrolled = (0..columns.len()).filter(|at| !is_fixed(&columns[*at]));
    let scrolled: Vec<usize> = scrolled.take(skipped).collect();
    let mut order: Vec<usize> = (0..columns.len())
        .filter(|at| !scrolled.contains(at))
        .collect();
    let is_cut = |column: &ListColumn| {
        *column == ListColumn::Name && (NARROW_WIDTH..ROOMY_WIDTH).contains(&room)
    };
    order.sort_by_key(|at| match &columns[*at] {
        name if is_cut(name) => (rank(&ListColumn::Props), true),
        column => (rank(column), false),
    });
    // The name gets its minimum before the age and the rest after it; if space is tight, after the properties.
    let name = order.iter().position(|at| columns[*at] == ListColumn::Name);
    if let Some(name) = name.filter(|_| room >= NARROW_WIDTH) {
        let at = order[name];
        order.insert(usize::from(columns.contains(&ListColumn::Id)), at);
    }
    let mut widths: Vec<Option<u16>> = vec![None; columns.len()];
    let mut left = room;
    for at in order {
        let Some((least, most)) = needs.width(&columns[at]) else {
            continue;
        };
        let gap = if left == room { 0 } else { gap };
        if let Some(width) = &mut widths[at] {
            let more = (most - *width).min(left);
            *width += more;
            left -= more;
        } else if least + gap <= left {
            widths[at] = Some(least);
            left -= least + gap;
            if room < NARROW_WIDTH && columns[at] == ListColumn::Name {
                let more = (most - least).min(left);
                widths[at] = Some(least + more);
                left -= more;
            }
        } else if columns[at] == ListColumn::Id {
            // In the narrowest windows the id is the only column.
            widths[at] = Some(left);
            break;
        } else {
            break;
        }
    }
    for (column, width) in columns.iter().zip(&mut widths) {
        if let (ListColumn::Property(_), Some(width)) = (column, width) {
            let more = (PROPERTY.1 - *width).min(left);
            *width += more;
            left -= more;
        }
    }
    let is_hidden = |at: &usize| widths[*at].is_none() && !scrolled.contains(at);
    let hidden = (0..columns.len()).filter(is_hidden).count();
    // What is left when all columns are shown goes to the names that are still cut.
    let name = columns.iter().position(|at| *at == ListColumn::Name);
    if let Some(Some(width)) = name.filter(|_| hidden == 0).map(|at| &mut widths[at]) {
        let more = (needs.names as u16).saturating_sub(*width);
        *width += more.min(left.saturating_sub(gap));
    }
    let titled = columns.iter().map(|column| {
        let by = sort_of(column);
        let is_sorted = sort.is_some() && by.as_ref() == sort && *column != ListColumn::Due;
        Column {
            order: is_sorted.then_some(is_falling),
            ..titled(column)
        }
    });
    ListLayout {
        layout: Layout::of(titled.collect(), widths, gap),
        columns,
        hidden,
    }
}

fn titled(column: &ListColumn) -> Column {
    let title = match column {
        ListColumn::Property(key) => key.to_uppercase(),
        column => column.word().to_uppercase(),
    };
    let new = Column::new(title, 0, 0, 0);
    match column {
        ListColumn::Id => new.id(),
        // An age is not right-aligned by the column: its cells align their numbers themselves, and the signs come after them.
        ListColumn::Map | ListColumn::Props | ListColumn::Due | ListColumn::Read => new.right(),
        _ => new,
    }
}

#[derive(Debug, Default)]
pub(super) struct Summary {
    of: Option<(Index, i64, Option<Duration>, Option<String>)>,
    fresh: usize,
    due: usize,
    over: usize,
    unknown: usize,
    pub(super) has_tags: bool,
}

const DAY: i64 = 24 * 60 * 60;

/// The age of a token and its rating in this profile.
pub(super) fn age(entry: Entry<'_>, context: &Context) -> (Option<Duration>, TokenAge) {
    let limit = context.profile().and_then(|profile| profile.max_token_age);
    age_at(entry, context.now, limit)
}

fn age_at(
    entry: Entry<'_>,
    now: Timestamp,
    limit: Option<Duration>,
) -> (Option<Duration>, TokenAge) {
    let (rotated, created, _) = entry.times();
    let age = rotated.or(created);
    let age = age.and_then(|at| age::of(at, now));
    (age, TokenAge::of(age, limit))
}

/// When the list was loaded, or how many have been read so far.
pub(super) fn how_far(context: &Context, is_waiting: bool) -> String {
    match (context.groups.loading(), context.groups.read_at) {
        (Some(Loading { read, rows }), _) if is_waiting => {
            format!("reading {read} of {}", rows.total)
        }
        // Reading failed; only the first groups are loaded.
        (Some(Loading { rows, .. }), _) => {
            let key = context.keys.key(Focus::List, Action::Refresh);
            let read = context.groups.index().len();
            format!("{read} of {} read: {key}", rows.total)
        }
        (None, None) => "reading".into(),
        (None, Some(at)) => format!("loaded {}", context.clock(at)),
    }
}

impl Summary {
    pub(super) fn follow(&mut self, context: &Context) {
        if context.groups.loading().is_some() {
            *self = Self::default();
            return;
        }
        let profile = context.profile();
        let limit = profile.and_then(|profile| profile.max_token_age);
        let expected = profile.and_then(|profile| profile.environment.as_ref());
        let expected = expected.map(ToString::to_string);
        let of = Some((
            context.groups.index().clone(),
            context.now.as_second() / DAY,
            limit,
            expected.clone(),
        ));
        if self.of == of {
            return;
        }
        let index = context.groups.index();
        let mut tags = index.entries().filter_map(Row::tag);
        let tag = expected.as_deref().or_else(|| tags.next());
        let (now, count) = (context.now, index.len());
        let parts = in_ranges(count, &|range| {
            let mut part = Self::default();
            let entries = range.filter_map(|number| index.entry(number as u32));
            entries.for_each(|entry| part.add(entry, tag, now, limit));
            part
        });
        *self = Self {
            of,
            ..Self::default()
        };
        for part in parts {
            self.fresh += part.fresh;
            self.due += part.due;
            self.over += part.over;
            self.unknown += part.unknown;
            self.has_tags |= part.has_tags;
        }
    }

    /// `usual` is the tag that the others are compared with.
    fn add(
        &mut self,
        entry: Entry<'_>,
        usual: Option<&str>,
        now: Timestamp,
        limit: Option<Duration>,
    ) {
        *match age_at(entry, now, limit).1 {
            TokenAge::Fresh => &mut self.fresh,
            TokenAge::Due => &mut self.due,
            TokenAge::Over | TokenAge::Far => &mut self.over,
            TokenAge::Unknown => &mut self.unknown,
        } += 1;
        self.has_tags |= entry.tag().is_some_and(|tag| Some(tag) != usual);
    }

    /// `96 ok`, `9 due`, `7 over`, `2 unknown`; without those that are zero.
    pub(super) fn parts(&self, context: &Context) -> Vec<(String, Style)> {
        let theme = context.theme;
        let parts = [
            (self.fresh, "ok", theme.ok()),
            (self.due, "due soon", theme.age(TokenAge::Due)),
            (self.over, "overdue", theme.age(TokenAge::Over)),
            (self.unknown, "unknown", theme.unknown()),
        ];
        let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
        let parts = parts.map(|(count, word, style)| (format!("{count} {word}"), style));
        parts.collect()
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;

    fn widths(needs: Needs, chosen: &[ListColumn], room: u16) -> Vec<u16> {
        let fitted = fit(needs, chosen, (room, 2), 0, (None, false));
        let area = Rect::new(0, 0, room, 1);
        let cell = |column| fitted.layout.cell(area, column).width;
        (0..fitted.columns.len()).map(cell).collect()
    }

    #[test]
    fn no_id_is_cut_beside_another_column_and_more_room_cuts_nothing() {
        for ids in 8..60 {
            for names in [0, 3, 15, 26, 40, 90] {
                let needs = Needs {
                    names,
                    ids,
                    has_limit: true,
                    has_tags: true,
                    has_labels: true,
                };
                let mut before = vec![0; ListColumn::ALL.len()];
                for room in 20..220 {
                    let widths = widths(needs, &[], room);
                    let others = widths.iter().filter(|width| **width > 0).count() - 1;
                    assert!(
                        widths[1] == needs.ids() || others == 0,
                        "{ids} in {room}: {widths:?}"
                    );
                    let is_less = widths.iter().zip(&before).any(|(now, then)| now < then);
                    // From NARROW on the name gets space before the age; from ROOMY on it is not cut any more.
                    let is_other_order = [NARROW_WIDTH, ROOMY_WIDTH].contains(&room);
                    assert!(is_other_order || !is_less, "{room}: {before:?} {widths:?}");
                    before = widths;
                }
            }
        }
    }

    #[test]
    fn the_columns_of_a_usual_screen() {
        let needs = Needs {
            names: 26,
            ids: 16,
            has_limit: true,
            ..Needs::default()
        };
        let of = |room| widths(needs, &[], room);
        assert_eq!(of(76), [23, 16, 8, 11, 3, 5, 0, 0, 0]);
        assert_eq!(of(72), [19, 16, 8, 11, 3, 5, 0, 0, 0]);
        assert_eq!(of(140), [26, 16, 8, 11, 3, 5, 12, 14, 6]);
        let fitted = fit(needs, &[], (80, 2), 2, (Some(&SortBy::Rotated), true));
        assert_eq!(fitted.hidden, 2);
        // A long name is only cut as long as there is no room beside it.
        let long = Needs { names: 70, ..needs };
        assert_eq!(widths(long, &[], 200)[0], 70);
        assert_eq!(widths(long, &[], 120)[0], 40);
        // A property gets its space right after the name.
        let mut chosen = ListColumn::ALL.to_vec();
        chosen.push(ListColumn::Property("tier".into()));
        assert_eq!(
            widths(needs, &chosen, 76),
            [16, 16, 8, 11, 3, 0, 0, 0, 0, 12]
        );
    }
}
