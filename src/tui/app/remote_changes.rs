//! Changes that others made in the current place: they are merged without moving any row, and reported once.

use super::{App, Job, ProfileIndex, Severity, named, outcomes::Open};
use std::time::Duration;

use crate::{
    domain::{UserGroupId, counted, visible},
    operations::{ChangeCursor, Changes, RotationRow},
    tui::state::{
        Condition, Effect, GroupNews, Outage, OutageReason,
        live::{last_learnt, news_between, news_of_all},
    },
};

/// Maximum number of groups named in one message.
const NAMED: usize = 2;

impl App {
    /// Called when the list was read: subscribes to changes by others from that point on.
    pub(super) fn watch(&mut self, since: ChangeCursor) {
        self.context.live.place = Some(since.place());
        let effect = Effect::Watch(self.context.current, since);
        self.context.effects.push(effect);
    }

    /// The directory became unavailable, or is available again.
    pub(super) fn directory_state_changed(
        &mut self,
        profile: ProfileIndex,
        lost: Option<(Duration, OutageReason)>,
    ) {
        if profile != self.context.current {
            return;
        }
        self.context.resolve(Condition::DirectoryOutage);
        let before = self.context.outage.take();
        let was_unread = before.is_some_and(|before| !before.why.can_be_read());
        self.context.is_directory_back |=
            was_unread && lost.is_none_or(|(_, why)| why.can_be_read());
        let Some((ago, why)) = lost else {
            if before.is_some() && !was_unread {
                let text = "The directory can be written again".to_owned();
                self.context.say(Severity::News, text);
            }
            self.context.save_drafts();
            return;
        };
        let since = self.context.now - ago;
        self.context.outage = Some(Outage { since, why });
        if let Some(text) = self.context.directory_warning() {
            self.context.say(Severity::Warning, text);
        }
    }

    pub(super) fn changed(&mut self, profile: ProfileIndex, changes: &Changes) {
        if profile != self.context.current {
            return;
        }
        let standing = changes.status;
        if self.context.live.place != Some(standing.place) {
            // The profile now means another place, so nothing on the screen belongs to it.
            self.reload_place();
            return;
        }
        let alarms = self.context.live.alarms.replace(standing.alarms);
        let is_blocked = self.context.place_problems.contains_key(&profile);
        if is_blocked || alarms.is_some_and(|alarms| alarms != standing.alarms) {
            // Whatever blocks the place, or what another console answered, is found by the job that settles its rotations.
            self.context.start(Job::OpenRotations);
        }
        self.merge_groups(changes);
        let state = |row: &RotationRow| (row.user_group_id.clone(), row.rotation.state);
        let were_open: Vec<UserGroupId> = self.context.open.keys().cloned().collect();
        self.context.merge_open(changes.open.iter().map(state));
        for id in were_open {
            if !self.context.open.contains_key(&id) {
                self.resolve_unknown(profile, &id, Open::Rotation);
            }
        }
        self.context.note_at_work(&changes.at_work);
        if self.context.open.is_empty() {
            self.context.settle_again_at = None;
            self.context.resolve(Condition::OpenRotations);
        }
        if self.context.drafts.differ(profile, &changes.drafts) {
            self.context.read_drafts();
        }
        for pane in &mut self.stack {
            pane.view_mut().changed(changes, &mut self.context);
        }
        self.follow_journal();
    }

    /// Merges the changed groups and what is written beside them, and reports those that the person may want to know of.
    fn merge_groups(&mut self, changes: &Changes) {
        let context = &mut self.context;
        let now = context.now;
        let (mut changed, mut new) = (Vec::new(), Vec::new());
        let mut written = context.annotations.merge(changes, &context.operator, now);
        for group in &changes.groups {
            let news = match context.groups.get(&group.id) {
                // Perhaps a known group, which will be read with the rest of the list.
                None if !context.groups.is_whole() => continue,
                None => Some(news_of_all(group, now)),
                // An answer received here is newer than this look at the directory.
                Some(old) if last_learnt(&old) > last_learnt(group) => continue,
                Some(old) => news_between(&old, group, now),
            };
            context.groups.merge(group);
            if let Some(mut news) = news {
                let beside = written.remove(&group.id);
                let beside = beside.filter(|_| !news.fields.is_empty());
                news.fields
                    .extend(beside.into_iter().flat_map(|one| one.fields));
                let told = if news.fields.is_empty() {
                    &mut new
                } else {
                    &mut changed
                };
                told.push((group.id.clone(), news.clone()));
                context.live.tell(&group.id, news);
            }
        }
        written.retain(|id, _| context.groups.entry(id.as_str()).is_some());
        for (id, news) in written {
            context.live.tell(&id, news.clone());
            changed.push((id, news));
        }
        // One message for all changes that arrived together.
        let mut told = Vec::new();
        let is_back = std::mem::take(&mut context.is_directory_back);
        if is_back {
            told.push(match changed.len() + new.len() {
                0 => "Directory back, nothing changed meanwhile".to_owned(),
                count => format!("Directory back, {}", counted(count, "change")),
            });
        }
        if !changed.is_empty() {
            told.push(sentence(&changed, "changed"));
        }
        if !new.is_empty() {
            told.push(sentence(&new, "added"));
        }
        if changes.are_more {
            told.push("More groups were changed elsewhere; refresh the list to read them".into());
        }
        // No key: the message stays on pages where that key does something else.
        if !told.is_empty() {
            context.say(Severity::News, told.join(". "));
        }
    }
}

/// Returns for example "1 group changed by li@bastion2: parcel-one (token)".
fn sentence(told: &[(UserGroupId, GroupNews)], what: &str) -> String {
    let count = counted(told.len(), "group");
    let mut people: Vec<&str> = told
        .iter()
        .filter_map(|(_, news)| news.by.as_deref())
        .collect();
    people.sort_unstable();
    people.dedup();
    let by = if people.is_empty() {
        String::new()
    } else {
        let people = people.into_iter().map(|by| visible(by).into_owned());
        format!(" by {}", named(people, 1))
    };
    let groups = told.iter().map(|(id, news)| {
        let fields: Vec<&str> = news.fields.iter().map(|field| field.as_str()).collect();
        match fields.as_slice() {
            [] => visible(id.as_str()).into_owned(),
            fields => format!("{} ({})", visible(id.as_str()), fields.join(", ")),
        }
    });
    format!("{count} {what}{by}: {}", named(groups, NAMED))
}
