//! The ids of a file: a few bytes of each, so that none stands there twice, and none beside one that looks the same.

use std::collections::{HashMap, hash_map::Entry};

use sha2::{Digest, Sha256};

use crate::domain::{group::UserGroupId, text::Skeletons};

/// The beginning of a hash: short, and no two ids of a file share one by accident.
type Short = [u8; 12];

/// Ids with the number of the row they stand in.
#[derive(Debug, Default)]
pub struct Ids {
    rows: HashMap<Short, u32>,
    looks: Skeletons,
    /// The first row of each look.
    alike: HashMap<Short, u32>,
}

impl Ids {
    /// Adds one; the answer is an earlier row with another id that looks the same.
    ///
    /// # Errors
    ///
    /// The earlier row with this very id.
    pub(super) fn add(&mut self, id: &UserGroupId, row: usize) -> Result<Option<usize>, usize> {
        // A file of so many rows is beyond this.
        let number = u32::try_from(row).unwrap_or(u32::MAX);
        match self.rows.entry(short(id.as_str())) {
            Entry::Occupied(before) => return Err(*before.get() as usize),
            Entry::Vacant(place) => place.insert(number),
        };
        let look = self.looks.of(id.as_str().trim());
        Ok(match self.alike.entry(short(look)) {
            Entry::Occupied(before) => Some(*before.get() as usize),
            Entry::Vacant(place) => {
                place.insert(number);
                None
            }
        })
    }

    /// Whether one of the rows has this id.
    pub fn has(&self, id: &UserGroupId) -> bool {
        self.rows.contains_key(&short(id.as_str()))
    }
}

fn short(text: &str) -> Short {
    let hash: [u8; 32] = Sha256::digest(text).into();
    let mut short = Short::default();
    short.copy_from_slice(&hash[..12]);
    short
}
