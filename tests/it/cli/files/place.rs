//! The files, and what can be at their paths. The program runs as a plain user: as `nobody` when the test runs as root,
//! who may do everything.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::geteuid,
};
use tokio::io::AsyncWriteExt;

use crate::support::{
    bare::{all_output, args, bare_after},
    cases::cases,
    world::{Side, World},
};

const DEADLINE: Duration = Duration::from_mins(1);
const NOBODY: u32 = 65_534;
/// Neither the user who runs the program nor root.
const SOMEBODY: u32 = 65_533;

cases! {
    pub(super) enum Target {
        Config,
        Directory,
        Token,
        Service,
        Export,
    }
}

cases! {
    pub(super) enum Hazard {
        Missing,
        Link,
        LinkToNothing,
        Fifo,
        Folder,
        OtherOwner,
        /// Writable by everybody.
        Wide,
        /// The file is read-only, or the folder of a new file is.
        ReadOnly,
        FullDisk,
    }
}

/// A file as found on disk: kind, mode, owner, contents or link target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileInfo {
    kind: u32,
    mode: u32,
    uid: u32,
    contents: Vec<u8>,
}

impl FileInfo {
    pub(super) fn is_private(&self) -> bool {
        self.mode.trailing_zeros() >= 6
    }
}

fn found(path: &Path) -> Option<FileInfo> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let contents = if metadata.is_file() {
        fs::read(path).unwrap_or_default()
    } else if metadata.is_symlink() {
        let leads_to = fs::read_link(path).expect("a link");
        leads_to.as_os_str().as_encoded_bytes().to_vec()
    } else {
        Vec::new()
    };
    Some(FileInfo {
        kind: metadata.mode() & 0o170_000,
        mode: metadata.mode() & 0o7777,
        uid: metadata.uid(),
        contents,
    })
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) file: Option<FileInfo>,
    pub(super) precious: Option<FileInfo>,
}

/// One file with its hazard in place.
pub(super) struct Prepared {
    pub(super) folder: tempfile::TempDir,
    pub(super) file: PathBuf,
    /// The target of a link.
    pub(super) precious: PathBuf,
    pub(super) new_folder: Option<PathBuf>,
}

impl Prepared {
    /// A configuration and an export may be written through a link, so that there the target is not protected.
    pub(super) fn look(&self) -> Contents {
        Contents {
            file: found(&self.file),
            precious: found(&self.precious).filter(|_| {
                !["config.toml", "groups.jsonl"]
                    .iter()
                    .any(|name| self.file.ends_with(name))
            }),
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // A read-only folder could not be removed.
        let mode = fs::Permissions::from_mode(0o700);
        drop(fs::set_permissions(self.folder.path(), mode));
    }
}

/// The service, the program at a path where everybody may run it, and valid contents of each file.
pub(super) struct Scene {
    world: World,
    pub(super) binary: PathBuf,
    pub(super) key: String,
    pub(super) uid: u32,
    good: Vec<(Target, Vec<u8>)>,
    _folder: tempfile::TempDir,
}

const CONFIG: &str =
    "[profiles.eu]\nbase_url = \"https://api.example.com\"\napi_key = { env = \"EU\" }\n";

impl Scene {
    pub(super) async fn new() -> Self {
        let world = World::new().await;
        let none = serde_json::json!({});
        world.seed(Side::Testing, "acme-eu", "Acme", &[], &none);
        let folder = crate::support::folder::temporary();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("set");
        let binary = folder.path().join("groupdesk");
        // Copied by another process: a child of another test could inherit our descriptor, which is open for writing.
        let copied = std::process::Command::new("cp")
            .arg(env!("CARGO_BIN_EXE_groupdesk"))
            .arg(&binary)
            .status();
        assert!(copied.expect("it runs").success());
        let key = world.new_key("testing", None);
        let uid = if geteuid().is_root() {
            NOBODY
        } else {
            geteuid().as_raw()
        };
        let mut scene = Self {
            world,
            binary,
            key,
            uid,
            good: Vec::new(),
            _folder: folder,
        };
        for target in Target::ALL.iter().copied() {
            let good = match target {
                Target::Config => CONFIG.into(),
                Target::Token => b"precious\n".to_vec(),
                Target::Export => b"{\"user_group_id\":\"precious\"}\n".to_vec(),
                Target::Directory | Target::Service => {
                    let place = scene.place(target, Hazard::Missing);
                    let (code, said) = scene.run(&place, target, Hazard::Missing, 0o022).await;
                    assert_eq!(code, Some(0), "{said}");
                    fs::read(&place.file).expect("made")
                }
            };
            scene.good.push((target, good));
        }
        scene
    }

    fn good(&self, target: Target) -> &[u8] {
        let good = self.good.iter().find(|(of, _)| *of == target);
        good.map_or(b"precious\n", |(_, good)| good)
    }

