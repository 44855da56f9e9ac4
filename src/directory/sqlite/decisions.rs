//! Tests of what requests decide, given rows without a database.

use std::time::Duration;

use jiff::Timestamp;

use super::{Fault, journal, mutations, record::WriteRecord};
use crate::{
    database::{Request, Results, Rows, values},
    directory::{
        BeginResult, Claimed, DirectoryError, MutationId, MutationIntent, MutationStep, PlaceId,
        Record, RotationId, RotationIntent, RotationStep,
    },
    domain::{
        group::UserGroupId,
        history::Operation,
        mutation,
        rotation::{Event, Rotation, State},
        token::Fingerprint,
    },
};

const PLACE: PlaceId = PlaceId(1);
const OLD: Fingerprint = Fingerprint::from_bytes([1; 32]);

fn id() -> UserGroupId {
    UserGroupId::parse("acme").expect("a valid id")
}

/// In the order of the journal's column list.
fn rotation(number: i64, state: State, place: i64) -> Rows {
    let word = state.as_str();
    let start = values![
        number,
        "eu",
        "acme",
        word,
        OLD.as_bytes(),
        None::<i64>,
        false,
        false
    ];
    let middle = values!["ana", None::<i64>, 5_i64, None::<i64>, None::<i64>, "none"];
    let end = values![
        None::<i64>,
        None::<i64>,
        None::<i64>,
        place,
        None::<i64>,
        true
    ];
    Rows::of(vec![[start, middle, end].concat()])
}

fn holder() -> Rows {
    let start = values![
        9_i64,
        "acme",
        "update",
        "sent",
        None::<i64>,
        "li",
        "eu",
        5_i64
    ];
    let end = values![
        None::<i64>,
        None::<i64>,
        None::<i64>,
        None::<i64>,
        None::<i64>,
        None::<i64>
    ];
    Rows::of(vec![[start, end].concat()])
}

fn number(number: i64) -> Rows {
    Rows::of(vec![values![number]])
}

fn none() -> Rows {
    Rows::of(Vec::new())
}

fn begin() -> journal::BeginRotation {
    let intent = RotationIntent {
        user_group_id: id(),
        previous: OLD,
        by: "ana".into(),
        reason: None,
        at: Timestamp::UNIX_EPOCH,
        profile: "eu".into(),
        hands_off: false,
        key: None,
        item: None,
        noted: None,
        spares: Duration::ZERO,
    };
    journal::BeginRotation {
        place: PLACE,
        intent,
        until: 7,
    }
}

#[test]
fn a_rotation_is_written_down_only_where_its_claim_succeeded() {
    let begin = begin();
    let unsettled = || rotation(3, State::Unknown, 1);
    let decide = |found: Vec<Rows>| begin.decide(&mut Results::of(found)).expect("decided");

    let (writes, answer) = decide(vec![number(4), none(), unsettled(), holder(), unsettled()]);
    assert!(
        matches!(answer, BeginResult::Started(RotationId(4))),
        "{answer:?}"
    );
    assert_eq!(
        writes.len(),
        3,
        "the event, the claim of the group, the fingerprint"
    );

    let (writes, answer) = decide(vec![none(), none(), unsettled(), holder(), none()]);
    assert!(
        matches!(&answer, BeginResult::TakenBy(row) if row.id.0 == 3),
        "{answer:?}"
    );
    assert_eq!(writes.len(), 0);
    let (writes, answer) = decide(vec![none(), none(), none(), holder(), none()]);
    assert!(
        matches!(&answer, BeginResult::HeldBy(by) if by.id.0 == 9),
        "{answer:?}"
    );
    assert_eq!(writes.len(), 0);
    let (writes, answer) = decide(vec![
        none(),
        none(),
        none(),
        none(),
        rotation(2, State::Confirmed, 1),
    ]);
    assert!(
        matches!(&answer, BeginResult::TakenBy(row) if row.id.0 == 2),
        "{answer:?}"
    );
    assert_eq!(writes.len(), 0);
    let later = |number: i64| {
        let row = values!["token", number, 3_i64, None::<i64>, "li"];
        Rows::of(vec![row])
    };
    let (writes, answer) = decide(vec![none(), later(8), none(), none(), none()]);
    assert!(
        matches!(&answer, BeginResult::RotatedBy(token) if token.by.as_deref() == Some("li")),
        "{answer:?}"
    );
    assert_eq!(writes.len(), 0);
    // The claim was refused but no holder is found: this is an error, not an invented answer.
    let found = vec![none(), later(7), none(), none(), none()];
    let nobody = begin.decide(&mut Results::of(found));
    assert!(matches!(nobody, Err(Fault::Row("rotations"))), "{nobody:?}");
}

