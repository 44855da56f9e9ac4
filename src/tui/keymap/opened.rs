//! The pages and boxes that a key opens from everywhere. Each is declared once: the action with its keys, help and other
//! words, then the page as a person calls it, and the keys of its own. `panes` has how it is opened.

/// Passes the rows to the macro that makes the actions, and to the one that makes the places.
macro_rules! opened {
    ($then:ident { $($others:tt)* }) => {
        $then! {
            opened {
                Profiles ["P" "f6"] "switch profile"
                    "production testing customer environment context account switch permissions rights role access"
                    in "Profiles" COMMANDS {
                    Enter "select" "select";
                    Connect ["a"] "add profile" "add profile";
                    Back "close" "close";
                } + MOVE;

                History ["2"] "history"
                    "undo log logs audit changes changed who revert restore rollback redo"
                    in "History" COMMANDS {
                    Enter "open group" "open the group of this entry";
                    Filter;
                    ReverseEdit "undo" "undo this update (opens the review)";
                    Detail "diff" "what it changed; again: diff from now";
                    CopyCurl "copy as curl" "copy a create as curl";
                    Refresh "refresh" "read the history again";
                    Back "back" "back";
                } + MOVE + COLUMNS;

                Rotations ["3"] "rotations (open first)"
                    "unknown recover interrupted renewals settle unlock stuck pending"
                    in "Rotations" COMMANDS {
                    Enter "open group" "open the group of this rotation";
                    Refresh "check open ones" "check open ones (reads only)";
                    Abandon "ABANDON" "abandon: close without a result; asks for a reason";
                    Filter;
                    Back "back" "back";
                } + MOVE + COLUMNS;

                Whose ["W"] "find the group of a token; nothing is sent"
                    "leaked leak stolen owner search find secret compromised"
                    in "Find a token" TEXT {
                    Enter "find" "find the group of this token; nothing is sent";
                    Back "close" "close (token discarded)";
                };

                Attention ["0" "!"] "what needs attention, in all profiles"
                    "todo alerts alarm alarms problems overdue expired stuck pending acknowledge"
                    in "Attention" COMMANDS {
                    Enter "go there" "open the item";
                    Refresh "check" "check the item, or all again";
                    HandOff "hand off" "run the hand-off";
                    Resume "RESUME" "check and resume";
                    Edit "open draft" "continue the draft";
                    NextField "this profile" "this profile / all profiles";
                    Filter;
                    Back "back" "back";
                } + MOVE + COLUMNS;

                Batches ["5"] "batches (unfinished first): groups, resume, retry"
                    "bulk runs jobs resume many mass"
                    in "Batches" COMMANDS {
                    Resume "RESUME" "resume what was not started";
                    Enter "groups" "the groups of this batch";
                    RetryFailed "RETRY failed" "retry failed";
                    Refresh "check" "check unknown ones (reads only), refresh";
                    ReverseEdit "undo" "prepare the reverse edit";
                    WriteFile "report" "save the report to a file";
                    Filter;
                    NextField "all profiles" "this profile / all profiles";
                    Back "back" "back";
                } + MOVE + COLUMNS;

                Requests ["4"] "requests and responses"
                    "http network debug log logs"
                    in "Requests" COMMANDS {
                    Enter "details" "the whole request and its response";
                    Stop "CANCEL read" "cancel the running read";
                    CopyCurl "copy as curl" "copy as curl, without the API key";
                    FailedOnly "failed only" "show failed ones only, or all";
                    Filter;
                    Back "back" "back";
                } + MOVE + COLUMNS;

                Messages ["m"] "messages of this session"
                    "errors log logs notifications"
                    in "Messages" COMMANDS {
                    Enter "details" "the message, its request and response";
                    FailedOnly "errors only" "show errors only, or all";
                    Filter;
                    Back "close" "close";
                } + MOVE;
            }
            $($others)*
        }
    };
}
pub(super) use opened;
