//! Files and folders that a person names: `~` is the home wherever it stands, a look-alike of an address is no file, a new
//! directory is said, and a failed test writes no profile.

use std::fs;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{
    guards::{knowing_acme, methods},
    program::Home,
};
use crate::support::{
    assertions::{assert_has, assert_lacks, in_one_line},
    bare::args,
    faults::Fault,
};

#[tokio::test]
async fn a_place_that_is_no_file_never_becomes_a_directory() {
    let mut home = Home::new();
    let texts = [
        "host=db1 dbname=desk user=ben",
        "postgres:/db1/desk",
        "ben@db1",
        "postgres//ana:x@db1/desk",
    ];
    let readers = ["list", "audit", "directory status", "doctor", "whose"];
    let writers = [
        "serve --database",
        "serve --storage",
        "serve keys list --database",
        "directory backup",
        "serve backup",
        "directory copy postgres://ana@db1/desk",
        "directory init",
        "profile add x --base-url https://a.example --api-key-env K --no-check --config",
    ];
    // What looks like an address: `config::paths`. Here each command meets one of them.
    let mut texts = texts.into_iter().cycle();
    for (command, text) in readers.into_iter().zip(&mut texts) {
        let line = format!("{command} --directory '{text}'");
        let ran = home.exits_with(2, &line, "x").await;
        let told = in_one_line(&ran.all());
        assert_has(&told, "postgres://USER@HOST/DATABASE");
        assert_lacks(&told, "ana:x");
    }
    for (command, text) in writers.into_iter().zip(&mut texts) {
        home.exits(2, &format!("{command} '{text}'")).await;
    }
    for (command, blank) in ["list", "doctor", "directory status"]
        .into_iter()
        .zip(["", " ", "  \u{a0}"])
    {
        home.exits(2, &format!("{command} --directory '{blank}'"))
            .await;
    }
    home.set("GROUPDESK_DIRECTORY", " ");
    home.exits(2, "list").await;
    let entries = fs::read_dir(home.folder.path()).expect("readable").count();
    assert_eq!(entries, 0, "nothing was created");
}

#[tokio::test]
async fn a_tilde_is_replaced_before_a_file_is_looked_for() {
    let home = Home::new();
    let copy = "directory copy ~/$DESK postgres://ana@127.0.0.1:1/desk";
    let ran = home.exits(2, copy).await;
    assert_has(&in_one_line(&ran.err), "an argument contains a variable");
    home.write("$DESK", "");
    assert_lacks(&home.run(copy).await.err, "an argument");
    let ran = home.exits(2, "serve --database './a.db '").await;
    assert_has(
        &in_one_line(&ran.err),
        "--database begins or ends with a blank",
    );
}

#[tokio::test]
async fn a_new_directory_in_a_named_place_is_said_once() {
    let (mut home, _service) = knowing_acme(vec![Fault::Close]).await;
    let place = home.at("other.db");
    home.exits(0, &format!("list --directory {place}"))
        .await
        .says("other.db is a new, empty directory");
    let ran = home.run(&format!("list --directory {place}")).await;
    assert_lacks(&ran.err, "new, empty");
    assert_lacks(&home.run("list").await.err, "new, empty");
    home.set("GROUPDESK_DIRECTORY", "~/third.db");
    assert_has(
        &home.run("list").await.err,
        "third.db is a new, empty directory",
    );
    assert!(home.path("third.db").exists());
}

/// SQLite would remove each of these files at the next command.
#[tokio::test]
async fn no_file_gets_a_name_that_sqlite_or_groupdesk_uses() {
    let (home, _service) = knowing_acme(vec![Fault::Close]).await;
    let names = ["x.db-wal", "./x.db-shm", "x.db-journal", "timelines"];
    let whole = home.at("latest-changes");
    let mut names = names.into_iter().chain([whole.as_str()]).cycle();
    for command in [
        "list --directory",
        "directory backup",
        "export --file",
        "get acme --token-out",
        "export --reveal-tokens --token-out",
        "serve backup",
        "serve keys list --database",
        "list --config",
    ] {
        for name in names.by_ref().take(3) {
            let ran = home.exits(2, &format!("{command} {name}")).await;
            assert_has(&in_one_line(&ran.all()), "is named like a file that");
        }
    }
    assert!(!home.path("latest-changes").exists());
}

