//! Colours. They are used only on a terminal that supports them, and not against the person's wishes. The words alone
//! say everything.

use std::{borrow::Cow, env};

use clap::ValueEnum;
use comfy_table::{Attribute, Cell, Color};

use crate::{cli::prelude::*, tui::theme::Theme};

/// When there are colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal that can, unless it is switched off.
    #[default]
    Auto,
    Always,
    Never,
}

static WHEN: OnceLock<When> = OnceLock::new();

/// Sets when colours are used from now on.
pub(crate) fn choose(when: When) {
    WHEN.get_or_init(|| when);
}

/// How much attention a word should get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Warning,
    Alarm,
}

impl Tone {
    /// The emphasis of an ending, of the state of a rotation or hand-off, or of a severity.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "conflict" | "refused" | "created by get" | "handoff failed" | "failed" | "problem"
            | "not applied" => Self::Alarm,
            "unknown" | "unreachable" | "intended" | "sent" | "recovered" | "superseded"
            | "pending" | "warning" | "production" => Self::Warning,
            _ => Self::Plain,
        }
    }

    pub(crate) fn cell(self, text: &str) -> Cell {
        let cell = Cell::new(text);
        match self {
            Self::Plain => cell,
            Self::Warning => cell.fg(Color::Yellow),
            Self::Alarm => cell.fg(Color::Red).add_attribute(Attribute::Bold),
        }
    }
}

/// Whether to colour this stream: a terminal, and colours are not turned off (`NO_COLOR`, `TERM=dumb`), unless
/// `--color` decides.
pub(crate) fn is_coloured(stream: &impl IsTerminal) -> bool {
    match WHEN.get() {
        Some(When::Always) => return true,
        Some(When::Never) => return false,
        Some(When::Auto) | None => {}
    }
    let variable = |name: &str| env::var_os(name)?.into_string().ok();
    stream.is_terminal()
        && variable("TERM").is_some_and(|term| !term.is_empty())
        && Theme::detect(false, variable).colour
}

/// Colours the first word or sign of a line for standard error, if it is one that has a colour.
pub(crate) fn painted(line: Cow<'_, str>) -> Cow<'_, str> {
    const SIGNS: [(&str, &str); 4] = [
        ("PRODUCTION", "1;7"),
        ("error:", "1;31"),
        ("x", "1;31"),
        ("!", "33"),
    ];
    let begins = |sign: &str| line.strip_prefix(sign).filter(|rest| rest.starts_with(' '));
    let found = SIGNS
        .iter()
        .find_map(|(sign, code)| Some((sign, code, begins(sign)?)));
    match found {
        Some((sign, code, rest)) if is_coloured(&io::stderr()) => {
            format!("\x1b[{code}m{sign}\x1b[0m{rest}").into()
        }
        _ => line,
    }
}
