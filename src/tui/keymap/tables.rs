//! The tables of console.md, "Keys".

use super::{Action as A, Binding, Focus};

const fn bind(
    action: A,
    keys: &'static [&'static str],
    hint: &'static str,
    help: &'static str,
) -> Binding {
    Binding {
        action,
        keys,
        hint,
        help,
    }
}

pub(super) const EVERYWHERE: &[Binding] = &[
    bind(
        A::Help,
        &["?", "f1", ":", "ctrl-p"],
        "",
        "all keys and actions of this place",
    ),
    bind(
        A::Back,
        &["esc"],
        "",
        "back: first the filter, then the view",
    ),
    bind(A::Quit, &["q"], "", "back; at the top: quit"),
    bind(A::Cancel, &["ctrl-c"], "", "cancel; twice: quit"),
    bind(
        A::Refresh,
        &["r", "f5", "ctrl-r"],
        "",
        "read again; never changes anything",
    ),
    bind(
        A::OpenOrCreate,
        &["o"],
        "",
        "open a group by its id, or create it",
    ),
    bind(A::Profiles, &["P"], "", "switch the profile"),
    bind(A::Groups, &["1"], "", "the groups"),
    bind(A::History, &["2"], "", "the history"),
    bind(A::Messages, &["m"], "", "all messages of this session"),
    bind(A::Suspend, &["ctrl-z"], "", "suspend; fg brings it back"),
    bind(A::Redraw, &["ctrl-l"], "", "draw the screen anew"),
];

const MOVE: [Binding; 6] = [
    bind(A::Up, &["k", "up"], "", "up"),
    bind(A::Down, &["j", "down"], "", "down"),
    bind(A::Top, &["g", "home"], "", "to the first"),
    bind(A::Bottom, &["G", "end"], "", "to the last"),
    bind(A::PageUp, &["pgup", "ctrl-u"], "", "a page up"),
    bind(A::PageDown, &["pgdn", "ctrl-d"], "", "a page down"),
];

const LIST: &[Binding] = &[
    bind(
        A::Enter,
        &["enter"],
        "open",
        "open the group: read it from the service",
    ),
    bind(A::Edit, &["e"], "edit", "edit name, mapping and properties"),
    bind(
        A::Token,
        &["t"],
        "token",
        "the token: reveal, copy, write to a file, rotate",
    ),
    bind(
        A::OpenOrCreate,
        &["o"],
        "open/create",
        "open a group by its id, or create it",
    ),
    bind(
        A::Filter,
        &["/"],
        "filter",
        "filter by words in name, id, tag, token fingerprint, team id",
    ),
    bind(A::History, &["2"], "history", "the history of this profile"),
    bind(A::Profiles, &["P"], "profile", "switch the profile"),
    bind(
        A::Detail,
        &["d"],
        "detail",
        "show or hide the details of the row",
    ),
    bind(A::Sort, &["s"], "sort", "sort by the next column"),
    bind(A::SortReverse, &["S"], "", "reverse the order"),
    bind(
        A::CopyMenu,
        &["y"],
        "copy",
        "copy id, name or more of this group",
    ),
    MOVE[0],
    MOVE[1],
    MOVE[2],
    MOVE[3],
    MOVE[4],
    MOVE[5],
];

const FILTER: &[Binding] = &[
    bind(
        A::Enter,
        &["enter"],
        "keep",
        "keep the filter and go to the list",
    ),
    bind(A::Back, &["esc"], "clear", "clear the filter"),
    bind(A::Down, &["down"], "", "down"),
    bind(A::Up, &["up"], "", "up"),
];

const GROUP: &[Binding] = &[
    bind(A::Edit, &["e"], "edit", "edit name, mapping and properties"),
    bind(
        A::Token,
        &["t"],
        "token",
        "the token: reveal, copy, write to a file, rotate",
    ),
    bind(
        A::Refresh,
        &["r", "f5", "ctrl-r"],
        "read again",
        "read it from the service again",
    ),
    bind(A::History, &["2"], "history", "the history of this group"),
    bind(
        A::CopyMenu,
        &["y"],
        "copy",
        "copy id, name or more of this group",
    ),
    bind(A::Back, &["esc"], "back", "back to the list"),
    MOVE[0],
    MOVE[1],
    MOVE[2],
    MOVE[3],
    MOVE[4],
    MOVE[5],
];

