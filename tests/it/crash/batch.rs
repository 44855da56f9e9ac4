//! Batches: killed between two groups, and resumed by processes that are killed, too. One request for each token,
//! counts that add up, a journal that agrees with the service, and every new token handed off.

use super::*;

mod leaving;

/// "Between two of a bulk" (docs/design/rotation.md).
const BETWEEN: u8 = 12;
const BYTES_OUT: u8 = 4;
const GROUPS: usize = 3;
/// In seconds; follows from the short timeouts used here.
const HORIZON: u64 = 60;
const AT_ONCE: usize = 8;

/// What a person would see of the run: every new token.
struct Shown {
    directory: Directory,
    watch: Arc<Watch>,
}

impl TokenSink for Shown {
    fn keep(&self, done: &Done) -> std::io::Result<()> {
        let token = done.token().expect("a new token");
        let fingerprint = self.directory.fingerprinter().of(token);
        self.watch.show(fingerprint.as_bytes());
        Ok(())
    }
}

/// Runs an installation's bulk rotation of these groups.
pub(super) async fn begin(installation: &Child, groups: &[String]) {
    let operations = installation.operations(Clock::Fixed(installation.at(0)));
    let ids: Vec<_> = groups.iter().map(|group| id(group)).collect();
    for group in &ids {
        let met = operations.look_up(group, UnknownIdPolicy::Exists).await;
        met.expect("it is known now");
    }
    let plan = operations.plan_batch(&ids, false).await.expect("readable");
    let begun = operations.begin(&plan).await;
    begun.expect("durable");
    resume(installation, installation.at(0)).await;
}

/// Resumes it.
pub(super) async fn resume(installation: &Child, at: Timestamp) {
    let operations = installation.operations(Clock::Fixed(at));
    let batches = operations.batches().await.expect("readable");
    let Some(batch) = batches.first() else {
        return;
    };
    let pace = RunLimits {
        concurrency: 1,
        ..RunLimits::default()
    };
    let keep = Shown {
        directory: installation.directory.clone(),
        watch: installation.watch.clone(),
    };
    let run = operations.run_batch(batch.id, pace, Some(Arc::new(keep)));
    let Run { mut progress, .. } = run.await.expect("it begins");
    while let Some(news) = progress.recv().await {
        match news {
            BatchEvent::Ended(ended) => say("ended", ended.outcome),
            BatchEvent::Finished(report) => say("finished", &report.counts.to_string()),
            BatchEvent::Started(_)
            | BatchEvent::Throttled(_)
            | BatchEvent::NoDirectory(_)
            | BatchEvent::Halted(_) => {}
        }
    }
}

/// One bulk rotation whose second request meets a fault.
#[derive(Debug, Clone, Copy)]
struct Case {
    fault: Fault,
    /// The run is killed after one and this many more items have ended.
    after: u8,
    /// Where the first two resumptions are killed.
    again: Option<u8>,
}

impl Case {
    const AGAIN: [Option<u8>; 6] = [
        None,
        Some(9),
        Some(BYTES_OUT),
        Some(10),
        Some(11),
        Some(BETWEEN),
    ];

    /// Every fault after every number of items, each with two of the places.
    fn all() -> impl Iterator<Item = Self> {
        let with = |fault, after| {
            Self::AGAIN.map(|again| Self {
                fault,
                after,
                again,
            })
        };
        let of = move |fault| (0..GROUPS as u8).flat_map(move |after| with(fault, after));
        let all = Fault::ALL.iter().copied().flat_map(of).enumerate();
        let chosen =
            |(index, _): &(usize, Self)| (index + index / Self::AGAIN.len()).is_multiple_of(3);
        all.filter(chosen).map(|(_, case)| case)
    }

    /// One case for every fault that ends soon, cycling through the places.
    fn spread() -> Vec<Self> {
        let soon = Fault::ALL.iter().copied().filter(|fault| !fault.hangs());
        let numbered = soon.enumerate().map(|(number, fault)| Self {
            fault,
            after: (number % GROUPS) as u8,
            again: Self::AGAIN[number % Self::AGAIN.len()],
        });
        numbered.collect()
    }
}

struct RunResult {
    wrong: Vec<String>,
    requests: usize,
    kills: usize,
}

