//! Draws the list: the rows that fit, and the details of the current row below or beside them.

use std::cell::RefCell;

use super::{
    List,
    columns::{self, ListLayout, Needs, fit},
    marks::Flags,
};
use crate::tui::panes::prelude::*;
use crate::{
    domain::{
        Annotation, EnvironmentTag, TokenAge,
        age::{self, DEFAULT_LIMIT, days},
    },
    operations::PlaceProblem,
    search::{Entry, ListColumn, Marker, matcher},
    tui::{
        kit::{
            Gutter, Hidden, body, rule_end, severity_style, side_by_side, table, titled_rows,
            with_details,
        },
        page::group_details,
        state::{ChangedField, OutageReason},
    },
};

/// Below this size there are no rules and no details.
const BARE_SIZE: (u16, u16) = (60, 11);
/// From the first width on, the details are beside the list if there is enough space for both; from the second one on,
/// always.
const DETAILS_BESIDE_WIDTHS: (u16, u16) = (100, 140);
/// Minimum and maximum width of the details beside the list, in cells.
const DETAIL_CELLS: (u16, u16) = (36, 64);
/// From this number of rows of the body on, there can be details below the list.
const MIN_ROWS_FOR_DETAILS: u16 = 16;
/// Rows of the details below the list, with their rule.
const DETAIL_ROWS: u16 = 5;
/// Minimum number of rows that the list keeps below the line of a bulk rotation.
const MIN_LIST_ROWS: u16 = 3;
const TITLE: &str = "Groups";
/// Width of a name that nothing covers, in cells.
const MIN_NAME_WIDTH: u16 = 16;

/// The areas of the parts of the list.
pub(super) struct Places {
    /// The line of the bulk rotation.
    batch: Option<Rect>,
    /// The rows, with their rule.
    pub(super) list: Rect,
    /// The rows alone, with their header.
    pub(super) rows: Rect,
    pub(super) details: Option<Rect>,
    pub(super) is_beside: bool,
    pub(super) layout: ListLayout,
}

/// Width of the sign before the name of a favourite, in cells and in graphemes.
const STAR_WIDTH: usize = 2;

/// What the columns depend on.
fn needs(list: &List, context: &Context) -> Needs {
    let found = list.finder.found();
    let (names, ids) = found.map_or((0, 0), |found| found.index.widest());
    let star = if context.annotations.has_favourites() {
        STAR_WIDTH
    } else {
        0
    };
    Needs {
        names: names + star,
        ids,
        has_limit: context
            .profile()
            .is_some_and(|profile| profile.max_token_age.is_some()),
        has_tags: list.summary.has_tags,
        has_labels: context.annotations.has_labels(),
    }
}

/// The columns that would show nothing, and are left out.
pub(super) fn empty_columns(list: &List, context: &Context) -> Vec<ListColumn> {
    let needs = needs(list, context);
    let all = ListColumn::ALL.into_iter();
    all.filter(|column| needs.width(column).is_none()).collect()
}

/// The areas of the parts on the current screen.
pub(super) fn on_screen(list: &List, context: &Context) -> Places {
    let (width, height) = context.size;
    places(list, body(Rect::new(0, 0, width, height)), context)
}

fn places(list: &List, area: Rect, context: &Context) -> Places {
    let mut area = area;
    let take = |area: &mut Rect, is_taken: bool| {
        let line = is_taken.then(|| paint::row(*area, 0));
        let taken = u16::from(is_taken).min(area.height);
        area.y += taken;
        area.height -= taken;
        line
    };
    take(&mut area, list.filter.is_typing());
    let has_batch = context.batch_here().is_some() && area.height > MIN_LIST_ROWS;
    let batch = take(&mut area, has_batch);
    let is_bare = area.width < BARE_SIZE.0 || area.height < BARE_SIZE.1;
    let needs = needs(list, context);
    let gutter = area.width - table::after_flags(area).width;
    let gap = table::gap(area.width);
    let mut places = Places {
        batch,
        list: area,
        rows: area,
        details: None,
        is_beside: false,
        layout: fit(needs, &[], (0, gap), 0, (None, false)),
    };
    if list.detail && !is_bare {
        let all =
            needs.whole(&list.columns, area.width < DETAILS_BESIDE_WIDTHS.1, gap) + gutter + 1;
        let left = area.width.saturating_sub(all);
        let extras = if area.width >= DETAILS_BESIDE_WIDTHS.1 {
            Some(left.clamp(DETAIL_CELLS.0, DETAIL_CELLS.1))
        } else {
            (area.width >= DETAILS_BESIDE_WIDTHS.0 && left >= DETAIL_CELLS.0)
                .then(|| left.min(DETAIL_CELLS.1))
        };
        if let Some(extras) = extras {
            places.is_beside = true;
            places.list.width = area.width - extras - 1;
            places.details = Some(paint::from_column(area, places.list.right() + 1));
        } else if area.height >= MIN_ROWS_FOR_DETAILS {
            let (above, below) = if area.width >= DETAILS_BESIDE_WIDTHS.0 {
                // Includes the rows that the groups of the profile leave free below their rule and titles.
                let groups = context.groups.listed().len().min(area.height.into()) as u16;
                let free = area.height.saturating_sub(groups.max(3) + 2);
                split_below(area, (area.height / 3).max(DETAIL_ROWS).max(free))
            } else {
                with_details(area, DETAIL_ROWS)
            };
            places.list = above;
            places.details = Some(below);
        }
    }
    places.rows = places.list;
    if !is_bare {
        places.rows.y += 1;
        places.rows.height -= 1;
    }
    let room = table::after_flags(places.rows).width;
    let sort = (!list.finder.is_ranked()).then_some(&list.finder.sort);
    let order = (sort, list.finder.reverse);
    places.layout = fit(needs, &list.columns, (room, gap), list.skipped, order);
    places
}

