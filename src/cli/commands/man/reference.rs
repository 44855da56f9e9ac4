//! The parts of the manual page about files, settings and variables. The texts are those of `config::reference`.

use std::fmt::Write as _;

use crate::config::reference::{DefaultValue, KINDS, SETTINGS, Setting, TABLES, VARIABLES};

/// The sections of groupdesk's own page, in troff.
pub(super) fn sections() -> String {
    let mut page = String::from(".SH FILES\n");
    for (file, what) in [
        (
            "~/.config/groupdesk/config.toml",
            "The configuration. It holds no secrets.",
        ),
        (
            "~/.local/share/groupdesk/directory.db",
            "The directory: what is known of the groups, the history, the rotations, unsent drafts.",
        ),
        (
            "~/.local/share/groupdesk/service.db",
            "What groupdesk serve keeps.",
        ),
    ] {
        page += &line(file, "", what);
    }
    page += ".SH CONFIGURATION\nThe configuration file is TOML. An unknown key is an error that names its line.\n";
    for table in TABLES {
        if !table.is_empty() {
            let _ = writeln!(page, ".SS [{}]", escaped(table));
        }
        for setting in SETTINGS.iter().filter(|setting| setting.table == table) {
            let kind = format!("{}; {}", setting.kind, without(setting));
            page += &line(setting.key, &kind, setting.meaning);
        }
    }
    page += ".SS Values\n";
    for (kind, meaning) in KINDS {
        page += &line(kind, "", meaning);
    }
    page += ".SH ENVIRONMENT\nAn option is stronger than a variable, a variable stronger than the file.\n";
    for (names, meaning) in VARIABLES {
        page += &line(names, "", meaning);
    }
    page
}

fn without(setting: &Setting) -> String {
    match setting.usual {
        DefaultValue::Required => "required".to_owned(),
        DefaultValue::Value(value) => format!("default {value}"),
        DefaultValue::Words(words) => format!("default: {words}"),
    }
}

fn line(name: &str, kind: &str, meaning: &str) -> String {
    let name = format!(".TP\n\\fB{}\\fR", escaped(name));
    let kind = if kind.is_empty() {
        String::new()
    } else {
        format!(" ({})", escaped(kind))
    };
    format!("{name}{kind}\n{}\n", escaped(meaning))
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
    fn every_setting_and_every_variable_is_told_and_nothing_is_a_request_to_troff() {
        let page = sections();
        for setting in SETTINGS {
            let (name, meaning) = (escaped(setting.key), escaped(setting.meaning));
            assert!(page.contains(&format!("\\fB{name}\\fR")), "{name}");
            assert!(page.contains(&meaning), "{meaning}");
        }
        for (names, _) in VARIABLES {
            assert!(page.contains(names), "{names}");
        }
        for line in page.lines() {
            let is_ours = [".SH ", ".SS ", ".TP"]
                .iter()
                .any(|our| line.starts_with(our));
            assert!(is_ours || !line.starts_with(['.', '\'']), "{line}");
        }
    }
}