const NEXT: Binding = bind(A::NextField, &["tab"], "next field", "to the next field");
const PREVIOUS: Binding = bind(
    A::PreviousField,
    &["shift-tab"],
    "",
    "to the previous field",
);
const REVIEW: Binding = bind(
    A::Review,
    &["ctrl-s", "f2"],
    "review",
    "see what would be sent",
);
const PROBLEM: Binding = bind(A::NextProblem, &["f8"], "", "to the next problem");
const LEAVE_DRAFT: Binding = bind(
    A::Back,
    &["esc"],
    "leave, draft kept",
    "leave; the draft is kept",
);

const EDIT_NAME: &[Binding] = &[NEXT, REVIEW, LEAVE_DRAFT, PREVIOUS, PROBLEM];

const EDIT_MAPPING: &[Binding] = &[
    bind(A::InField, &["a"], "add", "add a row; paste adds several"),
    bind(A::InField, &["enter"], "change", "change the cell"),
    bind(
        A::InField,
        &["D"],
        "drop",
        "drop the row, or take that back",
    ),
    bind(A::InField, &["z"], "undo", "undo"),
    bind(A::InField, &["Z"], "", "redo"),
    bind(
        A::InField,
        &["up", "k", "down", "j", "left", "h", "right", "l"],
        "",
        "move between cells",
    ),
    NEXT,
    REVIEW,
    LEAVE_DRAFT,
    PREVIOUS,
    PROBLEM,
];

const EDIT_CELL: &[Binding] = &[
    bind(
        A::InField,
        &["enter"],
        "keep cell",
        "keep the text of the cell",
    ),
    bind(
        A::InField,
        &["esc"],
        "cancel cell",
        "back to what the cell was",
    ),
    bind(
        A::InField,
        &["tab"],
        "next cell",
        "keep, and on to the next cell",
    ),
    REVIEW,
];

const EDIT_PROPERTIES: &[Binding] = &[
    NEXT,
    REVIEW,
    bind(A::InField, &["ctrl-t"], "format", "format the JSON"),
    LEAVE_DRAFT,
    PREVIOUS,
    PROBLEM,
];

const REVIEW_KEYS: &[Binding] = &[
    bind(
        A::Enter,
        &["enter"],
        "press button",
        "press the focused button",
    ),
    bind(
        A::NextField,
        &["tab", "right"],
        "other button",
        "to the other button",
    ),
    bind(
        A::PreviousField,
        &["shift-tab", "left"],
        "",
        "to the other button",
    ),
    bind(
        A::Confirm,
        &["y"],
        "",
        "apply, where Enter does nothing (production)",
    ),
    bind(
        A::Unchanged,
        &["u"],
        "unchanged too",
        "show what stays the same, too",
    ),
    bind(
        A::CopyMenu,
        &["c"],
        "copy as curl",
        "copy the request as curl; the key is left out",
    ),
    bind(
        A::Refresh,
        &["r", "f5", "ctrl-r"],
        "",
        "read the service's copy again",
    ),
    bind(
        A::Back,
        &["esc"],
        "back",
        "back to the form; nothing is lost",
    ),
    MOVE[0],
    MOVE[1],
    MOVE[2],
    MOVE[3],
    MOVE[4],
    MOVE[5],
];

const RESULT: &[Binding] = &[
    bind(A::Enter, &["enter"], "to the list", "to the list"),
    bind(
        A::Token,
        &["t"],
        "token",
        "the token: reveal, copy, write to a file, rotate",
    ),
    bind(A::Edit, &["e"], "edit again", "edit the group again"),
    bind(A::Back, &["esc"], "", "to the list"),
    MOVE[0],
    MOVE[1],
    MOVE[4],
    MOVE[5],
];

const REVEAL: Binding = bind(
    A::Reveal,
    &["v"],
    "reveal 20 s",
    "show the token for 20 seconds, or hide it",
);
const COPY_TOKEN: Binding = bind(
    A::CopyMenu,
    &["y"],
    "copy",
    "copy the token by way of your terminal (OSC 52)",
);
const WRITE: Binding = bind(
    A::WriteFile,
    &["w"],
    "write to file",
    "write the token to a new file only you can read",
);

const TOKEN: &[Binding] = &[
    bind(A::Rotate, &["T"], "ROTATE", "rotate the token; asks first"),
    REVEAL,
    COPY_TOKEN,
    WRITE,
    bind(
        A::Refresh,
        &["r", "f5", "ctrl-r"],
        "read again",
        "read the token again",
    ),
    bind(A::Back, &["esc", "enter"], "back", "back"),
];

const ROTATE_REASON: &[Binding] = &[
    bind(
        A::NextField,
        &["tab", "enter"],
        "next",
        "to the confirmation",
    ),
    bind(
        A::Back,
        &["esc"],
        "leave, nothing sent",
        "leave; nothing was sent",
    ),
];

