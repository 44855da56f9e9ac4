//! What would be sent, before it is sent: field by field, the exact request, and the service's own copy read just now
//! (hazard 4). Focus starts on *Back*.

mod view;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{Pane, View, edit::Edit, result::ResultPane, typed::Typed};
use crate::{
    config::guard,
    domain::{
        change::{Change, Foreign, Wanted, foreign_changes},
        group::{Mapping, UserGroupId},
        history::Ending,
        near::near,
    },
    operations::{Done, Guarded, Method, as_curl, request, request_json},
    tui::{
        desk::{Ask, Desk},
        keymap::{Action, Focus},
        level::{Asks, Level},
        message::{Job, Outcome, Ticket, Trouble},
        messages::Severity,
        scroll::Cursor,
    },
};

/// What is known of the service's own copy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Copy {
    /// A creation has none to compare with.
    NotAsked,
    Reading(Ticket),
    Read(Vec<Foreign>),
    /// Nothing may be sent after this (hazards 1 and 11).
    Alarm(String),
    Unreadable(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    Deciding,
    Sending(Ticket),
    Failed(Trouble),
}

#[derive(Debug)]
pub struct Review {
    id: UserGroupId,
    creating: bool,
    /// Known ids that may have been meant, before a creation (hazard 1).
    near: Vec<UserGroupId>,
    base: Wanted,
    wanted: Wanted,
    change: Change,
    copy: Copy,
    stage: Stage,
    asks: Asks,
    on_apply: bool,
    unchanged_too: bool,
    scroll: Cursor,
}

fn operation(creating: bool) -> Guarded {
    if creating {
        Guarded::Create
    } else {
        Guarded::Update
    }
}

/// Near ids shown before a creation.
const NEAR: usize = 3;

impl Review {
    /// Starts by reading the service's copy, unless the group is to be created.
    pub fn of(edit: &Edit, wanted: Wanted, desk: &mut Desk) -> Self {
        let copy = if edit.creating {
            Copy::NotAsked
        } else {
            Copy::Reading(desk.start(Job::LookUp(edit.id.clone())))
        };
        Self {
            id: edit.id.clone(),
            creating: edit.creating,
            near: if edit.creating {
                near(edit.id.as_str(), desk.groups.ids(), NEAR)
                    .into_iter()
                    .cloned()
                    .collect()
            } else {
                Vec::new()
            },
            change: Change::between(&edit.base, &wanted),
            base: edit.base.clone(),
            wanted,
            copy,
            stage: Stage::Deciding,
            asks: Asks::about(desk.profile(), operation(edit.creating)),
            on_apply: false,
            unchanged_too: false,
            scroll: Cursor::default(),
        }
    }

