//! Everything generated from the definition of the command line: completions, manual pages, and the nearest word to a
//! mistyped one.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use super::{guards::knowing_acme, help::pages, program::Home};
use crate::support::world::files_below;

/// What bash offers at the end of a line, with bash's own way of splitting it into words.
fn offered(home: &Home, script: &str, line: &str) -> Vec<String> {
    let (mut words, mut is_open) = (Vec::<String>::new(), false);
    for c in line.chars() {
        let is_break = ":=".contains(c);
        match words.last_mut() {
            _ if c == ' ' => is_open = false,
            Some(word) if is_open && is_break == word.ends_with([':', '=']) => word.push(c),
            _ => {
                words.push(c.into());
                is_open = true;
            }
        }
    }
    if line.ends_with(' ') {
        words.push(String::new());
    }
    let last = words.last().expect("words");
    let current = if last.ends_with([':', '=']) { "" } else { last };
    let quoted: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    let ask = format!(
        "source '{script}'; COMP_WORDS=({}); COMP_CWORD={}; COMP_LINE='{line}'; COMP_POINT={}; compopt() {{ :; }}; \
         _groupdesk groupdesk '{current}' x; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words.len() - 1,
        line.len(),
    );
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_groupdesk"));
    let folder = program.parent().expect("a folder").display();
    let mut bash = home.command_of("bash", &["--norc", "-c", &ask]);
    bash.env("PATH", format!("{folder}:/usr/bin:/bin"));
    let asked = bash.as_std_mut().output().expect("bash is there");
    assert_eq!(String::from_utf8_lossy(&asked.stderr), "", "{line}");
    let out = String::from_utf8(asked.stdout).expect("UTF-8");
    out.lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Every file below the home, and when it was modified.
fn files(home: &Home) -> BTreeMap<PathBuf, std::time::SystemTime> {
    let found = files_below(home.folder.path())
        .expect("readable")
        .into_iter();
    let changed = |path: &PathBuf| std::fs::metadata(path).and_then(|found| found.modified());
    found
        .map(|path| (path.clone(), changed(&path).expect("there")))
        .collect()
}

#[tokio::test]
async fn a_shell_completes_commands_profiles_ids_and_words_of_filters() {
    let (home, service) = knowing_acme(Vec::new()).await;
    let rows = home.write(
        "ids.csv",
        "user_group_id\nacme-eu\neu:acme\nodd $(id)\nümläut\n",
    );
    home.exits(0, &format!("import {rows}")).await;
    let script = home.exits(0, "completions bash").await;
    script.warns("");
    let script = home.write("groupdesk.bash", &script.out);
    let (before, sent) = (files(&home), service.requests().len());
    for (line, wanted) in [
        ("groupdesk doc", &["doctor"][..]),
        ("groupdesk rotate --token-s", &["--token-stdin"]),
        ("groupdesk list -P l", &["live"]),
        ("groupdesk profile show l", &["live"]),
        ("groupdesk show ac", &["acme", "acme-eu"]),
        ("groupdesk show acme eu:a", &["acme"]),
        ("groupdesk rotate odd", &["odd\\ \\$\\(id\\)"]),
        ("groupdesk get ü", &["ümläut"]),
        ("groupdesk -P nobody show ac", &[]),
        ("groupdesk -Pnobody show ac", &[]),
        ("groupdesk list --filter ta", &["tag:"]),
        ("groupdesk list --filter=ta", &["tag:"]),
        ("groupdesk list --filter tag:", &[]),
        ("groupdesk list --columns id,pro", &["id,props", "id,prop:"]),
        ("groupdesk list --sort a", &["age"]),
        ("groupdesk list --color al", &["always"]),
        ("groupdesk help ro", &["rotate", "rotations"]),
        ("groupdesk help rotations ab", &["abandon"]),
        ("groupdesk environment show l", &["live"]),
        ("groupdesk create ac", &[]),
        ("groupdesk rotations abandon ac", &[]),
        // Hidden ones and earlier names.
        ("groupdesk profile bind live --un", &[]),
        ("groupdesk rotations s", &[]),
    ] {
        assert_eq!(offered(&home, &script, line), wanted, "{line}");
    }
    assert_eq!(files(&home), before, "nothing is written");
    assert_eq!(service.requests().len(), sent, "nothing is sent");
    let all = offered(&home, &script, "groupdesk ");
    for (command, _) in pages().filter(|(words, _)| !words.contains(' ')) {
        assert!(all.iter().any(|word| word == command), "{command}: {all:?}");
    }
}

/// What stands behind the tab or on the next line would be left out, and another ID would be run.
#[tokio::test]
async fn an_id_that_cannot_be_typed_on_one_line_is_not_offered() {
    let (mut home, _service) = knowing_acme(Vec::new()).await;
    let rows = r#"[{"user_group_id":"acme-1\tx"},{"user_group_id":"acme-2\nacme-3"}]"#;
    let rows = home.write("ids.json", rows);
    home.exits(0, &format!("import {rows}")).await;
    home.set("_CLAP_COMPLETE_INDEX", "2");
    for shell in ["bash", "zsh", "fish"] {
        home.set("GROUPDESK_COMPLETE", shell);
        let offered = home.run("-- groupdesk show acm").await.out;
        assert_eq!(offered, "acme\n", "{shell}");
    }
}

#[tokio::test]
async fn ids_are_not_completed_with_a_key_that_their_environment_does_not_know() {
    let (mut home, _service) = knowing_acme(Vec::new()).await;
    let script = home.run("completions bash").await.out;
    let script = home.write("groupdesk.bash", &script);
    assert_eq!(offered(&home, &script, "groupdesk get ac"), ["acme"]);
    home.set("LIVE_KEY", "another");
    assert_eq!(offered(&home, &script, "groupdesk get ac"), [""; 0]);
}

#[tokio::test]
async fn without_a_directory_nothing_is_completed() {
    let mut home = Home::new();
    let script = home.run("completions bash").await.out;
    let script = home.write("groupdesk.bash", &script);
    let before = files(&home);
    assert_eq!(offered(&home, &script, "groupdesk show a"), [""; 0]);
    assert_eq!(files(&home), before, "no directory is made");
    // Nobody listens at that address, and completion does not connect.
    let config = "[directory]\nurl = \"postgres://ana@192.0.2.1/desk\"\n[profiles.live]\nbase_url = \"https://192.0.2.1\"\n\
                  api_key = { env = \"K\" }\n";
    let config = home.write("config.toml", config);
    home.set("GROUPDESK_CONFIG", config);
    assert_eq!(offered(&home, &script, "groupdesk show a"), [""; 0]);
    assert_eq!(offered(&home, &script, "groupdesk -P l"), ["live"]);
    home.write("config.toml", "this is no = = TOML");
    assert_eq!(offered(&home, &script, "groupdesk -P l"), [""; 0]);
    home.write("directory.db", "no database");
    assert_eq!(
        offered(&home, &script, "groupdesk --directory directory.db show a"),
        [""; 0]
    );
}

/// What zsh and fish offer: `pty::shells`.
#[tokio::test]
async fn each_shell_has_its_script() {
    let home = Home::new();
    for (shell, words) in [
        ("zsh", "#compdef groupdesk\n"),
        ("fish", "complete --keep-order"),
    ] {
        let script = home.run(&format!("completions {shell}")).await;
        script.shows(words).shows("GROUPDESK_COMPLETE");
    }
    let other = home.exits(2, "completions basch").await;
    other.says("expected bash");
}

#[tokio::test]
async fn every_command_has_a_manual_page_with_the_exit_codes() {
    let home = Home::new();
    let folder = home.path("share/man1");
    let name = folder.display().to_string();
    let told = home.json(0, &format!("man {name}")).await;
    let told: BTreeSet<String> = serde_json::from_value(told).expect("names");
    let written: BTreeSet<String> = std::fs::read_dir(&folder)
        .expect("made")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.to_str().expect("UTF-8").to_owned())
        .collect();
    assert_eq!(told, written);
    let of_command = |(words, _): (&str, _)| format!("groupdesk-{}.1", words.replace(' ', "-"));
    let mut wanted: BTreeSet<_> = pages().map(of_command).collect();
    wanted.insert("groupdesk.1".to_owned());
    assert_eq!(written, wanted);
    for page in &written {
        let text = std::fs::read_to_string(folder.join(page)).expect("readable");
        assert!(text.contains(".SH \"EXIT STATUS\""), "{page}");
        assert!(text.contains(".SH \"SEE ALSO\"\n"), "{page}");
        assert!(
            text.contains(" 2026-11-22 "),
            "{page}: the day of the release"
        );
        assert!(text.contains(".SH EXAMPLES\n.nf\n  groupdesk"), "{page}");
        for code in [0, 1, 2, 3, 4, 5, 6, 7, 130] {
            assert!(
                text.contains(&format!("\\fB{code}\\fR\n")),
                "{page}: {code}"
            );
        }
    }
    // Without a folder the manual page of groupdesk itself is printed.
    let page = home.run("man").await;
    let file = std::fs::read_to_string(folder.join("groupdesk.1")).expect("readable");
    assert_eq!((page.code, page.out), (0, file));
    let blocked = home.write("file", "");
    home.exits(2, &format!("man {blocked}"))
        .await
        .says("cannot write");
}

