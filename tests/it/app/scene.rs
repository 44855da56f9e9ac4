//! An [`App`] whose jobs are answered by canned outcomes, when the test says so.

use groupdesk::{
    config::{
        guard::Guard,
        profile::{KeySource, Profile},
    },
    domain::{
        batch::{EditPlan, EditRow, ItemEdit, Verdict},
        rotation::Rotation,
        token::Token,
    },
    operations::{Done, HandedOff, Owner, RotationRow},
    search::SavedView,
    tui::{app::App, frame, state::context::Context},
};
use jiff::Timestamp;

use super::{
    compare::everywhere,
    find::found,
    groups::{known_as, stated},
    prelude::*,
};

pub(super) use super::groups::{base, group, known_group, list_of, wanted};

/// Indices of the profiles of every scene.
pub(crate) const TESTING: usize = 0;
pub(super) const PRODUCTION: usize = 1;
pub(super) const READ_ONLY: usize = 2;

/// The token in every canned answer.
pub(super) const TOKEN: &str = "canary-token-0123456789abcdef";

/// The time at which every scene begins.
pub(super) const BEGIN: Timestamp = Timestamp::constant(1_793_000_000, 0);

pub(crate) struct Scene {
    pub(crate) app: App,
    pub(crate) now: Timestamp,
    /// Jobs that were started, not cancelled, and not yet answered, with their profiles.
    pub(crate) pending: Vec<(Ticket, ProfileIndex, Job)>,
    /// No draft can be saved.
    pub(crate) is_full: bool,
}

impl Scene {
    /// Opened on a profile, with the list read.
    pub(crate) fn on(profile: usize) -> Self {
        let mut scene = Self::opening(profile);
        scene.answer();
        scene
    }

    /// Opened on a profile, after this script.
    pub(crate) fn walked(profile: usize, script: &str) -> Self {
        let mut scene = Self::on(profile);
        scene.walk(script);
        scene
    }

    /// Opened on a profile, with nothing read yet.
    pub(crate) fn opening(profile: usize) -> Self {
        let profiles = vec![
            a_profile("testing", EnvironmentTag::Testing, false, false),
            a_profile("production", EnvironmentTag::Customer, true, false),
            a_profile("guarded", EnvironmentTag::Testing, false, true),
        ];
        let context = Context::new(
            profiles,
            ProfileIndex(profile),
            "ana@bastion2".into(),
            Theme::default(),
            BEGIN,
        );
        let mut app = App::new(context, "config.toml".into());
        let effects = app.take_effects();
        let mut scene = Self {
            app,
            now: BEGIN,
            pending: Vec::new(),
            is_full: false,
        };
        scene.note(effects);
        scene
    }

    /// Handles a message and returns its effects.
    pub(crate) fn msg(&mut self, msg: Msg) -> Vec<Effect> {
        let effects = self.app.update(self.now, msg);
        self.note(effects)
    }

    /// Types a script without answering any job.
    pub(crate) fn keys(&mut self, script: &str) -> Vec<Effect> {
        let keys = parse(script).into_iter();
        keys.flat_map(|key| self.msg(Msg::Key(key))).collect()
    }

    /// Types a script, and answers all jobs after every key.
    pub(crate) fn walk(&mut self, script: &str) -> &mut Self {
        for key in parse(script) {
            self.msg(Msg::Key(key));
            self.answer();
        }
        self
    }

    fn note(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        for effect in &effects {
            match effect {
                // Counting the concerns is answered at once, because no test waits for it.
                Effect::Start(ticket, profile, job)
                    if matches!(**job, Job::Attention { whole: false }) =>
                {
                    self.msg(Msg::Done(*ticket, canned_outcome(*profile, job)));
                }
                Effect::Start(ticket, profile, job) => {
                    self.pending.push((*ticket, *profile, (**job).clone()));
                }
                Effect::Cancel(ticket) => self.pending.retain(|(known, ..)| known != ticket),
                Effect::Copy(_)
                | Effect::CancelChange(_)
                | Effect::Steer(..)
                | Effect::OpenEditor(..)
                | Effect::Watch(..)
                | Effect::Suspend
                | Effect::Redraw
                | Effect::Quit(_) => {}
            }
        }
        // Jobs about drafts run in the background of everything; only their own tests look at them, in `pending`.
        let starts_draft_job =
            |effect: &Effect| matches!(effect, Effect::Start(.., job) if is_about_drafts(job));
        effects
            .into_iter()
            .filter(|effect| !starts_draft_job(effect))
            .collect()
    }

