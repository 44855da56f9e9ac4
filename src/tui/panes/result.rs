//! What came back after a create or an update: the returned name, properties, token fingerprint and tag.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{View, history::ending_style};
use crate::{
    domain::{change::Wanted, history::Ending},
    operations::{Done, Warning},
    tui::{
        forms::group::Edit,
        keymap::{Action, Focus},
        state::{
            context::{Ask, Desk},
            navigation::Opening,
        },
        widgets::{boxes::page as page_box, group_details, scroll::Cursor, text_page::Sheet},
    },
};

#[derive(Debug)]
pub struct ResultPane {
    done: Done,
    sent_mapping: bool,
    scroll: Cursor,
}

impl ResultPane {
    pub fn of(done: Done, wanted: &Wanted) -> Self {
        Self {
            sent_mapping: wanted.mapping.is_some(),
            done,
            scroll: Cursor::default(),
        }
    }

    fn page(&self, width: u16, desk: &Desk) -> Sheet {
        let theme = desk.theme;
        let done = &self.done;
        let mut sheet = Sheet::new(width, theme);
        let word = done.ending.as_str().replace('_', " ").to_uppercase();
        let answer = format!(
            "answered {} in {} ms",
            done.status,
            done.latency.as_millis()
        );
        sheet.field("result", &word, ending_style(done.ending, theme), &answer);
        for warning in &done.warnings {
            let style = if warning.is_alarm() {
                theme.error()
            } else {
                theme.warning()
            };
            sheet.text(&format!("! {warning}"), style);
            if let Warning::Differs(difference) = warning {
                let asked = format!("asked    {}", difference.asked);
                sheet.indented(2, &asked, theme.dim());
                sheet.indented(2, &format!("kept     {}", difference.kept), style);
            }
        }
        if done.ending == Ending::Existed {
            let key = desk.keys.key(Focus::Result, Action::Edit);
            let text = format!(
                "It was there before and is unchanged. What you typed is kept: {key} makes an update of it."
            );
            sheet.text(&text, theme.warning());
        }
        sheet.blank();
        sheet.heading("What came back, and what is known now");
        group_details::whole(&mut sheet, &done.group, desk);
        if self.sent_mapping {
            sheet.blank();
            sheet.text(
                "~ the service accepted the mapping but never returns it",
                theme.dim(),
            );
        }
        sheet
    }
}

impl View for ResultPane {
    fn focus(&self) -> Focus {
        Focus::Result
    }

    fn title(&self, _desk: &Desk) -> String {
        let ending = self.done.ending.as_str().replace('_', " ");
        format!("{} {ending}", self.done.group.id)
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        let rows = desk.size.1.saturating_sub(6);
        let last = self
            .page(desk.size.0.saturating_sub(2), desk)
            .last_scroll(rows);
        if self.scroll.act(action, last + 1, usize::from(rows)) {
            return;
        }
        match action {
            Action::Enter | Action::Back => desk.ask(Ask::Home),
            Action::Edit => {
                let pane = Edit::of(&self.done.group, desk);
                desk.ask(Ask::Replace(Opening::Edit(Box::new(pane))));
            }
            Action::Token => {
                let group = Box::new(self.done.group.clone());
                desk.ask(Ask::Replace(Opening::Token(group)));
            }
            _ => {}
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let inner = page_box(buffer, area, self.done.group.title(), desk.theme);
        self.page(inner.width, desk)
            .draw(buffer, inner, self.scroll.at);
        None
    }
}
