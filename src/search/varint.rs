//! Numbers and texts as bytes: numbers as varints (LEB128: seven bits per byte, the lowest first), signed ones in zigzag
//! encoding, texts with their length before them.

pub(super) fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 1 << 7 {
        bytes.push(number as u8 | 1 << 7);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a signed number; the closer to zero, the fewer bytes.
pub(super) fn put_signed_varint(bytes: &mut Vec<u8>, number: i64) {
    put_varint(bytes, (number << 1 ^ number >> 63) as u64);
}

pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_varint(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

/// Reads values in the order in which they were written. Returns `None` for bytes that are not such a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteReader<'a>(pub(super) &'a [u8]);

impl<'a> ByteReader<'a> {
    pub(super) fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (first, others) = self.0.split_first_chunk()?;
        self.0 = others;
        Some(first)
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Option<u64> {
        match *self.0 {
            // Fast paths: most numbers take one or two bytes.
            [first, ref others @ ..] if first < 1 << 7 => {
                self.0 = others;
                Some(u64::from(first))
            }
            [first, second, ref others @ ..] if second < 1 << 7 => {
                self.0 = others;
                Some(u64::from(first & 0x7f) | u64::from(second) << 7)
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, others) = self.0.split_first()?;
            self.0 = others;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 1 << 7 {
                return Some(number);
            }
        }
        None
    }

    pub(super) fn signed_varint(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        let length = self.varint()?;
        self.text_of(length)
    }

    /// A text whose length was read already.
    pub(super) fn text_of(&mut self, length: u64) -> Option<&'a str> {
        let length = usize::try_from(length).ok()?;
        let (first, others) = self.0.split_at_checked(length)?;
        self.0 = others;
        std::str::from_utf8(first).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_written_is_read(numbers: Vec<u64>, signed: Vec<i64>, texts: Vec<String>) {
            let mut bytes = Vec::new();
            let ends = [0, 127, 128, u64::MAX];
            let numbers: Vec<u64> = numbers.into_iter().chain(ends).collect();
            let signed: Vec<i64> = signed.into_iter().chain([i64::MIN, -1, i64::MAX]).collect();
            for number in &numbers {
                put_varint(&mut bytes, *number);
            }
            for number in &signed {
                put_signed_varint(&mut bytes, *number);
            }
            for text in &texts {
                put_text(&mut bytes, text);
            }
            let mut read = ByteReader(&bytes);
            for number in numbers {
                prop_assert_eq!(read.varint(), Some(number));
            }
            for number in signed {
                prop_assert_eq!(read.signed_varint(), Some(number));
            }
            for text in &texts {
                prop_assert_eq!(read.text(), Some(text.as_str()));
            }
            prop_assert_eq!(read.varint(), None);
        }
    }
}
