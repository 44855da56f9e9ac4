//! Files that only their owner may read: made so from the first moment, and refused where they cannot be.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use rustix::fs::OFlags;

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Makes a folder 0700, and its missing parents too. An existing folder is left as it is.
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

/// Makes sure that a file exists, is a regular file of ours and has mode 0600, before a library opens it by name.
/// A mode that is too wide is narrowed; a link, a FIFO or another owner's file is refused.
pub fn private_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
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
        return Err(refused(path, "is not a regular file; name another file"));
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

/// Writes a new 0600 file durably; an existing file or link is refused, never overwritten.
pub fn write_new_private(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = new_private(path)?;
    let written = file.write_all(contents).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would stand in the way of the next attempt.
        let _ = std::fs::remove_file(path);
    }
    written.map_err(|error| named(path, &error))
}

/// Opens a new 0600 file for writing.
pub fn new_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(path)
        .map_err(|error| named(path, &error))
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("{} {why}", path.display()),
    )
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
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
