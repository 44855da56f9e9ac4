//! What ratatui asks of a terminal, without the writing: sizes and the cursor. The frame itself is written by `paint`.

use std::io;

use ratatui::{
    backend::{Backend, ClearType, WindowSize},
    buffer::Cell,
    layout::{Position, Size},
};

#[derive(Debug, Default)]
pub(super) struct CursorOnlyBackend {
    /// Columns and rows, where they are not those of the terminal.
    size: Option<Size>,
    is_shown: bool,
    at: Position,
}

impl CursorOnlyBackend {
    pub(super) fn of_size(width: u16, height: u16) -> Self {
        Self {
            size: Some(Size { width, height }),
            ..Self::default()
        }
    }

    /// Where the last frame wants the cursor.
    pub(super) fn cursor(&self) -> Option<Position> {
        self.is_shown.then_some(self.at)
    }
}

impl Backend for CursorOnlyBackend {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, _content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.is_shown = false;
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.is_shown = true;
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.at)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.at = position.into();
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn clear_region(&mut self, _: ClearType) -> io::Result<()> {
        Ok(())
    }

    fn size(&self) -> io::Result<Size> {
        if let Some(size) = self.size {
            return Ok(size);
        }
        let (width, height) = crossterm::terminal::size()?;
        Ok(Size { width, height })
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize {
            columns_rows: self.size()?,
            pixels: Size::default(),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether the terminal is known to hold a frame back until it is whole (mode 2026). It is not asked: an answer would
/// have to be waited for, and over a slow line that is time before the first frame. Others ignore the mode.
pub(super) fn holds_frames_back(variable: impl Fn(&str) -> Option<String>) -> bool {
    const TERMS: [&str; 8] = [
        "kitty",
        "alacritty",
        "foot",
        "ghostty",
        "wezterm",
        "contour",
        "rio",
        "iterm2",
    ];
    const PROGRAMS: [&str; 4] = ["WezTerm", "ghostty", "iTerm.app", "vscode"];
    let term = variable("TERM").unwrap_or_default();
    // Inside a multiplexer the variables of the terminal around it are inherited, and mean nothing.
    if ["tmux", "screen"].iter().any(|name| term.starts_with(name)) {
        return false;
    }
    TERMS.iter().any(|name| term.contains(name))
        || variable("TERM_PROGRAM").is_some_and(|name| PROGRAMS.contains(&name.as_str()))
        || variable("WT_SESSION").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terminals_known_for_it_get_the_marks() {
        let knows = |variables: &[(&str, &str)]| {
            holds_frames_back(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(knows(&[("TERM", "xterm-kitty")]));
        assert!(knows(&[("TERM", "foot-extra")]));
        assert!(knows(&[("TERM", "xterm-256color"), ("WT_SESSION", "1")]));
        assert!(!knows(&[("TERM", "xterm-256color")]));
        assert!(!knows(&[("TERM", "linux")]));
        assert!(!knows(&[
            ("TERM", "tmux-256color"),
            ("TERM_PROGRAM", "vscode")
        ]));
        assert!(!knows(&[]));
    }
}
