//! Turns any answer but a good one into a failure, for reads and for mutations.

use crate::{
    api::{
        answer::{
            Verdict,
            ambiguous::{Ambiguous, AmbiguousKind},
        },
        client::Reply,
        failure::CallError,
    },
    operations::prelude::*,
};

/// Anything but a good answer.
pub(crate) enum ErrorResponse {
    Answered(Box<Reply>),
    Failed(CallError),
}

impl ErrorResponse {
    /// Whether a mutation may have taken effect. Only a refusal that the service stated, or a failed connection, rules
    /// that out.
    pub(crate) fn may_have_changed(&self) -> bool {
        match self {
            Self::Answered(reply) => {
                !matches!(reply.verdict, Verdict::Refused { stated: true, .. })
            }
            Self::Failed(error) => matches!(error, CallError::Lost { .. }),
        }
    }

    pub(crate) fn into_read_failure(self) -> Failure {
        match self {
            Self::Answered(reply) => match reply.verdict {
                Verdict::Refused {
                    status: status @ (429 | 503),
                    stated,
                    words,
                    retry_after,
                    via,
                    ..
                } => Failure::Busy {
                    status,
                    why: refused(status, stated, words, via, retry_after).to_string(),
                    retry_after,
                },
                Verdict::Unclear(Ambiguous {
                    status: status @ 503,
                    kind: AmbiguousKind::ServerError { retry_after, .. },
                    ..
                }) => Failure::Busy {
                    status,
                    why: problem_of_read(&reply.verdict),
                    retry_after,
                },
                Verdict::Refused {
                    status,
                    stated,
                    words,
                    via,
                    ..
                } if may_be_bodiless(status) => Failure::Refused {
                    status,
                    stated,
                    via,
                    words,
                    retry_after: None,
                    bodiless: true,
                },
                Verdict::Refused {
                    stated,
                    words,
                    via,
                    retry_after,
                    ..
                } => refused(reply.status, stated, words, via, retry_after),
                verdict @ (Verdict::Success(_) | Verdict::SameToken(_) | Verdict::Unclear(_)) => {
                    Failure::Unreadable(problem_of_read(&verdict))
                }
            },
            Self::Failed(error) => Failure::Unreachable(error),
        }
    }

    pub(crate) fn into_mutation_failure(
        self,
        id: &UserGroupId,
        operation: &'static str,
        next: &'static str,
    ) -> Failure {
        let unknown = |why| Failure::Unknown {
            id: id.clone(),
            operation,
            is_answered: false,
            why,
            next,
        };
        match self {
            Self::Answered(reply) => match reply.verdict {
                // A create is a get with a body as well.
                Verdict::Refused {
                    status,
                    stated: true,
                    words,
                    ..
                } if operation == "create" && may_be_bodiless(status) => Failure::Refused {
                    status,
                    stated: true,
                    via: None,
                    words,
                    retry_after: None,
                    bodiless: true,
                },
                Verdict::Refused {
                    stated: true,
                    words,
                    retry_after,
                    ..
                } => refused(reply.status, true, words, None, retry_after),
                verdict => unknown(problem_with_check(&verdict)),
            },
            Self::Failed(error @ CallError::NotSent { .. }) => Failure::Unreachable(error),
            Self::Failed(error @ CallError::Lost { .. }) => unknown(error.what()),
        }
    }
}

pub(crate) fn refused(
    status: u16,
    stated: bool,
    words: Option<String>,
    via: Option<String>,
    retry_after: Option<Duration>,
) -> Failure {
    if status == 401 {
        Failure::KeyRefused { words }
    } else {
        Failure::Refused {
            status,
            stated,
            via,
            words,
            retry_after,
            bodiless: false,
        }
    }
}

/// Whether this status may mean that the body of a get did not arrive (hazard 8).
fn may_be_bodiless(status: u16) -> bool {
    matches!(status, 400 | 405 | 411 | 413 | 415 | 422)
}

/// Used for a success that does not answer the request that was sent.
const OF_ANOTHER_KIND: &str = "the response is a success of another operation";

/// Describes what was wrong with an answer, without advice.
pub(crate) fn problem(verdict: &Verdict) -> String {
    verdict.what().unwrap_or_else(|| OF_ANOTHER_KIND.into())
}

/// As [`problem`], and also says what in the profile or on the network path may be wrong.
pub(crate) fn problem_with_check(verdict: &Verdict) -> String {
    let check = match verdict {
        Verdict::Unclear(unclear) => unclear.check(),
        Verdict::Success(_) | Verdict::SameToken(_) | Verdict::Refused { .. } => None,
    };
    let check = check.map_or_else(String::new, |check| format!("; {check}"));
    problem(verdict) + &check
}

/// Describes what was wrong with the answer to a read; it says nothing about a change.
fn problem_of_read(verdict: &Verdict) -> String {
    let next = match verdict {
        // Another group was read than the one asked for: a get that lost its body could create (hazards 1 and 8).
        Verdict::Unclear(Ambiguous {
            kind: AmbiguousKind::OtherGroup { .. } | AmbiguousKind::NoId,
            ..
        }) => {
            return format!(
                "{}; nothing was recorded; do not read more groups until this is resolved",
                problem_with_check(verdict)
            );
        }
        Verdict::Unclear(unclear) => unclear.check(),
        Verdict::Success(_) | Verdict::SameToken(_) | Verdict::Refused { .. } => None,
    };
    let next = next.unwrap_or_else(|| "read it again in a while".into());
    format!(
        "{}; it was only read, nothing was changed; {next}",
        problem(verdict)
    )
}

/// Describes what was wrong with an answer, with advice.
pub(crate) fn explain(verdict: &Verdict) -> String {
    verdict.explain().unwrap_or_else(|| OF_ANOTHER_KIND.into())
}