async fn play(stage: &Stage, case: Case) -> RunResult {
    let scene = stage.scene().await;
    let groups: Vec<_> = ["a", "b", "c"].map(|name| scene.and(name)).into();
    let before = tokens(&scene, &groups);
    let late = Gate::new();
    let second = &groups[1];
    let mut at_proxy = case.fault.proxy_fault(second, &before[second]);
    if case.fault == Fault::ArrivesLate {
        at_proxy = at_proxy.held(&late);
    }
    scene.proxy.next("POST", ProxyFault::passed());
    scene.proxy.next("POST", at_proxy);
    let order = |task, kill| Order {
        kill,
        handoff: scene.sink().command(),
        timeout: Duration::from_secs(if case.fault.hangs() { 3 } else { 20 }),
        ..scene.order(task)
    };
    let mut look = Watcher::new(&scene);
    let first = Order {
        passes: case.after,
        ..order(Task::Bulk(groups.clone()), Some(BETWEEN))
    };
    look.watch(&first).await;
    look.watch(&order(Task::Resume(vec![1]), case.again)).await;
    if case.fault == Fault::ArrivesLate && scene.proxy.count("POST") > 1 {
        late.open();
    }
    look.watch(&order(Task::Resume(vec![HORIZON]), case.again))
        .await;
    // What the first of these sends is settled by the second.
    let rest = Task::Resume(vec![3 * HORIZON, 5 * HORIZON]);
    look.watch(&order(rest, None)).await;
    let Watcher {
        mut wrong, kills, ..
    } = look;
    let now = tokens(&scene, &groups);
    let mut secrets: Vec<_> = before.values().chain(now.values()).cloned().collect();
    secrets.extend(scene.secrets());
    secrets.push(INVENTED.to_owned());
    if let Some(file) = file_with_secret(&scene.folder, &secrets) {
        wrong.push(format!("a secret stands in {}", file.display()));
    }
    let directory = Directory::open(&scene.directory).expect("a directory");
    wrong.extend(sent_twice_or_without_intent(&scene, &directory, &before).await);
    let is_conflict = case.fault.ends() == Ends::Conflict;
    wrong.extend(disagreements(is_conflict, &directory, &before, &now).await);
    wrong.extend(handed_off(&scene, &directory, &now).await);
    RunResult {
        wrong,
        requests: scene.proxy.count("POST"),
        kills,
    }
}

/// The tokens that the service has for these groups.
fn tokens(scene: &Scene<'_>, groups: &[String]) -> BTreeMap<String, String> {
    let token = |group: &String| (group.clone(), scene.token_of(group));
    groups.iter().map(token).collect()
}

/// Watches processes work and die.
struct Watcher<'a> {
    scene: &'a Scene<'a>,
    wrong: Vec<String>,
    kills: usize,
}

impl<'a> Watcher<'a> {
    fn new(scene: &'a Scene<'a>) -> Self {
        Self {
            scene,
            wrong: Vec::new(),
            kills: 0,
        }
    }

    async fn watch(&mut self, order: &Order) {
        let held = Gate::new();
        let by_us = order.kill == Some(BYTES_OUT);
        if by_us {
            let at_proxy = ProxyFault::swallowed(Then::Drop).held(&held);
            self.scene.proxy.next("GET", at_proxy);
        }
        let mut installation = Process::start(order);
        let mut is_dead = false;
        loop {
            let said = tokio::select! {
                said = installation.next_report() => said,
                () = held.reached(), if by_us && !is_dead => {
                    is_dead = true;
                    installation.kill();
                    held.open();
                    continue;
                }
            };
            match said {
                Some((what, words)) if what == "shown" => {
                    if !self.scene.is_durable(&words) {
                        self.wrong.push("shown before it was durable".into());
                    }
                    installation.resume().await;
                }
                Some(_) => {}
                None => break,
            }
        }
        self.kills += usize::from(installation.is_killed().await);
        self.scene.proxy.calm("GET");
    }
}

