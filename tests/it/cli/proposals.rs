//! Every command that a message proposes works in the state in which it is proposed: it is never refused with the
//! message that proposed it.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    io,
    net::TcpListener,
    path::Path,
    rc::Rc,
};

use futures_util::future::join_all;

use super::program::{Background, Home, Ran};
use crate::support::proxy::{FaultyProxy, ProxyFault, Then};

/// In [`COMMANDS`], the groups of a scene.
const KNOWN: &str = "KNOWN";
const LOST: &str = "LOST";

/// What a scene calls its profile and its two groups.
#[derive(Debug, Clone, Copy)]
struct Names {
    profile: &'static str,
    is_default: bool,
    known: &'static str,
    lost: &'static str,
}

const PLAIN: Names = Names {
    profile: "live",
    is_default: true,
    known: "acme-eu",
    lost: "globex-retail",
};
/// The profile is not the default one, a shell needs quotes around every name, and an id would be read as an option.
const ODD: Names = Names {
    profile: "eu live",
    is_default: false,
    known: "-acme eu",
    lost: "--globex's $home",
};

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

/// Commands that act on the same whatever the profile.
const OF_NO_PROFILE: [&str; 5] = ["whose", "help", "directory", "config", "profile list"];

struct Scene {
    home: Home,
    names: Names,
    /// The address of the default profile, if that is another one.
    other: TcpListener,
    proxy: FaultyProxy,
    /// What was run as whom, in a copy of the installation: many messages propose the same.
    ran: RefCell<BTreeMap<(String, bool, String), Rc<Ran>>>,
    _serving: Background,
}

