//! The natural order of names and ids: numbers in a text are compared by value, so that 2 comes before 12 and 12 before
//! 114. Own code, because lists are sorted by keys of bytes (`sorted`), and crates for this order only compare.

use std::cmp::Ordering;

/// The sort key of a text in natural order: each number is preceded by its length, so that longer numbers sort
/// later; leading zeros do not count. The length is written in digits, so that numbers stand where digits do: one for up to
/// nine digits, then a 9 for each nine more.
pub(super) fn key(text: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let is_number = |a: &u8, b: &u8| a.is_ascii_digit() && b.is_ascii_digit();
    text.chunk_by(is_number).flat_map(|part| {
        let is_number = part[0].is_ascii_digit();
        let zeros = part.iter().take_while(|digit| **digit == b'0').count();
        let part = &part[zeros.min(part.len() - 1)..];
        let longer = if is_number { part.len() - 1 } else { 0 };
        let last = is_number.then_some(b'0' + (longer % 9) as u8);
        let length = std::iter::repeat_n(b'9', longer / 9).chain(last);
        length.chain(part.iter().copied())
    })
}

/// Compares two texts by their keys.
pub fn natural(a: &str, b: &str) -> Ordering {
    key(a.as_bytes()).cmp(key(b.as_bytes()))
}

/// More characters than names differ in; an index of a server accepts no long texts.
const TITLE: usize = 255;

/// By the bytes of this, the directory finds the first groups of a list that is sorted by name: the name, or else the id,
/// in lower case, as far as it decides.
pub fn title_key(name: Option<&str>, id: &str) -> String {
    let title = name.filter(|name| !name.is_empty()).unwrap_or(id);
    let end = title.char_indices().nth(TITLE).map(|(end, _)| end);
    title[..end.unwrap_or(title.len())].to_lowercase()
}

/// The ids of the first texts in natural order, of texts that come in the order of their bytes (backwards if `reverse`).
/// Wants no text that can no longer be among them, and holds no more than it returns.
#[derive(Debug)]
pub struct FirstInOrder {
    some: usize,
    reverse: bool,
    /// The texts with their ids, in order.
    first: Vec<(String, String)>,
}

impl FirstInOrder {
    pub fn new(some: usize, reverse: bool) -> Self {
        Self {
            some,
            reverse,
            first: Vec::new(),
        }
    }

    /// Takes the next text with its id, by which equal texts are ordered; returns whether a later one can still be among
    /// the first.
    pub fn push(&mut self, text: &str, id: &str) -> bool {
        let reverse = self.reverse;
        let is_before = |(other, beside): &(String, String)| {
            let order = natural(other, text);
            let order = if reverse { order.reverse() } else { order };
            order.then_with(|| beside.as_str().cmp(id)) == Ordering::Less
        };
        if self.first.len() >= self.some {
            let Some(last) = self.first.last() else {
                return false;
            };
            if is_before(last) {
                return !is_after_all_like(text, &last.0, reverse);
            }
            self.first.pop();
        }
        let at = self.first.partition_point(is_before);
        self.first.insert(at, (text.to_owned(), id.to_owned()));
        true
    }

    pub fn into_ids(self) -> impl Iterator<Item = String> {
        self.first.into_iter().map(|(_, id)| id)
    }
}

/// Whether this text and all after it, in the order of bytes, also come after `last` in natural order. Up to the first
/// digit of `last` the two orders are the same.
fn is_after_all_like(text: &str, last: &str, reverse: bool) -> bool {
    let alike = last.find(|c: char| c.is_ascii_digit());
    let alike = &last.as_bytes()[..alike.unwrap_or(last.len())];
    let text = text.as_bytes();
    if reverse {
        return text < alike;
    }
    match text.strip_prefix(alike) {
        Some(rest) => rest.first().is_some_and(|next| *next > b'9'),
        None => text > alike,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_compared_by_value() {
        let long = |digits| "1".repeat(digits);
        let in_order = [
            "",
            "#2",
            "0",
            "2",
            "10",
            "12",
            "114",
            "123456789",
            "1234567890",
            "12345678901",
            &long(66),
            &long(80),
            &long(97),
            "a",
            "a!",
            "a1",
            "a1b",
            "a2",
            "a02b",
            "a10",
            "a10b2",
            "a10b10",
            "ab",
            "z",
            "é2",
            "é12",
        ];
        for pair in in_order.windows(2) {
            assert_eq!(natural(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(natural(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
        for (a, b) in [("007", "7"), ("a0", "a00"), ("x01y002", "x1y2")] {
            assert_eq!(natural(a, b), Ordering::Equal, "{a} {b}");
        }
    }

    proptest! {
        #[test]
        fn the_first_are_those_of_the_whole_order(
            texts in prop::collection::btree_set("[ab#]{0,2}[0-9]{0,3}[a-cé:/]{0,2}[01]{0,2}", 0..40),
            some in 0..12_usize,
            reverse: bool,
        ) {
            let mut stored: Vec<&String> = texts.iter().collect();
            let mut whole = stored.clone();
            whole.sort_by(|a, b| {
                let order = natural(a, b);
                let order = if reverse { order.reverse() } else { order };
                order.then_with(|| a.cmp(b))
            });
            if reverse {
                stored.reverse();
            }
            let mut first = FirstInOrder::new(some, reverse);
            for text in stored {
                if !first.push(text, text) {
                    break;
                }
            }
            let first: Vec<String> = first.into_ids().collect();
            let whole: Vec<String> = whole.into_iter().take(some).cloned().collect();
            prop_assert_eq!(first, whole);
        }
    }

    #[test]
    fn what_comes_after_all_of_them_ends_the_reading() {
        for reverse in [false, true] {
            let mut names: Vec<String> = ('a'..='z').map(|c| format!("{c} 12")).collect();
            if reverse {
                names.reverse();
            }
            let mut first = FirstInOrder::new(3, reverse);
            let read = names
                .iter()
                .take_while(|name| first.push(name, name))
                .count();
            assert_eq!(read, 3);
        }
    }
}
