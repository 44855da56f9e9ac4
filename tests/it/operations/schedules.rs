//! Random schedules of several processes on one directory, each killed anywhere: in the end the directory agrees with
//! the service, or an open row says so; and nothing is reported as done that is not.
//!
//! `GROUPDESK_SCHEDULES` is their number; each is generated from its index alone.

use super::*;
use futures_util::StreamExt;

const USUAL: usize = 100;
/// How many run in parallel; each mostly waits.
const AT_ONCE: usize = 16;
/// The longest wait for an answer, and for a group that somebody else holds.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The same for the process before and after all steps, which must get its answers even on a busy machine. The settle
/// window stays a minute.
const UNHURRIED_TIMEOUT: Duration = Duration::from_secs(30);

/// An action of one process.
#[derive(Debug, Clone, Copy)]
enum Step {
    SetProperty(u64),
    Rotate,
    Read,
    Create,
    /// A row of a file, with the values shown by a plan made before the schedule.
    SendRow(u64),
    Resume,
    /// In a profile whose guard forbids it.
    ResumeOverLimit,
    /// With the key of another environment of the same address.
    ReadAsStranger,
}

/// The subject of the steps, set up before the first of them.
struct Subject {
    group: UserGroupId,
    planned: DesiredFields,
    batch: BatchId,
}

/// Polls the work this many times, then drops it, as if the process died: `None`.
async fn killed_after<T>(polls: u64, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        work.as_mut().poll(context).map(Some)
    })
    .await
}

/// A service and a directory of its own, so that all open rows are from this schedule.
struct Scene {
    world: World,
    clock: TestClock,
    stranger: String,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        Self {
            clock: TestClock::new(world.folder()),
            stranger: world.new_key("elsewhere", None),
            world,
        }
    }

    fn installation(&self) -> Installation {
        let installation = self
            .world
            .installation(Side::Testing)
            .clock(self.clock.clock());
        installation
            .timeout(TIMEOUT)
            .with(|profile| profile.read_properties = true)
    }

    /// A new process, sometimes with another name of the same place.
    fn process(&self, dice: &mut Random) -> Operations {
        let directory = Directory::open(&self.world.directory_file()).expect("it opens");
        let installation = self.installation().by(LI).on(&directory);
        if dice.below(3) == 0 {
            installation
                .with(|profile| profile.name = "second".into())
                .unbound()
        } else {
            installation.operations()
        }
    }

    /// Does the step; returns whether it is reported as done.
    async fn act(
        &self,
        operations: Operations,
        ground: &Subject,
        step: Step,
    ) -> Result<bool, Failure> {
        let known = UnknownIdPolicy::KnownOnly;
        let group = ground.group.clone();
        match step {
            Step::SetProperty(number) => {
                let key = format!("p{number}");
                let shown = operations
                    .show(&group)
                    .await
                    .map_err(Failure::NothingSent)?;
                let base = shown.as_ref().map(DesiredFields::of).unwrap_or_default();
                let mut wanted = base.clone();
                let properties = wanted.properties.get_or_insert_default();
                properties.insert(key.clone(), json!(number));
                let edit = Edit {
                    base,
                    wanted,
                    ..Edit::default()
                };
                operations.update_edit(&group, &edit, known).await?;
                Ok(true)
            }
            Step::Rotate => operations.rotate(&group, None, known).await.map(|_| true),
            Step::Read => operations.look_up(&group, known).await.map(|_| true),
            Step::Create => {
                let new = id(&format!("{}-new", group.as_str()));
                operations
                    .create(&new, &only_name("New"))
                    .await
                    .map(|_| true)
            }
            Step::SendRow(number) => {
                let row = row(group.as_str(), only_name(&format!("N{number}")));
                let sending = Sending {
                    create: false,
                    update: true,
                    only_differences: true,
                };
                let permit = operations.sending_permitted(sending, 1)?;
                match send_row(&operations, &permit, &row, Some(&ground.planned)).await {
                    RowEnd::Failed(failure) => Err(failure),
                    end => Ok(end.outcome() == "updated"),
                }
            }
            Step::Resume => {
                let ran = operations.run_through(ground.batch, RunLimits::default());
                ran.await.map(|_| true)
            }
            Step::ResumeOverLimit => {
                let forbids = Guard {
                    operation: guard::Operation::Bulk,
                    rule: Rule::Max(0),
                    reason: "ask first".into(),
                };
                let installation = self
                    .installation()
                    .by(LI)
                    .with(|profile| profile.guards = vec![forbids]);
                let limited = installation.operations();
                let resumed = limited.run_batch(ground.batch, RunLimits::default(), None);
                if let Err(failure) = resumed.await {
                    assert_is!(failure, Failure::Forbidden { .. });
                } else {
                    // Nothing was left to do.
                    let items = limited.batch_items(ground.batch).await.expect("readable");
                    let is_over =
                        |item: &BatchItem| item.rotation.is_some() || item.ending.is_some();
                    assert!(items.iter().all(is_over));
                }
                Ok(false)
            }
            Step::ReadAsStranger => {
                let installation = self.world.installation(Side::Testing).by(LI);
                let stranger = installation.key(&self.stranger).unbound();
                let read = stranger.look_up(&group, UnknownIdPolicy::Exists).await;
                assert_is!(read, Err(Failure::Place(_)));
                Ok(false)
            }
        }
    }
}

