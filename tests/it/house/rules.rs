//! The rules themselves: the dependencies of `src/lib.rs`, the crates of each room, and what no file may contain.

use super::source::{Path, Token, paths, tokens};

/// Longer files cause a warning, as they may be missing a boundary.
const LONG_FILE: usize = 400;
/// Longer files must be split.
const LONGEST_FILE: usize = 600;

/// Who may use whom. `api::wire` grants one module of a room and nothing beside it.
#[rustfmt::skip] // A table: one case per line.
const ARROWS: [(&str, &str); 15] = [
    ("main", "cli"),
    ("cli", "tui demo operations service config directory api search formats platform domain intake"),
    ("demo", "operations service config directory api::wire platform domain"),
    ("tui", "operations config search formats platform domain intake"),
    ("operations", "api directory config search formats platform domain intake"),
    ("api", "config formats domain intake"),
    ("directory", "db search formats platform domain"),
    ("service", "db api::wire platform intake"),
    ("config", "platform domain intake"),
    ("search", "domain intake"),
    ("formats", "search domain intake"),
    ("db", "platform"),
    ("platform", ""),
    ("domain", "intake::duration intake::text"),
    ("intake", ""),
];

/// Crates that only some rooms may use.
#[rustfmt::skip] // A table: one case per line.
const CRATES: [(&str, &[&str]); 16] = [
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("keyring_core", &["config"]),
    ("linux_keyutils_keyring_store", &["config"]),
    ("rusqlite", &["db", "directory", "service"]),
    ("tokio_postgres", &["db"]),
    ("ratatui", &["tui"]),
    ("ratatui_textarea", &["tui"]),
    ("tui_input", &["tui"]),
    ("crossterm", &["tui"]),
    ("nucleo_matcher", &["search"]),
    ("reqwest", &["api"]),
    ("rustls", &["api", "db", "directory", "service"]),
    ("axum", &["service"]),
    ("prometheus_client", &["service"]),
    ("tokio", &["main", "cli", "tui", "operations", "api", "db", "directory", "service", "config", "demo", "platform"]),
];

/// I/O and clocks, which the domain must not use.
const NOT_IN_DOMAIN: [&str; 11] = [
    "std::fs",
    "std::io",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "tokio_util",
    "Timestamp::now",
    "Zoned::now",
];

/// The only file of the program that may read the system clock; the service is another machine, and `api` compares the
/// times it reports with the local time.
const CLOCKS: [&str; 3] = ["src/platform/clock.rs", "src/api/", "src/service/"];

/// Prefix of the variables for tests. A build without `failpoints` does not read them.
const FOR_TESTS: &str = "GROUPDESK_TEST_";
const ONLY_FAILPOINTS: &str = "#[cfg(feature = \"failpoints\")]";

/// SQLite has no call that waits until a database can be switched to its write-ahead log, so this file retries until a
/// deadline.
const MAY_WAIT_FOR_A_LOCK: [&str; 1] = ["src/db/file.rs"];

/// Things worth a look that are not mistakes.
pub(super) fn warning(file: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > LONG_FILE).then(|| format!("{file} has {lines} lines; is a wall missing?"))
}

/// Puts temporary folders where the disk does not slow them down.
const FOLDERS: &str = "tests/it/support/folder.rs";

/// Everything wrong with a file, as `file:line: what`.
pub(super) fn complaints(file: &str, text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let paths = paths(&tokens);
    let mut found = Vec::new();
    if !text.starts_with("//!") {
        found.push((1, "must begin with //! and what it is for".to_owned()));
    }
    let lines = text.lines().count();
    if lines > LONGEST_FILE {
        found.push((
            lines,
            format!("has {lines} lines; at most {LONGEST_FILE} are allowed"),
        ));
    }
    found.extend(forbidden_words(&tokens));
    found.extend(slow_conditions(&tokens));
    found.extend(
        paths
            .iter()
            .filter(|_| !MAY_WAIT_FOR_A_LOCK.contains(&file))
            .filter(|path| {
                path.segments
                    .windows(2)
                    .any(|pair| pair == ["thread", "sleep"])
            })
            .map(|path| {
                (
                    path.line,
                    "must not sleep a thread; wait for a condition".to_owned(),
                )
            }),
    );
    found.extend(on_time(file, text, &paths));
    if file.starts_with("tests/") && file != FOLDERS {
        let made = tokens
            .iter()
            .filter(|token| ["tempdir", "temp_dir"].contains(&token.text.as_str()));
        found.extend(made.map(|token| (token.line, format!("must ask {FOLDERS} for a folder"))));
    }
    if let Some(room) = room_of(file) {
        found.extend(paths.iter().filter_map(|path| {
            let used = forbidden_use(file, &room, path)?;
            Some((path.line, format!("{room} must not use {used}")))
        }));
    }
    found.sort();
    found.dedup();
    found
        .into_iter()
        .map(|(line, what)| format!("{file}:{line}: {what}"))
        .collect()
}

/// Tests may set the time of every program; nothing else may.
fn on_time(file: &str, text: &str, paths: &[Path]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    if file.starts_with("src/") {
        if !CLOCKS.iter().any(|place| file.starts_with(place)) {
            let asks = |path: &&Path| {
                let mut pairs = path.segments.windows(2);
                pairs.any(|pair| {
                    pair[1] == "now" && ["Timestamp", "Zoned", "SystemTime"].contains(&&*pair[0])
                })
            };
            let asked = paths.iter().filter(asks);
            found.extend(asked.map(|path| (path.line, "must ask a Clock for the time".to_owned())));
        }
        let lines: Vec<_> = text.lines().collect();
        let named = (0..lines.len()).filter(|at| lines[*at].contains(FOR_TESTS));
        let loose = named.filter(|at| *at == 0 || lines[at - 1].trim() != ONLY_FAILPOINTS);
        found.extend(loose.map(|at| (at + 1, format!("must stand under {ONLY_FAILPOINTS}"))));
    } else if text.contains(".env_clear()")
        && !["clock::outer()", ".get_envs()"]
            .iter()
            .any(|passed| text.contains(passed))
    {
        found.push((1, "must pass clock::outer() on to the program".to_owned()));
    }
    found
}

