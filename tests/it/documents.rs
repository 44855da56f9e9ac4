//! The `sh` blocks of README, guide and operations do what they say: each is run by bash with the shipped binary, in a
//! home of its own, with a demo of its own or the service that it starts itself. Only loopback is used.
//!
//! `sh,console` ends in the console, which `q` leaves; `sh,manual` is not run and is listed in [`MANUAL`]. `sh,team` is for
//! the administrator `ana` of a team, and `sh,team,ben` for Ben: see [`team`]. A line that ends with `# ends with N` must end with that exit code, every other one
//! with 0.

mod keys;
mod run;
mod tasks;
mod team;

use std::{
    env,
    io::{self, Write},
};

use super::house::citations::below;

/// Blocks that need more than a test has, by file and first line.
#[rustfmt::skip] // A table: one case per line.
const MANUAL: [(&str, &str, &str); 12] = [
    ("CONTRIBUTING.md", "cargo run --release", "builds"),
    ("README.md", "cargo run --release", "builds"),
    ("README.md", "cargo install", "installs"),
    ("docs/guide/getting-started.md", "cargo install", "installs"),
    ("docs/guide/getting-started.md", "groupdesk demo", "a tour by keys; tests/it/documents/keys.rs presses them"),
    ("docs/operations/install.md", "cargo install", "installs"),
    ("docs/operations/install.md", "packaging/deb", "needs cargo-deb"),
    ("docs/operations/install.md", "rustup target add", "needs a package"),
    ("docs/guide/many-groups.md", "systemctl --user", "needs systemd; tests/it/packaging.rs reads the units"),
    ("docs/guide/team.md", "groupdesk directory copy", "needs a file of somebody's work; tests/it/cli/team.rs does it"),
    ("docs/operations/service.md", "as_service=", "needs systemd; tests/it/cli/serve/packaged.rs starts what the unit starts"),
    ("docs/operations/service.md", "podman build", "needs podman; tests/it/cli/serve/packaged.rs starts what the image starts"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Run,
    Console,
    /// Of the person with this login.
    Team(String),
    Manual,
}

/// One fenced code block.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    kind: Kind,
    text: String,
}

/// The shell blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let inside: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        let kind = match info {
            "sh" => Kind::Run,
            "sh,console" => Kind::Console,
            "sh,team" => Kind::Team(team::ADMIN.to_owned()),
            "sh,manual" => Kind::Manual,
            info if info.starts_with("sh,team,") => Kind::Team(info["sh,team,".len()..].to_owned()),
            info => {
                let is_shell = ["sh", "bash", "shell", "console", ""].contains(&info);
                assert!(
                    !is_shell,
                    "```{info} is none of sh, sh,console, sh,team, sh,manual"
                );
                continue;
            }
        };
        let text = inside.join("\n");
        found.push(Block { kind, text });
    }
    found
}

fn page(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(path).expect("a page")
}

/// Pages whose blocks are run, and the least number of them.
const PAGES: [(&str, usize); 17] = [
    ("README.md", 1),
    ("docs/guide/getting-started.md", 3),
    ("docs/guide/groups.md", 1),
    ("docs/guide/import-and-apply.md", 2),
    ("docs/guide/many-groups.md", 3),
    ("docs/guide/rotation.md", 1),
    ("docs/guide/leaked-token.md", 1),
    ("docs/guide/rotate-a-thousand.md", 2),
    ("docs/guide/protect-production.md", 1),
    ("docs/guide/scripting.md", 3),
    ("docs/guide/team.md", 3),
    ("docs/guide/troubleshooting.md", 1),
    ("docs/guide/environments.md", 1),
    ("docs/operations/files.md", 1),
    ("docs/operations/install.md", 1),
    ("docs/operations/service.md", 4),
    ("docs/operations/team.md", 4),
];

/// `.ci/run` installs jq; the tests need nothing but Rust and a C compiler.
fn has_jq() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join("jq").exists())
}

/// Runs every block of a page.
async fn run_page(file: &str) {
    run_page_in(file, None).await;
}

/// The same, its blocks of a team in this one. Without PostgreSQL those are left out; a line was printed about it.
async fn run_page_in(file: &str, mut team: Option<&mut team::Team>) {
    let blocks = blocks(&page(file));
    let blocks = blocks.iter().filter(|block| block.kind != Kind::Manual);
    let mut ran = 0;
    let has_jq = has_jq();
    for block in blocks {
        ran += 1;
        if !has_jq && block.text.contains("| jq ") {
            // Not captured, so that whoever runs the tests sees it.
            let _ = writeln!(
                io::stderr(),
                "left out, there is no jq: an example of {file}"
            );
            continue;
        }
        let ended = match &block.kind {
            Kind::Console => run::in_a_terminal(&block.text),
            Kind::Team(who) => match &mut team {
                Some(team) => team.run(who, &block.text).await,
                None => Ok(()),
            },
            _ => run::without_a_terminal(&block.text).await,
        };
        if let Err(said) = ended {
            panic!("{file}:\n{}\n\n{said}", block.text);
        }
    }
    let least = PAGES.iter().find(|(name, _)| *name == file);
    assert!(ran >= least.expect("it is listed").1, "{ran} blocks");
}

