//! What a person types or answers on the command line: values, questions, and secrets that must not be among them.

pub(super) mod chosen;
pub(super) mod confirm;
pub(super) mod editor;
pub(super) mod fields;
pub(super) mod no_echo;
pub(super) mod secrets;
pub(super) mod selection;
