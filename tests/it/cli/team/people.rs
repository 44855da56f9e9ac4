//! An owner, an operator and a viewer with roles of their own, none of them a superuser, over TLS with SCRAM; they begin
//! with an empty directory and a service that states facts about itself in a header.

use serde_json::{Value, json};

use super::{Background, Home, connections, machine, service};
use crate::support::bare::args;

const ASK: &str = "Ask a colleague who may write to this directory.";
const USE_OTHER: &str =
    "Set it as url under [directory]; this directory no longer records anything.";
const MOVED: &str = "This directory was moved: set the new one as url under [directory].";
const UPDATE: &str = "Update groupdesk.";

struct Office {
    scene: connections::Scene,
    _serving: Background,
    url: String,
    key: String,
}

impl Office {
    /// The directory exists; Ben is an operator, and Vera a viewer.
    async fn open() -> Option<Self> {
        let scene = connections::scene(false)?;
        let (serving, url, key) = service(&Home::new()).await;
        let office = Self {
            scene,
            _serving: serving,
            url,
            key,
        };
        let ana = office.machine("ana");
        ana.exits(0, "directory init").await;
        for (who, role) in [("ben", "operator"), ("vera", "viewer")] {
            office.scene.add(who);
            ana.exits(0, &format!("directory grant {who} {role}")).await;
        }
        Some(office)
    }

    fn machine(&self, who: &str) -> Home {
        let mut home = machine(&self.url, &self.key, &self.scene.section(who, "localhost"));
        self.scene.equip(&mut home);
        home
    }

