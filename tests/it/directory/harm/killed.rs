//! SIGKILL in the middle of writing, at a different moment in each case: also while the file is created, and with two
//! writers.

use super::*;

/// One writer after the other is killed on the same directory, so that a recovery is killed, too.
const CHAIN: usize = 10;
const CHAINS: usize = 20;
/// Cases with two processes: one is killed, or both end by themselves.
const SHARED: usize = 12;
pub(super) const CASES: usize = CHAIN * CHAINS + SHARED;
/// A plain run takes every 10th of the cases.
const STEP: usize = 10;
const AT_ONCE: usize = 4;

fn order(place: &TempFile, name: String) -> Order {
    Order {
        directory: place.file(),
        name,
        writers: 3,
        groups: None,
        lock: None,
    }
}

/// A pseudo-random number below `most` for the case, the same in every run.
fn scattered(case: usize, most: usize) -> usize {
    let mut x = case as u64 + 1;
    for _ in 0..3 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x = x.wrapping_mul(0x2545_F491_4F6C_DD1D);
    }
    (x >> 33) as usize % most
}

/// Starts a writer and kills it after a number of acknowledgements, or some time after its start. Returns what it
/// acknowledged.
fn kill_writer(order: &Order, case: usize) -> Vec<String> {
    let mut scribe = Recorder::start(order);
    let mut said = Vec::new();
    let acknowledged = scattered(case, 60);
    if acknowledged < 4 {
        // While it opens the file.
        thread::park_timeout(Duration::from_millis(scattered(case + 7, 40) as u64));
        return scribe.kill();
    }
    while said.len() < acknowledged {
        said.push(scribe.next().expect("it writes until it is killed"));
    }
    said.extend(scribe.kill());
    said
}

fn block_on(looking: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
        .block_on(looking);
}

fn chain(number: usize, kills: usize) -> usize {
    let place = TempFile::new();
    let mut said = BTreeSet::new();
    for kill in 0..kills {
        let case = number * CHAIN + kill;
        let told = kill_writer(&order(&place, format!("k{case}")), case);
        said.extend(told.into_iter().filter(|word| word != "open"));
        if place.file().exists() && place.file().metadata().is_ok_and(|file| file.len() > 0) {
            assert!(is_whole(&place.file()), "kill {case}");
        }
        block_on(assert_recorded(&place.file(), &said));
    }
    assert!(
        kills < CHAIN || said.len() > 20,
        "it was killed while writing"
    );
    kills
}

/// Runs some jobs at a time. Returns how many cases they were.
fn at_once(jobs: &[Box<dyn Fn() -> usize + Sync + Send>]) -> usize {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    done.fetch_add(job(), Ordering::SeqCst);
                }
            });
        }
    });
    done.into_inner()
}

#[test]
fn every_acknowledged_write_survives_a_kill_at_any_time() {
    let (chains, kills) = if long::all() {
        (CHAINS, CHAIN)
    } else {
        (CHAINS / STEP * 2, CHAIN / 2)
    };
    let jobs = (0..chains).map(|number| Box::new(move || chain(number, kills)) as Box<_>);
    let done = at_once(&jobs.collect::<Vec<_>>());
    println!("{done} writers killed");
    assert_eq!(done, chains * kills);
}

/// Two processes write at the same time; in every second case one is killed.
fn shared(case: usize) -> usize {
    let place = TempFile::new();
    let begin = |name: &str| {
        Recorder::start(&Order {
            groups: Some(8),
            ..order(&place, format!("{name}{case}"))
        })
    };
    let (mut one, mut two) = (begin("one"), begin("two"));
    let mut said: BTreeSet<String> = BTreeSet::new();
    if case.is_multiple_of(2) {
        let before: Vec<_> = std::iter::from_fn(|| two.next())
            .take(scattered(case, 30) + 1)
            .collect();
        said.extend(before);
        said.extend(two.kill());
        said.extend(one.rest());
    } else {
        said.extend(one.rest());
        said.extend(two.rest());
        assert_eq!(said.len(), 1 + 2 * 3 * 8 * 4, "both end by themselves");
    }
    said.remove("open");
    assert!(said.len() >= 3 * 8 * 4, "one ends by itself");
    assert!(is_whole(&place.file()));
    block_on(assert_recorded(&place.file(), &said));
    1
}

#[test]
fn two_writing_processes_lose_nothing() {
    let cases = long::spread(0..SHARED, SHARED / 2 - 1);
    let all = cases.len();
    let jobs = cases
        .into_iter()
        .map(|case| Box::new(move || shared(case)) as Box<_>);
    assert_eq!(at_once(&jobs.collect::<Vec<_>>()), all);
    println!("{all} pairs of writers");
}
