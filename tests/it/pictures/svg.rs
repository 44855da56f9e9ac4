//! A screen as an SVG picture, for README and guide. The same buffer always gives the same text.

use std::fmt::Write;

use ratatui::{
    buffer::{Buffer, Cell, CellWidth},
    style::{Color, Modifier},
};

const CELL_WIDTH: u32 = 9;
const CELL_HEIGHT: u32 = 19;
const PADDING: u32 = 14;
const TITLE_BAR: u32 = 34;
const FONT_SIZE: u32 = 15;
/// From the top of a cell to the baseline of its text.
const BASELINE: u32 = 14;

const BACKGROUND: &str = "#14171c";
const FOREGROUND: &str = "#d5d9e0";

/// Draws a window with this title and the buffer as its content.
pub(super) fn svg(buffer: &Buffer, title: &str) -> String {
    let area = buffer.area;
    let width = u32::from(area.width) * CELL_WIDTH + 2 * PADDING;
    let height = u32::from(area.height) * CELL_HEIGHT + TITLE_BAR + PADDING;
    let mut svg = String::new();
    frame(&mut svg, width, height, title);
    for y in 0..area.height {
        let row: Vec<Piece> = pieces(buffer, area.y + y);
        let top = TITLE_BAR + u32::from(y) * CELL_HEIGHT;
        for piece in &row {
            piece.draw_background(&mut svg, top);
        }
        for piece in &row {
            piece.draw_text(&mut svg, top);
        }
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn frame(svg: &mut String, width: u32, height: u32, title: &str) {
    let middle = width / 2;
    let title = escaped(title);
    let bar = TITLE_BAR - 12;
    let _ = write!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">
<title>{title}</title>
<rect x="0.5" y="0.5" width="{}" height="{}" rx="8" fill="{BACKGROUND}" stroke="#3a404a"/>
<circle cx="18" cy="16" r="5.5" fill="#f2635c"/><circle cx="36" cy="16" r="5.5" fill="#e9b64a"/><circle cx="54" cy="16" r="5.5" fill="#62c554"/>
<text x="{middle}" y="{bar}" fill="#8b93a1" font-family="sans-serif" font-size="13" text-anchor="middle">{title}</text>
<g font-family="'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace" font-size="{FONT_SIZE}">
"##,
        width - 1,
        height - 1
    );
}

/// Neighbouring cells of one style.
#[derive(Debug, PartialEq)]
struct Piece {
    column: u16,
    cells: u16,
    text: String,
    look: Look,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    foreground: &'static str,
    background: &'static str,
    modifier: Modifier,
}

impl Look {
    fn of(cell: &Cell) -> Self {
        let modifier = cell.modifier;
        let foreground = colour(cell.fg, FOREGROUND);
        let background = colour(cell.bg, BACKGROUND);
        let (foreground, background) = if modifier.contains(Modifier::REVERSED) {
            (background, foreground)
        } else {
            (foreground, background)
        };
        Self {
            foreground,
            background,
            modifier: modifier.difference(Modifier::REVERSED),
        }
    }
}

/// Cuts a row into pieces. Each non-ASCII character is a piece of its own, so that no font can shift its neighbours.
fn pieces(buffer: &Buffer, y: u16) -> Vec<Piece> {
    let area = buffer.area;
    let mut pieces: Vec<Piece> = Vec::new();
    let mut x = area.left();
    while x < area.right() {
        let cell = &buffer[(x, y)];
        let symbol = cell.symbol();
        let cells = symbol.cell_width().max(1);
        let look = Look::of(cell);
        let column = x - area.left();
        match pieces.last_mut() {
            Some(last) if last.look == look && last.takes(symbol) => {
                last.text.push_str(symbol);
                last.cells += cells;
            }
            _ => pieces.push(Piece {
                column,
                cells,
                text: symbol.to_owned(),
                look,
            }),
        }
        x += cells;
    }
    pieces
}

impl Piece {
    /// Whether the next cell may join: ASCII joins ASCII, and a line continues a line.
    fn takes(&self, symbol: &str) -> bool {
        let is_text = self.text.is_ascii() && symbol.is_ascii();
        is_text || (symbol == "─" && self.text.ends_with(symbol) && self.text.starts_with(symbol))
    }

    /// Box-drawing characters are drawn as lines, because those of a font leave gaps between the rows.
    fn draw_box(&self, svg: &mut String, top: u32, arms: Arms) {
        let (x, width) = (self.x(), self.width());
        let (middle_x, middle_y) = (x + width / 2, top + CELL_HEIGHT / 2);
        let from_x = if arms.left { x } else { middle_x };
        let to_x = if arms.right { x + width } else { middle_x + 1 };
        let from_y = if arms.up { top } else { middle_y };
        let to_y = if arms.down {
            top + CELL_HEIGHT
        } else {
            middle_y + 1
        };
        let colour = self.look.foreground;
        let mut line = |x: u32, y: u32, width: u32, height: u32| {
            let _ = writeln!(
                svg,
                r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}"/>"#
            );
        };
        if arms.left || arms.right {
            line(from_x, middle_y, to_x - from_x, 1);
        }
        if arms.up || arms.down {
            line(middle_x, from_y, 1, to_y - from_y);
        }
    }

    fn x(&self) -> u32 {
        PADDING + u32::from(self.column) * CELL_WIDTH
    }

    fn width(&self) -> u32 {
        u32::from(self.cells) * CELL_WIDTH
    }

    fn draw_background(&self, svg: &mut String, top: u32) {
        if self.look.background != BACKGROUND {
            let _ = writeln!(
                svg,
                r#"<rect x="{}" y="{top}" width="{}" height="{CELL_HEIGHT}" fill="{}"/>"#,
                self.x(),
                self.width(),
                self.look.background
            );
        }
    }

    fn draw_text(&self, svg: &mut String, top: u32) {
        let modifier = self.look.modifier;
        let is_blank = self.text.trim().is_empty();
        let is_lined = modifier.intersects(Modifier::UNDERLINED | Modifier::CROSSED_OUT);
        if modifier.contains(Modifier::HIDDEN) || (is_blank && !is_lined) {
            return;
        }
        let mut style = String::new();
        if modifier.contains(Modifier::BOLD) {
            style.push_str(r#" font-weight="bold""#);
        }
        if modifier.contains(Modifier::ITALIC) {
            style.push_str(r#" font-style="italic""#);
        }
        if modifier.contains(Modifier::DIM) {
            style.push_str(r#" opacity="0.6""#);
        }
        let colour = self.look.foreground;
        if let Some(arms) = self.text.chars().next().and_then(arms) {
            self.draw_box(svg, top, arms);
        } else {
            for (at, words) in phrases(&self.text) {
                let cells = if words.is_ascii() {
                    words.len() as u32
                } else {
                    u32::from(self.cells)
                };
                let _ = writeln!(
                    svg,
                    r#"<text x="{}" y="{}" fill="{colour}" textLength="{}" lengthAdjust="spacingAndGlyphs"{style}>{}</text>"#,
                    self.x() + at as u32 * CELL_WIDTH,
                    top + BASELINE,
                    cells * CELL_WIDTH,
                    escaped(words)
                );
            }
        }
        // Drawn as lines, because `text-decoration` ends where the letters end.
        for (line, below) in [(Modifier::UNDERLINED, 16), (Modifier::CROSSED_OUT, 9)] {
            if modifier.contains(line) {
                let _ = writeln!(
                    svg,
                    r#"<rect x="{}" y="{}" width="{}" height="1" fill="{colour}"/>"#,
                    self.x(),
                    top + below,
                    self.width()
                );
            }
        }
    }
}

/// In which directions a box-drawing character has lines.
#[derive(Debug, Clone, Copy)]
struct Arms {
    left: bool,
    right: bool,
    up: bool,
    down: bool,
}

fn arms(sign: char) -> Option<Arms> {
    let (left, right, up, down) = match sign {
        '─' | '━' => (true, true, false, false),
        '│' => (false, false, true, true),
        '┌' => (false, true, false, true),
        '┐' => (true, false, false, true),
        '└' => (false, true, true, false),
        '┘' => (true, false, true, false),
        '├' => (false, true, true, true),
        '┤' => (true, false, true, true),
        '┬' => (true, true, false, true),
        '┴' => (true, true, true, false),
        '┼' => (true, true, true, true),
        _ => return None,
    };
    Some(Arms {
        left,
        right,
        up,
        down,
    })
}

/// The parts of a text between runs of spaces, with their byte offsets: viewers disagree on how to draw runs.
fn phrases(text: &str) -> Vec<(usize, &str)> {
    let mut phrases = Vec::new();
    let mut at = 0;
    for part in text.split("  ") {
        let phrase = part.trim_start_matches(' ');
        if !phrase.trim().is_empty() {
            phrases.push((at + part.len() - phrase.len(), phrase.trim_end_matches(' ')));
        }
        at += part.len() + 2;
    }
    phrases
}

/// The 16 named colours; pictures use no others.
fn colour(colour: Color, default: &'static str) -> &'static str {
    match colour {
        Color::Black => "#20242b",
        Color::Red => "#e06c6c",
        Color::Green => "#8cc570",
        Color::Yellow => "#e0b860",
        Color::Blue => "#6aa7ec",
        Color::Magenta => "#c98be0",
        Color::Cyan => "#5fc3cf",
        Color::Gray => "#b9bfc9",
        Color::DarkGray => "#6b7280",
        Color::LightRed => "#ff8f8a",
        Color::LightGreen => "#abe08f",
        Color::LightYellow => "#f4d58a",
        Color::LightBlue => "#92c4ff",
        Color::LightMagenta => "#e0b0f2",
        Color::LightCyan => "#8be2ea",
        Color::White => "#f3f5f8",
        Color::Reset | Color::Rgb(..) | Color::Indexed(_) => default,
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
