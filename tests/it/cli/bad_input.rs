//! Mistyped input: exit 2 with what to do, and no possible secret is repeated.

use super::program::Home;
use crate::support::faults::{Fault, Faults};

#[tokio::test]
async fn bad_arguments_and_files_end_with_two_and_send_nothing() {
    let mut home = Home::new();
    let service = Faults::always(Fault::Close).await;
    home.connect(&service.base_url(), "key");
    home.write("twice.json", "{\"40\": \"canary\",\n \"40\": \"canary\"}");
    home.write("broken.json", "{\"a\":\n  canary}");
    home.write("numbers.json", "{\"40\": 213}");
    home.write("cm.json", "// canary\n{\"user_group_id\": \"a\"}\n");
    home.write("cm.jsonl", "\n# canary\n{\"user_group_id\": \"a\"}\n");
    home.write("brace.json", "\"user_group_id\": \"a\"}\n");
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(1_100_000));
    home.write("large.json", &large);
    #[rustfmt::skip] // A table: one command a line.
    let table = [
        ("create a --properties large.json --yes", "bytes of JSON"),
        ("create a --properties large.json --dry-run", "bytes of JSON"),
        ("create a --map 40 --yes", "--map 40=213"),
        ("create a --map 40=1 --map 40=2 --yes", "given twice"),
        ("create a --property tier=canary --yes", "need quotes"),
        ("create a --mapping twice.json --yes", "line 2, column"),
        ("create a --properties twice.json --yes", "a key appears twice"),
        ("create a --properties broken.json --yes", "line 2, column 3"),
        ("create a --mapping numbers.json --yes", "object of strings"),
        ("create a --mapping missing.json --yes", "missing.json"),
        ("create a --mapping - --properties - --yes", "standard input"),
        ("apply cm.json --yes", "cm.json: line 1: not JSON"),
        ("import cm.jsonl", "cm.jsonl: line 2: not JSON"),
        ("update a --apply brace.json --yes", "brace.json: line 1: not JSON"),
        ("show --from cm.json", "cm.json: line 1: not JSON"),
        ("create '' --yes", "is empty"),
        ("get a --tokn", "--tokn"),
        ("lst", "list"),
        ("list --config missing.toml", "--config"),
        ("serve --listen here", "--listen"),
        ("serve keys create --environment x --tag Live --database s.db", "Customer"),
        ("demo --groups=-1", "--groups"),
        ("", "needs a terminal"),
        ("demo", "needs a terminal"),
    ];
    for (line, words) in table {
        let ran = home.exits(2, line).await;
        ran.prints("").says(words).hides("canary");
    }
    assert_eq!(service.connections(), 0);
}

/// "No such file or directory (os error 2)" says neither what was looked for nor what to do.
#[tokio::test]
async fn errors_of_the_system_are_said_in_plain_words() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:9", "key");
    home.write("file", "x");
    let missing = "there is no such file or folder";
    let through = "a part of the path is a file, not a folder";
    let elsewhere = "serve --listen 192.0.2.1:0 --insecure-http --database s.db";
    #[rustfmt::skip] // A table: one command a line.
    let table = [
        ("import missing.csv", missing),
        ("apply missing", missing),
        ("diff missing", missing),
        ("show --from missing", missing),
        ("create a --mapping missing --yes", missing),
        ("list --config missing", missing),
        ("import file/below", through),
        ("list --config file/below", through),
        ("man file/below", through),
        ("export --file file/below", through),
        ("directory backup file/below", through),
        (elsewhere, "this machine does not have that address"),
    ];
    for (line, words) in table {
        for json in ["", "--json"] {
            let ran = home.run(&format!("{line} {json}")).await;
            assert_ne!(ran.code, 0, "{ran:?}");
            ran.says(words).hides("os error");
            assert!(json.is_empty() || ran.out.contains(words), "{ran:?}");
        }
    }
}
