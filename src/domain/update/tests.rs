//! The table "a field of the update | may be sent", row by row.

use serde_json::json;

use super::*;
use crate::domain::{
    facts::{Basis, GetBehaviour, RESTORED, Stated},
    known::{Observation, Returned},
    testing::{fields, fingerprint, id},
};

fn base() -> DesiredFields {
    fields("Acme", &[("7", "40"), ("8", "1")], r#"{"tier": "gold"}"#)
}

/// Known as given, sent by this directory.
fn group(holds: &DesiredFields) -> KnownGroup {
    let mut group = KnownGroup::new(id("acme"));
    group.observe(Observation {
        id: id("acme"),
        sent: holds.clone(),
        returned: Some(Returned {
            name: None,
            team_id: None,
            properties: None,
            environment_tag: None,
            fingerprint: fingerprint(1),
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

fn sole_writer(absent: OmittedField) -> Facts {
    Facts {
        sole_writer: told(true),
        ..facts(absent)
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

fn rename() -> Edit {
    edit(|wanted| wanted.name = Some("Acme 2".into()))
}

fn map() -> Edit {
    edit(|wanted| set_row(wanted, "7", "213"))
}

fn set_row(wanted: &mut DesiredFields, key: &str, value: &str) {
    let rows = wanted.mapping.get_or_insert_default();
    rows.insert(key.into(), value.into());
}

fn set_property(wanted: &mut DesiredFields, key: &str, value: serde_json::Value) {
    let all = wanted.properties.get_or_insert_default();
    all.insert(key.into(), value);
}

fn plan(edit: &Edit, now: &DesiredFields, read: &[Field], facts: &Facts) -> Plan {
    let baseline = Baseline {
        group: &group(now),
        read,
        uncertain: &[],
        facts,
    };
    Plan::of(edit, &baseline)
}

fn partial(at: Option<Timestamp>, uncertain: bool) -> UnsafeUpdate {
    UnsafeUpdate::PartialChange {
        field: Field::Mapping,
        at,
        uncertain,
    }
}

const AT: Option<Timestamp> = Some(Timestamp::UNIX_EPOCH);

#[test]
fn what_is_changed_whole_or_to_be_replaced_is_sent_and_said_to_be_replaced() {
    let whole = Edit {
        whole: vec![Field::Mapping],
        ..map()
    };
    let replace = Edit {
        replace: vec![Field::Mapping],
        ..map()
    };
    for edit in [whole, replace] {
        let plan = plan(&edit, &base(), &[], &facts(OmittedField::Keep));
        assert_eq!(
            (plan.objections, plan.replaced),
            (vec![], vec![Field::Mapping])
        );
        assert_eq!(plan.send.mapping, edit.wanted.mapping);
        assert_eq!((plan.send.name, plan.send.properties), (None, None));
    }
}

#[test]
fn what_is_changed_in_part_is_laid_over_what_was_read() {
    let edit = edit(|wanted| set_property(wanted, "seats", json!(25)));
    let mut now = base();
    set_property(&mut now, "set elsewhere", json!(true));
    let plan = plan(
        &edit,
        &now,
        &[Field::Properties],
        &facts(OmittedField::Keep),
    );
    assert_eq!((plan.objections, plan.replaced), (vec![], vec![]));
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
    let keep = OmittedField::Keep;
    let refused = plan(&map(), &base(), &[], &facts(keep));
    assert_eq!(refused.objections, [partial(AT, false)]);
    let mut now = base();
    set_row(&mut now, "9", "our other process");
    let sent = plan(&map(), &now, &[], &sole_writer(keep));
    assert_eq!(sent.objections, []);
    let all = json!({"7": "213", "8": "1", "9": "our other process"});
    assert_eq!(json!(sent.send.mapping), all);
    // Nobody changes in part what only a file has said.
    let mut group = group(&DesiredFields::default());
    group.import(&base(), Timestamp::UNIX_EPOCH, "ana");
    let baseline = Baseline {
        group: &group,
        read: &[],
        uncertain: &[],
        facts: &sole_writer(keep),
    };
    assert_eq!(
        Plan::of(&map(), &baseline).objections,
        [partial(None, false)]
    );
}

#[test]
fn the_sole_writer_does_not_know_what_an_open_change_may_have_changed() {
    let baseline = Baseline {
        group: &group(&base()),
        read: &[],
        uncertain: &[Field::Mapping],
        facts: &sole_writer(OmittedField::Unknown),
    };
    assert_eq!(Plan::of(&map(), &baseline).objections, [partial(AT, true)]);
    let untouched = Plan::of(&rename(), &baseline);
    let field = Field::Mapping;
    assert_eq!(untouched.objections, [UnsafeUpdate::Uncertain { field }]);
    assert_eq!(untouched.send.mapping, None);
}

#[test]
fn what_was_known_before_the_directory_was_restored_is_sent_only_by_whoever_saw_it() {
    let (field, at) = (Field::Mapping, AT.expect("a time"));
    let restored = |restored_at, absent| {
        let mut facts = facts(absent);
        facts.sole_writer = Stated {
            value: false,
            basis: Basis::Proven,
            at: Some(restored_at),
            by: Some(RESTORED.into()),
        };
        facts
    };
    let objection = UnsafeUpdate::Restored { field, at };
    for (edit, absent) in [(map(), OmittedField::Keep), (rename(), OmittedField::Clear)] {
        let is_partial = edit.fields() == [field];
        // An option that a script always passes is no consent to it, nor is one for many groups.
        let replaces = Edit {
            replace: vec![field],
            ..edit.clone()
        };
        let saw = Edit {
            sends_unchanged: true,
            ..replaces.clone()
        };
        let of_many = Edit {
            of_many: true,
            ..saw.clone()
        };
        for (edit, is_refused) in [
            (&edit, true),
            (&replaces, true),
            (&of_many, true),
            (&saw, false),
        ] {
            let plan = plan(edit, &base(), &[], &restored(at, absent));
            let expected = is_refused.then_some(objection);
            let found: Vec<_> = plan
                .objections
                .iter()
                .copied()
                .filter(|one| one.field() == field)
                .collect();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
            assert!(plan.is_blind, "one level more");
            assert_eq!(plan.replaced.contains(&field), is_partial);
        }
        // What was sent since counts again.
        let before = at - jiff::SignedDuration::from_secs(1);
        let since = plan(&replaces, &base(), &[], &restored(before, absent));
        assert!(since.objections.iter().all(|one| one.field() != field));
    }
    let read = plan(&map(), &base(), &[field], &restored(at, OmittedField::Keep));
    assert_eq!(read.objections, []);
    // An open change of the copy makes it no better known.
    let open = Baseline {
        group: &group(&base()),
        read: &[],
        uncertain: &[field],
        facts: &restored(at, OmittedField::Keep),
    };
    let replaces = Edit {
        replace: vec![field],
        ..map()
    };
    assert_eq!(Plan::of(&replaces, &open).objections, [objection]);
}

#[test]
fn what_is_not_changed_is_left_out_where_it_is_kept() {
    let plan = plan(&rename(), &base(), &[], &facts(OmittedField::Keep));
    let only_name = crate::domain::testing::only_name("Acme 2");
    assert_eq!((plan.send, plan.objections), (only_name, vec![]));
}

#[test]
fn what_is_not_changed_travels_along_once_somebody_said_so() {
    let edit = rename();
    let objections =
        |edit: &Edit, read: &[Field]| plan(edit, &base(), read, &Facts::default()).objections;
    let not_told = |field| UnsafeUpdate::NotStated { field, at: AT };
    let both = [not_told(Field::Mapping), not_told(Field::Properties)];
    assert_eq!(objections(&edit, &[]), both);
    // What was read under the claim needs nobody's consent.
    assert_eq!(objections(&edit, &[Field::Properties]), both[..1]);
    for absent in [OmittedField::Unknown, OmittedField::Clear] {
        let told = plan(&edit, &base(), &[], &facts(absent));
        assert_eq!((told.objections, &told.send), (vec![], &edit.wanted));
        let fields: Vec<_> = told.unchanged.iter().map(|one| one.field).collect();
        assert_eq!(fields, [Field::Mapping, Field::Properties]);
    }
    let seen = Edit {
        sends_unchanged: true,
        ..edit
    };
    assert_eq!(objections(&seen, &[]), [], "a person saw it");
}

#[test]
fn what_is_not_known_cannot_travel() {
    let mut edit = rename();
    let mut now = base();
    for fields in [&mut now, &mut edit.base, &mut edit.wanted] {
        fields.mapping = None;
    }
    let (field, at) = (Field::Mapping, None);
    let clear = plan(&edit, &now, &[], &facts(OmittedField::Clear));
    assert_eq!(clear.objections, [UnsafeUpdate::WouldClear { field }]);
    let unknown = plan(&edit, &now, &[Field::Properties], &Facts::default());
    assert_eq!(unknown.objections, [UnsafeUpdate::NotStated { field, at }]);
    let told = plan(&edit, &now, &[], &facts(OmittedField::Unknown));
    assert_eq!((told.objections, told.send.mapping), (vec![], None));
}

#[test]
fn what_the_person_touches_and_somebody_else_changed_is_named_with_both_values() {
    let readable = Facts {
        properties_on_get: told(GetBehaviour::Returned),
        ..facts(OmittedField::Keep)
    };
    let tier = edit(|wanted| set_property(wanted, "tier", json!("iron")));
    let met = |edit: &Edit, tier: &str| {
        let mut now = fields("Theirs", &[("7", "40")], r#"{"x": 1}"#);
        set_property(&mut now, "tier", json!(tier));
        plan(edit, &now, &[Field::Name, Field::Properties], &readable).concurrent_changes
    };
    let tiers = ConcurrentChange {
        part: Part::property("tier"),
        reviewed: Some("\"gold\"".into()),
        now: Some("\"silver\"".into()),
    };
    assert_eq!(met(&tier, "silver"), [tiers]);
    assert_eq!(met(&tier, "gold"), []);
    assert_eq!(met(&tier, "iron"), [], "the same was done already");
    // If the field is given whole, a row that nobody looked at counts as well.
    let whole = Edit {
        whole: vec![Field::Properties],
        ..tier
    };
    let keys: Vec<_> = met(&whole, "gold")
        .iter()
        .map(|one| one.part.label())
        .collect();
    assert_eq!(keys, ["properties x"]);
}
