//! The table "a field of the update | may be sent", row by row.

use serde_json::json;

use super::*;
use crate::domain::{
    facts::{Basis, GetBehaviour, Stated},
    group::UserGroupId,
    known::{Observation, Returned},
    token::Fingerprint,
};

fn wanted(name: &str, mapping: &[(&str, &str)], properties: &serde_json::Value) -> DesiredFields {
    let rows = mapping.iter();
    DesiredFields {
        name: Some(name.into()),
        mapping: Some(
            rows.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
        ),
        properties: Some(properties.as_object().expect("an object").clone()),
    }
}

fn base() -> DesiredFields {
    wanted("Acme", &[("7", "40"), ("8", "1")], &json!({"tier": "gold"}))
}

/// Known as `base`, sent by this directory.
fn group(holds: &DesiredFields) -> KnownGroup {
    let id = UserGroupId::parse("acme").expect("an ID");
    let mut group = KnownGroup::new(id.clone());
    group.observe(Observation {
        id,
        sent: DesiredFields {
            name: holds.name.clone(),
            mapping: holds.mapping.clone(),
            properties: holds.properties.clone(),
        },
        returned: Some(Returned {
            name: None,
            team_id: None,
            properties: None,
            environment_tag: None,
            fingerprint: Fingerprint::from_bytes([1; 32]),
        }),
        rotated_by: None,
        at: Timestamp::UNIX_EPOCH,
        by: "ana".into(),
    });
    group
}

fn told<T>(value: T) -> Stated<T> {
    Stated {
        value,
        basis: Basis::Told,
        at: None,
        by: None,
    }
}

fn facts(absent: OmittedField) -> Facts {
    Facts {
        absent_name: told(absent),
        absent_properties: told(absent),
        absent_mapping: told(absent),
        ..Facts::default()
    }
}

fn edit(change: impl Fn(&mut DesiredFields)) -> Edit {
    let mut wanted = base();
    change(&mut wanted);
    Edit {
        base: base(),
        wanted,
        ..Edit::default()
    }
}

fn map(wanted: &mut DesiredFields) {
    let rows = wanted.mapping.get_or_insert_default();
    rows.insert("7".into(), "213".into());
}

fn plan(edit: &Edit, now: &DesiredFields, read: &[Field], facts: &Facts) -> Plan {
    let group = group(now);
    Plan::of(
        edit,
        &Baseline {
            group: &group,
            read,
            uncertain: &[],
            facts,
        },
    )
}

#[test]
fn what_is_changed_whole_is_sent_and_said_to_be_replaced() {
    let edit = Edit {
        whole: vec![Field::Mapping],
        ..edit(map)
    };
    let plan = plan(&edit, &base(), &[], &facts(OmittedField::Keep));
    assert_eq!(plan.objections, []);
    assert_eq!(plan.replaced, [Field::Mapping]);
    assert_eq!(plan.send.mapping, edit.wanted.mapping);
    assert_eq!((plan.send.name, plan.send.properties), (None, None));
}

#[test]
fn what_is_changed_in_part_is_laid_over_what_was_read() {
    let edit = edit(|wanted| {
        let rows = wanted.properties.get_or_insert_default();
        rows.insert("seats".into(), json!(25));
    });
    let mut now = base();
    let theirs = now.properties.get_or_insert_default();
    theirs.insert("set elsewhere".into(), json!(true));
    let plan = plan(
        &edit,
        &now,
        &[Field::Properties],
        &facts(OmittedField::Keep),
    );
    assert_eq!(
        (&plan.objections[..], &plan.replaced[..]),
        (&[][..], &[][..])
    );
    let all = json!({"tier": "gold", "set elsewhere": true, "seats": 25});
    assert_eq!(json!(plan.send.properties), all);
    assert_eq!(
        plan.concurrent_changes,
        [],
        "nobody touched what the person touches"
    );
}

#[test]
fn what_cannot_be_read_is_changed_in_part_only_by_the_sole_writer() {
    let keep = facts(OmittedField::Keep);
    let refused = plan(&edit(map), &base(), &[], &keep);
    let objection = UnsafeUpdate::PartialChange {
        field: Field::Mapping,
        at: Some(Timestamp::UNIX_EPOCH),
        uncertain: false,
    };
    assert_eq!(refused.objections, [objection]);

    let sole = Facts {
        sole_writer: told(true),
        ..keep.clone()
    };
    let mut now = base();
    let ours = now.mapping.get_or_insert_default();
    ours.insert("9".into(), "our other process".into());
    let sent = plan(&edit(map), &now, &[], &sole);
    assert_eq!(sent.objections, []);
    let all = json!({"7": "213", "8": "1", "9": "our other process"});
    assert_eq!(json!(sent.send.mapping), all);

    let said = Edit {
        replace: vec![Field::Mapping],
        ..edit(map)
    };
    let replaced = plan(&said, &base(), &[], &keep);
    assert_eq!(replaced.objections, []);
    assert_eq!(replaced.replaced, [Field::Mapping]);
    assert_eq!(replaced.send.mapping, said.wanted.mapping);
}

