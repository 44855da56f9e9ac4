//! The panes: a closed enum, so that the compiler lists what a new one affects. Each pane holds its own state, handles
//! actions, receives the outcome it waits for, and draws itself without side effects.

pub mod attention;
pub mod batch;
pub mod batches;
pub mod bulk_edit;
pub mod compare;
pub mod connect;
pub mod edit;
pub mod export;
pub mod group;
pub mod help;
pub mod history;
pub mod inspector;
pub mod list;
pub mod messages;
pub mod note;
pub mod open;
pub mod place;
pub mod profiles;
pub mod question;
pub mod review;
pub mod rotations;
pub mod token;
pub mod views;
pub mod whose;

use super::{
    keymap::Action,
    state::{Context, PaneRequest},
};
pub use crate::tui::page::{Click, View};

/// What nearly every pane is made of.
pub(super) mod prelude {
    pub(crate) use jiff::Timestamp;
    pub(crate) use ratatui::prelude::{Buffer, Position, Rect, Style};

    pub(crate) use crate::{
        domain::{DesiredFields, Ending, KnownGroup, UserGroupId, counted, visible},
        operations::{Done, Guarded},
        tui::{
            keymap::{Action, Focus},
            kit::{
                Cell, Cursor, TextField, TextPage, below, page as page_box, page_room, paint,
                popup, split_below, titled, widest,
            },
            page::View,
            state::{
                BatchRun, Confirm, Context, GroupForm, Job, Navigation, Outcome, PaneRequest,
                Pending, Places, ProfileIndex, Severity, Ticket,
            },
            theme::Theme,
        },
    };
}
use crate::tui::{page::list_page::ListPage, state::GroupForm};

/// Generates `Pane` from the names and types of the panes; a new pane is one line, among those that fill the page, or among
/// the boxes above the pane below.
macro_rules! panes {
    (whole { $($whole:ident($page:ty),)* } boxes { $($above:ident($box:ty),)* }) => {
        panes! { $($whole($page),)* $($above($box),)* }

        impl Pane {
            /// Whether it is a box above the pane below.
            pub fn is_box(&self) -> bool {
                matches!(self, $(Self::$above(_))|*)
            }
        }
    };
    ($($name:ident($pane:ty),)*) => {
        #[derive(Debug)]
        pub enum Pane {
            $($name(Box<$pane>)),*
        }

        impl Pane {
            pub fn view(&self) -> &dyn View {
                match self {
                    $(Self::$name(pane) => &**pane),*
                }
            }

            pub fn view_mut(&mut self) -> &mut dyn View {
                match self {
                    $(Self::$name(pane) => &mut **pane),*
                }
            }
        }

        $(impl From<$pane> for Pane {
            fn from(pane: $pane) -> Self {
                Self::$name(Box::new(pane))
            }
        })*
    };
}

panes! {
    whole {
        Welcome(connect::Welcome),
        Connect(connect::Connect),
        List(list::List),
        Group(group::Group),
        Compare(compare::Compare),
        Edit(GroupForm),
        Review(review::Review),
        Result(group::ResultPane),
        Token(token::TokenPane),
        History(history::HistoryPage),
        Messages(messages::MessagesPage),
        Requests(inspector::RequestsPage),
        Rotations(rotations::RotationsPage),
        Bulk(batch::BatchPane),
        Batches(batches::BatchesPage),
        Attention(attention::AttentionPage),
        BulkEdit(bulk_edit::BulkEdit),
    }
    boxes {
        Open(open::Open),
        Help(help::Help),
        Profiles(profiles::ProfilesPage),
        Question(question::Question),
        CopyMenu(profiles::CopyMenu),
        Export(export::Export),
        Note(note::NotePane),
        Views(views::ViewsPane),
        Abandoning(rotations::Abandoning),
        Whose(whose::WhosePane),
        Place(place::PlacePane),
    }
}

