//! The groups of a profile: find one, and go on from there. State and actions; `view` draws.

mod view;

use std::collections::BTreeSet;

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{
    Pane, View, bulk::Bulk, copy_menu::CopyMenu, edit::Edit, group::Group, token::TokenPane,
};
use crate::{
    domain::{
        age::{AgeFilter, InvalidAge},
        group::UserGroupId,
        known::KnownGroup,
    },
    operations::Guarded,
    tui::{
        bulk::BulkRun,
        desk::{Ask, Desk},
        groups::Listed,
        keymap::{Action, Focus},
        message::{Job, Outcome, Ticket},
        messages::Severity,
        scroll::Cursor,
        widgets::text_field::TextField,
    },
};

/// What the list is ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    Name,
    Id,
    Tag,
    Rotated,
    Seen,
}

impl SortBy {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Id => "id",
            Self::Tag => "tag",
            Self::Rotated => "rotated",
            Self::Seen => "seen",
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Name => Self::Id,
            Self::Id => Self::Tag,
            Self::Tag => Self::Rotated,
            Self::Rotated => Self::Seen,
            Self::Seen => Self::Name,
        }
    }

    fn sort(self, rows: &[Listed], order: &mut [usize]) {
        let group = |at: &usize| &rows[*at].group;
        match self {
            Self::Name => order.sort_by_cached_key(|at| group(at).title().to_lowercase()),
            // The rows are in the order of their ids already.
            Self::Id => order.sort_unstable(),
            Self::Tag => order.sort_by_key(|at| {
                let tag = group(at).environment_tag.as_ref();
                tag.map(|known| known.value.as_str())
            }),
            Self::Rotated => {
                order.sort_by_key(|at| group(at).last_rotated.as_ref().map(|last| last.at));
            }
            Self::Seen => order.sort_by_key(|at| group(at).last_seen),
        }
    }
}

/// What a view was made from; it is made anew when this differs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Basis {
    generation: u64,
    words: String,
    sort: SortBy,
    reverse: bool,
    /// The hour, where the filter asks for ages.
    hour: Option<i64>,
}

impl Basis {
    fn has_order_of(&self, other: &Self) -> bool {
        (self.generation, self.sort, self.reverse) == (other.generation, other.sort, other.reverse)
    }
}

#[derive(Debug)]
pub struct List {
    filter: TextField,
    filtering: bool,
    sort: SortBy,
    reverse: bool,
    detail: bool,
    cursor: Cursor,
    /// The group of the cursor; the cursor follows it when the rows change.
    on: Option<UserGroupId>,
    /// Places in `desk.groups.rows()`, all of them, sorted.
    order: Vec<usize>,
    /// The sorted ones that the filter lets through.
    shown: Vec<usize>,
    basis: Option<Basis>,
    ticket: Option<Ticket>,
    /// By id: they stay whatever is filtered, sorted or read again.
    marks: BTreeSet<UserGroupId>,
    /// The last bulk rotation that was seen here.
    bulk: Option<Ticket>,
}

impl Default for List {
    fn default() -> Self {
        Self {
            filter: TextField::new("filter", ""),
            filtering: false,
            sort: SortBy::Name,
            reverse: false,
            detail: true,
            cursor: Cursor::default(),
            on: None,
            order: Vec::new(),
            shown: Vec::new(),
            basis: None,
            ticket: None,
            marks: BTreeSet::new(),
            bulk: None,
        }
    }
}

impl List {
    /// The list of the current profile, reading the directory.
    pub fn start(desk: &mut Desk) -> Self {
        let ticket = desk.start(Job::List);
        Self {
            ticket: Some(ticket),
            ..Self::default()
        }
    }

    fn group<'a>(&self, desk: &'a Desk) -> Option<&'a KnownGroup> {
        let at = *self.shown.get(self.cursor.at)?;
        Some(&desk.groups.rows().get(at)?.group)
    }

    fn look_again(&mut self, desk: &Desk) {
        let words = self.filter.text().to_lowercase();
        let (ages, words_left) = split_ages(&words);
        let basis = Basis {
            hour: (!ages.is_empty()).then(|| desk.now.as_second() / 3_600),
            generation: desk.groups.generation,
            words: words.clone(),
            sort: self.sort,
            reverse: self.reverse,
        };
        if self.basis.as_ref() == Some(&basis) {
            return;
        }
        let rows = desk.groups.rows();
        // Typing into the filter keeps the order.
        if !self
            .basis
            .as_ref()
            .is_some_and(|old| old.has_order_of(&basis))
        {
            self.order = (0..rows.len()).collect();
            self.sort.sort(rows, &mut self.order);
            if self.reverse {
                self.order.reverse();
            }
        }
        let is_aged = |group: &KnownGroup| {
            let fits = |age: &Result<AgeFilter, _>| age.is_ok_and(|age| age.fits(group, desk.now));
            ages.iter().all(fits)
        };
        let fits = |at: &usize| rows[*at].holds(&words_left) && is_aged(&rows[*at].group);
        self.shown = self.order.iter().copied().filter(fits).collect();
        let same = |at: &usize| Some(&rows[*at].group.id) == self.on.as_ref();
        let found = self.shown.iter().position(same);
        self.cursor.at = found
            .unwrap_or(self.cursor.at)
            .min(self.shown.len().saturating_sub(1));
        self.basis = Some(basis);
    }

    fn mark(&mut self, desk: &Desk) {
        let Some(id) = self.group(desk).map(|group| group.id.clone()) else {
            return;
        };
        if !self.marks.remove(&id) {
            self.marks.insert(id);
        }
    }

    fn mark_all(&mut self, desk: &Desk) {
        let rows = desk.groups.rows();
        let shown = self.shown.iter().filter_map(|at| rows.get(*at));
        self.marks.extend(shown.map(|row| row.group.id.clone()));
    }

    /// Checks what is marked; where nothing is, shows the run under way or the last one.
    fn rotate_marked(&mut self, desk: &mut Desk) {
        let run = desk.bulk_here();
        let watched = run.filter(|run| run.is_under_way() || self.marks.is_empty());
        let pane = match watched.map(Bulk::watch) {
            Some(pane) => pane,
            None => Bulk::check(self.marks.iter().cloned().collect(), desk),
        };
        desk.ask(Ask::Push(Pane::Bulk(Box::new(pane))));
    }

    fn no_bulk(&self, desk: &Desk) -> Option<String> {
        let is_watched = desk.bulk_here().is_some_and(BulkRun::is_under_way);
        if let Some(why) = desk.forbidden(Guarded::Bulk).filter(|_| !is_watched) {
            return Some(why);
        }
        match &desk.bulk {
            Some(run) if run.is_under_way() && run.profile != desk.current => {
                let place = desk.profiles.get(run.profile.0);
                let place = place.map_or("another profile", |profile| profile.name.as_str());
                Some(format!("a bulk rotation in {place} is under way"))
            }
            _ if self.marks.is_empty() && desk.bulk_here().is_none() => {
                Some("nothing is marked; t: this row".into())
            }
            _ => None,
        }
    }

    fn clear_filter(&mut self) -> bool {
        let was = self.filtering || !self.filter.text().is_empty();
        self.filter = TextField::new("filter", "");
        self.filtering = false;
        was
    }
}

