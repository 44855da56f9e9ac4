//! Pasted text, with and without brackets: a token goes into a field for tokens only, and a page without a field takes
//! nothing of it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use zeroize::Zeroizing;

use super::{App, Condition, Context, Job, Outcome, Severity, Ticket};
use crate::{
    domain::{
        UserGroupId,
        pasted::{Pasted, Shape, may_have_token, shape},
    },
    tui::{
        keymap::{Action, Focus},
        kit::is_plain,
        state::{Effect, Msg},
        terminal::is_burst,
    },
};

/// In bytes. A longer text is no text of a field, and is refused there.
const LONGEST: usize = 1 << 20;
/// Hex digits of a word that may become a token.
const BEGINNING: usize = 6;
/// In bytes, of a word that is typed.
const LONGEST_WORD: usize = 4096;

const NOTHING_ENTERED: &str = "nothing was entered. ";

/// Ctrl-C acts always: it ends what hangs.
fn is_interrupt(key: &KeyEvent) -> bool {
    *key == KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)
}

/// A text that may have a secret, while it is looked up.
pub(super) struct LookedUp {
    ticket: Ticket,
    /// Where it is.
    focus: Focus,
    text: Zeroizing<String>,
}

impl std::fmt::Debug for LookedUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LookedUp")
            .field("focus", &self.focus)
            .finish_non_exhaustive()
    }
}

impl Context {
    /// Says that a text was a token and what to do with it.
    pub fn say_token(&mut self) {
        self.say_paste_refused(self.token_text(NOTHING_ENTERED));
    }

    /// The same of a text that stays in its field.
    fn say_token_stays(&mut self) {
        let what = "it stays in the field, and is neither sent nor saved. Remove it; ";
        self.say(Severity::Warning, self.token_text(what));
    }

    fn token_text(&self, what: &str) -> String {
        let key = self.keys.key(Focus::List, Action::Whose);
        format!("That is a token, or looks like one: {what}{key} finds its group")
    }

