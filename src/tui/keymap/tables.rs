//! The tables of docs/design/console.md, "Keys". A line: action, keys (the first is in the footer), footer hint, help.

use super::{Action as A, Binding};

/// Tables in a shape that the formatter leaves alone: one binding a line.
macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident { $($action:ident [$($key:literal)+] $hint:literal $help:literal;)* } $(+ $more:ident)*)*) => {
        $($(#[$doc])* pub(in crate::tui::keymap) const $name: &[&[Binding]] = &[&[$(Binding {
            action: A::$action,
            keys: &[$($key),+],
            hint: $hint,
            help: $help,
        }),*] $(, $more[0])*];)*
    };
}

mod placing;

pub(super) use placing::*;

tables! {
    EVERYWHERE {
        Help ["?" "f1"] "" "the keys and actions of this place";
        Palette [":" "ctrl-p"] "" "every action of the console; type to find";
        Back ["esc"] "" "back: first the filter, then the view";
        Quit ["q"] "" "back; at the top: quit";
        Cancel ["ctrl-c"] "" "cancel; twice: quit";
        Refresh ["r" "f5" "ctrl-r"] "" "read again; changes nothing";
        OpenOrCreate ["o"] "" "open a group by its id, or create it";
        Profiles ["P" "f6"] "" "switch the profile";
        Groups ["1"] "" "the groups";
        History ["2"] "" "the history";
        Rotations ["3"] "" "the rotations, the open ones first";
        Whose ["W"] "" "whose token is this? nothing is sent";
        Requests ["4"] "" "the requests of this session, and their answers";
        Messages ["m"] "" "all messages of this session";
        Suspend ["ctrl-z"] "" "suspend; fg brings it back";
        Redraw ["ctrl-l"] "" "draw the screen anew";
    }

    MOVE {
        Up ["k" "up"] "" "up";
        Down ["j" "down"] "" "down";
        Top ["g" "home"] "" "to the first";
        Bottom ["G" "end"] "" "to the last";
        PageUp ["pgup" "ctrl-u"] "" "a page up";
        PageDown ["pgdn" "ctrl-d"] "" "a page down";
    }

    LIST {
        Enter ["enter"] "open" "open the group: read it from the service";
        Edit ["e"] "edit" "edit name, mapping and properties";
        EditWhole ["E" "f4"] "" "edit the whole group in $VISUAL or $EDITOR";
        Token ["t"] "token" "the token: reveal, copy, write to a file, rotate";
        Mark ["space"] "mark" "mark the group of the row, or take the mark back";
        RotateMarked ["T"] "ROTATE marked" "rotate the marked";
        Filter ["/"] "filter" "filter by words, tag: map: prop: state: age>90d old";
        OpenOrCreate ["o"] "open/create" "open a group by its id, or create it";
        History ["2"] "history" "the history of this profile";
        Profiles ["P" "f6"] "profile" "switch the profile";
        Detail ["d"] "detail" "show or hide the details of the row";
        MarkAll ["*"] "" "mark all groups that are shown";
        Sort ["s"] "sort" "sort by the next column";
        SortReverse ["S"] "" "reverse the order";
        CopyMenu ["y"] "copy" "copy id, name or more of this group";
        Compare ["x"] "compare" "compare it with the same id in another profile";
        WriteFile ["w"] "export" "write what is marked, or else shown, into a file";
    } + MOVE

    FILTER {
        Enter ["enter"] "keep" "keep the filter and go to the list";
        Back ["esc"] "clear" "clear the filter";
        Down ["down"] "" "down";
        Up ["up"] "" "up";
    }

    GROUP {
        Edit ["e"] "edit" "edit name, mapping and properties";
        EditWhole ["E" "f4"] "" "edit the whole group in $VISUAL or $EDITOR";
        Token ["t"] "token" "the token: reveal, copy, write to a file, rotate";
        Refresh ["r" "f5" "ctrl-r"] "read again" "read it from the service again";
        History ["2"] "history" "the history of this group";
        CopyMenu ["y"] "copy" "copy id, name or more of this group";
        Compare ["x"] "compare" "compare it with the same id in another profile";
        Back ["esc"] "back" "back to the list";
    } + MOVE

    COMPARE {
        Enter ["enter"] "bring row" "edit this group, with the row from the other one";
        BringAll ["a"] "bring all" "edit this group, with all of the other one";
        Refresh ["r" "f5" "ctrl-r"] "read both" "read both from the service again";
        NextField ["tab"] "other profile" "the next profile that knows it";
        Unchanged ["u"] "the same too" "show what is the same, too";
        Back ["esc"] "back" "back";
    } + MOVE

    EDIT_NAME {
        NextField ["tab"] "next field" "to the next field";
        Review ["ctrl-s" "f2"] "review" "see what would be sent";
        Back ["esc"] "leave, draft kept" "leave; the draft is kept";
        PreviousField ["shift-tab"] "" "to the previous field";
        NextProblem ["f8"] "" "to the next problem";
        EditOutside ["ctrl-e"] "" "edit this field in $VISUAL or $EDITOR";
        EditWhole ["f4"] "" "edit the whole group in $VISUAL or $EDITOR";
        Refresh ["f5" "ctrl-r"] "" "read the service's copy again; what you typed stays";
        Discard ["ctrl-x"] "" "discard the draft; asks first";
    }

    EDIT_MAPPING {
        InField ["a"] "add" "add a row; paste adds several";
        InField ["enter"] "change" "change the cell";
        InField ["D"] "drop" "drop the row, or take that back";
        InField ["z"] "undo" "undo";
        InField ["Z"] "" "redo";
        InField ["up" "k" "down" "j" "left" "h" "right" "l"] "" "move between cells";
        InField ["pgup" "pgdn" "home" "g" "end" "G"] "" "a page or to an end";
        NextField ["tab"] "next field" "to the next field";
        Review ["ctrl-s" "f2"] "review" "see what would be sent";
        Back ["esc"] "leave, draft kept" "leave; the draft is kept";
        PreviousField ["shift-tab"] "" "to the previous field";
        NextProblem ["f8"] "" "to the next problem";
        EditOutside ["ctrl-e"] "" "edit this field in $VISUAL or $EDITOR";
        EditWhole ["E" "f4"] "" "edit the whole group in $VISUAL or $EDITOR";
        Refresh ["r" "f5" "ctrl-r"] "" "read the service's copy again; what you typed stays";
        Discard ["ctrl-x"] "" "discard the draft; asks first";
    }

    EDIT_CELL {
        InField ["enter"] "keep cell" "keep the text of the cell";
        InField ["esc"] "cancel cell" "back to what the cell was";
        InField ["tab"] "next cell" "keep, and on to the next cell";
        Review ["ctrl-s" "f2"] "review" "see what would be sent";
        EditOutside ["ctrl-e"] "" "edit the mapping in $VISUAL or $EDITOR";
        EditWhole ["f4"] "" "edit the whole group in $VISUAL or $EDITOR";
    }

    EDIT_PROPERTIES {
        NextField ["tab"] "next field" "to the next field";
        Review ["ctrl-s" "f2"] "review" "see what would be sent";
        RowsOrJson ["f3"] "as rows" "the same properties as rows: key, type, value";
        InField ["ctrl-t"] "format" "format the JSON";
        Back ["esc"] "leave" "leave; the draft is kept";
        PreviousField ["shift-tab"] "" "to the previous field";
        NextProblem ["f8"] "" "to the next problem";
        InField ["ctrl-_"] "" "undo";
        InField ["ctrl-y"] "" "redo";
        EditOutside ["ctrl-e"] "" "edit this field in $VISUAL or $EDITOR";
        EditWhole ["f4"] "" "edit the whole group in $VISUAL or $EDITOR";
        Refresh ["f5" "ctrl-r"] "" "read the service's copy again; what you typed stays";
        Discard ["ctrl-x"] "" "discard the draft; asks first";
    }

    EDIT_ROWS {
        InField ["a"] "add" "add a property; paste adds several";
        InField ["enter"] "change" "change the cell: key, type or value";
        InField ["D"] "drop" "drop the property, or take that back";
        InField ["z"] "undo" "undo";
        RowsOrJson ["f3"] "JSON" "the same properties as JSON text";
        InField ["Z"] "" "redo";
        InField ["up" "k" "down" "j" "left" "h" "right" "l"] "" "move between cells";
        InField ["pgup" "pgdn" "home" "g" "end" "G"] "" "a page or to an end";
        NextField ["tab"] "next" "to the next field";
        Review ["ctrl-s" "f2"] "review" "see what would be sent";
        Back ["esc"] "leave" "leave; the draft is kept";
        PreviousField ["shift-tab"] "" "to the previous field";
        NextProblem ["f8"] "" "to the next problem";
        EditOutside ["ctrl-e"] "" "edit this field in $VISUAL or $EDITOR";
        EditWhole ["E" "f4"] "" "edit the whole group in $VISUAL or $EDITOR";
        Refresh ["r" "f5" "ctrl-r"] "" "read the service's copy again; what you typed stays";
        Discard ["ctrl-x"] "" "discard the draft; asks first";
    }

    EDIT_TYPE {
        InField ["right" "left" "down" "up" "space"] "other type" "another type";
        InField ["enter"] "keep type" "keep the type";
        InField ["esc"] "cancel type" "back to what the type was";
        InField ["tab"] "next cell" "keep, and on to the next cell";
        Review ["ctrl-s" "f2"] "review" "see what would be sent";
    }

    REVIEW {
        Enter ["enter"] "press button" "press the focused button";
        NextField ["tab" "right"] "other button" "to the other button";
        PreviousField ["shift-tab" "left"] "" "to the other button";
        Choose ["space"] "choose" "choose mine or theirs";
        OtherView ["v"] "JSON, curl" "the difference, the request as JSON, as curl";
        Unchanged ["u"] "unchanged too" "show what stays the same, too";
        CopyMenu ["c"] "copy as curl" "copy the request as curl; the key is left out";
        Refresh ["r" "f5" "ctrl-r"] "" "read the service's copy again";
        Back ["esc"] "back" "back to the form; nothing is lost";
    } + MOVE

    REVIEW_KEY {
        Confirm ["y"] "SEND" "send it; Enter does nothing here";
        Back ["esc"] "back" "back to the form; nothing is lost";
        Choose ["space"] "choose" "choose mine or theirs";
        OtherView ["v"] "JSON, curl" "the difference, the request as JSON, as curl";
        Unchanged ["u"] "unchanged too" "show what stays the same, too";
        CopyMenu ["c"] "copy as curl" "copy the request as curl; the key is left out";
        Enter ["enter"] "" "press the focused button, where it is Back";
        NextField ["tab" "right"] "" "to the other button";
        PreviousField ["shift-tab" "left"] "" "to the other button";
        Refresh ["r" "f5" "ctrl-r"] "" "read the service's copy again";
    } + MOVE

    CONFIRM_TYPED {
        Enter ["enter"] "SEND" "send it, once the words are typed exactly";
        Back ["esc"] "leave, nothing sent" "leave; nothing was sent";
    }

    RESULT {
        Enter ["enter"] "to the list" "to the list";
        Token ["t"] "token" "the token: reveal, copy, write to a file, rotate";
        Edit ["e"] "edit again" "edit the group again";
        Back ["esc"] "" "to the list";
    } + MOVE

    TOKEN {
        Rotate ["T"] "ROTATE" "rotate the token; asks first";
        Reveal ["v"] "reveal 20 s" "show the token for 20 seconds, or hide it";
        CopyMenu ["y"] "copy" "copy the token by way of your terminal (OSC 52)";
        WriteFile ["w"] "write to file" "write the token to a new file only you can read";
        HandOff ["h"] "" "hand the token off";
        Refresh ["r" "f5" "ctrl-r"] "read again" "read the token again";
        Back ["esc" "enter"] "back" "back";
    } + MOVE

    ROTATE_REASON {
        NextField ["tab" "enter"] "next" "to the confirmation";
        Back ["esc"] "leave, nothing sent" "leave; nothing was sent";
    }

    ROTATE_CHECK {
        Confirm ["y"] "ROTATE NOW" "rotate the token now";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back ["esc"] "leave, nothing sent" "leave; nothing was sent";
    }

    ROTATE_TYPED {
        Enter ["enter"] "ROTATE NOW" "rotate, once the id is typed exactly";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back ["esc"] "leave, nothing sent" "leave; nothing was sent";
    }

    ROTATE_RUNNING {
        Back ["esc"] "leave, it goes on" "leave; it goes on, and a message says how it ended";
    }

    ROTATE_RESULT {
        Reveal ["v"] "reveal 20 s" "show the token for 20 seconds, or hide it";
        CopyMenu ["y"] "copy" "copy the token by way of your terminal (OSC 52)";
        WriteFile ["w"] "write to file" "write the token to a new file only you can read";
        HandOff ["h"] "hand off" "hand the token off";
        Back ["esc"] "to the list" "to the list; the token can be read again by id";
    } + MOVE

    WRITE_PATH {
        Enter ["enter"] "write" "write it to this new file";
        Back ["esc"] "cancel" "write nothing";
    }

    HISTORY {
        Enter ["enter"] "open group" "open the group of this entry";
        Filter ["/"] "filter" "filter by words";
        ReverseEdit ["z"] "reverse edit" "prepare taking an update back";
        CopyCurl ["c"] "copy as curl" "copy a create as curl";
        Refresh ["r" "f5" "ctrl-r"] "read again" "read the history again";
        Back ["esc"] "back" "back";
    } + MOVE

    ROTATIONS {
        Enter ["enter"] "open group" "open the group of this rotation";
        Refresh ["r" "f5" "ctrl-r"] "settle by reading" "find out how the open ones ended, by reading their groups";
        Abandon ["A"] "ABANDON" "close an open one without finding out; asks for a reason";
        Back ["esc"] "back" "back";
    } + MOVE

    ABANDON_REASON {
        Enter ["enter"] "ABANDON" "abandon it, with this reason";
        Back ["esc"] "leave, nothing done" "leave; nothing was abandoned";
    }

    WHOSE {
        Enter ["enter"] "look it up" "look its fingerprint up in the directory; nothing is sent";
        Back ["esc"] "close" "close; the token is forgotten";
    }

    WHOSE_FOUND {
        Token ["t" "enter"] "its token" "to the token of this group: reveal, copy, rotate";
        Whose ["W"] "another one" "ask about another token";
        Back ["esc"] "close" "close";
    } + MOVE

    BULK_CHECK {
        Back ["esc" "enter"] "back" "back; nothing was sent";
        Refresh ["r" "f5" "ctrl-r"] "check again" "check the marked groups again";
        IncludeRecent ["f7"] "recent, too" "take recently rotated ones, or not";
    } + MOVE

    BULK_REASON {
        NextField ["tab" "enter"] "next" "to the confirmation";
        Back ["esc"] "leave, nothing sent" "leave; nothing was sent";
        IncludeRecent ["f7"] "recent, too" "take recently rotated ones, or not";
        Down ["down"] "" "down";
        Up ["up"] "" "up";
        PageUp ["pgup"] "" "a page up";
        PageDown ["pgdn"] "" "a page down";
    }

    BULK_TYPED {
        Enter ["enter"] "ROTATE ALL" "rotate them all, once the words are typed exactly";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back ["esc"] "leave, nothing sent" "leave; nothing was sent";
        IncludeRecent ["f7"] "recent, too" "take recently rotated ones, or not";
        Down ["down"] "" "down";
        Up ["up"] "" "up";
        PageUp ["pgup"] "" "a page up";
        PageDown ["pgdn"] "" "a page down";
    }

    BULK_RUN {
        Pause ["p"] "pause" "pause, or go on";
        Stop ["X"] "STOP" "begin nothing new any more";
        FailedOnly ["f"] "failed only" "show only what failed, or all";
        RetryFailed ["F"] "RETRY" "retry what was not applied";
        WriteFile ["w"] "report" "write the report to a new file, .json or .csv";
        Enter ["enter"] "open" "open the group of the row";
        Back ["esc"] "leave, it goes on" "back to the list, which says how far it is";
    } + MOVE

    OPEN {
        Enter ["enter"] "go on" "open a known group; any other id goes to its form";
        Down ["down"] "pick a near id" "pick one of the near ids";
        NextField ["tab" "shift-tab"] "copy of" "create it as a copy of a known group, or not";
        Up ["up"] "" "back towards what was typed";
        Back ["esc"] "leave, nothing sent" "leave; nothing was sent";
    }

    HELP {
        Enter ["enter"] "do it" "do the marked action";
        Down ["down" "tab"] "" "down";
        Up ["up" "shift-tab"] "" "up";
        PageUp ["pgup"] "" "a page up";
        PageDown ["pgdn"] "" "a page down";
        Back ["esc"] "close" "close";
    }

    PICK {
        Enter ["enter"] "take it" "take the marked line";
        Back ["esc"] "close" "close";
    } + MOVE

    MESSAGES {
        Enter ["enter"] "whole" "the whole message, with its request and answer";
        Back ["esc"] "close" "close";
    } + MOVE

    MESSAGE {
        CopyMenu ["c"] "copy as curl" "copy as curl, without the key";
        Back ["esc" "enter"] "close" "back to the messages";
    } + MOVE

    REQUESTS {
        Enter ["enter"] "whole" "the request and its answer, whole";
        CopyMenu ["c"] "copy as curl" "copy as curl, without the key";
        Back ["esc"] "back" "back";
    } + MOVE

    REQUEST {
        CopyMenu ["c"] "copy as curl" "copy as curl, without the key";
        Back ["esc" "enter"] "back" "back to the requests";
    } + MOVE

    WELCOME {
        Connect ["enter" "c"] "connect to a service" "connect to a service: asks, tests, writes a profile";
        Demo ["d"] "start the demo" "start the demo: a service of its own, nothing is kept";
        Quit ["q" "esc"] "quit" "quit";
    }

    CONNECT_FIELD {
        NextField ["tab" "enter" "down"] "next field" "to the next field";
        Review ["ctrl-s" "f2"] "test" "test the connection; creates nothing";
        Back ["esc"] "leave, nothing written" "leave; what was typed is kept, a key is not";
        PreviousField ["shift-tab" "up"] "" "to the previous field";
    }

    CONNECT_CHOICE {
        InField ["space" "right" "left"] "choose" "choose another one";
        NextField ["tab" "enter" "down"] "next field" "to the next field";
        Review ["ctrl-s" "f2"] "test" "test the connection; creates nothing";
        Back ["esc"] "leave, nothing written" "leave; what was typed is kept, a key is not";
        PreviousField ["shift-tab" "up"] "" "to the previous field";
    }

    CONNECT_CHECK {
        WriteFile ["w"] "WRITE the profile" "write the profile into the configuration file, and open it";
        Refresh ["r" "f5" "ctrl-r"] "test again" "test the connection again";
        Back ["esc"] "back to the form" "back to the form; nothing is written";
    } + MOVE
}
