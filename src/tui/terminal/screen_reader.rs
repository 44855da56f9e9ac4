//! Turns a frame into lines to be read aloud: what is new since the last frame, the row with the focus first. It works
//! on what the panes draw, so that it says what the screen would show.

use std::io::{self, IsTerminal};

use ratatui::{
    buffer::CellWidth,
    prelude::{Buffer, Modifier, Position, Rect},
};

use super::{
    GuardedOutput, Modes, Render, TerminalError, console_thread, restore, take_over,
    tty_writer::tty,
};

/// Narrow enough that no details are shown beside a list: two things in one line cannot be read aloud.
pub const COLUMNS: u16 = 98;
/// As much as a person reads at a time.
pub const ROWS: u16 = 40;

/// Remembers what was read so far.
#[derive(Debug, Default)]
pub struct ScreenReader {
    last: Option<Page>,
}

/// A frame, split into its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Page {
    /// The left of line 1: environment, profile, host, rights.
    place: String,
    /// The breadcrumb path.
    breadcrumb: String,
    /// Counts and marks, without the age of the data.
    status: String,
    keys: String,
    body: Vec<Line>,
    focus: Option<usize>,
    /// The focus is a text field, which has the terminal's cursor.
    is_typed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    text: String,
    /// The edge of a box, with its title.
    is_edge: bool,
}

impl ScreenReader {
    /// Makes the next frame be read in full.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// Returns the lines to read now; empty if nothing has changed.
    pub fn read(&mut self, frame: &Buffer, cursor: Option<Position>) -> Vec<String> {
        let page = Page::of(frame, cursor);
        let lines = match &self.last {
            Some(last) if last.breadcrumb == page.breadcrumb && last.place == page.place => {
                page.news(last)
            }
            _ => page.whole(self.last.as_ref()),
        };
        self.last = Some(page);
        lines
    }
}

impl Page {
    fn of(frame: &Buffer, cursor: Option<Position>) -> Self {
        let height = frame.area.height;
        let row = |y: u16| {
            if y < height {
                text(frame, y)
            } else {
                String::new()
            }
        };
        let (left, right) = halves(&row(1));
        // The counts follow the breadcrumb path.
        let (breadcrumb, counts) = left.split_once("  ").unwrap_or((&left, ""));
        let status = words(&format!("{counts}  {right}"));
        let body_rows = 2..height.saturating_sub(2);
        let body: Vec<Line> = body_rows.clone().map(|y| line(&row(y))).collect();
        let focused = cursor
            .map(|at| at.y)
            .or_else(|| body_rows.clone().find(|y| has_cursor(frame, *y)));
        Self {
            place: halves(&row(0)).0,
            breadcrumb: breadcrumb.to_owned(),
            status: without_age(&status),
            keys: words(&row(height.saturating_sub(1))),
            body,
            focus: focused
                .filter(|y| body_rows.contains(y))
                .map(|y| usize::from(y - 2)),
            is_typed: cursor.is_some(),
        }
    }

    fn focus(&self) -> Option<String> {
        let line = self.body.get(self.focus?)?;
        Some(format!("> {}", bare(&line.text)))
    }

    /// Reads another pane: everything, and at the end the row of the cursor.
    fn whole(&self, last: Option<&Self>) -> Vec<String> {
        let mut lines = Vec::new();
        if last.is_none_or(|last| last.place != self.place) {
            lines.push(self.place.clone());
        }
        lines.push(format!("# {}", self.breadcrumb));
        lines.push(self.status.clone());
        let others = self.body.iter().enumerate();
        let others = others.filter(|(at, _)| Some(*at) != self.focus);
        lines.extend(others.map(|(_, line)| line.text.clone()));
        lines.push(format!("keys: {}", self.keys));
        lines.extend(self.focus());
        lines.retain(|line| !line.is_empty());
        lines
    }

    /// Reads changes of the same pane: the row of the cursor, and what else has changed.
    fn news(&self, last: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        let focus = self.focus();
        let moved = focus != last.focus();
        if moved {
            lines.extend(focus);
        }
        // Rows that scroll into view beside the cursor are not read; what appears beside a field because of typing is.
        let is_typing = self.is_typed && self.focus == last.focus;
        let scrolls = moved && !is_typing;
        let table = if scrolls { self.block() } else { 0..0 };
        for (at, line) in self.body.iter().enumerate() {
            // A row that only lost the cursor was read before.
            let is_known = last
                .body
                .iter()
                .any(|known| bare(&known.text) == bare(&line.text));
            if !is_known && Some(at) != self.focus && !line.is_edge && !table.contains(&at) {
                lines.push(line.text.clone());
            }
        }
        if self.status != last.status {
            lines.push(self.status.clone());
        }
        lines.retain(|line| !line.is_empty());
        lines
    }

