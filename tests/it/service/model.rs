//! Random sequences of requests with several keys of several environments, answered as a small model of the service
//! predicts.

use std::collections::HashMap;

use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Map, Value, json};

use crate::support::{
    long,
    service::{Caller, Reply, TestService},
};

const IDS: [&str; 3] = ["a", "ä b", "42"];
/// Environment, its tag, and whether the key is read-only.
const KEYS: [(&str, Option<&str>, bool); 5] = [
    ("production", Some("Customer"), false),
    ("testing", Some("Testing"), false),
    ("plain", None, false),
    ("production", Some("Customer"), true),
    ("plain", None, true),
];

#[derive(Debug, Clone)]
enum Act {
    Get(Fields),
    Put(Fields),
    /// Rotates a token that is current in one of the environments, was current once, or never existed.
    Current(usize, usize),
    Retired(usize),
    Never,
}

#[derive(Debug, Clone)]
struct Fields {
    id: usize,
    name: Option<String>,
    mapping: Option<Vec<(String, String)>>,
    properties: Option<Map<String, Value>>,
}

#[derive(Debug, Clone)]
struct Group {
    team: Option<i64>,
    token: String,
    name: String,
    properties: Map<String, Value>,
}

#[derive(Default)]
struct Model {
    groups: HashMap<(&'static str, usize), Group>,
    /// With the environment in which they were current.
    retired: Vec<(&'static str, String)>,
}

fn fields() -> impl Strategy<Value = Fields> {
    let json = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[\\PC\"\\\\]{0,8}".prop_map(Value::from),
        Just(json!({"x": [1, {"y": {}}]})),
        Just(serde_json::from_str("123456789012345678901234567890.10").expect("a number")),
    ];
    let properties = prop::collection::vec(("[a-cé\"]{0,3}", json), 0..4);
    (
        0..IDS.len(),
        prop::option::of("\\PC{1,12}"),
        prop::option::of(prop::collection::vec(("[0-9]{1,3}", "[0-9]{1,3}"), 0..3)),
        prop::option::of(properties.prop_map(|entries| entries.into_iter().collect())),
    )
        .prop_map(|(id, name, mapping, properties)| Fields {
            id,
            name,
            mapping,
            properties,
        })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => fields().prop_map(Act::Get),
        3 => fields().prop_map(Act::Put),
        3 => (0..3_usize, 0..IDS.len()).prop_map(|(key, id)| Act::Current(key, id)),
        1 => any::<usize>().prop_map(Act::Retired),
        1 => Just(Act::Never),
    ]
}

impl Fields {
    fn body(&self, prefix: &str) -> Value {
        let mut body = json!({"user_group_id": format!("{prefix} {}", IDS[self.id])});
        if let Some(name) = &self.name {
            body["name"] = json!(name);
        }
        if let Some(mapping) = &self.mapping {
            let rows = mapping.iter().cloned();
            body["mapping"] = rows.map(|(key, value)| (key, json!(value))).collect();
        }
        if let Some(properties) = &self.properties {
            body["properties"] = Value::Object(properties.clone());
        }
        body
    }
}

type Expected = Result<(&'static str, usize), (u16, &'static str)>;

impl Model {
    /// The expected answer of a get; the token of a new group is taken from the answer.
    fn get(&mut self, key: usize, fields: &Fields, prefix: &str) -> (Expected, bool) {
        let (environment, tag, read_only) = KEYS[key];
        let place = (environment, fields.id);
        if self.groups.contains_key(&place) {
            return (Ok(place), false);
        }
        if read_only {
            return (Err((403, "read_only_key")), false);
        }
        let tag_of = |other: &str| KEYS.iter().find(|key| key.0 == other).and_then(|key| key.1);
        let shares = |other: &str| {
            let pair = (tag, tag_of(other));
            let (customer, testing) = (Some("Customer"), Some("Testing"));
            pair == (customer, testing) || pair == (testing, customer)
        };
        let mut others = self.groups.keys().filter(|(_, id)| *id == fields.id);
        if others.any(|(other, _)| !shares(other)) {
            return (Err((409, "environment_tag_required")), false);
        }
        let usual = || format!("{prefix} {}", IDS[fields.id]);
        let group = Group {
            team: None,
            token: String::new(),
            name: fields.name.clone().unwrap_or_else(usual),
            properties: fields.properties.clone().unwrap_or_default(),
        };
        self.groups.insert(place, group);
        (Ok(place), true)
    }

    fn put(&mut self, key: usize, fields: &Fields) -> Expected {
        let (environment, _, read_only) = KEYS[key];
        if read_only {
            return Err((403, "read_only_key"));
        }
        let place = (environment, fields.id);
        let group = self
            .groups
            .get_mut(&place)
            .ok_or((404, "unknown_user_group"))?;
        if let Some(name) = &fields.name {
            group.name.clone_from(name);
        }
        if let Some(properties) = &fields.properties {
            group.properties.clone_from(properties);
        }
        Ok(place)
    }

