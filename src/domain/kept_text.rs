//! What may be kept of a text that somebody typed in an editor and that was not used: all of it but tokens.

use super::pasted::{Shape, shape, suspicious_words};

/// A token of the service as `serve` makes it has this many hexadecimal digits; other runs of the same length go as well.
const DIGITS: usize = 64;

/// Each byte of a token becomes this one, so that the file of an editor keeps its structure.
const FILLER: u8 = b'x';

const NAME: &[u8] = b"\"token\"";

/// The bytes without tokens: without the value of each `"token"` of a pasted answer of the service, and without what has
/// the shape of a token. Also whether anything was taken out.
pub fn without_tokens(bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut kept = bytes.to_vec();
    let mut is_changed = false;
    let mut fill = |kept: &mut [u8], range: std::ops::Range<usize>| {
        is_changed |= !range.is_empty();
        kept[range].fill(FILLER);
    };
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(NAME) {
            at += NAME.len();
            let value = value(bytes, at);
            at = value.end;
            fill(&mut kept, value);
            continue;
        }
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit());
        let digits = digits.count();
        if digits >= DIGITS {
            fill(&mut kept, at..at + digits);
        }
        at += digits.max(1);
    }
    // Tokens of other shapes, and those in escapes.
    let mut start = 0;
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid();
        for word in suspicious_words(text).filter(|word| shape(word) == Some(Shape::Token)) {
            let begin = start + (word.as_ptr().addr() - text.as_ptr().addr());
            fill(&mut kept, begin..begin + word.len());
        }
        start += text.len() + chunk.invalid().len();
    }
    (kept, is_changed)
}

/// Where the value of a name that ends here stands: up to its closing quotation mark, or to the end of a line without one.
fn value(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == b':';
    let skipped = bytes[at..]
        .iter()
        .take_while(|byte| is_between(byte))
        .count();
    let is_quoted = bytes.get(at + skipped) == Some(&b'"');
    let start = at + skipped + usize::from(is_quoted);
    let ends: &[u8] = if is_quoted { b"\"\n" } else { b",}\n" };
    let length = bytes[start..]
        .iter()
        .take_while(|byte| !ends.contains(byte));
    start..start + length.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_taken_out_and_all_else_is_kept() {
        let hex = "6a21d2b4".repeat(8);
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
        for (text, kept) in [
            (
                r#"{"name": "Acme"}"#.to_owned(),
                r#"{"name": "Acme"}"#.to_owned(),
            ),
            (
                r#"{"token": "a-b c", "n": 1}"#.into(),
                r#"{"token": "xxxxx", "n": 1}"#.into(),
            ),
            ("{\"token\":\n\"ab".into(), "{\"token\":\n\"xx".into()),
            (r#""token" : null, 1"#.into(), r#""token" : xxxx, 1"#.into()),
            (format!("a {hex} b"), format!("a {} b", "x".repeat(64))),
            ("\"token\"".into(), "\"token\"".into()),
            (
                format!("é {jwt} b"),
                format!("é {} b", "x".repeat(jwt.len())),
            ),
        ] {
            let (found, is_changed) = without_tokens(text.as_bytes());
            assert_eq!(String::from_utf8_lossy(&found), kept);
            assert_eq!(is_changed, text != kept, "{text}");
        }
        let bytes = b"\xff\"token\":\"\xfe\"\xfd";
        assert_eq!(without_tokens(bytes).0, b"\xff\"token\":\"x\"\xfd");
    }
}
