//! Restores a group from its texts and from what the texts do not contain: which fields are known, their origins, and
//! the whole fingerprint. A group that could not be restored exactly is stored as it is.

use serde_json::Value;

use super::{
    arena::{Arena, Entry, UNPACKED_ROW},
    packed::{Origin, Packed, UNIT, origins, pack, rotated_by},
    packed_values::ValueReader,
};
use crate::domain::{
    group::{EnvironmentTag, Mapping, Properties, UserGroupId},
    known::{Known, KnownGroup, LastRotated, Source},
    token::Fingerprint,
};

impl Arena {
    pub(super) fn push(&mut self, group: &KnownGroup) {
        let id = group.id.as_str();
        if self.unpack(id, &pack(group)) {
            return;
        }
        let name = group.name.as_ref().map_or("", |known| &known.value);
        self.add_row(id, name, UNPACKED_ROW | self.unpacked.len() as u32);
        self.unpacked.push(group.clone());
    }

    /// Adds a packed group. Returns `false` and adds nothing if the bytes are not valid.
    pub(super) fn unpack(&mut self, id: &str, packed: &[u8]) -> bool {
        let Some(group) = Packed::read(packed) else {
            return false;
        };
        let start = self.values.len();
        // Text beyond the addressable limit would have to be left out.
        let has_room = self.has_room(1 << 27) && start < UNPACKED_ROW as usize;
        if !has_room || self.add_values(&group).is_none() {
            self.values.truncate(start);
            return false;
        }
        self.add_row(id, group.name.unwrap_or_default(), start as u32);
        true
    }
}

impl Entry<'_> {
    /// All that is known of the group, exactly as it was added.
    pub fn to_group(self) -> KnownGroup {
        match ValueReader::of(self) {
            Ok(reader) => group(self, reader),
            Err(unpacked) => unpacked.clone(),
        }
    }

    /// Whether `is_one` accepts an operator who sent a value of the group or rotated its token.
    pub(super) fn has_operator(self, mut is_one: impl FnMut(&str) -> bool) -> bool {
        let (origins, by) = match ValueReader::of(self) {
            Ok(reader) => {
                let mut reader = reader.at_times();
                reader.times();
                reader.origins()
            }
            Err(unpacked) => (origins(unpacked), rotated_by(unpacked)),
        };
        let mut sent = origins.into_iter().flatten();
        sent.any(|(source, _, by)| source == Source::Sent && is_one(by)) || by.is_some_and(is_one)
    }
}

/// All that is known of a group.
fn group(entry: Entry<'_>, mut reader: ValueReader<'_>) -> KnownGroup {
    let (token, label, team) = (reader.fingerprint, reader.tag(), reader.team());
    let (at_mapping, at_properties) = (reader, reader.mapping().skip_to_end());
    reader = reader.at_times();
    let [rotated, created_at, last_seen] = reader.times();
    let (origins, by) = reader.origins();
    let by = by.map(str::to_owned);
    let [name, team_id, mapping, properties, tag, fingerprint] = origins;
    let id = UserGroupId::parse(entry.id()).expect("it was one before");
    KnownGroup {
        name: known(name, || Some(entry.name().unwrap_or_default().to_owned())),
        team_id: known(team_id, || team),
        mapping: known(mapping, || {
            let rows = at_mapping.mapping().parts();
            let rows = rows.map(|(schema, _, source)| (schema.to_owned(), source.to_owned()));
            Some(rows.collect::<Mapping>())
        }),
        properties: known(properties, || {
            let rows = at_properties.properties().parts();
            let rows = rows.map(|(key, between, value)| (key.to_owned(), json(between, value)));
            Some(rows.collect::<Properties>())
        }),
        environment_tag: known(tag, || {
            let tag = reader.arena.words.get_index(label? as usize)?;
            Some(EnvironmentTag::parse(tag))
        }),
        fingerprint: known(fingerprint, || {
            token.map(|bytes| Fingerprint::from_bytes(*bytes))
        }),
        last_rotated: rotated.map(|at| LastRotated { at, by }),
        created_at,
        last_seen,
        ..KnownGroup::new(id)
    }
}

fn known<T>(origin: Option<Origin<'_>>, value: impl FnOnce() -> Option<T>) -> Option<Known<T>> {
    let (source, at, by) = origin?;
    Some(Known {
        value: value()?,
        source,
        at,
        by: by.to_owned(),
    })
}

fn json(between: char, text: &str) -> Value {
    if between == UNIT {
        Value::String(text.to_owned())
    } else {
        // It was checked before writing that this can be read back.
        serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::search::Index;

    fn text() -> impl Strategy<Value = String> {
        // These rarely include the three separators.
        prop_oneof![
            9 => "[a-c\u{e9} \n\"\\\\]{0,5}",
            1 => "[a\u{1d}\u{1e}\u{1f}]{1,3}",
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

    /// Whole microseconds, as the directory stores them, and rarely a finer time.
    fn time() -> impl Strategy<Value = Timestamp> {
        prop_oneof![
            9 => (0..3_i64).prop_map(|n| Timestamp::constant(n * 1_000, 5_000)),
            1 => Just(Timestamp::constant(7, 1)),
        ]
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
            tag in from(prop_oneof![
                Just(EnvironmentTag::Customer),
                text().prop_map(EnvironmentTag::Other),
                Just(EnvironmentTag::Other("Testing".into())),
            ]),
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
                environment_tag: tag,
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

    #[test]
    fn a_usual_group_is_kept_in_the_buffers() {
        let known = |at| Known {
            value: "Acme".to_owned(),
            source: Source::Returned,
            at,
            by: "ana".into(),
        };
        let mut group = KnownGroup::new(UserGroupId::parse("acme").expect("a valid id"));
        group.name = Some(known(Timestamp::UNIX_EPOCH));
        let mut arena = Arena::default();
        arena.push(&group);
        assert!(arena.unpacked.is_empty());
        group.name = Some(known(Timestamp::constant(0, 1)));
        arena.push(&group);
        assert_eq!(arena.unpacked.len(), 1, "finer than a microsecond");
    }
}
