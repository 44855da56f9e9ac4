//! The actions, and the layers beneath the tables of the places: the usual keys of an action, and its texts in the
//! footer and the help. An action has the same key everywhere: change one line here.

use super::Binding;

/// What a person can ask the console to do. The command palette lists the actions, the configuration rebinds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Help,
    Palette,
    Back,
    Quit,
    Cancel,
    Suspend,
    Redraw,
    Profiles,
    Groups,
    History,
    Rotations,
    Requests,
    Whose,
    Refresh,
    CopyMenu,
    Messages,
    OpenOrCreate,
    Filter,
    CopyCurl,
    ReverseEdit,
    Up,
    Down,
    Top,
    Bottom,
    PageUp,
    PageDown,
    Enter,
    Detail,
    Edit,
    Token,
    Compare,
    BringAll,
    Sort,
    SortReverse,
    NextField,
    PreviousField,
    NextProblem,
    /// Switches between properties as rows and as JSON.
    RowsOrJson,
    /// Opens the whole group in the person's own editor.
    EditWhole,
    /// Throws away the input.
    Discard,
    /// Loads the draft that somebody else has of the same group.
    LoadDraft,
    Review,
    Confirm,
    Unchanged,
    Choose,
    OtherView,
    Rotate,
    /// Edits the note and the labels of a group.
    Note,
    Favourite,
    /// Opens the saved views and the columns.
    Views,
    AddColumn,
    MoveUp,
    MoveDown,
    RemoveView,
    Mark,
    MarkDown,
    MarkUp,
    NextFlag,
    PreviousFlag,
    ScrollLeft,
    ScrollRight,
    MarkAll,
    RotateMarked,
    /// Applies one change to all marked groups.
    EditMarked,
    NextChoice,
    PreviousChoice,
    /// Shows the next part of what was checked.
    ShowNext,
    Pause,
    Stop,
    FailedOnly,
    /// Also includes groups that were rotated within the last 24 h.
    IncludeRecent,
    /// Also includes groups that were last sent long ago.
    IncludeOld,
    RetryFailed,
    /// Resumes a batch that stopped.
    Resume,
    Batches,
    Attention,
    NextFailed,
    PreviousFailed,
    Abandon,
    Reveal,
    WriteFile,
    HandOff,
    Demo,
    /// Adds a profile.
    Connect,
    /// The focused widget handles the key itself; listed so that footer and help can show it.
    InField,
}

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

/// One binding per line: action, keys (the first is shown in the footer), footer hint, help.
macro_rules! layers {
    ($($(#[$doc:meta])* $name:ident { $($action:ident [$($key:literal)+] $hint:literal $help:literal;)* })*) => {
        $($(#[$doc])* pub(super) static $name: &[Binding] = &[$(Binding {
            action: Action::$action,
            keys: &[$($key),+],
            hint: $hint,
            help: $help,
        }),*];)*
    };
}

