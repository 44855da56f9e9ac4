//! Names, mappings, properties and reasons are shown, stored and sent in the open: a text that is a token or an API key
//! known here is refused before anything is written or sent.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    domain::{
        annotation::Label,
        draft::Draft,
        fields::Texts,
        kept_text::without_secrets,
        pasted::{self, Parts, Pasted, has_cut_token, is_nearly_token, shape, suspicious_words},
        token::Fingerprinter,
    },
    formats::{GroupRow, Ids},
    operations::prelude::*,
};

/// In characters. No token or API key is shorter; a name that happens to equal a short key gives nothing away.
const SHORTEST: usize = 16;
/// What to do instead if something only looks like a token. In a file only what an ID never has is refused.
const OF_FILE: &str = "write at most 40 hex digits in a row";
const OF_VALUE: &str = "pass it in a file: groupdesk apply FILE";

/// A refused text that was typed, on the command line as the value of this option.
pub(crate) fn typed_secret(field: &str) -> Failure {
    let instead = match field {
        "--name" | "--map" | "--property" | "--unmap" | "--remove-property" => OF_VALUE,
        "--if-value" => "select the groups with --filter map:SCHEMA=SOURCE or prop:KEY=VALUE",
        _ => "write at most 15 of its digits",
    };
    Failure::looks_secret(field, instead)
}

/// Ids that are looked up at once.
const AT_ONCE: usize = 500;

/// A text of a form, and the field it is in.
struct Text<'t> {
    field: Cow<'t, str>,
    text: &'t str,
}

impl<'t> Text<'t> {
    fn of(field: impl Into<Cow<'t, str>>, text: &'t str) -> Self {
        let field = field.into();
        Self { field, text }
    }

    fn refused(&self) -> Failure {
        let field = self.field.clone().into_owned();
        Failure::HoldsSecret { field }
    }
}

/// What could be taken for parts of tokens in the texts that are there.
fn parts_of(base: &DesiredFields) -> Option<Parts> {
    let texts = texts(base).into_iter().map(|text| text.text);
    Parts::of(&joined(texts, "\n\n"))
}

impl Operations {
    /// Refuses what is about to be sent if it has a secret that `base` has not: the ID of a new group, and its fields. The key
    /// that it is sent with is compared, wherever it comes from.
    pub(crate) async fn no_secret_to_send(
        &self,
        new: Option<&UserGroupId>,
        base: &DesiredFields,
        wanted: &DesiredFields,
    ) -> Result<(), Failure> {
        let fields = texts(wanted).into_iter().map(|text| text.text);
        self.read_key_for(new.map(UserGroupId::as_str).into_iter().chain(fields))
            .await;
        if let Some(id) = new {
            self.no_secret_as_id(id).await?;
        }
        self.no_secret_in(base, wanted).await
    }

    /// Refuses fields that differ from `base` and contain a known secret, or a cut token. The one rule for what is sent, typed
    /// or from a file.
    pub async fn no_secret_in(
        &self,
        base: &DesiredFields,
        wanted: &DesiredFields,
    ) -> Result<(), Failure> {
        let before: HashSet<_> = texts(base).into_iter().map(|text| text.text).collect();
        let mut new = texts(wanted);
        new.retain(|text| !before.contains(text.text));
        let parts = parts_of(base);
        self.refuse_new_secrets(&new, |_| false, parts.as_ref())
            .await?;
        match new.iter().find(|new| has_cut_token(new.text)) {
            Some(cut) => Err(Failure::looks_secret(&cut.field, OF_FILE)),
            None => Ok(()),
        }
    }

    /// Refuses numbered rows of a file that contain a known secret, or a note or label that looks like one, before anything
    /// of them is shown, kept or sent. `of_file` has the IDs of all its rows.
    pub async fn no_secret_in_rows(
        &self,
        rows: &[(usize, GroupRow)],
        of_file: &Ids,
    ) -> Result<(), Failure> {
        // First, because the other messages name the ID.
        let ids = rows.iter();
        let ids = ids.map(|(number, row)| (format!("ID of row {number}"), &row.id));
        self.no_secret_as_new_ids(&ids.collect::<Vec<_>>()).await?;
        let all = rows.iter().flat_map(|(_, row)| {
            let texts = texts(&row.fields).into_iter().chain(texts_of_parts(row));
            let texts = texts.chain(annotation_texts(row));
            texts.map(|text| with_row(row, text))
        });
        self.refuse_secrets(&all.collect::<Vec<_>>()).await?;
        self.no_new_cut_token(rows).await?;
        self.no_new_shape_in_annotations(rows, of_file).await
    }

