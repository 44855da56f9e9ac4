//! What follows from an answer of the service: it is judged, compared with what was known, and recorded in one
//! transaction.

pub(super) mod error_response;
pub(super) mod observe;
pub(super) mod rotation;
