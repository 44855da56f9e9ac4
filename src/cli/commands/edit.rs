//! `edit`: opens a group in the person's editor. The result is merged with a fresh read, as in the console. A text that
//! is not sent is kept.

use serde_json::json;

use super::{
    mutations::{How, may_update, read_first, reading, send},
    prelude::*,
};
use crate::{
    cli::{
        args::{Mutation, Replace, TokenArgs},
        input::{
            editor::{edited, say_kept},
            fields::Edits,
        },
        output::{json::ANSWER, review},
        process::signals::Signals,
        session::{InFlight, interruptible},
    },
    domain::{change::DesiredFields, group::UserGroupId, text::with_state, update},
    operations::{Done, UnknownIdPolicy},
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
        let session = Session::open(global, InFlight::default())?;
        let Self {
            id,
            replace,
            mutation,
        } = self;
        let how = How {
            replace: replace.fields(),
            if_unchanged: false,
            assurance: UnknownIdPolicy::KnownOnly,
            mutation,
            token: TokenArgs::default(),
            undoes: false,
        };
        let read = signals.unless_signalled(first(&session, &id, &how)).await?;
        let base = DesiredFields::of(&read.group);
        let given = document(&id, &base);
        let environment = session.environment();
        let text = edited(environment, FILE, &given, &mut signals, |_| true).await?;
        let is_dry_run = how.mutation.dry_run;
        let in_flight = session.in_flight.clone();
        let sending = Box::pin(sent(&session, &id, base, &text, read, how));
        let ended = interruptible(&in_flight, &mut signals, sending).await;
        let is_used = matches!(ended, Ok(Exit::Done)) && !is_dry_run;
        if !is_used && !text.trim().is_empty() && text.trim() != given.trim() {
            say_kept(FILE, &text, |path| {
                id.command("update", &format!("--apply {path}"))
            });
        }
        ended
    }
}

async fn first(session: &Session, id: &UserGroupId, how: &How) -> Result<Done, CliError> {
    let known = may_update(session, id, how).await?;
    let first = read_first(session, id, how.assurance, false);
    reading(session, known.as_ref(), first).await
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
        sends_unchanged: false,
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
