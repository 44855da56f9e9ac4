//! Everything that needs attention, over all profiles, worst first, and the ages of the tokens. Only reads and
//! hand-offs are sent from here; everything else opens the page where it is finished.

mod view;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{View, filtered_list::FilteredList};
use crate::{
    domain::group::UserGroupId,
    operations::{
        Guarded,
        attention::{Attention, Concern, ConcernKind},
    },
    search::quoted,
    tui::{
        forms::group::GroupForm,
        keymap::{Action, Focus},
        state::{
            app::handoff,
            context::{Context, Navigation},
            message::{Job, Outcome, Pending, ProfileIndex},
            navigation::{BatchAim, PaneRequest},
            notices::Severity,
        },
    },
};

#[derive(Debug)]
pub struct AttentionPane {
    found: Attention,
    is_read: bool,
    /// Show only the current profile.
    only_here: bool,
    /// Show hidden entries as well.
    with_hidden: bool,
    list: FilteredList,
    /// The running check or hand-off of a row.
    working: Pending,
}

impl AttentionPane {
    /// Opens the page and reads all profiles.
    pub fn open(context: &mut Context) -> Self {
        let pane = Self {
            found: Attention::default(),
            is_read: false,
            only_here: false,
            with_hidden: false,
            list: FilteredList::default(),
            working: Pending::default(),
        };
        pane.reload(context);
        pane
    }

    /// Reads all profiles again.
    pub fn reload(&self, context: &mut Context) {
        context.ask(&self.list.pending, Job::Attention { whole: true });
    }

    fn shown<'a>(&'a self, context: &Context) -> Vec<&'a Concern> {
        let mut in_scope = self.in_scope(context);
        in_scope.retain(|concern| self.with_hidden || concern.hidden_until.is_none());
        in_scope
    }

    /// Number of hidden entries.
    fn hidden(&self, context: &Context) -> usize {
        let in_scope = self.in_scope(context).into_iter();
        in_scope
            .filter(|concern| concern.hidden_until.is_some())
            .count()
    }

    fn in_scope<'a>(&'a self, context: &Context) -> Vec<&'a Concern> {
        let here = Some(context.current.0);
        // The batch that is running here needs no attention.
        let running = context.bulk.as_ref().filter(|run| run.is_under_way());
        let running = running.and_then(|run| run.batch);
        let is_meant = |concern: &&Concern| {
            let runs =
                matches!(&concern.kind, ConcernKind::Batch(batch) if Some(batch.id) == running);
            !runs && (!self.only_here || concern.profile == here)
        };
        self.found.concerns.iter().filter(is_meant).collect()
    }

    fn selected(&self, context: &Context) -> Option<&Concern> {
        self.shown(context).get(self.list.cursor.at).copied()
    }

    fn take(&mut self, found: &Attention, context: &Context) {
        let on = self.selected(context).cloned();
        self.found.clone_from(found);
        self.is_read = true;
        self.stay_on(on.as_ref(), context);
    }

    fn stay_on(&mut self, on: Option<&Concern>, context: &Context) {
        let shown = self.shown(context);
        let same = |concern: &&Concern| on.is_some_and(|on| on.is_about(concern));
        let (found, rows) = (shown.iter().position(same), shown.len());
        self.list.stay_on(found, rows);
    }

    fn open_selected(&self, context: &mut Context) {
        let Some(Concern {
            profile: Some(profile),
            kind,
            ..
        }) = self.selected(context)
        else {
            return;
        };
        match kind {
            ConcernKind::Rotation(_, _, id)
            | ConcernKind::Change(_, _, id)
            | ConcernKind::HandOff { id, .. }
            | ConcernKind::ChangedElsewhere(id) => {
                open_in(*profile, PaneRequest::Group(id.clone()), context);
            }
            ConcernKind::Batch(batch) | ConcernKind::NotDone(batch, _) => {
                let opening = PaneRequest::Batch(batch.id, BatchAim::Look);
                open_in(*profile, opening, context);
            }
            ConcernKind::Draft(id, _) => open_draft(*profile, id, context),
            ConcernKind::Over(..) | ConcernKind::Due(..) => {
                let filter = kind.filter(view::limit(*profile, context));
                context.show_list(ProfileIndex(*profile), &filter.unwrap_or_default());
            }
            ConcernKind::NoProfile(_) => {}
        }
    }

    fn start_work(&self, job: Job, profile: usize, context: &mut Context) {
        let ticket = context.start_in(ProfileIndex(profile), job);
        self.working.begin(ticket);
    }

    /// Hides the row for a day, or shows it again.
    fn hide(&self, context: &mut Context) {
        if let Some(concern) = self.selected(context).cloned() {
            let profile = concern.profile.unwrap_or(context.current.0);
            let is_shown = concern.hidden_until.is_none();
            let job = Job::Hide(Box::new(concern), is_shown);
            self.start_work(job, profile, context);
        }
    }

    /// The job that reads the row at the service, and its profile; `None` if reading would not help.
    fn check_target(&self, context: &Context) -> Option<(Job, usize)> {
        let concern = self.selected(context)?;
        let job = match &concern.kind {
            ConcernKind::Rotation(..) => Job::Settle,
            ConcernKind::Batch(batch) if batch.counts.unknown > 0 => Job::settle(&batch.kind),
            ConcernKind::Change(_, _, id) | ConcernKind::ChangedElsewhere(id) => {
                Job::LookUp(id.clone())
            }
            _ => return None,
        };
        Some((job, concern.profile?))
    }
}

