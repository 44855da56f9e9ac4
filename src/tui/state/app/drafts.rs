//! Unsent forms: written down as they are typed, one save at a time, and offered again where one comes back.

use super::{Action, App, Outcome, Pane, ProfileIndex, Severity, Ticket};
use crate::{
    domain::{group::UserGroupId, text::visible},
    operations::{DraftSaved, KeptDraft, OtherDraft},
    tui::{
        forms::group::Edit,
        keymap::Focus,
        panes::attention::draft_is_gone,
        state::{context::Navigation, navigation::PaneRequest},
    },
};

/// Drafts named in one message.
const NAMED: usize = 2;

impl App {
    /// After a key, a paste or an outside editor: what the form on top holds now is a draft, or none any more.
    pub(super) fn keep_draft(&mut self) {
        if let Some(Pane::Edit(edit)) = self.stack.last() {
            edit.keep(&mut self.context);
        }
        self.context.save_drafts();
    }

    /// The outside editor has ended.
    pub(super) fn edited(&mut self, ticket: Ticket, text: Result<String, String>) {
        for pane in self.stack.iter_mut().rev() {
            if let Pane::Edit(edit) = pane
                && edit.is_outside(ticket)
            {
                edit.take_edited(text, &mut self.context);
                return;
            }
        }
    }

    /// Takes in what became of a draft that was to be kept, forgotten or found; whether it was one of these.
    pub(super) fn draft_done(
        &mut self,
        ticket: Ticket,
        profile: ProfileIndex,
        outcome: &Outcome,
    ) -> bool {
        self.context.drafts.answered(ticket);
        if let Outcome::Drafts(found) = outcome {
            self.found_drafts(profile, found);
        } else if let Outcome::DraftKept(at, saved) = outcome {
            let (kept, other) = match saved {
                DraftSaved::Kept => (*at, None),
                DraftSaved::Replaced(other) => (*at, Some(other)),
                DraftSaved::Overtaken(other) => (other.at, Some(other)),
            };
            let ended = self.context.drafts.ended(ticket, Some(kept));
            if let (Some((_, id)), Some(other)) = (ended, other) {
                self.say_met(&id, other, kept == *at);
            }
            self.saves_again();
        } else if let Outcome::DraftForgotten = outcome {
            self.context.drafts.ended(ticket, Some(self.context.now));
            self.saves_again();
        } else if let Outcome::Failed(trouble) = outcome {
            return self.draft_failed(ticket, &trouble.text);
        } else {
            return false;
        }
        true
    }

    /// A job about drafts broke off; whether it was one.
    pub(super) fn draft_lost(&mut self, ticket: Ticket) -> bool {
        self.context.drafts.answered(ticket);
        self.draft_failed(ticket, "internal error, stopped")
    }

    /// Said once; the next change tries again.
    fn draft_failed(&mut self, ticket: Ticket, why: &str) -> bool {
        let Some((_, id)) = self.context.drafts.ended(ticket, None) else {
            return false;
        };
        // While the directory is lost, each form says so.
        let is_told = self.context.lost.is_some();
        if !std::mem::replace(&mut self.context.drafts.is_failing, true) && !is_told {
            let text = format!("Draft of {id} NOT saved, kept in memory only: {why}");
            self.context.say(Severity::Error, text);
        }
        true
    }

    fn saves_again(&mut self) {
        if std::mem::replace(&mut self.context.drafts.is_failing, false) {
            self.context.say(Severity::Done, "Drafts are saved again");
        }
        self.context.save_drafts();
    }

    /// Two consoles have a draft of one group: the newer one is kept.
    fn say_met(&mut self, id: &UserGroupId, other: &OtherDraft, is_ours: bool) {
        let age = self.context.age(other.at);
        let by = visible(&other.by);
        let text = if is_ours {
            format!("your draft of {id} replaced one of another console: {by}, {age} ago")
        } else {
            format!("another console has a newer draft of {id} ({by}); that one is kept")
        };
        self.context.say(Severity::Warning, text);
    }

    fn found_drafts(&mut self, profile: ProfileIndex, found: &[KeptDraft]) {
        // The form on top was opened just now, or typed into since it was asked; one below it was typed into before.
        let below = self.stack.iter().rev().skip(1);
        let busy: Vec<UserGroupId> = below
            .filter_map(|pane| match pane {
                Pane::Edit(edit) => Some(edit.id.clone()),
                _ => None,
            })
            .collect();
        let (is_first, changed) = self.context.drafts.found(profile, found, &busy);
        if profile != self.context.current {
            return;
        }
        for pane in &mut self.stack {
            if let Pane::Edit(edit) = pane
                && changed.contains(&edit.id)
            {
                edit.take_newer(&mut self.context);
            }
        }
        if is_first && !changed.is_empty() {
            let text = self.offer();
            self.context.say(Severity::Info, text);
        }
    }

    /// Opens the draft that was asked for from another profile, once it and the groups are read.
    pub(super) fn open_wanted_draft(&mut self) {
        let context = &mut self.context;
        let is_there = |(profile, _): &(ProfileIndex, UserGroupId)| {
            let is_known = context.groups.is_whole() && context.drafts.are_read(*profile);
            *profile == context.current && is_known
        };
        if !context.draft_to_open.as_ref().is_some_and(is_there) {
            return;
        }
        let Some((_, id)) = context.draft_to_open.take() else {
            return;
        };
        if !context.has_draft(&id) {
            context.say(Severity::Info, draft_is_gone(&id));
            return;
        }
        if let Some(form) = Edit::of_left(&id, context) {
            context.navigate(Navigation::Push(PaneRequest::Edit(Box::new(form))));
            self.navigate();
        }
    }

    /// "1 unsent draft: acme-eu (2h ago); e on it opens it".
    fn offer(&self) -> String {
        let context = &self.context;
        let drafts = context.drafts.of(context.current);
        let named = drafts.iter().take(NAMED).map(|unsent| {
            let age = context.age(unsent.draft.changed_at);
            format!("{} ({age} ago)", unsent.draft.user_group_id)
        });
        let named = named.collect::<Vec<_>>().join(", ");
        let key = |action| context.keys.key(Focus::List, action);
        let edit = key(Action::Edit);
        match drafts.as_slice() {
            [only] if only.draft.creating => {
                let key = key(Action::OpenOrCreate);
                format!("1 unsent draft: {named}; {key} and its id opens it")
            }
            [_] => format!("1 unsent draft: {named}; {edit} on it opens it"),
            more if more.len() > NAMED => {
                let (all, others) = (more.len(), more.len() - NAMED);
                format!("{all} unsent drafts: {named} and {others} more; {edit} opens one")
            }
            more => format!("{} unsent drafts: {named}; {edit} opens one", more.len()),
        }
    }

    /// What stays when the console ends, in words.
    pub fn unsent(&self) -> Option<String> {
        match self.context.drafts.len() - self.unkept() {
            0 => None,
            1 => Some("1 unsent draft is kept".into()),
            more => Some(format!("{more} unsent drafts are kept")),
        }
    }

    /// Drafts that go with the console: they could not be saved, or the directory goes, too.
    pub(super) fn lost_drafts(&self) -> Option<String> {
        match self.unkept() {
            0 => None,
            1 => Some("1 unsent draft goes".into()),
            more => Some(format!("{more} unsent drafts go")),
        }
    }

    fn unkept(&self) -> usize {
        let drafts = &self.context.drafts;
        if self.context.is_thrown_away {
            drafts.len()
        } else if drafts.is_failing || self.context.lost.is_some() {
            drafts.unkept()
        } else {
            0
        }
    }
}
