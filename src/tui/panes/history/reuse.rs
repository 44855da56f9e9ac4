//! From an entry back to its request: copied as curl, or prepared as an edit that reverts it. Both only if the history
//! knows enough; nothing is sent from here.

use super::{CompareWith, History};
use crate::{
    domain::{
        change::{Change, DesiredFields},
        history::Entry,
        merge::{self, Part},
        undo,
    },
    operations::{Method, as_curl, request},
    tui::{
        forms::group::GroupForm,
        state::{
            context::{Context, Navigation},
            navigation::{PaneRequest, Proposal},
            notices::Severity,
        },
    },
};

const NO_ENTRY: &str = "no entry here";

/// What the entry changed, or how that compares with the current group; otherwise why that cannot be shown.
pub(super) fn difference(
    entry: &Entry,
    compare_with: CompareWith,
    context: &Context,
) -> Result<Change, &'static str> {
    let (before, after) = undo::changed(entry)?;
    if compare_with == CompareWith::Before {
        return Ok(Change::between(&before, &after));
    }
    let group = context.groups.get(&entry.user_group_id);
    let known = DesiredFields::of(&group.ok_or(why_not_known(context))?);
    let parts = merge::parts(&[&before, &after]);
    if !parts.iter().all(|part| part.is_known_in(&known)) {
        return Err("the current values are unknown");
    }
    let mut now = after.clone();
    for part in &parts {
        part.carry(&known, &mut now);
    }
    Ok(Change::between(&after, &now))
}

fn why_not_known(context: &Context) -> &'static str {
    context
        .why_incomplete()
        .unwrap_or("the group is not in the directory")
}

impl History {
    pub(super) fn entry(&self) -> Result<&Entry, &'static str> {
        let shown = self.shown();
        shown.get(self.list.cursor.at).copied().ok_or(NO_ENTRY)
    }

    pub(super) fn why_not_copy(&self) -> Option<String> {
        let wanted = self.entry().and_then(undo::created_with);
        wanted.err().map(str::to_owned)
    }

    pub(super) fn copy_curl(&self, context: &mut Context) {
        let Ok(entry) = self.entry() else { return };
        if let (Ok(wanted), Some(profile)) = (undo::created_with(entry), context.profile()) {
            let request = request(&entry.user_group_id, &wanted);
            let curl = as_curl(profile, Method::Get, &request);
            context.copy("curl command", &curl);
        }
    }

    pub(super) fn why_not_reverse(&self, context: &Context) -> Option<String> {
        let read_only = context.read_only_reason();
        let why = read_only.or_else(|| self.reversal(context).err());
        why.map(str::to_owned)
    }

    /// The fields that the update of the entry changed, and their values before.
    fn reversal(&self, context: &Context) -> Result<(Vec<Part>, DesiredFields), &'static str> {
        let entry = self.entry()?;
        let (parts, before) = undo::before(entry)?;
        let group = context.groups.get(&entry.user_group_id);
        let now = DesiredFields::of(&group.ok_or(why_not_known(context))?);
        if parts.iter().all(|part| part.is_known_in(&now)) {
            Ok((parts, before))
        } else {
            Err("the current values are unknown")
        }
    }

    /// Opens the form and its review with the values that these parts had before the update.
    pub(super) fn reverse(&self, context: &mut Context) {
        let (Ok(entry), Ok((parts, before))) = (self.entry(), self.reversal(context)) else {
            return;
        };
        let Some(group) = context.groups.get(&entry.user_group_id) else {
            return;
        };
        match GroupForm::carrying(&group, &parts, &before, context) {
            Ok(mut edit) => {
                let age = context.age(entry.at);
                let text = format!("Filled with what it was {age} ago, before that update");
                context.say(Severity::Info, text);
                edit.prefilled = edit.wanted().ok();
                let proposal = edit.proposal(context);
                context.navigate(Navigation::Push(PaneRequest::Edit(Box::new(edit))));
                if let Some(proposal) = proposal {
                    let proposal = Proposal {
                        restores: true,
                        ..proposal
                    };
                    let review = PaneRequest::Review(Box::new(proposal));
                    context.navigate(Navigation::Push(review));
                }
            }
            Err(why) => context.say(Severity::Warning, why),
        }
    }
}