    fn apply_word(&self) -> &'static str {
        if self.creating { "Create" } else { "Apply" }
    }

    /// Why nothing can be sent now.
    fn blocked(&self, desk: &Desk) -> Option<String> {
        if let Some(why) = desk.forbidden(operation(self.creating)) {
            return Some(why);
        }
        match (&self.stage, &self.copy) {
            (Stage::Sending(_), _) => Some("it is being sent".into()),
            (Stage::Deciding | Stage::Failed(_), copy) => match copy {
                Copy::Reading(_) => Some("the service's copy is being read first".into()),
                Copy::Alarm(_) => Some("there is an alarm: see above".into()),
                Copy::Unreadable(_) => {
                    Some("the service's copy could not be read; r tries again".into())
                }
                Copy::NotAsked | Copy::Read(_) => None,
            },
        }
    }

    /// `y` sends it, unless a guard wants something typed first.
    fn confirm(&mut self, desk: &mut Desk) {
        let words = match self.asks.level {
            Level::Button | Level::Key => return self.apply(desk),
            Level::Typed => self.id.to_string(),
            Level::Words => {
                let profile = desk.profile().map_or("", |profile| profile.name.as_str());
                guard::words(operation(self.creating), &self.id, profile)
            }
        };
        let what = format!(
            "{} in this profile? Type this to send it:",
            self.apply_word()
        );
        let typed = Typed::asking(words, what, self.asks.guard.clone());
        desk.ask(Ask::Push(Pane::Typed(typed)));
    }

    fn apply(&mut self, desk: &mut Desk) {
        if let Some(why) = self.blocked(desk) {
            desk.say(Severity::Warning, format!("not sent: {why}"));
            return;
        }
        let job = if self.creating {
            Job::Create(self.id.clone(), self.wanted.clone())
        } else {
            Job::Update {
                id: self.id.clone(),
                base: self.base.clone(),
                wanted: self.wanted.clone(),
            }
        };
        self.stage = Stage::Sending(desk.start(job));
    }

    fn take_copy(&mut self, done: &Done, desk: &mut Desk) {
        if let Some(alarm) = done.warnings.iter().find(|warning| warning.is_alarm()) {
            self.copy = Copy::Alarm(alarm.to_string());
            desk.say(Severity::Error, alarm.to_string());
            return;
        }
        let now = Wanted::of(&done.group);
        let mut foreign = foreign_changes(&self.base, &now, &self.wanted);
        foreign.extend(self.foreign_mapping(&now));
        self.copy = Copy::Read(foreign);
    }

    /// The service never returns the mapping, but another operator of this directory may have sent one meanwhile.
    fn foreign_mapping(&self, now: &Wanted) -> Option<Foreign> {
        let theirs = now.mapping.as_ref()?;
        let text = |mapping: &Mapping| {
            let rows: Vec<String> = mapping.iter().map(|(k, v)| format!("{k}: {v}")).collect();
            rows.join(", ")
        };
        (self.base.mapping.as_ref() != Some(theirs)).then(|| Foreign {
            field: "mapping",
            base: self.base.mapping.as_ref().map(text),
            theirs: text(theirs),
            mine: self.wanted.mapping.as_ref().map(text),
        })
    }

    fn finish(&mut self, ticket: Ticket, done: &Done, desk: &mut Desk) {
        // A group that existed is unchanged: what was typed is still to be sent.
        if done.ending != Ending::Existed {
            desk.drafts.remove(&(desk.current, self.id.clone()));
        }
        desk.say(
            Severity::Done,
            format!("{} {}", self.id, done.ending.as_str().replace('_', " ")),
        );
        for warning in done.warnings.iter().filter(|warning| warning.is_alarm()) {
            desk.say(Severity::Error, format!("{}: {warning}", self.id));
        }
        let result = ResultPane::of(done.clone(), &self.wanted);
        desk.ask(Ask::Finish(ticket, Pane::Result(Box::new(result))));
    }
}

impl View for Review {
    fn focus(&self) -> Focus {
        match self.asks.level {
            Level::Button => Focus::Review,
            Level::Key | Level::Typed | Level::Words => Focus::ReviewKey,
        }
    }

    fn title(&self, _desk: &Desk) -> String {
        "Review".into()
    }

    fn status(&self, _desk: &Desk) -> String {
        match &self.stage {
            Stage::Deciding => "nothing is sent yet".into(),
            Stage::Sending(_) => "sending".into(),
            Stage::Failed(trouble) if trouble.ending == Some(Ending::Unknown) => "UNKNOWN".into(),
            Stage::Failed(_) => "failed".into(),
        }
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        if self.scroll.act(
            action,
            view::lines(self, desk),
            usize::from(desk.size.1 / 2),
        ) {
            return;
        }
        match action {
            Action::NextField | Action::PreviousField => self.on_apply = !self.on_apply,
            Action::Unchanged => self.unchanged_too = !self.unchanged_too,
            Action::Enter if self.on_apply && self.asks.level != Level::Button => {
                desk.say(
                    Severity::Info,
                    "Enter does nothing here: press y to send it",
                );
            }
            Action::Enter if self.on_apply => self.apply(desk),
            Action::Back | Action::Enter => {
                self.leave(desk);
                desk.ask(Ask::Pop);
            }
            Action::Confirm if self.asks.level != Level::Button => self.confirm(desk),
            Action::CopyMenu => {
                if let Some(profile) = desk.profile() {
                    let method = if self.creating {
                        Method::Get
                    } else {
                        Method::Put
                    };
                    let curl = as_curl(profile, method, &request(&self.id, &self.wanted));
                    desk.copy("curl command", &curl);
                }
            }
            Action::Refresh if !self.creating && !matches!(self.stage, Stage::Sending(_)) => {
                self.leave(desk);
                self.copy = Copy::Reading(desk.start(Job::LookUp(self.id.clone())));
            }
            _ => {}
        }
    }