/// Opens a pane in the given profile, switching to it if necessary.
fn open_in(profile: usize, opening: PaneRequest, context: &mut Context) {
    let profile = ProfileIndex(profile);
    if profile != context.current {
        context.navigate(Navigation::SwitchTo(profile));
    }
    context.navigate(Navigation::Push(opening));
}

/// Opens the form of a draft; in another profile, once its groups and drafts have been read after switching.
fn open_draft(profile: usize, id: &UserGroupId, context: &mut Context) {
    let profile = ProfileIndex(profile);
    if profile != context.current {
        context.navigate(Navigation::SwitchTo(profile));
        context.draft_to_open = Some((profile, id.clone()));
        return;
    }
    let is_known = context.groups.contains(id);
    if let Some(why) = context.why_incomplete().filter(|_| !is_known) {
        context.say(Severity::Info, format!("Draft of {id} not opened: {why}"));
        return;
    }
    if !context.has_draft(id) {
        context.say(Severity::Info, draft_is_gone(id));
    }
    match GroupForm::reopen(id, context) {
        Some(form) => context.navigate(Navigation::Push(PaneRequest::Edit(Box::new(form)))),
        None => context.show_list(profile, &quoted(id.as_str())),
    }
}

/// The message for a draft that somebody sent or discarded meanwhile.
pub(crate) fn draft_is_gone(id: &UserGroupId) -> String {
    format!("The draft of {id} is gone: it was sent or discarded")
}

/// Whether groups of the batch in this row can be tried again; after a conflict they cannot.
fn can_be_retried(concern: &Concern) -> bool {
    matches!(&concern.kind, ConcernKind::NotDone(batch, _) if batch.counts.not_applied > 0)
}

/// Why a hand-off cannot be run again; for example, the command of another profile must not get the token.
fn why_not_hand_off(concern: &Concern, context: &Context) -> Option<String> {
    let ConcernKind::HandOff { begun_in, .. } = &concern.kind else {
        return None;
    };
    let Some(at) = *begun_in else {
        let text = format!("no profile here is \"{}\", which began it", concern.place);
        return Some(text);
    };
    let profile = context.profiles.get(at)?;
    if profile.handoff.is_none() {
        return Some(format!("profile \"{}\" has no hand-off", profile.name));
    }
    context.why_forbidden_in(ProfileIndex(at), Guarded::HandOff)
}

impl View for AttentionPane {
    fn focus(&self) -> Focus {
        Focus::Attention
    }

    fn title(&self, _context: &Context) -> String {
        "Attention".into()
    }

