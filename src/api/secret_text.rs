//! Finds secrets in a text: verbatim, encoded, and after names that denote secrets. The callers decide what to do with
//! them.

use std::ops::Range;

use crate::domain::pasted::encoded::base64;

/// Replaces a secret.
pub const MASK: &str = "****";
/// Shorter texts are never secrets, except after a name that denotes one.
pub(super) const SHORTEST: usize = 4;
/// Words in names that denote secrets.
const SECRET_WORDS: [&str; 8] = [
    "token",
    "secret",
    "passw",
    "api_key",
    "apikey",
    "api-key",
    "authorization",
    "credential",
];
/// A run of hex digits this long is taken for a token.
const TOKEN_LIKE: usize = 32;
pub(super) const ENCODED_SECRET: &str = "(not shown: it contains a secret in disguise)";

pub(super) fn names_a_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| key.contains(word))
}

/// The text with something else in the place of these parts, which are in order and apart.
fn replaced<S: AsRef<str>>(text: &str, parts: impl Iterator<Item = (Range<usize>, S)>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (part, by) in parts {
        kept.push_str(&text[from..part.start]);
        kept.push_str(by.as_ref());
        from = part.end;
    }
    kept.push_str(&text[from..]);
    kept
}

/// Lower-casing ASCII keeps every byte position, so positions found in the copy are valid in the text itself.
pub(super) fn replace_secret(text: &str, secret: &str, hidden: &str) -> String {
    let (low, wanted) = (text.to_ascii_lowercase(), secret.to_ascii_lowercase());
    let found = low.match_indices(&wanted);
    replaced(text, found.map(|(at, _)| (at..at + wanted.len(), hidden)))
}

/// With something else in the place of every run of hex digits that is as long as a token, unless it `may_stay`.
pub(super) fn replace_hex_runs(
    text: &str,
    hidden: &str,
    may_stay: impl Fn(&str) -> bool,
) -> String {
    let mut end = 0;
    let is_alike = |a: &u8, b: &u8| a.is_ascii_hexdigit() == b.is_ascii_hexdigit();
    let runs = text.as_bytes().chunk_by(is_alike);
    let tokens = runs.filter_map(|run| {
        let start = end;
        end += run.len();
        let is_long = run.len() >= TOKEN_LIKE && run[0].is_ascii_hexdigit();
        (is_long && !may_stay(&text[start..end])).then_some((start..end, hidden))
    });
    replaced(text, tokens)
}

/// The text with its escapes resolved, in every way that makes another text of it.
pub(super) fn decoded_variants(text: &str) -> impl Iterator<Item = String> {
    let ways = [
        decoded(text, "%", 2, 16),
        decoded(text, "\\u", 4, 16),
        decoded(text, "&#x", 0, 16),
        decoded(text, "&#", 0, 10),
        text.replace("\\\"", "\"").replace("\\\\", "\\"),
        from_base64(text).unwrap_or_else(|| text.to_owned()),
    ];
    ways.into_iter().filter(move |plain| plain != text)
}

/// The words of a text that are base64 of a text, decoded; `None` if there are none.
fn from_base64(text: &str) -> Option<String> {
    let is_other = |c: char| !c.is_ascii_alphanumeric() && !"+/-_".contains(c);
    let words = text.split(is_other).filter(|word| word.len() > SHORTEST);
    let plain = words.filter_map(|word| {
        let bytes = base64(word).filter(|bytes| bytes.is_ascii())?;
        Some(bytes.iter().copied().map(char::from).collect::<String>())
    });
    plain.reduce(|all, word| format!("{all} {word}"))
}

/// Resolves escapes such as `%63`, `\u0063` or `&#99;` that encode ASCII. Without a number of `digits` there are any, and
/// a semicolon ends them.
fn decoded(text: &str, before: &str, digits: usize, radix: u32) -> String {
    let escapes = text.match_indices(before).filter_map(|(at, _)| {
        let start = at + before.len();
        let code = &text[start..];
        let is_over = |c: char| !c.is_digit(radix);
        let any = || code.find(is_over).unwrap_or(code.len());
        let length = if digits > 0 { digits } else { any() };
        let number = code.get(..length)?.trim_start_matches('0');
        let byte = u8::from_str_radix(number, radix).ok();
        let byte = byte.filter(u8::is_ascii)?;
        let is_closed = digits == 0 && code[length..].starts_with(';');
        let end = start + length + usize::from(is_closed);
        Some((at..end, char::from(byte).to_string()))
    });
    replaced(text, escapes)
}

/// Hides what follows `"token": "` and `token=`, even if it is not terminated.
pub(super) fn mask_after_names(text: &str) -> String {
    let low = text.to_ascii_lowercase();
    // Cache the next occurrence of each word, so that the text is searched only once for each.
    let next = |word: &str, from: usize| low[from..].find(word).map(|at| from + at + word.len());
    let mut ends = SECRET_WORDS.map(|word| next(word, 0));
    let mut from = 0;
    let next_value = || {
        loop {
            for (end, word) in ends.iter_mut().zip(SECRET_WORDS) {
                if end.is_some_and(|end| end < from + word.len()) {
                    *end = next(word, from);
                }
            }
            let name = ends.iter().flatten().min().copied()?;
            let is_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
            let between = text[name..].trim_start_matches(is_name);
            let rest = between.trim_start_matches(|c| "\"'\\ \t\r\n:=>".contains(c));
            let between = &between[..between.len() - rest.len()];
            from = text.len() - rest.len();
            if !between.contains([':', '=']) {
                continue;
            }
            let is_quoted = between.trim_end_matches('\\').ends_with(['"', '\'']);
            let is_end = |c: char| {
                "\"'\\".contains(c) || !is_quoted && (c.is_whitespace() || "<>&,;}])".contains(c))
            };
            let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
            // Prose such as `current_token: this field is required` stays.
            let is_secret = is_quoted
                || word.len() >= 20
                || word.len() >= SHORTEST && word.contains(|c: char| c.is_ascii_digit());
            if is_secret && !word.is_empty() && !word.starts_with(MASK) {
                let start = from;
                from += word.len();
                return Some((start..from, MASK));
            }
        }
    };
    replaced(text, std::iter::from_fn(next_value))
}
