//! The console. Pure state and drawing around one loop; work goes out as jobs with tickets and comes back as messages.
//!
//! ```text
//! terminal event -> Msg -> App::update -> keymap: Action -> the pane with the focus -> Vec<Effect>
//! Effect::Start(ticket, profile, job) -> runtime::jobs: operations -> Msg::Done(ticket, outcome) -> the pane that waits, or a notice
//! nothing left to do -> one draw
//! ```

pub mod forms;
pub mod frame;
pub mod keymap;
pub mod panes;
pub mod runtime;
pub mod state;
pub mod terminal;
pub mod theme;
pub mod widgets;

use std::{io, path::PathBuf};

use crossterm::event::Event;
use futures_util::{StreamExt, future::ready};
use jiff::Timestamp;
use keymap::Keymap;
use runtime::{jobs::Backends, runner::Runner};
use state::{app::App, context::Context, message::ProfileIndex, notices::Severity};
use terminal::{InputEvent, Signals, Watch};
use theme::{Palette, Theme};

use crate::{
    config::{Environment, UiSettings},
    operations::{Clock, Connector, Operations, break_at},
    platform::time_zone::time_zone,
    tui::terminal::spoken,
};

/// What the console opens with.
pub struct TuiOptions {
    /// One per profile, in the order of the configuration; none opens the welcome screen.
    pub operations: Vec<Operations>,
    /// Which of them to open.
    pub current: usize,
    /// Who sits here, for example `ana@bastion2`.
    pub operator: String,
    /// Where the configuration is or would be; the welcome screen names it.
    pub config_file: Option<PathBuf>,
    /// `--ascii`.
    pub ascii: bool,
    /// Colours, the mouse, the plain mode.
    pub comfort: UiSettings,
    /// Locale, `NO_COLOR`, `TERM`.
    pub environment: Environment,
    /// Adds profiles; `None` in the demo.
    pub connector: Option<Connector>,
    /// The keys, with what the configuration changed.
    pub keys: Keymap,
    /// What the demo says of itself; the last one stands in the footer.
    pub greeting: Vec<String>,
    /// The directory goes with the console, and unsent drafts with it.
    pub is_thrown_away: bool,
}

/// Why the console ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    Asked,
    /// The person wants the demo instead.
    Demo,
    /// SIGTERM or SIGHUP, or a Ctrl-C that did not wait.
    Signal,
}

/// How the console ended.
#[derive(Debug)]
pub struct Ended {
    pub reason: ExitReason,
    /// Unsent drafts that are kept, in words.
    pub unsent: Option<String>,
}

/// The console as it opens: its state, and the work behind it.
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
    let mut context = Context::new(
        profiles.collect(),
        ProfileIndex(start.current),
        start.operator,
        theme,
        now,
    );
    context.size = size;
    context.can_connect = start.connector.is_some();
    context.is_thrown_away = start.is_thrown_away;
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

/// Opens the console and stays until the person leaves, or a signal asks for the end.
///
/// # Errors
/// Where there is no terminal to open it in, or the terminal fails.
pub async fn run(start: TuiOptions, signals: &mut Signals) -> io::Result<Ended> {
    // Until the terminal is given back: that waits for it, too.
    let _watch = Watch::for_a_terminal_that_does_not_read()?;
    match open(start, signals).await {
        // It did not read, and the end was asked for.
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
        palette: Palette::of(&start.comfort, variable),
        ..theme
    };
    if start.comfort.plain {
        let screen = terminal::PlainScreen::enter(theme.ascii)?;
        break_at("console")?;
        // Signs of its own tell boxes from text.
        let theme = Theme {
            colour: false,
            ascii: false,
            ..theme
        };
        let input = terminal::Input::open()?;
        let size = (spoken::COLUMNS, spoken::ROWS);
        let (mut app, backends) = prepare(start, theme, size, Clock::System.now());
        app.context.boxes_alone = true;
        app.context.messages.read_aloud();
        let mut runner = Runner::new(app, screen, backends, Clock::System);
        runner.app.context.zone = time_zone();
        let _watch = Watch::for_the_end(runner.stopper())?;
        // Its lines are as long in every window.
        let is_for_us = |came: &io::Result<InputEvent>| {
            ready(!matches!(came, Ok(InputEvent::Event(Event::Resize(..)))))
        };
        let reason = runner.run(input.filter(is_for_us), Some(signals)).await;
        return ended(reason, &runner.app);
    }
    let screen = terminal::Screen::enter(start.comfort.mouse)?;
    break_at("console")?;
    // Before the size is asked for, so that no change of it is missed.
    let input = terminal::Input::open()?;
    let size = crossterm::terminal::size()?;
    let asks = theme.colour && Palette::is_to_be_asked(&start.comfort, variable);
    let (app, backends) = prepare(start, theme, size, Clock::System.now());
    let mut runner = Runner::new(app, screen, backends, Clock::System);
    runner.asks_background = asks;
    runner.app.context.zone = time_zone();
    // While the terminal does not read, the loop waits with it, and hears no signal.
    let _watch = Watch::for_the_end(runner.stopper())?;
    let reason = runner.run(input, Some(signals)).await;
    ended(reason, &runner.app)
}

fn ended(reason: io::Result<ExitReason>, app: &App) -> io::Result<Ended> {
    Ok(Ended {
        reason: reason?,
        unsent: app.unsent(),
    })
}
