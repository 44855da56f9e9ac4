//! Tests of the advice that failures give.

use super::*;

fn id() -> UserGroupId {
    UserGroupId::parse("acme").expect("an ID")
}

#[test]
fn a_rotation_that_is_there_already_says_what_to_do_about_it() {
    for (state, words) in [
        (State::Sent, "Wait for it"),
        (State::Unknown, "never rotate to find out"),
        (State::Rotated, "its token is a newer one"),
        (State::Conflict, ": investigate"),
        (State::Abandoned, "Try again"),
    ] {
        let taken = Failure::RotationTaken {
            ago: None,
            id: id(),
            state,
            by: "ana".into(),
        };
        assert!(taken.to_string().contains(words), "{taken}");
    }
}

#[test]
fn a_conflict_ends_its_first_sentence_once() {
    let conflict = Failure::Conflict {
        id: id(),
        why: "Check base_url and API key of the profile.".into(),
        wrong_environment: true,
    };
    let text = conflict.to_string();
    assert!(
        text.starts_with("\"acme\" CONFLICT: Check")
            && text.contains("of the profile. Investigate"),
        "{text}"
    );
}

#[test]
fn only_another_environment_is_one() {
    let conflict = |wrong_environment| Failure::Conflict {
        id: id(),
        why: "so".into(),
        wrong_environment,
    };
    assert!(conflict(true).is_wrong_environment());
    assert!(!conflict(false).is_wrong_environment());
    assert!(!Failure::NoReason.is_wrong_environment());
    assert!(!Failure::HandOffAlarm(Warning::CreatedByGet).is_wrong_environment());
}