    /// The rows around the focus, from edge to edge.
    fn block(&self) -> std::ops::Range<usize> {
        let Some(focus) = self.focus else { return 0..0 };
        let before = self.body[..focus].iter().rposition(|line| line.is_edge);
        let after = self.body[focus..].iter().position(|line| line.is_edge);
        before.map_or(0, |at| at + 1)..after.map_or(self.body.len(), |at| focus + at)
    }
}

/// A line without the cursor sign.
fn bare(line: &str) -> &str {
    line.trim_start_matches(['>', ' '])
}

/// The text of a row.
fn text(frame: &Buffer, y: u16) -> String {
    let mut text = String::new();
    let mut x = 0;
    while x < frame.area.width {
        let symbol = frame[(x, y)].symbol();
        text.push_str(symbol);
        x += symbol.cell_width().max(1);
    }
    text
}

/// Whether it is the row of a list's cursor: it begins with a reversed `>`, wherever its box is.
fn has_cursor(frame: &Buffer, y: u16) -> bool {
    let cells = (0..frame.area.width).map(|x| &frame[(x, y)]);
    let mut signs = cells.skip_while(|cell| cell.symbol().chars().all(|c| c == ' ' || is_box(c)));
    signs
        .next()
        .is_some_and(|cell| cell.symbol() == ">" && cell.modifier.contains(Modifier::REVERSED))
}

fn is_box(sign: char) -> bool {
    ('\u{2500}'..='\u{257f}').contains(&sign)
}

fn line(row: &str) -> Line {
    let is_edge = row.contains("──") || row.contains("━━");
    Line {
        text: words(&row.replace(is_box, " ")),
        is_edge,
    }
}

/// Removes the padding between columns; two blanks remain, which are heard as a pause.
fn words(row: &str) -> String {
    let parts = row.split("  ").map(str::trim);
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("  ")
}

/// The left and the right part of a row.
fn halves(row: &str) -> (String, String) {
    let row = row.trim();
    match row.split_once("   ") {
        Some((left, right)) => (words(left), words(right)),
        None => (words(row), String::new()),
    }
}

/// Removes the age of the data: its change is not worth reading by itself.
fn without_age(status: &str) -> String {
    let parts = status.split("  ");
    let parts: Vec<&str> = parts
        .filter(|part| !part.ends_with(" ago") && !part.starts_with("read "))
        .collect();
    parts.join("  ")
}

/// Raw mode and bracketed paste and nothing else; left on drop.
#[derive(Debug)]
pub struct PlainScreen {
    reader: ScreenReader,
    out: GuardedOutput<'static>,
    frame: Buffer,
    is_ascii: bool,
}

impl PlainScreen {
    /// Enters raw mode. The calling thread counts as the console's thread from now on.
    pub fn enter(is_ascii: bool) -> io::Result<Self> {
        if !io::stdout().is_terminal() {
            return Err(io::Error::other(TerminalError::NotATerminal));
        }
        let out = GuardedOutput(tty()?);
        *console_thread() = Some(std::thread::current().id());
        take_over(Modes::empty())?;
        Ok(Self {
            reader: ScreenReader::default(),
            out,
            frame: Buffer::empty(Rect::new(0, 0, COLUMNS, ROWS)),
            is_ascii,
        })
    }

    /// Appends what has changed.
    pub fn draw(&mut self, render: Render<'_>) -> io::Result<()> {
        self.frame.reset();
        let cursor = render(&mut self.frame);
        let lines = self.reader.read(&self.frame, cursor);
        self.append(lines)
    }

    /// Appends lines that are on no screen.
    pub fn announce(&mut self, lines: Vec<String>) -> io::Result<()> {
        self.append(lines)
    }

