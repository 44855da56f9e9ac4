//! Which groups a bulk edit takes, in which order, and every reason to leave one out.

use serde_json::json;

use super::*;
use crate::domain::{
    facts::{OmittedField, Stated},
    group::EnvironmentTag,
    known::Known,
    testing::{fields, id},
};

const NOW: i64 = 400 * 86_400;

fn at(days: i64) -> Timestamp {
    Timestamp::from_second(days * 86_400).expect("a time")
}

fn known<T>(value: T, source: Source, days: i64) -> Known<T> {
    Known {
        value,
        source,
        at: at(days),
        by: "li".into(),
    }
}

fn group(text: &str, row: Option<&str>, sent: i64) -> KnownGroup {
    let rows = [Some(("7", "1")), row.map(|row| ("40", row))];
    let rows: Vec<_> = rows.into_iter().flatten().collect();
    let all = fields(text, &rows, r#"{"seats": 120, "tier": {"a": 1, "b": 2}}"#);
    KnownGroup {
        last_seen: Some(at(1)),
        name: all.name.map(|name| known(name, Source::Returned, 1)),
        mapping: all.mapping.map(|rows| known(rows, Source::Sent, sent)),
        properties: all.properties.map(|all| known(all, Source::Returned, 1)),
        ..KnownGroup::new(id(text))
    }
}

fn rules() -> EditRules {
    EditRules {
        group: Rules {
            environment: Some(EnvironmentTag::Customer),
            most: 100,
            guard: None,
            include_recent: false,
            now: Timestamp::from_second(NOW).expect("a time"),
        },
        facts: Facts {
            sole_writer: Stated {
                value: true,
                ..Stated::default()
            },
            ..Facts::default()
        },
        read_only: false,
        include_old: false,
        reviewed_at: None,
        operator: "ana".into(),
    }
}

fn candidate<'a>(group: &'a KnownGroup, change: &BulkChange) -> EditCandidate<'a> {
    EditCandidate {
        group: Candidate {
            id: group.id.clone(),
            group: Some(group),
            open: None,
            refused: None,
            recent: None,
        },
        wanted: WantedRow::of(change),
        open: Vec::new(),
        draft: None,
    }
}

fn set() -> BulkChange {
    BulkChange::mapping("40", Some("214"), Some("213")).expect("a change")
}

/// The verdict about one group.
fn verdict(
    group: &KnownGroup,
    rules: &EditRules,
    meddle: impl FnOnce(&mut EditCandidate<'_>),
) -> Verdict {
    let mut asked = candidate(group, &set());
    meddle(&mut asked);
    EditPlan::of(set(), [asked], rules).rows[0].verdict.clone()
}

/// None of them is as wanted: the key is another one.
#[test]
fn a_row_that_no_group_has_cannot_be_removed() {
    let groups = [group("one", Some("213"), 399), group("two", None, 399)];
    let plan = |change: &BulkChange, groups: &[KnownGroup]| {
        let asked = groups.iter().map(|group| candidate(group, change));
        EditPlan::of(change.clone(), asked, &rules())
    };
    let removed = |key: &str| BulkChange::mapping(key, None, None).expect("a change");
    let missing = plan(&removed("40 134"), &groups);
    assert!(missing.lacks_row());
    assert_eq!(missing.keys().into_iter().collect::<Vec<_>>(), ["40", "7"]);
    assert!(!plan(&removed("40"), &groups).lacks_row());
    assert!(plan(&removed("40"), &groups[1..]).lacks_row());
    let property = BulkChange::property("tier seats", None, None).expect("a change");
    let missing = plan(&property, &groups);
    assert!(missing.lacks_row());
    assert_eq!(
        missing.keys().into_iter().collect::<Vec<_>>(),
        ["seats", "tier"]
    );
    // To set it adds it; what is not known says nothing.
    let set = BulkChange::mapping("9", Some("1"), None).expect("a change");
    assert!(!plan(&set, &groups).lacks_row());
    let unknown = [KnownGroup::new(id("unknown"))];
    assert!(!plan(&removed("9"), &unknown).lacks_row());
}

#[test]
fn ready_ones_come_first_and_each_is_planned_once() {
    let groups = [
        group("same", Some("214"), 399),
        group("other", Some("9"), 399),
        group("one", Some("213"), 399),
        group("two", Some("213"), 399),
        group("none", None, 399),
    ];
    let twice = groups.iter().chain(&groups);
    let plan = EditPlan::of(set(), twice.map(|group| candidate(group, &set())), &rules());
    let ids: Vec<_> = plan.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["one", "two", "other", "none", "same"]);
    assert_eq!(plan.counts(), (2, 1, 2));
    let first = &plan.rows[0];
    let values = (first.before.as_deref(), first.after.as_deref());
    assert_eq!(values, (Some("213"), Some("214")));
    assert_eq!(plan.rows[2].verdict, Verdict::Skipped(EditSkip::Other));
    let edit = first.edit.update(&set().row);
    assert_eq!(json!(edit.wanted.mapping), json!({"7": "1", "40": "214"}));
    assert_eq!((edit.wanted.name, edit.wanted.properties), (None, None));
    assert_eq!(edit.replace, [Field::Mapping]);
}

