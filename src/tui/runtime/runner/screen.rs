//! The screen as the runner uses it, and its implementations.

use std::io;

use crate::{domain::token::Token, tui::terminal};

/// What the runner needs from a terminal; tests use their own implementation.
pub trait Screen {
    /// Draws what the closure renders; writes only what differs from the last frame.
    fn draw(&mut self, render: terminal::Render<'_>) -> io::Result<()>;
    /// Reads messages aloud, in the plain mode.
    fn announce(&mut self, _lines: Vec<String>) -> io::Result<()> {
        Ok(())
    }
    /// Copies a text to the person's clipboard (OSC 52).
    fn copy(&mut self, text: &Token) -> io::Result<()>;
    /// Queries the background colour (OSC 11); the reply arrives as input, if at all.
    fn ask_background(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Makes the terminal report when its window gets the focus.
    fn report_focus(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Leaves the screen, stops the process, and returns when it is continued.
    fn suspend(&mut self) -> io::Result<()>;
    /// Hands screen and keyboard over to the person's editor.
    fn give_away(&mut self) -> io::Result<()>;
    /// Takes both back; returns the current size if it may have changed.
    fn take_back(&mut self) -> io::Result<Option<(u16, u16)>>;
    /// After SIGCONT: the shell may have changed the terminal.
    fn continued(&mut self) -> io::Result<()>;
    /// Makes the next draw write everything.
    fn redraw(&mut self);
}

/// Both terminals implement the methods themselves; they differ only in what they know about their size.
macro_rules! forward {
    ($screen:ty, $size:expr $(, announce = $announce:ident)? $(, focus = $focus:ident)?) => {
        impl Screen for $screen {
            fn draw(&mut self, render: terminal::Render<'_>) -> io::Result<()> {
                self.draw(render)
            }

            $(fn $announce(&mut self, lines: Vec<String>) -> io::Result<()> {
                self.$announce(lines)
            })?

            fn copy(&mut self, text: &Token) -> io::Result<()> {
                self.copy(text.expose())
            }

            fn ask_background(&mut self) -> io::Result<()> {
                self.ask_background()
            }

            $(fn $focus(&mut self) -> io::Result<()> {
                self.$focus()
            })?

            fn suspend(&mut self) -> io::Result<()> {
                self.suspend()
            }

            fn give_away(&mut self) -> io::Result<()> {
                self.give_away()
            }

            fn take_back(&mut self) -> io::Result<Option<(u16, u16)>> {
                self.take_back()?;
                $size
            }

            fn continued(&mut self) -> io::Result<()> {
                self.continued()
            }

            fn redraw(&mut self) {
                self.redraw();
            }
        }
    };
}

forward!(
    terminal::Screen,
    terminal::size().map(Some),
    focus = report_focus
);
forward!(terminal::PlainScreen, Ok(None), announce = announce);
