//! What can go wrong with the directory, in messages that say what to do next. A message never contains a value of a
//! row.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{ItemKey, MutationId, RotationId, ServerFault, TeamFault};
use crate::{
    db::file::log_alone,
    domain::{
        proposal::quoted,
        rotation::State,
        text::{counted, with_state},
    },
};

/// Why a file cannot be used, without its name and without advice, both of which the message has.
fn cause(source: &io::Error, path: &Path) -> String {
    let text = source.to_string();
    let text = text.split("; ").next().unwrap_or_default();
    match text.strip_prefix(&format!("{} ", path.display())) {
        Some(cause) => format!("it {cause}"),
        None => text.to_owned(),
    }
}

/// Why the directory did not do what was requested. Nothing was recorded, unless [`DirectoryError::Failed`] says
/// otherwise.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DirectoryError {
    /// The file or its folder cannot be created, opened or kept private.
    #[error("cannot use the directory {}: {}; use another file with --directory or GROUPDESK_DIRECTORY", path.display(), cause(source, path))]
    Unusable {
        path: PathBuf,
        source: Arc<io::Error>,
    },
    #[error(
        "{} is not a directory of groupdesk, or it is damaged. For details, run `groupdesk doctor`. To start with a new one, move \
         the file away",
        path.display()
    )]
    NotADirectory { path: PathBuf },
    /// SQLite would treat the file as a new database and discard the log.
    #[error("{}", log_alone(path.display()))]
    LogAlone { path: PathBuf },
    #[error(
        "{} was written by a newer groupdesk (version {found}, this one knows {known}); update groupdesk, or use another file \
         with --directory or GROUPDESK_DIRECTORY",
        path.display()
    )]
    Newer {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    #[error(
        "{0} was last used by a development version of groupdesk (schema {found}) that no release can upgrade; nothing was changed. \
         Save its groups with that version (`groupdesk export`), use another file with --directory or GROUPDESK_DIRECTORY, and import them. If \
         {0}.backup-v8 exists, it is the directory as groupdesk 0.2.0 left it",
        path.display()
    )]
    Unreleased { path: PathBuf, found: i64 },
    /// Another program held the write lock for longer than 5 s.
    #[error(
        "{} is locked by another program; close that program (a backup or database tool) and try again",
        path.display()
    )]
    Locked { path: PathBuf },
    #[error("the disk of {} is full; free some space and try again", path.display())]
    Full { path: PathBuf },
    #[error(
        "{} cannot be written; make the file and its folder writable for you, or choose another file with --directory or GROUPDESK_DIRECTORY",
        path.display()
    )]
    ReadOnly { path: PathBuf },
    #[error(
        "{} is on a file system where SQLite cannot share it (no write-ahead log); move it to a local disk, or choose another \
         file with --directory or GROUPDESK_DIRECTORY",
        path.display()
    )]
    NotShareable { path: PathBuf },
    #[error("{} was moved or deleted while in use; put it back, or restart groupdesk", path.display())]
    Gone { path: PathBuf },
    /// An I/O error while writing or committing. This is the only error after which the write may have been stored.
    #[error(
        "the disk failed while writing {}; it is unknown whether the last change was recorded; check the disk and its free space, then the history and the rotations",
        path.display()
    )]
    Failed { path: PathBuf },
    /// A row contains something that this version cannot understand.
    #[error(
        "{} has a row in {table} that cannot be read; restore it from a backup, or move it away and start again",
        path.display()
    )]
    DamagedRow { path: PathBuf, table: &'static str },
    /// Another process or task was faster; nothing of the record was written.
    #[error(
        "rotation {} has changed meanwhile: expected {}, found {}; check it again before you decide",
        id.0, from.as_str(), now.as_str()
    )]
    MovedOn {
        id: RotationId,
        from: State,
        now: State,
    },
    /// Another process has advanced the mutation because it considered this process dead.
    #[error(
        "the operation took so long that another process took over the group; check the group, then try again"
    )]
    ClaimMoved { id: MutationId },
    #[error("rotation {} not found in this profile. For a list: groupdesk rotations", id.0)]
    NoRotation { id: RotationId },
    #[error("batch {0} not found in this profile. For a list: groupdesk batches list")]
    NoBatch(i64),
    /// Another process was faster, or the item never existed.
    #[error("item {} of batch {} has ended already", .0.position, .0.batch.0)]
    ItemEnded(ItemKey),
    /// Before a schema upgrade; nothing was changed.
    #[error(
        "cannot keep a copy of the directory as {} before its schema changes: {source}; nothing was changed: free some \
         space on the disk, or move that file away, and try again",
        backup.display()
    )]
    NotBackedUp {
        backup: PathBuf,
        source: Arc<io::Error>,
    },
    /// It is not known which place something belongs to; the reason as text.
    #[error("{0}")]
    NotBound(String),
    /// Before a schema upgrade; nothing was changed.
    #[error(
        "{what} is in progress, and the groupdesk that started it could not record its result after an upgrade of the directory; \
         nothing was changed. Wait until it has ended; if it was interrupted, run `groupdesk rotations check` with that \
         version, or try again in {minutes} min"
    )]
    UnderWay { what: String, minutes: u64 },
    /// Before a copy; nothing was changed.
    #[error(
        "{} in {at} may be in progress; nothing was copied: wait until nothing is in progress, or, if groupdesk was \
         interrupted, run `groupdesk --directory {} rotations check`, which reads the groups and resolves what is open",
        counted(usize::try_from(*count).unwrap_or(usize::MAX), "change"),
        quoted(at.split(" (").next().unwrap_or(at))
    )]
    StillOpen { at: String, count: i64 },
    /// Before a schema upgrade; nothing was changed.
    #[error(
        "{} needs {needed} bytes of free disk space to rebuild its tables, but only {free} are free; nothing was changed. Free \
         some space and try again",
        path.display()
    )]
    NoRoom {
        path: PathBuf,
        needed: u64,
        free: u64,
    },
    #[error("cannot {} {}: {}", if *is_source { "read" } else { "write" }, file.display(), with_state(&source.to_string(), "nothing was saved"))]
    NotCopied {
        /// Whether it is the directory, and not the copy.
        is_source: bool,
        file: PathBuf,
        source: Arc<io::Error>,
    },
    #[error("the system returned no random numbers for the directory's key; try again")]
    NoRandomness,
    #[error(
        "this directory was moved to {to}, and is complete there; use it with --directory, GROUPDESK_DIRECTORY or url under \
         [directory]"
    )]
    MovedAway { to: String },
    #[error("only a team directory has an audit log; use `groupdesk history`")]
    NoAudit,
    /// The configured location is not valid; the reason as text.
    #[error("the directory of the team cannot be used: {0}")]
    NotAPlace(String),
    #[error("the directory of the team, {at}, {fault}")]
    Team { at: String, fault: TeamFault },
    #[error("the directory {} has stopped working; restart groupdesk", path.display())]
    Stopped { path: PathBuf },
    #[error(
        "SQLite reports \"{what}\" (code {code}) for {}. To check the file, run `groupdesk doctor`",
        path.display()
    )]
    Other {
        path: PathBuf,
        code: i32,
        what: &'static str,
    },
}

