//! The console as a state: messages in, effects out. Pure: no I/O, no await, no clock; the time comes with the message.

pub(in crate::tui) mod batches;
mod drafts;
pub(in crate::tui) mod handoff;
mod leaving;
mod outcomes;
mod places;
mod settling;

use crossterm::event::{KeyEvent, KeyEventKind, MouseEvent};
use jiff::Timestamp;

use super::{
    context::{Ask, Desk},
    message::{Effect, Job, Msg, Outcome, ProfileIndex, Ticket},
    notices::Severity,
};
use crate::{
    domain::known::KnownGroup,
    tui::{
        Farewell,
        keymap::{Action, Press, mouse},
        panes::{
            Pane, View, help::Help, history::History, inspector::Inspector, list::List,
            messages::MessagesPane, open::Open, profiles::Profiles, rotations::Rotations, token,
            token_lookup::Whose, welcome::Welcome,
        },
    },
};

#[derive(Debug)]
pub struct App {
    pub desk: Desk,
    /// The top one has the keys; the bottom one is the list, or the welcome.
    pub stack: Vec<Pane>,
    /// The last Ctrl-C or `q` that was answered with "again to quit"; only the same again is meant.
    warned: Option<(Action, Timestamp)>,
    /// Leaving once the writes are done.
    leaving: Option<Farewell>,
}

impl App {
    /// Opens on the list of the current profile, or on the welcome where there is none.
    pub fn new(mut desk: Desk, config_file: String) -> Self {
        let bottom = if desk.profile().is_some() {
            // First: it is what the person waits for.
            let list = List::start(&mut desk);
            desk.start(Job::OpenRotations);
            desk.start(Job::Batches);
            desk.read_drafts();
            if desk.hands_off_to().is_some() {
                desk.start(Job::PendingHandOffs);
            }
            Pane::List(list)
        } else {
            Pane::Welcome(Welcome { config_file })
        };
        Self {
            desk,
            stack: vec![bottom],
            warned: None,
            leaving: None,
        }
    }

    /// The pane that has the keys.
    pub fn top(&self) -> &dyn View {
        self.stack.last().expect("the bottom pane stays").view()
    }

    fn top_mut(&mut self) -> &mut Pane {
        self.stack.last_mut().expect("the bottom pane stays")
    }

    /// Whether something on the screen changes with time alone.
    pub fn ticks(&self) -> bool {
        self.desk.settle_again_at.is_some() || self.stack.iter().any(|pane| pane.view().ticks())
    }

