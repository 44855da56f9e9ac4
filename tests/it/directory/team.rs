//! The same tests with a shared directory on PostgreSQL, and tests that need several consoles.

use super::*;

mod changes;
mod concurrent_writes;
mod crashes;
mod failover;
mod failures;
mod feed;
mod forged;
mod hints;
mod lanes;
mod lost_connection;
mod roles;
mod round_trips;
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

/// Control: without the unique indexes, checking before writing is not enough.
#[tokio::test(flavor = "multi_thread")]
async fn without_the_indexes_several_consoles_begin() {
    let installation = Opened::new();
    let Some(team) = installation.team.clone() else {
        return;
    };
    let consoles = consoles(&installation, 10);
    let place = place(&consoles[0], "eu");
    postgres::server().expect("a server").execute(
        team.schema(),
        "DROP INDEX rotations_one_per_token; DROP INDEX rotations_one_unsettled; DROP INDEX mutations_one_per_group",
    );
    for group in 0..1_000 {
        let begun = consoles.iter().map(|console| {
            let intent = intent(&format!("g{group}"), OLD);
            console.begin_rotation(place, intent)
        });
        let begun = join_all(begun).await.into_iter();
        let won = begun.filter(|answer| matches!(answer, Ok(BeginResult::Started(_))));
        if won.count() > 1 {
            return;
        }
    }
    panic!("the tests above would not notice it");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_observations_of_a_new_group_are_all_kept() {
    let installation = Opened::new();
    let consoles = consoles(&installation, 10);
    let place = place(&consoles[0], "eu");
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
            console.record(place, observation_record(one))
        });
        for written in join_all(learning).await {
            written.expect("written");
        }
        let known = consoles[0].group(place, &id(&group)).await.expect("read");
        let known = known.expect("there");
        assert!(known.name.is_some() && known.mapping.is_some(), "{known:?}");
    }
}

#[tokio::test]
async fn any_text_is_returned_as_it_was_written() {
    let installation = Opened::new();
    let directory = installation.open();
    let wide: String = "\u{1F980}".repeat(255);
    for (at, text) in ["a\0b", "\u{FDD0}", "\u{FDD0}0\0\u{FDD0}1", "'; --", &wide]
        .into_iter()
        .enumerate()
    {
        let at = i64::try_from(at).expect("few");
        let mut line = entry("eu", "acme", at);
        line.reason = Some(text.into());
        line.changes = Some(json!({ "name": [text, null] }));
        let written = directory
            .record(place(&directory, "eu"), history_record(line.clone()))
            .await;
        written.expect("written");
        let newest = directory
            .history(HistoryFilter {
                limit: Some(1),
                ..HistoryFilter::default()
            })
            .await;
        assert_eq!(newest.expect("read")[0].value, line);
    }
}

#[tokio::test]
async fn append_only_rows_cannot_be_changed_by_hand() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let directory = installation.open();
    let place = place(&directory, "eu");
    directory
        .record(place, history_record(entry("eu", "acme", 0)))
        .await
        .expect("written");
    let rotation = start(&directory, intent("acme", OLD)).await;
    let server = postgres::server().expect("a server");
    for text in [
        "UPDATE history SET by = 'nobody'",
        "DELETE FROM history",
        "UPDATE rotation_events SET at = 0",
        "DELETE FROM rotation_events",
        "DELETE FROM mutations",
        "UPDATE rotations SET state = 'abandoned'; UPDATE rotations SET state = 'unknown'",
    ] {
        let text = format!(
            "DO $$ BEGIN {text}; RAISE 'it was done'; EXCEPTION WHEN raise_exception THEN \
             IF SQLERRM = 'it was done' THEN RAISE; END IF; END $$"
        );
        server.execute(team.schema(), &text);
    }
    let open = directory
        .rotation(rotation)
        .await
        .expect("read")
        .expect("there");
    assert_eq!(open.rotation.state, State::Intended);
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
        let group = format!("g{hours}");
        let mut intent = intent(&group, OLD);
        intent.at = second(hours * 3_600);
        begun.push(start(console, intent).await);
    }
    let began = async |id| {
        let row = consoles[0].rotation(id).await.expect("read");
        row.expect("there").boot_clock.expect("a machine's clock")
    };
    let (first, second) = (began(begun[0]).await, began(begun[1]).await);
    let between = second.since(&first).expect("one machine");
    assert!(between < Duration::from_mins(5), "{between:?}");
    let server = postgres::server().expect("a server");
    server.execute(
        team.schema(),
        "ALTER TABLE rotations DISABLE TRIGGER rotations_timed; \
         UPDATE rotations SET boot_clock = split_part(boot_clock, '@', 1)::bigint - 36000000000 || '@' || timeline() \
         WHERE user_group_id = 'g0'",
    );
    let earlier = began(begun[0]).await;
    let between = first.since(&earlier).expect("one machine");
    assert!(between > Duration::from_hours(9), "{between:?}");
}

#[tokio::test]
async fn the_key_of_a_directory_is_the_same_for_everybody() {
    let installation = Opened::new();
    let token = Token::new("a-token-that-is-long-enough-to-be-one".into());
    let seen = consoles(&installation, 2);
    let seen: Vec<_> = seen
        .iter()
        .map(|console| console.fingerprinter().of(&token))
        .collect();
    assert_eq!(seen[0], seen[1]);
    let other = Opened::new().open().fingerprinter().of(&token);
    assert_ne!(seen[0], other);
}