    /// Whether a group with this id is listed, whatever the id looks like.
    pub fn is_known_id(&self, text: &str) -> bool {
        UserGroupId::parse(text).is_ok_and(|id| self.groups.contains(&id))
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
        if may_have_token(&text) && !self.context.is_known_id(text.trim()) {
            let ticket = self.context.start(Job::FindSecret(Pasted::of(&text)));
            self.held_paste = Some(LookedUp {
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
        // If it could not be looked up: what keeps the text looks it up again.
        if matches!(outcome, Outcome::SecretFound(true)) {
            self.context.say_token();
        } else if self.top().focus() == held.focus {
            self.paste_now(&held.text);
        } else {
            let text = "Not pasted: the field was left meanwhile";
            self.context.say_paste_refused(text.into());
        }
        true
    }

    /// Notes a key that a field gets. Another key than a character ends the word. What was refused before is in the past
    /// with the first character.
    pub(super) fn note_typed(&mut self, key: &KeyEvent) {
        match key.code {
            KeyCode::Char(c) if is_plain(*key) && !c.is_whitespace() => {
                self.context.resolve(Condition::PasteRefused);
                if self.word.len() < LONGEST_WORD {
                    self.word.push(c);
                }
            }
            _ => self.word = Zeroizing::default(),
        }
    }

    /// Whether a word is being typed that may be a token: its beginning is not kept, because the fingerprint of a part matches nothing.
    pub(super) fn is_typing_a_token(&self) -> bool {
        may_have_token(&self.word) && !self.context.is_known_id(&self.word)
    }

    /// Whether a word is being typed that may become a token: its first digits are not kept either.
    pub(super) fn may_become_a_token(&self) -> bool {
        let is_digit = |c: char| c.is_ascii_hexdigit();
        let is_beginning = self.word.len() >= BEGINNING
            && self.word.chars().all(is_digit)
            && self.word.contains(|c: char| c.is_ascii_digit())
            && self.word.contains(|c: char| c.is_ascii_alphabetic());
        is_beginning && !self.context.is_known_id(&self.word) || self.is_typing_a_token()
    }

    /// Looks up what was typed key by key, if it may be a token whose shape does not show it.
    pub(super) fn look_up_typed(&mut self) {
        let focus = self.top().focus();
        let takes_secrets = self.top().takes_secrets();
        let pane = self.stack.last_mut().expect("the bottom pane stays");
        let field = pane.view_mut().field();
        let is_masked = field.as_ref().is_some_and(|field| field.is_masked());
        if takes_secrets || is_masked || !focus.takes_text() {
            self.word = Zeroizing::default();
            return;
        }
        let whole = field.map(|field| Zeroizing::new(field.text().to_owned()));
        let whole = whole.filter(|text| may_have_token(text));
        let word = Some(&self.word).filter(|_| self.is_typing_a_token());
        let known = |text: &Zeroizing<String>| self.context.is_known_id(text.trim());
        let (part, text) = match (word, whole.filter(|text| !known(text))) {
            (None, None) => return,
            (Some(word), None) => (word.clone(), word.clone()),
            (None, Some(whole)) => (whole.clone(), whole),
            (Some(word), Some(whole)) => {
                let both = Zeroizing::new([whole.as_str(), "\n", word.as_str()].concat());
                (word.clone(), both)
            }
        };
        self.forget_typed();
        let ticket = self.context.start(Job::FindSecret(Pasted::of(&text)));
        self.typed = Some(LookedUp {
            ticket,
            focus,
            text: part,
        });
    }

    /// Forgets the answer about what was typed: the text has changed since, or is empty.
    pub(super) fn forget_typed(&mut self) {
        if let Some(typed) = self.typed.take() {
            self.context.cancel(typed.ticket);
        }
    }

    /// What was typed has been looked up; returns whether the ticket was that of this look-up.
    pub(super) fn typed_checked(&mut self, ticket: Ticket, outcome: &Outcome) -> bool {
        let Some(typed) = self.typed.take_if(|typed| typed.ticket == ticket) else {
            return false;
        };
        if matches!(outcome, Outcome::SecretFound(true)) {
            // A line end behind it may have left the cell already.
            let (pane, context) = self.top_mut();
            if pane.hold_back(&typed.text, context) {
                self.word = Zeroizing::default();
                self.emptied = Some(self.top().focus());
                // The rest of it may still be on its way, and ends nothing.
                let text = self.context.token_text(NOTHING_ENTERED);
                self.context.say(Severity::Warning, text);
                self.keep_draft();
            } else {
                let text =
                    "A field contains a known token: remove what is left of it; it is not sent";
                self.context.say(Severity::Warning, text);
            }
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
                let text = Zeroizing::new(field.text().to_owned());
                view.hold_back(&text, &mut self.context);
                self.emptied = Some(view.focus());
                self.forget_typed();
                self.context.say_token();
                return true;
            }
        }
        self.context.say_token_stays();
        true
    }

    /// Keys that arrived at once: typed ahead, or a paste without brackets. In a field they are typed; on a page without one
    /// the rest of a paste does nothing. A key that confirms or saves does nothing.
    pub(super) fn burst(&mut self, keys: &[KeyEvent]) -> Vec<Effect> {
        let now = self.context.now;
        let mut effects = Vec::new();
        self.burst_began_at = Some(self.top().focus());
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
        self.burst_began_at = None;
        if !self.may_become_a_token() {
            self.keep_draft();
            effects.extend(self.take_effects());
        }
        effects
    }

    fn refuse_burst(&mut self, now: Timestamp, count: usize) -> Vec<Effect> {
        let key = self.context.keys.key(Focus::List, Action::Whose);
        let why = format!(
            "{count} keys at once look like a paste; nothing was changed. There is no field here; {key} finds the group of a token"
        );
        self.context.say_paste_refused(why.clone());
        self.discard_after(why);
        self.update(now, Msg::Tick)
    }
}