    /// Refuses fields of a file that have a cut token which the group does not have yet.
    async fn no_new_cut_token(&self, rows: &[(usize, GroupRow)]) -> Result<(), Failure> {
        for (_, row) in rows {
            let all = texts(&row.fields).into_iter().chain(texts_of_parts(row));
            let mut cut = all.filter(|text| has_cut_token(text.text)).peekable();
            if cut.peek().is_none() {
                continue;
            }
            let known = self.show(&row.id).await.map_err(Failure::NothingSent)?;
            let known = known.as_ref().map(DesiredFields::of).unwrap_or_default();
            let known = Texts::of(&known);
            if let Some(new) = cut.find(|text| !known.contain(text.text)) {
                return Err(Failure::looks_secret(&with_row(row, new).field, OF_FILE));
            }
        }
        Ok(())
    }

    /// Refuses notes and labels of a file that look like a token or a part of one, as typed ones are. What the group has
    /// already and ids of the file are none: what was exported can be imported again.
    async fn no_new_shape_in_annotations(
        &self,
        rows: &[(usize, GroupRow)],
        of_file: &Ids,
    ) -> Result<(), Failure> {
        let is_shaped = |text: &Text<'_>| shape(text.text).is_some();
        let rows = rows.iter().map(|(_, row)| row);
        let rows: Vec<_> = rows
            .filter(|row| annotation_texts(row).any(|text| is_shaped(&text)))
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let ids = rows.iter().map(|row| row.id.clone()).collect();
        let here = self.annotations_of(ids).await;
        for (row, here) in rows.into_iter().zip(here.map_err(Failure::NothingSent)?) {
            let here = here.unwrap_or_default();
            for text in annotation_texts(row).filter(is_shaped) {
                let mut labels = here.labels.iter().map(Label::as_str);
                let is_kept = here.note.as_deref() == Some(text.text.trim())
                    || labels.any(|one| one == text.text);
                if !is_kept && !has_only_ids(text.text, of_file) {
                    let Text { field, text } = with_row(row, text);
                    self.no_secret_in_text(&field, text).await?;
                }
            }
        }
        Ok(())
    }

    /// Refuses a draft that has a known secret, or something that looks like a token or a part of one and was not there
    /// before. Its texts may not parse.
    pub(crate) async fn no_secret_in_draft(&self, draft: &Draft) -> Result<(), Failure> {
        let before: HashSet<_> = texts(&draft.base)
            .into_iter()
            .map(|text| text.text)
            .collect();
        let all = draft.texts().filter(|(_, text)| !before.contains(text));
        let all: Vec<_> = all.map(|(field, text)| Text::of(field, text)).collect();
        let texts = Texts::of(&draft.base);
        let parts = parts_of(&draft.base);
        self.refuse_new_secrets(&all, |form| texts.contain(form.expose()), parts.as_ref())
            .await?;
        match draft.suspicious() {
            Some(field) => Err(Failure::looks_secret(field, OF_VALUE)),
            None => Ok(()),
        }
    }

    /// Validates a required reason and returns it as stored: trimmed, without secrets.
    pub(crate) async fn checked_reason(&self, reason: &str) -> Result<String, Failure> {
        let text = reason.trim();
        if text.is_empty() {
            return Err(Failure::usage(
                "nothing was changed: a reason is required; it is recorded in the history",
            ));
        }
        self.no_secret_as_reason(Some(text)).await?;
        Ok(text.to_owned())
    }

    /// Refuses the names that are kept with what is recorded, if one has a known secret.
    pub(crate) async fn no_secret_in_names(&self) -> Result<(), Failure> {
        let profile = self.profile();
        let url = profile.url();
        let names = [
            Text::of("operator", self.operator()),
            Text::of("name of the profile", &profile.name),
            Text::of("base_url", &url),
        ];
        self.refuse_secrets(&names).await
    }

    pub(crate) async fn no_secret_as_reason(&self, reason: Option<&str>) -> Result<(), Failure> {
        self.no_secret_in_text("reason", reason.unwrap_or_default())
            .await
    }

