//! Files in the directory: rows that add ids, and the journal of a file that is sent to the service row by row. The reading
//! of all known groups is kept there too, without rows: what is done of it is what was seen since it began.

mod requests;

use jiff::Timestamp;

use crate::domain::{annotation::AnnotationPlan, known::ImportResult};

/// Number of a file that is being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportId(pub i64);

/// What became of a row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub result: ImportResult,
    pub beside: AnnotationPlan,
}

/// A file that is being sent, as far as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub id: ImportId,
    pub started_at: Timestamp,
    pub by: String,
    /// Numbers of the rows that are done, in order.
    pub done: Vec<usize>,
}
