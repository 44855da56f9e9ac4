//! The console: pure state and drawing around one event loop. Work is started as jobs with tickets, and its results
//! come back as messages.
//!
//! ```text
//! terminal event -> Msg -> App::update -> keymap: Action -> the pane with the focus -> Vec<Effect>
//! Effect::Start(ticket, profile, job) -> runtime::jobs: operations -> Msg::Done(ticket, outcome) -> the pane that waits, or a notice
//! queue empty -> one draw
//! ```
//!
//! Each module uses only those before it: `terminal`, `theme`, `kit`, `keymap`, `state`, `page`, `panes`, `app`, `frame`,
//! `runtime` (`tests/it/house.rs` checks it).

pub mod app;
pub mod frame;
pub mod keymap;
pub mod kit;
pub mod page;
pub mod panes;
pub mod runtime;
pub mod state;
pub mod terminal;
pub mod theme;

pub use state::message::ExitReason;

use std::{io, path::PathBuf};

use app::App;
use crossterm::event::Event;
use futures_util::{StreamExt, future::ready};
use jiff::Timestamp;
use keymap::Keymap;
use runtime::{jobs::Backends, runner::Runner};
use state::{context::Context, message::ProfileIndex, notices::Severity};
use terminal::{InputEvent, Signals, Watch};
use theme::{Palette, Theme};

use crate::{
    config::{Environment, UiSettings},
    domain::proposal::Selection,
    operations::{Clock, Connector, Operations, fail_at},
    platform::time_zone::time_zone,
    tui::terminal::screen_reader,
};

/// What the console is started with.
pub struct TuiOptions {
    /// One per profile, in the order of the configuration; if empty, the welcome screen opens.
    pub operations: Vec<Operations>,
    /// Index of the profile to open.
    pub current: usize,
    /// What proposed commands need; `None` in the demo.
    pub selection: Option<Selection>,
    /// The person who uses the console, for example `ana@bastion2`.
    pub operator: String,
    /// Path of the configuration file, whether or not it exists; shown on the welcome screen.
    pub config_file: Option<PathBuf>,
    /// `--ascii`.
    pub ascii: bool,
    /// Settings for colours, the mouse and the plain mode.
    pub ui: UiSettings,
    /// For the locale, `NO_COLOR` and `TERM`.
    pub environment: Environment,
    /// Adds profiles; `None` in the demo.
    pub connector: Option<Connector>,
    /// The key bindings, including changes from the configuration.
    pub keys: Keymap,
    /// Messages to show at the start of the demo; the last one is shown in the message line.
    pub greeting: Vec<String>,
    /// The directory is deleted when the console ends, and unsent drafts with it.
    pub is_ephemeral: bool,
}

/// How the console ended.
#[derive(Debug)]
pub struct Ended {
    pub reason: ExitReason,
    /// A sentence about the unsent drafts that are kept, if there are any.
    pub unsent: Option<String>,
}

/// Builds the initial state of the console and the backends of its jobs.
pub fn prepare(
    start: TuiOptions,
    theme: Theme,
    size: (u16, u16),
    now: Timestamp,
) -> (App, Backends) {
    let profiles = start
        .operations
        .iter()
        .map(|operations| operations.profile().clone());
    // In a team's directory, the name that the database knows: own drafts and batches have that name.
    let operator = match start.operations.first() {
        Some(operations) => operations.operator().to_owned(),
        None => start.operator,
    };
    let mut context = Context::new(
        profiles.collect(),
        ProfileIndex(start.current),
        operator,
        theme,
        now,
    );
    context.selection = start.selection;
    context.size = size;
    context.can_connect = start.connector.is_some();
    context.is_ephemeral = start.is_ephemeral;
    context.keys = start.keys;
    for greeting in start.greeting {
        context.say(Severity::Info, greeting);
    }
    let file = start.config_file.map_or_else(
        || "groupdesk/config.toml".into(),
        |file| file.display().to_string(),
    );
    (
        App::new(context, file),
        Backends::new(start.operations, start.connector),
    )
}

/// Opens the console and runs until the person leaves, or a signal asks for the end.
///
/// # Errors
/// When there is no terminal, or when reading from it or writing to it fails.
pub async fn run(start: TuiOptions, signals: &mut Signals) -> io::Result<Ended> {
    // Lives until the terminal is restored, because restoring can block on it as well.
    let _watch = Watch::for_a_terminal_that_does_not_read()?;
    match open(start, signals).await {
        // The terminal did not read, and the end was requested.
        Err(_) if terminal::is_given_up() => Ok(Ended {
            reason: ExitReason::Signal,
            unsent: None,
        }),
        ended => ended,
    }
}

async fn open(start: TuiOptions, signals: &mut Signals) -> io::Result<Ended> {
    let variable = |name: &str| Some(start.environment.get(name)?.to_str()?.to_owned());
    let theme = Theme::detect(start.ascii, variable);
    let theme = Theme {
        palette: Palette::of(&start.ui, variable),
        ..theme
    };
    if start.ui.plain {
        let screen = terminal::PlainScreen::enter(theme.ascii)?;
        fail_at("console")?;
        // The plain mode uses signs of its own to tell boxes from text.
        let theme = Theme {
            colour: false,
            ascii: false,
            ..theme
        };
        let input = terminal::Input::open()?;
        let size = (screen_reader::COLUMNS, screen_reader::ROWS);
        let (mut app, backends) = prepare(start, theme, size, Clock::System.now());
        app.context.plain_mode = true;
        app.context.messages.announce_messages();
        let mut runner = Runner::new(app, screen, backends, Clock::System);
        runner.app.context.zone = Some(time_zone());
        let _watch = Watch::for_the_end(runner.batch_stopper())?;
        // The plain mode has a fixed width, so resizing means nothing to it.
        let is_for_us = |came: &io::Result<InputEvent>| {
            ready(!matches!(came, Ok(InputEvent::Event(Event::Resize(..)))))
        };
        let reason = runner.run(input.filter(is_for_us), Some(signals)).await;
        return ended(reason, &runner.app);
    }
    let screen = terminal::Screen::enter(start.ui.mouse)?;
    fail_at("console")?;
    // Opened before the size is read, so that no resize is missed.
    let input = terminal::Input::open()?;
    let size = crossterm::terminal::size()?;
    let asks = theme.colour && Palette::is_to_be_asked(&start.ui, variable);
    let (app, backends) = prepare(start, theme, size, Clock::System.now());
    let mut runner = Runner::new(app, screen, backends, Clock::System);
    runner.queries_background = asks;
    runner.app.context.zone = Some(time_zone());
    // While the terminal does not read, the event loop blocks on it and sees no signal.
    let _watch = Watch::for_the_end(runner.batch_stopper())?;
    let reason = runner.run(input, Some(signals)).await;
    ended(reason, &runner.app)
}

fn ended(reason: io::Result<ExitReason>, app: &App) -> io::Result<Ended> {
    Ok(Ended {
        reason: reason?,
        unsent: app.unsent(),
    })
}
