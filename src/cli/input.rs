//! Input from a person: values, answers to questions, and secrets, which must never be among the arguments.

pub(super) mod confirm;
pub(super) mod dashes;
pub(super) mod fields;
pub(super) mod forgotten;
pub(super) mod listing;
pub(super) mod not_there;
pub(super) mod secrets;
pub(super) mod selection;
pub(super) mod unparsed;
