//! Decodes the bytes of a terminal into keys, clicks and pastes. Whatever arrives, it buffers no more than one short
//! sequence or one paste of bounded length, and never waits for an end that does not come. A trailing escape counts as
//! the Escape key only after a moment: the connection may have split a sequence there, and if the rest of a mouse
//! report were taken for typed text, it would press keys.
//!
//! Not crossterm's parser: it never gives up a paste or sequence without an end, and panics on some mouse reports.

mod csi;

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

/// Maximum length of a paste in bytes; properties are far smaller.
pub const MAX_PASTE_BYTES: usize = 16 << 20;
/// Maximum length of the sequence of one key; longer ones are ignored.
const MAX_SEQUENCE_BYTES: usize = 64;
const PASTE_END: &[u8] = b"\x1b[201~";
/// Time to wait for the rest of a sequence that the connection split after its first byte; nobody types that fast.
const ESCAPE_TIMEOUT: Duration = Duration::from_millis(25);
/// After a pause this long within a paste, its end is not expected any more.
const PASTE_TIMEOUT: Duration = Duration::from_secs(2);
const ESC: Event = Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
const ESCAPE_KEY: InputEvent = InputEvent::Event(ESC);
/// Alt-], or the beginning of a reply of the terminal.
const ALT_BRACKET: &[u8] = b"\x1b]";

/// An input event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputEvent {
    Event(Event),
    /// Keys that arrived at once: typed ahead, or a paste without brackets.
    Burst(Vec<KeyEvent>),
    /// A paste has started and nothing more of it has arrived for a while. Ctrl-C ends it.
    PasteIsOpen,
    /// The paste was longer than [`MAX_PASTE_BYTES`] and is ignored as a whole.
    PasteTooLong,
    /// The background colour that the terminal reported when queried: red, green and blue.
    Background(u8, u8, u8),
}

/// The result of parsing some bytes.
#[derive(Debug, PartialEq, Eq)]
enum Parsed {
    Event(Event),
    /// A reply of the terminal: its background colour, or a reply that was not requested.
    Answer(Option<(u8, u8, u8)>),
    PasteBegins,
    /// Incomplete: more bytes are needed.
    Incomplete,
    /// Not a known sequence.
    Nothing,
}

#[derive(Debug, Default)]
pub(super) struct Decoder {
    sequence: Vec<u8>,
    paste: Option<Paste>,
    /// The previous read ended with a lone escape, which was already reported as the Escape key.
    is_after_escape: bool,
}

#[derive(Debug, Default)]
struct Paste {
    bytes: Vec<u8>,
    is_too_long: bool,
    /// `PasteIsOpen` was already sent; from now on a lone Ctrl-C was pressed by the person.
    is_reported: bool,
}

impl Decoder {
    /// How long the input may pause before [`Self::on_timeout`] is called; `None`: without limit.
    pub(super) fn timeout(&self) -> Option<Duration> {
        if self.is_escape() || self.sequence == ALT_BRACKET {
            return Some(ESCAPE_TIMEOUT);
        }
        let paste = self.paste.as_ref().filter(|paste| !paste.is_reported);
        paste.map(|_| PASTE_TIMEOUT)
    }

    fn is_escape(&self) -> bool {
        self.sequence == b"\x1b"
    }

    /// Called when nothing arrived for the time of [`Self::timeout`].
    pub(super) fn on_timeout(&mut self) -> Option<InputEvent> {
        if self.is_escape() {
            self.sequence.clear();
            self.is_after_escape = true;
            return Some(ESCAPE_KEY);
        }
        if self.sequence == ALT_BRACKET {
            self.sequence.clear();
            let key = KeyEvent::new(KeyCode::Char(']'), KeyModifiers::ALT);
            return Some(InputEvent::Event(Event::Key(key)));
        }
        let paste = self.paste.as_mut().filter(|paste| !paste.is_reported)?;
        paste.is_reported = true;
        Some(InputEvent::PasteIsOpen)
    }