#[tokio::test]
async fn readme() {
    run_page("README.md").await;
}

#[tokio::test]
async fn getting_started() {
    run_page("docs/guide/getting-started.md").await;
}

#[tokio::test]
async fn groups() {
    run_page("docs/guide/groups.md").await;
}

#[tokio::test]
async fn runbooks() {
    run_page("docs/guide/leaked-token.md").await;
    run_page("docs/guide/rotate-a-thousand.md").await;
}

#[tokio::test]
async fn protected_production() {
    run_page("docs/guide/protect-production.md").await;
}

#[tokio::test]
async fn rotation_and_many_groups() {
    run_page("docs/guide/rotation.md").await;
    run_page("docs/guide/many-groups.md").await;
}

#[tokio::test]
async fn import_and_apply() {
    run_page("docs/guide/import-and-apply.md").await;
}

#[tokio::test]
async fn scripting() {
    run_page("docs/guide/scripting.md").await;
}

/// The pages are one story: what the administrator sets up is what the others work with.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_with_roles_passwords_and_tls() {
    let mut team = team::Team::start().await;
    run_page_in("docs/guide/team.md", team.as_mut()).await;
    run_page_in("docs/operations/team.md", team.as_mut()).await;
}

#[tokio::test]
async fn environments() {
    run_page("docs/guide/environments.md").await;
}

#[tokio::test]
async fn troubleshooting() {
    run_page("docs/guide/troubleshooting.md").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations() {
    let mut team = team::Team::start().await;
    run_page_in("docs/operations/service.md", team.as_mut()).await;
    run_page("docs/operations/files.md").await;
    run_page("docs/operations/install.md").await;
}

#[test]
fn every_page_with_a_block_is_run_and_manual_blocks_are_listed() {
    let mut manual = Vec::new();
    let mut files = below("docs", &["md"]);
    files.extend(["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(str::to_owned));
    for file in &files {
        let blocks = blocks(&page(file));
        let is_run = blocks.iter().any(|block| block.kind != Kind::Manual);
        let is_listed = PAGES.iter().any(|(name, _)| name == file);
        assert_eq!(is_run, is_listed, "{file}");
        let left = blocks
            .into_iter()
            .filter(|block| block.kind == Kind::Manual);
        manual.extend(left.map(|block| (file.clone(), block.text)));
    }
    for (file, begin, _) in MANUAL {
        let before = manual.len();
        manual.retain(|(name, text)| name != file || !text.starts_with(begin));
        assert_eq!(manual.len() + 1, before, "{file}: {begin}");
    }
    assert!(manual.is_empty(), "not run and not named: {manual:?}");
}

#[test]
fn blocks_are_found_by_their_fences() {
    let page = "a\n```sh\none\ntwo\n```\n```toml\nx = 1\n```\n```sh,manual\nthree\n```\n```sh,console\n```\n```sh,team\n```\n```sh,team,ben\n```\n";
    let block = |kind, text: &str| Block {
        kind,
        text: text.to_owned(),
    };
    let wanted = [
        block(Kind::Run, "one\ntwo"),
        block(Kind::Manual, "three"),
        block(Kind::Console, ""),
        block(Kind::Team("ana".into()), ""),
        block(Kind::Team("ben".into()), ""),
    ];
    assert_eq!(blocks(page), wanted);
}

#[tokio::test]
async fn a_block_that_fails_is_noticed() {
    for (block, words) in [
        ("groupdesk lst\ntrue", "lst"),
        ("groupdesk lst | cat\ntrue", "lst"),
        ("groupdesk version   # ends with 3", "ended with 0, not 3"),
        (
            "groupdesk whose < /dev/null  # ends with 1: none",
            "ended with 2, not 1",
        ),
        ("groupdesk version > gone/version", "gone/version"),
    ] {
        // None of these gets as far as a service.
        let home = run::home();
        let said = run::in_home(block, home.path(), "ana").await;
        let said = said.expect_err(block);
        assert!(said.contains(words), "{block}: {said}");
    }
    let fine = "groupdesk get acme-eww --quiet   # ends with 3: not known\ngroupdesk list > list\ntest -s list";
    assert_eq!(run::without_a_terminal(fine).await, Ok(()));
}