    /// Answers all pending jobs, and those that follow from them, as a healthy service would.
    pub(crate) fn answer(&mut self) {
        while let Some((ticket, profile, job)) = self.pending.pop() {
            let outcome = if self.is_full && matches!(job, Job::KeepDraft(..)) {
                failed("no room left on the disk", None)
            } else {
                canned_outcome(profile, &job)
            };
            if let Some(exchange) = sent(ticket, &job) {
                self.msg(Msg::Exchanged(vec![exchange]));
            }
            self.msg(Msg::Done(ticket, outcome));
        }
    }

    /// Answers the only pending job with this outcome.
    pub(super) fn answer_with(&mut self, outcome: Outcome) -> Vec<Effect> {
        let (others, mut asked) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition::<Vec<_>, _>(|(.., job)| is_about_drafts(job));
        self.pending = others;
        assert_eq!(asked.len(), 1, "{asked:?}");
        let (ticket, ..) = asked.remove(0);
        self.msg(Msg::Done(ticket, outcome))
    }

    /// Types a script, and answers the only job that it starts.
    #[track_caller]
    pub(super) fn open(&mut self, script: &str, outcome: Outcome) -> &mut Self {
        self.keys(script);
        self.answer_with(outcome);
        self
    }

    /// Takes the first pending job that matches.
    #[track_caller]
    pub(super) fn take(&mut self, is_it: impl Fn(&Job) -> bool) -> (Ticket, ProfileIndex, Job) {
        let at = self.pending.iter().position(|(.., job)| is_it(job));
        self.pending.remove(at.expect("it is under way"))
    }

    /// Answers the first pending job that matches.
    #[track_caller]
    pub(super) fn answer_to(
        &mut self,
        is_it: impl Fn(&Job) -> bool,
        outcome: Outcome,
    ) -> Vec<Effect> {
        let (ticket, ..) = self.take(is_it);
        self.msg(Msg::Done(ticket, outcome))
    }

    /// Answers the first pending job that matches, as a healthy service would.
    #[track_caller]
    pub(super) fn answer_canned(&mut self, is_it: impl Fn(&Job) -> bool) -> Vec<Effect> {
        let (ticket, profile, job) = self.take(is_it);
        self.msg(Msg::Done(ticket, canned_outcome(profile, &job)))
    }

    /// Answers the oldest pending job, as a healthy service would.
    pub(super) fn answer_oldest(&mut self) -> Vec<Effect> {
        self.answer_canned(|_| true)
    }

    /// The oldest pending job is lost.
    pub(super) fn lose(&mut self) -> Vec<Effect> {
        let (ticket, ..) = self.pending.remove(0);
        self.msg(Msg::JobPanicked(ticket))
    }

    /// The only effect of a script: this job is started.
    #[track_caller]
    pub(super) fn started(&mut self, script: &str) -> Job {
        let effects = self.keys(script);
        let [Effect::Start(_, _, job)] = &effects[..] else {
            panic!("{effects:?}");
        };
        (**job).clone()
    }

    /// Puts a guard on the current profile.
    pub(super) fn guard(&mut self, operation: Operation, rule: Rule) -> &mut Self {
        let current = self.app.context.current.0;
        self.app.context.profiles[current].guards = vec![Guard {
            operation,
            rule,
            reason: "two people look".into(),
        }];
        self
    }

    pub(super) fn later(&mut self, seconds: i64) -> &mut Self {
        self.now += SignedDuration::from_secs(seconds);
        self
    }

    /// The pending writes.
    pub(super) fn writes(&self) -> Vec<&Job> {
        let jobs = self.pending.iter().map(|(_, _, job)| job);
        jobs.filter(|job| job.is_write()).collect()
    }

    /// The only pending write.
    #[track_caller]
    pub(super) fn write(&self) -> &Job {
        let writes = self.writes();
        assert_eq!(writes.len(), 1, "{writes:?}");
        writes[0]
    }