#[tokio::test]
async fn a_forgotten_option_is_proposed_before_a_group_of_that_name() {
    let (home, _service) = knowing_acme(Vec::new()).await;
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "label acme vip", "\"vip\" (did you mean --add vip?) is not in the directory"),
        (2, "favourite acme add", "did you mean the option --add?"),
        (2, "rotate acme 'leaked in a log' --yes", "did you mean --reason 'leaked in a log'?"),
        (2, "get acme acme.token", "did you mean \"acme\"? Or --token-out acme.token?"),
        (2, "rotate acme --reason leaked in log --yes", "nothing was sent. Put the text of --reason in quotes"),
        (2, "update acme --name Acme Europe --yes", "Put the text of --name in quotes"),
        (2, "update acme 40=213", "Put --map before the change"),
        (2, "note acme call first", "groupdesk note ID 'TEXT'"),
        (2, "batches 12", "groupdesk batches show BATCH"),
        (3, "rotate --yes -- --dry-run", "nothing was sent; did you mean the option --dry-run?\nTo create the group"),
        (3, "rotate --yes -- --all", "nothing was sent; this command has no such option\nTo create the group"),
        (3, "get -- --all", "did you mean the option --refresh-all?"),
        (3, "get acme--dry-run", "is not in the directory of this profile; nothing was sent; did you mean acme --dry-run?\n"),
        (3, "rotate acme—dry-run --yes", "did you mean acme --dry-run?\n"),
        (2, "rotate acme globex--dry-run --yes", "(did you mean globex --dry-run"),
        (2, "create acme--name=X --yes", "--name is attached to the word before it"),
        (2, "create 'acme--name X' --yes", "--name is attached to the word before it"),
        (2, "rotate acme --yes -- --dry-run", "(did you mean the option --dry-run?)"),
    ]).await;
}

