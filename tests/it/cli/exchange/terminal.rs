//! `import`, `apply` and `profile add` on a real terminal: the words to type, wrong words, Ctrl-C at the question and
//! in the middle, the progress bar.

use std::time::Duration;

use serde_json::json;

use super::{ids, made, sum};
use crate::{
    cli::{
        guards::methods,
        program::Home,
        prompts::{Asks, dialogue, dialogue_by},
    },
    support::{
        faults::{Fault, Faults, json as answer},
        wait::wait_until,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn only_the_exact_words_send_anything() {
    let service = Faults::start(vec![made("g1", true), made("g2", true)]).await;
    let mut home = Home::of(&service);
    // On a terminal without a progress bar everything else is still shown.
    home.set("TERM", "dumb");
    let file = ids(&home, 2);
    let import = format!("import {file} --create --concurrency 1");
    let apply = format!("apply {file} --prune-report");
    let sent_without_its_words = |command: &str, words: &str| {
        let before = service.connections();
        let question = format!("Type \"{words}\" to confirm:");
        for (typed, code) in [
            ("yes\r", 3),
            ("\r", 3),
            ("import 3 in live\r", 3),
            ("\u{4}", 3),
            ("\u{3}", 130),
        ] {
            let (shown, ended) = dialogue(&home, command, &[(&question, typed)]);
            assert_eq!(ended, Some(code), "{typed:?}: {shown}");
            assert!(shown.starts_with("PRODUCTION live http://"), "{shown}");
        }
        service.connections() - before
    };
    assert_eq!(sent_without_its_words(&import, "import 2 in live"), 0);
    assert_eq!(sent_without_its_words(&apply, "apply 2 in live"), 0);
    let steps = [("to confirm:", "import 2 in live\r")];
    // The second time nothing differs any more, so nothing is asked.
    for (command, steps, sum) in [
        (import, &steps[..], "2 created; 2 rows"),
        (format!("apply {file}"), &[], "2 without difference; 2 rows"),
    ] {
        let (shown, code) = dialogue(&home, &command, steps);
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains(sum), "{shown}");
    }
    let rotate = "rotate g1 g2 --include-recent";
    assert_eq!(sent_without_its_words(rotate, "rotate 2 in live"), 0);
    assert_eq!(methods(&service).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_in_the_middle_leaves_the_rest_for_later() {
    let service = Faults::start(vec![made("g1", true), Fault::Hang]).await;
    let mut home = Home::new();
    let clock = home.clock();
    home.set("TERM", "xterm-256color");
    home.connect(&service.base_url(), "key");
    // The request that hangs is waited for until its timeout.
    home.write("config.toml", &home.config().replace("30s", "5s"));
    let file = ids(&home, 4);
    let run = ["import", &file, "--create", "--concurrency", "1"];
    let asks = |text: &str| text.contains("to confirm:");
    // The bar has reached this point, and the next request has arrived.
    let is_in_the_middle = |text: &str| {
        let is_there = text.contains("1/4");
        if is_there {
            wait_until("the next request", || service.requests().len() >= 2);
        }
        is_there
    };
    let steps: [(Asks<'_>, _); 2] = [(&asks, "import 4 in live\r"), (&is_in_the_middle, "\u{3}")];
    let (shown, code) = dialogue_by(&home, &run, &steps);
    for words in [
        "1 created",
        "finishing running requests",
        "1 unknown, 1 created, 2 not started; 4 rows",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(code, Some(7), "{shown}");
    assert_eq!(methods(&service).len(), 2, "{shown}");

    let script: Vec<_> = (2..=4).map(|row| made(&format!("g{row}"), true)).collect();
    let next = Faults::start(script).await;
    home.connect(&next.base_url(), "key");
    // A request without an answer may still take effect for a while.
    clock.forward(Duration::from_mins(2));
    let ran = home
        .exits(0, &[&run[..], &["--yes", "--json"]].concat())
        .await;
    assert_eq!(sum(&ran.out)["done_before"], 1);
    assert_eq!(methods(&next).len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn profile_add_asks_for_each_value() {
    const KEY: &str = "canary-5up3r53cr3t-canary";
    let refusal = json!({"success": 0, "error": {"code": "invalid_request", "message": "no"}});
    let service = Faults::always(answer("400 Bad Request", &refusal)).await;
    let url = service.base_url();
    let mut home = Home::new();
    home.set("EU_KEY", KEY);
    let config = || std::fs::read_to_string(home.path(".config/groupdesk/config.toml"));
    let facts = [
        ("that an update omits?", "\r"),
        ("its stored properties?", "\r"),
        ("without this directory?", "\r"),
    ];
    let of_key = "variable, file, command or keyring?";
    let typed_url = format!("{url}\r");
    let first = [
        ("Base URL, for example", &*typed_url),
        ("Environment: Customer, Testing", "Testing\r"),
    ];
    let named = [
        (of_key, "variable\r"),
        ("Name of the variable:", "EU_KEY\r"),
    ];
    let told = [
        ("that an update omits?", "keep\r"),
        ("its stored properties?", "\r"),
        ("without this directory?", "perhaps\r"),
    ];
    let steps = [&first[..], &named, &told].concat();
    let (shown, code) = dialogue(&home, "profile add eu", &steps);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("the API key is accepted"), "{shown}");
    let refused = "not a valid answer; left unknown";
    assert!(shown.contains(refused), "{shown}");
    let recorded = home.json(0, "profile behaviour eu").await;
    for (fact, source) in [
        ("absent_name", "told"),
        ("absent_properties", "told"),
        ("absent_mapping", "told"),
        ("properties_on_get", "unknown"),
        ("sole_writer", "unknown"),
    ] {
        let mut all = recorded.as_array().expect("a list").iter();
        let found = all.find(|one| one["fact"] == fact).expect("it is there");
        assert_eq!(found["source"], source, "{found}");
        assert!(source != "told" || found["value"] == "keep", "{found}");
    }
    let text = config().expect("written");
    assert!(text.contains("api_key = { env = \"EU_KEY\" }"), "{text}");
    assert!(text.contains("environment = \"Testing\""), "{text}");
    assert!(!shown.contains(KEY) && !text.contains(KEY));
    // An answer that is none of the four, and Ctrl-C, write nothing.
    for (typed, code) in [("none\r", 2), ("\u{3}", 130)] {
        let steps = [&first[..], &[(of_key, typed)]].concat();
        let (shown, ended) = dialogue(&home, "profile add us", &steps);
        assert_eq!(ended, Some(code), "{shown}");
        assert_eq!(config().expect("there"), text);
    }
    // Nothing more is asked once an answer is wrong.
    for (add, steps, why) in [
        ("profile add us", [("Base URL", "ftp://x\r")], "base_url"),
        (
            "profile add us --base-url https://x.example.com",
            [("Environment:", "Life\r")],
            "environment",
        ),
    ] {
        let (shown, ended) = dialogue(&home, add, &steps);
        assert_eq!(ended, Some(2), "{shown}");
        assert!(shown.contains(why) && !shown.contains(of_key), "{shown}");
    }
    // A profile that cannot be reached is written only when a person confirms it.
    for (typed, code, asked) in [("n\r", 1, &[][..]), ("y\r", 0, &facts)] {
        let steps = [
            ("Environment: Customer, Testing", "Customer\r"),
            (of_key, "command\r"),
            ("Command, for example", "echo a-key\r"),
            ("anyway? [y/N]", typed),
        ];
        let add = "profile add dead --base-url http://127.0.0.1:1";
        let (shown, ended) = dialogue(&home, add, &[&steps, asked].concat());
        assert_eq!(ended, Some(code), "{shown}");
        let is_there = config().expect("there").contains("[profiles.dead]");
        assert_eq!(is_there, code == 0, "{shown}");
    }
    // A typed key is not echoed.
    let typed = format!("{KEY}\r");
    let steps = [
        first[1],
        (of_key, "keyring\r"),
        ("API key (not shown):", &typed),
    ];
    let add = format!("profile add ring --base-url {url}");
    let (shown, _) = dialogue(&home, &add, &steps);
    assert!(!shown.contains(KEY), "{shown}");
}
