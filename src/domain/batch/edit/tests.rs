//! Which groups a bulk edit takes, in which order, and every reason to leave one out.

use serde_json::json;

use super::*;
use crate::domain::{
    facts::{OmittedField, Stated},
    group::EnvironmentTag,
    known::Known,
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

fn group(id: &str, row: Option<&str>, sent: i64) -> KnownGroup {
    let mut group = KnownGroup::new(UserGroupId::parse(id).expect("an ID"));
    let mut rows = vec![("7".to_owned(), "1".to_owned())];
    rows.extend(row.map(|row| ("40".to_owned(), row.to_owned())));
    group.last_seen = Some(at(1));
    group.name = Some(known(id.to_owned(), Source::Returned, 1));
    group.mapping = Some(known(rows.into_iter().collect(), Source::Sent, sent));
    let properties = json!({"seats": 120, "tier": {"a": 1, "b": 2}});
    let properties = properties.as_object().expect("an object").clone();
    group.properties = Some(known(properties, Source::Returned, 1));
    group
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
            rotated: None,
        },
        wanted: WantedRow::of(change),
        open: None,
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
    let plan = EditPlan::of(set(), [asked], rules);
    plan.rows[0].verdict.clone()
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
    let change = set();
    let twice = groups.iter().chain(&groups);
    let plan = EditPlan::of(
        change.clone(),
        twice.map(|g| candidate(g, &change)),
        &rules(),
    );
    let ids: Vec<_> = plan.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["one", "two", "other", "none", "same"]);
    assert_eq!(plan.counts(), (2, 1, 2));
    assert_eq!(plan.rows[0].before.as_deref(), Some("213"));
    assert_eq!(plan.rows[0].after.as_deref(), Some("214"));
    assert_eq!(plan.rows[2].verdict, Verdict::Skipped(EditSkip::Other));
    let edit = plan.rows[0].edit.update(&change.row);
    assert_eq!(json!(edit.wanted.mapping), json!({"7": "1", "40": "214"}));
    assert_eq!((edit.wanted.name, edit.wanted.properties), (None, None));
    assert_eq!(edit.replace, [Field::Mapping]);
}

#[test]
fn the_limits_hold_for_what_changes() {
    let groups = ["a", "b", "c"].map(|id| group(id, Some("213"), 399));
    let mut rules = rules();
    rules.group.most = 2;
    let change = set();
    let plan = |rules: &EditRules| {
        let asked = groups.iter().map(|group| candidate(group, &change));
        EditPlan::of(change.clone(), asked, rules)
    };
    let beyond = |skip| Verdict::Skipped(EditSkip::Group(skip));
    assert_eq!(plan(&rules).counts(), (2, 0, 1));
    assert_eq!(plan(&rules).rows[2].verdict, beyond(Skip::Beyond(2)));
    rules.group.guard = Some((1, "slowly".into()));
    let guarded = plan(&rules).rows[2].verdict.clone();
    assert_eq!(guarded, beyond(Skip::Guarded(1, "slowly".into())));
}

#[test]
fn each_reason_to_skip_a_group() {
    let usual = group("a", Some("213"), 399);
    let skipped = |group: &KnownGroup, meddle: fn(&mut EditCandidate<'_>)| match verdict(
        group,
        &rules(),
        meddle,
    ) {
        Verdict::Skipped(skip) => skip.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(verdict(&usual, &rules(), |_| ()), Verdict::Change);
    assert_eq!(
        skipped(&usual, |it| it.group.group = None),
        "not in the directory"
    );
    let mut odd = usual.clone();
    odd.last_seen = None;
    assert!(skipped(&odd, |_| ()).contains("comes from a file"));
    let mut odd = usual.clone();
    odd.mapping = None;
    assert_eq!(skipped(&odd, |_| ()), "mapping unknown");
    let mut odd = usual.clone();
    odd.mapping.as_mut().expect("known").source = Source::Imported;
    assert_eq!(skipped(&odd, |_| ()), "mapping known from a file only");
    let mut odd = usual.clone();
    let tag = EnvironmentTag::Testing;
    odd.environment_tag = Some(known(tag, Source::Returned, 1));
    assert_eq!(skipped(&odd, |_| ()), "tagged Testing, another environment");
    let rotated = skipped(&usual, |it| {
        it.group.open = Some(crate::domain::rotation::State::Unknown);
    });
    assert_eq!(rotated, "an earlier rotation is open: unknown");
    for (holds, said) in [
        (true, "a change by li is in progress"),
        (false, "result of a change by li is unknown"),
    ] {
        let by = "li".to_owned();
        let open = Some(OpenChange { by, holds });
        let Verdict::Skipped(skip) = verdict(&usual, &rules(), |it| it.open = open) else {
            panic!("skipped");
        };
        assert_eq!(skip.to_string(), said);
    }
    let draft = |is_own| UnsentDraft {
        by: "li".into(),
        is_own,
        at: at(398),
    };
    for (is_own, said) in [(true, "it has a draft (yours, 2d)"), (false, "by li")] {
        let Verdict::Skipped(skip) = verdict(&usual, &rules(), |it| it.draft = Some(draft(is_own)))
        else {
            panic!("skipped");
        };
        assert!(skip.to_string().contains(said), "{skip}");
    }
    let read_only = EditRules {
        read_only: true,
        ..rules()
    };
    let read_only = verdict(&usual, &read_only, |_| ());
    assert_eq!(read_only, Verdict::Skipped(EditSkip::ReadOnly));
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
    let mut usual = rules();
    usual.facts.sole_writer.value = false;
    let of_batch = |days| EditRules {
        reviewed_at: Some(at(days)),
        ..usual.clone()
    };
    let is_old = |group: &KnownGroup, rules: &EditRules| {
        let verdict = verdict(group, rules, |_| ());
        matches!(verdict, Verdict::Skipped(EditSkip::Old { .. }))
    };
    // Sent 60 days ago: old when it was reviewed yesterday, and so included then.
    let mut group_60 = group("a", Some("213"), 340);
    let fresh = group_60.properties.as_mut().expect("known");
    fresh.at = at(340);
    assert!(is_old(&group_60, &usual));
    assert!(!is_old(&group_60, &of_batch(399)));
    // Not yet old when it was reviewed 40 days ago.
    assert!(is_old(&group_60, &of_batch(360)));
}
