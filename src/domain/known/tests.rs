//! Tests what an exchange or a file changes in what is known.

use super::*;
use crate::domain::{
    change::DesiredFields,
    testing::{fingerprint, id, mapping, only_name},
};

fn observation(returned: Option<Returned>) -> Observation {
    Observation {
        id: id("acme"),
        sent: DesiredFields::default(),
        returned,
        rotated_by: None,
        at: Timestamp::UNIX_EPOCH,
        by: "ana".into(),
    }
}

fn returned(token: u8) -> Returned {
    Returned {
        name: None,
        team_id: None,
        properties: None,
        environment_tag: None,
        fingerprint: fingerprint(token),
    }
}

fn named(name: &str) -> Observation {
    observation(Some(Returned {
        name: Some(name.into()),
        ..returned(1)
    }))
}

#[test]
fn an_absent_field_erases_nothing() {
    let mut group = KnownGroup::new(id("acme"));
    let mut first = observation(Some(Returned {
        name: Some("Acme".into()),
        team_id: Some(7),
        environment_tag: Some(EnvironmentTag::Customer),
        ..returned(1)
    }));
    first.sent.mapping = Some(mapping(&[("40", "213")]));
    group.observe(first);
    let known = group.clone();
    group.observe(observation(Some(returned(1))));
    assert_eq!(group, known);
    assert_eq!(group.mapping.expect("known").source, Source::Sent);
}

#[test]
fn a_token_changed_by_somebody_else_is_noticed() {
    let mut group = KnownGroup::new(id("acme"));
    for (token, by, is_noticed) in [(1, None, false), (2, None, true), (3, Some("ana"), false)] {
        let mut seen = observation(Some(returned(token)));
        seen.rotated_by = by.map(Into::into);
        assert_eq!(group.observe(seen).token_changed_elsewhere, is_noticed);
        let last = group
            .last_rotated
            .as_ref()
            .and_then(|last| last.by.as_deref());
        assert_eq!(last, by);
        assert_eq!(group.last_rotated.is_some(), token > 1);
    }
}

#[test]
fn a_file_fills_gaps_and_overwrites_only_files() {
    let mut group = KnownGroup::new(id("acme"));
    let import = |group: &mut KnownGroup, name: &str, by: &str| {
        let says = if name.is_empty() {
            DesiredFields::default()
        } else {
            only_name(name)
        };
        group.import(&says, Timestamp::UNIX_EPOCH, by)
    };
    for (name, by, result) in [
        ("", "ana", ImportResult::Unchanged),
        ("Acme", "ana", ImportResult::Filled),
        ("Acme", "ben", ImportResult::Unchanged),
        ("Acme 2", "ben", ImportResult::Filled),
    ] {
        assert_eq!(import(&mut group, name, by), result, "{name} {by}");
    }
    let name = group.name.clone().expect("a name");
    assert_eq!((name.source, name.by.as_str()), (Source::Imported, "ben"));
    // An edit begins with what the service has, and a file is no witness.
    assert_eq!(DesiredFields::of(&group).name, None);
    let mut answer = named("Acme Europe");
    assert_eq!(group.observe(answer.clone()), Drift::default());
    assert_eq!(import(&mut group, "Acme", "ana"), ImportResult::Kept);
    assert_eq!(group.title(), "Acme Europe");
    answer.returned = None;
    answer.sent.name = Some("Acme EU".into());
    group.observe(answer);
    assert_eq!(import(&mut group, "Acme", "ana"), ImportResult::Kept);
}

#[test]
fn a_name_changed_by_somebody_else_is_noticed() {
    let mut group = KnownGroup::new(id("acme"));
    group.observe(named("Acme"));
    let drift = group.observe(named("Acme Europe"));
    assert_eq!(drift.name_was.as_deref(), Some("Acme"));
    let mut ours = named("Acme EU");
    ours.sent.name = Some("Acme EU".into());
    assert_eq!(group.observe(ours).name_was, None);
}
