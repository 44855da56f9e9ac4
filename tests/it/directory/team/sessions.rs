//! What a server or its certificates do to connections that are open or made again, while groupdesk runs.

use groupdesk::{
    config::{DirectoryAt, Environment, Overrides, Settings},
    directory::set_up,
    operations::team_location,
};
use rcgen::DnType;

use super::{roles::scene, *};
use crate::support::{
    certificates::Authority,
    folder::temporary,
    postgres,
    wait::{DEADLINE, eventually},
};

fn a_line(by: &str) -> Record {
    let mut own = entry("eu", "acme", 0);
    own.by = by.into();
    history_record(own)
}

/// A limit that an administrator sets for a role would stop each write that waits for that of a colleague.
#[tokio::test(flavor = "multi_thread")]
async fn a_time_limit_of_a_role_stops_no_write() {
    let schema = "limited";
    let Some(server) = scene(schema) else {
        return;
    };
    let person = "limited_operator_person";
    let limit = format!("ALTER ROLE {person} SET statement_timeout = '20ms'");
    server.execute("public", &limit);
    let directory = Directory::open(&postgres::at_as(person, server.folder(), schema));
    let directory = directory.expect("it opens");
    let place = place(&directory, "eu");
    let mut colleague = server.session(schema);
    colleague.say("BEGIN; LOCK TABLE history IN SHARE MODE; SELECT 1");
    let write = async move { directory.record(place, a_line(person)).await };
    let writing = tokio::spawn(write);
    let waiting = format!(
        "SELECT COUNT(*) > 0 FROM pg_stat_activity WHERE usename = '{person}' AND wait_event_type = 'Lock' \
         AND clock_timestamp() - query_start > INTERVAL '100 ms'"
    );
    let mut watching = server.session("public");
    eventually("it waits", || watching.say(&waiting) == "t").await;
    colleague.say("COMMIT; SELECT 1");
    let written = writing.await.expect("no panic");
    written.expect("written");
}

/// The administrator replaces the authority of the client certificates while a console is open: with the renewed files it
/// goes on, without a restart.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_directory_takes_a_renewed_client_certificate() {
    let authority = Authority::new("of the team");
    let served = authority.certify(&["localhost"], |_| {});
    let Some((server, port)) = postgres::with_tls(&served.pem, &served.key_pem, &authority.pem)
    else {
        return;
    };
    server.execute(
        "public",
        "CREATE ROLE carla LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO carla",
    );
    let folder = temporary();
    let at = |name: &str| folder.path().join(name);
    let give = |authority: &Authority| {
        let certificate = authority.certify(&[], |params| {
            params.distinguished_name.push(DnType::CommonName, "carla");
        });
        std::fs::write(at("carla.pem"), &certificate.pem).expect("written");
        std::fs::write(at("carla-key.pem"), &certificate.key_pem).expect("written");
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(at("carla-key.pem"), private).expect("ours");
    };
    give(&authority);
    std::fs::write(at("ca.pem"), &authority.pem).expect("written");
    let config = format!(
        "[directory]\nurl = \"postgres://carla@localhost:{port}/postgres\"\nschema = \"renewed\"\nca_file = \"ca.pem\"\n\
         cert = \"carla.pem\"\nkey = \"carla-key.pem\"\n"
    );
    std::fs::write(at("config.toml"), config).expect("written");
    let overrides = Overrides {
        config: Some(at("config.toml")),
        ..Overrides::default()
    };
    let settings = Settings::load(&overrides).expect("good");
    let DirectoryAt::Team(team) = settings.directory else {
        panic!("a team's")
    };
    let location = team_location(&team, &Environment::default()).expect("good");
    set_up(&location).expect("a schema");
    let directory = Directory::open(&location).expect("it opens");
    recorded(&directory, a_line("carla")).await;
    let other = Authority::new("of the next year");
    std::fs::write(server.folder().join("root.crt"), &other.pem).expect("written");
    // Takes effect when the files are read again.
    server.configure(&["SET log_min_messages = 'warning'"]);
    let place = place(&directory, "eu");
    let leave = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'carla'";
    server.execute("public", leave);
    let refused = directory.record(place, a_line("carla")).await;
    assert!(refused.is_err(), "the old certificate is refused");
    give(&other);
    let writes = async {
        while directory.record(place, a_line("carla")).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    let renewed = tokio::time::timeout(DEADLINE, writes).await;
    renewed.expect("the renewed certificate is used");
}
