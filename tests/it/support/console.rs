//! The whole console on an in-memory screen, with real operations. Keys are typed from a script, and the screen is only
//! looked at when all jobs have ended.

use std::{io, time::Duration};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use groupdesk::{
    config::{Environment, UiSettings},
    domain::token::Token,
    operations::{Clock, Connector, Operations},
    tui::{
        TuiOptions,
        keymap::{self, Focus},
        prepare,
        runtime::runner::{Runner, Screen},
        state::message::Msg,
        terminal,
        theme::Theme,
    },
};
use jiff::Timestamp;
use ratatui::{buffer::Buffer, layout::Rect};

use super::assertions::{in_one_line, is_in};

/// Longest wait for anything that must happen.
const DEADLINE: Duration = Duration::from_mins(1);

/// A key script for every focus, starting from the list of a testing profile with a production profile below it.
pub(crate) fn places() -> impl Iterator<Item = (&'static str, Focus)> {
    let is_named = |focus: &Focus| {
        SCRIPTS.iter().any(|(_, place)| place == focus) || ELSEWHERE.contains(focus)
    };
    let opened = Focus::OPENED
        .iter()
        .filter(move |(_, focus)| !is_named(focus));
    let opened = opened.map(|(action, focus)| {
        let mut rows = keymap::bindings(Focus::List);
        let row = rows.find(|row| row.action == *action);
        let script: &str = match row.expect("a key everywhere").keys[0] {
            key if key.len() == 1 => key,
            key => format!("<{key}>").leak(),
        };
        (script, *focus)
    });
    SCRIPTS.into_iter().chain(opened)
}

/// Those that no key of its own opens from everywhere.
const SCRIPTS: [(&str, Focus); 36] = [
    ("", Focus::List),
    ("/", Focus::Filter),
    ("<enter>", Focus::Group),
    ("x", Focus::Compare),
    ("e", Focus::EditName),
    ("e<tab>", Focus::EditMapping),
    ("e<tab><enter>", Focus::EditCell),
    ("e<tab><tab>", Focus::EditProperties),
    ("e<tab><tab><f3>", Focus::EditRows),
    ("e<tab><tab><f3><left><enter>", Focus::EditType),
    ("e<end> 2<ctrl-s>", Focus::Review),
    ("e<end> 2<ctrl-s>y", Focus::Result),
    ("t", Focus::Token),
    ("tT<shift-tab>", Focus::RotateReason),
    ("tT", Focus::RotateCheck),
    ("tTy", Focus::RotateResult),
    ("tw", Focus::WritePath),
    ("w", Focus::WritePath),
    ("o", Focus::Open),
    ("?", Focus::Help),
    (":", Focus::Palette),
    ("a", Focus::Note),
    ("v", Focus::Views),
    ("va", Focus::ViewName),
    ("y<enter>m<enter>", Focus::Message),
    ("<enter>4", Focus::Requests),
    ("<enter>4<enter>", Focus::Request),
    ("y", Focus::CopyMenu),
    ("*T<shift-tab>", Focus::BulkReason),
    ("*T", Focus::BulkTyped),
    ("<space>Trotate 1 in testing<enter>", Focus::BulkRun),
    ("*B", Focus::BulkEditField),
    ("*B<shift-tab>", Focus::BulkEditAction),
    (
        "*B<shift-tab><right><right><tab>tier<tab>x<ctrl-s>",
        Focus::BulkEditConfirm,
    ),
    (
        "P<down><enter>*B<shift-tab><right><right><tab>tier<tab>x<ctrl-s>",
        Focus::BulkEditTyped,
    ),
    ("P<down><enter>tT", Focus::RotateTyped),
];

/// The other places, which need a history of their own.
pub(crate) const ELSEWHERE: [Focus; 18] = [
    // With a pasted token.
    Focus::Whose,
    // Without a profile.
    Focus::Welcome,
    Focus::ConnectField,
    Focus::ConnectChoice,
    Focus::ConnectCheck,
    // With a question in a box.
    Focus::ConfirmKey,
    Focus::ConfirmTyped,
    // While a request is in flight.
    Focus::RotateRunning,
    // With an open rotation, or a token that was found.
    Focus::AbandonReason,
    Focus::WhoseFound,
    // With no group that is ready, or a stopped batch.
    Focus::BulkCheck,
    Focus::ResumeCheck,
    Focus::ResumeTyped,
    // With an API key whose environment is not known, or an alarm.
    Focus::PlaceChoice,
    Focus::PlaceNew,
    Focus::PlaceProof,
    Focus::PlaceReason,
    Focus::PlaceWait,
];

