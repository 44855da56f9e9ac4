//! `man`: the manual pages, made from the words of the command line itself; that of groupdesk itself tells the settings
//! too. Every page ends with the exit codes.

mod reference;

use std::{fs, io, path::Path};

use clap_mangen::Man;

use serde_json::json;

use crate::cli::{
    args::{Global, Manual, command},
    error::CliError,
    output::{self, contract},
    process::exit::{self, Exit},
};

pub(crate) fn run(global: &Global, arguments: &Manual) -> Result<Exit, CliError> {
    let mut command = command();
    // Fills in the names of subcommands, `groupdesk-profile-add`.
    command.build();
    let Some(folder) = &arguments.folder else {
        let (name, text) = page(command).map_err(unmade)?;
        if global.json {
            output::json(&json!({"name": name, "text": text}))?;
        } else {
            output::result(&text)?;
        }
        return Ok(Exit::Done);
    };
    let mut written = Vec::new();
    let refused = |path: &Path, error: &io::Error| {
        CliError::Usage(format!("cannot write {}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| refused(folder, &error))?;
    let pages = pages(command).map_err(unmade)?;
    for (name, text) in pages.into_iter().chain([json_page()]) {
        let path = folder.join(&name);
        fs::write(&path, text).map_err(|error| refused(&path, &error))?;
        written.push(name);
    }
    if global.json {
        output::json(&written)?;
    } else {
        output::result(&written.join("\n"))?;
    }
    Ok(Exit::Done)
}

fn unmade(error: io::Error) -> CliError {
    CliError::unexpected("a manual page could not be made")(error)
}

/// File name and text of the page of a command and of all below it that are shown.
fn pages(command: clap::Command) -> io::Result<Vec<(String, String)>> {
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

fn page(command: clap::Command) -> io::Result<(String, String)> {
    let is_root = command.get_name() == "groupdesk";
    let man = Man::new(command)
        .source(concat!("groupdesk ", env!("CARGO_PKG_VERSION")))
        .manual("groupdesk");
    let mut text = Vec::new();
    man.render(&mut text)?;
    if is_root {
        text.extend(reference::sections().into_bytes());
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok((man.get_filename(), text + &exit_status()))
}

fn exit_status() -> String {
    let codes =
        exit::CODES.map(|(code, meaning)| format!(".TP\n\\fB{}\\fR\n{meaning}\n", code as u8));
    format!(".SH \"EXIT STATUS\"\n{}", codes.concat())
}

/// The page of what scripts rely on.
fn json_page() -> (String, String) {
    let head = concat!(
        ".TH groupdesk-json 1 \"\" \"groupdesk ",
        env!("CARGO_PKG_VERSION"),
        "\" groupdesk\n.SH NAME\ngroupdesk\\-json \\- what groupdesk prints with \\-\\-json\n"
    );
    let text = format!("{head}{}{}", contract::manual(), exit_status());
    ("groupdesk-json.1".to_owned(), text)
}
