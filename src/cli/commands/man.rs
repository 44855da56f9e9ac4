//! `man`: the manual pages, generated from the command line definition. The page of groupdesk itself also lists the
//! files and variables. Every page ends with the exit codes, examples and references.

use std::{fmt::Write as _, fs};

use clap_mangen::Man;

use super::{
    GROUPS, contract,
    help::{RELEASED, VERSION},
    prelude::*,
    tree::full_command,
};
use crate::{
    cli::{
        output::{form::FOR_PROGRAMS, shape::Shape},
        process::exit,
    },
    config::reference::VARIABLES,
};

/// Print the manual page, or write all pages into a folder
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// Folder for one page per command; created if it does not exist
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// The name of a file; no object.
const NAME: Shape = Shape {
    name: "text",
    about: "",
    fields: &[],
};

impl Run for Manual {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("man", &["groupdesk man | man -l -", "groupdesk man ~/.local/share/man/man1"],
            &[one("", &[&PAGE]), array("DIR", &[&NAME]).with_forms(FOR_PROGRAMS)]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let mut command = full_command();
        // Fills in the names of subcommands, such as `groupdesk-profile-add`.
        command.build();
        let Some(folder) = &self.folder else {
            let (name, text) = manual_page(command).map_err(unmade)?;
            return output::either(global.json, || object(&name, &text), || text.clone());
        };
        paths::folder_of_person("DIR", folder)?;
        let mut written = Vec::new();
        let refused = |path: &Path, error: &io::Error| {
            CliError::Usage(format!("cannot write {}: {error}", path.display()))
        };
        fs::create_dir_all(folder).map_err(|error| refused(folder, &error))?;
        let pages = manual_pages(command).map_err(unmade)?;
        for (name, text) in pages {
            let path = folder.join(&name);
            fs::write(&path, text).map_err(|error| refused(&path, &error))?;
            written.push(name);
        }
        output::note_change();
        output::either(global.json, || &written, || written.join("\n"))
    }
}

shape! {
    PAGE = "page", "the manual page of groupdesk; with a folder, an array of the names of the files";
    fn object(name: &str, text: &str) {
        "name": text = name, "name of its file";
        "text": text = text, "the page as roff";
    }
}

fn unmade(error: io::Error) -> CliError {
    CliError::unexpected("a manual page could not be made")(error)
}

/// File name and text of the pages of a command and of all its visible subcommands.
fn manual_pages(command: Command) -> io::Result<Vec<(String, String)>> {
    let below: Vec<_> = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
        .cloned()
        .collect();
    let mut all = vec![manual_page(command)?];
    for command in below {
        all.extend(manual_pages(command)?);
    }
    Ok(all)
}

fn manual_page(command: Command) -> io::Result<(String, String)> {
    let is_root = command.get_name() == "groupdesk";
    let related = related(&command);
    let path = command.get_display_name().unwrap_or(command.get_name());
    let path = joined(path.split('-').skip(1), " ");
    let examples = format!("  {}", contract::examples(&path).join("\n  "));
    let man = Man::new(command)
        .date(RELEASED)
        .source(format!("groupdesk {VERSION}"))
        .manual("groupdesk");
    let mut text = Vec::new();
    man.render(&mut text)?;
    if is_root {
        text.extend(sections().into_bytes());
    }
    let mut text = String::from_utf8_lossy(&text).into_owned();
    text.push_str(&exit_status());
    let _ = writeln!(text, ".SH EXAMPLES\n.nf\n{}\n.fi", escaped(&examples));
    text.push_str(&see_also(&related));
    Ok((man.get_filename(), text))
}

/// The pages of the parent, of the subcommands, and of related commands.
fn related(command: &Command) -> Vec<String> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let below = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set());
    let below = below.map(|below| format!("{name}-{}", below.get_name()));
    let mut all: Vec<String> = below.collect();
    if let Some((above, _)) = name.rsplit_once('-') {
        all.push(above.to_owned());
    }
    let of_groups = name.strip_prefix("groupdesk-").unwrap_or_default();
    let group = GROUPS.iter().find(|(_, names)| names.contains(&of_groups));
    let others = group.into_iter().flat_map(|(_, names)| *names);
    all.extend(
        others
            .filter(|other| **other != of_groups)
            .map(|other| format!("groupdesk-{other}")),
    );
    all.sort();
    all.dedup();
    all
}

fn see_also(pages: &[String]) -> String {
    let page = |page: &String| format!("\\fB{}\\fR(1)", page.replace('-', "\\-"));
    let pages = joined(pages.iter().map(page), ",\n");
    format!(".SH \"SEE ALSO\"\n{pages}\n")
}

/// Escapes the text so that troff prints it literally.
fn escaped(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line
            .replace('\\', "\\e")
            .replace('-', "\\-")
            .replace('\'', "\\(aq");
        if line.starts_with('.') {
            format!("\\&{line}")
        } else {
            line
        }
    });
    joined(lines, "\n")
}

fn exit_status() -> String {
    let codes =
        exit::CODES.map(|(code, meaning)| format!(".TP\n\\fB{}\\fR\n{meaning}\n", code as u8));
    format!(".SH \"EXIT STATUS\"\n{}", codes.concat())
}

/// The sections of groupdesk's own page, in troff.
fn sections() -> String {
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
    format!(
        ".TP\n\\fB{}\\fR\n{}\n",
        escaped_line(name),
        escaped_line(meaning)
    )
}

/// Escapes text so that troff prints it literally. None of our lines begins with a dot or an apostrophe.
fn escaped_line(text: &str) -> String {
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
