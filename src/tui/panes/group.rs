//! One group, whole: what is known, where from, and what the service says of it now.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{View, compare::Compare};
use crate::{
    domain::{group::UserGroupId, known::KnownGroup},
    operations::Guarded,
    tui::{
        forms::group::Edit,
        keymap::{Action, Focus},
        state::{
            context::{Ask, Desk},
            message::{Job, Outcome, Ticket},
            navigation::Opening,
            notices::Severity,
        },
        widgets::{boxes::page as page_box, group_details, scroll::Cursor, text_page::Sheet},
    },
};

#[derive(Debug)]
pub struct Group {
    id: UserGroupId,
    ticket: Option<Ticket>,
    /// Why the last look-up did not answer.
    trouble: Option<String>,
    /// What the last look-up warned of.
    warnings: Vec<String>,
    scroll: Cursor,
}

/// More lines than any group has; the page itself ends the scrolling.
const LINES: usize = 100_000;

impl Group {
    /// Opens a known group and reads it from the service.
    pub fn open(id: UserGroupId, desk: &mut Desk) -> Self {
        let ticket = desk.start(Job::LookUp(id.clone()));
        Self {
            id,
            ticket: Some(ticket),
            trouble: None,
            warnings: Vec::new(),
            scroll: Cursor::default(),
        }
    }

    fn known(&self, desk: &Desk) -> Option<KnownGroup> {
        desk.groups.get(&self.id)
    }

    fn heading(&self, desk: &Desk) -> String {
        let title = match desk.groups.title(&self.id) {
            "" => self.id.as_str(),
            title => title,
        };
        title.to_owned()
    }

    fn page(&self, width: u16, desk: &Desk) -> Sheet {
        let mut sheet = Sheet::new(width, desk.theme);
        if let Some(trouble) = &self.trouble {
            sheet.text(trouble, desk.theme.error());
            sheet.text("below: what this desk knows from before", desk.theme.dim());
            sheet.blank();
        }
        for warning in &self.warnings {
            sheet.text(warning, desk.theme.warning());
        }
        if !self.warnings.is_empty() {
            sheet.blank();
        }
        match self.known(desk) {
            Some(group) => group_details::whole(&mut sheet, &group, desk),
            None => sheet.text("nothing is known of this group yet", desk.theme.dim()),
        }
        sheet
    }
}

impl View for Group {
    fn focus(&self) -> Focus {
        Focus::Group
    }

    fn title(&self, desk: &Desk) -> String {
        let title = self.heading(desk);
        crate::domain::text::visible(&title).into_owned()
    }

    fn status(&self, _desk: &Desk) -> String {
        if self.ticket.is_some() {
            "reading it from the service".into()
        } else {
            String::new()
        }
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        let page = usize::from(desk.size.1 / 2);
        if self.scroll.act(action, LINES, page) {
            let width = desk.size.0.saturating_sub(2);
            let rows = desk.size.1.saturating_sub(6);
            self.scroll.at = self.scroll.at.min(self.page(width, desk).last_scroll(rows));
            return;
        }
        match action {
            Action::Back => {
                self.leave(desk);
                desk.ask(Ask::Pop);
            }
            Action::Refresh => {
                self.leave(desk);
                self.ticket = Some(desk.start(Job::LookUp(self.id.clone())));
            }
            Action::History => {
                desk.ask(Ask::Push(Opening::History(self.id.clone())));
            }
            Action::Compare => {
                desk.ask(Ask::Push(Opening::Compare(self.id.clone())));
            }
            Action::Edit | Action::EditWhole | Action::Token | Action::CopyMenu => {
                let Some(group) = self.known(desk) else {
                    return;
                };
                let opening = match action {
                    Action::Edit => Opening::Edit(Box::new(Edit::of(&group, desk))),
                    Action::EditWhole => Opening::Edit(Box::new(Edit::outside(&group, desk))),
                    Action::Token => Opening::Token(Box::new(group)),
                    _ => Opening::CopyMenu(Box::new(group)),
                };
                desk.ask(Ask::Push(opening));
            }
            _ => {}
        }
    }

    fn disabled(&self, action: Action, desk: &Desk) -> Option<String> {
        match action {
            Action::Edit | Action::EditWhole => desk.forbidden(Guarded::Update),
            Action::Compare => Compare::impossible(desk),
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
        if let Outcome::Done(done) = outcome {
            self.trouble = None;
            self.warnings = done.warnings.iter().map(ToString::to_string).collect();
            for warning in &done.warnings {
                desk.say(
                    Severity::of_warning(warning.is_alarm()),
                    warning.to_string(),
                );
            }
        } else if let Outcome::Failed(trouble) = outcome {
            self.trouble = Some(trouble.text.clone());
            desk.say(Severity::Error, trouble.text.clone());
        }
    }

    fn lost(&mut self, desk: &mut Desk) {
        self.ticket = None;
        let key = desk.keys.key(Focus::Group, Action::Refresh);
        self.trouble = Some(format!(
            "the look-up broke off inside groupdesk; {key} reads again"
        ));
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let title = self.heading(desk);
        let inner = page_box(buffer, area, &title, desk.theme);
        self.page(inner.width, desk)
            .draw(buffer, inner, self.scroll.at);
        None
    }
}
