//! Handles key presses. A key must not act on the old page because the page it was typed for did not open, and typed
//! keys are discarded while a page is still preparing.
//!
//! The mouse: it moves the cursor, focuses panes, sorts, clicks harmless keys of the footer, and opens what is clicked
//! twice. No click confirms, sends or rotates.

use crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use jiff::{SignedDuration, Timestamp};
use ratatui::layout::Position;

use super::{App, Outcome, Severity, Ticket, outcomes::has_ended};
use crate::tui::{
    keymap::{Action, Focus, Press},
    kit::boxes::is_too_small,
    page::{Click, footer},
    state::{JobError, Msg},
};

/// Keys within this pause were typed without looking; later ones were typed after looking.
const LOOK_PAUSE: SignedDuration = SignedDuration::from_millis(300);

/// How long a key that has confirmed does nothing else: it may be held down or pressed twice. Longer than a keyboard waits
/// before it repeats.
const CONFIRMED_PAUSE: SignedDuration = SignedDuration::from_secs(1);

/// Discards the keys that follow a refused key, because they were typed for what that key should have opened.
#[derive(Debug)]
pub(super) struct DiscardedKeys {
    until: Timestamp,
    /// Only this key is discarded; another ends it.
    only: Option<KeyCode>,
    /// What the key before them did.
    why: String,
    count: usize,
}

