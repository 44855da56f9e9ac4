//! SIGKILL while many clients write over HTTP: every acknowledged write is there afterwards.

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
use rustix::process::{Pid, Signal, kill_process};
use secrecy::SecretString;
use tokio::task::JoinSet;

use super::program::Home;
use crate::support::long;

const WRITERS: usize = 24;
/// After this many acknowledged writes the writer that received the last one kills the service at once, so that a reply
/// sent before its commit is caught.
const ENOUGH: usize = 150;
const KILLS: usize = 50;

/// The last acknowledged state of a group, and the last request that got no answer.
#[derive(Clone)]
struct Acknowledged {
    name: String,
    token: Token,
    asked: Option<LastRequest>,
}

#[derive(Clone, PartialEq)]
enum LastRequest {
    Name(String),
    Rotation,
}

fn client(url: &str, key: &str) -> Client {
    let profile = Profile {
        timeout: Duration::from_secs(20),
        connect_timeout: Duration::from_secs(20),
        ..Profile::new("live", url, KeySource::Env("UNUSED".into()))
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

/// Counts acknowledged writes; the last one kills the service.
#[derive(Clone)]
struct Killer {
    count: Arc<AtomicUsize>,
    service: Pid,
}

impl Killer {
    fn acknowledged(&self) {
        if self.count.fetch_add(1, Ordering::SeqCst) + 1 == ENOUGH {
            kill_process(self.service, Signal::KILL).expect("it runs");
        }
    }
}

/// Creates, updates and rotates groups until the service is gone.
async fn write(
    client: Client,
    writer: String,
    killer: Killer,
) -> BTreeMap<UserGroupId, Acknowledged> {
    let mut told = BTreeMap::new();
    for number in 0.. {
        let id = UserGroupId::parse(format!("{writer}-{number}")).expect("an ID");
        let Ok(reply) = client.get_or_create(&request(&id, "created"), &id).await else {
            break;
        };
        let Verdict::Success(group) = reply.verdict else {
            break;
        };
        killer.acknowledged();
        assert_eq!(group.new_user_group, Some(true));
        let name = format!("updated by {writer}");
        let mut state = Acknowledged {
            name: "created".into(),
            token: group.token,
            asked: Some(LastRequest::Name(name.clone())),
        };
        told.insert(id.clone(), state.clone());
        let Ok(reply) = client.update(&request(&id, &name), &id).await else {
            break;
        };
        let Verdict::Success(_) = reply.verdict else {
            break;
        };
        killer.acknowledged();
        state = Acknowledged {
            name,
            asked: Some(LastRequest::Rotation),
            ..state
        };
        told.insert(id.clone(), state.clone());
        let Ok(reply) = client.rotate(&state.token, Some(&id)).await else {
            break;
        };
        let Verdict::Success(group) = reply.verdict else {
            break;
        };
        killer.acknowledged();
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
    let home = Home::new();
    let key = home.key(&["--environment", "live"]).await;
    let (mut serving, mut url) = home.serve().await;
    for kill in long::spread(0..KILLS, 10) {
        let killer = Killer {
            count: Arc::default(),
            service: serving.pid(),
        };
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let name = format!("k{kill}w{writer}");
            writers.spawn(write(client(&url, &key), name, killer.clone()));
        }
        assert_eq!(serving.code().await, None, "killed by the signal");
        let mut told = BTreeMap::new();
        while let Some(writer) = writers.join_next().await {
            told.extend(writer.expect("no writer panics"));
        }
        assert!(
            told.values().any(|state| state.asked.is_some()),
            "it was killed while writing"
        );
        (serving, url) = home.serve().await;
        check(&client(&url, &key), told).await;
    }
}

/// The service has what was acknowledged, or the result of the unanswered request after it.
async fn check(client: &Client, told: BTreeMap<UserGroupId, Acknowledged>) {
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
            name == state.name || asked == Some(LastRequest::Name(name.clone())),
            "{id}: {name} instead of {}",
            state.name
        );
        assert!(
            group.token == state.token || asked == Some(LastRequest::Rotation),
            "{id}: another token"
        );
    }
}
