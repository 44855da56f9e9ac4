//! A rotation whose process was killed while the service hangs: found, settled by reads, abandoned. And which group a
//! token belongs to. With the shipped binary.

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use super::{
    program::{Background, Home, Ran, files, has},
    prompts::answer_with_line,
};
use crate::support::{
    assertions::{assert_has, assert_lacks},
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
        let (home, proxy, serving) = Home::behind_proxy().await;
        home.exits(0, "create acme-eu --yes").await;
        Self {
            home,
            proxy,
            _serving: serving,
        }
    }

    /// Starts a rotation and kills it with SIGKILL while the service hangs.
    async fn kill_a_rotation(&self, applied: bool) {
        let fault = if applied {
            ProxyFault::applied(Then::Hang)
        } else {
            ProxyFault::swallowed(Then::Hang)
        };
        let arguments = "rotate acme-eu --yes --reason leaked";
        self.kill(arguments, "POST", fault).await;
    }

    /// Starts a command and kills it at its next request of this method.
    async fn kill(&self, arguments: &str, method: &'static str, fault: ProxyFault) {
        let gate = Gate::new();
        self.proxy.next(method, fault.behind(&gate));
        let mut running = Background::start(self.home.command(arguments));
        gate.reached().await;
        rustix::process::kill_process(running.pid(), Signal::KILL).expect("it runs");
        assert_eq!(running.code().await, None, "killed by the signal");
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
        let shown = self.home.json(0, "get acme-eu --reveal").await;
        shown["token"].as_str().expect("a token").to_owned()
    }
}

