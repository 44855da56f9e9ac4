//! Cells as they are compared and written: a wide character has one cell with its text, and the cells behind it are
//! continuations.

use ratatui::buffer::{Cell, CellWidth};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use super::sgr::CellStyle;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ScreenCell<'a> {
    pub(super) symbol: &'a str,
    /// Width in cells; 0 for a continuation of a wide character.
    pub(super) width: u16,
    pub(super) style: CellStyle,
}

impl ScreenCell<'_> {
    pub(super) const BLANK: Self = Self {
        symbol: " ",
        width: 1,
        style: CellStyle {
            foreground: ratatui::style::Color::Reset,
            background: ratatui::style::Color::Reset,
            modifier: ratatui::style::Modifier::empty(),
        },
    };

    /// Whether the cell looks like an erased one.
    pub(super) fn is_blank(&self) -> bool {
        *self == Self::BLANK
    }

    /// Whether terminals may use another width: several characters in one cell, or one whose width they disagree about.
    pub(super) fn has_uncertain_width(&self) -> bool {
        let mut characters = self.symbol.chars();
        match (characters.next(), characters.next()) {
            (_, Some(_)) => true,
            (Some(c), None) => !c.is_ascii() && is_width_disputed(c),
            (None, None) => false,
        }
    }

    /// The maximum number of cells it takes, if the terminal draws each of its characters separately.
    pub(super) fn widest(&self) -> u16 {
        let mut buffer = [0; 4];
        let alone: u16 = self
            .symbol
            .chars()
            .map(|c| (*c.encode_utf8(&mut buffer)).cell_width())
            .sum();
        let doubtful = if self.has_uncertain_width() { 2 } else { 1 };
        alone.max(self.width).max(doubtful)
    }
}

/// Whether it is a sign, not a letter, that is one or two cells wide depending on terminal and locale; or a combining
/// mark that some terminals draw separately.
fn is_width_disputed(c: char) -> bool {
    match u32::from(c) {
        // Certain: lines, blocks and the signs of our own themes (where these are wide, `--ascii` is needed), and
        // scripts that are wide everywhere.
        0x2500..=0x259f
        | 0x2022
        | 0x2026
        | 0x2192
        | 0x2713
        | 0x1100..=0x11ff
        | 0x3000..=0x9fff
        | 0xac00..=0xd7a3 => false,
        // Doubtful: pictures that also have a text form, and regional indicators.
        0xa9
        | 0xae
        | 0x203c
        | 0x2049
        | 0x2122
        | 0x2139
        | 0x2190..=0x21ff
        | 0x2300..=0x24ff
        | 0x25a0..=0x27bf
        | 0x2900..=0x297f
        | 0x2b00..=0x2bff
        | 0x1f000..=0x1faff => true,
        _ => is_ambiguous(c) || is_a_spacing_mark(c),
    }
}

fn is_ambiguous(c: char) -> bool {
    !c.is_alphabetic() && c.width() != c.width_cjk()
}

/// Whether the character is drawn beside the previous one and is part of it.
fn is_a_spacing_mark(c: char) -> bool {
    let mut pair = [b'a'; 5];
    let length = 1 + c.encode_utf8(&mut pair[1..]).len();
    let pair = std::str::from_utf8(&pair[..length]).unwrap_or_default();
    pair.graphemes(true).count() == 1
}

pub(super) fn row(cells: &[Cell]) -> Vec<ScreenCell<'_>> {
    let mut spots: Vec<ScreenCell<'_>> = Vec::with_capacity(cells.len());
    while let Some(cell) = cells.get(spots.len()) {
        let symbol = match cell.symbol() {
            "" => " ",
            symbol => symbol,
        };
        // A character of one byte takes one cell; most are.
        let width = match symbol.len() {
            1 => 1,
            _ => symbol.cell_width().max(1),
        };
        let style = CellStyle::of(cell);
        if spots.len() + usize::from(width) > cells.len() {
            // A wide character that does not fit.
            spots.push(ScreenCell::BLANK);
            continue;
        }
        spots.push(ScreenCell {
            symbol,
            width,
            style,
        });
        for _ in 1..width {
            spots.push(ScreenCell {
                symbol: "",
                width: 0,
                style,
            });
        }
    }
    spots
}

/// Which cells must be written; of a wide character all or none.
pub(super) fn changed(old: &[ScreenCell<'_>], new: &[ScreenCell<'_>]) -> Vec<bool> {
    let mut changed: Vec<bool> = old.iter().zip(new).map(|(old, new)| old != new).collect();
    let mut x = 0;
    while x < new.len() {
        let width = usize::from(new[x].width.max(1));
        if changed[x..x + width].contains(&true) {
            changed[x..x + width].fill(true);
            if new[x].has_uncertain_width() {
                // Also rewrites the cells that the old character may have been drawn over.
                let until = (x + usize::from(new[x].widest()).max(width + 1)).min(new.len());
                changed[x + width..until].fill(true);
            }
        }
        x += width;
    }
    changed
}
