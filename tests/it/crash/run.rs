//! One run: a rotation with one fault that dies at one point, two recoveries that die at one place, a last one that does
//! not; then everything that must hold is looked at.

use std::time::Duration;

use groupdesk::{
    directory::{Directory, JournalRow, RotationFilter, replay},
    domain::{
        rotation::State,
        token::{Fingerprint, Token},
    },
};
use rusqlite::Connection;

use super::{
    desk::{Task, hex},
    faults::{Ends, Fault, INVENTED},
    stage::{Process, Scene, Stage, holder},
    wrong::Variant,
};
use crate::support::{
    meddler::{Gate, Meddling, Then},
    world::{Side, id},
};

/// Settle horizon with the time-outs used here, in seconds.
const HORIZON: u64 = 60;
/// "Bytes out, no answer" (rotation.md): the proxy sees it, and the desk is killed from outside.
const BYTES_OUT: u8 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) fault: Fault,
    /// Where the rotation dies, by the number of rotation.md; `None` lets it live.
    pub(super) kill: Option<u8>,
    /// Where the first two recoveries die.
    pub(super) again: Option<u8>,
}

impl Case {
    pub(super) const KILLS: [Option<u8>; 12] = [
        None,
        Some(1),
        Some(2),
        Some(3),
        Some(BYTES_OUT),
        Some(5),
        Some(6),
        Some(7),
        Some(8),
        Some(9),
        Some(10),
        Some(11),
    ];
    /// Of a recovery: not at all, before the get, in it, after it, after its commit.
    pub(super) const AGAIN: [Option<u8>; 5] = [None, Some(9), Some(BYTES_OUT), Some(10), Some(11)];

    /// Every combination, the last listed changing fastest.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let with = |fault, kill| Self::AGAIN.map(|again| Self { fault, kill, again });
        Fault::ALL.into_iter().flat_map(move |fault| {
            Self::KILLS
                .into_iter()
                .flat_map(move |kill| with(fault, kill))
        })
    }
}

/// What a run came to.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// Whatever did not hold.
    pub(super) wrong: Vec<String>,
    /// Rotate requests that left the desk.
    pub(super) requests: usize,
    /// The rotation was killed where it was to be.
    pub(super) died: bool,
    /// Desks that were killed.
    pub(super) kills: usize,
}

pub(super) async fn play(stage: &Stage, case: Case, variant: Variant) -> Played {
    let scene = stage.scene().await;
    let mut run = Run {
        held: Gate::new(),
        applied: Gate::new(),
        has_left: false,
        scene: &scene,
        case,
        variant,
        played: Played::default(),
    };
    let mut meddling = case
        .fault
        .meddling(&scene.group, &scene.old)
        .held(&run.held);
    if case.fault.is_applied() {
        meddling = meddling.behind(&run.applied);
    }
    scene.meddler.next("POST", meddling);
    run.rotation().await;
    run.recovery(vec![1, 2], case.again).await;
    if case.fault == Fault::ArrivesLate && run.has_left {
        run.let_through().await;
    }
    run.recovery(vec![HORIZON], case.again).await;
    run.recovery(vec![HORIZON + 10, HORIZON + 20, 2 * HORIZON], None)
        .await;
    run.look().await;
    run.played
}

struct Run<'a> {
    scene: &'a Scene<'a>,
    case: Case,
    variant: Variant,
    /// Holds the rotate request before the service hears of it.
    held: Gate,
    /// Holds its answer.
    applied: Gate,
    has_left: bool,
    played: Played,
}

