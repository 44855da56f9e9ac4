//! Connections over a network: which server is trusted, and how a client authenticates. The password is a canary.

use std::os::unix::fs::PermissionsExt;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};

use secrecy::SecretString;
use serde_json::json;

use super::{Home, machine, postgres};
use crate::{
    cli::program::Background,
    support::{postgres::Server, service::Caller},
};

const PASSWORD: &str = "canary-4f1c-of-the-directory";

pub(super) struct Scene {
    pub(super) server: Server,
    port: u16,
    authority: CertifiedIssuer<'static, KeyPair>,
}

/// A server whose certificate is for `localhost`, issued by a private authority; expired if `is_over`.
pub(super) fn scene(is_over: bool) -> Option<Scene> {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(Vec::new()).expect("good names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, key).expect("signed");
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("good names");
    if is_over {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2020, 1, 2);
    }
    let certificate = params.signed_by(&key, &authority).expect("signed");
    let (server, port) =
        postgres::with_tls(&certificate.pem(), &key.serialize_pem(), &authority.pem())?;
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
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("good names");
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &self.authority).expect("signed");
        (certificate.pem(), key.serialize_pem())
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
        home.write("team-ca.pem", &self.authority.pem());
        home.set("DESK_PASSWORD", PASSWORD);
    }
}

const BOTH: &str = "ca_file = \"team-ca.pem\"\npassword = { env = \"DESK_PASSWORD\" }";

/// The exit code and all output, which must not contain the password.
async fn output_without_password(home: &Home, arguments: &[&str]) -> (i32, String) {
    let ran = home.run(arguments).await;
    let text = format!("{}{}", ran.out, ran.err);
    assert!(!text.contains(PASSWORD), "{text}");
    (ran.code, text)
}

#[tokio::test]
async fn the_certificate_must_name_the_host_and_the_password_comes_from_its_source() {
    let Some(scene) = scene(false) else {
        return;
    };
    let ana = scene.ana("localhost", BOTH);
    let (code, text) = output_without_password(&ana, &["directory", "init"]).await;
    assert_eq!(code, 0, "{text}");
    let (code, text) = output_without_password(&ana, &["directory", "status"]).await;
    assert!(code == 0 && text.contains("as ana"), "{text}");
    let sessions = scene.server.execute("public", "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'ana'");
    assert!(["t", ""].contains(&sessions.as_str()), "{sessions}");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("127.0.0.1", BOTH, "its certificate is for another name"),
        ("localhost", "password = { env = \"DESK_PASSWORD\" }", "trusted CA; set ca_file under [directory]"),
        ("localhost", "ca_file = \"team-ca.pem\"", "asks for a password"),
        ("localhost", "ca_file = \"team-ca.pem\"\npassword = { env = \"NOT_SET\" }", "environment variable NOT_SET"),
        ("localhost", "ca_file = \"team-ca.pem\"\npassword = { command = [\"echo\", \"wrong\"] }", "refuses the password of this user (SQLSTATE 28P01): check"),
        ("localhost", "ca_file = \"nothing.pem\"\npassword = { env = \"DESK_PASSWORD\" }", "ca_file:"),
    ];
    for (host, more, words) in table {
        let (code, text) = output_without_password(&scene.ana(host, more), &["list"]).await;
        let expected = if words == "ca_file:" { 2 } else { 8 };
        assert!(
            code == expected && text.contains(words),
            "{host} {more}: {code} {text}"
        );
    }
    // As the programs of PostgreSQL are configured.
    let mut home = scene.ana("localhost", "ca_file = \"team-ca.pem\"");
    home.write(
        "pgpass",
        &format!("elsewhere:*:*:*:wrong\nlocalhost:*:postgres:ana:{PASSWORD}\n"),
    );
    let file = home.path("pgpass");
    home.set("PGPASSFILE", file.display().to_string());
    for (mode, expected, words) in [(0o644, 8, "chmod 600"), (0o600, 0, "as ana")] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("set");
        let (code, text) = output_without_password(&home, &["directory", "status"]).await;
        assert!(code == expected && text.contains(words), "{code} {text}");
    }
    // The old password method: any server that answers would learn the password, or nearly so.
    scene.server.execute(
        "public",
        &format!("SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD '{PASSWORD}'"),
    );
    let md5 = scene.ana("localhost", BOTH);
    let url = format!("postgres://md5@localhost:{}/postgres", scene.port);
    let (code, text) = output_without_password(&md5, &["list", "--directory", &url]).await;
    assert!(
        code == 8 && text.contains("without proving who it is"),
        "{text}"
    );
}

