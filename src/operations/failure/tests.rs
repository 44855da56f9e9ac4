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
fn a_conflict_ends_its_first_sentence_once_and_may_be_of_another_environment() {
    let conflict = |wrong_environment| Failure::Conflict {
        id: id(),
        why: "Check base_url and API key of the profile.".into(),
        wrong_environment,
    };
    let text = conflict(true).to_string();
    let words = ["\"acme\" CONFLICT: Check", "of the profile. Investigate"];
    assert!(words.iter().all(|words| text.contains(words)), "{text}");
    assert!(conflict(true).is_wrong_environment());
    for other in [
        conflict(false),
        Failure::usage("no"),
        Failure::HandOffAlarm(Warning::CreatedByGet),
    ] {
        assert!(!other.is_wrong_environment(), "{other}");
    }
}

#[test]
fn that_nothing_was_sent_is_said_once() {
    let fault = |why: &str| Failure::NothingSent(DirectoryError::NotBound(why.into())).to_string();
    assert_eq!(fault("no key"), "nothing was sent: no key");
    for whole in [
        "profile live: its key is unknown; nothing was sent",
        "nothing was sent: no API key",
        "this needs operator; nothing was read or sent. Ask an admin",
    ] {
        assert_eq!(fault(whole), whole);
    }
}

#[test]
fn how_long_ago_somebody_rotated_is_told_in_words() {
    for (seconds, words) in [
        (0, "just now"),
        (1, "1 s ago"),
        (120, "2 min ago"),
        (7200, "2 h ago"),
    ] {
        let just = Failure::JustRotated {
            id: id(),
            by: Some("ana".into()),
            ago: Some(Duration::from_secs(seconds)),
        };
        assert!(
            just.to_string()
                .contains(&format!("ana rotated it {words}.")),
            "{just}"
        );
    }
}