impl Scene {
    async fn after(state: State, names: Names) -> Self {
        let (mut home, proxy, serving) = Home::behind_proxy().await;
        home.set("USER", "ana");
        let other = TcpListener::bind("127.0.0.1:0").expect("a listener");
        other.set_nonblocking(true).expect("set");
        if !names.is_default {
            let config = home.config();
            let profile = format!("[profiles.'{}']", names.profile);
            let address = other.local_addr().expect("an address");
            let config = format!(
                "default_profile = \"other\"\n{}\n[profiles.other]\nbase_url = \"http://{address}\"\n\
                 api_key = {{ env = \"LIVE_KEY\" }}\ntimeout = \"1s\"\n",
                config.replace("[profiles.live]", &profile)
            );
            home.write("config.toml", &config);
        }
        let scene = Self {
            home,
            names,
            other,
            proxy,
            ran: RefCell::default(),
            _serving: serving,
        };
        let created = scene
            .first(&["create", KNOWN, "--name", "Acme", "--yes"])
            .await;
        assert_eq!(created.code, 0, "{}", created.err);
        let (command, code): (&[&str], _) = match state {
            State::Create { .. } => (&["create", LOST, "--name", "Globex", "--yes"], 7),
            State::FirstRead => (&["get", LOST, "--exists"], 7),
            State::Update => (&["update", KNOWN, "--name", "Later", "--yes"], 7),
            State::Rotation { .. } => (&["rotate", KNOWN, "--yes"], 7),
            State::NoAnswer | State::Calm => (&["list"], 0),
        };
        if matches!(state, State::Update) {
            let facts = ["profile", "behaviour", "NAME", "--omitted-fields", "keep"];
            assert_eq!(scene.first(&facts).await.code, 0);
        }
        scene.faults(state);
        let ran = scene.first(command).await;
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

    /// The line that a person types for a command of this test.
    fn typed(&self, command: &[&str]) -> String {
        let mut line = String::from("groupdesk");
        if !self.names.is_default {
            line = format!("{line} -P {}", quoted(self.names.profile));
        }
        let is_dashed = self.names.known.starts_with('-');
        let (ids, options): (Vec<_>, Vec<_>) = command
            .iter()
            .partition(|&&word| is_dashed && [KNOWN, LOST].contains(&word));
        let dashes = (!ids.is_empty()).then_some(&"--");
        for &word in options.into_iter().chain(dashes).chain(ids) {
            let word = match word {
                KNOWN => self.names.known,
                LOST => self.names.lost,
                "NAME" => self.names.profile,
                word => word,
            };
            line = format!("{line} {}", quoted(word));
        }
        line
    }

    /// What happens before anything is read.
    async fn first(&self, command: &[&str]) -> Ran {
        self.home.run_line(&self.typed(command)).await
    }

    /// Runs a line on a copy of the installation, as this person.
    async fn run(&self, state: State, person: &str, line: &str) -> Rc<Ran> {
        let is_unanswered = matches!(state, State::NoAnswer);
        let key = (person.to_owned(), is_unanswered, line.to_owned());
        let known = self.ran.borrow().get(&key).cloned();
        if let Some(known) = known {
            return known;
        }
        let mut copy = self.home.copied();
        copy.set("USER", person);
        if is_unanswered {
            self.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
        }
        let ran = copy.run_line(line).await;
        self.proxy.calm("GET");
        let ran = Rc::new(ran);
        self.ran.borrow_mut().insert(key, Rc::clone(&ran));
        ran
    }

    /// Follows what the messages of this command propose, and what those messages propose. Returns how many commands
    /// were tried.
    async fn walk(&self, state: State, person: &str, line: String, group: &str) -> usize {
        let mut tried = BTreeSet::new();
        let mut walked = 0;
        // The refusals that led to a command, and whether it is the first one.
        let mut paths = vec![(Vec::new(), line, state)];
        while let Some((mut refusals, line, now)) = paths.pop() {
            // After a success, once is enough.
            if !tried.insert(line.clone()) && refusals.is_empty() {
                continue;
            }
            let ran = self.run(now, person, &line).await;
            walked += 1;
            let what = format!(
                "{state:?}, {person}: {line} ended with {}:\n{}\nafter {refusals:#?}",
                ran.code, ran.err
            );
            assert_ne!(ran.code, 2, "no such command: {what}");
            let asked = self.other.accept().map(|_| ());
            let is_idle = asked
                .as_ref()
                .is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock);
            assert!(is_idle, "the default profile was asked: {what}");
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
                let line = proposal.join(" ");
                assert!(
                    self.names.is_default
                        || OF_NO_PROFILE.iter().any(|free| line.starts_with(free))
                        || line.contains(self.names.profile),
                    "groupdesk {line} acts on another profile: {what}"
                );
                let typed = self.filled(&proposal, group, self.home.folder.path());
                paths.push((refusals.clone(), typed, State::Calm));
            }
        }
        walked
    }

    /// What a person types for a proposal in a message about this group.
    fn filled(&self, proposal: &[String], group: &str, folder: &Path) -> String {
        let given = folder.join("given");
        std::fs::write(&given, "{}").expect("written");
        let is_read =
            |at: usize| at > 0 && ["--mapping", "--properties"].contains(&&*proposal[at - 1]);
        let mut all: Vec<String> = proposal
            .iter()
            .enumerate()
            .map(|(at, word)| match word.as_str() {
                "FILE" if is_read(at) => given.display().to_string(),
                "WHY" | "REASON" => "tried".into(),
                "ID" if self.names.known.starts_with('-') => {
                    format!("-- {}", quoted(self.names.known))
                }
                "ID" => quoted(self.names.known),
                "NAME" => quoted(self.names.profile),
                "keep|clear|unknown" => "unknown".into(),
                "FILE" => folder.join("proposed").display().to_string(),
                word => word.into(),
            })
            .collect();
        if let Some(only) = all.last().cloned()
            && ["get", "show", "update", "rotate"].contains(&only.as_str())
        {
            let name = (only == "update").then_some(["--name".to_owned(), "Other".to_owned()]);
            all.extend(name.into_iter().flatten());
            if group.starts_with('-') {
                all.push("--".into());
            }
            all.push(quoted(group));
        }
        let asks = ["create", "update", "rotate", "abandon"];
        if all.iter().any(|word| asks.contains(&word.as_str())) && !all.contains(&"--yes".into()) {
            // Behind `--` it would be an ID.
            let at = all.iter().position(|word| word == "--");
            all.insert(at.unwrap_or(all.len()), "--yes".into());
        }
        format!("groupdesk {}", all.join(" "))
    }
}

/// A word in single quotes if a shell needs them.
fn quoted(word: &str) -> String {
    if word.contains([' ', '\'', '$']) {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        word.into()
    }
}

