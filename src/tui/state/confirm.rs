//! Every confirmation of the console (docs/design/console.md, "Confirmation"): what will happen, the guard that asks
//! for more, a reason where one is asked for, and what confirms: the key `y`, or words typed exactly and then Enter. It
//! is the last rows of a page or of a box. Enter alone confirms nothing, wherever it is pressed.

use ratatui::prelude::{Buffer, Position, Rect, Style};

use crate::{
    config::{guard, profile::Profile},
    operations::Guarded,
    tui::{
        keymap::{Action, Focus, Keymap},
        kit::{TextField, TextPage, paint, take},
        theme::Theme,
    },
};

pub use crate::config::guard::{Level, Weight};

/// Maximum length of a reason, in characters.
pub const MAX_REASON_LEN: usize = 200;
const OPTIONAL: &str = "reason (optional)";
/// The field for the words is as wide as the words, and this many cells.
const SPARE: u16 = 2;

/// The level of confirmation that something needs here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmationLevel {
    pub level: Level,
    /// The reason of the guard that raised the level.
    pub guard: Option<String>,
}

impl ConfirmationLevel {
    /// Without a profile as in production.
    pub fn of(profile: Option<&Profile>, operation: Guarded, weight: Weight) -> Self {
        let is_production = profile.is_none_or(|profile| profile.production);
        let guards = profile.map_or(&[][..], |profile| &profile.guards);
        let (level, reason) = guard::level_of_change(guards, (operation, is_production), weight);
        Self {
            level,
            guard: reason.map(str::to_owned),
        }
    }
}

/// The places that receive the keys of a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    pub reason: Focus,
    pub typed: Focus,
    pub key: Focus,
}

impl Places {
    /// A place that is only confirmed with the key.
    pub const fn key(key: Focus) -> Self {
        Self::boxed(key, key)
    }

    /// A confirmation with its own reason and key, or typed words in the box that every page shares.
    pub const fn boxed(reason: Focus, key: Focus) -> Self {
        Self {
            reason,
            typed: Focus::ConfirmTyped,
            key,
        }
    }
}

/// A reason that is asked for again: its text, and what it began with, which was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptReason {
    given: String,
    text: String,
}

impl KeptReason {
    /// That of what is done again.
    pub fn given(text: &str) -> Self {
        let text = text.to_owned();
        Self {
            given: text.clone(),
            text,
        }
    }

    /// Whether a page that is left would lose it.
    pub fn is_typed(&self) -> bool {
        self.text.trim() != self.given.trim()
    }
}

#[derive(Debug)]
struct Reason {
    field: TextField,
    /// What it began with, which was given.
    given: String,
    /// What to say if there is none; `None`: it is optional.
    needed: Option<&'static str>,
}

/// How a confirmation reacted to an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It is not about the confirmation.
    Ignored,
    /// The focus has moved, or a field shows what is wrong.
    Handled,
    /// Nothing was confirmed, with what to do instead.
    Says(String),
    Confirmed,
}

#[derive(Debug)]
pub struct Confirm {
    places: Places,
    level: Level,
    /// Why a guard raised the level.
    guard: Option<String>,
    /// What the key does: "rotates the token of acme-eu in live".
    what: String,
    /// What must be typed at [`Level::Typed`] and [`Level::Words`].
    words: String,
    /// The word for the key in the footer; `None`: the one of the place.
    verb: Option<&'static str>,
    reason: Option<Reason>,
    typed: TextField,
    on_reason: bool,
}

impl Confirm {
    pub fn new(places: Places, level: Level, guard: Option<String>) -> Self {
        Self {
            places,
            level,
            guard,
            what: String::new(),
            words: String::new(),
            verb: None,
            reason: None,
            typed: TextField::new("", "").for_data(),
            on_reason: false,
        }
    }

    /// A confirmation with the key alone.
    pub fn with_key(key: Focus) -> Self {
        Self::new(Places::key(key), Level::Key, None)
    }

    /// A question in a box of its own, which the key answers.
    pub fn asked(what: impl Into<String>, verb: &'static str) -> Self {
        Self::with_key(Focus::ConfirmKey)
            .of(what, "")
            .with_verb(verb)
    }

