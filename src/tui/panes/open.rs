//! Opens a group by its id, or creates it (hazard 1): a known id is read; any other goes through a form and a review,
//! which show the most similar known ids and anything unusual about the id. Nothing is sent from here.
//!
//! Which known group to base a new one on: typed or selected, never guessed.

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{View, list::MAX_SYNCHRONOUS};
use crate::{
    domain::{
        group::{InvalidId, UserGroupId},
        known::KnownGroup,
        text::oddities,
    },
    operations::Guarded,
    search::suggest::similar,
    tui::{
        keymap::{Action, Focus},
        kit::{
            boxes::{below, popup},
            paint,
            text_field::TextField,
            text_page::TextPage,
        },
        state::{
            context::{Context, Navigation},
            forms::group::GroupForm,
            groups::similar_ids,
            message::{Job, Outcome, Pending},
            navigation::PaneRequest,
            notices::Severity,
        },
    },
};

#[derive(Debug)]
pub struct Open {
    typed: TextField,
    similar: Vec<UserGroupId>,
    /// 0 is the typed id; from 1 on a similar one.
    pick: usize,
    /// The job that searches for similar ids among many.
    pending: Pending,
    copy_of: CopyOf,
    /// The field for the group to copy has the focus.
    on_copy: bool,
}

/// From this number of rows on, both fields are shown at once.
const MIN_ROWS_FOR_BOTH: u16 = 6;
/// Columns of the ids to pick from.
const ROOM: usize = 30;

impl Default for Open {
    fn default() -> Self {
        Self {
            typed: TextField::new("user group ID", "").for_data(),
            similar: Vec::new(),
            pick: 0,
            pending: Pending::default(),
            copy_of: CopyOf::default(),
            on_copy: false,
        }
    }
}

impl Open {
    /// Opens with this id typed in.
    pub fn of(id: &str, context: &mut Context) -> Self {
        let mut open = Self::default();
        open.typed.set_text(id);
        open.find_similar(context);
        open
    }

    /// Finds similar ids, at once or in a job if there are many groups; until it ends the old ones stay.
    fn find_similar(&mut self, context: &mut Context) {
        let typed = self.typed.text().to_owned();
        self.pick = 0;
        self.typed.error = None;
        context.give_up(&self.pending);
        let index = context.groups.index();
        if index.len() <= MAX_SYNCHRONOUS {
            self.similar = similar_ids(index, &typed);
        } else {
            let job = Job::SimilarIds(index.clone(), typed);
            context.ask(&self.pending, job);
        }
    }

    /// A known group is opened whatever its id is.
    fn typed_id(&self, context: &Context) -> Result<UserGroupId, InvalidId> {
        if self.is_known(context) {
            UserGroupId::parse(self.typed.text())
        } else {
            UserGroupId::typed(self.typed.text())
        }
    }

    fn is_known(&self, context: &Context) -> bool {
        let id = UserGroupId::parse(self.typed.text());
        id.is_ok_and(|id| context.groups.contains(&id))
    }

    fn go(&mut self, context: &mut Context) {
        let id = match self.pick.checked_sub(1) {
            Some(at) => self.similar.get(at).cloned(),
            None => match self.typed_id(context) {
                Ok(id) => Some(id),
                Err(error) => {
                    self.typed.error = Some(error.to_string());
                    None
                }
            },
        };
        let Some(id) = id else {
            self.on_copy = false;
            return;
        };
        self.leave(context);
        if context.groups.contains(&id) {
            context.navigate(Navigation::Replace(PaneRequest::Group(id)));
        } else if let Some(why) = context.why_incomplete() {
            self.typed.error = Some(format!("Not opened: {why}; try again"));
        } else if context.why_forbidden(Guarded::Create).is_some() {
            self.typed.error =
                Some("Not in the directory, and it cannot be created: see below".into());
        } else {
            let source = match self.copy_of.chosen(context) {
                Ok(source) => source,
                Err(why) => {
                    self.copy_of.field.error = Some(why);
                    self.on_copy = true;
                    return;
                }
            };
            let pane = match source {
                Some(source) => {
                    let text = format!("Copied from {}, not sent", source.id);
                    let pane = GroupForm::create_like(id, &source, context);
                    context.say(Severity::Info, text);
                    pane
                }
                None => GroupForm::create(id, context),
            };
            context.navigate(Navigation::Replace(PaneRequest::Edit(Box::new(pane))));
        }
    }
}

