//! Finds secrets in a text: verbatim, encoded, and after names that denote secrets. The callers decide what to do with
//! them.

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

/// Lower-casing ASCII keeps every byte position, so positions found in the copy are valid in the text itself.
pub(super) fn replace_secret(text: &str, secret: &str, hidden: &str) -> String {
    let (low, wanted) = (text.to_ascii_lowercase(), secret.to_ascii_lowercase());
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in low.match_indices(&wanted) {
        kept.push_str(&text[from..at]);
        kept.push_str(hidden);
        from = at + wanted.len();
    }
    kept.push_str(&text[from..]);
    kept
}

/// With something else in the place of every run of hex digits that is as long as a token, unless it `may_stay`.
pub(super) fn replace_hex_runs(
    text: &str,
    hidden: &str,
    may_stay: impl Fn(&str) -> bool,
) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        kept.push_str(&rest[..start]);
        let run = &rest[start..];
        let is_over = |c: char| !c.is_ascii_hexdigit();
        let (hex, after) = run.split_at(run.find(is_over).unwrap_or(run.len()));
        let is_token = hex.len() >= TOKEN_LIKE && !may_stay(hex);
        kept.push_str(if is_token { hidden } else { hex });
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The text with its escapes resolved, in every way that makes another text of it.
pub(super) fn decoded_variants(text: &str) -> impl Iterator<Item = String> {
    let ways = [
        decoded(text, "%", 2, 16),
        decoded(text, "\\u", 4, 16),
        decoded(text, "&#x", 0, 16),
        decoded(text, "&#", 0, 10),
        text.replace("\\\"", "\"").replace("\\\\", "\\"),
    ];
    ways.into_iter().filter(move |plain| plain != text)
}

/// Resolves escapes such as `%63`, `\u0063` or `&#99;` that encode ASCII. Without a number of `digits` there are any, and
/// a semicolon ends them.
fn decoded(text: &str, before: &str, digits: usize, radix: u32) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(before) {
        plain.push_str(&rest[..at]);
        let code = &rest[at + before.len()..];
        let end = || {
            code.find(|c: char| !c.is_digit(radix))
                .unwrap_or(code.len())
        };
        let length = if digits > 0 { digits } else { end() };
        let number = code
            .get(..length)
            .and_then(|code| u8::from_str_radix(code.trim_start_matches('0'), radix).ok());
        if let Some(byte) = number.filter(u8::is_ascii) {
            plain.push(char::from(byte));
            rest = &code[length..];
            if digits == 0 {
                rest = rest.strip_prefix(';').unwrap_or(rest);
            }
        } else {
            plain.push_str(before);
            rest = code;
        }
    }
    plain.push_str(rest);
    plain
}

/// Hides what follows `"token": "` and `token=`, even if it is not terminated.
pub(super) fn mask_after_names(text: &str) -> String {
    let low = text.to_ascii_lowercase();
    // Cache the next occurrence of each word, so that the text is searched only once for each.
    let next = |word: &str, from: usize| low[from..].find(word).map(|at| from + at + word.len());
    let mut ends = SECRET_WORDS.map(|word| next(word, 0));
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    loop {
        for (end, word) in ends.iter_mut().zip(SECRET_WORDS) {
            if end.is_some_and(|end| end < from + word.len()) {
                *end = next(word, from);
            }
        }
        let Some(found) = ends.iter().flatten().min().copied() else {
            break;
        };
        let rest = &text[found..];
        let name = rest
            .find(|c: char| !(c.is_alphanumeric() || "_-".contains(c)))
            .unwrap_or(rest.len());
        let separator = &rest[name..];
        let value = separator
            .find(|c: char| !"\"'\\ \t\r\n:=>".contains(c))
            .unwrap_or(separator.len());
        let between = &separator[..value];
        let value_at = found + name + value;
        kept.push_str(&text[from..value_at]);
        from = value_at;
        if !between.contains([':', '=']) {
            continue;
        }
        let is_quoted = between.trim_end_matches('\\').ends_with(['"', '\'']);
        let rest = &text[value_at..];
        let end = if is_quoted {
            rest.find(['"', '\'', '\\']).unwrap_or(rest.len())
        } else {
            rest.find(|c: char| c.is_whitespace() || "\"'<>&,;}])\\".contains(c))
                .unwrap_or(rest.len())
        };
        let word = &rest[..end];
        // Prose such as `current_token: this field is required` stays.
        let is_secret = is_quoted
            || word.len() >= 20
            || word.len() >= SHORTEST && word.contains(|c: char| c.is_ascii_digit());
        if is_secret && !word.is_empty() && !word.starts_with(MASK) {
            kept.push_str(MASK);
            from = value_at + end;
        }
    }
    kept.push_str(&text[from..]);
    kept
}