#[tokio::test]
async fn an_expired_certificate_and_a_url_with_a_password_are_refused() {
    let Some(scene) = scene(true) else {
        return;
    };
    let (code, text) = output_without_password(&scene.ana("localhost", BOTH), &["list"]).await;
    assert!(code == 8 && text.contains("has expired"), "{text}");
    let ana = scene.ana("localhost", BOTH);
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (format!("postgres://ana:{PASSWORD}@localhost/desk"), "must not contain a password"),
        ("postgres://ana@db1/desk?sslmode=disable".to_owned(), "sslmode=verify-full"),
        ("postgres://ana@/desk".to_owned(), "postgres://USER@HOST/DATABASE"),
    ];
    for (url, words) in table {
        let (code, text) = output_without_password(&ana, &["list", "--directory", &url]).await;
        assert!(code == 2 && text.contains(words), "{text}");
    }
}

#[tokio::test]
async fn a_client_certificate_authenticates_without_a_password() {
    let Some(scene) = scene(false) else {
        return;
    };
    scene.server.execute(
        "public",
        "CREATE ROLE carla LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO carla",
    );
    let (certificate, key) = scene.client_certificate("carla");
    let both = "ca_file = \"team-ca.pem\"\ncert = \"carla.pem\"\nkey = \"carla-key.pem\"";
    let machine = |more: &str, certificate: &str, key: &str, mode| {
        let home = scene.ana("localhost", more);
        let config = home.path("config.toml");
        let text = std::fs::read_to_string(&config).expect("written");
        home.write(
            "config.toml",
            &text.replace("postgres://ana@", "postgres://carla@"),
        );
        home.write("carla.pem", certificate);
        home.write("carla-key.pem", key);
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(home.path("carla-key.pem"), mode).expect("set");
        home
    };
    let carla = machine(both, &certificate, &key, 0o600);
    let (code, text) = output_without_password(&carla, &["directory", "init"]).await;
    assert_eq!(code, 0, "{text}");
    let (code, text) = output_without_password(&carla, &["directory", "status"]).await;
    assert!(code == 0 && text.contains("as carla"), "{text}");

    let (of_another, her_key) = scene.client_certificate("dora");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (both, &of_another, &her_key, 0o600, 8, "SQLSTATE 28000"),
        ("ca_file = \"team-ca.pem\"", &certificate, &key, 0o600, 8, "SQLSTATE 28000"),
        (both, &certificate, &her_key, 0o600, 2, "do not match"),
        (both, &certificate, &key, 0o644, 2, "chmod 600"),
        (both, &key, &key, 0o600, 2, "cert: "),
        ("ca_file = \"team-ca.pem\"\ncert = \"carla.pem\"", &certificate, &key, 0o600, 2, "one of cert and key"),
    ];
    for (more, certificate, key, mode, expected, words) in table {
        let home = machine(more, certificate, key, mode);
        let (code, text) = output_without_password(&home, &["list"]).await;
        assert!(
            code == expected && text.contains(words),
            "{more}: {code} {text}"
        );
        assert!(!text.contains("PRIVATE KEY"), "{text}");
    }
}