    fn rotate(&mut self, key: usize, token: &str) -> Expected {
        let (environment, _, read_only) = KEYS[key];
        if read_only {
            return Err((403, "read_only_key"));
        }
        let old = (environment, token.to_owned());
        let mut groups = self.groups.iter();
        if let Some((place, _)) =
            groups.find(|(place, group)| (place.0, &group.token) == (old.0, &old.1))
        {
            self.retired.push(old);
            return Ok(*place);
        }
        Err(if self.retired.contains(&old) {
            (409, "token_retired")
        } else {
            (404, "unknown_token")
        })
    }

    /// The token of an act, if it exists by now.
    fn token(&self, act: &Act) -> String {
        let found = match act {
            Act::Current(key, id) => {
                let group = self.groups.get(&(KEYS[*key].0, *id));
                group.map(|group| &group.token)
            }
            Act::Retired(at) => {
                let all = self.retired.len().max(1);
                self.retired.get(at % all).map(|(_, token)| token)
            }
            _ => None,
        };
        found.cloned().unwrap_or_else(|| "0".repeat(64))
    }

    /// Compares an answer with the model, and takes over values that only the service can choose.
    fn check(&mut self, reply: &Reply, expected: Expected, asked: &Request<'_>) {
        let place = match expected {
            Err((status, code)) => {
                assert_eq!(reply.refused(), (status, code.to_owned()), "{asked:?}");
                return;
            }
            Ok(place) => place,
        };
        let answer = reply.ok();
        let told = &answer["user_group"];
        let group = self.groups.get_mut(&place).expect("it is there");
        let token = told["token"].as_str().expect("a token").to_owned();
        if group.token.is_empty() || asked.rotates {
            assert!(token.len() == 64 && token != group.token);
            group.token = token;
        }
        assert_eq!(told["token"], json!(group.token), "{asked:?}");
        assert_eq!(told["name"], json!(group.name), "{asked:?}");
        let team = told["team_id"].as_i64().expect("a number");
        assert_eq!(*group.team.get_or_insert(team), team);
        let properties = match asked.fields {
            Some(Fields {
                properties: Some(_),
                ..
            }) => json!(group.properties),
            _ => Value::Null,
        };
        assert_eq!(told["properties"], properties, "{asked:?}");
        assert_eq!(
            answer.get("new_user_group"),
            asked.is_new.map(Value::from).as_ref()
        );
        assert!(told.get("mapping").is_none());
    }
}

#[derive(Debug)]
struct Request<'a> {
    fields: Option<&'a Fields>,
    rotates: bool,
    /// For a get: whether it must create.
    is_new: Option<bool>,
}

async fn play(callers: &[Caller], prefix: &str, acts: &[(usize, Act)]) {
    let mut model = Model::default();
    for (key, act) in acts {
        let caller = &callers[*key];
        let rotates = !matches!(act, Act::Get(_) | Act::Put(_));
        let (reply, expected, fields, is_new) = match act {
            Act::Get(fields) => {
                let (expected, is_new) = model.get(*key, fields, prefix);
                let reply = caller.get(&fields.body(prefix)).await;
                (reply, expected, Some(fields), Some(is_new))
            }
            Act::Put(fields) => {
                let expected = model.put(*key, fields);
                let reply = caller.put(&fields.body(prefix)).await;
                (reply, expected, Some(fields), None)
            }
            Act::Current(..) | Act::Retired(_) | Act::Never => {
                let token = model.token(act);
                let expected = model.rotate(*key, &token);
                (caller.rotate(&token).await, expected, None, None)
            }
        };
        let asked = Request {
            fields,
            rotates,
            is_new,
        };
        model.check(&reply, expected, &asked);
    }
}

#[test]
fn any_sequence_is_answered_as_the_model_predicts() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let service = runtime.block_on(TestService::start());
    let callers =
        KEYS.map(|(environment, tag, read_only)| service.caller(environment, tag, read_only));
    let cases = if long::all() { 400 } else { 20 };
    let mut runner = TestRunner::new(ProptestConfig {
        cases,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    });
    let acts = prop::collection::vec((0..KEYS.len(), act()), 1..40);
    let number = std::cell::Cell::new(0);
    let played = runner.run(&acts, |acts| {
        // Each case has ids of its own, because the service keeps its groups.
        number.set(number.get() + 1);
        let prefix = format!("case {}", number.get());
        runtime.block_on(play(&callers, &prefix, &acts));
        Ok(())
    });
    played.unwrap_or_else(|error| panic!("{error}"));
}
