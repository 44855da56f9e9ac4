//! Produces the bytes that turn one frame into the next, as few as possible, because on a slow connection every byte
//! costs time. Remembers what is on the screen, and writes only to the caller's buffer.

mod cell;
mod scroll;

use std::io::Write as _;

use ratatui::{
    buffer::Cell,
    prelude::{Buffer, Position, Rect},
};

use super::Render;
use cell::{CellStyle, ScreenCell};
use scroll::RowHashes;

/// A frame of at least this many bytes gets the two marks of mode 2026; a shorter one reaches the terminal in
/// one piece.
const SYNC_MIN_BYTES: usize = 1_024;
/// If an update takes more than this many bytes, it is checked whether rows only moved.
const SCROLL_MIN_BYTES: usize = 100;
/// Number of blanks that cost as much as the sequence that erases them.
const ERASE_MIN_BLANKS: usize = 5;

/// What is on the screen, and the state in which the last bytes left the terminal.
#[derive(Debug)]
pub struct Painter {
    last: Buffer,
    /// The buffer for the next frame.
    next: Buffer,
    row_hashes: RowHashes,
    /// The content of the screen is unknown.
    is_stale: bool,
    cursor: Option<Position>,
    pen: Pen,
    /// The terminal supports synchronised output: it holds back what is between two marks (mode 2026).
    synchronised: bool,
}

/// Where and in which style the terminal writes next.
#[derive(Debug, Clone, Copy, Default)]
struct Pen {
    /// Column and row; `None` where terminals differ, as after the last column.
    at: Option<(u16, u16)>,
    style: CellStyle,
}

impl Painter {
    /// A painter for an empty screen with the cursor hidden.
    pub fn new(synchronised: bool) -> Self {
        Self {
            last: Buffer::default(),
            next: Buffer::default(),
            row_hashes: RowHashes::default(),
            is_stale: false,
            cursor: None,
            pen: Pen::default(),
            synchronised,
        }
    }

    /// Makes the next frame be written in full.
    pub fn forget(&mut self) {
        self.is_stale = true;
    }

    /// Returns the bytes for the next frame; empty if nothing changed.
    pub fn paint(&mut self, area: Rect, render: Render<'_>) -> Vec<u8> {
        if self.next.area == area {
            self.next.reset();
        } else {
            self.next = Buffer::empty(area);
        }
        let cursor = render(&mut self.next);
        let mut out = Vec::new();
        let is_first = self.last.area.is_empty() && !self.is_stale;
        let is_whole = self.is_stale || self.last.area != area;
        if is_whole {
            if !is_first {
                // The modes of the terminal are unknown as well: a shell may have changed them.
                out.extend(b"\x1b[r\x1b[m\x1b[H\x1b[2J");
                out.extend(if self.cursor.is_some() {
                    b"\x1b[?25h"
                } else {
                    b"\x1b[?25l"
                });
            }
            self.pen = Pen::default();
            self.last = Buffer::empty(area);
            self.row_hashes.forget();
            self.is_stale = false;
        }
        let (old, new): (Vec<_>, Vec<_>) = (rows(&self.last).collect(), rows(&self.next).collect());
        // Most rows are unchanged and need no work.
        let changed: Vec<usize> = (0..new.len()).filter(|y| old[*y] != new[*y]).collect();
        let mut pen = self.pen;
        let mut plain = Vec::new();
        for y in &changed {
            write_row(&mut plain, &mut pen, *y, old[*y], new[*y]);
        }
        if is_whole || plain.len() <= SCROLL_MIN_BYTES {
            self.row_hashes.forget_some(&changed);
        } else if let Some(shift) = self.row_hashes.shift(&old, &new, &changed) {
            let mut moved = Vec::new();
            let mut moved_pen = self.pen;
            shift.write(&mut moved, &mut moved_pen);
            let blank = vec![Cell::EMPTY; usize::from(area.width)];
            for (y, row) in new.iter().enumerate() {
                let there = shift.source(y).map_or(&blank[..], |from| old[from]);
                if there != *row {
                    write_row(&mut moved, &mut moved_pen, y, there, row);
                }
            }
            if moved.len() < plain.len() {
                (plain, pen) = (moved, moved_pen);
            }
        }
        out.append(&mut plain);
        if pen.style.is_seen_on_blanks() {
            pen.style.change_to(CellStyle::default(), &mut out);
            pen.style = CellStyle::default();
        }
        self.place(&mut out, &mut pen, cursor);
        self.pen = pen;
        std::mem::swap(&mut self.last, &mut self.next);
        if self.synchronised && out.len() >= SYNC_MIN_BYTES {
            let mut marked = b"\x1b[?2026h".to_vec();
            marked.append(&mut out);
            marked.extend(b"\x1b[?2026l");
            return marked;
        }
        out
    }

