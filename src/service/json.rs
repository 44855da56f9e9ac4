//! A strict JSON parser for request bodies: it rejects what lenient parsers accept (duplicate keys, NUL, halves of
//! surrogate pairs, deep nesting) and says where. It never quotes the body, which may contain a token.

use serde_json::{Map, Number, Value};

mod text;

/// Maximum nesting of objects and arrays.
pub(super) const DEEPEST: usize = 64;

/// Keys with this prefix have a meaning for the JSON library itself; an object with one would not survive it unchanged.
const RESERVED: &str = "$serde_json::private::";

/// What is wrong with a body, and where. Line and column count from 1; columns are characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) line: usize,
    pub(super) column: usize,
    /// The top-level field that contains the error, if it is one of ours.
    pub(super) field: Option<&'static str>,
    pub(super) why: &'static str,
}

type Read<T> = Result<T, Malformed>;

/// Parses one JSON value and nothing after it. `fields` are the top-level names that an error may repeat.
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
    // Counting leading bytes of characters also works if `at` is inside one.
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
                return self.fail_at(start, "duplicate key in the object");
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
}

#[cfg(test)]
mod tests;