#[tokio::test]
async fn a_directory_that_another_data_folder_begins_is_said() {
    let (mut home, _service) = knowing_acme(vec![Fault::Close]).await;
    home.set("XDG_DATA_HOME", home.at("snap"));
    let ran = home.run("list").await;
    assert_has(&ran.err, "groupdesk/directory.db is a new, empty directory");
    assert_lacks(&home.run("list").await.err, "new, empty");
}

#[tokio::test]
async fn a_new_database_of_the_service_in_a_named_place_is_said_once() {
    let home = Home::new();
    let create = ["serve", "keys", "create", "--environment", "live"];
    let named = [&create[..], &["--database", "other.db"]].concat();
    let ran = home.run(&named).await;
    assert_has(&ran.err, "other.db is a new, empty database");
    assert_lacks(&home.run(&named).await.err, "new, empty");
    assert_lacks(&home.run(&create).await.err, "new, empty");
}

#[tokio::test]
async fn a_directory_file_that_was_emptied_is_said_to_begin_anew() {
    let (home, _service) = knowing_acme(vec![Fault::Close]).await;
    let usual = home.path(".local/share/groupdesk/directory.db");
    for suffix in ["", "-wal", "-shm"] {
        let mut file = usual.clone().into_os_string();
        file.push(suffix);
        let _ = fs::remove_file(file);
    }
    fs::write(&usual, "").expect("emptied");
    let ran = home.run("list").await;
    assert_has(&ran.err, "the file was empty (0 bytes)");
    assert_has(&ran.err, "restore a backup");
    assert_lacks(&home.run("list").await.err, "empty (0 bytes)");
}

#[tokio::test]
async fn a_directory_that_cannot_be_read_is_not_taken_for_a_copy_that_cannot_be_written() {
    let (home, _service) = knowing_acme(vec![Fault::Close]).await;
    let log = home.path(".local/share/groupdesk/directory.db-wal");
    let _ = fs::remove_file(&log);
    // SQLite cannot open its log, as on a disk that is read-only.
    fs::create_dir(&log).expect("a folder");
    let copy = home.at("copy.db");
    let ran = home.exits(2, &format!("directory backup {copy}")).await;
    assert_has(&ran.err, "groupdesk/directory.db");
    assert_lacks(&ran.err, "copy.db");
    assert!(!home.path("copy.db").exists());
}

#[tokio::test]
async fn a_database_of_this_machine_without_tls_names_the_setting() {
    // Refuses TLS as PostgreSQL does: N.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 8];
            let _ = stream.read_exact(&mut request).await;
            let _ = stream.write_all(b"N").await;
        }
    });
    let (home, _service) = knowing_acme(vec![Fault::Close]).await;
    let url = format!("postgres://ana@{address}/desk");
    home.exits(8, &format!("list --directory {url}"))
        .await
        .says("add sslmode=disable to its URL");
    let listen = format!("serve --listen 127.0.0.1:0 --storage {url}");
    home.exits(2, &listen)
        .await
        .says("add sslmode=disable to its URL");
    server.abort();
}

#[tokio::test]
async fn a_tilde_at_the_beginning_of_a_path_is_the_home() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    home.write("ids.txt", "acme\n");
    home.write("rows.csv", "user_group_id\nacme\n");
    home.write("mapping.json", "{}");
    for line in [
        "show --from=~/ids.txt",
        "show --from ~/ids.txt",
        "import ~/rows.csv",
        "diff ~/rows.csv",
        "create new --mapping=~/mapping.json --dry-run",
        "export --output=~/out.jsonl",
        "directory backup ~/copy.db",
        "list --directory=~/copy.db",
        "list --config=~/config.toml",
        "man ~",
    ] {
        let ran = home.run(&args(line)).await;
        let is_fine = ran.code == 0 || line.starts_with("diff") && ran.code == 10;
        assert!(is_fine, "{line}: {} {}", ran.code, ran.err);
    }
    for file in ["out.jsonl", "copy.db"] {
        assert!(home.path(file).exists(), "{file}");
    }
    assert!(!home.path("~").exists());
    home.exits(2, "show --from=~ben/ids.txt")
        .await
        .says("only ~/ is replaced");
    assert_eq!(methods(&service), ["GET"], "only the meeting");
}
