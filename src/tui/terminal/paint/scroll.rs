//! Rows that only moved: the terminal moves them itself, and only what is new is written.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io::Write as _,
};

use super::{Pen, cell::ScreenCell, sgr::CellStyle};

/// Fewer rows are written sooner than moved.
const LEAST: usize = 3;

/// Rows `top..=bottom` move by so many rows, upwards where it is positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift {
    top: usize,
    bottom: usize,
    up: isize,
}

/// The shift that brings the most rows to their place.
pub(super) fn found(old: &[Vec<ScreenCell<'_>>], new: &[Vec<ScreenCell<'_>>]) -> Option<Shift> {
    let marks = |rows: &[Vec<ScreenCell<'_>>]| rows.iter().map(mark).collect::<Vec<_>>();
    let (old, new) = (marks(old), marks(new));
    let height = new.len() as isize;
    let source = |y: usize, up: isize| usize::try_from(y as isize + up).ok();
    let comes = |y: usize, up: isize| {
        source(y, up).is_some_and(|from| new[y] != old[y] && old.get(from) == Some(&new[y]))
    };
    let count = |up: isize| (0..new.len()).filter(|y| comes(*y, up)).count();
    let up = (1..height)
        .flat_map(|by| [by, -by])
        .max_by_key(|up| (count(*up), -up.abs()))?;
    if count(up) < LEAST {
        return None;
    }
    let first = (0..new.len()).find(|y| comes(*y, up))?;
    let last = (0..new.len()).rfind(|y| comes(*y, up))?;
    Some(Shift {
        top: first.min(source(first, up)?),
        bottom: last.max(source(last, up)?),
        up,
    })
}

fn mark(row: &Vec<ScreenCell<'_>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish()
}

impl Shift {
    /// The rows as they are after it.
    pub(super) fn apply<'a>(&self, rows: &[Vec<ScreenCell<'a>>]) -> Vec<Vec<ScreenCell<'a>>> {
        (0..rows.len())
            .map(|y| {
                if y < self.top || y > self.bottom {
                    return rows[y].clone();
                }
                let from = y as isize + self.up;
                match usize::try_from(from) {
                    Ok(from) if (self.top..=self.bottom).contains(&from) => rows[from].clone(),
                    _ => vec![ScreenCell::BLANK; rows[y].len()],
                }
            })
            .collect()
    }

    /// Lines are deleted or inserted at the top of a scroll region: every terminal can, also those without SU and SD.
    pub(super) fn write(&self, out: &mut Vec<u8>, pen: &mut Pen) {
        if !pen.look.leaves_blanks_alone() {
            pen.take(CellStyle::default(), out);
        }
        let (top, bottom) = (self.top + 1, self.bottom + 1);
        let lines = self.up.unsigned_abs();
        let command = if self.up > 0 { 'M' } else { 'L' };
        let _ = write!(
            out,
            "\x1b[{top};{bottom}r\x1b[{top}H\x1b[{lines}{command}\x1b[r"
        );
        // Setting the region takes the cursor home.
        pen.at = Some((0, 0));
    }
}
