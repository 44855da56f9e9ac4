//! Tests what an exchange or a file changes in what is known.

use super::*;
use crate::domain::change::DesiredFields;

fn observation(returned: Option<Returned>) -> Observation {
    Observation {
        id: UserGroupId::parse("acme").expect("a valid ID"),
        sent: DesiredFields::default(),
        returned,
        rotated_by: None,
        at: Timestamp::UNIX_EPOCH,
        by: "ana".into(),
    }
}

fn returned(fingerprint: u8) -> Returned {
    Returned {
        name: None,
        team_id: None,
        properties: None,
        environment_tag: None,
        fingerprint: Fingerprint::from_bytes([fingerprint; 32]),
    }
}

#[test]
fn an_absent_field_erases_nothing() {
    let mut group = KnownGroup::new(UserGroupId::parse("acme").expect("a valid ID"));
    let mut first = observation(Some(Returned {
        name: Some("Acme".into()),
        team_id: Some(7),
        environment_tag: Some(EnvironmentTag::Customer),
        ..returned(1)
    }));
    first.sent.mapping = Some([("40".into(), "213".into())].into_iter().collect());
    group.observe(first);
    let known = group.clone();

    group.observe(observation(Some(returned(1))));
    assert_eq!(group.name, known.name);
    assert_eq!(group.mapping, known.mapping);
    assert_eq!(group.environment_tag, known.environment_tag);
    assert_eq!(
        group.mapping.expect("the mapping is known").source,
        Source::Sent
    );
}

#[test]
fn a_token_changed_by_somebody_else_is_noticed() {
    let mut group = KnownGroup::new(UserGroupId::parse("acme").expect("a valid ID"));
    assert!(
        !group
            .observe(observation(Some(returned(1))))
            .token_changed_elsewhere
    );
    assert_eq!(group.last_rotated, None);
    assert!(
        group
            .observe(observation(Some(returned(2))))
            .token_changed_elsewhere
    );
    let mut ours = observation(Some(returned(3)));
    ours.rotated_by = Some("ana".into());
    assert!(!group.observe(ours).token_changed_elsewhere);
    assert_eq!(
        group.last_rotated.and_then(|last| last.by).as_deref(),
        Some("ana")
    );
}

#[test]
fn a_file_fills_gaps_and_overwrites_only_files() {
    let mut group = KnownGroup::new(UserGroupId::parse("acme").expect("a valid ID"));
    let says = |name: &str| DesiredFields {
        name: Some(name.into()),
        ..DesiredFields::default()
    };
    let at = Timestamp::UNIX_EPOCH;
    assert_eq!(
        group.import(&DesiredFields::default(), at, "ana"),
        ImportResult::Unchanged
    );
    assert_eq!(group.import(&says("Acme"), at, "ana"), ImportResult::Filled);
    assert_eq!(
        group.import(&says("Acme"), at, "ben"),
        ImportResult::Unchanged
    );
    assert_eq!(
        group.import(&says("Acme 2"), at, "ben"),
        ImportResult::Filled
    );
    let name = group.name.clone().expect("a name");
    assert_eq!((name.source, name.by.as_str()), (Source::Imported, "ben"));
    assert_eq!(
        DesiredFields::of(&group).name,
        None,
        "an edit begins with what the service has"
    );

    let mut answer = observation(Some(Returned {
        name: Some("Acme Europe".into()),
        ..returned(1)
    }));
    assert_eq!(
        group.observe(answer.clone()),
        Drift::default(),
        "a file is no witness"
    );
    assert_eq!(group.import(&says("Acme"), at, "ana"), ImportResult::Kept);
    assert_eq!(group.title(), "Acme Europe");
    answer.returned = None;
    answer.sent.name = Some("Acme EU".into());
    group.observe(answer);
    assert_eq!(group.import(&says("Acme"), at, "ana"), ImportResult::Kept);
}

#[test]
fn a_name_changed_by_somebody_else_is_noticed() {
    let mut group = KnownGroup::new(UserGroupId::parse("acme").expect("a valid ID"));
    let named = |name: &str| {
        observation(Some(Returned {
            name: Some(name.into()),
            ..returned(1)
        }))
    };
    group.observe(named("Acme"));
    assert_eq!(
        group.observe(named("Acme Europe")).name_was.as_deref(),
        Some("Acme")
    );
    let mut ours = named("Acme EU");
    ours.sent.name = Some("Acme EU".into());
    assert_eq!(group.observe(ours).name_was, None);
}
