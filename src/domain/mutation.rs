//! A create, an update or a rotation from its intent to its end. The intent *is* the claim on the group: while one may
//! still be on its way, no other is started. The state of a rotation is decided by `rotation`; here it only holds the
//! group.

use serde_json::Value;

use super::{
    facts::Field,
    fields::{DesiredFields, parts},
    history::Ending,
    undo::sides,
    word_enum::word_enum,
};

word_enum! {
    /// Where a mutation stands. The words are those of `history --open --json`.
    ///
    /// ```text
    /// intended ──▶ sent ──▶ ended            intended, older than the settle window ──▶ ended (nothing was sent)
    ///               ├─────▶ unknown ──┐      sent, older than it ──▶ open
    ///               └── window over ──┴──▶ open ──▶ ended (a reading settles it, or a person)
    /// ```
    #[derive(Hash)]
    pub enum State {
        /// The intent is durable; nothing was sent.
        Intended = "intended",
        /// The request may be on its way.
        Sent = "sent",
        /// It may or may not have taken effect, and may do so still.
        Unknown = "unknown",
        /// The settle window is over, and it is not known whether it took effect.
        Open = "open",
        Ended = "ended",
    }
}

impl State {
    /// No other mutation of the group may begin.
    pub fn holds(self) -> bool {
        matches!(self, Self::Intended | Self::Sent | Self::Unknown)
    }

    /// Whether something is still to be found out.
    pub fn is_open(self) -> bool {
        self != Self::Ended
    }

    /// Whether a step may lead to `next`. An end is final, and nothing goes back.
    pub fn may_become(self, next: Self) -> bool {
        match (self, next) {
            (Self::Intended, Self::Sent | Self::Ended)
            | (Self::Sent, Self::Unknown | Self::Open | Self::Ended)
            | (Self::Unknown, Self::Open | Self::Ended)
            | (Self::Open, Self::Ended) => true,
            (
                Self::Intended | Self::Sent | Self::Unknown | Self::Open | Self::Ended,
                Self::Intended | Self::Sent | Self::Unknown | Self::Open | Self::Ended,
            ) => false,
        }
    }
}

/// The fields named in the changes of a history entry.
pub fn fields_of(changes: Option<&Value>) -> Vec<Field> {
    let has = |field: &Field| changes.is_some_and(|changes| changes.get(field.as_str()).is_some());
    Field::ALL.into_iter().filter(has).collect()
}

/// What a reading reveals about an update with an unknown outcome; `None` if it cannot tell. A request takes effect
/// completely or not at all, so the fields that can be read stand for the others.
pub fn settled_by(changes: &Value, read: &DesiredFields) -> Option<Ending> {
    let (before, after) = sides(changes)?;
    let mut parts = parts(&[&before, &after]);
    parts.retain(|part| part.field != Field::Mapping && part.is_known_in(read));
    let all_are = |side: &DesiredFields| {
        !parts.is_empty() && parts.iter().all(|part| part.is_same(side, read))
    };
    match (all_are(&before), all_are(&after)) {
        (false, true) => Some(Ending::Updated),
        (true, false) => Some(Ending::NotApplied),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_goes_back_and_an_end_is_an_end() {
        for state in State::ALL {
            assert!(!state.may_become(state) && !state.may_become(State::Intended));
            assert_eq!(State::parse(state.as_str()), Some(state));
            assert_eq!(state.is_open(), state.may_become(State::Ended), "{state:?}");
        }
        assert!(!State::Open.holds() && State::Unknown.holds());
        assert!(
            !State::Intended.may_become(State::Unknown),
            "nothing was sent"
        );
    }

    #[test]
    fn what_can_be_read_speaks_for_the_rest() {
        let changes = json!({"name": ["A", "B"], "mapping": {"7": ["1", "2"]},
                             "properties": {"n": [null, "1"]}});
        let read = |name: &str, properties: Value| DesiredFields {
            name: Some(name.into()),
            mapping: None,
            properties: properties.as_object().cloned(),
        };
        let settled = |name, properties| settled_by(&changes, &read(name, properties));
        assert_eq!(settled("B", json!({"n": 1, "x": 2})), Some(Ending::Updated));
        assert_eq!(settled("B", Value::Null), Some(Ending::Updated));
        assert_eq!(settled("A", json!({"x": 2})), Some(Ending::NotApplied));
        assert_eq!(settled("A", json!({"n": 1})), None, "somebody else, too");
        assert_eq!(settled("C", Value::Null), None);
        let mapping = json!({"mapping": {"7": ["1", "2"]}});
        assert_eq!(settled_by(&mapping, &read("B", json!({}))), None);
        assert_eq!(
            fields_of(Some(&changes)),
            [Field::Name, Field::Mapping, Field::Properties]
        );
        assert_eq!(fields_of(Some(&mapping)), [Field::Mapping]);
    }
}