impl View for Open {
    fn focus(&self) -> Focus {
        Focus::Open
    }

    fn title(&self, _context: &Context) -> String {
        "Open or create".into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        match action {
            Action::Back => self.pop(context),
            Action::NextField => {
                if self.on_copy {
                    self.copy_of.settle();
                } else if let Some(similar) = self.similar.get(self.pick.wrapping_sub(1)) {
                    self.copy_of.field.set_text(similar.as_str());
                }
                self.on_copy = !self.on_copy;
                self.pick = 0;
                self.copy_of.find_similar(self.typed.text(), context);
            }
            Action::Down if self.on_copy => self.copy_of.down(),
            Action::Up if self.on_copy => self.copy_of.up(),
            Action::Down => self.pick = (self.pick + 1).min(self.similar.len()),
            Action::Up => self.pick = self.pick.saturating_sub(1),
            Action::Enter => self.go(context),
            _ => {}
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.pending]
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        if let Outcome::SimilarIds(similar) = outcome {
            let picked = self.pick.checked_sub(1).and_then(|at| self.similar.get(at));
            let found = similar.iter().position(|id| Some(id) == picked);
            self.pick = found.map_or(0, |at| at + 1);
            self.similar.clone_from(similar);
        } else if let Outcome::Failed(error) = outcome {
            context.say_error(error);
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        Some(if self.on_copy {
            &mut self.copy_of.field
        } else {
            &mut self.typed
        })
    }

    fn input(&mut self, key: KeyEvent, context: &mut Context) {
        if self.on_copy {
            self.copy_of.key(key, self.typed.text(), context);
        } else {
            self.typed.key(key);
            self.find_similar(context);
        }
    }

    fn paste(&mut self, text: &str, context: &mut Context) -> bool {
        if text.trim_end().contains(['\n', '\r']) {
            // Joined lines would be another id, and creating that group could not be undone.
            let field = if self.on_copy {
                &mut self.copy_of.field
            } else {
                &mut self.typed
            };
            field.error = Some("The paste has several lines; paste one ID".into());
            return true;
        }
        if self.on_copy {
            self.copy_of.paste(text, self.typed.text(), context);
            return true;
        }
        self.typed.paste(text.trim_end_matches(['\n', '\r']));
        self.find_similar(context);
        true
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::Down | Action::Up if self.on_copy && self.copy_of.has_no_choice() => {
                Some("No similar ID".into())
            }
            Action::Down | Action::Up if !self.on_copy && self.similar.is_empty() => {
                Some("No similar ID".into())
            }
            Action::NextField if self.is_known(context) && !self.on_copy => {
                Some("this ID is known: it is opened".into())
            }
            Action::Refresh => Some("nothing to refresh".into()),
            _ => None,
        }
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let inner = popup(
            buffer,
            area,
            (76, 18),
            "Open or create a group",
            context.theme,
        );
        if self.on_copy {
            return self.draw_copy(buffer, inner, context);
        }
        let cursor = self.typed.draw(buffer, inner, context.theme, true);
        let below = below(inner, self.typed.rows(inner.width).max(2));
        let mut page = TextPage::new(below.width, context.theme);
        self.page(&mut page, context);
        page.draw_still(buffer, below);
        // If a similar id is selected, its row is drawn like every cursor row, without a terminal cursor.
        cursor.filter(|_| self.pick == 0)
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
            self.typed.draw(buffer, inner, theme, false);
        }
        let cursor = self
            .copy_of
            .field
            .draw(buffer, below(inner, field), theme, true);
        let mut page = TextPage::new(inner.width, theme);
        self.copy_of.page(&mut page, context);
        let own = self.copy_of.field.rows(inner.width).max(2);
        page.draw_still(buffer, below(inner, field + own));
        cursor.filter(|_| self.copy_of.is_typing())
    }

    fn page(&self, page: &mut TextPage, context: &Context) {
        let theme = context.theme;
        if self.typed.is_empty() {
            page.text(
                "Type the ID that your own system uses for the group.",
                theme.dim(),
            );
            page.text("A known ID opens the group. Any other ID opens a form; nothing is sent before you review it.", theme.dim());
            return;
        }
        for oddity in oddities(self.typed.text()) {
            let text = format!("! character {}: {}", oddity.position, oddity.what);
            page.text(&text, theme.warning());
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
            let text = format!(
                "New ID: sending creates the group, and it cannot be deleted. {enter} opens the form."
            );
            page.text(&text, theme.warning());
            page.text(&place, theme.title());
            if let Some(why) = context.why_forbidden(Guarded::Create) {
                page.text(&format!("It cannot be created: {why}."), theme.error());
            } else if !self.copy_of.field.is_empty() {
                let text = format!(
                    "The form begins as a copy of {}.",
                    self.copy_of.field.text()
                );
                page.text(&text, Style::new());
            }
        }
        if !self.similar.is_empty() {
            page.blank();
            let down = context.keys.key(Focus::Open, Action::Down);
            page.text(&format!("Did you mean?  {down} picks one."), theme.dim());
            choices(page, &self.similar, self.pick, context);
        }
    }
}

