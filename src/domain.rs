//! The domain rules: what a user group is, what is known of it and from whom, what a change is, how a rotation
//! proceeds. No I/O, no async, no clock: the time is passed in as an argument.

pub mod active_change;
pub mod age;
pub mod annotation;
pub mod batch;
pub mod change;
pub mod dash;
pub mod draft;
pub mod facts;
pub mod fields;
pub mod group;
pub mod handoff;
pub mod history;
pub mod kept_text;
pub mod known;
pub mod merge;
pub mod mutation;
pub mod operation_record;
pub mod pasted;
pub mod proposal;
pub mod refresh;
pub mod remote_changes;
pub mod rotation;
pub mod size;
pub mod spreadsheet;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
pub mod token;
pub mod undo;
pub mod update;
pub mod when;
pub(crate) mod word_enum;

pub use self::{
    age::TokenAge,
    annotation::{Annotation, AnnotationChange, Label},
    batch::{BatchKind, BulkChange, EditPlan, ItemStatus, RunnerState, StopCause},
    change::{Change, DesiredFields, Mark},
    draft::Draft,
    group::{EnvironmentTag, Mapping, Properties, UserGroupId},
    handoff::HandOffState,
    history::{Ending, Entry, Operation},
    known::{Known, KnownGroup},
    merge::Part,
    text::{capitalised, counted, visible},
    token::{Fingerprint, Token},
};
