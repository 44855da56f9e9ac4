//! What messages say: complete commands, what an unavailable directory means for the person who uses the console, why a
//! step is refused in a profile, and how much needs attention.
//!
//! Data beside the values of groups that filters can use, completion of what they contain, and writing notes
//! and labels.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Asked, Condition, Confirm, Context, Job, OutageReason, PaneRequest, ProfileIndex, Severity,
    Then,
};
use crate::{
    config::profile::{KeySource, Profile},
    domain::{AnnotationChange, UserGroupId},
    operations::{
        Guarded, NextStep, Refused, Warning,
        attention::{Attention, ConcernKind},
    },
    search::{GroupExtras, Query, Row},
};

impl Context {
    pub fn is_viewer(&self) -> bool {
        self.outage
            .is_some_and(|lost| lost.why == OutageReason::Viewer)
    }

    /// The text with complete commands, which act on this profile.
    pub fn proposing(&self, text: String, profile: ProfileIndex) -> String {
        let name = self
            .profiles
            .get(profile.0)
            .map(|profile| profile.name.as_str());
        match &self.selection {
            Some(selection) => selection.complete(&text, name).into_owned(),
            None => text,
        }
    }

    /// Says why a key did nothing.
    pub fn refuse(&mut self, text: impl Into<String>) {
        self.messages.refuse(self.now, text);
    }

    /// Says what a response warns of.
    pub fn say_warnings(&mut self, warnings: &[Warning]) {
        for warning in warnings {
            let severity = Severity::of_warning(warning.is_alarm());
            self.say(severity, warning.to_string());
        }
    }

    /// Asks in a box whether something is to be done; [`crate::tui::page::View::confirmed`] of the pane that asks does it.
    pub fn ask_first(&mut self, title: &'static str, text: impl Into<String>, confirm: Confirm) {
        self.open_pane(PaneRequest::Question(Box::new(Asked {
            title,
            text: text.into(),
            confirm,
            then: Then::Below,
        })));
    }

    /// Reports that a pasted text was refused, until the next one is taken.
    pub fn say_paste_refused(&mut self, why: String) {
        self.say_condition(Condition::PasteRefused, Severity::Warning, why);
    }

    /// Whether nothing can be read, so that what is shown is from memory.
    pub fn is_directory_lost(&self) -> bool {
        self.outage.is_some_and(|lost| !lost.why.can_be_read())
    }

    /// Describes the condition for its fixed place on every screen.
    pub fn directory_condition(&self) -> Option<String> {
        let lost = self.outage.as_ref()?;
        let since = self.second(lost.since);
        Some(match lost.why {
            OutageReason::Away => format!("directory lost, {since}; trying"),
            OutageReason::Standby => format!("directory is a standby, {since}; trying"),
            OutageReason::NotAllowed => format!("directory: no rights, {since}; trying"),
            OutageReason::Refused(what) => format!("directory: {what} refused, {since}; trying"),
            OutageReason::Unusable(why) => format!("directory: {why}, {since}; trying"),
            OutageReason::Viewer => "directory: view only (viewer)".to_owned(),
            OutageReason::OtherVersion => "directory: update groupdesk".to_owned(),
            OutageReason::NotWritable => "directory is read-only: update groupdesk".to_owned(),
            OutageReason::Moved => "directory was moved: read-only".to_owned(),
            OutageReason::Full => "directory is read-only: disk full".to_owned(),
            OutageReason::ReadOnly => "directory is read-only".to_owned(),
        })
    }

