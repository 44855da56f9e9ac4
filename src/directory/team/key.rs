//! The fingerprint key if it is kept outside the database.

use zeroize::Zeroizing;

use crate::directory::{DirectoryError, TeamLocation, location::TeamFault};

type Key = Zeroizing<[u8; 32]>;

/// Reads the key if the configuration names a source for it. Blocks; must not be called on a thread of the async
/// runtime.
pub(in crate::directory) fn outside(team: &TeamLocation) -> Result<Option<Key>, DirectoryError> {
    let Some(source) = &team.fingerprint_key else {
        return Ok(None);
    };
    let refused = |why: String| DirectoryError::of_team(team, TeamFault::NoOutsideKey(why));
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build();
    let runtime = runtime.map_err(|why| refused(why.to_string()))?;
    let text = runtime.block_on(source()).map_err(refused)?;
    let key = parse(&text)
        .ok_or_else(|| refused("it is not a key: 64 hexadecimal digits are one".into()))?;
    Ok(Some(key))
}

fn parse(text: &[u8]) -> Option<Key> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut key = Zeroizing::new([0; 32]);
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(key)
}

pub(super) fn random() -> Result<Key, DirectoryError> {
    let mut key = Zeroizing::new([0; 32]);
    getrandom::fill(key.as_mut()).map_err(|_| DirectoryError::NoRandomness)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_64_hexadecimal_digits() {
        let text = "00ff".repeat(16);
        let key = parse(format!("{text}\n").as_bytes()).expect("a key");
        assert_eq!(key[..4], [0, 0xff, 0, 0xff]);
        for text in [
            "",
            &text[2..],
            &text.replace("ff", "fg"),
            &text.replace("ff", "+f"),
        ] {
            assert!(parse(text.as_bytes()).is_none(), "{text}");
        }
    }
}