/// Generates what is known of the panes that a key opens from everywhere: pages, which replace each other and have a name
/// in the header, and what is opened above. A new one is one line; its row in `keymap::opened` has the same name.
macro_rules! opened {
    (pages { $($page:ident $name:literal $open_page:expr;)* } above { $($above:ident $open:expr;)* }) => {
        /// The pages in the order of their row in the header, by the action that opens each.
        pub const PAGES: &[(Action, &str)] = &[(Action::Groups, "groups"), $((Action::$page, $name)),*];

        impl Pane {
            /// The action that opens such a pane.
            pub fn opened_by(&self) -> Option<Action> {
                match self {
                    Self::List(_) => Some(Action::Groups),
                    $(Self::$page(_) => Some(Action::$page),)*
                    $(Self::$above(_) => Some(Action::$above),)*
                    _ => None,
                }
            }

            /// Opens the pane of an action; the list is always there.
            pub fn open_by(action: Action, context: &mut Context) -> Option<Self> {
                match action {
                    $(Action::$page => {
                        let open: fn(&mut Context) -> _ = $open_page;
                        Some(open(context).into())
                    })*
                    $(Action::$above => {
                        let open: fn(&mut Context) -> _ = $open;
                        Some(open(context).into())
                    })*
                    _ => None,
                }
            }
        }
    };
}

opened! {
    pages {
        History "history" |context| ListPage::open(history::History::of(None), context);
        Rotations "rotations" |context| ListPage::open(rotations::Rotations::default(), context);
        Requests "requests" |context| ListPage::open(inspector::Requests::default(), context);
        Batches "batches" |context| ListPage::open(batches::Batches::default(), context);
        Attention "attention" |context| ListPage::open(attention::Concerns::default(), context).of_all();
    }
    above {
        Profiles profiles::open;
        Messages |context| {
            context.messages.read_all();
            ListPage::open(messages::Messages::default(), context)
        };
        Whose |_| whose::WhosePane::default();
    }
}

/// Whether the action opens one of the pages, which replace each other.
pub fn is_page(action: Action) -> bool {
    PAGES.iter().any(|(page, _)| *page == action)
}

impl Pane {
    /// Creates the requested pane, which may start its first job.
    pub fn open(opening: PaneRequest, context: &mut Context) -> Self {
        match opening {
            PaneRequest::Group(id) => group::Group::open(id, context).into(),
            PaneRequest::Compare(id) => compare::Compare::open(id, context).into(),
            PaneRequest::History(id) => {
                ListPage::open(history::History::of(Some(id)), context).into()
            }
            PaneRequest::Edit(form) => Self::Edit(form),
            PaneRequest::Review(proposal) => review::Review::of(*proposal, context).into(),
            PaneRequest::Question(asked) => question::Question(asked).into(),
            PaneRequest::Result(done, wanted) => group::ResultPane::of(*done, &wanted).into(),
            PaneRequest::Token(group) => token::TokenPane::open(&group, context).into(),
            PaneRequest::CopyMenu(group) => {
                ListPage::open(profiles::Copies::of(&group), context).into()
            }
            PaneRequest::Export(ids, which) => export::Export::of(ids, which, context).into(),
            PaneRequest::Note(id) => note::NotePane::of(id, context).into(),
            PaneRequest::Views(view, empty) => views::ViewsPane::of(*view, empty).into(),
            PaneRequest::CheckBulk(ids) => batch::BatchPane::check(ids, context).into(),
            PaneRequest::WatchBulk(run) => batch::BatchPane::watch(run).into(),
            PaneRequest::Batch(id, aim) => batch::BatchPane::of(id, aim, context).into(),
            PaneRequest::BulkEdit(source) => bulk_edit::BulkEdit::open(source, context).into(),
            PaneRequest::Abandon(row) => rotations::Abandoning::of(*row).into(),
            PaneRequest::Connect => connect::Connect::open(context).into(),
        }
    }
}
