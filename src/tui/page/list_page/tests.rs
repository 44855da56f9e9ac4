//! What every list keeps, whatever its rows are.

use jiff::Timestamp;

use super::*;
use crate::{
    domain::Operation,
    tui::{
        kit::{
            Cell,
            testing::{screen, typed},
        },
        state::{JobError, Outage, OutageReason, Ticket},
        theme::Theme,
    },
};

/// A row: its name, its person, and its age in days.
type Row = (&'static str, &'static str, i64);

#[derive(Debug, Default)]
struct Things {
    rows: Vec<Row>,
}

const NOW: i64 = 1_793_000_000;

impl Rows for Things {
    type Row = Row;
    type Key = &'static str;
    const PLACE: Focus = Focus::Rotations;
    const ROW: &'static str = "thing";
    const TESTS: &'static [RowTest] = &[RowTest::Operator, RowTest::Operation, RowTest::Group];

    fn job(&self) -> Option<Job> {
        Some(Job::Rotations)
    }

    /// Stands for any outcome with rows.
    fn take(&mut self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Exported(0, _) => self.rows = Vec::new(),
            Outcome::Exported(_, _) => self.rows = vec![("acme", "ana", 1), ("globex", "li", 9)],
            _ => return false,
        }
        true
    }

    fn all<'a>(&'a self, _context: &'a Context) -> Vec<&'a Row> {
        self.rows.iter().collect()
    }

    fn key(row: &Row) -> &'static str {
        row.0
    }

    fn facts(row: &Row) -> RowFacts<'_> {
        RowFacts {
            by: Some(row.1),
            operation: Some(Operation::Rotate),
            ..RowFacts::default()
        }
    }

    fn columns(&self) -> Vec<Col<Row>> {
        vec![
            col("NAME", (4, 20), 0, |row: &Row, _| Cell::new(row.0)),
            col("BY", (3, 20), 1, |row: &Row, _| Cell::new(row.1)),
            col("NOTE", (20, 20), 2, |_: &Row, _| Cell::new("a note")),
        ]
    }

    fn commands() -> Vec<Command<ListPage<Self>>> {
        vec![command(
            Action::Enter,
            ListPage::always,
            ListPage::open_group,
        )]
    }

    fn when_empty(&self, _context: &Context) -> String {
        "there is no thing yet".into()
    }
}

struct World {
    page: ListPage<Things>,
    context: Context,
}

impl World {
    fn opened() -> Self {
        let now = Timestamp::from_second(NOW).expect("a time");
        let mut context =
            Context::new(vec![], ProfileIndex(0), "ana".into(), Theme::default(), now);
        let page = ListPage::open(Things::default(), &mut context);
        Self { page, context }
    }

    fn with(rows: usize) -> Self {
        let mut world = Self::opened();
        world.answer(&Outcome::Exported(rows, "x".into()));
        world
    }

    /// Answers the reading.
    fn answer(&mut self, outcome: &Outcome) {
        let ticket = self.page.reading.ticket().expect("it reads");
        self.context.running.remove(&ticket);
        self.page.reading.end(ticket);
        self.page.answer(outcome, &mut self.context);
        self.page.sync(&mut self.context);
    }

    fn act(&mut self, action: Action) -> &mut Self {
        self.page.act(action, &mut self.context);
        self.page.sync(&mut self.context);
        self
    }

    fn filter(&mut self, text: &str) -> &mut Self {
        self.act(Action::Filter);
        for key in typed(text) {
            self.page.input(key, &mut self.context);
        }
        self.page.sync(&mut self.context);
        self
    }

    fn screen(&self) -> String {
        self.screen_of(100)
    }

    fn screen_of(&self, width: u16) -> String {
        screen(width, 8, |buffer, area| {
            self.page.draw(buffer, area, &self.context);
        })
    }

    #[track_caller]
    fn shows(&self, text: &str) -> &Self {
        let screen = self.screen();
        assert!(screen.contains(text), "no {text:?} in\n{screen}");
        self
    }

    #[track_caller]
    fn hides(&self, text: &str) -> &Self {
        let screen = self.screen();
        assert!(!screen.contains(text), "{text:?} in\n{screen}");
        self
    }

    fn closes(&self) -> bool {
        let mut asks = self.context.navigations.iter();
        asks.any(|ask| matches!(ask, Navigation::Pop))
    }
}

#[test]
fn reading_failing_being_empty_and_matching_nothing_are_four_things() {
    let mut world = World::opened();
    world.shows("Reading the directory");
    world.context.now += std::time::Duration::from_secs(3);
    world.shows("3s");
    assert_eq!(world.page.status(&world.context), "reading");
    world.answer(&Outcome::Failed(JobError::of("the disk is full")));
    world.shows("Not read, r reads again: the disk is full");
    assert!(world.page.status(&world.context).contains("not read"));
    world.act(Action::Refresh).shows("Reading the directory");
    world.answer(&Outcome::Exported(0, "x".into()));
    world.shows("there is no thing yet");
    let mut world = World::with(2);
    world.filter("nobody").shows("Nothing matches \"nobody\"");
    world.shows("Also possible: by:li, operation:rotate");
    world.hides("there is no thing yet");
    let mut world = World::with(0);
    world
        .filter("nobody since:7d")
        .shows("there is no thing yet")
        .hides("Nothing matches")
        .hides("not possible");
}

