//! Opens a group by its id, or creates it (hazard 1): a known id is read; any other goes through a form and a review,
//! which show the most similar known ids and anything unusual about the id. Nothing is sent from here.
//!
//! Which known group to base a new one on: typed or selected, never guessed.

use super::list::MAX_SYNCHRONOUS;
use super::prelude::*;
use crate::{
    domain::spreadsheet,
    domain::{group::InvalidId, pasted::odd_digits, text::oddities},
    tui::state::groups::similar_ids,
};

#[derive(Debug)]
pub struct Open {
    id: IdField,
    copy_of: IdField,
    /// The field for the group to copy has the focus.
    on_copy: bool,
    /// The job that searches for similar ids among many.
    pending: Pending,
}

/// From this number of rows on, both fields are shown at once.
const MIN_ROWS_FOR_BOTH: u16 = 6;
/// Maximum width of the ids to pick from.
const ROOM: u16 = 30;

impl Default for Open {
    fn default() -> Self {
        Self {
            id: IdField::new("user group ID"),
            copy_of: IdField::new("copy of"),
            on_copy: false,
            pending: Pending::default(),
        }
    }
}

impl Open {
    /// Opens with this id typed in.
    pub fn of(id: &str, context: &mut Context) -> Self {
        let mut open = Self::default();
        open.id.field.set_text(id);
        open.find_similar(context);
        open
    }

    /// The field with the focus.
    fn on(&mut self) -> &mut IdField {
        if self.on_copy {
            &mut self.copy_of
        } else {
            &mut self.id
        }
    }

    /// Finds ids similar to what is typed; for a copy, while nothing is typed there, to the new id. At once, or in a job
    /// if there are many groups; until it ends the old ones stay.
    fn find_similar(&mut self, context: &mut Context) {
        let id = self.id.field.text().to_owned();
        let on = self.on();
        on.pick = 0;
        on.field.error = None;
        let typed = match on.field.text() {
            "" => id,
            typed => typed.to_owned(),
        };
        context.give_up(&self.pending);
        let index = context.groups.index();
        if index.len() <= MAX_SYNCHRONOUS {
            self.on().near = similar_ids(index, &typed);
        } else {
            let job = Job::SimilarIds(index.clone(), typed);
            context.ask(&self.pending, job);
        }
    }

    /// A known group is opened whatever its id is.
    fn typed_id(&self, context: &Context) -> Result<UserGroupId, InvalidId> {
        if self.is_known(context) {
            UserGroupId::parse(self.id.field.text())
        } else {
            UserGroupId::typed(self.id.field.text())
        }
    }

    fn is_known(&self, context: &Context) -> bool {
        let id = UserGroupId::parse(self.id.field.text());
        id.is_ok_and(|id| context.groups.contains(&id))
    }

    fn go(&mut self, context: &mut Context) {
        let picked = self.id.picked().cloned();
        let id = match picked.map_or_else(|| self.typed_id(context), Ok) {
            Ok(id) => id,
            Err(error) => {
                self.id.field.error = Some(error.to_string());
                self.on_copy = false;
                return;
            }
        };
        self.leave(context);
        if context.groups.contains(&id) {
            context.navigate(Navigation::Replace(PaneRequest::Group(id)));
        } else if let Some(why) = context.why_incomplete() {
            self.id.field.error = Some(format!("Not opened: {why}; try again"));
        } else if context.why_forbidden(Guarded::Create).is_some() {
            self.id.field.error =
                Some("Not known in this profile, and it cannot be created: see below".into());
        } else {
            match self.form(id, context) {
                Ok(form) => {
                    context.navigate(Navigation::Replace(PaneRequest::Edit(Box::new(form))));
                }
                Err(why) => {
                    self.copy_of.field.error = Some(why);
                    self.on_copy = true;
                }
            }
        }
    }

