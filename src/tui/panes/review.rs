//! What would be sent, before it is sent: field by field, the exact request, and the service's own copy read just now
//! (hazard 4). Focus starts on *Back*.

mod view;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{Pane, View, edit::Edit, result::ResultPane};
use crate::{
    domain::{
        change::{Change, Foreign, Wanted, foreign_changes},
        group::UserGroupId,
        history::Ending,
    },
    operations::{Done, Method, as_curl, request, request_json},
    tui::{
        desk::{Ask, Desk},
        keymap::{Action, Focus},
        level::{Level, of_change},
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
    base: Wanted,
    wanted: Wanted,
    change: Change,
    copy: Copy,
    stage: Stage,
    on_apply: bool,
    unchanged_too: bool,
    scroll: Cursor,
}

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
            change: Change::between(&edit.base, &wanted),
            base: edit.base.clone(),
            wanted,
            copy,
            stage: Stage::Deciding,
            on_apply: false,
            unchanged_too: false,
            scroll: Cursor::default(),
        }
    }

    fn level(desk: &Desk) -> Level {
        desk.profile().map_or(Level::Key, of_change)
    }

    fn apply_word(&self) -> &'static str {
        if self.creating { "Create" } else { "Apply" }
    }

    /// Why nothing can be sent now.
    fn blocked(&self, desk: &Desk) -> Option<String> {
        if let Some(why) = desk.read_only_reason() {
            return Some(why.to_owned());
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
        self.copy = Copy::Read(foreign_changes(&self.base, &now, &self.wanted));
    }

    fn finish(&mut self, done: &Done, desk: &mut Desk) {
        desk.drafts.remove(&(desk.current, self.id.clone()));
        desk.ask(Ask::Home);
        let result = ResultPane::of(done.clone(), &self.wanted);
        desk.ask(Ask::Push(Pane::Result(Box::new(result))));
    }
}

impl View for Review {
    fn focus(&self) -> Focus {
        Focus::Review
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
            Action::Back => desk.ask(Ask::Pop),
            Action::Enter if !self.on_apply => desk.ask(Ask::Pop),
            Action::Enter => match Self::level(desk) {
                Level::Button => self.apply(desk),
                Level::Key | Level::Typed => {
                    desk.say(Severity::Info, "this is production: press y to send it");
                }
            },
            Action::Confirm => match Self::level(desk) {
                Level::Key | Level::Typed => self.apply(desk),
                Level::Button => desk.say(Severity::Info, "Tab to the button, then Enter"),
            },
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
                if let Copy::Reading(ticket) = self.copy {
                    desk.cancel(ticket);
                }
                self.copy = Copy::Reading(desk.start(Job::LookUp(self.id.clone())));
            }
            _ => {}
        }
    }

    fn disabled(&self, action: Action, desk: &Desk) -> Option<String> {
        match action {
            Action::Confirm => self.blocked(desk),
            Action::Enter if self.on_apply => self.blocked(desk),
            _ => None,
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        self.copy == Copy::Reading(ticket) || self.stage == Stage::Sending(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, desk: &mut Desk) {
        let sending = matches!(self.stage, Stage::Sending(_));
        match outcome {
            Outcome::Done(done) if sending => self.finish(done, desk),
            Outcome::Done(done) => self.take_copy(done, desk),
            Outcome::Failed(trouble) if sending => {
                desk.say(trouble.severity(), trouble.text.clone());
                self.stage = Stage::Failed(trouble.clone());
                self.scroll.at = 0;
            }
            Outcome::Failed(trouble) => {
                desk.say(Severity::Error, trouble.text.clone());
                self.copy = if trouble.ending == Some(Ending::CreatedByGet) {
                    Copy::Alarm(trouble.text.clone())
                } else {
                    Copy::Unreadable(trouble.text.clone())
                };
            }
            Outcome::Listed(_)
            | Outcome::OpenRotations(_)
            | Outcome::History(_)
            | Outcome::TokenWritten(_) => {}
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
