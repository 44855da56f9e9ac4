//! Files and folders that a person names: `~` is the home wherever it stands, a look-alike of an address is no file, a new
//! directory is said, and a failed test writes no profile.

use std::{fs, os::unix::fs::PermissionsExt};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{
    guards::{knowing_acme, methods},
    program::{Home, files},
};
use crate::support::{
    assertions::{assert_has, assert_lacks, in_one_line},
    bare::args,
    faults::{Fault, Faults},
};

#[tokio::test]
async fn a_place_that_is_no_file_never_becomes_a_directory() {
    let home = Home::new();
    for text in [
        "host=db1 dbname=desk user=ben",
        "postgresql:desk",
        "postgres:/db1/desk",
        "pg://db1/desk",
        "http://db1/desk",
        "sqlite://desk.db",
        "s3://bucket/desk.db",
        "ben@db1",
    ] {
        for command in [
            &["list"][..],
            &["audit"],
            &["directory", "status"],
            &["doctor"],
            &["whose"],
        ] {
            let with_flag = [command, &["--directory", text]].concat();
            let ran = home.run_with(&with_flag, "x").await;
            assert_eq!(ran.code, 2, "{with_flag:?}: {}{}", ran.out, ran.err);
            let told = format!("{}{}", ran.out, ran.err);
            let told = in_one_line(&told);
            assert_has(&told, "postgres://USER@HOST/DATABASE");
        }
        #[rustfmt::skip] // A table: one case per line.
        let table = [
            vec!["serve", "--database", text],
            vec!["serve", "--storage", text],
            vec!["serve", "keys", "list", "--database", text],
            vec!["directory", "backup", text],
            vec!["serve", "backup", text],
            vec!["directory", "copy", "postgres://ana@db1/desk", text],
            vec!["directory", "init", text],
            vec!["--config", text, "profile", "add", "x", "--base-url", "https://a.example", "--api-key-env", "K", "--no-check"],
        ];
        for command in table {
            let ran = home.run(&command).await;
            assert_eq!(ran.code, 2, "{command:?}: {}{}", ran.out, ran.err);
        }
    }
    assert_eq!(files(home.folder.path()), Vec::<std::path::PathBuf>::new());
    let entries = fs::read_dir(home.folder.path()).expect("readable").count();
    assert_eq!(entries, 0, "nothing was created");
}

#[tokio::test]
async fn a_folder_that_exists_may_have_any_name() {
    let home = Home::new();
    let ran = home.run(&["man", "pages@1"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_has(&ran.err, "DIR is not a folder");
    fs::create_dir(home.path("pages@1")).expect("a folder");
    let ran = home.run(&["man", "pages@1"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(home.path("pages@1/groupdesk.1").exists());
}

#[tokio::test]
async fn a_tilde_is_replaced_before_a_file_is_looked_for() {
    let home = Home::new();
    let copy = |file| ["directory", "copy", file, "postgres://ana@127.0.0.1:1/desk"];
    let ran = home.run(&copy("~/$DESK")).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_has(&in_one_line(&ran.err), "an argument contains a variable");
    home.write("$DESK", "");
    assert_lacks(&home.run(&copy("~/$DESK")).await.err, "an argument");
    let ran = home.run(&["serve", "--database", "./a.db "]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_has(
        &in_one_line(&ran.err),
        "--database begins or ends with a blank",
    );
}

#[tokio::test]
async fn a_blank_name_is_no_directory() {
    let mut home = Home::new();
    for blank in ["", " ", "\t", "  \u{a0}"] {
        for command in [&["list"][..], &["doctor"], &["directory", "status"]] {
            let with_flag = [command, &["--directory", blank]].concat();
            let ran = home.run(&with_flag).await;
            assert_eq!(ran.code, 2, "{with_flag:?}: {}{}", ran.out, ran.err);
        }
    }
    home.set("GROUPDESK_DIRECTORY", " ");
    let ran = home.run(&["list"]).await;
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    let entries = fs::read_dir(home.folder.path()).expect("readable").count();
    assert_eq!(entries, 0, "nothing was created");
}

#[tokio::test]
async fn a_new_directory_in_a_named_place_is_said_once() {
    let (mut home, _service) = knowing_acme(vec![Fault::Close]).await;
    let place = home.path("other.db").display().to_string();
    let ran = home.run(&["list", "--directory", &place]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_has(&ran.err, "other.db is a new, empty directory");
    let ran = home.run(&["list", "--directory", &place]).await;
    assert_lacks(&ran.err, "new, empty");
    assert_lacks(&home.run(&["list"]).await.err, "new, empty");
    home.set("GROUPDESK_DIRECTORY", "~/third.db");
    assert_has(
        &home.run(&["list"]).await.err,
        "third.db is a new, empty directory",
    );
    assert!(home.path("third.db").exists());
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
    let ran = home.run(&["list"]).await;
    assert_has(&ran.err, "the file was empty (0 bytes)");
    assert_has(&ran.err, "restore a backup");
    assert_lacks(&home.run(&["list"]).await.err, "empty (0 bytes)");
}

#[tokio::test]
async fn a_directory_that_cannot_be_read_is_not_taken_for_a_copy_that_cannot_be_written() {
    let (home, _service) = knowing_acme(vec![Fault::Close]).await;
    let log = home.path(".local/share/groupdesk/directory.db-wal");
    let _ = fs::remove_file(&log);
    // SQLite cannot open its log, as on a disk that is read-only.
    fs::create_dir(&log).expect("a folder");
    let copy = home.path("copy.db").display().to_string();
    let ran = home.run(&["directory", "backup", &copy]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
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
    let ran = home.run(&["list", "--directory", &url]).await;
    assert_eq!(ran.code, 8, "{}", ran.err);
    assert_has(&ran.err, "add sslmode=disable to its URL");
    let listen = ["serve", "--listen", "127.0.0.1:0", "--storage", &url];
    let ran = home.run(&listen).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_has(&ran.err, "add sslmode=disable to its URL");
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
    let ran = home.run(&["show", "--from=~ben/ids.txt"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_has(&ran.err, "only ~/ is replaced");
    assert_eq!(methods(&service), ["GET"], "only the meeting");
}

/// The path is stored as the file that it is.
#[tokio::test]
async fn a_profile_is_written_only_if_its_test_succeeds() {
    let home = Home::new();
    let key = home.write("live.key", "0123456789abcdef0123456789abcdef");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("private");
    let config = home.path(".config/groupdesk/config.toml");
    let service = Faults::always(Fault::Close).await;
    let url = service.base_url();
    let tls = url.replace("http://", "https://");
    for (url, source) in [
        ("http://127.0.0.1:1", "--api-key-file=~/live.key"),
        (&tls, "--api-key-file=~/live.key"),
        (&url, "--api-key-file=~/missing.key"),
        (&url, "--api-key-env=NOT_SET"),
    ] {
        let add = ["profile", "add", "eu", "--base-url", url, source, "--yes"];
        let ran = home.run(&add).await;
        assert_eq!(ran.code, 1, "{add:?}: {}", ran.err);
        assert_has(
            &ran.err,
            "the profile was not written; to write it without the test: --no-check",
        );
        assert!(!config.exists(), "{add:?}");
    }
    let source = "--api-key-file=~/live.key";
    let add = [
        "profile",
        "add",
        "eu",
        "--base-url",
        &tls,
        source,
        "--no-check",
    ];
    let ran = home.run(&add).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let written = fs::read_to_string(&config).expect("written");
    assert_has(&written, &format!("file = \"{key}\""));
}
