//! Rows of a file: into the directory, with nothing sent; or to the service, one by one, each as a create or an update of
//! its own (hazards 1, 2 and 4 of service.md).

use super::{Assurance, DirectoryError, Done, Failure, Guarded, Operations, Warning};
use crate::{
    directory::{Import, ImportId},
    domain::{
        change::Wanted,
        exchange::{Need, Planned, Row},
        history::Ending,
        known::Taken,
    },
};

const UNCHANGED: &str = "unchanged";

/// What may be sent for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending {
    /// A get-or-create.
    pub create: bool,
    /// An update of what differs.
    pub update: bool,
    /// Nothing at all, not even a get, where the row says what this desk knows already.
    pub only_differences: bool,
}

/// How a row that was sent ended.
#[derive(Debug)]
pub enum RowEnd {
    /// As asked. The word is that of the JSON output.
    Done {
        outcome: &'static str,
        warnings: Vec<Warning>,
    },
    /// Only a create could make it, and none was asked for; nothing was sent.
    NotThere,
    Failed(Failure),
}

impl RowEnd {
    /// The word of the JSON output.
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Done { outcome, .. } => outcome,
            Self::NotThere => "not_known",
            Self::Failed(failure) => failure.ending().map_or("failed", Ending::as_str),
        }
    }

    /// It may or may not have taken effect.
    pub fn is_unknown(&self) -> bool {
        match self {
            Self::Failed(failure) => {
                matches!(failure, Failure::NotWritten(_))
                    || failure.ending() == Some(Ending::Unknown)
            }
            Self::Done { .. } | Self::NotThere => false,
        }
    }

    /// Something that stops all that would follow.
    pub fn is_alarm(&self) -> bool {
        match self {
            Self::Done { warnings, .. } => warnings.iter().any(Warning::is_alarm),
            Self::NotThere => false,
            Self::Failed(failure) => matches!(
                failure,
                Failure::CreatedByGet { .. }
                    | Failure::WrongEnvironment { .. }
                    | Failure::Key(_)
                    | Failure::KeyRefused { .. }
                    | Failure::Client(_)
                    | Failure::Forbidden { .. }
                    | Failure::ReadOnly { .. }
                    | Failure::NothingSent(_)
                    | Failure::NotWritten(_)
            ),
        }
    }
}

impl Operations {
    /// Adds the ids of these rows to the directory, and what they say where nothing better is known. Nothing is sent.
    pub async fn import(&self, rows: Vec<Row>) -> Result<Vec<Taken>, DirectoryError> {
        let (profile, by) = (&self.profile().name, self.operator());
        self.directory().import(profile, rows, self.now(), by).await
    }

    /// Goes on with the file of this digest where it was not finished, or begins it.
    pub async fn begin_import(&self, digest: [u8; 32]) -> Result<Import, DirectoryError> {
        let (profile, by) = (&self.profile().name, self.operator());
        self.directory()
            .begin_import(profile, digest, self.now(), by)
            .await
    }

    /// Closes a file of which every row is done.
    pub async fn end_import(&self, import: ImportId) -> Result<(), DirectoryError> {
        self.directory().end_import(import, self.now()).await
    }

    /// Refuses what the profile forbids of this.
    pub fn sending_permitted(&self, sending: Sending) -> Result<(), Failure> {
        self.writable()?;
        if sending.create {
            self.permitted(Guarded::Create)?;
        }
        if sending.update {
            self.permitted(Guarded::Update)?;
        }
        Ok(())
    }

    /// Sends what one row needs, and writes down that it is done where its file has a journal. Doing it twice does no harm: an existing group is
    /// returned unchanged, and an update sends the same whole.
    pub async fn send_row(
        &self,
        place: Option<(ImportId, usize)>,
        row: &Row,
        sending: Sending,
    ) -> RowEnd {
        let end = match self.settle_row(row, sending).await {
            Ok(end) => end,
            Err(failure) => RowEnd::Failed(failure),
        };
        if let RowEnd::Done { outcome, .. } = &end
            && !end.is_alarm()
            && let Some((import, number)) = place
            && let Err(error) = self.directory().end_row(import, number, outcome).await
        {
            return RowEnd::Failed(Failure::NotWritten(error));
        }
        end
    }

    async fn settle_row(&self, row: &Row, sending: Sending) -> Result<RowEnd, Failure> {
        let known = self.show(&row.id).await.map_err(Failure::NothingSent)?;
        let planned = Planned::of(row, known.as_ref());
        if sending.only_differences && planned.need == Need::Unchanged {
            return Ok(RowEnd::Done {
                outcome: UNCHANGED,
                warnings: Vec::new(),
            });
        }
        // What only a file has told of may not exist: to read it could create it without its fields.
        let is_there = known.is_some_and(|group| group.last_seen.is_some());
        if sending.update && is_there {
            let read = self.look_up(&row.id, Assurance::KnownOnly).await?;
            return self.update_from(row, read).await;
        }
        if !sending.create {
            return Ok(RowEnd::NotThere);
        }
        let created = self.create(&row.id, &row.said).await?;
        if created.ending == Ending::Existed && sending.update && !is_alarming(&created) {
            return self.update_from(row, created).await;
        }
        Ok(RowEnd::Done {
            outcome: created.ending.as_str(),
            warnings: created.warnings,
        })
    }

    /// Lays the row over what was just read, and sends the whole where that differs.
    async fn update_from(&self, row: &Row, read: Done) -> Result<RowEnd, Failure> {
        if read.ending == Ending::CreatedByGet {
            let id = row.id.clone();
            return Err(Failure::CreatedByGet { id });
        }
        let Planned { change, wanted, .. } = Planned::of(row, Some(&read.group));
        let mut warnings = read.warnings;
        if change.is_empty() || is_alarm(&warnings) {
            warnings.retain(|warning| !matches!(warning, Warning::Differs(_)));
            return Ok(RowEnd::Done {
                outcome: UNCHANGED,
                warnings,
            });
        }
        let base = Wanted::of(&read.group);
        let done = self
            .update(&row.id, &base, &wanted, Assurance::KnownOnly)
            .await?;
        Ok(RowEnd::Done {
            outcome: done.ending.as_str(),
            warnings: done.warnings,
        })
    }
}

fn is_alarm(warnings: &[Warning]) -> bool {
    warnings.iter().any(Warning::is_alarm)
}

fn is_alarming(done: &Done) -> bool {
    is_alarm(&done.warnings)
}
