//! Other words for the actions and commands, by which help and palette find them; and what people look for that the
//! service cannot do.

use super::Action;

/// Words that people use for the action, in addition to those of its own texts; the most fitting ones first.
pub fn of(action: Action) -> &'static str {
    match action {
        Action::Help => "shortcuts manual bindings",
        Action::Palette => "command run execute",
        Action::Back => "leave close cancel return",
        Action::Quit => "exit leave close",
        Action::Cancel => "abort interrupt exit",
        Action::Suspend => "background shell",
        Action::Redraw => "repaint clear",
        Action::Profiles => "production testing customer environment context account switch",
        Action::Groups => "list home customers",
        Action::History => "undo log audit changes who revert",
        Action::Rotations => "unknown recover interrupted renewals",
        Action::Requests => "http network debug log",
        Action::Whose => "leaked leak owner search find secret",
        Action::Refresh => "reload sync update again",
        Action::CopyMenu | Action::CopyCurl => "copy clipboard yank",
        Action::Messages => "errors log notifications",
        Action::OpenOrCreate => "new add create find search goto",
        Action::Filter => "search find grep look query",
        Action::ReverseEdit => "undo revert restore rollback",
        Action::Up | Action::Down | Action::PageUp | Action::PageDown => "move scroll",
        Action::Top | Action::Bottom => "begin end move scroll",
        Action::Enter => "ok choose go",
        Action::Detail => "info inspect preview",
        Action::Edit => "change update modify mapping property rename",
        Action::Token => "secret key password rotate copy leaked",
        Action::Compare => "diff difference production",
        Action::BringAll => "copy take over",
        Action::NextField | Action::PreviousField => "tab move focus",
        Action::NextProblem => "error wrong",
        Action::RowsOrJson | Action::OtherView => "json view switch",
        Action::EditWhole => "vim nano editor",
        Action::Discard => "delete undo revert reset draft",
        Action::LoadDraft => "colleague theirs take over",
        Action::Review => "send submit apply save preview",
        Action::Confirm => "yes ok send apply submit",
        Action::Unchanged => "all same",
        Action::Choose => "select toggle conflict",
        Action::Rotate => "renew revoke replace regenerate leaked change",
        Action::Note => "comment remark tag label",
        Action::Favourite => "star pin bookmark",
        Action::Views => "columns layout saved",
        Action::AddColumn => "new column property",
        Action::Sort | Action::SortReverse | Action::MoveUp | Action::MoveDown => "order column",
        Action::RemoveView => "delete drop",
        Action::Mark | Action::MarkAll | Action::MarkDown | Action::MarkUp => "select tick check",
        Action::NextFlag | Action::PreviousFlag => "changed jump",
        Action::ScrollLeft | Action::ScrollRight => "columns wide move",
        Action::RotateMarked => "bulk many renew revoke leaked",
        Action::EditMarked => "bulk many change update",
        Action::NextChoice | Action::PreviousChoice => "select other",
        Action::ShowNext => "show only filter",
        Action::Pause => "wait hold continue",
        Action::Stop => "cancel abort end kill",
        Action::FailedOnly => "errors problems",
        Action::IncludeRecent | Action::IncludeOld => "all force",
        Action::RetryFailed => "again repeat",
        Action::Resume => "continue go on",
        Action::Batches => "bulk runs jobs resume many",
        Action::Attention => "todo alerts problems overdue expired",
        Action::NextFailed | Action::PreviousFailed => "error jump",
        Action::Abandon => "close delete give up",
        Action::Reveal => "see display copy secret",
        Action::WriteFile => "export download save store file",
        Action::HandOff => "deliver delivery send hook",
        Action::Demo => "try example",
        Action::Connect => "new login setup service profile",
        Action::InField => "type edit undo delete",
    }
}

/// The same for the other entries of the palette, by the word for their kind.
pub fn of_entry(kind: &str) -> &'static str {
    match kind {
        "sort" => "order column",
        "view" => "saved filter layout apply",
        "mark" => "select tick",
        "profile" => "environment context switch",
        "label" => "tag",
        "theme" => "colour color background",
        _ => "",
    }
}

/// What people look for and the service cannot do: what it is, other words for it, and why it is not possible.
pub const IMPOSSIBLE: [(&str, &str, &str); 3] = [
    (
        "delete a group",
        "remove destroy drop erase",
        "the service cannot delete groups",
    ),
    (
        "undo a rotation",
        "restore revert old token back",
        "the old token stays invalid",
    ),
    (
        "change the ID of a group",
        "rename id move",
        "the service cannot change an ID",
    ),
];
