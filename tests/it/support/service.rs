//! The embedded service in a temporary folder, with two environments that may share ids, and a plain HTTP client that
//! shares no code with ours.

use std::{path::PathBuf, time::Duration};

use super::postgres;
use groupdesk::{
    api::wire::DEFAULT_PATH,
    service::{
        Limits, Running, Service, Setup,
        store::{Options, SharedStorage, Store},
    },
};
use reqwest::{Method, StatusCode, header::HeaderMap};
use rusqlite::types::ValueRef;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio_rustls::rustls::crypto::ring;

/// Name of the environment tagged `Customer`.
pub(crate) const PRODUCTION: &str = "production";
/// Name of the environment tagged `Testing`.
pub(crate) const TESTING: &str = "testing";

/// A running service. It stops and its folder is removed on drop.
pub(crate) struct TestService {
    pub(crate) store: Store,
    pub(crate) running: Running,
    /// Read-write keys.
    pub(crate) production_key: SecretString,
    pub(crate) testing_key: SecretString,
    pub(crate) database: PathBuf,
    /// The storage that replaces the file below a module `shared`, and its schema.
    storage: Option<(SharedStorage, String)>,
    // Last, so that the database is closed before its folder is removed.
    pub(crate) folder: tempfile::TempDir,
}

impl TestService {
    pub(crate) async fn start() -> Self {
        Self::start_with(Options::default(), Limits::default()).await
    }

    pub(crate) async fn start_with(options: Options, limits: Limits) -> Self {
        Self::start_as(options, limits, Setup::default()).await
    }

    pub(crate) async fn start_as(options: Options, limits: Limits, setup: Setup) -> Self {
        let folder = crate::support::folder::temporary();
        let database = folder.path().join("service/service.db");
        let storage = postgres::storage();
        let store = match &storage {
            Some((storage, _)) => Store::open_shared(storage, options),
            None => Store::open(&database, options),
        };
        let store = store.expect("a new database");
        let (_, production_key) = store
            .create_key(PRODUCTION, Some("Customer"), false)
            .expect("a key");
        let (_, testing_key) = store
            .create_key(TESTING, Some("Testing"), false)
            .expect("a key");
        let listen = "127.0.0.1:0".parse().expect("an address");
        let running = Service::start(listen, store.clone(), DEFAULT_PATH, limits, setup)
            .await
            .expect("a port");
        Self {
            store,
            running,
            production_key,
            testing_key,
            database,
            storage,
            folder,
        }
    }

    /// Scheme, host and port, as in `base_url` of a profile.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.running.address)
    }

    pub(crate) fn production(&self) -> Caller {
        Caller::new(&self.base_url(), &self.production_key)
    }

    pub(crate) fn testing(&self) -> Caller {
        Caller::new(&self.base_url(), &self.testing_key)
    }

    /// A client with a new key.
    pub(crate) fn caller(&self, environment: &str, tag: Option<&str>, read_only: bool) -> Caller {
        let made = self.store.create_key(environment, tag, read_only);
        Caller::new(&self.base_url(), &made.expect("a key").1)
    }

    /// A second store on the same database, as another process would have.
    pub(crate) fn other_store(&self) -> Store {
        let opened = match &self.storage {
            Some((storage, _)) => Store::open_shared(storage, Options::default()),
            None => Store::open(&self.database, Options::default()),
        };
        opened.expect("open")
    }

    /// The schema of its storage below a module `shared`.
    pub(crate) fn schema(&self) -> Option<&str> {
        self.storage.as_ref().map(|(_, schema)| &**schema)
    }

    /// The only row of a query's result, with its columns joined by `|`.
    pub(crate) fn stored(&self, question: &str) -> String {
        if let Some((_, schema)) = &self.storage {
            let server = postgres::server().expect("it is there");
            return server.execute(schema, question);
        }
        let text = |row: &rusqlite::Row<'_>| {
            let columns = (0..row.as_ref().column_count()).map(|at| {
                Ok(match row.get_ref(at)? {
                    ValueRef::Integer(number) => number.to_string(),
                    value => value.as_str()?.to_owned(),
                })
            });
            let columns: Result<Vec<_>, rusqlite::Error> = columns.collect();
            Ok(columns?.join("|"))
        };
        let row = self.other_connection().query_row(question, [], text);
        row.expect("one row")
    }

    /// The whole content of the database.
    pub(crate) fn everything(&self) -> Vec<u8> {
        if let Some((_, schema)) = &self.storage {
            let server = postgres::server().expect("it is there");
            return server.dump(schema).into_bytes();
        }
        let files = ["", "-wal"].map(|suffix| {
            std::fs::read(format!("{}{suffix}", self.database.display())).expect("a file")
        });
        files.concat()
    }

    /// A second connection to the database, as another process would have.
    pub(crate) fn other_connection(&self) -> rusqlite::Connection {
        let other = rusqlite::Connection::open(&self.database).expect("open");
        other
            .busy_timeout(Duration::from_secs(20))
            .expect("a time-out");
        other
    }
}

