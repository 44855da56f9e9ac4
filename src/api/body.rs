//! The body of an answer as JSON, read strictly: what could be read in two ways is not believed, and what would take
//! many times its room is not taken in.

use super::{answer::Exchange, unclear::Unclear, wiped::Answered};
use crate::domain::{
    size::MOST_ANSWERED,
    strict_json::{self, Wrong},
};

pub(super) fn parse(exchange: &Exchange<'_>) -> Result<Answered, Unclear> {
    let status = exchange.status;
    // RFC 8259, section 8.1: a parser may ignore a byte order mark.
    let body = exchange
        .body
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(exchange.body)
        .trim_ascii();
    if body.is_empty() {
        return Err(Unclear::Empty { status });
    }
    let read = strict_json::strangers(body, MOST_ANSWERED).map(Answered);
    read.map_err(|wrong| match wrong {
        Wrong::Twice { line, column } => Unclear::Twice {
            status,
            line,
            column,
        },
        Wrong::TooMany => Unclear::TooMany {
            status,
            limit: MOST_ANSWERED,
        },
        Wrong::NotJson { .. } if is_page(exchange, body) => Unclear::WebPage { status },
        // The position only: serde's texts quote values (trap 9).
        Wrong::NotJson {
            line,
            column,
            early,
        } => Unclear::NotJson {
            status,
            line,
            column,
            early,
        },
    })
}

fn is_page(exchange: &Exchange<'_>, body: &[u8]) -> bool {
    let named = exchange.content_type.is_some_and(|kind| {
        let kind = kind.trim_start().to_ascii_lowercase();
        kind.starts_with("text/html")
    });
    named || body.starts_with(b"<")
}
