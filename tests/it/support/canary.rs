//! Secrets in every form in which they could appear: any twelve of their characters, as they are, reversed, in hex, in
//! base64, escaped for JSON or for a URL.

use std::{collections::HashMap, fmt::Write};

/// How many characters in a row count as a find.
const LENGTH: usize = 12;

/// An API key with characters that every encoding changes.
pub(crate) const KEY: &str = "kAy/7f3+91e=0c\"4d8b&265Zq";
/// The key of a profile that is never used.
pub(crate) const OTHER_KEY: &str = "0tH\"er+Key/5b1e=0c77&9a3dXw";
/// The key that a command prints, and the one in a file.
pub(crate) const TOLD_KEY: &str = "T0ld/K\"ey=c81d+22f7&aa90Lm";
pub(crate) const FILED_KEY: &str = "F1led\"K/ey+e4b7=90d3&11c6Pv";
/// The first token and the one after a rotation, in the shape of tokens: a client that never saw one must recognize it
/// by that.
pub(crate) const TOKEN: &str = "c4a9e107d35b8f26c4b1e90a7d53f86e21b0d9a47c6e58f3a1d72b904e6cf835";
pub(crate) const NEW_TOKEN: &str =
    "9f3b61d7e0ca25847b1e6fd3920c85a4e7f14d6b83a9052ce6d81f7b304a95ce";

pub(crate) const ALL: [&str; 6] = [KEY, OTHER_KEY, TOLD_KEY, FILED_KEY, TOKEN, NEW_TOKEN];

type Window = [u8; LENGTH];

pub(crate) struct Canary {
    windows: HashMap<Window, String>,
    /// The first two bytes of a window, to skip most positions cheaply.
    begins: Vec<bool>,
}

impl Canary {
    pub(crate) fn of(secrets: &[&str]) -> Self {
        let mut needles = Self {
            windows: HashMap::new(),
            begins: vec![false; 1 << 16],
        };
        for secret in secrets {
            for (how, text) in encodings(secret) {
                for window in text.as_bytes().windows(LENGTH) {
                    let window: Window = window.try_into().expect("its length");
                    let name = format!("{how} of {}…", &secret[..3]);
                    needles.windows.entry(window).or_insert(name);
                    needles.begins[begin(&window)] = true;
                }
            }
        }
        needles
    }

    /// The first find, in words that do not repeat it.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<String> {
        let mut windows = bytes.windows(LENGTH).enumerate();
        windows.find_map(|(at, window)| {
            if !self.begins[begin(window)] {
                return None;
            }
            let name = self.windows.get(window)?;
            Some(format!("{name}, at byte {at} of {}", bytes.len()))
        })
    }

    #[track_caller]
    pub(crate) fn assert_not_in(&self, what: &str, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        if let Some(found) = self.find(bytes) {
            panic!(
                "{what} holds a secret: {found}: {}",
                String::from_utf8_lossy(bytes)
            );
        }
    }
}

fn begin(window: &[u8]) -> usize {
    usize::from(window[0]) << 8 | usize::from(window[1])
}

fn encodings(secret: &str) -> Vec<(&'static str, String)> {
    let bytes = secret.as_bytes();
    let hex = |upper: bool| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = if upper {
                write!(text, "{byte:02X}")
            } else {
                write!(text, "{byte:02x}")
            };
            text
        })
    };
    let escaped = |upper: bool| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                    write!(text, "{}", *byte as char)
                }
                byte if upper => write!(text, "%{byte:02X}"),
                byte => write!(text, "%{byte:02x}"),
            };
            text
        })
    };
    let json = serde_json::to_string(secret).expect("JSON");
    let mut all = vec![
        ("the text", secret.to_owned()),
        ("the reverse", secret.chars().rev().collect()),
        ("hex", hex(false)),
        ("HEX", hex(true)),
        ("the address form", escaped(true)),
        ("the address form", escaped(false)),
        ("the JSON form", json.trim_matches('"').to_owned()),
    ];
    for (url, how) in [(false, "base64"), (true, "base64url")] {
        for before in 0..3 {
            let mut padded = vec![b' '; before];
            padded.extend(bytes);
            let text = base64(&padded, url);
            // The ends depend on the neighbours.
            all.push((how, text[4..text.len() - 4].to_owned()));
        }
    }
    all
}

/// RFC 4648, without the padding.
pub(crate) fn base64(bytes: &[u8], url: bool) -> String {
    let last = if url { "-_" } else { "+/" };
    let alphabet: Vec<char> = ('A'..='Z')
        .chain('a'..='z')
        .chain('0'..='9')
        .chain(last.chars())
        .collect();
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for sextet in 0..=three.len() {
            text.push(alphabet[(bits >> (18 - 6 * sextet)) as usize & 63]);
        }
    }
    text
}

#[test]
fn a_secret_is_found_in_every_form() {
    let needles = Canary::of(&[KEY]);
    for (how, text) in encodings(KEY) {
        let within = format!("{} {text} and so on", "x".repeat(100));
        assert!(needles.find(within.as_bytes()).is_some(), "{how}: {text}");
    }
    assert_eq!(base64(b"any carnal pleas", false), "YW55IGNhcm5hbCBwbGVhcw");
    let half = &KEY[5..5 + LENGTH];
    assert!(needles.find(half.as_bytes()).is_some(), "a part of it");
    let other = Canary::of(&[TOKEN]);
    assert_eq!(other.find(KEY.as_bytes()), None);
}
