//! A terminal that output is only appended to: for screen readers, and for terminals that cannot position text.

use std::io::{self, IsTerminal};

use ratatui::{buffer::Buffer, layout::Rect};

use super::{
    GuardedOutput, Modes, Render, TerminalError, console_thread, input, restore, signals,
    take_over, tty_writer::tty,
};
use crate::tui::terminal::screen_reader::{COLUMNS, ROWS, ScreenReader};

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
        restore();
        let stopped = signals::stop_here();
        self.redraw();
        take_over(Modes::empty())?;
        stopped
    }

    /// Like [`super::Screen::give_away`].
    pub fn give_away(&mut self) -> io::Result<()> {
        input::pause()?;
        restore();
        Ok(())
    }

    /// Like [`super::Screen::take_back`].
    pub fn take_back(&mut self) -> io::Result<()> {
        self.redraw();
        let taken = take_over(Modes::empty());
        input::resume();
        taken
    }

    /// Like [`super::Screen::continued`].
    pub fn continued(&mut self) -> io::Result<()> {
        if super::is_cooked() {
            let _ = crossterm::terminal::disable_raw_mode();
        }
        take_over(Modes::empty())
    }
}

impl Drop for PlainScreen {
    fn drop(&mut self) {
        restore();
    }
}
