//! Bytes and values that may contain a token: their memory is wiped on drop. Copies made by HTTP, TLS and the kernel
//! are out of reach.

use std::{io, ops::Deref};

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use zeroize::{Zeroize, Zeroizing};

/// Bytes that are wiped.
pub(super) type Buffer = Zeroizing<Vec<u8>>;

/// JSON of a request, in as much room as it takes: a buffer that is moved leaves its old place unwiped, and all of it is
/// wiped in the end.
pub(super) fn json(request: &impl Serialize) -> Buffer {
    let written = |to: &mut dyn io::Write| {
        serde_json::to_writer(to, request).expect("a request of strings and JSON serialises");
    };
    let mut length = Length(0);
    written(&mut length);
    let mut body = with_capacity(length.0);
    written(&mut *body);
    body
}

/// Counts what is written, in bytes.
struct Length(usize);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The same bytes for those who share them; wiped when the last one is done.
pub(super) fn shared(bytes: Buffer) -> Bytes {
    Bytes::from_owner(bytes)
}

/// A buffer with capacity for a body of this length.
pub(super) fn with_capacity(length: usize) -> Buffer {
    Zeroizing::new(Vec::with_capacity(length))
}

/// Appends a chunk; if the buffer is too small, it is replaced and wiped. At most `most` bytes are allocated ahead.
pub(super) fn add(buffer: &mut Buffer, piece: &[u8], most: usize) {
    let length = buffer.len() + piece.len();
    if length > buffer.capacity() {
        let mut larger = with_capacity(length.max(most.min(2 * buffer.capacity())));
        larger.extend_from_slice(buffer);
        *buffer = larger;
    }
    buffer.extend_from_slice(piece);
}

/// A parsed answer; its texts are wiped on drop.
pub(super) struct ParsedAnswer(pub(super) Value);

impl Deref for ParsedAnswer {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl Drop for ParsedAnswer {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// The parser's depth limit bounds this recursion as well. Keys of objects cannot be wiped, and contain no secret.
fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(map) => map.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_buffer_keeps_everything_as_it_grows() {
        let mut buffer = Buffer::default();
        let mut all = Vec::new();
        for piece in [&b"a"[..], b"", b"bcd", &[7; 5000], b"e"] {
            add(&mut buffer, piece, 5_001);
            all.extend_from_slice(piece);
        }
        assert_eq!(*buffer, all);
        assert_eq!(buffer.capacity(), 5_005);
        assert_eq!(shared(buffer), all);
    }

    #[test]
    fn a_request_is_written_in_one_place() {
        let request = json!({"current_token": "x".repeat(9_000), "more": ["\n\u{1F980}", 7]});
        let body = super::json(&request);
        assert_eq!(*body, serde_json::to_vec(&request).expect("JSON"));
        assert_eq!(body.capacity(), body.len());
    }

    #[test]
    fn every_text_of_an_answer_is_wiped() {
        let mut value = json!({"user_group": {"token": "canary", "more": ["canary", 7, null]}});
        wipe(&mut value);
        assert_eq!(
            value,
            json!({"user_group": {"token": "", "more": ["", 7, null]}})
        );
    }
}
