//! The cost of a key: instructions from the key to the bytes of its frame, and the number of those bytes, with 1,000
//! groups at 120x40, compared with a list of 1,000 rows drawn by ratatui alone. Counted by valgrind, so that a busy
//! machine gives the same numbers. Each case runs twice, and the difference is divided by the difference in keys.
//! `cargo bench --bench keys`; needs valgrind.

use std::{fmt::Write as _, io, path::Path, process::Command};

use crossterm::event::{KeyCode, KeyEvent};
use groupdesk::{
    config::{Environment, KeySource, Profile, UiSettings},
    directory::Directory,
    domain::token::Token,
    operations::{Clock, Operations},
    tui::{
        TuiOptions,
        keymap::Keymap,
        prepare,
        runtime::runner::{Runner, Screen},
        state::message::Msg,
        terminal::{Render, paint::Painter},
        theme::Theme,
    },
};
use ratatui::{
    Terminal, TerminalOptions, Viewport,
    backend::CrosstermBackend,
    layout::Rect,
    style::{Modifier, Style},
    widgets::{List, ListState},
};

const GROUPS: usize = 1_000;
const AREA: Rect = Rect::new(0, 0, 120, 40);
const SERVICE: &str = "http://127.0.0.1:1";
const KEY: &str = "none";
/// Name, keys before the others, keys that repeat, and the floor case to compare with.
const CASES: [(&str, &str, &str, &str); 5] = [
    ("cursor move", "jj", "jk", "move"),
    ("a line scrolls", "", "j", "scroll"),
    ("letter into the filter", "/", "ab", "move"),
    ("help opens, closes", "", "?\u{1b}", "move"),
    ("a key that does nothing", "", "\u{7}", "move"),
];
/// After this many moves a list scrolls with every line.
const WARM: usize = 40;
const ROUNDS: usize = 40;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match &arguments[1..] {
        [case, count, file] if case != "--bench" => {
            let count = count.parse().expect("a number");
            println!("{}", play(case, count, Path::new(file)));
        }
        _ => measure(),
    }
}

fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("directory.db");
    seed(folder.path());
    println!("instructions and bytes of a key; {GROUPS} groups, 120x40");
    let (move_floor, scroll_floor) = (cost("floor move", &file), cost("floor scroll", &file));
    let row = |what: &str, (instructions, bytes): (u64, u64), floor: u64| {
        let share = instructions as f64 / floor as f64;
        println!("{what:<26} {instructions:>10} {share:>6.2}x {bytes:>8}");
    };
    row("ratatui, move", move_floor, move_floor.0);
    row("ratatui, scroll", scroll_floor, scroll_floor.0);
    for (what, _, _, floor) in CASES {
        let floor = if floor == "scroll" {
            scroll_floor
        } else {
            move_floor
        };
        row(what, cost(what, &file), floor.0);
    }
}

/// Instructions and bytes per key.
fn cost(case: &str, file: &Path) -> (u64, u64) {
    let [few, many] = [WARM, WARM + ROUNDS].map(|count| {
        let run = Command::new("valgrind")
            .args(["--tool=cachegrind", "--cache-sim=no"])
            .arg("--cachegrind-out-file=/dev/null")
            .arg(std::env::current_exe().expect("this program"))
            .args([case, &count.to_string()])
            .arg(file)
            .output()
            .expect("valgrind counts; install it, for example with: apt-get install valgrind");
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{said}");
        let count = said.lines().find_map(|line| line.split_once("refs:"));
        let count = count.expect("a count").1.trim().replace(',', "");
        let bytes = String::from_utf8_lossy(&run.stdout).trim().to_owned();
        [count, bytes].map(|number| number.parse::<u64>().expect("a number"))
    });
    let of_one = |at: usize| (many[at] - few[at]) / ROUNDS as u64;
    (of_one(0), of_one(1))
}

fn seed(folder: &Path) {
    let mut lines = String::new();
    for number in 0..GROUPS {
        writeln!(
            lines,
            r#"{{"user_group_id":"customer-{number:04}","name":"Customer {number}, Inc.","mapping":{{"40":"ds-{number}","134":"386"}},"properties":{{"tier":"gold","seats":{number}}}}}"#
        )
        .expect("a String takes it");
    }
    std::fs::write(folder.join("groups.jsonl"), lines).expect("written");
    let done = Command::new(env!("CARGO_BIN_EXE_groupdesk"))
        .args(["import", "groups.jsonl", "--directory", "directory.db"])
        .env_clear()
        .env("HOME", folder)
        .env("GROUPDESK_BASE_URL", SERVICE)
        .env("GROUPDESK_API_KEY", KEY)
        .current_dir(folder)
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}