/// The words of a filter: those about age, and the others.
fn split_ages(words: &str) -> (Vec<Result<AgeFilter, InvalidAge>>, Vec<String>) {
    let mut ages = Vec::new();
    let mut others = Vec::new();
    for word in words.split_whitespace() {
        match AgeFilter::parse(word) {
            Some(age) => ages.push(age),
            None => others.push(word.to_owned()),
        }
    }
    (ages, others)
}

impl View for List {
    fn focus(&self) -> Focus {
        if self.filtering {
            Focus::Filter
        } else {
            Focus::List
        }
    }

    fn title(&self, _desk: &Desk) -> String {
        "Groups".into()
    }

    fn status(&self, desk: &Desk) -> String {
        let order = if self.reverse { "v" } else { "^" };
        let age = desk
            .groups
            .read_at
            .map_or_else(|| "reading".into(), |at| desk.moment(at));
        let marks = match self.marks.len() {
            0 => String::new(),
            marked => format!("   {marked} marked"),
        };
        format!(
            "{} of {}{marks}   sort: {} {order}   {age}",
            self.shown.len(),
            desk.groups.rows().len(),
            self.sort.as_str()
        )
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        let page = usize::from(desk.size.1 / 2);
        if self.cursor.act(action, self.shown.len(), page) {
            self.on = self.group(desk).map(|group| group.id.clone());
            return;
        }
        match action {
            Action::Filter => self.filtering = true,
            Action::Enter if self.filtering => self.filtering = false,
            Action::Back => {
                let cleared = self.clear_filter();
                if cleared {
                    return;
                }
                if !self.marks.is_empty() {
                    self.marks.clear();
                } else if !desk.messages.dismiss() {
                    // The line about a run that has ended, last of all.
                    desk.bulk = desk.bulk.take().filter(BulkRun::is_under_way);
                }
            }
            Action::Mark => self.mark(desk),
            Action::MarkAll => self.mark_all(desk),
            Action::RotateMarked => self.rotate_marked(desk),
            Action::Detail => self.detail = !self.detail,
            Action::Sort => self.sort = self.sort.next(),
            Action::SortReverse => self.reverse = !self.reverse,
            Action::Refresh => {
                // The newest wins: an older answer must not come after it.
                if let Some(ticket) = self.ticket {
                    desk.cancel(ticket);
                }
                self.ticket = Some(desk.start(Job::List));
            }
            Action::Enter | Action::Edit | Action::Token | Action::CopyMenu => {
                let Some(group) = self.group(desk).cloned() else {
                    desk.say(Severity::Info, "no group here; o opens or creates one");
                    return;
                };
                let pane = match action {
                    Action::Edit => Pane::Edit(Box::new(Edit::of(&group, desk))),
                    Action::Token => Pane::Token(Box::new(TokenPane::open(&group, desk))),
                    Action::CopyMenu => Pane::CopyMenu(CopyMenu::of(&group)),
                    _ => Pane::Group(Group::open(group.id, desk)),
                };
                desk.ask(Ask::Push(pane));
            }
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, _desk: &mut Desk) {
        if self.filtering {
            self.filter.key(key);
        }
    }

    fn paste(&mut self, text: &str, _desk: &mut Desk) -> bool {
        if self.filtering {
            self.filter.paste(text);
        }
        self.filtering
    }

    fn disabled(&self, action: Action, desk: &Desk) -> Option<String> {
        match action {
            Action::Edit => desk.forbidden(Guarded::Update),
            Action::RotateMarked => self.no_bulk(desk),
            _ => None,
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        self.ticket == Some(ticket)
    }

    fn answer(&mut self, _outcome: &Outcome, _desk: &mut Desk) {
        self.ticket = None;
    }

    fn sync(&mut self, desk: &Desk) {
        self.look_again(desk);
        // What was marked for a run that has begun is no wish any more.
        let begun = desk.bulk_here().map(|run| run.ticket);
        if begun != self.bulk && begun.is_some() {
            self.marks.clear();
        }
        self.bulk = begun.or(self.bulk);
        if self.on.is_none() || self.cursor.at >= self.shown.len() {
            self.on = self.group(desk).map(|group| group.id.clone());
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        view::draw(self, buffer, area, desk)
    }
}
