//! Replies of the terminal to queries (OSC): the background colour is reported, every other reply is ignored, and none
//! is ever taken for typed text.

use super::Parsed;

/// Parses what follows `ESC ]`, up to BEL or `ESC \`.
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    match bytes {
        [first, ..] if !first.is_ascii_digit() => Parsed::Nothing,
        [answer @ .., b'\x07'] | [answer @ .., b'\x1b', b'\\'] => {
            Parsed::Answer(background(answer))
        }
        [] | [.., b'\x1b' | 0x20..=0x7e] => Parsed::Incomplete,
        _ => Parsed::Nothing,
    }
}

/// Parses `11;rgb:1e1e/1e1e/1e1e` with one to four digits per part; some terminals add the opacity.
fn background(answer: &[u8]) -> Option<(u8, u8, u8)> {
    let text = std::str::from_utf8(answer).ok()?.strip_prefix("11;")?;
    let digits = text.strip_prefix("rgba:").or(text.strip_prefix("rgb:"))?;
    let mut parts = digits.split('/').map(part);
    let colour = (parts.next()??, parts.next()??, parts.next()??);
    parts.all(|part| part.is_some()).then_some(colour)
}

/// Scales one part of a colour to 0..=255.
fn part(digits: &str) -> Option<u8> {
    let most = match digits.len() {
        length @ 1..=4 => (1_u32 << (4 * length)) - 1,
        _ => return None,
    };
    let value = u32::from_str_radix(digits, 16).ok()?;
    u8::try_from(value * 255 / most).ok()
}
