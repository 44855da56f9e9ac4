//! The actions, and the layers beneath the tables of the places: the usual keys of an action, and its texts in the
//! footer and the help. An action has the same key everywhere: change one line here.

use super::{Binding, opened::opened};

impl Action {
    /// Whether the action concerns the console as a whole rather than the content of a pane.
    pub(super) fn is_global(self) -> bool {
        matches!(
            self,
            Self::Help
                | Self::Palette
                | Self::Back
                | Self::Quit
                | Self::Cancel
                | Self::Suspend
                | Self::Redraw
                | Self::Profiles
        )
    }
}

/// One action per line: its name, its keys (the first is shown in the footer), footer hint, help, and other words by which
/// help and palette find it, the most fitting ones first.
macro_rules! layers {
    (opened {
        $($page:ident [$($page_key:literal)+] $page_help:literal $page_words:literal
            in $called:literal $takes_text:ident $table:tt $(+ $more:ident)*;)*
    } $($(#[$doc:meta])* $name:ident {
        $($(#[$about:meta])* $action:ident [$($key:literal)+] $hint:literal $help:literal $words:literal;)*
    })*) => {
        /// What a user can ask the console to do. The command palette lists the actions, the configuration rebinds them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $($($(#[$about])* $action,)*)*
            $($page,)*
            /// The focused widget handles the key itself; listed so that footer and help can show it.
            InField,
        }

        impl Action {
            /// Words that people use for the action, in addition to those of its own texts.
            pub fn synonyms(self) -> &'static str {
                match self {
                    $($(Self::$action => $words,)*)*
                    $(Self::$page => $page_words,)*
                    Self::InField => "field cell",
                }
            }
        }

        /// Also rows for every place.
        static OPENED: &[Binding] = &[$(Binding {
            action: Action::$page,
            keys: &[$($page_key),+],
            hint: "",
            help: $page_help,
        }),*];

        $($(#[$doc])* pub(super) static $name: &[Binding] = &[$(Binding {
            action: Action::$action,
            keys: &[$($key),+],
            hint: $hint,
            help: $help,
        }),*];)*
    };
}

