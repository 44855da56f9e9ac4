//! What pages are made of: contracts that know keys and colours. Knows no page: a page says what it is about, and the
//! kit does the rest.
//!
//! What every page is for the frame and the state machine: where keys go, what it draws, what it waits for.

pub mod footer;
pub mod group_details;
pub mod list_page;
pub mod prompt;

use crossterm::event::KeyEvent;
use ratatui::prelude::{Buffer, Position, Rect, Style};

use crate::{
    domain::UserGroupId,
    operations::Changes,
    tui::{
        keymap::{Action, Focus},
        kit::TextField,
        state::{Confirm, Context, Outcome, Pending, Ticket},
    },
};

/// Why a page with an open confirmation is not left.
pub(super) const CONFIRMATION_LOST: &str = "what was typed for the confirmation would be lost";

/// How a pane handled a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Click {
    /// Not handled: the caller moves the cursor of whatever list the pane draws.
    Elsewhere,
    /// Handled.
    Taken,
    /// The clicked row now has the cursor.
    Row,
    /// Nothing is at this position.
    Nothing,
}

/// The interface of every pane; the defaults suit a pane that only shows something.
pub trait View {
    /// The place that receives keys.
    fn focus(&self) -> Focus;
    /// Its part of the breadcrumb path.
    fn title(&self, _context: &Context) -> String {
        self.focus().page().into()
    }
    /// The right of line 2: order and age; the most important part first, two blanks between parts.
    fn status(&self, _context: &Context) -> String {
        String::new()
    }
    /// Follows the title in line 2: the count, the filter, what is marked.
    fn counts(&self, _context: &Context) -> Vec<(String, Style)> {
        Vec::new()
    }
    fn act(&mut self, action: Action, context: &mut Context);
    /// What the pane asks before it does something.
    fn confirm(&self) -> Option<&Confirm> {
        None
    }
    fn confirm_mut(&mut self) -> Option<&mut Confirm> {
        None
    }
    /// Does what [`Self::confirm`] asked about; called once it is confirmed, and nowhere else.
    fn carry_out(&mut self, _context: &mut Context) {}
    /// The text field that is typed and pasted into.
    fn field(&mut self) -> Option<&mut TextField> {
        self.confirm_mut()?.field()
    }
    /// The field whose text stays when it is left.
    fn kept_field(&mut self) -> Option<&mut TextField> {
        self.field()
    }
    /// Whether the focused field is one for secrets.
    fn takes_secrets(&self) -> bool {
        false
    }
    /// Takes a known secret out of the focused field; returns whether the field had it.
    fn hold_back(&mut self, secret: &str, context: &mut Context) -> bool {
        let field = self.kept_field();
        let had_it = field.is_some_and(|field| field.hold_back(secret));
        if had_it {
            self.typed(context);
        }
        had_it
    }
    /// A known secret in this field, as failures name it, was refused: takes what was typed there back, and nothing else.
    fn take_back(&mut self, what: &str, context: &mut Context) {
        if let Some(confirm) = self.confirm_mut() {
            if what == "reason" {
                confirm.drop_reason();
            }
            return;
        }
        let field = self.field().filter(|_| what != "filter");
        if let Some(field) = field.filter(|field| !field.is_data() && !field.is_masked()) {
            field.take_back();
            self.typed(context);
        }
    }
    /// Whether something that this action takes over looks like a token.
    fn has_secret(&mut self, _action: Action) -> bool {
        self.field().is_some_and(|field| field.looks_secret())
    }
    /// A key for the focused widget.
    fn input(&mut self, key: KeyEvent, context: &mut Context) {
        if let Some(field) = self.field() {
            field.key(key);
            field.error = None;
            self.typed(context);
        }
    }
    /// Pasted text for the focused field; whether there was one.
    fn paste(&mut self, text: &str, context: &mut Context) -> bool {
        let Some(field) = self.field() else {
            return false;
        };
        field.paste(text);
        field.error = None;
        self.typed(context);
        true
    }
    /// The text of the focused field may be another one: updates what follows from it.
    fn typed(&mut self, _context: &mut Context) {}
    /// Why an action is not possible now; the help shows it dimmed with this reason, and the footer leaves it out.
    fn disabled(&self, _action: Action, _context: &Context) -> Option<String> {
        None
    }
    /// Like [`Self::disabled`], and what holds on every page: the place has nothing to refresh, or the directory, which is
    /// only read, does not allow the action, or it needs an API key that the profile does not have.
    fn why_not(&self, action: Action, context: &Context) -> Option<String> {
        let why = match action {
            Action::Refresh if !self.focus().has(action) => Some("nothing to refresh"),
            Action::Whose => context.why_no_token_lookup(),
            _ if writes_directory(self.focus(), action) => context.view_only_reason(),
            _ => None,
        };
        // The page of a token begins with reading it; one that was found may be of another profile.
        let reads_token = action == Action::Token && self.focus() != Focus::WhoseFound;
        let why = why.map(str::to_owned);
        let why = why.or_else(|| context.why_no_key().filter(|_| reads_token));
        why.or_else(|| self.disabled(action, context))
    }
    /// The groups that the page is about: a label goes to them.
    fn about(&self) -> Vec<UserGroupId> {
        Vec::new()
    }
    /// What is marked here, in words.
    fn marked(&self) -> Option<String> {
        None
    }
    /// A hint for the footer that replaces the one of the table, if that does not apply now.
    fn hint(&self, action: Action, _context: &Context) -> Option<&'static str> {
        self.confirm()?.verb().filter(|_| action == Action::Confirm)
    }
    /// Called when the question that the pane asked, in a box above it, was confirmed.
    fn confirmed(&mut self, _context: &mut Context) {}
    /// The answers that the pane waits for.
    fn pending(&self) -> Vec<&Pending> {
        Vec::new()
    }
    fn waits_for(&self, ticket: Ticket) -> bool {
        let pending = self.pending();
        pending.iter().any(|pending| pending.waits_for(ticket))
    }
    /// Whether a requested check is still running, before the page that accepts keys appears.
    fn is_preparing(&self) -> bool {
        false
    }
    /// Receives an outcome that the pane waited for.
    fn answer(&mut self, _outcome: &Outcome, _context: &mut Context) {}
    /// The job that the pane waited for panicked.
    fn job_panicked(&mut self, _context: &mut Context) {}
    /// Updates what is derived from the context; called after every message.
    fn sync(&mut self, _context: &mut Context) {}
    /// Others have changed something in this place; the context has been updated already.
    fn changed(&mut self, _changes: &Changes, _context: &mut Context) {}
    /// The journal of the profile may have changed.
    fn journal_changed(&mut self, _context: &mut Context) {}
    /// Called when the pane is removed from the stack: keeps what was typed and cancels reads. Writes continue.
    fn leave(&mut self, context: &mut Context) {
        for pending in self.pending() {
            context.give_up(pending);
        }
    }
    /// What was typed here, is no draft, and would be lost with the pane: a sentence without its end.
    fn unsaved(&self) -> Option<String> {
        let is_sent = self.pending().iter().any(|pending| pending.is_waiting());
        let is_typed = self.confirm().is_some_and(Confirm::has_input);
        (is_typed && !is_sent).then(|| CONFIRMATION_LOST.into())
    }
    /// The pane closes itself.
    fn pop(&mut self, context: &mut Context) {
        self.leave(context);
        context.close_pane();
    }
    /// Whether something on the pane changes with time alone.
    fn ticks(&self) -> bool {
        false
    }
    /// Handles a click.
    fn click(&mut self, _at: Position, _context: &mut Context) -> Click {
        Click::Elsewhere
    }
    /// Handles the wheel; returns whether it did.
    fn wheel(&mut self, _at: Position, _action: Action, _context: &mut Context) -> bool {
        false
    }
    /// Draws the pane; returns the position of the terminal's cursor, if it is visible.
    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position>;
}

/// Whether the action writes to the directory. Reading the service does, because the directory records it. Not listed
/// are actions that a profile or a guard can forbid: [`Context::why_forbidden`] has the reason of the directory as well.
fn writes_directory(focus: Focus, action: Action) -> bool {
    match action {
        Action::OpenOrCreate
        | Action::Note
        | Action::Favourite
        | Action::Token
        | Action::RemoveView => true,
        Action::Refresh => matches!(focus, Focus::Group | Focus::Token | Focus::Compare),
        Action::WriteFile => focus == Focus::Views,
        _ => false,
    }
}