pub(super) fn draw(
    list: &List,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let theme = context.theme;
    let mut cursor = None;
    if list.filter.is_typing() {
        let line = paint::row(area, 0);
        (_, cursor) = list.filter.draw(buffer, line, None, theme);
    }
    let places = places(list, area, context);
    if let (Some(line), Some(run)) = (places.batch, context.batch_here()) {
        let key = context.keys.key(Focus::List, Action::Batches);
        let text = format!(" {}   {key} shows it", run.line());
        let style = if run.is_under_way() {
            Style::new()
        } else {
            severity_style(run.severity(), theme)
        };
        paint::line(buffer, line, &text, style, theme);
    }
    if places.rows != places.list {
        let has_keys = !list.in_details;
        titled_rows(buffer, places.list, TITLE, has_keys, theme);
        let parts = list.summary.parts(context);
        rule_end(buffer, places.list, TITLE, &parts);
    }
    draw_rows(list, buffer, &places, context);
    draw_details(list, buffer, &places, context);
    cursor
}

fn draw_details(list: &List, buffer: &mut Buffer, places: &Places, context: &Context) {
    let theme = context.theme;
    let Some(area) = places.details else {
        return;
    };
    if places.is_beside {
        let both = places.list.union(area);
        side_by_side(buffer, both, area.width, theme);
    }
    let group = list.group(context);
    let title = match &group {
        _ if places.is_beside => "Details".to_owned(),
        Some(group) => {
            let id = paint::cut_id(group.id.as_str(), paint::WHOLE_ID, theme);
            let room = usize::from(area.width).saturating_sub(paint::columns(&id) + 18);
            let name = group.name.as_ref().map(|name| name.value.as_str());
            name.map_or_else(
                || id.clone(),
                |name| format!("{} {id}", paint::cut(name, room, theme)),
            )
        }
        None => "Details".to_owned(),
    };
    let key = |action| context.keys.key(Focus::List, action);
    let mut keys = vec![(format!("{} hide", key(Action::Detail)), theme.dim())];
    if group_details::is_brief(area.height.saturating_sub(1)) && group.is_some() {
        keys.push((format!("{} all", key(Action::Enter)), theme.dim()));
    }
    let taken: usize = keys.iter().map(|(text, _)| text.len() + 2).sum();
    let room = usize::from(area.width).saturating_sub(taken + 8);
    let title = paint::cut(&title, room, theme);
    let inner = titled(buffer, area, &title, list.in_details, theme);
    rule_end(buffer, area, &title, &keys);
    let Some(group) = group else {
        return;
    };
    if list.in_details {
        let page = group_details::stacked(&group, inner.width, context);
        page.draw(buffer, inner, list.detail_scroll.at);
    } else {
        group_details::draw(buffer, inner, &group, context);
    }
}