#[tokio::test]
async fn a_service_keeps_its_groups_over_tls_with_a_password_from_a_file() {
    let Some(scene) = scene(false) else {
        return;
    };
    let home = Home::new();
    let write = |name: &str, text: &str| {
        let path = home.write(name, text);
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&path, mode).expect("set");
        path
    };
    let (ca, password) = (
        write("ca.pem", &scene.authority.pem()),
        write("password", &format!("{PASSWORD}\n")),
    );
    let wrong = write("wrong", "another one\n");
    let open = write("open", PASSWORD);
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).expect("set");
    let at = |host: &str| format!("postgres://ana@{host}:{}/postgres", scene.port);
    let (url, other) = (at("localhost"), at("127.0.0.1"));
    let serve = |url: &str, more: &[&str], command: &[&str]| -> Vec<String> {
        let all = [&["serve"], command, &["--storage", url], more].concat();
        all.into_iter().map(str::to_owned).collect()
    };
    let both = [
        "--storage-ca-file",
        &*ca,
        "--storage-password-file",
        &*password,
    ];
    let run = async |arguments: Vec<String>| {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        output_without_password(&home, &arguments).await
    };
    let (code, text) = run(serve(&url, &both, &["init"])).await;
    assert_eq!(code, 0, "{text}");
    let create = ["keys", "create", "--environment", "live"];
    let create = serve(&url, &both, &create);
    let create: Vec<_> = create.iter().map(String::as_str).collect();
    let made = home.run(&create).await;
    assert_eq!(made.code, 0, "{}", made.err);
    let key = SecretString::from(made.out.trim().to_owned());
    let listen = serve(&url, &both, &["--listen", "127.0.0.1:0"]);
    let listen: Vec<_> = listen.iter().map(String::as_str).collect();
    let mut serving = Background::start(home.command(&listen));
    let line = serving.line().await;
    let address = line.strip_prefix("listening on ").expect("an address");
    let address = address.strip_suffix("/api/user").expect("its path");
    let caller = Caller::new(address, &key);
    let made = caller.get(&json!({"user_group_id": "acme"})).await.ok();
    assert_eq!(made["new_user_group"], true);
    let lines = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'ana'";
    assert_eq!(scene.server.execute("public", lines), "t");
    for (url, more, words) in [
        (&other, &both[..], "its certificate is for another name"),
        (
            &url,
            &both[2..],
            "trusted CA; pass a file with the CA certificate with --storage-ca-file",
        ),
        (&url, &both[..2], "--storage-password-file"),
        (&url, &[both[0], both[1], both[2], &wrong], "28P01"),
        (&url, &[both[0], both[1], both[2], &open], "chmod 600"),
    ] {
        let (code, text) = run(serve(url, more, &["keys", "list"])).await;
        assert!(code == 2 && text.contains(words), "{words}: {code} {text}");
        assert!(!text.contains("[directory]"), "{text}");
    }
}

/// The directory and the service share one table of sentences.
#[tokio::test]
async fn what_a_server_refuses_is_said_with_what_to_do() {
    let Some(scene) = scene(false) else {
        return;
    };
    let ana = scene.ana("localhost", BOTH);
    let (code, text) = output_without_password(&ana, &["directory", "init"]).await;
    assert_eq!(code, 0, "{text}");
    let password = ana.write("password", PASSWORD);
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&password, mode).expect("set");
    let ca = ana.write("ca.pem", &scene.authority.pem());
    for (change, database, words) in [
        (
            "LOGIN",
            "nowhere",
            "does not exist on that server (SQLSTATE 3D000)",
        ),
        ("NOLOGIN", "postgres", "the role may not log in (NOLOGIN)"),
        (
            "LOGIN VALID UNTIL '2001-01-01'",
            "postgres",
            "refuses the password of this user (SQLSTATE 28P01)",
        ),
    ] {
        let change = format!("ALTER ROLE ana {change}");
        scene.server.execute("public", &change);
        let url = format!("postgres://ana@localhost:{}/{database}", scene.port);
        let directory = format!("[directory]\nurl = \"{url}\"\n{BOTH}\n");
        let mut home = machine("http://127.0.0.1:9", "key", &directory);
        scene.equip(&mut home);
        let list = ["list"];
        let keys = [
            "serve",
            "keys",
            "list",
            "--storage",
            &url,
            "--storage-ca-file",
            &ca,
            "--storage-password-file",
            &password,
        ];
        for (arguments, expected) in [(&list[..], 8), (&keys, 2)] {
            let (code, text) = output_without_password(&home, arguments).await;
            assert!(
                code == expected && text.contains(words) && text.contains("ana@localhost"),
                "{change}: {code} {text}"
            );
        }
    }
}
