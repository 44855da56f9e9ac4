//! Every command that a message proposes works in the state in which it is proposed: it is never refused with the
//! message that proposed it.

use std::{collections::BTreeSet, path::Path};

use futures_util::future::join_all;

use super::program::{Background, Home, Ran};
use crate::support::{
    bare::args,
    proxy::{FaultyProxy, ProxyFault, Then},
};

const KNOWN: &str = "acme-eu";
const LOST: &str = "globex-retail";

/// What happened before the messages are read.
#[derive(Debug, Clone, Copy)]
enum State {
    /// A create whose answer was lost, and whether it arrived.
    Create {
        arrived: bool,
    },
    /// A first read whose answer was lost.
    FirstRead,
    Update,
    Rotation {
        arrived: bool,
    },
    /// The next read gets no answer.
    NoAnswer,
    /// Nothing at all.
    Calm,
}

/// Commands whose messages are read; each may change something, so each has a copy of the installation.
const COMMANDS: [&[&str]; 15] = [
    &["get", LOST],
    &["get", LOST, "--exists"],
    &["create", LOST, "--name", "Globex", "--yes"],
    &["create", LOST, "--name", "Other", "--yes"],
    &["update", LOST, "--name", "Other", "--yes"],
    &["rotate", LOST, "--yes"],
    &["get", KNOWN],
    &["update", KNOWN, "--name", "Other", "--yes"],
    &["update", KNOWN, "--map", "8=9", "--yes"],
    &["rotate", KNOWN, "--yes"],
    &["rotations", "check"],
    &["rotations"],
    &["history", "--open"],
    &["attention"],
    &["list"],
];

struct Scene {
    home: Home,
    proxy: FaultyProxy,
    _serving: Background,
}

impl Scene {
    async fn after(state: State) -> Self {
        let mut home = Home::new();
        let key = home.key(&args("--environment live --tag Customer")).await;
        let (serving, url) = home.serve().await;
        let address = url.strip_prefix("http://").expect("an address");
        let proxy = FaultyProxy::before(address.parse().expect("an address")).await;
        home.connect(&proxy.base_url(), &key);
        home.set("USER", "ana");
        assert_eq!(
            home.run(&["create", KNOWN, "--name", "Acme", "--yes"])
                .await
                .code,
            0
        );
        let scene = Self {
            home,
            proxy,
            _serving: serving,
        };
        let (command, code): (&[&str], _) = match state {
            State::Create { .. } => (&["create", LOST, "--name", "Globex", "--yes"], 7),
            State::FirstRead => (&["get", LOST, "--exists"], 5),
            State::Update => (&["update", KNOWN, "--name", "Later", "--yes"], 7),
            State::Rotation { .. } => (&["rotate", KNOWN, "--yes"], 7),
            State::NoAnswer | State::Calm => (&["list"], 0),
        };
        if matches!(state, State::Update) {
            let facts = args("profile facts live --absent-fields keep");
            assert_eq!(scene.home.run(&facts).await.code, 0);
        }
        scene.faults(state);
        let ran = scene.home.run(command).await;
        assert_eq!(ran.code, code, "{state:?}: {}", ran.err);
        scene
    }

    fn faults(&self, state: State) {
        let lost = |arrived: bool| {
            if arrived {
                ProxyFault::applied(Then::Drop)
            } else {
                ProxyFault::swallowed(Then::Drop)
            }
        };
        match state {
            State::Create { arrived } => self.proxy.next("GET", lost(arrived)),
            State::FirstRead => self.proxy.next("GET", lost(true)),
            State::Update => self.proxy.next("PUT", lost(false)),
            State::Rotation { arrived } => {
                // The read before it passes; the read after it is lost as well.
                self.proxy.next("GET", ProxyFault::passed());
                self.proxy.next("POST", lost(arrived));
                self.proxy.next("GET", lost(false));
            }
            State::NoAnswer | State::Calm => {}
        }
    }

    /// Runs it on a copy of the installation, as this person.
    async fn run(&self, state: State, person: &str, command: &[String]) -> Ran {
        let mut copy = self.home.copied();
        copy.set("USER", person);
        if matches!(state, State::NoAnswer) {
            self.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
        }
        let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let ran = copy.run(&arguments).await;
        self.proxy.calm("GET");
        ran
    }

