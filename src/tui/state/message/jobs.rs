//! The jobs of the console: one row each. A row has the name and what the job is given, the words for line 1 with what
//! the console must know about it ([`JobSpec`]), and the work. The enum and [`Job::spec`] are made from it here, the
//! work in `runtime::jobs`, which is the only place that awaits anything.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use jiff::Timestamp;

use super::BulkEditRequest;
use crate::{
    config::new_profile::NewProfile,
    domain::{
        Annotation, AnnotationChange, BatchKind, DesiredFields, Draft, EditPlan, Fingerprint,
        Token, UserGroupId, batch::Plan, counted, facts::Field, pasted::Pasted, visible,
    },
    formats::{Columns, Format},
    operations::{BatchId, BindingAnswer, Done, RotationId},
    search::{Index, ListView, SavedView, SearchRequest, SearchResults},
};

/// `Name(what it is given): words and kind => work;` The kinds are the functions of [`JobSpec`]. In the work, `all` are the
/// operations of all profiles, `of` those of the job's profile, and `run` connects it with the event loop.
macro_rules! job_table {
    ($then:ident) => { $then! { (all of profile run)
        List: JobSpec { is_list: true, ..read("read directory") } => listed(list(of, &run).await);
        /// Computes the rows of the list; reads nothing.
        Search {
            index: Index,
            request: SearchRequest,
            /// Earlier results that may save work.
            before: Option<Arc<SearchResults>>,
        }: read("search groups") => search(index, request, before).await;
        /// The known ids most similar to a typed one.
        SimilarIds(index: Index, typed: String): read("search groups") => Ok(similar_ids(index, typed).await);
        /// Stores the view of the list as it was left.
        KeepView(view: ListView): local("save filter and sort") => {
            of.keep_view(view).await?;
            Ok(Outcome::ViewKept)
        };
        /// The note and the labels of a group, as the directory has them now.
        ReadNote(id: UserGroupId): read("read directory") => {
            let found = of.annotations_of(vec![id.clone()]).await.map(|mut found| found.pop().flatten());
            listed(found.map(|found| Outcome::Note(id, Box::new(found.unwrap_or_default()))))
        };
        /// Changes notes or labels of these groups.
        Annotate(ids: Vec<UserGroupId>, change: Box<AnnotationChange>): local("save note") =>
            work::annotate(of, ids, *change).await;
        /// Saves the view of the list under a name, in place of the one that was shown there.
        SaveView(name: String, view: ListView, seen: Option<Box<SavedView>>): local("save view") =>
            work::save_view(of, &name, view, seen.map(|seen| *seen)).await;
        RemoveView(seen: Box<SavedView>): local("save view") => work::remove_view(of, &seen).await;
        /// Fails if the question about the environment must be answered first.
        OpenRotations: read("read rotations") => work::open_rotations(of).await;
        LookUp(id: UserGroupId): read("read").of(id).journaled() => {
            let read = of.look_up(&id, UnknownIdPolicy::KnownOnly).await;
            done(&id, "read", read)
        };
        /// What the directory knows of this id in every profile; sends nothing.
        SameId(id: UserGroupId): read("read directory") => work::same_id(all, &id).await;
        Create(id: UserGroupId, wanted: DesiredFields): write("create").change(id, "created").sending(wanted) =>
            done(&id, "created", of.cancelled_by(run.cancel).create(&id, &wanted).await);
        Update {
            id: UserGroupId,
            base: DesiredFields,
            wanted: DesiredFields,
            /// Fields that are replaced as a whole although others may have changed them, which the person has seen.
            replace: Vec<Field>,
            /// The person has seen the fields that are sent unchanged, as last known.
            sends_unchanged: bool,
        }: write("update").change(id, "updated").sending(wanted) => {
            let edit = Edit { base, wanted, replace, sends_unchanged, ..Edit::default() };
            let of = of.cancelled_by(run.cancel);
            done(&id, "updated", of.update_edit(&id, &edit, UnknownIdPolicy::KnownOnly).await)
        };
        Rotate {
            id: UserGroupId,
            /// The token that the person was shown.
            seen: Option<Fingerprint>,
            reason: Option<String>,
        }: write("rotate").change(id, "rotated") => {
            // Nothing is spared: the page has shown who rotated it last, and when.
            let of = of.cancelled_by(run.cancel);
            done(&id, "rotated", of.rotate_seen(&id, seen, reason, UnknownIdPolicy::KnownOnly).await)
        };
        // Only a read, but the token on the page and its hand-off depend on it.
        Confirm(rotated: Box<Done>): write("confirm").of(&rotated.group.id) =>
            Ok(Outcome::Done(Box::new(of.confirm(*rotated).await)));
        History(id: Option<UserGroupId>): read("read history") =>
            listed(of.history(id, Some(MAX_HISTORY)).await.map(Outcome::History));
        /// Unsent forms of the profile. Quitting waits for these separately; they change nothing at the service.
        Drafts: read("save drafts") => listed(of.drafts().await.map(Outcome::Drafts));
        /// Saves a draft, with the last change of the stored one according to this process.
        KeepDraft(draft: Box<Draft>, seen: Option<Timestamp>): read("save drafts") => {
            let at = draft.changed_at;
            kept_draft(of.keep_draft(*draft, seen).await.map(|saved| Outcome::DraftKept(at, saved)))
        };
        /// Forgets a draft, unless it was changed after this time.
        ForgetDraft(id: UserGroupId, until: Timestamp): read("save drafts") =>
            kept_draft(of.forget_draft(&id, until).await.map(|()| Outcome::DraftForgotten));
        WriteToken(token: Token, path: PathBuf): local("save token") => work::write_token(token, path).await;
        /// All rotations of the profile.
        Rotations: read("read rotations") => listed(of.rotations().await.map(Outcome::Rotations));
        /// Settles the open rotations by reading their groups.
        Settle: read("check open rotations").journaled() =>
            Ok(Outcome::Recovered(of.recover(&[], CONCURRENT_SETTLES, |_| {}).await?));
        /// Settles open creates and updates by reading their groups.
        SettleChanges: read("check open changes").journaled() =>
            listed(of.settle_changes().await.map(Outcome::ChangesSettled));
        Abandon(id: RotationId, reason: String): write("close a rotation").journaled() =>
            Ok(Outcome::Abandoned(Box::new(of.abandon(id, &reason).await?)));
        /// Finds the groups of the tokens in a pasted text.
        FindTokenOwners(pasted: Pasted): read("find token") =>
            listed(TokenLookup::of(of.directory(), &pasted).await.map(Outcome::TokenOwners));
        /// Asks whether a pasted or typed text has a secret that is known.
        FindSecret(text: Pasted): read("find token") => Ok(Outcome::SecretFound(of.knows_secret_in(&text).await?));
        /// New tokens that have not arrived.
        DueHandOffs: read("read hand-offs") => listed(of.due_hand_offs().await.map(Outcome::DueHandOffs));
        /// Hands off right after a rotation.
        HandOff(done: Box<Done>): write("hand off").of(&done.group.id) =>
            Ok(Outcome::HandedOff(of.hand_off(&done).await.map(Box::new)));
        /// Reads the token again before it is handed off.
        HandOffAgain(rotation: RotationId, id: UserGroupId): write("hand off").of(id).journaled() =>
            Ok(match of.hand_off_again(rotation).await {
                Ok(handed) => Outcome::HandedOff(Some(Box::new(handed))),
                Err(failure) => Outcome::NotHandedOff(failure.into()),
            });
        /// All batches of the profile.
        Batches: read("read batches") => listed(of.batches().await.map(Outcome::Batches));
        /// What needs attention over all profiles; everything, or just enough to count it.
        Attention { whole: bool }: read("read directory") => {
            let found = Operations::attention(&all.all(), profile.0, whole).await;
            listed(found.map(|found| Outcome::Attention(Box::new(found))))
        };
        /// The batches of all profiles.
        AllBatches: read("read batches") => listed(work::all_batches(&all.all(), profile).await);
        /// The current state of a batch, with its items.
        Batch(id: BatchId): read("read batch") => listed(work::read_batch(of, id).await);
        /// What resuming a batch would do; if true, also for groups that were last sent long ago. Sends nothing.
        PlanResumption(id: BatchId, include_old: bool): read("check what is left") =>
            Ok(Outcome::Resumable(Box::new(work::plan_resumption(of, id, include_old).await?)));
        /// Resumes a batch that has this many items left, without these groups. The typed confirmation was checked.
        Resume(id: BatchId, left: usize, left_out: Vec<UserGroupId>): batch("rotate", *left) =>
            work::resume(of, id, &left_out, run).await;
        /// Finds out which of these groups can be rotated now; sends nothing.
        PlanBulk {
            ids: Vec<UserGroupId>,
            /// Also include groups that were rotated within the last 24 h.
            include_recent: bool,
            /// The batch whose groups are tried again.
            retries: Option<BatchId>,
        }: read("check marked groups") => {
            work::options_again(of, retries).await?;
            let plan = match retries {
                Some(batch) => of.plan_retry(&ids, batch).await,
                None => of.plan_batch(&ids, include_recent).await,
            };
            listed(plan.map(Outcome::Planned))
        };
        /// Rotates every group that is ready. The typed confirmation was checked.
        Bulk {
            plan: Plan,
            reason: Option<String>,
            /// The batch whose groups are tried again, with its options.
            retries: Option<BatchId>,
        }: batch("rotate", plan.ready.len()) => work::run(of, &plan, (reason, retries), run).await;
        /// What a bulk edit would do; sends nothing.
        PlanEdit {
            asked: BulkEditRequest,
            /// Also include groups that cannot be read and were last sent long ago.
            include_old: bool,
        }: read("check marked groups") => listed(work::plan_edit(of, asked, include_old).await);
        /// Sends every update of a reviewed bulk edit. The typed confirmation was checked.
        BulkEdit {
            plan: Box<EditPlan>,
            /// The batch whose groups are tried again, with its options.
            retries: Option<BatchId>,
        }: batch("edit", plan.counts().0) => work::edit(of, &plan, retries, run).await;
        /// Writes a report; it holds no token.
        WriteReport(report: String, path: PathBuf): local("save report") => work::write_report(report, path).await;
        /// Writes what the directory knows of these groups to a new file.
        Export {
            index: Index,
            /// Notes and labels, for columns that need them.
            annotations: Arc<BTreeMap<UserGroupId, Annotation>>,
            ids: Vec<UserGroupId>,
            format: (Format, Columns),
            path: PathBuf,
        }: local("export groups") => work::export(index, annotations, ids, format, path).await;
        /// Tests a possible profile; creates and writes nothing. The token is the API key for the keyring, if there is
        /// one.
        Check(new: Box<NewProfile>, key: Option<Token>): read("test connection") =>
            Ok(work::check_profile(all, &new, key).await);
        AddProfile(new: Box<NewProfile>, key: Option<Token>): JobSpec { adds_profile: true, ..write("save profile") } =>
            Ok(work::add_profile(all, &new, key).await);
        /// The person's answer to which place the profile means.
        AnswerPlace(answer: BindingAnswer): write("compare API key").journaled() =>
            Ok(Outcome::PlaceBound(Box::new(of.answer_binding(answer).await?)));
        /// Looks for a group that could prove a key on trial; sends nothing.
        Proof: read("read directory") => listed(of.proof_candidate().await.map(Outcome::Proof));
        /// Reads this group, to prove the key.
        Prove(id: UserGroupId): write("read").of(id).journaled() => {
            of.prove(&id).await?;
            Ok(Outcome::Proven)
        };
        /// Acknowledges the alarms of a place: its name, and what was found.
        Acknowledge(place: String, reason: String): write("acknowledge alarm").journaled() => {
            of.acknowledge_at(&place, &reason).await?;
            Ok(Outcome::Acknowledged)
        };
    } };
}
pub(in crate::tui) use job_table;