    /// The form of a new group, which may be a copy; otherwise why it cannot be one.
    fn form(&self, id: UserGroupId, context: &mut Context) -> Result<GroupForm, String> {
        let Some(source) = self.copy_of.group(context)? else {
            return Ok(GroupForm::create(id, context));
        };
        let form = GroupForm::create_like(id, &source, context)?;
        let text = format!("Copied from {}, not sent", source.id);
        context.say(Severity::Info, text);
        Ok(form)
    }
}

impl View for Open {
    fn focus(&self) -> Focus {
        Focus::Open
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        match action {
            Action::Back => self.pop(context),
            Action::NextField => {
                // What is picked is the group to copy, wherever it is picked.
                if let Some(picked) = self.on().picked().cloned() {
                    self.copy_of.field.set_text(picked.as_str());
                }
                self.on_copy = !self.on_copy;
                (self.id.pick, self.copy_of.pick) = (0, 0);
                self.find_similar(context);
            }
            Action::Down => {
                let on = self.on();
                on.pick = (on.pick + 1).min(on.near.len());
            }
            Action::Up => self.on().pick = self.on().pick.saturating_sub(1),
            Action::Enter => self.go(context),
            _ => {}
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.pending]
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        if let Outcome::SimilarIds(similar) = outcome {
            let on = self.on();
            let picked = on.picked();
            let found = similar.iter().position(|id| Some(id) == picked);
            on.pick = found.map_or(0, |at| at + 1);
            on.near.clone_from(similar);
        } else if let Outcome::Failed(error) = outcome {
            context.say_error(error);
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        Some(&mut self.on().field)
    }

    fn typed(&mut self, context: &mut Context) {
        self.find_similar(context);
    }

    fn paste(&mut self, text: &str, context: &mut Context) -> bool {
        if text.trim_end().contains(['\n', '\r']) {
            // Joined lines would be another id, and creating that group could not be undone.
            self.on().field.error = Some("The paste has several lines; paste one ID".into());
            return true;
        }
        self.on().field.paste(text.trim_end_matches(['\n', '\r']));
        self.find_similar(context);
        true
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        let on = if self.on_copy {
            &self.copy_of
        } else {
            &self.id
        };
        match action {
            Action::Down | Action::Up if on.near.is_empty() => Some("No similar ID".into()),
            Action::NextField if self.is_known(context) && !self.on_copy => {
                Some("this ID is known: it is opened".into())
            }
            _ => None,
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let title = "Open or create a group";
        let inner = popup(buffer, area, (76, 18), title, context.theme);
        if self.on_copy {
            return self.draw_copy(buffer, inner, context);
        }
        let cursor = self.id.field.draw(buffer, inner, context.theme, true);
        let below = below(inner, self.id.field.rows(inner.width).max(2));
        let mut page = TextPage::new(below.width, context.theme);
        self.page(&mut page, context);
        page.draw_still(buffer, below);
        // If a similar id is selected, its row is drawn like every cursor row, without a terminal cursor.
        cursor.filter(|_| self.id.pick == 0)
    }
}

impl Open {
    fn draw_copy(&self, buffer: &mut Buffer, inner: Rect, context: &Context) -> Option<Position> {
        let theme = context.theme;
        // In a low window the field that has the focus comes first.
        let field = if inner.height < MIN_ROWS_FOR_BOTH {
            0
        } else {
            2
        };
        if field > 0 {
            self.id.field.draw(buffer, inner, theme, false);
        }
        let cursor = self
            .copy_of
            .field
            .draw(buffer, below(inner, field), theme, true);
        let mut page = TextPage::new(inner.width, theme);
        let enter = context.keys.key(Focus::Open, Action::Enter);
        let text = format!(
            "Mapping and properties are copied into the form, the name is not. {enter} continues; empty: no copy."
        );
        page.dim(&text);
        self.copy_of.choices(&mut page, context);
        let own = self.copy_of.field.rows(inner.width).max(2);
        page.draw_still(buffer, below(inner, field + own));
        cursor.filter(|_| self.copy_of.pick == 0)
    }

    fn page(&self, page: &mut TextPage, context: &Context) {
        let theme = context.theme;
        if self.id.field.is_empty() {
            page.dim("Type the ID that your own system uses for the group.");
            page.dim("A known ID opens the group. Any other ID opens a form; nothing is sent before you review it.");
            return;
        }
        for oddity in oddities(self.id.field.text()) {
            let text = format!("! character {}: {}", oddity.position, oddity.what);
            page.warning(&text);
        }
        let place = context.profile().map_or_else(String::new, |p| {
            format!("{} {} {}", p.environment_word(), p.name, p.url())
        });
        let enter = context.keys.key(Focus::Open, Action::Enter);
        if self.is_known(context) {
            let text = format!("In the directory. {enter} reads it from the service.");
            page.text(&text, theme.ok());
        } else if let Some(why) = context.why_incomplete() {
            page.text(
                &format!("Unknown whether it is in the directory: {why}."),
                theme.unknown(),
            );
        } else {
            let forbidden = context.why_forbidden(Guarded::Create);
            if forbidden.is_none() {
                let text = format!(
                    "New ID: sending creates the group, and it cannot be deleted. {enter} opens the form."
                );
                page.warning(&text);
            }
            if let Some(what) = spreadsheet::changed("ID", self.id.field.text()) {
                page.warning(&format!("! This is {what}"));
            }
            if let Some(what) = odd_digits(self.id.field.text(), context.groups.ids()) {
                page.warning(&format!("! {what}"));
            }
            page.text(&place, theme.title());
            if let Some(why) = forbidden {
                page.error(&format!("It cannot be created: {why}."));
            } else if !self.copy_of.field.is_empty() {
                let text = format!(
                    "The form begins as a copy of {}.",
                    self.copy_of.field.text()
                );
                page.text(&text, Style::new());
            }
        }
        if !self.id.near.is_empty() {
            page.blank();
            let down = context.keys.key(Focus::Open, Action::Down);
            page.dim(&format!("Did you mean?  {down} picks one."));
            self.id.choices(page, context);
        }
    }
}

/// A field for an id, and known ids near it to pick from.
#[derive(Debug)]
struct IdField {
    field: TextField,
    near: Vec<UserGroupId>,
    /// 0 is the typed id; from 1 on one of those near it.
    pick: usize,
}

impl IdField {
    fn new(label: &str) -> Self {
        Self {
            field: TextField::new(label, "").for_data(),
            near: Vec::new(),
            pick: 0,
        }
    }

    fn picked(&self) -> Option<&UserGroupId> {
        self.near.get(self.pick.checked_sub(1)?)
    }

    /// The known group that is picked or typed; `None` if nothing is.
    ///
    /// # Errors
    ///
    /// The typed id is not a known group.
    fn group(&self, context: &Context) -> Result<Option<KnownGroup>, String> {
        let typed = self.field.text();
        match self.picked() {
            Some(id) => Ok(context.groups.get(id)),
            None if typed.is_empty() => Ok(None),
            None => {
                let known = UserGroupId::parse(typed).ok();
                let known = known.and_then(|id| context.groups.get(&id));
                let down = context.keys.key(Focus::Open, Action::Down);
                known
                    .map(Some)
                    .ok_or_else(|| format!("no known group has this ID; {down} picks a similar ID"))
            }
        }
    }

    /// The ids near it with their names.
    fn choices(&self, page: &mut TextPage, context: &Context) {
        let room = usize::from(widest(self.near.iter().map(UserGroupId::as_str), ROOM));
        for (index, id) in (1..).zip(&self.near) {
            let name = context.groups.title(id);
            let id = paint::cut_id(id.as_str(), room, context.theme);
            let gap = room.saturating_sub(paint::columns(&id));
            page.choice(index == self.pick, &format!("{id}{:gap$}  {name}", ""));
        }
    }
}
