//! A rotation whose process was killed while the service hangs: found, settled by reads, abandoned. And which group a
//! token belongs to. With the shipped binary.

use std::{path::PathBuf, time::Duration};

use rustix::process::Signal;
use serde_json::Value;

use super::{
    program::{Background, Home, files},
    prompts::answer_with_line,
};
use crate::support::{
    assertions::assert_has,
    bare::args,
    clock::TestClock,
    proxy::{FaultyProxy, Gate, ProxyFault, Then},
};

/// An installation that knows one group, and works through a proxy.
struct Scene {
    home: Home,
    proxy: FaultyProxy,
    _serving: Background,
}

impl Scene {
    async fn new() -> Self {
        let mut home = Home::new();
        let key = home.key(&args("--environment live --tag Customer")).await;
        let (serving, url) = home.serve().await;
        let address = url.strip_prefix("http://").expect("an address");
        let proxy = FaultyProxy::before(address.parse().expect("an address")).await;
        home.connect(&proxy.base_url(), &key);
        home.json(0, &["create", "acme-eu", "--yes"]).await;
        Self {
            home,
            proxy,
            _serving: serving,
        }
    }

    /// Starts a rotation and kills it with SIGKILL while the service hangs.
    async fn kill_a_rotation(&self, applied: bool) {
        let gate = Gate::new();
        let fault = if applied {
            ProxyFault::applied(Then::Hang)
        } else {
            ProxyFault::swallowed(Then::Hang)
        };
        self.proxy.next("POST", fault.behind(&gate));
        let arguments = ["rotate", "acme-eu", "--yes", "--reason", "leaked"];
        let mut rotating = Background::start(self.home.command(&arguments));
        gate.reached().await;
        rustix::process::kill_process(rotating.pid(), Signal::KILL).expect("it runs");
        assert_eq!(rotating.code().await, None, "killed by the signal");
        gate.open();
    }

    /// As if it had been killed an hour ago, and the machine restarted since.
    fn an_hour_later(&self) {
        let directory = rusqlite::Connection::open(self.directory()).expect("open");
        let earlier = "UPDATE rotations SET started_at = started_at - 3600000000, \
                       sent_at = sent_at - 3600000000, boot_clock = 'another:0'";
        assert_eq!(directory.execute(earlier, []).expect("done"), 1);
    }

    fn directory(&self) -> PathBuf {
        let mut found = files(self.home.folder.path()).into_iter();
        let file = found.find(|file| file.ends_with("directory.db"));
        file.expect("a directory")
    }

    async fn token(&self) -> String {
        let shown = self.home.json(0, &["get", "acme-eu", "--reveal"]).await;
        shown["token"].as_str().expect("a token").to_owned()
    }
}