    /// Follows what the messages of this command propose, and what those messages propose. Returns how many commands
    /// were tried.
    async fn walk(&self, state: State, person: &str, command: Vec<String>, group: &str) -> usize {
        let mut tried = BTreeSet::new();
        let mut walked = 0;
        // The refusals that led to a command, and whether it is the first one.
        let mut paths = vec![(Vec::new(), command, state)];
        while let Some((mut refusals, command, now)) = paths.pop() {
            // After a success, once is enough.
            if !tried.insert(command.clone()) && refusals.is_empty() {
                continue;
            }
            let ran = self.run(now, person, &command).await;
            walked += 1;
            let what = format!(
                "{state:?}, {person}: {command:?} ended with {}:\n{}\nafter {refusals:#?}",
                ran.code, ran.err
            );
            assert_ne!(ran.code, 2, "no such command: {what}");
            if let Some(refusal) = refusal(&ran) {
                assert!(
                    !refusals.contains(&refusal),
                    "it leads round in a circle: {what}"
                );
                refusals.push(refusal);
            } else if !refusals.is_empty() {
                continue;
            }
            let text = format!("{}\n{}", ran.out, ran.err);
            for proposal in proposed(&text) {
                let typed = filled(&proposal, group, self.home.folder.path());
                paths.push((refusals.clone(), typed, State::Calm));
            }
        }
        walked
    }
}

/// The commands in a text, as arguments. `ID` and the like stand for what a person chooses.
fn proposed(text: &str) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("groupdesk ") {
        let rest = &text[at + "groupdesk ".len()..];
        let quoted = text[..at].ends_with('`');
        let end = if quoted {
            rest.find('`')
        } else {
            let ends = ["\n", ";", ",", ". "].into_iter();
            ends.filter_map(|end| rest.find(end)).min()
        };
        let line = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        let is_command = line.starts_with(|c: char| c.is_ascii_lowercase());
        if let Some(words) = shell_words(line).filter(|_| is_command) {
            found.insert(words);
        }
    }
    found
}

/// Splits at spaces outside single quotes; `None` if a quote is left open, as in prose.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.last_mut()?.push_str(part);
            continue;
        }
        let mut pieces = part.split(' ');
        words.last_mut()?.push_str(pieces.next()?);
        words.extend(pieces.map(str::to_owned));
    }
    let is_closed = line.matches('\'').count().is_multiple_of(2);
    words.retain(|word| !word.is_empty());
    is_closed.then_some(words)
}

/// What a person types for a proposal in a message about this group.
fn filled(command: &[String], group: &str, folder: &Path) -> Vec<String> {
    let mut all: Vec<String> = command
        .iter()
        .map(|word| match word.as_str() {
            "WHY" | "REASON" => "tried".into(),
            "ID" => KNOWN.into(),
            "NAME" => "live".into(),
            "keep|clear|unknown" => "unknown".into(),
            "FILE" => folder.join("proposed").display().to_string(),
            word => word.into(),
        })
        .collect();
    if let [only] = &all[..]
        && ["get", "show", "update", "rotate"].contains(&only.as_str())
    {
        let name = (only == "update").then_some(["--name".to_owned(), "Other".to_owned()]);
        all.push(group.to_owned());
        all.extend(name.into_iter().flatten());
    }
    let asks = ["create", "update", "rotate", "abandon"];
    if all.iter().any(|word| asks.contains(&word.as_str())) && !all.contains(&"--yes".into()) {
        all.push("--yes".into());
    }
    all
}

/// The sentence of a refusal: its first line, without what differs from one run to the next.
fn refusal(ran: &Ran) -> Option<String> {
    let line = ran.err.lines().rfind(|line| line.starts_with("error"))?;
    Some(line.chars().filter(|c| !c.is_ascii_digit()).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_message_proposes_is_never_refused_with_that_message() {
    let states = [
        State::Create { arrived: true },
        State::Create { arrived: false },
        State::FirstRead,
        State::Update,
        State::Rotation { arrived: true },
        State::Rotation { arrived: false },
        State::NoAnswer,
        State::Calm,
    ];
    let walks = states.map(|state| async move {
        let scene = Scene::after(state).await;
        let mut walked = 0;
        for person in ["ana", "ben"] {
            for command in COMMANDS {
                let group = command.get(1).filter(|word| **word == LOST);
                let group = group.copied().unwrap_or(KNOWN);
                let command: Vec<String> = command.iter().map(|&word| word.into()).collect();
                walked += scene.walk(state, person, command, group).await;
            }
        }
        walked
    });
    let walked: usize = join_all(walks).await.into_iter().sum();
    let own = states.len() * 2 * COMMANDS.len();
    assert!(walked > own + 60, "only {walked} commands were tried");
}
