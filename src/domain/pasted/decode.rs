//! Bytes to text, and escapes to what they stand for.

use unicode_normalization::char::decompose_compatible;
use zeroize::Zeroizing;

/// A line break that an escape stood for: it divides lines, but is not counted as one.
pub(super) const BREAK: char = '\u{2028}';
pub(super) const ESC: char = '\u{1b}';
/// Escapes inside escapes, as in a log of a log.
const ROUNDS: usize = 3;
/// Enough to tell text of two bytes per character.
const SAMPLE: usize = 4096;

/// The text of some bytes: UTF-16 with or without a mark, or UTF-8. What is neither becomes U+FFFD.
pub(super) fn text_of(bytes: &[u8]) -> Zeroizing<String> {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let zeros = |odd: usize| {
        let at = sample.iter().skip(odd).step_by(2);
        at.filter(|byte| **byte == 0).count() * 4 > sample.len()
    };
    match bytes {
        // Without a zero it has no sign of a token in two bytes: the mark is rubbish before other text.
        [0xff, 0xfe, rest @ ..] if rest.contains(&0) => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] if rest.contains(&0) => wide(rest, u16::from_be_bytes),
        _ if zeros(1) && is_likely(&wide(bytes, u16::from_le_bytes)) => {
            wide(bytes, u16::from_le_bytes)
        }
        _ if zeros(0) && is_likely(&wide(bytes, u16::from_be_bytes)) => {
            wide(bytes, u16::from_be_bytes)
        }
        _ => Zeroizing::new(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Bytes of two kinds, as in a log to which another program writes, become signs of all alphabets.
fn is_likely(text: &str) -> bool {
    let ascii = text.chars().filter(char::is_ascii).count();
    !text.contains('\0') && ascii * 2 > text.chars().count()
}

fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Zeroizing<String> {
    let second = |two: &[u8]| two.get(1).copied().unwrap_or_default();
    let units = bytes.chunks(2).map(|two| unit([two[0], second(two)]));
    let mut text = Zeroizing::new(String::with_capacity(bytes.len() * 2));
    text.extend(char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')));
    text
}

/// The text with its escapes resolved, those inside others too. As a mail, if it may be one.
pub(super) fn decoded(text: &str) -> Zeroizing<String> {
    rounds(text, is_quoted_printable(text))
}

/// As [`decoded`]; then, of what may be a mail, as if it were none: `=` at the end of a line may be that of a token.
pub(super) fn readings(text: &str) -> Vec<Zeroizing<String>> {
    let is_mail = is_quoted_printable(text);
    let mut all = vec![rounds(text, is_mail)];
    all.extend(is_mail.then(|| rounds(text, false)));
    all
}

fn rounds(text: &str, is_mail: bool) -> Zeroizing<String> {
    let mut now = once(text, is_mail);
    for _ in 1..ROUNDS {
        let next = once(&now, is_mail);
        if *next == *now {
            break;
        }
        now = next;
    }
    now
}

/// Whether `=XX` is an escape: of a mail, which has `=3D` for each `=` and breaks its lines with `=`. Asked of the text as it
/// was pasted: an escape may stand for `=` before the end of a line.
fn is_quoted_printable(text: &str) -> bool {
    ["=3D", "=\n", "=\r\n", "=C2=", "=C3=", "=E2="]
        .iter()
        .any(|sign| text.contains(sign))
}

fn once(text: &str, is_mail: bool) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::with_capacity(text.len() + 4));
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let found = match c {
            '\\' if ends_title(&out) => Some(('\\', usize::from(after.starts_with('\\')))),
            '\\' => backslash(after),
            '%' => percent(after),
            '=' if is_mail => quoted_printable(after, out.ends_with('=')),
            '&' => entity(after),
            '#' => of_syslog(after),
            '^' if after.starts_with('[') => Some((ESC, 1)),
            '^' if after.starts_with("M\n") => Some((' ', 1)),
            _ => None,
        };
        if let Some((meant, length)) = found {
            push(&mut out, meant);
            rest = &after[length..];
            continue;
        }
        push(&mut out, c);
        rest = after;
    }
    out
}

/// Whether a backslash behind this text ends a link or a title for the terminal: it is no escape of what follows.
fn ends_title(text: &str) -> bool {
    let before = text.strip_suffix(ESC);
    let begin = before.and_then(|before| before.rsplit_once(ESC));
    begin.is_some_and(|(_, title)| title.starts_with([']', 'P', '_', '^', 'X']))
}

