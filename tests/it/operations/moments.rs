//! Random schedules in which each request arrives, takes effect and is answered at moments of its own, its answer late or
//! lost, sent by processes whose clocks differ by seconds or hours: in the end the directory has what the service has in
//! every field, or a line is open and says so; nothing is reverted, and nobody suspects an outside writer.
//!
//! `GROUPDESK_SCHEDULES` is their number; each is generated from its index alone.

use super::*;
use futures_util::StreamExt;

const USUAL: usize = 100;
/// How many run in parallel; each mostly waits.
const AT_ONCE: usize = 12;
const TIMEOUT: Duration = Duration::from_secs(2);
const KNOWN: UnknownIdPolicy = UnknownIdPolicy::KnownOnly;
/// By how many seconds the clocks are wrong.
const WRONG: [i64; 8] = [0, 0, 5, -5, 60, -90, 7200, -7200];

/// What a process does; each update sets something of its own, so that it can be found again.
#[derive(Debug, Clone, Copy)]
enum Step {
    Name(u64),
    Property(u64),
    Mapping(u64),
    Row(u64),
    /// The whole group as in an editor, after a read.
    Whole(u64),
    /// A row of `apply` for a group that may not exist.
    Apply(u64),
    /// A row of `import`, which is not sent.
    Import(u64),
    /// Takes the last change of the name back.
    Restore,
    Rotate,
    Batch,
    Read,
    Refresh,
    Settle,
    Create(u64),
}

/// A process with a wrong clock, and the proxy that decides when its requests arrive and are answered.
struct Process {
    operations: Operations,
    proxy: FaultyProxy,
}

fn with_facts(installation: Installation) -> Installation {
    installation
        .timeout(TIMEOUT)
        .with(|profile| profile.read_properties = true)
}

impl Process {
    async fn new(world: &World, name: &str, other: bool, dice: &mut Random) -> Self {
        let proxy = FaultyProxy::before(world.address()).await;
        let wrong = SignedDuration::from_secs(dice.one(&WRONG));
        let installation = world.installation(Side::Testing).by(name);
        let installation = installation.through(proxy.base_url());
        let mut installation = with_facts(installation).clock(Clock::Wrong(wrong));
        if other {
            installation = installation.on(&world.other_directory(name));
        }
        for method in ["GET", "PUT", "POST"] {
            for _ in 0..8 {
                proxy.next(method, moments(dice, method));
            }
        }
        Self {
            operations: installation.operations(),
            proxy,
        }
    }
}

/// When one request arrives, and when or whether it is answered.
fn moments(dice: &mut Random, method: &str) -> ProxyFault {
    let gate = |dice: &mut Random| {
        let (gate, after) = (Gate::new(), Duration::from_millis(dice.below(60) as u64));
        let opened = gate.clone();
        // Only for variety: every order is a true one.
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            opened.open();
        });
        gate
    };
    let lost = |dice: &mut Random| {
        let ends = [Then::Drop, Then::Reset, Then::Half];
        ends[dice.below(ends.len())].clone()
    };
    let mut fault = match (dice.below(12), method) {
        // The answer is lost, or cut in half.
        (0 | 1, "PUT" | "POST") | (0, _) => ProxyFault::applied(lost(dice)),
        // The request is lost.
        (2, _) => ProxyFault::swallowed(Then::Drop),
        _ => ProxyFault::passed(),
    };
    if dice.below(3) == 0 {
        fault = fault.held(&gate(dice));
    }
    if dice.below(2) == 0 {
        fault = fault.behind(&gate(dice));
    }
    fault
}

/// The name before the last change of it that is known.
async fn name_before(operations: &Operations, group: &UserGroupId) -> Option<String> {
    let lines = super::history(operations).await.into_iter().rev();
    let mut lines = lines.filter(|line| line.user_group_id == *group);
    lines.find_map(|line| undo::before(&line).ok()?.1.name)
}

/// The group that does not exist at the beginning.
fn new_beside(group: &UserGroupId) -> UserGroupId {
    id(&format!("{}-new", group.as_str()))
}

async fn edit(operations: &Operations, group: &UserGroupId, step: Step) -> Result<bool, Failure> {
    let base = if matches!(step, Step::Whole(_) | Step::Restore) {
        DesiredFields::of(&operations.look_up(group, KNOWN).await?.group)
    } else {
        let shown = operations.show(group).await;
        let shown = shown.map_err(Failure::NothingSent)?;
        shown.as_ref().map(DesiredFields::of).unwrap_or_default()
    };
    let mut wanted = base.clone();
    match step {
        Step::Whole(number) => {
            wanted.name = Some(format!("N{number}"));
            let properties = wanted.properties.get_or_insert_default();
            properties.insert(format!("p{number}"), json!(number));
        }
        Step::Restore => match name_before(operations, group).await {
            Some(name) => wanted.name = Some(name),
            None => return Ok(false),
        },
        Step::Name(number) => wanted.name = Some(format!("N{number}")),
        Step::Property(number) => {
            let properties = wanted.properties.get_or_insert_default();
            properties.insert(format!("p{number}"), json!(number));
        }
        Step::Mapping(number) => {
            let mapping = wanted.mapping.get_or_insert_default();
            mapping.insert(format!("m{number}"), format!("{number}"));
        }
        _ => unreachable!("these are the updates"),
    }
    let edit = Edit {
        base,
        wanted,
        ..Edit::default()
    };
    operations.update_edit(group, &edit, KNOWN).await?;
    Ok(true)
}

