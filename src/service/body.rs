//! Request bodies: at most 1 MiB, within a time limit, of a single media type.

use std::time::Duration;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, header},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

use super::{admission::single_value, refusal::Refusal};

/// Maximum size of a body, in bytes: 1 MiB.
pub(super) const LARGEST: usize = 1 << 20;

/// Reads a whole body; replaces it by an empty one.
pub(super) async fn read(body: &mut Body, time: Duration) -> Result<Bytes, Refusal> {
    let collected = timeout(time, Limited::new(&mut *body, LARGEST).collect()).await;
    let collected = collected.map_err(|_| Refusal::SlowBody)?;
    let bytes = collected.map_err(|error| {
        if error.is::<LengthLimitError>() {
            Refusal::TooLarge
        } else {
            Refusal::BrokenBody
        }
    })?;
    *body = Body::empty();
    Ok(bytes.to_bytes())
}

/// Accepts `application/json`, with `charset=utf-8` or no charset, and without content encoding.
pub(super) fn check_type(headers: &HeaderMap) -> Result<(), Refusal> {
    const WANTED: &str = "the Content-Type must be application/json";
    if !single_value(headers, &header::CONTENT_TYPE).is_some_and(is_json) {
        return Err(Refusal::MediaType(WANTED));
    }
    let coded = |coding: &HeaderValue| !coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get_all(header::CONTENT_ENCODING).iter().any(coded) {
        return Err(Refusal::MediaType(
            "the body must not have a Content-Encoding",
        ));
    }
    Ok(())
}

fn is_json(media_type: &HeaderValue) -> bool {
    let Ok(text) = media_type.to_str() else {
        return false;
    };
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    essence.eq_ignore_ascii_case("application/json")
        && parts.all(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            !name.trim().eq_ignore_ascii_case("charset")
                || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_or_without_its_charset_and_nothing_else() {
        for (text, good) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json;charset=\"utf-8\"", true),
            ("application/json; charset=latin1", false),
            ("application/jsonx", false),
            ("application/x-www-form-urlencoded", false),
            ("text/plain", false),
            ("", false),
        ] {
            let value = HeaderValue::from_str(text).expect("a header");
            assert_eq!(is_json(&value), good, "{text}");
        }
    }
}