opened! { layers {
    /// Rows for every place that has no row of its own for the same action.
    EVERYWHERE {
        Help ["?" "f1"] "" "help: keys on this screen" "shortcuts manual bindings docs documentation keyboard";
        Palette [":" "ctrl-p"] "" "commands" "command run execute";
        Back ["esc"] "" "back: clears the filter first, then leaves" "leave close cancel return";
        Quit ["q"] "" "back; at the top: quit" "exit leave close logout";
        Cancel ["ctrl-c"] "" "cancel; twice: quit" "abort interrupt exit";
        Refresh ["r" "f5" "ctrl-r"] "" "refresh" "reload sync update again";
        OpenOrCreate ["o"] "" "open a group by ID, or create one" "new add create find search goto copy clone duplicate";
        Groups ["1"] "" "groups" "list home customers";
        Suspend ["ctrl-z"] "" "suspend (fg resumes)" "background shell";
        Redraw ["ctrl-l"] "" "redraw" "repaint clear";
    }

    /// Rows that move the cursor in lists and pages.
    MOVE {
        Up ["k" "up"] "" "up" "move scroll mouse wheel";
        Down ["j" "down"] "" "down" "move scroll";
        Top ["g" "home"] "" "first row" "begin end move scroll";
        Bottom ["G" "end"] "" "last row" "begin end move scroll";
        PageUp ["pgup" "ctrl-u" "ctrl-b"] "" "page up" "move scroll";
        PageDown ["pgdn" "ctrl-d" "ctrl-f"] "" "page down" "move scroll";
    }

    /// Rows that only apply where a table names them. If hint and help are empty, every place defines its own. A place may
    /// leave keys out and add keys that move (Enter, Tab, arrows); the others are the same everywhere.
    NAMED {
        Enter ["enter"] "" "" "ok choose go";
        NextField ["tab"] "next field" "next field" "tab move focus";
        PreviousField ["shift-tab"] "" "previous field" "tab move focus";
        NextProblem ["f8"] "" "next problem" "error wrong";
        Review ["ctrl-s" "f2"] "review" "preview the request" "send submit apply save preview";
        Confirm ["y"] "" "" "yes ok send apply submit";
        Edit ["e"] "edit" "edit name, mapping and properties" "change update modify mapping property rename datasource schema paste";
        /// Opens the whole group in the person's own editor.
        EditWhole ["E" "f4"] "" "edit the whole group in $VISUAL or $EDITOR" "vim nano editor";
        /// Throws away the input.
        Discard ["ctrl-x"] "" "discard the draft; asks first" "delete undo revert reset draft";
        /// Loads the draft that somebody else has of the same group.
        LoadDraft ["f9"] "" "load the other draft; asks first" "colleague theirs take over";
        /// Switches between properties as rows and as JSON.
        RowsOrJson ["f3"] "" "" "json view switch";
        Token ["t"] "token" "token: show, copy, save to file, rotate" "secret key password rotate revoke renew regenerate replace copy leaked stolen compromised invalidate";
        Reveal ["v"] "show 20 s" "show the token for 20 seconds, or hide it" "see display copy secret";
        HandOff ["h"] "hand off" "run the hand-off" "handoff deliver delivery send hook";
        Compare ["x"] "compare" "compare with the same ID in another profile" "diff difference production";
        CopyMenu ["y"] "copy" "copy ID, name or more of this group" "copy clipboard yank link";
        WriteFile ["w"] "save to file" "save the token to a new file that only you can read" "export download save store file csv json print share";
        Filter ["/"] "filter" "filter by words" "search find grep look query";
        Choose ["space"] "mine / theirs" "mine / theirs" "select toggle conflict";
        OtherView ["v"] "JSON, curl" "switch view: changes, JSON request, curl" "json view switch";
        Unchanged ["u"] "unchanged" "show unchanged" "all same";
        /// Also includes groups that were rotated within the last 24 h.
        IncludeRecent ["f7"] "recent" "include recently rotated" "all force";
        Mark ["space"] "" "" "select tick check";
        MarkDown ["shift-down"] "" "" "select tick check";
        MarkUp ["shift-up"] "" "" "select tick check";
        MarkAll ["*"] "" "" "select tick check rotate edit bulk";
        RotateMarked ["T"] "" "" "bulk many all renew revoke regenerate replace leaked mass compromised invalidate";
        /// Applies one change to all marked groups.
        EditMarked ["B"] "" "" "bulk many all change update mass";
        Detail ["d"] "" "" "info inspect preview";
        Sort ["s"] "" "" "order column";
        SortReverse ["S"] "" "" "order column";
        NextFlag ["n"] "" "" "changed jump";
        PreviousFlag ["N"] "" "" "changed jump";
        ScrollRight ["l" "right"] "" "" "columns wide move wrap";
        ScrollLeft ["h" "left"] "" "" "columns wide move";
        /// Opens the saved views and the columns.
        Views ["v"] "" "" "columns layout saved";
        /// Edits the note and the labels of a group.
        Note ["a"] "" "" "comment remark tag label";
        Favourite ["f"] "" "" "star pin bookmark";
        BringAll ["a"] "" "" "copy take over";
        Rotate ["T"] "" "" "renew revoke replace regenerate leaked change compromised invalidate";
        MoveDown ["J"] "" "" "order column";
        MoveUp ["K"] "" "" "order column";
        AddColumn ["a"] "" "" "new column property";
        RemoveView ["D"] "" "" "delete drop";
        ReverseEdit ["z"] "" "" "undo revert restore rollback";
        CopyCurl ["c"] "" "" "copy clipboard yank";
        FailedOnly ["f"] "" "" "errors problems";
        Stop ["X"] "" "" "cancel abort end kill";
        Abandon ["A"] "" "" "close delete give up";
        NextChoice ["right" "space"] "" "" "select other";
        PreviousChoice ["left"] "" "" "select other";
        /// Shows the next part of what was checked.
        ShowNext ["f" "f7"] "" "" "show only filter";
        Pause ["p"] "" "" "wait hold continue";
        /// Resumes a batch that stopped.
        Resume ["R"] "" "" "continue go on";
        RetryFailed ["F"] "" "" "again repeat";
        NextFailed ["n"] "" "" "error jump";
        PreviousFailed ["N"] "" "" "error jump";
        /// Also includes groups that were last sent long ago.
        IncludeOld ["f" "f7"] "" "" "all force";
        Demo ["d"] "" "" "try example";
        /// Adds a profile.
        Connect ["a" "c"] "" "" "new login setup service profile";
    }
} }

/// All layers. An action is in one of them, with its usual keys.
pub(super) const LAYERS: [&[Binding]; 4] = [EVERYWHERE, OPENED, MOVE, NAMED];

/// The rows for every place that has no row of its own for the same action.
pub(super) fn everywhere() -> impl Iterator<Item = &'static Binding> {
    EVERYWHERE.iter().chain(OPENED)
}

impl Binding {
    /// Returns the row of an action in the layers; empty if no layer has one. In a place that takes text, keys that
    /// would be text there are removed.
    pub(super) const fn shared(action: Action, takes_text: bool) -> Self {
        let layers = LAYERS;
        let mut layer = 0;
        while layer < layers.len() {
            let mut at = 0;
            while at < layers[layer].len() {
                let mut row = layers[layer][at];
                if row.action as u8 == action as u8 {
                    while takes_text && is_text(row.keys[0]) {
                        row.keys = row.keys.split_at(1).1;
                    }
                    let mut key = 0;
                    while takes_text && key < row.keys.len() {
                        assert!(!is_text(row.keys[key]), "keys that are text come first");
                        key += 1;
                    }
                    return row;
                }
                at += 1;
            }
            layer += 1;
        }
        Self {
            action,
            keys: &[],
            hint: "",
            help: "",
        }
    }

    /// Replaces the keys with those of the place.
    pub(super) const fn with_keys(self, keys: &'static [&'static str]) -> Self {
        Self { keys, ..self }
    }

    /// Replaces hint and help with those of the place.
    pub(super) const fn with_words(self, hint: &'static str, help: &'static str) -> Self {
        Self { hint, help, ..self }
    }

    /// Asserts that the row has keys and a help text: without them, a table is wrong.
    pub(super) const fn complete(self) -> Self {
        assert!(
            !self.keys.is_empty() && !self.help.is_empty(),
            "a row lacks something"
        );
        self
    }
}

/// Whether the key is text in a place that takes text. Such keys must come first in the rows of a layer.
const fn is_text(key: &str) -> bool {
    matches!(key.as_bytes(), [_] | b"space")
}