/// A screen that only records.
pub(crate) struct Memory {
    /// The last frame.
    frame: Buffer,
    pub(crate) copied: Vec<String>,
    pub(crate) suspended: usize,
    /// How often the terminal was handed to an editor and not taken back yet.
    pub(crate) given: usize,
}

impl Memory {
    fn new((columns, rows): (u16, u16)) -> Self {
        Self {
            frame: Buffer::empty(Rect::new(0, 0, columns, rows)),
            copied: Vec::new(),
            suspended: 0,
            given: 0,
        }
    }
}

impl Screen for Memory {
    fn draw(&mut self, render: terminal::Render<'_>) -> io::Result<()> {
        self.frame.reset();
        render(&mut self.frame);
        Ok(())
    }

    fn copy(&mut self, text: &Token) -> io::Result<()> {
        self.copied.push(text.expose().to_owned());
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.suspended += 1;
        Ok(())
    }

    fn give_away(&mut self) -> io::Result<()> {
        self.given += 1;
        Ok(())
    }

    fn take_back(&mut self) -> io::Result<Option<(u16, u16)>> {
        self.given -= 1;
        Ok(None)
    }

    fn continued(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn redraw(&mut self) {}
}

pub(crate) struct Console {
    pub(crate) runner: Runner<Memory>,
}

impl Console {
    /// Opens the console on one of the profiles and waits for the list.
    pub(crate) async fn open_at(
        operations: Vec<Operations>,
        current: usize,
        size: (u16, u16),
        theme: Theme,
        clock: Clock,
    ) -> Self {
        Self::start(operations, current, None, size, theme, clock).await
    }

    /// Opens the console without any configured profile.
    pub(crate) async fn first_start(connector: Connector, theme: Theme, clock: Clock) -> Self {
        Self::start(Vec::new(), 0, Some(connector), (80, 24), theme, clock).await
    }

    async fn start(
        operations: Vec<Operations>,
        current: usize,
        connector: Option<Connector>,
        size: (u16, u16),
        theme: Theme,
        clock: Clock,
    ) -> Self {
        let start = TuiOptions {
            operations,
            current,
            selection: None,
            operator: "ana@bastion2".into(),
            config_file: Some("/home/ana/.config/groupdesk/config.toml".into()),
            ascii: theme.ascii,
            ui: UiSettings::default(),
            environment: Environment::default(),
            connector,
            keys: groupdesk::tui::keymap::Keymap::default(),
            greeting: Vec::new(),
            is_ephemeral: false,
        };
        let (app, works) = prepare(start, theme, size, clock.now());
        let mut console = Self {
            runner: Runner::new(app, Memory::new(size), works, clock),
        };
        console.settle().await;
        console
    }

    pub(crate) async fn settle(&mut self) {
        let settled = self.runner.settle();
        tokio::time::timeout(DEADLINE, settled)
            .await
            .expect("everything under way ends in time")
            .expect("the screen can be drawn");
    }

    /// Types a script like `e<tab>abc<ctrl-s>`. After every key all jobs are waited for.
    pub(crate) async fn keys(&mut self, script: &str) -> &mut Self {
        for key in parse(script) {
            self.runner.take(Msg::Key(key));
            self.settle().await;
        }
        self
    }

    /// Types without waiting for anything.
    pub(crate) fn burst(&mut self, script: &str) -> &mut Self {
        for key in parse(script) {
            self.runner.take(Msg::Key(key));
        }
        self
    }

    pub(crate) async fn paste(&mut self, text: &str) -> &mut Self {
        self.runner.take(Msg::Paste(text.to_owned()));
        self.settle().await;
        self
    }

    /// Draws without waiting for anything.
    pub(crate) fn draw(&mut self) -> &mut Self {
        self.runner.draw().expect("the screen can be drawn");
        self
    }

    /// Waits for a text on the screen, even if other jobs are still running.
    pub(crate) async fn until(&mut self, text: &str) -> &mut Self {
        let shown = |console: &Self| console.screen().contains(text);
        self.until_that(&format!("{text:?}"), shown).await
    }

