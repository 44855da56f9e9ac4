//! State shared by all panes: the current profile, known data, running jobs, messages. Panes use it to request jobs and
//! navigation; it performs neither itself.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use jiff::{Timestamp, tz::TimeZone};

use super::{
    BatchRun, Command, Condition, Effect, Groups, Job, JobError, Live, Outage, PaneRequest,
    Pending, ProfileIndex, Severity, Subject, Ticket,
    drafts::Drafts,
    exchanges::{Exchanges, LastAnswer},
    groups::Annotations,
    message::JobSpec,
    notices::Notices,
};
use crate::{
    config::{HandOffCommand, profile::Profile},
    domain::{
        BatchKind, EditPlan, Token, UserGroupId, batch::Plan, capitalised, proposal::Selection,
        rotation::State,
    },
    operations::{
        BatchId, Guarded, PlaceProblem, RotationId, RotationRow,
        batch::{Resumption, RunCommand},
    },
    search::ListView,
    tui::{
        keymap::Keymap,
        state::{ConnectForm, ExitReason},
        theme::Theme,
    },
};

/// A pane's request to change the stack of panes.
#[derive(Debug)]
pub enum Navigation {
    /// Open on top of the requesting pane.
    Push(PaneRequest),
    /// Replace the requesting pane.
    Replace(PaneRequest),
    /// Close the requesting pane.
    Pop,
    /// The requested result has arrived: replace the review that waits for the ticket, and its form.
    Finish(Ticket, PaneRequest),
    SwitchTo(ProfileIndex),
    /// Show the list of a profile with this filter, closing all other panes.
    ShowList(ProfileIndex, String),
    Leave(ExitReason),
    /// The words that the pane below asked for were typed exactly.
    Confirmed,
    /// Open the token pane of a group of any profile, in place of the requesting pane.
    TokenOf(ProfileIndex, UserGroupId),
    /// Cancel a read, whichever pane waits for it.
    CancelRead(Ticket),
    /// Perform an action as if its key had been pressed; used by the help.
    Press(crate::tui::keymap::Action),
    /// Run a typed command.
    Run(Command),
}

/// A running job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    pub profile: ProfileIndex,
    pub since: Timestamp,
    pub job: JobSpec,
    /// The person cancelled this change; its outcome says whether that was in time.
    pub is_cancelling: bool,
}

/// Maximum size of a copy in bytes: in base64 it is just below the 74,994 that xterm and tmux accept; they silently
/// drop longer ones.
const MAX_COPY_BYTES: usize = 56_000;

