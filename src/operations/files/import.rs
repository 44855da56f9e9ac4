//! Imports the rows of a file: into the directory, with nothing sent; or to the service, one by one, each as a create
//! or an update of its own (hazards 1, 2 and 4 of docs/design/service.md).

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    directory::{Import, ImportId, Imported},
    domain::{change::Difference, size::check_size, update::Plan},
    formats::{GroupRow, RowAction, RowPlan},
    operations::{
        ClaimHolder,
        groups::{
            claims::Locks,
            update::{as_reviewed, changed_since, not_created},
        },
        outcome::planned,
        prelude::*,
        recording::changes_for_history,
        rotation::settle::BeforeGet,
        run::{Control, Hold, RetryBudget, Slot},
    },
};

const UNCHANGED: &str = "unchanged";

/// How often a run repeats a get-or-create whose answer was lost.
pub(in crate::operations) const LOST_CREATE_REPEATS: u32 = 2;

/// What may be sent for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sending {
    /// Whether a get-or-create may be sent.
    pub create: bool,
    /// Whether an update of what differs may be sent.
    pub update: bool,
    /// Send nothing at all, not even a get, if the row matches what is known already.
    pub only_differences: bool,
}

/// What decides, beside the group, whether the update of a row may be sent.
#[derive(Debug)]
pub struct Foresight {
    facts: Facts,
    open: Vec<Mutation>,
    locks: Locks,
    operator: String,
    sending: Sending,
    /// As of [`Permit::replacing`].
    replace: Vec<Field>,
}

impl Foresight {
    /// What would be sent for a row if the group was read now as it is known; `None` if it is not updated.
    pub fn of(&self, row: &GroupRow, group: &KnownGroup) -> Option<Plan> {
        if !self.sending.update {
            return None;
        }
        let edit = edit_of(row, &DesiredFields::of(group), &self.replace);
        let open = self.open.iter().filter(|open| open.user_group_id == row.id);
        let open: Vec<_> = open.cloned().collect();
        let known = (group, &self.facts.readable()[..], &self.facts);
        Some(planned(&edit, known, &open, &self.operator))
    }

    /// Who holds the group of the row for longer than a run waits.
    pub fn holder(&self, row: &GroupRow, action: RowAction) -> Option<&ClaimHolder> {
        let operation = match action {
            RowAction::Create if self.sending.create => Operation::Create,
            RowAction::Update if self.sending.update => Operation::Update,
            _ => return None,
        };
        let change = Change::between(&DesiredFields::default(), &row.fields);
        let changes = changes_for_history(Operation::Create, &change);
        let changes = changes.filter(|_| action == RowAction::Create);
        self.locks.holder(&row.id, operation, changes.as_ref())
    }
}

/// The update of a row, as one of many.
fn edit_of(row: &GroupRow, base: &DesiredFields, replace: &[Field]) -> Edit {
    Edit {
        replace: replace.to_vec(),
        of_many: true,
        ..row.edit(base)
    }
}

/// Limits the rows that may be sent: what the profile allows, and no more than were confirmed.
#[derive(Debug)]
pub struct Permit {
    sending: Sending,
    /// Fields whose last known values may be sent with changes of single rows.
    replace: Vec<Field>,
    left: AtomicUsize,
}

impl Permit {
    /// A permit for rows that all match what is already known.
    pub fn nothing() -> Self {
        Self {
            sending: Sending {
                create: false,
                update: false,
                only_differences: true,
            },
            replace: Vec::new(),
            left: AtomicUsize::new(0),
        }
    }

    /// Also permits to send the last known values of these fields with changes of single rows.
    #[must_use]
    pub fn replacing(mut self, fields: Vec<Field>) -> Self {
        self.replace = fields;
        self
    }

    /// Takes one row from the permit; false if none is left.
    fn take(&self) -> bool {
        let take = |left: usize| left.checked_sub(1);
        let order = Ordering::SeqCst;
        self.left.fetch_update(order, order, take).is_ok()
    }
}