#[test]
fn the_limits_hold_for_what_changes() {
    let rows = [
        ("other", "9"),
        ("same", "214"),
        ("a", "213"),
        ("b", "213"),
        ("c", "213"),
    ];
    let groups = rows.map(|(id, row)| group(id, Some(row), 399));
    let guard = Some((1, "slowly".to_owned()));
    for (guard, ready, skip) in [
        (None, 2, Skip::Beyond(2)),
        (guard, 1, Skip::Guarded(1, "slowly".into())),
    ] {
        let mut rules = rules();
        (rules.group.most, rules.group.guard) = (2, guard);
        let asked = groups.iter().map(|group| candidate(group, &set()));
        let plan = EditPlan::of(set(), asked, &rules);
        assert_eq!(plan.counts(), (ready, 1, 4 - ready));
        let last = plan.rows.iter().find(|row| row.id.as_str() == "c");
        let verdict = last.map(|row| row.verdict.clone());
        assert_eq!(verdict, Some(Verdict::Skipped(EditSkip::Group(skip))));
    }
}

#[test]
fn each_reason_to_skip_a_group() {
    type Meddle = fn(&mut EditCandidate<'_>, &mut EditRules);
    fn odd(it: &mut EditCandidate<'_>, change: impl FnOnce(&mut KnownGroup)) {
        let mut group = it.group.group.expect("one").clone();
        change(&mut group);
        it.group.group = Some(Box::leak(Box::new(group)));
    }
    fn open(it: &mut EditCandidate<'_>, holds: bool) {
        let by = "li".into();
        let sent = None;
        it.open.push(OpenChange { by, holds, sent });
    }
    fn draft(it: &mut EditCandidate<'_>, is_own: bool) {
        let (by, at) = ("li".into(), at(398));
        it.draft = Some(UnsentDraft { by, is_own, at });
    }
    let reasons: &[(&str, Meddle)] = &[
        ("not in the directory", |it, _| it.group.group = None),
        ("comes from a file", |it, _| {
            odd(it, |group| group.last_seen = None);
        }),
        ("mapping unknown", |it, _| {
            odd(it, |group| group.mapping = None);
        }),
        ("mapping known from a file only", |it, _| {
            odd(it, |group| {
                group.mapping.as_mut().expect("known").source = Source::Imported;
            });
        }),
        ("tagged Testing, another environment", |it, _| {
            let tag = known(EnvironmentTag::Testing, Source::Returned, 1);
            odd(it, |group| group.environment_tag = Some(tag));
        }),
        ("an earlier rotation is open: unknown", |it, _| {
            it.group.open = Some(crate::domain::rotation::State::Unknown);
        }),
        ("a change by li is in progress", |it, _| open(it, true)),
        ("result of a change by li is unknown", |it, _| {
            open(it, false);
        }),
        ("it has a draft (yours, 2d)", |it, _| draft(it, true)),
        ("by li", |it, _| draft(it, false)),
        ("", |_, rules| rules.read_only = true),
    ];
    let usual = group("a", Some("213"), 399);
    assert_eq!(verdict(&usual, &rules(), |_| ()), Verdict::Change);
    for (why, meddle) in reasons {
        let (change, mut rules) = (set(), rules());
        let mut asked = candidate(&usual, &change);
        meddle(&mut asked, &mut rules);
        let plan = EditPlan::of(change.clone(), [asked], &rules);
        let Verdict::Skipped(skip) = &plan.rows[0].verdict else {
            panic!("{why}");
        };
        assert!(skip.to_string().contains(why), "{skip}, not {why}");
        assert_eq!(*skip == EditSkip::ReadOnly, rules.read_only);
    }
}

#[test]
fn what_nobody_can_read_is_counted_and_left_out_when_it_is_old() {
    let young = group("young", Some("213"), 399);
    let old = group("old", Some("213"), 200);
    let mut rules = rules();
    rules.facts.sole_writer.value = false;
    rules.facts.absent_properties.value = OmittedField::Keep;
    let plan = |rules: &EditRules| {
        let asked = [&young, &old].map(|group| candidate(group, &set()));
        EditPlan::of(set(), asked, rules)
    };
    let first = plan(&rules);
    assert_eq!((first.counts(), first.old()), ((1, 0, 1), 1));
    let Verdict::Skipped(why) = &first.rows[1].verdict else {
        panic!("skipped");
    };
    assert_eq!(why.to_string(), "mapping last sent 200d ago by li");
    rules.include_old = true;
    let all = plan(&rules);
    let (count, oldest) = all.unverified().expect("nobody can read them");
    assert_eq!(
        (count, oldest.at, oldest.field),
        (2, at(200), Field::Mapping)
    );
    assert_eq!(all.old(), 0);
    rules.facts.sole_writer.value = true;
    assert_eq!(plan(&rules).unverified(), None);
}

#[test]
fn properties_are_compared_as_values_and_carry_no_unknown_mapping() {
    let mut there = group("a", Some("213"), 399);
    let change = BulkChange::property("tier", Some(r#"{"b": 2, "a": 1}"#), None).expect("one");
    let plan = |group: &KnownGroup, change: &BulkChange| {
        EditPlan::of(change.clone(), [candidate(group, change)], &rules()).rows[0].clone()
    };
    assert_eq!(plan(&there, &change).verdict, Verdict::Same);
    let remove = BulkChange::property("seats", None, Some("120")).expect("one");
    let row = plan(&there, &remove);
    assert_eq!((row.verdict, row.after), (Verdict::Change, None));
    there.mapping = None;
    let unknown = EditSkip::Unknown(Field::Mapping);
    assert_eq!(plan(&there, &remove).verdict, Verdict::Skipped(unknown));
    let mut kept = rules();
    kept.facts.absent_mapping.value = OmittedField::Keep;
    let plan = EditPlan::of(remove.clone(), [candidate(&there, &remove)], &kept);
    assert_eq!(plan.rows[0].verdict, Verdict::Change);
    assert!(BulkChange::property("tier", Some("gold"), None).is_err());
    assert!(BulkChange::mapping("", Some("1"), None).is_err());
    assert!(BulkChange::mapping("7", Some(""), None).is_err());
}

/// A retry or a resumed batch includes again what its batch included, and nothing that became old only since.
#[test]
fn what_was_old_when_a_batch_was_reviewed_is_included_again() {
    let mut group = group("a", Some("213"), 340);
    group.properties.as_mut().expect("known").at = at(340);
    // Sent 60 days ago: old when it was reviewed yesterday, and so included then; not yet old 40 days ago.
    for (reviewed, is_old) in [(None, true), (Some(399), false), (Some(360), true)] {
        let mut rules = rules();
        rules.facts.sole_writer.value = false;
        rules.reviewed_at = reviewed.map(at);
        let verdict = verdict(&group, &rules, |_| ());
        let skipped = matches!(verdict, Verdict::Skipped(EditSkip::Old { .. }));
        assert_eq!(skipped, is_old, "{reviewed:?}");
    }
}

/// The same update of the same person may be sent again; nothing else while it has no result.
#[test]
fn an_own_update_without_a_result_may_be_repeated() {
    let usual = group("a", Some("213"), 399);
    let sent = |value: &str| {
        let all = fields("a", &[("7", "1"), ("40", value)], "{}");
        let properties = usual.properties.as_ref().map(|known| known.value.clone());
        let name = None;
        Some(DesiredFields {
            name,
            properties,
            ..all
        })
    };
    let open = |it: &mut EditCandidate<'_>, sent: Option<DesiredFields>| {
        let by = "ana".into();
        let holds = false;
        it.open.push(OpenChange { by, holds, sent });
    };
    let mut kept = rules();
    kept.facts.absent_name.value = OmittedField::Keep;
    let same = verdict(&usual, &kept, |it| open(it, sent("214")));
    assert_eq!(same, Verdict::Change);
    let by = "ana".to_owned();
    let refused = Verdict::Skipped(EditSkip::Open { by });
    let other = verdict(&usual, &kept, |it| open(it, sent("9")));
    assert_eq!(other, refused);
    let two = verdict(&usual, &kept, |it| {
        open(it, sent("214"));
        open(it, None);
    });
    assert_eq!(two, refused);
    // It may have replaced the value that the group seems to have.
    let there = group("a", Some("214"), 399);
    let seems = verdict(&there, &kept, |it| open(it, sent("213")));
    assert_eq!(seems, refused);
}