#[derive(Debug, Default)]
pub struct Context {
    /// The draft to open once the profile that was switched to has been read, and its author; the next key cancels this.
    pub draft_to_open: Option<(ProfileIndex, UserGroupId, String)>,
    pub profiles: Vec<Profile>,
    pub current: ProfileIndex,
    /// What proposed commands need to act on the same profile and directory.
    pub selection: Option<Selection>,
    pub operator: String,
    pub theme: Theme,
    pub now: Timestamp,
    /// The time zone in which times of day are shown; `None`: UTC.
    pub zone: Option<TimeZone>,
    /// Forms show the properties as rows; remembers the choice made in the last form.
    pub properties_as_rows: bool,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    pub groups: Groups,
    /// What others changed in this profile, until the person has seen it.
    pub live: Live,
    /// Notes, labels and saved views.
    pub annotations: Annotations,
    pub messages: Notices,
    /// Requests and responses, without secrets.
    pub exchanges: Exchanges,
    /// The job whose outcome is being handled; messages that are added meanwhile refer to it.
    pub about: Option<Ticket>,
    /// The group of that job, and what was done to it.
    pub subject: Option<Subject>,
    /// The effective key bindings.
    pub keys: Keymap,
    pub running: BTreeMap<Ticket, Running>,
    /// The job that the page with the focus waits for.
    pub page_waits_for: Option<Ticket>,
    /// How the last request to the service ended.
    pub last_answer: Option<LastAnswer>,
    /// The open rotations of this profile, as far as known.
    pub open: Arc<BTreeMap<UserGroupId, State>>,
    /// The list views of other profiles as they were left.
    pub views: HashMap<ProfileIndex, ListView>,
    /// What is marked in the lists of the other profiles.
    pub marks: HashMap<ProfileIndex, BTreeSet<UserGroupId>>,
    /// New tokens of this profile that have not been handed off yet: the group and its rotation.
    pub to_hand_off: BTreeMap<UserGroupId, RotationId>,
    /// The form for a new profile as it was left, without its API key.
    pub connecting: Option<ConnectForm>,
    /// Profiles can be added; not in the demo.
    pub can_connect: bool,
    /// Unsent forms of all profiles.
    pub drafts: Drafts,
    /// The directory is deleted when the console ends, as in the demo, and drafts with it.
    pub is_ephemeral: bool,
    /// Draw nothing beneath a box, because the plain mode reads all lines aloud.
    pub plain_mode: bool,
    /// When to settle open rotations again, because waiting may have helped by then.
    pub settle_again_at: Option<Timestamp>,
    /// The same of open creates and updates.
    pub settle_changes_at: Option<Timestamp>,
    /// Set while the directory cannot be used.
    pub outage: Option<Outage>,
    /// The directory is available again, but the missed changes have not arrived yet.
    pub is_directory_back: bool,
    /// When another process's run of a batch counts as gone, unless it is heard of before.
    pub runner_gone_at: Option<Timestamp>,
    /// Profiles whose service answered with the tag of another environment (hazard 11). For the rest of the session.
    pub wrong_environment: BTreeSet<ProfileIndex>,
    /// Profiles whose API key could not be read when their groups were.
    pub keyless: BTreeSet<ProfileIndex>,
    /// Questions to answer before anything is sent to a profile, as far as known.
    pub place_problems: BTreeMap<ProfileIndex, PlaceProblem>,
    /// The running bulk rotation, or the last one of this session.
    pub bulk: Option<BatchRun>,
    /// Number of unfinished or failed things in each profile, as far as known.
    pub(super) attention: BTreeMap<ProfileIndex, usize>,
    next_ticket: u64,
    /// Another profile is being switched to: what is left now belongs to this one.
    pub is_switching: bool,
    pub navigations: Vec<Navigation>,
    pub effects: Vec<Effect>,
}

impl Context {
    pub fn new(
        profiles: Vec<Profile>,
        current: ProfileIndex,
        operator: String,
        theme: Theme,
        now: Timestamp,
    ) -> Self {
        Self {
            profiles,
            current,
            operator,
            theme,
            now,
            size: (80, 24),
            next_ticket: 1,
            ..Self::default()
        }
    }

    /// The current profile; `None` only on the welcome screen.
    pub fn profile(&self) -> Option<&Profile> {
        self.profiles.get(self.current.0)
    }

    /// The name of the current profile; empty if there is none.
    pub fn profile_name(&self) -> &str {
        self.profile().map_or("", |profile| &profile.name)
    }

    /// Starts a job in the current profile.
    pub fn start(&mut self, job: Job) -> Ticket {
        self.start_in(self.current, job)
    }

    /// The bulk run of this session, while it is under way.
    pub fn running_batch(&self) -> Option<&BatchRun> {
        self.bulk.as_ref().filter(|run| run.is_under_way())
    }

    /// How far a page key moves the cursor.
    pub fn half_page(&self) -> usize {
        usize::from(self.size.1 / 2)
    }

