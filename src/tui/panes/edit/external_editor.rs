//! The form and the person's own editor: opens the whole group as one JSON document. The edited text only changes the form;
//! text that cannot be parsed is kept, with the reason.

use serde_json::Value;

use super::GroupForm;
use crate::tui::panes::prelude::*;
use crate::{
    domain::kept_text::without_tokens,
    tui::{
        kit::{json_editor, pairs::pairs_of},
        state::{EditRequest, Effect},
    },
};

impl GroupForm {
    /// Opens the form of a known group, or its draft, with the whole group in the editor.
    pub fn in_editor(group: &KnownGroup, context: &mut Context) -> Self {
        let mut edit = Self::of(group, context);
        edit.open_group(context);
        edit
    }

    /// Opens the whole group in the editor.
    pub(super) fn open_group(&mut self, context: &mut Context) {
        if !self.commit(context) {
            return;
        }
        let text = self.group_text.clone();
        let text = text.unwrap_or_else(|| self.document());
        let ticket = context.ticket();
        self.external_edit = Some((ticket, text.clone()));
        let file = "group.json";
        let request = EditRequest { file, text };
        context.effects.push(Effect::OpenEditor(ticket, request));
    }

    pub fn is_outside(&self, ticket: Ticket) -> bool {
        matches!(self.external_edit, Some((external_edit, _)) if external_edit == ticket)
    }

    /// Takes over the edited text.
    pub fn take_edited(&mut self, edited: Result<String, String>, context: &mut Context) {
        let Some((_, given)) = self.external_edit.take() else {
            return;
        };
        let text = match edited {
            Ok(text) => text,
            Err(why) => {
                context.say(Severity::Warning, why);
                return;
            }
        };
        let text = text.replace("\r\n", "\n");
        let text = text.trim_end_matches('\n');
        if text == given.trim_end_matches('\n') && self.group_text.is_none() {
            context.say(Severity::Info, "Nothing was changed in the editor");
            return;
        }
        let key = context.keys.key(self.field_focus(), Action::EditWhole);
        let error = self.take_group(text, &given, &key);
        match error {
            Some(error) => context.say(Severity::Warning, error),
            None => context.say(Severity::Info, "Loaded from the editor; not sent yet"),
        }
    }

    fn take_group(&mut self, text: &str, given: &str, key: &str) -> Option<String> {
        self.group_text = None;
        if text.trim().is_empty() {
            return Some("empty: the group stays unchanged".into());
        }
        match read_document(text, &self.id) {
            Ok(document) => {
                self.take_document(document);
                None
            }
            Err(problem) => {
                let (text, token) = kept(text, given);
                self.group_text = Some(text);
                Some(format!("{problem}; kept{token}: {key} opens it again"))
            }
        }
    }

    fn take_document(&mut self, mut document: DesiredFields) {
        // Properties that were unknown and empty still are.
        let was_nothing = self.base.properties.is_none() && self.properties.is_blank();
        let typed = document.properties.take();
        document.properties = typed.filter(|typed| !(was_nothing && typed.is_empty()));
        self.fill(&document);
    }

    /// Whether a text from the editor cannot be parsed yet.
    pub(super) fn has_unread(&self) -> bool {
        self.group_text.is_some()
    }

    /// Why the form cannot be reviewed yet.
    pub(super) fn unread(&self, context: &Context) -> Option<String> {
        self.group_text.as_ref()?;
        let key = |action| context.keys.key(self.field_focus(), action);
        let (opens, discards) = (key(Action::EditWhole), key(Action::Discard));
        Some(format!(
            "the text from the editor is not valid: {opens} opens it, {discards} discards all changes"
        ))
    }