#[test]
fn a_failure_that_is_no_reading_leaves_the_rows_and_what_is_said_of_them() {
    let mut world = World::with(2);
    world.page.working.begin(Ticket(99));
    world.page.working.end(Ticket(99));
    let failed = Outcome::Failed(JobError::of("no answer"));
    world.page.answer(&failed, &mut world.context);
    world.shows("acme").hides("Not read");
    assert_eq!(world.page.status(&world.context), "2 of 2");
}

#[test]
fn the_filter_has_the_words_of_the_command_line_and_names_what_it_does_not_know() {
    let mut world = World::with(2);
    world.filter("by:li").shows("globex").hides("acme");
    assert_eq!(world.page.status(&world.context), "1 of 2");
    world.filter("nobody").shows("Esc clears it");
    assert_eq!(world.page.status(&world.context), "0 of 2");
    world.filter("-by:li rotate").shows("Nothing matches");
    world.filter("operation:update").hides("acme");
    world
        .filter("operation:rotate acme")
        .shows("acme")
        .hides("globex");
    world
        .filter("since:7d")
        .shows("since:7d: not possible in this list")
        .shows("globex");
    world
        .filter("opration:rotate")
        .shows("did you mean operation:")
        .shows("acme");
    let token = "f".repeat(64);
    world
        .filter(&token)
        .shows("Nothing matches the filter")
        .hides(&token[..8]);
}

#[test]
fn escape_leaves_one_thing_and_enter_goes_to_the_rows() {
    let mut world = World::with(2);
    world.filter("li").act(Action::Enter);
    assert_eq!(world.page.focus(), Focus::Rotations);
    let back = |world: &World| world.page.hint(Action::Back, &world.context);
    assert_eq!(back(&world), Some("clear"), "the footer says what Esc does");
    world.act(Action::Back).shows("acme");
    assert_eq!(back(&world), None);
    assert!(!world.closes(), "the filter first");
    world.act(Action::Filter);
    assert_eq!(world.page.focus(), Focus::Filter);
    world.act(Action::Back);
    assert!(!world.closes(), "the field first");
    world.act(Action::Back);
    assert!(world.closes());
}

#[test]
fn the_cursor_stays_on_its_row_when_rows_come_and_go() {
    let mut world = World::with(2);
    world.act(Action::Down);
    let on = |world: &World| world.page.selected(&world.context).map(|row| row.0);
    assert_eq!(on(&world), Some("globex"));
    world.page.kind.rows.insert(0, ("initech", "ana", 0));
    world.page.sync(&mut world.context);
    assert_eq!(on(&world), Some("globex"));
    world.filter("li");
    assert_eq!(on(&world), Some("globex"));
    world.act(Action::Back);
    assert_eq!(on(&world), Some("globex"));
    world.page.kind.rows.truncate(1);
    world.page.sync(&mut world.context);
    assert_eq!(on(&world), Some("initech"));
    world.page.kind.rows.clear();
    world.page.sync(&mut world.context);
    assert_eq!(on(&world), None);
    let why = world.page.disabled(Action::Enter, &world.context);
    assert_eq!(why.as_deref(), Some("the list is empty"));
}

#[test]
fn columns_without_room_are_counted_with_the_key_that_shows_them() {
    let mut world = World::with(2);
    let why_not = |world: &World, action| world.page.disabled(action, &world.context);
    world.shows("a note").hides("+1");
    assert!(why_not(&world, Action::ScrollRight).is_some());
    let screen = world.screen_of(30);
    assert!(
        screen.contains("NAME") && screen.contains("+1 › Right"),
        "{screen}"
    );
    assert_eq!(why_not(&world, Action::ScrollRight), None);
    assert!(why_not(&world, Action::ScrollLeft).is_some());
    world.act(Action::ScrollRight);
    let screen = world.screen_of(30);
    assert!(
        screen.contains("‹ NAME") && screen.contains("a note"),
        "{screen}"
    );
    assert!(
        !screen.contains("+1") && screen.contains("acme"),
        "{screen}"
    );
    world.act(Action::ScrollLeft);
    assert!(world.screen_of(30).contains("+1 › Right"));
}

#[test]
fn rows_that_cannot_be_read_again_are_said_to_be_from_memory() {
    let mut world = World::with(2);
    let memory = format!(
        "from memory, read {}",
        world.context.when(world.context.now)
    );
    let since = world.context.now;
    for (why, is_lost) in [(OutageReason::Away, true), (OutageReason::Viewer, false)] {
        world.context.outage = Some(Outage { since, why });
        assert_eq!(world.page.status(&world.context) == memory, is_lost);
        world.shows("acme");
    }
}

#[test]
fn a_row_is_asked_about_its_group_only_if_it_has_one() {
    let mut world = World::with(2);
    world.filter("tag:customer").shows("Nothing matches");
    world.filter("-tag:customer").shows("Nothing matches");
}

#[test]
fn rows_that_cannot_be_told_apart_are_all_reached() {
    let mut world = World::with(2);
    world.page.kind.rows = vec![("acme", "ana", 1), ("acme", "li", 2), ("globex", "li", 9)];
    for at in [1, 2] {
        world.act(Action::Down);
        assert_eq!(world.page.at(), at);
    }
    world.act(Action::Up).act(Action::Up);
    assert_eq!(world.page.at(), 0);
}