    /// Decodes the bytes of one read.
    pub(super) fn take(&mut self, bytes: &[u8], out: &mut Vec<InputEvent>) {
        let mut rest = bytes;
        if self.is_escape() && !matches!(rest, [b'[' | b']' | b'O', ..]) {
            out.push(ESCAPE_KEY);
            self.sequence.clear();
        }
        // If the connection split the start of a paste, the pasted text must not become keys.
        if std::mem::take(&mut self.is_after_escape)
            && let Some(pasted) = rest.strip_prefix(b"[200~")
        {
            self.paste = Some(Paste::default());
            rest = pasted;
        }
        while let Some((first, after)) = rest.split_first() {
            if let Some(paste) = &mut self.paste {
                let Some(after) = paste.take(rest) else {
                    return;
                };
                rest = after;
                out.extend(self.paste.take().map(Paste::ended));
                continue;
            }
            rest = after;
            self.byte(*first, out);
        }
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<InputEvent>) {
        self.sequence.push(byte);
        let mut parsed = parse(&self.sequence);
        let is_broken = parsed == Parsed::Nothing && self.sequence.len() > 1;
        if is_broken && (self.sequence[0] != b'\x1b' || !csi::is_inside(byte)) {
            // The byte that broke the sequence is decoded on its own.
            self.sequence = vec![byte];
            parsed = parse(&self.sequence);
        }
        match parsed {
            Parsed::Incomplete if self.sequence.len() < MAX_SEQUENCE_BYTES => return,
            Parsed::Incomplete | Parsed::Nothing => {}
            Parsed::Event(event) => out.push(InputEvent::Event(event)),
            Parsed::Answer(background) => out.extend(
                background.map(|(red, green, blue)| InputEvent::Background(red, green, blue)),
            ),
            Parsed::PasteBegins => self.paste = Some(Paste::default()),
        }
        self.sequence.clear();
    }
}

impl Paste {
    /// Collects bytes of the paste; once its end has arrived, returns the bytes after it.
    fn take<'a>(&mut self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        if self.is_reported && bytes == b"\x03" {
            return Some(&[]);
        }
        self.is_reported = false;
        let before = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let from = before.saturating_sub(PASTE_END.len() - 1);
        let found = self.bytes[from..]
            .windows(PASTE_END.len())
            .position(|window| window == PASTE_END);
        if let Some(at) = found {
            let end = from + at;
            self.is_too_long |= end > MAX_PASTE_BYTES;
            self.bytes.truncate(end);
            return Some(&bytes[end + PASTE_END.len() - before..]);
        }
        self.is_too_long |= self.bytes.len() >= MAX_PASTE_BYTES + PASTE_END.len();
        if self.is_too_long {
            // Keeps only what may be the beginning of the end marker.
            let from = self.bytes.len().saturating_sub(PASTE_END.len() - 1);
            let kept = self.bytes.split_off(from);
            self.bytes = kept;
        }
        None
    }

    fn ended(self) -> InputEvent {
        if self.is_too_long {
            InputEvent::PasteTooLong
        } else {
            InputEvent::Event(Event::Paste(
                String::from_utf8_lossy(&self.bytes).into_owned(),
            ))
        }
    }
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Parsed {
    Parsed::Event(Event::Key(KeyEvent::new(code, modifiers)))
}

fn parse(bytes: &[u8]) -> Parsed {
    let none = KeyModifiers::NONE;
    match bytes {
        [b'\x1b', b'\x1b'] => Parsed::Event(ESC),
        [b'\x1b', b'[', rest @ ..] => csi::parse(rest),
        [b'\x1b', b']', rest @ ..] => parse_osc(rest),
        [b'\x1b'] | [b'\x1b', b'O'] => Parsed::Incomplete,
        [b'\x1b', b'O', last] => csi::letter(*last, none).map_or(Parsed::Nothing, Parsed::Event),
        [b'\x1b', rest @ ..] => match parse(rest) {
            Parsed::Event(Event::Key(key)) => Parsed::Event(Event::Key(KeyEvent {
                modifiers: key.modifiers | KeyModifiers::ALT,
                ..key
            })),
            other => other,
        },
        b"\r" => key(KeyCode::Enter, none),
        b"\t" => key(KeyCode::Tab, none),
        b"\x7f" => key(KeyCode::Backspace, none),
        b"\0" => key(KeyCode::Char(' '), KeyModifiers::CONTROL),
        [c @ 0x01..=0x1a] => key(KeyCode::Char((c - 1 + b'a').into()), KeyModifiers::CONTROL),
        [c @ 0x1c..=0x1f] => key(
            KeyCode::Char((c - 0x1c + b'4').into()),
            KeyModifiers::CONTROL,
        ),
        _ => character(bytes),
    }
}

/// Decodes a UTF-8 character.
fn character(bytes: &[u8]) -> Parsed {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().next().map_or(Parsed::Nothing, |c| {
            let upper = c.is_uppercase();
            key(
                KeyCode::Char(c),
                if upper {
                    KeyModifiers::SHIFT
                } else {
                    KeyModifiers::NONE
                },
            )
        }),
        Err(error) if error.error_len().is_none() => Parsed::Incomplete,
        Err(_) => Parsed::Nothing,
    }
}

#[cfg(test)]
mod tests;

/// Parses a reply of the terminal to a query (OSC): what follows `ESC ]`, up to BEL or `ESC \`. The background colour is
/// reported, every other reply is ignored, and none is ever taken for typed text.
fn parse_osc(bytes: &[u8]) -> Parsed {
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
