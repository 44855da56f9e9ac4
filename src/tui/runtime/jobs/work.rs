//! Work of jobs that is more than one call. After a write of notes, labels or views, the stored values are read back. Files
//! are always new ones, readable only by the person who asked for them.

use std::{collections::BTreeMap, io, path::PathBuf, sync::Arc};

use secrecy::SecretString;
use zeroize::Zeroizing;

use super::{Backends, listed, unreadable};
use crate::{
    config::{
        given_key,
        new_profile::{Field, NewProfile},
    },
    domain::{
        annotation::{Annotation, AnnotationChange, InvalidAnnotation},
        group::UserGroupId,
        token::Token,
    },
    formats::{Columns, Format},
    operations::{Failure, Operations, exported_row},
    platform::private_files::{write_new_private, write_new_token},
    search::{Index, ListView},
    tui::state::message::{JobError, Outcome, ProfileIndex},
};

/// The profiles in which the directory knows this id.
pub(super) async fn same_id(backends: &Backends, id: &UserGroupId) -> Result<Outcome, JobError> {
    let mut found = Vec::new();
    for (index, operations) in backends.all().iter().enumerate() {
        let known = operations.show(id).await;
        let known = known.map_err(|error| unreadable(&error))?;
        found.extend(known.map(|group| (ProfileIndex(index), group)));
    }
    Ok(Outcome::SameId(found))
}

pub(super) async fn annotate(
    operations: &Operations,
    ids: Vec<UserGroupId>,
    change: AnnotationChange,
) -> Result<Outcome, JobError> {
    let first = ids.first().cloned();
    match (operations.annotate(ids, change.clone()).await, first) {
        (Err(Failure::Annotation(InvalidAnnotation::NoteChanged(now))), Some(id)) => {
            Ok(Outcome::NoteChanged(id, now))
        }
        (changed, _) => Ok(Outcome::Annotated(changed?, Box::new(change))),
    }
}

pub(super) async fn save_view(
    operations: &Operations,
    name: &str,
    view: ListView,
) -> Result<Outcome, JobError> {
    let name = operations.save_view(name, view).await?;
    saved(operations, format!("View @{name} saved")).await
}

pub(super) async fn remove_view(operations: &Operations, name: &str) -> Result<Outcome, JobError> {
    let removed = operations.remove_view(name).await;
    let text = if removed.map_err(Failure::NothingSent)? {
        format!("View @{name} removed")
    } else {
        format!("View @{name} was removed before")
    };
    saved(operations, text).await
}

async fn saved(operations: &Operations, text: String) -> Result<Outcome, JobError> {
    let saved = operations.saved_views().await;
    let saved = saved.map_err(Failure::NothingSent)?;
    Ok(Outcome::SavedViews(saved, text))
}

/// Returns the rotations to settle, after checking whether anything may be sent at all.
pub(super) async fn open_rotations(operations: &Operations) -> Result<Outcome, JobError> {
    if let Some(problem) = operations.place_problem().await {
        return Err(Failure::Place(problem).into());
    }
    // Without a readable API key, the person cannot be asked about the place.
    let elsewhere = operations.known_elsewhere().await;
    if let Some(line) = elsewhere.map_err(|error| unreadable(&error))? {
        return Err(JobError::of(line));
    }
    let open = operations.open_rotations().await;
    listed(open.map(Outcome::OpenRotations))
}

pub(super) async fn write_report(report: String, path: PathBuf) -> Result<Outcome, JobError> {
    let to = path.clone();
    let write = move || write_new_private(&to, report.as_bytes());
    on_blocking_thread("the report", write).await?;
    Ok(Outcome::ReportWritten(path))
}

pub(super) async fn write_token(token: Token, path: PathBuf) -> Result<Outcome, JobError> {
    let to = path.clone();
    let write = move || {
        // Briefly twice in memory; whoever wants the token in a file accepts more than that.
        let contents = Zeroizing::new(format!("{}\n", token.expose()));
        write_new_token(&to, contents.as_bytes())
    };
    on_blocking_thread("the token", write).await?;
    Ok(Outcome::TokenWritten(path))
}

/// Leaves out groups that are not known any more.
pub(super) async fn export(
    index: Index,
    annotations: Arc<BTreeMap<UserGroupId, Annotation>>,
    ids: Vec<UserGroupId>,
    (format, columns): (Format, Columns),
    path: PathBuf,
) -> Result<Outcome, JobError> {
    let to = path.clone();
    let write = move || {
        let mut text = format.head(&columns);
        let mut count = 0;
        for group in ids.iter().filter_map(|id| index.group(id)) {
            let beside = annotations.get(&group.id);
            text += &exported_row(format, &columns, (group, beside), count == 0);
            count += 1;
        }
        text += format.foot();
        write_new_private(&to, text.as_bytes()).map(|()| count)
    };
    let count = on_blocking_thread("the export", write).await?;
    Ok(Outcome::Exported(count, path))
}

async fn on_blocking_thread<T: Send + 'static>(
    what: &str,
    write: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, JobError> {
    let text = match tokio::task::spawn_blocking(write).await {
        Ok(Ok(written)) => return Ok(written),
        Ok(Err(error)) => format!("{what} was not written: {error}"),
        Err(_) => format!("{what} was not written: internal error, stopped"),
    };
    Err(JobError::of(text))
}

const NOT_HERE: &str = "profiles cannot be added here";

pub(super) async fn check_profile(
    backends: &Backends,
    new: &NewProfile,
    key: Option<Token>,
) -> Outcome {
    let key = match secret(key) {
        Ok(key) => key,
        Err(no) => return no,
    };
    let Some(connector) = &backends.0.connector else {
        return Outcome::NotAdded(vec![(None, NOT_HERE.into())]);
    };
    match connector.check(new, key.as_ref()).await {
        Ok(checkup) => Outcome::Checked(Box::new(checkup)),
        Err(error) => Outcome::NotAdded(error.problems()),
    }
}

pub(super) async fn add_profile(
    backends: &Backends,
    new: &NewProfile,
    key: Option<Token>,
) -> Outcome {
    let key = match secret(key) {
        Ok(key) => key,
        Err(no) => return no,
    };
    let Some(connector) = &backends.0.connector else {
        return Outcome::NotAdded(vec![(None, NOT_HERE.into())]);
    };
    match connector.add(new, key.as_ref()).await {
        Ok(operations) => {
            let profile = operations.profile().clone();
            Outcome::ProfileAdded(backends.add(operations), Box::new(profile))
        }
        Err(error) => Outcome::NotAdded(error.problems()),
    }
}

fn secret(key: Option<Token>) -> Result<Option<SecretString>, Outcome> {
    key.map(|key| given_key(key.expose()))
        .transpose()
        .map_err(|error| Outcome::NotAdded(vec![(Some(Field::ApiKey), error)]))
}