/// Does the step; returns whether it is reported as done.
async fn act(operations: Operations, group: UserGroupId, step: Step) -> Result<bool, Failure> {
    match step {
        Step::Name(_) | Step::Property(_) | Step::Mapping(_) | Step::Whole(_) | Step::Restore => {
            edit(&operations, &group, step).await
        }
        Step::Import(number) => {
            let other = new_beside(&group);
            let of = if number % 2 == 0 { group } else { other };
            let row = row(of.as_str(), only_name(&format!("I{number}")));
            let imported = operations.import(vec![row], false).await;
            imported.map(|_| true).map_err(Failure::NothingSent)
        }
        Step::Row(number) | Step::Apply(number) => {
            let creates = matches!(step, Step::Apply(_));
            let group = if creates { new_beside(&group) } else { group };
            let row = row(group.as_str(), only_name(&format!("N{number}")));
            let sending = Sending {
                create: creates,
                update: true,
                only_differences: true,
            };
            let permit = operations.sending_permitted(sending, 1)?;
            let shown = operations.show(&group).await;
            let base = shown.map_err(Failure::NothingSent)?;
            let base = base.as_ref().map(DesiredFields::of);
            match send_row(&operations, &permit, &row, base.as_ref()).await {
                RowEnd::Failed(failure) => Err(failure),
                end => Ok(matches!(end.outcome(), "created" | "updated")),
            }
        }
        Step::Rotate => {
            let rotated = operations.rotate(&group, None, KNOWN).await?;
            operations.confirm(rotated).await;
            Ok(true)
        }
        Step::Batch => {
            let plan = operations.plan_batch(&[group], true).await;
            let plan = plan.map_err(Failure::NothingSent)?;
            let batch = operations.begin(&plan).await?;
            let ran = operations.run_through(batch, RunLimits::default());
            ran.await.map(|_| true)
        }
        Step::Read => operations.look_up(&group, KNOWN).await.map(|_| true),
        Step::Refresh => {
            let plan = operations.plan_refresh(None, false, None).await;
            let plan = plan.map_err(Failure::NothingSent)?;
            let mut run = operations.run_refresh(None, plan, RunLimits::default(), false, None)?;
            while run.progress.recv().await.is_some() {}
            Ok(true)
        }
        Step::Settle => {
            operations.recover(&[], 1, |_| {}).await?;
            let settled = operations.settle_changes().await;
            settled.map(|_| true).map_err(Failure::NothingSent)
        }
        Step::Create(number) => {
            let (new, wanted) = (new_beside(&group), only_name(&format!("C{number}")));
            operations.create(&new, &wanted).await.map(|_| true)
        }
    }
}

fn sorted(value: &Value) -> BTreeMap<String, Value> {
    let object = value.as_object().expect("an object");
    object.clone().into_iter().collect()
}

