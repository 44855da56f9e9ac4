//! A page of rows of one kind: a filter, a table, and the details of the row under the cursor. A kind of row says what
//! it reads, its columns and its commands; everything else is here.

mod draw;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, cell::Cell, fmt::Debug};

use jiff::Timestamp;
use ratatui::prelude::{Buffer, Position, Rect};

pub use self::draw::{Col, col};
use super::{View, prompt::Filter};
use crate::{
    domain::UserGroupId,
    search::{RowFacts, RowQuery, RowRules, RowTest, SearchRequest, SortBy, matcher},
    tui::{
        keymap::{Action, Focus},
        kit::{Cursor, TextField, TextPage, page_room},
        state::{Context, Job, Navigation, Outcome, PaneRequest, Pending, ProfileIndex, Severity},
    },
};

/// Whether a command is possible now, perhaps under another hint; otherwise why not.
pub type Can = Result<Option<&'static str>, Cow<'static, str>>;

/// Possible, unless there is a reason why not.
pub fn unless(why_not: Option<String>) -> Can {
    why_not.map_or(Ok(None), |why| Err(why.into()))
}

/// A command of a page: whether it is possible, and what it does.
pub struct Command<P> {
    action: Action,
    can: fn(&P, &Context) -> Can,
    run: fn(&mut P, &mut Context),
}

pub fn command<P>(
    action: Action,
    can: fn(&P, &Context) -> Can,
    run: fn(&mut P, &mut Context),
) -> Command<P> {
    Command { action, can, run }
}

/// A kind of row, and what its page is beside its rows.
pub trait Rows: Debug + Sized + 'static {
    type Row: Debug;
    /// Tells rows apart, so that the cursor stays on its row.
    type Key: Debug + Clone + PartialEq;
    const PLACE: Focus;
    /// What a row is, in one word.
    const ROW: &'static str;
    /// What the filter can ask of a row, besides words.
    const TESTS: &'static [RowTest] = &[];
    /// The rows can be limited to the current profile.
    const HAS_SCOPE: bool = false;
    /// While the cursor is on the first row, it stays there when rows are added above.
    const FOLLOWS_FIRST: bool = false;
    /// The page is a box of this width above the page below, with a line of text per row.
    const BOX: Option<u16> = None;
    /// What the status says while something that was started here works on a row.
    const WORKING: Option<&'static str> = Some("checking (reads only)");
    /// Closes the page, beside the key for Back.
    const CLOSE: Action = Action::Back;

    /// Reads the rows; `None`: they are in memory.
    fn job(&self) -> Option<Job> {
        None
    }
    /// Takes the rows from the outcome of that job; returns whether it was one.
    fn take(&mut self, _outcome: &Outcome) -> bool {
        false
    }
    /// All rows in their order.
    fn all<'a>(&'a self, context: &'a Context) -> Vec<&'a Self::Row>;
    fn key(row: &Self::Row) -> Self::Key;
    /// Whether the choices of the page leave this row in.
    fn is_shown(&self, _row: &Self::Row, _context: &Context) -> bool {
        true
    }
    fn profile(_row: &Self::Row, context: &Context) -> Option<ProfileIndex> {
        Some(context.current)
    }
    /// The cursor begins on the first of the rows with the lowest rank.
    fn first_rank(_row: &Self::Row, _context: &Context) -> usize {
        0
    }
    fn facts(_row: &Self::Row) -> RowFacts<'_> {
        RowFacts::default()
    }
    /// The group that the row is about.
    fn group(_row: &Self::Row) -> Option<&str> {
        None
    }
    /// Found by the filter beside what the columns show.
    fn more_words(_row: &Self::Row, _context: &Context) -> String {
        String::new()
    }
    /// The columns; a page in a box or with rows of its own kind has none.
    fn columns(&self) -> Vec<Col<Self::Row>> {
        Vec::new()
    }
    /// The row as a line of a box, behind the sign of the cursor.
    fn line(_row: &Self::Row, _context: &Context) -> String {
        String::new()
    }
    fn commands() -> Vec<Command<ListPage<Self>>>;
    /// What stands above the rows.
    fn heading(&self) -> Cow<'static, str> {
        Self::PLACE.page().into()
    }
    fn status(page: &ListPage<Self>, context: &Context) -> String {
        if Self::BOX.is_some() {
            return String::new();
        }
        let (shown, all) = (page.shown(context).len(), page.kind.all(context).len());
        format!("{shown} of {all}")
    }
    /// Follows the count, whether filtered or not: what could not be read.
    fn what_is_missing(_page: &ListPage<Self>, _context: &Context) -> String {
        String::new()
    }
    /// What to say, and to do, if there is no row at all.
    fn when_empty(&self, _context: &Context) -> String {
        String::new()
    }
    /// What to say if there are rows, but the choices of the page leave none.
    fn when_none_shown(page: &ListPage<Self>, context: &Context) -> String {
        let key = |action| context.keys.key(Self::PLACE, action);
        if Self::HAS_SCOPE && !page.is_of_all {
            let all = key(Action::NextField);
            return format!(
                "No {} in this profile: {all} shows those of all profiles",
                Self::ROW
            );
        }
        format!(
            "No such {}: {} shows all",
            Self::ROW,
            key(Action::FailedOnly)
        )
    }
    /// The number of rows that the details get.
    fn detail_rows(_page: &ListPage<Self>, _context: &Context) -> u16 {
        0
    }
    /// Writes the details of a row; returns their title.
    fn describe(&self, _row: &Self::Row, _page: &mut TextPage, _context: &Context) -> String {
        String::new()
    }
    /// Draws the rows in another way than as a table; returns whether it did.
    fn draw_rows(
        _page: &ListPage<Self>,
        _buffer: &mut Buffer,
        _area: Rect,
        _context: &Context,
    ) -> bool {
        false
    }
    /// Draws something else below the rows than the details of one; returns whether it did.
    fn draw_below(
        _page: &ListPage<Self>,
        _buffer: &mut Buffer,
        _area: Rect,
        _context: &Context,
    ) -> bool {
        false
    }
    /// An outcome that is not about reading the rows; a failure has been said already.
    fn answer(_page: &mut ListPage<Self>, _outcome: &Outcome, _context: &mut Context) {}
    fn left(&mut self, _context: &mut Context) {}
}

