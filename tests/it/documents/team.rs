//! A team as the pages describe it: a PostgreSQL server that is reached over TLS with SCRAM, a service, and people with
//! logins, passwords, API keys and homes of their own. Nobody is a superuser: the administrator may create roles, and
//! schemas in the database `desk`.
//!
//! Each person has the authority of the server as `team-ca.pem`, and the password in `desk.password` and `~/.pgpass`
//! (mode 600). `pass show desk` prints the password, and `pass show groupdesk-live` an API key.

use std::{collections::BTreeMap, fs, io::Write, os::unix::fs::OpenOptionsExt, path::Path};

use secrecy::ExposeSecret;
use serde_json::json;
use tempfile::TempDir;

use super::run;
use crate::support::{
    certificates::Authority,
    postgres::{self, Server},
    service::{PRODUCTION, TestService},
};

/// Who `sh,team` is for.
pub(super) const ADMIN: &str = "ana";
/// The server and the service in the pages.
const SERVER: &str = "@db1/";
const SERVICE: &str = "https://api.example.com";
/// A group that the service has before anybody uses groupdesk.
const GROUP: &str = "acme-eu";

const PASS: &str = "#!/bin/sh\ncat \"$HOME/.password-store/$2\"\n";

pub(super) struct Team {
    server: Server,
    port: u16,
    authority: String,
    service: TestService,
    homes: BTreeMap<String, TempDir>,
}

fn write(file: &Path, text: &str, mode: u32) {
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    let opened = fs::File::options()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(file);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.expect("written");
}

impl Team {
    /// `None` if PostgreSQL is not installed.
    pub(super) async fn start() -> Option<Self> {
        let authority = Authority::new("the authority of the team");
        let certificate = authority.certify(&["localhost"], |_| {});
        let authority = authority.pem;
        let (server, port) =
            postgres::with_tls(&certificate.pem, &certificate.key_pem, &authority)?;
        for text in [
            "CREATE DATABASE desk",
            "CREATE ROLE ana LOGIN CREATEROLE",
            "GRANT CREATE ON DATABASE desk TO ana",
        ] {
            server.execute("public", text);
        }
        let service = TestService::start().await;
        let made = service
            .production()
            .get(&json!({"user_group_id": GROUP}))
            .await;
        assert_eq!(made.status, 200);
        Some(Self {
            server,
            port,
            authority,
            service,
            homes: BTreeMap::new(),
        })
    }

    /// Runs a block as this person. Whoever has a login by now also has a password, as the pages demand.
    pub(super) async fn run(&mut self, who: &str, block: &str) -> Result<(), String> {
        let password = format!("canary-of-{who}");
        let text = format!("ALTER ROLE {who} PASSWORD '{password}'");
        self.server.execute("public", &text);
        if !self.homes.contains_key(who) {
            let home = self.furnish(who, &password);
            self.homes.insert(who.to_owned(), home);
        }
        let at = format!("@localhost:{}/", self.port);
        let block = block.replace(SERVER, &at);
        let block = block.replace(SERVICE, &self.service.base_url());
        run::in_home(&block, self.homes[who].path(), who).await
    }

    fn furnish(&self, who: &str, password: &str) -> TempDir {
        let home = run::home();
        let at = |name: &str| home.path().join(name);
        let made = self
            .service
            .store
            .create_key(PRODUCTION, Some("Customer"), false);
        let (_, key) = made.expect("a key");
        write(&at("team-ca.pem"), &self.authority, 0o644);
        write(&at("desk.password"), password, 0o600);
        let line = format!("localhost:{}:*:{who}:{password}\n", self.port);
        write(&at(".pgpass"), &line, 0o600);
        write(&at(".password-store/desk"), password, 0o600);
        write(
            &at(".password-store/groupdesk-live"),
            key.expose_secret(),
            0o600,
        );
        write(&at("bin/pass"), PASS, 0o700);
        home
    }
}