impl Run<'_> {
    async fn rotation(&mut self) {
        let mut order = self.scene.order(Task::Rotate);
        order.kill = self.case.kill;
        order.variant = self.variant;
        if self.case.fault.hangs() {
            order.timeout = Duration::from_secs(3);
        }
        let mut desk = Process::start(&order);
        let held = self.held.clone();
        loop {
            let said = tokio::select! {
                said = desk.said() => said,
                () = held.reached(), if !self.has_left => {
                    self.has_left = true;
                    if self.case.kill == Some(BYTES_OUT) {
                        desk.kill();
                    }
                    if self.case.fault != Fault::ArrivesLate {
                        self.let_through().await;
                    }
                    continue;
                }
            };
            match said {
                Some((what, words)) if what == "shown" => {
                    self.must_be_durable(&words);
                    desk.go_on().await;
                }
                Some((_, words)) => self.must_be_clean(&words),
                None => break,
            }
        }
        self.played.died = desk.is_killed().await;
        self.played.kills += usize::from(self.played.died);
    }

    async fn let_through(&self) {
        self.held.open();
        if self.case.fault.is_applied() {
            self.applied.reached().await;
            self.applied.open();
        }
    }

    async fn recovery(&mut self, seconds: Vec<u64>, kill: Option<u8>) {
        let mut order = self.scene.order(Task::LookUp(seconds));
        order.variant = self.variant;
        order.kill = kill;
        let held = Gate::new();
        if kill == Some(BYTES_OUT) {
            let meddling = Meddling::swallowed(Then::Drop).held(&held);
            self.scene.meddler.next("GET", meddling);
        }
        let mut desk = Process::start(&order);
        loop {
            tokio::select! {
                said = desk.said() => match said {
                    Some((_, words)) => self.must_be_clean(&words),
                    None => break,
                },
                () = held.reached(), if kill == Some(BYTES_OUT) => {
                    desk.kill();
                    held.open();
                    while desk.said().await.is_some() {}
                    break;
                }
            }
        }
        self.played.kills += usize::from(desk.is_killed().await);
    }

    fn wrong(&mut self, what: impl Into<String>) {
        self.played.wrong.push(what.into());
    }

    /// A token is shown at this moment: another connection finds its fingerprint.
    fn must_be_durable(&mut self, shown: &str) {
        let directory = Connection::open(&self.scene.directory).expect("a second connection");
        let known: i64 = directory
            .query_row(
                "SELECT count(*) FROM rotations WHERE lower(hex(fingerprint)) = ?1",
                [shown],
                |row| row.get(0),
            )
            .expect("SQL");
        if known == 0 {
            self.wrong("a token was shown before its fingerprint was durable");
        }
    }

    fn must_be_clean(&mut self, words: &str) {
        let secrets = self.scene.secrets();
        if secrets.iter().any(|secret| words.contains(secret)) {
            self.wrong("a secret was said");
        }
    }

    async fn look(&mut self) {
        let mut secrets = self.scene.secrets();
        secrets.push(INVENTED.to_owned());
        // Before a connection of this process is opened on the files.
        if let Some(file) = holder(&self.scene.folder, &secrets) {
            self.wrong(format!("a secret stands in {}", file.display()));
        }
        let directory = Directory::open(&self.scene.directory).expect("a directory");
        let fingerprint = |token: &str| directory.fingerprinter().of(&Token::new(token.to_owned()));
        let rows = directory.rotations(RotationFilter::default()).await;
        let rows = rows.expect("readable");
        for row in &rows {
            let happenings = directory.happenings(row.id).await.expect("readable");
            if replay(&happenings) != Some(row.rotation) {
                self.wrong("the journal does not add up");
            }
        }
        self.requests(&rows, fingerprint);
        self.agreement(
            &rows,
            fingerprint(&self.scene.old),
            fingerprint(&self.scene.token()),
        );
        let group = id(&self.scene.group);
        let group = directory.group(Side::Testing.name(), &group);
        let known = group
            .await
            .expect("readable")
            .and_then(|group| group.fingerprint);
        if known.map(|known| known.value) != Some(fingerprint(&self.scene.token())) {
            self.wrong("the directory holds another token than the service");
        }
    }

    /// At most one rotate request per intent, and none without.
    fn requests(&mut self, rows: &[JournalRow], fingerprint: impl Fn(&str) -> Fingerprint) {
        let bodies = self.scene.meddler.bodies("POST");
        self.played.requests = bodies.len();
        let sent: Vec<_> = bodies
            .iter()
            .map(|body| fingerprint(body["current_token"].as_str().expect("a token")))
            .collect();
        if rows.len() > 1 {
            self.wrong(format!("{} rotations", rows.len()));
        }
        for token in &sent {
            let intents = rows
                .iter()
                .filter(|row| row.sent_at.is_some() && row.rotation.previous == *token);
            if intents.count() == 0 {
                self.wrong("a request without an intent");
            }
        }
        if sent.len() > rows.len().max(1) {
            self.wrong(format!("{} requests", sent.len()));
        }
    }

    /// The journal says what the service says.
    fn agreement(&mut self, rows: &[JournalRow], old: Fingerprint, now: Fingerprint) {
        let is_rotated = old != now;
        if is_rotated != (self.has_left && self.case.fault.is_applied()) {
            self.wrong("the fault did not do what it is for");
        }
        let Some(row) = rows.first() else {
            if is_rotated {
                self.wrong("rotated, and the journal knows nothing of it");
            }
            return;
        };
        let state = row.rotation.state;
        let agrees = match state {
            State::Confirmed | State::Recovered => {
                is_rotated && row.rotation.fingerprint == Some(now)
            }
            State::NotApplied => !is_rotated,
            // A person has to look; only where the answer contradicted what is there.
            State::Conflict => self.case.fault.ends() == Ends::Conflict,
            State::Intended
            | State::Sent
            | State::Rotated
            | State::Unknown
            | State::Superseded
            | State::Abandoned => false,
        };
        if !agrees {
            let fingerprint = row.rotation.fingerprint.map(|new| hex(new.as_bytes()));
            self.wrong(format!(
                "{state:?} with {fingerprint:?}, rotated: {is_rotated}"
            ));
        }
        let expected = match self.case.fault.ends() {
            Ends::Confirmed => State::Confirmed,
            Ends::Recovered => State::Recovered,
            Ends::NotApplied => State::NotApplied,
            Ends::Conflict => State::Conflict,
        };
        if self.case.kill.is_none() && state != expected {
            self.wrong(format!(
                "{state:?} instead of {expected:?} though nobody was killed"
            ));
        }
    }
}
