//! What a service states about behaviour that the interface leaves open. groupdesk's own service does so in a header.

use reqwest::header::HeaderMap;

use crate::domain::facts::Fact;

const HEADER: &str = "groupdesk-facts";
/// What may be stated: whether others write, a service cannot know.
const NAMES: [&str; 4] = [
    "properties-on-get",
    "absent-name",
    "absent-mapping",
    "absent-properties",
];

/// Whether the service states in its answer that it did nothing.
pub(super) fn not_done(headers: &HeaderMap) -> bool {
    headers
        .get("groupdesk-not-done")
        .is_some_and(|said| said == "1")
}

/// What is stated in a form that is understood, each once.
pub(super) fn stated(headers: &HeaderMap) -> Vec<Fact> {
    let lines = headers.get_all(HEADER).iter();
    let lines: Vec<_> = lines.filter_map(|line| line.to_str().ok()).collect();
    let stated = |name: &str| {
        let statements = lines.iter().flat_map(|line| line.split(','));
        let mut values = statements
            .filter_map(|statement| statement.split_once('='))
            .filter(|(of, _)| of.trim().eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_ascii_lowercase());
        let value = values.next().filter(|value| value != "unknown")?;
        // Contradicting statements count as none.
        let is_one = values.all(|other| other == value);
        Fact::parse(&name.replace('-', "_"), &value).filter(|_| is_one)
    };
    NAMES.into_iter().filter_map(stated).collect()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;
    use crate::domain::facts::{Field, GetBehaviour, OmittedField};

    fn read(lines: &[&[u8]]) -> Vec<Fact> {
        let value = |line: &&[u8]| HeaderValue::from_bytes(line).expect("a header");
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(HEADER, value(line));
        }
        stated(&headers)
    }

    #[test]
    fn each_fact_is_read_by_its_name() {
        let facts = read(&[
            b"properties-on-get=echoed, absent-name=keep",
            b"Absent-Mapping = Clear,absent-properties=keep",
        ]);
        let wanted = [
            Fact::PropertiesOnGet(GetBehaviour::Echoed),
            Fact::OmittedField(Field::Name, OmittedField::Keep),
            Fact::OmittedField(Field::Mapping, OmittedField::Clear),
            Fact::OmittedField(Field::Properties, OmittedField::Keep),
        ];
        assert_eq!(facts, wanted);
    }

    #[test]
    fn what_is_not_understood_is_not_said() {
        for lines in [
            &[] as &[&[u8]],
            &[b""],
            &[b"absent-name"],
            &[b"absent-name=unknown, absent-mapping=perhaps, properties-on-get=unknown"],
            &[b"absent-name=perhaps, properties-on-get=keep, ,=,=keep"],
            &[b"absent-name=keep; absent-mapping=keep"],
            &[b"absent-name=keep", b"absent-name=clear"],
            &[b"absent-name=keep\xff"],
            &[b"sole-writer=yes, absent_name=keep"],
        ] {
            assert_eq!(read(lines), [], "{lines:?}");
        }
        let some = read(&[b"later=1, absent-name=keep, absent-name=KEEP, absent-mapping=merge"]);
        assert_eq!(some, [Fact::OmittedField(Field::Name, OmittedField::Keep)]);
    }
}
