//! The answer to a create or an update: the returned name, properties, token fingerprint and tag.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{View, history::ending_style};
use crate::{
    domain::{change::DesiredFields, history::Ending},
    operations::{Done, Warning},
    tui::{
        keymap::{Action, Focus},
        kit::{
            Cursor,
            boxes::{page as page_box, page_room},
            text_page::TextPage,
        },
        page::group_details,
        state::{
            context::{Context, Navigation},
            forms::group::GroupForm,
            navigation::PaneRequest,
        },
    },
};

#[derive(Debug)]
pub struct ResultPane {
    done: Done,
    sent_mapping: bool,
    scroll: Cursor,
}

impl ResultPane {
    pub fn of(done: Done, wanted: &DesiredFields) -> Self {
        Self {
            sent_mapping: wanted.mapping.is_some(),
            done,
            scroll: Cursor::default(),
        }
    }

    fn page(&self, width: u16, context: &Context) -> TextPage {
        let theme = context.theme;
        let done = &self.done;
        let mut page = TextPage::new(width, theme);
        let word = done.ending.as_str().replace('_', " ").to_uppercase();
        let answer = format!(
            "responded {} in {} ms",
            done.status,
            done.latency.as_millis()
        );
        page.field("result", &word, ending_style(done.ending, theme), &answer);
        for warning in &done.warnings {
            let style = if warning.is_alarm() {
                theme.error()
            } else {
                theme.warning()
            };
            page.text(&format!("! {warning}"), style);
            if let Warning::Differs(difference) = warning {
                let asked = format!("asked    {}", difference.asked);
                page.indented(2, &asked, theme.dim());
                page.indented(2, &format!("kept     {}", difference.kept), style);
            }
        }
        if done.ending == Ending::Existed {
            let key = context.keys.key(Focus::Result, Action::Edit);
            let text = format!(
                "The group already existed and was not changed. To send your input as an update, press {key}."
            );
            page.text(&text, theme.warning());
        }
        page.blank();
        page.heading("Response, and what is known now");
        group_details::whole(&mut page, &done.group, context);
        if self.sent_mapping {
            page.blank();
            page.text(
                "~ the service accepted the mapping but never returns it",
                theme.dim(),
            );
        }
        page
    }
}

impl View for ResultPane {
    fn focus(&self) -> Focus {
        Focus::Result
    }

    fn title(&self, _context: &Context) -> String {
        let ending = self.done.ending.as_str().replace('_', " ");
        format!("{} {ending}", self.done.group.id)
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let (width, rows) = page_room(context.size);
        let last = self.page(width, context).last_scroll(rows);
        if self.scroll.act(action, last + 1, usize::from(rows)) {
            return;
        }
        match action {
            Action::Back => self.pop(context),
            Action::Edit => {
                let pane = GroupForm::of(&self.done.group, context);
                context.navigate(Navigation::Replace(PaneRequest::Edit(Box::new(pane))));
            }
            Action::History => {
                let id = self.done.group.id.clone();
                context.navigate(Navigation::Push(PaneRequest::History(id)));
            }
            Action::Token => {
                let group = Box::new(self.done.group.clone());
                context.navigate(Navigation::Replace(PaneRequest::Token(group)));
            }
            _ => {}
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let inner = page_box(buffer, area, self.done.group.title(), context.theme);
        self.page(inner.width, context)
            .draw(buffer, inner, self.scroll.at);
        None
    }
}