    /// The whole group as JSON; an invalid field is included as it was typed. Unknown fields are left out.
    fn document(&self) -> String {
        let text = |text: &str| Value::from(text).to_string();
        let inside = |text: &str| text.trim().replace('\n', "\n  ");
        let mut fields = vec![format!("\"user_group_id\": {}", text(self.id.as_str()))];
        if self.creating || self.base.name.is_some() || !self.name.is_empty() {
            fields.push(format!("\"name\": {}", text(self.name.text())));
        }
        let rows = self.mapping.as_json();
        if self.creating || self.base.mapping.is_some() || rows != "{}" {
            fields.push(format!("\"mapping\": {}", inside(&rows)));
        }
        if !self.properties.is_blank() {
            fields.push(format!(
                "\"properties\": {}",
                inside(&self.properties.text())
            ));
        } else if self.creating {
            fields.push("\"properties\": {}".into());
        }
        format!("{{\n  {}\n}}", fields.join(",\n  "))
    }
}

/// Text that cannot be parsed is kept as a draft, on disk; a pasted answer of the service would contain a token.
fn kept(text: &str, given: &str) -> (String, &'static str) {
    let (kept, had_token) = without_tokens(text.as_bytes(), given);
    let token = if had_token { " without the token" } else { "" };
    (String::from_utf8_lossy(&kept).into_owned(), token)
}

/// Parses the document of a group; the id in it must be that of the group. Absent fields are `None`.
fn read_document(text: &str, id: &UserGroupId) -> Result<DesiredFields, String> {
    let fields = json_editor::parse_object(text, "a group is an object: { ... }");
    let fields = fields.map_err(|problem| problem.to_string())?;
    let mut document = DesiredFields::default();
    for (field, value) in fields {
        match (field.as_str(), value) {
            ("user_group_id", Value::String(found)) if found == id.as_str() => {}
            ("user_group_id", _) => {
                return Err(format!(
                    "user_group_id must be {id}; you cannot change another group here"
                ));
            }
            ("name" | "mapping" | "properties", Value::Null) => {}
            ("name", Value::String(name)) => document.name = Some(name),
            ("name", _) => return Err("name must be a string in quotes".into()),
            ("mapping", Value::Object(object)) => {
                let mapping = pairs_of(object).map_err(|problem| format!("mapping: {problem}"))?;
                document.mapping = Some(mapping);
            }
            ("mapping", _) => return Err("mapping must be an object of strings: { ... }".into()),
            ("properties", Value::Object(object)) => document.properties = Some(object),
            ("properties", _) => return Err("properties must be an object: { ... }".into()),
            _ => {
                return Err("only user_group_id, name, mapping and properties are allowed".into());
            }
        }
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<DesiredFields, String> {
        read_document(text, &UserGroupId::parse("acme").expect("an ID"))
    }

    #[test]
    fn a_document_says_what_it_says_and_no_more() {
        let document = read(r#"{"user_group_id": "acme", "mapping": {"7": 40}, "name": null}"#);
        let document = document.expect("a document");
        assert_eq!(document.name, None);
        assert_eq!(document.properties, None);
        assert_eq!(
            document.mapping.map(|mapping| mapping["7"].clone()),
            Some("40".into())
        );
    }

    #[test]
    fn what_is_no_document_says_why() {
        for (text, why) in [
            ("{\n \"name\" 1}", "line 2, column 9: expected `:`"),
            ("[]", "line 1, column 1: a group is an object: { ... }"),
            (
                "{\"user_group_id\": \"acme2\"}",
                "user_group_id must be acme",
            ),
            ("{\"name\": 7}", "name must be a string"),
            ("{\"mapping\": {\"7\": null}}", "mapping: entry 1 is not"),
            ("{\"mapping\": []}", "mapping must be an object"),
            ("{\"properties\": \"gold\"}", "properties must be an object"),
            ("{\"token\": \"x\"}", "only user_group_id, name,"),
            (
                "{\"name\": \"a\",\n\"name\": \"b\"}",
                "line 2, column 1: this key is in line 1",
            ),
        ] {
            let error = read(text).expect_err("refused");
            assert!(error.starts_with(why), "{text}: {error}");
        }
    }
}
