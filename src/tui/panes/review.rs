//! What would be sent, before it is sent: field by field, the exact request, and the service's own copy read just now
//! (hazard 4).

mod choices;
mod sending;
mod view;

use self::choices::Choices;
use super::prelude::*;
use crate::{
    domain::{Change, update::Plan},
    search::suggest::similar,
    tui::state::{ConfirmationLevel, JobError, Proposal, Weight},
};

/// State of the service's own copy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RemoteCopy {
    /// A creation has no copy to compare with.
    NotAsked,
    Reading(Ticket),
    Read(Box<Choices>),
    /// Nothing may be sent after this (hazards 1 and 11).
    Alarm(String),
    Unreadable(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    Deciding,
    Sending(Ticket),
    Failed(JobError),
}

/// What the page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    Difference,
    Json,
    Curl,
}

impl Page {
    fn next(self) -> Self {
        match self {
            Self::Difference => Self::Json,
            Self::Json => Self::Curl,
            Self::Curl => Self::Difference,
        }
    }
}

#[derive(Debug)]
pub struct Review {
    /// What the form submitted.
    asked: Proposal,
    /// For a creation: known ids that may have been meant (hazard 1).
    similar: Vec<UserGroupId>,
    /// The current values at the service once its copy has been read; before that, those that the edit began with.
    now: DesiredFields,
    /// The values to send: what was typed, subject to the choices.
    wanted: DesiredFields,
    change: Change,
    /// What of it is sent, and the objections to sending it.
    plan: Plan,
    /// The group as it was read, and the known behaviour of the place.
    read: Option<Box<Done>>,
    /// The choices made before the copy was read again.
    chosen: Option<Box<Choices>>,
    /// The saved values had changed when it was to be sent, and no key but the one that sends was pressed since they were
    /// read again: it may be held down.
    is_unseen: bool,
    copy: RemoteCopy,
    /// The read of who changed it meanwhile.
    authors: Pending,
    stage: Stage,
    confirmation: ConfirmationLevel,
    /// The key that sends it; or that asks for the words, at the levels that need them.
    confirm: Confirm,
    unchanged_too: bool,
    page: Page,
    scroll: Cursor,
    /// The lines of the difference that have been on the screen: what is not seen is not confirmed.
    seen: usize,
    /// Their width: at another one, lines hold another part of it.
    seen_at: u16,
}

fn operation(creating: bool) -> Guarded {
    if creating {
        Guarded::Create
    } else {
        Guarded::Update
    }
}

/// Maximum number of similar ids shown for a creation.
const MAX_SIMILAR: usize = 3;

impl Review {
    /// Starts by reading the service's copy, unless the group is to be created.
    pub fn of(asked: Proposal, context: &mut Context) -> Self {
        let weight = Weight {
            undoes: asked.restores,
            is_blind: false,
        };
        let operation = operation(asked.creating);
        let confirmation = ConfirmationLevel::of(context.profile(), operation, weight);
        let (copy, alike) = if asked.creating {
            let known = context.groups.ids();
            let alike = similar(asked.id.as_str(), known, MAX_SIMILAR);
            (RemoteCopy::NotAsked, alike)
        } else {
            let ticket = context.start(Job::LookUp(asked.id.clone()));
            (RemoteCopy::Reading(ticket), Vec::new())
        };
        let alike = alike.into_iter();
        let similar = alike.filter_map(|id| UserGroupId::parse(id).ok());
        let mut review = Self {
            similar: similar.collect(),
            change: Change::between(&asked.base, &asked.wanted),
            now: asked.base.clone(),
            wanted: asked.wanted.clone(),
            plan: Plan {
                send: asked.wanted.clone(),
                ..Plan::default()
            },
            read: None,
            chosen: None,
            is_unseen: false,
            copy,
            authors: Pending::default(),
            stage: Stage::Deciding,
            confirmation,
            confirm: Confirm::with_key(Focus::Review),
            unchanged_too: false,
            page: Page::Difference,
            scroll: Cursor::default(),
            seen: 0,
            seen_at: 0,
            asked,
        };
        review.ask(context);
        review
    }

    /// Why nothing can be sent now.
    fn why_blocked(&self, context: &Context) -> Option<String> {
        if let Some(why) = context.why_forbidden(operation(self.asked.creating)) {
            return Some(why);
        }
        match (&self.stage, &self.copy) {
            (Stage::Sending(_), _) => Some("it is being sent".into()),
            (Stage::Deciding | Stage::Failed(_), copy) => match copy {
                RemoteCopy::Reading(_) => Some("the service's copy is being read first".into()),
                RemoteCopy::Alarm(_) => Some("stopped: read the alarm above".into()),
                RemoteCopy::Unreadable(_) => Some("the service's copy could not be read".into()),
                RemoteCopy::Read(_) if self.is_unseen => {
                    let key = context.keys.key(self.focus(), Action::Down);
                    Some(format!(
                        "the saved values have just changed: check them first; {key} continues"
                    ))
                }
                RemoteCopy::NotAsked | RemoteCopy::Read(_) => None,
            },
        }
    }
}

impl View for Review {
    fn focus(&self) -> Focus {
        self.confirm.focus()
    }

