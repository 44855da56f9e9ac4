//! What has changed at the service since a group was last seen here (hazards 3 and 4 of docs/design/service.md). Only
//! values known in both copies can differ; a value known only from a file does not count.

use super::{
    change::DesiredFields,
    known::{Known, KnownGroup},
    merge::{Merge, Part},
};

/// The differences between the copy last seen and the service's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteChanges {
    /// Parts of name, mapping and properties.
    pub parts: Vec<Part>,
    pub tag: bool,
    pub token: bool,
}

impl RemoteChanges {
    /// Compares like the review: the copy last seen is the base of an edit that changes nothing.
    pub fn between(seen: &KnownGroup, now: &KnownGroup) -> Self {
        let base = DesiredFields::of(seen);
        let merge = Merge::of(&base, &DesiredFields::of(now), &base);
        Self {
            parts: merge.conflicts.into_iter().map(|row| row.part).collect(),
            tag: differs(seen.environment_tag.as_ref(), now.environment_tag.as_ref()),
            token: differs(seen.fingerprint.as_ref(), now.fingerprint.as_ref()),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && !self.tag && !self.token
    }

    /// Which of name, mapping, properties, environment tag and token have changed; each once.
    pub fn fields(&self) -> Vec<&'static str> {
        let mut fields: Vec<_> = self.parts.iter().map(|part| part.field.as_str()).collect();
        fields.dedup();
        fields.extend(self.tag.then_some("environment_tag"));
        fields.extend(self.token.then_some("token"));
        fields
    }

    /// The same for people, down to the row: `name`, `mapping 40`, `token`. The keys are raw text.
    pub fn labels(&self) -> Vec<String> {
        let mut labels: Vec<_> = self.parts.iter().map(Part::label).collect();
        labels.extend(self.tag.then(|| "environment tag".into()));
        labels.extend(self.token.then(|| "token".into()));
        labels
    }
}

fn differs<T: PartialEq>(seen: Option<&Known<T>>, now: Option<&Known<T>>) -> bool {
    seen.zip(now)
        .is_some_and(|(seen, now)| seen.value != now.value)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::{
        group::EnvironmentTag,
        known::{Observation, Returned},
        testing::{fingerprint, id, only_name},
    };

    fn new() -> KnownGroup {
        KnownGroup::new(id("acme"))
    }

    fn learnt(group: &KnownGroup, name: &str, properties: &str, token: u8) -> KnownGroup {
        let mut group = group.clone();
        group.observe(Observation {
            id: group.id.clone(),
            sent: DesiredFields::default(),
            returned: Some(Returned {
                name: Some(name.into()),
                team_id: None,
                properties: serde_json::from_str(properties).expect("an object or null"),
                environment_tag: Some(EnvironmentTag::Testing),
                fingerprint: fingerprint(token),
            }),
            rotated_by: None,
            at: Timestamp::UNIX_EPOCH,
            by: "ana".into(),
        });
        group
    }

    #[test]
    fn each_field_is_named_once_and_each_row_by_its_key() {
        let seen = learnt(&new(), "Acme", r#"{"tier":"gold","seats":1}"#, 1);
        let now = learnt(&seen, "Acme plc", r#"{"tier":"iron","beta":true}"#, 2);
        let elsewhere = RemoteChanges::between(&seen, &now);
        assert_eq!(elsewhere.fields(), ["name", "properties", "token"]);
        let mut labels = elsewhere.labels();
        labels.sort();
        let expected = "name,properties beta,properties seats,properties tier,token";
        assert_eq!(labels.join(","), expected);
        assert!(RemoteChanges::between(&seen, &seen).is_empty());
    }

    #[test]
    fn what_was_not_known_or_not_told_does_not_differ() {
        let seen = learnt(&new(), "Acme", r#"{"tier":"gold"}"#, 1);
        let silent = learnt(&seen, "Acme", "null", 1);
        let mut imported = new();
        imported.import(&only_name("Other"), Timestamp::UNIX_EPOCH, "ana");
        for (before, now) in [(&new(), &seen), (&seen, &silent), (&imported, &seen)] {
            assert!(RemoteChanges::between(before, now).is_empty(), "{before:?}");
        }
    }

    #[test]
    fn one_thing_alone_is_a_difference() {
        let seen = learnt(&new(), "Acme", "{}", 1);
        let mut tag = seen.clone();
        tag.environment_tag.as_mut().expect("known").value = EnvironmentTag::Customer;
        for (now, field) in [
            (learnt(&seen, "Acme plc", "{}", 1), "name"),
            (learnt(&seen, "Acme", r#"{"beta":1}"#, 1), "properties"),
            (learnt(&seen, "Acme", "{}", 2), "token"),
            (tag, "environment_tag"),
        ] {
            let elsewhere = RemoteChanges::between(&seen, &now);
            assert!(!elsewhere.is_empty(), "{field}");
            assert_eq!(elsewhere.fields(), [field]);
        }
    }
}
