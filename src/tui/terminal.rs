//! The terminal: entering, leaving and suspending the full screen, so that the person gets the terminal back as it was,
//! whatever happens. This module draws nothing and reads no keys. There is one screen per process.

pub mod input;
pub mod paint;
pub mod panic;
pub mod screen_reader;
pub mod signals;
mod tty_writer;

pub use input::{Input, InputEvent, MAX_PASTE_BYTES, is_burst};
pub use panic::{describe_panic, keeps_panic, missed_panics, scrub};
pub use screen_reader::PlainScreen;
pub use signals::{Signal, Signals};
pub(crate) use signals::{Watch, stop_here};
pub(crate) use tty_writer::is_given_up;

use std::{
    io::{self, IsTerminal},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    thread::ThreadId,
};

use crossterm::{
    cursor, event, queue,
    style::ResetColor,
    terminal::{self, disable_raw_mode, enable_raw_mode},
};
use paint::Painter;
use ratatui::prelude::{Buffer, Position, Rect};
use rustix::termios::{LocalModes, QueueSelector, tcflush, tcgetattr};
use tty_writer::{TtyWriter, tty};

/// Whether the console owns the screen now. A static, because the process has one terminal, and the panic hook must
/// know it without a [`Screen`].
static OWNS_SCREEN: AtomicBool = AtomicBool::new(false);
/// The modes that were switched on with the screen and must be switched off again: bits of [`Modes`].
static ACTIVE_MODES: AtomicU8 = AtomicU8::new(0);
/// The thread that draws; only a panic on this thread leaves the full screen.
static CONSOLE_THREAD: Mutex<Option<ThreadId>> = Mutex::new(None);

/// Why the console cannot run here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TerminalError {
    #[error(
        "the console needs a terminal, and standard output is not one; use commands in scripts (groupdesk --help)"
    )]
    NotATerminal,
    #[error(
        "the terminal is \"dumb\" (TERM): it cannot place text; use --plain, or a command (groupdesk --help)"
    )]
    Dumb,
}

fn check(is_terminal: bool, term: Option<&str>) -> Result<(), TerminalError> {
    if !is_terminal {
        Err(TerminalError::NotATerminal)
    } else if term == Some("dumb") {
        Err(TerminalError::Dumb)
    } else {
        Ok(())
    }
}

/// Modes of the terminal besides raw mode and bracketed paste.
#[derive(Debug, Clone, Copy)]
struct Modes(u8);

impl Modes {
    const FULL: u8 = 1;
    const MOUSE: u8 = 2;
    const FOCUS: u8 = 4;

    const fn empty() -> Self {
        Self(0)
    }

    const fn screen(mouse: bool) -> Self {
        Self(Self::FULL | if mouse { Self::MOUSE } else { 0 })
    }

    const fn has(self, mode: u8) -> bool {
        self.0 & mode != 0
    }
}

/// Reports buttons and the wheel, with unlimited coordinates, but no movements (modes 1000 and 1006).
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1000l";

/// Reports when the window gets the focus (mode 1004).
const FOCUS_ON: &[u8] = b"\x1b[?1004h";
const FOCUS_OFF: &[u8] = b"\x1b[?1004l";

/// Draws a frame into empty cells; returns the position of the cursor if it is visible.
pub type Render<'r> = &'r mut dyn FnMut(&mut Buffer) -> Option<Position>;

/// The full screen, in raw mode, with bracketed paste. Left on drop.
#[derive(Debug)]
pub struct Screen {
    painter: Painter,
    out: GuardedOutput<'static>,
    modes: Modes,
}

