//! Connect to a service: what a profile needs is asked for, the connection is tested without creating anything, and the
//! lines are shown before they are written. A pasted key goes to the kernel's keyring and nowhere else.

mod view;

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{View, welcome::needs_a_profile};
use crate::{
    config::new_profile::NewProfile,
    domain::token::Token,
    operations::Checkup,
    tui::{
        forms::connect::Form,
        keymap::{Action, Focus},
        state::{
            context::{Ask, Desk},
            message::{Job, Outcome, Ticket},
            notices::Severity,
        },
        widgets::scroll::Cursor,
    },
};

#[derive(Debug)]
enum Stage {
    Form,
    Checking(Ticket),
    Checked(Box<Checkup>),
    Writing(Ticket, Box<Checkup>),
}

#[derive(Debug)]
pub struct Connect {
    form: Form,
    /// What was tested; the form may go on being changed.
    new: Option<NewProfile>,
    stage: Stage,
    scroll: Cursor,
}

impl Connect {
    /// An empty form, or what was typed when it was left.
    pub fn open(desk: &mut Desk) -> Self {
        Self {
            form: desk.connecting.take().unwrap_or_default(),
            new: None,
            stage: Stage::Form,
            scroll: Cursor::default(),
        }
    }

    fn test(&mut self, desk: &mut Desk) {
        let Some(new) = self.form.wanted() else {
            desk.messages
                .refuse(desk.now, "something is missing: see the form");
            return;
        };
        let job = Job::Check(Box::new(new.clone()), self.form.key());
        self.new = Some(new);
        self.stage = Stage::Checking(desk.start(job));
    }

    fn write(&mut self, desk: &mut Desk) {
        let (Stage::Checked(checkup), Some(new)) = (&self.stage, &self.new) else {
            return;
        };
        if desk.running.values().any(|running| running.adds_profile) {
            // One after the other: a profile has the number of its place.
            desk.say(Severity::Warning, "another profile is still being written");
            return;
        }
        let checkup = checkup.clone();
        let key: Option<Token> = self.form.key();
        let ticket = desk.start(Job::AddProfile(Box::new(new.clone()), key));
        self.stage = Stage::Writing(ticket, checkup);
    }

    fn give_up_test(&mut self, desk: &mut Desk) {
        if let Stage::Checking(ticket) = self.stage {
            desk.cancel(ticket);
        }
        self.stage = Stage::Form;
    }
}

impl View for Connect {
    fn focus(&self) -> Focus {
        match self.stage {
            Stage::Form if self.form.is_on_text() => Focus::ConnectField,
            Stage::Form => Focus::ConnectChoice,
            Stage::Checking(_) | Stage::Checked(_) | Stage::Writing(..) => Focus::ConnectCheck,
        }
    }

    fn title(&self, _desk: &Desk) -> String {
        "Connect".into()
    }

    fn status(&self, _desk: &Desk) -> String {
        match self.stage {
            Stage::Form => "nothing is written yet".into(),
            Stage::Checking(_) => "testing; nothing is created".into(),
            Stage::Checked(_) => "tested; nothing is written yet".into(),
            Stage::Writing(..) => "writing".into(),
        }
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        if let Stage::Checked(checkup) = &self.stage {
            let lines = view::lines(checkup, &self.form, desk);
            if self.scroll.act(action, lines, usize::from(desk.size.1 / 2)) {
                return;
            }
        }
        match action {
            Action::NextField => self.form.go(true),
            Action::PreviousField => self.form.go(false),
            Action::Review => self.test(desk),
            Action::WriteFile => self.write(desk),
            Action::Refresh if matches!(self.stage, Stage::Checked(_)) => self.test(desk),
            Action::Back if matches!(self.stage, Stage::Checking(_) | Stage::Checked(_)) => {
                self.give_up_test(desk);
            }
            Action::Back => {
                self.leave(desk);
                desk.ask(Ask::Pop);
            }
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, _desk: &mut Desk) {
        if matches!(self.stage, Stage::Form) {
            self.form.input(key);
        }
    }

    fn paste(&mut self, text: &str, desk: &mut Desk) -> bool {
        let is_form = matches!(self.stage, Stage::Form);
        if is_form && !self.form.paste(text) {
            desk.say(
                Severity::Info,
                "pasted text goes into fields only; this is a choice",
            );
        }
        is_form
    }

    fn disabled(&self, action: Action, desk: &Desk) -> Option<String> {
        match (action, &self.stage) {
            (Action::WriteFile, Stage::Checking(_)) => Some("the test is under way".into()),
            (Action::WriteFile, Stage::Writing(..)) => Some("it is being written".into()),
            (Action::Refresh, Stage::Checked(_)) => None,
            (Action::Refresh, _) => Some("nothing to read".into()),
            _ => needs_a_profile(action, desk),
        }
    }

    fn leave(&mut self, desk: &mut Desk) {
        self.give_up_test(desk);
        desk.connecting = self.form.without_key();
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        matches!(self.stage, Stage::Checking(mine) | Stage::Writing(mine, _) if mine == ticket)
    }

    fn answer(&mut self, outcome: &Outcome, desk: &mut Desk) {
        if let Outcome::Checked(checkup) = outcome {
            self.stage = Stage::Checked(checkup.clone());
            self.scroll.at = 0;
        } else if let Outcome::ProfileAdded(index, profile) = outcome {
            desk.say(
                Severity::Done,
                format!("profile {} is written", profile.name),
            );
            self.stage = Stage::Form;
            self.form = Form::default();
            desk.ask(Ask::SwitchTo(*index));
        } else if let Outcome::NotAdded(problems) = outcome {
            self.stage = Stage::Form;
            let rest = self.form.take_problems(problems);
            if rest.is_empty() {
                desk.messages
                    .refuse(desk.now, "not possible yet: see the form");
            }
            for text in rest {
                desk.say(Severity::Error, text);
            }
        }
    }

    fn lost(&mut self, desk: &mut Desk) {
        if matches!(self.stage, Stage::Writing(..)) {
            desk.say(
                Severity::Error,
                "the writing broke off; look at the configuration file",
            );
        }
        self.stage = Stage::Form;
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        view::draw(self, buffer, area, desk)
    }
}
