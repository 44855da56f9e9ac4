//! Runs on a real terminal: the progress bar, and a run whose terminal goes away. The words to type:
//! `cli::exchange::terminal`.

use groupdesk::{
    directory::{Batch, BatchId},
    domain::batch::Counts,
    operations::Operations,
};

use super::prelude::*;

/// The program on this world, with a proxy in between.
pub(super) fn through(
    world: &World,
    place: &TempHome,
    proxy: &FaultyProxy,
    arguments: &[&str],
) -> Program {
    let config = fs::read_to_string(world.config_file()).expect("readable");
    let config = config.replace(world.base_url(), &proxy.base_url());
    world.at(&proxy.base_url());
    let file = place.below("config/through.toml");
    fs::write(&file, config).expect("written");
    let directory = world.directory_file();
    place
        .groupdesk(arguments)
        .env("GROUPDESK_CONFIG", file.to_string_lossy())
        .env("GROUPDESK_DIRECTORY", directory.to_string_lossy())
}

/// A world with this many groups, all known to the installation, and a service behind a proxy.
pub(super) struct Scene {
    world: World,
    pub(super) place: TempHome,
    pub(super) proxy: FaultyProxy,
    operations: Operations,
    count: usize,
}

impl Scene {
    pub(super) async fn new(count: usize) -> Self {
        let world = World::new().await;
        let operations = world.operations(Side::Testing);
        for number in 0..count {
            let group = format!("g{number:02}");
            world.seed(Side::Testing, &group, &group, &[], &json!({}));
            let met = operations
                .look_up(&id(&group), UnknownIdPolicy::Exists)
                .await;
            met.expect("it is known now");
        }
        Self {
            proxy: FaultyProxy::before(world.address()).await,
            place: TempHome::new(),
            operations,
            world,
            count,
        }
    }

    pub(super) fn groupdesk(&self, arguments: &[&str]) -> Program {
        through(&self.world, &self.place, &self.proxy, arguments)
    }

    /// The answers to this many rotations wait at the gate.
    pub(super) fn hold(&self, gate: &Gate, count: usize) {
        for _ in 0..count {
            self.proxy.next("POST", ProxyFault::passed().behind(gate));
        }
    }

    /// This many answers are not held up.
    pub(super) fn pass(&self, count: usize) {
        for _ in 0..count {
            self.proxy.next("POST", ProxyFault::passed());
        }
    }

    /// A console in which all groups are being rotated.
    pub(super) fn rotating(&self) -> Session {
        let count = self.count;
        let mut session = self.groupdesk(&[]).start();
        session.wait_for(&format!("{count} groups"), PATIENCE);
        session.type_until("*T", &format!("{count} ready, 0 skipped"), PATIENCE);
        session.send(format!("rotate {count} in testing\r"));
        session
    }

    pub(super) async fn batch(&self) -> Option<Batch> {
        let batches = self.operations.batches().await.expect("readable");
        batches.into_iter().next()
    }

    /// Waits until the journal says that the run has ended.
    pub(super) async fn wait_for_end(&self) -> Counts {
        let waiting = async {
            loop {
                match self.batch().await {
                    Some(batch) if batch.ended_at.is_some() => return batch.counts,
                    _ => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
                }
            }
        };
        let over = tokio::time::timeout(PATIENCE, waiting).await;
        over.expect("the run ends")
    }

    /// Waits until nothing is in flight, and nothing new has started for a while.
    pub(super) async fn wait_until_quiet(&self) -> Counts {
        let mut quiet = 0;
        let waiting = async {
            loop {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                let Some(batch) = self.batch().await else {
                    continue;
                };
                let ended = batch.counts.confirmed;
                let is_quiet = ended == self.proxy.count("POST") && batch.counts.unknown == 0;
                quiet = if is_quiet { quiet + 1 } else { 0 };
                if quiet == 30 {
                    return batch.counts;
                }
            }
        };
        let quiet = tokio::time::timeout(PATIENCE, waiting).await;
        quiet.expect("requests in flight end")
    }

    /// Each group was sent one rotation, of its first token.
    pub(super) fn assert_sent_once(&self) {
        let mut sent: Vec<_> = self
            .proxy
            .bodies("POST")
            .iter()
            .map(|body| body["current_token"].to_string())
            .collect();
        assert_eq!(sent.len(), self.count);
        sent.sort();
        sent.dedup();
        assert_eq!(sent.len(), self.count, "a token was sent twice");
    }
}

pub(super) fn confirmed(count: usize) -> Counts {
    Counts {
        confirmed: count,
        ..Counts::default()
    }
}

pub(super) async fn all_arrived(gate: &Gate, count: usize) {
    for _ in 0..count {
        gate.reached().await;
    }
}

/// The terminal goes away in the middle: requests in flight are finished and recorded, and `resume` does the rest. By
/// every signal: `everywhere::signals`.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_signal_or_a_hangup_the_console_finishes_requests_in_flight() {
    let scene = Scene::new(6).await;
    let gate = Gate::new();
    scene.hold(&gate, 4);
    let mut session = scene.rotating();
    all_arrived(&gate, 4).await;
    session.signal(Signal::HUP);
    session.wait_for("finishing running requests", PATIENCE);
    session.hang_up();
    (0..4).for_each(|_| gate.open());
    assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
    let batch = scene.batch().await.expect("it was started");
    assert_eq!((batch.id, batch.ended_at), (BatchId(1), None));
    let left = Counts {
        not_started: 2,
        ..confirmed(4)
    };
    assert_eq!(batch.counts, left);
    assert_eq!(scene.proxy.count("POST"), 4, "nothing new was sent");

    let mut session = scene.groupdesk(&["batches", "resume"]).start();
    session.wait_for("every old token stops working at once. [y/N]", PATIENCE);
    session.send("y\r");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert_eq!(scene.wait_for_end().await, confirmed(6));
    scene.assert_sent_once();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_shows_a_bar_and_only_the_rows_that_need_attention() {
    let scene = Scene::new(3).await;
    let rows = scene.place.below("rows.csv");
    let text = "user_group_id,name\ng00,New 0\ng01,New 1\ng02,New 2\n";
    fs::write(&rows, text).expect("written");
    let import = ["import", rows.to_str().expect("plain"), "--update", "--yes"];
    let gate = Gate::new();
    for _ in 0..2 {
        scene.proxy.next("PUT", ProxyFault::passed());
    }
    scene.proxy.next("PUT", ProxyFault::passed().behind(&gate));
    let one_at_a_time = [&import[..], &["--concurrency", "1"]].concat();
    let mut session = scene.groupdesk(&one_at_a_time).size(24, 80).start();
    gate.reached().await;
    let screen = session.wait_for("] 2/3 ", PATIENCE);
    assert!(
        screen.contains("/s ") && screen.contains(" s left "),
        "{screen}"
    );
    assert!(screen.contains("2 updated"), "{screen}");
    gate.open();
    let screen = session.wait_for("3 updated; 3 rows", PATIENCE);
    assert!(!screen.contains("g01 updated"), "{screen}");
    assert!(session.exit_status(PATIENCE).success());
    fs::write(&rows, text.replace("New", "Newer")).expect("written");
    let verbose = [&import[..], &["--verbose"]].concat();
    let mut session = scene.groupdesk(&verbose).size(50, 120).start();
    assert!(session.exit_status(PATIENCE).success());
    // Not on the screen: what follows may have moved it out.
    let written = String::from_utf8_lossy(session.raw_output());
    assert!(written.contains("g01 updated"), "{written}");
}