    /// Says what will happen, and which words confirm it at the levels that ask for words. Words that were typed for
    /// something else do not count any more.
    #[must_use]
    pub fn of(mut self, what: impl Into<String>, words: impl Into<String>) -> Self {
        self.set(what, words);
        self
    }

    /// As [`Self::of`], when what was checked has changed.
    pub fn set(&mut self, what: impl Into<String>, words: impl Into<String>) {
        let (what, words) = (what.into(), words.into());
        if words != self.words || what != self.what {
            self.forget_typed();
        }
        self.what = what;
        self.words = words;
    }

    /// Words that were typed so far do not count any more.
    pub fn forget_typed(&mut self) {
        self.typed.set_text("");
        self.typed.error = None;
    }

    /// The word for the key in the footer.
    #[must_use]
    pub fn with_verb(mut self, verb: &'static str) -> Self {
        self.verb = Some(verb);
        self
    }

    /// As [`Self::with_verb`], when what the key does has changed.
    pub fn set_verb(&mut self, verb: Option<&'static str>) {
        self.verb = verb;
    }

    /// Asks for a reason as well, which may stay empty; begins with this one.
    #[must_use]
    pub fn with_reason(mut self, reason: &KeptReason) -> Self {
        let field = TextField::new(OPTIONAL, &reason.text).with_longest(MAX_REASON_LEN);
        self.reason = Some(Reason {
            field,
            given: reason.given.clone(),
            needed: None,
        });
        self
    }

    /// The reason, for when it is asked for again.
    pub fn kept_reason(&self) -> KeptReason {
        let reason = self.reason.as_ref();
        reason.map_or_else(KeptReason::default, |reason| KeptReason {
            given: reason.given.clone(),
            text: reason.field.text().trim().to_owned(),
        })
    }

    /// The reason has a known secret, perhaps since it began.
    pub fn drop_reason(&mut self) {
        if let Some(reason) = &mut self.reason {
            reason.given.clear();
            reason.field.begins_with("");
            reason.field.take_back();
            self.on_reason = true;
        }
    }

    /// Asks for a reason first; `missing` is said if there is none.
    #[must_use]
    pub fn with_needed_reason(mut self, label: &str, missing: &'static str) -> Self {
        let field = TextField::new(label, "").with_longest(MAX_REASON_LEN);
        self.reason = Some(Reason {
            field,
            given: String::new(),
            needed: Some(missing),
        });
        self.on_reason = true;
        self
    }

    /// Why a guard asks for more, once that is known.
    pub fn set_guard(&mut self, guard: Option<String>) {
        self.guard = guard;
    }

    pub fn is_typed(&self) -> bool {
        self.level >= Level::Typed
    }

    /// The place that receives keys now.
    pub fn focus(&self) -> Focus {
        match (self.on_reason, self.is_typed()) {
            (true, _) => self.places.reason,
            (false, true) => self.places.typed,
            (false, false) => self.places.key,
        }
    }

    /// The field that is typed into now.
    pub fn field(&mut self) -> Option<&mut TextField> {
        match (self.on_reason, self.is_typed()) {
            (true, _) => self.reason.as_mut().map(|reason| &mut reason.field),
            (false, true) => Some(&mut self.typed),
            (false, false) => None,
        }
    }

    pub fn reason(&self) -> Option<String> {
        let reason = self.reason.as_ref()?.field.text().trim();
        (!reason.is_empty()).then(|| reason.to_owned())
    }

    /// Whether a reason or words are typed.
    pub fn has_input(&self) -> bool {
        self.kept_reason().is_typed() || !self.typed.is_empty()
    }

