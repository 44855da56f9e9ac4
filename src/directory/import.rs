//! Imports: rows of files that add ids, and the journal of a file that is sent to the service row by row. A refresh of
//! all known groups is journalled as an import whose rows are the groups that it has read.

mod requests;

use jiff::Timestamp;

use crate::domain::{annotation::AnnotationPlan, known::ImportResult};

/// Number of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportId(pub i64);

/// The result for a row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub result: ImportResult,
    pub annotations: AnnotationPlan,
}

/// An import and its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub id: ImportId,
    pub started_at: Timestamp,
    pub by: String,
    /// Numbers of the rows that are done, in order; of a refresh, those of the groups.
    pub done: Vec<usize>,
}