async fn play(number: u64) {
    let world = World::new().await;
    let clock = TestClock::new(world.folder());
    let mut dice = Random::new(number + 1);
    let (group, properties) = (id(&format!("m{number}")), json!({"kept": true}));
    let installation = with_facts(world.installation(Side::Testing));
    let installation = installation.timeout(Duration::from_secs(30));
    let ana = installation.clone().operations();
    let begin = crate::support::fields::wanted("Begin", &[("7", "40")], &properties.to_string());
    ana.create(&group, &begin).await.expect("created");
    // In one of five somebody else works with a directory of their own.
    let is_alone = dice.below(5) != 0;
    if is_alone {
        let sole = ana.state_facts(vec![Fact::SoleWriter(true)]).await;
        sole.expect("recorded");
    }
    let mut processes = Vec::new();
    for at in 0..2 + dice.below(2) {
        let name = [LI, "fay@desk9", ANA][at];
        let other = !is_alone && at == 0;
        let process = Process::new(&world, name, other, &mut dice).await;
        if other {
            let read = process.operations.look_up(&group, UnknownIdPolicy::Exists);
            // If it is lost, this process does nothing.
            drop(read.await);
        }
        processes.push(process);
    }
    let mut tasks = Vec::new();
    let mut at = 0;
    for process in &processes {
        let mut steps = Vec::new();
        for _ in 0..=dice.below(3) {
            at += 1;
            steps.push(match dice.below(18) {
                0 => Step::Name(at),
                1..4 => Step::Property(at),
                4..6 => Step::Mapping(at),
                6 => Step::Row(at),
                7 | 8 => Step::Rotate,
                9 => Step::Batch,
                10 => Step::Read,
                11 => Step::Refresh,
                12 => Step::Settle,
                13 => Step::Whole(at),
                14 => Step::Apply(at),
                15 => Step::Import(at),
                16 => Step::Restore,
                _ => Step::Create(at),
            });
        }
        let (operations, group) = (process.operations.clone(), group.clone());
        tasks.push(tokio::spawn(async move {
            let mut ends = Vec::new();
            for step in steps {
                let end = Box::pin(act(operations.clone(), group.clone(), step)).await;
                ends.push((step, end));
            }
            ends
        }));
    }
    let ended = join_all(tasks).await.into_iter();
    let ended: Vec<_> = ended.flat_map(|ends| ends.expect("no panic")).collect();
    // Somebody with a right clock finds what is left, when all windows are over.
    let later = installation.clock(clock.clock()).operations();
    for _ in 0..2 {
        clock.forward(Duration::from_hours(3));
        later.recover(&[], 1, |_| {}).await.expect("readable");
        later.settle_changes().await.expect("readable");
    }
    let last = later.look_up(&group, KNOWN).await.expect("found");
    let at = || format!("schedule {number}: {ended:?}");
    assert!(
        !last.warnings.iter().any(Warning::is_alarm),
        "{last:?}: {}",
        at()
    );
    let stored = world.stored(Side::Testing, group.as_str());
    let known = later.show(&group).await.expect("readable").expect("known");
    let open = later.open_changes().await.expect("readable");
    let is_open = open.iter().any(|change| change.user_group_id == group);
    let name = known.name.map(|known| known.value);
    assert_eq!(name.as_ref(), Some(&stored.name), "{}", at());
    let held = known.properties.map(|known| json!(known.value));
    assert_eq!(
        held.as_ref().map(sorted),
        Some(sorted(&stored.properties)),
        "{}",
        at()
    );
    let fingerprinter = world.directory().fingerprinter();
    let token = known.fingerprint.map(|known| known.value);
    assert_eq!(
        token,
        Some(fingerprinter.of(&Token::new(stored.token.clone()))),
        "{}",
        at()
    );
    if is_alone && !is_open {
        let mapping = known.mapping.map(|known| json!(known.value));
        assert_eq!(
            mapping.as_ref().map(sorted),
            Some(sorted(&stored.mapping)),
            "{}",
            at()
        );
    }
    for (step, end) in &ended {
        let arrived = match step {
            Step::Property(number) | Step::Whole(number) => {
                stored.properties.get(format!("p{number}")).is_some()
            }
            Step::Mapping(number) => stored.mapping.get(format!("m{number}")).is_some(),
            _ => continue,
        };
        match end {
            Ok(true) if is_alone => assert!(arrived, "{step:?} was reverted: {}", at()),
            Ok(_) | Err(Failure::Unknown { .. } | Failure::NotWritten(_)) => {}
            Err(_) => assert!(
                !arrived || is_open,
                "{step:?} was called not done: {}",
                at()
            ),
        }
    }
    assert_eq!(stored.properties["kept"], true, "{}", at());
    if is_alone {
        let facts = later.facts().await.expect("readable");
        assert!(
            facts.sole_writer.value,
            "withdrawn without an outsider: {}",
            at()
        );
        for line in super::history(&later).await {
            let note = line.note.unwrap_or_default();
            assert!(!note.contains("ALARM"), "{note}: {}", at());
        }
        let rows = later.rotations().await.expect("readable");
        let rows = rows.iter().filter(|row| row.user_group_id == group).count();
        let rotated = world.rotations(Side::Testing, group.as_str());
        assert!(rotated <= rows, "a rotation without an intent: {}", at());
    }
    if is_alone {
        let new = new_beside(&group);
        let stored = world.find_stored(Side::Testing, new.as_str());
        let is_open = open.iter().any(|change| change.user_group_id == new);
        let known = later.show(&new).await.expect("readable");
        let name = known.and_then(|known| known.name).map(|known| known.value);
        let made = ended.iter().any(|(step, end)| {
            matches!(step, Step::Create(_) | Step::Apply(_)) && matches!(end, Ok(true))
        });
        assert!(!made || stored.is_some(), "not created: {}", at());
        if let Some(stored) = stored {
            let same = name.as_ref() == Some(&stored.name);
            assert!(same || is_open, "{name:?} for {:?}: {}", stored.name, at());
        }
    }
    for process in &processes {
        let sent: Vec<_> = process.proxy.bodies("POST");
        let mut tokens: Vec<_> = sent
            .iter()
            .map(|body| body["current_token"].to_string())
            .collect();
        let count = tokens.len();
        tokens.sort();
        tokens.dedup();
        assert_eq!(tokens.len(), count, "a token was sent twice: {}", at());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whenever_requests_arrive_and_whatever_clocks_say_the_directory_agrees_with_the_service() {
    let told = std::env::var("GROUPDESK_SCHEDULES").ok();
    let count = told.map_or(USUAL, |told| told.parse().expect("a number"));
    // A server takes longer.
    let count = if module_path!().contains("team") {
        count / 8
    } else {
        count
    };
    let all = (0..count as u64).map(play);
    let played = stream::iter(all).buffer_unordered(AT_ONCE);
    assert_eq!(played.count().await, count);
}