/// The dependencies of a file on other rooms, as `from -> to`.
pub(super) fn arrows(file: &str, text: &str) -> Vec<String> {
    let Some(room) = room_of(file) else {
        return Vec::new();
    };
    let inner = paths(&tokens(text));
    let targets = inner.iter().filter_map(|path| inside_the_crate(file, path));
    targets
        .filter_map(|target| target.into_iter().next())
        .filter(|target| *target != room)
        .map(|target| format!("{room} -> {target}"))
        .collect()
}

/// The room of a source file; `None` for tests and for `lib.rs`, which contains the rooms.
fn room_of(file: &str) -> Option<String> {
    let inner = file.strip_prefix("src/")?;
    let room = inner.split('/').next()?.trim_end_matches(".rs");
    (room != "lib").then(|| room.to_owned())
}

fn forbidden_words(tokens: &[Token]) -> Vec<(usize, String)> {
    let word = |token: &Token| token.text.clone();
    tokens
        .windows(3)
        .filter_map(|three| {
            let [a, b, c] = [&three[0], &three[1], &three[2]];
            let unfinished = matches!(b.text.as_str(), "todo" | "unimplemented") && c.text == "!";
            let is_left_out = b.text == "ignore"
                && (a.text == "[" && matches!(c.text.as_str(), "]" | "=")
                    || a.text == "," && c.text == ")" && closes_an_attribute(tokens, c));
            (unfinished || is_left_out).then(|| (b.line, format!("must not hold {}", word(b))))
        })
        .collect()
}

/// Conditions that start a client of the database at each look: that can take longer than what is waited for may last.
fn slow_conditions(tokens: &[Token]) -> Vec<(usize, String)> {
    let waits = |at: &usize| ["eventually", "wait_until"].contains(&tokens[*at].text.as_str());
    let is_slow = |at: &usize| {
        let mut depth = 0;
        let mut call = tokens[at + 1..].iter().take_while(|token| {
            depth += i32::from(token.text == "(") - i32::from(token.text == ")");
            depth > 0
        });
        call.any(|token| token.text == "execute")
    };
    let found = (0..tokens.len()).filter(waits).filter(is_slow);
    found
        .map(|at| (tokens[at].line, "must ask in an open session".to_owned()))
        .collect()
}

/// Whether the closing bracket right after `last` ends an attribute.
fn closes_an_attribute(tokens: &[Token], last: &Token) -> bool {
    tokens
        .iter()
        .position(|token| std::ptr::eq(token, last))
        .and_then(|at| tokens.get(at + 1))
        .is_some_and(|next| next.text == "]")
}

fn forbidden_use(file: &str, room: &str, path: &Path) -> Option<String> {
    if let Some(target) = inside_the_crate(file, path) {
        let is_own = target.first().is_none_or(|first| first == room);
        let granted = ARROWS
            .iter()
            .find(|(from, _)| *from == room)
            .map_or("", |(_, to)| *to);
        let is_granted = granted.split(' ').any(|grant| {
            let grant: Vec<_> = grant.split("::").collect();
            target.len() >= grant.len() && target.iter().zip(grant).all(|(a, b)| a == b)
        });
        return (!is_own && !is_granted).then(|| format!("crate::{}", target.join("::")));
    }
    let first = path.segments.first()?;
    let is_guarded = CRATES
        .iter()
        .any(|(name, rooms)| name == first && !rooms.contains(&room));
    // A search may use all processors, because its threads end before it does.
    let is_allowed = |name: &str| room == "search" && name == "std::thread";
    let is_effect = ["domain", "search"].contains(&room)
        && NOT_IN_DOMAIN
            .iter()
            .any(|name| holds(&path.segments, name) && !is_allowed(name));
    (is_guarded && !path.is_word || is_effect).then(|| path.segments.join("::"))
}

fn holds(segments: &[String], name: &str) -> bool {
    let name: Vec<_> = name.split("::").collect();
    segments.windows(name.len()).any(|part| part == name)
}

/// Where a path leads inside this crate, from its root; `None` if it does not begin like a path of this crate.
pub(super) fn inside_the_crate(file: &str, path: &Path) -> Option<Vec<String>> {
    let mut here = module_of(file);
    here.extend(path.inside.iter().cloned());
    let mut rest = path.segments.as_slice();
    match rest.first()?.as_str() {
        "crate" | "groupdesk" if rest.len() > 1 => {
            here.clear();
            rest = &rest[1..];
        }
        "self" | "super" => {
            while let Some((first, after)) = rest.split_first() {
                match first.as_str() {
                    "self" => {}
                    "super" => drop(here.pop()),
                    _ => break,
                }
                rest = after;
            }
        }
        _ => return None,
    }
    here.extend(rest.iter().filter(|segment| *segment != "self").cloned());
    Some(here)
}

pub(super) fn module_of(file: &str) -> Vec<String> {
    let inner = file.trim_start_matches("src/").trim_end_matches(".rs");
    let mut module: Vec<_> = inner.split('/').map(str::to_owned).collect();
    if matches!(
        module.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        module.pop();
    }
    module
}
