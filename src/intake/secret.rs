//! Secrets from files, variables and commands: the first line, without a byte order mark. Nothing of it appears in an
//! error, and every copy is zeroed.

use zeroize::Zeroizing;

/// The text of a secret file: bytes without their byte order mark, UTF-16 as UTF-8. What cannot be decoded stays.
pub fn plain(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let (is_big, units) = match bytes {
        [0xff, 0xfe, rest @ ..] => (false, rest),
        [0xfe, 0xff, rest @ ..] => (true, rest),
        _ => {
            let rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            return Zeroizing::new(rest.to_vec());
        }
    };
    // One unit never becomes more than three bytes, so no copy is left behind by growing.
    let mut plain = Zeroizing::new(Vec::with_capacity(units.len() * 2));
    let units = units.chunks_exact(2).map(|pair| {
        let pair = [pair[0], pair[1]];
        if is_big {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        }
    });
    for letter in char::decode_utf16(units) {
        let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
        let mut buffer = Zeroizing::new([0; 4]);
        plain.extend_from_slice(letter.encode_utf8(&mut *buffer).as_bytes());
    }
    plain
}

/// The first line, whatever ends it.
pub fn first_line(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let plain = plain(bytes);
    let line = plain.split(|byte| matches!(byte, b'\n' | b'\r')).next();
    Zeroizing::new(line.unwrap_or_default().to_vec())
}

/// What a configuration puts around a key. Nothing of the line is shown.
pub fn around(line: &[u8]) -> Option<&'static str> {
    let [first, .., last] = line else {
        return None;
    };
    if first == last && matches!(first, b'"' | b'\'') {
        return Some("in quotes");
    }
    if matches!(first, b'{' | b'[') {
        return Some("JSON");
    }
    let equals = line.iter().position(|byte| *byte == b'=')?;
    let (name, value) = line.split_at(equals);
    // A key may end with signs of equality.
    let has_value = value.iter().any(|byte| *byte != b'=');
    let is_capital = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'0'..=b'9');
    let is_word = name
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_of_key = name
        .last_chunk::<3>()
        .is_some_and(|end| end.eq_ignore_ascii_case(b"key"));
    let is_name =
        first.is_ascii_alphabetic() && (name.iter().all(is_capital) || is_word && is_of_key);
    (is_name && has_value).then_some("an assignment, such as NAME=KEY")
}

/// Where a character stands that no key has, in words: ` (column 3: U+00A0)`. `None` for printable ASCII without spaces.
/// Nothing else of the line is shown.
pub fn first_unusual(line: &[u8]) -> Option<String> {
    let at = line.iter().position(|byte| !byte.is_ascii_graphic())?;
    let valid = line.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let sign = valid.get(at..).and_then(|rest| rest.chars().next());
    let sign = sign.map_or_else(
        || format!("the byte 0x{:02X}", line[at]),
        |sign| match sign {
            ' ' => "a space".to_owned(),
            sign => format!("U+{:04X}", u32::from(sign)),
        },
    );
    // Everything before it is ASCII.
    Some(format!(" (column {}: {sign})", at + 1))
}
