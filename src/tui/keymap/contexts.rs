//! Which tables hold in which place.

use super::{Binding, Focus, tables};

/// The bindings that hold only in this place.
pub(super) fn here(focus: Focus) -> impl Iterator<Item = &'static Binding> + Clone {
    let found: &'static [&'static [Binding]] = match focus {
        Focus::Welcome => tables::WELCOME,
        Focus::ConnectField => tables::CONNECT_FIELD,
        Focus::ConnectChoice => tables::CONNECT_CHOICE,
        Focus::ConnectCheck => tables::CONNECT_CHECK,
        Focus::List => tables::LIST,
        Focus::Filter => tables::FILTER,
        Focus::Group => tables::GROUP,
        Focus::Compare => tables::COMPARE,
        Focus::EditName => tables::EDIT_NAME,
        Focus::EditMapping => tables::EDIT_MAPPING,
        Focus::EditCell => tables::EDIT_CELL,
        Focus::EditProperties => tables::EDIT_PROPERTIES,
        Focus::EditRows => tables::EDIT_ROWS,
        Focus::EditType => tables::EDIT_TYPE,
        Focus::Review => tables::REVIEW,
        Focus::ReviewKey => tables::REVIEW_KEY,
        Focus::ConfirmTyped => tables::CONFIRM_TYPED,
        Focus::Result => tables::RESULT,
        Focus::Token => tables::TOKEN,
        Focus::RotateReason => tables::ROTATE_REASON,
        Focus::RotateCheck => tables::ROTATE_CHECK,
        Focus::RotateTyped => tables::ROTATE_TYPED,
        Focus::RotateRunning => tables::ROTATE_RUNNING,
        Focus::RotateResult => tables::ROTATE_RESULT,
        Focus::WritePath => tables::WRITE_PATH,
        Focus::History => tables::HISTORY,
        Focus::Open => tables::OPEN,
        Focus::Help => tables::HELP,
        Focus::Profiles => tables::PROFILES,
        Focus::CopyMenu => tables::PICK,
        Focus::Messages => tables::MESSAGES,
        Focus::Message => tables::MESSAGE,
        Focus::Requests => tables::REQUESTS,
        Focus::Request => tables::REQUEST,
        Focus::Rotations => tables::ROTATIONS,
        Focus::AbandonReason => tables::ABANDON_REASON,
        Focus::Whose => tables::WHOSE,
        Focus::WhoseFound => tables::WHOSE_FOUND,
        Focus::BulkCheck => tables::BULK_CHECK,
        Focus::BulkReason => tables::BULK_REASON,
        Focus::BulkTyped => tables::BULK_TYPED,
        Focus::BulkRun => tables::BULK_RUN,
        Focus::PlaceChoice => tables::PLACE_CHOICE,
        Focus::PlaceNew => tables::PLACE_NEW,
        Focus::PlaceProof => tables::PLACE_PROOF,
        Focus::PlaceReason => tables::PLACE_REASON,
        Focus::PlaceWait => tables::PLACE_WAIT,
    };
    found.iter().copied().flatten()
}

/// The bindings that hold in every place that has no own key for the same action.
pub(super) fn everywhere() -> impl Iterator<Item = &'static Binding> {
    tables::EVERYWHERE.iter().copied().flatten()
}

/// The bindings that move in every list and page.
pub(super) fn moving() -> impl Iterator<Item = &'static Binding> {
    tables::MOVE.iter().copied().flatten()
}