impl App {
    /// What the key would do to the service or the directory without having been pressed alone: it confirms, or saves in a
    /// field that the same keys opened.
    fn what_is_blind(&self, action: Action) -> Option<&'static str> {
        let since = self.context.now.duration_since(self.pasted_at);
        // A clock that goes back ends it.
        let is_after_paste = (SignedDuration::ZERO..LOOK_PAUSE).contains(&since);
        if self.burst_began_at.is_none() && !is_after_paste {
            return None;
        }
        let focus = self.top().focus();
        match action {
            Action::Confirm => Some("confirmed"),
            Action::Favourite => Some("saved"),
            Action::Enter
                if focus.saves_on_enter()
                    && self.burst_began_at.is_some_and(|began| began != focus) =>
            {
                Some("saved")
            }
            _ => None,
        }
    }

    /// Refuses an action that came at once with others; returns whether it did. Keys and entries of the palette are judged
    /// alike: a slow line brings a paste in pieces, and whoever confirms looks first.
    pub(super) fn refuses_blind(&mut self, action: Action) -> bool {
        let blind = self.what_is_blind(action);
        if let Some(what) = blind {
            self.refuse(format!(
                "Not {what}: the key came at once with others, as in a paste. Press it alone"
            ));
        }
        blind.is_some()
    }

    /// Whether the window is so small that its effect could not be seen. Only Ctrl-C acts then.
    pub(super) fn is_unseen(&self, msg: &Msg) -> bool {
        if self.context.plain_mode || !is_too_small(self.context.size) {
            return false;
        }
        match msg {
            Msg::Key(key) if key.kind == KeyEventKind::Release => false,
            Msg::Key(key) => {
                let press = self.context.keys.press(self.top().focus(), *key);
                press != Press::Do(Action::Cancel)
            }
            Msg::Paste(_) | Msg::Mouse(_) => true,
            _ => false,
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        self.context.messages.key(self.context.now);
        let focus = self.top().focus();
        let press = self.context.keys.press(focus, key);
        if press != Press::Do(Action::Cancel) {
            self.ends_again();
            if self.discard_key(key.code) {
                return;
            }
        }
        if self.top().is_preparing() && is_text(key) {
            let text = "Still checking; keys typed before the result do nothing";
            return self.context.refuse(text);
        }
        self.refused = None;
        let was_refused = std::mem::take(&mut self.refused_before);
        if let Press::Do(action) = press
            && was_refused
            && action != Action::Confirm
            && self.top().why_not(action, &self.context).is_none()
            && let Some(shown) = self.context.keys.confirming(key)
        {
            // It was typed to confirm what the key before it did not open.
            let text = format!("{shown} did nothing: the key before it was refused");
            return self.context.refuse(text);
        }
        let mut is_blind = false;
        let is_rest = press == Press::Do(Action::Enter) && self.emptied == Some(focus);
        if !is_rest {
            self.emptied = None;
        }
        match press {
            _ if is_rest => self.refuse(
                "Enter did nothing: a token was removed from this field. Press another key first"
                    .into(),
            ),
            Press::Do(action) if self.refuses_blind(action) => is_blind = true,
            // Nothing new is started while the console is ending.
            Press::Do(action) if self.leaving.is_some() && action != Action::Cancel => {}
            Press::Do(action) => {
                self.word = zeroize::Zeroizing::default();
                if action == Action::Back {
                    self.forget_typed();
                }
                self.press(action);
                self.follow_batch_on_top();
            }
            Press::Field(key) => {
                self.note_typed(&key);
                self.input(key);
                self.look_up_typed();
            }
            Press::Nothing => {
                if let Some(letter) = upper_case(key) {
                    let small = letter.to_lowercase().next().unwrap_or(letter);
                    let small = KeyEvent::new(KeyCode::Char(small), KeyModifiers::NONE);
                    let mut bound = self.context.keys.bindings(focus).iter();
                    let bound = bound.find(|bound| bound.keys.iter().any(|key| key.is(small)));
                    let (top, context) = (self.top(), &self.context);
                    let works = |action| top.why_not(action, context).is_none();
                    let instead =
                        bound.filter(|bound| self.leaving.is_none() && works(bound.action));
                    let instead = instead
                        .map(|bound| {
                            let hint = top.hint(bound.action, context).unwrap_or(bound.hint);
                            (bound.keys[0].shown(), hint)
                        })
                        .filter(|(_, hint)| !hint.is_empty())
                        .map(|(key, hint)| format!("; {key}: {hint}"));
                    let instead = instead.unwrap_or_default();
                    self.refuse(format!("Not available here: {letter}{instead}"));
                }
            }
        }
        let has_confirmed = std::mem::take(&mut self.has_confirmed);
        // The next key was typed after it.
        self.pasted_at = Timestamp::MIN;
        self.refused_before = self.refused.is_some();
        let is_strong = is_blind || upper_case(key).is_some();
        let why = self.refused.take().filter(|_| is_strong);
        self.discarded_keys = None;
        if let Some(why) = why {
            self.discard_after(why);
        } else if has_confirmed && self.top().focus() != focus {
            self.discarded_keys = Some(DiscardedKeys {
                until: self.context.now + CONFIRMED_PAUSE,
                only: Some(key.code),
                why: "Confirmed".into(),
                count: 0,
            });
        }
    }

    /// Shows why the key did nothing.
    pub(super) fn refuse(&mut self, why: String) {
        self.context.refuse(why.clone());
        self.refused = Some(why);
    }

    /// Stops discarding after a pause: later keys were typed after looking.
    pub(super) fn stop_discarding(&mut self) {
        let now = self.context.now;
        self.discarded_keys
            // Or after the clock went back.
            .take_if(|keys| keys.until <= now || keys.until > now + CONFIRMED_PAUSE);
    }

    /// Discards the keys that follow at once.
    pub(super) fn discard_after(&mut self, why: String) {
        self.discarded_keys = Some(DiscardedKeys {
            until: self.context.now + LOOK_PAUSE,
            only: None,
            why,
            count: 0,
        });
    }

    /// Discards a key that directly follows a refused one, or repeats the one that confirmed; returns whether it did.
    fn discard_key(&mut self, key: KeyCode) -> bool {
        let now = self.context.now;
        let discarded = self.discarded_keys.as_mut();
        let Some(discarded_keys) =
            discarded.filter(|keys| keys.only.is_none_or(|only| only == key))
        else {
            return false;
        };
        discarded_keys.until = discarded_keys.until.max(now + LOOK_PAUSE);
        discarded_keys.count += 1;
        let keys = match discarded_keys.count {
            1 => "key".to_owned(),
            count => format!("{count} keys"),
        };
        let text = format!("{}. The {keys} after it did nothing", discarded_keys.why);
        self.context.refuse(text);
        true
    }

    /// Cancels what the page visibly waits for, as far as that is possible; returns whether there was anything.
    pub(super) fn cancel_awaited(&mut self) -> bool {
        let waited: Vec<Ticket> = footer::awaited(self.top(), &self.context).collect();
        for ticket in &waited {
            self.cancel_job(*ticket);
        }
        !waited.is_empty()
    }

    /// Cancels a read, and tells the pane that waits for it; or a change that is not sent yet.
    pub(super) fn cancel_job(&mut self, ticket: Ticket) {
        let Some(running) = self.context.running.get(&ticket).cloned() else {
            return;
        };
        if !self.context.can_cancel(ticket) {
            return;
        }
        if running.job.is_write {
            self.context.cancel_change(ticket);
            return;
        }
        self.context.cancel(ticket);
        self.begin_about(ticket, &running);
        let text = format!("Cancelled: {}", running.job.label);
        let outcome = Outcome::Failed(JobError {
            is_cancelled: true,
            ..JobError::of(text.clone())
        });
        if let Some(at) = self.waiting(ticket) {
            let pane = &mut self.stack[at];
            has_ended(pane, ticket);
            pane.view_mut().answer(&outcome, &mut self.context);
        }
        let newest = self.context.messages.all().next();
        if newest.is_none_or(|newest| newest.about != Some(ticket)) {
            self.context.say(Severity::Info, text);
        }
        self.end_about();
    }
}