    fn status(&self, context: &Context) -> String {
        if !self.is_read {
            return "reading".into();
        }
        let profiles = match (self.only_here, self.found.profiles) {
            (true, _) | (false, 1) => "this profile".to_owned(),
            (false, profiles) => format!("{profiles} profiles"),
        };
        let hidden = match (self.hidden(context), self.with_hidden) {
            (0, _) => String::new(),
            (hidden, false) => format!(", {hidden} hidden"),
            (hidden, true) => format!(", {hidden} of them hidden"),
        };
        match self.shown(context).len() {
            1 => format!("1 item in {profiles}{hidden}"),
            items => format!("{items} items in {profiles}{hidden}"),
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let rows = self.shown(context).len();
        if self.list.act(action, rows, context) {
            return;
        }
        let here = self.selected(context).cloned();
        let at = here.and_then(|concern| Some((concern.profile?, concern.kind)));
        match (action, at) {
            (Action::Enter, _) => self.open_selected(context),
            (Action::Refresh, _) => match self.check_target(context) {
                Some((job, profile)) => self.start_work(job, profile, context),
                None => self.reload(context),
            },
            (
                Action::HandOff,
                Some((
                    _,
                    ConcernKind::HandOff {
                        rotation,
                        id,
                        begun_in: Some(profile),
                        ..
                    },
                )),
            ) => self.start_work(Job::HandOffAgain(rotation, id), profile, context),
            (Action::Resume, Some((profile, ConcernKind::Batch(batch)))) => {
                let opening = PaneRequest::Batch(batch.id, BatchAim::Resume);
                open_in(profile, opening, context);
            }
            (Action::Resume, Some((profile, ConcernKind::NotDone(batch, _)))) => {
                let opening = PaneRequest::Batch(batch.id, BatchAim::Retry);
                open_in(profile, opening, context);
            }
            (Action::Edit, Some((profile, ConcernKind::Draft(id, _)))) => {
                open_draft(profile, &id, context);
            }
            (Action::NextField, _) => {
                let on = self.selected(context).cloned();
                self.only_here = !self.only_here;
                self.stay_on(on.as_ref(), context);
            }
            (Action::Hide, _) => self.hide(context),
            (Action::ShowHidden, _) => {
                let on = self.selected(context).cloned();
                self.with_hidden = !self.with_hidden;
                self.stay_on(on.as_ref(), context);
            }
            _ => {}
        }
    }

    fn hint(&self, action: Action, context: &Context) -> Option<&'static str> {
        let is_hidden = |concern: &Concern| concern.hidden_until.is_some();
        match action {
            Action::NextField if self.only_here => Some("all profiles"),
            Action::Resume if self.selected(context).is_some_and(can_be_retried) => Some("RETRY"),
            Action::Hide if self.selected(context).is_some_and(is_hidden) => Some("show again"),
            Action::Refresh if self.check_target(context).is_none() => Some("refresh"),
            Action::ShowHidden if self.with_hidden => Some("without hidden"),
            _ => None,
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        let concern = self.selected(context);
        let kind = concern.map(|concern| &concern.kind);
        let (fits, why) = match action {
            Action::HandOff | Action::Refresh | Action::Hide if self.working.is_waiting() => {
                (false, "a row is being read")
            }
            Action::HandOff if matches!(kind, Some(ConcernKind::HandOff { .. })) => {
                return concern.and_then(|concern| why_not_hand_off(concern, context));
            }
            Action::Enter => (
                concern.is_some_and(|concern| concern.profile.is_some()),
                "no profile for this row's place",
            ),
            Action::HandOff => (false, "this row is no hand-off"),
            Action::Hide => (concern.is_some(), "no row here"),
            Action::ShowHidden => (
                self.with_hidden || self.hidden(context) > 0,
                "no row is hidden",
            ),
            Action::Resume => (
                matches!(kind, Some(ConcernKind::Batch(_))) || concern.is_some_and(can_be_retried),
                "no batch here to resume or retry",
            ),
            Action::Edit => (
                matches!(kind, Some(ConcernKind::Draft(..))),
                "this row is no draft",
            ),
            _ => (true, ""),
        };
        (!fits).then(|| why.into())
    }

    fn journal_changed(&mut self, context: &mut Context) {
        self.reload(context);
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.list.pending, &self.working]
    }

    fn leave(&mut self, context: &mut Context) {
        // A check or a hand-off continues; a message reports how it ended.
        context.give_up(&self.list.pending);
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::Attention(found) => self.take(found, context),
            Outcome::Done(done) => {
                let text = format!("Read {}", done.group.id);
                context.say(Severity::Done, text);
                self.reload(context);
            }
            Outcome::HandedOff(handed) => {
                if let Some(handed) = handed {
                    let (severity, text) = handoff::describe(handed);
                    context.say(severity, text);
                }
                self.reload(context);
            }
            Outcome::Recovered(_) => self.reload(context),
            Outcome::Hidden(until) => {
                let text = until.map_or_else(
                    || "The row is shown again".to_owned(),
                    |until| {
                        let key = context.keys.key(Focus::Attention, Action::ShowHidden);
                        let until = until.strftime("%d %b %H:%M UTC");
                        format!(
                            "Hidden until {until}, or until it changes; {key} shows hidden rows"
                        )
                    },
                );
                context.say(Severity::Done, text);
            }
            Outcome::Failed(error) | Outcome::NotHandedOff(error) => {
                context.say_error(error);
                self.reload(context);
            }
            _ => {}
        }
    }

    fn job_panicked(&mut self, context: &mut Context) {
        let key = context.keys.key(Focus::Attention, Action::Refresh);
        let text = format!("Internal error, stopped; {key} reads again");
        context.say(Severity::Error, text);
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}
