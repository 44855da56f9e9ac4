//! Open a group by its id, or create it (hazard 1): a known id is read; any other goes through a form and a review, with
//! the nearest known ids and everything odd about the id in sight. Nothing is sent from here.

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{Pane, View, edit::Edit, group::Group};
use crate::{
    domain::{group::UserGroupId, near::near, text::oddities},
    operations::Guarded,
    tui::{
        desk::{Ask, Desk},
        frame::popup,
        keymap::{Action, Focus},
        sheet::Sheet,
        widgets::{paint, text_field::TextField},
    },
};

#[derive(Debug)]
pub struct Open {
    typed: TextField,
    near: Vec<UserGroupId>,
    known: bool,
    /// 0 is what was typed; from 1 on a near id.
    pick: usize,
}

/// Near ids shown.
const NEAR: usize = 6;

impl Default for Open {
    fn default() -> Self {
        Self {
            typed: TextField::new("user group id", ""),
            near: Vec::new(),
            known: false,
            pick: 0,
        }
    }
}

impl Open {
    fn look_around(&mut self, desk: &Desk) {
        let typed = self.typed.text();
        self.known = UserGroupId::parse(typed).is_ok_and(|id| desk.groups.get(&id).is_some());
        self.near = near(typed, desk.groups.ids(), NEAR)
            .into_iter()
            .cloned()
            .collect();
        self.pick = 0;
        self.typed.error = None;
    }

    fn go(&mut self, desk: &mut Desk) {
        let id = match self.pick.checked_sub(1) {
            Some(at) => self.near.get(at).cloned(),
            None => match UserGroupId::parse(self.typed.text()) {
                Ok(id) => Some(id),
                Err(error) => {
                    self.typed.error = Some(error.to_string());
                    None
                }
            },
        };
        let Some(id) = id else { return };
        if desk.groups.read_at.is_none() {
            self.typed.error = Some("the directory is still being read; try again".into());
            return;
        }
        if desk.groups.get(&id).is_some() {
            let pane = Group::open(id, desk);
            desk.ask(Ask::Replace(Pane::Group(pane)));
        } else if desk.forbidden(Guarded::Create).is_some() {
            self.typed.error = Some("not known here, and it cannot be created: see below".into());
        } else {
            let pane = Edit::create(id, desk);
            desk.ask(Ask::Replace(Pane::Edit(Box::new(pane))));
        }
    }
}

impl View for Open {
    fn focus(&self) -> Focus {
        Focus::Open
    }

    fn title(&self, _desk: &Desk) -> String {
        "Open or create".into()
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        match action {
            Action::Back => desk.ask(Ask::Pop),
            Action::Down => self.pick = (self.pick + 1).min(self.near.len()),
            Action::Up => self.pick = self.pick.saturating_sub(1),
            Action::Enter => self.go(desk),
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, desk: &mut Desk) {
        self.typed.key(key);
        self.look_around(desk);
    }

    fn paste(&mut self, text: &str, desk: &mut Desk) -> bool {
        if text.trim_end().contains(['\n', '\r']) {
            // Joined, they would be another id, and that group would be there for ever.
            self.typed.error = Some("the paste has several lines; paste one id".into());
            return true;
        }
        self.typed.paste(text.trim_end_matches(['\n', '\r']));
        self.look_around(desk);
        true
    }

    fn disabled(&self, action: Action, _desk: &Desk) -> Option<String> {
        match action {
            Action::Down | Action::Up if self.near.is_empty() => Some("no id is near".into()),
            Action::Refresh => Some("nothing to read".into()),
            _ => None,
        }
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let inner = popup(buffer, area, (76, 18), "Open or create a group", desk.theme);
        let cursor = self.typed.draw(buffer, inner, desk.theme, true);
        let below = Rect {
            y: inner.y + 2.min(inner.height),
            height: inner.height.saturating_sub(2),
            ..inner
        };
        let mut sheet = Sheet::new(below.width, desk.theme);
        self.page(&mut sheet, desk);
        sheet.draw_still(buffer, below);
        // The row of the picked id is drawn like every cursor row.
        cursor.filter(|_| self.pick == 0)
    }
}

impl Open {
    fn page(&self, sheet: &mut Sheet, desk: &Desk) {
        let theme = desk.theme;
        if self.typed.is_empty() {
            sheet.text(
                "Type the id that your own system uses for the group.",
                theme.dim(),
            );
            sheet.text("An id known here is read. Any other id goes to a form first; nothing is sent before its review.", theme.dim());
            return;
        }
        for oddity in oddities(self.typed.text()) {
            let text = format!("! character {}: {}", oddity.position, oddity.what);
            sheet.text(&text, theme.warning());
        }
        let place = desk.profile().map_or_else(String::new, |p| {
            format!("{} {} {}", p.environment_word(), p.name, p.url())
        });
        if self.known {
            sheet.text("Known here. Enter reads it from the service.", theme.ok());
        } else {
            sheet.text(
                "Not known here: the service would CREATE it, and nothing deletes it. Enter goes on to the form.",
                theme.warning(),
            );
            sheet.text(&place, theme.title());
            if let Some(why) = desk.forbidden(Guarded::Create) {
                sheet.text(&format!("It cannot be created: {why}."), theme.error());
            }
        }
        if !self.near.is_empty() {
            sheet.blank();
            sheet.text("Did you mean?  Down picks one.", theme.dim());
            for (index, id) in self.near.iter().enumerate() {
                let here = self.pick == index + 1;
                let style = if here {
                    theme.cursor_row()
                } else {
                    Style::new()
                };
                let name = desk.groups.get(id).map_or("", |group| group.title());
                let room = 30;
                let id = paint::cut(id.as_str(), room, theme);
                let gap = room.saturating_sub(paint::columns(&id));
                let mark = if here { '>' } else { ' ' };
                sheet.pieces(vec![(format!("{mark} {id}{:gap$}  {name}", ""), style)]);
            }
        }
    }
}
