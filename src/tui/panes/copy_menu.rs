//! The parts of a group that can be copied; none is secret.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};
use serde_json::Value;

use super::View;
use crate::{
    domain::{change::DesiredFields, known::KnownGroup},
    operations::{request, request_json},
    tui::{
        keymap::{Action, Focus},
        state::context::{Context, Navigation},
        widgets::{
            boxes::{choice, popup},
            paint,
            scroll::Cursor,
        },
    },
};

#[derive(Debug)]
pub struct CopyMenu {
    items: Vec<(&'static str, String)>,
    cursor: Cursor,
}

impl CopyMenu {
    pub fn of(group: &KnownGroup) -> Self {
        let mut items = vec![("user group id", group.id.as_str().to_owned())];
        if let Some(known) = &group.name {
            items.push(("name", known.value.clone()));
        }
        if let Some(known) = &group.fingerprint {
            items.push(("token fingerprint", known.value.to_string()));
        }
        if let Some(known) = &group.mapping {
            let map: serde_json::Map<String, Value> = known
                .value
                .iter()
                .map(|(key, value)| (key.clone(), Value::String(value.clone())))
                .collect();
            items.push(("mapping as JSON", Value::Object(map).to_string()));
        }
        if let Some(known) = &group.properties {
            let text = Value::Object(known.value.clone()).to_string();
            items.push(("properties as JSON", text));
        }
        let all = request_json(&request(&group.id, &DesiredFields::of(group)));
        items.push(("all as JSON", all));
        Self {
            items,
            cursor: Cursor::default(),
        }
    }
}

impl View for CopyMenu {
    fn focus(&self) -> Focus {
        Focus::CopyMenu
    }

    fn title(&self, _context: &Context) -> String {
        "Copy".into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if self.cursor.act(action, self.items.len(), 0) {
            return;
        }
        match action {
            Action::Enter => {
                let (what, text) = &self.items[self.cursor.at];
                context.copy(what, text);
                context.navigate(Navigation::Pop);
            }
            Action::Back | Action::CopyMenu => context.navigate(Navigation::Pop),
            _ => {}
        }
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let size = (60, self.items.len() as u16 + 2);
        let inner = popup(buffer, area, size, "Copy", context.theme);
        for (index, (what, text)) in self.items.iter().enumerate() {
            let here = index == self.cursor.at;
            let row = paint::row(inner, index as u16);
            let text = format!("{what:<20}{text}");
            choice(buffer, row, here, &text, context.theme);
        }
        None
    }
}
