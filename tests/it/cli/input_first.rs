//! The order in which a command refuses: its arguments, the files it reads, the configuration and what it permits, and
//! last that nobody can be asked. The files of all commands are enumerated in `src/cli/commands/tree/tests.rs`.

use serde_json::json;

use super::{
    guards::{group, knowing_acme},
    program::{Home, files},
};
use crate::support::{
    assertions::{assert_has, assert_lacks},
    faults::Fault,
    long,
};

/// The commands that read a file (`FILE`) and then ask, each with a content that is right.
#[rustfmt::skip] // A table: one command a line.
const READERS: [(&[&str], &str); 12] = [
    (&["rotate", "--from", "FILE"], "acme\n"),
    (&["update", "--from", "FILE", "--property", "a=1"], "acme\n"),
    (&["update", "acme", "--apply", "FILE"], r#"{"user_group_id":"acme","name":"x"}"#),
    (&["update", "acme", "--mapping", "FILE"], r#"{"7":"213"}"#),
    (&["update", "acme", "--properties", "FILE"], r#"{"a":1}"#),
    (&["create", "new", "--mapping", "FILE"], r#"{"7":"213"}"#),
    (&["create", "new", "--properties", "FILE"], r#"{"a":1}"#),
    (&["copy", "acme", "--to", "live", "--as-id", "b", "--mapping", "FILE"], r#"{"7":"213"}"#),
    (&["copy", "acme", "--to", "live", "--as-id", "b", "--properties", "FILE"], r#"{"a":1}"#),
    (&["apply", "FILE"], r#"{"user_group_id":"acme","name":"x"}"#),
    (&["import", "FILE", "--create"], r#"{"user_group_id":"new","name":"x"}"#),
    (&["import", "FILE", "--update"], r#"{"user_group_id":"acme","name":"x"}"#),
];

fn with<'a>(command: &[&'a str], file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = command
        .iter()
        .map(|word| if *word == "FILE" { file } else { word });
    words.chain(more.iter().copied()).collect()
}

async fn run(home: &Home, words: &[&str], input: &str) -> (i32, String) {
    let ran = home.run_with(words, input).await;
    (ran.code, ran.all())
}

#[tokio::test]
async fn a_file_is_read_before_anything_else_is_refused() {
    let known = group("token-0", &json!({"properties": {"b": 1}}));
    let (home, service) = knowing_acme(vec![known, Fault::Close]).await;
    home.json(0, "get acme").await;
    let before = service.connections();
    let folder = home.folder.path().display().to_string();
    let empty = home.write("empty", "");
    let broken = home.write("broken", "{\"user_group_id\":\n");
    let sources = ["missing", &folder, &empty, &broken, "-"];
    let later = [
        &[][..],
        &["--read-only"],
        &["--profile", "nosuch"],
        &["--no-input"],
    ];
    for (turn, (command, content)) in READERS.into_iter().enumerate() {
        // Each source meets each of the later refusals, with one command or another.
        let cases = sources.into_iter().enumerate().flat_map(|(at, source)| {
            let some = if long::all() { later.len() } else { 1 };
            let later = later.into_iter().cycle().skip(turn + at).take(some);
            later.map(move |more| (source, more))
        });
        // A folder may be applied, and a plain list may contain any text.
        let is_wrong = |source: &str| {
            !(source == folder && command[0] == "apply"
                || source == broken && command.contains(&"--from"))
        };
        let cases = cases.filter(|(source, _)| is_wrong(source));
        let step = if long::all() { 1 } else { 2 };
        for (source, more) in cases.skip(turn % step).step_by(step) {
            let words = with(command, source, more);
            let (code, said) = run(&home, &words, "").await;
            assert_eq!(code, 2, "{words:?}: {said}");
            let name = if source == "-" {
                "standard input"
            } else {
                source
            };
            let mut named = [name, "is empty", "row 1, line 1"].into_iter();
            assert!(named.any(|name| said.contains(name)), "{words:?}: {said}");
            for later in ["confirmation", "read-only", "nosuch"] {
                assert_lacks(&said, later);
            }
        }
        let file = home.write("good", content);
        #[rustfmt::skip] // A table: one case per line.
        let table = [
            (&["--profile", "nosuch"][..], 2, "nosuch"),
            (&["--read-only"], 3, "read-only"),
            (&[], 3, "confirmation required, but there is no terminal"),
            (&["--no-input"], 3, "confirmation required, but --no-input is set"),
        ];
        for (more, code, why) in table {
            let words = with(command, &file, more);
            let (ended, said) = run(&home, &words, "").await;
            assert_eq!(ended, code, "{words:?}: {said}");
            assert_has(&said, why);
        }
        // Arguments come first.
        let words = with(command, "missing", &["--nonsense"]);
        let (code, said) = run(&home, &words, "").await;
        assert_eq!(code, 2, "{words:?}: {said}");
        assert_has(&said, "--nonsense");
    }
    assert_eq!(service.connections(), before, "nothing was sent");
    assert!(!files(home.folder.path()).is_empty());
}

/// What changes nothing asks nothing, and ends with 0.
#[tokio::test]
async fn a_file_without_a_change_asks_nothing() {
    let (home, _demo) = Home::in_demo().await;
    let listed = home.exits(0, "export --format jsonl").await;
    let file = home.write("same.jsonl", &listed.out);
    let shown = home.json(0, "show acme-eu").await;
    let [name, rows] = ["name", "mapping"].map(|field| shown[field].clone());
    let (schema, source) = rows
        .as_object()
        .and_then(|rows| rows.iter().next())
        .expect("a row");
    let row = format!("{schema}={}", source.as_str().expect("an ID"));
    let group = home.write(
        "one.json",
        &format!(r#"{{"user_group_id":"acme-eu","name":{name}}}"#),
    );
    #[rustfmt::skip] // A table: one case a line.
    let table = [
        (&["apply", &file][..], "nothing to create or update"),
        (&["import", &file], "nothing was sent"),
        (&["import", &group, "--update"], "nothing to create or update"),
        (&["import", &group, "--create", "--update"], "nothing to create or update"),
        (&["update", "acme-eu", "acme-eu", "--map", &row], "all groups already have this value"),
    ];
    let updates = "history --operation update";
    let before = home.json(0, updates).await;
    for (words, said) in table {
        for more in [&[][..], &["--no-input"], &["--yes"]] {
            let words = [words, more].concat();
            let ran = home.exits(0, &words).await;
            assert_has(&ran.all(), said);
        }
    }
    assert_eq!(home.json(0, updates).await, before);
    // A create is a request even where the group is known: it may be gone at the service.
    home.exits(3, &format!("import {group} --create --no-input"))
        .await
        .says("confirmation required");
}

/// Also where the input is a token, and where nothing is changed.
#[tokio::test]
async fn input_is_read_before_the_configuration_is() {
    let home = Home::new();
    let broken = home.write("broken.toml", "[profiles");
    let missing = ["diff", "missing.jsonl"];
    #[rustfmt::skip] // A table: one case a line.
    let table = [
        (&["rotate", "--token-stdin", "--yes"][..], "no token on standard input; nothing was sent"),
        (&["rotate", "acme", "--token-stdin", "--yes"], "no token on standard input; nothing was sent"),
        (&["whose"], "no token on standard input"),
        (&missing, "missing.jsonl"),
        (&["diff", "-"], "standard input: it is empty"),
        (&["diff", "a", "b", "--with", "live"], "pass one ID"),
    ];
    for (words, why) in table {
        for more in [["--config", &broken], ["--profile", "nosuch"]] {
            let words = [words, &more].concat();
            let (code, said) = run(&home, &words, "").await;
            assert_eq!(code, 2, "{words:?}: {said}");
            assert_has(&said, why);
            assert_lacks(&said, "broken.toml");
            assert_lacks(&said, "nosuch");
        }
    }
}

/// An import is recorded only after the person said yes.
#[tokio::test]
async fn nothing_is_recorded_before_yes() {
    let (home, _service) = knowing_acme(vec![]).await;
    let file = home.write("new.jsonl", r#"{"user_group_id":"new","name":"x"}"#);
    let (shown, code) =
        super::prompts::answer_with_line(&home, &format!("import {file} --create"), "no\n");
    assert_eq!(code, Some(3), "{shown}");
    let directory = home.path(".local/share/groupdesk/directory.db");
    let raw = rusqlite::Connection::open(directory).expect("a directory");
    let imports: i64 = raw
        .query_row("SELECT count(*) FROM imports", [], |row| row.get(0))
        .expect("a count");
    assert_eq!(imports, 0, "recorded before the reply");
}
