//! Runs a program in a real pseudo terminal and shows the screen that a person would see. It waits for expected output
//! with a deadline and never sleeps; the program is killed on drop.

mod ends;
mod modes;
mod programs;

use std::{
    ffi::OsStr,
    fmt::Write as _,
    io::{Read, Write},
    num::NonZeroU16,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, ExitStatus},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use modes::settings;
use pty_process::{Size, blocking};
use rustix::process::{Pid, Signal};

use super::{
    clock,
    stall::{Stall, fill, is_open, other_side},
};

/// A child process started between opening a terminal and setting close-on-exec could inherit the terminal and keep it
/// alive.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What to run, and in which terminal.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    path: PathBuf,
    arguments: Vec<String>,
    /// The complete environment; that of the test is not inherited.
    variables: Vec<(String, String)>,
    folder: Option<PathBuf>,
    rows: u16,
    columns: u16,
}

impl Program {
    /// In a terminal of 24 rows and 80 columns.
    pub(crate) fn new(path: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        let variables = [
            ("TERM", "xterm-256color"),
            ("LANG", "C.UTF-8"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ];
        Self {
            path: path.into(),
            arguments: arguments.iter().map(|&text| text.to_owned()).collect(),
            variables: variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            folder: None,
            rows: 24,
            columns: 80,
        }
    }

    /// What a prepared command would start, in its folder and with its variables alone.
    pub(crate) fn of(command: &std::process::Command) -> Self {
        let text = |text: &OsStr| text.to_str().expect("UTF-8").to_owned();
        let variables = command.get_envs();
        Self {
            arguments: command.get_args().map(text).collect(),
            variables: variables
                .filter_map(|(name, value)| Some((text(name), text(value?))))
                .collect(),
            folder: command.get_current_dir().map(Path::to_owned),
            ..Self::new(command.get_program(), &[])
        }
    }

    /// Sets a variable. The last value of a name counts.
    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn cwd(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    pub(crate) fn size(mut self, rows: u16, columns: u16) -> Self {
        (self.rows, self.columns) = (rows, columns);
        self
    }

    /// Starts the program as a session leader, with the terminal as its controlling terminal.
    pub(crate) fn start(self) -> Session {
        let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let (terminal, program_side) = blocking::open().expect("a pseudo terminal");
        terminal
            .resize(Size::new(self.rows, self.columns))
            .expect("a size");
        let mut command = blocking::Command::new(&self.path)
            .args(&self.arguments)
            .env_clear()
            .envs(clock::outer())
            .envs(self.variables);
        if let Some(folder) = &self.folder {
            command = command.current_dir(folder);
        }
        let before = settings(&terminal);
        let child = command.spawn(program_side).expect("the program starts");
        drop(guard);
        Session::new(terminal, before, child, self.rows, self.columns)
    }
}

/// Events from the threads around the program.
enum Event {
    Output(Vec<u8>),
    /// No process has the terminal open any more.
    Closed,
    Exited(ExitStatus),
}

/// A running program and its screen.
pub(crate) struct Session {
    /// `None` after [`Session::hang_up`], like everything that keeps the terminal open.
    line: Option<Line>,
    events: Receiver<Event>,
    screen: vt100::Parser,
    raw: Vec<u8>,
    pid: Pid,
    status: Option<ExitStatus>,
    is_closed: bool,
    begun: Instant,
    /// How long the program took to its first screen that a test waited for.
    start_time: Option<Duration>,
    /// The terminal settings before the program started.
    before: String,
}

/// The test's side of the terminal.
struct Line {
    terminal: Arc<blocking::Pty>,
    stall: Arc<Stall>,
    input: Sender<Vec<u8>>,
    /// Dropping this ends the reading thread.
    _open: UnixStream,
}

impl Session {
    fn new(
        terminal: blocking::Pty,
        before: String,
        mut child: Child,
        rows: u16,
        columns: u16,
    ) -> Self {
        let pid = Pid::from_child(&child);
        let terminal = Arc::new(terminal);
        let (report, events) = channel();
        let (input, written) = channel::<Vec<u8>>();
        let (reader, writer, reporter) = (terminal.clone(), terminal.clone(), report.clone());
        let (open, hung_up) = UnixStream::pair().expect("two sockets");
        let stall = Arc::<Stall>::default();
        let stalling = stall.clone();
        thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            // A terminal whose other side is closed returns an error instead of 0 bytes.
            while is_open(&reader, &hung_up)
                && stalling.pass()
                && let Ok(length @ 1..) = (&*reader).read(&mut buffer)
            {
                if reporter
                    .send(Event::Output(buffer[..length].to_vec()))
                    .is_err()
                {
                    return;
                }
            }
            drop(reader);
            let _ = reporter.send(Event::Closed);
        });
        // On a separate thread, because a program that does not read would block the test.
        thread::spawn(move || {
            for bytes in written {
                if (&*writer).write_all(&bytes).is_err() {
                    return;
                }
            }
        });
        thread::spawn(move || {
            if let Ok(status) = child.wait() {
                let _ = report.send(Event::Exited(status));
            }
        });
        Self {
            line: Some(Line {
                terminal,
                stall,
                input,
                _open: open,
            }),
            events,
            screen: vt100::Parser::new(size(rows), size(columns), 0),
            raw: Vec::new(),
            pid,
            status: None,
            is_closed: false,
            begun: Instant::now(),
            start_time: None,
            before,
        }
    }

