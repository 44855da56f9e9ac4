//! `note`, `label` and `favourite`: what people attach to a group. It is kept in the directory and never sent.

use std::collections::BTreeMap;

use super::prelude::*;
use crate::{
    cli::input::known,
    domain::{
        annotation::{Annotation, AnnotationChange, Label, SeenNote},
        group::UserGroupId,
        text::visible,
    },
    operations::{Failure, Guarded},
};

/// Show or set the note of a group; stored in the directory, never sent
#[derive(Debug, Args)]
pub(crate) struct Note {
    /// The group
    id: UserGroupId,
    /// Note text, one line; omit to show the current note
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// Change the note only if it is this text; '' means no note
    #[arg(long = "if-note", value_name = "TEXT")]
    seen: Option<String>,
    /// Remove the note
    #[arg(long, conflicts_with = "text")]
    remove: bool,
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
    let mut replaced = None;
    let change = match note {
        None if arguments.seen.is_some() => {
            let text = "--if-note needs a note text or --remove";
            return Err(CliError::Usage(text.into()));
        }
        None => None,
        Some(text) => {
            // Print what is replaced, so that nothing is lost silently.
            let before = session.operations.annotations().await?;
            let before = before.get(&arguments.id).cloned().unwrap_or_default();
            let seen = arguments
                .seen
                .map(|text| Some(text).filter(|text| !text.is_empty()));
            let seen = SeenNote(seen.unwrap_or_else(|| before.note.clone()));
            replaced = Some(before).filter(|before| before.note.is_some());
            Some(AnnotationChange {
                note: Some(text),
                seen: Some(seen),
                ..AnnotationChange::default()
            })
        }
    };
    let found = changed(session, vec![arguments.id], change).await?;
    if let Some((note, noted)) = replaced.and_then(|before| Some((before.note?, before.noted?)))
        && found
            .iter()
            .all(|(_, now)| now.note.as_ref() != Some(&note))
    {
        output::context(&format!("was: {} ({})", visible(&note), visible(&noted.by)));
    }
    if session.json {
        return printed(&found).map(|()| Exit::Done);
    }
    for (id, annotation) in &found {
        match &annotation.note {
            Some(note) => output::result(&visible(note))?,
            None => output::say(&format!("\"{id}\" has no note")),
        }
    }
    Ok(Exit::Done)
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
    if session.json {
        return printed(&found).map(|()| Exit::Done);
    }
    for (id, annotation) in &found {
        let is = if annotation.is_favourite {
            "is"
        } else {
            "is not"
        };
        output::say(&format!("\"{id}\" {is} a favourite"));
    }
    Ok(Exit::Done)
}

/// Add, remove or show labels of groups; stored in the directory, never sent
#[derive(Debug, Args)]
pub(crate) struct Labels {
    /// The groups
    #[arg(required = true, value_name = "ID")]
    ids: Vec<UserGroupId>,
    /// A label to add; letters, digits and - _ . / :
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
    let change = AnnotationChange {
        add: arguments.add.into_iter().collect(),
        remove: arguments.remove.into_iter().collect(),
        ..AnnotationChange::default()
    };
    let differs = !change.add.is_empty() || !change.remove.is_empty();
    let found = changed(session, arguments.ids, differs.then_some(change)).await?;
    if session.json {
        return printed(&found).map(|()| Exit::Done);
    }
    for (id, annotation) in &found {
        let labels = annotation.labels_text();
        let labels = if labels.is_empty() { "-" } else { &labels };
        output::result(&format!("{id}  {labels}"))?;
    }
    Ok(Exit::Done)
}

/// Returns the annotations of the groups, after applying the change if there is one.
async fn changed(
    session: &Session,
    ids: Vec<UserGroupId>,
    change: Option<AnnotationChange>,
) -> Result<Vec<(UserGroupId, Annotation)>, CliError> {
    let operations = &session.operations;
    if ids.len() > 1 {
        let undone = if change.is_some() {
            "nothing was saved"
        } else {
            "nothing was shown"
        };
        known::ensure_groups(session, &ids, undone).await?;
    }
    if let Some(change) = change {
        return match operations.annotate(ids, change).await {
            Ok(changed) => {
                output::note_change();
                Ok(changed)
            }
            Err(failure) => Err(session.or_bind_first(failure).await.into()),
        };
    }
    let known = operations.show_by_ids(ids.clone()).await?;
    if let Some((id, _)) = ids.iter().zip(known).find(|(_, known)| known.is_none()) {
        let failure = Failure::NotKnown {
            id: id.clone(),
            near: Vec::new(),
            undone: "nothing was shown",
            may_create: operations.permitted(Guarded::Create).is_ok(),
        };
        return Err(session.or_bind_first(failure).await.into());
    }
    let mut all: BTreeMap<UserGroupId, Annotation> = operations.annotations().await?;
    let of = ids.into_iter().map(|id| {
        let annotation = all.remove(&id).unwrap_or_default();
        (id, annotation)
    });
    Ok(of.collect())
}

fn printed(found: &[(UserGroupId, Annotation)]) -> Result<(), CliError> {
    let values = found.iter().map(|(id, annotation)| value(id, annotation));
    output::json(&values.collect::<Vec<_>>())
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
