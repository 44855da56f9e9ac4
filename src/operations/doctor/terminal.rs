//! Reports what terminal and environment say about how the console will look, and where copied text goes. The terminal
//! itself is not queried: its answer would have to be waited for.

use std::{process::Stdio, time::Duration};

use tokio::{process::Command, time::timeout};

use super::{Area, DoctorRequest, Report, Severity};
use crate::config::Environment;

const AREA: Area = Area::Terminal;
/// The smallest size that all screens are designed for.
const COLUMNS: u16 = 80;
const ROWS: u16 = 24;
/// tmux answers within milliseconds or not at all.
const TMUX_LIMIT: Duration = Duration::from_secs(2);

/// What only the caller can find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Whether both standard input and standard output are terminals.
    pub is_there: bool,
    /// Columns and rows.
    pub size: Option<(u16, u16)>,
    /// The console would draw with ASCII characters only.
    pub ascii: bool,
    /// The console would use colours.
    pub colour: bool,
}

pub(super) async fn check(request: &DoctorRequest, report: &mut Report) {
    let env = &request.overrides.env;
    let tmux = match env.get("TMUX") {
        Some(_) => set_clipboard(env).await,
        None => None,
    };
    judge(request, tmux.as_deref(), report);
}

/// The value of the option `set-clipboard` of the surrounding tmux: `on`, `external` or `off`.
async fn set_clipboard(env: &Environment) -> Option<String> {
    let asking = Command::new("tmux")
        .args(["show-options", "-sv", "set-clipboard"])
        .env_clear()
        .envs(env.for_commands())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(TMUX_LIMIT, asking).await.ok()?.ok()?;
    let word = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    ["on", "external", "off"]
        .contains(&word.as_str())
        .then_some(word)
}

/// `tmux`: the result of [`set_clipboard`], if known.
fn judge(request: &DoctorRequest, tmux: Option<&str>, report: &mut Report) {
    let Terminal {
        is_there,
        size,
        ascii,
        colour,
    } = request.terminal;
    let variable = |name: &str| {
        let value = request.overrides.env.get(name)?;
        Some(value.to_string_lossy().into_owned())
    };
    let term = variable("TERM").unwrap_or_default();
    if is_there {
        report.about(AREA).ok(format!(
            "standard input and output are a terminal, TERM={term}"
        ));
    } else {
        report.about(AREA).note(
            "standard input or output is not a terminal: the console would not open here",
            "Commands still work.",
        );
    }
    match size {
        Some((columns, rows)) if columns < COLUMNS || rows < ROWS => report.about(AREA).note(
            format!("{columns} columns and {rows} rows: texts are cut"),
            "80 columns and 24 rows show everything.",
        ),
        Some((columns, rows)) => report
            .about(AREA)
            .ok(format!("{columns} columns, {rows} rows")),
        None => {}
    }
    let poor = match term.as_str() {
        "" => Some("TERM is not set: it is unknown what the terminal supports"),
        "dumb" => Some("TERM is dumb: the console cannot place text, and opens only with --plain"),
        _ => None,
    };
    if let Some(poor) = poor {
        let advice = "Set TERM to the type of your terminal, for example xterm-256color.";
        report.about(AREA).note(poor, advice);
    }
    let colours = match (colour, variable("NO_COLOR").is_some()) {
        (false, true) => "no colours, because NO_COLOR is set".into(),
        (false, false) => "no colours".into(),
        (true, _) => format!(
            "colours: {}",
            depth(&term, variable("COLORTERM").as_deref())
        ),
    };
    report.about(AREA).ok(colours);
    if ascii {
        report.about(AREA).note(
            "boxes and signs are drawn in ASCII: the locale is not UTF-8, or the terminal supports ASCII only",
            "Set LANG to a UTF-8 locale (`locale -a` lists them), for example C.UTF-8.",
        );
    } else {
        report.about(AREA).ok("the locale is UTF-8");
    }
    clipboard(&term, variable, tmux, report);
}

fn depth(term: &str, colorterm: Option<&str>) -> &'static str {
    match colorterm {
        Some("truecolor" | "24bit") => "16 million",
        _ if term.contains("256color") => "256",
        _ => "16",
    }
}

