//! Keys and values of mappings and properties that many groups have, each kept once under a number. A value that hardly ever
//! comes again is not worth one, key by key: of the names of contacts few are met twice, of tiers all.

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState},
};

/// So many values of each key are kept before any has come again, and one more for each that has.
const AT_FIRST: u32 = 512;

/// More keys than these are kept in their groups.
const KEYS: usize = 1 << 10;

/// Texts by their numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    text: String,
    ends: Vec<u32>,
}

impl Texts {
    pub(super) fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[number] as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|number| self.get(number))
    }

    /// `None` where they are too long to be numbered.
    fn push(&mut self, text: &str) -> Option<u32> {
        let end = u32::try_from(self.text.len() + text.len()).ok()?;
        self.text.push_str(text);
        self.ends.push(end);
        Some(self.ends.len() as u32 - 1)
    }

    fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

/// Keys, and values with what stands in front of them. Takes in none unless it was opened.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs {
    pub(super) keys: Texts,
    pub(super) values: Texts,
    open: Option<Box<Open>>,
}

type Numbers = HashMap<u64, u32, BuildHasherDefault<Hashed>>;

/// What it takes to find their numbers.
#[derive(Debug, Clone)]
struct Open {
    seed: u64,
    keys: Numbers,
    values: Numbers,
    /// How many more values of each key are kept.
    room: Vec<u32>,
    /// The key that came behind each of them, and the one that came last: most come in the same order again.
    followers: Vec<u32>,
    last: usize,
}

impl Pairs {
    pub(super) fn opened() -> Self {
        let open = Open {
            seed: RandomState::new().hash_one(AT_FIRST),
            keys: Numbers::default(),
            values: Numbers::default(),
            room: Vec::new(),
            followers: Vec::new(),
            last: 0,
        };
        Self {
            open: Some(Box::new(open)),
            ..Self::default()
        }
    }

    pub(super) fn close(&mut self) {
        self.open = None;
        self.keys.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let texts = [&self.keys, &self.values].into_iter();
        let bytes = |texts: &Texts| texts.text.len() + size_of_val(&*texts.ends);
        texts.map(bytes).sum()
    }

    /// The number of a key; `None` where it is not kept here.
    pub(super) fn key(&mut self, key: &str) -> Option<u32> {
        let open = self.open.as_mut()?;
        if let Some(follower) = open.followers.get(open.last)
            && self.keys.get(*follower) == key
        {
            open.last = *follower as usize;
            return Some(*follower);
        }
        let hashed = hash(open.seed, key);
        let number = match open.keys.get(&hashed) {
            Some(known) if self.keys.get(*known) == key => *known,
            None if open.room.len() < KEYS => {
                let number = self.keys.push(key)?;
                open.keys.insert(hashed, number);
                open.room.push(AT_FIRST);
                open.followers.push(0);
                number
            }
            _ => return None,
        };
        open.followers[open.last] = number;
        open.last = number as usize;
        Some(number)
    }

    /// The number of a value of a key that has one.
    pub(super) fn value(&mut self, key: u32, value: &str) -> Option<u32> {
        let open = self.open.as_mut()?;
        let room = &mut open.room[key as usize];
        let hashed = hash(open.seed, value);
        if let Some(known) = open.values.get(&hashed) {
            *room = room.saturating_add(1);
            return (self.values.get(*known) == value).then_some(*known);
        }
        *room = room.checked_sub(1)?;
        let number = self.values.push(value)?;
        open.values.insert(hashed, number);
        Some(number)
    }
}

/// A product of each eight bytes, folded. What is found is compared: two of the same only cost room.
fn hash(seed: u64, text: &str) -> u64 {
    let fold = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(seed | 1);
        product as u64 ^ (product >> 64) as u64
    };
    let (words, last) = text.as_bytes().as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let hash = words.fold(seed ^ text.len() as u64, fold);
    let last = last
        .iter()
        .fold(0, |word, byte| word << 8 | u64::from(*byte));
    fold(hash, last)
}

/// Keys that are hashed already.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only numbers are hashed");
    }

    fn write_u64(&mut self, hashed: u64) {
        self.0 = hashed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_comes_again_takes_no_number_and_what_does_takes_one() {
        let mut pairs = Pairs::opened();
        let mut number = |key: &str, value: &str| {
            let key = pairs.key(key).expect("few keys");
            pairs.value(key, value)
        };
        let mut kept = 0;
        for round in 0..20_000 {
            kept += u32::from(number("contact", &format!("ops-{round}")).is_some());
            number("tier", ["gold", "silver"][round % 2]);
            // More of them than are kept at first.
            number("seats", &(round % 2_000).to_string());
        }
        assert_eq!(kept, AT_FIRST);
        let last = number("seats", "1999").expect("it came again and again");
        assert_eq!(number("room", "1999"), Some(last));
        assert_eq!(pairs.values.iter().count() as u32, AT_FIRST + 2 + 2_000);
        pairs.close();
        assert_eq!(pairs.values.get(last), "1999");
        assert_eq!(pairs.key("seats"), None);
    }

    #[test]
    fn keys_without_end_are_not_kept() {
        let mut pairs = Pairs::opened();
        for round in 0..3 * KEYS {
            assert_eq!(pairs.key(&round.to_string()).is_some(), round < KEYS);
        }
        assert_eq!(pairs.key("0"), Some(0));
    }
}