impl Screen {
    /// Enters the full screen. The calling thread counts as the console's thread from now on.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        let term = std::env::var("TERM").ok();
        check(io::stdout().is_terminal(), term.as_deref()).map_err(io::Error::other)?;
        let out = GuardedOutput(tty()?);
        let synchronised = supports_synchronised_output(|name| std::env::var(name).ok());
        *console_thread() = Some(std::thread::current().id());
        let modes = Modes::screen(mouse);
        take_over(modes)?;
        Ok(Self {
            painter: Painter::new(synchronised),
            out,
            modes,
        })
    }

    /// Draws one frame; immediately writes only what differs from the previous one.
    pub fn draw(&mut self, render: Render<'_>) -> io::Result<()> {
        let (width, height) = size()?;
        let area = Rect::new(0, 0, width, height);
        self.out.write_all(&self.painter.paint(area, render))
    }

    /// Forgets what is on the screen, so that the next frame is written in full.
    pub fn redraw(&mut self) {
        self.painter.forget();
    }

    /// Hands screen and keyboard over to another program.
    pub fn give_away(&mut self) -> io::Result<()> {
        give_away()
    }

    /// Takes screen and keyboard back after [`Screen::give_away`].
    pub fn take_back(&mut self) -> io::Result<()> {
        self.redraw();
        take_back(self.modes)
    }

    /// Copies a text to the clipboard of the person's terminal (OSC 52). The terminal never confirms it.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        copy(text)
    }

    /// Queries the background colour (OSC 11).
    pub fn ask_background(&mut self) -> io::Result<()> {
        self.out.write_all(b"\x1b]11;?\x1b\\")
    }

    /// Makes the terminal report from now on when its window gets the focus.
    pub fn report_focus(&mut self) -> io::Result<()> {
        self.modes.0 |= Modes::FOCUS;
        ACTIVE_MODES.fetch_or(Modes::FOCUS, Ordering::SeqCst);
        self.out.write_all(FOCUS_ON)
    }

    /// Restores the terminal and stops this process, as Ctrl-Z does elsewhere; returns when it is continued.
    ///
    /// Without a shell that could continue the process it does not stop; the screen only flickers.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.redraw();
        suspend(self.modes)
    }

    /// Restores our modes after SIGCONT: a shell may have changed the modes of the terminal and its content.
    pub fn continued(&mut self) -> io::Result<()> {
        self.redraw();
        continued(self.modes)
    }
}

fn give_away() -> io::Result<()> {
    input::pause()?;
    restore();
    Ok(())
}

/// Discards what was typed while another program had the terminal: nobody saw what it would confirm.
fn take_back(modes: Modes) -> io::Result<()> {
    discard_input();
    let taken = take_over(modes);
    input::resume();
    taken
}

fn suspend(modes: Modes) -> io::Result<()> {
    give_away()?;
    let stopped = signals::stop_here();
    take_back(modes)?;
    stopped
}

/// Does not leave the screen first: after Ctrl-Z it was entered again already, and is seen.
fn continued(modes: Modes) -> io::Result<()> {
    if !is_cooked() {
        return take_over(modes);
    }
    input::pause()?;
    let _ = disable_raw_mode();
    take_back(modes)
}

/// What the terminal has received and this process has not read.
fn discard_input() {
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Whether the terminal is in line mode, which means that another program has set it up.
fn is_cooked() -> bool {
    tcgetattr(io::stdin()).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON))
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn copy(text: &str) -> io::Result<()> {
    let command = crossterm::clipboard::CopyToClipboard::to_clipboard_from(text);
    write_commands(|out| queue!(out, command))
}

/// Puts the terminal into the state that the console needs.
fn take_over(modes: Modes) -> io::Result<()> {
    enable_raw_mode()?;
    ACTIVE_MODES.store(modes.0, Ordering::SeqCst);
    OWNS_SCREEN.store(true, Ordering::SeqCst);
    let entered = write_commands(|out| {
        if modes.has(Modes::FULL) {
            queue!(out, terminal::EnterAlternateScreen, cursor::Hide)?;
        }
        if modes.has(Modes::MOUSE) {
            out.extend(MOUSE_ON);
        }
        if modes.has(Modes::FOCUS) {
            out.extend(FOCUS_ON);
        }
        queue!(out, event::EnableBracketedPaste)
    });
    if entered.is_err() {
        restore();
    }
    entered
}

/// Restores the terminal, once. Callable from anywhere, even from a panic hook; never fails and never panics: a dead
/// terminal needs no restoring (trap 5 of docs/design/dependencies.md).
fn restore() {
    if !OWNS_SCREEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let modes = Modes(ACTIVE_MODES.load(Ordering::SeqCst));
    let mut bytes = Vec::new();
    let queued = leave_commands(&mut bytes, modes);
    if let (Ok(()), Ok(out)) = (queued, tty()) {
        out.write_last(&bytes);
    }
    let _ = disable_raw_mode();
}