/// Where signs begin that Unicode does not compare with ours, the first of ours, and their number: digits of Arabic,
/// Persian, Devanagari, Bengali, Thai; letters in brackets, and light ones in dark circles and squares.
const OTHERS: [(u32, char, u32); 9] = [
    (0x660, '0', 10),
    (0x6f0, '0', 10),
    (0x966, '0', 10),
    (0x9e6, '0', 10),
    (0xe50, '0', 10),
    (0x249c, 'a', 26),
    (0x1f110, 'A', 26),
    (0x1f150, 'A', 26),
    (0x1f170, 'A', 26),
];

/// Appends the ASCII signs that a typesetting program made another one of, or that somebody wrote in another alphabet.
fn push(out: &mut String, c: char) {
    let code = u32::from(c);
    match c {
        ..='\u{b1}' => return out.push(c),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' => return out.push('-'),
        '\u{241b}' => return out.push(ESC),
        _ => {}
    }
    let is_of = |(begin, _, count): &&(u32, char, u32)| (*begin..begin + count).contains(&code);
    if let Some((begin, first, _)) = OTHERS.iter().find(is_of) {
        let usual = char::from_u32(u32::from(*first) + code - begin);
        return out.push(usual.unwrap_or('\u{fffd}'));
    }
    // Ligatures, letters of formulas, in circles, wide ones. Without room for more, so that nothing is left unwiped.
    let (mut ascii, mut length) = ([0; 3], 0);
    decompose_compatible(c, |part| {
        if let Some(place) = ascii.get_mut(length) {
            *place = u8::try_from(part).unwrap_or_default();
        }
        length += 1;
    });
    let is_usual =
        |text: &&[u8]| text.iter().all(u8::is_ascii_alphanumeric) || matches!(text, [b'!'..=b'~']);
    let usual = ascii.get(..length).filter(is_usual);
    match usual.and_then(|usual| str::from_utf8(usual).ok()) {
        Some(usual) => out.push_str(usual),
        None => out.push(c),
    }
}

/// What a decoded number stands for. Control characters only divide, except those that begin a sequence.
fn meant(code: u32) -> char {
    match char::from_u32(code) {
        Some('\n' | '\r') => BREAK,
        Some(ESC) => ESC,
        Some(c) if c.is_ascii_control() => ' ',
        Some(c) => c,
        None => '\u{fffd}',
    }
}

/// A byte of a longer character is no character.
fn meant_byte(code: u32) -> char {
    if code < 0x80 { meant(code) } else { '\u{fffd}' }
}

/// A byte that an escape at the beginning of a text stands for, and the length of the escape.
pub(super) fn byte_escape(text: &str) -> Option<(u8, usize)> {
    let (code, length) = if let Some(rest) = text.strip_prefix('\\') {
        match rest.bytes().next()? {
            b'x' => (number(&rest[1..], 2, 16)?, 4),
            b'0'..=b'3' => (number(rest, 3, 8)?, 4),
            b'n' => (10, 2),
            b'r' => (13, 2),
            b't' => (9, 2),
            b'\\' | b'\'' | b'"' => (u32::from(rest.as_bytes()[0]), 2),
            _ => return None,
        }
    } else {
        let rest = text.strip_prefix("&#")?;
        let end = rest.bytes().take(6).position(|byte| byte == b';')?;
        let code = match rest[..end].strip_prefix(['x', 'X']) {
            Some(digits) => number(digits, digits.len(), 16)?,
            None => number(&rest[..end], end, 10)?,
        };
        (code, end + 3)
    };
    Some((u8::try_from(code).ok()?, length))
}

fn number(text: &str, digits: usize, radix: u32) -> Option<u32> {
    let digits = text.get(..digits)?;
    let is_number = digits.chars().all(|c| c.is_digit(radix));
    u32::from_str_radix(digits, radix)
        .ok()
        .filter(|_| is_number)
}

/// `{1b}`, the braces included.
fn braced(text: &str) -> Option<(char, usize)> {
    let inner = text.strip_prefix('{')?;
    let end = inner.find('}').filter(|end| (1..=6).contains(end))?;
    Some((meant(number(inner, end, 16)?), end + 2))
}

