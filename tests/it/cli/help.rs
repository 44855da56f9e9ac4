//! `help`, and errors about wrong arguments: for people on standard error, for programs also as JSON.

use serde_json::json;

use super::program::Home;

/// The commands and their help, as `groupdesk help` prints it: `pictures::reference`.
pub(super) fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    let page = include_str!("../../../docs/reference/commands.md");
    let sections = page.split("\n## ").skip(1);
    sections.map(|section| section.split_once('\n').expect("a heading"))
}

#[tokio::test]
async fn help_of_a_command_equals_its_help_option() {
    let home = Home::new();
    for words in ["", "rotate", "rotations check", "serve keys create", "help"] {
        let help = home.exits(0, &format!("help {words}")).await;
        let option = home.run(&format!("{words} --help")).await;
        assert_eq!(help.out.trim_end(), option.out.trim_end(), "{words}");
        help.warns("").shows("Usage: groupdesk").shows("Examples:");
    }
    let codes = home.json(0, "help exit-codes").await;
    let codes = codes.as_array().expect("codes").iter();
    let codes: Vec<_> = codes.map(|code| code["code"].clone()).collect();
    assert_eq!(json!(codes), json!([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 130]));
    let human = home.run("help exit-codes").await;
    assert!(human.out.starts_with("  0  done\n"), "{}", human.out);
    let version = home.run("version").await;
    version.shows(&format!("groupdesk {}", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn any_failure_is_one_json_object_for_programs() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:9", "key");
    #[rustfmt::skip] // A table: one command a line.
    let table = [
        // Wrong arguments.
        ("lst", 2, "did you mean \"list\"?"),
        ("get", 2, "<ID|--from"),
        ("history --limit x", 2, "--limit"),
        ("create ''", 2, "is empty"),
        ("rotate --token x", 2, "do not pass secrets as arguments"),
        ("help nothing", 2, "no help"),
        // Wrong configuration, guards, and the network.
        ("list -P lvie", 2, "did you mean"),
        ("show acme", 3, "nothing was shown"),
        ("create acme", 3, "--yes"),
        ("get acme --exists", 5, "refused the connection"),
        ("", 2, "needs a terminal"),
    ];
    for (line, code, words) in table {
        let ran = home.exits(code, &format!("{line} --json")).await;
        assert_eq!(ran.out.lines().count(), 1, "{line}: {}", ran.out);
        let failure = ran.says("error: ").json();
        let keys: Vec<_> = failure.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["outcome", "error", "exit"], "{line}");
        assert_eq!(failure["exit"], code, "{line}");
        let error = failure["error"].as_str().expect("a text");
        assert!(error.contains(words), "{line}: {error}");
        let is_plain = !error.contains("Usage:") && !error.starts_with("error");
        assert!(is_plain, "{error}");
        // Without --json none of it is on standard output.
        home.exits(code, line).await.prints("");
    }
    // After -- it is an id.
    home.exits(3, "show -- --json").await.prints("");
}

#[tokio::test]
async fn an_option_of_the_list_before_another_command_is_refused() {
    let home = Home::new();
    for command in ["show 1", "resume", "retry 1", "check 1"] {
        let ran = home
            .exits(2, &format!("batches --unfinished {command}"))
            .await;
        ran.says("works only with `batches list`");
    }
}
