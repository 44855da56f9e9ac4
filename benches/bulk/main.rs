//! How fast many groups are read, created, updated and rotated, with everything durable. Each run is compared with two
//! bare loops: one that sends the same requests, and one that also makes the same number of commits at the same points.
//! The service is the shipped binary on loopback. `cargo bench --bench bulk`; `GROUPDESK_BENCH_GROUPS`,
//! `GROUPDESK_BENCH_ROUNDS` (medians of this many, interleaved), `GROUPDESK_BENCH_RUNS` (names of runs, separated by
//! commas), and `GROUPDESK_BENCH_FOLDER` to put the directory elsewhere (the difference to a file system without fsync
//! is the cost of fsync).

mod bare;
mod ours;
mod world;

use std::time::{Duration, Instant};

use groupdesk::domain::{change::DesiredFields, group::UserGroupId};

use bare::{
    Journal,
    Step::{self, Commit, Create, Get, Rotate, Update},
};
use ours::{Row, row};
use world::{World, id};

/// How many items at the same time.
const CONCURRENCIES: [usize; 3] = [1, 8, 64];

#[derive(Clone, Copy, PartialEq)]
enum Run {
    Refresh,
    Unchanged,
    Creates,
    Updates,
    Rotations,
}

/// The name of a run, and what each of its items sends, with the commits that safety requires. A read that finds
/// nothing changed has no outcome that anybody waits for, and so no commit.
const RUNS: [(&str, Run, &[Step]); 5] = [
    ("refresh", Run::Refresh, &[Get]),
    ("unchanged rows", Run::Unchanged, &[Get]),
    // The intent, the sending, the outcome, the row.
    (
        "creates",
        Run::Creates,
        &[Commit, Commit, Create, Commit, Commit],
    ),
    // The intent, what was read, the sending, the outcome, what was read back, the row.
    (
        "updates",
        Run::Updates,
        &[
            Commit, Get, Commit, Commit, Update, Commit, Get, Commit, Commit,
        ],
    ),
    // What was read, the intent, the sending, the outcome, what was read back.
    (
        "rotations",
        Run::Rotations,
        &[Get, Commit, Commit, Commit, Rotate, Commit, Get, Commit],
    ),
];

fn main() {
    let installed = rustls::crypto::ring::default_provider().install_default();
    installed.expect("the first");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(measure());
}

async fn measure() {
    let groups = number("GROUPDESK_BENCH_GROUPS", 2000);
    let rounds = number("GROUPDESK_BENCH_ROUNDS", 1);
    let chosen = variable("GROUPDESK_BENCH_RUNS");
    let here = tempfile::tempdir().expect("a folder");
    let installation = match variable("GROUPDESK_BENCH_FOLDER") {
        Some(folder) => tempfile::tempdir_in(folder).expect("a folder"),
        None => tempfile::tempdir().expect("a folder"),
    };
    let world = World::new(groups, here.path(), installation.path());
    let journal = Journal::open(&installation.path().join("bare.db"));
    println!(
        "{groups} groups; a second, and µs of processor time for one: of this program, and of the service"
    );
    println!(
        "{:>15} {:>3} {:>18} {:>18} {:>6} {:>18} {:>6}",
        "", "at", "groupdesk", "same requests", "share", "and commits", "share"
    );
    let mut series = 0;
    for (name, run, steps) in RUNS {
        if chosen
            .as_ref()
            .is_some_and(|chosen| !chosen.split(',').any(|one| one == name))
        {
            continue;
        }
        for concurrency in CONCURRENCIES {
            let mut measured: [Vec<Measured>; 3] = Default::default();
            for _ in 0..rounds {
                series += 1;
                let (ids, rows) = prepared(&world, run, series).await;
                let ours = timed(&world, ids.len(), async {
                    match run {
                        Run::Refresh => ours::refresh(&world, &ids, concurrency).await,
                        Run::Unchanged => {
                            ours::send(&world, &rows, (false, true), "unchanged", concurrency)
                                .await;
                        }
                        Run::Creates => {
                            ours::send(&world, &rows, (true, false), "created", concurrency).await;
                        }
                        Run::Updates => {
                            ours::send(&world, &rows, (false, true), "updated", concurrency).await;
                        }
                        Run::Rotations => ours::rotate(&world, &ids, concurrency).await,
                    }
                });
                measured[0].push(ours.await);
                for (at, journal) in [(1, None), (2, Some(&journal))] {
                    series += 1;
                    let ids = match run {
                        Run::Creates => new(series, groups),
                        _ => ids.clone(),
                    };
                    let bare = bare::run(&world, &ids, steps, concurrency, journal);
                    measured[at].push(timed(&world, ids.len(), bare).await);
                }
            }
            let [ours, sent, kept] = measured.map(Measured::median);
            println!(
                "{name:>15} {concurrency:>3} {ours} {sent} {:>5.0}% {kept} {:>5.0}%",
                100.0 * ours.rate / sent.rate,
                100.0 * ours.rate / kept.rate
            );
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str, otherwise: usize) -> usize {
    variable(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

/// The groups of a run, with their current values known, and its rows.
async fn prepared(world: &World, run: Run, series: usize) -> (Vec<UserGroupId>, Vec<Row>) {
    if run == Run::Creates {
        let ids = new(series, world.ids.len());
        let rows = ids.iter().map(|id| (row(id, format!("New {id}")), None));
        let rows = rows.collect();
        return (ids, rows);
    }
    let known = world.read().await;
    let rows = known.into_iter().map(|(group, _)| {
        let now = DesiredFields::of(&group);
        let is = now.name.clone().expect("a name");
        match run {
            Run::Updates => {
                let row = row(&group.id, format!("{is} {series}"));
                let base = now.restricted_to(&row.fields);
                (row, Some(base))
            }
            _ => (row(&group.id, is), None),
        }
    });
    (world.ids.clone(), rows.collect())
}

fn new(series: usize, count: usize) -> Vec<UserGroupId> {
    let ids = (0..count).map(|number| id(&format!("new-{series}-{number}")));
    ids.collect()
}

/// Result of one run: items per second, and processor time per item in microseconds.
#[derive(Clone, Copy)]
struct Measured {
    rate: f64,
    ours: f64,
    service: f64,
}

impl Measured {
    fn median(mut all: Vec<Self>) -> Self {
        all.sort_by(|one, other| one.rate.total_cmp(&other.rate));
        all[all.len() / 2]
    }
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            rate,
            ours,
            service,
        } = self;
        write!(f, "{rate:>6.0} {ours:>5.0} {service:>5.0}")
    }
}

async fn timed(world: &World, items: usize, run: impl Future<Output = ()>) -> Measured {
    let (ours, service) = world.spent();
    let begun = Instant::now();
    run.await;
    let took = begun.elapsed();
    let now = world.spent();
    let for_one = |spent: Duration| spent.as_secs_f64() * 1e6 / items as f64;
    Measured {
        rate: items as f64 / took.as_secs_f64(),
        ours: for_one(now.0.saturating_sub(ours)),
        service: for_one(now.1.saturating_sub(service)),
    }
}