impl DirectoryError {
    /// For an error of a file or its folder.
    pub(super) fn unusable(path: impl Into<PathBuf>) -> impl Fn(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Unusable {
            path: path.clone(),
            source: source.into(),
        }
    }

    pub(super) fn of_team(at: &impl ToString, fault: impl Into<TeamFault>) -> Self {
        let (at, fault) = (at.to_string(), fault.into());
        Self::Team { at, fault }
    }

    fn of_server(&self) -> Option<&ServerFault> {
        match self {
            Self::Team {
                fault: TeamFault::Server(fault),
                ..
            } => Some(fault),
            _ => None,
        }
    }

    /// Whether the server was away: the same request may be made again if that does no harm to one that was recorded.
    pub fn may_be_repeated(&self) -> bool {
        let is_read_only = self.of_server() == Some(&ServerFault::ReadOnly);
        is_read_only || self.is_unclear() || self.is_unreachable()
    }

    /// Whether it is about who asks, which can be given back: rights, password, certificate, or a server that another one has
    /// taken over from. What a person without rights to a schema asks for is not there.
    pub fn is_of_access(&self) -> bool {
        let of_connection = matches!(
            self.of_server(),
            Some(
                ServerFault::NoPassword(_)
                    | ServerFault::OwnCertificate(_)
                    | ServerFault::Unusable(_)
                    | ServerFault::Unsafe(_)
                    | ServerFault::Outdated(_)
            )
        );
        of_connection || self.is_of_rights()
    }

    /// Whether the server let this role in and refused what it asked for.
    pub fn is_of_rights(&self) -> bool {
        matches!(
            self.of_server(),
            Some(ServerFault::NotAllowed(_) | ServerFault::NotThere)
        )
    }

    /// Whether the server was lost while it committed: what was to be recorded may have been.
    pub fn is_unclear(&self) -> bool {
        self.of_server() == Some(&ServerFault::Unclear)
    }

    /// Whether somebody else has advanced this change, and nothing else is wrong.
    pub fn is_of_others(&self) -> bool {
        matches!(self, Self::MovedOn { .. } | Self::ClaimMoved { .. })
    }

    /// Whether there is no connection: then nothing was recorded, and the same request may be made again.
    pub fn is_unreachable(&self) -> bool {
        let fault = self.of_server();
        matches!(fault, Some(ServerFault::Unreachable | ServerFault::Crowded))
    }
}