    /// Sends bytes as if they were typed.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // An error means that the program is gone; the test notices that when it waits.
        let _ = self.line().input.send(bytes.as_ref().to_vec());
    }

    /// Sends a text as a terminal in bracketed paste mode does.
    pub(crate) fn paste(&mut self, text: &str) {
        self.send(format!("\u{1b}[200~{text}\u{1b}[201~"));
    }

    pub(crate) fn resize(&mut self, rows: u16, columns: u16) {
        self.line()
            .terminal
            .resize(Size::new(rows, columns))
            .expect("a new size");
        // An emulator has at least one cell.
        self.screen
            .set_size(size(rows.max(1)), size(columns.max(1)));
    }

    /// Stops reading, like a stalled connection: buffers are full, and writers block.
    pub(crate) fn stall(&mut self) {
        let stall = self.line().stall.clone();
        stall.set(Stall::WANTED);
        let terminal = other_side(&*self.line().terminal);
        // A byte that a terminal does not show.
        fill(&terminal, b'\0', || stall.is(Stall::THERE));
    }

    /// Starts reading again.
    pub(crate) fn read_on(&mut self) {
        self.line().stall.set(Stall::NONE);
    }

    /// The pid of the program.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// How long it took to the first screen that was waited for: a measure of how busy the machine is.
    pub(crate) fn start_time(&self) -> Duration {
        self.start_time.expect("a screen was waited for")
    }

    /// Closes the test's side of the terminal, as a lost connection does. Nothing can be sent or read afterwards.
    pub(crate) fn hang_up(&mut self) {
        self.line = None;
        while !self.is_closed && self.take_next(Instant::now() + Duration::from_mins(1)) {}
    }

    #[track_caller]
    fn line(&self) -> &Line {
        self.line.as_ref().expect("the line is open")
    }

    /// Sends a signal to the program, as `kill` does.
    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid, signal).expect("the program is there");
    }

    /// The current screen, without trailing spaces.
    pub(crate) fn screen(&mut self) -> String {
        self.take_what_came();
        self.contents()
    }

    /// The screen with its modes: cursor, alternate screen, bracketed paste.
    pub(crate) fn terminal_state(&mut self) -> &vt100::Screen {
        self.take_what_came();
        self.screen.screen()
    }

    /// Every byte that the program has written so far.
    pub(crate) fn raw_output(&mut self) -> &[u8] {
        self.take_what_came();
        &self.raw
    }

    /// Waits until the screen contains a text and returns the screen.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str, deadline: Duration) -> String {
        self.wait_until(&format!("{text:?} on the screen"), deadline, |screen| {
            screen.contents().contains(text)
        })
    }

    /// Types, then waits until the screen contains a text and returns the screen.
    #[track_caller]
    pub(crate) fn type_until(
        &mut self,
        keys: impl AsRef<[u8]>,
        text: &str,
        deadline: Duration,
    ) -> String {
        self.send(keys);
        self.wait_for(text, deadline)
    }

    /// Waits until the screen no longer contains a text and returns the screen.
    #[track_caller]
    pub(crate) fn wait_for_no(&mut self, text: &str, deadline: Duration) -> String {
        self.wait_until(&format!("no {text:?} on the screen"), deadline, |screen| {
            !screen.contents().contains(text)
        })
    }

    /// Waits until the screen begins with a text and returns the screen.
    #[track_caller]
    pub(crate) fn wait_for_start(&mut self, text: &str, deadline: Duration) -> String {
        self.wait_until(&format!("{text:?} at the start"), deadline, |screen| {
            screen.contents().starts_with(text)
        })
    }

    /// Waits until a condition holds for the screen; `what` describes it in the failure message.
    #[track_caller]
    pub(crate) fn wait_until(
        &mut self,
        what: &str,
        deadline: Duration,
        mut holds: impl FnMut(&vt100::Screen) -> bool,
    ) -> String {
        let end = Instant::now() + deadline;
        self.take_what_came();
        while !holds(self.screen.screen()) {
            let came = !self.is_closed && self.take_next(end);
            assert!(came, "{what}: not within {deadline:?}\n{}", self.report());
        }
        self.start_time.get_or_insert(self.begun.elapsed());
        self.contents()
    }

    /// Waits until a condition holds for what was written since this position of the output.
    #[track_caller]
    pub(crate) fn wait_until_written(
        &mut self,
        from: usize,
        deadline: Duration,
        holds: impl Fn(&str) -> bool,
    ) {
        let end = Instant::now() + deadline;
        self.take_what_came();
        while !holds(&String::from_utf8_lossy(&self.raw[from..])) {
            let came = !self.is_closed && self.take_next(end);
            assert!(came, "not written within {deadline:?}\n{}", self.report());
        }
    }

    /// Collects what the program writes within a period; to show that it writes nothing, never to wait for something.
    pub(crate) fn output_during(&mut self, time: Duration) -> Vec<u8> {
        let end = Instant::now() + time;
        self.take_what_came();
        let before = self.raw.len();
        while self.take_next(end) {}
        self.raw[before..].to_vec()
    }

    /// Handles one event before a deadline. Returns false if none came or none can come any more.
    fn take_next(&mut self, end: Instant) -> bool {
        let left = end.saturating_duration_since(Instant::now());
        match self.events.recv_timeout(left) {
            Ok(event) => {
                self.take(event);
                true
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }

    fn take_what_came(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            self.take(event);
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Output(bytes) => {
                self.screen.process(&bytes);
                self.raw.extend(bytes);
            }
            Event::Closed => self.is_closed = true,
            Event::Exited(status) => self.status = Some(status),
        }
    }

    fn contents(&self) -> String {
        let contents = self.screen.screen().contents();
        let lines: Vec<&str> = contents.lines().map(str::trim_end).collect();
        lines.join("\n")
    }

    fn report(&self) -> String {
        let mut report = String::new();
        let _ = writeln!(
            report,
            "ended: {:?}, closed: {}",
            self.status, self.is_closed
        );
        let _ = writeln!(
            report,
            "---- screen ----\n{}\n----------------",
            self.contents()
        );
        report
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.take_what_came();
        }
        // Only while it was not reaped: afterwards the pid may belong to another process.
        if self.status.is_none() {
            let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
            let _ = rustix::process::kill_process(self.pid, Signal::KILL);
        }
    }
}

fn size(cells: u16) -> NonZeroU16 {
    NonZeroU16::new(cells).expect("a terminal has at least one cell")
}
