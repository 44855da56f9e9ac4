//! The whole console as a state machine: messages in, effects out. Pure: no I/O, no await, no clock; the time comes
//! with the message.

pub(crate) mod batches;
mod commands;
mod drafts;
mod key_press;
mod outcomes;
mod pastes;
mod remote_changes;

use crossterm::event::KeyEvent;
use jiff::{SignedDuration, Timestamp};
use ratatui::layout::Position;

use key_press::DiscardedKeys;

use crate::{
    domain::{Ending, KnownGroup, StopCause},
    intake::text::unmarked,
    tui::{
        keymap::{Action, Focus},
        kit::TextField,
        page::View,
        panes::{Pane, connect::Welcome, help::Help, list::List, open::Open, token},
        state::{
            Condition, Context, Effect, ExitReason, Groups, Job, Live, Msg, Navigation, Outcome,
            PaneRequest, ProfileIndex, Severity, Step, Ticket,
        },
    },
};

#[derive(Debug)]
pub struct App {
    pub context: Context,
    /// The pane at the top has the focus; the one at the bottom is the list or the welcome screen.
    pub stack: Vec<Pane>,
    /// The last Ctrl-C that was answered with "again to quit".
    warned: Option<Timestamp>,
    /// Position and time of the last click on a row.
    last_click: Option<(Position, Timestamp)>,
    /// Since when the console is ending, and why: it ends once the writes are done.
    leaving: Option<(Timestamp, ExitReason)>,
    /// Discards keys that were typed for a page that did not open.
    discarded_keys: Option<DiscardedKeys>,
    /// The key that is being handled has confirmed.
    has_confirmed: bool,
    /// Why the key that is being handled did nothing.
    refused: Option<String>,
    /// The key before this one was refused.
    refused_before: bool,
    /// A pasted text that may be a token of another shape, while it is looked up.
    held_paste: Option<pastes::LookedUp>,
    /// When a paste arrived last: a slow line may bring a key in its text behind it.
    pasted_at: Timestamp,
    /// Keys that arrived at once are being handled, and this is where they began: no draft is kept in between.
    burst_began_at: Option<Focus>,
    /// What was typed last, if it may be a token.
    typed: Option<pastes::LookedUp>,
    /// A field from which a token was taken: the line end behind it may still be on its way.
    emptied: Option<Focus>,
    /// The word that is being typed.
    word: zeroize::Zeroizing<String>,
    /// The job that delivered the first rows of its list most recently.
    first_rows: Option<Ticket>,
    /// Why a text from the editor was not used, and where it is kept; the console ends, so no message shows it.
    pub kept_text: Option<String>,
}

impl App {
    /// Opens on the list of the current profile, or on the welcome screen if there is no profile.
    pub fn new(mut context: Context, config_file: String) -> Self {
        let bottom = if context.profile().is_some() {
            open_list(&mut context)
        } else {
            Pane::from(Welcome { config_file })
        };
        Self {
            context,
            stack: vec![bottom],
            warned: None,
            last_click: None,
            leaving: None,
            discarded_keys: None,
            has_confirmed: false,
            refused: None,
            refused_before: false,
            held_paste: None,
            pasted_at: Timestamp::MIN,
            burst_began_at: None,
            typed: None,
            emptied: None,
            word: zeroize::Zeroizing::default(),
            first_rows: None,
            kept_text: None,
        }
    }

    /// The pane with the focus.
    pub fn top(&self) -> &dyn View {
        self.top_pane().view()
    }

    pub fn top_pane(&self) -> &Pane {
        self.stack.last().expect("the bottom pane stays")
    }

    /// The pane with the focus, and the context that it acts on.
    fn top_mut(&mut self) -> (&mut dyn View, &mut Context) {
        let pane = self.stack.last_mut().expect("the bottom pane stays");
        (pane.view_mut(), &mut self.context)
    }

