//! Replaces what differs between runs on a screen: ports, fingerprints, tokens, latencies. Every replacement has the
//! same width as the original, so that nothing moves.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;

/// As wide as `127.0.0.1:40123`.
const HOST: &str = "api.example.com";
/// Replacements for fingerprints, in the order in which a screen shows them.
const FINGERPRINTS: [&str; 10] = [
    "3fa9c1d2", "90b1e772", "c04d51aa", "5e07b3f9", "a61c8d24", "17fe30cb", "d2984e6f", "8b35a07c",
    "f40916be", "6c7de851",
];
const TOKEN: &str = "5d1fe0c7a94b36281de7f09ab3c485e6217f60d9ce8b53a40912fd76b8e34ca1";

/// The screen with everything replaced.
pub(crate) fn steady(screen: &Buffer) -> Buffer {
    let mut steady = screen.clone();
    let mut seen = BTreeMap::new();
    for y in 0..screen.area.height {
        // One character per cell; characters that are not ASCII are never part of a searched text.
        let cells = (0..screen.area.width).map(|x| {
            let mut signs = screen[(x, y)].symbol().chars();
            match (signs.next(), signs.next()) {
                (Some(sign), None) if sign.is_ascii() => sign,
                _ => '\u{fffd}',
            }
        });
        let mut row: Vec<char> = cells.collect();
        let before = row.clone();
        hosts(&mut row);
        latencies(&mut row);
        hexadecimals(&mut row, &mut seen);
        for (x, (new, old)) in row.iter().zip(&before).enumerate() {
            if new != old {
                steady[(x as u16, y)].set_char(*new);
            }
        }
    }
    steady
}

fn put(row: &mut [char], at: usize, text: &str) {
    for (cell, sign) in row[at..].iter_mut().zip(text.chars()) {
        *cell = sign;
    }
}

/// The position of a text in a row.
fn find(row: &[char], text: &str, from: usize) -> Option<usize> {
    let text: Vec<char> = text.chars().collect();
    let windows = row.windows(text.len()).enumerate().skip(from);
    windows
        .into_iter()
        .find(|(_, window)| *window == text)
        .map(|(at, _)| at)
}

fn hosts(row: &mut [char]) {
    let mut from = 0;
    while let Some(at) = find(row, "127.0.0.1:", from) {
        let port = digits(&row[at + 10..]);
        // In a narrow window the address may be cut; the visible part is replaced anyway.
        put(row, at, &HOST[..10 + port.min(5)]);
        from = at + 10;
    }
}

fn digits(row: &[char]) -> usize {
    row.iter().take_while(|sign| sign.is_ascii_digit()).count()
}

/// Changes `200 12ms` and `responded 200 in 12 ms` to 7 ms, without moving anything around them.
fn latencies(row: &mut [char]) {
    for (before, after) in [("responded 200 in ", " ms"), ("200 ", "ms")] {
        let Some(at) = find(row, before, 0) else {
            continue;
        };
        let number = at + before.len();
        let count = digits(&row[number..]);
        if count == 0 || find(row, after, number + count) != Some(number + count) {
            continue;
        }
        // In line 1 the text ends at the edge; elsewhere it follows its value.
        let (left, right) = match before {
            "200 " => (count - 1, 0),
            _ => (0, count - 1),
        };
        put(
            row,
            at,
            &format!("{:left$}{before}7{after}{:right$}", "", ""),
        );
    }
}

fn hexadecimals(row: &mut [char], seen: &mut BTreeMap<String, usize>) {
    let mut at = 0;
    while at < row.len() {
        let is_word = |sign: &char| sign.is_ascii_alphanumeric();
        let length = row[at..].iter().take_while(|sign| is_word(sign)).count();
        let word: String = row[at..at + length].iter().collect();
        let is_hexadecimal = word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
        if is_hexadecimal && length == 8 {
            let next = seen.len();
            let index = *seen.entry(word).or_insert(next);
            put(row, at, FINGERPRINTS[index % FINGERPRINTS.len()]);
        } else if is_hexadecimal && length == TOKEN.len() {
            put(row, at, TOKEN);
        }
        at += length.max(1);
    }
}

#[test]
fn varying_parts_are_replaced_in_place() {
    let screen = |host: &str, latency: &str, one: &str, other: &str| {
        let rows = [
            format!("{host:<20}{:>12}", format!("200 {latency}ms")),
            format!("{one} -> {other} {:>11}", ""),
            format!("{:<30} │", format!("responded 200 in {latency} ms")),
            format!("{} x", one.repeat(8)),
        ];
        steady(&Buffer::with_lines(rows))
    };
    let a = screen("127.0.0.1:40123", "7", "0badcafe", "12345678");
    let b = screen("127.0.0.1:50999", "123", "aaaaaaaa", "00000000");
    assert_eq!(a, b);
    let text = crate::support::console::text_of(&a);
    assert!(text.contains("api.example.com"), "{text}");
    assert!(text.contains("3fa9c1d2 -> 90b1e772"), "{text}");
    assert!(text.contains(TOKEN), "{text}");
}
