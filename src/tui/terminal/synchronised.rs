//! Detects whether the terminal shows frames only when they are complete.

/// Whether the terminal is known to support synchronised output (mode 2026). It is not queried, because waiting for the
/// reply would delay the first frame over a slow connection. Other terminals ignore the mode.
pub(super) fn supports_synchronised_output(variable: impl Fn(&str) -> Option<String>) -> bool {
    const TERMS: [&str; 8] = [
        "kitty",
        "alacritty",
        "foot",
        "ghostty",
        "wezterm",
        "contour",
        "rio",
        "iterm2",
    ];
    const PROGRAMS: [&str; 4] = ["WezTerm", "ghostty", "iTerm.app", "vscode"];
    let term = variable("TERM").unwrap_or_default();
    // Inside a multiplexer, the variables are inherited from the outer terminal and mean nothing.
    if ["tmux", "screen"].iter().any(|name| term.starts_with(name)) {
        return false;
    }
    TERMS.iter().any(|name| term.contains(name))
        || variable("TERM_PROGRAM").is_some_and(|name| PROGRAMS.contains(&name.as_str()))
        || variable("WT_SESSION").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terminals_known_for_it_get_the_marks() {
        let knows = |variables: &[(&str, &str)]| {
            supports_synchronised_output(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(knows(&[("TERM", "xterm-kitty")]));
        assert!(knows(&[("TERM", "foot-extra")]));
        assert!(knows(&[("TERM", "xterm-256color"), ("WT_SESSION", "1")]));
        assert!(!knows(&[("TERM", "xterm-256color")]));
        assert!(!knows(&[("TERM", "linux")]));
        assert!(!knows(&[
            ("TERM", "tmux-256color"),
            ("TERM_PROGRAM", "vscode")
        ]));
        assert!(!knows(&[]));
    }
}
