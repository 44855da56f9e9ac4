//! The facts that the service states in headers: to whom, that they are true, and that our client reads them.

use groupdesk::{
    api::{client::Client, wire::GroupRequest},
    config::profile::{KeySource, Profile},
    domain::{
        facts::{Fact, Field, GetBehaviour, OmittedField},
        group::UserGroupId,
    },
    service::{Limits, store::Options},
};
use reqwest::Method;
use serde_json::json;

use crate::support::service::{Reply, TestService};

const HEADER: &str = "groupdesk-facts";

async fn without_facts() -> TestService {
    let limits = Limits {
        states_facts: false,
        ..Limits::default()
    };
    TestService::start_with(Options::default(), limits).await
}

#[tokio::test]
async fn the_facts_are_in_every_answer_to_a_valid_key_and_no_other() {
    let service = TestService::start().await;
    let caller = service.testing();
    let acme = json!({"user_group_id": "acme"});
    let told = [
        caller.get(&acme).await,
        caller.put(&acme).await,
        caller.rotate("unknown").await,
        caller.put(&json!({"user_group_id": "nobody"})).await,
        caller.send(Method::PUT, "{").await,
        service.caller("reader", None, true).put(&acme).await,
    ];
    for reply in told {
        let facts = &reply.headers[HEADER];
        let wanted = "properties-on-get=returned, absent-name=keep, absent-properties=keep, absent-mapping=keep";
        assert_eq!(facts, wanted, "{}", reply.text);
    }
    let mut stranger = caller.clone();
    stranger.authorization = "Token wrong".into();
    let not_told = [
        stranger.get(&acme).await,
        caller.send(Method::DELETE, "").await,
        Reply::of(caller.http.get(service.base_url())).await,
        without_facts().await.testing().get(&acme).await,
    ];
    for reply in not_told {
        assert_eq!(reply.headers.get(HEADER), None, "{}", reply.text);
    }
}

#[tokio::test]
async fn the_stated_facts_are_true() {
    let service = TestService::start().await;
    let caller = service.testing();
    let full = json!({"user_group_id": "acme", "name": "Acme", "mapping": {"40": "213"}, "properties": {"a": 1}});
    caller.get(&full).await.ok();
    caller.put(&json!({"user_group_id": "acme"})).await.ok();
    let other = json!({"user_group_id": "acme", "properties": {"b": 2}});
    let group = caller.get(&other).await.ok()["user_group"].clone();
    assert_eq!(group["name"], "Acme");
    assert_eq!(group["properties"], json!({"a": 1}));
    let mapping = service.stored("SELECT mapping FROM groups");
    assert_eq!(mapping, r#"{"40":"213"}"#);
}

#[tokio::test]
async fn our_client_reads_the_facts() {
    let kept = Field::ALL.map(|field| Fact::OmittedField(field, OmittedField::Keep));
    let returned = [Fact::PropertiesOnGet(GetBehaviour::Returned)];
    let stated = [&returned[..], &kept].concat();
    let id = UserGroupId::parse("acme").expect("a valid id");
    let request = GroupRequest {
        user_group_id: "acme".into(),
        ..GroupRequest::default()
    };
    for (service, facts) in [
        (TestService::start().await, stated),
        (without_facts().await, Vec::new()),
    ] {
        let profile = Profile::new("eu", &service.base_url(), KeySource::Env("KEY".into()));
        let client = Client::new(&profile, service.testing_key.clone()).expect("a client");
        let created = client.create(&request, &id).await.expect("an answer");
        let updated = client.update(&request, &id).await.expect("an answer");
        assert_eq!((&created.facts, &updated.facts), (&facts, &facts));
    }
}