    /// Refuses a text of a person's own, such as a note, a filter or a name, that has a known secret, or something that
    /// looks like a token or a part of one. An id that is known is no token, whatever it looks like.
    pub(crate) async fn no_secret_in_text(&self, field: &str, text: &str) -> Result<(), Failure> {
        let words: Vec<_> = suspicious_words(text).collect();
        let ids: Vec<_> = words
            .iter()
            .filter_map(|word| UserGroupId::parse(*word).ok())
            .collect();
        self.refuse_secrets(&[Text::of(field, text)]).await?;
        if shape(text).is_none() {
            return Ok(());
        }
        if !words.is_empty() && ids.len() == words.len() {
            let known = self.show_by_ids(ids).await.map_err(Failure::NothingSent)?;
            if known.iter().all(Option::is_some) {
                return Ok(());
            }
        }
        Err(typed_secret(field))
    }

    /// Whether a text of unknown origin has a token or an API key that is known here, or a part of a token that this
    /// process has had.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub async fn knows_secret_in(&self, text: &Pasted) -> Result<bool, Failure> {
        let text = text.text();
        match self.refuse_secrets(&[Text::of("", &text)]).await {
            Ok(()) => Ok(false),
            Err(Failure::HoldsSecret { .. }) => Ok(true),
            Err(other) => Err(other),
        }
    }

    /// What may be kept of a text that a person edited and that is not used; see [`without_secrets`].
    pub async fn without_secrets(&self, text: &[u8], given: &str) -> Vec<u8> {
        // A directory that cannot be read is asked once: each line would wait for a silent server.
        let is_away = std::cell::Cell::new(false);
        let is_secret = async |text: &str| {
            if is_away.get() {
                return false;
            }
            match self.refuse_secrets(&[Text::of("", text)]).await {
                Ok(()) => false,
                Err(Failure::HoldsSecret { .. }) => true,
                Err(_) => {
                    is_away.set(true);
                    false
                }
            }
        };
        without_secrets(text, given, is_secret).await
    }

    /// Refuses what a person typed as an id that no group has: a variable that was not replaced, a known secret.
    pub(crate) async fn no_mistake_as_id(&self, id: &UserGroupId) -> Result<(), Failure> {
        let checked = id.check_unknown();
        checked.map_err(|why| Failure::usage(format!("\"{id}\": {why}; nothing was sent")))?;
        self.no_secret_as_id(id).await
    }

    /// Refuses an id that is a known secret or a part of one, unless it is that of a known group.
    pub(crate) async fn no_secret_as_id(&self, id: &UserGroupId) -> Result<(), Failure> {
        self.no_secret_as_new_ids(&[("ID".to_owned(), id)]).await
    }

    /// Refuses ids that no group has and that are a known secret or a part of one, or nearly a token. Each comes with its
    /// place, which is shown instead of it.
    pub(crate) async fn no_secret_as_new_ids(
        &self,
        ids: &[(String, &UserGroupId)],
    ) -> Result<(), Failure> {
        for some in ids.chunks(AT_ONCE) {
            let long = some.iter().filter(|(_, id)| id.as_str().len() >= SHORTEST);
            let long: Vec<_> = long.collect();
            let all: Vec<_> = long.iter().map(|(_, id)| (*id).clone()).collect();
            let known = self.show_all(&all).await.map_err(Failure::NothingSent)?;
            let new = long.into_iter().zip(known);
            let new = new.filter(|(_, known)| known.is_none());
            let new = new.map(|((place, id), _)| Text::of(place, id.as_str()));
            let new: Vec<_> = new.collect();
            self.refuse_secrets(&new).await?;
            if let Some(nearly) = new.iter().find(|new| is_nearly_token(new.text)) {
                return Err(Failure::looks_secret(&nearly.field, OF_FILE));
            }
        }
        Ok(())
    }

    async fn refuse_secrets(&self, texts: &[Text<'_>]) -> Result<(), Failure> {
        self.refuse_new_secrets(texts, |_| false, None).await
    }

    async fn refuse_new_secrets(
        &self,
        texts: &[Text<'_>],
        was_before: impl Fn(&Token) -> bool,
        parts_before: Option<&Parts>,
    ) -> Result<(), Failure> {
        let fingerprinter = self.directory().fingerprinter();
        let (mut asked, mut fingerprints) = (Vec::new(), Vec::new());
        let all = texts.iter().map(|text| text.text);
        if let Some(at) = self.part_of_secret(all, parts_before).await {
            return Err(texts[at].refused());
        }
        for text in texts {
            for form in pasted::candidates_of(text.text, SHORTEST) {
                if was_before(&form) {
                    continue;
                }
                fingerprints.extend(as_both(fingerprinter, &form));
                asked.push(text);
            }
        }
        let found = self.directory().known_secrets(fingerprints).await;
        match found.map_err(Failure::NothingSent)?.first() {
            Some(at) => Err(asked[at / 2].refused()),
            None => Ok(()),
        }
    }
}

/// As a token and as an API key.
fn as_both(fingerprinter: &Fingerprinter, form: &Token) -> [Fingerprint; 2] {
    let key = form.expose().to_owned().into();
    [fingerprinter.of(form), fingerprinter.of_key(&key)]
}

/// Hides the reasons of guards that contain a token or an API key known to the directory: refusals and reviews show them. A
/// viewer, who may not compare fingerprints, sees them as they are written.
pub(crate) async fn hide_secret_reasons(profiles: &mut [Profile], directory: &Directory) {
    if directory.role().is_some() && directory.may(Role::Operator).is_err() {
        return;
    }
    let guards = profiles.iter_mut().flat_map(|profile| &mut profile.guards);
    let mut reasons: Vec<_> = guards.map(|guard| &mut guard.reason).collect();
    let (mut asked, mut asked_for) = (Vec::new(), Vec::new());
    for (at, reason) in reasons.iter().enumerate() {
        let found = fingerprints_in(directory.fingerprinter(), reason);
        asked_for.resize(asked_for.len() + found.len(), at);
        asked.extend(found);
    }
    for known in directory.known_secrets(asked).await.unwrap_or_default() {
        HIDDEN.clone_into(reasons[asked_for[known]]);
    }
}

/// In place of the reason of a guard.
const HIDDEN: &str =
    "… (its reason has a token or an API key: remove it from config.toml, and rotate the token)";

/// The fingerprints of all that may be a secret in a text, for a caller that has no profile to open a session with.
pub(crate) fn fingerprints_in(fingerprinter: &Fingerprinter, text: &str) -> Vec<Fingerprint> {
    let forms = pasted::candidates_of(text, SHORTEST);
    let both = forms.iter().map(|form| as_both(fingerprinter, form));
    both.flatten().collect()
}

fn with_row<'t>(row: &GroupRow, Text { field, text }: Text<'t>) -> Text<'t> {
    Text::of(format!("{field} of \"{}\"", visible(row.id.as_str())), text)
}