    /// Waits until this holds, even if other jobs are still running.
    pub(crate) async fn until_that(
        &mut self,
        what: &str,
        holds: impl Fn(&Self) -> bool,
    ) -> &mut Self {
        let waiting = async {
            self.draw();
            while !holds(self) {
                self.runner.step().await.expect("the screen can be drawn");
            }
        };
        let came = tokio::time::timeout(DEADLINE, waiting).await.is_ok();
        assert!(came, "{what} did not come:\n{}", self.screen());
        self
    }

    /// Changes the window size at once.
    pub(crate) fn resize(&mut self, (columns, rows): (u16, u16)) -> &mut Self {
        self.runner.screen.frame = Buffer::empty(Rect::new(0, 0, columns, rows));
        self.runner.take(Msg::Resize(columns, rows));
        self.draw()
    }

    /// Changes to another terminal at once.
    pub(crate) fn on(&mut self, theme: Theme) -> &mut Self {
        self.runner.app.context.theme = theme;
        self.draw()
    }

    /// Advances the time and updates the screen.
    pub(crate) fn tick(&mut self, now: Timestamp) -> &mut Self {
        let effects = self.runner.app.update(now, Msg::Tick);
        assert_eq!(effects, [], "time alone does nothing");
        self.draw()
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        &self.runner.screen.frame
    }

    /// The screen as text, one line per row, without trailing spaces.
    pub(crate) fn screen(&self) -> String {
        text_of(self.buffer())
    }

    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> &Self {
        let screen = self.screen();
        assert!(
            is_in(&screen, text),
            "{text:?} is not on the screen:\n{screen}"
        );
        self
    }

    #[track_caller]
    pub(crate) fn shows_all<const N: usize>(&self, texts: [&str; N]) -> &Self {
        for text in texts {
            self.shows(text);
        }
        self
    }

    /// Shows a text, wherever its lines are broken.
    #[track_caller]
    pub(crate) fn tells(&self, text: &str) -> &Self {
        let screen = self.screen();
        let told = is_in(&in_one_line(&screen), text);
        assert!(told, "{text:?} is not on the screen:\n{screen}");
        self
    }

    #[track_caller]
    pub(crate) fn hides(&self, text: &str) -> &Self {
        let screen = self.screen();
        assert!(
            !is_in(&screen, text),
            "{text:?} is on the screen:\n{screen}"
        );
        self
    }
}

/// A screen as text, one line per row, without trailing spaces.
pub(crate) fn text_of(buffer: &Buffer) -> String {
    let mut text = String::new();
    for row in buffer.content.chunks(buffer.area.width.max(1).into()) {
        let (mut skip, mut end) = (0, text.len());
        for cell in row {
            let symbol = cell.symbol();
            if skip > 0 {
                skip -= 1;
                continue;
            }
            text.push_str(symbol);
            if symbol.as_bytes() == [b' '] {
                continue;
            }
            end = text.len();
            if symbol.len() > 1 {
                skip = groupdesk::domain::text::width(symbol).saturating_sub(1);
            }
        }
        text.truncate(end);
        text.push('\n');
    }
    text
}

/// Parses `abc<enter><ctrl-s><f2>` into key presses; `<lt>` is `<`.
pub(crate) fn parse(script: &str) -> Vec<KeyEvent> {
    let mut keys = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        if let Some((name, after)) = named {
            keys.push(key(name));
            rest = after;
        } else {
            keys.push(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
            rest = &rest[c.len_utf8()..];
        }
    }
    keys
}

fn key(name: &str) -> KeyEvent {
    if let Some(letter) = name.strip_prefix("ctrl-") {
        let letter = letter.chars().next().expect("a letter after ctrl-");
        return KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
    }
    if let Some(name) = name.strip_prefix("shift-").filter(|name| *name != "tab") {
        let modifiers = KeyModifiers::SHIFT;
        return KeyEvent {
            modifiers,
            ..key(name)
        };
    }
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "shift-tab" => KeyCode::BackTab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "pgdn" => KeyCode::PageDown,
        "pgup" => KeyCode::PageUp,
        "space" => KeyCode::Char(' '),
        "lt" => KeyCode::Char('<'),
        name => KeyCode::F(
            name.strip_prefix('f')
                .and_then(|n| n.parse().ok())
                .expect("a known key"),
        ),
    };
    KeyEvent::new(code, KeyModifiers::NONE)
}
