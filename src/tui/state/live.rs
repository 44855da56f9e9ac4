//! Changes that others made in the current place, until the person has seen them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    domain::{
        Known, KnownGroup, UserGroupId,
        active_change::ChangeKind,
        annotation::{Annotation, Attribution},
        known::Source,
        rotation::State,
        text::is_same_person,
        word_enum::word_enum,
    },
    operations::PlaceId,
};

/// How long the cursor must stay on a row until its changes count as seen.
const SEEN_AFTER: SignedDuration = SignedDuration::from_millis(500);

word_enum! {
    /// A value of a group that others can change.
    #[derive(PartialOrd, Ord)]
    pub enum ChangedField {
        Token = "token",
        Name = "name",
        Mapping = "mapping",
        Properties = "properties",
        Team = "team",
        Tag = "tag",
        Note = "note",
        Labels = "labels",
    }
}

/// The unseen changes of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupNews {
    /// Empty if the whole group is new.
    pub fields: BTreeSet<ChangedField>,
    /// Who made the last change, for example `li@bastion2`; `None` if not known.
    pub by: Option<String>,
    /// When it was made.
    pub at: Timestamp,
    /// When it was first shown.
    pub shown: Timestamp,
}

/// A process of somebody else that is changing a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Busy {
    pub kind: ChangeKind,
    pub by: String,
    pub since: Timestamp,
    /// If nothing is heard of it until then, it has died or cannot change anything any more.
    pub until: Timestamp,
}

#[derive(Debug, Default)]
pub struct Live {
    /// The name of the place that the profile means.
    pub place_name: Option<String>,
    /// Those of the address that have groups, if the profile has no API key and sees none.
    pub environments: Vec<String>,
    /// The place whose changes are watched.
    pub place: Option<PlaceId>,
    /// Its number of alarms when last looked at.
    pub alarms: Option<u32>,
    /// The open rotations that the list filters by, if they are older than what is known.
    pub open_listed: Option<Arc<BTreeMap<UserGroupId, State>>>,
    /// Who is changing which group, as far as known.
    pub(super) at_work: BTreeMap<UserGroupId, Busy>,
    news: BTreeMap<UserGroupId, GroupNews>,
}

impl Live {
    /// The unseen changes of a group.
    pub fn news_of(&self, id: &str) -> Option<&GroupNews> {
        self.news.get(id)
    }

    /// All groups with unseen changes.
    pub fn news(&self) -> impl Iterator<Item = (&UserGroupId, &GroupNews)> {
        self.news.iter()
    }

    /// Adds to the unseen changes of a group.
    pub fn tell(&mut self, id: &UserGroupId, mut news: GroupNews) {
        if let Some(before) = self.news.remove(id)
            && !news.fields.is_empty()
        {
            // A group that is new stays new as a whole.
            if before.fields.is_empty() {
                news.fields.clear();
            } else {
                news.fields.extend(before.fields);
            }
        }
        self.news.insert(id.clone(), news);
    }

    /// The group was opened, so its changes are seen.
    pub fn seen(&mut self, id: &UserGroupId) -> Option<GroupNews> {
        self.news.remove(id)
    }

    /// The cursor was on the group from `from` until `now`: if long enough, its changes are seen.
    pub fn left(&mut self, id: &UserGroupId, from: Timestamp, now: Timestamp) {
        let is_seen = |news: &GroupNews| now.duration_since(from.max(news.shown)) >= SEEN_AFTER;
        if self.news.get(id).is_some_and(is_seen) {
            self.news.remove(id);
        }
    }

    /// Called when everything was read again.
    pub fn clear(&mut self) {
        self.news.clear();
    }
}

