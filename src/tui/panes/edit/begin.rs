//! How a form begins: with what is known of a group, with nothing, or with the draft that was left.

use jiff::Timestamp;

use super::Edit;
use crate::{
    domain::{change::DesiredFields, group::UserGroupId, known::KnownGroup},
    tui::state::context::Context,
};

impl Edit {
    /// The form of a known group, or its draft where there is one.
    pub fn of(group: &KnownGroup, context: &mut Context) -> Self {
        let base_at = group.last_seen.unwrap_or(context.now);
        Self::draft_or(
            group.id.clone(),
            DesiredFields::of(group),
            base_at,
            false,
            context,
        )
    }

    /// The form that was left: of a known group, else of one to be created, where that has a draft.
    pub fn of_left(id: &UserGroupId, context: &mut Context) -> Option<Self> {
        match context.groups.get(id) {
            Some(group) => Some(Self::of(&group, context)),
            None => context
                .has_draft(id)
                .then(|| Self::create(id.clone(), context)),
        }
    }

    /// The form of a group that is to be created, or its draft.
    pub fn create(id: UserGroupId, context: &mut Context) -> Self {
        let base = DesiredFields {
            name: None,
            mapping: None,
            properties: None,
        };
        Self::draft_or(id, base, context.now, true, context)
    }

    pub(super) fn draft_or(
        id: UserGroupId,
        base: DesiredFields,
        base_at: Timestamp,
        creating: bool,
        context: &mut Context,
    ) -> Self {
        // Another console may have kept a newer one.
        context.read_drafts();
        if let Some(unsent) = context.drafts.get(&(context.current, id.clone())).cloned() {
            Self::say_opened(&unsent, context);
            let form = unsent.form;
            let mut draft = form.unwrap_or_else(|| Self::of_draft(unsent.draft));
            if draft.creating && !creating {
                // It exists by now: what was typed for its creation becomes an update.
                draft.becomes_update(base);
            }
            return draft;
        }
        let mut form = Self::new(id, base, base_at, creating);
        if context.properties_as_rows {
            form.properties.switch();
        }
        form
    }

    /// What was left blank stays left out, as it was for the creation.
    fn becomes_update(&mut self, known: DesiredFields) {
        self.creating = false;
        self.base = DesiredFields {
            name: known.name.filter(|_| !self.name.is_empty()),
            mapping: known
                .mapping
                .filter(|_| self.mapping.value().is_ok_and(|rows| !rows.is_empty())),
            properties: known.properties.filter(|_| !self.properties.is_blank()),
        };
    }
}
