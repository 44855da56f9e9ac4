//! What the runner needs of a terminal, and the terminals it has.

use std::io;

use crate::{
    domain::token::Token,
    tui::{state::notices::Severity, terminal},
};

/// What the runner needs of a terminal besides drawing; tests bring their own.
pub trait Screen {
    /// Draws what the closure renders, as far as it differs from the last drawing.
    fn draw(&mut self, render: terminal::Render<'_>) -> io::Result<()>;
    /// Reads messages aloud, where nothing is seen.
    fn tell(&mut self, _messages: &[(Severity, String)]) -> io::Result<()> {
        Ok(())
    }
    /// Hands a text to the person's clipboard (OSC 52).
    fn copy(&mut self, text: &Token) -> io::Result<()>;
    /// Asks for the colour of the background (OSC 11); the answer comes as keys do, if at all.
    fn ask_background(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Has the terminal say when its window gets the keys.
    fn report_focus(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Leaves the screen, stops the process, and comes back when it is continued.
    fn suspend(&mut self) -> io::Result<()>;
    /// Gives screen and keyboard to the person's editor.
    fn give_away(&mut self) -> io::Result<()>;
    /// Takes both back; the size as it is now, where it may be another one.
    fn take_back(&mut self) -> io::Result<Option<(u16, u16)>>;
    /// After SIGCONT: the shell may have changed the terminal.
    fn continued(&mut self) -> io::Result<()>;
    /// Draws everything anew at the next draw.
    fn redraw(&mut self);
}

/// Both terminals do it themselves; only what they know of their size differs.
macro_rules! forward {
    ($screen:ty, $size:expr $(, tell = $tell:ident)? $(, focus = $focus:ident)?) => {
        impl Screen for $screen {
            fn draw(&mut self, render: terminal::Render<'_>) -> io::Result<()> {
                self.draw(render)
            }

            $(fn $tell(&mut self, messages: &[(Severity, String)]) -> io::Result<()> {
                self.$tell(messages)
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
    crossterm::terminal::size().map(Some),
    focus = report_focus
);
forward!(terminal::PlainScreen, Ok(None), tell = tell);