layers! {
    /// Rows for every place that has no row of its own for the same action.
    EVERYWHERE {
        Help ["?" "f1"] "" "help: keys on this screen";
        Palette [":" "ctrl-p"] "" "commands";
        Back ["esc"] "" "back: clears the filter first, then leaves";
        Quit ["q"] "" "back; at the top: quit";
        Cancel ["ctrl-c"] "" "cancel; twice: quit";
        Refresh ["r" "f5" "ctrl-r"] "" "refresh";
        OpenOrCreate ["o"] "" "open a group by ID, or create one";
        Profiles ["P" "f6"] "" "switch profile";
        Groups ["1"] "" "groups";
        History ["2"] "" "history";
        Rotations ["3"] "" "rotations (open first)";
        Whose ["W"] "" "find the group of a token; nothing is sent";
        Attention ["0" "!"] "" "what needs attention, over all profiles";
        Batches ["5"] "" "batches (unfinished first): groups, resume, retry";
        Requests ["4"] "" "requests and responses";
        Messages ["m"] "" "messages of this session";
        Suspend ["ctrl-z"] "" "suspend (fg resumes)";
        Redraw ["ctrl-l"] "" "redraw";
    }

    /// Rows that move the cursor in lists and pages.
    MOVE {
        Up ["k" "up"] "" "up";
        Down ["j" "down"] "" "down";
        Top ["g" "home"] "" "first row";
        Bottom ["G" "end"] "" "last row";
        PageUp ["pgup" "ctrl-u" "ctrl-b"] "" "page up";
        PageDown ["pgdn" "ctrl-d" "ctrl-f"] "" "page down";
    }

    /// Rows that only apply where a table names them. If hint and help are empty, every place defines its own. A place may
    /// leave keys out and add keys that move (Enter, Tab, arrows); the others are the same everywhere.
    NAMED {
        Enter ["enter"] "" "";
        NextField ["tab"] "next field" "next field";
        PreviousField ["shift-tab"] "" "previous field";
        NextProblem ["f8"] "" "next problem";
        Review ["ctrl-s" "f2"] "review" "preview the request";
        Confirm ["y"] "" "";
        Edit ["e"] "edit" "edit name, mapping and properties";
        EditWhole ["E" "f4"] "" "edit the whole group in $VISUAL or $EDITOR";
        Discard ["ctrl-x"] "" "discard the draft; asks first";
        LoadDraft ["f9"] "" "load the other draft; asks first";
        RowsOrJson ["f3"] "" "";
        Token ["t"] "token" "token: show, copy, save to file, rotate";
        Reveal ["v"] "show 20 s" "show the token for 20 seconds, or hide it";
        HandOff ["h"] "hand off" "run the hand-off";
        Compare ["x"] "compare" "compare with the same ID in another profile";
        CopyMenu ["y"] "copy" "copy ID, name or more of this group";
        WriteFile ["w"] "save to file" "save the token to a new file that only you can read";
        Filter ["/"] "filter" "filter by words";
        Choose ["space"] "mine / theirs" "mine / theirs";
        OtherView ["v"] "JSON, curl" "switch view: changes, JSON request, curl";
        Unchanged ["u"] "unchanged" "show unchanged";
        IncludeRecent ["f7"] "recent" "include recently rotated";
        Mark ["space"] "" "";
        MarkDown ["shift-down"] "" "";
        MarkUp ["shift-up"] "" "";
        MarkAll ["*"] "" "";
        RotateMarked ["T"] "" "";
        EditMarked ["B"] "" "";
        Detail ["d"] "" "";
        Sort ["s"] "" "";
        SortReverse ["S"] "" "";
        NextFlag ["n"] "" "";
        PreviousFlag ["N"] "" "";
        ScrollRight ["l" "right"] "" "";
        ScrollLeft ["h" "left"] "" "";
        Views ["v"] "" "";
        Note ["a"] "" "";
        Favourite ["f"] "" "";
        BringAll ["a"] "" "";
        Rotate ["T"] "" "";
        MoveDown ["J"] "" "";
        MoveUp ["K"] "" "";
        AddColumn ["a"] "" "";
        RemoveView ["D"] "" "";
        ReverseEdit ["z"] "" "";
        CopyCurl ["c"] "" "";
        FailedOnly ["f"] "" "";
        Stop ["X"] "" "";
        Abandon ["A"] "" "";
        NextChoice ["right" "space"] "" "";
        PreviousChoice ["left"] "" "";
        ShowNext ["f" "f7"] "" "";
        Pause ["p"] "" "";
        Resume ["R"] "" "";
        RetryFailed ["F"] "" "";
        NextFailed ["n"] "" "";
        PreviousFailed ["N"] "" "";
        IncludeOld ["f" "f7"] "" "";
        Demo ["d"] "" "";
        Connect ["a" "c"] "" "";
    }
}

/// All layers. An action is in one of them, with its usual keys.
pub(super) const LAYERS: [&[Binding]; 3] = [EVERYWHERE, MOVE, NAMED];

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
