//! Standard output has the result and nothing else, and a reader that closes early is no failure.

use super::program::{Home, Ran};
use crate::support::bare::GROUPDESK;

/// More than a pipe holds of each result, so that writing really meets a closed pipe.
const GROUPS: usize = 600;
/// Bytes that a pipe holds.
const PIPE: usize = 64 * 1024;

/// Runs a line of bash in which `groupdesk` is the shipped binary.
async fn shell(home: &Home, line: &str) -> Ran {
    let script = format!("groupdesk() {{ \"$0\" \"$@\"; }}; {line}");
    let words = ["-o", "pipefail", "-c", &script, GROUPDESK];
    let output = home.command_of("bash", &words).output().await;
    Ran::of(line, output.expect("bash is there"))
}

#[tokio::test]
async fn a_reader_that_closes_early_ends_every_command_quietly() {
    let (home, _serving) = Home::served().await;
    let known = (0..GROUPS).map(|at| format!("group-{at},{}\n", "n".repeat(200)));
    let known: String = known.collect();
    home.write("known.csv", &format!("user_group_id,name\n{known}"));
    home.exits(0, "import known.csv -q").await;
    let all = home.run("export").await;
    home.write("all.jsonl", &all.out);
    assert!(all.out.len() > 128 * 1024, "{}", all.out.len());
    // Few changes of long properties, because each is sent and recorded.
    let long = format!("\"{{\"\"x\"\":\"\"{}\"\"}}\"", "n".repeat(2000));
    let new = (0..40).map(|number| format!("made-{number},{long}\n"));
    home.write(
        "new.csv",
        &format!("user_group_id,properties\n{}", new.collect::<String>()),
    );
    home.exits(0, "import new.csv --create --yes -q").await;
    let history = home.run("history --json").await;
    assert!(history.out.len() > PIPE, "{}", history.out.len());
    for command in [
        "list",
        "list --json",
        "export --format csv",
        "import all.jsonl --json",
        "apply all.jsonl --dry-run --json 2>/dev/null",
        "history --json",
        "doctor",
        "completions bash",
        "man",
        "help json",
    ] {
        let ran = shell(&home, &format!("groupdesk {command} | head -1")).await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{command}");
        assert_eq!(ran.out.lines().count(), 1, "{command}: {}", ran.out);
    }
    // The rows whose output was not read were still recorded.
    let again = home.run("import all.jsonl").await;
    again.shows("added            0");
}

#[tokio::test]
async fn a_full_disk_is_reported_as_a_failure() {
    let (home, _held) = Home::in_demo().await;
    home.write("rows.csv", "user_group_id\nacme-eu\n");
    for command in [
        "list",
        "list --json",
        "export",
        "help json",
        "import rows.csv",
        "note --help",
        "--version",
    ] {
        let ran = shell(&home, &format!("groupdesk {command} > /dev/full")).await;
        assert_eq!(ran.code, 2, "{command}: {}", ran.err);
        ran.says("cannot write the output");
    }
    // What was changed is never reported as a mistake of the caller, who would believe that nothing was sent.
    let done = "error: done, but the output cannot be written: ";
    home.write("new.csv", "user_group_id\nnew-2\n");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("create new-1 --yes", "\"new-1\": created, but the output cannot be written"),
        ("update new-1 --name N --yes --json", "\"new-1\": updated, but the output"),
        ("rotate new-1 --yes --reveal", "\"new-1\": confirmed, but the output"),
        ("rotate acme-eu acme-us --yes --json", "cannot write the output"),
        ("update acme-eu acme-us --property z=1 --yes --json", "cannot write the output"),
        ("import rows.csv --create --yes", "cannot write the output"),
        ("import rows.csv --create --yes --restart --json", "cannot write the output"),
        ("apply rows.csv", "cannot write the output"),
        ("get --refresh-all --json", "cannot write the output"),
        ("note acme-eu x", done),
        ("label acme-eu --add vip --json", done),
        ("import new.csv", done),
        ("profile add eu --base-url https://eu.example.com --api-key-env EU --no-check", done),
        ("profile rename eu us", done),
        ("profile behaviour production --sole-writer yes", done),
        ("profile remove us --yes", done),
        ("directory backup copy.db --json", done),
        ("environment rename production prod", done),
    ];
    for (command, words) in table {
        let ran = shell(&home, &format!("groupdesk {command} > /dev/full")).await;
        assert_eq!(ran.code, 6, "{command}: {}", ran.err);
        ran.says(words);
    }
}

/// A run says what it did, also where its report is lost.
#[tokio::test]
async fn a_run_whose_report_is_lost_says_what_it_did() {
    let (home, _serving) = Home::served().await;
    home.write("rows.csv", "user_group_id,name\none,One\ntwo,Two\n");
    for json in ["", " --json"] {
        let command = format!("import rows.csv --create --yes{json}");
        let ran = shell(&home, &format!("groupdesk {command} > /dev/full")).await;
        // The second time there is nothing to do.
        let said = if json.is_empty() {
            "; done: 2 created"
        } else {
            "; done: 2 existed"
        };
        assert_eq!(ran.code, 6, "{command}: {}", ran.err);
        ran.says(said);
    }
    home.exits(0, "show two").await;
}

/// An API key and a token are printed once: if nobody gets them, the command fails, and the key is revoked.
#[tokio::test]
async fn a_key_or_token_that_cannot_be_printed_is_a_failure() {
    let home = Home::new();
    let on = format!("--database {}", home.database());
    let mut made = 0;
    for json in ["", "--json"] {
        for lost in ["> /dev/full", ">&-", ">&3"] {
            let create = format!("groupdesk serve keys create --environment live {on} {json}");
            // The reader of 3 has ended before the command begins.
            let line = format!("exec 3> >(:); wait $!; {create} {lost}");
            let ran = shell(&home, &line).await;
            made += 1;
            assert_eq!(ran.code, 6, "{line}: {}", ran.err);
            ran.says(&format!(
                "API key {made} was revoked: it could not be printed"
            ));
        }
    }
    let keys = home.json(0, &format!("serve keys list {on}")).await;
    let keys = keys.as_array().expect("a list");
    assert_eq!(keys.len(), made);
    assert!(keys.iter().all(|key| key["revoked_at"].is_string()));

    let (home, _serving) = Home::served().await;
    home.exits(0, "create acme --yes").await;
    let fingerprint = home.json(0, "show acme").await["fingerprint"].clone();
    for command in ["get acme", "get acme --dry-run", "rotate acme --yes"] {
        let ran = shell(&home, &format!("groupdesk {command} --token-out - >&-")).await;
        assert_eq!(ran.code, 2, "{command}: {}", ran.err);
        ran.says("standard output, which is closed or discarded; nothing was sent");
    }
    for command in ["get acme", "rotate acme --yes", "create new --yes"] {
        let ran = shell(&home, &format!("groupdesk {command} --reveal >&-")).await;
        assert_eq!(ran.code, 2, "{command}: {}", ran.err);
        ran.says("--reveal needs standard output, which is closed or discarded; nothing was sent");
    }
    home.exits(3, "get new").await;
    let after = home.json(0, "get acme").await;
    assert_eq!(after["fingerprint"], fingerprint, "not rotated");
}