    /// Runs SQL as the superuser.
    fn break_with(&self, text: &str) {
        self.scene.server.execute("groupdesk", text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_is_the_first_to_write_to_an_empty_directory() {
    let Some(office) = Office::open().await else {
        return;
    };
    let (ana, ben, vera) = (
        office.machine("ana"),
        office.machine("ben"),
        office.machine("vera"),
    );
    let create = "create t-1 --name T --map 7=1 --yes";
    ben.exits(0, create).await;
    for (command, code) in [
        ("rotate t-1 --yes --reason leaked", 0),
        ("update t-1 --name Two --yes", 0),
        ("profile behaviour live --sole-writer yes", 0),
        ("update t-1 --map 7=2 --yes", 0),
        ("note t-1 a-note", 0),
        ("label t-1 --add vip", 0),
        ("get t-1", 0),
        ("rotations check", 0),
    ] {
        ben.exits(code, &args(command)).await;
    }
    let facts = ben.json(0, "profile behaviour live").await;
    let stated = facts.as_array().expect("facts").iter();
    let stated = stated.filter(|fact| fact["by"] == "the service").count();
    assert!(stated >= 4, "{facts}");
    for home in [&ana, &ben, &vera] {
        let shown = home.json(0, "show t-1").await;
        assert_eq!(shown["mapping"], json!({"7": "2"}), "{shown}");
        let history = home.json(0, "history t-1 --limit 1").await;
        assert_eq!(history[0]["by"].as_str().map(first), Some("ben"));
    }
    vera.exits(8, "create t-2 --yes").await;
    let status = ben.run("directory status").await;
    status.shows("as ben (operator)");
    status.shows("timeline 00000001");
    // The audit has every line of the history.
    let audit = ana.json(0, "audit").await;
    let unmatched = audit.as_array().expect("lines").iter();
    let unmatched: Vec<_> = unmatched.filter(|line| line["what"] == "history").collect();
    assert!(unmatched.is_empty(), "{unmatched:?}");
    a_viewer_is_proposed_nothing_that_writes(&office, &ben, &vera).await;
}

/// A group has been created and rotated.
async fn a_viewer_is_proposed_nothing_that_writes(office: &Office, ben: &Home, vera: &Home) {
    let strict = office.machine("ben");
    strict.add_config("require_synchronous = true\n");
    strict.run("doctor").await.shows("every change is refused");
    office.break_with(
        "SET session_replication_role = replica; UPDATE rotations SET state = 'unknown'; \
         INSERT INTO alarms (place, what, raised_at, raised_by) SELECT number, 'x', 1, 'ben' FROM places; \
         INSERT INTO place_keys (place, fingerprint, state, added_at, added_by) \
         SELECT number, decode(repeat('ab', 32), 'hex'), 'withdrawn', 1, 'ben' FROM places; \
         UPDATE history SET key = (SELECT MAX(number) FROM place_keys) WHERE operation = 'create'",
    );
    let of_key = |advice: &str| format!("These values may come from another environment. {advice}");
    let reads = "Read it again with a key of the environment: groupdesk -P live get --refresh-all";
    let acknowledge = "groupdesk environment acknowledge live --reason WHY";
    let investigate = format!("Investigate, then run: {acknowledge}");
    let check = "To find out by reading, run `groupdesk rotations check` for each profile, which also says how to close a conflict; never rotate again to find out.";
    let look = ["groupdesk environment show live", "groupdesk history t-1"];
    let asked = [ASK.to_owned(), of_key(ASK), ASK.to_owned()];
    let (proposed, next) = proposals(ben).await;
    assert_eq!(proposed, [check.to_owned(), of_key(reads), investigate]);
    assert_eq!(next, [acknowledge, "groupdesk rotations check 1"]);
    let (proposed, next) = proposals(vera).await;
    assert_eq!(proposed, asked);
    assert_eq!(next, look);
    // Nobody could help with these two.
    office.break_with("UPDATE schema_versions SET writes_from = 9999");
    let (proposed, next) = proposals(ben).await;
    let update = [UPDATE.to_owned(), of_key(UPDATE), UPDATE.to_owned()];
    assert_eq!(proposed, update);
    assert_eq!(next, look);
    office.break_with(
        "UPDATE schema_versions SET writes_from = 1; \
         UPDATE installation SET moved_to = 'postgres://elsewhere/x'",
    );
    let moved = [
        USE_OTHER.to_owned(),
        MOVED.to_owned(),
        of_key(MOVED),
        MOVED.to_owned(),
    ];
    for home in [ben, vera] {
        let (proposed, next) = proposals(home).await;
        assert_eq!(proposed, moved);
        assert_eq!(next, look);
    }
}

/// What doctor advises about the directory, and the next steps of `attention`.
async fn proposals(home: &Home) -> (Vec<String>, Vec<String>) {
    let doctor = home.run("doctor --json").await;
    let doctor = doctor.json();
    let findings = doctor["findings"].as_array().expect("findings").iter();
    let of_directory = findings.filter(|one| {
        one["area"] == "directory"
            && ["warning", "problem"]
                .iter()
                .any(|is| one["severity"] == *is)
    });
    let attention = home.json(7, "attention --all").await;
    let concerns = attention.as_array().expect("concerns").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (
        of_directory.map(|one| text(&one["advice"])).collect(),
        concerns.map(|one| text(&one["next"])).collect(),
    )
}

/// The database user.
fn first(by: &str) -> &str {
    by.split('@').next().unwrap_or_default()
}

/// What the service states about itself comes with every answer: it is recorded with the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn facts_that_cannot_be_recorded_do_not_void_an_answer() {
    let Some(office) = Office::open().await else {
        return;
    };
    let ben = office.machine("ben");
    let create = ["create", "t-1", "--name", "T", "--map", "7=1", "--yes"];
    for (at, refused) in [
        "REVOKE INSERT ON facts FROM groupdesk_operator",
        "ALTER TABLE facts ADD CONSTRAINT never CHECK (FALSE) NOT VALID",
    ]
    .into_iter()
    .enumerate()
    {
        office.break_with(refused);
        let id = format!("t-{at}");
        let mut create = create;
        create[1] = &id;
        ben.exits(0, &create).await;
        ben.exits(0, &format!("rotate {id} --yes")).await;
        let shown = ben.json(0, &format!("show {id}")).await;
        assert_eq!(shown["mapping"], json!({"7": "1"}), "{shown}");
        ben.exits(0, "rotations check").await;
        office.break_with(
            "GRANT INSERT ON facts TO groupdesk_operator; ALTER TABLE facts DROP CONSTRAINT IF EXISTS never",
        );
    }
    ben.exits(0, "get t-1").await;
    let facts = ben.json(0, "profile behaviour live").await;
    assert!(facts.to_string().contains("the service"), "{facts}");
}
