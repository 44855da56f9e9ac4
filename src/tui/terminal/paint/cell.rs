//! Cells as they are compared and written: a wide character has one cell with its text, and the cells behind it are
//! continuations.

use ratatui::{
    buffer::{Cell, CellWidth},
    prelude::{Color, Modifier},
};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

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

/// The style of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct CellStyle {
    pub(super) foreground: Color,
    pub(super) background: Color,
    pub(super) modifier: Modifier,
}

/// Attributes that are visible on a blank.
const SEEN_ON_BLANKS: Modifier = Modifier::REVERSED
    .union(Modifier::UNDERLINED)
    .union(Modifier::CROSSED_OUT);

/// Attributes with the codes that switch them on and off.
const ATTRIBUTES: [(Modifier, u8, u8); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

impl CellStyle {
    /// The style of a cell; a blank keeps only what is visible on it.
    pub(super) fn of(cell: &Cell) -> Self {
        let style = Self {
            foreground: cell.fg,
            background: cell.bg,
            modifier: cell.modifier,
        };
        if cell.symbol() == " " && !style.modifier.intersects(SEEN_ON_BLANKS) {
            Self {
                background: cell.bg,
                ..Self::default()
            }
        } else {
            style
        }
    }

    pub(super) fn is_seen_on_blanks(self) -> bool {
        !self.is_plain_on_blanks()
    }

    /// Whether a blank that is written or erased in this style looks like one without any style.
    pub(super) fn is_plain_on_blanks(self) -> bool {
        self.background == Color::Reset && !self.modifier.intersects(SEEN_ON_BLANKS)
    }

    /// Number of bytes for changing to the style that the next cell needs.
    pub(super) fn cost_of(self, to: Self, is_blank: bool) -> usize {
        if is_blank && self.is_plain_on_blanks() {
            return 0;
        }
        let mut bytes = Vec::new();
        self.change_to(to, &mut bytes);
        bytes.len()
    }

    /// Writes the shorter of two sequences: only the differences, or a reset followed by everything.
    pub(super) fn change_to(self, to: Self, out: &mut Vec<u8>) {
        if self == to {
            return;
        }
        let step = self.step_to(to);
        let reset = Self::default().step_to(to);
        out.extend(b"\x1b[");
        if reset.is_empty() {
            // When nothing is left on, a reset is the shortest sequence.
        } else if reset.len() + 2 < step.len() {
            out.extend(b"0;");
            out.extend(reset);
        } else {
            out.extend(step);
        }
        out.push(b'm');
    }

    /// The codes of the differences.
    fn step_to(self, to: Self) -> Vec<u8> {
        let mut codes = Vec::with_capacity(16);
        let mut now = self.modifier;
        if now != to.modifier {
            for (attribute, _, off) in ATTRIBUTES {
                if now.contains(attribute) && !to.modifier.contains(attribute) {
                    code(&mut codes, off);
                    // One code may switch off two attributes; the other one is switched on again below.
                    for (other, _, ends) in ATTRIBUTES {
                        if ends == off {
                            now.remove(other);
                        }
                    }
                }
            }
            for (attribute, on, _) in ATTRIBUTES {
                if to.modifier.contains(attribute) && !now.contains(attribute) {
                    code(&mut codes, on);
                }
            }
        }
        if self.foreground != to.foreground {
            colour(&mut codes, to.foreground, 30);
        }
        if self.background != to.background {
            colour(&mut codes, to.background, 40);
        }
        codes
    }
}

fn code(codes: &mut Vec<u8>, number: u8) {
    if !codes.is_empty() {
        codes.push(b';');
    }
    let digits = [number / 100, number / 10 % 10, number % 10];
    let zeros = digits[..2].iter().take_while(|digit| **digit == 0).count();
    codes.extend(digits[zeros..].iter().map(|digit| b'0' + digit));
}

/// `base` is 30 for the text colour and 40 for the background.
fn colour(codes: &mut Vec<u8>, colour: Color, base: u8) {
    let bright = base + 60;
    let number = match colour {
        Color::Reset => base + 9,
        Color::Black => base,
        Color::Red => base + 1,
        Color::Green => base + 2,
        Color::Yellow => base + 3,
        Color::Blue => base + 4,
        Color::Magenta => base + 5,
        Color::Cyan => base + 6,
        Color::Gray => base + 7,
        Color::DarkGray => bright,
        Color::LightRed => bright + 1,
        Color::LightGreen => bright + 2,
        Color::LightYellow => bright + 3,
        Color::LightBlue => bright + 4,
        Color::LightMagenta => bright + 5,
        Color::LightCyan => bright + 6,
        Color::White => bright + 7,
        Color::Indexed(index) => {
            return [base + 8, 5, index]
                .into_iter()
                .for_each(|n| code(codes, n));
        }
        Color::Rgb(red, green, blue) => {
            let numbers = [base + 8, 2, red, green, blue].into_iter();
            return numbers.for_each(|n| code(codes, n));
        }
    };
    code(codes, number);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(from: CellStyle, to: CellStyle) -> String {
        let mut out = Vec::new();
        from.change_to(to, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn the_shorter_way_is_taken() {
        let plain = CellStyle::default();
        let bold = CellStyle {
            modifier: Modifier::BOLD,
            ..plain
        };
        let all = CellStyle {
            foreground: Color::Red,
            modifier: Modifier::BOLD | Modifier::REVERSED,
            ..plain
        };
        let dim = CellStyle {
            modifier: Modifier::DIM,
            ..plain
        };
        assert_eq!(step(plain, plain), "");
        assert_eq!(step(plain, bold), "\x1b[1m");
        assert_eq!(step(bold, plain), "\x1b[m");
        assert_eq!(step(bold, dim), "\x1b[0;2m");
        assert_eq!(step(bold, all), "\x1b[7;31m");
        assert_eq!(step(all, plain), "\x1b[m");
        let both = CellStyle {
            modifier: Modifier::BOLD | Modifier::DIM,
            ..plain
        };
        assert_eq!(step(both, dim), "\x1b[0;2m");
    }
}
