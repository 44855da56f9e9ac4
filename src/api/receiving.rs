//! Receives the bytes of an answer, as far as they arrive and up to the limit.

use reqwest::header::{self, HeaderMap};

use super::zeroizing::{self, Buffer};
use crate::domain::size::MAX_ANSWER_BYTES;

/// The announced length of the body if it is within the limit; 0 if it is not announced.
pub(super) fn announced(response: &reqwest::Response) -> usize {
    let length = response.content_length().unwrap_or(0);
    let length = usize::try_from(length).ok();
    let length = length.filter(|length| *length <= MAX_ANSWER_BYTES);
    length.unwrap_or(0)
}

/// Reads the body as far as it arrives; `false` if it is too large. The body of a redirect is not read.
pub(super) async fn read(
    response: &mut reqwest::Response,
    body: &mut Buffer,
) -> Result<bool, reqwest::Error> {
    if response.status().is_redirection() {
        return Ok(true);
    }
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Ok(false);
        }
        zeroizing::add(body, &chunk, MAX_ANSWER_BYTES);
    }
    Ok(true)
}

pub(super) fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
