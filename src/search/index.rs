//! All that is known of the groups of a profile, for the list to show and search. A copy costs next to nothing, so that
//! a search can work on a snapshot while groups change.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use super::{
    SortBy,
    row::{Entry, Row, RowMaker},
    sorted,
};
use crate::domain::{group::UserGroupId, known::KnownGroup};

/// The groups as they were first loaded, ordered by id.
#[derive(Default)]
pub(super) struct Base {
    pub(super) rows: Vec<Row>,
    pub(super) by_name: Arc<[u32]>,
}

/// The changes since then.
#[derive(Clone, Default)]
struct Fresh {
    /// Maps a number to its newer row.
    moved: BTreeMap<u32, Arc<Row>>,
    /// The rows of new groups. Their numbers follow those of the base.
    added: Vec<Arc<Row>>,
    /// The number of changes.
    changes: usize,
}

/// All groups of a profile. The number of a group stays the same until the index is rebuilt.
#[derive(Clone, Default)]
pub struct Index {
    pub(super) base: Arc<Base>,
    fresh: Arc<Fresh>,
    widest: (usize, usize),
}

/// Equal if both are the same state of the same index.
impl PartialEq for Index {
    fn eq(&self, other: &Self) -> bool {
        self.has_same_numbers_as(other) && self.fresh.changes == other.fresh.changes
    }
}

impl Eq for Index {}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Index({} groups)", self.len())
    }
}

/// Builds an index from groups added one by one, so that they need not all be in memory as they are.
#[derive(Debug, Default)]
pub struct Builder {
    maker: RowMaker,
    rows: Vec<Row>,
    widest: (usize, usize),
}

impl Builder {
    /// Reserves room for this many groups, so that it need not grow.
    pub fn for_groups(count: usize) -> Self {
        Self {
            rows: Vec::with_capacity(count),
            ..Self::default()
        }
    }

    /// Groups must come ordered by id, each once.
    pub fn push(&mut self, group: &KnownGroup) {
        let row = self.maker.row(group);
        self.widest = row.widest(self.widest);
        self.rows.push(row);
    }

    pub fn finish(mut self) -> Index {
        self.rows.shrink_to_fit();
        let by_name = sorted::sorted(&self.rows, &SortBy::Name, false).into();
        let rows = self.rows;
        Index {
            base: Arc::new(Base { rows, by_name }),
            fresh: Arc::default(),
            widest: self.widest,
        }
    }
}

impl Index {
    /// `groups` must be ordered by id, each once.
    pub fn of<'a>(groups: impl IntoIterator<Item = &'a KnownGroup>) -> Self {
        let mut builder = Builder::for_groups(0);
        for group in groups {
            builder.push(group);
        }
        builder.finish()
    }

    /// Replaces what is known of one group, or adds the group.
    pub fn put(&mut self, group: &KnownGroup) {
        let number = self.number(group.id.as_str());
        let first = self.base.rows.len();
        let row = Arc::new(RowMaker::default().row(group));
        self.widest = row.widest(self.widest);
        let fresh = Arc::make_mut(&mut self.fresh);
        fresh.changes += 1;
        match number {
            None => fresh.added.push(row),
            Some(number) if (number as usize) < first => {
                fresh.moved.insert(number, row);
            }
            Some(number) => fresh.added[number as usize - first] = row,
        }
    }

    pub fn len(&self) -> usize {
        self.base.rows.len() + self.fresh.added.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether groups have the same numbers in both.
    pub fn has_same_numbers_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.base, &other.base)
    }

    /// The number of a group.
    pub fn number(&self, id: &str) -> Option<u32> {
        let rows = &self.base.rows;
        let at = rows.binary_search_by(|row| row.id().cmp(id)).ok();
        let added = || self.fresh.added.iter().position(|row| row.id() == id);
        at.or_else(|| Some(rows.len() + added()?))
            .map(|at| at as u32)
    }

    /// A group by its number.
    pub fn entry(&self, number: u32) -> Option<Entry<'_>> {
        let at = number as usize;
        let rows = &self.base.rows;
        if at >= rows.len() {
            return self.fresh.added.get(at - rows.len()).map(|row| &**row);
        }
        let fresh = &self.fresh.moved;
        let moved = (!fresh.is_empty()).then(|| fresh.get(&number)).flatten();
        Some(moved.map_or(&rows[at], |row| &**row))
    }

    /// All that is known of a group.
    pub fn group(&self, id: &UserGroupId) -> Option<KnownGroup> {
        let number = self.number(id.as_str())?;
        self.entry(number).map(Row::to_group)
    }

    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.len() as u32).filter_map(|number| self.entry(number))
    }

    /// The numbers of groups that were changed or added since, ascending.
    pub(super) fn changed(&self) -> Vec<u32> {
        let first = self.base.rows.len() as u32;
        let moved = self.fresh.moved.keys().copied();
        moved.chain(first..self.len() as u32).collect()
    }

    /// Width of the widest title and of the widest id, in cells. Columns of this width never change while scrolling.
    pub fn widest(&self) -> (usize, usize) {
        self.widest
    }

    /// Calls `tell` for every group that uses one of the sources, in number order; once per source.
    pub fn each_use_of<'a>(&self, sources: &[&'a str], mut tell: impl FnMut(Entry<'_>, &'a str)) {
        let wanted: HashMap<&str, usize> = sources.iter().copied().zip(0..).collect();
        // The last group reported for each source, as a group can use a source in several rows.
        let mut last = vec![None; sources.len()];
        for (group, entry) in self.entries().enumerate() {
            for (_, source) in entry.mapping() {
                if let Some(number) = wanted.get(source).copied()
                    && last[number].replace(group) != Some(group)
                {
                    tell(entry, sources[number]);
                }
            }
        }
    }
}