fn draw_rows(list: &List, buffer: &mut Buffer, places: &Places, context: &Context) {
    let finder = &list.finder;
    let theme = context.theme;
    let flags = Flags::of(context);
    let words = finder.found().map(|found| &found.request.query);
    let words = words.filter(|query| !query.words.is_empty());
    let marker = RefCell::new(words.map(Marker::of));
    let marks = |entry: Entry<'_>| {
        let mut marker = marker.borrow_mut();
        let marks = marker.as_mut().map(|marker| marker.marks(entry));
        marks.unwrap_or_default()
    };
    let now = finder.current_request(context);
    let matches = RefCell::new(now.as_ref().map(matcher));
    let is_found = |entry: Entry<'_>| {
        let mut matches = matches.borrow_mut();
        matches.as_mut().is_none_or(|matches| matches(entry))
    };
    let is_marked = |entry: Entry<'_>| list.marks.contains(entry.id());
    // The row is where it was when listed; its values are current.
    let as_now = |entry| now_of(entry, context);
    let room = room_at_the_end(places);
    let over = |id: &str| {
        let id = UserGroupId::parse(id).ok()?;
        let doing = context.doing(&id)?;
        let style = if doing.is_now {
            theme.focus()
        } else {
            theme.label()
        };
        Some((doing.in_cells(room, paint::columns)?, style))
    };
    let others_do_something = context.others_do_something();
    let hidden = Hidden {
        scrolled: list.skipped,
        more: places.layout.hidden,
        key: "",
    };
    table::draw_flagged(
        buffer,
        places.rows,
        (finder.shown(), &list.cursor),
        (&places.layout.layout, hidden),
        |at, is_plain| {
            let entry = finder.entry(*at).map(as_now);
            entry.map_or_else(Vec::new, |entry| {
                let marked = (is_marked(entry), is_plain);
                let mut cells = cells(entry, &places.layout.columns, marks(entry), marked, context);
                // It does not match any more, but stays until the person filters or refreshes.
                if !is_plain && !is_found(entry) {
                    for cell in &mut cells {
                        cell.style = theme.dim();
                    }
                }
                cells
            })
        },
        |at| {
            let entry = finder.entry(*at);
            entry.map_or_else(Gutter::default, |entry| Gutter {
                is_marked: is_marked(entry),
                flag: flags.flag(entry.id()),
                is_unmatched: !is_found(as_now(entry)),
                overlay: others_do_something.then(|| over(entry.id())).flatten(),
            })
        },
        &empty_hint(list, context),
        theme,
    );
}

/// Width to the right of id, age and the beginning of the name, in cells: the activity of others may cover the rest.
fn room_at_the_end(places: &Places) -> usize {
    let row = table::after_flags(paint::row(places.rows, 0));
    let columns = places.layout.columns.iter().enumerate();
    let kept = columns.filter_map(|(at, column)| {
        let cell = places.layout.layout.cell(row, at);
        match column {
            _ if cell.is_empty() => None,
            ListColumn::Id | ListColumn::Age => Some(cell.right()),
            ListColumn::Name => Some(cell.right().min(cell.x + MIN_NAME_WIDTH)),
            _ => None,
        }
    });
    let kept = kept.max().unwrap_or(row.x);
    usize::from(row.right().saturating_sub(kept + 2))
}

fn now_of<'a>(entry: Entry<'a>, context: &'a Context) -> Entry<'a> {
    context.groups.entry(entry.id()).unwrap_or(entry)
}

fn empty_hint(list: &List, context: &Context) -> String {
    let key = |action| context.keys.key(Focus::List, action);
    if !context.groups.is_whole() && (context.is_reading_groups() || list.filter.is_empty()) {
        "reading the directory".into()
    } else if list.finder.found().is_none() {
        "searching".into()
    } else if list.filter.is_empty() && context.groups.unlisted() > 0 {
        let new = counted(context.groups.unlisted(), "new group");
        format!("{new}: {} shows them", key(Action::Refresh))
    } else if list.filter.is_empty() {
        if let Some(why) = context.view_only_reason() {
            let outage = context.outage.map(|outage| outage.why);
            return match outage {
                Some(OutageReason::Viewer) => {
                    "No groups yet: a viewer sees the environment with the profile's name".into()
                }
                _ => format!("No groups yet, and none can be added: {why}"),
            };
        }
        let problem = context.place_problems.get(&context.current);
        if matches!(problem, Some(PlaceProblem::Asked { .. })) {
            let again = key(Action::Refresh);
            return format!("No groups yet: first choose the environment; {again} asks again");
        }
        if problem.is_some() {
            let again = key(Action::Refresh);
            return format!("No groups yet, and nothing is sent now: {again} shows why");
        }
        if let Some(why) = context.why_no_key() {
            return no_key_hint(&why, context);
        }
        let key = key(Action::OpenOrCreate);
        let text = match context.read_only_reason() {
            Some(why) => {
                format!("No groups yet; {why}. To add known IDs: groupdesk import FILE")
            }
            None => format!(
                "No groups yet: {key} creates or reads one. To add known IDs: groupdesk import FILE"
            ),
        };
        context.proposing(text, context.current)
    } else {
        let key = key(Action::Back);
        list.filter.nothing_matches(&key)
    }
}

/// An import would be refused as well.
fn no_key_hint(why: &str, context: &Context) -> String {
    let environments = &context.live.environments;
    if environments.is_empty() {
        return format!("No groups yet: {why}");
    }
    let names: Vec<_> = environments.iter().map(|name| visible(name)).collect();
    format!(
        "No groups here: {why}, and the key decides the environment. This URL has {}. Add api_key to the profile",
        names.join(", ")
    )
}