#[tokio::test]
async fn a_mistyped_word_gets_the_nearest_one() {
    let (home, _service) = knowing_acme(Vec::new()).await;
    let (live, acme) = ("did you mean \"live\"?", "did you mean \"acme\"?");
    let both = "\"acmee\" (did you mean \"acme\"?), \"nobody-at-all\" are not in the directory";
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "rotat", "rotate"),
        (2, "docter", "doctor"),
        (2, "rotations setle", "check"),
        (2, "profile chek", "check"),
        (2, "list --jsn", "--json"),
        (2, "list --profile lvie", live),
        (3, "get acmee", acme),
        (3, "show acmee", acme),
        (3, "rotate acmee --yes", acme),
        (3, "history acmee", acme),
        (3, "update acmee --name x --yes", acme),
        (2, "rotate acmee nobody-at-all --yes", both),
        (3, "note acmee", acme),
        (3, "note acmee text", acme),
        (3, "label acmee", acme),
        (3, "favourite acmee --add", acme),
        (3, "history --open acmee", acme),
        (3, "history --follow acmee", acme),
        (3, "history diff acmee", acme),
        (2, "rotate --filter 'acme tga:customer' --yes", "tga:customer: did you mean tag:?"),
        (2, "rotate --filter state:opne --yes", "state:opne: open, intended"),
        (2, "get --refersh-all", "--refresh-all"),
        (2, "update acme --if-unchange", "--if-unchanged"),
        (2, "profile show lvie", live),
        (2, "profile remove lvie --yes", live),
        (2, "profile check lvie", live),
        (2, "environment show lvie", live),
        (2, "export --format jsn", "json"),
        (2, "help rotat", "\"rotate\""),
        (2, "help profile chek", "\"check\""),
        (2, "help json exprt", "\"export\""),
        (2, "help profile add x", "no help for \"profile add x\""),
    ]).await;
}
