//! The first screen when no profile exists: connect to a service or try the demo, each with one key.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::View;
use crate::tui::{
    keymap::{Action, Focus},
    kit::{boxes::titled, text_page::TextPage},
    state::{
        context::{Context, Navigation},
        message::ExitReason,
        navigation::PaneRequest,
    },
};

#[derive(Debug)]
pub struct Welcome {
    /// The path where the configuration would be.
    pub config_file: String,
}

/// Why an action is not possible while there is no profile.
pub fn needs_a_profile(action: Action, context: &Context) -> Option<String> {
    let needs = matches!(
        action,
        Action::Profiles
            | Action::Groups
            | Action::History
            | Action::Rotations
            | Action::Attention
            | Action::Batches
            | Action::Whose
            | Action::Messages
            | Action::Requests
            | Action::OpenOrCreate
            | Action::Refresh
    );
    (needs && context.profile().is_none()).then(|| "no profile is configured yet".into())
}

impl View for Welcome {
    fn focus(&self) -> Focus {
        Focus::Welcome
    }

    fn title(&self, _context: &Context) -> String {
        "Welcome".into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        match action {
            Action::Connect => {
                context.navigate(Navigation::Push(PaneRequest::Connect));
            }
            Action::Demo => context.navigate(Navigation::Leave(ExitReason::Demo)),
            Action::Back | Action::Quit => context.navigate(Navigation::Leave(ExitReason::Asked)),
            _ => {}
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        needs_a_profile(action, context)
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let inner = titled(buffer, area, "groupdesk", true, context.theme);
        let mut page = TextPage::new(inner.width, context.theme);
        let plain = Style::new();
        let key = context.theme.key_hint();
        page.heading("No profile is configured yet.");
        page.blank();
        let keys =
            [Action::Connect, Action::Demo].map(|action| context.keys.key(Focus::Welcome, action));
        let width = keys.iter().map(String::len).max().unwrap_or(0);
        let [connect, demo] = keys.map(|key| format!("{key:width$}"));
        page.pieces(vec![
            (connect, key),
            ("  connect to a service".into(), context.theme.title()),
        ]);
        let indent = width + 2;
        page.indented(indent, "Asks for its URL and the source of the API key, and tests the connection without creating anything.", plain);
        page.indented(indent, &format!("Writes {}", self.config_file), plain);
        page.blank();
        page.pieces(vec![
            (demo, key),
            ("  try the demo".into(), context.theme.title()),
        ]);
        page.indented(
            indent,
            "Runs a sample service on this machine; deleted when you quit.",
            plain,
        );
        page.blank();
        page.text(
            "Without a file: set GROUPDESK_BASE_URL and GROUPDESK_API_KEY.",
            context.theme.dim(),
        );
        page.draw(buffer, inner, 0);
        None
    }
}
