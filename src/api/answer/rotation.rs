//! Maps the answer to a rotate request to an outcome of the state machine in docs/design/rotation.md. Strict on
//! purpose: only what the service itself stated counts, everything else is settled by a get.

use super::{
    Verdict,
    ambiguous::{Ambiguous, AmbiguousKind},
};
use crate::{
    api::{client::Reply, failure::CallError},
    domain::{rotation::RotateOutcome, token::Fingerprinter},
};

/// Maps the result of [`Client::rotate`](crate::api::client::Client::rotate).
///
/// An answer from another environment cannot be detected here: compare the tag of the group, and use
/// [`RotateOutcome::WrongGroup`] if it is not the profile's.
pub fn rotation_answer(
    result: &Result<Reply, CallError>,
    fingerprinter: &Fingerprinter,
) -> RotateOutcome {
    let reply = match result {
        Ok(reply) => reply,
        Err(CallError::NotSent { .. }) => return RotateOutcome::NotSent,
        Err(CallError::Lost { .. }) => return RotateOutcome::Unclear,
    };
    match &reply.verdict {
        Verdict::Success(group) => RotateOutcome::NewToken(fingerprinter.of(&group.token)),
        Verdict::SameToken(_) => RotateOutcome::SameToken,
        Verdict::Refused { stated: true, .. } => RotateOutcome::Refused,
        Verdict::Unclear(Ambiguous {
            kind: AmbiguousKind::OtherGroup { .. },
            ..
        }) => RotateOutcome::WrongGroup,
        Verdict::Refused { stated: false, .. } | Verdict::Unclear(_) => RotateOutcome::Unclear,
    }
}
