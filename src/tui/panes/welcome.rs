//! The first screen where no profile exists: how to connect, and the demo by one key.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::View;
use crate::tui::{
    Farewell,
    desk::{Ask, Desk},
    frame::boxed,
    keymap::{Action, Focus},
    sheet::Sheet,
};

#[derive(Debug)]
pub struct Welcome {
    /// Where the configuration would be.
    pub config_file: String,
}

const EXAMPLE: [&str; 5] = [
    "[profiles.live]",
    "base_url = \"https://api.example.com\"",
    "api_key = { env = \"LIVE_API_KEY\" }",
    "environment = \"Customer\"",
    "production = true",
];

impl View for Welcome {
    fn focus(&self) -> Focus {
        Focus::Welcome
    }

    fn title(&self, _desk: &Desk) -> String {
        "Welcome".into()
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        match action {
            Action::Demo => desk.ask(Ask::Leave(Farewell::Demo)),
            Action::Back | Action::Quit => desk.ask(Ask::Leave(Farewell::Asked)),
            _ => {}
        }
    }

    fn disabled(&self, action: Action, _desk: &Desk) -> Option<String> {
        match action {
            Action::Profiles
            | Action::Groups
            | Action::History
            | Action::Rotations
            | Action::Whose
            | Action::Messages
            | Action::Requests
            | Action::OpenOrCreate
            | Action::Refresh => Some("no profile is configured yet".into()),
            _ => None,
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let inner = boxed(buffer, area, "groupdesk", desk.theme);
        let mut sheet = Sheet::new(inner.width, desk.theme);
        let plain = Style::new();
        sheet.heading("No profile is configured yet.");
        sheet.blank();
        sheet.text("Press d for the demo: a service of its own, on this machine only, thrown away at the end.", plain);
        sheet.blank();
        sheet.text(
            &format!("To connect to a real service, write {}:", self.config_file),
            plain,
        );
        sheet.blank();
        for line in EXAMPLE {
            sheet.indented(4, line, desk.theme.key_hint());
        }
        sheet.blank();
        sheet.text(
            "Or without any file: GROUPDESK_BASE_URL and GROUPDESK_API_KEY in the environment.",
            plain,
        );
        sheet.draw(buffer, inner, 0);
        None
    }
}
