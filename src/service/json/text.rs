//! JSON strings: escapes and surrogate pairs. NUL and half a pair are rejected.

use super::{Read, Reader};

impl Reader<'_> {
    /// Parses a string; the reader is at its opening quote.
    pub(super) fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while matches!(self.peek(), Some(byte) if byte != b'"' && byte != b'\\' && byte >= 0x20)
            {
                self.at += 1;
            }
            // All three characters that end a run are ASCII, so the slice ends at a character boundary.
            out.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(0) => return self.fail("NUL characters are not accepted"),
                Some(_) => return self.fail("a string contains a control character; escape it"),
                None => return self.fail("it ends inside a string"),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let start = self.at;
        self.at += 1;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            Some(_) => return self.fail_at(start, "this escape is not known"),
            None => return self.fail("it ends inside a string"),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self, start: usize) -> Read<char> {
        const HALF: &str = "this is half of a surrogate pair, not a character";
        self.at += 1;
        let first = self.hex(start)?;
        let code = match first {
            0 => return self.fail_at(start, "NUL characters are not accepted"),
            0xd800..=0xdbff => {
                if !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
                    return self.fail_at(start, HALF);
                }
                self.at += 2;
                let second = self.hex(start)?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return self.fail_at(start, HALF);
                }
                0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            code => code,
        };
        match char::from_u32(code) {
            Some(character) => Ok(character),
            None => self.fail_at(start, HALF),
        }
    }

    fn hex(&mut self, start: usize) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return self.fail_at(start, "four hex digits must follow \\u");
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}
