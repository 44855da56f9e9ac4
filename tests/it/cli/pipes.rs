//! Standard output has the result and nothing else, and a reader that closes early is no failure.

use std::process::Command;

use super::program::{Home, Ran};
use crate::support::bare::args;

/// More than a pipe holds of each result, so that writing really meets a closed pipe.
const GROUPS: &str = "3000";
/// Bytes that a pipe holds.
const PIPE: usize = 64 * 1024;

/// Runs a line of bash in which `groupdesk` is the shipped binary.
async fn shell(home: &Home, line: &str) -> Ran {
    let prepared = home.command(&[]);
    let mut command = Command::new("bash");
    command
        .args(["-o", "pipefail", "-c", line])
        .env_clear()
        .env("PATH", path(prepared.as_std().get_program().as_ref()))
        .current_dir(home.folder.path());
    for (name, value) in prepared.as_std().get_envs() {
        command.env(name, value.expect("set"));
    }
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.expect("no panic").expect("bash is there");
    Ran {
        code: output.status.code().expect("no signal killed it"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

fn path(program: &std::path::Path) -> String {
    let folder = program.parent().expect("a folder").display();
    let usual = std::env::var("PATH").expect("a PATH");
    format!("{folder}:{usual}")
}

#[tokio::test]
async fn a_reader_that_closes_early_ends_every_command_quietly() {
    let mut home = Home::new();
    let _held = home.hold(&["demo", "--hold", "--groups", GROUPS]).await;
    let all = home.run(&["export"]).await;
    home.write("all.jsonl", &all.out);
    assert!(all.out.len() > 128 * 1024, "{}", all.out.len());
    let new = (0..200).map(|number| format!("made-{number}\n"));
    home.write(
        "new.csv",
        &format!("user_group_id\n{}", new.collect::<String>()),
    );
    let made = home.run(&args("import new.csv --create --yes -q")).await;
    assert_eq!(made.code, 0, "{}", made.err);
    let history = home.run(&["history", "--json"]).await;
    assert!(history.out.len() > PIPE, "{}", history.out.len());
    for command in [
        "list",
        "list --json",
        "export",
        "export --json",
        "export --format csv",
        "import all.jsonl --json",
        "apply all.jsonl --dry-run --json 2>/dev/null",
        "history",
        "history --json",
        "doctor",
        "completions bash",
        "man",
        "help json",
        "help json --json",
        "--help",
    ] {
        let ran = shell(&home, &format!("groupdesk {command} | head -1")).await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{command}");
        assert_eq!(ran.out.lines().count(), 1, "{command}: {}", ran.out);
    }
    // The rows whose output was not read were still recorded.
    let again = home.run(&["import", "all.jsonl"]).await;
    assert!(again.out.contains("added            0"), "{}", again.out);
}

#[tokio::test]
async fn a_full_disk_is_reported_as_a_failure() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    home.write("rows.csv", "user_group_id\nacme-eu\n");
    for command in [
        "list",
        "list --json",
        "export",
        "history",
        "help json",
        "man",
        "import rows.csv",
    ] {
        let ran = shell(&home, &format!("groupdesk {command} > /dev/full")).await;
        assert_eq!(ran.code, 2, "{command}: {}", ran.err);
        assert!(
            ran.err.contains("cannot write the output"),
            "{command}: {}",
            ran.err
        );
    }
    // What was changed is never reported as a mistake of the caller, who would believe that nothing was sent.
    for (command, words) in [
        (
            "create new-1 --yes",
            "\"new-1\": created, but the output cannot be written",
        ),
        (
            "update new-1 --name N --yes --json",
            "\"new-1\": updated, but the output",
        ),
        (
            "rotate new-1 --yes --reveal",
            "\"new-1\": confirmed, but the output",
        ),
        (
            "rotate acme-eu acme-us --yes --json",
            "cannot write the output",
        ),
        (
            "update acme-eu acme-us --property z=1 --yes --json",
            "cannot write the output",
        ),
        ("import rows.csv --create --yes", "cannot write the output"),
        (
            "import rows.csv --create --yes --restart --json",
            "cannot write the output",
        ),
        ("apply rows.csv", "cannot write the output"),
        ("get --refresh-all --json", "cannot write the output"),
    ] {
        let ran = shell(&home, &format!("groupdesk {command} > /dev/full")).await;
        assert_eq!(ran.code, 6, "{command}: {}", ran.err);
        assert!(ran.err.contains(words), "{command}: {}", ran.err);
    }
}

#[tokio::test]
async fn standard_output_has_the_result_and_nothing_else() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let rows = home.write(
        "rows.csv",
        "user_group_id,name\nacme-eu,Acme 2\nrow-1,Row\n",
    );
    // Each of these prints something on standard error, too.
    for arguments in [
        &["create", "new-1", "--yes", "--json"][..],
        &["update", "initech", "--name", "I", "--yes", "--json"],
        &["rotate", "acme-eu", "--yes", "--json"],
        &["rotate", "acme-us", "wayfarer", "--yes", "--json"],
        &["import", &rows, "--create", "--update", "--yes", "--json"],
        &["apply", &rows, "--yes", "--json"],
        &["profile", "check", "--json"],
        &["get", "nobody", "--json"],
    ] {
        let ran = home.run(arguments).await;
        assert!(!ran.err.is_empty(), "{arguments:?}");
        let values = serde_json::Deserializer::from_str(&ran.out).into_iter::<serde_json::Value>();
        let values: Result<Vec<_>, _> = values.collect();
        let values = values.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", ran.out));
        assert!(!values.is_empty(), "{arguments:?}");
    }
    let again = ["rotate", "acme-us", "--yes", "--include-recent", "--reveal"];
    let ran = home.run(&again).await;
    assert_eq!(ran.out.lines().count(), 1, "the token alone: {}", ran.out);
}
