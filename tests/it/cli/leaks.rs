//! Every command and its variants against a service that repeats the key and the token in all its answers.

use crate::support::{
    canary::{ALL, Canary, FILED_KEY, KEY, NEW_TOKEN, TOKEN, TOLD_KEY},
    faults::Fault,
    long,
    parrot::{USUAL, always, at_the_second, good, parrots},
    watched::Home,
};

/// Commands that send requests, with their standard input.
#[rustfmt::skip] // A table: one case per line.
const SENDING: [(&[&str], &str); 24] = [
    (&["get", "acme"], ""),
    (&["get", "acme", "--json"], ""),
    (&["get", "acme", "--token-out", "asked.token"], ""),
    (&["create", "acme", "--name", "Acme", "--map", "7=40", "--yes"], ""),
    (&["create", "acme", "--property", "tier=\"gold\"", "--yes", "--json"], ""),
    (&["update", "acme", "--name", "Acme 2", "--yes"], ""),
    (&["update", "acme", "--map", "7=41", "--yes", "--json"], ""),
    (&["update", "acme", "--name", "Acme 2", "--dry-run"], ""),
    (&["rotate", "acme", "--yes", "--reason", "leaked"], ""),
    (&["rotate", "acme", "--yes", "--json"], ""),
    (&["rotate", "acme", "--yes", "--token-out", "asked.token"], ""),
    (&["rotate", "--token-stdin", "--yes"], TOKEN),
    (&["rotate", "--token-stdin", "acme", "--yes", "--json"], NEW_TOKEN),
    (&["rotate", "--filter", "acme", "--yes"], ""),
    (&["rotate", "--filter", "acme", "--yes", "--json", "--token-out", "asked.jsonl"], ""),
    (&["rotate", "--filter", "acme", "--dry-run"], ""),
    (&["rotations", "check"], ""),
    (&["rotations", "handoff", "--pending"], ""),
    (&["import", "-", "--create", "--update", "--yes", "--restart"], IMPORT),
    (&["apply", "groups.jsonl", "--yes", "--json"], ""),
    (&["export", "--reveal-tokens", "--token-out", "asked.jsonl", "--output", "groups.csv", "--format", "csv"], ""),
    (&["doctor", "--id", "acme"], ""),
    (&["doctor", "--json"], ""),
    (&["profile", "check", "--json"], ""),
];

/// Commands that send nothing; the last ones are refused, and must not repeat their arguments.
#[rustfmt::skip] // A table: one case per line.
const QUIET: [(&[&str], &str); 22] = [
    (&["list"], ""),
    (&["list", "--json"], ""),
    (&["show", "acme"], ""),
    (&["show", "acme", "--json"], ""),
    (&["history"], ""),
    (&["history", "--json"], ""),
    (&["rotations"], ""),
    (&["rotations", "--open", "--json"], ""),
    (&["rotations", "abandon", "1", "--reason", "gone", "--yes"], ""),
    (&["export"], ""),
    (&["export", "--format", "csv", "--output", "groups.csv", "--force"], ""),
    (&["import", "-", "--dry-run"], IMPORT),
    (&["whose"], TOKEN),
    (&["whose", "--json"], NEW_TOKEN),
    (&["profile", "list", "--json"], ""),
    (&["profile", "show", "told"], ""),
    (&["completions", "bash"], ""),
    (&["man", "manual"], ""),
    (&["get", "acme", "--token", TOKEN], ""),
    (&["list", "--api-key", KEY], ""),
    (&["whose", TOKEN], ""),
    (&["profile", "add", "new", "--base-url", "http://127.0.0.1:9", "--api-key-env", KEY, "--no-check"], ""),
];

const IMPORT: &str =
    "{\"user_group_id\": \"acme\", \"name\": \"Acme\", \"mapping\": {\"7\": \"42\"}}\n";

/// Files that may contain a token because it was asked for.
const ASKED_FOR: [&str; 2] = ["asked.token", "asked.jsonl"];

const PROFILES: [(&str, &str); 3] = [("live", KEY), ("told", TOLD_KEY), ("filed", FILED_KEY)];

