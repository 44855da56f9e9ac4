//! What a service states about behaviour that the interface leaves open. groupdesk's own service does so in a header.

use reqwest::header::HeaderMap;

use crate::domain::facts::{GetBehaviour, OmittedField};

const HEADER: &str = "groupdesk-facts";

/// Whether the service states in its answer that it did nothing.
pub(super) fn not_done(headers: &HeaderMap) -> bool {
    headers
        .get("groupdesk-not-done")
        .is_some_and(|said| said == "1")
}

/// `None` if it was not stated, or not in a form that is understood.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatedFacts {
    pub properties_on_get: Option<GetBehaviour>,
    pub absent_name: Option<OmittedField>,
    pub absent_properties: Option<OmittedField>,
    pub absent_mapping: Option<OmittedField>,
}

impl StatedFacts {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(HEADER).iter();
        let lines: Vec<_> = lines.filter_map(|line| line.to_str().ok()).collect();
        let stated = |name: &str| {
            let statements = lines.iter().flat_map(|line| line.split(','));
            let mut values = statements
                .filter_map(|statement| statement.split_once('='))
                .filter(|(of, _)| of.trim().eq_ignore_ascii_case(name))
                .map(|(_, value)| value.trim().to_ascii_lowercase());
            let value = values.next()?;
            // Contradicting statements count as none.
            values.all(|other| other == value).then_some(value)
        };
        let absent = |name| {
            let said = OmittedField::parse(&stated(name)?)?;
            (said != OmittedField::Unknown).then_some(said)
        };
        let on_get = stated("properties-on-get").and_then(|said| GetBehaviour::parse(&said));
        Self {
            properties_on_get: on_get.filter(|said| *said != GetBehaviour::Unknown),
            absent_name: absent("absent-name"),
            absent_properties: absent("absent-properties"),
            absent_mapping: absent("absent-mapping"),
        }
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn read(lines: &[&[u8]]) -> StatedFacts {
        let value = |line: &&[u8]| HeaderValue::from_bytes(line).expect("a header");
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(HEADER, value(line));
        }
        StatedFacts::of(&headers)
    }

    #[test]
    fn each_fact_is_read_by_its_name() {
        let facts = read(&[
            b"properties-on-get=echoed, absent-name=keep",
            b"Absent-Mapping = Clear,absent-properties=keep",
        ]);
        let wanted = StatedFacts {
            properties_on_get: Some(GetBehaviour::Echoed),
            absent_name: Some(OmittedField::Keep),
            absent_properties: Some(OmittedField::Keep),
            absent_mapping: Some(OmittedField::Clear),
        };
        assert_eq!(facts, wanted);
    }

    #[test]
    fn what_is_not_understood_is_not_said() {
        let nothing = StatedFacts::default();
        for lines in [
            &[] as &[&[u8]],
            &[b""],
            &[b"absent-name"],
            &[b"absent-name=unknown, absent-mapping=perhaps, properties-on-get=unknown"],
            &[b"absent-name=perhaps, properties-on-get=keep, ,=,=keep"],
            &[b"absent-name=keep; absent-mapping=keep"],
            &[b"absent-name=keep", b"absent-name=clear"],
            &[b"absent-name=keep\xff"],
        ] {
            assert_eq!(read(lines), nothing, "{lines:?}");
        }
        let some = read(&[b"later=1, absent-name=keep, absent-name=KEEP, absent-mapping=merge"]);
        assert_eq!(some.absent_name, Some(OmittedField::Keep));
        assert_eq!(some.absent_mapping, None);
    }
}
