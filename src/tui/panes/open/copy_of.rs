//! Which known group to base a new one on: typed or selected, never guessed.

use crossterm::event::KeyEvent;

use crate::{
    domain::{group::UserGroupId, known::KnownGroup},
    search::suggest::similar,
    tui::{
        keymap::{Action, Focus},
        kit::{text_field::TextField, text_page::TextPage},
        state::context::Context,
    },
};

/// Maximum number of groups to select from.
const SHOWN: usize = 6;

#[derive(Debug)]
pub(super) struct CopyOf {
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
    pub(super) fn key(&mut self, key: KeyEvent, id: &str, context: &Context) {
        self.field.key(key);
        self.find_similar(id, context);
    }

    pub(super) fn paste(&mut self, text: &str, id: &str, context: &Context) {
        self.field.paste(text.trim_end_matches(['\n', '\r']));
        self.find_similar(id, context);
    }

    /// Finds groups similar to what is typed here or, while nothing is, to the new id.
    pub(super) fn find_similar(&mut self, id: &str, context: &Context) {
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

    pub(super) fn down(&mut self) {
        self.pick = (self.pick + 1).min(self.found.len());
    }

    pub(super) fn up(&mut self) {
        self.pick = self.pick.saturating_sub(1);
    }

    /// Copies the selected id into the field.
    pub(super) fn settle(&mut self) {
        if let Some(id) = self.pick.checked_sub(1).and_then(|at| self.found.get(at)) {
            self.field.set_text(id.as_str());
        }
        self.pick = 0;
    }

    pub(super) fn has_no_choice(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn is_typing(&self) -> bool {
        self.pick == 0
    }

    /// The chosen group; `None` if none was chosen.
    ///
    /// # Errors
    ///
    /// The typed id is not a known group.
    pub(super) fn chosen(&self, context: &Context) -> Result<Option<KnownGroup>, String> {
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

    pub(super) fn page(&self, page: &mut TextPage, context: &Context) {
        let theme = context.theme;
        let enter = context.keys.key(Focus::Open, Action::Enter);
        let text = format!(
            "Mapping and properties are copied into the form, the name is not. {enter} continues; empty: no copy."
        );
        page.text(&text, theme.dim());
        super::choices(page, &self.found, self.pick, context);
    }
}
