//! The places and their tables as in docs/design/console.md, "Keys": whether a place takes text, and its rows, most
//! used first. Keys, hint and help that a row omits come from the layers in `actions`.

use super::{Action, Binding, actions::MOVE, opened::opened};

/// The place takes characters as text.
const TEXT: bool = true;
/// The place takes characters as commands.
const COMMANDS: bool = false;

/// Properties of a place.
struct Place {
    /// The page that it belongs to, as a person calls it.
    page: &'static str,
    takes_text: bool,
    rows: &'static [&'static [Binding]],
}

/// Rows of a page with columns; letters have other meanings on some of them.
static COLUMNS: &[Binding] = &[
    Binding::shared(Action::ScrollRight, COMMANDS)
        .with_keys(&["right"])
        .with_words("", "more columns"),
    Binding::shared(Action::ScrollLeft, COMMANDS)
        .with_keys(&["left"])
        .with_words("", "previous columns"),
];

/// A place has its name, the page that it belongs to, as a person calls it, and its rows: action, keys, footer hint, help.
/// Generates `Focus` from the names.
macro_rules! places {
    (opened {
        $($opened:ident $keys:tt $help:literal $words:literal
            in $page:literal $takes_text:ident $table:tt $(+ $more:ident)*;)*
    } $($others:tt)*) => {
        places! { $($opened $page $takes_text $table $(+ $more)*)* $($others)* }

        impl Focus {
            /// The places that the action of the same name opens from everywhere.
            pub const OPENED: &[(Action, Self)] = &[$((Action::$opened, Self::$opened)),*];
        }
    };
    ($($(#[$doc:meta])* $place:ident $page:literal $takes_text:ident {
        $($action:ident $([$($key:literal)+])? $($hint:literal $help:literal)?;)*
    } $(+ $more:ident)*)*) => {
        /// The place that receives keys now; determined only by [`crate::tui::page::View::focus`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Focus {
            $($(#[$doc])* $place),*
        }

        impl Focus {
            pub const ALL: [Self; PLACES.len()] = [$(Self::$place),*];
        }

        static PLACES: [Place; [$(Focus::$place),*].len()] = [$(Place {
            page: $page,
            takes_text: $takes_text,
            rows: &[&[$(
                Binding::shared(Action::$action, $takes_text)
                    $(.with_keys(&[$($key),+]))?
                    $(.with_words($hint, $help))?
                    .complete()
            ),*] $(, $more)?],
        }),*];
    };
}

opened! { places {
    Welcome "Welcome" COMMANDS {
        Connect ["enter" "c"] "connect to a service" "connect to a service (enter, test, save a profile)";
        Demo "demo" "demo (local, deleted on exit)";
        Quit ["q" "esc"] "quit" "quit";
    }

    ConnectField "Add a profile" TEXT {
        NextField ["tab" "enter" "down"];
        Review "test" "test the connection; creates nothing";
        Back "cancel" "cancel (input kept, API key not)";
        PreviousField ["shift-tab" "up"];
    }

    ConnectChoice "Add a profile" COMMANDS {
        InField ["space" "right" "left"] "choose" "choose another";
        NextField ["tab" "enter" "down"];
        Review "test" "test the connection; creates nothing";
        Back "cancel" "cancel (input kept, API key not)";
        PreviousField ["shift-tab" "up"];
    }

    /// The connection is being tested, or was tested.
    ConnectCheck "Add a profile" COMMANDS {
        WriteFile "SAVE profile" "save profile and open it";
        Refresh "test again" "test the connection again";
        Back "back to the form" "back to the form (nothing saved)";
    } + MOVE

    List "Groups" COMMANDS {
        Enter "open" "open the group (reads it from the service)";
        Edit; EditWhole; Token;
        Mark "mark" "mark / unmark";
        RotateMarked "ROTATE marked" "rotate marked";
        EditMarked "EDIT marked" "edit marked";
        Filter "filter" "filter: words, tag: map>3 age>90d -label:vip @view";
        Back "" "clear: the filter first, then the marks";
        OpenOrCreate "open/create" "open a group by ID, or create one";
        History "history" "history of this profile";
        Profiles "profile" "switch profile";
        Detail "detail" "show / hide details";
        MarkAll "" "mark all shown";
        Refresh "" "refresh";
        Sort "sort" "sort by next column";
        SortReverse "" "reverse the order";
        CopyMenu; Compare;
        WriteFile "export" "export marked, else shown";
        NextFlag "next flag" "next flagged row";
        PreviousFlag "" "previous flagged row";
        MarkDown "" "mark this row and the next";
        MarkUp "" "mark this row and the one above";
        ScrollRight "" "more columns";
        ScrollLeft "" "previous columns";
        NextField "" "to the details and back";
        Views "" "saved views and columns";
        Note "" "note and labels of the group";
        Favourite "" "add / remove favourite";
    } + MOVE

    Filter "a filter" TEXT {
        Enter "apply" "apply the filter and go to the list";
        Back "clear" "clear the filter";
        NextField ["tab"] "complete" "complete @view, label: or prop:";
        Down; Up;
        Refresh "" "refresh";
    }

    Group "a group" COMMANDS {
        Edit; EditWhole; Token;
        Refresh "refresh" "read the group from the service again";
        History "history" "history of this group";
        CopyMenu; Compare;
        Note "" "note and labels of the group";
        Back "back" "back";
    } + MOVE

    Compare "Compare" COMMANDS {
        Enter "copy row here" "copy this row here, into the form";
        BringAll "copy all here" "copy all values here, into the form";
        NextField "other profile" "next profile with the group";
        Refresh "refresh both" "read both from the service again";
        Unchanged "unchanged" "show unchanged";
        Back "back" "back";
        History "" "history of this group";
    } + MOVE

    EditName "Edit" TEXT {
        NextField; Review;
        Back "leave (draft saved)" "leave (draft saved)";
        PreviousField; NextProblem; EditWhole;
        Refresh "" "read the saved values again; your input stays";
        Discard; LoadDraft;
    }

    EditMapping "Edit" COMMANDS {
        InField ["a"] "add" "add a row; paste adds several";
        InField ["enter"] "change" "change the cell";
        InField ["D"] "remove" "remove / restore row";
        NextField; Review;
        InField ["z"] "undo" "undo";
        InField ["Z"] "" "redo";
        InField ["up" "down" "left" "right" "k" "j" "h" "l"] "" "move";
        InField ["pgup" "pgdn" "home" "end" "g" "G"] "" "page, first or last row";
        Back "leave" "leave (draft saved)";
        PreviousField; NextProblem; EditWhole;
        Refresh "" "read the saved values again; your input stays";
        Discard; LoadDraft;
    }

    EditCell "Edit" TEXT {
        InField ["enter"] "save" "save the cell";
        InField ["esc"] "cancel" "cancel editing the cell";
        InField ["tab"] "next cell" "save, then next cell";
        Review;
        EditWhole;
        Refresh "" "read the saved values again; your input stays";
    }

    EditProperties "Edit" TEXT {
        NextField; Review;
        RowsOrJson "as rows" "properties as rows: key, type, value";
        InField ["ctrl-t"] "format" "format the JSON";
        Back "leave" "leave (draft saved)";
        PreviousField; NextProblem;
        InField ["ctrl-_"] "" "undo";
        InField ["ctrl-y"] "" "redo";
        EditWhole;
        Refresh "" "read the saved values again; your input stays";
        Discard; LoadDraft;
    }

    /// The properties as rows: moving between the cells.
    EditRows "Edit" COMMANDS {
        InField ["a"] "add" "add a property; paste adds several";
        InField ["enter"] "change" "change the cell: key, type or value";
        NextField "next" "next field";
        Review;
        RowsOrJson "JSON" "properties as JSON text";
        InField ["D"] "remove" "remove / restore property";
        InField ["z"] "undo" "undo";
        InField ["Z"] "" "redo";
        InField ["up" "down" "left" "right" "k" "j" "h" "l"] "" "move";
        InField ["pgup" "pgdn" "home" "end" "g" "G"] "" "page, first or last row";
        Back "leave" "leave (draft saved)";
        PreviousField; NextProblem; EditWhole;
        Refresh "" "read the saved values again; your input stays";
        Discard; LoadDraft;
    }

    /// Choosing the type of a property.
    EditType "Edit" TEXT {
        InField ["right" "left" "down" "up" "space"] "change type" "change type";
        InField ["enter"] "save" "save the type";
        InField ["esc"] "cancel" "cancel the change of the type";
        InField ["tab"] "next cell" "save, then next cell";
        Review;
        Refresh "" "read the saved values again; your input stays";
    }

    Review "Review" COMMANDS {
        Confirm "SEND" "send (only y)";
        Back "back" "back to the form (input kept)";
        Refresh "" "read the saved values again";
        Choose; OtherView; Unchanged;
        CopyCurl "copy as curl" "copy the request as curl, without the API key";
        Enter "" "confirms nothing";
    } + MOVE

    /// A question in a box: the key confirms it.
    ConfirmKey "a question" COMMANDS {
        Confirm "CONFIRM" "confirm (only y)";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back "cancel" "cancel (nothing changed)";
        Enter "" "confirms nothing";
    }

    /// A question in a box: words confirm it.
    ConfirmTyped "a question" TEXT {
        Enter "SEND" "send (after typing)";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
    }

    Result "a result" COMMANDS {
        Back ["esc" "enter"] "back" "back to the page before the change";
        Token;
        Edit "edit again" "edit the group again";
        History "history" "history of this group";
    } + MOVE

    Token "Token" COMMANDS {
        Rotate "ROTATE" "rotate the token; asks first";
        Reveal;
        CopyMenu "copy" "copy through your terminal (OSC 52)";
        WriteFile;
        HandOff "" "run the hand-off";
        Refresh "refresh" "read the token again";
        Back ["esc" "enter"] "back" "back";
    } + MOVE

    RotateReason "Rotate" TEXT {
        NextField ["tab" "enter"] "next" "to the confirmation";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
    }

    RotateCheck "Rotate" COMMANDS {
        Confirm "ROTATE NOW" "rotate the token now";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
        Enter "" "confirms nothing";
    }

    RotateTyped "Rotate" TEXT {
        Enter "ROTATE NOW" "rotate (after typing the ID)";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
    }

    RotateRunning "Rotate" COMMANDS { Back "leave (continues)" "leave (continues; a message reports the result)"; }

    RotateResult "Token" COMMANDS {
        Reveal;
        CopyMenu "copy" "copy through your terminal (OSC 52)";
        WriteFile; HandOff;
        Back "back" "back (the token can be read again by ID)";
    } + MOVE

    WritePath "Save to file" TEXT {
        Enter "save" "save to this new file";
        Back "cancel" "cancel (nothing saved)";
    }

    Note "Note" TEXT {
        Enter "save" "save in the directory; nothing is sent";
        NextField "labels" "to the other field; in the labels: complete one";
        PreviousField "" "to the other field";
        Back "cancel" "cancel (nothing saved)";
    }

    Views "Views and columns" COMMANDS {
        Enter "apply" "apply the saved view, or close";
        Choose ["space"] "on/off" "show or hide the column";
        MoveDown "down" "move the column down";
        MoveUp "up" "move the column up";
        AddColumn "add property" "show a property as a column";
        WriteFile "save view" "save this filter, sort and columns under a name";
        RemoveView "remove" "remove the saved view";
        Back "close" "close";
    } + MOVE

    /// Entering the name of a view, or of a property.
    ViewName "Views and columns" TEXT {
        Enter "save" "save, or add the column";
        NextField "complete" "complete the key of a property";
        Back "cancel" "cancel";
    }

    Open "Open or create" TEXT {
        Enter "continue" "open, or new group form";
        Down "similar IDs" "pick a similar ID";
        NextField ["tab" "shift-tab"] "copy from" "copy from a group";
        Up "" "up";
        Back "cancel" "cancel (nothing sent)";
    }

    Help "Help" TEXT {
        Enter "run" "run";
        Down ["down" "tab"]; Up ["up" "shift-tab"]; PageUp ["pgup"]; PageDown ["pgdn"];
        Back "close" "close";
    }

    Palette "Help" TEXT {
        Enter "run" "run the command, or open the group";
        Down ["down"]; Up ["up"];
        PageUp ["pgup"]; PageDown ["pgdn"];
        Back "close" "close";
    }

    /// A single message in full.
    Message "Messages" COMMANDS {
        CopyCurl "copy as curl" "copy as curl, or the text";
        Back ["esc" "enter"] "close" "back to the messages";
    } + MOVE

    /// A single request in full.
    Request "Requests" COMMANDS {
        CopyCurl "copy as curl" "copy as curl, without the API key";
        Back ["esc" "enter"] "back" "back to the requests";
    } + MOVE

    CopyMenu "Copy" COMMANDS {
        Enter "select" "select";
        Back "close" "close";
    } + MOVE

    AbandonReason "Abandon" TEXT {
        NextField ["tab" "enter"] "next" "to the confirmation";
        Back "cancel (nothing changed)" "cancel (nothing changed)";
    }

    WhoseFound "Find a token" COMMANDS {
        Token ["t" "enter"] "open token" "open the token page of this group";
        Whose "another token" "find the group of another token";
        Back "close" "close";
    } + MOVE

    /// A bulk rotation that is being checked, or cannot be started.
    BulkCheck "Bulk rotation" COMMANDS {
        Back ["esc" "enter"] "back" "back (nothing sent)";
        Refresh "check again" "check the marked groups again";
        IncludeRecent;
    } + MOVE

    BulkReason "Bulk rotation" TEXT {
        NextField ["tab" "enter"] "next" "to the confirmation";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
        IncludeRecent; Down; Up; PageUp ["pgup"]; PageDown ["pgdn"];
    }

    BulkTyped "Bulk rotation" TEXT {
        Enter "ROTATE ALL" "rotate all (after typing)";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
        IncludeRecent; Down; Up; PageUp ["pgup"]; PageDown ["pgdn"];
    }

    /// Choosing what a bulk edit does.
    BulkEditAction "Bulk edit" COMMANDS {
        NextChoice "action" "the next action: set or remove a row or a property";
        PreviousChoice "" "the previous action";
        NextField ["tab" "enter"]; Review "confirm" "to the confirmation";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
        PreviousField; ShowNext ["f"] "" "show changed, already set or skipped";
        Refresh "" "check again";
    } + MOVE

    BulkEditField "Bulk edit" TEXT {
        NextField ["tab" "enter"]; Review "confirm" "to the confirmation";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
        PreviousField; Down; Up; PageUp ["pgup"]; PageDown ["pgdn"];
        ShowNext "" "show changed, already set or skipped";
        Refresh "" "check again";
    }

    /// Confirming a bulk edit; outside production one key is enough.
    BulkEditConfirm "Bulk edit" COMMANDS {
        Confirm "EDIT ALL" "edit all that change (only y)";
        ShowNext ["f"] "show" "show changed, already set or skipped";
        NextField "fields" "back to the fields";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
        PreviousField; Refresh "" "check again"; Enter "" "confirms nothing";
    } + MOVE

    BulkEditTyped "Bulk edit" TEXT {
        Enter "EDIT ALL" "edit all that change (after typing)";
        NextField "fields" "back to the fields";
        ShowNext "show" "show changed, already set or skipped";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
        PreviousField; Down; Up; PageUp ["pgup"]; PageDown ["pgdn"];
        Refresh "" "check again";
    }

    BulkRun "a batch" COMMANDS {
        Pause "pause" "pause / resume";
        Stop "STOP" "stop (no further group)";
        Resume "RESUME" "resume what was not started";
        RetryFailed "RETRY failed" "retry failed";
        Refresh "check" "check unknown ones (reads only)";
        FailedOnly "failed only" "show failed only, or all";
        Enter "open" "open the group of the row";
        WriteFile "report" "save the report to a new file, .json or .csv";
        Back "leave (continues)" "leave (continues)";
        NextFailed "" "next failed or unknown group";
        PreviousFailed "" "previous failed or unknown group";
    } + MOVE

    /// The remaining groups of a batch are being checked; the key `y` resumes the batch.
    ResumeCheck "a batch" COMMANDS {
        Confirm "RESUME" "resume the batch (only y)";
        Refresh "check again" "check the remaining groups again";
        IncludeOld ["f"] "old ones" "include / skip groups last sent over 30 days ago";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
        Enter "" "confirms nothing";
    } + MOVE

    ResumeTyped "a batch" TEXT {
        Enter "RESUME" "resume the batch (after typing)";
        Back "cancel (nothing sent)" "cancel (nothing sent)";
        IncludeOld "old ones" "include / skip groups last sent over 30 days ago";
        Down; Up; PageUp ["pgup"]; PageDown ["pgdn"];
    }

    /// Choosing the environment of a profile.
    PlaceChoice "Which environment" COMMANDS {
        Enter "select" "select; asks before it is recorded";
        Back "not now" "close (nothing sent; the list can be read)";
    } + MOVE

    /// Confirming an answer: the same environment, a new one, or what was found about alarms.
    PlaceNew "Which environment" COMMANDS {
        Confirm "CONFIRM" "confirm the choice (only y)";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back "back" "back to the choice, or close (nothing sent)";
        Enter "" "confirms nothing";
    }

    /// Entering a group that proves a key on trial.
    PlaceProof "Which environment" TEXT {
        Enter "READ it" "read this group to verify the API key";
        NextField "use proposal" "put the proposed group into the field";
        Back "not now" "close (nothing sent; the list can be read)";
    }

    /// Entering the reason for acknowledging an alarm.
    PlaceReason "Which environment" TEXT {
        NextField ["tab" "enter"] "next" "to the confirmation";
        Back "not now" "close (nothing sent; the list can be read)";
    }

    /// Waiting for the answer, or it was refused for good.
    PlaceWait "Which environment" COMMANDS { Back ["esc" "enter"] "close" "close (continues)"; }
} }

impl Focus {
    /// The page that the place belongs to, as a person calls it.
    pub fn page(self) -> &'static str {
        PLACES[self as usize].page
    }

    /// Whether characters are text here rather than commands.
    pub fn takes_text(self) -> bool {
        PLACES[self as usize].takes_text
    }

    /// Whether Enter saves what was typed, as the footer says.
    pub fn saves_on_enter(self) -> bool {
        let mut rows = self.rows();
        rows.any(|row| row.action == Action::Enter && row.hint == "save")
    }

    /// Whether the place has a row of its own for the action.
    pub fn has(self, action: Action) -> bool {
        self.rows().any(|row| row.action == action)
    }

    /// The bindings that apply only in this place.
    pub(super) fn rows(self) -> impl Iterator<Item = &'static Binding> + Clone {
        PLACES[self as usize].rows.iter().copied().flatten()
    }
}