#[test]
fn nobody_changes_in_part_what_only_a_file_has_said() {
    let sole = Facts {
        sole_writer: told(true),
        ..facts(OmittedField::Keep)
    };
    let mut group = group(&DesiredFields::default());
    group.import(&base(), Timestamp::UNIX_EPOCH, "ana");
    let baseline = Baseline {
        group: &group,
        read: &[],
        uncertain: &[],
        facts: &sole,
    };
    let objection = UnsafeUpdate::PartialChange {
        field: Field::Mapping,
        at: None,
        uncertain: false,
    };
    assert_eq!(Plan::of(&edit(map), &baseline).objections, [objection]);
}

#[test]
fn the_sole_writer_does_not_know_what_an_open_change_may_have_changed() {
    let sole = Facts {
        sole_writer: told(true),
        ..facts(OmittedField::Unknown)
    };
    let group = group(&base());
    let uncertain = |uncertain| Baseline {
        group: &group,
        read: &[],
        uncertain,
        facts: &sole,
    };
    let touched = Plan::of(&edit(map), &uncertain(&[Field::Mapping]));
    assert!(matches!(
        touched.objections[..],
        [UnsafeUpdate::PartialChange {
            uncertain: true,
            ..
        }]
    ));
    let name = edit(|wanted| wanted.name = Some("Acme 2".into()));
    let untouched = Plan::of(&name, &uncertain(&[Field::Mapping]));
    let field = Field::Mapping;
    assert_eq!(untouched.objections, [UnsafeUpdate::Uncertain { field }]);
    assert_eq!(untouched.send.mapping, None);
}

#[test]
fn what_is_not_changed_is_left_out_where_it_is_kept() {
    let edit = edit(|wanted| wanted.name = Some("Acme 2".into()));
    let plan = plan(&edit, &base(), &[], &facts(OmittedField::Keep));
    let only_name = DesiredFields {
        name: Some("Acme 2".into()),
        ..DesiredFields::default()
    };
    assert_eq!((plan.send, plan.objections), (only_name, vec![]));
}

#[test]
fn what_is_not_changed_travels_along_once_somebody_said_so() {
    let edit = edit(|wanted| wanted.name = Some("Acme 2".into()));
    let refused = plan(&edit, &base(), &[], &Facts::default());
    let at = Some(Timestamp::UNIX_EPOCH);
    let not_told = |field| UnsafeUpdate::NotStated { field, at };
    let both = [not_told(Field::Mapping), not_told(Field::Properties)];
    assert_eq!(refused.objections, both);
    // What was read under the claim needs nobody's consent.
    let read = plan(&edit, &base(), &[Field::Properties], &Facts::default());
    assert_eq!(read.objections, [not_told(Field::Mapping)]);
    for absent in [OmittedField::Unknown, OmittedField::Clear] {
        let told = plan(&edit, &base(), &[], &facts(absent));
        assert_eq!(told.objections, []);
        assert_eq!(told.send, edit.wanted);
        let fields: Vec<_> = told.unchanged.iter().map(|one| one.field).collect();
        assert_eq!(fields, [Field::Mapping, Field::Properties]);
    }
    let seen = Edit {
        sends_unchanged: true,
        ..edit
    };
    let seen = plan(&seen, &base(), &[], &Facts::default());
    assert_eq!(seen.objections, [], "a person saw it");
}

#[test]
fn what_is_not_known_cannot_travel() {
    let mut now = base();
    now.mapping = None;
    let mut edit = edit(|wanted| wanted.name = Some("Acme 2".into()));
    edit.base.mapping = None;
    edit.wanted.mapping = None;
    let field = Field::Mapping;
    let clear = plan(&edit, &now, &[], &facts(OmittedField::Clear));
    assert_eq!(clear.objections, [UnsafeUpdate::WouldClear { field }]);
    let at = None;
    let unknown = plan(&edit, &now, &[Field::Properties], &Facts::default());
    assert_eq!(unknown.objections, [UnsafeUpdate::NotStated { field, at }]);
    let told = plan(&edit, &now, &[], &facts(OmittedField::Unknown));
    assert_eq!((told.objections, told.send.mapping), (vec![], None));
}

#[test]
fn what_the_person_touches_and_somebody_else_changed_is_named_with_both_values() {
    let read = &[Field::Name, Field::Properties];
    let readable = Facts {
        properties_on_get: told(GetBehaviour::Returned),
        ..facts(OmittedField::Keep)
    };
    let tier = edit(|wanted| {
        let rows = wanted.properties.get_or_insert_default();
        rows.insert("tier".into(), json!("iron"));
    });
    let now = |tier: &str| wanted("Theirs", &[("7", "40")], &json!({"tier": tier, "x": 1}));
    let met = plan(&tier, &now("silver"), read, &readable);
    let tiers = ConcurrentChange {
        part: Part::property("tier"),
        reviewed: Some("\"gold\"".into()),
        now: Some("\"silver\"".into()),
    };
    assert_eq!(met.concurrent_changes, [tiers]);
    assert_eq!(
        plan(&tier, &now("gold"), read, &readable).concurrent_changes,
        []
    );
    assert_eq!(
        plan(&tier, &now("iron"), read, &readable).concurrent_changes,
        [],
        "the same was done already"
    );
    // If the field is given whole, a row that nobody looked at counts as well.
    let whole = Edit {
        whole: vec![Field::Properties],
        ..tier
    };
    let met = plan(&whole, &now("gold"), read, &readable);
    let keys: Vec<_> = met
        .concurrent_changes
        .iter()
        .map(|one| one.part.label())
        .collect();
    assert_eq!(keys, ["properties x"]);
}
