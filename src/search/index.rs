//! All that is known of the groups of a profile, for the list to show and search. A copy costs next to nothing, so that
//! a search can work on a snapshot while groups change.

use std::{collections::BTreeMap, fmt, sync::Arc};

use super::{
    arena::{Arena, Entry},
    sorted,
};
use crate::domain::{group::UserGroupId, known::KnownGroup};

/// The groups as they were first loaded, ordered by id.
#[derive(Default)]
struct Base {
    arena: Arena,
    by_name: Arc<[u32]>,
}

/// The changes since then.
#[derive(Clone, Default)]
struct Fresh {
    arena: Arena,
    /// Maps a number to its newer row.
    moved: BTreeMap<u32, u32>,
    /// The rows of new groups. Their numbers follow those of the base.
    added: Vec<u32>,
}

/// All groups of a profile. The number of a group stays the same until the index is rebuilt.
#[derive(Clone, Default)]
pub struct Index {
    base: Arc<Base>,
    fresh: Arc<Fresh>,
}

/// Equal if both are the same state of the same index.
impl PartialEq for Index {
    fn eq(&self, other: &Self) -> bool {
        self.has_same_numbers_as(other)
            && self.fresh.arena.rows.len() == other.fresh.arena.rows.len()
    }
}

impl Eq for Index {}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Index({} groups)", self.len())
    }
}

/// Builds an index from groups added one by one, so that they need not all be in memory unpacked.
#[derive(Debug)]
pub struct Builder(Arena);

impl Builder {
    /// Reserves room for this many typical groups, so that buffers need not grow.
    pub fn for_groups(count: usize) -> Self {
        // The count was stored, and may be anything.
        Self(Arena::for_groups(count.min(1 << 20)))
    }

    /// Groups must come ordered by id, each once.
    pub fn push(&mut self, group: &KnownGroup) {
        self.0.push(group);
    }

    /// Like [`Self::push`], for a packed group. Returns `false` if the bytes are not valid, and the group must be read
    /// from its own row.
    pub fn push_packed(&mut self, id: &str, packed: &[u8]) -> bool {
        self.0.unpack(id, packed)
    }

    pub fn finish(self) -> Index {
        let Self(mut arena) = self;
        arena.close();
        let by_name = sorted::by_name(&arena).into();
        Index {
            base: Arc::new(Base { arena, by_name }),
            fresh: Arc::default(),
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
        let first = self.base.arena.rows.len();
        let fresh = Arc::make_mut(&mut self.fresh);
        let row = fresh.arena.rows.len() as u32;
        fresh.arena.push(group);
        match number {
            None => fresh.added.push(row),
            Some(number) if (number as usize) < first => {
                fresh.moved.insert(number, row);
            }
            Some(number) => fresh.added[number as usize - first] = row,
        }
    }

    pub fn len(&self) -> usize {
        self.base.arena.rows.len() + self.fresh.added.len()
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
        let arena = &self.base.arena;
        if let Some(at) = arena.find(id) {
            return Some(at as u32);
        }
        let first = arena.rows.len() as u32;
        (first..self.len() as u32).find(|number| self.entry(*number).is_some_and(|e| e.id() == id))
    }

    /// A group by its number.
    pub fn entry(&self, number: u32) -> Option<Entry<'_>> {
        let fresh = self.fresh.as_ref();
        let at = number as usize;
        let first = self.base.arena.rows.len();
        let row = if at >= first {
            fresh.added.get(at - first)
        } else if fresh.moved.is_empty() {
            None
        } else {
            fresh.moved.get(&number)
        };
        match row {
            Some(row) => fresh.arena.entry(*row as usize),
            None => self.base.arena.entry(at),
        }
    }

    /// All that is known of a group.
    pub fn group(&self, id: &UserGroupId) -> Option<KnownGroup> {
        let number = self.number(id.as_str())?;
        self.entry(number).map(Entry::to_group)
    }

    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.len() as u32).filter_map(|number| self.entry(number))
    }

    /// The groups as they were first loaded.
    pub(super) fn base(&self) -> &Arena {
        &self.base.arena
    }

    /// The same groups, by name.
    pub(super) fn base_by_name(&self) -> &Arc<[u32]> {
        &self.base.by_name
    }

    /// The numbers of groups that were changed or added since, ascending.
    pub(super) fn changed(&self) -> Vec<u32> {
        let first = self.base.arena.rows.len() as u32;
        let moved = self.fresh.moved.keys().copied();
        moved.chain(first..self.len() as u32).collect()
    }

    /// Width of the widest title and of the widest id, in cells. Columns of this width never change while scrolling.
    pub fn widest(&self) -> (usize, usize) {
        let (old, new) = (self.base.arena.widest, self.fresh.arena.widest);
        (old.0.max(new.0), old.1.max(new.1))
    }
}