    /// All pending jobs, those about drafts included.
    pub(super) fn jobs(&self) -> Vec<&Job> {
        self.pending.iter().map(|(.., job)| job).collect()
    }

    /// The number of drafts.
    pub(super) fn drafts(&self) -> usize {
        self.app.context.drafts.own()
    }

    pub(crate) fn screen(&self) -> String {
        text_of(&self.buffer())
    }

    pub(super) fn buffer(&self) -> Buffer {
        let (columns, rows) = self.app.context.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        let area = buffer.area;
        frame::draw(&self.app, &mut buffer, area);
        buffer
    }

    /// The message line.
    pub(super) fn footer(&self) -> String {
        let screen = self.screen();
        let lines: Vec<&str> = screen.lines().collect();
        lines[lines.len() - 2].trim().to_owned()
    }

    #[track_caller]
    pub(super) fn shows(&self, text: &str) -> &Self {
        let screen = self.screen();
        assert!(is_in(&screen, text), "no {text:?} in\n{screen}");
        self
    }

    #[track_caller]
    pub(super) fn shows_all<const N: usize>(&self, texts: [&str; N]) -> &Self {
        for text in texts {
            self.shows(text);
        }
        self
    }

    #[track_caller]
    pub(super) fn hides(&self, text: &str) -> &Self {
        let screen = self.screen();
        assert!(!is_in(&screen, text), "{text:?} in\n{screen}");
        self
    }

    #[track_caller]
    pub(super) fn says(&self, text: &str) -> &Self {
        let messages = &self.app.context.messages;
        let newest = messages.all().next().map(|message| &message.text);
        let shown = messages.current().map(|message| &message.text);
        let said = newest.into_iter().chain(shown);
        assert!(
            said.clone().any(|said| said.contains(text)),
            "{text:?} is not the newest: {newest:?}, {shown:?}"
        );
        self
    }

    /// The focus has this name.
    #[track_caller]
    pub(super) fn at(&self, focus: &str) -> &Self {
        assert_eq!(self.focus(), focus, "{}", self.screen());
        self
    }

    /// The name of the focus.
    pub(super) fn focus(&self) -> String {
        format!("{:?}", self.app.top().focus())
    }
}

/// Whether the job is about unsent drafts or only counts the concerns.
pub(super) fn is_about_drafts(job: &Job) -> bool {
    matches!(
        job,
        Job::Drafts | Job::KeepDraft(..) | Job::ForgetDraft(..) | Job::Attention { whole: false }
    )
}

fn a_profile(name: &str, tag: EnvironmentTag, production: bool, read_only: bool) -> Profile {
    let key = KeySource::Env("KEY".into());
    Profile {
        environment: Some(tag),
        production,
        read_only,
        ..Profile::new(name, "https://groups.example.com", key)
    }
}

