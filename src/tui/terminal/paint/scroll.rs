//! Detects rows that only moved: the terminal moves them itself, and only new rows are written.

use std::{
    hash::{Hash, Hasher},
    io::Write as _,
};

use ratatui::buffer::Cell;

use super::{
    Pen,
    cell::{self, CellStyle},
};

/// Moving fewer rows than this is more expensive than writing them.
const MIN_MOVED_ROWS: usize = 3;
/// How many of the changed rows are looked for among the old rows before all rows are hashed.
const SAMPLES: usize = 8;

/// Rows `top..=bottom` move by this many rows; a positive number moves them up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift {
    top: usize,
    bottom: usize,
    up: isize,
}

/// A hash for each row on the screen, as far as it was computed.
#[derive(Debug, Default)]
pub(super) struct RowHashes(Vec<Option<u64>>);

impl RowHashes {
    /// Called when the content of the screen is unknown.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Called when these rows have changed.
    pub(super) fn forget_some(&mut self, changed: &[usize]) {
        for y in changed {
            if let Some(mark) = self.0.get_mut(*y) {
                *mark = None;
            }
        }
    }

    /// Finds the shift that moves the most rows into place, and remembers the new rows as those on the screen.
    pub(super) fn shift(
        &mut self,
        old: &[&[Cell]],
        new: &[&[Cell]],
        changed: &[usize],
    ) -> Option<Shift> {
        if !any_moved(old, new, changed) {
            self.forget_some(changed);
            return None;
        }
        self.0.resize(old.len(), None);
        let marks = self.0.iter_mut().zip(old);
        let before: Vec<u64> = marks
            .map(|(mark, row)| *mark.get_or_insert_with(|| hash_of(row)))
            .collect();
        for y in changed {
            self.0[*y] = Some(hash_of(new[*y]));
        }
        let marks: Vec<(usize, u64)> = changed
            .iter()
            .filter_map(|y| Some((*y, self.0[*y]?)))
            .filter(|(y, mark)| before[*y] != *mark)
            .collect();
        // The row from which a row comes.
        let source = |y: usize, up: isize| usize::try_from(y as isize + up).ok();
        let comes = |(y, mark): &&(usize, u64), up: isize| {
            source(*y, up).and_then(|from| before.get(from)) == Some(mark)
        };
        let moved = marks.iter().filter(|(_, mark)| before.contains(mark));
        if moved.count() < MIN_MOVED_ROWS {
            return None;
        }
        let count = |up: isize| marks.iter().filter(|row| comes(row, up)).count();
        let height = new.len() as isize;
        let up = (1..height)
            .flat_map(|by| [by, -by])
            .max_by_key(|up| (count(*up), -up.abs()))?;
        if count(up) < MIN_MOVED_ROWS {
            return None;
        }
        let first = marks.iter().find(|row| comes(row, up))?.0;
        let last = marks.iter().rfind(|row| comes(row, up))?.0;
        Some(Shift {
            top: first.min(source(first, up)?),
            bottom: last.max(source(last, up)?),
            up,
        })
    }
}

/// Whether one of a few changed rows was elsewhere before. After most keys none was, and no row needs to be hashed.
fn any_moved(old: &[&[Cell]], new: &[&[Cell]], changed: &[usize]) -> bool {
    let step = changed.len().div_ceil(SAMPLES).max(1);
    let mut samples = changed.iter().step_by(step);
    samples.any(|y| old.contains(&new[*y]))
}

/// A collision costs some bytes but draws no wrong cell, because rows are compared again after a shift.
fn hash_of(row: &[Cell]) -> u64 {
    let mut hasher = RowHasher(0);
    cell::row(row).hash(&mut hasher);
    hasher.finish()
}

/// FxHash: fast; nobody chooses the rows to make them collide.
struct RowHasher(u64);

impl Hasher for RowHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = self.0.rotate_left(5) ^ number;
        self.0 = mixed.wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    /// The number of a variant of an enum.
    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
}

impl Shift {
    /// The row in which a row was before the shift; `None`: nowhere, it is blank.
    pub(super) fn source(&self, y: usize) -> Option<usize> {
        let moved = self.top..=self.bottom;
        if !moved.contains(&y) {
            return Some(y);
        }
        let from = usize::try_from(y as isize + self.up).ok()?;
        moved.contains(&from).then_some(from)
    }

    /// Deletes or inserts lines at the top of a scroll region: every terminal supports that, also those
    /// without SU and SD.
    pub(super) fn write(&self, out: &mut Vec<u8>, pen: &mut Pen) {
        if !pen.style.is_plain_on_blanks() {
            pen.take(CellStyle::default(), out);
        }
        let (top, bottom) = (self.top + 1, self.bottom + 1);
        let lines = self.up.unsigned_abs();
        let command = if self.up > 0 { 'M' } else { 'L' };
        let _ = write!(
            out,
            "\x1b[{top};{bottom}r\x1b[{top}H\x1b[{lines}{command}\x1b[r"
        );
        // Setting the region moves the cursor to the top left corner.
        pen.at = Some((0, 0));
    }
}
