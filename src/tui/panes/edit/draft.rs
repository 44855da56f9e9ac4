//! Converts the form to a draft and back, and bases the form on a newer copy of its group. Neither loses any input.
//!
//! A form that starts with values from elsewhere: another profile, another group, or the past. Nothing is sent; filling
//! in can be undone, and an existing draft is kept beneath it.

use jiff::SignedDuration;

use super::GroupForm;
use crate::tui::panes::prelude::*;
use crate::{
    domain::{Change, Mark, Part},
    operations::KeptDraft,
    tui::{
        panes::attention::draft_is_gone,
        state::{DraftOrigin, UnsentDraft},
    },
};

/// A copy older than this is mentioned.
const OLD_COPY: SignedDuration = SignedDuration::from_mins(10);

impl GroupForm {
    /// Stores the content of the form as a draft, or removes the draft if nothing is changed.
    pub fn keep(&self, context: &mut Context) {
        // While its content is being sent, the draft stays until the outcome is known.
        if self.is_under_way(context) || self.is_only_prefilled() {
            return;
        }
        if self.is_changed() {
            let draft = self.draft(context.now);
            context.drafts.keep(context.current, draft);
        } else {
            let key = (context.current, self.id.clone());
            // What somebody else typed ends with their form, not with this one.
            context.remove_draft(&key);
        }
    }

    /// Says that another person has an unsent draft of the group; their draft is not loaded.
    pub(super) fn say_edited_by_other(unsent: &UnsentDraft, context: &mut Context) {
        let Some(by) = context.other_author(unsent).map(visible) else {
            return;
        };
        let ago = context.ago(unsent.draft.changed_at);
        let text = format!(
            "{by} has a draft of this group as well ({ago}); this form shows only what you type"
        );
        context.say(Severity::Warning, text);
    }

    /// Says when the form opens whose draft it is, and how old.
    pub(super) fn say_opened(unsent: &UnsentDraft, context: &mut Context) {
        let is_ours = |by: &String| *by == context.operator;
        let whose = match &unsent.from {
            DraftOrigin::Here => "Your unsent draft".into(),
            DraftOrigin::Before { by } if is_ours(by) => "Your unsent draft".into(),
            DraftOrigin::Before { by } => format!("Unsent draft of {}", visible(by)),
            DraftOrigin::Elsewhere { by } if is_ours(by) => {
                "Your unsent draft of another console".into()
            }
            DraftOrigin::Elsewhere { by } => format!("{}'s unsent draft", visible(by)),
        };
        let draft = &unsent.draft;
        let ago = context.ago(draft.changed_at);
        let is_old = !draft.creating && context.now.duration_since(draft.base_at) > OLD_COPY;
        let text = if is_old {
            let copy = context.age(draft.base_at);
            let key = context.keys.key(Focus::EditName, Action::Refresh);
            format!("{whose} ({ago}), based on a copy {copy} old: {key} re-reads it")
        } else {
            format!("{whose} ({ago}); nothing was sent")
        };
        context.say(Severity::Info, text);
    }

    /// Another console has stored a newer draft of this group: takes it over if nothing was typed here.
    pub fn take_newer(&mut self, context: &mut Context) {
        let key = (context.current, self.id.clone());
        let Some(unsent) = context.drafts.get(&key).cloned() else {
            return;
        };
        if let Some(by) = context.other_author(&unsent) {
            if self.prefilled.is_some() && self.loaded_from.is_some() {
                let key = context.keys.key(self.field_focus(), Action::LoadDraft);
                let text = format!(
                    "{} has changed the draft since; {key} loads it",
                    visible(by)
                );
                context.say(Severity::Info, text);
                // The key begins with the newest again.
                self.loaded = None;
            } else {
                Self::say_edited_by_other(&unsent, context);
            }
            return;
        }
        let section = self.section;
        *self = Self {
            section,
            ..Self::of_draft(unsent.draft.clone())
        };
        Self::say_opened(&unsent, context);
    }

