//! A process that writes into a directory and reports every acknowledged write (the test binary again, controlled by
//! one variable), and the check that all of them are there afterwards.

use super::*;
use std::io::{BufRead, Read, Write};

pub(super) const PROFILE: &str = "eu";
const ORDER: &str = "GROUPDESK_TEST_SCRIBE";
/// Marks our lines, to tell them from those of the test harness.
const MARK: char = '@';

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) directory: PathBuf,
    /// The prefix of every id.
    pub(super) name: String,
    /// How many writers at the same time.
    pub(super) writers: usize,
    /// How many groups each writes; `None`: until the process is killed.
    pub(super) groups: Option<usize>,
    /// Takes the lock with this statement, reports it, and releases it when told to.
    pub(super) lock: Option<String>,
}

/// Not a test of its own: what the started process does.
#[test]
fn recorder() {
    let Ok(order) = env::var(ORDER) else { return };
    let order: Order = serde_json::from_str(&order).expect("an order");
    if let Some(lock) = &order.lock {
        return hold(&order.directory, lock);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let directory = Directory::open(&order.directory).expect("it opens");
        say("open");
        let writers = (0..order.writers).map(|writer| {
            let name = format!("{}-{writer}", order.name);
            write(&directory, name, order.groups)
        });
        join_all(writers).await;
    });
}

fn hold(path: &Path, lock: &str) {
    let raw = rusqlite::Connection::open(path).expect("a connection");
    raw.execute_batch(lock).expect("the lock");
    say("locked");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a word");
}

/// One write call, and only after the acknowledgement.
fn say(what: &str) {
    let line = format!("{MARK}{what}\n");
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).expect("somebody listens");
    out.flush().expect("somebody listens");
}

fn fingerprint(of: &str) -> Fingerprint {
    let mut bytes = [7; 32];
    for (at, byte) in of.bytes().enumerate() {
        bytes[at % 32] ^= byte.rotate_left(at as u32 / 32);
    }
    Fingerprint::from_bytes(bytes)
}

/// Records a group and its history line in one transaction.
pub(super) async fn note(directory: &Directory, group: &str) -> Result<(), DirectoryError> {
    let entry = Entry {
        note: Some("a line of some length, so that pages fill".repeat(4)),
        ..entry(PROFILE, group, 0)
    };
    let record = Record {
        observation: Some(observation(group, fingerprint(group), 0)),
        ..history_record(entry)
    };
    let place = try_place(directory, PROFILE)?;
    directory.record(place, record).await.map(drop)
}

/// The four kinds of writes for one group, each reported once it is acknowledged.
pub(super) async fn group(directory: &Directory, name: &str, said: impl Fn(&str)) {
    note(directory, name).await.expect("written");
    said(&format!("told {name}"));
    let rotation = start(directory, intent(name, fingerprint(name))).await;
    said(&format!("intent {name}"));
    let before = Rotation::intended(fingerprint(name));
    let sending = step(rotation, before, Event::Sending, 0);
    recorded(directory, step_record(sending)).await;
    said(&format!("sent {name}"));
    let draft = fields::draft(name, second(0));
    let place = place(directory, PROFILE);
    let saved = directory.save_draft(place, draft, "ana", None).await;
    saved.expect("written");
    said(&format!("draft {name}"));
}

async fn write(directory: &Directory, name: String, groups: Option<usize>) {
    for number in 0..groups.unwrap_or(usize::MAX) {
        group(directory, &format!("{name}-{number}"), say).await;
    }
}

/// A running recorder process.
pub(super) struct Recorder {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Recorder {
    pub(super) fn start(order: &Order) -> Self {
        let mut child = Command::new(env::current_exe().expect("this binary"))
            .args([
                "--exact",
                "directory::harm::recorder::recorder",
                "--nocapture",
            ])
            .env(ORDER, serde_json::to_string(order).expect("JSON"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("standard output"));
        Self { child, lines }
    }

    /// The next complete line of its own; `None` when it has ended.
    pub(super) fn next(&mut self) -> Option<String> {
        let mut line = Vec::new();
        loop {
            line.clear();
            self.lines.read_until(b'\n', &mut line).expect("readable");
            // A line without its end was cut by the kill.
            if line.pop() != Some(b'\n') {
                return None;
            }
            let text = String::from_utf8_lossy(&line);
            // The harness prints "test ... " without a line break before our first line.
            if let Some((_, said)) = text.split_once(MARK) {
                return Some(said.to_owned());
            }
        }
    }

    /// Kills it with SIGKILL; returns the lines it had written and nobody had read.
    pub(super) fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("it can be killed");
        self.rest()
    }

    /// The lines until it ends by itself.
    pub(super) fn rest(&mut self) -> Vec<String> {
        let said = std::iter::from_fn(|| self.next()).collect();
        self.child.wait().expect("it ended");
        said
    }

    /// Tells a process that holds a lock to release it.
    pub(super) fn release(mut self) {
        let mut stdin = self.child.stdin.take().expect("standard input");
        stdin.write_all(b"go\n").expect("it listens");
        drop(stdin);
        let mut rest = Vec::new();
        self.lines.read_to_end(&mut rest).expect("readable");
        self.child.wait().expect("it ended");
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // It may have ended already; then both calls fail, which is all right.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The contents of a directory, in the words of the acknowledgements.
pub(super) async fn present(directory: &Directory) -> Result<BTreeSet<String>, DirectoryError> {
    let mut found = BTreeSet::new();
    let groups = directory.groups(place(directory, PROFILE)).await?;
    let history = directory.history(HistoryFilter::default()).await?;
    let named: BTreeSet<_> = groups.iter().map(|group| group.id.to_string()).collect();
    let told: BTreeSet<_> = history
        .iter()
        .map(|entry| entry.value.user_group_id.to_string())
        .collect();
    assert_eq!(named, told, "a group and its history are one transaction");
    found.extend(told.iter().map(|name| format!("told {name}")));
    for row in directory.rotations(RotationFilter::default()).await? {
        found.insert(format!("intent {}", row.user_group_id));
        if row.rotation.state != State::Intended {
            found.insert(format!("sent {}", row.user_group_id));
        }
    }
    for kept in directory.drafts(place(directory, PROFILE)).await? {
        found.insert(format!("draft {}", kept.draft.user_group_id));
    }
    Ok(found)
}

/// Checks that every acknowledged write is there.
pub(super) async fn assert_recorded(path: &Path, said: &BTreeSet<String>) {
    let directory = Directory::open(path).expect("it opens");
    let found = present(&directory).await.expect("readable");
    let lost: Vec<_> = said.difference(&found).collect();
    assert!(
        lost.is_empty(),
        "{} of {} acknowledged writes are lost: {lost:?}",
        lost.len(),
        said.len()
    );
}
