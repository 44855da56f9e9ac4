//! Connecting to a service: asks for what a profile needs, tests the connection without creating anything, and shows
//! the configuration lines before they are written. A pasted API key is stored in the kernel's keyring and nowhere
//! else.
//!
//! Draws the form for a new profile and the result of the test.
//!
//! The first screen when no profile exists: connect to a service or try the demo, each with one key.

use crossterm::event::KeyEvent;

use super::prelude::*;
use crate::{
    config::new_profile::NewProfile,
    domain::Token,
    operations::{ConnectionTest, Finding, Probe},
    tui::{
        kit::write_waiting,
        state::{ConnectForm, ConnectRow, ExitReason, forms::LABELS},
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
            context.refuse("Something is missing: see the form");
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
            let (width, rows) = page_room(context.size);
            let lines = self.checked(checkup, width, context).last_scroll(rows) + 1;
            if self.scroll.act(action, lines, context.half_page()) {
                return;
            }
        }
        match action {
            Action::NextField | Action::PreviousField => {
                let names = context.profiles.iter().map(|profile| profile.name.as_str());
                self.form.check_left(names);
                self.form.0.go(action == Action::NextField);
            }
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
            (Action::WriteFile, Stage::Writing(..)) => Some("the profile is being saved".into()),
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
        } else if let Outcome::ProfileAdded(index, profile, _) = outcome {
            context.say(Severity::Done, format!("Profile {} is saved", profile.name));
            self.stage = Stage::Form;
            self.form = ConnectForm::default();
            context.navigate(Navigation::SwitchTo(*index));
        } else if let Outcome::NotAdded(problems) = outcome {
            self.stage = Stage::Form;
            let rest = self.form.take_problems(problems);
            if rest.is_empty() {
                context.refuse("Not possible yet: see the form");
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
                "Saving was interrupted; check the configuration file",
            );
        }
        self.stage = Stage::Form;
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let inner = page_box(buffer, area, "Connect to a service", context.theme);
        match &self.stage {
            Stage::Form => return self.draw_form(buffer, inner, context),
            Stage::Checking(ticket) => {
                let mut page = TextPage::new(inner.width, context.theme);
                page.heading("Testing the connection.");
                page.dim("Tests name, connection and one request, which the service can only refuse. Creates nothing.");
                if let Some(line) = context.waiting(Some(*ticket)) {
                    page.blank();
                    write_waiting(&mut page, &line, context.theme);
                }
                page.draw(buffer, inner, 0);
            }
            Stage::Checked(checkup) | Stage::Writing(_, checkup) => {
                self.checked(checkup, inner.width, context)
                    .draw(buffer, inner, self.scroll.at);
            }
        }
        None
    }
}

impl Connect {
    fn draw_form(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let theme = context.theme;
        let (rows, cursor) = self.form.0.draw(buffer, area, LABELS, theme);
        let rest = below(area, rows + 1);
        let mut page = TextPage::new(area.width, theme);
        let key = context.keys.key(Focus::ConnectField, Action::Review);
        let text = format!(
            "{key} tests the connection: nothing is created, and nothing is saved before you have seen it."
        );
        page.dim(&text);
        if self.form.is_of_keyring() {
            page.dim(
                "The keyring is in memory: the key is never on disk, and is lost after a reboot.",
            );
        }
        page.draw_still(buffer, rest);
        cursor
    }

