//! The bytes that turn one frame into the next, as few as possible: over a slow line every byte is waited for. It keeps
//! what is on the screen, and writes only to the caller's buffer.

mod cell;
mod scroll;
mod sgr;

use std::io::Write as _;

use ratatui::{
    buffer::{Buffer, Cell},
    layout::{Position, Rect},
};

use super::Render;
use cell::ScreenCell;
use scroll::Marks;
use sgr::CellStyle;

/// From so many bytes on a frame is worth the two marks around it; a shorter one reaches the terminal in one piece.
const WORTH_A_MARK: usize = 1_024;
/// From so many bytes on it is looked whether rows only moved.
const WORTH_A_LOOK: usize = 100;
/// Blanks that cost as much as the sequence that erases them.
const WORTH_ERASING: usize = 5;

/// What is on the screen of the terminal, and in which state the last bytes left it.
#[derive(Debug)]
pub struct Painter {
    last: Buffer,
    /// What is drawn next.
    next: Buffer,
    marks: Marks,
    /// Nobody knows what is on the screen.
    is_stale: bool,
    cursor: Option<Position>,
    pen: Pen,
    /// The terminal shows nothing between two marks until the second one (mode 2026).
    synchronised: bool,
}

/// Where the terminal writes next, and how.
#[derive(Debug, Clone, Copy, Default)]
struct Pen {
    /// Column and row; `None` where terminals disagree, as after the last column.
    at: Option<(u16, u16)>,
    look: CellStyle,
}

impl Painter {
    /// For a screen that is empty, with the cursor hidden.
    pub fn new(synchronised: bool) -> Self {
        Self {
            last: Buffer::default(),
            next: Buffer::default(),
            marks: Marks::default(),
            is_stale: false,
            cursor: None,
            pen: Pen::default(),
            synchronised,
        }
    }

    /// The next frame is written whole.
    pub fn forget(&mut self) {
        self.is_stale = true;
    }

    /// The bytes for the next frame; none where nothing differs.
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
                // The state of the terminal is unknown, too: a shell may have left it in another one.
                out.extend(b"\x1b[r\x1b[m\x1b[H\x1b[2J");
                out.extend(if self.cursor.is_some() {
                    b"\x1b[?25h"
                } else {
                    b"\x1b[?25l"
                });
            }
            self.pen = Pen::default();
            self.last = Buffer::empty(area);
            self.marks.forget();
            self.is_stale = false;
        }
        let (old, new): (Vec<_>, Vec<_>) = (rows(&self.last).collect(), rows(&self.next).collect());
        // Most rows are as they were: nothing is made of them.
        let changed: Vec<usize> = (0..new.len()).filter(|y| old[*y] != new[*y]).collect();
        let mut pen = self.pen;
        let mut plain = Vec::new();
        for y in &changed {
            write_row(&mut plain, &mut pen, *y, old[*y], new[*y]);
        }
        if is_whole || plain.len() <= WORTH_A_LOOK {
            self.marks.forget_some(&changed);
        } else if let Some(shift) = self.marks.shift(&old, &new, &changed) {
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
        if pen.look.is_seen_on_blanks() {
            pen.look.change_to(CellStyle::default(), &mut out);
            pen.look = CellStyle::default();
        }
        self.place(&mut out, &mut pen, cursor);
        self.pen = pen;
        std::mem::swap(&mut self.last, &mut self.next);
        if self.synchronised && out.len() >= WORTH_A_MARK {
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
    /// The shortest way to a cell.
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

    fn take(&mut self, look: CellStyle, out: &mut Vec<u8>) {
        self.look.change_to(look, out);
        self.look = look;
    }

    /// Writes one spot where the pen is.
    fn write(&mut self, spot: &ScreenCell<'_>, columns: u16, out: &mut Vec<u8>) {
        if !(spot.is_blank() && self.look.leaves_blanks_alone()) {
            self.take(spot.look, out);
        }
        let Some((x, y)) = self.at else { return };
        let after = x + spot.width;
        if !spot.is_risky() {
            out.extend(spot.symbol.as_bytes());
            self.at = (after < columns).then_some((after, y));
            return;
        }
        // Terminals disagree about the width of such a sign: nothing of what was there may stay beside a narrow one,
        // nothing may be pushed over the edge by a wide one, and what follows is placed anew.
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
    // Erased as a whole at first, the blanks between the texts are only skipped.
    if plain.len() > WORTH_A_LOOK / 2 {
        let (mut erased, mut erased_pen) = (Vec::new(), *pen);
        erased_pen.go_to((first as u16, y as u16), &mut erased);
        if !erased_pen.look.leaves_blanks_alone() {
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

/// Writes what differs; says where that begins, if anywhere.
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
        // The rest of the row, or a run of blanks, is erased where that is shorter.
        let blanks = new[x..=end]
            .iter()
            .take_while(|spot| spot.is_blank())
            .count();
        let is_rest = x >= blank_from;
        if blanks > WORTH_ERASING {
            let from = x;
            x += blanks;
            // Not over what is as it should be.
            let needed = changed[from..x].iter().rposition(|changed| *changed);
            let needed = needed.map_or(0, |last| last + 1);
            if is_rest || needed > 2 * WORTH_ERASING {
                if !pen.look.leaves_blanks_alone() {
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

/// Goes to the next cell that changed: over the cells between by a move, or by writing them once more.
fn reach(out: &mut Vec<u8>, pen: &mut Pen, (x, y): (usize, u16), new: &[ScreenCell<'_>]) {
    let to = (x as u16, y);
    if let Some((from, row)) = pen.at
        && row == y
        && usize::from(from) < x
        && x - usize::from(from) < 2 * WORTH_ERASING
    {
        let between = &new[usize::from(from)..x];
        if between.iter().all(|spot| !spot.is_risky()) {
            let (mut again, mut again_pen) = (Vec::new(), *pen);
            for spot in between.iter().filter(|spot| spot.width > 0) {
                again_pen.write(spot, new.len() as u16, &mut again);
            }
            let (mut moved, mut moved_pen) = (Vec::new(), *pen);
            moved_pen.go_to(to, &mut moved);
            let costs = |bytes: &Vec<u8>, pen: &Pen| {
                bytes.len() + pen.look.cost_of(new[x].look, new[x].is_blank())
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
