//! The console. Pure state and drawing around one loop; work goes out as jobs with tickets and comes back as messages.

mod app;
mod changes;
mod desk;
mod facts;
mod frame;
mod groups;
mod keymap;
mod level;
mod message;
mod messages;
mod panes;
pub mod picture;
mod runner;
mod scroll;
mod sheet;
pub mod terminal;
pub mod theme;
pub mod widgets;
mod work;

use std::path::PathBuf;

use crate::{config::Environment, operations::Operations};

/// What the console opens with.
pub struct Start {
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
    /// Locale, `NO_COLOR`, `TERM`.
    pub environment: Environment,
    /// What the demo says of itself in the first message.
    pub greeting: Option<String>,
}

/// Why the console ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Farewell {
    Asked,
    /// The person wants the demo instead.
    Demo,
    /// SIGTERM or SIGHUP, or a Ctrl-C that did not wait.
    Signal,
}

/// Opens the console and stays until the person leaves.
///
/// # Errors
/// Where there is no terminal to open it in, or the terminal fails.
pub async fn run(_start: Start) -> std::io::Result<Farewell> {
    Err(std::io::Error::other("the console is not there yet"))
}
