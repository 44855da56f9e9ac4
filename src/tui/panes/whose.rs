//! Whose token is this? A pasted token, masked, is compared by its fingerprint with every token the directory has seen;
//! nothing is sent, and the token is forgotten as soon as it was compared.

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::View;
use crate::{
    domain::{text::visible, token::Token},
    operations::Owner,
    tui::{
        desk::{Ask, Desk},
        frame::popup,
        keymap::{Action, Focus},
        message::{Job, Outcome, ProfileIndex, Ticket},
        messages::Severity,
        scroll::Cursor,
        sheet::Sheet,
        widgets::{paint, text_field::TextField},
    },
};

#[derive(Debug)]
pub struct Whose {
    token: TextField,
    ticket: Option<Ticket>,
    /// Once it was looked up.
    owners: Option<Vec<Owner>>,
    cursor: Cursor,
}

impl Default for Whose {
    fn default() -> Self {
        Self {
            token: TextField::secret("token"),
            ticket: None,
            owners: None,
            cursor: Cursor::default(),
        }
    }
}

impl Whose {
    fn look_up(&mut self, desk: &mut Desk) {
        let token = self.token.text().trim();
        if token.is_empty() {
            self.token.error = Some("paste or type the token first".into());
            return;
        }
        let job = Job::Whose(Token::new(token.to_owned()));
        self.ticket = Some(desk.start(job));
        self.token = TextField::secret("token");
    }

    fn owner(&self) -> Option<&Owner> {
        self.owners.as_ref()?.get(self.cursor.at)
    }

    /// The token pane of the group, in its own profile.
    fn go_on(&self, desk: &mut Desk) {
        let Some(owner) = self.owner() else { return };
        let mut profiles = desk.profiles.iter();
        match profiles.position(|profile| profile.name == owner.profile) {
            Some(profile) => desk.ask(Ask::TokenOf(
                ProfileIndex(profile),
                owner.user_group_id.clone(),
            )),
            None => desk.say(
                Severity::Warning,
                format!(
                    "profile {} is not configured here; add it to go on",
                    owner.profile
                ),
            ),
        }
    }
}

impl View for Whose {
    fn focus(&self) -> Focus {
        if self.owners.is_some() {
            Focus::WhoseFound
        } else {
            Focus::Whose
        }
    }

    fn title(&self, _desk: &Desk) -> String {
        "Whose token is this?".into()
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        let rows = self.owners.as_ref().map_or(0, Vec::len);
        if self.cursor.act(action, rows, 0) {
            return;
        }
        match action {
            Action::Enter if self.owners.is_none() && self.ticket.is_none() => self.look_up(desk),
            Action::Token => self.go_on(desk),
            Action::Whose => *self = Self::default(),
            Action::Back => {
                self.leave(desk);
                desk.ask(Ask::Pop);
            }
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, _desk: &mut Desk) {
        if self.owners.is_none() {
            self.token.key(key);
            self.token.error = None;
        }
    }

    fn paste(&mut self, text: &str, _desk: &mut Desk) -> bool {
        let is_field = self.owners.is_none();
        if is_field {
            self.token.paste(text);
            self.token.error = None;
        }
        is_field
    }

    fn disabled(&self, action: Action, _desk: &Desk) -> Option<String> {
        match action {
            Action::Token if self.owner().is_none() => Some("no group is known for it".into()),
            Action::Refresh => Some("nothing to read".into()),
            _ => None,
        }
    }

    fn leave(&mut self, desk: &mut Desk) {
        if let Some(ticket) = self.ticket.take() {
            desk.cancel(ticket);
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        self.ticket == Some(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, desk: &mut Desk) {
        self.ticket = None;
        match outcome {
            Outcome::Whose(owners) => self.owners = Some(owners.clone()),
            Outcome::Failed(trouble) => desk.say(Severity::Error, trouble.text.clone()),
            _ => {}
        }
    }

    fn lost(&mut self, _desk: &mut Desk) {
        self.ticket = None;
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let inner = popup(buffer, area, (76, 12), "Whose token is this?", desk.theme);
        let mut sheet = Sheet::new(inner.width, desk.theme);
        if let Some(owners) = &self.owners {
            self.found(&mut sheet, owners, desk);
            sheet.draw_still(buffer, inner);
            return None;
        }
        let cursor = self.token.draw(buffer, inner, desk.theme, true);
        let below = Rect {
            y: inner.y + 2.min(inner.height),
            height: inner.height.saturating_sub(2),
            ..inner
        };
        let text = if self.ticket.is_some() {
            "looking it up in the directory"
        } else {
            "Paste a token. Its fingerprint is looked up in the directory, in all profiles. Nothing is sent, and the token is not kept."
        };
        sheet.text(text, desk.theme.dim());
        sheet.draw_still(buffer, below);
        cursor
    }
}

impl Whose {
    fn found(&self, sheet: &mut Sheet, owners: &[Owner], desk: &Desk) {
        let theme = desk.theme;
        if owners.is_empty() {
            sheet.text(
                "No group of this directory has or had that token.",
                theme.warning(),
            );
            let key = desk.keys.key(Focus::WhoseFound, Action::Whose);
            let text = format!(
                "It may still be the token of a group that was never read here. {key} asks for another one."
            );
            sheet.text(&text, theme.dim());
            return;
        }
        for (index, owner) in owners.iter().enumerate() {
            let here = index == self.cursor.at;
            let style = if here {
                theme.cursor_row()
            } else if owner.current {
                theme.warning()
            } else {
                Style::new()
            };
            let what = if owner.current { "current" } else { "former" };
            let id = paint::cut(owner.user_group_id.as_str(), 32, theme);
            let profile = visible(&owner.profile);
            let line = format!(
                "{} {what:<8} token of {id} in {profile}, seen {} ago",
                if here { '>' } else { ' ' },
                desk.age(owner.last_seen)
            );
            sheet.pieces(vec![(line, style)]);
        }
        sheet.blank();
        let key = desk.keys.key(Focus::WhoseFound, Action::Token);
        let next = match self.owner() {
            Some(owner) if owner.current => {
                format!("{key} goes to its token: read it, and rotate it after a leak.")
            }
            _ => format!("A former token no longer works. {key} goes to the token of the group."),
        };
        sheet.text(&next, theme.dim());
    }
}
