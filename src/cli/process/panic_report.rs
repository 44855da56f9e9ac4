//! Errors of the program itself. A panic shows where it happened, a report shows what failed; both show the current
//! command and what was sent. None of the text can contain a secret.

use std::{
    fmt,
    io::Write,
    panic::{self, PanicHookInfo},
    process::ExitCode,
};

use color_eyre::{
    config::{EyreHook, HookBuilder, PanicHook, Theme},
    eyre::{self, Report},
    section::PanicMessage,
};

use super::{exit::Exit, stdio::ERR};
use crate::{
    cli::{
        has_option,
        output::{self, colour, json},
        prelude::*,
        unexpected::PanicSections,
        wants_json, words_given,
    },
    directory::has_unsettled_here,
    tui::terminal::{describe_panic, keeps_panic},
};

const PANICKED: &str = "groupdesk crashed (internal error):";

static IS_PLAIN: AtomicBool = AtomicBool::new(false);

/// Turns colours off, for `--plain`.
pub(crate) fn be_plain() {
    IS_PLAIN.store(true, Ordering::SeqCst);
}

fn is_coloured() -> bool {
    let is_plain = IS_PLAIN.load(Ordering::SeqCst) || has_option("--plain");
    !is_plain && colour::is_coloured(&io::stderr())
}

fn head(words: &str, is_coloured: bool) -> String {
    if is_coloured {
        format!("\x1b[1;31m{words}\x1b[0m")
    } else {
        words.to_owned()
    }
}

struct Scrubbed {
    is_coloured: bool,
}

impl PanicMessage for Scrubbed {
    fn display(&self, panic: &PanicHookInfo<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = head(PANICKED, self.is_coloured);
        write!(f, "{head} {}", describe_panic(panic))
    }
}

/// color-eyre itself colours pipes and ignores `NO_COLOR` (trap 12).
fn hooks(is_coloured: bool) -> (PanicHook, EyreHook) {
    let theme = if is_coloured {
        Theme::dark()
    } else {
        Theme::new()
    };
    HookBuilder::new()
        .theme(theme)
        .capture_span_trace_by_default(false)
        .display_env_section(false)
        .display_location_section(false)
        .panic_message(Scrubbed { is_coloured })
        .panic_section(PanicSections)
        .into_hooks()
}

/// Installs color-eyre for panics and reports. Whether to use colour is decided when one is shown, because the stream
/// may have been replaced by then.
pub fn install() {
    let ((plain_panic, plain), (coloured_panic, coloured)) = (hooks(false), hooks(true));
    let (plain, coloured) = (plain.into_eyre_hook(), coloured.into_eyre_hook());
    // A second hook in the same process is no reason to stop.
    let _ = eyre::set_hook(Box::new(move |error| {
        let hook = if is_coloured() { &coloured } else { &plain };
        hook(error)
    }));
    panic::set_hook(Box::new(move |panic| {
        if keeps_panic(panic) {
            return;
        }
        let hook = if is_coloured() {
            &coloured_panic
        } else {
            &plain_panic
        };
        let text = hook.panic_report(panic).to_string();
        // Do not use eprintln here: it panics when nobody is left to read.
        let _ = writeln!(io::stderr(), "{text}");
    }));
}

/// Reports an unexpected error: to the person and, if requested, to the program that reads the output.
pub fn say(report: &Report) -> ExitCode {
    let (ending, exit) = end(has_unsettled_here());
    let head = head("error:", is_coloured());
    // The text contains no hidden characters, and its colours are intended.
    ERR.write(&format!("{head} groupdesk cannot continue{report:?}\n"));
    if wants_json(words_given()) {
        let failure = json::failure(ending, &format!("{report:#}"), exit);
        // Standard output may be what is broken; the exit code says enough.
        drop(output::json_line(failure));
    }
    exit.into()
}

/// Never claims that nothing was sent while a change may be in flight.
fn end(has_unsettled: bool) -> (Option<Ending>, Exit) {
    if has_unsettled {
        (Some(Ending::Unknown), Exit::Unknown)
    } else {
        (None, Exit::Usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_in_flight_ends_as_unknown() {
        assert_eq!(end(true), (Some(Ending::Unknown), Exit::Unknown));
        assert_eq!(end(false), (None, Exit::Usage));
    }
}