struct Case {
    arguments: Vec<&'static str>,
    input: &'static str,
    what: String,
    script: Vec<Fault>,
    /// The arguments themselves contain a secret.
    is_told: bool,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, (arguments, input)) in SENDING.into_iter().enumerate() {
        for (and, (name, _)) in parrots(USUAL, TOKEN, NEW_TOKEN).into_iter().enumerate() {
            let (profile, key) = PROFILES[(at + and) % PROFILES.len()];
            let fault = parrots(key, TOKEN, NEW_TOKEN).swap_remove(and).1;
            // In every second case the read before it succeeds, so that the second request meets the fault.
            let script = if name == "429" {
                // Many commands wait on a 429, and would wait for ever if it stayed.
                vec![fault, good(TOKEN, key), good(NEW_TOKEN, key)]
            } else if (at + and) % 2 == 0 {
                at_the_second(fault, key)
            } else {
                always(fault)
            };
            cases.push(case(arguments, input, profile, name, script));
        }
        for (profile, key) in PROFILES {
            let rotates = arguments[0] == "rotate" && !arguments.contains(&"--dry-run");
            let script = if rotates {
                vec![good(TOKEN, key), good(NEW_TOKEN, key), good(NEW_TOKEN, key)]
            } else {
                vec![good(TOKEN, key)]
            };
            cases.push(case(arguments, input, profile, "good", script));
        }
    }
    for (arguments, input) in QUIET {
        let script = vec![good(TOKEN, KEY)];
        cases.push(case(arguments, input, "live", "nothing", script));
    }
    cases
}

fn case(
    arguments: &'static [&'static str],
    input: &'static str,
    profile: &'static str,
    name: &str,
    script: Vec<Fault>,
) -> Case {
    let is_told = arguments.iter().any(|word| ALL.contains(word));
    let mut all = vec!["--profile", profile, "--no-input"];
    all.extend(arguments);
    Case {
        what: format!("{arguments:?} of {profile}, {name}")
            .replace(KEY, "KEY")
            .replace(TOKEN, "TOKEN"),
        arguments: all,
        input,
        script,
        is_told,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_leaks_a_key_or_a_token() {
    let needles = Canary::of(&ALL);
    let home = Home::new();
    for (profile, key) in PROFILES {
        home.make_known(profile, || good(TOKEN, key)).await;
    }
    std::fs::write(home.path("groups.jsonl"), IMPORT).expect("written");
    let known = home.snapshot();
    let all = cases();
    let every = all.len();
    let cases = long::spread(all, 5);
    let (mut sent, mut searched, mut seen) = (0, 0, 0);
    let mut codes = std::collections::BTreeMap::new();
    for case in &cases {
        for file in ASKED_FOR {
            let _ = std::fs::remove_file(home.path(file));
        }
        // A rotation left open by an earlier case would get in the way.
        home.restore(&known);
        let (ran, service) = home
            .run(case.script.clone(), &case.arguments, case.input)
            .await;
        needles.assert_not_in(&format!("{}: standard output", case.what), &ran.out);
        needles.assert_not_in(&format!("{}: standard error", case.what), &ran.err);
        if !case.is_told {
            seen += usize::from(!ran.seen.is_empty());
            needles.assert_not_in(&format!("{}: arguments", case.what), &ran.seen);
        }
        let said = String::from_utf8_lossy(&ran.err).into_owned();
        assert!(!said.contains("internal error"), "{}: {said}", case.what);
        assert!(ran.code.is_some(), "{}: {said}", case.what);
        *codes.entry(ran.code).or_insert(0) += 1;
        sent += service.requests().len();
        searched += home.search(&needles, &case.what, &ASKED_FOR);
    }
    let (keys, handoffs) = (home.times_seen("keys"), home.times_seen("handoff"));
    println!(
        "{} of {every} command lines, {sent} requests, {searched} files searched, codes {codes:?}, \
         {keys} key commands and {handoffs} hand-offs looked at their environment",
        cases.len()
    );
    assert!(cases.len() >= 60, "{}", cases.len());
    assert!(sent > cases.len(), "they did send: {sent}");
    assert!(codes.len() >= 4, "good and bad ends: {codes:?}");
    // Commands that end at once are gone before they can be looked at.
    assert!(seen > cases.len() / 2, "seen running: {seen}");
    assert!(keys > 0 && handoffs > 0, "programs were started");
}

/// Control: what was asked for is found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_requested_token_is_found() {
    let needles = Canary::of(&ALL);
    let home = Home::new();
    home.make_known("live", || good(TOKEN, KEY)).await;
    let reveal = ["get", "acme", "--reveal", "--token-out", "asked.token"];
    let (ran, _) = home.run(vec![good(TOKEN, KEY)], &reveal, "").await;
    assert_eq!(ran.code, Some(0), "{}", String::from_utf8_lossy(&ran.err));
    assert!(needles.find(&ran.out).is_some());
    needles.assert_not_in("standard error", &ran.err);
    let file = std::fs::read(home.path("asked.token")).expect("written");
    assert!(needles.find(&file).is_some());
    assert!(home.search(&needles, "the rest", &["asked.token"]) > 2);
}