/// One row as a page of its own, which scrolls. A copy, because rows may go while it is shown.
pub trait Whole: Debug + Send {
    fn place(&self) -> Focus;
    fn title(&self) -> String;
    fn status(&self) -> String;
    fn write(&self, page: &mut TextPage, context: &Context);
    fn copy(&self, context: &mut Context);
    /// Whether it can be copied.
    fn can_copy(&self) -> Can;
}

#[derive(Debug)]
pub struct ListPage<R: Rows> {
    pub kind: R,
    /// Show the rows of all profiles.
    pub is_of_all: bool,
    /// Work on a row that was started here; it continues when the page is left.
    pub working: Pending,
    pub whole: Option<Box<dyn Whole>>,
    scroll: Cursor,
    /// Number of columns that were scrolled out at the left.
    scrolled: usize,
    /// Number of columns without room when it was last drawn; only drawing knows.
    hidden: Cell<usize>,
    /// When the rows were read last.
    read_at: Option<Timestamp>,
    /// The rows were asked for, and this reading has not ended.
    is_reading: bool,
    /// Why the last reading failed.
    failed: Option<String>,
    cursor: Cursor,
    /// The row under the cursor.
    on: Option<R::Key>,
    filter: Filter,
    query: RowQuery,
    reading: Pending,
}

impl<R: Rows> ListPage<R> {
    /// Opens the page and reads its rows.
    pub fn open(kind: R, context: &mut Context) -> Self {
        let mut page = Self {
            kind,
            is_of_all: false,
            working: Pending::default(),
            whole: None,
            scroll: Cursor::default(),
            scrolled: 0,
            hidden: Cell::new(0),
            read_at: None,
            is_reading: false,
            failed: None,
            cursor: Cursor::default(),
            on: None,
            filter: Filter::default(),
            query: RowQuery::default(),
            reading: Pending::default(),
        };
        page.reload(context);
        page
    }

    /// Begins with the rows of all profiles.
    #[must_use]
    pub fn of_all(mut self) -> Self {
        self.is_of_all = true;
        self
    }

    /// Begins on this row.
    #[must_use]
    pub fn on(mut self, key: R::Key) -> Self {
        self.on = Some(key);
        self
    }

    /// Reads the rows again.
    pub fn reload(&mut self, context: &mut Context) {
        if let Some(job) = self.kind.job() {
            context.ask(&self.reading, job);
            self.is_reading = true;
        } else {
            self.read_at = Some(context.now);
        }
    }

    /// The rows that the filter and the choices of the page leave.
    pub fn shown<'a>(&'a self, context: &'a Context) -> Vec<&'a R::Row> {
        let mut rows = self.unfiltered(context);
        if self.filter.is_empty() {
            return rows;
        }
        let columns = self.kind.columns();
        let text = |row: &R::Row| {
            let cells = columns.iter().map(|column| column.text(row, context));
            cells.fold(R::more_words(row, context), |text, cell| text + " " + &cell)
        };
        rows.retain(|row| self.query.admits(R::facts(row), || text(row)));
        if !self.query.group.is_empty() {
            let request = SearchRequest {
                query: self.query.group.clone(),
                sort: SortBy::default(),
                reverse: false,
                best_first: false,
                open: context.open.clone(),
                extras: context.group_extras(&self.query.group),
                at: context.now,
            };
            let mut is_meant = matcher(&request);
            rows.retain(|row| {
                let here = R::profile(row, context) == Some(context.current);
                let group = R::group(row).filter(|_| here);
                let entry = group.and_then(|id| context.groups.entry(id));
                entry.is_some_and(&mut is_meant)
            });
        }
        rows
    }