    /// Allocates a ticket for something that is not a job.
    pub fn ticket(&mut self) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        ticket
    }

    /// Starts a job in any profile, for example a follow-up of a job whose profile was left.
    pub fn start_in(&mut self, profile: ProfileIndex, job: Job) -> Ticket {
        let ticket = self.ticket();
        let running = Running {
            profile,
            since: self.now,
            job: job.spec(),
            is_cancelling: false,
        };
        // If a list is being read already, its record of newer groups also serves the second one.
        if running.job.is_list && profile == self.current && !self.is_reading_groups() {
            self.groups.begin_reading();
        }
        self.running.insert(ticket, running);
        self.effects
            .push(Effect::Start(ticket, profile, Box::new(job)));
        ticket
    }

    /// Whether the groups of the profile are being read.
    pub fn is_reading_groups(&self) -> bool {
        let mut running = self.running.values();
        running.any(|running| running.job.is_list && running.profile == self.current)
    }

    /// Why nothing can be said about groups that are not loaded yet; `None` if all are loaded.
    pub fn why_incomplete(&self) -> Option<&'static str> {
        (!self.groups.is_whole()).then_some("not all groups are read yet")
    }

    /// Starts a job that a pane waits for; cancels the one that it waited for before.
    pub fn ask(&mut self, pending: &Pending, job: Job) {
        self.give_up(pending);
        pending.begin(self.start(job));
    }

    /// Stops waiting for the job, and cancels it if it is a read.
    pub fn give_up(&mut self, pending: &Pending) {
        if let Some(ticket) = pending.take() {
            self.cancel(ticket);
        }
    }

    /// Reads which drafts of this profile are in the directory.
    pub fn read_drafts(&mut self) {
        let mut drafts = std::mem::take(&mut self.drafts);
        drafts.ask(self.current, |profile, job| self.start_in(profile, job));
        self.drafts = drafts;
    }

    /// Saves the next draft, unless a save is running.
    pub fn save_drafts(&mut self) {
        if self.outage.is_some() {
            // Drafts stay in memory until the directory is available again.
            return;
        }
        let mut drafts = std::mem::take(&mut self.drafts);
        drafts.next(|profile, job| self.start_in(profile, job));
        self.drafts = drafts;
    }

    /// Cancels a read; a write continues.
    pub fn cancel(&mut self, ticket: Ticket) {
        if self
            .running
            .get(&ticket)
            .is_some_and(|running| !running.job.is_write)
        {
            self.running.remove(&ticket);
            self.effects.push(Effect::Cancel(ticket));
        }
    }

    /// Cancels reading all groups, whichever pane asked for it.
    pub fn cancel_lists(&mut self) {
        let running = self.running.iter();
        let lists = running.filter(|(_, running)| running.job.is_list);
        for ticket in lists.map(|(ticket, _)| *ticket).collect::<Vec<_>>() {
            self.cancel(ticket);
        }
    }

    /// Sets the rotations that are open now.
    pub fn note_open(&mut self, rotations: impl IntoIterator<Item = (UserGroupId, State)>) {
        let open = rotations.into_iter().filter(|(_, state)| state.is_open());
        let open: BTreeMap<_, _> = open.collect();
        if *self.open != open {
            self.open = Arc::new(open);
        }
        self.live.open_listed = None;
    }

    /// Like [`Self::note_open`] for changes by another console: the list keeps its rows.
    pub fn merge_open(&mut self, rotations: impl IntoIterator<Item = (UserGroupId, State)>) {
        let listed = self.open_listed().clone();
        self.note_open(rotations);
        self.live.open_listed = (listed != self.open).then_some(listed);
    }

    /// The open rotations that the list filters by.
    pub fn open_listed(&self) -> &Arc<BTreeMap<UserGroupId, State>> {
        self.live.open_listed.as_ref().unwrap_or(&self.open)
    }

    /// Called when the person sorts, filters or refreshes: rows may move now.
    pub fn let_rows_move(&mut self) {
        self.groups.let_move();
        self.live.open_listed = None;
    }

    /// Whether the list keeps its rows in place although others have changed something since it was listed.
    pub fn holds_rows(&self) -> bool {
        self.groups.holds_rows() || self.live.open_listed.is_some()
    }

    /// Updates the state of one rotation.
    pub fn note_rotation(&mut self, row: &RotationRow) {
        let mut open = (*self.open).clone();
        open.remove(&row.user_group_id);
        let now = (row.user_group_id.clone(), row.rotation.state);
        self.note_open(open.into_iter().chain([now]));
    }

    pub fn writes_under_way(&self) -> usize {
        self.running
            .values()
            .filter(|running| running.job.is_write)
            .count()
    }

    pub fn say(&mut self, severity: Severity, text: impl Into<String>) {
        let subject = self.subject.clone();
        let text = self.proposing(text.into(), self.current);
        self.messages
            .say_about(self.now, severity, text, self.about, subject);
    }

    /// Reports why a job failed. If the directory is unavailable, that holds until its state changes.
    pub fn say_error(&mut self, error: &JobError) {
        let (severity, text) = (error.severity(), error.text.clone());
        if error.is_directory_outage {
            self.say_condition(Condition::DirectoryOutage, severity, text);
        } else {
            self.say(severity, text);
        }
    }

    /// Reports a condition, which holds until it is resolved or reported again.
    pub fn say_condition(&mut self, condition: Condition, severity: Severity, text: String) {
        let held = (condition, severity);
        self.messages
            .say_condition(self.now, held, text, self.about);
    }

    /// The condition does not hold any more.
    pub fn resolve(&mut self, condition: Condition) {
        self.messages.resolve_condition(self.now, condition);
    }

    /// Copies a text that is not secret.
    pub fn copy(&mut self, what: &str, text: &str) {
        self.copy_secret(what, Token::new(text.to_owned()));
    }

    /// Copies a secret to the clipboard of the person's terminal; the message admits that no terminal confirms it.
    pub fn copy_secret(&mut self, what: &str, text: Token) {
        let (what, bytes) = (capitalised(what), text.expose().len());
        if bytes > MAX_COPY_BYTES {
            let text = format!(
                "{what} not copied: {bytes} bytes, and terminals accept at most {MAX_COPY_BYTES} (OSC 52)"
            );
            self.say(Severity::Warning, text);
            return;
        }
        self.effects.push(Effect::Copy(text));
        let text = format!(
            "{what} sent to your terminal; it does not confirm (OSC 52; tmux: set -g set-clipboard on)"
        );
        self.say(Severity::Info, text);
    }

    /// Says that nothing happened; the message is not logged.
    pub fn mention(&mut self, text: impl Into<String>) {
        self.messages.mention(self.now, text);
    }

    /// Opens a pane on top of the one that asks.
    pub fn open_pane(&mut self, pane: PaneRequest) {
        self.navigate(Navigation::Push(pane));
    }

    /// Closes the pane that asks.
    pub fn close_pane(&mut self) {
        self.navigate(Navigation::Pop);
    }

    pub fn navigate(&mut self, ask: Navigation) {
        self.navigations.push(ask);
    }

    /// Opens the group of a row if the directory knows it.
    pub fn open_group(&mut self, id: Option<UserGroupId>, why_no_row: &str) {
        match id {
            Some(id) if self.groups.contains(&id) => {
                self.navigate(Navigation::Push(PaneRequest::Group(id)));
            }
            Some(id) => {
                let text = self.why_incomplete().map_or_else(
                    || format!("\"{id}\" is not in the directory; reading it could create it"),
                    |why| format!("Not opened: {why}"),
                );
                self.say(Severity::Info, text);
            }
            None => self.say(Severity::Info, why_no_row),
        }
    }

    /// The command that new tokens of this profile are handed to automatically.
    pub fn hands_off_to(&self) -> Option<&HandOffCommand> {
        self.profile()?.handoff.as_ref()
    }

    /// What happens to a new token after its rotation; `None` if it is not sent anywhere.
    pub fn hand_off_in_words(&self) -> Option<String> {
        let command = self.hands_off_to()?;
        Some(match self.why_forbidden(Guarded::HandOff) {
            None => format!("Hand the new token to {command}"),
            Some(why) => format!("The new token waits: {why}"),
        })
    }

    /// How a hand-off that waits or failed is run, or why it is forbidden.
    pub fn how_to_hand_off(&self, how: String) -> String {
        match self.hands_off_to() {
            None => "the profile has no handoff".into(),
            Some(_) => self.why_forbidden(Guarded::HandOff).unwrap_or(how),
        }
    }

    /// The batch of the current profile that the list reports: not if its result was seen.
    pub fn batch_here(&self) -> Option<&BatchRun> {
        let run = self.bulk.as_ref();
        run.filter(|run| run.profile == self.current && !run.was_seen)
    }

    /// Starts a bulk rotation; every ready group of the plan is rotated.
    pub fn start_batch(
        &mut self,
        plan: Plan,
        reason: Option<String>,
        retries: Option<BatchId>,
    ) -> Ticket {
        let groups = plan.ready.clone();
        let job = Job::Bulk {
            plan,
            reason: reason.clone(),
            retries,
        };
        let ticket = self.start(job);
        let run = BatchRun::new(ticket, self.current, &groups, reason, self.now);
        self.bulk = Some(run);
        ticket
    }

    /// Shows the list of a profile with this filter, and closes all other panes.
    pub fn show_list(&mut self, profile: ProfileIndex, filter: &str) {
        self.navigate(Navigation::ShowList(profile, filter.to_owned()));
    }

    /// Resumes a batch.
    pub fn resume_batch(&mut self, resumption: &Resumption) -> Ticket {
        let job = Job::Resume(
            resumption.batch.id,
            resumption.left(),
            resumption.old.clone(),
        );
        let ticket = self.start(job);
        let (batch, items) = (&resumption.batch, &resumption.items);
        let mut run = BatchRun::stored(ticket, self.current, batch, items);
        run.resumed(self.now);
        self.bulk = Some(run);
        ticket
    }

    /// Starts a bulk edit; every group that the plan changes is updated.
    pub fn start_edit(&mut self, plan: EditPlan, retries: Option<BatchId>) -> Ticket {
        let groups: Vec<_> = plan.changing().map(|row| row.id.clone()).collect();
        let kind = BatchKind::Edit(plan.change.clone());
        let ticket = self.start(Job::BulkEdit {
            plan: Box::new(plan),
            retries,
        });
        let mut run = BatchRun::new(ticket, self.current, &groups, None, self.now);
        run.kind = kind;
        self.bulk = Some(run);
        ticket
    }

    /// Controls the running bulk rotation; a stop is final.
    pub fn steer(&mut self, command: RunCommand) {
        if let Some(run) = &mut self.bulk
            && run.is_under_way()
            && !run.command.is_stop()
            && run.command != command
        {
            run.set_command(command, self.now);
            self.effects.push(Effect::Steer(run.ticket, command));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_terminal_would_take_is_not_said_to_be_sent() {
        let now = Timestamp::UNIX_EPOCH;
        let mut context =
            Context::new(vec![], ProfileIndex(0), "ana".into(), Theme::default(), now);
        context.copy("text", &"x".repeat(MAX_COPY_BYTES));
        assert!(matches!(context.effects[..], [Effect::Copy(_)]));
        let said = |context: &Context| context.messages.current().expect("one").text.clone();
        assert!(
            said(&context).ends_with("does not confirm (OSC 52; tmux: set -g set-clipboard on)")
        );
        context.copy("text", &"x".repeat(MAX_COPY_BYTES + 1));
        assert_eq!(context.effects.len(), 1);
        assert!(said(&context).starts_with("Text not copied: 56001 bytes"));
    }
}
