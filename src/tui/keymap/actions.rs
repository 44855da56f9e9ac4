//! The actions, and the layers below the tables of the places: which keys an action has wherever it stands, and what
//! footer and help say of it. One more key of an action is one line here, whatever the number of places.

use super::Binding;

/// A request of the person, named; what the palette lists and the configuration rebinds.
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
    /// Properties as rows, or as JSON.
    RowsOrJson,
    /// One field in the person's own editor.
    EditOutside,
    /// The whole group in the person's own editor.
    EditWhole,
    /// Throws away what was typed.
    Discard,
    Review,
    Confirm,
    Unchanged,
    Choose,
    OtherView,
    Rotate,
    /// The note and the labels of a group.
    Note,
    Favourite,
    /// Saved views and columns.
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
    /// One change over the marked groups.
    EditMarked,
    NextChoice,
    PreviousChoice,
    /// The next part of what was checked.
    ShowNext,
    Pause,
    Stop,
    FailedOnly,
    /// Also what was rotated within 24 h.
    IncludeRecent,
    RetryFailed,
    /// Goes on with a batch that stopped.
    Resume,
    Batches,
    Attention,
    /// Puts aside what waits, or shows it again.
    Hide,
    ShowHidden,
    NextFailed,
    PreviousFailed,
    Abandon,
    Reveal,
    WriteFile,
    HandOff,
    Demo,
    /// A new profile.
    Connect,
    /// The focused widget takes the key itself; listed so that footer and help know of it.
    InField,
}

impl Action {
    /// It concerns the console as such, not what is shown in it.
    pub(super) fn is_of_the_frame(self) -> bool {
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

/// One binding a line: action, keys (the first is in the footer), footer hint, help.
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
    /// What holds in every place that has no own row for the same action.
    EVERYWHERE {
        Help ["?" "f1"] "" "keys here";
        Palette [":" "ctrl-p"] "" "commands";
        Back ["esc"] "" "back: first the filter, then the view";
        Quit ["q"] "" "back; at the top: quit";
        Cancel ["ctrl-c"] "" "cancel; twice: quit";
        Refresh ["r" "f5" "ctrl-r"] "" "refresh";
        OpenOrCreate ["o"] "" "open a group by its id, or new group form";
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

    /// What moves in every list and page.
    MOVE {
        Up ["k" "up"] "" "up";
        Down ["j" "down"] "" "down";
        Top ["g" "home"] "" "first row";
        Bottom ["G" "end"] "" "last row";
        PageUp ["pgup" "ctrl-u" "ctrl-b"] "" "page up";
        PageDown ["pgdn" "ctrl-d" "ctrl-f"] "" "page down";
    }

    /// What holds only where a table names it. Where hint and help are empty, every place has its own.
    NAMED {
        Enter ["enter"] "" "";
        NextField ["tab"] "next field" "next field";
        PreviousField ["shift-tab"] "" "previous field";
        NextProblem ["f8"] "" "next problem";
        Review ["ctrl-s" "f2"] "review" "preview the request";
        Confirm ["y"] "" "";
        Edit ["e"] "edit" "edit name, mapping and properties";
        EditWhole ["E" "f4"] "" "edit the whole group in $VISUAL or $EDITOR";
        EditOutside ["ctrl-e"] "" "edit this field in $VISUAL or $EDITOR";
        Discard ["ctrl-x"] "" "discard the draft; asks first";
        RowsOrJson ["f3"] "" "";
        Token ["t"] "token" "token: show, copy, save to file, rotate";
        Reveal ["v"] "show 20 s" "show the token for 20 seconds, or hide it";
        HandOff ["h"] "hand off" "run the hand-off";
        Compare ["x"] "compare" "compare with the same id in another profile";
        CopyMenu ["y"] "copy" "copy id, name or more of this group";
        WriteFile ["w"] "save to file" "save the token to a new file that only you can read";
        Filter ["/"] "filter" "filter by words";
        Choose ["space"] "mine / theirs" "mine / theirs";
        OtherView ["v"] "JSON, curl" "the difference, the request as JSON, as curl";
        Unchanged ["u"] "unchanged" "show unchanged";
        IncludeRecent ["f7"] "recent" "include recently rotated";
    }
}

impl Binding {
    /// The row of an action in the layers; empty where they have none. In a place that takes text, without the keys that
    /// are text there.
    pub(super) const fn shared(action: Action, takes_text: bool) -> Self {
        let layers = [EVERYWHERE, MOVE, NAMED];
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

    /// With the keys of a place itself.
    pub(super) const fn with_keys(self, keys: &'static [&'static str]) -> Self {
        Self { keys, ..self }
    }

    /// With the words of a place itself.
    pub(super) const fn with_words(self, hint: &'static str, help: &'static str) -> Self {
        Self { hint, help, ..self }
    }

    /// A row without keys or help is a mistake in a table.
    pub(super) const fn complete(self) -> Self {
        assert!(
            !self.keys.is_empty() && !self.help.is_empty(),
            "a row lacks something"
        );
        self
    }
}

/// Whether a key is text where text is taken; the keys of a layer that are come first.
const fn is_text(key: &str) -> bool {
    matches!(key.as_bytes(), [_] | b"space")
}