/// The commands in a text, as words with their quotes. `ID` and the like stand for what a person chooses.
fn proposed(text: &str) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("groupdesk ") {
        let rest = &text[at + "groupdesk ".len()..];
        let end = if text[..at].ends_with('`') {
            rest.find('`')
        } else {
            let ends = ["\n", ";", ",", ". "].into_iter();
            ends.filter_map(|end| rest.find(end)).min()
        };
        let line = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        let is_command = line.starts_with(|c: char| c.is_ascii_lowercase() || c == '-');
        if let Some(words) = shell_words(line).filter(|_| is_command) {
            found.insert(words);
        }
    }
    found
}

/// Splits at spaces outside single quotes, and keeps the quotes; `None` if a quote is left open, as in prose.
fn shell_words(line: &str) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    let mut before = ' ';
    for c in line.chars() {
        if c == '\'' && (is_quoted || before != '\\') {
            is_quoted = !is_quoted;
        }
        before = c;
        match words.last_mut() {
            _ if c == ' ' && !is_quoted => words.push(String::new()),
            Some(word) => word.push(c),
            None => {}
        }
    }
    words.retain(|word| !word.is_empty());
    (!is_quoted).then_some(words)
}

/// The sentence of a refusal: its first line, without what differs from one run to the next.
fn refusal(ran: &Ran) -> Option<String> {
    let line = ran.err.lines().rfind(|line| line.starts_with("error"))?;
    Some(line.chars().filter(|c| !c.is_ascii_digit()).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_message_proposes_is_never_refused_with_that_message() {
    let states = [
        (State::Create { arrived: true }, BOTH),
        (State::Create { arrived: false }, BOTH),
        (State::FirstRead, ANA),
        (State::Update, BOTH),
        (State::Rotation { arrived: true }, BOTH),
        (State::Rotation { arrived: false }, BOTH),
        (State::NoAnswer, ANA),
        (State::Calm, ANA),
    ];
    assert_led(&states, PLAIN, 50).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proposed_command_acts_on_the_profile_and_the_group_of_its_message() {
    let states = [
        (State::Create { arrived: false }, ANA),
        (State::Update, ANA),
        (State::Rotation { arrived: true }, ANA),
    ];
    assert_led(&states, ODD, 20).await;
}

#[tokio::test]
async fn who_only_reads_is_proposed_nothing_that_changes() {
    let scene = Scene::after(State::Rotation { arrived: false }, PLAIN).await;
    let home = &scene.home;
    let config = std::fs::read_to_string(home.path("config.toml")).expect("read");
    let read_only = config.replace("[profiles.live]", "[profiles.live]\nread_only = true");
    home.write("config.toml", &read_only);
    for command in [
        &["list", "--filter", "x:y"][..],
        &["list"],
        &["show", "nobody"],
        &["show", "nobody", "nothing"],
        &["get", "nobody"],
        &["note", "nobody"],
        &["attention"],
        &["rotations"],
        &["history", "--open"],
        &["history", "nobody"],
    ] {
        let ran = home.run(command).await;
        for proposal in proposed(&format!("{}\n{}", ran.out, ran.err)) {
            let line = scene.filled(&proposal, PLAIN.known, scene.home.folder.path());
            let followed = home.run_line(&line).await;
            assert!(
                !followed.err.contains("read-only"),
                "{command:?} proposes {line}, which is refused: {}",
                followed.err
            );
        }
    }
    // Nothing is known in this one.
    let fresh = home.path("fresh.db").display().to_string();
    let ran = home.run(&["--directory", &fresh, "list"]).await;
    assert!(ran.err.contains("no groups"), "{}", ran.err);
    assert_eq!(proposed(&ran.err), BTreeSet::new(), "{}", ran.err);
}

/// Whoever made the state, and somebody else, where somebody else is told other things.
const ANA: &[&str] = &["ana"];
const BOTH: &[&str] = &["ana", "ben"];

/// Follows the messages of every command in every state; at least so many commands were proposed.
async fn assert_led(states: &[(State, &[&str])], names: Names, proposed: usize) {
    let walks = states.iter().map(|&(state, people)| async move {
        let scene = Scene::after(state, names).await;
        let mut walked = 0;
        for person in people {
            for command in COMMANDS {
                let is_lost = command.get(1) == Some(&LOST);
                let group = if is_lost { names.lost } else { names.known };
                walked += scene.walk(state, person, scene.typed(command), group).await;
            }
        }
        walked - people.len() * COMMANDS.len()
    });
    let led: usize = join_all(walks).await.into_iter().sum();
    assert!(led > proposed, "only {led} commands were proposed");
}
