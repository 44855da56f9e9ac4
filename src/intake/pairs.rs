//! Pairs of a key and a value, as options and pasted lines have them: `40=213`, `40 = 213`. Blanks around both are
//! not part of them.

use super::signs;

/// The key of another pair in a value, behind a comma or semicolon, as in `213,41=5`. `signs` may stand between key and value.
pub fn second_key<'t>(value: &'t str, signs: &[&str]) -> Option<&'t str> {
    let mut parts = value.split([',', ';']).skip(1);
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
