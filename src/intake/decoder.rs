//! Bytes of a stream as UTF-8, whatever encoding they arrive in. What does not fit is counted, and the first place is
//! kept; from there on nothing more comes out.

use super::{
    fault::{Encoding, Fault},
    kind::{LOOK, foreign},
};

/// Decodes one text after another.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    /// The beginning of a character whose end is in the next piece.
    pending: Vec<u8>,
    /// The first half of a pair of UTF-16.
    half: Option<u16>,
    place: Place,
    wrong: Option<Encoding>,
    has_content: bool,
}

#[derive(Debug)]
enum State {
    /// The bytes so far do not determine the encoding.
    Start(Vec<u8>),
    Utf8,
    Utf16 {
        is_big: bool,
    },
}

#[derive(Debug, Clone, Copy)]
struct Place {
    line: usize,
    column: usize,
    after_cr: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            state: State::Start(Vec::new()),
            pending: Vec::new(),
            half: None,
            place: Place {
                line: 1,
                column: 1,
                after_cr: false,
            },
            wrong: None,
            has_content: false,
        }
    }
}

impl Decoder {
    /// Takes the next bytes and appends what they are in UTF-8.
    ///
    /// # Errors
    ///
    /// Fails if the file is of another kind; nothing more can be read from it.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if let State::Start(start) = &mut self.state {
            start.extend_from_slice(bytes);
            if start.len() < LOOK {
                return Ok(());
            }
            return self.begin(out);
        }
        self.feed(bytes, out);
        Ok(())
    }

    /// Marks the end of the text. Another one may follow.
    ///
    /// # Errors
    ///
    /// As for [`Decoder::push`]; also if the text is empty, or some places of it are in no known encoding.
    pub fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let begun = self.begin(out);
        let mut ended = std::mem::take(self);
        begun?;
        if ended.half.take().is_some() || !ended.pending.is_empty() {
            let unit = ended.pending.first().copied().map_or(0, u16::from);
            ended.fault(unit);
        }
        match ended.wrong {
            Some(wrong) => Err(Fault::Encoding(wrong)),
            None if !ended.has_content => Err(Fault::Empty),
            None => Ok(()),
        }
    }

    /// Determines the encoding, if it is not known yet.
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let State::Start(start) = &mut self.state else {
            return Ok(());
        };
        let start = std::mem::take(start);
        if start.starts_with(b"\xff\xfe\0\0") || start.starts_with(b"\0\0\xfe\xff") {
            return Err(Fault::Utf32);
        }
        let (state, mark) = match &start[..] {
            [0xff, 0xfe, ..] => (State::Utf16 { is_big: false }, 2),
            [0xfe, 0xff, ..] => (State::Utf16 { is_big: true }, 2),
            [0xef, 0xbb, 0xbf, ..] => (State::Utf8, 3),
            _ => (State::Utf8, 0),
        };
        self.state = state;
        if let Some(kind) = foreign(&start[mark..]) {
            return Err(Fault::Kind(kind));
        }
        if mark == 0 && is_unmarked_utf16(&start) {
            return Err(Fault::UnmarkedUtf16);
        }
        self.feed(&start[mark..], out);
        Ok(())
    }

    fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let joined;
        let bytes = if self.pending.is_empty() {
            bytes
        } else {
            let mut before = std::mem::take(&mut self.pending);
            before.extend_from_slice(bytes);
            joined = before;
            &joined
        };
        match self.state {
            State::Start(_) | State::Utf8 => self.utf8(bytes, out),
            State::Utf16 { is_big } => self.utf16(bytes, is_big, out),
        }
    }

    fn utf8(&mut self, mut rest: &[u8], out: &mut Vec<u8>) {
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(text) => return self.take(text, out),
                Err(error) => error,
            };
            let (good, bad) = rest.split_at(error.valid_up_to());
            self.take(std::str::from_utf8(good).unwrap_or_default(), out);
            let Some(length) = error.error_len() else {
                self.pending = bad.to_vec();
                return;
            };
            self.fault(u16::from(bad[0]));
            self.place.column += 1;
            rest = &bad[length..];
        }
    }

    fn utf16(&mut self, bytes: &[u8], is_big: bool, out: &mut Vec<u8>) {
        let pairs = bytes.chunks_exact(2);
        self.pending = pairs.remainder().to_vec();
        let mut text = String::with_capacity(bytes.len());
        for pair in pairs {
            let pair = [pair[0], pair[1]];
            let unit = if is_big {
                u16::from_be_bytes(pair)
            } else {
                u16::from_le_bytes(pair)
            };
            let units = self.half.take().into_iter().chain([unit]);
            let mut decoded = char::decode_utf16(units).peekable();
            while let Some(one) = decoded.next() {
                match one {
                    Ok(letter) => text.push(letter),
                    // The second half may follow.
                    Err(half) if decoded.peek().is_none() && is_first_half(unit) => {
                        self.half = Some(half.unpaired_surrogate());
                    }
                    Err(half) => {
                        self.take(&std::mem::take(&mut text), out);
                        self.fault(half.unpaired_surrogate());
                    }
                }
            }
        }
        self.take(&text, out);
    }

    fn take(&mut self, text: &str, out: &mut Vec<u8>) {
        for byte in text.bytes() {
            match byte {
                b'\n' if self.place.after_cr => {}
                b'\n' | b'\r' => (self.place.line, self.place.column) = (self.place.line + 1, 1),
                // The bytes after the first one of a character.
                0x80..0xc0 => {}
                _ => self.place.column += 1,
            }
            self.place.after_cr = byte == b'\r';
        }
        self.has_content = self.has_content || !text.trim_start().is_empty();
        if self.wrong.is_none() {
            out.extend_from_slice(text.as_bytes());
        }
    }

    fn fault(&mut self, unit: u16) {
        self.has_content = true;
        let is_utf16 = matches!(self.state, State::Utf16 { .. });
        let Place { line, column, .. } = self.place;
        let wrong = self.wrong.get_or_insert(Encoding {
            line,
            column,
            unit,
            is_utf16,
            places: 0,
        });
        wrong.places += 1;
    }
}

fn is_first_half(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

/// Latin text in UTF-16 has a zero in every second byte.
fn is_unmarked_utf16(start: &[u8]) -> bool {
    let look = &start[..start.len().min(64) / 2 * 2];
    let zeros = |from: usize| look.iter().skip(from).step_by(2).filter(|byte| **byte == 0);
    let pairs = look.len() / 2;
    let found = (zeros(0).count(), zeros(1).count());
    pairs >= 3 && (found == (0, pairs) || found == (pairs, 0))
}
