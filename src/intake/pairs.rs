//! Pairs of a key and a value, as options and pasted lines have them: `40=213`, `40 = 213`. Blanks around both are
//! not part of them.

use super::signs;

/// Characters that an id next to the sign of a pair does not begin or end with: there they belong to an unknown arrow.
const NO_ID: [char; 5] = ['=', '<', '>', ':', '|'];

/// Whether the two sides of a sign end and begin with other parts of an arrow: `7 ==> 50`.
pub fn is_torn(key: &str, value: &str) -> bool {
    key.ends_with(NO_ID) || key.ends_with('-') || value.starts_with(NO_ID)
}

/// The key of a second pair behind a value of one word: `213 41=5`.
pub fn key_behind_word(value: &str) -> Option<&str> {
    let (word, rest) = value.split_once(char::is_whitespace)?;
    let key = rest.split_once('=')?.0.trim();
    let is_plain = |text: &str| {
        let is_other = |c: char| c.is_whitespace() || ",;\"/?=:".contains(c);
        !text.is_empty() && !text.contains(is_other)
    };
    (is_plain(word) && is_plain(key)).then_some(key)
}

/// The key of another pair in a value, behind a comma, semicolon or line end, as in `213,41=5`, or behind a word. `signs` may
/// stand between key and value.
pub fn second_key<'t>(value: &'t str, signs: &[&str]) -> Option<&'t str> {
    if let Some(key) = key_behind_word(value) {
        return Some(key);
    }
    let mut parts = value.split([',', ';', '\n', '\r']).skip(1);
    parts.find_map(|part| {
        let ends = signs.iter().filter_map(|sign| part.find(sign));
        let key = part[..ends.min()?].trim();
        let is_key = !key.is_empty() && !key.contains(|c: char| c.is_whitespace() || c == '"');
        is_key.then_some(key)
    })
}

/// Splits at the first `=`. Both sides must be there.
pub fn pair(text: &str) -> Result<(&str, &str), String> {
    let named = |(column, sign)| format!("column {column}: {sign}");
    let Some((key, value)) = text.split_once('=') else {
        // A sign that only looks like one, or quotes of a word processor.
        let sign = signs::first(text).map(named);
        return Err(sign.unwrap_or_else(|| "it has no =".to_owned()));
    };
    let (key, value) = (key.trim(), value.trim());
    let is_arrow = ["->", "=>", "→", "\n", "\r", "\t"]
        .iter()
        .any(|arrow| key.contains(arrow));
    if !key.is_empty() && (is_arrow || is_torn(key, value)) {
        return Err("write one = between key and value".to_owned());
    }
    let key = unquoted(key);
    if key.is_empty() {
        return Err("there is nothing before the =".to_owned());
    }
    if value.is_empty() {
        return Err("there is nothing after the =".to_owned());
    }
    match signs::first(key).map(named) {
        Some(wrong) => Err(wrong),
        None => Ok((key, value)),
    }
}

/// Without the pair of quotes around it that a shell did not remove.
pub fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let inner = inner('"').or_else(|| inner('\''));
    let inner = inner.filter(|inner| !inner.contains(['"', '\'']));
    inner.map_or(text, str::trim)
}
