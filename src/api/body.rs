//! Parses the body of an answer as strict JSON: what could be read in two ways is rejected, and so is what would take
//! many times its size in memory.

use super::{answer::ambiguous::AmbiguousKind, zeroizing::ParsedAnswer};
use crate::{
    domain::size::MAX_ANSWER_VALUES,
    formats::strict_json::{self, JsonError},
};

/// `body` is complete and decompressed.
pub(super) fn parse(
    content_type: Option<&str>,
    body: &[u8],
) -> Result<ParsedAnswer, AmbiguousKind> {
    // RFC 8259, section 8.1: a parser may ignore a byte order mark.
    let body = body
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(body)
        .trim_ascii();
    if body.is_empty() {
        return Err(AmbiguousKind::Empty);
    }
    // Only the position of what is wrong: serde's messages quote values (trap 9).
    let read = strict_json::parse_untrusted(body, MAX_ANSWER_VALUES).map(ParsedAnswer);
    read.map_err(|wrong| match wrong {
        JsonError::NotJson { .. } if is_page(content_type, body) => AmbiguousKind::WebPage,
        wrong => AmbiguousKind::Json(wrong),
    })
}

fn is_page(content_type: Option<&str>, body: &[u8]) -> bool {
    let named = content_type.is_some_and(|kind| {
        let kind = kind.trim_start().to_ascii_lowercase();
        kind.starts_with("text/html")
    });
    named || body.starts_with(b"<")
}
