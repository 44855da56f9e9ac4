//! `edit`: opens a group in the person's editor. The result is merged with a fresh read, as in the console. A text that
//! is not sent is kept.

use serde_json::json;

use super::{
    mutations::{How, read_to_update, send},
    prelude::*,
};
use crate::{
    cli::{input::fields::Edits, output::json::ANSWER, session::interruptible},
    domain::{kept_text::without_tokens, update},
    tui::{
        runtime::external_editor::{Editor, keep, keeping_folders},
        state::message::EditRequest,
        terminal::Signal,
    },
};

/// Its name tells the editor the type.
const FILE: &str = "group.json";

/// Edit a group as JSON in $VISUAL or $EDITOR, then review and send the changes
#[derive(Debug, Args)]
#[command(
    after_help = "Fields that you remove from the text do not change. If the text cannot be sent, groupdesk saves it in a \
        private file and prints its name."
)]
pub(crate) struct Edit {
    /// The group
    id: UserGroupId,
    #[command(flatten)]
    replace: Replace,
    #[command(flatten)]
    mutation: Mutation,
}

impl Run for Edit {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("edit", &["groupdesk edit acme-eu", "groupdesk edit acme-eu --dry-run"],
            &[one("ID", &[&ANSWER]), one("ID --dry-run", &[&review::REQUEST])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let mut signals = Signals::new()?;
        let session = signals.unless_signalled(Session::open(global)).await?;
        let id = self.id;
        let how = How {
            replace: self.replace.fields(),
            ..How::of(self.mutation)
        };
        let read = async {
            session.say_other_places().await?;
            let read = read_to_update(&session, &id, &how).await;
            session.explained(read).await
        };
        let (read, _) = signals.unless_signalled(read).await?;
        let base = DesiredFields::of(&read.group);
        let given = document(&id, &base);
        let environment = session.environment();
        let operations = &session.operations;
        let keepable = async |text: &[u8]| Some(operations.without_secrets(text, &given).await);
        let text = edited(environment, FILE, &given, &mut signals, &keepable).await?;
        let is_dry_run = how.mutation.dry_run;
        let in_flight = session.in_flight.clone();
        let sending = Box::pin(sent(&session, &id, base, &text, read, how));
        let ended = interruptible(&in_flight, &mut signals, sending).await;
        let is_used = matches!(ended, Ok(Exit::Done)) && !is_dry_run;
        if !is_used && !text.trim().is_empty() && text.trim() != given.trim() {
            let next = |path: &str| id.command("update", &format!("--apply {path}"));
            say_kept(FILE, &text, &given, &keepable, next).await;
        }
        ended
    }
}

async fn sent(
    session: &Session,
    id: &UserGroupId,
    base: DesiredFields,
    text: &str,
    read: Done,
    how: How,
) -> Result<Exit, CliError> {
    if text.trim().is_empty() {
        let why = "the editor left an empty file; nothing was sent";
        return Err(CliError::Usage(why.into()));
    }
    let edits = Edits::of_text(text, id).map_err(|why| {
        CliError::Usage(format!(
            "the text from the editor is not used: {}",
            with_state(&why, "nothing was sent")
        ))
    })?;
    let edit = update::Edit {
        wanted: edits.apply(&base)?,
        base,
        // Fields that the person left alone are not part of the edit.
        whole: Vec::new(),
        replace: how.replace.clone(),
        ..update::Edit::default()
    };
    send(session, id, &edit, read, how, None).await
}

/// The group as `export` writes it. Unknown fields are omitted.
fn document(id: &UserGroupId, base: &DesiredFields) -> String {
    let mut document = json!({ "user_group_id": id.as_str() });
    if let Some(name) = &base.name {
        document["name"] = json!(name);
    }
    if let Some(mapping) = &base.mapping {
        document["mapping"] = json!(mapping);
    }
    if let Some(properties) = &base.properties {
        document["properties"] = json!(properties);
    }
    format!("{document:#}")
}

const WITHOUT_SECRET: &str = "! it is saved without what may be a secret";

/// Opens a text in the editor and returns it once the editor has ended. Meanwhile Ctrl-C belongs to the editor.
pub(crate) async fn edited(
    environment: &Environment,
    file: &'static str,
    text: &str,
    signals: &mut Signals,
    keepable: &impl AsyncFn(&[u8]) -> Option<Vec<u8>>,
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
    let read = sheet.finish(editor.refusal(&run.status), keepable).await;
    if run.end.is_some() {
        match read {
            Ok(edited) if edited.trim_end() != text.trim_end() => {
                say_kept(file, &edited, text, keepable, |_| String::new()).await;
            }
            Ok(_) => {}
            Err(why) => output::alarm(&format!("! {why}")),
        }
        return Err(CliError::Interrupted { in_flight: false });
    }
    read.map_err(usage)
}

/// Keeps what may be kept of a text that is not used in a file that only its owner can read, and says where; and what to do
/// with the file.
pub(crate) async fn say_kept(
    name: &str,
    text: &str,
    given: &str,
    keepable: &impl AsyncFn(&[u8]) -> Option<Vec<u8>>,
    next: impl FnOnce(&str) -> String,
) {
    let (text, had_token) = without_tokens(text.as_bytes(), given);
    let Some(kept) = keepable(&text).await else {
        return;
    };
    let folders = keeping_folders(|name| std::env::var_os(name));
    let (said, path) = keep(&folders, name, &kept, had_token);
    // What has fillers in it is not to be sent.
    let path = path.filter(|_| !had_token && kept == text);
    let next = path.map(|path| next(&quoted(&path.to_string_lossy())));
    let next = next.filter(|next| !next.is_empty());
    let next = next.map_or_else(String::new, |next| format!(": {next}"));
    output::alarm(&format!("! {said}{next}"));
    if kept != text {
        output::alarm(WITHOUT_SECRET);
    }
}
