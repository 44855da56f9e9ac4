//! Nulls and other types in every field of an answer.

use groupdesk::api::answer::Verdict;

use super::{JSON, is_done, send_each, with_field};
use crate::{
    client::CALLS,
    support::{
        faults::{Fault, http},
        long,
    },
};

const VALUES: &str = r#"null|true|false|0|1|-1|1.0|-0.0|1.5|1e400|9007199254740993|123456789012345678901234567890|""|" "|"1"|"acme-eu"|[]|[1]|{}|{"a":1}"#;
const FIELDS: &str = "success new_user_group user_group team_id token name provided_id properties api_environment_tag";

#[tokio::test]
async fn nulls_and_other_types_in_every_field() {
    let values = VALUES.split('|').map(Some).chain([None]);
    let all = values.flat_map(|value| FIELDS.split(' ').map(move |field| (field, value)));
    for (number, (field, value)) in all.enumerate() {
        let one = CALLS[number % CALLS.len()];
        let calls: &[_] = if long::all() { &CALLS } else { &[one] };
        let text = with_field(field, value);
        for result in send_each(Fault::Answer(http("200 OK", &[JSON], &text)), calls).await {
            let what = format!("{field} {value:?}: {result:?}");
            // docs/design/service.md, hazard 9: which fields decide, and what they must be.
            let expected = match field {
                "success" => matches!(value, Some("1" | "1.0" | "true" | "\"1\"")),
                "user_group" => false,
                "token" => matches!(value, Some("\"1\"" | "\"acme-eu\"")),
                "provided_id" => value == Some("\"acme-eu\""),
                _ => true,
            };
            assert_eq!(is_done(&result), expected, "{what}");
            let reply = result.expect("an answer");
            let no = field == "success" && matches!(value, Some("0" | "-0.0" | "false"));
            let is_no = matches!(reply.verdict, Verdict::Refused { stated: true, .. });
            assert_eq!(is_no, no, "{what}");
            if let Verdict::Success(group) = &reply.verdict {
                let text = |field| value.filter(|value| field && value.starts_with('"'));
                let name = text(field == "name").map(|text| text.trim_matches('"'));
                let expected = if field == "name" { name } else { Some("Acmé") };
                assert_eq!(group.name.as_deref(), expected, "{what}");
                let properties = field != "properties" || value.is_some_and(|v| v.starts_with('{'));
                assert_eq!(group.properties.is_some(), properties, "{what}");
                let team = match (field, value) {
                    ("team_id", Some("0" | "-0.0")) => Some(0),
                    ("team_id", Some("1" | "1.0" | "\"1\"")) => Some(1),
                    ("team_id", Some("-1")) => Some(-1),
                    ("team_id", Some("9007199254740993")) => Some(9_007_199_254_740_993),
                    ("team_id", _) => None,
                    _ => Some(7),
                };
                assert_eq!(group.team_id, team, "{what}");
            }
        }
    }
}
