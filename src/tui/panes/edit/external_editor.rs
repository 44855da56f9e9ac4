//! The form and the person's own editor: opens one field, or the whole group as one JSON document. The edited text only
//! changes the form; text that cannot be parsed is kept, with the reason.

use serde_json::Value;

use super::{GroupForm, Section};
use crate::{
    domain::{
        group::{Mapping, Properties, UserGroupId},
        kept_text::without_tokens,
        known::KnownGroup,
    },
    tui::{
        keymap::{Action, Focus},
        kit::{
            json_editor,
            mapping_table::{pairs_of, read_mapping},
            text_field::did_not_fit,
        },
        state::{
            context::Context,
            forms::group::EditorTarget,
            message::{EditRequest, Effect, Ticket},
            notices::Severity,
        },
    },
};

/// The document of a whole group; absent fields are `None`.
#[derive(Debug, Default, PartialEq)]
struct Document {
    name: Option<String>,
    mapping: Option<Mapping>,
    properties: Option<Properties>,
}

impl GroupForm {
    /// Opens the form of a known group, or its draft, with the whole group in the editor.
    pub fn in_editor(group: &KnownGroup, context: &mut Context) -> Self {
        let mut edit = Self::of(group, context);
        edit.open_group(context);
        edit
    }

    /// Opens the focused field in the editor.
    pub(super) fn open_field(&mut self, context: &mut Context) {
        let part = match self.section {
            Section::Name => EditorTarget::Name,
            Section::Mapping => EditorTarget::Mapping,
            Section::Properties => EditorTarget::Properties,
        };
        self.open_part(part, context);
    }

    /// Opens the whole group in the editor.
    pub(super) fn open_group(&mut self, context: &mut Context) {
        self.open_part(EditorTarget::Group, context);
    }

    fn open_part(&mut self, part: EditorTarget, context: &mut Context) {
        if !self.commit(context) {
            return;
        }
        let (file, text) = match part {
            EditorTarget::Name => ("name.txt", self.name.text().to_owned()),
            EditorTarget::Mapping => {
                let text = self.mapping_text.clone();
                let text = text.unwrap_or_else(|| self.mapping.as_json());
                ("mapping.json", text)
            }
            EditorTarget::Properties => ("properties.json", self.properties.text()),
            EditorTarget::Group => {
                let text = self.group_text.clone();
                ("group.json", text.unwrap_or_else(|| self.document()))
            }
        };
        let ticket = context.ticket();
        let external_edit = EditRequest { file, text };
        self.external_edit = Some((ticket, part, external_edit.text.clone()));
        context
            .effects
            .push(Effect::OpenEditor(ticket, external_edit));
    }

    pub fn is_outside(&self, ticket: Ticket) -> bool {
        matches!(self.external_edit, Some((external_edit, ..)) if external_edit == ticket)
    }

    /// Takes over the edited text.
    pub fn take_edited(&mut self, edited: Result<String, String>, context: &mut Context) {
        let Some((_, part, given)) = self.external_edit.take() else {
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
        let waits = match part {
            EditorTarget::Mapping => self.mapping_text.is_some(),
            EditorTarget::Group => self.group_text.is_some(),
            EditorTarget::Name | EditorTarget::Properties => false,
        };
        if text == given.trim_end_matches('\n') && !waits {
            context.say(Severity::Info, "Nothing was changed in the editor");
            return;
        }
        let key = |action| context.keys.key(self.field_focus(), action);
        let (field, whole) = (key(Action::EditOutside), key(Action::EditWhole));
        let error = match part {
            EditorTarget::Name => self.take_name(text),
            EditorTarget::Mapping => self.take_mapping(text, &field),
            EditorTarget::Properties => self.take_properties(text),
            EditorTarget::Group => self.take_group(text, &whole),
        };
        match error {
            Some(error) => context.say(Severity::Warning, error),
            None => context.say(Severity::Info, "Loaded from the editor; not sent yet"),
        }
    }

    fn take_name(&mut self, text: &str) -> Option<String> {
        self.name.set_text("");
        let pasted = self.name.paste(text);
        if pasted.cut > 0 {
            return Some(format!("name: {}", did_not_fit(pasted.cut)));
        }
        (pasted.joined_lines > 0).then(|| "name: it is one line; line breaks became spaces".into())
    }

    fn take_mapping(&mut self, text: &str, key: &str) -> Option<String> {
        self.mapping_text = None;
        if text.trim().is_empty() {
            return Some("empty: the mapping stays unchanged".into());
        }
        match read_mapping(text) {
            Ok(mapping) => {
                self.mapping.replace(mapping);
                None
            }
            Err(problem) => {
                let (text, token) = kept(text);
                self.mapping_text = Some(text);
                Some(format!(
                    "mapping: {problem}; kept{token}: {key} opens it again"
                ))
            }
        }
    }

    fn take_properties(&mut self, text: &str) -> Option<String> {
        self.properties.set_text(text);
        let problem = self.properties.value().err()?;
        let text = format!("Properties: {problem}; the text is kept");
        self.properties.go_to_problem();
        Some(text)
    }

    fn take_group(&mut self, text: &str, key: &str) -> Option<String> {
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
                let (text, token) = kept(text);
                self.group_text = Some(text);
                Some(format!("{problem}; kept{token}: {key} opens it again"))
            }
        }
    }

    /// A field that is not in the document stays as it is.
    fn take_document(&mut self, document: Document) {
        if let Some(name) = document.name {
            self.name.set_text(&name);
        }
        if let Some(mapping) = document.mapping {
            self.mapping.replace(mapping);
        }
        if let Some(properties) = document.properties {
            let is_same = self.properties.value() == Ok(&properties);
            // The properties were unknown and still are.
            let is_blank = self.properties.is_blank() && properties.is_empty();
            let is_nothing = is_blank && self.base.properties.is_none();
            if !is_same && !is_nothing {
                self.properties.set_text(&pretty(properties));
            }
        }
    }

    /// Whether a text from the editor cannot be parsed yet.
    pub(super) fn has_unread(&self) -> bool {
        self.group_text.is_some() || self.mapping_text.is_some()
    }

    /// Why the form cannot be reviewed yet.
    pub(super) fn unread(&self, context: &Context) -> Option<String> {
        let key = |action| context.keys.key(self.field_focus(), action);
        if self.group_text.is_some() {
            let (opens, discards) = (key(Action::EditWhole), key(Action::Discard));
            Some(format!(
                "the text from the editor cannot be read: {opens} opens it, {discards} discards all"
            ))
        } else if self.mapping_text.is_some() {
            let key = context.keys.key(Focus::EditMapping, Action::EditOutside);
            Some(format!(
                "the mapping from the editor cannot be read: {key} in it opens it again"
            ))
        } else {
            None
        }
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
fn kept(text: &str) -> (String, &'static str) {
    let (kept, had_token) = without_tokens(text.as_bytes());
    let token = if had_token { " without the token" } else { "" };
    (String::from_utf8_lossy(&kept).into_owned(), token)
}

fn pretty(properties: Properties) -> String {
    let value = Value::Object(properties);
    serde_json::to_string_pretty(&value).unwrap_or_else(|_| value.to_string())
}

/// Parses the document of a group; the id in it must be that of the group.
fn read_document(text: &str, id: &UserGroupId) -> Result<Document, String> {
    let fields = json_editor::parse_object(text, "a group is an object: { ... }");
    let fields = fields.map_err(|problem| problem.to_string())?;
    let mut document = Document::default();
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
                return Err("only user_group_id, name, mapping and properties can be there".into());
            }
        }
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Document, String> {
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
