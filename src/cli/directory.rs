//! `directory`: the file that keeps what is known here. A copy of it moves everything to another machine: groups, history,
//! journals and the key of its fingerprints, which an export does not hold.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use super::{args::Global, exit::Exit, print, session, stop::Stop};
use crate::{config::directory_of, directory};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Copy the directory into a new file, whole, also while it is in use
    #[command(
        after_help = "To move it: copy that file to the other machine, and name it there with --directory, or put it in place of\n\
                      ~/.local/share/groupdesk/directory.db. Do not work with both.\n\n\
                      Examples:\n  groupdesk directory backup directory-2026-11.db\n  \
                      groupdesk directory backup /mnt/safe/directory.db --json"
    )]
    Backup {
        /// The new file, mode 600
        file: PathBuf,
    },
}

pub(super) async fn run(global: &Global, command: Command) -> Result<Exit, Stop> {
    let Command::Backup { file } = command;
    let from = directory_of(&session::overrides(global))?;
    let to = file.clone();
    let copied = tokio::task::spawn_blocking(move || directory::copy_to(&from, &to)).await;
    copied.map_err(|_| Stop::Usage("the copy broke off; try again".into()))??;
    let file = file.display().to_string();
    if global.json {
        print::json(&json!({ "file": file }))?;
    } else {
        print::say(&format!("the directory stands in {file}, whole"));
    }
    Ok(Exit::Done)
}
