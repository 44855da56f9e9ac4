//! Numbers of journal rows.

/// Number of a rotation in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RotationId(pub i64);

/// Number of a mutation in its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MutationId(pub i64);

/// A change of a group, by its number in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeId {
    Mutation(MutationId),
    Rotation(RotationId),
}

/// Number of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportId(pub i64);
