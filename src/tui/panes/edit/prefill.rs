//! A form that starts with values from elsewhere: another profile, another group, or the past. Nothing is sent; filling
//! in can be undone, and an existing draft is kept beneath it.

use serde_json::Value;

use super::GroupForm;
use crate::{
    domain::{change::DesiredFields, group::UserGroupId, known::KnownGroup, merge::Part},
    tui::{
        keymap::{Action, Focus},
        state::context::Context,
    },
};

impl GroupForm {
    /// The form of a known group, or its draft, with the values of `from` for these parts.
    ///
    /// # Errors
    ///
    /// When there is a draft that cannot be parsed; it is left alone.
    pub fn carrying(
        group: &KnownGroup,
        parts: &[Part],
        from: &DesiredFields,
        context: &mut Context,
    ) -> Result<Self, String> {
        let mut edit = Self::of(group, context);
        let mut wanted = edit.wanted().map_err(|(text, field)| {
            let key = context.keys.key(Focus::List, Action::Edit);
            format!("your draft of it has a problem in the {field} ({text}); {key} opens it")
        })?;
        for part in parts {
            part.carry(from, &mut wanted);
        }
        edit.fill(&wanted);
        Ok(edit)
    }

    /// The form of a group to be created, with mapping and properties of another one. The name is not copied, because
    /// names tell groups apart.
    pub fn create_like(id: UserGroupId, source: &KnownGroup, context: &mut Context) -> Self {
        let mut edit = Self::create(id, context);
        edit.fill(&DesiredFields {
            name: None,
            ..DesiredFields::of(source)
        });
        edit
    }

    /// Fields that are `None` stay as they are.
    fn fill(&mut self, wanted: &DesiredFields) {
        if let Some(name) = &wanted.name
            && name != self.name.text()
        {
            self.name.set_text(name);
        }
        if let Some(mapping) = &wanted.mapping {
            self.mapping.fill(mapping);
        }
        if let Some(properties) = &wanted.properties
            && self.properties.value() != Ok(properties)
        {
            let value = Value::Object(properties.clone());
            let text = serde_json::to_string_pretty(&value).unwrap_or_else(|_| value.to_string());
            self.properties.set_text(&text);
        }
    }
}