/// Whether all that looks like a token in the text is the ID of a row.
fn has_only_ids(text: &str, of_file: &Ids) -> bool {
    let mut words = suspicious_words(text).peekable();
    let is_id = |word: &str| UserGroupId::parse(word).is_ok_and(|id| of_file.has(&id));
    words.peek().is_some() && words.all(is_id)
}

/// Single rows and keys.
fn texts_of_parts(row: &GroupRow) -> impl Iterator<Item = Text<'_>> {
    let rows = row.parts.map.iter().map(|pair| ("mapping", pair));
    let keys = row.parts.properties.iter().map(|pair| ("properties", pair));
    rows.chain(keys)
        .flat_map(|(field, (key, cell))| [key, cell].map(|text| Text::of(field, text)))
}

/// The note and the labels.
fn annotation_texts(row: &GroupRow) -> impl Iterator<Item = Text<'_>> {
    let notes = row
        .annotation
        .note
        .iter()
        .map(|note| ("note", note.as_str()));
    let labels = row.annotation.labels.iter().flatten();
    let all = notes.chain(labels.map(|label| ("labels", label.as_str())));
    all.map(|(field, text)| Text::of(field, text))
}

fn texts(wanted: &DesiredFields) -> Vec<Text<'_>> {
    let mut all = Vec::new();
    all.extend(wanted.name.iter().map(|name| Text::of("name", name)));
    for (key, value) in wanted.mapping.iter().flatten() {
        all.extend([key, value].map(|text| Text::of("mapping", text)));
    }
    for (key, value) in wanted.properties.iter().flatten() {
        all.push(Text::of("properties", key));
        collect_texts(value, &mut all);
    }
    all
}

/// Recursion is bounded: JSON nested deeper was refused when it was read.
fn collect_texts<'t>(value: &'t Value, all: &mut Vec<Text<'t>>) {
    match value {
        Value::String(text) => all.push(Text::of("properties", text)),
        Value::Array(values) => values.iter().for_each(|value| collect_texts(value, all)),
        Value::Object(object) => {
            for (key, value) in object {
                all.push(Text::of("properties", key));
                collect_texts(value, all);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
