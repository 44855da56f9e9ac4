//! How a form starts: from what is known about a group, empty, or from a draft.

use jiff::Timestamp;

use super::GroupForm;
use crate::{
    domain::{change::DesiredFields, group::UserGroupId, known::KnownGroup},
    tui::state::{context::Context, drafts::UnsentDraft},
};

impl GroupForm {
    /// The form of a known group, or of its draft if there is one.
    pub fn of(group: &KnownGroup, context: &mut Context) -> Self {
        let base_at = group.last_seen.unwrap_or(context.now);
        Self::draft_or_new(
            group.id.clone(),
            DesiredFields::of(group),
            base_at,
            false,
            context,
        )
    }

    /// The form that was left: of a known group, or of one to be created if it has a draft.
    pub fn reopen(id: &UserGroupId, context: &mut Context) -> Option<Self> {
        match context.groups.get(id) {
            Some(group) => Some(Self::of(&group, context)),
            None => context
                .has_draft(id)
                .then(|| Self::create(id.clone(), context)),
        }
    }

    /// The form of a group to be created, or its draft.
    pub fn create(id: UserGroupId, context: &mut Context) -> Self {
        let base = DesiredFields {
            name: None,
            mapping: None,
            properties: None,
        };
        Self::draft_or_new(id, base, context.now, true, context)
    }

    pub(super) fn draft_or_new(
        id: UserGroupId,
        base: DesiredFields,
        base_at: Timestamp,
        creating: bool,
        context: &mut Context,
    ) -> Self {
        // Another console may have stored a newer one.
        context.read_drafts();
        let unsent = context.drafts.get(&(context.current, id.clone())).cloned();
        let is_loaded = |unsent: &UnsentDraft| {
            context.loads_drafts_of_others || context.other_author(unsent).is_none()
        };
        let (unsent, other) = match unsent {
            Some(unsent) if is_loaded(&unsent) => (Some(unsent), None),
            other => (None, other),
        };
        if let Some(other) = other {
            Self::say_edited_by_other(&other, context);
        }
        if let Some(unsent) = unsent {
            Self::say_opened(&unsent, context);
            let by = context.other_author(&unsent).map(str::to_owned);
            let form = unsent.form;
            let mut draft = form.unwrap_or_else(|| Self::of_draft(unsent.draft));
            draft.loaded_from = by.or(draft.loaded_from);
            if draft.creating && !creating {
                // The group exists by now: what was typed to create it becomes an update.
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

    /// Fields that were left blank stay out of the update, as they were out of the creation.
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
