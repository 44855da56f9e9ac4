//! One group in full: what is known and where from, and what the service says about it now.
//!
//! The answer to a create or an update: the returned name, properties, token fingerprint and tag.

use super::{compare::Compare, history::ending_style, prelude::*};

use crate::{
    operations::Warning,
    tui::{
        kit::{draw_waiting, severity_style},
        page::group_details,
    },
};

#[derive(Debug)]
pub struct Group {
    id: UserGroupId,
    pending: Pending,
    /// Why the last look-up failed.
    error: Option<String>,
    /// Whether the group was not read when the page was opened, nor since.
    is_unread: bool,
    /// Warnings of the last look-up.
    warnings: Vec<String>,
    scroll: Cursor,
}

impl Group {
    pub fn id(&self) -> &UserGroupId {
        &self.id
    }

    /// Opens a known group and reads it from the service, if that is possible.
    pub fn open(id: UserGroupId, context: &mut Context) -> Self {
        let pending = Pending::default();
        let is_unread = why_unread(context).is_some();
        if !is_unread {
            context.ask(&pending, Job::LookUp(id.clone()));
        }
        Self {
            id,
            pending,
            error: None,
            is_unread,
            warnings: Vec::new(),
            scroll: Cursor::default(),
        }
    }

    fn known(&self, context: &Context) -> Option<KnownGroup> {
        context.groups.get(&self.id)
    }

    fn heading(&self, context: &Context) -> String {
        let title = match context.groups.title(&self.id) {
            "" => self.id.as_str(),
            title => title,
        };
        title.to_owned()
    }

    fn page(&self, width: u16, context: &Context) -> TextPage {
        let mut page = TextPage::new(width, context.theme);
        if let Some(error) = &self.error {
            page.error(error);
            page.dim("Below: the last known values");
            page.blank();
        }
        if self.is_unread && self.error.is_none() {
            let text = match why_unread(context) {
                Some(why) => format!("Last known values, not read: {why}"),
                None => "Last known values, not read".to_owned(),
            };
            page.dim(&text);
            page.blank();
        }
        for warning in &self.warnings {
            page.warning(warning);
        }
        if !self.warnings.is_empty() {
            page.blank();
        }
        match self.known(context) {
            Some(group) => group_details::whole(&mut page, &group, context),
            None => page.dim("This group is not read yet"),
        }
        page
    }
}

impl View for Group {
    fn about(&self) -> Vec<UserGroupId> {
        vec![self.id().clone()]
    }

    fn focus(&self) -> Focus {
        Focus::Group
    }

    fn title(&self, context: &Context) -> String {
        let title = self.heading(context);
        crate::domain::text::visible(&title).into_owned()
    }

    fn status(&self, _context: &Context) -> String {
        if self.pending.is_waiting() {
            "reading it from the service".into()
        } else {
            String::new()
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let (width, rows) = page_room(context.size);
        let last = self.page(width, context).last_scroll(rows);
        if self.scroll.act(action, last + 1, context.half_page()) {
            return;
        }
        match action {
            Action::Back => self.pop(context),
            Action::Refresh => {
                context.ask(&self.pending, Job::LookUp(self.id.clone()));
            }
            Action::Note => {
                context.open_pane(PaneRequest::Note(self.id.clone()));
            }
            Action::History => {
                context.open_pane(PaneRequest::History(self.id.clone()));
            }
            Action::Compare => {
                context.open_pane(PaneRequest::Compare(self.id.clone()));
            }
            Action::Edit | Action::EditWhole | Action::Token | Action::CopyMenu => {
                if let Some(group) = self.known(context) {
                    open_about(group, action, context);
                }
            }
            _ => {}
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::Edit | Action::EditWhole => context.why_forbidden(Guarded::Update),
            Action::Compare => Compare::why_not(context),
            Action::Refresh => context.why_no_key(),
            _ => None,
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.pending]
    }

    fn leave(&mut self, context: &mut Context) {
        context.give_up(&self.pending);
        context.live.seen(&self.id);
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        if let Outcome::Done(done) = outcome {
            (self.error, self.is_unread) = (None, false);
            self.warnings = done.warnings.iter().map(ToString::to_string).collect();
            context.say_warnings(&done.warnings);
        } else if let Outcome::Failed(error) = outcome {
            self.error = Some(error.text.clone());
            context.say_error(error);
        }
    }

    fn job_panicked(&mut self, context: &mut Context) {
        let key = context.keys.key(Focus::Group, Action::Refresh);
        self.error = Some(format!(
            "Internal error, the read stopped; {key} reads again"
        ));
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let title = self.heading(context);
        let inner = page_box(buffer, area, &title, context.theme);
        self.page(inner.width, context)
            .draw(buffer, inner, self.scroll.at);
        let waiting = context.waiting(self.pending.ticket());
        draw_waiting(buffer, inner, waiting.as_ref(), context.theme);
        None
    }
}

/// Why the group cannot be read from the service: the directory is only read, or there is no API key.
fn why_unread(context: &Context) -> Option<String> {
    let view_only = context.view_only_reason().map(str::to_owned);
    view_only.or_else(|| context.why_no_key())
}

/// Opens what an action on a known group leads to; without one of its own, the page of the group.
pub(super) fn open_about(group: KnownGroup, action: Action, context: &mut Context) {
    let opening = match action {
        Action::Edit => PaneRequest::Edit(Box::new(GroupForm::of(&group, context))),
        Action::EditWhole => PaneRequest::Edit(Box::new(GroupForm::in_editor(&group, context))),
        Action::Token => PaneRequest::Token(Box::new(group)),
        Action::Compare => PaneRequest::Compare(group.id),
        Action::Note => PaneRequest::Note(group.id),
        Action::CopyMenu => PaneRequest::CopyMenu(Box::new(group)),
        _ => PaneRequest::Group(group.id),
    };
    context.open_pane(opening);
}

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
            let style = severity_style(Severity::of_warning(warning.is_alarm()), theme);
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
            page.warning(&text);
        }
        page.blank();
        page.heading("Response, and what is known now");
        group_details::whole(&mut page, &done.group, context);
        if self.sent_mapping {
            page.blank();
            page.dim("~ the service accepted the mapping but never returns it");
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
                context.open_pane(PaneRequest::History(id));
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