    pub fn verb(&self) -> Option<&'static str> {
        self.verb
    }

    /// Why one of its keys has no effect.
    pub fn disabled(&self, action: Action) -> Option<String> {
        let moves = matches!(action, Action::NextField | Action::PreviousField);
        (moves && self.reason.is_none()).then(|| "no reason is asked for".into())
    }

    /// Shows why nothing was sent.
    pub fn refuse(&mut self, why: &str) {
        let is_typed = self.is_typed();
        let field = match &mut self.reason {
            Some(reason) if !is_typed => &mut reason.field,
            _ => &mut self.typed,
        };
        field.error = Some(why.to_owned());
    }

    /// Handles an action of its places.
    pub fn act(&mut self, action: Action, keys: &Keymap) -> Step {
        match action {
            Action::NextField | Action::PreviousField if self.reason.is_some() => {
                if !(self.on_reason && self.lacks_reason()) {
                    self.on_reason = !self.on_reason;
                }
                Step::Handled
            }
            Action::Enter if self.on_reason => Step::Ignored,
            Action::Enter if self.is_typed() && self.typed.text() != self.words => {
                self.refuse("Text differs; nothing was sent");
                Step::Handled
            }
            Action::Enter if self.is_typed() => self.confirmed(),
            Action::Enter => {
                let key = |action| keys.key(self.focus(), action);
                let (enter, confirm) = (key(Action::Enter), key(Action::Confirm));
                Step::Says(format!("{enter} confirms nothing: {confirm} does"))
            }
            Action::Confirm if !self.on_reason && !self.is_typed() => self.confirmed(),
            _ => Step::Ignored,
        }
    }

    fn confirmed(&mut self) -> Step {
        if self.lacks_reason() {
            self.on_reason = true;
            return Step::Handled;
        }
        Step::Confirmed
    }

    /// Whether a reason is needed and missing; then the field says so.
    fn lacks_reason(&mut self) -> bool {
        let Some(Reason { field, needed, .. }) = &mut self.reason else {
            return false;
        };
        let missing = needed.filter(|_| field.text().trim().is_empty());
        if missing.is_some() {
            field.error = missing.map(str::to_owned);
        }
        missing.is_some()
    }

    fn guard(&self, width: u16, theme: Theme) -> TextPage {
        let mut page = TextPage::new(width, theme);
        if let Some(guard) = &self.guard {
            page.text(&format!("! guard: {guard}"), theme.warning());
        }
        page
    }

    /// The line before the field for the words, if all of it fits on one line.
    fn before_field(&self, keys: &Keymap) -> [String; 3] {
        let enter = keys.key(self.places.typed, Action::Enter);
        let then = format!(" then {enter}: ");
        ["Type ".to_owned(), self.words.clone(), then]
    }

    /// Width of the field for the words.
    fn field_width(&self) -> u16 {
        u16::try_from(paint::columns(&self.words)).map_or(u16::MAX, |words| words + SPARE)
    }

    fn fits_on_one_line(&self, width: u16, keys: &Keymap) -> bool {
        let before = self.before_field(keys).map(|text| paint::columns(&text));
        before.iter().sum::<usize>() + usize::from(self.field_width()) <= usize::from(width)
    }

    /// The sentence that says what confirms, or why nothing can be confirmed now.
    fn sentence(&self, width: u16, keys: &Keymap, theme: Theme, why_not: Option<&str>) -> TextPage {
        let mut page = TextPage::new(width, theme);
        let key = keys.key(self.places.key, Action::Confirm);
        if let Some(why) = why_not {
            page.text(why, theme.dim());
        } else if self.is_typed() {
            let enter = keys.key(self.places.typed, Action::Enter);
            if !self.fits_on_one_line(width, keys) {
                page.text(&format!("Type {} then {enter}:", self.words), theme.title());
            }
        } else if self.on_reason {
            let next = keys.key(self.places.reason, Action::NextField);
            page.text(&format!("{next}, then {key} {}", self.what), theme.dim());
        } else {
            let text = format!("{key} {}. No other key does.", self.what);
            page.text(&text, theme.title());
        }
        page
    }

    /// Number of rows that [`Self::draw`] needs.
    pub fn rows(&self, width: u16, keys: &Keymap, theme: Theme, why_not: Option<&str>) -> u16 {
        let sentence = self.sentence(width, keys, theme, why_not).height() as u16;
        let field = if self.is_typed() && why_not.is_none() {
            let error = self.typed.error.as_deref().unwrap_or_default();
            1 + (paint::wrapped_lines(error, width).len() as u16).max(1)
        } else {
            0
        };
        self.guard(width, theme).height() as u16 + self.reason_rows(width) + sentence + field
    }

    fn reason_rows(&self, width: u16) -> u16 {
        let reason = self.reason.as_ref();
        reason.map_or(0, |reason| reason.field.rows(width))
    }

    /// Draws guard, reason, and what confirms.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        keys: &Keymap,
        theme: Theme,
        why_not: Option<&str>,
    ) -> Option<Position> {
        let mut left = area;
        let is_whole = self.rows(area.width, keys, theme, why_not) <= area.height;
        // Where not all fits, what confirms matters most.
        if is_whole {
            let guard = self.guard(area.width, theme);
            guard.draw_still(buffer, take(&mut left, guard.height() as u16));
        }
        let mut cursor = None;
        if let Some(reason) = &self.reason {
            let row = take(&mut left, self.reason_rows(area.width));
            let at = reason.field.draw(buffer, row, theme, self.on_reason);
            cursor = at.filter(|_| self.on_reason);
        }
        let sentence = self.sentence(area.width, keys, theme, why_not);
        sentence.draw_still(buffer, take(&mut left, sentence.height() as u16));
        if !self.is_typed() || why_not.is_some() {
            return cursor;
        }
        let row = paint::row(left, 0);
        let rest = |x: u16| paint::from_column(row, x);
        let mut x = row.x;
        if self.fits_on_one_line(area.width, keys) {
            let styles = [Style::new(), theme.title(), Style::new()];
            for (text, style) in self.before_field(keys).iter().zip(styles) {
                x = paint::line(buffer, rest(x), text, style, theme);
            }
        }
        let field = paint::first_cells(rest(x), self.field_width());
        let at = self.typed.draw(buffer, field, theme, !self.on_reason);
        take(&mut left, 1);
        let error = self.typed.error.as_deref().unwrap_or_default();
        paint::wrapped(buffer, left, error, theme.error(), theme);
        cursor.or(at.filter(|_| !self.on_reason))
    }

    /// Draws a page, and the confirmation right below its text. If not all of the text fits, `scroll` is its first line;
    /// `None`: its end matters most.
    pub fn draw_below(
        &self,
        page: &TextPage,
        scroll: Option<usize>,
        (buffer, area): (&mut Buffer, Rect),
        (keys, theme): (&Keymap, Theme),
        why_not: Option<&str>,
    ) -> Option<Position> {
        let room = self.room(area, keys, theme, why_not);
        let height = u16::try_from(page.height()).unwrap_or(u16::MAX).min(room);
        let mut left = area;
        let above = take(&mut left, height);
        let scroll = scroll.unwrap_or(page.last_scroll(height));
        // A letter would be typed into the field.
        let action = if self.focus().takes_text() {
            Action::PageDown
        } else {
            Action::Down
        };
        let mut here = keys.bindings(self.focus()).iter();
        let key = here.find(|bound| bound.action == action);
        let key = key.and_then(|bound| bound.keys.first());
        let key = key.map_or_else(String::new, |key| format!("{}: ", key.shown()));
        page.draw_with(buffer, above, scroll, &key);
        if height < room {
            take(&mut left, 1);
        }
        self.draw(buffer, left, keys, theme, why_not)
    }

    /// The rows that [`Self::draw_below`] leaves for the page.
    pub fn room(&self, area: Rect, keys: &Keymap, theme: Theme, why_not: Option<&str>) -> u16 {
        let rows = self.rows(area.width, keys, theme, why_not);
        area.height.saturating_sub(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A retry begins with the reason of its batch, and another profile then discards nothing.
    #[test]
    fn only_what_was_typed_is_input() {
        let places = Places::key(Focus::ConfirmTyped);
        let given = KeptReason::given("leaked");
        let mut confirm = Confirm::new(places, Level::Words, None).with_reason(&given);
        assert!(!confirm.has_input());
        confirm.on_reason = true;
        let field = confirm.field().expect("the reason");
        field.set_text("leaked twice");
        assert!(confirm.has_input());
        // Nor is it less so when it is asked for again.
        let places = Places::key(Focus::ConfirmTyped);
        let again = Confirm::new(places, Level::Words, None).with_reason(&confirm.kept_reason());
        assert!(again.has_input());
        assert_eq!(again.reason().as_deref(), Some("leaked twice"));
    }
}
