//! The world of these tests: a dozen groups with a history, and a clock that stands still.

use groupdesk::{config::Overrides, operations::Connector};
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use super::prelude::*;

pub(crate) use crate::support::fields::wanted;
use crate::support::world::Template;

/// The time of every test: 2026-11-20 09:00 UTC.
pub(crate) const NOW: Timestamp = Timestamp::constant(1_795_165_200, 0);

pub(crate) const USUAL: (u16, u16) = (80, 24);

const SIDES: [Side; 2] = [Side::Testing, Side::Production];

type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

const GROUPS: [Row; 7] = [
    (
        "acme-eu",
        "Acme Europe",
        &[
            ("40", "213"),
            ("134", "386"),
            ("135", "387"),
            ("210", "acme_core"),
        ],
        r#"{"tier":"gold","region":"eu","seats":250,"currency":"EUR"}"#,
    ),
    (
        "acme-us",
        "Acme US",
        &[("40", "214"), ("134", "390")],
        r#"{"tier":"gold","region":"us","seats":900,"currency":"USD"}"#,
    ),
    (
        "globex-retail",
        "Globex Retail",
        &[("40", "77"), ("41", "78"), ("42", "79")],
        r#"{"tier":"silver","region":"eu"}"#,
    ),
    ("initech", "Initech", &[("40", "12")], r"{}"),
    (
        "soylent-fr",
        "Soylent France",
        &[("40", "31"), ("55", "32")],
        r#"{"tier":"gold","region":"eu","beta":true}"#,
    ),
    ("umbrella-labs", "Umbrella Labs", &[], r#"{"tier":"free"}"#),
    (
        "wayne-ent",
        "Wayne Enterprises",
        &[
            ("40", "900"),
            ("41", "901"),
            ("42", "902"),
            ("43", "903"),
            ("44", "904"),
        ],
        r#"{"tier":"gold","region":"us","owner":{"team":"night","on_call":true}}"#,
    ),
];

fn ago(hours: i64) -> Timestamp {
    NOW - SignedDuration::from_hours(hours)
}

/// Both environments with the same groups, some of them changed and rotated in the past.
pub(crate) async fn a_world() -> World {
    static MADE: OnceCell<Template> = OnceCell::const_new();
    let made = MADE.get_or_init(async || Template::of(Box::pin(make()).await).await);
    made.await.copy().await
}

async fn make() -> World {
    let world = World::new().await;
    world.alone(true);
    for side in SIDES {
        let installation = || world.installation(side).by(LI);
        let creating = installation().at(ago(24 * 402)).operations();
        for (group, name, mapping, properties) in GROUPS {
            let wanted = wanted(name, mapping, properties);
            creating.create(&id(group), &wanted).await.expect("created");
        }
        for (group, days) in [("globex-retail", 388), ("acme-eu", 41)] {
            let rotating = installation().at(ago(24 * days)).operations();
            let done = rotating
                .rotate(
                    &id(group),
                    Some("yearly".into()),
                    UnknownIdPolicy::KnownOnly,
                )
                .await
                .expect("rotated");
            rotating.confirm(done).await;
        }
        for (group, name, mapping, properties) in &GROUPS[..3] {
            let editing = installation().at(ago(3)).operations();
            let wanted = wanted(name, mapping, properties);
            let base = wanted.clone();
            editing
                .update(&id(group), &base, &wanted, UnknownIdPolicy::KnownOnly)
                .await
                .expect("updated");
        }
    }
    world
}

/// The operations of both profiles, the testing one first.
pub(crate) fn both(world: &World) -> Vec<Operations> {
    SIDES
        .map(|side| world.installation(side).at(NOW).operations())
        .into()
}

/// The console on one of the profiles.
pub(crate) async fn open(world: &World, side: Side, size: (u16, u16)) -> Console {
    let current = SIDES.iter().position(|known| *known == side);
    let current = current.expect("both are there");
    Console::open_at(
        both(world),
        current,
        size,
        Theme::default(),
        Clock::Fixed(NOW),
    )
    .await
}

/// Li, another operator of the testing environment.
pub(crate) fn li(world: &World) -> Operations {
    world
        .installation(Side::Testing)
        .by(LI)
        .at(NOW)
        .operations()
}

/// The console with these operations alone.
pub(crate) async fn open_with(operations: Vec<Operations>) -> Console {
    Console::open_at(operations, 0, USUAL, Theme::default(), Clock::Fixed(NOW)).await
}

/// A proxy, and the operations that work through it in the testing environment.
pub(crate) async fn through_a_proxy(world: &World) -> (FaultyProxy, Operations) {
    let proxy = FaultyProxy::before(world.address()).await;
    let installation = world.installation(Side::Testing).at(NOW);
    let operations = installation.through(proxy.base_url()).operations();
    (proxy, operations)
}

/// Li sends these fields of "acme-eu", using the same directory.
pub(super) async fn li_sends(world: &World, theirs: &DesiredFields) {
    let known = UnknownIdPolicy::KnownOnly;
    let sent = li(world)
        .update(&id("acme-eu"), theirs, theirs, known)
        .await;
    sent.expect("updated");
}

/// Writes what a page offers by `w` to this file.
pub(super) async fn write_to<'a>(console: &'a mut Console, file: &Path) -> &'a mut Console {
    console.keys("w<ctrl-u>").await;
    console.paste(file.to_str().expect("a plain path")).await;
    console.keys("<enter>").await
}

/// Nobody else can read the file.
#[track_caller]
pub(super) fn assert_private(file: &Path) {
    let mode = file.metadata().expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A home without a configuration, and an API key in a file there.
pub(super) fn fresh_home(world: &World) -> (TempDir, PathBuf) {
    let home = crate::support::folder::temporary();
    let key = home.path().join("eu.key");
    let secret = world.new_key(Side::Testing.name(), Some("Testing"));
    fs::write(&key, secret).expect("written");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("set");
    (home, key)
}

/// The console at its first start in this home.
pub(super) async fn first_start(home: &Path, read_only: bool) -> Console {
    let text = |name: &str| home.join(name).display().to_string();
    let env = [
        ("HOME", text("")),
        ("XDG_CONFIG_HOME", text("config")),
        ("XDG_DATA_HOME", text("data")),
    ];
    let overrides = Overrides {
        read_only,
        env: env.into_iter().collect(),
        ..Overrides::default()
    };
    let connector = Connector::new(overrides, None, Clock::Fixed(NOW));
    Console::first_start(connector, Theme::default(), Clock::Fixed(NOW)).await
}