#[test]
fn a_claim_that_was_refused_says_who_holds_the_group() {
    let begin = mutations::BeginMutation {
        place: PLACE,
        intent: MutationIntent {
            user_group_id: id(),
            operation: Operation::Update,
            by: "ana".into(),
            profile: "eu".into(),
            key: None,
            at: Timestamp::UNIX_EPOCH,
            changes: None,
            repeats: None,
        },
    };
    let (_, answer) = begin
        .decide(&mut Results::of(vec![number(4), holder()]))
        .expect("decided");
    assert!(
        matches!(answer, Claimed::Begun(MutationId(4))),
        "{answer:?}"
    );
    let (_, answer) = begin
        .decide(&mut Results::of(vec![none(), holder()]))
        .expect("decided");
    assert!(
        matches!(&answer, Claimed::HeldBy(by) if by.by == "li"),
        "{answer:?}"
    );
}

#[test]
fn a_step_from_another_state_or_place_is_refused_whatever_else_was_found() {
    let before = Rotation::intended(OLD);
    let step = RotationStep {
        id: RotationId(3),
        from: State::Intended,
        event: Event::Sending,
        after: before
            .step(Event::Sending, std::time::Duration::ZERO)
            .expect("in order"),
        at: Timestamp::UNIX_EPOCH,
        note: None,
    };
    let record = Record {
        rotation: Some(step),
        ..Record::default()
    };
    let request = WriteRecord {
        place: PLACE,
        record: &record,
        id: None,
        observation: None.into(),
        known: None.into(),
        is_known: false,
    };
    let decide = |found| request.decide(&mut Results::of(vec![found]));
    let (writes, _) = decide(rotation(3, State::Intended, 1)).expect("decided");
    assert_eq!(writes.len(), 3, "the rotation, its claim, the event");
    let moved = decide(rotation(3, State::Sent, 1)).map(drop);
    assert!(
        matches!(moved, Err(Fault::Refused(DirectoryError::MovedOn { .. }))),
        "{moved:?}"
    );
    let elsewhere = decide(rotation(3, State::Intended, 2)).map(drop);
    assert!(
        matches!(
            elsewhere,
            Err(Fault::Refused(DirectoryError::NoRotation { .. }))
        ),
        "{elsewhere:?}"
    );
}

#[test]
fn a_mutation_steps_only_where_its_row_was_changed() {
    use mutation::State::{Ended, Intended, Sent};
    let step = |from, to| mutations::StepMutation {
        place: PLACE,
        step: MutationStep {
            id: MutationId(4),
            from,
            to,
            at: Timestamp::UNIX_EPOCH,
            ending: None,
            note: None,
            changes: None,
            item: None,
            sent: None,
        },
    };
    let decide = |from, to, changed| {
        let found = Rows::changed(changed);
        step(from, to)
            .decide(&mut Results::of(vec![found]))
            .map(|(writes, ())| writes.len())
    };
    assert!(matches!(decide(Sent, Ended, 1), Ok(0)));
    for (from, to, changed) in [(Sent, Ended, 0), (Ended, Intended, 1)] {
        let refused = decide(from, to, changed);
        assert!(
            matches!(
                refused,
                Err(Fault::Refused(DirectoryError::ClaimMoved { .. }))
            ),
            "{refused:?}"
        );
    }
}