/// What somebody changed between two versions of a group, who and when; `None` if no value differs.
pub fn news_between(old: &KnownGroup, new: &KnownGroup, shown: Timestamp) -> Option<GroupNews> {
    let rotated = new.last_rotated.as_ref();
    let token = differs(old.fingerprint.as_ref(), new.fingerprint.as_ref());
    let token = token.map(|known| rotated.map_or(known, |last| (last.at, last.by.as_ref())));
    let changes = [
        (ChangedField::Token, token),
        (
            ChangedField::Name,
            differs(old.name.as_ref(), new.name.as_ref()),
        ),
        (
            ChangedField::Mapping,
            differs(old.mapping.as_ref(), new.mapping.as_ref()),
        ),
        (
            ChangedField::Properties,
            differs(old.properties.as_ref(), new.properties.as_ref()),
        ),
        (
            ChangedField::Team,
            differs(old.team_id.as_ref(), new.team_id.as_ref()),
        ),
        (
            ChangedField::Tag,
            differs(old.environment_tag.as_ref(), new.environment_tag.as_ref()),
        ),
    ];
    let changed = changes.into_iter();
    let changed = changed.filter_map(|(field, who)| who.map(|(at, by)| (at, field, by)));
    let changed: Vec<_> = changed.collect();
    let (at, _, by) = *changed.iter().max_by_key(|(at, ..)| *at)?;
    Some(GroupNews {
        fields: changed.into_iter().map(|(_, field, _)| field).collect(),
        by: by.cloned(),
        at,
        shown,
    })
}

/// As [`news_between`], for note and labels. What is `own`, or older than what was written here meanwhile, is no news.
pub fn news_of_annotation(
    old: &Annotation,
    new: &Annotation,
    own: &str,
    shown: Timestamp,
) -> Option<GroupNews> {
    let is_news = |old: &Option<Attribution>, new: &Option<Attribution>| {
        let at = |one: &Option<Attribution>| one.as_ref().map(|one| one.at);
        at(new) >= at(old) && new.as_ref().is_none_or(|new| !is_same_person(&new.by, own))
    };
    let note = old.note != new.note && is_news(&old.noted, &new.noted);
    let labels = old.labels != new.labels && is_news(&old.labelled, &new.labelled);
    let note = note.then_some((ChangedField::Note, new.noted.as_ref()));
    let labels = labels.then_some((ChangedField::Labels, new.labelled.as_ref()));
    let changed: Vec<_> = note.into_iter().chain(labels).collect();
    let written = changed.iter().filter_map(|(_, written)| *written);
    let last = written.max_by_key(|written| written.at);
    (!changed.is_empty()).then(|| GroupNews {
        fields: changed.iter().map(|(field, _)| *field).collect(),
        by: last.map(|last| last.by.clone()),
        at: last.map_or(shown, |last| last.at),
        shown,
    })
}

/// If the values differ: who set the newer one, and when. A first value that was only read is learnt, not changed.
fn differs<'a, T: PartialEq>(
    old: Option<&Known<T>>,
    new: Option<&'a Known<T>>,
) -> Option<(Timestamp, Option<&'a String>)> {
    let new = new?;
    let is_change = old.map_or(new.source == Source::Sent, |old| old.value != new.value);
    is_change.then_some((new.at, Some(&new.by)))
}

/// The news that a whole group is new: who added it, and when.
pub fn news_of_all(group: &KnownGroup, shown: Timestamp) -> GroupNews {
    let known = [
        group.name.as_ref().map(|known| (known.at, &known.by)),
        group.mapping.as_ref().map(|known| (known.at, &known.by)),
        group.properties.as_ref().map(|known| (known.at, &known.by)),
        group
            .fingerprint
            .as_ref()
            .map(|known| (known.at, &known.by)),
    ];
    let newest = known.into_iter().flatten().max_by_key(|(at, _)| *at);
    GroupNews {
        fields: BTreeSet::new(),
        by: newest.map(|(_, by)| by.clone()),
        at: newest.map_or(shown, |(at, _)| at),
        shown,
    }
}

/// When a value of a group was last learnt: of two versions, the later one is newer.
pub fn last_learnt(group: &KnownGroup) -> Option<Timestamp> {
    let times = [
        group.last_seen,
        group.name.as_ref().map(|known| known.at),
        group.mapping.as_ref().map(|known| known.at),
        group.properties.as_ref().map(|known| known.at),
        group.fingerprint.as_ref().map(|known| known.at),
    ];
    times.into_iter().flatten().max()
}