    fn place(&mut self, out: &mut Vec<u8>, pen: &mut Pen, cursor: Option<Position>) {
        match (cursor, self.cursor) {
            (Some(at), was) => {
                pen.go_to((at.x, at.y), out);
                if was.is_none() {
                    out.extend(b"\x1b[?25h");
                }
            }
            (None, Some(_)) => out.extend(b"\x1b[?25l"),
            (None, None) => {}
        }
        self.cursor = cursor;
    }
}

impl Pen {
    /// Moves the cursor to a cell by the shortest sequence.
    fn go_to(&mut self, to: (u16, u16), out: &mut Vec<u8>) {
        let (x, y) = to;
        match self.at {
            Some(at) if at == to => {}
            Some((from, row)) if row == y && from < x => forward(x - from, out),
            Some((_, row)) if row == y => {
                let _ = write!(out, "\x1b[{}G", x + 1);
            }
            _ if x == 0 => {
                let _ = write!(out, "\x1b[{}H", y + 1);
            }
            _ => {
                let _ = write!(out, "\x1b[{};{}H", y + 1, x + 1);
            }
        }
        self.at = Some(to);
    }

    fn take(&mut self, style: CellStyle, out: &mut Vec<u8>) {
        self.style.change_to(style, out);
        self.style = style;
    }

    /// Writes one cell at the position of the pen.
    fn write(&mut self, spot: &ScreenCell<'_>, columns: u16, out: &mut Vec<u8>) {
        if !(spot.is_blank() && self.style.is_plain_on_blanks()) {
            self.take(spot.style, out);
        }
        let Some((x, y)) = self.at else { return };
        let after = x + spot.width;
        if !spot.has_uncertain_width() {
            out.extend(spot.symbol.as_bytes());
            self.at = (after < columns).then_some((after, y));
            return;
        }
        // Terminals disagree about the width of such a character. So nothing old may remain beside a narrow one, a
        // wide one must push nothing over the edge, and what follows is positioned again.
        if spot.width > 1 {
            let _ = write!(out, "\x1b[{}X", spot.width);
        }
        let overflows = x + spot.widest() > columns;
        if overflows {
            out.extend(b"\x1b[?7l");
        }
        out.extend(spot.symbol.as_bytes());
        if overflows {
            out.extend(b"\x1b[?7h");
        }
        self.at = None;
    }
}

fn forward(cells: u16, out: &mut Vec<u8>) {
    if cells == 1 {
        out.extend(b"\x1b[C");
    } else {
        let _ = write!(out, "\x1b[{cells}C");
    }
}

fn rows(buffer: &Buffer) -> impl Iterator<Item = &[Cell]> {
    let width = usize::from(buffer.area.width).max(1);
    buffer.content.chunks_exact(width)
}