/// Ids with their names; `pick` counts from 1.
fn choices(page: &mut TextPage, ids: &[UserGroupId], pick: usize, context: &Context) {
    for (index, id) in (1..).zip(ids) {
        let name = context.groups.title(id);
        let id = paint::cut_id(id.as_str(), ROOM, context.theme);
        let gap = ROOM.saturating_sub(paint::columns(&id));
        page.choice(index == pick, &format!("{id}{:gap$}  {name}", ""));
    }
}

/// Maximum number of groups to select from.
const SHOWN: usize = 6;

#[derive(Debug)]
struct CopyOf {
    pub field: TextField,
    found: Vec<UserGroupId>,
    /// 0 is the typed id; from 1 on one of those found.
    pick: usize,
}

impl Default for CopyOf {
    fn default() -> Self {
        Self {
            field: TextField::new("copy of", "").for_data(),
            found: Vec::new(),
            pick: 0,
        }
    }
}

impl CopyOf {
    fn key(&mut self, key: KeyEvent, id: &str, context: &Context) {
        self.field.key(key);
        self.find_similar(id, context);
    }

    fn paste(&mut self, text: &str, id: &str, context: &Context) {
        self.field.paste(text.trim_end_matches(['\n', '\r']));
        self.find_similar(id, context);
    }

    /// Finds groups similar to what is typed here or, while nothing is, to the new id.
    fn find_similar(&mut self, id: &str, context: &Context) {
        let typed = match self.field.text() {
            "" => id,
            typed => typed,
        };
        let found = similar(typed, context.groups.ids(), SHOWN);
        self.found = found
            .into_iter()
            .filter_map(|id| UserGroupId::parse(id).ok())
            .collect();
        self.pick = 0;
        self.field.error = None;
    }

    fn down(&mut self) {
        self.pick = (self.pick + 1).min(self.found.len());
    }

    fn up(&mut self) {
        self.pick = self.pick.saturating_sub(1);
    }

    /// Copies the selected id into the field.
    fn settle(&mut self) {
        if let Some(id) = self.pick.checked_sub(1).and_then(|at| self.found.get(at)) {
            self.field.set_text(id.as_str());
        }
        self.pick = 0;
    }

    fn has_no_choice(&self) -> bool {
        self.found.is_empty()
    }

    fn is_typing(&self) -> bool {
        self.pick == 0
    }

    /// The chosen group; `None` if none was chosen.
    ///
    /// # Errors
    ///
    /// The typed id is not a known group.
    fn chosen(&self, context: &Context) -> Result<Option<KnownGroup>, String> {
        let picked = self.pick.checked_sub(1).and_then(|at| self.found.get(at));
        let typed = self.field.text();
        match picked {
            Some(id) => Ok(context.groups.get(id)),
            None if typed.is_empty() => Ok(None),
            None => {
                let known = UserGroupId::parse(typed).ok();
                let known = known.and_then(|id| context.groups.get(&id));
                let down = context.keys.key(Focus::Open, Action::Down);
                known
                    .map(Some)
                    .ok_or_else(|| format!("no known group has this ID; {down} picks a near one"))
            }
        }
    }

    fn page(&self, page: &mut TextPage, context: &Context) {
        let theme = context.theme;
        let enter = context.keys.key(Focus::Open, Action::Enter);
        let text = format!(
            "Mapping and properties are copied into the form, the name is not. {enter} continues; empty: no copy."
        );
        page.text(&text, theme.dim());
        choices(page, &self.found, self.pick, context);
    }
}
