//! Files that only their owner may read. They are created with that mode, and refused if that is not possible.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, ErrorKind, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Access, OFlags},
    io::Errno,
};

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// How the names of the files end that SQLite keeps beside a database.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];
/// Files that groupdesk keeps beside a directory.
pub const LATEST_CHANGES: &str = "latest-changes";
pub const TIMELINES: &str = "timelines";

/// The folder for temporary files. An empty `TMPDIR` counts as not set; the standard library takes it for the current folder.
pub fn temporary_folder() -> PathBuf {
    temporary_folder_of(std::env::var_os("TMPDIR"))
}

/// The same, by the value of `TMPDIR`.
pub fn temporary_folder_of(variable: Option<OsString>) -> PathBuf {
    let named = variable.filter(|folder| !folder.as_encoded_bytes().trim_ascii().is_empty());
    named.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
}

/// Creates a folder with mode 0700, and its missing parents too. An existing folder is left as it is.
pub fn private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(path)
        .map_err(|error| named(path, &error))
}

/// Makes sure that a file exists, is a regular file owned by this user and has mode 0600, before a library opens it by
/// name. A wider mode is narrowed; a link, a FIFO or another owner's file is refused.
pub fn private_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = folder_of(path) {
        private_folder(folder)?;
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(path)
        .map_err(|error| named(path, &error))?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(refused(path, "is not a regular file; use another file"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused(
            path,
            "belongs to another user; use a file of your own",
        ));
    }
    if metadata.mode() & 0o077 != 0 {
        file.set_permissions(std::fs::Permissions::from_mode(FILE_MODE))?;
    }
    Ok(())
}

/// Whether this user may write a file that is there; not on a disk that cannot be written.
pub fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, Access::WRITE_OK).is_ok()
}

/// Narrows the mode of a file that a library created itself, if it exists; anything but a regular file is refused.
/// SQLite gives its log the mode of the database, unless an older log with a wider mode was left over.
pub fn narrow_where_there(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(refused(path, "is not a regular file; remove it")),
        Ok(found) if found.mode() & 0o077 != 0 => {
            let narrow = std::fs::Permissions::from_mode(FILE_MODE);
            match std::fs::set_permissions(path, narrow) {
                // There it is only read.
                Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => Ok(()),
                narrowed => narrowed,
            }
        }
        _ => Ok(()),
    }
}

/// Why no directory, copy, token or other file may have this name, wherever it is and whether it exists: SQLite or groupdesk
/// itself replaces or removes a file of such a name.
pub fn reserved(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.as_encoded_bytes();
    let is_own = |own: &&str| own.as_bytes() == name;
    if LOGS.iter().any(|end| name.ends_with(end.as_bytes())) {
        Some(
            "is named like a file that SQLite keeps beside a database and may remove; use another name",
        )
    } else if [LATEST_CHANGES, TIMELINES].iter().any(is_own) {
        Some("is named like a file that groupdesk keeps for itself; use another name")
    } else {
        None
    }
}

/// Writes a new file with mode 0600 durably. An existing file or link is refused, never overwritten.
pub fn write_new_private(path: &Path, contents: &[u8]) -> io::Result<()> {
    put(new_private(path)?, path, contents)
}

fn put(mut file: File, path: &Path, contents: &[u8]) -> io::Result<()> {
    let written = file.write_all(contents).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would get in the way of the next attempt.
        let _ = std::fs::remove_file(path);
    }
    written.map_err(|error| named(path, &error))
}

/// Fails where [`new_token_file`] would, and creates nothing.
pub fn can_be_token_file(path: &Path) -> io::Result<()> {
    if path == Path::new("-") {
        return Err(refused(
            path,
            "is not a valid name for a token file; use another, such as ./-",
        ));
    }
    if let Some(why) = reserved(path) {
        return Err(refused(path, why));
    }
    if let Some(tree) = work_tree(path)? {
        let tree = tree.display();
        return Err(refused(
            path,
            &format!(
                "is inside the git work tree {tree}; a token there could be committed: use a file elsewhere"
            ),
        ));
    }
    let in_the_way = match path.symlink_metadata() {
        _ if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") => {
            Err(ErrorKind::IsADirectory.into())
        }
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => {
            let folder = folder_of(path).unwrap_or(Path::new("."));
            rustix::fs::access(folder, Access::WRITE_OK).map_err(io::Error::from)
        }
    };
    in_the_way.map_err(|error| named(path, &error))
}

/// Opens a new file with mode 0600 for a token. Fails inside a git work tree, where it would be committed some day.
pub fn new_token_file(path: &Path) -> io::Result<File> {
    can_be_token_file(path)?;
    new_private(path)
}

/// Writes a token durably to a file created like [`new_token_file`].
pub fn write_new_token(path: &Path, contents: &[u8]) -> io::Result<()> {
    put(new_token_file(path)?, path, contents)
}

