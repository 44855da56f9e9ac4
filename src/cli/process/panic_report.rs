//! What a panic of a command says: where it happened, and nothing that could be a secret. The console has a hook of its
//! own, which gives the terminal back first.

use std::{fmt, panic::PanicHookInfo};

use color_eyre::{config::HookBuilder, section::PanicMessage};

use crate::tui::terminal::describe_panic;

struct Scrubbed;

impl PanicMessage for Scrubbed {
    fn display(&self, panic: &PanicHookInfo<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "groupdesk stopped by an error of its own: {}",
            describe_panic(panic)
        )
    }
}

/// Replaces the panic hook of the process.
pub fn install_hook() {
    let installed = HookBuilder::new()
        // The default theme colours pipes and ignores NO_COLOR (trap 12).
        .theme(color_eyre::config::Theme::new())
        .display_env_section(false)
        .panic_message(Scrubbed)
        .install();
    // A second hook in one process is no reason not to run.
    drop(installed);
}
