//! Rows of mappings and properties that many groups have, each kept once under a number. What hardly ever comes again is
//! not worth one, key by key: of the names of contacts few are met twice, of tiers all.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState},
};

/// So many of each key are kept before any has come again, and one more for each that has.
const AT_FIRST: u32 = 512;

/// Keys of more than this are kept in their groups.
const KEYS: usize = 1 << 10;

/// The texts by their numbers. Takes in none unless it was opened.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs {
    text: String,
    ends: Vec<u32>,
    open: Option<Box<Open>>,
}

/// What it takes to find their numbers.
#[derive(Debug, Clone, Default)]
struct Open {
    hashing: RandomState,
    numbers: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    /// Of each pair.
    keys: Vec<u32>,
    by_key: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    /// How many more of each key are kept.
    room: Vec<u32>,
}

impl Pairs {
    pub(super) fn opened() -> Self {
        Self {
            open: Some(Box::default()),
            ..Self::default()
        }
    }

    pub(super) fn close(&mut self) {
        self.open = None;
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[number] as usize]
    }

    /// The number of a pair whose key is so long; `None` where it is not kept here.
    pub(super) fn number(&mut self, pair: &str, key: usize) -> Option<u32> {
        let open = self.open.as_mut()?;
        let hashed = open.hashing.hash_one(pair.as_bytes());
        let slot = match open.numbers.entry(hashed) {
            Entry::Occupied(known) => {
                let number = *known.get();
                let room = &mut open.room[open.keys[number as usize] as usize];
                *room = room.saturating_add(1);
                // Two texts may be hashed to the same, once in an age.
                return (self.get(number) == pair).then_some(number);
            }
            Entry::Vacant(slot) => slot,
        };
        let end = u32::try_from(self.text.len() + pair.len()).ok()?;
        let hashed = open.hashing.hash_one(&pair.as_bytes()[..key]);
        let key = match open.by_key.entry(hashed) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if open.room.len() == KEYS => return None,
            Entry::Vacant(slot) => {
                open.room.push(AT_FIRST);
                *slot.insert(open.room.len() as u32 - 1)
            }
        };
        let room = &mut open.room[key as usize];
        *room = room.checked_sub(1)?;
        let number = self.ends.len() as u32;
        slot.insert(number);
        open.keys.push(key);
        self.text.push_str(pair);
        self.ends.push(end);
        Some(number)
    }
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
        let mut kept = 0;
        for round in 0..20_000 {
            let contact = format!("contact\u{1f}{round}");
            kept += u32::from(pairs.number(&contact, 7).is_some());
            pairs.number(["tier\u{1f}gold", "tier\u{1f}silver"][round % 2], 4);
            // More of them than are kept at first.
            pairs.number(&format!("seats\u{1f}{}", round % 2_000), 5);
        }
        assert_eq!(kept, AT_FIRST);
        let seats = "seats\u{1f}1999";
        let number = pairs.number(seats, 5).expect("it came again and again");
        assert_eq!(pairs.get(number), seats);
        assert_eq!(pairs.len() as u32, AT_FIRST + 2 + 2_000);
        pairs.close();
        assert_eq!(pairs.get(number), seats);
        assert_eq!(pairs.number(seats, 5), None);
    }

    #[test]
    fn keys_without_end_are_not_kept() {
        let mut pairs = Pairs::opened();
        for round in 0..3 * KEYS {
            let key = round.to_string();
            let number = pairs.number(&format!("{key}\u{1f}x"), key.len());
            assert_eq!(number.is_some(), round < KEYS);
        }
    }
}
