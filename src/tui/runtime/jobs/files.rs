//! Files that the person asks for: always new ones, readable only by that person.

use std::{collections::BTreeMap, io, path::PathBuf, sync::Arc};

use zeroize::Zeroizing;

use crate::{
    domain::{annotation::Annotation, group::UserGroupId, token::Token},
    formats::{Columns, Format},
    operations::exported_row,
    platform::private_files::{write_new_private, write_new_token},
    search::Index,
    tui::state::message::{JobError, Outcome},
};

pub(super) async fn report(report: String, path: PathBuf) -> Result<Outcome, JobError> {
    let to = path.clone();
    let write = move || write_new_private(&to, report.as_bytes());
    on_blocking_thread("the report", write).await?;
    Ok(Outcome::ReportWritten(path))
}

pub(super) async fn token(token: Token, path: PathBuf) -> Result<Outcome, JobError> {
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
