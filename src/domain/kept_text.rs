//! What may be kept of a text that somebody typed in an editor and that was not used: all of it but tokens.

use std::{collections::HashSet, ops::Range};

use super::pasted::{Shape, shape, suspicious_words, words};

/// A token of the service as `serve` makes it has this many hexadecimal digits; other runs of the same length go as well.
const DIGITS: usize = 64;

/// Each byte of a token becomes this one, so that the file of an editor keeps its structure.
const FILLER: u8 = b'x';

const NAME: &[u8] = b"\"token\"";

/// Bytes that are looked up at once.
const AT_ONCE: usize = 32 * 1024;

/// The bytes without tokens: without the value of each `"token"` of a pasted answer of the service, and without words that have
/// the shape of a token, or of a part of one unless the editor was given them. Also whether anything was taken out.
pub fn without_tokens(bytes: &[u8], given: &str) -> (Vec<u8>, bool) {
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
    // Tokens of other shapes, those in escapes, and parts.
    let known: HashSet<_> = words(given).collect();
    let mut start = 0;
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid();
        let is_new = |word: &&str| shape(word) == Some(Shape::Token) || !known.contains(word);
        for word in suspicious_words(text).filter(is_new) {
            let begin = start + (word.as_ptr().addr() - text.as_ptr().addr());
            fill(&mut kept, begin..begin + word.len());
        }
        start += text.len() + chunk.invalid().len();
    }
    (kept, is_changed)
}

/// The same bytes without words that are a secret only together or in another form, as the fields of a group are read: in pieces,
/// over several lines, in base64. `is_secret` looks a text up. What the editor was given stays.
pub async fn without_secrets(
    bytes: &[u8],
    given: &str,
    is_secret: impl AsyncFn(&str) -> bool,
) -> Vec<u8> {
    let known: HashSet<_> = words(given).collect();
    let is_new = |word: &str| !known.contains(word);
    let is_secret = async |bytes: &[u8]| is_secret(&String::from_utf8_lossy(bytes)).await;
    let mut kept = bytes.to_vec();
    for part in parts(bytes) {
        let lines = lines(bytes, part.clone());
        for range in lines.iter().chain([&part]) {
            let text = String::from_utf8_lossy(&kept[range.clone()]).into_owned();
            let pieces = words(&text).filter(|word| is_new(word) && is_piece(word));
            if shape(&pieces.collect::<Vec<_>>().join(" ")).is_some() {
                fill_words(&mut kept[range.clone()], |word| {
                    is_new(word) && is_piece(word)
                });
            }
        }
        if !is_secret(&kept[part.clone()]).await {
            continue;
        }
        for line in lines {
            if is_secret(&kept[line.clone()]).await {
                fill_words(&mut kept[line], is_new);
            }
        }
        if is_secret(&kept[part.clone()]).await {
            fill_words(&mut kept[part], is_new);
        }
    }
    kept
}

/// Whether a word may be a piece of a token of hexadecimal digits. Digits alone are a number.
fn is_piece(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    word.len() >= 4
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

/// Whole lines that are looked up at once.
fn parts(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for line in lines(bytes, 0..bytes.len()) {
        match parts.last_mut() {
            Some(part) if line.end - part.start <= AT_ONCE => part.end = line.end,
            _ => parts.push(line),
        }
    }
    parts
}

/// The lines there, with their ends.
fn lines(bytes: &[u8], part: Range<usize>) -> Vec<Range<usize>> {
    let mut start = part.start;
    let lines = bytes[part].split_inclusive(|byte| *byte == b'\n');
    let lines = lines.map(|line| {
        let line = start..start + line.len();
        start = line.end;
        line
    });
    lines.collect()
}

/// Fills the letters and digits of these words.
fn fill_words(bytes: &mut [u8], is_it: impl Fn(&str) -> bool) {
    let read = bytes.to_vec();
    let is_of_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_\\".contains(byte) || !byte.is_ascii();
    let mut start = 0;
    for chunk in read.utf8_chunks() {
        let text = chunk.valid();
        for word in words(text).filter(|word| is_it(word)) {
            let begin = start + (word.as_ptr().addr() - text.as_ptr().addr());
            let word = bytes[begin..begin + word.len()].iter_mut();
            word.filter(|byte| is_of_word(byte))
                .for_each(|byte| *byte = FILLER);
        }
        start += text.len() + chunk.invalid().len();
    }
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
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

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
            let (found, is_changed) = without_tokens(text.as_bytes(), "");
            assert_eq!(String::from_utf8_lossy(&found), kept);
            assert_eq!(is_changed, text != kept, "{text}");
        }
        let bytes = b"\xff\"token\":\"\xfe\"\xfd";
        assert_eq!(without_tokens(bytes, "").0, b"\xff\"token\":\"x\"\xfd");
    }

    /// The result of a future that waits for nothing.
    fn at_once<F: Future>(future: F) -> F::Output {
        let mut context = Context::from_waker(Waker::noop());
        match pin!(future).poll(&mut context) {
            Poll::Ready(result) => result,
            Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn parts_and_other_forms_of_a_token_are_taken_out() {
        let token = "6a21d2b4c07f39e5".repeat(4);
        let pieces: Vec<_> = token
            .as_bytes()
            .chunks(8)
            .map(String::from_utf8_lossy)
            .collect();
        let secret = "NmEyMWQyYjRjMDdmMzllNQ";
        for typed in [
            format!("{} {}", &token[..30], &token[30..]),
            format!("{}\n  {}", &token[..32], &token[32..]),
            token[..40].to_owned(),
            pieces.join(" "),
            pieces.join("\n"),
            secret.to_owned(),
            format!("{}\n{}", &secret[..9], &secret[9..]),
        ] {
            let text = format!("{{\n\"name\": \"Acme {typed}\"\n}}\n");
            let (kept, _) = without_tokens(text.as_bytes(), "{\"name\": \"Acme\"}");
            let joined = |text: &str| text.replace('\n', "");
            let is_secret = async |text: &str| joined(text).contains(secret);
            let kept = at_once(without_secrets(&kept, "{\"name\": \"Acme\"}", is_secret));
            let kept = String::from_utf8(kept).expect("text");
            assert!(kept.contains("\"name\": \"Acme xx"), "{kept}");
            let mut words = typed.split_whitespace();
            assert!(!words.any(|word| kept.contains(word)), "{typed}: {kept}");
        }
        // Numbers are no token, however many there are.
        let rows: Vec<_> = (4001..4017)
            .map(|row| format!("\"{row}\": \"2131\""))
            .collect();
        let text = format!(
            "{{\"name\": \"New name\", \"mapping\": {{{}}}}}",
            rows.join(",\n")
        );
        let kept = at_once(without_secrets(text.as_bytes(), "", async |_: &str| false));
        assert_eq!(String::from_utf8_lossy(&kept), text);
        // A text that is not UTF-8 loses its pieces only.
        let text = [b"Caf\xe9 ".as_slice(), pieces.join(" ").as_bytes()].concat();
        let kept = at_once(without_secrets(&text, "", async |_: &str| false));
        assert_eq!((&kept[..5], &kept[5..9]), (&b"Caf\xe9 "[..], &b"xxxx"[..]));
        let id = "507f1f77bcf86cd799439011";
        let text = format!("{{\"user_group_id\": \"{id}\", \"name\": \"New name\"}}");
        let (kept, is_changed) = without_tokens(text.as_bytes(), id);
        assert!(!is_changed);
        let nothing = async |_: &str| false;
        assert_eq!(
            at_once(without_secrets(&kept, id, nothing)),
            text.as_bytes()
        );
    }
}