fn leave_commands(out: &mut Vec<u8>, modes: Modes) -> io::Result<()> {
    queue!(out, event::DisableBracketedPaste)?;
    if modes.has(Modes::MOUSE) {
        out.extend(MOUSE_OFF);
    }
    if modes.has(Modes::FOCUS) {
        out.extend(FOCUS_OFF);
    }
    if modes.has(Modes::FULL) {
        // A frame may have been cut off half way: resets the scroll region, line wrap and synchronised output
        // (mode 2026).
        out.extend(b"\x1b[?2026l\x1b[r\x1b[?7h");
        queue!(
            out,
            ResetColor,
            terminal::LeaveAlternateScreen,
            cursor::Show
        )?;
    }
    Ok(())
}

/// Writes commands without any buffering, so that none is lost or late.
fn write_commands(commands: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
    let mut bytes = Vec::new();
    commands(&mut bytes)?;
    tty()?.write(&bytes)
}

fn console_thread() -> std::sync::MutexGuard<'static, Option<ThreadId>> {
    CONSOLE_THREAD
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Columns and rows of the terminal. Asked for every frame, so the terminal is not opened again for it, as crossterm does.
pub(in crate::tui) fn size() -> io::Result<(u16, u16)> {
    match tty()?.size() {
        Some(size) => Ok(size),
        None => terminal::size(),
    }
}

/// The destination of frames. Discards silently what is written while the console does not own the screen: half a frame
/// must not land on the person's shell.
#[derive(Debug)]
struct GuardedOutput<'o>(&'o TtyWriter);

impl GuardedOutput<'_> {
    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        if OWNS_SCREEN.load(Ordering::SeqCst) {
            self.0.write(bytes)
        } else {
            Ok(())
        }
    }
}

/// Whether the terminal is known to support synchronised output (mode 2026). It is not queried, because waiting for the
/// reply would delay the first frame over a slow connection. Other terminals ignore the mode.
fn supports_synchronised_output(variable: impl Fn(&str) -> Option<String>) -> bool {
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
    // Inside a multiplexer, the variables are inherited from the outer terminal and mean nothing.
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
    fn where_there_can_be_no_console_it_says_what_to_do() {
        use TerminalError::{Dumb, NotATerminal};
        for (is_terminal, term, result) in [
            (true, Some("xterm-256color"), Ok(())),
            (true, None, Ok(())),
            (false, Some("xterm"), Err(NotATerminal)),
            (true, Some("dumb"), Err(Dumb)),
        ] {
            let found = check(is_terminal, term);
            let words = found.as_ref().err().map(ToString::to_string);
            assert!(words.is_none_or(|words| words.contains("groupdesk --help")));
            assert_eq!(found, result);
        }
    }

    #[test]
    fn what_was_switched_on_is_switched_off() {
        let switched = |modes: Modes| {
            let mut bytes = Vec::new();
            leave_commands(&mut bytes, modes).expect("commands");
            let has = |what: &[u8]| bytes.windows(what.len()).any(|bytes| bytes == what);
            (has(MOUSE_OFF), has(FOCUS_OFF))
        };
        assert_eq!(switched(Modes::screen(false)), (false, false));
        assert_eq!(switched(Modes::screen(true)), (true, false));
        let both = Modes(Modes::screen(true).0 | Modes::FOCUS);
        assert_eq!(switched(both), (true, true));
    }

    #[test]
    fn nothing_reaches_a_screen_that_is_not_ours() {
        let file = tempfile::tempfile().expect("a file");
        let out = TtyWriter::of(file.try_clone().expect("a second handle"));
        GuardedOutput(&out)
            .write_all(b"half a frame")
            .expect("dropped without an error");
        assert_eq!(file.metadata().expect("readable").len(), 0);
    }

    #[test]
    fn only_terminals_known_for_it_get_the_marks() {
        for (variables, knows) in [
            (&[("TERM", "xterm-kitty")][..], true),
            (&[("TERM", "foot-extra")], true),
            (&[("TERM", "xterm-256color"), ("WT_SESSION", "1")], true),
            (&[("TERM", "xterm-256color")], false),
            (&[("TERM", "linux")], false),
            (
                &[("TERM", "tmux-256color"), ("TERM_PROGRAM", "vscode")],
                false,
            ),
            (&[], false),
        ] {
            let found = supports_synchronised_output(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            });
            assert_eq!(found, knows, "{variables:?}");
        }
    }
}
