//! `--token-out -`: only the token on standard output, and never on a terminal.

use super::{
    guards::{knowing_acme, methods},
    program::{Home, files},
    prompts::unasked,
};
use crate::support::{assertions::in_one_line, faults::Fault};

async fn token(home: &Home, id: &str) -> String {
    let read = home.json(0, &["get", id, "--reveal"]).await;
    read["token"].as_str().expect("a token").to_owned()
}

#[tokio::test]
async fn only_the_token_is_written_to_a_pipe() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    for arguments in [
        &["get", "acme-eu"][..],
        &["get", "acme-eu", "--json"],
        &["rotate", "acme-eu", "--yes"],
        &["rotate", "acme-eu", "--yes", "--include-recent", "--json"],
        &["create", "new-one", "--yes"],
        &["update", "acme-eu", "--name", "New", "--yes"],
    ] {
        let ran = home.run(&[arguments, &["--token-out", "-"]].concat()).await;
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
        let token = token(&home, arguments[1]).await;
        assert_eq!(ran.out, format!("{token}\n"), "{arguments:?}");
        assert!(!ran.err.contains(&token), "{arguments:?}: {}", ran.err);
        assert!(
            ran.err.contains(arguments[1]),
            "what came of it: {}",
            ran.err
        );
    }
    for (two, more) in [
        (["globex-retail", "acme-us"], None),
        (["brasserie-zoe", "parcel-one"], Some("--json")),
        (["wayfarer", "municipal-water"], Some("-q")),
    ] {
        let mut both = vec!["rotate", two[0], two[1], "--yes", "--token-out", "-"];
        both.extend(more);
        let ran = home.run(&both).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let lines: Vec<_> = ran.out.lines().collect();
        assert_eq!(lines.len(), 2, "{}", ran.out);
        for line in lines {
            let kept: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let id = kept["user_group_id"].as_str().expect("an ID");
            assert_eq!(kept["token"], token(&home, id).await, "{id}");
        }
        assert!(
            more == Some("-q") || ran.err.contains(two[1]),
            "{}",
            ran.err
        );
    }
    let export = &["export", "--reveal-tokens", "--token-out", "-"];
    let ran = home
        .run(&[&export[..], &["-o", "groups.jsonl"]].concat())
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let count = std::fs::read_to_string(home.path("groups.jsonl")).expect("written");
    assert_eq!(ran.out.matches("\"token\":").count(), count.lines().count());
    for more in [&[][..], &["-o", "-"]] {
        let ran = home.run(&[&export[..], more].concat()).await;
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains("pass a file with --file"), "{}", ran.err);
    }
    assert!(!home.path("-").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_gets_no_token_and_no_file_of_that_name_is_created() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    for arguments in [
        &["get", "acme"][..],
        &["rotate", "acme", "--yes"],
        &["create", "new-one", "--yes"],
        &["update", "acme", "--name", "New", "--yes"],
        &["rotate", "acme", "other", "--yes"],
        &["batches", "resume", "1", "--yes"],
        &["batches", "retry", "1", "--yes"],
        &["export", "--reveal-tokens", "-o", "groups.jsonl"],
    ] {
        let arguments = [arguments, &["--token-out", "-"]].concat();
        let (shown, code) = unasked(&home, &arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {shown}");
        let shown = in_one_line(&shown);
        assert!(shown.contains("Nothing was sent"), "{arguments:?}: {shown}");
        assert!(shown.contains("use a new file"), "{arguments:?}: {shown}");
    }
    assert_eq!(methods(&service), ["GET"], "only the meeting");
    assert!(!files(home.folder.path()).contains(&home.path("-")));
}

#[tokio::test]
async fn the_folder_of_a_mistyped_directory_is_not_created() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    let place = home.path("nope/deeper/x.db").display().to_string();
    for command in [
        &["list"][..],
        &["get", "acme", "--exists"],
        &["doctor"],
        &["whose"],
        &["export"],
    ] {
        let named = [command, &["--directory", &place]].concat();
        let ran = home.run_with(&named, "x").await;
        assert_eq!(ran.code, 2, "{named:?}: {}{}", ran.out, ran.err);
        let said = format!("{}{}", ran.out, ran.err);
        let said = in_one_line(&said);
        assert!(
            said.contains("nope/deeper, which does not exist"),
            "{named:?}: {said}"
        );
        assert!(said.contains("nothing was created"), "{named:?}: {said}");
        assert!(!home.path("nope").exists(), "{named:?}");
    }
    assert_eq!(methods(&service), ["GET"], "only the meeting");
}