fn one(rows: &Value) -> &Value {
    let rows = rows.as_array().expect("an array");
    assert_eq!(rows.len(), 1, "{rows:?}");
    &rows[0]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_colleague_is_still_doing_is_told_and_is_no_unknown_result() {
    let scene = Scene::new().await;
    scene.kill_a_rotation(true).await;
    let lost = ProxyFault::swallowed(Then::Hang);
    scene.kill("create lost --yes", "GET", lost).await;
    scene.home.exits(7, "rotations check").await;
    // In place of a colleague on another machine, whose requests last as long as this test.
    let directory = rusqlite::Connection::open(scene.directory()).expect("open");
    let of_li = "by = 'li@desk7', boot_clock = NULL, sent_at = sent_at + 3600000000";
    let of_li =
        format!("UPDATE rotations SET process = NULL, {of_li}; UPDATE mutations SET {of_li}");
    directory.execute_batch(&of_li).expect("done");
    let ran = scene.home.exits(0, "rotations check").await;
    ran.says("started by li@desk7").says("may still be running");
    ran.says("of \"lost\" by li@desk7 is in progress");
    scene.home.exits(7, "rotations check 1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_rotation_is_found_and_settled_by_reading() {
    for (applied, expected) in [(true, "recovered"), (false, "not_applied")] {
        let scene = Scene::new().await;
        let home = &scene.home;
        let before = scene.token().await;
        scene.kill_a_rotation(applied).await;

        let open = home.json(0, "rotations --open").await;
        has!(*one(&open), {"user_group_id": "acme-eu", "state": "sent", "reason": "leaked"});
        // Its process might still be alive, as far as anybody can tell.
        let gets = scene.proxy.count("GET");
        let ran = home.exits(7, "rotations check").await;
        ran.says("may still be running").says("check again in");
        assert_eq!(scene.proxy.count("GET"), gets);
        home.exits(3, "rotate acme-eu --yes").await;

        scene.an_hour_later();
        let settled = home.json(0, "rotations check").await;
        has!(*one(&settled), {"state": expected, "why": null});
        let open = home.json(0, "rotations --open").await;
        assert_eq!(open, Value::Array(Vec::new()));
        let again = home.json(0, "rotations check 1").await;
        assert_eq!(one(&again)["state"], expected);
        let history = home.json(0, "history --limit 1").await;
        assert_eq!(one(&history)["outcome"], expected);
        assert_eq!(scene.proxy.count("POST"), 1, "sent once, whatever happened");
        assert_eq!(scene.token().await != before, applied);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn abandoning_asks_and_frees_the_token() {
    let scene = Scene::new().await;
    let home = &scene.home;
    scene.kill_a_rotation(false).await;
    let abandon = "rotations abandon 1 --reason gone";
    let with_yes = format!("{abandon} --yes");
    // Nobody can be asked; and its process may still live.
    home.exits(3, abandon).await;
    home.exits(3, &with_yes).await.says("may still take effect");
    scene.an_hour_later();
    let (shown, code) = answer_with_line(home, abandon, "n\n");
    assert_eq!(code, Some(3), "{shown}");
    let abandoned = home.json(0, &with_yes).await;
    assert_eq!(abandoned["state"], "abandoned");
    let history = home.json(0, "history --limit 1").await;
    has!(*one(&history), {"outcome": "abandoned", "reason": "gone"});
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (3, &with_yes, "nothing to abandon"),
        (0, "rotate acme-eu --yes", ""),
        (2, "rotations abandon 9 --reason x --yes", "rotation 9 not found"),
        (2, "rotations abandon 1 --reason ' ' --yes", "a reason is required"),
        (2, "rotations check 9", "rotation 9 not found"),
    ]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_traced_to_its_group_and_nothing_is_sent() {
    let scene = Scene::new().await;
    let home = &scene.home;
    let old = scene.token().await;
    home.exits(0, "rotate acme-eu --yes").await;
    let new = scene.token().await;
    let sent = scene.proxy.methods().len();
    for (token, current) in [(&new, true), (&old, false)] {
        let ran = home.exits_with(0, "whose --json", token).await;
        let owners = ran.hides(token).json();
        has!(*one(&owners), {"user_group_id": "acme-eu", "profile": "live", "current": current});
        let (shown, code) = answer_with_line(home, "whose", &format!("{token}\n"));
        assert_eq!(code, Some(0), "{shown}");
        assert_has(&shown, "acme-eu");
        assert_lacks(&shown, token);
    }
    let (shown, code) = answer_with_line(home, "whose", "\u{3}");
    assert_eq!(code, Some(130), "{shown}");
    home.exits_with(1, "whose", &"0".repeat(64)).await;
    home.exits_with(2, "whose", "\n").await;
    let ran = home.exits(2, &["whose", new.as_str()]).await;
    let told = "do not pass a token as an argument: other users of this machine can read it";
    ran.hides(&new).says(told);
    let ran = home.exits(2, "whose acme-eu").await;
    ran.says("groupdesk show ID");
    home.write("leaked.txt", &new);
    let ran = home.exits(2, "whose leaked.txt").await;
    ran.hides(&new).says("groupdesk whose < FILE");
    assert_eq!(scene.proxy.methods().len(), sent, "nothing is sent");
}

/// Every form in which a token can stand in a text: `domain::pasted::tests`.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_found_anywhere_in_a_text_and_half_of_one_is_no_all_clear() {
    let scene = Scene::new().await;
    let home = &scene.home;
    let old = scene.token().await;
    home.exits(0, "rotate acme-eu --yes").await;
    let new = scene.token().await;
    // The lines behind the first typed one are not left to the shell.
    let nobody = "0".repeat(64);
    let log = format!("GET /?token={new} 200\nGET /?token={nobody} 200\nGET /?token={old} 200\n");
    let ran = home.exits_with(0, "whose", &log).await;
    let (typed, code) = answer_with_line(home, "whose", &log);
    assert_eq!(code, Some(0));
    for said in [ran.all(), typed] {
        for words in [
            "line 1  current",
            "line 3  former",
            "line 2  not in the directory",
            "unknown tokens: 1 of 3",
        ] {
            assert_has(&said, words);
        }
        for token in [&new, &old, &nobody] {
            assert_lacks(&said, token);
        }
    }
    for text in [&new[1..], "Authorization: Token"] {
        for line in ["whose", "whose --json"] {
            let ran = home.exits_with(2, line, text).await;
            ran.hides(text).says("not conclusive");
            ran.says(&format!(
                "no known token in this text ({} characters)",
                text.len()
            ));
            assert_lacks(&ran.out, "[]");
        }
    }
    // What selects a group for a rotation is read in the same way.
    let (front, back) = new.split_at(30);
    let text = format!("{nobody}\nwith {front}\n");
    let ran = home.exits_with(2, "whose", &text).await;
    ran.hides(front).says("line 2 may have a part");
    let coloured = format!("\u{1b}[36m{front}\u{1b}[1m{back}\u{1b}[0m\n");
    let posts = scene.proxy.count("POST");
    home.exits_with(0, "rotate --token-stdin --yes --include-recent", &coloured)
        .await;
    assert_eq!(scene.proxy.count("POST"), posts + 1);
}

#[tokio::test]
async fn only_the_group_of_a_pasted_token_is_rotated() {
    let scene = Scene::new().await;
    let token = scene.token().await;
    let home = &scene.home;
    home.exits(0, "create globex --yes").await;
    let paste = "rotate --token-stdin --yes --json";
    // For another group, no group, and a token never seen here, nothing is sent.
    let unseen = "a token that nobody here has seen";
    for (id, text) in [("globex", &*token), ("", unseen), ("globex", unseen)] {
        let ran = home.exits_with(3, &format!("{paste} {id}"), text).await;
        assert_lacks(&ran.err, text);
    }
    assert_eq!(scene.proxy.count("POST"), 0);

    let ran = home.exits_with(0, paste, &format!("{token}\n")).await;
    has!(ran.json(), {"user_group_id": "acme-eu", "outcome": "confirmed"});
    let again = home.exits_with(3, paste, &token).await;
    again.says("has since been replaced");
    assert_eq!(scene.proxy.count("POST"), 1);
}

/// The environment keeps its name when a profile gets another one.
#[tokio::test]
async fn the_group_of_a_pasted_token_is_found_after_its_profile_was_renamed() {
    let scene = Scene::new().await;
    let token = scene.token().await;
    let home = &scene.home;
    home.exits(0, "profile rename live another").await;
    let found = home.exits_with(0, "whose --json", &token).await.json();
    has!(found[0], {"profile": "live", "environment": "live", "user_group_id": "acme-eu"});
    let paste = "rotate --token-stdin --yes --json";
    let ran = home.exits_with(3, &format!("{paste} globex"), &token).await;
    ran.says("this token belongs to");
    let ran = home.exits_with(0, paste, &token).await;
    has!(ran.json(), {"user_group_id": "acme-eu", "outcome": "confirmed"});
    let again = home.exits_with(3, paste, &token).await;
    again.says("has since been replaced");
    assert_eq!(scene.proxy.count("POST"), 1);
}

/// Open rotations at another place of the same address do not hide the open changes of this one.
#[tokio::test(flavor = "multi_thread")]
async fn open_changes_of_a_place_are_named_besides_rotations_of_another() {
    let mut scene = Scene::new().await;
    scene.kill_a_rotation(true).await;
    let other = "--environment other --tag Customer";
    let key = scene.home.key(other).await;
    // A profile made of variables has a place of its own, and does not report on that one.
    scene.home.set("GROUPDESK_CONFIG", "");
    scene.home.set("GROUPDESK_BASE_URL", scene.proxy.base_url());
    scene.home.set("GROUPDESK_API_KEY", key);
    let lost = ProxyFault::swallowed(Then::Hang);
    scene.kill("create lost --yes", "GET", lost).await;
    let check = scene.home.exits(7, "rotations check").await;
    check.says("of \"lost\" is still unknown");
    let told = scene.home.json(7, "rotations check").await;
    let told = told.as_array().expect("an array").iter();
    let told: Vec<_> = told.filter(|one| one["change"].is_string()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["user_group_id"], "lost");
    assert_lacks(&check.err, "not in the directory");
    // Where no process can have it in hand, the command that finds out is proposed.
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    scene.home.exits(7, "create gone --yes").await;
    let get = "groupdesk get gone --exists";
    scene.home.exits(7, "attention").await.shows(get);
    scene.home.exits(0, "get gone --exists").await;
    assert_lacks(&scene.home.run("attention").await.out, "gone");
}

/// A dry run ends as the run itself would, with the same sentence.
#[tokio::test]
async fn a_dry_run_is_refused_as_the_run_is() {
    let (home, proxy, _serving) = Home::behind_proxy().await;
    // What has no result may still take effect for 20 minutes, and commands wait for 10.
    let config = home.config();
    home.write("config.toml", &config.replace("\"30s\"", "\"10m\""));
    let groups = ["mapped", "unclear", "young", "calm"];
    for group in groups {
        home.exits(0, &format!("create {group} --name {group} --yes"))
            .await;
    }
    home.exits(
        0,
        "profile behaviour live --sole-writer yes --omitted-fields keep",
    )
    .await;
    let lost = || ProxyFault::applied(Then::Drop);
    proxy.next("PUT", lost());
    home.exits(7, "update mapped --map 7=1 --replace-mapping --yes")
        .await;
    proxy.next("POST", ProxyFault::swallowed(Then::Drop));
    home.exits(7, "rotate unclear --yes").await;
    home.exits(0, "rotate young --yes").await;
    proxy.next("GET", lost());
    home.exits(7, "create lost --name Lost --yes").await;
    home.write("one.csv", "user_group_id,name\nlost,Other\n");
    home.write("two.csv", "user_group_id,name\nunclear,Other\ncalm,Other\n");
    for (code, command) in [
        (3, "rotate mapped"),
        (3, "update mapped --mapping map.json"),
        (3, "rotate unclear"),
        (3, "update unclear --name Other"),
        (3, "copy calm --to live --as-id unclear"),
        (3, "rotate young"),
        (3, "create lost --name Other"),
        (3, "copy calm --to live --as-id lost"),
        (3, "apply one.csv"),
        (3, "import one.csv --create"),
        (6, "apply two.csv"),
        (3, "rotate mapped unclear"),
        (6, "rotate mapped calm"),
    ] {
        home.write("map.json", "{\"7\": \"2\"}");
        let dry = home.exits(code, &format!("{command} --dry-run")).await;
        let ran = home.exits(code, &format!("{command} --yes")).await;
        if command == "rotate young" {
            dry.says("--include-recent");
        } else if code == 3 && !command.contains(".csv") && command != "rotate mapped unclear" {
            let error = |ran: &Ran| {
                let lines = ran.err.lines();
                let said = lines.filter(|line| line.starts_with("error:"));
                said.map(without_times).collect::<Vec<_>>()
            };
            assert_eq!(error(&dry), error(&ran), "{command}");
        }
    }
    home.exits(0, "create lost --name Lost --dry-run").await;
    home.exits(0, "rotate young --include-recent --dry-run")
        .await;
    let dry = home
        .run("apply two.csv --dry-run --detailed-exitcode")
        .await;
    dry.shows("1 group cannot be changed now: \"unclear\" is locked by the rotation of");
    home.exits(0, "update calm --name Calm --dry-run").await;
}

/// Seconds pass between two commands, or minutes.
fn without_times(line: &str) -> String {
    let line = line.replace(|sign: char| sign.is_ascii_digit(), "");
    let ages = ["just now", " s ago", " min ago"];
    ages.iter().fold(line, |line, age| line.replace(age, "ago"))
}