/// The outcome with which a healthy service would answer the job.
pub(crate) fn canned_outcome(profile: ProfileIndex, job: &Job) -> Outcome {
    match job {
        Job::List => list_of(vec![group("acme-eu", 1), group("globex", 2)]),
        Job::Search { .. } | Job::SimilarIds(..) | Job::KeepView(_) => found(job),
        Job::Annotate(ids, change) => {
            let seen = change.seen.as_ref().and_then(|seen| seen.0.clone());
            let mut annotation = Annotation {
                note: seen,
                ..Annotation::default()
            };
            annotation.apply(change, &by_ana()).expect("a note");
            let changed = ids.iter().map(|id| (id.clone(), annotation.clone()));
            Outcome::Annotated(changed.collect(), change.clone())
        }
        // As the list has it.
        Job::ReadNote(_) => Outcome::ViewKept,
        Job::SaveView(name, view, _) => {
            let saved = SavedView {
                name: name.clone(),
                view: view.clone(),
                written: by_ana(),
            };
            let done = (Severity::Done, format!("View @{name} saved"));
            Outcome::SavedViews(vec![saved], done)
        }
        Job::RemoveView(seen) => {
            let done = (Severity::Done, format!("View @{} removed", seen.name));
            Outcome::SavedViews(vec![], done)
        }
        Job::OpenRotations => Outcome::OpenRotations(Vec::new(), None),
        Job::History(_) => Outcome::History(Vec::new()),
        Job::Drafts => Outcome::Drafts(Vec::new()),
        Job::KeepDraft(draft, _) => Outcome::DraftKept(draft.changed_at, DraftSaved::Kept),
        Job::ForgetDraft(..) => Outcome::DraftForgotten,
        Job::SameId(id) => everywhere(id),
        Job::LookUp(id) => done(Ending::Found, group(id.as_str(), 1)),
        Job::Create(id, wanted) => done(Ending::Created, known_as(id.as_str(), wanted, profile)),
        Job::Update { id, wanted, .. } => {
            done(Ending::Updated, known_as(id.as_str(), wanted, profile))
        }
        Job::Rotate { id, .. } => rotated(group(id.as_str(), 9)),
        Job::Confirm(rotated) => Outcome::Done(Box::new(Done {
            ending: Ending::Confirmed,
            ..(**rotated).clone()
        })),
        Job::WriteToken(_, path) => Outcome::TokenWritten(path.clone()),
        Job::Rotations => Outcome::Rotations(vec![
            rotation(2, "globex", State::NotApplied),
            rotation(1, "acme-eu", State::Unknown),
        ]),
        Job::AnswerPlace(_) | Job::Prove(_) => Outcome::Proven,
        Job::Proof => Outcome::Proof(None),
        Job::Acknowledge(..) => Outcome::Acknowledged,
        Job::SettleChanges => Outcome::ChangesSettled(Vec::new()),
        Job::Settle => Outcome::Recovered(vec![Recovered::Settled(rotation(
            1,
            "acme-eu",
            State::Recovered,
        ))]),
        Job::Abandon(number, _) => {
            Outcome::Abandoned(Box::new(rotation(number.0, "acme-eu", State::Abandoned)))
        }
        Job::FindTokenOwners(_) => {
            owners_found(vec![owner("production", true), owner("testing", false)])
        }
        Job::FindSecret(_) => Outcome::SecretFound(false),
        Job::Batches => Outcome::Batches(Vec::new()),
        Job::Batch(id) => Outcome::Batch(Box::new((super::batch::stored(*id), Vec::new()))),
        Job::Attention { .. } => Outcome::Attention(Box::default()),
        Job::AllBatches => Outcome::AllBatches(Vec::new()),
        Job::PlanResumption(id, _) => Outcome::Resumable(Box::new(super::batch::unfinished(*id))),
        Job::Resume(id, count, _) => bulk_ended(*id, *count),
        Job::PlanBulk { ids, .. } => Outcome::Planned(Plan {
            at: Timestamp::UNIX_EPOCH,
            noted: 0,
            ready: ids.clone(),
            skipped: vec![(id("hooli"), Skip::NotKnown)],
        }),
        Job::Bulk { plan, .. } => bulk_ended(BatchId(7), plan.ready.len()),
        Job::PlanEdit { asked, .. } => Outcome::EditPlanned(match asked {
            BulkEditRequest::Groups(change, ids) => Some(Box::new(edit_plan(change, ids))),
            BulkEditRequest::Reverse(_) | BulkEditRequest::Again(_) => None,
        }),
        Job::BulkEdit { plan, .. } => bulk_ended(BatchId(7), plan.counts().0),
        Job::Check(..) => Outcome::NotAdded(vec![(None, "not in this scene".into())]),
        Job::AddProfile(new, _) => Outcome::ProfileAdded(
            ProfileIndex(3),
            Box::new(a_profile(&new.name, EnvironmentTag::Testing, false, false)),
            "ana@bastion2".into(),
        ),
        Job::WriteReport(_, path) => Outcome::ReportWritten(path.clone()),
        Job::Export { ids, path, .. } => Outcome::Exported(ids.len(), path.clone()),
        Job::DueHandOffs => Outcome::DueHandOffs(Vec::new()),
        Job::HandOff(done) => handed_off(done.group.id.as_str(), HandOffState::Done, Some(0), None),
        Job::HandOffAgain(_, id) => handed_off(id.as_str(), HandOffState::Done, Some(0), None),
    }
}

fn by_ana() -> Attribution {
    Attribution {
        at: BEGIN,
        by: "ana@bastion2".into(),
    }
}

