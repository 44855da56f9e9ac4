//! Cells as they are compared and written: a wide sign is one spot, and the cells behind it are its rest.

use ratatui::buffer::{Cell, CellWidth};

use super::sgr::Look;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Spot<'a> {
    pub(super) symbol: &'a str,
    /// Cells it takes; 0 for the rest of a wide sign.
    pub(super) width: u16,
    pub(super) look: Look,
}

impl Spot<'_> {
    pub(super) const BLANK: Self = Self {
        symbol: " ",
        width: 1,
        look: Look {
            foreground: ratatui::style::Color::Reset,
            background: ratatui::style::Color::Reset,
            modifier: ratatui::style::Modifier::empty(),
        },
    };

    /// As an erased cell.
    pub(super) fn is_blank(&self) -> bool {
        *self == Self::BLANK
    }

    /// Whether terminals may give it another width: several characters in one sign.
    pub(super) fn is_risky(&self) -> bool {
        self.symbol.chars().nth(1).is_some()
    }

    /// Cells that it takes at the most, where each of its characters stands alone.
    pub(super) fn widest(&self) -> u16 {
        let mut buffer = [0; 4];
        let alone: u16 = self
            .symbol
            .chars()
            .map(|c| (*c.encode_utf8(&mut buffer)).cell_width())
            .sum();
        alone.max(self.width)
    }
}

pub(super) fn row(cells: &[Cell]) -> Vec<Spot<'_>> {
    let mut spots: Vec<Spot<'_>> = Vec::with_capacity(cells.len());
    while let Some(cell) = cells.get(spots.len()) {
        let symbol = if cell.symbol().is_empty() {
            " "
        } else {
            cell.symbol()
        };
        let width = symbol.cell_width().max(1);
        let look = Look::of(cell);
        if spots.len() + usize::from(width) > cells.len() {
            // A wide sign that does not fit.
            spots.push(Spot::BLANK);
            continue;
        }
        spots.push(Spot {
            symbol,
            width,
            look,
        });
        for _ in 1..width {
            spots.push(Spot {
                symbol: "",
                width: 0,
                look,
            });
        }
    }
    spots
}

/// Which cells must be written; of a wide sign all or none.
pub(super) fn changed(old: &[Spot<'_>], new: &[Spot<'_>]) -> Vec<bool> {
    let mut changed: Vec<bool> = old.iter().zip(new).map(|(old, new)| old != new).collect();
    let mut x = 0;
    while x < new.len() {
        let width = usize::from(new[x].width.max(1));
        if changed[x..x + width].contains(&true) {
            changed[x..x + width].fill(true);
            if new[x].is_risky() {
                // What it may have been drawn over.
                let until = (x + usize::from(new[x].widest()).max(width + 1)).min(new.len());
                changed[x + width..until].fill(true);
            }
        }
        x += width;
    }
    changed
}
