//! Pasted text, with and without brackets: a token goes into a field for tokens only, and a page without a field takes
//! nothing of it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use zeroize::Zeroizing;

use super::{App, Job, Outcome, Severity, Ticket};
use crate::{
    domain::pasted::{Pasted, Shape, is_suspicious, shape},
    operations::TokenLookup,
    tui::{
        keymap::{Action, Focus, is_burst},
        state::message::{Effect, Msg},
    },
};

/// In bytes. A longer text is no text of a field, and is refused there.
const LONGEST: usize = 1 << 20;

/// Ctrl-C acts always: it ends what hangs.
fn is_interrupt(key: &KeyEvent) -> bool {
    *key == KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)
}

/// A pasted text, while its words are looked up.
pub(super) struct HeldPaste {
    ticket: Ticket,
    /// Where it was pasted.
    focus: Focus,
    text: Zeroizing<String>,
}

impl std::fmt::Debug for HeldPaste {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeldPaste")
            .field("focus", &self.focus)
            .finish_non_exhaustive()
    }
}

impl App {
    /// Pastes into the focused field, unless the text has a token. A text that may be a token of another shape is looked
    /// up first.
    pub(super) fn paste(&mut self, text: &str) {
        let text = Zeroizing::new(text.to_owned());
        let focus = self.top().focus();
        if self.top().takes_secrets() || !focus.takes_text() || text.len() > LONGEST {
            return self.paste_now(&text);
        }
        if shape(&text) == Some(Shape::Token) && !self.context.is_known_id(text.trim()) {
            return self.context.say_token();
        }
        if is_suspicious(&text) && !self.context.is_known_id(text.trim()) {
            let job = Job::FindTokenOwners(Pasted::of(&text));
            let ticket = self.context.start(job);
            self.held_paste = Some(HeldPaste {
                ticket,
                focus,
                text,
            });
            return;
        }
        self.paste_now(&text);
    }

    /// The words of a pasted text have been looked up; returns whether the ticket was that of this look-up.
    pub(super) fn paste_checked(&mut self, ticket: Ticket, outcome: &Outcome) -> bool {
        let Some(held) = self.held_paste.take_if(|held| held.ticket == ticket) else {
            return false;
        };
        let is_secret = match outcome {
            Outcome::TokenOwners(TokenLookup::Answered { tokens, .. }) => {
                tokens.iter().any(|token| !token.owners.is_empty())
            }
            Outcome::TokenOwners(TokenLookup::Unclear(why)) => why.key.is_some(),
            // What keeps the text looks it up again.
            _ => false,
        };
        if is_secret {
            self.context.say_token();
        } else if self.top().focus() == held.focus {
            self.paste_now(&held.text);
        } else {
            let text = "Not pasted: the field was left meanwhile";
            self.context.say(Severity::Info, text);
        }
        true
    }

    /// Refuses to take over a typed text that looks like a token; returns whether it did.
    pub(super) fn refuses_secret(&mut self, action: Action) -> bool {
        use Action::{Enter, NextField, Review, WriteFile};
        if !matches!(action, Enter | NextField | Review | WriteFile) {
            return false;
        }
        let view = self
            .stack
            .last_mut()
            .expect("the bottom pane stays")
            .view_mut();
        if !view.has_secret(action) {
            return false;
        }
        if let Some(field) = view.field().filter(|field| field.looks_secret()) {
            if self.context.is_known_id(field.text().trim()) {
                return false;
            }
            if !field.is_data() {
                field.set_text("");
            }
        }
        self.context.say_token();
        true
    }

    /// Keys that arrived at once: a paste without brackets. In a field they are typed; on a page without one the rest
    /// of them does nothing.
    pub(super) fn burst(&mut self, keys: &[KeyEvent]) -> Vec<Effect> {
        let now = self.context.now;
        let mut effects = Vec::new();
        for (at, key) in keys.iter().enumerate() {
            let rest = &keys[at..];
            if !is_interrupt(key) && !self.top().focus().takes_text() && is_burst(rest) {
                effects.extend(self.refuse_burst(now, rest.len()));
                for key in rest.iter().filter(|key| is_interrupt(key)) {
                    effects.extend(self.update(now, Msg::Key(*key)));
                }
                break;
            }
            effects.extend(self.update(now, Msg::Key(*key)));
        }
        effects
    }

    fn refuse_burst(&mut self, now: Timestamp, count: usize) -> Vec<Effect> {
        let key = self.context.keys.key(Focus::List, Action::Whose);
        let why = format!(
            "{count} keys at once look like a paste; nothing was done. There is no field here; {key} takes a token"
        );
        self.context.say(Severity::Warning, why.clone());
        self.discard_after(why);
        self.update(now, Msg::Tick)
    }
}
