//! A strict JSON reader for request bodies: it refuses what lenient readers let pass (duplicate keys, NUL, halves
//! of surrogate pairs, deep nesting) and says where. It never quotes the body: a token may stand there.

use serde_json::{Map, Number, Value};

/// Deepest nesting of objects and arrays.
pub(super) const DEEPEST: usize = 64;

/// Keys with this beginning mean something to the JSON library itself; an object with one would change on its way.
const RESERVED: &str = "$serde_json::private::";

/// What is wrong with a body, and where. Line and column count from 1; columns are characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) line: usize,
    pub(super) column: usize,
    /// The top-level field it stands in, if it is one of ours.
    pub(super) field: Option<&'static str>,
    pub(super) why: &'static str,
}

type Read<T> = Result<T, Malformed>;

/// Reads one JSON value and nothing after it. `fields` are the top-level names that an error may repeat.
pub(super) fn read(body: &[u8], fields: &'static [&'static str]) -> Read<Value> {
    let text = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(error) => {
            let valid = String::from_utf8_lossy(&body[..error.valid_up_to()]);
            return Err(malformed(
                &valid,
                valid.len(),
                None,
                "it is not valid UTF-8",
            ));
        }
    };
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
        fields,
        field: None,
    };
    let value = reader.value()?;
    reader.field = None;
    reader.space();
    match reader.peek() {
        None => Ok(value),
        Some(_) => reader.fail("something follows the JSON value"),
    }
}

fn malformed(text: &str, at: usize, field: Option<&'static str>, why: &'static str) -> Malformed {
    let before = &text.as_bytes()[..at.min(text.len())];
    let (mut line, mut last) = (0, before);
    for part in before.split(|byte| *byte == b'\n') {
        (line, last) = (line + 1, part);
    }
    // Counting first bytes of characters also works when `at` stands inside one.
    let is_first = |byte: &&u8| **byte & 0xc0 != 0x80;
    Malformed {
        line,
        column: last.iter().filter(is_first).count() + 1,
        field,
        why,
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    fields: &'static [&'static str],
    field: Option<&'static str>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fail<T>(&self, why: &'static str) -> Read<T> {
        self.fail_at(self.at, why)
    }

    fn fail_at<T>(&self, at: usize, why: &'static str) -> Read<T> {
        Err(malformed(self.text, at, self.field, why))
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, why: &'static str) -> Read<()> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => self.fail(why),
            None => self.fail("it ends too early"),
        }
    }

    fn value(&mut self) -> Read<Value> {
        self.space();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(_) => self.fail("a JSON value was expected"),
            None => self.fail("it ends too early"),
        }
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Read<Value>) -> Read<Value> {
        if self.depth == DEEPEST {
            return self.fail("it is nested deeper than 64 levels");
        }
        self.depth += 1;
        self.at += 1;
        self.space();
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Read<Value> {
        let mut members = Map::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                self.expect(b'"', "a key in double quotes was expected")?;
            }
            let key = self.string()?;
            if self.depth == 1 {
                self.field = self.fields.iter().copied().find(|field| *field == key);
            }
            if key.starts_with(RESERVED) {
                return self.fail_at(start, "this key is reserved; use another");
            }
            if members.contains_key(&key) {
                return self.fail_at(start, "the same key stands in the object twice");
            }
            self.space();
            self.expect(b':', "a colon was expected")?;
            let value = self.value()?;
            members.insert(key, value);
            if self.depth == 1 {
                self.field = None;
            }
            self.space();
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(Value::Object(members));
            }
            self.expect(b',', "a comma or a closing brace was expected")?;
        }
    }

    fn array(&mut self) -> Read<Value> {
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.space();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(Value::Array(items));
            }
            self.expect(b',', "a comma or a closing bracket was expected")?;
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Read<Value> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            self.fail("a JSON value was expected")
        }
    }

    fn number(&mut self) -> Read<Number> {
        const NOT_A_NUMBER: &str = "this is not a JSON number";
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading = self.at;
        let mut well = self.digits() > 0;
        if self.text.as_bytes()[leading..].starts_with(b"0") {
            well &= self.at == leading + 1;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            well &= self.digits() > 0;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            well &= self.digits() > 0;
        }
        match serde_json::from_str(&self.text[start..self.at]) {
            Ok(number) if well => Ok(number),
            _ => self.fail_at(start, NOT_A_NUMBER),
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while matches!(self.peek(), Some(byte) if byte != b'"' && byte != b'\\' && byte >= 0x20)
            {
                self.at += 1;
            }
            // The three that end a run are ASCII, so the cut is at a character.
            out.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(0) => return self.fail("NUL characters are not accepted"),
                Some(_) => return self.fail("a control character stands in a string; escape it"),
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

#[cfg(test)]
mod tests;