    /// The rows that the choices of the page leave.
    fn unfiltered<'a>(&'a self, context: &'a Context) -> Vec<&'a R::Row> {
        let mut rows = self.kind.all(context);
        rows.retain(|row| {
            let is_here = !R::HAS_SCOPE
                || self.is_of_all
                || R::profile(row, context) == Some(context.current);
            is_here && self.kind.is_shown(row, context)
        });
        rows
    }

    /// The row under the cursor, which is among those shown since the last [`View::sync`].
    pub fn selected<'a>(&'a self, context: &'a Context) -> Option<&'a R::Row> {
        let on = self.on.as_ref()?;
        let mut all = self.kind.all(context).into_iter();
        all.find(|row| R::key(row) == *on)
    }

    /// The row under the cursor, or why there is none.
    pub fn row<'a>(&'a self, context: &'a Context) -> Result<&'a R::Row, Cow<'static, str>> {
        self.selected(context).ok_or("the list is empty".into())
    }

    /// The index of the row under the cursor among those shown.
    pub fn at(&self) -> usize {
        self.cursor.at
    }

    /// For a command that is possible on every row. Enter needs one on every page.
    pub fn always(&self, _context: &Context) -> Can {
        Ok(None)
    }

    /// Whether the command needs a row under the cursor, and there is one.
    pub fn needs_row(&self, context: &Context) -> Can {
        self.row(context).map(|_| None)
    }

    /// Opens the group of the row under the cursor.
    pub fn open_group(&mut self, context: &mut Context) {
        let id = self.selected(context).and_then(R::group);
        let id = id.and_then(|id| UserGroupId::parse(id).ok());
        context.open_group(id, &format!("no {} here", R::ROW));
    }

    /// Shows the row under the cursor as a page of its own.
    pub fn show_whole(&mut self, whole: impl Whole + 'static) {
        self.whole = Some(Box::new(whole));
        self.scroll = Cursor::default();
    }

    fn filter_changed(&mut self, context: &Context) {
        let rules = RowRules {
            tests: R::TESTS,
            views: &context.annotations.filters,
            limit: context.profile().and_then(|profile| profile.max_token_age),
            now: context.now,
        };
        self.query = RowQuery::parse(self.filter.text(), rules);
        self.cursor.at = 0;
        self.on = None;
    }

    fn command(action: Action) -> Option<Command<Self>> {
        let mut commands = R::commands().into_iter();
        commands.find(|command| command.action == action)
    }

    fn can(&self, action: Action, context: &Context) -> Can {
        if let Some(whole) = &self.whole {
            return match action {
                Action::CopyCurl => whole.can_copy(),
                _ => Ok(None),
            };
        }
        if self.filter.is_typing() {
            return match action {
                Action::NextField => Err("only in Groups".into()),
                _ => Ok(None),
            };
        }
        match (Self::command(action), action) {
            (Some(command), _) => {
                if action == Action::Enter {
                    self.row(context)?;
                }
                (command.can)(self, context)
            }
            (None, Action::ScrollRight) if self.hidden.get() == 0 => {
                Err("the last columns are shown".into())
            }
            (None, Action::ScrollLeft) if self.scrolled == 0 => {
                Err("the first columns are shown".into())
            }
            (None, Action::NextField) if R::HAS_SCOPE && self.is_of_all => Ok(Some("this profile")),
            (None, Action::NextField) if R::HAS_SCOPE => Ok(Some("all profiles")),
            _ => Ok(None),
        }
    }

    fn act_on_whole(&mut self, action: Action, context: &mut Context) {
        let Some(whole) = &self.whole else { return };
        let (width, rows) = page_room(context.size);
        let mut page = TextPage::new(width, context.theme);
        whole.write(&mut page, context);
        let last = page.last_scroll(rows);
        if self.scroll.act(action, last + 1, usize::from(rows)) {
            return;
        }
        match action {
            Action::CopyCurl => whole.copy(context),
            Action::Back => self.whole = None,
            action if action == R::CLOSE => self.whole = None,
            _ => {}
        }
    }
}

impl<R: Rows> View for ListPage<R> {
    fn focus(&self) -> Focus {
        match &self.whole {
            Some(whole) => whole.place(),
            None => self.filter.focus(R::PLACE),
        }
    }

    fn title(&self, _context: &Context) -> String {
        let whole = self.whole.as_ref();
        whole.map_or_else(|| R::PLACE.page().into(), |whole| whole.title())
    }

