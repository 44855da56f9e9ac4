//! Connecting to a service: asks for what a profile needs, tests the connection without creating anything, and shows
//! the configuration lines before they are written. A pasted API key is stored in the kernel's keyring and nowhere
//! else.

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
    operations::ConnectionTest,
    tui::{
        keymap::{Action, Focus},
        kit::{scroll::Cursor, text_field::TextField},
        state::{
            context::{Context, Navigation},
            forms::connect::{ConnectForm, ConnectRow},
            message::{Job, Outcome, Ticket},
            notices::Severity,
        },
    },
};

#[derive(Debug)]
enum Stage {
    Form,
    Checking(Ticket),
    Checked(Box<ConnectionTest>),
    Writing(Ticket, Box<ConnectionTest>),
}

#[derive(Debug)]
pub struct Connect {
    form: ConnectForm,
    /// The profile that was tested; the form may have been changed since.
    new: Option<NewProfile>,
    stage: Stage,
    scroll: Cursor,
}

impl Connect {
    /// Opens an empty form, or restores what was typed when it was left.
    pub fn open(context: &mut Context) -> Self {
        Self {
            form: context.connecting.take().unwrap_or_default(),
            new: None,
            stage: Stage::Form,
            scroll: Cursor::default(),
        }
    }

    fn test(&mut self, context: &mut Context) {
        let Some(new) = self.form.wanted() else {
            context
                .messages
                .refuse(context.now, "Something is missing: see the form");
            return;
        };
        let job = Job::Check(Box::new(new.clone()), self.form.key());
        self.new = Some(new);
        self.stage = Stage::Checking(context.start(job));
    }

    fn write(&mut self, context: &mut Context) {
        let (Stage::Checked(checkup), Some(new)) = (&self.stage, &self.new) else {
            return;
        };
        if context
            .running
            .values()
            .any(|running| running.job.adds_profile)
        {
            // One at a time: the number of a profile is its position.
            context.say(Severity::Warning, "Another profile is still being written");
            return;
        }
        let checkup = checkup.clone();
        let key: Option<Token> = self.form.key();
        let new = NewProfile {
            read_only: checkup.profile.read_only,
            ..new.clone()
        };
        let ticket = context.start(Job::AddProfile(Box::new(new), key));
        self.stage = Stage::Writing(ticket, checkup);
    }

    fn give_up_test(&mut self, context: &mut Context) {
        if let Stage::Checking(ticket) = self.stage {
            context.cancel(ticket);
        }
        self.stage = Stage::Form;
    }
}

impl View for Connect {
    fn focus(&self) -> Focus {
        match self.stage {
            Stage::Form if self.form.0.is_on_text() => Focus::ConnectField,
            Stage::Form => Focus::ConnectChoice,
            Stage::Checking(_) | Stage::Checked(_) | Stage::Writing(..) => Focus::ConnectCheck,
        }
    }

    fn title(&self, _context: &Context) -> String {
        "Connect".into()
    }

    fn status(&self, _context: &Context) -> String {
        match &self.stage {
            Stage::Form => "nothing is saved yet".into(),
            Stage::Checking(_) => "testing; nothing is created".into(),
            Stage::Checked(checkup) if !checkup.is_good() => {
                "test failed; nothing is saved yet".into()
            }
            Stage::Checked(_) => "tested; nothing is saved yet".into(),
            Stage::Writing(..) => "saving".into(),
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if let Stage::Checked(checkup) = &self.stage {
            let lines = view::lines(checkup, &self.form, context);
            if self
                .scroll
                .act(action, lines, usize::from(context.size.1 / 2))
            {
                return;
            }
        }
        match action {
            Action::NextField => self.form.0.go(true),
            Action::PreviousField => self.form.0.go(false),
            Action::Review => self.test(context),
            Action::WriteFile => self.write(context),
            Action::Refresh if matches!(self.stage, Stage::Checked(_)) => self.test(context),
            Action::Back if matches!(self.stage, Stage::Checking(_) | Stage::Checked(_)) => {
                self.give_up_test(context);
            }
            Action::Back => self.pop(context),
            _ => {}
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.form.0.field()
    }

    fn takes_secrets(&self) -> bool {
        self.form.0.key() == ConnectRow::Key
    }

    fn input(&mut self, key: KeyEvent, _context: &mut Context) {
        if matches!(self.stage, Stage::Form) {
            self.form.0.input(key);
            self.form.show_source();
        }
    }

    fn paste(&mut self, text: &str, context: &mut Context) -> bool {
        let is_form = matches!(self.stage, Stage::Form);
        if is_form && !self.form.0.paste(text.trim()) {
            context.say(
                Severity::Info,
                "Pasted text goes into fields only; this is a choice",
            );
        }
        is_form
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match (action, &self.stage) {
            (Action::WriteFile, Stage::Checking(_)) => Some("the test is running".into()),
            (Action::WriteFile, Stage::Writing(..)) => Some("it is being written".into()),
            (Action::Refresh, Stage::Checked(_)) => None,
            (Action::Refresh, _) => Some("nothing to refresh".into()),
            _ => needs_a_profile(action, context),
        }
    }

    fn leave(&mut self, context: &mut Context) {
        self.give_up_test(context);
        context.connecting = self.form.without_key();
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        matches!(self.stage, Stage::Checking(mine) | Stage::Writing(mine, _) if mine == ticket)
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        if let Outcome::Checked(checkup) = outcome {
            self.stage = Stage::Checked(checkup.clone());
            self.scroll.at = 0;
        } else if let Outcome::ProfileAdded(index, profile) = outcome {
            context.say(Severity::Done, format!("Profile {} is saved", profile.name));
            self.stage = Stage::Form;
            self.form = ConnectForm::default();
            context.navigate(Navigation::SwitchTo(*index));
        } else if let Outcome::NotAdded(problems) = outcome {
            self.stage = Stage::Form;
            let rest = self.form.take_problems(problems);
            if rest.is_empty() {
                context
                    .messages
                    .refuse(context.now, "Not possible yet: see the form");
            }
            for text in rest {
                context.say(Severity::Error, text);
            }
        }
    }

    fn job_panicked(&mut self, context: &mut Context) {
        if matches!(self.stage, Stage::Writing(..)) {
            context.say(
                Severity::Error,
                "Write interrupted, check the configuration file",
            );
        }
        self.stage = Stage::Form;
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}
