//! Interns the keys and values of mappings and properties that many groups share: each is stored once and referred to by
//! number. Whether values are interned is decided per key: names of contacts hardly ever repeat, tiers always do.

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState},
};

/// Number of values per key that are interned before any has repeated; each repetition allows one more.
const INITIAL_VALUES: u32 = 512;

/// Maximum number of interned keys; further ones are stored inline with their groups.
const MAX_KEYS: usize = 1 << 10;

/// Texts by number, in one buffer.
#[derive(Debug, Clone, Default)]
pub(super) struct TextTable {
    text: String,
    ends: Vec<u32>,
}

impl TextTable {
    pub(super) fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[number] as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|number| self.get(number))
    }

    /// `None` when the offset would not fit into 32 bits.
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

/// The interned keys, and the values, each with the separator before it. The default one interns nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Interner {
    pub(super) keys: TextTable,
    pub(super) values: TextTable,
    lookup: Option<Box<Lookup>>,
}

type Numbers = HashMap<u64, u32, BuildHasherDefault<PassThroughHasher>>;

/// The hash tables for finding the number of a text; dropped once the last group was added.
#[derive(Debug, Clone)]
struct Lookup {
    seed: u64,
    keys: Numbers,
    values: Numbers,
    /// How many more values of each key are interned.
    room: Vec<u32>,
    /// The key that last followed each key, and the last key seen: most groups have their keys in the same order.
    followers: Vec<u32>,
    last: usize,
}

impl Interner {
    pub(super) fn new() -> Self {
        let lookup = Lookup {
            seed: RandomState::new().hash_one(INITIAL_VALUES),
            keys: Numbers::default(),
            values: Numbers::default(),
            room: Vec::new(),
            followers: Vec::new(),
            last: 0,
        };
        Self {
            lookup: Some(Box::new(lookup)),
            ..Self::default()
        }
    }

    pub(super) fn close(&mut self) {
        self.lookup = None;
        self.keys.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let texts = [&self.keys, &self.values].into_iter();
        let bytes = |texts: &TextTable| texts.text.len() + size_of_val(&*texts.ends);
        texts.map(bytes).sum()
    }

    /// Interns a key and returns its number; `None` if it has to be stored inline.
    pub(super) fn key(&mut self, key: &str) -> Option<u32> {
        let lookup = self.lookup.as_mut()?;
        if let Some(follower) = lookup.followers.get(lookup.last)
            && self.keys.get(*follower) == key
        {
            lookup.last = *follower as usize;
            return Some(*follower);
        }
        let hashed = hash(lookup.seed, key);
        let number = match lookup.keys.get(&hashed) {
            Some(known) if self.keys.get(*known) == key => *known,
            None if lookup.room.len() < MAX_KEYS => {
                let number = self.keys.push(key)?;
                lookup.keys.insert(hashed, number);
                lookup.room.push(INITIAL_VALUES);
                lookup.followers.push(0);
                number
            }
            _ => return None,
        };
        lookup.followers[lookup.last] = number;
        lookup.last = number as usize;
        Some(number)
    }

    /// Interns a value of an interned key and returns its number; `None` if it has to be stored inline.
    pub(super) fn value(&mut self, key: u32, value: &str) -> Option<u32> {
        let lookup = self.lookup.as_mut()?;
        let room = &mut lookup.room[key as usize];
        let hashed = hash(lookup.seed, value);
        if let Some(known) = lookup.values.get(&hashed) {
            *room = room.saturating_add(1);
            return (self.values.get(*known) == value).then_some(*known);
        }
        *room = room.checked_sub(1)?;
        let number = self.values.push(value)?;
        lookup.values.insert(hashed, number);
        Some(number)
    }
}

/// A folded product of every eight bytes. Matches are compared with the text, so that a collision only costs memory.
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

/// Passes through keys that are hashes already.
#[derive(Debug, Default)]
struct PassThroughHasher(u64);

impl Hasher for PassThroughHasher {
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
    fn values_that_repeat_are_interned_and_others_are_not() {
        let mut interner = Interner::new();
        let mut number = |key: &str, value: &str| {
            let key = interner.key(key).expect("few keys");
            interner.value(key, value)
        };
        let mut kept = 0;
        for round in 0..20_000 {
            kept += u32::from(number("contact", &format!("ops-{round}")).is_some());
            number("tier", ["gold", "silver"][round % 2]);
            // More of them than are interned before any has repeated.
            number("seats", &(round % 2_000).to_string());
        }
        assert_eq!(kept, INITIAL_VALUES);
        let last = number("seats", "1999").expect("it came again and again");
        assert_eq!(number("room", "1999"), Some(last));
        assert_eq!(
            interner.values.iter().count() as u32,
            INITIAL_VALUES + 2 + 2_000
        );
        interner.close();
        assert_eq!(interner.values.get(last), "1999");
        assert_eq!(interner.key("seats"), None);
    }

    #[test]
    fn the_number_of_interned_keys_is_limited() {
        let mut interner = Interner::new();
        for round in 0..3 * MAX_KEYS {
            assert_eq!(interner.key(&round.to_string()).is_some(), round < MAX_KEYS);
        }
        assert_eq!(interner.key("0"), Some(0));
    }
}