/// Copied text is sent to the terminal as OSC 52, which nothing confirms.
fn clipboard(
    term: &str,
    variable: impl Fn(&str) -> Option<String>,
    tmux: Option<&str>,
    report: &mut Report,
) {
    if variable("SSH_CONNECTION").is_some() || variable("SSH_TTY").is_some() {
        report
            .about(AREA)
            .ok("over SSH: copies go to the clipboard of your own machine (OSC 52)");
    }
    let (severity, found, advice) = if tmux == Some("on") {
        (
            Severity::Ok,
            "inside tmux, which passes copies on to the terminal around it (OSC 52): set-clipboard is on",
            "Copy an ID with `y` and paste it: if nothing comes, allow OSC 52 in the settings of that terminal.",
        )
    } else if variable("TMUX").is_some() {
        (
            Severity::Note,
            match tmux {
                Some("off") => {
                    "inside tmux, which does not pass copies on to the clipboard (OSC 52): set-clipboard is off"
                }
                Some(_) => {
                    "inside tmux, which does not pass copies of programs on to the clipboard (OSC 52): set-clipboard is external"
                }
                None => {
                    "inside tmux, which does not pass copies on to the clipboard (OSC 52) unless configured otherwise"
                }
            },
            "Put `set -g set-clipboard on` into ~/.tmux.conf; for now: tmux set -g set-clipboard on",
        )
    } else if variable("STY").is_some() || term.starts_with("screen") {
        (
            Severity::Note,
            "inside GNU screen, which does not pass copies on to the clipboard (OSC 52)",
            "Use tmux, or write a token to a file (`w`) instead of copying it.",
        )
    } else if term == "linux" || term == "dumb" || term.is_empty() {
        (
            Severity::Note,
            "this terminal has no clipboard (OSC 52)",
            "Write a token to a file (`w`, or --token-out FILE) instead of copying it.",
        )
    } else {
        (
            Severity::Ok,
            "copies go to the clipboard by OSC 52; no terminal confirms it",
            "Copy an ID with `y` in the console and paste it: if nothing comes, allow OSC 52 in the settings of your terminal.",
        )
    };
    report.about(AREA).add(severity, found, advice);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Overrides, operations::Clock};

    fn found(terminal: Terminal, variables: &[(&str, &str)]) -> Vec<(Severity, String)> {
        in_tmux(None, terminal, variables)
    }

    fn in_tmux(
        tmux: Option<&str>,
        terminal: Terminal,
        variables: &[(&str, &str)],
    ) -> Vec<(Severity, String)> {
        let request = DoctorRequest {
            overrides: Overrides {
                env: variables.iter().copied().collect(),
                ..Overrides::default()
            },
            terminal,
            wrong_keys: |_| Vec::new(),
            id: None,
            clock: Clock::System,
            listener: None,
        };
        let mut report = Report {
            findings: Vec::new(),
            is_team_refused: false,
        };
        judge(&request, tmux, &mut report);
        let findings = report.findings.into_iter();
        findings
            .map(|finding| (finding.severity, finding.found))
            .collect()
    }

    const GOOD: Terminal = Terminal {
        is_there: true,
        size: Some((160, 50)),
        ascii: false,
        colour: true,
    };

    #[track_caller]
    fn says(found: &[(Severity, String)], severity: Severity, words: &str) {
        let one = found.iter().find(|(_, found)| found.contains(words));
        assert_eq!(one.map(|one| one.0), Some(severity), "{words}: {found:?}");
    }

    #[test]
    fn a_good_terminal_is_all_right() {
        let variables = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
        let all = found(GOOD, &variables);
        assert!(all.iter().all(|(is, _)| *is == Severity::Ok), "{all:?}");
        says(&all, Severity::Ok, "colours: 16 million");
        says(&all, Severity::Ok, "160 columns, 50 rows");
    }

    #[test]
    fn what_is_poor_about_one_is_noted() {
        let poor = Terminal {
            is_there: false,
            size: Some((79, 24)),
            ascii: true,
            colour: false,
        };
        let all = found(poor, &[("NO_COLOR", "1"), ("TERM", "dumb")]);
        for words in [
            "would not open here",
            "79 columns and 24 rows",
            "drawn in ASCII",
            "opens only with --plain",
            "has no clipboard",
        ] {
            says(&all, Severity::Note, words);
        }
        assert!(format!("{all:?}").contains("because NO_COLOR is set"));
    }

    #[test]
    fn a_multiplexer_says_what_becomes_of_copies() {
        let tmux = [
            ("TERM", "tmux-256color"),
            ("TMUX", "/tmp/t,1,0"),
            ("SSH_TTY", "/dev/pts/1"),
        ];
        let all = found(GOOD, &tmux);
        says(&all, Severity::Note, "inside tmux");
        says(&all, Severity::Ok, "over SSH");
        for (is, expected) in [
            ("on", Severity::Ok),
            ("external", Severity::Note),
            ("off", Severity::Note),
        ] {
            let all = in_tmux(Some(is), GOOD, &tmux);
            says(&all, expected, &format!("set-clipboard is {is}"));
        }
        let all = found(GOOD, &[("TERM", "screen.xterm-256color"), ("STY", "1.s")]);
        says(&all, Severity::Note, "inside GNU screen");
    }
}