/// The age of the token, with its sign; `-` if it is unknown.
fn age(entry: Entry<'_>, context: &Context) -> (String, TokenAge) {
    let (age, scale) = columns::age(entry, context);
    let text = age.map_or_else(|| "-".into(), days);
    (format!("{text:>4} {}", scale.sign()), scale)
}

/// The time until the maximum age, or beyond it.
fn due(entry: Entry<'_>, context: &Context) -> String {
    let limit = context.profile().and_then(|profile| profile.max_token_age);
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    match columns::age(entry, context).0 {
        Some(age) if age > limit => format!("{} overdue", days(age.saturating_sub(limit))),
        Some(age) => format!("in {}", days(limit.saturating_sub(age))),
        None => "-".into(),
    }
}

fn cells<'a>(
    entry: Entry<'a>,
    columns: &[ListColumn],
    [in_name, in_id]: [Vec<usize>; 2],
    (is_marked, is_plain): (bool, bool),
    context: &Context,
) -> Vec<Cell<'a>> {
    let theme = context.theme;
    let styled = |cell: Cell<'a>, style: Style| {
        if is_plain { cell } else { cell.styled(style) }
    };
    let unknown = || styled(Cell::new("-"), theme.unknown());
    let tag = |tag: &str| {
        let tag = EnvironmentTag::parse(tag);
        let expected = context.profile().and_then(|p| p.environment.as_ref());
        if expected.is_some_and(|expected| *expected != tag) {
            styled(Cell::new(format!("!{tag}")), theme.error())
        } else {
            Cell::new(tag.to_string())
        }
    };
    let count =
        |count: Option<u32>| count.map_or_else(unknown, |count| Cell::new(count.to_string()));
    let (age, scale) = age(entry, context);
    // A colour would spoil the reversed row of the cursor.
    let matched = theme.matched();
    let matched = if is_plain {
        Style::new().add_modifier(matched.add_modifier)
    } else {
        matched
    };
    let cell = |column: &ListColumn| match column {
        // A group without a name shows its id only once.
        ListColumn::Name => {
            let name = entry.name().unwrap_or("-");
            let annotation = context.annotations.get(entry.id());
            let name = if annotation.is_some_and(|one| one.is_favourite) {
                let marks = in_name.iter().map(|at| at + STAR_WIDTH).collect();
                Cell::new(format!("{} {name}", theme.star())).marked(marks, matched)
            } else {
                Cell::new(name).marked(in_name.clone(), matched)
            };
            if is_marked {
                styled(name, theme.mark())
            } else {
                name
            }
        }
        ListColumn::Id => Cell::new(entry.id()).marked(in_id.clone(), matched),
        ListColumn::Age => styled(Cell::new(age.clone()), theme.age(scale)),
        ListColumn::Token => entry
            .fingerprint()
            .map_or_else(unknown, |token| Cell::new(token.to_string())),
        ListColumn::Map => count(entry.mapped()),
        ListColumn::Props => count(entry.keys()),
        ListColumn::Due => styled(Cell::new(due(entry, context)), theme.age(scale)),
        ListColumn::By => Cell::new(entry.rotated_by().unwrap_or("-")),
        ListColumn::Read => {
            let passed = entry.seen().and_then(|at| age::of(at, context.now));
            passed.map_or_else(unknown, |passed| Cell::new(days(passed)))
        }
        ListColumn::Tag => entry.tag().map_or_else(unknown, tag),
        ListColumn::Labels => {
            let annotation = context.annotations.get(entry.id());
            Cell::new(annotation.map_or_else(String::new, Annotation::labels_text))
        }
        ListColumn::Property(key) => entry.property(key).map_or_else(|| Cell::new(""), Cell::new),
    };
    let news = context.live.news_of(entry.id());
    let is_news = |column: &ListColumn| {
        let field = changed_field(column);
        news.is_some_and(|news| field.is_some_and(|field| news.fields.contains(&field)))
    };
    let shown = columns.iter().map(|column| {
        let cell = cell(column);
        if is_news(column) {
            styled(cell, theme.news())
        } else {
            cell
        }
    });
    shown.collect()
}

/// The changed value that a column shows.
fn changed_field(column: &ListColumn) -> Option<ChangedField> {
    Some(match column {
        ListColumn::Name => ChangedField::Name,
        ListColumn::Token | ListColumn::Age | ListColumn::Due => ChangedField::Token,
        ListColumn::Map => ChangedField::Mapping,
        ListColumn::Props | ListColumn::Property(_) => ChangedField::Properties,
        ListColumn::Tag => ChangedField::Tag,
        ListColumn::Labels => ChangedField::Labels,
        ListColumn::Id | ListColumn::By | ListColumn::Read => return None,
    })
}