fn write_row(out: &mut Vec<u8>, pen: &mut Pen, y: usize, old: &[Cell], new: &[Cell]) {
    let (mut old, new) = (cell::row(old), cell::row(new));
    let (mut plain, mut plain_pen) = (Vec::new(), *pen);
    let Some(first) = write_changes(&mut plain, &mut plain_pen, y as u16, &old, &new) else {
        return;
    };
    // Alternative: if the row is erased first, the blanks between the texts need only be skipped.
    if plain.len() > SCROLL_MIN_BYTES / 2 && !old.iter().all(ScreenCell::is_blank) {
        let (mut erased, mut erased_pen) = (Vec::new(), *pen);
        erased_pen.go_to((first as u16, y as u16), &mut erased);
        if !erased_pen.style.is_plain_on_blanks() {
            erased_pen.take(CellStyle::default(), &mut erased);
        }
        erased.extend(b"\x1b[K");
        old[first..].fill(ScreenCell::BLANK);
        write_changes(&mut erased, &mut erased_pen, y as u16, &old, &new);
        if erased.len() < plain.len() {
            (plain, plain_pen) = (erased, erased_pen);
        }
    }
    out.append(&mut plain);
    *pen = plain_pen;
}

/// Writes the differences; returns the first changed column, if there is one.
fn write_changes(
    out: &mut Vec<u8>,
    pen: &mut Pen,
    y: u16,
    old: &[ScreenCell<'_>],
    new: &[ScreenCell<'_>],
) -> Option<usize> {
    let columns = new.len();
    let changed = cell::changed(old, new);
    let blank_from = new
        .iter()
        .rposition(|spot| !spot.is_blank())
        .map_or(0, |last| last + 1);
    let first = changed.iter().position(|changed| *changed)?;
    let end = changed.iter().rposition(|changed| *changed)?;
    let mut x = first;
    while x <= end {
        if !changed[x] {
            x += 1;
            continue;
        }
        reach(out, pen, (x, y), new);
        // Erases the rest of the row or a run of blanks if that is shorter.
        let blanks = new[x..=end]
            .iter()
            .take_while(|spot| spot.is_blank())
            .count();
        let is_rest = x >= blank_from;
        if blanks > ERASE_MIN_BLANKS {
            let from = x;
            x += blanks;
            // Blanks at the end of the run that are already on the screen need not be erased.
            let needed = changed[from..x].iter().rposition(|changed| *changed);
            let needed = needed.map_or(0, |last| last + 1);
            if is_rest || needed > 2 * ERASE_MIN_BLANKS {
                if !pen.style.is_plain_on_blanks() {
                    pen.take(CellStyle::default(), out);
                }
                if is_rest {
                    out.extend(b"\x1b[K");
                } else {
                    let _ = write!(out, "\x1b[{needed}X");
                }
                continue;
            }
            x = from;
        }
        pen.write(&new[x], columns as u16, out);
        x += usize::from(new[x].width.max(1));
    }
    Some(first)
}

/// Moves to the next changed cell: by a cursor movement, or by writing the cells in between again.
fn reach(out: &mut Vec<u8>, pen: &mut Pen, (x, y): (usize, u16), new: &[ScreenCell<'_>]) {
    let to = (x as u16, y);
    if let Some((from, row)) = pen.at
        && row == y
        && usize::from(from) < x
        && x - usize::from(from) < 2 * ERASE_MIN_BLANKS
    {
        let between = &new[usize::from(from)..x];
        if between.iter().all(|spot| !spot.has_uncertain_width()) {
            let (mut again, mut again_pen) = (Vec::new(), *pen);
            for spot in between.iter().filter(|spot| spot.width > 0) {
                again_pen.write(spot, new.len() as u16, &mut again);
            }
            let (mut moved, mut moved_pen) = (Vec::new(), *pen);
            moved_pen.go_to(to, &mut moved);
            let costs = |bytes: &Vec<u8>, pen: &Pen| {
                bytes.len() + pen.style.cost_of(new[x].style, new[x].is_blank())
            };
            if again_pen.at == Some(to) && costs(&again, &again_pen) <= costs(&moved, &moved_pen) {
                out.append(&mut again);
                *pen = again_pen;
                return;
            }
        }
    }
    pen.go_to(to, out);
}

#[cfg(test)]
mod tests;