fn one(rows: &Value) -> &Value {
    let rows = rows.as_array().expect("an array");
    assert_eq!(rows.len(), 1, "{rows:?}");
    &rows[0]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_rotation_is_found_and_settled_by_reading() {
    for (applied, expected) in [(true, "recovered"), (false, "not_applied")] {
        let scene = Scene::new().await;
        let before = scene.token().await;
        scene.kill_a_rotation(applied).await;

        let open = scene.home.json(0, &["rotations", "--open"]).await;
        let row = one(&open);
        let keys: Vec<_> = row.as_object().expect("an object").keys().collect();
        let shape = [
            "rotation",
            "user_group_id",
            "state",
            "previous_fingerprint",
            "fingerprint",
            "started_at",
            "by",
            "reason",
            "handoff",
            "environment",
        ];
        assert_eq!(keys, shape);
        assert_eq!(row["user_group_id"], "acme-eu");
        assert_eq!(
            (&row["state"], &row["reason"]),
            (&"sent".into(), &"leaked".into())
        );

        // Its process might still be alive, as far as anybody can tell.
        let gets = scene.proxy.count("GET");
        let ran = scene.home.run(&["rotations", "check"]).await;
        assert_eq!(ran.code, 7, "{}", ran.err);
        assert!(ran.err.contains("may still be running"), "{}", ran.err);
        assert!(ran.err.contains("check again in"), "{}", ran.err);
        assert_eq!(scene.proxy.count("GET"), gets);
        let ran = scene.home.run(&["rotate", "acme-eu", "--yes"]).await;
        assert_eq!(ran.code, 3, "{}", ran.err);

        scene.an_hour_later();
        let settled = scene.home.json(0, &["rotations", "check"]).await;
        assert_eq!(one(&settled)["state"], expected);
        assert_eq!(one(&settled)["why"], Value::Null);
        let open = scene.home.json(0, &["rotations", "--open"]).await;
        assert_eq!(open, Value::Array(Vec::new()));
        let all = scene.home.json(0, &["rotations"]).await;
        assert_eq!(one(&all)["state"], expected);
        let number = one(&all)["rotation"].to_string();
        let again = scene.home.json(0, &["rotations", "check", &number]).await;
        assert_eq!(one(&again)["state"], expected);
        let history = scene.home.json(0, &["history", "--limit", "1"]).await;
        assert_eq!(one(&history)["outcome"], expected);
        assert_eq!(scene.proxy.count("POST"), 1, "sent once, whatever happened");
        assert_eq!(scene.token().await != before, applied);
    }
}

/// The clock that counts from the machine's start moves with the others, and still is the one that decides.
#[tokio::test(flavor = "multi_thread")]
async fn moving_the_test_clock_ends_the_horizon() {
    let mut scene = Scene::new().await;
    let clock = TestClock::new(scene.home.folder.path());
    let (name, file) = clock.variable();
    scene.home.set(name, file);
    scene.kill_a_rotation(true).await;
    let directory = rusqlite::Connection::open(scene.directory()).expect("open");
    let wall = "UPDATE rotations SET started_at = started_at + 3600000000, sent_at = sent_at + 3600000000 \
                WHERE boot_clock IS NOT NULL";
    assert_eq!(directory.execute(wall, []).expect("done"), 1);
    let ran = scene.home.run(&["rotations", "check"]).await;
    assert_eq!(ran.code, 7, "{}", ran.err);
    clock.forward(Duration::from_mins(1));
    let settled = scene.home.json(0, &["rotations", "check"]).await;
    assert_eq!(one(&settled)["state"], "recovered");
}

#[tokio::test(flavor = "multi_thread")]
async fn abandoning_asks_and_frees_the_token() {
    let scene = Scene::new().await;
    scene.kill_a_rotation(false).await;
    let abandon = ["rotations", "abandon", "1", "--reason", "gone"];
    let ran = scene.home.run(&abandon).await;
    assert_eq!(ran.code, 3, "nobody can be asked: {}", ran.err);
    let with_yes = [&abandon[..], &["--yes"]].concat();
    let ran = scene.home.run(&with_yes).await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("may still be running"), "{}", ran.err);
    scene.an_hour_later();
    let (shown, code) = answer_with_line(&scene.home, &abandon, "n\n");
    assert_eq!(code, Some(3), "{shown}");
    let abandoned = scene.home.json(0, &with_yes).await;
    assert_eq!(abandoned["state"], "abandoned");
    let history = scene.home.json(0, &["history", "--limit", "1"]).await;
    assert_eq!(one(&history)["outcome"], "abandoned");
    assert_eq!(one(&history)["reason"], "gone");
    let ran = scene.home.run(&with_yes).await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("nothing to abandon"), "{}", ran.err);
    scene.home.json(0, &["rotate", "acme-eu", "--yes"]).await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&["rotations", "abandon", "9", "--reason", "x", "--yes"][..], "rotation 9 not found"),
        (&["rotations", "abandon", "1", "--reason", " ", "--yes"], "a reason is required"),
        (&["rotations", "check", "9"], "rotation 9 not found"),
    ];
    for (arguments, words) in table {
        let ran = scene.home.run(arguments).await;
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_traced_to_its_group_and_nothing_is_sent() {
    let scene = Scene::new().await;
    let old = scene.token().await;
    scene.home.json(0, &["rotate", "acme-eu", "--yes"]).await;
    let new = scene.token().await;
    let sent = scene.proxy.methods().len();
    for (token, current) in [(&new, true), (&old, false)] {
        let input = format!("{token}\n");
        let ran = scene.home.run_with(&["whose", "--json"], &input).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let owners: Value = serde_json::from_str(&ran.out).expect("JSON");
        let owner = one(&owners);
        assert_eq!(owner["user_group_id"], "acme-eu");
        assert_eq!(owner["profile"], "live");
        assert_eq!(owner["current"], current);
        assert!(!ran.out.contains(token.as_str()) && !ran.err.contains(token.as_str()));
        let (shown, code) = answer_with_line(&scene.home, &["whose"], &input);
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains("acme-eu"), "{shown}");
        assert!(!shown.contains(token.as_str()), "echoed: {shown}");
    }
    let (shown, code) = answer_with_line(&scene.home, &["whose"], "\u{3}");
    assert_eq!(code, Some(130), "{shown}");
    let ran = scene.home.run_with(&["whose"], &"0".repeat(64)).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    let ran = scene.home.run_with(&["whose"], "\n").await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    let ran = scene.home.run(&["whose", &new]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(!ran.err.contains(&new), "{}", ran.err);
    let told = "do not pass a token as an argument: other users of this machine can read it";
    assert!(ran.err.contains(told), "{}", ran.err);
    assert_eq!(scene.proxy.methods().len(), sent, "nothing is sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_found_anywhere_in_a_text_and_half_of_one_is_no_all_clear() {
    let scene = Scene::new().await;
    let old = scene.token().await;
    scene.home.json(0, &["rotate", "acme-eu", "--yes"]).await;
    let new = scene.token().await;
    for text in [
        format!("  {new}\t\r\n"),
        new.to_ascii_uppercase(),
        format!("Authorization: Token {new}\n"),
        format!("https://bi.example.com/embed?token={new}&x=1"),
        format!("{new}0"),
    ] {
        let ran = scene.home.run_with(&["whose", "--json"], &text).await;
        assert_eq!(ran.code, 0, "{text:?}: {}", ran.err);
        let owners: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(one(&owners)["user_group_id"], "acme-eu");
        assert_eq!(one(&owners)["current"], true);
    }
    // The lines behind the first typed one are not left to the shell.
    let nobody = "0".repeat(64);
    let log = format!("GET /?token={new} 200\nGET /?token={nobody} 200\nGET /?token={old} 200\n");
    let ran = scene.home.run_with(&["whose"], &log).await;
    let (typed, code) = answer_with_line(&scene.home, &["whose"], &log);
    assert_eq!((ran.code, code), (0, Some(0)));
    for said in [format!("{}{}", ran.out, ran.err), typed] {
        for words in [
            "line 1  current",
            "line 3  former",
            "line 2  not in the directory",
            "1 of 3 tokens",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(
            ![&new, &old, &nobody]
                .iter()
                .any(|token| said.contains(token.as_str()))
        );
    }
    for text in [&new[1..], &"x".repeat(87), "Authorization: Token"] {
        for arguments in [&["whose"][..], &["whose", "--json"]] {
            let ran = scene.home.run_with(arguments, text).await;
            assert_eq!(ran.code, 2, "{}", ran.err);
            let words = format!("no known token in this text ({} characters)", text.len());
            assert!(ran.err.contains(&words), "{}", ran.err);
            assert!(ran.err.contains("not conclusive"), "{}", ran.err);
            assert!(
                !ran.err.contains(text) && !ran.out.contains("[]"),
                "{}{}",
                ran.err,
                ran.out
            );
        }
    }
}

/// Beside a whole token that no group has: a known one is found in any form, and a part of one is no all-clear.
#[tokio::test]
async fn a_disguised_token_beside_an_unknown_one_is_found_or_at_least_no_all_clear() {
    let scene = Scene::new().await;
    let token = scene.token().await;
    // Does not end with the digit that a cut token lacks: across the line break that would be the whole token.
    let nobody = if token.starts_with('a') {
        "00d1f4ab"
    } else {
        "00d1f4aa"
    };
    let nobody = nobody.repeat(8);
    let (front, back) = token.split_at(30);
    for form in [
        format!("\u{1b}[36m{token}\u{1b}[0m"),
        format!("token:\\n{token}"),
        format!("{{\\u0022token\\u0022:\\u0022{token}\\u0022}}"),
        format!("> {front}\n> {back}"),
        format!("{front}=\n{back}"),
        format!("{front}\u{200b}{back}"),
        format!("<td>{front}<wbr>{back}</td>"),
        format!("| {front} |\n| {back} |"),
    ] {
        for text in [form.clone(), format!("{nobody}\n{form}\n")] {
            let ran = scene.home.run_with(&["whose"], &text).await;
            assert_eq!(ran.code, 0, "{text:?}: {}", ran.err);
            assert!(ran.out.contains("acme-eu"), "{text:?}: {}", ran.out);
        }
    }
    let uuid = "b94d27b9-934e-4e08-a52e-52d7da7dabfa";
    for part in [front, back, &token[..16], &token[1..], uuid] {
        let text = format!("{nobody}\nwith {part}\n");
        let ran = scene.home.run_with(&["whose"], &text).await;
        assert_eq!(ran.code, 2, "{text:?}: {}", ran.err);
        assert!(ran.err.contains("line 2 may have a part"), "{}", ran.err);
        assert!(
            !ran.err.contains(part) && !ran.err.contains("64"),
            "{}",
            ran.err
        );
    }
    let long = format!("{nobody} {}", "x ".repeat(40_000));
    let ran = scene.home.run_with(&["whose"], &long).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    // What selects a group for a rotation is read in the same way.
    let coloured = format!("\u{1b}[36m{front}\u{1b}[1m{back}\u{1b}[0m\n");
    let ran = scene
        .home
        .run_with(&["rotate", "--token-stdin", "--yes"], &coloured)
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(scene.proxy.count("POST"), 1);
}

#[tokio::test]
async fn only_the_group_of_a_pasted_token_is_rotated() {
    let scene = Scene::new().await;
    let token = scene.token().await;
    scene.home.json(0, &["create", "globex", "--yes"]).await;
    let paste = async |arguments: &[&str], token: &str| {
        let mut all = vec!["rotate", "--token-stdin", "--yes", "--json"];
        all.extend(arguments);
        scene.home.run_with(&all, token).await
    };

    // For another group, no group, and a token never seen here, nothing is sent.
    for (arguments, text) in [
        (&["globex"][..], token.as_str()),
        (&[], "a token that nobody here has seen"),
        (&["globex"], "a token that nobody here has seen"),
    ] {
        let ran = paste(arguments, text).await;
        assert_eq!(ran.code, 3, "{arguments:?}: {}", ran.err);
        assert!(!ran.err.contains(text), "{}", ran.err);
    }
    assert_eq!(scene.proxy.count("POST"), 0);

    let ran = paste(&[], &format!("{token}\n")).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rotated: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(rotated["user_group_id"], "acme-eu");
    assert_eq!(rotated["outcome"], "confirmed");
    let again = paste(&[], &token).await;
    assert_eq!(again.code, 3, "{}", again.err);
    assert_has(&again.err, "has since been replaced");
    assert_eq!(scene.proxy.count("POST"), 1);
}

/// Open rotations at another place of the same address do not hide the open changes of this one.
#[tokio::test(flavor = "multi_thread")]
async fn open_changes_of_a_place_are_named_besides_rotations_of_another() {
    let mut scene = Scene::new().await;
    scene.kill_a_rotation(true).await;
    let other = ["--environment", "other", "--tag", "Customer"];
    let key = scene.home.key(&other).await;
    // A profile made of variables has a place of its own, and does not report on that one.
    scene.home.set("GROUPDESK_CONFIG", "");
    scene.home.set("GROUPDESK_BASE_URL", scene.proxy.base_url());
    scene.home.set("GROUPDESK_API_KEY", key);
    let gate = Gate::new();
    let fault = ProxyFault::swallowed(Then::Hang).behind(&gate);
    scene.proxy.next("GET", fault);
    let mut creating = Background::start(scene.home.command(&["create", "lost", "--yes"]));
    gate.reached().await;
    rustix::process::kill_process(creating.pid(), Signal::KILL).expect("it runs");
    assert_eq!(creating.code().await, None, "killed by the signal");
    gate.open();
    let ran = scene.home.run(&["rotations", "check"]).await;
    assert_eq!(ran.code, 7, "{}", ran.err);
    assert!(
        ran.err.contains("of \"lost\" is still unknown"),
        "{}",
        ran.err
    );
}