    fn status(&self, _context: &Context) -> String {
        match &self.stage {
            Stage::Deciding => "nothing is sent yet".into(),
            Stage::Sending(_) => "sending".into(),
            Stage::Failed(error) if error.ending == Some(Ending::Unknown) => "UNKNOWN".into(),
            Stage::Failed(error) if error.is_cancelled => "cancelled, nothing was sent".into(),
            Stage::Failed(_) => "failed".into(),
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        // Reading again shows nothing yet.
        self.is_unseen &= action == Action::Refresh;
        if self.step(action, context) {
            return;
        }
        if self
            .scroll
            .act(action, view::lines(self, context), context.half_page())
        {
            return;
        }
        match action {
            Action::Unchanged => {
                self.unchanged_too = !self.unchanged_too;
                // The lines are others now.
                self.seen = 0;
            }
            Action::OtherView => {
                self.page = self.page.next();
                self.scroll.at = 0;
            }
            Action::Choose if !matches!(self.stage, Stage::Sending(_)) => {
                if let Some(choices) = self.choices() {
                    choices.toggle();
                    self.recompute(context);
                    view::show_choice(self, context);
                }
            }
            Action::Back => self.pop(context),
            Action::CopyCurl => {
                if let Some(curl) = self.curl(context) {
                    context.copy("curl command", &curl);
                }
            }
            Action::Refresh => {
                self.leave(context);
                self.read_again(context);
            }
            _ => {}
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::Confirm => self.why_blocked(context),
            Action::Unchanged if self.page != Page::Difference => {
                Some("this view shows the whole request".into())
            }
            Action::Refresh if self.asked.creating => Some("the group is yet to be created".into()),
            Action::Refresh if matches!(self.stage, Stage::Sending(_)) => {
                Some("it is being sent".into())
            }
            // A get may have created the group, and another get would find it: that would be no all-clear.
            Action::Refresh if matches!(self.copy, RemoteCopy::Alarm(_)) => {
                let key = context.keys.key(self.focus(), Action::Back);
                Some(format!("stopped: read the alarm; {key} leaves"))
            }
            Action::Choose => match &self.copy {
                _ if matches!(self.stage, Stage::Sending(_)) => Some("it is being sent".into()),
                RemoteCopy::Read(choices) if choices.count() > 0 => {
                    let key = context.keys.key(self.focus(), Action::OtherView);
                    let text = format!("the choices are in the difference: {key} goes there");
                    (self.page != Page::Difference).then_some(text)
                }
                RemoteCopy::Read(_)
                | RemoteCopy::NotAsked
                | RemoteCopy::Reading(_)
                | RemoteCopy::Alarm(_)
                | RemoteCopy::Unreadable(_) => Some("nothing to choose".into()),
            },
            _ => None,
        }
    }

    fn hint(&self, action: Action, _context: &Context) -> Option<&'static str> {
        let is_stuck = matches!(self.stage, Stage::Failed(_))
            || matches!(self.copy, RemoteCopy::Unreadable(_));
        match action {
            Action::Confirm => self.confirm.verb(),
            Action::Refresh if is_stuck => Some("read again"),
            _ => None,
        }
    }

    fn confirm(&self) -> Option<&Confirm> {
        Some(&self.confirm)
    }

    fn confirm_mut(&mut self) -> Option<&mut Confirm> {
        Some(&mut self.confirm)
    }

    fn sync(&mut self, context: &mut Context) {
        if let Some((width, seen)) = view::seen(self, context) {
            let is_same = std::mem::replace(&mut self.seen_at, width) == width;
            self.seen = if is_same { self.seen.max(seen) } else { seen };
        }
    }

    fn carry_out(&mut self, context: &mut Context) {
        if self.shows_the_rest(context) {
            return;
        }
        match self.words(context) {
            None => self.apply(context),
            Some(words) => self.ask_for(words, context),
        }
    }

    fn confirmed(&mut self, context: &mut Context) {
        self.apply(context);
    }

    fn leave(&mut self, context: &mut Context) {
        if let RemoteCopy::Reading(ticket) = self.copy {
            context.cancel(ticket);
        }
        context.give_up(&self.authors);
        if matches!(self.stage, Stage::Sending(_)) {
            let id = &self.asked.id;
            let text = format!("{id} is being sent; a message reports the result");
            context.say(Severity::Info, text);
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.authors]
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        self.copy == RemoteCopy::Reading(ticket)
            || self.stage == Stage::Sending(ticket)
            || self.authors.waits_for(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        let sending = match self.stage {
            Stage::Sending(ticket) => Some(ticket),
            Stage::Deciding | Stage::Failed(_) => None,
        };
        if let Outcome::History(entries) = outcome {
            if let RemoteCopy::Read(choices) = &mut self.copy {
                choices.name_authors(entries);
            }
        } else if let Outcome::Done(done) = outcome {
            match sending {
                Some(ticket) => self.finish(ticket, done, context),
                None => self.take_copy(done, context),
            }
        } else if let Outcome::Failed(error) = outcome {
            if sending.is_some() {
                context.say_error(error);
                self.stage = Stage::Failed(error.clone());
                self.scroll.at = 0;
                if error.ending == Some(Ending::CreatedByGet) || error.wrong_environment {
                    self.copy = RemoteCopy::Alarm(error.text.clone());
                } else if error.is_outdated {
                    // The choices are there.
                    self.page = Page::Difference;
                    self.read_again(context);
                }
                return;
            }
            context.say_error(error);
            if matches!(self.copy, RemoteCopy::Read(_)) {
                // Only who changed it is not known.
                return;
            }
            self.copy = if error.ending == Some(Ending::CreatedByGet) {
                RemoteCopy::Alarm(error.text.clone())
            } else {
                RemoteCopy::Unreadable(error.text.clone())
            };
        }
    }

    fn job_panicked(&mut self, context: &mut Context) {
        if matches!(self.stage, Stage::Sending(_)) {
            self.stage = Stage::Failed(JobError::unknown(
                "UNKNOWN whether it took effect: internal error, stopped. Read the group to find out",
            ));
        } else if !matches!(self.copy, RemoteCopy::Read { .. }) {
            let key = context.keys.key(self.focus(), Action::Refresh);
            let text = format!("Internal error, the read stopped; {key} tries again");
            self.copy = RemoteCopy::Unreadable(text);
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}