fn backslash(after: &str) -> Option<(char, usize)> {
    let c = after.chars().next()?;
    let rest = &after[c.len_utf8()..];
    let fixed =
        |digits: usize, mean: fn(u32) -> char| Some((mean(number(rest, digits, 16)?), 1 + digits));
    let in_braces = || braced(rest).map(|(c, length)| (c, 1 + length));
    match c {
        'n' | 'r' => Some((BREAK, 1)),
        'e' | 'E' => Some((ESC, 1)),
        'x' => in_braces().or_else(|| fixed(2, meant_byte)),
        'u' => in_braces().or_else(|| {
            let more = rest.chars().take_while(|c| *c == 'u').count();
            let (c, length) = of_two_bytes(&rest[more..])?;
            Some((c, 1 + more + length))
        }),
        'U' => fixed(8, meant),
        '0'..='9' => {
            let octal = number(after, 3, 8).filter(|_| c <= '3');
            let octal = octal.filter(|_| !after.starts_with("0000"));
            let octal = octal.map(|code| (meant_byte(code), 3));
            let zero = (c == '0').then_some((' ', 1));
            octal.or_else(|| of_style_sheet(after)).or(zero)
        }
        't' | 'f' | 'v' | 'b' | 'a' => Some((' ', 1)),
        c if c.is_ascii_punctuation() => Some((c, 1)),
        _ => None,
    }
}

/// `0039`, or a pair as `d835\\udfe1`.
fn of_two_bytes(text: &str) -> Option<(char, usize)> {
    let unit = number(text, 4, 16)?;
    let second = text[4..]
        .strip_prefix("\\u")
        .and_then(|text| number(text, 4, 16));
    match second.filter(|second| (0xdc00..0xe000).contains(second)) {
        Some(second) if (0xd800..0xdc00).contains(&unit) => {
            let code = 0x10000 + ((unit - 0xd800) << 10 | (second - 0xdc00));
            Some((meant(code), 10))
        }
        _ => Some((meant(unit), 4)),
    }
}

/// `39 ` or `000039`, as in style sheets: a blank ends it.
fn of_style_sheet(after: &str) -> Option<(char, usize)> {
    let digits = after.chars().take(6).take_while(char::is_ascii_hexdigit);
    let digits = digits.count();
    let code = number(after, digits, 16).filter(|_| digits > 1)?;
    let is_ended = after[digits..].starts_with(' ');
    let sign = meant(code);
    sign.is_ascii_graphic()
        .then_some((sign, digits + usize::from(is_ended)))
}

/// `011`, as rsyslog writes control characters.
fn of_syslog(after: &str) -> Option<(char, usize)> {
    let code = number(after, 3, 8).filter(|code| *code < 0x20)?;
    Some((meant(code), 3))
}

fn percent(after: &str) -> Option<(char, usize)> {
    if let Some(code) = after.strip_prefix('u') {
        return Some((meant(number(code, 4, 16)?), 5));
    }
    Some((meant_byte(number(after, 2, 16)?), 2))
}

/// `=3D`, and `=` at the end of a line that continues. A key and its value look alike, so only capital letters count.
fn quoted_printable(after: &str, is_padding: bool) -> Option<(char, usize)> {
    if after.starts_with('\n') || after.starts_with("\r\n") {
        return (!is_padding).then_some(('\u{200b}', 0));
    }
    let code = number(after, 2, 16)?;
    let is_upper = !after[..2].contains(|c: char| c.is_ascii_lowercase());
    let is_single = !after[2..].starts_with('=');
    (is_upper && (code < 0x80 || !is_single)).then(|| (meant_byte(code), 2))
}

fn entity(after: &str) -> Option<(char, usize)> {
    if let Some(code) = after.strip_prefix('#') {
        let (digits, radix, before) = match code.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16, 2),
            None => (code, 10, 1),
        };
        let count = digits.chars().take_while(|c| c.is_digit(radix)).count();
        let c = number(digits, count.min(7), radix).filter(|_| (1..=7).contains(&count))?;
        let end = usize::from(digits[count..].starts_with(';'));
        return Some((meant(c), before + count + end));
    }
    let end = after.find(';').filter(|end| *end <= 14)?;
    let c = match &after[..end] {
        "quot" => '"',
        "apos" => '\'',
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "nbsp" | "ensp" | "emsp" | "thinsp" | "Tab" => ' ',
        "NewLine" => BREAK,
        "shy" | "zwj" | "zwnj" | "ZeroWidthSpace" => '\u{200b}',
        "hyphen" | "dash" | "ndash" | "mdash" => '-',
        "lowbar" => '_',
        "sol" => '/',
        "equals" => '=',
        "plus" => '+',
        "period" => '.',
        "colon" => ':',
        _ => return None,
    };
    Some((c, end + 1))
}