    /// Asks whether to discard what was typed.
    pub(super) fn ask_to_discard(&self, context: &mut Context) {
        let what = format!("discards the draft of {}", self.id);
        context.ask_first(
            "Discard the draft",
            "Your changes will be lost.",
            Confirm::asked(what, "DISCARD"),
        );
    }

    /// The drafts of the group that were typed elsewhere and are not in this form, the newest first.
    fn other_drafts<'c>(&self, context: &'c Context) -> impl Iterator<Item = &'c KeptDraft> {
        let key = (context.current, self.id.clone());
        let others = context.drafts.others(&key);
        let own = (!others.is_empty()).then(|| self.draft(context.now));
        let is_own = move |other: &KeptDraft| {
            let own = own.as_ref();
            own.is_some_and(|own| other.draft.has_same_content(own))
        };
        others.iter().filter(move |other| !is_own(other))
    }

    /// The one that the key loads: before the one that was loaded last; after the oldest, the newest again.
    fn other_draft<'c>(&self, context: &'c Context) -> Option<&'c KeptDraft> {
        let is_before = |other: &&KeptDraft| Some(other.draft.changed_at) < self.loaded;
        let before = self.other_drafts(context).find(is_before);
        before.or_else(|| self.other_drafts(context).next())
    }

    /// Says who else is editing the group, and the key that loads that draft.
    pub(super) fn others_line(&self, context: &Context) -> Option<String> {
        let other = self.other_draft(context)?;
        let at = context.moment(other.draft.changed_at);
        let key = context.keys.key(self.field_focus(), Action::LoadDraft);
        let of = if context.is_other_person(&other.by) {
            format!("the draft of {}", visible(&other.by))
        } else if (context.drafts).is_earlier(&(context.current, self.id.clone()), other) {
            "your earlier draft".into()
        } else {
            "the draft of your other console".into()
        };
        // The key first: a narrow window cuts the end.
        Some(format!("{key} loads {of} ({at})"))
    }

    pub(super) fn why_not_load(&self, context: &Context) -> Option<String> {
        if self.is_under_way(context) {
            return Some("it is being sent".into());
        }
        let has_none = self.other_draft(context).is_none();
        has_none.then(|| "there is no other draft".into())
    }

    /// Loads the draft of another console; asks first if something was typed here.
    pub(super) fn load_other(&mut self, context: &mut Context) {
        let Some(other) = self.other_draft(context) else {
            return;
        };
        let other = other.clone();
        if self.is_changed() && !self.is_only_prefilled() {
            Self::ask_to_load(&other.by, context);
            self.loading = Some((other.by, other.draft.changed_at));
        } else {
            self.load_now(&other, context);
        }
    }

    fn ask_to_load(by: &str, context: &mut Context) {
        let what = format!("loads the draft of {}", visible(by));
        context.ask_first(
            "Load the other draft",
            "Your changes will be lost.",
            Confirm::asked(what, "LOAD"),
        );
    }

    /// Opens the form of the draft of this author, as it was left. If you have a draft as well, asks before that of its
    /// author replaces it. Returns false if neither the group nor the draft is known.
    pub fn open_draft(id: &UserGroupId, by: &str, context: &mut Context) -> bool {
        let author = Some(by).filter(|by| context.is_other_person(by));
        let mut form = match context.groups.get(id) {
            Some(group) => Self::known(&group, author, context),
            None if context.has_draft(id, by) => Self::unknown(id.clone(), author, context),
            None => return false,
        };
        let author = author.filter(|_| !form.is_only_prefilled());
        let left = author.and_then(|by| form.other_drafts(context).find(|other| other.by == by));
        form.loading = left.map(|left| (left.by.clone(), left.draft.changed_at));
        let asks = form.loading.is_some();
        context.open_pane(PaneRequest::Edit(Box::new(form)));
        if asks {
            Self::ask_to_load(by, context);
        }
        true
    }

    /// Loads the draft that was asked about, or what became of it: another one may be the newest by now.
    pub(super) fn load_of(&mut self, by: &str, at: Timestamp, context: &mut Context) {
        let of_author = || self.other_drafts(context).filter(|other| other.by == by);
        let asked = of_author().find(|other| other.draft.changed_at == at);
        match asked.or_else(|| of_author().next()).cloned() {
            Some(other) => self.load_now(&other, context),
            None => context.say(Severity::Info, draft_is_gone(&self.id)),
        }
    }

    pub(super) fn load_now(&mut self, other: &KeptDraft, context: &mut Context) {
        context.give_up(&self.reading);
        let is_of_other = context.is_other_person(&other.by);
        let ago = context.ago(other.draft.changed_at);
        let section = self.section;
        let is_new = self.creating;
        *self = Self {
            section,
            loaded_from: is_of_other.then(|| other.by.clone()),
            loaded: Some(other.draft.changed_at),
            ..Self::of_draft(other.draft.clone())
        };
        if let Some(known) = context.groups.get(&self.id).filter(|_| !is_new) {
            self.becomes_update(DesiredFields::of(&known));
        }
        let key = (context.current, self.id.clone());
        let draft = context.drafts.get(&key);
        if is_of_other && !draft.is_some_and(|draft| draft.is_own) {
            // Until something is typed, it is the draft of its author alone.
            self.prefilled = Some(self.content());
        }
        let by = visible(&other.by);
        let text =
            format!("Loaded the draft of {by} ({ago}); what you send is recorded under your name");
        context.say(Severity::Info, text);
    }

    pub(super) fn discard(&mut self, context: &mut Context) {
        context.remove_draft(&(context.current, self.id.clone()));
        context.give_up(&self.reading);
        let text = format!("Draft of {} discarded; nothing was sent", self.id);
        context.say(Severity::Info, text);
        context.close_pane();
    }

    /// Why there is nothing to discard.
    pub(super) fn why_not_discard(&self, context: &Context) -> Option<String> {
        if self.is_under_way(context) {
            Some("it is being sent".into())
        } else if self.is_only_prefilled() {
            Some("nothing was typed".into())
        } else {
            (!self.is_changed()).then(|| "nothing is changed".into())
        }
    }

    /// Reads the service's copy, for a form that is based on an old one.
    pub(super) fn read_again(&mut self, context: &mut Context) {
        if !self.reading.is_waiting() {
            context.ask(&self.reading, Job::LookUp(self.id.clone()));
        }
    }

    pub(super) fn why_not_read_again(&self) -> Option<String> {
        if self.creating {
            Some("the group is yet to be created".into())
        } else {
            let is_waiting = self.reading.is_waiting();
            is_waiting.then(|| "the group is being read".into())
        }
    }

    pub(super) fn take_copy(&mut self, outcome: &Outcome, context: &mut Context) {
        if let Outcome::Done(done) = outcome {
            self.rebase_on(done, context);
        } else if let Outcome::Failed(error) = outcome {
            context.say_error(error);
        }
    }

    /// Another console has changed the group: the input stays, and a line says what is different now.
    pub(super) fn note_remote_changes(&mut self, context: &Context) {
        let Some(now) = context.groups.get(&self.id) else {
            return;
        };
        let change = Change::between(&self.base, &DesiredFields::of(&now));
        let rows = change.fields().into_iter().flat_map(|(field, rows)| {
            let changed = rows.rows().iter().filter(|row| row.mark() != Mark::Same);
            changed.map(move |row| match field {
                "name" => field.to_owned(),
                field => format!("{field} {}", visible(&row.key)),
            })
        });
        let changed: Vec<String> = rows.collect();
        let news = context.live.news_of(self.id.as_str());
        let (Some(first), Some(news)) = (changed.first(), news) else {
            return;
        };
        let more = match changed.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        let by = news.by.as_deref().map_or("Another console".into(), visible);
        let at = context.moment(news.at);
        let key = context.keys.key(self.field_focus(), Action::Refresh);
        self.meanwhile = Some(format!("{by} changed {first}{more} {at}: {key} compares"));
    }

    /// Untouched fields take the values of the newer copy; the others stay as typed.
    fn rebase_on(&mut self, done: &Done, context: &mut Context) {
        if let Some(alarm) = done.warnings.iter().find(|warning| warning.is_alarm()) {
            context.say(Severity::Error, alarm.to_string());
            return;
        }
        let was_only_filled = self.is_only_prefilled();
        let now = DesiredFields::of(&done.group);
        let mut changed = Vec::new();
        if self.base.name != now.name {
            changed.push("name");
            if self.base.name.as_deref().unwrap_or_default() == self.name.text() {
                self.name.set_text(now.name.as_deref().unwrap_or_default());
            }
        }
        if self.base.mapping != now.mapping {
            changed.push("mapping");
            self.mapping.rebase(now.mapping.as_ref());
        }
        if self.base.properties != now.properties {
            changed.push("properties");
            self.properties.rebase(now.properties.as_ref());
        }
        self.base = now;
        self.meanwhile = None;
        self.base_at = done.group.last_seen.unwrap_or(context.now);
        let text = if changed.is_empty() {
            "Refreshed: unchanged in the service".to_owned()
        } else {
            let changed = changed.join(", ");
            format!("Refreshed; changed meanwhile: {changed}; your text stays")
        };
        context.say(Severity::Info, text);
        if was_only_filled {
            self.prefilled = Some(self.content());
        }
        self.keep(context);
    }

    /// When filled-in values are sent: from now on they are kept like input, whatever the outcome.
    pub(super) fn keep_what_is_sent(&mut self, context: &mut Context) {
        if self.is_only_prefilled() && self.is_under_way(context) {
            self.prefilled = None;
            let draft = self.draft(context.now);
            context.drafts.keep(context.current, draft);
        }
    }
}

