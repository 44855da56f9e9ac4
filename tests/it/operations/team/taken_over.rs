//! A laptop dies in each state of a rotation. Somebody at another one ends what it began as soon as the clock of the
//! database allows it, whatever the laptops' clocks say.

use std::collections::BTreeSet;

use super::*;

/// The events of a rotation that was sent, with an unknown outcome.
const UNCLEAR: [Event; 2] = [Event::Sending, Event::Answered(RotateOutcome::Unclear)];

async fn states(operations: &Operations) -> Vec<(String, State)> {
    let rows = journal(operations).await.into_iter().rev();
    let state = |row: groupdesk::directory::RotationRow| {
        (row.user_group_id.as_str().to_owned(), row.rotation.state)
    };
    rows.map(state).collect()
}

/// What is still open, and how much longer it is left alone.
async fn recover(operations: &Operations) -> Vec<(String, Option<Duration>)> {
    let all = operations.recover(&[], 4, |_| {}).await.expect("readable");
    let open = all.iter().filter_map(|one| match one {
        Recovered::Open(open) => Some((open.row.user_group_id.as_str().to_owned(), open.again_in)),
        Recovered::Settled(_) | Recovered::Alarmed(..) => None,
    });
    open.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn rotations_of_a_dead_laptop_in_each_state_are_ended_by_another() {
    let scene = Scene::new().await;
    let Some(team) = scene.world.team() else {
        return;
    };
    let open = || Directory::open(&team).expect("it opens");
    let ana = scene.installation().on(&open()).operations();
    let li = scene.installation().by(LI).on(&open()).operations();
    let mut begun: Vec<(&str, RotationId, Fingerprint)> = Vec::new();
    for (group, events) in [
        ("intended", &[][..]),
        ("sent", &[Event::Sending]),
        ("sent-applied", &[Event::Sending]),
        ("unknown", &UNCLEAR),
        ("unknown-applied", &UNCLEAR),
        ("rotated", &[]),
    ] {
        let met = scene.meet(group).await;
        let old = met.group.fingerprint.expect("read").value;
        let row = if group == "rotated" {
            // Its answer arrived and was recorded.
            let done = ana
                .rotate(&id(group), None, UnknownIdPolicy::KnownOnly)
                .await;
            done.expect("rotated").rotation.expect("a row")
        } else {
            leave_behind(&ana, group, old, events).await
        };
        if group.ends_with("applied") {
            // Its request arrived, and nobody got the answer.
            let elsewhere = scene.world.other_directory(group);
            let other = scene.world.installation(Side::Testing).on(&elsewhere);
            let (other, group) = (other.operations(), id(group));
            let done = other.rotate(&group, None, UnknownIdPolicy::Exists).await;
            done.expect("rotated");
        }
        begun.push((group, row, old));
    }
    let token = |group: &str| {
        let token = scene.world.stored(Side::Testing, group).token;
        li.directory().fingerprinter().of(&Token::new(token))
    };
    // What it would still record later; it sleeps meanwhile.
    let late = ana.clone();
    let posts = scene.proxy.count("POST");

    // Its process may still be at work; but where it does not know the outcome itself, anybody may find out.
    let left = recover(&li).await;
    let left_alone: BTreeSet<_> = left.iter().map(|(group, _)| group.as_str()).collect();
    assert_eq!(
        left_alone,
        BTreeSet::from(["intended", "sent", "sent-applied", "unknown"])
    );
    assert!(
        left.iter().all(|(_, again_in)| again_in.is_some()),
        "{left:?}"
    );
    let expected = [
        ("intended", State::Intended),
        ("sent", State::Sent),
        ("sent-applied", State::Sent),
        ("unknown", State::Unknown),
        ("unknown-applied", State::Recovered),
        ("rotated", State::Confirmed),
    ];
    let expected = expected.map(|(group, state)| (group.to_owned(), state));
    assert_eq!(states(&li).await, expected);

    // An hour passes at the database, and nowhere else.
    let server = postgres::server().expect("a server");
    for table in ["rotations", "mutations"] {
        let older = postgres::an_hour_ago(table, &format!("{table}_timed"));
        server.execute(team.schema(), &older);
    }
    let left = recover(&li).await;
    assert_eq!(left, [], "each of them is ended");
    let expected = [
        ("intended", State::NotApplied),
        ("sent", State::NotApplied),
        ("sent-applied", State::Recovered),
        ("unknown", State::NotApplied),
        ("unknown-applied", State::Recovered),
        ("rotated", State::Confirmed),
    ];
    let expected = expected.map(|(group, state)| (group.to_owned(), state));
    assert_eq!(states(&li).await, expected);
    for row in journal(&li).await {
        let group = row.user_group_id.as_str();
        let (.., old) = begun
            .iter()
            .find(|(known, ..)| *known == group)
            .expect("begun");
        let is_new = row.rotation.state != State::NotApplied;
        assert_eq!(token(group) != *old, is_new, "{group}: as the service says");
        if is_new {
            assert_eq!(row.rotation.fingerprint, Some(token(group)), "{group}");
        }
    }
    assert_eq!(
        scene.proxy.count("POST"),
        posts,
        "nothing was rotated for it"
    );

    // It wakes up: its answers come too late, and none of them is recorded.
    for (group, row, old) in begun {
        let before = Rotation::intended(old);
        let step = fields::step(row, before, Event::Sending, MODEL_HORIZON, noon());
        let record = fields::step_record(step);
        let directory = late.directory();
        let written = directory.record(place(directory, "testing"), record).await;
        assert_is!(
            written,
            Err(DirectoryError::MovedOn { .. }),
            "{group}: {written:?}"
        );
    }
    assert_eq!(states(&li).await, expected);
}
