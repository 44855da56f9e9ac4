//! The state of the console: pure data, changed only by messages. No I/O, no await, no clock.

pub mod activity;
pub mod batch;
pub mod command;
mod condition;
pub mod confirm;
pub mod context;
pub mod drafts;
pub mod exchanges;
pub mod forms;
pub mod groups;
pub mod live;
pub mod message;
pub mod notices;
pub mod time_format;

pub use self::{
    batch::{BatchRow, BatchRun},
    command::{Asked, BatchAim, ColumnsChange, Command, EditSource, PaneRequest, Proposal, Then},
    confirm::{Confirm, ConfirmationLevel, KeptReason, Level, Places, Step, Weight},
    context::{Context, Navigation, Running},
    drafts::{DraftOrigin, UnsentDraft},
    exchanges::Exchange,
    forms::{ConnectForm, group::GroupForm},
    groups::{FirstRows, Groups, Listing, ListingExtras, Loading},
    live::{ChangedField, GroupNews, Live},
    message::{
        BulkEditRequest, EditRequest, Effect, ExitReason, Job, JobError, Msg, Outage, OutageReason,
        Outcome, Pending, ProfileIndex, Ticket,
    },
    notices::{Condition, Notice, Severity, Subject},
};

pub(crate) use self::forms::{ConnectRow, group::Section};
