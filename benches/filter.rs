//! How long the list waits for a search, and the open dialog for near ids, both in the background, over generated
//! groups. `cargo bench --bench filter`; `GROUPDESK_BENCH_GROUPS` (default 100,000).

use std::{
    collections::BTreeMap,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use groupdesk::{
    domain::{
        fields::DesiredFields,
        group::{EnvironmentTag, UserGroupId},
        known::{KnownGroup, Observation, Returned},
        token::Fingerprint,
    },
    search::{
        GroupExtras, Index, Query, Row, SearchRequest, SearchResults, SortBy, run_search,
        suggest::similar,
    },
};
use jiff::Timestamp;

const ROUNDS: usize = 15;

fn main() {
    let groups = std::env::var("GROUPDESK_BENCH_GROUPS");
    let groups = groups.map_or(100_000, |text| text.parse().expect("a number"));
    let mut sorted: Vec<KnownGroup> = (0..groups).map(group).collect();
    sorted.sort_by(|a, b| a.id.cmp(&b.id));
    println!("{groups} groups; median of {ROUNDS} rounds in ms");
    let (index, took) = timed(|| Index::of(&sorted));
    report("make ready", took, None);
    let (all, took) = timed(|| find(&index, "", None));
    report("sort by name, no filter", took, Some(&all));
    for typed in [
        "r",
        "retail",
        "rtlnrd",
        "customer eu",
        "tag:customer age>90d",
        "map:213",
    ] {
        let (found, took) = timed(|| find(&index, typed, Some(&all)));
        report(&format!("filter {typed:?}"), took, Some(&found));
    }
    let mut before = all;
    for end in 1..="retail".len() {
        let typed = &"retail"[..end];
        let (found, took) = timed(|| find(&index, typed, Some(&before)));
        report(&format!("typing, up to {typed:?}"), took, Some(&found));
        before = found;
    }
    for typed in ["acme-retail-0420", "acme-retial-0420", "zzz"] {
        let (ids, took) = timed(|| similar(typed, index.entries().map(Row::id), 6).len());
        report(&format!("near {typed:?}"), took, None);
        black_box(ids);
    }
}

fn find(index: &Index, typed: &str, before: Option<&SearchResults>) -> SearchResults {
    let query = Query::parse(typed, None);
    let asked = SearchRequest {
        best_first: !query.words.is_empty(),
        query,
        sort: SortBy::Name,
        reverse: false,
        open: Arc::new(BTreeMap::new()),
        extras: GroupExtras::default(),
        at: Timestamp::UNIX_EPOCH,
    };
    run_search(index, asked, before, &|| true).expect("it is wanted")
}

fn timed<T>(work: impl Fn() -> T) -> (T, Duration) {
    let mut times = Vec::with_capacity(ROUNDS);
    let mut last = None;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        last = Some(black_box(work()));
        times.push(begin.elapsed());
    }
    times.sort();
    (last.expect("at least one round"), times[ROUNDS / 2])
}

fn report(what: &str, took: Duration, found: Option<&SearchResults>) {
    let found = found.map_or_else(String::new, |found| format!("{} found", found.shown.len()));
    println!(
        "{what:<44} {:>9.2} {found:>16}",
        took.as_secs_f64() * 1_000.0
    );
}

fn group(number: usize) -> KnownGroup {
    let first = ["acme", "globex", "initech", "hooli", "umbrella", "stark"][number % 6];
    let second = ["retail", "energy", "health", "labs", "nord"][number / 6 % 5];
    let id = UserGroupId::parse(format!("{first}-{second}-{number:06}")).expect("an id");
    let mut group = KnownGroup::new(id.clone());
    let properties = format!(
        r#"{{"tier":"{}","region":"eu-{}","seats":{number},"contact":"ops@{first}.example"}}"#,
        ["gold", "silver"][number % 2],
        number % 9
    );
    let mapping = (0..4).map(|row| {
        (
            format!("{}", 40 + row),
            format!("{}", number * 7 % 5_000 + row),
        )
    });
    let properties = serde_json::from_str(&properties).expect("an object");
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(
        &(number as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .to_le_bytes(),
    );
    group.observe(Observation {
        id,
        sent: DesiredFields {
            name: Some(format!("{first} {second} {number}")),
            mapping: Some(mapping.collect()),
            properties: Some(properties),
        },
        returned: Some(Returned {
            name: None,
            team_id: Some(number as i64 % 90),
            properties: None,
            environment_tag: Some(EnvironmentTag::Customer),
            fingerprint: Fingerprint::from_bytes(fingerprint),
        }),
        rotated_by: number.is_multiple_of(3).then(|| "ana".into()),
        at: Timestamp::UNIX_EPOCH,
        by: "ana@bastion2".into(),
    });
    group
}
