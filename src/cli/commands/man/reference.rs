//! The parts of the manual page about files and variables. The texts are those of `config::reference`.

use crate::config::reference::VARIABLES;

/// The sections of groupdesk's own page, in troff.
pub(super) fn sections() -> String {
    let mut page = String::from(".SH FILES\n");
    for (file, what) in [
        (
            "~/.config/groupdesk/config.toml",
            "The configuration in TOML. It contains no secrets. docs/reference/configuration.md lists the settings.",
        ),
        (
            "~/.local/share/groupdesk/directory.db",
            "The directory: known groups, history, rotations and unsent drafts.",
        ),
        (
            "~/.local/share/groupdesk/service.db",
            "Data of groupdesk serve.",
        ),
    ] {
        page += &line(file, what);
    }
    page += ".SH ENVIRONMENT\nOptions override variables, and variables override the file.\n";
    for (names, meaning) in VARIABLES {
        page += &line(names, meaning);
    }
    page
}

fn line(name: &str, meaning: &str) -> String {
    format!(".TP\n\\fB{}\\fR\n{}\n", escaped(name), escaped(meaning))
}

/// Escapes text so that troff prints it literally. None of our lines begins with a dot or an apostrophe.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('~', "\\(ti")
        .replace('\'', "\\(aq")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_told_and_nothing_is_a_request_to_troff() {
        let page = sections();
        for (names, _) in VARIABLES {
            assert!(page.contains(names), "{names}");
        }
        for line in page.lines() {
            let is_ours = [".SH ", ".TP"].iter().any(|our| line.starts_with(our));
            assert!(is_ours || !line.starts_with(['.', '\'']), "{line}");
        }
    }
}
