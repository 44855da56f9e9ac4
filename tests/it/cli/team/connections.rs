//! Connections over a network: which server is trusted, and how a client authenticates. The password is a canary.

use rcgen::{DnType, date_time_ymd};
use secrecy::SecretString;
use serde_json::json;

use super::{Home, machine, postgres};
use crate::{
    cli::program::{Background, set_mode},
    support::{
        assertions::{assert_has, assert_lacks},
        certificates::{Authority, VERSION_1},
        postgres::Server,
        service::Caller,
    },
};

const PASSWORD: &str = "canary-4f1c-of-the-directory";

pub(super) struct Scene {
    pub(super) server: Server,
    port: u16,
    authority: Authority,
}

/// A server whose certificate is for `localhost`, issued by a private authority; expired if `is_over`.
pub(super) fn scene(is_over: bool) -> Option<Scene> {
    scene_in(is_over.then_some(2020))
}

/// The same; its certificate is valid on the first day of this year, or always.
fn scene_in(year: Option<i32>) -> Option<Scene> {
    let authority = Authority::new("of the team");
    let certificate = authority.certify(&["localhost"], |params| {
        if let Some(year) = year {
            params.not_before = date_time_ymd(year, 1, 1);
            params.not_after = date_time_ymd(year, 1, 2);
        }
    });
    let (server, port) =
        postgres::with_tls(&certificate.pem, &certificate.key_pem, &authority.pem)?;
    server.execute(
        "public",
        &format!(
            "CREATE ROLE ana LOGIN CREATEROLE PASSWORD '{PASSWORD}'; GRANT CREATE ON DATABASE postgres TO ana"
        ),
    );
    Some(Scene {
        server,
        port,
        authority,
    })
}

impl Scene {
    /// A client certificate of that authority and its key, both in PEM.
    fn client_certificate(&self, name: &str) -> (String, String) {
        let certificate = self.authority.certify(&[], |params| {
            params.distinguished_name.push(DnType::CommonName, name);
        });
        (certificate.pem, certificate.key_pem)
    }

    /// Ana's machine, with the password in a variable.
    fn ana(&self, host: &str, more: &str) -> Home {
        let directory = self.directory("ana", host, more);
        let mut home = machine("http://127.0.0.1:9", "key", &directory);
        self.equip(&mut home);
        home
    }

    /// Adds a person with the password.
    pub(super) fn add(&self, who: &str) {
        let text = format!("CREATE ROLE {who} LOGIN PASSWORD '{PASSWORD}'");
        self.server.execute("public", &text);
    }

    fn directory(&self, who: &str, host: &str, more: &str) -> String {
        format!(
            "[directory]\nurl = \"postgres://{who}@{host}:{}/postgres\"\n{more}\n",
            self.port
        )
    }

    /// The section of a configuration file for this person, with authority and password.
    pub(super) fn section(&self, who: &str, host: &str) -> String {
        self.directory(who, host, BOTH)
    }

    /// Puts authority and password into a home.
    pub(super) fn equip(&self, home: &mut Home) {
        home.write("team-ca.pem", &self.authority.pem);
        home.set("DESK_PASSWORD", PASSWORD);
    }
}

const BOTH: &str = "ca_file = \"team-ca.pem\"\npassword = { env = \"DESK_PASSWORD\" }";

/// All output, which must not contain the password.
async fn output_without_password(home: &Home, code: i32, line: &str) -> String {
    home.exits(code, line).await.hides(PASSWORD).all()
}

/// One server for all of them.
#[tokio::test]
async fn a_server_is_trusted_and_each_client_authenticates() {
    if let Some(scene) = scene(false) {
        the_certificate_must_name_the_host_and_the_password_comes_from_its_source(&scene).await;
        a_client_certificate_authenticates_without_a_password(&scene).await;
        a_service_keeps_its_groups_over_tls_with_a_password_from_a_file(&scene).await;
    }
}