    /// The next time at which something changes on the screen, or has to be done, without any event; `None`: never.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let shows_seconds = self.stack.iter().any(|pane| pane.view().ticks());
        let next_second = shows_seconds.then(|| self.context.now + SignedDuration::from_secs(1));
        let settle = self.context.settle_again_at;
        let changes = self.context.settle_changes_at;
        let (line, flight) = (self.context.messages.due(), self.context.in_flight_due());
        let runner = self.context.runner_gone_at;
        // Only while groups are shown: on other pages nobody would see it.
        let shows_groups = matches!(self.stack.last(), Some(Pane::List(_) | Pane::Group(_)));
        let others = shows_groups.then(|| self.context.others_due()).flatten();
        let all = [line, flight, settle, changes, runner, others, next_second];
        all.into_iter().flatten().min()
    }

    /// Takes the effects that the constructor requested.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.context.effects)
    }

    /// Handles what happened at `now`; returns the effects to perform.
    pub fn update(&mut self, now: Timestamp, msg: Msg) -> Vec<Effect> {
        self.context.now = now;
        self.context.messages.advance(now);
        self.stop_discarding();
        let is_input = matches!(msg, Msg::Key(_) | Msg::Paste(_) | Msg::Edited(..));
        if is_input {
            self.context.draft_to_open = None;
        }
        if matches!(msg, Msg::Paste(_) | Msg::Mouse(_)) {
            self.ends_again();
        }
        let page = self.top_page();
        let before = self.field_and_error();
        match msg {
            unseen if self.is_unseen(&unseen) => {
                let why = "Nothing was changed: the window was too small to show it";
                self.context.messages.refuse(now, why);
            }
            Msg::Key(key) => self.key(key),
            Msg::Burst(keys) => return self.burst(&keys),
            Msg::Paste(text) => {
                self.context.resolve(Condition::PasteOpen);
                self.pasted_at = now;
                self.paste(unmarked(&text));
            }
            Msg::Mouse(event) => self.mouse(event),
            Msg::Resize(columns, rows) => {
                self.context.size = (columns, rows);
                // Even if the size is the old one again: a terminal does not keep what was cut off in between.
                self.context.effects.push(Effect::Redraw);
            }
            Msg::Background(red, green, blue) => {
                let theme = &mut self.context.theme;
                theme.palette = theme.palette.on((red, green, blue));
            }
            Msg::Done(ticket, outcome) => self.done(ticket, outcome),
            Msg::FirstRows(ticket, listing) => self.first_rows(ticket, *listing),
            Msg::ReadProgress(ticket, read) => self.note_read(ticket, read),
            Msg::JobPanicked(ticket) => self.job_panicked(ticket),
            Msg::BatchEvents(ticket, news) => self.news(ticket, news),
            Msg::Changed(profile, changes) => self.changed(profile, &changes),
            Msg::DirectoryState(profile, lost) => self.directory_state_changed(profile, lost),
            Msg::Waiting(held) => self.context.say(Severity::Info, format!("Waiting: {held}")),
            Msg::Edited(ticket, text) => self.edited(ticket, text),
            Msg::Exchanged(exchanges) => {
                for exchange in exchanges {
                    self.context.note_exchange(exchange);
                }
            }
            Msg::Tick => self.settle_when_due(),
            Msg::Leave(cause) => self.leave(ExitReason::Signal, cause),
        }
        self.navigate();
        self.open_wanted_draft();
        if !self.stack.iter().any(|pane| matches!(pane, Pane::Edit(_))) {
            self.context.resolve(Condition::OneOfMarked);
        }
        if is_input && self.top_page() != page {
            self.context.messages.leave_page(now);
        }
        // Not if the focus has only come to a field with an older error.
        if self.top_page() == page
            && let Some((at, Some(error))) = self.field_and_error()
            && before.is_none_or(|before| before.0 == at && before.1 != Some(error))
        {
            self.context.messages.drop_success();
        }
        for pane in &mut self.stack {
            pane.view_mut().sync(&mut self.context);
        }
        if let [Pane::List(list)] = &mut self.stack[..] {
            list.say_hidden(&mut self.context);
        }
        if is_input && self.burst_began_at.is_none() && !self.may_become_a_token() {
            self.keep_draft();
        } else if !self.context.drafts.is_failing {
            self.context.save_drafts();
        }
        let mut running = self.context.running.keys();
        self.context.page_waits_for = running
            .find(|ticket| self.top().waits_for(**ticket))
            .copied();
        self.follow_losses();
        self.exit_reason();
        self.take_effects()
    }

    /// What tells the focused field from others for now, and why its text was refused.
    fn field_and_error(&mut self) -> Option<(*const TextField, Option<String>)> {
        let field = self.top_mut().0.field()?;
        Some((std::ptr::from_ref(field), field.error.clone()))
    }

    /// What tells the page on top from others.
    fn top_page(&self) -> (usize, Option<std::mem::Discriminant<Pane>>) {
        (
            self.stack.len(),
            self.stack.last().map(std::mem::discriminant),
        )
    }

    fn input(&mut self, key: KeyEvent) {
        let (pane, context) = self.top_mut();
        pane.input(key, context);
    }

    /// Pastes into the focused field of the top pane; says so if there is none.
    fn paste_now(&mut self, text: &str) {
        // Says so again if this one is refused as well.
        self.context.resolve(Condition::PasteRefused);
        let (pane, context) = self.top_mut();
        if !pane.paste(text, context) {
            context.say_paste_refused("Not pasted: there is no field here".into());
        }
    }

    fn press(&mut self, action: Action) {
        if let Some(why) = self.top().why_not(action, &self.context) {
            self.refuse(format!("Not available: {why}"));
            return;
        }
        if self.refuses_secret(action) || action == Action::Back && self.cancel_awaited() {
            return;
        }
        let context = &mut self.context;
        match action {
            Action::Help | Action::Palette => {
                if matches!(self.stack.last(), Some(Pane::Help(_))) {
                    self.act(Action::Help);
                } else {
                    if action == Action::Palette && context.live.are_batches_old {
                        // They are offered by their number.
                        context.start(Job::Batches);
                    }
                    let help = Help::open(self.top_pane(), action, &self.context);
                    self.stack.push(help.into());
                }
            }
            Action::Suspend if context.writes_under_way() > 0 => {
                // If the process stopped now, the outcome could be lost.
                context.say(Severity::Warning, "Not suspended: a request is in progress");
            }
            Action::Suspend => context.effects.push(Effect::Suspend),
            Action::Redraw => context.effects.push(Effect::Redraw),
            Action::Cancel => self.cancel(),
            Action::Quit if self.stack.len() == 1 => self.quit(),
            Action::Quit => self.act(Action::Back),
            Action::OpenOrCreate => self.stack.push(Open::default().into()),
            Action::Groups => {
                self.go_home();
            }
            // On a page of one group, the key opens the history of that group.
            Action::History
                if matches!(
                    self.stack.last(),
                    Some(Pane::Group(_) | Pane::Result(_) | Pane::Compare(_))
                ) =>
            {
                self.act(action);
            }
            action
                if self.stack.last().and_then(Pane::opened_by) != Some(action)
                    && self.opens(action) => {}
            action if self.confirm(action) => {}
            action => {
                if action == Action::Refresh && self.stack.len() == 1 {
                    self.ask_again();
                }
                self.act(action);
            }
        }
    }

    /// The confirmation of the top pane handles the action, if it is about that; returns whether it did. This is the
    /// only way from a key to something that is asked about first.
    fn confirm(&mut self, action: Action) -> bool {
        let why_not = self.top().why_not(Action::Confirm, &self.context);
        let (pane, context) = self.top_mut();
        let Some(confirm) = pane.confirm_mut() else {
            return false;
        };
        match (confirm.act(action, &context.keys), why_not) {
            (Step::Ignored, _) => return false,
            (Step::Handled, _) => {}
            (Step::Says(text), _) => context.refuse(text),
            (Step::Confirmed, None) => {
                pane.carry_out(context);
                self.has_confirmed = true;
            }
            (Step::Confirmed, Some(why)) => confirm.refuse(&format!("{why}; nothing was sent")),
        }
        true
    }

    fn act(&mut self, action: Action) {
        let (pane, context) = self.top_mut();
        pane.act(action, context);
    }

    /// Closes the panes, unless something that was typed would be lost; returns whether the list is shown.
    fn go_home(&mut self) -> bool {
        let is_left = !self.keeps_typed("left");
        if is_left {
            self.close_all();
        }
        is_left
    }

    /// Closes the panes one by one, so that each can save its content.
    fn close_all(&mut self) {
        while self.stack.len() > 1 {
            self.close_top();
        }
    }

    /// Closes the pane with the focus, which keeps its content.
    fn close_top(&mut self) {
        if let Some(mut pane) = self.stack.pop() {
            pane.view_mut().leave(&mut self.context);
        }
    }

    fn navigate(&mut self) {
        while !self.context.navigations.is_empty() {
            for ask in std::mem::take(&mut self.context.navigations) {
                let profile = match &ask {
                    Navigation::SwitchTo(profile)
                    | Navigation::ShowList(profile, _)
                    | Navigation::TokenOf(profile, _) => Some(*profile),
                    _ => None,
                };
                if profile.is_some_and(|profile| self.must_stay(profile)) {
                    // What follows was meant for that profile.
                    self.context.navigations.clear();
                    return;
                }
                self.navigate_to(ask);
            }
        }
    }

    fn navigate_to(&mut self, ask: Navigation) {
        match ask {
            Navigation::Push(opening) => {
                let pane = Pane::open(opening, &mut self.context);
                self.stack.push(pane);
            }
            Navigation::Replace(opening) => {
                let pane = Pane::open(opening, &mut self.context);
                if self.stack.len() > 1 {
                    self.stack.pop();
                }
                self.stack.push(pane);
            }
            Navigation::Pop => {
                if self.stack.len() > 1 {
                    self.stack.pop();
                }
            }
            Navigation::Finish(ticket, opening) => {
                if let PaneRequest::Result(done, _) = &opening
                    && done.ending == Ending::Created
                    && let Some(Pane::List(list)) = self.stack.first_mut()
                {
                    list.select(&done.group.id);
                }
                let result = Pane::open(opening, &mut self.context);
                self.finish(ticket, result);
            }
            Navigation::SwitchTo(profile) => self.switch(profile),
            Navigation::ShowList(profile, filter) => {
                // Before the list, because leaving a run names the way back from there.
                self.switch(profile);
                if self.go_home()
                    && let Some(Pane::List(list)) = self.stack.first_mut()
                {
                    list.filter_by(&filter);
                }
            }
            Navigation::Leave(reason) => self.leave(reason, StopCause::Quit),
            Navigation::Press(action) if self.refuses_blind(action) => {}
            Navigation::Press(action) => self.press(action),
            Navigation::Run(command) => self.run(command),
            Navigation::CancelRead(ticket) => self.cancel_job(ticket),
            Navigation::Confirmed => {
                let (pane, context) = self.top_mut();
                pane.confirmed(context);
            }
            Navigation::TokenOf(profile, id) => {
                self.navigate_to(Navigation::Pop);
                self.switch(profile);
                let known = self.context.groups.get(&id);
                let known = known.unwrap_or_else(|| KnownGroup::new(id));
                let pane = token::TokenPane::open(&known, &mut self.context);
                self.stack.push(pane.into());
            }
        }
    }

    /// Replaces the review and its form by the result; panes above them stay.
    fn finish(&mut self, ticket: Ticket, result: Pane) {
        let Some(review) = self.waiting(ticket) else {
            return;
        };
        let has_form = matches!(self.stack[review - 1], Pane::Edit(_));
        let from = if has_form { review - 1 } else { review };
        self.stack.splice(from..=review, [result]);
    }

    fn is_on_welcome(&self) -> bool {
        matches!(self.stack.first(), Some(Pane::Welcome(_)))
    }

    /// Called when the first profile was added after its form had been left.
    fn leave_welcome(&mut self, profile: ProfileIndex) {
        if self.is_on_welcome() {
            self.switch(profile);
        }
    }

    /// Whether another profile would discard something that was typed; says so.
    fn must_stay(&mut self, profile: ProfileIndex) -> bool {
        profile != self.context.current && self.keeps_typed("switched")
    }

    /// Whether something that was typed would be lost without the panes; says what was not done for it.
    fn keeps_typed(&mut self, what: &str) -> bool {
        let typed = self.typed();
        if let Some(typed) = &typed {
            self.context
                .say(Severity::Warning, format!("Not {what}: {typed}"));
        }
        typed.is_some()
    }

    /// What was typed, is no draft, and would be lost without its pane.
    fn typed(&self) -> Option<String> {
        let mut typed = self.stack.iter().filter_map(|pane| pane.view().unsaved());
        typed.next()
    }

    /// Switches to another profile: everything of the old one leaves the screen; its running jobs continue.
    fn switch(&mut self, profile: ProfileIndex) {
        let is_here = profile == self.context.current && !self.is_on_welcome();
        if is_here || self.context.profiles.get(profile.0).is_none() {
            return;
        }
        self.context.is_switching = true;
        self.close_all();
        self.context.is_switching = false;
        if let Some(Pane::List(list)) = self.stack.first_mut() {
            list.leave(&mut self.context);
        }
        self.context.cancel_lists();
        self.context.current = profile;
        self.context.open = std::sync::Arc::default();
        self.context.annotations.of = std::sync::Arc::default();
        self.context.groups = Groups::default();
        self.context.live = Live::default();
        self.context.outage = None;
        self.context.is_directory_back = false;
        self.context.last_answer = None;
        self.context.settle_again_at = None;
        self.context.settle_changes_at = None;
        self.context.to_hand_off.clear();
        self.stack = vec![open_list(&mut self.context)];
        if let Some(profile) = self.context.profile() {
            let text = format!("Now in {} ({})", profile.name, profile.environment_word());
            self.context.say(Severity::Info, text);
        }
    }
}

/// Opens the list of the current profile, and reads what belongs to it.
fn open_list(context: &mut Context) -> Pane {
    // First, because the person is waiting for it.
    let list = List::start(context);
    context.start(Job::OpenRotations);
    context.start(Job::Batches);
    context.start(Job::Attention { whole: false });
    context.read_drafts();
    if context.hands_off_to().is_some() {
        context.start(Job::DueHandOffs);
    }
    Pane::from(list)
}

/// The first ones by name, and how many more there are: "acme-eu, globex and 3 more".
fn named(all: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = all.len().saturating_sub(most);
    let names = all.take(most).collect::<Vec<_>>().join(", ");
    match more {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}
