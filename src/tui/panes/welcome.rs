//! The first screen where no profile exists: connect to a service, or try the demo, each by one key.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::View;
use crate::tui::{
    Farewell,
    keymap::{Action, Focus},
    state::{
        context::{Ask, Desk},
        navigation::Opening,
    },
    widgets::{boxes::boxed, text_page::Sheet},
};

#[derive(Debug)]
pub struct Welcome {
    /// Where the configuration would be.
    pub config_file: String,
}

/// Why an action is not possible where there is no profile yet.
pub fn needs_a_profile(action: Action, desk: &Desk) -> Option<String> {
    let needs = matches!(
        action,
        Action::Profiles
            | Action::Groups
            | Action::History
            | Action::Rotations
            | Action::Whose
            | Action::Messages
            | Action::Requests
            | Action::OpenOrCreate
            | Action::Refresh
    );
    (needs && desk.profile().is_none()).then(|| "no profile is configured yet".into())
}

impl View for Welcome {
    fn focus(&self) -> Focus {
        Focus::Welcome
    }

    fn title(&self, _desk: &Desk) -> String {
        "Welcome".into()
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        match action {
            Action::Connect => {
                desk.ask(Ask::Push(Opening::Connect));
            }
            Action::Demo => desk.ask(Ask::Leave(Farewell::Demo)),
            Action::Back | Action::Quit => desk.ask(Ask::Leave(Farewell::Asked)),
            _ => {}
        }
    }

    fn disabled(&self, action: Action, desk: &Desk) -> Option<String> {
        needs_a_profile(action, desk)
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let inner = boxed(buffer, area, "groupdesk", desk.theme);
        let mut sheet = Sheet::new(inner.width, desk.theme);
        let plain = Style::new();
        let key = desk.theme.key_hint();
        sheet.heading("No profile is configured yet.");
        sheet.blank();
        let keys =
            [Action::Connect, Action::Demo].map(|action| desk.keys.key(Focus::Welcome, action));
        let width = keys.iter().map(String::len).max().unwrap_or(0);
        let [connect, demo] = keys.map(|key| format!("{key:width$}"));
        sheet.pieces(vec![
            (connect, key),
            ("  connect to a service".into(), desk.theme.title()),
        ]);
        let indent = width + 2;
        sheet.indented(indent, "Asks for its address and where the API key comes from, and tests it without creating anything.", plain);
        sheet.indented(indent, &format!("Writes {}", self.config_file), plain);
        sheet.blank();
        sheet.pieces(vec![
            (demo, key),
            ("  try the demo".into(), desk.theme.title()),
        ]);
        sheet.indented(
            indent,
            "A service of its own, on this machine only, thrown away at the end.",
            plain,
        );
        sheet.blank();
        sheet.text(
            "Without any file: GROUPDESK_BASE_URL and GROUPDESK_API_KEY in the environment.",
            desk.theme.dim(),
        );
        sheet.draw(buffer, inner, 0);
        None
    }
}