const ROTATE_CHECK: &[Binding] = &[
    bind(A::Confirm, &["y"], "ROTATE NOW", "rotate the token now"),
    bind(
        A::PreviousField,
        &["shift-tab", "tab"],
        "reason",
        "back to the reason",
    ),
    bind(
        A::Back,
        &["esc"],
        "leave, nothing sent",
        "leave; nothing was sent",
    ),
];

const ROTATE_TYPED: &[Binding] = &[
    bind(
        A::Enter,
        &["enter"],
        "ROTATE NOW",
        "rotate, once the id is typed exactly",
    ),
    bind(
        A::PreviousField,
        &["shift-tab", "tab"],
        "reason",
        "back to the reason",
    ),
    bind(
        A::Back,
        &["esc"],
        "leave, nothing sent",
        "leave; nothing was sent",
    ),
];

const ROTATE_RUNNING: &[Binding] = &[bind(
    A::Back,
    &["esc"],
    "leave, it goes on",
    "leave; it goes on, and a message says how it ended",
)];

const ROTATE_RESULT: &[Binding] = &[
    REVEAL,
    COPY_TOKEN,
    WRITE,
    bind(
        A::Back,
        &["esc", "enter"],
        "to the list",
        "to the list; the token can be read again by id",
    ),
];

const WRITE_PATH: &[Binding] = &[
    bind(
        A::Enter,
        &["enter"],
        "write",
        "write the token to this new file",
    ),
    bind(A::Back, &["esc"], "cancel", "write nothing"),
];

const HISTORY: &[Binding] = &[
    bind(
        A::Enter,
        &["enter"],
        "open group",
        "open the group of this entry",
    ),
    bind(A::Filter, &["/"], "filter", "filter by words"),
    bind(
        A::Refresh,
        &["r", "f5", "ctrl-r"],
        "read again",
        "read the history again",
    ),
    bind(A::Back, &["esc"], "back", "back"),
    MOVE[0],
    MOVE[1],
    MOVE[2],
    MOVE[3],
    MOVE[4],
    MOVE[5],
];

const OPEN: &[Binding] = &[
    bind(
        A::Enter,
        &["enter"],
        "go on",
        "open the group, or go on to the form that creates it",
    ),
    bind(
        A::Down,
        &["down"],
        "pick a near id",
        "pick one of the near ids",
    ),
    bind(A::Up, &["up"], "", "back towards what was typed"),
    bind(
        A::Back,
        &["esc"],
        "leave, nothing sent",
        "leave; nothing was sent",
    ),
];

const HELP: &[Binding] = &[
    bind(A::Enter, &["enter"], "do it", "do the marked action"),
    bind(A::Down, &["down", "tab"], "", "down"),
    bind(A::Up, &["up", "shift-tab"], "", "up"),
    bind(A::PageUp, &["pgup"], "", "a page up"),
    bind(A::PageDown, &["pgdn"], "", "a page down"),
    bind(A::Back, &["esc"], "close", "close"),
];

const PICK: &[Binding] = &[
    bind(A::Enter, &["enter"], "take it", "take the marked line"),
    bind(A::Back, &["esc"], "close", "close"),
    MOVE[0],
    MOVE[1],
    MOVE[2],
    MOVE[3],
    MOVE[4],
    MOVE[5],
];

const MESSAGES: &[Binding] = &[
    bind(A::Back, &["esc"], "close", "close"),
    MOVE[0],
    MOVE[1],
    MOVE[2],
    MOVE[3],
    MOVE[4],
    MOVE[5],
];

const WELCOME: &[Binding] = &[
    bind(
        A::Demo,
        &["d", "enter"],
        "start the demo",
        "start the demo: a service of its own, nothing is kept",
    ),
    bind(A::Quit, &["q", "esc"], "quit", "quit"),
];

/// The bindings that hold only in this place.
pub(super) fn here(focus: Focus) -> &'static [Binding] {
    match focus {
        Focus::Welcome => WELCOME,
        Focus::List => LIST,
        Focus::Filter => FILTER,
        Focus::Group => GROUP,
        Focus::EditName => EDIT_NAME,
        Focus::EditMapping => EDIT_MAPPING,
        Focus::EditCell => EDIT_CELL,
        Focus::EditProperties => EDIT_PROPERTIES,
        Focus::Review => REVIEW_KEYS,
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
        Focus::Profiles | Focus::CopyMenu => PICK,
        Focus::Messages => MESSAGES,
    }
}
