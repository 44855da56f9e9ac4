//! SIGKILL while many write over HTTP: every write that was acknowledged is there afterwards.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use groupdesk::{
    api::{answer::Verdict, client::Client, wire::GroupRequest},
    config::{KeySource, Profile},
    domain::{group::UserGroupId, token::Token},
};
use rustix::process::Signal;
use secrecy::SecretString;
use tokio::task::JoinSet;

use super::desk::{DEADLINE, Desk};

const WRITERS: usize = 24;
/// So many acknowledged writes before the service is killed.
const ENOUGH: usize = 400;

/// What a writer was told of a group, and what it had asked last without an answer.
#[derive(Clone)]
struct Acknowledged {
    name: String,
    token: Token,
    asked: Option<Asked>,
}

#[derive(Clone, PartialEq)]
enum Asked {
    Name(String),
    Rotation,
}

fn client(url: &str, key: &str) -> Client {
    let profile = Profile {
        name: "live".into(),
        base_url: url.into(),
        path: "/api/user".into(),
        api_key: KeySource::Env("UNUSED".into()),
        environment: None,
        production: false,
        read_only: false,
        timeout: Duration::from_secs(20),
        connect_timeout: Duration::from_secs(20),
        allow_plain_http: false,
        proxy_from_environment: false,
        read_properties: false,
    };
    Client::new(&profile, SecretString::from(key.to_owned())).expect("a client")
}

fn request(id: &UserGroupId, name: &str) -> GroupRequest {
    GroupRequest {
        user_group_id: id.as_str().to_owned(),
        name: Some(name.to_owned()),
        ..GroupRequest::default()
    }
}

/// Creates, updates and rotates group after group until the service is gone.
async fn write(
    client: Client,
    writer: usize,
    count: Arc<AtomicUsize>,
) -> BTreeMap<UserGroupId, Acknowledged> {
    let mut told = BTreeMap::new();
    for number in 0.. {
        let id = UserGroupId::parse(format!("w{writer}-{number}")).expect("an id");
        let Ok(reply) = client.get_or_create(&request(&id, "created"), &id).await else {
            break;
        };
        let Verdict::Success(group) = reply.verdict else {
            break;
        };
        assert_eq!(group.new_user_group, Some(true));
        count.fetch_add(1, Ordering::SeqCst);
        let mut state = Acknowledged {
            name: "created".into(),
            token: group.token,
            asked: None,
        };
        let name = format!("updated by {writer}");
        state.asked = Some(Asked::Name(name.clone()));
        told.insert(id.clone(), state.clone());
        let Ok(reply) = client.update(&request(&id, &name), &id).await else {
            break;
        };
        let Verdict::Success(_) = reply.verdict else {
            break;
        };
        count.fetch_add(1, Ordering::SeqCst);
        state = Acknowledged {
            name,
            asked: Some(Asked::Rotation),
            ..state
        };
        told.insert(id.clone(), state.clone());
        let Ok(reply) = client.rotate(&state.token, Some(&id)).await else {
            break;
        };
        let Verdict::Success(group) = reply.verdict else {
            break;
        };
        count.fetch_add(1, Ordering::SeqCst);
        told.insert(
            id,
            Acknowledged {
                token: group.token,
                asked: None,
                ..state
            },
        );
    }
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_write_is_lost() {
    let desk = Desk::new();
    let key = desk.key(&["--environment", "live"]).await;
    let (mut serving, url) = desk.serve().await;
    let count = Arc::new(AtomicUsize::new(0));
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(client(&url, &key), writer, count.clone()));
    }
    let enough = async {
        while count.load(Ordering::SeqCst) < ENOUGH {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(DEADLINE, enough)
        .await
        .expect("the writers get on");
    serving.signal(Signal::KILL);
    assert_eq!(serving.code().await, None, "killed by the signal");
    let mut told = BTreeMap::new();
    while let Some(writer) = writers.join_next().await {
        told.extend(writer.expect("no writer panics"));
    }
    assert!(
        told.values().any(|state| state.asked.is_some()),
        "it was killed amid writes"
    );

    let (_again, url) = desk.serve().await;
    let client = client(&url, &key);
    for (id, state) in told {
        let reply = client
            .get_or_create(&request(&id, "lost"), &id)
            .await
            .expect("an answer");
        let Verdict::Success(group) = reply.verdict else {
            panic!("{id}: {:?}", reply.verdict)
        };
        assert_eq!(
            group.new_user_group,
            Some(false),
            "{id} was created before the kill"
        );
        let name = group.name.expect("a name");
        let asked = state.asked;
        assert!(
            name == state.name || asked == Some(Asked::Name(name.clone())),
            "{id}: {name} instead of {}",
            state.name
        );
        assert!(
            group.token == state.token || asked == Some(Asked::Rotation),
            "{id}: another token"
        );
    }
}
