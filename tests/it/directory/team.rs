//! The same tests with a shared directory on PostgreSQL, and tests that need several consoles.

use groupdesk::directory::Watch;

use super::*;

mod changes;
mod concurrent_writes;
mod failover;
mod failures;
mod feed;
mod forged;
mod hints;
mod lanes;
mod lost_connection;
mod roles;
mod round_trips;
mod same_roles;
mod sessions;
mod stopped;
mod versions;

#[path = "drafts.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod drafts;
#[path = "journal.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod journal;
#[path = "lists.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod lists;
#[path = "memory.rs"]
#[expect(clippy::duplicate_mod, reason = "run on both databases")]
mod memory;

/// Records a group in the usual place.
async fn write(directory: &Directory, group: &str) {
    let record = observation_record(observation(group, OLD, 0));
    recorded(directory, record).await;
}

/// What a look at the usual place reports: the groups, in their order.
async fn reported(watch: &mut Watch, directory: &Directory) -> Vec<String> {
    let changes = watch.read_changes(place(directory, "eu")).await;
    let groups = changes.expect("read").into_iter();
    let groups = groups.flat_map(|changes| changes.groups);
    groups.map(|group| group.id.as_str().to_owned()).collect()
}

async fn watching(directory: &Directory) -> Watch {
    let cursor = directory.cursor(place(directory, "eu")).await;
    directory.watch(cursor.expect("read"))
}

/// Several consoles on one directory, each with its own connections.
fn consoles(installation: &Opened, count: usize) -> Vec<Directory> {
    (0..count).map(|_| installation.open()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_consoles_exactly_one_begins_whichever_token_each_has_seen() {
    let installation = Opened::new();
    let consoles = consoles(&installation, 10);
    let place = place(&consoles[0], "eu");
    for group in 0..200 {
        let begun = consoles.iter().zip(1_u8..).map(|(console, seen)| {
            let intent = intent(&format!("g{group}"), fp(seen));
            console.begin_rotation(place, intent)
        });
        let begun = join_all(begun).await;
        let mut won = 0;
        for answer in begun {
            match answer.expect("written") {
                BeginResult::Started(_) => won += 1,
                BeginResult::TakenBy(_) | BeginResult::HeldBy(_) | BeginResult::RotatedBy(_) => {}
            }
        }
        assert_eq!(won, 1, "g{group}");
    }
    let open = consoles[9].rotations(RotationFilter::default()).await;
    assert_eq!(open.expect("read").len(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_observations_of_a_new_group_are_all_kept() {
    let installation = Opened::new();
    let consoles = consoles(&installation, 10);
    for round in 0..10 {
        let group = format!("g{round}");
        let learning = consoles.iter().enumerate().map(|(at, console)| {
            let mut one = observation(&group, OLD, 0);
            // Half of them know the name, half the mapping.
            if at % 2 == 0 {
                one.sent.name = Some("Acme".into());
            } else {
                one.sent.mapping = Some([("40".into(), "213".into())].into());
            }
            recorded(console, observation_record(one))
        });
        join_all(learning).await;
        let known = groups(&consoles[0]).await.remove(round);
        assert!(known.name.is_some() && known.mapping.is_some(), "{known:?}");
    }
}

#[tokio::test]
async fn any_text_is_returned_as_it_was_written() {
    let installation = Opened::new();
    let directory = installation.open();
    let wide: String = "\u{1F980}".repeat(255);
    let texts = ["a\0b", "\u{FDD0}", "\u{FDD0}0\0\u{FDD0}1", "'; --", &wide];
    for (at, text) in (0..).zip(texts) {
        let mut line = entry("eu", "acme", at);
        line.reason = Some(text.into());
        line.changes = Some(json!({ "name": [text, null] }));
        recorded(&directory, history_record(line.clone())).await;
        assert_eq!(lines(&directory).await[0].value, line);
    }
}

/// Two consoles whose clocks are ten hours apart.
#[tokio::test]
async fn the_age_of_a_rotation_is_measured_by_the_database() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let consoles = consoles(&installation, 2);
    let mut begun = Vec::new();
    for (console, hours) in consoles.iter().zip([0, 10]) {
        let intent = RotationIntent {
            at: second(hours * 3_600),
            ..intent(&format!("g{hours}"), OLD)
        };
        begun.push(start(console, intent).await);
    }
    let process = row(&consoles[0], begun[0]).await.process;
    assert_eq!(process.is_some(), cfg!(target_os = "linux"), "{process:?}");
    let began = async |id| row(&consoles[0], id).await.boot_clock.expect("a clock");
    let (first, second) = (began(begun[0]).await, began(begun[1]).await);
    let between = second.since(&first).expect("one machine");
    assert!(between < Duration::from_mins(5), "{between:?}");
    let server = postgres::server().expect("a server");
    server.execute(
        team.schema(),
        &postgres::an_hour_ago("rotations", "rotations_timed"),
    );
    let between = first.since(&began(begun[0]).await).expect("one machine");
    assert!(between > Duration::from_mins(50), "{between:?}");
}

#[tokio::test]
async fn the_key_of_a_directory_is_the_same_for_everybody() {
    let installation = Opened::new();
    let token = Token::new("a-token-that-is-long-enough-to-be-one".into());
    let of = |directory: &Directory| directory.fingerprinter().of(&token);
    let seen = consoles(&installation, 2);
    assert_eq!(of(&seen[0]), of(&seen[1]));
    assert_ne!(of(&seen[0]), of(&Opened::new().open()));
}
