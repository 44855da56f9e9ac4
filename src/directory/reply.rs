//! What travels between a caller and the thread of a directory.

use tokio::sync::oneshot;

use super::{Damaged, DirectoryError};
use crate::domain::known::KnownGroup;

/// Where an answer goes. Its other end may be gone: a write is done all the same.
pub(super) type Reply<T> = oneshot::Sender<Result<T, DirectoryError>>;

/// Takes some groups; `false` where no more are wanted.
pub(super) type TakeGroups = Box<dyn FnMut(Vec<KnownGroup>) -> bool + Send>;

/// All groups of a profile, and what could not be read of them.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) groups: Vec<KnownGroup>,
    pub(super) damaged: Vec<Damaged>,
}
