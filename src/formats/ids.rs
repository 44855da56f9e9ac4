//! The ids of a file, with a few bytes kept of each, to detect duplicates and ids that look the same.

use std::collections::{HashMap, hash_map::Entry};

use sha2::{Digest, Sha256};

use crate::domain::{group::UserGroupId, text::Skeletons};

/// The start of a hash: short, but long enough that no two ids of a file share one by accident.
type ShortHash = [u8; 12];

/// Ids with the number of their row.
#[derive(Debug, Default)]
pub struct Ids {
    /// The row and its line.
    rows: HashMap<ShortHash, (u32, u32)>,
    skeletons: Skeletons,
    /// The first row of each appearance, for ids that look alike.
    alike: HashMap<ShortHash, u32>,
}

impl Ids {
    /// Adds an id. Returns an earlier row whose id is different but looks the same.
    ///
    /// # Errors
    ///
    /// Returns the earlier row that has this very id, and its line.
    pub(super) fn add(
        &mut self,
        id: &UserGroupId,
        row: usize,
        line: usize,
    ) -> Result<Option<usize>, (usize, usize)> {
        // No file has this many rows.
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let number = short(row);
        match self.rows.entry(short_hash(id.as_str())) {
            Entry::Occupied(before) => {
                let (row, line) = *before.get();
                return Err((row as usize, line as usize));
            }
            Entry::Vacant(place) => place.insert((number, short(line))),
        };
        let skeleton = self.skeletons.of(id.as_str().trim());
        Ok(match self.alike.entry(short_hash(skeleton)) {
            Entry::Occupied(before) => Some(*before.get() as usize),
            Entry::Vacant(place) => {
                place.insert(number);
                None
            }
        })
    }

    /// Whether one of the rows has this id.
    pub fn has(&self, id: &UserGroupId) -> bool {
        self.rows.contains_key(&short_hash(id.as_str()))
    }
}

fn short_hash(text: &str) -> ShortHash {
    let hash: [u8; 32] = Sha256::digest(text).into();
    let mut short = ShortHash::default();
    short.copy_from_slice(&hash[..12]);
    short
}
