//! Finds the other groups that use a data source. All groups are searched once for all rows of the form, when the
//! cursor reaches a source that was not searched for yet, and not at every key or drawing.

use std::collections::HashMap;

use crate::{
    domain::{group::UserGroupId, text::visible},
    tui::{kit::mapping_table::MappingTable, state::groups::Groups},
};

/// Maximum number of ids that are named.
const NAMED: usize = 3;

/// The other groups with one data source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OtherUsers {
    first: Vec<UserGroupId>,
    count: usize,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct DataSourceUsage {
    /// The generation of the groups that was searched.
    generation: u64,
    found: HashMap<String, OtherUsers>,
    /// The text about the row under the cursor.
    line: Option<String>,
}

impl DataSourceUsage {
    pub(crate) fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// Updates the text for the row under the cursor.
    pub(crate) fn update(&mut self, own: &UserGroupId, table: &MappingTable, groups: &Groups) {
        if self.generation != groups.generation {
            self.generation = groups.generation;
            self.found.clear();
        }
        let Some(here) = table.source_here() else {
            self.line = None;
            return;
        };
        if !self.found.contains_key(here) {
            self.search(own, table.sources(), groups);
        }
        self.line = self.found.get(here).map(|users| {
            let described = users.describe(here);
            match (groups.is_whole(), users.count) {
                (true, _) => described,
                (false, 0) => format!("{}: other groups are not all read yet", visible(here)),
                (false, _) => format!("{described}; others are not all read yet"),
            }
        });
    }

    fn search<'a>(
        &mut self,
        own: &UserGroupId,
        sources: impl Iterator<Item = &'a str>,
        groups: &Groups,
    ) {
        let mut wanted: HashMap<&str, OtherUsers> = sources
            .filter(|source| !self.found.contains_key(*source))
            .map(|source| (source, OtherUsers::default()))
            .collect();
        let sources: Vec<&str> = wanted.keys().copied().collect();
        groups.index().each_use_of(&sources, |group, source| {
            if group.id() != own.as_str()
                && let Some(users) = wanted.get_mut(source)
            {
                users.count += 1;
                if users.first.len() < NAMED {
                    users.first.extend(UserGroupId::parse(group.id()));
                }
            }
        });
        let found = wanted.into_iter();
        self.found
            .extend(found.map(|(source, users)| (source.to_owned(), users)));
    }
}

impl OtherUsers {
    fn describe(&self, source: &str) -> String {
        let source = visible(source);
        let named = if self.count > NAMED { NAMED - 1 } else { NAMED };
        let ids: Vec<String> = self
            .first
            .iter()
            .take(named)
            .map(ToString::to_string)
            .collect();
        match (ids.as_slice(), self.count.saturating_sub(ids.len())) {
            ([], _) => format!("{source}: used by no other known group"),
            ([only], 0) => format!("{source}: also in {only}"),
            ([most @ .., last], 0) => {
                format!("{source}: also in {} and {last}", most.join(", "))
            }
            (ids, more) => format!("{source}: also in {} and {more} more", ids.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::{
        group::Mapping,
        known::{Known, KnownGroup, Source},
    };

    fn id(text: &str) -> UserGroupId {
        UserGroupId::parse(text).expect("a valid ID")
    }

    fn group(name: &str, mapping: &[(&str, &str)]) -> KnownGroup {
        KnownGroup {
            mapping: Some(Known {
                value: self::mapping(mapping),
                source: Source::Sent,
                at: Timestamp::UNIX_EPOCH,
                by: "ana".into(),
            }),
            ..KnownGroup::new(id(name))
        }
    }

    fn mapping(pairs: &[(&str, &str)]) -> Mapping {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn other_groups_are_named_counted_and_looked_for_again() {
        let mut groups = Groups::default();
        let all = ["acme-us", "globex", "initech", "wayne"];
        let mut known: Vec<_> = all.map(|name| group(name, &[("7", "213")])).into();
        known.push(group("acme-eu", &[("7", "213"), ("8", "1"), ("9", "77")]));
        known.push(group("hooli", &[("1", "1"), ("2", "1")]));
        known.push(KnownGroup::new(id("unknown")));
        groups.replace(known.into(), Timestamp::UNIX_EPOCH, false);

        let mut elsewhere = DataSourceUsage::default();
        let mut look = |pairs: &[(&str, &str)], groups: &Groups| {
            let table = MappingTable::new(Some(&mapping(pairs)));
            elsewhere.update(&id("acme-eu"), &table, groups);
            elsewhere.line().map(str::to_owned)
        };
        let expected = "213: also in acme-us, globex and 2 more";
        assert_eq!(
            look(&[("7", "213"), ("8", "1")], &groups).as_deref(),
            Some(expected)
        );
        assert_eq!(
            look(&[("8", "1")], &groups).as_deref(),
            Some("1: also in hooli")
        );
        let expected = "77: used by no other known group";
        assert_eq!(look(&[("9", "77")], &groups).as_deref(), Some(expected));
        assert_eq!(look(&[("9", "")], &groups), None);
        assert_eq!(look(&[], &groups), None);

        groups.upsert(&group("globex", &[("7", "1")]));
        let expected = "213: also in acme-us, initech and wayne";
        assert_eq!(look(&[("7", "213")], &groups).as_deref(), Some(expected));
        assert_eq!(
            look(&[("8", "1")], &groups).as_deref(),
            Some("1: also in globex and hooli")
        );
    }
}