/// At most one request for each token, each with an intent.
async fn sent_twice_or_without_intent(
    scene: &Scene<'_>,
    directory: &Directory,
    before: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let rows = directory.rotations(RotationFilter::default()).await;
    let rows = rows.expect("readable");
    let mut left = before.clone();
    for body in scene.proxy.bodies("POST") {
        let token = body["current_token"].as_str().expect("a token").to_owned();
        let fingerprint = directory.fingerprinter().of(&Token::new(token.clone()));
        let group = left
            .iter()
            .find_map(|(group, old)| (*old == token).then(|| group.clone()));
        match group {
            Some(group) => drop(left.remove(&group)),
            None => wrong.push("a token was sent twice, or a new one".to_owned()),
        }
        let is_intent =
            |previous, sent_at: Option<Timestamp>| previous == fingerprint && sent_at.is_some();
        if !rows
            .iter()
            .any(|row| is_intent(row.rotation.previous, row.sent_at))
        {
            wrong.push("a request without an intent".into());
        }
    }
    wrong
}

/// Every item agrees with the service, and the counts add up. Only where the answer contradicted the service, one item
/// may be a conflict and end the run.
async fn disagreements(
    is_conflict: bool,
    directory: &Directory,
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let place = place(directory, Side::Testing.name());
    let batches = directory.batches(place).await.expect("readable");
    let items = directory.batch_items(place, batches[0].id).await;
    let items = items.expect("readable");
    let counts = Counts::of(items.iter().map(BatchItem::status));
    if counts.planned() != GROUPS
        || counts.unknown + counts.rotated > 0
        || counts.not_started > 0 && !is_conflict
    {
        wrong.push(format!("{counts}"));
    }
    for item in items {
        let group = item.user_group_id.as_str();
        let is_rotated = before[group] != now[group];
        let current = directory
            .fingerprinter()
            .of(&Token::new(now[group].clone()));
        let agrees = match item.state {
            Some(State::Confirmed | State::Recovered) => {
                is_rotated && item.fingerprint == Some(current)
            }
            Some(State::NotApplied) | None => !is_rotated,
            Some(State::Conflict) => is_conflict,
            Some(_) => false,
        };
        if !agrees {
            wrong.push(format!("{item:?}, rotated: {is_rotated}"));
        }
    }
    wrong
}

/// A hand-off left pending by a crash is offered again and arrives, with the current token.
async fn handed_off(
    scene: &Scene<'_>,
    directory: &Directory,
    now: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let sink = scene.sink();
    let operations = hand_off_operations(scene.order(Task::Rotate), sink.command(), directory);
    for row in operations.pending_hand_offs().await.expect("readable") {
        match operations.hand_off_again(row.id).await {
            Ok(handed) if handed.is_done() => {}
            other => wrong.push(format!("not handed off again: {other:?}")),
        }
    }
    let taken = sink.taken();
    let rows = directory.rotations(RotationFilter::default()).await;
    for row in rows.expect("readable") {
        let is_new = matches!(row.rotation.state, State::Confirmed | State::Recovered);
        let is_done = row.handoff.state == HandOffState::Done;
        let arrived = taken
            .iter()
            .any(|(group, _)| *group == row.user_group_id.as_str());
        if is_done != is_new || arrived != is_new {
            wrong.push(format!("{row:?}, arrived: {arrived}"));
        }
    }
    if taken.iter().any(|(group, token)| now[group] != *token) {
        wrong.push("another token than the current one arrived".into());
    }
    wrong
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_killed_between_two_groups_is_resumed() {
    let is_all = std::env::var("GROUPDESK_CRASH").is_ok();
    let cases = if is_all {
        Case::all().collect()
    } else {
        Case::spread()
    };
    let stage = Stage::new().await;
    let stage = &stage;
    let played: Vec<_> = stream::iter(cases)
        .map(|case| async move { (case, play(stage, case).await) })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let count = |number: fn(&RunResult) -> usize| -> usize {
        played.iter().map(|(_, played)| number(played)).sum()
    };
    let (kills, requests) = (
        count(|played| played.kills),
        count(|played| played.requests),
    );
    println!("{} runs, {kills} kills, {requests} requests", played.len());
    let wrong: Vec<_> = played
        .iter()
        .filter(|(_, played)| !played.wrong.is_empty())
        .map(|(case, played)| format!("{case:?}: {:?}", played.wrong))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Each is killed at least once, unless a conflict has stopped it before; most requests are sent.
    assert!(kills >= played.len(), "{kills}");
    assert!(requests > 2 * played.len(), "{requests}");
}