/// The git work tree that would contain the file. Links in its folder are followed first.
fn work_tree(path: &Path) -> io::Result<Option<PathBuf>> {
    let absolute = std::path::absolute(path)?;
    let folder = absolute.parent().unwrap_or(Path::new("/"));
    let folder = folder.canonicalize().map_err(|error| named(path, &error))?;
    let mut above = folder.ancestors();
    // `.git` is a folder in a main work tree, and a file in a linked one or a submodule.
    let tree = above.find(|folder| folder.join(".git").symlink_metadata().is_ok());
    Ok(tree.map(Path::to_owned))
}

/// Opens a new file with mode 0600 for writing.
pub fn new_private(path: &Path) -> io::Result<File> {
    if let Some(why) = reserved(path) {
        return Err(refused(path, why));
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(path)
        .map_err(|error| named(path, &error))
}

/// The folder that the path of a file names; `None` if it names only the file.
pub fn folder_of(path: &Path) -> Option<&Path> {
    let folder = path.parent();
    folder.filter(|folder| !folder.as_os_str().is_empty())
}

/// The path of a file beside this one: its name, then the suffix.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("{} {why}", path.display()),
    )
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    let error = explained(error);
    io::Error::new(error.kind(), format!("{} {error}", path.display()))
}

/// Replaces the error's text with one that says what to do. The caller names the file before it.
pub fn explained(error: &io::Error) -> io::Error {
    let words = match error.kind() {
        _ if Errno::from_io_error(error) == Some(Errno::LOOP) => "is a link; use the file itself",
        ErrorKind::AlreadyExists => "already exists; use a new file",
        ErrorKind::IsADirectory => "is a folder; use a file",
        ErrorKind::NotFound => {
            "is in a folder that does not exist; create the folder, or use another file"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "cannot be written: the disk is full; free some space and try again"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "is not writable; use another file, or make it and its folder writable"
        }
        _ => return io::Error::new(error.kind(), format!("cannot be used: {error}")),
    };
    io::Error::new(error.kind(), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("it exists").mode() & 0o777
    }

    #[test]
    fn files_and_folders_are_private_from_the_first_moment() {
        let root = tempfile::tempdir().expect("a folder");
        let file = root.path().join("a/b/data.db");
        private_file(&file).expect("made");
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(file.parent().expect("a folder")), 0o700);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("widened");
        private_file(&file).expect("narrowed");
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn no_token_is_written_into_a_git_work_tree() {
        let root = tempfile::tempdir().expect("a folder");
        let inside = root.path().join("tree/a/b");
        std::fs::create_dir_all(&inside).expect("made");
        let token = inside.join("acme.token");
        write_new_token(&token, b"x").expect("no work tree yet");
        assert_eq!(mode(&token), 0o600);
        assert!(write_new_token(&token, b"y").is_err(), "it exists");
        std::fs::remove_file(&token).expect("removed");

        let link = root.path().join("link");
        std::os::unix::fs::symlink(&inside, &link).expect("linked");
        let mark = root.path().join("tree/.git");
        std::fs::create_dir(&mark).expect("made");
        for place in [&token, &link.join("acme.token"), &mark.join("acme.token")] {
            let error = write_new_token(place, b"x").expect_err("refused");
            assert!(error.to_string().contains("git work tree"), "{error}");
        }
        std::fs::remove_dir(&mark).expect("removed");
        std::fs::write(&mark, "gitdir: elsewhere").expect("a linked work tree");
        assert!(write_new_token(&token, b"x").is_err());
        assert!(!token.exists());
        write_new_token(&root.path().join("acme.token"), b"x").expect("beside it");
    }

    #[test]
    fn a_token_file_is_refused_before_it_is_created() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        std::fs::write(at("old"), "precious").expect("written");
        for (name, why) in [
            ("old", "already exists"),
            (".", "is a folder"),
            ("new/", "is a folder"),
            ("none/new", "folder that does not exist"),
            ("x.db-wal", "beside a database"),
            ("x.db-shm", "beside a database"),
            ("x.db-journal", "beside a database"),
            ("latest-changes", "for itself"),
            ("timelines", "for itself"),
        ] {
            let error = can_be_token_file(&at(name)).expect_err(name).to_string();
            assert!(error.contains(why), "{name}: {error}");
            let created = new_token_file(&at(name)).expect_err(name).to_string();
            assert_eq!(created, error);
        }
        can_be_token_file(&at("new")).expect("free");
        assert!(!at("new").exists());
    }

    #[test]
    fn links_are_refused_and_nothing_is_overwritten() {
        let root = tempfile::tempdir().expect("a folder");
        let target = root.path().join("target");
        std::fs::write(&target, "precious").expect("written");
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&target, &link).expect("linked");
        assert!(private_file(&link).is_err());
        assert!(write_new_private(&link, b"x").is_err());
        assert!(write_new_private(&target, b"x").is_err());
        assert_eq!(
            std::fs::read_to_string(&target).expect("readable"),
            "precious"
        );
    }
}