async fn play(number: u64) {
    let scene = Scene::new().await;
    let group = format!("g{number}");
    let mut dice = Random::new(number);
    scene
        .world
        .seed(Side::Testing, &group, "Group", &[], &json!({"kept": true}));
    let ana = scene.installation().timeout(UNHURRIED_TIMEOUT).operations();
    let read = ana.look_up(&id(&group), UnknownIdPolicy::Exists).await;
    read.expect("found");
    let shown = ana.show(&id(&group)).await.expect("readable");
    let plan = ana.plan_batch(&[id(&group)], true).await.expect("readable");
    let ground = &Subject {
        group: id(&group),
        planned: DesiredFields::of(&shown.expect("known")),
        batch: ana.begin(&plan).await.expect("durable"),
    };
    let count = 2 + dice.below(2);
    let mut steps = Vec::new();
    for _ in 0..count {
        let process = scene.process(&mut dice);
        for _ in 0..=dice.below(2) {
            let at = steps.len() as u64;
            let step = match dice.below(14) {
                0..5 => Step::SetProperty(at),
                5 | 6 => Step::Rotate,
                7 => Step::Read,
                8 => Step::Create,
                9 | 10 => Step::SendRow(at),
                11 => Step::Resume,
                12 => Step::ResumeOverLimit,
                _ => Step::ReadAsStranger,
            };
            // A run continues when nobody waits for it; only the end of its process would end it.
            let polls = if dice.below(3) == 0 && !matches!(step, Step::Resume) {
                dice.below(40) as u64
            } else {
                u64::MAX
            };
            let act = scene.act(process.clone(), ground, step);
            steps.push(async move { (step, Box::pin(killed_after(polls, act)).await) });
        }
    }
    let ended = Box::pin(join_all(steps)).await;
    // A later process finds what is left.
    for _ in 0..2 {
        scene.clock.forward(Duration::from_secs(70));
        ana.recover(&[], 1, |_| {}).await.expect("readable");
        ana.settle_changes().await.expect("readable");
    }
    let last = ana.look_up(&id(&group), UnknownIdPolicy::KnownOnly).await;
    last.expect("found");
    let stored = scene.world.stored(Side::Testing, &group);
    let known = ana
        .show(&id(&group))
        .await
        .expect("readable")
        .expect("known");
    let open = ana.open_changes().await.expect("readable");
    let open = open
        .iter()
        .any(|change| change.user_group_id.as_str() == group);
    let at = || format!("schedule {number}: {ended:?}");
    let sorted = |value: &serde_json::Value| -> BTreeMap<String, serde_json::Value> {
        let object = value.as_object().expect("an object");
        object.clone().into_iter().collect()
    };
    let held = known.properties.as_ref().map(|known| json!(known.value));
    assert_eq!(
        held.as_ref().map(&sorted),
        Some(sorted(&stored.properties)),
        "{}",
        at()
    );
    assert_eq!(stored.properties["kept"], true, "{}", at());
    let mut rows_sent = Vec::new();
    for (step, end) in &ended {
        let arrived = match step {
            Step::SetProperty(number) => stored.properties.get(format!("p{number}")).is_some(),
            Step::SendRow(number) => stored.name == format!("N{number}"),
            _ => continue,
        };
        match end {
            Some(Ok(true)) => assert!(arrived, "{step:?} was called done: {}", at()),
            Some(Err(Failure::Unknown { .. } | Failure::NotWritten(_))) | None => {}
            Some(Ok(false) | Err(_)) => {
                assert!(!arrived || open, "{step:?} was called not done: {}", at());
            }
        }
        if let (Step::SendRow(_), Some(Ok(true))) = (step, end) {
            rows_sent.push(step);
        }
    }
    assert!(rows_sent.len() <= 1, "more than was planned: {}", at());
    let fingerprinter = scene.world.directory().fingerprinter();
    let token = known.fingerprint.map(|known| known.value);
    assert_eq!(
        token,
        Some(fingerprinter.of(&Token::new(stored.token))),
        "{}",
        at()
    );
    let rows = ana.rotations().await.expect("readable");
    let rows: Vec<_> = rows
        .iter()
        .filter(|row| row.user_group_id.as_str() == group)
        .collect();
    assert!(
        scene.world.rotations(Side::Testing, &group) <= rows.len(),
        "a rotation without an intent: {}",
        at()
    );
    assert!(
        scene.world.find_stored(Side::Production, &group).is_none(),
        "made in the other environment: {}",
        at()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_any_order_and_after_any_death_the_directory_agrees_with_the_service() {
    let told = std::env::var("GROUPDESK_SCHEDULES").ok();
    let count = told.map_or(USUAL, |told| told.parse().expect("a number"));
    let all = (0..count as u64).map(play);
    let played = stream::iter(all).buffer_unordered(AT_ONCE);
    assert_eq!(played.count().await, count);
}
