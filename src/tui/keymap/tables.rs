//! The places, and the tables of docs/design/console.md, "Keys": whether a place takes text, and its rows, most used first.
//! What a row leaves out, keys or hint and help, it has from the layers of `actions`.

use super::{
    Action, Binding,
    actions::MOVE,
    places::{COMMANDS, Place, TEXT, places},
};

places! {
    Welcome COMMANDS {
        Connect ["enter" "c"] "connect to a service" "connect to a service: asks, tests, writes a profile";
        Demo ["d"] "start the demo" "start the demo: a service of its own, nothing is kept";
        Quit ["q" "esc"] "quit" "quit";
    }

    ConnectField TEXT {
        NextField ["tab" "enter" "down"];
        Review "test" "test the connection; creates nothing";
        Back "leave, nothing written" "leave; what was typed is kept, a key is not";
        PreviousField ["shift-tab" "up"];
    }

    ConnectChoice COMMANDS {
        InField ["space" "right" "left"] "choose" "choose another one";
        NextField ["tab" "enter" "down"];
        Review "test" "test the connection; creates nothing";
        Back "leave, nothing written" "leave; what was typed is kept, a key is not";
        PreviousField ["shift-tab" "up"];
    }

    /// The connection is tested, or was.
    ConnectCheck COMMANDS {
        WriteFile "WRITE the profile" "write the profile into the configuration file, and open it";
        Refresh "test again" "test the connection again";
        Back "back to the form" "back to the form; nothing is written";
    } + MOVE

    List COMMANDS {
        Enter "open" "open the group: read it from the service";
        Edit; EditWhole; Token;
        Mark ["space"] "mark" "mark the group of the row, or take the mark back";
        RotateMarked ["T"] "ROTATE marked" "rotate the marked";
        Filter "filter" "filter by words, tag: map: prop: state: age>90d old";
        OpenOrCreate "open/create" "open a group by its id, or create it";
        History "history" "the history of this profile";
        Profiles "profile" "switch the profile";
        Detail ["d"] "detail" "show or hide the details of the row";
        MarkAll ["*"] "" "mark all groups that are shown";
        Sort ["s"] "sort" "sort by the next column";
        SortReverse ["S"] "" "reverse the order";
        CopyMenu; Compare;
        WriteFile "export" "write what is marked, or else shown, into a file";
    } + MOVE

    Filter TEXT {
        Enter "keep" "keep the filter and go to the list";
        Back "clear" "clear the filter";
        Down; Up;
    }

    Group COMMANDS {
        Edit; EditWhole; Token;
        Refresh "read again" "read it from the service again";
        History "history" "the history of this group";
        CopyMenu; Compare;
        Back "back" "back to the list";
    } + MOVE

    Compare COMMANDS {
        Enter "bring row" "edit this group, with the row from the other one";
        BringAll ["a"] "bring all" "edit this group, with all of the other one";
        Refresh "read both" "read both from the service again";
        NextField "other profile" "the next profile that knows it";
        Unchanged "the same too" "show what is the same, too";
        Back "back" "back";
    } + MOVE

    EditName TEXT {
        NextField; Review;
        Back "leave, draft kept" "leave; the draft is kept";
        PreviousField; NextProblem; EditOutside; EditWhole;
        Refresh "" "read the service's copy again; what you typed stays";
        Discard;
    }

    EditMapping COMMANDS {
        InField ["a"] "add" "add a row; paste adds several";
        InField ["enter"] "change" "change the cell";
        InField ["D"] "drop" "drop the row, or take that back";
        InField ["z"] "undo" "undo";
        InField ["Z"] "" "redo";
        InField ["up" "k" "down" "j" "left" "h" "right" "l"] "" "move between cells";
        InField ["pgup" "pgdn" "home" "g" "end" "G"] "" "a page or to an end";
        NextField; Review;
        Back "leave, draft kept" "leave; the draft is kept";
        PreviousField; NextProblem; EditOutside; EditWhole;
        Refresh "" "read the service's copy again; what you typed stays";
        Discard;
    }

    EditCell TEXT {
        InField ["enter"] "keep cell" "keep the text of the cell";
        InField ["esc"] "cancel cell" "back to what the cell was";
        InField ["tab"] "next cell" "keep, and on to the next cell";
        Review;
        EditOutside "" "edit the mapping in $VISUAL or $EDITOR";
        EditWhole;
    }

    EditProperties TEXT {
        NextField; Review;
        RowsOrJson "as rows" "the same properties as rows: key, type, value";
        InField ["ctrl-t"] "format" "format the JSON";
        Back "leave" "leave; the draft is kept";
        PreviousField; NextProblem;
        InField ["ctrl-_"] "" "undo";
        InField ["ctrl-y"] "" "redo";
        EditOutside; EditWhole;
        Refresh "" "read the service's copy again; what you typed stays";
        Discard;
    }

    /// The properties as rows, between their cells.
    EditRows COMMANDS {
        InField ["a"] "add" "add a property; paste adds several";
        InField ["enter"] "change" "change the cell: key, type or value";
        InField ["D"] "drop" "drop the property, or take that back";
        InField ["z"] "undo" "undo";
        RowsOrJson "JSON" "the same properties as JSON text";
        InField ["Z"] "" "redo";
        InField ["up" "k" "down" "j" "left" "h" "right" "l"] "" "move between cells";
        InField ["pgup" "pgdn" "home" "g" "end" "G"] "" "a page or to an end";
        NextField "next" "to the next field";
        Review;
        Back "leave" "leave; the draft is kept";
        PreviousField; NextProblem; EditOutside; EditWhole;
        Refresh "" "read the service's copy again; what you typed stays";
        Discard;
    }

    /// The choice of a property's type.
    EditType TEXT {
        InField ["right" "left" "down" "up" "space"] "other type" "another type";
        InField ["enter"] "keep type" "keep the type";
        InField ["esc"] "cancel type" "back to what the type was";
        InField ["tab"] "next cell" "keep, and on to the next cell";
        Review;
    }

    Review COMMANDS {
        Enter "press button" "press the focused button";
        NextField ["tab" "right"] "other button" "to the other button";
        PreviousField ["shift-tab" "left"] "" "to the other button";
        Choose; OtherView; Unchanged;
        CopyMenu ["c"] "copy as curl" "copy the request as curl; the key is left out";
        Refresh "" "read the service's copy again";
        Back "back" "back to the form; nothing is lost";
    } + MOVE

    /// A review that asks for the key `y`.
    ReviewKey COMMANDS {
        Confirm "SEND" "send it; Enter does nothing here";
        Back "back" "back to the form; nothing is lost";
        Choose; OtherView; Unchanged;
        CopyMenu ["c"] "copy as curl" "copy the request as curl; the key is left out";
        Enter "" "press the focused button, where it is Back";
        NextField ["tab" "right"] "" "to the other button";
        PreviousField ["shift-tab" "left"] "" "to the other button";
        Refresh "" "read the service's copy again";
    } + MOVE

    /// Words that a guard wants typed.
    ConfirmTyped TEXT {
        Enter "SEND" "send it, once the words are typed exactly";
        Back "leave, nothing sent" "leave; nothing was sent";
    }

    Result COMMANDS {
        Enter "to the list" "to the list";
        Token;
        Edit "edit again" "edit the group again";
        Back "" "to the list";
    } + MOVE

    Token COMMANDS {
        Rotate ["T"] "ROTATE" "rotate the token; asks first";
        Reveal;
        CopyMenu "copy" "copy the token by way of your terminal (OSC 52)";
        WriteFile;
        HandOff "" "hand the token off";
        Refresh "read again" "read the token again";
        Back ["esc" "enter"] "back" "back";
    } + MOVE

    RotateReason TEXT {
        NextField ["tab" "enter"] "next" "to the confirmation";
        Back "leave, nothing sent" "leave; nothing was sent";
    }

    RotateCheck COMMANDS {
        Confirm "ROTATE NOW" "rotate the token now";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back "leave, nothing sent" "leave; nothing was sent";
    }

    RotateTyped TEXT {
        Enter "ROTATE NOW" "rotate, once the id is typed exactly";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back "leave, nothing sent" "leave; nothing was sent";
    }

    RotateRunning COMMANDS { Back "leave, it goes on" "leave; it goes on, and a message says how it ended"; }

    RotateResult COMMANDS {
        Reveal;
        CopyMenu "copy" "copy the token by way of your terminal (OSC 52)";
        WriteFile; HandOff;
        Back "to the list" "to the list; the token can be read again by id";
    } + MOVE

    WritePath TEXT {
        Enter "write" "write it to this new file";
        Back "cancel" "write nothing";
    }

    History COMMANDS {
        Enter "open group" "open the group of this entry";
        Filter;
        ReverseEdit ["z"] "reverse edit" "prepare taking an update back";
        CopyCurl ["c"] "copy as curl" "copy a create as curl";
        Refresh "read again" "read the history again";
        Back "back" "back";
    } + MOVE

    Open TEXT {
        Enter "go on" "open a known group; any other id goes to its form";
        Down "pick a near id" "pick one of the near ids";
        NextField ["tab" "shift-tab"] "copy of" "create it as a copy of a known group, or not";
        Up "" "back towards what was typed";
        Back "leave, nothing sent" "leave; nothing was sent";
    }

    Help TEXT {
        Enter "do it" "do the marked action";
        Down ["down" "tab"]; Up ["up" "shift-tab"]; PageUp ["pgup"]; PageDown ["pgdn"];
        Back "close" "close";
    }

    Profiles COMMANDS {
        Enter "take it" "take the marked line";
        Connect ["a"] "add one" "add a profile";
        Back "close" "close";
    } + MOVE

    Messages COMMANDS {
        Enter "whole" "the whole message, with its request and answer";
        Back "close" "close";
    } + MOVE

    /// One of them, whole.
    Message COMMANDS {
        CopyMenu ["c"] "copy as curl" "copy as curl, without the key";
        Back ["esc" "enter"] "close" "back to the messages";
    } + MOVE

    Requests COMMANDS {
        Enter "whole" "the request and its answer, whole";
        CopyMenu ["c"] "copy as curl" "copy as curl, without the key";
        Back "back" "back";
    } + MOVE

    /// One of them, whole.
    Request COMMANDS {
        CopyMenu ["c"] "copy as curl" "copy as curl, without the key";
        Back ["esc" "enter"] "back" "back to the requests";
    } + MOVE

    CopyMenu COMMANDS {
        Enter "take it" "take the marked line";
        Back "close" "close";
    } + MOVE

    Rotations COMMANDS {
        Enter "open group" "open the group of this rotation";
        Refresh "settle by reading" "find out how the open ones ended, by reading their groups";
        Abandon ["A"] "ABANDON" "close an open one without finding out; asks for a reason";
        Back "back" "back";
    } + MOVE

    AbandonReason TEXT {
        Enter "ABANDON" "abandon it, with this reason";
        Back "leave, nothing done" "leave; nothing was abandoned";
    }

    Whose TEXT {
        Enter "look it up" "look its fingerprint up in the directory; nothing is sent";
        Back "close" "close; the token is forgotten";
    }

    WhoseFound COMMANDS {
        Token ["t" "enter"] "its token" "to the token of this group: reveal, copy, rotate";
        Whose "another one" "ask about another token";
        Back "close" "close";
    } + MOVE

    /// A bulk rotation that is checked, or cannot be begun.
    BulkCheck COMMANDS {
        Back ["esc" "enter"] "back" "back; nothing was sent";
        Refresh "check again" "check the marked groups again";
        IncludeRecent;
    } + MOVE

    BulkReason TEXT {
        NextField ["tab" "enter"] "next" "to the confirmation";
        Back "leave, nothing sent" "leave; nothing was sent";
        IncludeRecent; Down; Up; PageUp ["pgup"]; PageDown ["pgdn"];
    }

    BulkTyped TEXT {
        Enter "ROTATE ALL" "rotate them all, once the words are typed exactly";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back "leave, nothing sent" "leave; nothing was sent";
        IncludeRecent; Down; Up; PageUp ["pgup"]; PageDown ["pgdn"];
    }

    BulkRun COMMANDS {
        Pause ["p"] "pause" "pause, or go on";
        Stop ["X"] "STOP" "begin nothing new any more";
        FailedOnly ["f"] "failed only" "show only what failed, or all";
        RetryFailed ["F"] "RETRY" "retry what was not applied";
        WriteFile "report" "write the report to a new file, .json or .csv";
        Enter "open" "open the group of the row";
        Back "leave, it goes on" "back to the list, which says how far it is";
    } + MOVE

    /// Which environment a profile is.
    PlaceChoice COMMANDS {
        Enter "take it" "take the marked line; a new environment asks once more";
        Back "not now" "close; nothing is sent, the list can be read";
    } + MOVE

    PlaceNew COMMANDS {
        Confirm "NEW environment" "it is another environment; Enter does nothing here";
        Back "back" "back to the choice";
    }

    /// A group that proves a key on trial.
    PlaceProof TEXT {
        Enter "READ it" "read this group, to prove the API key";
        NextField "take the proposed" "put the proposed group into the field";
        Back "not now" "close; nothing is sent, the list can be read";
    }

    /// Why an alarm is acknowledged.
    PlaceReason TEXT {
        Enter "ACKNOWLEDGE" "acknowledge the alarms, with this reason";
        Back "not now" "close; nothing is sent, the list can be read";
    }

    /// The answer is on its way, or was refused for good.
    PlaceWait COMMANDS { Back ["esc" "enter"] "close" "close; what is under way goes on"; }
}

impl Focus {
    /// Characters are text here, not commands.
    pub fn takes_text(self) -> bool {
        PLACES[self as usize].takes_text
    }

    /// The bindings that hold only in this place.
    pub(super) fn rows(self) -> impl Iterator<Item = &'static Binding> + Clone {
        PLACES[self as usize].rows.iter().copied().flatten()
    }
}