    /// Effects that the construction asked for.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.desk.effects)
    }

    /// Takes in what happened at `now`, and says what is to be done.
    pub fn update(&mut self, now: Timestamp, msg: Msg) -> Vec<Effect> {
        self.desk.now = now;
        let is_input = matches!(msg, Msg::Key(_) | Msg::Paste(_) | Msg::Edited(..));
        match msg {
            Msg::Key(key) => self.key(key),
            Msg::Paste(text) => self.paste(&text),
            Msg::Mouse(event) => self.mouse(event),
            Msg::Resize(columns, rows) => {
                self.desk.size = (columns, rows);
                // Also where the size is the old one again: a terminal keeps nothing of what was cut off meanwhile.
                self.desk.effects.push(Effect::Redraw);
            }
            Msg::Done(ticket, outcome) => self.done(ticket, outcome),
            Msg::Lost(ticket) => self.lost(ticket),
            Msg::News(ticket, news) => self.news(ticket, news),
            Msg::Waiting(held) => self.desk.say(Severity::Info, format!("waiting: {held}")),
            Msg::Edited(ticket, text) => self.edited(ticket, text),
            Msg::Exchanged(exchanges) => {
                for exchange in exchanges {
                    self.desk.exchanges.push(now, exchange);
                }
            }
            Msg::Tick => self.settle_when_due(),
            Msg::Leave => self.leave(Farewell::Signal),
        }
        self.navigate();
        for pane in &mut self.stack {
            pane.view_mut().sync(&mut self.desk);
        }
        if is_input {
            self.keep_draft();
        } else if !self.desk.drafts.is_failing {
            self.desk.save_drafts();
        }
        self.farewell();
        self.take_effects()
    }

    fn key(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        self.desk.messages.pass();
        let focus = self.top().focus();
        match self.desk.keys.press(focus, key) {
            // Nothing new is begun on the way out.
            Press::Do(action) if self.leaving.is_some() && action != Action::Cancel => {}
            Press::Do(action) => self.press(action),
            Press::Field(key) => self.input(key),
            Press::Nothing => {}
        }
    }

    fn input(&mut self, key: KeyEvent) {
        let pane = self.stack.last_mut().expect("the bottom pane stays");
        pane.view_mut().input(key, &mut self.desk);
    }

    /// As the keys of the cursor, where this place has them.
    fn mouse(&mut self, event: MouseEvent) {
        let focus = self.top().focus();
        let (action, times) = mouse::moves(self.top(), &self.desk, event);
        let mut known = self.desk.keys.bindings(focus).iter();
        let is_known = known.any(|bound| bound.action == action);
        if is_known && self.leaving.is_none() {
            for _ in 0..times {
                self.act(action);
            }
        }
    }

    fn paste(&mut self, text: &str) {
        let pane = self.stack.last_mut().expect("the bottom pane stays");
        if !pane.view_mut().paste(text, &mut self.desk) {
            self.desk.say(
                Severity::Info,
                "pasted text goes into fields only; there is none here",
            );
        }
    }

    fn press(&mut self, action: Action) {
        if let Some(why) = self.top().disabled(action, &self.desk) {
            self.desk
                .messages
                .refuse(self.desk.now, format!("not possible here: {why}"));
            return;
        }
        let desk = &mut self.desk;
        match action {
            Action::Help | Action::Palette => {
                if matches!(self.stack.last(), Some(Pane::Help(_))) {
                    self.act(Action::Help);
                } else {
                    let help = Help::about(self.top(), action, &self.desk);
                    self.stack.push(Pane::Help(help));
                }
            }
            Action::Suspend if desk.writes_under_way() > 0 => {
                // Stopped now, the outcome could be lost.
                desk.say(Severity::Warning, "not now: something is being sent");
            }
            Action::Suspend => desk.effects.push(Effect::Suspend),
            Action::Redraw => desk.effects.push(Effect::Redraw),
            Action::Cancel => self.cancel(),
            Action::Quit if self.stack.len() == 1 => self.quit(),
            Action::Quit => self.act(Action::Back),
            Action::Profiles if !matches!(self.top_mut(), Pane::Profiles(_)) => {
                let pane = Profiles::new(&self.desk);
                self.stack.push(Pane::Profiles(pane));
            }
            Action::Messages if !matches!(self.top_mut(), Pane::Messages(_)) => {
                self.stack.push(Pane::Messages(MessagesPane::default()));
            }
            Action::OpenOrCreate => self.stack.push(Pane::Open(Open::default())),
            Action::Groups => self.go_home(),
            Action::History if !matches!(self.top_mut(), Pane::Group(_)) => {
                if !matches!(self.top_mut(), Pane::History(_)) {
                    let pane = History::of(None, &mut self.desk);
                    self.stack.push(Pane::History(pane));
                }
            }
            Action::Rotations if !matches!(self.top_mut(), Pane::Rotations(_)) => {
                let pane = Rotations::open(&mut self.desk);
                self.stack.push(Pane::Rotations(pane));
            }
            Action::Requests if !matches!(self.top_mut(), Pane::Inspector(_)) => {
                self.stack.push(Pane::Inspector(Inspector::default()));
            }
            Action::Whose if !matches!(self.top_mut(), Pane::Whose(_)) => {
                self.stack.push(Pane::Whose(Whose::default()));
            }
            action => {
                if action == Action::Refresh && self.stack.len() == 1 {
                    self.ask_again();
                }
                self.act(action);
            }
        }
    }

    fn act(&mut self, action: Action) {
        let pane = self.stack.last_mut().expect("the bottom pane stays");
        pane.view_mut().act(action, &mut self.desk);
    }

    /// Leaves pane by pane, so that each can keep what it holds.
    fn go_home(&mut self) {
        while self.stack.len() > 1 {
            if let Some(mut pane) = self.stack.pop() {
                pane.view_mut().leave(&mut self.desk);
            }
        }
    }

    fn navigate(&mut self) {
        while !self.desk.asks.is_empty() {
            for ask in std::mem::take(&mut self.desk.asks) {
                self.grant(ask);
            }
        }
    }

    fn grant(&mut self, ask: Ask) {
        match ask {
            Ask::Push(opening) => {
                let pane = Pane::open(opening, &mut self.desk);
                self.stack.push(pane);
            }
            Ask::Replace(opening) => {
                let pane = Pane::open(opening, &mut self.desk);
                if self.stack.len() > 1 {
                    self.stack.pop();
                }
                self.stack.push(pane);
            }
            Ask::Pop => {
                if self.stack.len() > 1 {
                    self.stack.pop();
                }
            }
            Ask::Home => self.go_home(),
            Ask::Finish(ticket, opening) => {
                let result = Pane::open(opening, &mut self.desk);
                self.finish(ticket, result);
            }
            Ask::SwitchTo(profile) => self.switch(profile),
            Ask::Leave(farewell) => self.leave(farewell),
            Ask::Press(action) => self.press(action),
            Ask::Confirmed => {
                let pane = self.stack.last_mut().expect("the bottom pane stays");
                pane.view_mut().confirmed(&mut self.desk);
            }
            Ask::TokenOf(profile, id) => {
                self.grant(Ask::Pop);
                self.switch(profile);
                let known = self.desk.groups.get(&id);
                let known = known.unwrap_or_else(|| KnownGroup::new(id));
                let pane = token::TokenPane::open(&known, &mut self.desk);
                self.stack.push(Pane::Token(Box::new(pane)));
            }
        }
    }

    /// The result stands where the review and its form stood; what was opened above them stays.
    fn finish(&mut self, ticket: Ticket, result: Pane) {
        let waiting = self
            .stack
            .iter()
            .rposition(|pane| pane.view().waits_for(ticket));
        let Some(review) = waiting else { return };
        let has_form = matches!(self.stack[review - 1], Pane::Edit(_));
        let from = if has_form { review - 1 } else { review };
        self.stack.splice(from..=review, [result]);
    }

    fn is_on_welcome(&self) -> bool {
        matches!(self.stack.first(), Some(Pane::Welcome(_)))
    }

    /// The first profile came after its form was left.
    fn leave_welcome(&mut self, profile: ProfileIndex) {
        if self.is_on_welcome() {
            self.switch(profile);
        }
    }

    /// Another profile: everything of the old one leaves the screen; what it has under way goes on.
    fn switch(&mut self, profile: ProfileIndex) {
        let is_here = profile == self.desk.current && !self.is_on_welcome();
        if is_here || self.desk.profiles.get(profile.0).is_none() {
            return;
        }
        self.go_home();
        if let Some(Pane::List(list)) = self.stack.first() {
            self.desk.views.insert(self.desk.current, list.as_left());
        }
        self.desk.current = profile;
        self.desk.open = std::sync::Arc::default();
        self.desk.groups = super::groups::Groups::default();
        self.desk.last_answer = None;
        self.desk.settle_again_at = None;
        let list = List::start(&mut self.desk);
        self.desk.start(Job::OpenRotations);
        self.desk.start(Job::Batches);
        self.desk.read_drafts();
        self.desk.to_hand_off.clear();
        if self.desk.hands_off_to().is_some() {
            self.desk.start(Job::PendingHandOffs);
        }
        self.stack = vec![Pane::List(list)];
        if let Some(profile) = self.desk.profile() {
            let text = format!("now in {} ({})", profile.name, profile.environment_word());
            self.desk.say(Severity::Info, text);
        }
    }
}