/// The end of a run in which all groups were confirmed.
fn bulk_ended(batch: BatchId, confirmed: usize) -> Outcome {
    let counts = Counts {
        confirmed,
        ..Counts::default()
    };
    Outcome::BulkEnded(Report {
        batch,
        counts,
        halt: None,
    })
}

/// Every group is changed, from 213.
fn edit_plan(change: &BulkChange, ids: &[UserGroupId]) -> EditPlan {
    let row = |id: &UserGroupId| EditRow {
        id: id.clone(),
        name: None,
        is_known: true,
        before: Some("213".into()),
        after: Some("214".into()),
        verdict: Verdict::Change,
        edit: ItemEdit::default(),
        unverified: None,
        recent: None,
    };
    EditPlan {
        change: change.clone(),
        rows: ids.iter().map(row).collect(),
    }
}

/// A rotation of the journal.
pub(super) fn rotation(number: i64, group: &str, state: State) -> RotationRow {
    let previous = Fingerprint::from_bytes([1; 32]);
    RotationRow {
        id: RotationId(number),
        place: PlaceId(1),
        profile: "testing".into(),
        hands_off: false,
        user_group_id: id(group),
        rotation: Rotation {
            state,
            ..Rotation::intended(previous)
        },
        by: "ana@bastion2".into(),
        reason: Some("leaked".into()),
        started_at: BEGIN,
        sent_at: Some(BEGIN),
        note: None,
        handoff: HandOff::default(),
        boot_clock: None,
        process: None,
        settles_in: Duration::ZERO,
        taker: None,
    }
}

/// The result of looking up one token.
pub(super) fn owners_found(owners: Vec<Owner>) -> Outcome {
    Outcome::TokenOwners(TokenLookup::Answered {
        tokens: vec![TokenReport {
            fingerprint: Fingerprint::from_bytes([0x2a; 32]),
            line: 1,
            owners,
        }],
        unclear: None,
    })
}

/// Of an environment that has the name of its profile.
pub(super) fn owner(profile: &str, current: bool) -> Owner {
    let url = a_profile(profile, EnvironmentTag::Testing, false, false).url();
    Owner {
        environment: profile.into(),
        place: PlaceId(1),
        bound: vec![(profile.into(), url)],
        user_group_id: id("acme-eu"),
        current,
        last_seen: BEGIN,
    }
}

pub(super) fn done(ending: Ending, group: KnownGroup) -> Outcome {
    Outcome::Done(Box::new(Done {
        ending,
        group,
        returned_token: Some(Token::new(TOKEN.into())),
        previous_fingerprint: Some(Fingerprint::from_bytes([1; 32])),
        warnings: Vec::new(),
        status: 200,
        latency: Duration::from_millis(7),
        rotation: None,
        read: Vec::new(),
        facts: stated(),
        open: Vec::new(),
    }))
}

/// How a hand-off ended.
pub(super) fn handed_off(
    group: &str,
    state: HandOffState,
    exit: Option<i32>,
    note: Option<&str>,
) -> Outcome {
    Outcome::HandedOff(Some(Box::new(HandedOff {
        rotation: RotationId(7),
        user_group_id: id(group),
        fingerprint: None,
        handoff: HandOff {
            state,
            exit,
            note: note.map(str::to_owned),
        },
    })))
}

/// The `Done` of a rotation in the scene.
pub(super) fn rotated(group: KnownGroup) -> Outcome {
    but(done(Ending::Rotated, group), |done| {
        done.rotation = Some(RotationId(7));
    })
}

pub(super) fn warned(group: KnownGroup, warning: Warning) -> Outcome {
    but(done(Ending::Found, group), |done| {
        done.warnings.push(warning);
    })
}

/// The same `Done` with something else in it.
pub(super) fn but(outcome: Outcome, change: impl FnOnce(&mut Done)) -> Outcome {
    let Outcome::Done(mut done) = outcome else {
        panic!("{outcome:?} is no Done");
    };
    change(&mut done);
    Outcome::Done(done)
}

pub(super) fn failed(text: &str, ending: Option<Ending>) -> Outcome {
    Outcome::Failed(JobError {
        ending,
        ..JobError::of(text)
    })
}
