//! A service with the same interface that behaves differently where the interface is undocumented: with fields that are
//! left out, and with a get that carries fields.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use serde_json::{Map, Value, json};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use super::faults::{http, read_request};

/// What a get of an existing group does with the properties it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GetBehaviour {
    ReturnsStored,
    Echoes,
    /// Stores them, like an update.
    Applies,
    /// Returns no properties.
    Silent,
}

/// Its undocumented behaviour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Odd {
    pub(crate) on_get: GetBehaviour,
    /// An update clears fields that it does not carry.
    pub(crate) clears: bool,
    /// An update adds rows and keys to the existing ones.
    pub(crate) merges: bool,
}

type Groups = BTreeMap<String, Map<String, Value>>;

/// Runs until it is dropped.
pub(crate) struct OddService {
    address: SocketAddr,
    groups: Arc<Mutex<Groups>>,
    accepting: JoinHandle<()>,
}

impl OddService {
    pub(crate) async fn start(odd: Odd) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let groups = Arc::new(Mutex::new(Groups::new()));
        let here = Arc::clone(&groups);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, odd, Arc::clone(&here)));
            }
        });
        Self {
            address,
            groups,
            accepting,
        }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Name, mapping and properties of a group as stored.
    pub(crate) fn group(&self, id: &str) -> Value {
        let groups = self.groups.lock().expect("no panic");
        let group = groups.get(id).expect("it is there");
        json!([group["name"], group["mapping"], group["properties"]])
    }

    /// Changes a group as another client would.
    pub(crate) fn set(&self, id: &str, field: &str, value: Value) {
        let mut groups = self.groups.lock().expect("no panic");
        let group = groups.get_mut(id).expect("it is there");
        group.insert(field.into(), value);
    }
}

impl Drop for OddService {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, odd: Odd, groups: Arc<Mutex<Groups>>) {
    while let Some(request) = read_request(&mut stream, 0).await {
        let method = request
            .head()
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_owned();
        let sent: Map<String, Value> = serde_json::from_slice(request.body()).unwrap_or_default();
        let answer = answer(&method, &sent, odd, groups.lock().expect("no panic"));
        let (status, body) = match answer {
            Some(body) => ("200 OK", body),
            None => (
                "404 Not Found",
                json!({"success": 0, "error": {"message": "no"}}),
            ),
        };
        let bytes = http(
            status,
            &["Content-Type: application/json"],
            body.to_string(),
        );
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

fn answer(
    method: &str,
    sent: &Map<String, Value>,
    odd: Odd,
    mut groups: MutexGuard<'_, Groups>,
) -> Option<Value> {
    let id = sent.get("user_group_id")?.as_str()?.to_owned();
    let is_new = !groups.contains_key(&id);
    if is_new && method != "GET" {
        return None;
    }
    let group = groups.entry(id.clone()).or_insert_with(|| {
        let mut group = Map::new();
        group.insert("name".into(), json!(id));
        group.insert("mapping".into(), json!({}));
        group.insert("properties".into(), json!({}));
        group
    });
    let carried = sent.get("properties").filter(|sent| !sent.is_null());
    let mut properties = Value::Null;
    if is_new || method == "PUT" || odd.on_get == GetBehaviour::Applies {
        for field in ["name", "mapping", "properties"] {
            match sent.get(field).filter(|sent| !sent.is_null()) {
                Some(Value::Object(rows)) if odd.merges && method == "PUT" => {
                    let there = group[field].as_object_mut().expect("rows");
                    there.extend(rows.clone());
                }
                Some(value) => drop(group.insert(field.into(), value.clone())),
                None if odd.clears && method == "PUT" => {
                    let empty = if field == "name" {
                        json!("")
                    } else {
                        json!({})
                    };
                    group.insert(field.into(), empty);
                }
                None => {}
            }
        }
    }
    if let Some(carried) = carried {
        properties = match (method, odd.on_get) {
            ("GET", GetBehaviour::Silent) => Value::Null,
            ("GET", GetBehaviour::Echoes) => carried.clone(),
            _ => group["properties"].clone(),
        };
    }
    Some(json!({
        "success": 1,
        "new_user_group": is_new,
        "user_group": {
            "team_id": 7,
            "token": format!("token-of-{id}"),
            "name": group["name"],
            "provided_id": id,
            "properties": properties,
        },
    }))
}