    fn checked(&self, checkup: &ConnectionTest, width: u16, context: &Context) -> TextPage {
        let theme = context.theme;
        let mut page = TextPage::new(width, theme);
        match &checkup.probe {
            Ok(probe) => found(&mut page, probe, context),
            Err(why) => page.error(why),
        }
        page.blank();
        let edit = &checkup.edit;
        let (what, file) = (edit.is_new_file(), edit.file.display());
        let heading = if what {
            format!("A new file, which only you can read: {file}")
        } else {
            format!("Lines to add to {file}; nothing else changes:")
        };
        page.heading(&heading);
        for line in edit.lines.lines() {
            page.indented(2, line, theme.key_hint());
        }
        if self.form.key().is_some() {
            page.dim("The key goes into the kernel keyring, not into the file.");
        }
        page.blank();
        let word = checkup.profile.environment_word();
        let key = |action| context.keys.key(Focus::ConnectCheck, action);
        let (write, back) = (key(Action::WriteFile), key(Action::Back));
        let next = if checkup.is_good() {
            format!(
                "{write} saves the profile and opens the list ({word}). {back} goes back to the form."
            )
        } else {
            format!("{back} goes back to the form. {write} saves the profile anyway ({word}).")
        };
        page.text(&next, Style::new());
        page
    }
}

fn found(page: &mut TextPage, probe: &Probe, context: &Context) {
    let theme = context.theme;
    let style = match probe.finding {
        Finding::Accepted => theme.ok(),
        Finding::MayNotChange | Finding::Busy => theme.warning(),
        Finding::NotFound
        | Finding::KeyRefused
        | Finding::Slash
        | Finding::Redirected
        | Finding::WebPage
        | Finding::ServiceFailed
        | Finding::Strange
        | Finding::NoAnswer
        | Finding::NotReached => theme.error(),
    };
    page.text(&probe.text, style);
    page.blank();
    for step in &probe.steps {
        let (text, style) = match &step.result {
            Ok(text) => (text, Style::new()),
            Err(text) => (text, theme.error()),
        };
        let text = format!("{}: {text}, {} ms", step.what, step.took.as_millis());
        page.indented(2, &text, style);
    }
}

#[derive(Debug)]
pub struct Welcome {
    /// The path where the configuration would be.
    pub config_file: String,
}

/// Why an action is not possible while there is no profile.
pub fn needs_a_profile(action: Action, context: &Context) -> Option<String> {
    let mut opened = Focus::OPENED.iter();
    let needs = matches!(action, Action::Groups | Action::OpenOrCreate)
        || opened.any(|(opened, _)| *opened == action);
    (needs && context.profile().is_none()).then(|| "no profile is configured yet".into())
}

impl View for Welcome {
    fn focus(&self) -> Focus {
        Focus::Welcome
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        match action {
            Action::Connect => {
                context.open_pane(PaneRequest::Connect);
            }
            Action::Demo => context.navigate(Navigation::Leave(ExitReason::Demo)),
            Action::Back | Action::Quit => context.navigate(Navigation::Leave(ExitReason::Asked)),
            _ => {}
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        needs_a_profile(action, context)
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let inner = titled(buffer, area, "groupdesk", true, context.theme);
        let mut page = TextPage::new(inner.width, context.theme);
        let plain = Style::new();
        let key = context.theme.key_hint();
        page.heading("No profile is configured yet.");
        page.blank();
        let keys =
            [Action::Connect, Action::Demo].map(|action| context.keys.key(Focus::Welcome, action));
        let width = keys.iter().map(String::len).max().unwrap_or(0);
        let [connect, demo] = keys.map(|key| format!("{key:width$}"));
        page.pieces(vec![
            (connect, key),
            ("  connect to a service".into(), context.theme.title()),
        ]);
        let indent = width + 2;
        page.indented(indent, "Asks for its URL and the source of the API key, and tests the connection without creating anything.", plain);
        page.indented(
            indent,
            &format!("Saves the profile to {}", self.config_file),
            plain,
        );
        page.blank();
        page.pieces(vec![
            (demo, key),
            ("  try the demo".into(), context.theme.title()),
        ]);
        page.indented(
            indent,
            "Runs a sample service on this machine; deleted when you quit.",
            plain,
        );
        page.blank();
        page.dim("Without a file: set GROUPDESK_BASE_URL and GROUPDESK_API_KEY.");
        page.draw(buffer, inner, 0);
        None
    }
}