    pub(super) fn place(&self, target: Target, hazard: Hazard) -> Prepared {
        let folder = crate::support::folder::temporary();
        let mut new_folder = None;
        let name = match target {
            Target::Config => "config.toml",
            Target::Directory => "directory.db",
            Target::Token => "acme.token",
            Target::Service => "service.db",
            Target::Export => "groups.jsonl",
        };
        let mut file = folder.path().join(name);
        let precious = folder.path().join("precious");
        put(&precious, self.good(target), 0o600);
        match hazard {
            Hazard::Missing if target == Target::Directory => {
                let new = folder.path().join("new");
                file = new.join(name);
                new_folder = Some(new);
            }
            Hazard::Missing | Hazard::FullDisk => {}
            Hazard::Link => symlink(&precious, &file).expect("linked"),
            Hazard::LinkToNothing => {
                symlink(folder.path().join("nothing"), &file).expect("linked");
            }
            Hazard::Fifo => fifo(&file),
            Hazard::Folder => fs::create_dir(&file).expect("made"),
            // Only root can give files away; a plain user takes a system file.
            Hazard::OtherOwner if !geteuid().is_root() => file = PathBuf::from("/etc/passwd"),
            Hazard::OtherOwner => {
                let mode = if target == Target::Config {
                    0o644
                } else {
                    0o666
                };
                put(&file, self.good(target), mode);
            }
            Hazard::Wide => put(&file, self.good(target), 0o666),
            Hazard::ReadOnly if matches!(target, Target::Token | Target::Export) => {}
            Hazard::ReadOnly => put(&file, self.good(target), 0o400),
        }
        if geteuid().is_root() {
            for path in [folder.path(), &precious, &file] {
                let owner = Some(self.uid);
                // The owner of a link itself does not matter, and a missing file has none.
                if path
                    .symlink_metadata()
                    .is_ok_and(|found| !found.is_symlink())
                {
                    chown(path, owner, None).expect("given away");
                }
            }
            if hazard == Hazard::OtherOwner {
                chown(&file, Some(SOMEBODY), None).expect("given away");
            }
        }
        if hazard == Hazard::ReadOnly && matches!(target, Target::Token | Target::Export) {
            let mode = fs::Permissions::from_mode(0o500);
            fs::set_permissions(folder.path(), mode).expect("set");
        }
        Prepared {
            folder,
            file,
            precious,
            new_folder,
        }
    }

    pub(super) fn variables(&self, place: &Prepared) -> Vec<(&'static str, String)> {
        vec![
            ("PATH", "/usr/bin:/bin:/usr/sbin:/sbin".into()),
            ("HOME", place.folder.path().display().to_string()),
            ("GROUPDESK_BASE_URL", self.world.base_url().into()),
            ("GROUPDESK_API_KEY", self.key.clone()),
            ("GROUPDESK_ENVIRONMENT", "Testing".into()),
        ]
    }

    /// Runs the command that writes this file. Returns how it ended and all its output.
    pub(super) async fn run(
        &self,
        place: &Prepared,
        target: Target,
        hazard: Hazard,
        umask: u32,
    ) -> (Option<i32>, String) {
        let file = place.file.display().to_string();
        // A directory elsewhere, so that only one file is under test.
        let elsewhere = crate::support::folder::temporary();
        let directory = elsewhere.path().join("directory.db").display().to_string();
        if geteuid().is_root() {
            chown(elsewhere.path(), Some(self.uid), None).expect("given away");
        }
        let line = match target {
            Target::Config => format!(
                "--config {file} profile add us --base-url https://api.example.com --environment Testing \
                 --api-key-env US --no-check"
            ),
            // Selected by its variable, because only then its folder is created.
            Target::Directory => "import -".into(),
            Target::Token => {
                format!("--directory {directory} get acme-eu --exists --token-out {file}")
            }
            Target::Service => format!("serve keys create --environment t --database {file}"),
            Target::Export => format!("--directory {directory} export --force --output {file}"),
        };
        let limit = match hazard {
            Hazard::FullDisk => "trap '' XFSZ; ulimit -f 0",
            _ => ":",
        };
        let before = format!("umask {umask:03o}; {limit}");
        let mut command = bare_after(&before, &self.binary, place.folder.path());
        command
            .args(args(&line))
            .envs(self.variables(place))
            .current_dir("/")
            .stdin(Stdio::piped());
        if target == Target::Directory {
            command.env("GROUPDESK_DIRECTORY", &file);
        }
        if geteuid().is_root() {
            command.uid(self.uid);
        }
        let mut child = command.spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("standard input");
        // The program may refuse before it reads.
        let row = format!("{{\"user_group_id\": \"id-{hazard:?}\"}}\n");
        let _ = stdin.write_all(row.as_bytes()).await;
        drop(stdin);
        let output = tokio::time::timeout(DEADLINE, child.wait_with_output()).await;
        let output = output.expect("it waits for nothing").expect("it ran");
        (output.status.code(), all_output(&output))
    }
}

/// Writes a file with this mode, whatever the umask.
fn put(path: &Path, contents: &[u8], mode: u32) {
    fs::write(path, contents).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a FIFO");
}
