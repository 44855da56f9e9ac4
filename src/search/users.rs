//! Which groups use a data source: one pass over the mappings of all groups, for several sources at once.

use std::collections::HashMap;

use super::{Index, arena::Entry};

/// How many lengths are distinguished before a source is looked up.
const MAX_LENGTHS: usize = 128;

struct SourceSet<'a> {
    sources: HashMap<&'a str, usize>,
    /// The lengths of the sources and (below) their last bytes: most other texts are rejected by these alone.
    lengths: [bool; MAX_LENGTHS],
    ends: [bool; 256],
}

impl<'a> SourceSet<'a> {
    fn of(sources: &[&'a str]) -> Self {
        let mut wanted = Self {
            sources: HashMap::new(),
            lengths: [false; MAX_LENGTHS],
            ends: [false; 256],
        };
        for (number, source) in sources.iter().enumerate() {
            wanted.sources.insert(source, number);
            wanted.lengths[source.len().min(MAX_LENGTHS - 1)] = true;
            wanted.ends[usize::from(source.bytes().last().unwrap_or_default())] = true;
        }
        wanted
    }

    fn number(&self, source: &str) -> Option<usize> {
        let end = source.bytes().last().unwrap_or_default();
        if !self.lengths[source.len().min(MAX_LENGTHS - 1)] || !self.ends[usize::from(end)] {
            return None;
        }
        self.sources.get(source).copied()
    }
}

impl Index {
    /// Calls `tell` for every group that uses one of the sources, in number order; once per source.
    pub fn each_use_of<'a>(&self, sources: &[&'a str], mut tell: impl FnMut(Entry<'_>, &'a str)) {
        let wanted = SourceSet::of(sources);
        // The last group reported for each source, as a group can use a source in several rows.
        let mut last = vec![None; sources.len()];
        for (group, entry) in self.entries().enumerate() {
            let mut take = |source: &str| {
                if let Some(number) = wanted.number(source)
                    && last[number].replace(group) != Some(group)
                {
                    tell(entry, sources[number]);
                }
            };
            entry.has_row(|_, source| {
                take(source);
                false
            });
        }
    }
}
