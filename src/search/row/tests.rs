//! A group is restored exactly from its row, and a row takes little memory.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::search::Index;

fn text() -> impl Strategy<Value = String> {
    // Rarely with what stands between the texts of a row.
    prop_oneof![
        9 => "[a-c\u{e9} \n\"\\\\]{0,5}",
        1 => "[a\u{1e}]{1,3}",
    ]
}

fn from<T: Clone + std::fmt::Debug>(
    value: impl Strategy<Value = T>,
) -> impl Strategy<Value = Option<Known<T>>> {
    let source = prop_oneof![
        Just(Source::Sent),
        Just(Source::Returned),
        Just(Source::Imported),
    ];
    let known = (value, source, time(), "ana|bo").prop_map(|(value, source, at, by)| Known {
        value,
        source,
        at,
        by,
    });
    prop::option::of(known)
}

/// Whole microseconds, as the directory stores them.
fn time() -> impl Strategy<Value = Timestamp> {
    (0..3_i64).prop_map(|n| Timestamp::constant(n * 1_000, 5_000))
}

fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        Just("12"),
        Just("-0.10"),
        Just("123456789012345678901234567890"),
        Just("1e400"),
    ];
    prop_oneof![
        text().prop_map(Value::String),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(|text| serde_json::from_str(text).expect("a number")),
        (text(), text()).prop_map(|(key, text)| json!({ key: [text, 1, {}] })),
    ]
}

prop_compose! {
    fn some_group()(
        id in "[a-z\u{1f}]{1,6}",
        name in from(text()),
        team_id in from(any::<i64>()),
        mapping in from(prop::collection::vec((text(), text()), 0..4)),
        properties in from(prop::collection::vec((text(), value()), 0..4)),
        tag in from(prop_oneof![Just("Customer".to_owned()), text()]),
        fingerprint in from(any::<[u8; 32]>()),
        last_rotated in prop::option::of((time(), prop::option::of("ana|cy"))),
        created_at in prop::option::of(time()),
        last_seen in prop::option::of(time()),
    ) -> KnownGroup {
        fn then<A, B>(known: Option<Known<A>>, make: impl FnOnce(A) -> B) -> Option<Known<B>> {
            known.map(|Known { value, source, at, by }| {
                Known { value: make(value), source, at, by }
            })
        }
        KnownGroup {
            id: UserGroupId::parse(id).expect("a valid id"),
            name,
            team_id,
            mapping: then(mapping, |rows| rows.into_iter().collect()),
            properties: then(properties, |rows| rows.into_iter().collect()),
            environment_tag: then(tag, |tag| EnvironmentTag::parse(&tag)),
            fingerprint: then(fingerprint, Fingerprint::from_bytes),
            last_rotated: last_rotated.map(|(at, by)| LastRotated { at, by }),
            created_at,
            last_seen,
        }
    }
}

/// Map equality ignores the order of keys.
fn orders(group: &KnownGroup) -> (Vec<&String>, Vec<&String>) {
    let mapping = group.mapping.iter().flat_map(|known| known.value.keys());
    let properties = group.properties.iter().flat_map(|known| known.value.keys());
    (mapping.collect(), properties.collect())
}

proptest! {
    #[test]
    fn a_group_comes_back_exactly(
        groups in prop::collection::vec(some_group(), 1..6),
        newer in prop::collection::vec(some_group(), 0..3),
    ) {
        let mut sorted = groups;
        sorted.sort_by(|a, b| a.id.cmp(&b.id));
        sorted.dedup_by(|a, b| a.id == b.id);
        let mut index = Index::of(&sorted);
        for group in &newer {
            index.put(group);
            sorted.retain(|old| old.id != group.id);
            sorted.push(group.clone());
        }
        for group in &sorted {
            let back = index.group(&group.id).expect("it is there");
            prop_assert_eq!(orders(&back), orders(group));
            prop_assert_eq!(&back, group);
        }
    }
}

/// Counted, not measured: the same on every machine.
#[test]
fn a_usual_group_takes_little() {
    const COUNT: usize = 2_000;
    fn told<T>(value: T, at: Timestamp) -> Known<T> {
        Known {
            value,
            source: Source::Returned,
            at,
            by: "ana@bastion2".into(),
        }
    }
    let mut maker = RowMaker::default();
    let rows = (0..COUNT).map(|number| {
        let id = format!("group-eu-{number:06}");
        let mut group = KnownGroup::new(UserGroupId::parse(id).expect("a valid ID"));
        let at = Timestamp::from_microsecond(1_790_000_000_123_457 + number as i64 * 1_000_003);
        let at = at.expect("a time");
        let mapping = (0..4).map(|row| {
            let source = 200 + (number * 7 + row * 31) % 2_000;
            ((40 + row * 17).to_string(), source.to_string())
        });
        let properties = json!({
            "tier": (["gold", "silver"][number % 2]),
            "seats": number % 300,
            "contact": format!("{number}@example.com"),
        });
        group.name = Some(told(format!("Pied Piper Insurance {number}"), at));
        group.team_id = Some(told(number as i64, at));
        group.environment_tag = Some(told(EnvironmentTag::Customer, at));
        group.fingerprint = Some(told(Fingerprint::from_bytes([number as u8; 32]), at));
        group.mapping = Some(told(mapping.collect(), at));
        group.properties = Some(told(properties.as_object().expect("an object").clone(), at));
        let by = Some("li@desk".to_owned());
        group.last_rotated = Some(LastRotated { at, by });
        group.last_seen = Some(at);
        maker.row(&group)
    });
    let rows: Vec<Row> = rows.collect();
    let bytes = |row: &Row| {
        size_of::<Row>() + row.texts.len() + size_of_val(&*row.ends) + size_of_val(&*row.origins)
    };
    let each = rows.iter().map(bytes).sum::<usize>() / COUNT;
    // A million groups in 700 MiB, with what the allocator adds to three allocations.
    assert!(each <= 420, "{each} bytes a group");
    assert_eq!(maker.operators.len(), 2, "each name of an operator once");
    let mut bare = KnownGroup::new(UserGroupId::parse("group-eu-000001").expect("a valid ID"));
    bare.last_seen = rows[0].seen();
    // What a sorted `list` holds of a group.
    assert!(bytes(&maker.row(&bare)) <= 168);
}
