//! `man`: the manual pages, generated from the command line definition. The page of groupdesk itself also lists the
//! files and variables. Every page ends with the exit codes, examples and references.

mod reference;

use std::{fmt::Write as _, fs, io, path::Path};

use clap::Command;
use clap_mangen::Man;

use super::version::{RELEASED, VERSION};
use crate::cli::{
    args::{GROUPS, Global, Manual, full_command},
    error::CliError,
    output::{self, shape::shape},
    process::exit::{self, Exit},
};

const EXAMPLES: &str = "Examples:\n";

pub(crate) fn run(global: &Global, arguments: &Manual) -> Result<Exit, CliError> {
    let mut command = full_command();
    // Fills in the names of subcommands, such as `groupdesk-profile-add`.
    command.build();
    let Some(folder) = &arguments.folder else {
        let (name, text) = page(command).map_err(unmade)?;
        return output::either(global.json, || object(&name, &text), || text.clone());
    };
    let mut written = Vec::new();
    let refused = |path: &Path, error: &io::Error| {
        CliError::Usage(format!("cannot write {}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| refused(folder, &error))?;
    let pages = pages(command).map_err(unmade)?;
    for (name, text) in pages {
        let path = folder.join(&name);
        fs::write(&path, text).map_err(|error| refused(&path, &error))?;
        written.push(name);
    }
    output::either(global.json, || &written, || written.join("\n"))
}

shape! {
    pub(crate) PAGE = "page", "the manual page of groupdesk; with a folder, an array of the names of the files";
    fn object(name: &str, text: &str) {
        "name": text = name, "name of its file";
        "text": text = text, "the page as roff";
    }
}

fn unmade(error: io::Error) -> CliError {
    CliError::unexpected("a manual page could not be made")(error)
}

/// File name and text of the pages of a command and of all its visible subcommands.
fn pages(command: Command) -> io::Result<Vec<(String, String)>> {
    let below: Vec<_> = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
        .cloned()
        .collect();
    let mut all = vec![page(command)?];
    for command in below {
        all.extend(pages(command)?);
    }
    Ok(all)
}

fn page(command: Command) -> io::Result<(String, String)> {
    let is_root = command.get_name() == "groupdesk";
    let related = related(&command);
    let after = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let (about, examples, rest) = split_examples(&after);
    let (about, examples) = (format!("{about}{rest}"), examples.to_owned());
    let command = if about.is_empty() {
        command.after_help(None::<&str>)
    } else {
        command.after_help(about)
    };
    let man = Man::new(command)
        .date(RELEASED)
        .source(format!("groupdesk {VERSION}"))
        .manual("groupdesk");
    let mut text = Vec::new();
    man.render(&mut text)?;
    if is_root {
        text.extend(reference::sections().into_bytes());
    }
    let mut text = String::from_utf8_lossy(&text).into_owned();
    text.push_str(&exit_status());
    if !examples.is_empty() {
        let _ = writeln!(text, ".SH EXAMPLES\n.nf\n{}\n.fi", escaped(&examples));
    }
    text.push_str(&see_also(&related));
    Ok((man.get_filename(), text))
}

/// Splits the text into what precedes the examples, the examples, and what follows them.
fn split_examples(after: &str) -> (&str, &str, &str) {
    let Some((before, examples)) = after.split_once(EXAMPLES) else {
        return (after, "", "");
    };
    let (examples, rest) = examples.split_once("\n\n").unwrap_or((examples, ""));
    (before, examples, rest)
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
    let pages: Vec<_> = pages
        .iter()
        .map(|page| format!("\\fB{}\\fR(1)", page.replace('-', "\\-")))
        .collect();
    format!(".SH \"SEE ALSO\"\n{}\n", pages.join(",\n"))
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
    lines.collect::<Vec<_>>().join("\n")
}

fn exit_status() -> String {
    let codes =
        exit::CODES.map(|(code, meaning)| format!(".TP\n\\fB{}\\fR\n{meaning}\n", code as u8));
    format!(".SH \"EXIT STATUS\"\n{}", codes.concat())
}
