//! `note`, `label` and `favourite`: what people attach to a group. It is kept in the directory and never sent.

use super::prelude::*;
use crate::{
    cli::input::selection,
    domain::annotation::{Annotation, AnnotationChange, Label, SeenNote},
};

/// Show or set the note of a group; stored in the directory, never sent
#[derive(Debug, Args)]
pub(crate) struct Note {
    /// The group
    id: UserGroupId,
    /// Note text, one line; omit to show the current note
    #[arg(value_name = "TEXT", value_parser = text)]
    text: Option<String>,
    /// Change the note only if it is this text; '' means no note
    #[arg(long = "if-note", value_name = "TEXT")]
    seen: Option<String>,
    /// Remove the note
    #[arg(long, conflicts_with = "text")]
    remove: bool,
}

/// An empty variable of a script removes nothing, and no note is read from standard input.
fn text(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("the note is empty; to remove the note: groupdesk note ID --remove"),
        "-" => Err("a note is not read from standard input; write its text"),
        _ => Ok(text.to_owned()),
    }
}

impl Run for Note {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("note", &[
            "groupdesk note acme-eu",
            "groupdesk note acme-eu 'SSO change until 1 Dec, call first'",
            "groupdesk note acme-eu --remove",
        ], &[array("ID", &[&ANNOTATION])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        in_session(global, async |session| note(session, self).await).await
    }
}

async fn note(session: &Session, arguments: Note) -> Result<Exit, CliError> {
    let note = match (arguments.text, arguments.remove) {
        (_, true) => Some(String::new()),
        (text, false) => text,
    };
    if note.is_none() && arguments.seen.is_some() {
        let text = "--if-note needs a note text or --remove";
        return Err(CliError::Usage(text.into()));
    }
    let (mut change, mut before) = (None, Annotation::default());
    if let Some(note) = note {
        // Print what is replaced, so that nothing is lost silently.
        let mut all = session.operations.annotations().await?;
        before = all.remove(&arguments.id).unwrap_or_default();
        let seen = arguments
            .seen
            .map(|seen| Some(seen).filter(|seen| !seen.is_empty()));
        change = Some(AnnotationChange {
            note: Some(note),
            seen: Some(SeenNote(seen.unwrap_or_else(|| before.note.clone()))),
            ..AnnotationChange::default()
        });
    }
    let found = changed(session, vec![arguments.id], change).await?;
    let is_replaced = |note: &String| found.iter().all(|(_, now)| now.note.as_ref() != Some(note));
    if let (Some(note), Some(noted)) = (before.note.filter(is_replaced), before.noted) {
        output::context(&format!("was: {} ({})", visible(&note), visible(&noted.by)));
    }
    printed(session, &found, |id, annotation| {
        if let Some(note) = &annotation.note {
            return output::result(&visible(note));
        }
        output::say(&format!("\"{id}\" has no note"));
        Ok(())
    })
}

/// Add, remove or show favourites; stored in the directory, never sent
#[derive(Debug, Args)]
#[command(alias = "favorite")]
pub(crate) struct Favourite {
    /// The groups
    #[arg(required = true, value_name = "ID")]
    ids: Vec<UserGroupId>,
    /// Add the groups to the favourites
    #[arg(long)]
    add: bool,
    /// Remove the groups from the favourites
    #[arg(long, conflicts_with = "add")]
    remove: bool,
}

impl Run for Favourite {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("favourite", &["groupdesk favourite acme-eu acme-us --add", "groupdesk favourite acme-eu --remove"],
            &[array("ID", &[&ANNOTATION])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        in_session(global, async |session| favourite(session, self).await).await
    }
}

async fn favourite(session: &Session, arguments: Favourite) -> Result<Exit, CliError> {
    let is_change = arguments.add || arguments.remove;
    let change = is_change.then(|| AnnotationChange {
        favourite: Some(arguments.add),
        ..AnnotationChange::default()
    });
    let found = changed(session, arguments.ids, change).await?;
    printed(session, &found, |id, annotation| {
        let not = if annotation.is_favourite { "" } else { " not" };
        output::say(&format!("\"{id}\" is{not} a favourite"));
        Ok(())
    })
}

/// Add, remove or show labels of groups; stored in the directory, never sent
#[derive(Debug, Args)]
pub(crate) struct Labels {
    /// The groups
    #[arg(required = true, value_name = "ID")]
    ids: Vec<UserGroupId>,
    /// Label to add; letters, digits and - _ . / :
    #[arg(long, value_name = "LABEL")]
    add: Vec<Label>,
    /// Label to remove
    #[arg(long, value_name = "LABEL")]
    remove: Vec<Label>,
}

impl Run for Labels {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("label", &["groupdesk label acme-eu acme-us --add vip --remove trial", "groupdesk label acme-eu --json"],
            &[array("ID", &[&ANNOTATION])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        in_session(global, async |session| label(session, self).await).await
    }
}

async fn label(session: &Session, arguments: Labels) -> Result<Exit, CliError> {
    let mut added = arguments.add.iter();
    if let Some(both) = added.find(|label| arguments.remove.contains(label)) {
        let text = format!(
            "--add and --remove both have {}; nothing was saved",
            both.as_str()
        );
        return Err(CliError::Usage(text));
    }
    let change = AnnotationChange {
        add: arguments.add.into_iter().collect(),
        remove: arguments.remove.into_iter().collect(),
        ..AnnotationChange::default()
    };
    let differs = !change.add.is_empty() || !change.remove.is_empty();
    let found = changed(session, arguments.ids, differs.then_some(change)).await?;
    printed(session, &found, |id, annotation| {
        let labels = annotation.labels_text();
        let labels = if labels.is_empty() { "-" } else { &labels };
        output::result(&format!("{id}  {labels}"))
    })
}

/// Returns the annotations of the groups, after applying the change if there is one.
async fn changed(
    session: &Session,
    ids: Vec<UserGroupId>,
    change: Option<AnnotationChange>,
) -> Result<Vec<(UserGroupId, Annotation)>, CliError> {
    let operations = &session.operations;
    if ids.len() > 1 {
        let undone = change
            .as_ref()
            .map_or("nothing was shown", |_| "nothing was saved");
        selection::ensure_groups(session, &ids, undone).await?;
    }
    if let Some(change) = change {
        let changed = match operations.annotate(ids, change).await {
            Ok(changed) => changed,
            Err(failure) => return Err(session.or_bind_first(failure).await.into()),
        };
        output::note_change();
        return Ok(changed);
    }
    let known = operations.show_by_ids(ids.clone()).await?;
    if let Some((id, _)) = ids.iter().zip(known).find(|(_, known)| known.is_none()) {
        let failure = operations.not_known(id, "nothing was shown").await;
        return Err(session.or_bind_first(failure).await.into());
    }
    let found = operations.annotations_of(ids.clone()).await?;
    let found = found.into_iter().map(Option::unwrap_or_default);
    Ok(ids.into_iter().zip(found).collect())
}

/// Prints the annotations for programs, or one group after the other for people.
fn printed(
    session: &Session,
    found: &[(UserGroupId, Annotation)],
    line: impl Fn(&UserGroupId, &Annotation) -> Result<(), CliError>,
) -> Result<Exit, CliError> {
    if session.json {
        let values = found.iter().map(|(id, annotation)| value(id, annotation));
        output::json(&values.collect::<Vec<_>>())?;
    } else {
        found
            .iter()
            .try_for_each(|(id, annotation)| line(id, annotation))?;
    }
    Ok(Exit::Done)
}

shape! {
    ANNOTATION = "annotation", "note, labels and favourite of a group; stored in the directory, never sent";
    fn value(id: &UserGroupId, annotation: &Annotation) {
        "user_group_id": text = id.as_str(), "the group";
        "note": text or "there is none" = annotation.note.as_ref(), "its note, one line";
        "labels": texts = annotation.labels.iter().map(Label::as_str), "its labels, without the #";
        "favourite": bool = annotation.is_favourite, "whether it is a favourite";
    }
}
