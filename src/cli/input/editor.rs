//! Opens a text in the person's own editor and returns the edited text.

use std::io::{self, IsTerminal};

use super::confirm::{Question, confirm};
use crate::{
    cli::{
        error::CliError,
        output::{self, shape::shape},
        process::{exit::Exit, signals::Signals},
    },
    config::{
        Environment,
        edit::{Edit, EditError},
        scrub::looks_like_a_key,
    },
    domain::{batch::StopCause, proposal::quoted},
    tui::{
        runtime::external_editor::{Editor, keep, keeping_folders},
        state::message::EditRequest,
        terminal::Signal,
    },
};

const CONFIG: &str = "config.toml";

/// Opens a text in the editor and returns it once the editor has ended. Meanwhile Ctrl-C belongs to the editor.
pub(crate) async fn edited(
    environment: &Environment,
    file: &'static str,
    text: &str,
    signals: &mut Signals,
    may_keep: impl Fn(&[u8]) -> bool,
) -> Result<String, CliError> {
    let usage = |why: String| CliError::Usage(why);
    let variables = environment.for_commands().into_iter();
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let editor = Editor::find(variables.collect()).map_err(|_| {
        usage("no editor is set: export EDITOR=vim (or VISUAL); nothing was changed".into())
    })?;
    let request = EditRequest {
        file,
        text: text.to_owned(),
    };
    let sheet = editor.write(&request).map_err(|error| {
        usage(format!(
            "cannot write a file for the editor: {error}; nothing was changed"
        ))
    })?;
    let run = editor
        .run(&sheet, async || match signals.next_cause().await {
            StopCause::Person => Signal::Interrupt,
            StopCause::TerminalLost => Signal::Hangup,
            StopCause::Signal | StopCause::Quit | StopCause::TakenOver => Signal::Terminate,
        })
        .await;
    if let Some(hint) = sheet.hint(&run) {
        output::context(&format!("! {hint}"));
    }
    let read = sheet.finish(editor.refusal(&run.status), &may_keep);
    if run.end.is_some() {
        match read {
            Ok(edited) if edited.trim_end() != text.trim_end() && may_keep(edited.as_bytes()) => {
                say_kept(file, &edited, |_| String::new());
            }
            Ok(_) => {}
            Err(why) => output::alarm(&format!("! {why}")),
        }
        return Err(CliError::Interrupted { in_flight: false });
    }
    read.map_err(usage)
}

/// Keeps a text that is not used in a file that only its owner can read, and says where; and what to do with the file.
pub(crate) fn say_kept(name: &str, text: &str, next: impl FnOnce(&str) -> String) {
    let folders = keeping_folders(|name| std::env::var_os(name));
    let (said, path) = keep(&folders, name, text.as_bytes());
    let next = path.map(|path| next(&quoted(&path.to_string_lossy())));
    let next = next.filter(|next| !next.is_empty());
    let next = next.map_or_else(String::new, |next| format!(": {next}"));
    output::alarm(&format!("! {said}{next}"));
}

/// Lets a person edit a text until it is valid, and writes it. A text that is not used is kept, unless it may contain a key.
pub(crate) async fn changed(
    (environment, no_input): (&Environment, bool),
    before: &str,
    change: impl Fn(&str) -> Result<Edit, EditError>,
    as_json: bool,
) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let mut text = before.to_owned();
    // People paste keys into settings by mistake.
    let may_keep = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        !looks_like_a_key(&text) || looks_like_a_key(before)
    };
    let keep_settings = |text: &str| {
        if text.trim_end() == before.trim_end() {
        } else if may_keep(text.as_bytes()) {
            say_kept(CONFIG, text, |_| String::new());
        } else {
            output::alarm("! your text seems to contain a key and was not saved");
        }
    };
    let edit = loop {
        let left = match edited(environment, CONFIG, &text, &mut signals, may_keep).await {
            Ok(text) => text,
            Err(error) => {
                keep_settings(&text);
                return Err(error);
            }
        };
        // As an editor leaves it on a full disk; without a profile it would be valid.
        if left.trim().is_empty() && !before.trim().is_empty() {
            if text != before {
                keep_settings(&text);
            }
            let why = "the editor left an empty file; nothing was changed";
            return Err(CliError::Usage(why.into()));
        }
        text = left;
        if text.trim_end() == before.trim_end() {
            break None;
        }
        let wrong = match change(&text) {
            Ok(edit) => break Some(edit),
            Err(error) => CliError::from(error),
        };
        let has_person = io::stdin().is_terminal() && io::stderr().is_terminal();
        if no_input || !has_person {
            keep_settings(&text);
            return Err(wrong);
        }
        output::alarm(&format!("x {wrong}"));
        let again = confirm(false, "Edit it again?", Question::YesOrNo).await;
        again.inspect_err(|_| keep_settings(&text))?;
    };
    if let Some(edit) = &edit {
        edit.make().inspect_err(|_| keep_settings(&text))?;
        output::note_change();
    }
    let file = edit.as_ref().map(|edit| edit.file.display().to_string());
    let value = changed_file(edit.is_some(), file.as_deref());
    let line = file.map_or("nothing was changed".into(), |file| {
        format!("written to {file}")
    });
    output::done(as_json, &value, &line)
}

shape! {
    pub(crate) CHANGED = "configuration-changed", "result of editing the configuration file";
    fn changed_file(written: bool, file: Option<&str>) {
        "written": bool = written, "whether the file was changed";
        "file": text or "nothing was changed" = file, "the configuration file";
    }
}
