//! `--token-out -`: only the token on standard output, and never on a terminal.

use super::{
    guards::{knowing_acme, methods},
    program::{Home, files},
    prompts::unasked,
};
use crate::support::{
    assertions::{assert_has, assert_lacks, in_one_line},
    faults::Fault,
};

async fn token(home: &Home, id: &str) -> String {
    let read = home.json(0, &format!("get {id} --reveal")).await;
    read["token"].as_str().expect("a token").to_owned()
}

#[tokio::test]
async fn only_the_token_is_written_to_a_pipe() {
    let (home, _held) = Home::in_demo().await;
    for (command, id) in [
        ("get acme-eu --json", "acme-eu"),
        ("rotate acme-eu --yes", "acme-eu"),
        ("rotate acme-eu --yes --include-recent --json", "acme-eu"),
        ("create new-one --yes", "new-one"),
        ("update acme-eu --name New --yes", "acme-eu"),
    ] {
        let ran = home.exits(0, &format!("{command} --token-out -")).await;
        let token = token(&home, id).await;
        ran.prints(&format!("{token}\n")).says(id);
        assert!(!ran.err.contains(&token), "{command}: {}", ran.err);
    }
    for (ids, more) in [
        ("globex-retail acme-us", ""),
        ("brasserie-zoe parcel-one", "--json"),
        ("wayfarer municipal-water", "-q"),
    ] {
        let both = format!("rotate {ids} --yes --token-out - {more}");
        let ran = home.exits(0, &both).await;
        let lines = ran.lines();
        assert_eq!(lines.len(), 2, "{}", ran.out);
        for kept in lines {
            let id = kept["user_group_id"].as_str().expect("an ID");
            assert_eq!(kept["token"], token(&home, id).await, "{id}");
            assert!(more == "-q" || ran.err.contains(id), "{}", ran.err);
        }
    }
    let export = "export --reveal-tokens --token-out -";
    let ran = home.exits(0, &format!("{export} -o groups.jsonl")).await;
    let groups = std::fs::read_to_string(home.path("groups.jsonl")).expect("written");
    assert_eq!(ran.lines().len(), groups.lines().count());
    for more in ["", "-o -"] {
        let ran = home.exits(2, &format!("{export} {more}")).await;
        ran.prints("").says("add --file FILE");
    }
    assert!(!home.path("-").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_gets_no_token_and_no_file_of_that_name_is_created() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    for line in [
        "get acme",
        "rotate acme --yes",
        "create new-one --yes",
        "update acme --name New --yes",
        "rotate acme other --yes",
        "batches resume 1 --yes",
        "batches retry 1 --yes",
        "export --reveal-tokens -o groups.jsonl",
    ] {
        let (shown, code) = unasked(&home, &format!("{line} --token-out -"));
        assert_eq!(code, Some(2), "{line}: {shown}");
        let shown = in_one_line(&shown);
        assert_has(&shown, "nothing was sent. Use a new file");
    }
    assert_eq!(methods(&service), ["GET"], "only the meeting");
    assert!(!files(home.folder.path()).contains(&home.path("-")));
}

#[tokio::test]
async fn the_folder_of_a_mistyped_directory_is_not_created() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    for line in ["list", "get acme --exists", "doctor", "whose", "export"] {
        let line = format!("{line} --directory nope/deeper/x.db");
        let ran = home.exits_with(2, &line, "x").await;
        let said = in_one_line(&ran.all());
        assert_has(&said, "nope/deeper, which does not exist");
        assert_has(&said, "nothing was created");
        assert!(!home.path("nope").exists(), "{line}");
    }
    assert_eq!(methods(&service), ["GET"], "only the meeting");
}

#[tokio::test]
async fn a_dry_run_refuses_the_token_file_that_the_real_run_refuses() {
    let (home, service) = knowing_acme(vec![]).await;
    home.write("old", "precious");
    for line in [
        "get acme",
        "rotate acme --yes",
        "create new-one --yes",
        "update acme --name New --yes",
        "rotate acme other --yes",
    ] {
        for (file, why) in [
            ("old", "already exists"),
            (".", "is a folder"),
            ("none/new", "folder that does not exist"),
        ] {
            for more in ["--dry-run", ""] {
                let line = format!("{line} --token-out {file} {more}");
                home.exits(2, &line).await.says(why);
            }
        }
    }
    assert_eq!(methods(&service), ["GET"], "only the meeting");
}

#[tokio::test]
async fn an_empty_value_and_a_contradiction_are_refused() {
    let (home, service) = knowing_acme(vec![]).await;
    home.exits(0, "note acme precious").await;
    for (arguments, why) in [
        (&["list", "--filter="][..], "needs a value"),
        (&["list", "--columns", ","], "no column"),
        (&["history", "--by", ""], "expected a user"),
        (&["history", "--by", "@vm"], "expected a user"),
        (
            &["history", "--since", "1d", "--until", "7d"],
            "--since must be before --until",
        ),
        (
            &["rotate", "acme", "--reason", "", "--yes"],
            "needs a value",
        ),
        (&["note", "acme", ""], "groupdesk note ID --remove"),
        (&["note", "acme", "-"], "not read from standard input"),
        (
            &["label", "acme", "--add", "vip", "--remove", "vip"],
            "both have vip",
        ),
        (
            &["serve", "--rate-limit", "0"],
            "expected a number above zero",
        ),
    ] {
        let ran = home.exits(2, arguments).await;
        ran.says(why);
    }
    home.exits(0, "note acme").await.prints("precious\n");
    assert_eq!(methods(&service), ["GET"], "only the meeting");
}

#[tokio::test]
async fn what_cannot_help_is_not_proposed() {
    let (home, _service) = knowing_acme(vec![]).await;
    home.write("rows.csv", "user_group_id,name\nnew-1,One\n");
    let ran = home.exits(3, "import rows.csv --update --yes").await;
    assert_lacks(&ran.err, "to resume");
    // The alert of a server that expects TLS.
    let alert = Fault::Answer(b"\x15\x03\x03\x00\x02\x02\x46".to_vec());
    let (home, _service) = knowing_acme(vec![alert]).await;
    let ran = home.run("get acme").await;
    ran.says("write https:// in `base_url`");
}