async fn the_certificate_must_name_the_host_and_the_password_comes_from_its_source(scene: &Scene) {
    let ana = scene.ana("localhost", BOTH);
    output_without_password(&ana, 0, "directory init").await;
    let text = output_without_password(&ana, 0, "directory status").await;
    assert_has(&text, "as ana");
    let sessions = scene.server.execute("public", "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'ana'");
    assert!(["t", ""].contains(&sessions.as_str()), "{sessions}");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("127.0.0.1", BOTH, 8, "its certificate is for another name"),
        ("localhost", "password = { env = \"DESK_PASSWORD\" }", 8, "trusted CA; set ca_file under [directory]"),
        ("localhost", "ca_file = \"team-ca.pem\"", 8, "asks for a password"),
        ("localhost", "ca_file = \"team-ca.pem\"\npassword = { env = \"NOT_SET\" }", 8, "environment variable NOT_SET"),
        ("localhost", "ca_file = \"team-ca.pem\"\npassword = { command = [\"echo\", \"wrong\"] }", 8, "refuses the password of this user (SQLSTATE 28P01): check"),
        ("localhost", "ca_file = \"nothing.pem\"\npassword = { env = \"DESK_PASSWORD\" }", 2, "ca_file:"),
    ];
    for (host, more, code, words) in table {
        let text = output_without_password(&scene.ana(host, more), code, "list").await;
        assert_has(&text, words);
    }
    // As the programs of PostgreSQL are configured.
    let mut home = scene.ana("localhost", "ca_file = \"team-ca.pem\"");
    let passwords = format!("elsewhere:*:*:*:wrong\nlocalhost:*:postgres:ana:{PASSWORD}\n");
    let file = home.write("pgpass", &passwords);
    home.set("PGPASSFILE", &file);
    for (mode, code, words) in [(0o644, 8, "chmod 600"), (0o600, 0, "as ana")] {
        set_mode(&file, mode);
        let text = output_without_password(&home, code, "directory status").await;
        assert_has(&text, words);
    }
    // The old password method: any server that answers would learn the password, or nearly so.
    scene.server.execute(
        "public",
        &format!("SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD '{PASSWORD}'"),
    );
    let md5 = scene.ana("localhost", BOTH);
    let list = format!(
        "list --directory postgres://md5@localhost:{}/postgres",
        scene.port
    );
    let text = output_without_password(&md5, 8, &list).await;
    assert_has(&text, "without proving who it is");
}

#[tokio::test]
async fn an_expired_certificate_and_a_url_with_a_password_are_refused() {
    let Some(scene) = scene(true) else {
        return;
    };
    let ana = scene.ana("localhost", BOTH);
    let text = output_without_password(&ana, 8, "list").await;
    assert_has(&text, "has expired");
    assert_has(&text, "check the clock of this machine");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&*format!("postgres://ana:{PASSWORD}@localhost/desk"), "must not contain a password"),
        ("postgres://ana@db1/desk?sslmode=disable", "sslmode=verify-full"),
        ("postgres://ana@db1/desk?sslrootcert=ca.pem", "set ca_file, cert and key under [directory]"),
        ("postgres://ana@/desk", "postgres://USER@HOST/DATABASE"),
    ];
    for (url, words) in table {
        let list = format!("list --directory {url}");
        let text = output_without_password(&ana, 2, &list).await;
        assert_has(&text, words);
    }
}

/// The clock of this machine may be behind.
#[tokio::test]
async fn a_certificate_of_the_future_is_refused_with_advice() {
    let Some(scene) = scene_in(Some(2200)) else {
        return;
    };
    let ana = scene.ana("localhost", BOTH);
    let text = output_without_password(&ana, 8, "list").await;
    assert_has(&text, "its certificate is not valid yet");
    assert_has(&text, "check the clock of this machine");
}

