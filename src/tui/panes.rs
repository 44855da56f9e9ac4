//! The panes: a closed enum, so that the compiler lists what a new one affects. Each pane holds its own state, handles
//! actions, receives the outcome it waits for, and draws itself without side effects.

pub mod attention;
pub mod batch;
pub mod batches;
pub mod bulk_edit;
pub mod compare;
pub mod confirm_typed;
pub mod connect;
pub mod copy_menu;
pub mod edit;
pub mod export;
mod filtered_list;
pub mod group;
pub mod help;
pub mod history;
pub mod inspector;
pub mod list;
pub mod messages;
mod new_file;
pub mod note;
pub mod open;
pub mod place;
pub mod profiles;
pub mod result;
pub mod review;
pub mod rotations;
pub mod token;
pub mod token_lookup;
pub mod views;
pub mod welcome;

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{
    super::operations::Changes,
    forms::group::GroupForm,
    keymap::{Action, Focus},
    state::{
        context::{Context, Navigation},
        message::{Outcome, Pending, Ticket},
        navigation::PaneRequest,
    },
    widgets::text_field::TextField,
};

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
    fn title(&self, context: &Context) -> String;
    /// The right of line 2: order and age; the most important part first, two blanks between parts.
    fn status(&self, _context: &Context) -> String {
        String::new()
    }
    /// Follows the title in line 2: the count, the filter, what is marked.
    fn counts(&self, _context: &Context) -> Vec<(String, Style)> {
        Vec::new()
    }
    fn act(&mut self, action: Action, context: &mut Context);
    /// The text field that is typed and pasted into.
    fn field(&mut self) -> Option<&mut TextField> {
        None
    }
    /// Whether the focused field is one for secrets.
    fn takes_secrets(&self) -> bool {
        false
    }
    /// Whether something that this action takes over looks like a token.
    fn has_secret(&mut self, _action: Action) -> bool {
        self.field().is_some_and(|field| field.looks_secret())
    }
    /// A key for the focused widget.
    fn input(&mut self, key: KeyEvent, _context: &mut Context) {
        if let Some(field) = self.field() {
            field.key(key);
            field.error = None;
        }
    }
    /// Pasted text for the focused field; whether there was one.
    fn paste(&mut self, text: &str, _context: &mut Context) -> bool {
        let Some(field) = self.field() else {
            return false;
        };
        field.paste(text);
        field.error = None;
        true
    }
    /// Why an action is not possible now; the help shows it dimmed with this reason, and the footer leaves it out.
    fn disabled(&self, action: Action, _context: &Context) -> Option<String> {
        (action == Action::Refresh).then(|| "nothing to read".into())
    }
    /// A hint for the footer that replaces the one of the table, if that does not apply now.
    fn hint(&self, _action: Action, _context: &Context) -> Option<&'static str> {
        None
    }
    /// Called when the words that the pane asked for, in a pane above it, were typed exactly.
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
    /// Called when the pane is removed from the stack: keeps what was typed and cancels reads. Writes continue.
    fn leave(&mut self, context: &mut Context) {
        for pending in self.pending() {
            context.give_up(pending);
        }
    }
    /// The pane closes itself.
    fn pop(&mut self, context: &mut Context) {
        self.leave(context);
        context.navigate(Navigation::Pop);
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
    /// Whether the pane is a box above the pane below.
    fn is_overlay(&self) -> bool {
        false
    }
    /// Draws the pane; returns the position of the terminal's cursor, if it is visible.
    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position>;
    /// Needed because [`Pane`] holds some panes in a `Box`.
    fn as_view(&self) -> &dyn View
    where
        Self: Sized,
    {
        self
    }
    fn as_view_mut(&mut self) -> &mut dyn View
    where
        Self: Sized,
    {
        self
    }
}

/// Generates `Pane` from the names and types of the panes; a new pane is one line.
macro_rules! panes {
    ($($name:ident($pane:ty),)*) => {
        #[derive(Debug)]
        pub enum Pane {
            $($name($pane)),*
        }

        impl Pane {
            pub fn view(&self) -> &dyn View {
                match self {
                    $(Self::$name(pane) => pane.as_view()),*
                }
            }

            pub fn view_mut(&mut self) -> &mut dyn View {
                match self {
                    $(Self::$name(pane) => pane.as_view_mut()),*
                }
            }
        }
    };
}

panes! {
    Welcome(welcome::Welcome),
    Connect(Box<connect::Connect>),
    List(list::List),
    Group(group::Group),
    Compare(Box<compare::Compare>),
    Edit(Box<GroupForm>),
    Review(Box<review::Review>),
    Result(Box<result::ResultPane>),
    Token(Box<token::TokenPane>),
    History(history::History),
    Open(open::Open),
    Help(help::Help),
    Profiles(profiles::Profiles),
    Typed(confirm_typed::ConfirmTyped),
    Messages(messages::MessagesPane),
    Inspector(inspector::Inspector),
    CopyMenu(copy_menu::CopyMenu),
    Export(export::Export),
    Note(Box<note::NotePane>),
    Views(Box<views::ViewsPane>),
    Rotations(rotations::Rotations),
    Whose(token_lookup::TokenLookupPane),
    Bulk(Box<batch::BatchPane>),
    Batches(batches::Batches),
    Attention(attention::AttentionPane),
    BulkEdit(Box<bulk_edit::BulkEdit>),
    Place(Box<place::PlacePane>),
}

impl Pane {
    /// Creates the requested pane, which may start its first job.
    pub fn open(opening: PaneRequest, context: &mut Context) -> Self {
        match opening {
            PaneRequest::Group(id) => Self::Group(group::Group::open(id, context)),
            PaneRequest::Compare(id) => {
                Self::Compare(Box::new(compare::Compare::open(id, context)))
            }
            PaneRequest::History(id) => Self::History(history::History::of(Some(id), context)),
            PaneRequest::Edit(form) => Self::Edit(form),
            PaneRequest::Review(proposal) => {
                Self::Review(Box::new(review::Review::of(*proposal, context)))
            }
            PaneRequest::Typed(words) => {
                Self::Typed(confirm_typed::ConfirmTyped::new(words, context))
            }
            PaneRequest::Result(done, wanted) => {
                Self::Result(Box::new(result::ResultPane::of(*done, &wanted)))
            }
            PaneRequest::Token(group) => {
                Self::Token(Box::new(token::TokenPane::open(&group, context)))
            }
            PaneRequest::CopyMenu(group) => Self::CopyMenu(copy_menu::CopyMenu::of(&group)),
            PaneRequest::Export(ids, which) => {
                Self::Export(export::Export::of(ids, which, context))
            }
            PaneRequest::Note(id) => Self::Note(Box::new(note::NotePane::of(id, context))),
            PaneRequest::Views(columns) => Self::Views(Box::new(views::ViewsPane::of(&columns))),
            PaneRequest::CheckBulk(ids) => {
                Self::Bulk(Box::new(batch::BatchPane::check(ids, context)))
            }
            PaneRequest::WatchBulk(run) => {
                Self::Bulk(Box::new(batch::BatchPane::watch(run, context)))
            }
            PaneRequest::Batch(id, aim) => {
                Self::Bulk(Box::new(batch::BatchPane::of(id, aim, context)))
            }
            PaneRequest::BulkEdit(source) => {
                Self::BulkEdit(Box::new(bulk_edit::BulkEdit::open(source, context)))
            }
            PaneRequest::Connect => Self::Connect(Box::new(connect::Connect::open(context))),
        }
    }
}
