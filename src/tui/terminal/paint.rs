//! The bytes that turn one frame into the next, as few as possible: over a slow line every byte is waited for. It keeps
//! what is on the screen, and writes only to the caller's buffer.

mod cell;
mod scroll;
mod sgr;

use std::io::Write as _;

use ratatui::{
    buffer::{Buffer, Cell},
    layout::Position,
};

use cell::ScreenCell;
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

    /// The bytes for the next frame, and where its cursor belongs; none where nothing differs.
    pub fn paint(&mut self, next: &Buffer, cursor: Option<Position>) -> Vec<u8> {
        let mut out = Vec::new();
        let is_first = self.last.area.is_empty() && !self.is_stale;
        let is_whole = self.is_stale || self.last.area != next.area;
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
            self.last = Buffer::empty(next.area);
            self.is_stale = false;
        }
        let mut pen = self.pen;
        let mut plain = Vec::new();
        for (y, (old, new)) in cells(&self.last).zip(cells(next)).enumerate() {
            // Most rows are as they were: nothing is made of them.
            if old != new {
                write_row(
                    &mut plain,
                    &mut pen,
                    y as u16,
                    &cell::row(old),
                    &cell::row(new),
                );
            }
        }
        if plain.len() > WORTH_A_LOOK && !is_whole {
            let old: Vec<_> = cells(&self.last).map(cell::row).collect();
            let new: Vec<_> = cells(next).map(cell::row).collect();
            if let Some(shift) = scroll::found(&old, &new) {
                let mut moved = Vec::new();
                let mut moved_pen = self.pen;
                shift.write(&mut moved, &mut moved_pen);
                write_rows(&mut moved, &mut moved_pen, &shift.apply(&old), &new);
                if moved.len() < plain.len() {
                    (plain, pen) = (moved, moved_pen);
                }
            }
        }
        out.append(&mut plain);
        if pen.look.is_seen_on_blanks() {
            pen.look.change_to(CellStyle::default(), &mut out);
            pen.look = CellStyle::default();
        }
        self.place(&mut out, &mut pen, cursor);
        self.pen = pen;
        copy(next, &mut self.last);
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

/// Into the memory that is there; `Buffer::clone_from` would take new memory for every frame.
pub(super) fn copy(from: &Buffer, to: &mut Buffer) {
    to.area = from.area;
    to.content.clone_from(&from.content);
}

/// The rows of a buffer.
fn cells(buffer: &Buffer) -> impl Iterator<Item = &[Cell]> {
    let width = usize::from(buffer.area.width).max(1);
    buffer.content.chunks_exact(width)
}

fn write_rows(
    out: &mut Vec<u8>,
    pen: &mut Pen,
    old: &[Vec<ScreenCell<'_>>],
    new: &[Vec<ScreenCell<'_>>],
) {
    for (y, (old, new)) in old.iter().zip(new).enumerate() {
        if old != new {
            write_row(out, pen, y as u16, old, new);
        }
    }
}

fn write_row(
    out: &mut Vec<u8>,
    pen: &mut Pen,
    y: u16,
    old: &[ScreenCell<'_>],
    new: &[ScreenCell<'_>],
) {
    let columns = new.len();
    let changed = cell::changed(old, new);
    let blank_from = new
        .iter()
        .rposition(|spot| !spot.is_blank())
        .map_or(0, |last| last + 1);
    let Some(end) = changed.iter().rposition(|changed| *changed) else {
        return;
    };
    let mut x = 0;
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