impl GroupForm {
    /// The form of a known group, or its draft, with the values of `from` for these parts.
    ///
    /// # Errors
    ///
    /// When there is a draft that cannot be parsed, or that changes one of these parts; it is left alone.
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
            let typed = part.text_in(&wanted);
            if typed != part.text_in(&edit.base) && typed != part.text_in(from) {
                let (what, key) = (part.label(), context.keys.key(Focus::List, Action::Edit));
                return Err(format!(
                    "your draft of the group changes the {}; send or discard the draft first ({key} opens it)",
                    visible(&what)
                ));
            }
            part.carry(from, &mut wanted);
        }
        edit.fill(&wanted);
        edit.take_over(&wanted);
        Ok(edit)
    }

    /// The form of a group to be created, with mapping and properties of another one. The name is not copied, because
    /// names tell groups apart.
    ///
    /// # Errors
    ///
    /// When there is a draft of it; it is left alone.
    pub fn create_like(
        id: UserGroupId,
        source: &KnownGroup,
        context: &mut Context,
    ) -> Result<Self, String> {
        if context.has_own_draft(&id) {
            return Err("you have a draft of the new group; leave this empty to open it".into());
        }
        let mut edit = Self::create(id, context);
        let taken = DesiredFields {
            name: None,
            ..DesiredFields::of(source)
        };
        edit.fill(&taken);
        edit.take_over(&taken);
        Ok(edit)
    }

    /// Fields that are `None` stay as they are.
    pub(super) fn fill(&mut self, wanted: &DesiredFields) {
        if let Some(name) = &wanted.name
            && name != self.name.text()
        {
            self.name.set_text(name);
        }
        if let Some(mapping) = &wanted.mapping {
            self.mapping.replace(mapping.clone());
        }
        if let Some(properties) = &wanted.properties {
            self.properties.replace(properties);
        }
    }
}