async fn a_client_certificate_authenticates_without_a_password(scene: &Scene) {
    scene.server.execute(
        "public",
        "CREATE ROLE carla LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO carla",
    );
    let (certificate, key) = scene.client_certificate("carla");
    let both = "ca_file = \"team-ca.pem\"\ncert = \"carla.pem\"\nkey = \"carla-key.pem\"";
    let machine = |more: &str, certificate: &str, key: &str, mode| {
        let home = scene.ana("localhost", more);
        let config = home
            .config()
            .replace("postgres://ana@", "postgres://carla@")
            .replace("ca_file =", "schema = \"of_carla\"\nca_file =");
        home.write("config.toml", &config);
        home.write("carla.pem", certificate);
        set_mode(home.write("carla-key.pem", key), mode);
        home
    };
    let carla = machine(both, &certificate, &key, 0o600);
    output_without_password(&carla, 0, "directory init").await;
    let text = output_without_password(&carla, 0, "directory status").await;
    assert_has(&text, "as carla");

    let (of_another, her_key) = scene.client_certificate("dora");
    let encrypted = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    let stranger = Authority::new("of a stranger").certify(&[], |params| {
        params.distinguished_name.push(DnType::CommonName, "carla");
    });
    let (of_stranger, strange_key) = (stranger.pem, stranger.key_pem);
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (both, &of_another, &her_key, 0o600, 8, "SQLSTATE 28000"),
        ("ca_file = \"team-ca.pem\"", &certificate, &key, 0o600, 8, "SQLSTATE 28000"),
        (both, &certificate, &her_key, 0o600, 2, "do not match"),
        (both, &certificate, &key, 0o644, 2, "chmod 600"),
        (both, &VERSION_1.0.to_owned(), &VERSION_1.1.to_owned(), 0o600, 2, "cert: it is of X.509 version 1"),
        (both, &key, &key, 0o600, 2, "cert: "),
        (both, &certificate, &encrypted, 0o600, 2, "no unencrypted private key"),
        (both, &of_stranger, &strange_key, 0o600, 8, "the server does not trust its CA"),
        ("ca_file = \"team-ca.pem\"\ncert = \"carla.pem\"", &certificate, &key, 0o600, 2, "one of cert and key"),
    ];
    for (more, certificate, key, mode, code, words) in table {
        let home = machine(more, certificate, key, mode);
        let text = output_without_password(&home, code, "list").await;
        assert_has(&text, words);
        assert_lacks(&text, "PRIVATE KEY");
    }
}

async fn a_service_keeps_its_groups_over_tls_with_a_password_from_a_file(scene: &Scene) {
    let home = Home::new();
    home.write("ca.pem", &scene.authority.pem);
    for (name, text, mode) in [
        ("password", PASSWORD, 0o600),
        ("wrong", "another one", 0o600),
        ("open", PASSWORD, 0o644),
    ] {
        home.write(name, &format!("{text}\n"));
        set_mode(home.path(name), mode);
    }
    let at = |host: &str| format!("--storage postgres://ana@{host}:{}/postgres", scene.port);
    let (here, ca) = (at("localhost"), "--storage-ca-file ca.pem");
    let both = format!("{here} {ca} --storage-password-file password");
    output_without_password(&home, 0, &format!("serve init {both}")).await;
    let create = format!("serve keys create --environment live {both}");
    let made = home.exits(0, &create).await;
    let key = SecretString::from(made.out.trim().to_owned());
    let listen = format!("serve --listen 127.0.0.1:0 {both}");
    let mut serving = Background::start(home.command(&listen));
    let caller = Caller::new(&serving.address().await, &key);
    let made = caller.get(&json!({"user_group_id": "acme"})).await.ok();
    assert_eq!(made["new_user_group"], true);
    let lines = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'ana'";
    assert_eq!(scene.server.execute("public", lines), "t");
    let other = at("127.0.0.1");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&other, format!("{ca} --storage-password-file password"), "its certificate is for another name"),
        (&here, "--storage-password-file password".into(), "trusted CA; pass a file with the CA certificate with --storage-ca-file"),
        (&here, ca.into(), "--storage-password-file"),
        (&here, format!("{ca} --storage-password-file wrong"), "28P01"),
        (&here, format!("{ca} --storage-password-file open"), "chmod 600"),
    ];
    for (url, more, words) in table {
        let line = format!("serve keys list {url} {more}");
        let text = output_without_password(&home, 2, &line).await;
        assert_has(&text, words);
        assert_lacks(&text, "[directory]");
    }
}