    /// Says once what the condition means for the person who works now.
    pub fn directory_warning(&self) -> Option<String> {
        let lost = self.outage.as_ref()?;
        let since = self.second(lost.since);
        let wait = "Nothing is sent until it is back; your input stays here";
        Some(match lost.why {
            OutageReason::Away => format!("Directory lost since {since}. {wait}"),
            OutageReason::Standby => format!(
                "Only a standby or read-only server has been reachable since {since}: nothing is read or sent; your input stays here"
            ),
            OutageReason::NotAllowed => format!(
                "You have had no access to the directory since {since}. Nothing is sent until you have it; your input stays here"
            ),
            OutageReason::Refused(what) => format!(
                "The directory has refused your {what} since {since}: renew it, or run `groupdesk doctor`. {wait}"
            ),
            OutageReason::Unusable(why) => format!(
                "The directory has been unusable since {since}: {why}. Run `groupdesk doctor`. {wait}"
            ),
            OutageReason::OtherVersion => {
                "Directory of another version: nothing is read or sent until you update groupdesk".to_owned()
            }
            OutageReason::Viewer => {
                "You are a viewer of this directory: you can read it, nothing is sent".to_owned()
            }
            OutageReason::NotWritable => {
                "The directory has newer tables: you can read it, nothing is sent. Update groupdesk".to_owned()
            }
            OutageReason::Full => {
                "The disk of the directory is full: you can read it, nothing is sent. Free some space".to_owned()
            }
            OutageReason::ReadOnly => {
                "The directory cannot be written: you can read it, nothing is sent. Make its file and folder writable"
                    .to_owned()
            }
            OutageReason::Moved => {
                "The directory was moved: you can read it, nothing is sent. To see where, run `groupdesk directory status`".to_owned()
            }
        })
    }

    /// The reason for sending nothing that has to be written down first; `None` if the directory can be written.
    pub fn refused_by_the_directory(&self) -> Option<String> {
        let lost = self.outage.as_ref()?;
        let since = self.second(lost.since);
        let text = match lost.why {
            OutageReason::Away => {
                format!("The directory has been unreachable since {since}; nothing was sent")
            }
            OutageReason::Standby => format!(
                "The directory has been a standby or read-only since {since}; nothing was sent. It needs the primary"
            ),
            OutageReason::NotAllowed => format!(
                "You have had no access to the directory since {since}; nothing was sent. Ask an admin for the role operator"
            ),
            OutageReason::Refused(what) => format!(
                "The directory has refused your {what} since {since}; nothing was sent. Renew it, or run `groupdesk doctor`"
            ),
            OutageReason::Unusable(why) => format!(
                "The directory has been unusable since {since} ({why}); nothing was sent. Run `groupdesk doctor`"
            ),
            OutageReason::Viewer => {
                "The directory gives you read-only access; nothing was sent. Ask an admin for the role operator"
                    .to_owned()
            }
            OutageReason::OtherVersion => {
                "The directory has another version; nothing was sent. Update groupdesk".to_owned()
            }
            OutageReason::NotWritable => {
                "The directory has newer tables, which this groupdesk only reads; nothing was sent. Update groupdesk"
                    .to_owned()
            }
            OutageReason::Full => {
                "The disk of the directory is full; nothing was sent. Free some space".to_owned()
            }
            OutageReason::ReadOnly => {
                "The directory cannot be written; nothing was sent. Make its file and folder writable".to_owned()
            }
            OutageReason::Moved => {
                "The directory was moved; nothing was sent. To see where, run `groupdesk directory status`".to_owned()
            }
        };
        Some(self.proposing(text, self.current))
    }

