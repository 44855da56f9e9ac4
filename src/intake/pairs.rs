//! Pairs of a key and a value, as options and pasted lines have them: `40=213`, `40 = 213`. Blanks around both are
//! not part of them.

use super::signs;

/// Why a text is not a pair.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPair {
    #[error("it has no =")]
    NoSeparator,
    #[error("there is nothing before the =")]
    NoKey,
    #[error("there is nothing after the =")]
    NoValue,
    #[error("column {0}: {1}")]
    Sign(usize, String),
}

/// Splits at the first `=`. Both sides must be there.
pub fn pair(text: &str) -> Result<(&str, &str), NoPair> {
    let Some((key, value)) = text.split_once('=') else {
        // A sign that only looks like one, or quotes of a word processor.
        return Err(match signs::first(text) {
            Some((column, sign)) => NoPair::Sign(column, sign),
            None => NoPair::NoSeparator,
        });
    };
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() {
        return Err(NoPair::NoKey);
    }
    if value.is_empty() {
        return Err(NoPair::NoValue);
    }
    if let Some((column, sign)) = signs::first(key) {
        return Err(NoPair::Sign(column, sign));
    }
    Ok((key, value))
}