    fn disabled(&self, action: Action, desk: &Desk) -> Option<String> {
        match action {
            Action::Confirm => self.blocked(desk),
            // A get of a group that a get has just created finds it: that is no all-clear.
            Action::Refresh if matches!(self.copy, Copy::Alarm(_)) => {
                Some("there is an alarm; Esc leaves".into())
            }
            Action::Enter if self.on_apply => self.blocked(desk),
            _ => None,
        }
    }

    fn confirmed(&mut self, desk: &mut Desk) {
        self.apply(desk);
    }

    fn leave(&mut self, desk: &mut Desk) {
        if let Copy::Reading(ticket) = self.copy {
            desk.cancel(ticket);
        }
        if matches!(self.stage, Stage::Sending(_)) {
            let text = format!("{} is being sent; a message says how it ended", self.id);
            desk.say(Severity::Info, text);
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        self.copy == Copy::Reading(ticket) || self.stage == Stage::Sending(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, desk: &mut Desk) {
        let sending = match self.stage {
            Stage::Sending(ticket) => Some(ticket),
            Stage::Deciding | Stage::Failed(_) => None,
        };
        match (outcome, sending) {
            (Outcome::Done(done), Some(ticket)) => self.finish(ticket, done, desk),
            (Outcome::Done(done), None) => self.take_copy(done, desk),
            (Outcome::Failed(trouble), Some(_)) => {
                desk.say(trouble.severity(), trouble.text.clone());
                self.stage = Stage::Failed(trouble.clone());
                self.scroll.at = 0;
            }
            (Outcome::Failed(trouble), None) => {
                desk.say(Severity::Error, trouble.text.clone());
                self.copy = if trouble.ending == Some(Ending::CreatedByGet) {
                    Copy::Alarm(trouble.text.clone())
                } else {
                    Copy::Unreadable(trouble.text.clone())
                };
            }
            (
                Outcome::Listed(_)
                | Outcome::OpenRotations(_)
                | Outcome::History(_)
                | Outcome::TokenWritten(_)
                | Outcome::Rotations(_)
                | Outcome::Recovered(_)
                | Outcome::Abandoned(_)
                | Outcome::Whose(_)
                | Outcome::PendingHandOffs(_)
                | Outcome::HandedOff(_)
                | Outcome::NotHandedOff(_)
                | Outcome::Batches(_)
                | Outcome::Planned(_)
                | Outcome::BulkEnded(_)
                | Outcome::ReportWritten(_)
                | Outcome::Checked(_)
                | Outcome::ProfileAdded(..)
                | Outcome::NotAdded(_),
                _,
            ) => {}
        }
    }

    fn lost(&mut self, _desk: &mut Desk) {
        if matches!(self.stage, Stage::Sending(_)) {
            self.stage = Stage::Failed(Trouble {
                text: "UNKNOWN whether it took effect: the job broke off inside groupdesk. Read the group to find out".into(),
                ending: Some(Ending::Unknown),
            });
        } else {
            self.copy =
                Copy::Unreadable("the read broke off inside groupdesk; r tries again".into());
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        view::draw(self, buffer, area, desk);
        None
    }
}

impl Review {
    fn request_text(&self) -> String {
        request_json(&request(&self.id, &self.wanted))
    }
}