/// Plays a case with this many keys. Returns the number of bytes written.
fn play(case: &str, count: usize, file: &Path) -> usize {
    match case {
        "floor move" => floor(count, |key| 2 + key % 2),
        "floor scroll" => floor(count, |key| key + usize::from(AREA.height)),
        _ => {
            let found = CASES.iter().find(|(what, ..)| *what == case);
            let (_, before, keys, _) = found.expect("a case");
            // Nothing runs in the background: jobs that a key starts never end.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = runtime.expect("a runtime");
            runtime.block_on(console(before, keys, count, file))
        }
    }
}

/// The lower bound of a frame: the list alone, drawn by ratatui's own means.
fn floor(count: usize, cursor: impl Fn(usize) -> usize) -> usize {
    let rows: Vec<String> = (0..GROUPS)
        .map(|number| format!("Customer {number}, Inc.  customer-{number:04}  12d  4f33a06f  2  2"))
        .collect();
    let mut bytes = Vec::new();
    let options = TerminalOptions {
        viewport: Viewport::Fixed(AREA),
    };
    let backend = CrosstermBackend::new(&mut bytes);
    let mut terminal = Terminal::with_options(backend, options).expect("memory");
    let mut state = ListState::default();
    for key in 0..count {
        state.select(Some(cursor(key)));
        let shown = state.offset().max(cursor(key).saturating_sub(39));
        *state.offset_mut() = 0;
        state.select(Some(cursor(key) - shown));
        let window = rows[shown..(shown + 40).min(GROUPS)].iter();
        let list = List::new(window.map(String::as_str))
            .highlight_symbol(">")
            .highlight_style(Style::new().add_modifier(Modifier::REVERSED));
        let drawn = terminal.draw(|frame| frame.render_stateful_widget(list, AREA, &mut state));
        drawn.expect("memory");
    }
    drop(terminal);
    bytes.len()
}

/// A terminal that counts bytes.
struct Counter {
    painter: Painter,
    bytes: usize,
}

impl Screen for Counter {
    fn draw(&mut self, render: Render<'_>) -> io::Result<()> {
        self.bytes += self.painter.paint(AREA, render).len();
        Ok(())
    }

    fn copy(&mut self, _: &Token) -> io::Result<()> {
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn give_away(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn take_back(&mut self) -> io::Result<Option<(u16, u16)>> {
        Ok(None)
    }

    fn continued(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn redraw(&mut self) {}
}

async fn console(before: &str, keys: &str, count: usize, file: &Path) -> usize {
    let theme = Theme::default();
    let start = TuiOptions {
        operations: vec![operations(file)],
        current: 0,
        selection: None,
        operator: "bench".into(),
        config_file: None,
        ascii: false,
        ui: UiSettings::default(),
        environment: Environment::default(),
        connector: None,
        keys: Keymap::default(),
        greeting: Vec::new(),
        is_ephemeral: false,
    };
    let size = (AREA.width, AREA.height);
    let (app, works) = prepare(start, theme, size, Clock::System.now());
    let screen = Counter {
        painter: Painter::new(false),
        bytes: 0,
    };
    let mut runner = Runner::new(app, screen, works, Clock::System);
    runner.settle().await.expect("drawn");
    let repeated = keys.chars().cycle().take(count);
    for key in before.chars().chain(repeated) {
        let code = match key {
            '\u{1b}' => KeyCode::Esc,
            '\u{7}' => KeyCode::F(12),
            other => KeyCode::Char(other),
        };
        runner.take(Msg::Key(KeyEvent::from(code)));
        runner.draw().expect("memory");
    }
    runner.screen.bytes
}

fn operations(file: &Path) -> Operations {
    use std::time::Duration;
    let profile = Profile {
        name: "testing".into(),
        base_url: SERVICE.into(),
        path: "/api/user".into(),
        api_key: KeySource::Env("KEY".into()),
        environment: None,
        production: false,
        read_only: false,
        timeout: Duration::from_secs(30),
        connect_timeout: Duration::from_secs(30),
        allow_plain_http: false,
        ca_file: None,
        proxy_from_environment: false,
        read_properties: false,
        from_variables: false,
        key_changes: false,
        handoff: None,
        max_token_age: None,
        max_bulk: usize::MAX,
        guards: Vec::new(),
    };
    let environment: Environment = [("KEY", KEY)].into_iter().collect();
    let directory = Directory::open(file).expect("a directory");
    let (operator, clock) = ("bench".into(), Clock::System);
    Operations::new(profile, environment, directory, operator, clock)
}