    fn append(&mut self, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&line);
            text.push_str("\r\n");
        }
        if self.is_ascii {
            text = text.replace('…', "..").replace('→', "->").replace('•', "*");
        }
        self.out.write_all(text.as_bytes())
    }

    /// Makes the next draw read everything again.
    pub fn redraw(&mut self) {
        self.reader.forget();
    }

    /// Does nothing: the plain mode has no colours.
    pub fn ask_background(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Like [`super::Screen::copy`].
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        super::copy(text)
    }

    /// Like [`super::Screen::suspend`].
    pub fn suspend(&mut self) -> io::Result<()> {
        self.redraw();
        super::suspend(Modes::empty())
    }

    /// Like [`super::Screen::give_away`].
    pub fn give_away(&mut self) -> io::Result<()> {
        super::give_away()
    }

    /// Like [`super::Screen::take_back`].
    pub fn take_back(&mut self) -> io::Result<()> {
        self.redraw();
        super::take_back(Modes::empty())
    }

    /// Like [`super::Screen::continued`].
    pub fn continued(&mut self) -> io::Result<()> {
        super::continued(Modes::empty())
    }
}

impl Drop for PlainScreen {
    fn drop(&mut self) {
        restore();
    }
}

#[cfg(test)]
mod tests {
    use ratatui::{layout::Rect, style::Style};

    use super::*;

    const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);

    fn frame(rows: &[&str]) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 60, rows.len() as u16));
        for (y, row) in rows.iter().enumerate() {
            let is_cursor = row.trim_start_matches(['│', ' ']).starts_with('>');
            let style = if is_cursor { REVERSED } else { Style::new() };
            buffer.set_string(0, y as u16, row, style);
        }
        buffer
    }

    fn list(cursor: usize, message: &str) -> Buffer {
        let names = ["Acme  4", "Globex  7", "Initech  1"];
        let mut rows = vec![
            " TESTING  eu-test  api.example.com          200 7ms".to_owned(),
            " Groups                    3 of 3   sort: name ^   12s ago".to_owned(),
            format!("┌─ Groups ───────────────── {}/3 ┐", cursor + 1),
            "│  NAME     MAP │".to_owned(),
        ];
        for (at, name) in names.iter().enumerate() {
            let mark = if at == cursor { ">" } else { " " };
            rows.push(format!("│{mark} {name} │"));
        }
        rows.push("└───────────────┘".into());
        rows.push(format!(" {message}"));
        rows.push(" Enter open  e edit  ? help".into());
        frame(&rows.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn a_new_pane_is_read_whole_and_then_only_what_changes() {
        let mut reader = ScreenReader::default();
        assert_eq!(
            reader.read(&list(0, "i  welcome   m messages"), None),
            [
                "TESTING  eu-test  api.example.com",
                "# Groups",
                "3 of 3  sort: name ^",
                "Groups  1/3",
                "NAME  MAP",
                "Globex  7",
                "Initech  1",
                "keys: Enter open  e edit  ? help",
                "> Acme  4",
            ]
        );
        let again = list(0, "i  welcome   m messages");
        assert_eq!(reader.read(&again, None), [""; 0]);
        let moved = list(1, "x  it failed");
        assert_eq!(reader.read(&moved, None), ["> Globex  7"]);
        reader.forget();
        assert_eq!(reader.read(&moved, None).len(), 9);
    }

    #[test]
    fn the_field_with_the_cursor_has_the_focus() {
        let page =
            |text: &str| frame(&["TESTING", "Edit", text, "map  213", "", "i  typed", "keys"]);
        let mut reader = ScreenReader::default();
        let at = Some(Position::new(7, 2));
        reader.read(&page("name   Acme"), at);
        let read = reader.read(&page("name   Acme!"), at);
        assert_eq!(read, ["> name  Acme!"]);
    }

    #[test]
    fn what_typing_brings_up_beside_its_field_is_read() {
        let page = |id: &str, near: &str| {
            let field = format!("│ id  {id} │");
            let near = format!("│   {near} │");
            frame(&[
                "TESTING",
                "Open",
                "┌─── Open ┐",
                &field,
                &near,
                "└───┘",
                "",
                "keys",
            ])
        };
        let mut reader = ScreenReader::default();
        let at = Some(Position::new(9, 3));
        reader.read(&page("acme", ""), at);
        let read = reader.read(&page("acme-", "acme-eu"), at);
        assert_eq!(read, ["> id  acme-", "acme-eu"]);
    }
}