    /// Why the directory can be read but not written, so that neither a change nor a read from the service is possible;
    /// waiting alone does not help.
    pub fn view_only_reason(&self) -> Option<&'static str> {
        match self.outage?.why {
            OutageReason::Viewer => Some("you are a viewer of this directory"),
            OutageReason::NotWritable => Some("a newer groupdesk changed the directory"),
            OutageReason::Moved => Some("the directory was moved"),
            OutageReason::Full => Some("the disk of the directory is full"),
            OutageReason::ReadOnly => Some("the directory is read-only"),
            OutageReason::Away
            | OutageReason::Standby
            | OutageReason::NotAllowed
            | OutageReason::Refused(_)
            | OutageReason::Unusable(_)
            | OutageReason::OtherVersion => None,
        }
    }

    /// The reason for allowing no changes in this profile; `None` if they are allowed.
    pub fn read_only_reason(&self) -> Option<String> {
        self.why_not(self.current, NextStep::Change(&[]))
    }

    /// The reason for not allowing an operation in this profile: it is read-only, or a guard with its reason.
    pub fn why_forbidden(&self, operation: Guarded) -> Option<String> {
        self.why_not(self.current, NextStep::Change(&[operation]))
    }

    /// The reason for not allowing a step in a profile.
    pub fn why_not(&self, profile: ProfileIndex, step: NextStep<'_>) -> Option<String> {
        let is_keyless = self.keyless.contains(&profile);
        let Some(profile) = self.profiles.get(profile.0) else {
            return Some("no profile is chosen".into());
        };
        let refused = step.refused(Some(profile), self.view_only_reason());
        let keyless = (is_keyless && step.sends_a_change()).then_some(Refused::NoKey);
        refused.or(keyless).map(|refused| refused.to_string())
    }

    /// The reason for not reading anything from the service in this profile, if it has no API key.
    pub fn why_no_key(&self) -> Option<String> {
        let is_unset = |profile: &Profile| profile.api_key == KeySource::Unset;
        let is_keyless = self.keyless.contains(&self.current);
        let refused =
            (is_keyless || self.profile().is_some_and(is_unset)).then_some(Refused::<&str>::NoKey);
        refused.map(|refused| refused.to_string())
    }

    /// Why the groups of a token cannot be found: fingerprints need a key, which a viewer does not have, and a directory
    /// that was moved does not give.
    pub fn why_no_token_lookup(&self) -> Option<&'static str> {
        let why = self.outage?.why;
        let has_key = why == OutageReason::NotWritable || why.is_of_file();
        self.view_only_reason().filter(|_| !has_key)
    }

    /// Whether a job is refused because of that.
    pub fn refuses(&self, job: &Job) -> bool {
        self.outage.is_some()
            && match job {
                Job::List => self.is_directory_lost(),
                job => job.spec().is_journaled_first,
            }
    }

    /// Counts what needs attention, without the batch that runs here.
    pub fn note_attention(&mut self, found: &Attention) {
        let running = self.running_batch();
        let running = running.and_then(|run| run.batch);
        self.attention.clear();
        self.runner_gone_at = None;
        for concern in &found.concerns {
            let runs =
                matches!(&concern.kind, ConcernKind::Batch(batch) if Some(batch.id) == running);
            if let ConcernKind::Batch(batch) = &concern.kind
                && let Some(runner) = batch.runner.as_ref().filter(|runner| runner.is_alive())
                && !runs
            {
                let gone_at = self.now + runner.until_silent;
                self.runner_gone_at =
                    Some(self.runner_gone_at.map_or(gone_at, |at| at.min(gone_at)));
            }
            let counted = concern.is_counted() && !runs;
            if let Some(profile) = concern.profile.filter(|_| counted) {
                *self.attention.entry(ProfileIndex(profile)).or_default() += 1;
            }
        }
    }

    /// For example `!6 +2`: the number of unfinished or failed things here, and in the other profiles; empty if there
    /// are none.
    pub fn attention_badge(&self) -> String {
        let here = self.attention.get(&self.current).copied().unwrap_or(0);
        let others = self.attention.values().sum::<usize>() - here;
        match (here, others) {
            (0, 0) => String::new(),
            (here, 0) => format!("!{here}"),
            (here, others) => format!("!{here} +{others}"),
        }
    }
}

/// Maximum number of groups whose properties are searched for keys.
const MAX_GROUPS_SEARCHED: usize = 2_000;

impl Context {
    /// Data beside the values of groups, if the filter uses it.
    pub fn group_extras(&self, query: &Query) -> GroupExtras {
        if !query.uses_extras() {
            return GroupExtras::default();
        }
        let news = |new: bool| {
            let news = self.live.news();
            let news = news.filter(|(_, news)| news.fields.is_empty() == new);
            Arc::new(news.map(|(id, _)| id.clone()).collect())
        };
        let drafts = self.drafts.of(self.current);
        let drafts = drafts
            .iter()
            .map(|unsent| unsent.draft.user_group_id.clone());
        GroupExtras {
            annotations: self.annotations.of.clone(),
            drafts: Arc::new(drafts.collect()),
            changed: news(false),
            new: news(true),
        }
    }

    /// Property keys of the known groups, each once.
    pub fn property_keys(&self) -> BTreeSet<String> {
        let entries = self.groups.index().entries().take(MAX_GROUPS_SEARCHED);
        let keys = entries.flat_map(Row::property_keys);
        keys.map(str::to_owned).collect()
    }

    /// Changes the notes or labels of these groups.
    pub fn annotate(&mut self, ids: Vec<UserGroupId>, change: AnnotationChange) {
        if ids.is_empty() {
            self.say(
                Severity::Warning,
                "No group here to write a note or label for",
            );
            return;
        }
        self.start(Job::Annotate(ids, Box::new(change)));
    }
}
