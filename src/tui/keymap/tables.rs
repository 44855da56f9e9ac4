//! The tables of console.md, "Keys". A line: action, its keys (the first is shown in the footer), footer hint, help.

use super::{Action as A, Binding, Focus};

/// Tables in a shape that the formatter leaves alone: one binding a line.
macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident { $($action:ident [$($key:literal)+] $hint:literal $help:literal;)* } $(+ $more:ident)*)*) => {
        $($(#[$doc])* const $name: &[&[Binding]] = &[&[$(Binding {
            action: A::$action,
            keys: &[$($key),+],
            hint: $hint,
            help: $help,
        }),*] $(, $more[0])*];)*
    };
}

tables! {
    EVERYWHERE {
        Help ["?" "f1" ":" "ctrl-p"] "" "all keys and actions of this place";
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
        Token ["t"] "token" "the token: reveal, copy, write to a file, rotate";
        Mark ["space"] "mark" "mark the group of the row, or take the mark back";
        RotateMarked ["T"] "ROTATE marked" "rotate the marked";
        OpenOrCreate ["o"] "open/create" "open a group by its id, or create it";
        Filter ["/"] "filter" "filter by words in name, id, tag, fingerprint, team";
        History ["2"] "history" "the history of this profile";
        Profiles ["P" "f6"] "profile" "switch the profile";
        Detail ["d"] "detail" "show or hide the details of the row";
        MarkAll ["*"] "" "mark all groups that are shown";
        Sort ["s"] "sort" "sort by the next column";
        SortReverse ["S"] "" "reverse the order";
        CopyMenu ["y"] "copy" "copy id, name or more of this group";
    } + MOVE

    FILTER {
        Enter ["enter"] "keep" "keep the filter and go to the list";
        Back ["esc"] "clear" "clear the filter";
        Down ["down"] "" "down";
        Up ["up"] "" "up";
    }

    GROUP {
        Edit ["e"] "edit" "edit name, mapping and properties";
        Token ["t"] "token" "the token: reveal, copy, write to a file, rotate";
        Refresh ["r" "f5" "ctrl-r"] "read again" "read it from the service again";
        History ["2"] "history" "the history of this group";
        CopyMenu ["y"] "copy" "copy id, name or more of this group";
        Back ["esc"] "back" "back to the list";
    } + MOVE

    EDIT_NAME {
        NextField ["tab"] "next field" "to the next field";
        Review ["ctrl-s" "f2"] "review" "see what would be sent";
        Back ["esc"] "leave, draft kept" "leave; the draft is kept";
        PreviousField ["shift-tab"] "" "to the previous field";
        NextProblem ["f8"] "" "to the next problem";
    }

    EDIT_MAPPING {
        InField ["a"] "add" "add a row; paste adds several";
        InField ["enter"] "change" "change the cell";
        InField ["D"] "drop" "drop the row, or take that back";
        InField ["z"] "undo" "undo";
        InField ["Z"] "" "redo";
        InField ["up" "k" "down" "j" "left" "h" "right" "l"] "" "move between cells";
        NextField ["tab"] "next field" "to the next field";
        Review ["ctrl-s" "f2"] "review" "see what would be sent";
        Back ["esc"] "leave, draft kept" "leave; the draft is kept";
        PreviousField ["shift-tab"] "" "to the previous field";
        NextProblem ["f8"] "" "to the next problem";
    }

    EDIT_CELL {
        InField ["enter"] "keep cell" "keep the text of the cell";
        InField ["esc"] "cancel cell" "back to what the cell was";
        InField ["tab"] "next cell" "keep, and on to the next cell";
        Review ["ctrl-s" "f2"] "review" "see what would be sent";
    }

    EDIT_PROPERTIES {
        NextField ["tab"] "next field" "to the next field";
        Review ["ctrl-s" "f2"] "review" "see what would be sent";
        InField ["ctrl-t"] "format" "format the JSON";
        Back ["esc"] "leave, draft kept" "leave; the draft is kept";
        PreviousField ["shift-tab"] "" "to the previous field";
        NextProblem ["f8"] "" "to the next problem";
    }

    REVIEW {
        Enter ["enter"] "press button" "press the focused button";
        NextField ["tab" "right"] "other button" "to the other button";
        PreviousField ["shift-tab" "left"] "" "to the other button";
        Unchanged ["u"] "unchanged too" "show what stays the same, too";
        CopyMenu ["c"] "copy as curl" "copy the request as curl; the key is left out";
        Refresh ["r" "f5" "ctrl-r"] "" "read the service's copy again";
        Back ["esc"] "back" "back to the form; nothing is lost";
    } + MOVE

    REVIEW_KEY {
        Confirm ["y"] "SEND" "send it; Enter does nothing here";
        Back ["esc"] "back" "back to the form; nothing is lost";
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
    } + MOVE

    BULK_REASON {
        NextField ["tab" "enter"] "next" "to the confirmation";
        Back ["esc"] "leave, nothing sent" "leave; nothing was sent";
        Down ["down"] "" "down";
        Up ["up"] "" "up";
        PageUp ["pgup"] "" "a page up";
        PageDown ["pgdn"] "" "a page down";
    }

    BULK_TYPED {
        Enter ["enter"] "ROTATE ALL" "rotate them all, once the words are typed exactly";
        PreviousField ["shift-tab" "tab"] "reason" "back to the reason";
        Back ["esc"] "leave, nothing sent" "leave; nothing was sent";
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
        Back ["esc"] "close" "close";
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

    PROFILES {
        Enter ["enter"] "take it" "take the marked line";
        Connect ["a"] "add one" "add a profile";
        Back ["esc"] "close" "close";
    } + MOVE
}

/// The bindings that hold only in this place.
pub(super) fn here(focus: Focus) -> impl Iterator<Item = &'static Binding> + Clone {
    let tables: &'static [&'static [Binding]] = match focus {
        Focus::Welcome => WELCOME,
        Focus::ConnectField => CONNECT_FIELD,
        Focus::ConnectChoice => CONNECT_CHOICE,
        Focus::ConnectCheck => CONNECT_CHECK,
        Focus::List => LIST,
        Focus::Filter => FILTER,
        Focus::Group => GROUP,
        Focus::EditName => EDIT_NAME,
        Focus::EditMapping => EDIT_MAPPING,
        Focus::EditCell => EDIT_CELL,
        Focus::EditProperties => EDIT_PROPERTIES,
        Focus::Review => REVIEW,
        Focus::ReviewKey => REVIEW_KEY,
        Focus::ConfirmTyped => CONFIRM_TYPED,
        Focus::Result => RESULT,
        Focus::Token => TOKEN,
        Focus::RotateReason => ROTATE_REASON,
        Focus::RotateCheck => ROTATE_CHECK,
        Focus::RotateTyped => ROTATE_TYPED,
        Focus::RotateRunning => ROTATE_RUNNING,
        Focus::RotateResult => ROTATE_RESULT,
        Focus::WritePath => WRITE_PATH,
        Focus::History => HISTORY,
        Focus::Open => OPEN,
        Focus::Help => HELP,
        Focus::Profiles => PROFILES,
        Focus::CopyMenu => PICK,
        Focus::Messages => MESSAGES,
        Focus::Rotations => ROTATIONS,
        Focus::AbandonReason => ABANDON_REASON,
        Focus::Whose => WHOSE,
        Focus::WhoseFound => WHOSE_FOUND,
        Focus::BulkCheck => BULK_CHECK,
        Focus::BulkReason => BULK_REASON,
        Focus::BulkTyped => BULK_TYPED,
        Focus::BulkRun => BULK_RUN,
    };
    tables.iter().copied().flatten()
}

/// The bindings that hold in every place that has no own key for the same action.
pub(super) fn everywhere() -> impl Iterator<Item = &'static Binding> {
    EVERYWHERE.iter().copied().flatten()
}
