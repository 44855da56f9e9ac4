//! `help`, and errors about wrong arguments: for people on standard error, for programs also as JSON.

use serde_json::{Value, json};

use super::program::Home;

#[tokio::test]
async fn help_of_a_command_equals_its_help_option() {
    let home = Home::new();
    for words in [
        &[][..],
        &["list"],
        &["rotate"],
        &["export"],
        &["doctor"],
        &["rotations", "check"],
        &["serve", "keys", "create"],
        &["help"],
    ] {
        let help = home.run(&[&["help"], words].concat()).await;
        let option = home.run(&[words, &["--help"]].concat()).await;
        assert_eq!((help.code, help.err.as_str()), (0, ""), "{words:?}");
        assert_eq!(help.out.trim_end(), option.out.trim_end(), "{words:?}");
        assert!(help.out.contains("Usage: groupdesk") && help.out.contains("Examples:"));
    }
    let told = home.json(0, &["help", "rotations", "check"]).await;
    assert_eq!(told["command"], "groupdesk rotations check");
    let codes = home.json(0, &["help", "exit-codes"]).await;
    let codes = codes.as_array().expect("codes").iter();
    let codes: Vec<_> = codes.map(|code| code["code"].clone()).collect();
    assert_eq!(json!(codes), json!([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 130]));
    let human = home.run(&["help", "exit-codes"]).await;
    assert_eq!(human.out.lines().count(), 11);
    assert!(human.out.starts_with("  0  done\n"), "{}", human.out);
}

#[tokio::test]
async fn commands_are_listed_in_groups_and_fit_eighty_columns() {
    let mut home = Home::new();
    home.set("COLUMNS", "80");
    let help = home.run(&["--help"]).await.out;
    let mut last = 0;
    for group in [
        "Groups:", "Tokens:", "Files:", "Set-up:", "Service:", "Help:",
    ] {
        let at = help.find(&format!("\n{group}\n")).expect(group);
        assert!(at > last, "{group}");
        last = at;
    }
    assert!(
        help.lines().all(|line| line.chars().count() <= 80),
        "{help}"
    );
    let told = home.json(0, &["version"]).await;
    assert_eq!(told["version"], env!("CARGO_PKG_VERSION"));
    let version = home.run(&["version"]).await.out;
    assert!(
        version.starts_with(&format!("groupdesk {}", env!("CARGO_PKG_VERSION"))),
        "{version}"
    );
}

#[tokio::test]
async fn an_unknown_command_gets_the_nearest_one() {
    let home = Home::new();
    for (words, said) in [
        (&["rotat"][..], "\"rotate\""),
        (&["jsn"], "\"json\""),
        (&["profile", "chek"], "\"check\""),
        (&["json", "exprt"], "\"export\""),
        (&["profile", "add", "x"], "no help for \"profile add x\""),
    ] {
        let ran = home.run(&[&["help"], words].concat()).await;
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words:?}");
        assert!(ran.err.contains(said), "{words:?}: {}", ran.err);
    }
}

#[tokio::test]
async fn any_failure_is_one_json_object_for_programs() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:9", "key");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        // Wrong arguments.
        (&["lst", "--json"][..], 2, "'list'"),
        (&["get", "--json"], 2, "<ID|--from"),
        (&["--json", "history", "--limit", "x"], 2, "--limit"),
        (&["create", "", "--json"], 2, "is empty"),
        (&["rotate", "--json", "--token", "x"], 2, "do not pass secrets as arguments"),
        (&["help", "nothing", "--json"], 2, "no help"),
        // Wrong configuration, guards, and the network.
        (&["list", "--json", "-P", "lvie"], 2, "did you mean"),
        (&["show", "acme", "--json"], 3, "nothing was shown"),
        (&["create", "acme", "--json"], 3, "--yes"),
        (&["get", "acme", "--exists", "--json"], 5, "refused the connection"),
        (&["--json"], 2, "needs a terminal"),
    ];
    for (arguments, code, words) in table {
        let ran = home.run(arguments).await;
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.err);
        assert_eq!(ran.out.lines().count(), 1, "{arguments:?}: {}", ran.out);
        let failure: Value = serde_json::from_str(&ran.out).expect("JSON");
        let keys: Vec<_> = failure.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["outcome", "error", "exit"], "{arguments:?}");
        assert_eq!(failure["exit"], code, "{arguments:?}");
        let error = failure["error"].as_str().expect("a text");
        assert!(error.contains(words), "{arguments:?}: {error}");
        assert!(
            !error.contains("Usage:") && !error.starts_with("error"),
            "{error}"
        );
        assert!(ran.err.contains("error: "), "{arguments:?}: {}", ran.err);
        // Without --json none of it is on standard output.
        let without: Vec<_> = arguments
            .iter()
            .copied()
            .filter(|word| *word != "--json")
            .collect();
        let ran = home.run(&without).await;
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?}");
    }
    // After -- it is an id.
    let ran = home.run(&["show", "--", "--json"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
}

#[tokio::test]
async fn an_option_of_the_list_before_another_command_is_refused() {
    let home = Home::new();
    for command in ["show 1", "resume", "retry 1", "check 1"] {
        let line = format!("batches --unfinished {command}");
        let words: Vec<_> = line.split(' ').collect();
        let ran = home.run(&words).await;
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert!(
            ran.err.contains("works only with `batches list`"),
            "{}",
            ran.err
        );
    }
}