/// How a row that was to be sent ended.
#[derive(Debug)]
pub enum RowEnd {
    /// As requested. The word is that of the JSON output.
    Done {
        outcome: &'static str,
        warnings: Vec<Warning>,
        /// When this run last read the group from the service; `None` if it did not.
        read_at: Option<Timestamp>,
    },
    /// The group does not exist and creating was not requested; nothing was sent.
    NotThere,
    /// The service postponed it, which changed nothing, and then the run was stopped.
    NotStarted,
    Failed(Failure),
}

impl RowEnd {
    /// The word in the JSON output.
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Done { outcome, .. } => outcome,
            Self::NotThere => "not_known",
            Self::NotStarted => "not_started",
            Self::Failed(failure) => failure.ending().map_or("failed", Ending::as_str),
        }
    }

    /// Whether the outcome is unknown: it may or may not have taken effect.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Failed(failure) if failure.ending() == Some(Ending::Unknown))
    }

    /// Whether the group had changed since the plan was shown; nothing was sent then.
    pub fn is_changed_since(&self) -> bool {
        matches!(self, Self::Failed(Failure::ChangedSince { .. }))
    }

    /// Whether the annotations of the group were changed.
    pub fn is_annotated(&self) -> bool {
        matches!(self, Self::Done { .. }) && !self.is_alarm() && !self.leaves_annotations()
    }

    /// Whether the group is done but its note and labels were left alone.
    pub fn leaves_annotations(&self) -> bool {
        match self {
            Self::Done { warnings, .. } => {
                let mut warnings = warnings.iter();
                warnings.any(|warning| matches!(warning, Warning::NotAnnotated(_)))
            }
            Self::NotThere | Self::NotStarted | Self::Failed(_) => false,
        }
    }

    /// Whether this stops everything that would follow.
    pub fn is_alarm(&self) -> bool {
        match self {
            Self::Done { warnings, .. } => warnings.iter().any(Warning::is_alarm),
            Self::NotThere | Self::NotStarted => false,
            Self::Failed(failure) => {
                failure.concerns_all()
                    || matches!(
                        failure,
                        Failure::CreatedByGet { .. } | Failure::WrongEnvironment { .. }
                    )
            }
        }
    }
}

impl Operations {
    /// Adds the ids of these rows to the directory, with their values if nothing better is known. Notes and labels that
    /// somebody wrote are kept unless `replaces` is set. Nothing is sent.
    pub async fn import(
        &self,
        rows: Vec<GroupRow>,
        replaces: bool,
    ) -> Result<Vec<Imported>, DirectoryError> {
        let (place, by) = (self.place_to_write().await?, self.operator());
        let at = self.now();
        self.directory().import(place, rows, at, by, replaces).await
    }

    /// What rows are planned with before they are sent; `replace` as of [`Permit::replacing`].
    pub async fn foresight(
        &self,
        sending: Sending,
        replace: Vec<Field>,
    ) -> Result<Foresight, DirectoryError> {
        Ok(Foresight {
            facts: self.facts().await?,
            open: self.open_changes().await?,
            locks: self.locks(true).await?,
            operator: self.operator().to_owned(),
            sending,
            replace,
        })
    }