/// Whether the key may have been typed for a text field.
fn is_text(key: KeyEvent) -> bool {
    let held = KeyModifiers::CONTROL | KeyModifiers::ALT;
    matches!(key.code, KeyCode::Char(_)) && !key.modifiers.intersects(held)
}

/// The letter, if it is a capital one: those are the keys of stronger actions.
fn upper_case(key: KeyEvent) -> Option<char> {
    match key.code {
        KeyCode::Char(letter)
            if letter.is_uppercase() && !key.modifiers.contains(KeyModifiers::CONTROL) =>
        {
            Some(letter)
        }
        _ => None,
    }
}

/// Maximum time between two clicks on a row that count as a double click, in milliseconds.
const DOUBLE_CLICK_MS: i128 = 400;

impl App {
    pub(super) fn mouse(&mut self, event: MouseEvent) {
        if self.leaving.is_some() {
            return;
        }
        let at = Position::new(event.column, event.row);
        let (action, times) = footer::moves(self.top(), &self.context, event);
        match event.kind {
            MouseEventKind::ScrollDown | MouseEventKind::ScrollUp => {
                for _ in 0..times {
                    let (pane, context) = self.top_mut();
                    if !pane.wheel(at, action, context) {
                        return self.repeat(action, times);
                    }
                }
            }
            MouseEventKind::Down(MouseButton::Left) => {
                if let Some(action) = footer::clicked(at, self.top(), &self.context) {
                    return self.press(action);
                }
                let (pane, context) = self.top_mut();
                let click = pane.click(at, context);
                if click == Click::Elsewhere {
                    self.repeat(action, times);
                }
                self.open_on_second(at, click == Click::Row);
            }
            _ => {}
        }
    }

    /// Repeats the action, if the place has it at all.
    fn repeat(&mut self, action: Action, times: usize) {
        let focus = self.top().focus();
        let mut known = self.context.keys.bindings(focus).iter();
        if known.any(|bound| bound.action == action) {
            for _ in 0..times {
                self.act(action);
            }
        }
    }

    /// A second click on a row of the list opens it, as Enter does.
    fn open_on_second(&mut self, at: Position, is_row: bool) {
        let now = self.context.now;
        let before = self.last_click.take().filter(|(place, then)| {
            let apart = now.as_millisecond() - then.as_millisecond();
            let is_there = place.y == at.y && place.x.abs_diff(at.x) <= 1;
            is_there && i128::from(apart) <= DOUBLE_CLICK_MS
        });
        if !is_row || self.top().focus() != Focus::List {
            return;
        }
        if before.is_some() {
            self.act(Action::Enter);
        } else {
            self.last_click = Some((at, now));
        }
    }
}
