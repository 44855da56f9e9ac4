//! How a form begins: with what is known of a group, with nothing, or with the draft that was left.

use jiff::Timestamp;

use super::Edit;
use crate::{
    domain::{change::Wanted, group::UserGroupId, known::KnownGroup},
    tui::state::context::Desk,
};

impl Edit {
    /// The form of a known group, or its draft where there is one.
    pub fn of(group: &KnownGroup, desk: &mut Desk) -> Self {
        let base_at = group.last_seen.unwrap_or(desk.now);
        Self::draft_or(group.id.clone(), Wanted::of(group), base_at, false, desk)
    }

    /// The form of a group that is to be created.
    pub fn create(id: UserGroupId, desk: &mut Desk) -> Self {
        let base = Wanted {
            name: None,
            mapping: None,
            properties: None,
        };
        Self::draft_or(id, base, desk.now, true, desk)
    }

    pub(super) fn draft_or(
        id: UserGroupId,
        base: Wanted,
        base_at: Timestamp,
        creating: bool,
        desk: &mut Desk,
    ) -> Self {
        // Another console may have kept a newer one.
        desk.read_drafts();
        if let Some(unsent) = desk.drafts.get(&(desk.current, id.clone())).cloned() {
            Self::say_opened(&unsent, desk);
            let form = unsent.form;
            let mut draft = form.unwrap_or_else(|| Self::of_draft(unsent.draft));
            if draft.creating && !creating {
                // It exists by now: what was typed for its creation becomes an update.
                draft.becomes_update(base);
            }
            return draft;
        }
        let mut form = Self::new(id, base, base_at, creating);
        if desk.properties_as_rows {
            form.properties.switch();
        }
        form
    }

    /// What was left blank stays left out, as it was for the creation.
    fn becomes_update(&mut self, known: Wanted) {
        self.creating = false;
        self.base = Wanted {
            name: known.name.filter(|_| !self.name.is_empty()),
            mapping: known
                .mapping
                .filter(|_| self.mapping.value().is_ok_and(|rows| !rows.is_empty())),
            properties: known.properties.filter(|_| !self.properties.is_blank()),
        };
    }
}