    /// Writes the note and labels of a row after its group is done. A newer note by somebody else is kept, with a
    /// warning.
    async fn annotate_row(&self, row: &GroupRow, end: &mut RowEnd) -> Result<(), Failure> {
        let RowEnd::Done { warnings, .. } = end else {
            return Ok(());
        };
        if row.annotation.is_empty() || warnings.iter().any(Warning::is_alarm) {
            return Ok(());
        }
        let annotated = self.annotate(vec![row.id.clone()], row.annotation.clone());
        match annotated.await {
            Ok(_) => {}
            Err(Failure::Annotation(why)) => warnings.push(Warning::NotAnnotated(why)),
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Returns the unfinished import of the file with this digest, if there is one: the operator's own before that of a
    /// colleague. Records nothing.
    pub async fn open_import(&self, digest: [u8; 32]) -> Result<Option<Import>, DirectoryError> {
        let (place, by) = (self.place().await?, self.operator());
        self.directory().open_import(place, digest, by).await
    }

    /// Continues the unfinished import of the file with this digest, or begins one. `restart`: from the beginning; what a
    /// colleague began stays.
    pub async fn begin_import(
        &self,
        digest: [u8; 32],
        restart: bool,
    ) -> Result<Import, DirectoryError> {
        let (place, by) = (self.place_to_write().await?, self.operator());
        self.directory()
            .begin_import(place, digest, self.now(), by, restart)
            .await
    }

    /// Closes an import whose rows are all done.
    pub async fn end_import(&self, import: ImportId) -> Result<(), DirectoryError> {
        self.directory().end_import(import, self.now()).await
    }

    /// Refuses what the profile forbids, by a guard of one operation or of bulk operations.
    pub fn sending_permitted(&self, sending: Sending, rows: usize) -> Result<Permit, Failure> {
        self.may(NextStep::Change(&[]))?;
        if sending.create {
            self.permitted(Guarded::Create)?;
        }
        if sending.update {
            self.permitted(Guarded::Update)?;
        }
        if let Some(reason) = guard::too_many(&self.profile().guards, rows) {
            return Err(self.bulk_is_forbidden(reason));
        }
        Ok(Permit {
            sending,
            replace: Vec::new(),
            left: AtomicUsize::new(rows),
        })
    }

    /// Sends what one row needs, as the plan showed it (`base`: the state that an update starts from; the row's annotations
    /// as planned), and records that the row is done if its file has a journal. Doing it twice does no harm: an existing
    /// group is returned unchanged, and an update sends the same whole values. A request that the service postpones is sent
    /// again after the pause it asks for, and nothing is sent while the directory is unreachable. Both apply to all rows;
    /// `on_wait` is called with them. The slot is released when the next row may begin: the last write need not be waited
    /// for.
    pub async fn send_row(
        &self,
        permit: &Permit,
        place: Option<(ImportId, usize)>,
        row: &GroupRow,
        base: Option<&DesiredFields>,
        (control, mut slot): (&Control, Slot),
        on_wait: impl Fn(Hold),
    ) -> RowEnd {
        let mut patience = RetryBudget::new();
        let mut repeats = LOST_CREATE_REPEATS;
        let mut is_counted = false;
        let mut unknown = None;
        let is_tried_again = async |hold: Hold| {
            control.hold_for(hold.wait());
            on_wait(hold);
            control.may_send().await
        };
        let mut end = loop {
            let settling = self.send_row_once(row, base, permit, &mut is_counted, &mut slot);
            let settled = settling.await;
            let is_lost = matches!(&settled, Err(failure) if failure.is_lost_create());
            if repeats > 0 && is_lost {
                repeats -= 1;
                if control.may_send().await {
                    unknown = settled.err();
                    continue;
                }
            }
            let Some(hold) = patience.put_off_row(&settled) else {
                break settled.unwrap_or_else(RowEnd::Failed);
            };
            if !is_tried_again(hold).await {
                // The first attempt was sent.
                return unknown.map_or(RowEnd::NotStarted, RowEnd::Failed);
            }
        };
        while let Err(failure) = self.annotate_row(row, &mut end).await {
            if !failure.lacks_directory() || !is_tried_again(Hold::Directory).await {
                end = RowEnd::Failed(failure);
            }
        }
        if matches!(end, RowEnd::Done { .. }) && !end.is_alarm() {
            slot.release();
        }
        if let RowEnd::Done { outcome, .. } = &end
            && !end.is_alarm()
            && let Some((import, number)) = place
        {
            while let Err(error) = self.directory().end_row(import, number, outcome).await {
                if !error.is_unreachable() || !is_tried_again(Hold::Directory).await {
                    return RowEnd::Failed(match *outcome {
                        UNCHANGED => Failure::NotKept(error),
                        _ => Failure::NotWritten(error),
                    });
                }
            }
        }
        end
    }

    /// `is_counted`: whether the permit already counts this row. `base`: the state of the group that the plan showed for
    /// an update.
    async fn send_row_once(
        &self,
        row: &GroupRow,
        base: Option<&DesiredFields>,
        permit: &Permit,
        is_counted: &mut bool,
        slot: &mut Slot,
    ) -> Result<RowEnd, Failure> {
        let sending = permit.sending;
        let before = self.snapshot_before_get(&row.id).await;
        let before = before.map_err(Failure::NothingSent)?;
        let known = before.known.as_ref();
        let planned = RowPlan::of(row, known);
        if sending.only_differences && base.is_none() && planned.action == RowAction::Unchanged {
            return Ok(RowEnd::Done {
                outcome: UNCHANGED,
                warnings: Vec::new(),
                read_at: None,
            });
        }
        // A group known only from a file may not exist: reading it could create it without its fields.
        let is_there = known.is_some_and(KnownGroup::is_seen);
        if !(is_there && sending.update || sending.create) {
            return Ok(RowEnd::NotThere);
        }
        // More may differ now than when the operator confirmed.
        *is_counted = *is_counted || permit.take();
        if !*is_counted {
            return Ok(RowEnd::NotStarted);
        }
        if sending.update && is_there {
            // The resulting group must be readable afterwards, including the fields that are not sent.
            check_size(&planned.wanted)?;
            let replace = &permit.replace;
            return self.update_row(before, row, base, replace, slot).await;
        }
        let created = self.create_in_detail(before.gate, &row.id, &row.fields);
        let created = Box::pin(created).await?.done;
        // Nobody has seen what it would replace: the next plan shows it.
        let differs: Vec<_> = created
            .warnings
            .iter()
            .filter_map(|warning| match warning {
                Warning::Differs(differs) if sending.update => Some(difference_text(differs)),
                _ => None,
            })
            .collect();
        if !created.has_alarm() {
            as_reviewed(&row.id, differs)?;
        }
        Ok(RowEnd::Done {
            outcome: created.ending.as_str(),
            warnings: created.warnings,
            read_at: created.group.last_seen,
        })
    }

    /// Sends what the plan showed and nothing else: what the row touches must still be as planned. Without a base, the
    /// plan had it equal to the row.
    async fn update_row(
        &self,
        before: BeforeGet,
        row: &GroupRow,
        base: Option<&DesiredFields>,
        replace: &[Field],
        slot: &mut Slot,
    ) -> Result<RowEnd, Failure> {
        let edit = edit_of(row, base.unwrap_or(&row.fields), replace);
        let done = if edit.fields().is_empty() {
            let known = UnknownIdPolicy::KnownOnly;
            let looking = self.look_up_with_snapshot(before, &row.id, known, Some(slot));
            let read = Box::pin(looking).await?.done;
            not_created(&row.id, &read)?;
            if !read.has_alarm() {
                let now = DesiredFields::of(&read.group);
                as_reviewed(&row.id, changed_since(&row.fields, &now))?;
            }
            read
        } else {
            let known = UnknownIdPolicy::KnownOnly;
            let update = self.update_as(&row.id, &edit, known, None, Some(before));
            Box::pin(update).await?
        };
        let outcome = match done.ending {
            Ending::Found => UNCHANGED,
            ending => ending.as_str(),
        };
        let mut warnings = done.warnings;
        if outcome == UNCHANGED {
            warnings.retain(|warning| !matches!(warning, Warning::Differs(_)));
        }
        Ok(RowEnd::Done {
            outcome,
            warnings,
            read_at: done.group.last_seen,
        })
    }
}

fn difference_text(differs: &Difference) -> String {
    format!(
        "{}: planned \"{}\" for a new group, the service has \"{}\"",
        differs.field,
        visible(&differs.asked),
        visible(&differs.kept)
    )
}
