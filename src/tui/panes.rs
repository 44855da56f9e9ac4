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
pub mod token_lookup;
pub mod views;

use super::{
    keymap::Action,
    state::{Context, PaneRequest},
};
pub use crate::tui::page::{Click, View};
use crate::tui::{page::list_page::ListPage, state::GroupForm};

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
    Welcome(connect::Welcome),
    Connect(Box<connect::Connect>),
    List(Box<list::List>),
    Group(group::Group),
    Compare(Box<compare::Compare>),
    Edit(Box<GroupForm>),
    Review(Box<review::Review>),
    Result(Box<group::ResultPane>),
    Token(Box<token::TokenPane>),
    History(Box<history::HistoryPage>),
    Open(open::Open),
    Help(help::Help),
    Profiles(Box<profiles::ProfilesPage>),
    Question(question::Question),
    Messages(Box<messages::MessagesPage>),
    Requests(Box<inspector::RequestsPage>),
    CopyMenu(Box<profiles::CopyMenu>),
    Export(export::Export),
    Note(Box<note::NotePane>),
    Views(Box<views::ViewsPane>),
    Rotations(Box<rotations::RotationsPage>),
    Abandoning(Box<rotations::Abandoning>),
    Whose(Box<token_lookup::TokenLookupPane>),
    Bulk(Box<batch::BatchPane>),
    Batches(Box<batches::BatchesPage>),
    Attention(Box<attention::AttentionPage>),
    BulkEdit(Box<bulk_edit::BulkEdit>),
    Place(Box<place::PlacePane>),
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
                        Some(Self::$page(Box::new(open(context))))
                    })*
                    $(Action::$above => {
                        let open: fn(&mut Context) -> _ = $open;
                        Some(Self::$above(Box::new(open(context))))
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
        Whose |_| token_lookup::TokenLookupPane::default();
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
            PaneRequest::Group(id) => Self::Group(group::Group::open(id, context)),
            PaneRequest::Compare(id) => {
                Self::Compare(Box::new(compare::Compare::open(id, context)))
            }
            PaneRequest::History(id) => {
                let page = ListPage::open(history::History::of(Some(id)), context);
                Self::History(Box::new(page))
            }
            PaneRequest::Edit(form) => Self::Edit(form),
            PaneRequest::Review(proposal) => {
                Self::Review(Box::new(review::Review::of(*proposal, context)))
            }
            PaneRequest::Question(asked) => Self::Question(question::Question(asked)),
            PaneRequest::Result(done, wanted) => {
                Self::Result(Box::new(group::ResultPane::of(*done, &wanted)))
            }
            PaneRequest::Token(group) => {
                Self::Token(Box::new(token::TokenPane::open(&group, context)))
            }
            PaneRequest::CopyMenu(group) => {
                let page = ListPage::open(profiles::Copies::of(&group), context);
                Self::CopyMenu(Box::new(page))
            }
            PaneRequest::Export(ids, which) => {
                Self::Export(export::Export::of(ids, which, context))
            }
            PaneRequest::Note(id) => Self::Note(Box::new(note::NotePane::of(id, context))),
            PaneRequest::Views(columns, empty) => {
                Self::Views(Box::new(views::ViewsPane::of(&columns, empty)))
            }
            PaneRequest::CheckBulk(ids) => {
                Self::Bulk(Box::new(batch::BatchPane::check(ids, context)))
            }
            PaneRequest::WatchBulk(run) => Self::Bulk(Box::new(batch::BatchPane::watch(run))),
            PaneRequest::Batch(id, aim) => {
                Self::Bulk(Box::new(batch::BatchPane::of(id, aim, context)))
            }
            PaneRequest::BulkEdit(source) => {
                Self::BulkEdit(Box::new(bulk_edit::BulkEdit::open(source, context)))
            }
            PaneRequest::Abandon(row) => {
                Self::Abandoning(Box::new(rotations::Abandoning::of(*row)))
            }
            PaneRequest::Connect => Self::Connect(Box::new(connect::Connect::open(context))),
        }
    }
}