    fn status(&self, context: &Context) -> String {
        if let Some(whole) = &self.whole {
            return whole.status();
        }
        self.state(context)
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if self.whole.is_some() {
            return self.act_on_whole(action, context);
        }
        let rows = self.shown(context);
        let page = context.half_page();
        let mut cursor = self.cursor.clone();
        if cursor.act(action, rows.len(), page) {
            (self.on, self.cursor) = (rows.get(cursor.at).map(|row| R::key(row)), cursor);
            return;
        }
        match action {
            action if self.filter.act(action) => {}
            Action::ScrollRight => self.scrolled += 1,
            Action::ScrollLeft => self.scrolled = self.scrolled.saturating_sub(1),
            Action::Back => self.pop(context),
            action if action == R::CLOSE => self.pop(context),
            action => match Self::command(action) {
                Some(command) => (command.run)(self, context),
                None if action == Action::Refresh => self.reload(context),
                None if action == Action::NextField && R::HAS_SCOPE => {
                    self.is_of_all = !self.is_of_all;
                }
                None => {}
            },
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.filter.field()
    }

    fn kept_field(&mut self) -> Option<&mut TextField> {
        Some(self.filter.kept())
    }

    /// Its filter is stored nowhere, so it is never what was refused.
    fn take_back(&mut self, _field: &str, _context: &mut Context) {}

    fn typed(&mut self, context: &mut Context) {
        self.filter_changed(context);
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        self.can(action, context).err().map(Cow::into_owned)
    }

    fn hint(&self, action: Action, context: &Context) -> Option<&'static str> {
        if action == Action::Back && self.whole.is_none() && self.filter.is_on() {
            return Some("clear");
        }
        let is_empty = || self.read_at.is_some() && self.unfiltered(context).is_empty();
        if action == Action::Filter && !self.filter.is_on() && is_empty() {
            // Nothing to filter. The key still does it, because the words that follow are no commands.
            return Some("");
        }
        self.can(action, context).ok().flatten()
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.reading, &self.working]
    }

    fn leave(&mut self, context: &mut Context) {
        // What was started on a row continues; a message reports how it ended.
        context.give_up(&self.reading);
        self.kind.left(context);
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        let was_reading = self.is_reading && !self.reading.is_waiting();
        self.is_reading &= !was_reading;
        if self.kind.take(outcome) {
            let is_first = self.read_at.replace(context.now).is_none();
            self.failed = None;
            if is_first {
                let rows = self.shown(context).into_iter();
                let first = rows.min_by_key(|row| R::first_rank(row, context));
                self.on = first.map(R::key);
            }
            return;
        }
        if let Outcome::Failed(error) = outcome {
            self.failed = was_reading
                .then(|| error.text.clone())
                .or(self.failed.take());
            context.say_error(error);
            if was_reading {
                return;
            }
        }
        R::answer(self, outcome, context);
    }

    fn job_panicked(&mut self, context: &mut Context) {
        let key = context.keys.key(R::PLACE, Action::Refresh);
        if self.is_reading && !self.reading.is_waiting() {
            self.is_reading = false;
            self.failed = Some("internal error".into());
        }
        let text = format!(
            "{}: internal error, stopped; {key} reads again",
            R::PLACE.page()
        );
        context.say(Severity::Error, text);
    }

    fn sync(&mut self, context: &mut Context) {
        if self.filter.is_empty() {
            // It may have been emptied by others than keys: what was not understood is not said any more.
            self.query = RowQuery::default();
        }
        let stays_first = R::FOLLOWS_FIRST && self.cursor.at == 0;
        let shown = self.shown(context);
        let on = self.on.as_ref().filter(|_| !stays_first);
        // Where two rows cannot be told apart, it stays on the one that it is on.
        let is_there = |at: &usize| shown.get(*at).map(|row| R::key(row)).as_ref() == on;
        let here = Some(self.cursor.at).filter(is_there);
        let at = on.and_then(|on| here.or_else(|| shown.iter().position(|row| R::key(row) == *on)));
        let at = at.unwrap_or(self.cursor.at);
        let at = at.min(shown.len().saturating_sub(1));
        (self.on, self.cursor.at) = (shown.get(at).map(|row| R::key(row)), at);
    }

    fn journal_changed(&mut self, context: &mut Context) {
        self.reload(context);
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        self.draw_page(buffer, area, context)
    }
}

/// The name of a profile; empty if there is no such profile.
pub fn profile_name(profile: ProfileIndex, context: &Context) -> &str {
    let profile = context.profiles.get(profile.0);
    profile.map_or("", |profile| profile.name.as_str())
}

/// Opens a pane in a profile, and switches to it if necessary.
pub fn open_in(profile: ProfileIndex, opening: PaneRequest, context: &mut Context) {
    if profile != context.current {
        context.navigate(Navigation::SwitchTo(profile));
    }
    context.open_pane(opening);
}