/// One environment, accessed over plain HTTP.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) http: reqwest::Client,
    pub(crate) url: String,
    pub(crate) authorization: String,
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Caller {
    pub(crate) fn new(base_url: &str, key: &SecretString) -> Self {
        Self {
            http: plain_client(),
            url: format!("{base_url}{DEFAULT_PATH}"),
            authorization: format!("Token {}", key.expose_secret()),
        }
    }

    /// Sends a request with key and media type, and the given body.
    pub(crate) fn request(
        &self,
        method: Method,
        body: impl Into<reqwest::Body>,
    ) -> reqwest::RequestBuilder {
        self.http
            .request(method, &self.url)
            .header("authorization", &self.authorization)
            .header("content-type", "application/json")
            .body(body)
    }

    pub(crate) async fn send(&self, method: Method, body: impl Into<reqwest::Body>) -> Reply {
        Reply::of(self.request(method, body)).await
    }

    pub(crate) async fn get(&self, body: &Value) -> Reply {
        self.send(Method::GET, body.to_string()).await
    }

    pub(crate) async fn put(&self, body: &Value) -> Reply {
        self.send(Method::PUT, body.to_string()).await
    }

    pub(crate) async fn rotate(&self, token: &str) -> Reply {
        let body = json!({ "current_token": token });
        self.send(Method::POST, body.to_string()).await
    }

    /// Gets or creates the group, and returns the token.
    pub(crate) async fn token_of(&self, user_group_id: &str) -> String {
        let reply = self.get(&json!({ "user_group_id": user_group_id })).await;
        reply.ok()["user_group"]["token"]
            .as_str()
            .expect("a token")
            .to_owned()
    }
}

impl Reply {
    pub(crate) async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.expect("an answer");
        Self {
            status: response.status(),
            headers: response.headers().clone(),
            text: response.text().await.expect("a whole answer"),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect("JSON")
    }

    /// The JSON of a success. Panics for any other answer.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        assert_eq!(self.json()["success"], 1);
        self.json()
    }

    /// Status and code of a refusal. Panics for any other answer.
    #[track_caller]
    pub(crate) fn refused(&self) -> (u16, String) {
        let body = self.json();
        assert_eq!(body["success"], 0, "{}", self.text);
        assert!(body["error"]["message"].is_string(), "{}", self.text);
        let code = body["error"]["code"].as_str().expect("a code");
        (self.status.as_u16(), code.to_owned())
    }
}

/// No proxy, no redirects, no certificate authorities: for loopback only.
pub(crate) fn plain_client() -> reqwest::Client {
    // Another test may have installed the same provider already.
    let _ = ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .tls_certs_only([])
        .timeout(Duration::from_mins(1))
        .build()
        .expect("a client")
}