/// Makes the enum and its description from the rows.
macro_rules! jobs {
    (($($bound:ident)*) $($(#[$doc:meta])* $name:ident
        $(($($given:ident: $type:ty),*))? $({ $($(#[$about:meta])* $field:ident: $kind:ty),* $(,)? })?
    : $spec:expr => $work:expr;)*) => {
        /// Work for `operations`.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Job {
            $($(#[$doc])* $name $(($($type),*))? $({ $($(#[$about])* $field: $kind),* })?),*
        }

        impl Job {
            /// What the console needs to know about this job.
            #[allow(unused_variables, reason = "not all words name what the job is given")]
            pub fn spec(&self) -> JobSpec {
                match self {
                    $(Self::$name $(($($given),*))? $({ $($field),* })? => $spec),*
                }
            }
        }
    };
}

job_table!(jobs);

impl Job {
    /// The job that settles the open items of such a batch.
    pub fn settle(kind: &BatchKind) -> Self {
        match kind {
            BatchKind::Rotate => Self::Settle,
            BatchKind::Edit(_) => Self::SettleChanges,
        }
    }

    /// Writes are never dropped (a single change can be cancelled until it is sent); quitting waits for them.
    pub fn is_write(&self) -> bool {
        self.spec().is_write
    }
}

/// What the console needs to know about a running job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobSpec {
    /// For line 1: a verb and an object, as in "read acme-eu".
    pub label: String,
    /// The group of the job, if it has one.
    pub group: Option<UserGroupId>,
    /// Must never be cancelled or dropped; quitting waits for it.
    pub is_write: bool,
    /// The job may start or end a rotation, change, batch or hand-off; whatever shows those is read again afterwards.
    pub touches_journal: bool,
    /// It sends something, or starts something that is written down first.
    pub is_journaled_first: bool,
    /// It runs over many groups and obeys `RunCommand`.
    pub can_be_steered: bool,
    /// Reads all groups of a profile.
    pub is_list: bool,
    pub adds_profile: bool,
    /// For a single change of one group, which can be cancelled until it is sent: what becomes of the group, as in
    /// "NOT rotated".
    pub change: Option<&'static str>,
    /// The group of a create or update and its wanted values; a draft with the same values is no longer a draft when
    /// the job succeeds.
    pub sends: Option<(UserGroupId, DesiredFields)>,
}

impl JobSpec {
    /// It sends something, or starts something that is written down first.
    fn journaled(self) -> Self {
        Self {
            is_journaled_first: true,
            ..self
        }
    }

    fn of(self, id: &UserGroupId) -> Self {
        Self {
            label: format!("{} {id}", self.label),
            group: Some(id.clone()),
            ..self
        }
    }

    fn change(self, id: &UserGroupId, change: &'static str) -> Self {
        Self {
            change: Some(change),
            ..self.of(id).journaled()
        }
    }

    fn sending(self, wanted: &DesiredFields) -> Self {
        Self {
            sends: self.group.clone().map(|id| (id, wanted.clone())),
            ..self
        }
    }

    /// The text of a refusal: names the group, and begins with what did not come about.
    pub fn refusal(&self, why: &str) -> String {
        let not = self.change.or((!self.is_write).then_some("read"));
        match (&self.group, not) {
            (Some(id), Some(not)) => {
                let mut letters = why.chars();
                let first = letters.next().map(char::to_lowercase);
                let first: String = first.into_iter().flatten().collect();
                format!(
                    "\"{}\" NOT {not}: {first}{}",
                    visible(id.as_str()),
                    letters.as_str()
                )
            }
            _ => why.to_owned(),
        }
    }

    /// The first word of the label.
    pub fn verb(&self) -> &str {
        self.label.split(' ').next().unwrap_or_default()
    }
}

fn read(label: &str) -> JobSpec {
    JobSpec {
        label: label.into(),
        ..JobSpec::default()
    }
}

/// Writes a file, or something that neither the service nor the journal knows.
fn local(label: &str) -> JobSpec {
    JobSpec {
        is_write: true,
        ..read(label)
    }
}

fn write(label: &str) -> JobSpec {
    JobSpec {
        touches_journal: true,
        ..local(label)
    }
}

/// Changes the groups of a batch.
fn batch(verb: &str, count: usize) -> JobSpec {
    JobSpec {
        can_be_steered: true,
        ..write(&format!("{verb} {}", counted(count, "group"))).journaled()
    }
}
