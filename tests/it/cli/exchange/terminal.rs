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
        clock::TestClock,
        faults::{Fault, Faults, json as answer},
        wait::wait_until,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn only_the_exact_words_send_anything() {
    let service = Faults::start(vec![made("g1", true), made("g2", true)]).await;
    let mut home = Home::new();
    home.connect(&service.base_url(), "key");
    let file = ids(&home, 2);
    for (command, words) in [
        (["import", &file, "--create"], "import 2 in live"),
        (["apply", &file, "--prune-report"], "apply 2 in live"),
    ] {
        let question = format!("Type \"{words}\" to confirm:");
        for (typed, code) in [
            ("yes\r", 3),
            ("\r", 3),
            ("import 3 in live\r", 3),
            ("\u{4}", 3),
            ("\u{3}", 130),
        ] {
            let (shown, ended) = dialogue(&home, &command, &[(&question, typed)]);
            assert_eq!(ended, Some(code), "{typed:?}: {shown}");
            assert!(shown.starts_with("PRODUCTION live http://"), "{shown}");
        }
        assert_eq!(service.connections(), 0, "{command:?}");
    }
    // On a terminal without a progress bar everything else is still shown.
    home.set("TERM", "dumb");
    let (shown, code) = dialogue(
        &home,
        &["import", &file, "--create", "--concurrency", "1"],
        &[("to confirm:", "import 2 in live\r")],
    );
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("2 created; 2 rows"), "{shown}");
    // Nothing differs any more, so nothing is asked.
    let (shown, code) = dialogue(&home, &["apply", &file], &[]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("2 without difference; 2 rows"), "{shown}");
    assert_eq!(methods(&service).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_in_the_middle_leaves_the_rest_for_later() {
    let service = Faults::start(vec![made("g1", true), Fault::Hang]).await;
    let mut home = Home::new();
    let clock = TestClock::new(home.folder.path());
    let (name, value) = clock.variable();
    home.set(name, value);
    home.set("TERM", "xterm-256color");
    home.connect(&service.base_url(), "key");
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
    let ran = home.run(&[&run[..], &["--yes", "--json"]].concat()).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(sum(&ran.out)["done_before"], 1);
    assert_eq!(methods(&next).len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn profile_add_asks_for_each_value() {
    const KEY: &str = "canary-5up3r53cr3t-canary";
    let refusal = json!({"success": 0, "error": {"code": "invalid_request", "message": "no"}});
    let service = Faults::always(answer("400 Bad Request", &refusal)).await;
    let url = format!("{}\r", service.base_url());
    let mut home = Home::new();
    home.set("EU_KEY", KEY);
    let config = home.path(".config/groupdesk/config.toml");
    let add = ["profile", "add", "eu"];
    let (shown, code) = dialogue(
        &home,
        &add,
        &[
            ("Base URL, for example", &url),
            ("Environment: Customer, Testing", "Testing\r"),
            ("variable, file, command or keyring?", "variable\r"),
            ("Name of the variable:", "EU_KEY\r"),
            ("that an update omits?", "\r"),
            ("its stored properties?", "\r"),
            ("without using this directory?", "\r"),
        ],
    );
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("the API key is accepted"), "{shown}");
    let text = std::fs::read_to_string(&config).expect("written");
    assert!(text.contains("api_key = { env = \"EU_KEY\" }"), "{text}");
    assert!(text.contains("environment = \"Testing\""), "{text}");
    assert!(!shown.contains(KEY) && !text.contains(KEY));

    // An answer that is none of the four, and Ctrl-C, write nothing.
    for (typed, code) in [("none\r", 2), ("\u{3}", 130)] {
        let (shown, ended) = dialogue(
            &home,
            &["profile", "add", "us"],
            &[
                ("Base URL, for example", &url),
                ("Environment: Customer, Testing", "\r"),
                ("variable, file, command or keyring?", typed),
            ],
        );
        assert_eq!(ended, Some(code), "{shown}");
        assert_eq!(std::fs::read_to_string(&config).expect("there"), text);
    }

    // A profile that cannot be reached is written only when a person confirms it.
    let facts = [
        ("that an update omits?", "\r"),
        ("its stored properties?", "\r"),
        ("without using this directory?", "\r"),
    ];
    for (typed, code, asked) in [("n\r", 1, &[][..]), ("y\r", 0, &facts)] {
        let steps = [
            ("Environment: Customer, Testing", "Customer\r"),
            ("variable, file, command or keyring?", "command\r"),
            ("Command, for example", "echo a-key\r"),
            ("anyway? [y/N]", typed),
        ];
        let (shown, ended) = dialogue(
            &home,
            &["profile", "add", "dead", "--base-url", "http://127.0.0.1:1"],
            &[&steps, asked].concat(),
        );
        assert_eq!(ended, Some(code), "{shown}");
        let is_there = std::fs::read_to_string(&config)
            .expect("there")
            .contains("[profiles.dead]");
        assert_eq!(is_there, code == 0, "{shown}");
    }
    // A typed key is not echoed.
    let (shown, _) = dialogue(
        &home,
        &["profile", "add", "ring", "--base-url", &service.base_url()],
        &[
            ("Environment: Customer, Testing", "\r"),
            ("variable, file, command or keyring?", "keyring\r"),
            ("API key (not shown):", &format!("{KEY}\r")),
        ],
    );
    assert!(!shown.contains(KEY), "{shown}");
}
