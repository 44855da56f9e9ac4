//! Everything generated from the definition of the command line: completions, manual pages, and the nearest word to a
//! mistyped one.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use super::{guards::knowing_acme, program::Home};
use crate::support::{
    assertions::{assert_has, in_one_line},
    world::files_below,
};

/// The commands and subcommands that the help lists.
async fn listed(home: &Home, above: &[&str]) -> Vec<String> {
    let mut arguments = above.to_vec();
    arguments.push("--help");
    let help = home.run(&arguments).await;
    assert_eq!(help.code, 0, "{}", help.err);
    let lists = [
        "Commands:",
        "Groups:",
        "Tokens:",
        "Files:",
        "Set-up:",
        "Service:",
        "Help:",
    ];
    let mut is_list = false;
    help.out
        .lines()
        .filter(|line| {
            if !line.starts_with(' ') {
                is_list = lists.contains(line);
            }
            is_list && line.starts_with("  ")
        })
        // Continuation lines are indented further.
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

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
    assert_eq!(home.run(&["import", &rows]).await.code, 0);
    let script = home.run(&["completions", "bash"]).await;
    assert_eq!((script.code, script.err.as_str()), (0, ""));
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
    ] {
        assert_eq!(offered(&home, &script, line), wanted, "{line}");
    }
    assert_eq!(files(&home), before, "nothing is written");
    assert_eq!(service.requests().len(), sent, "nothing is sent");
    let all = offered(&home, &script, "groupdesk ");
    for command in listed(&home, &[]).await {
        assert!(all.contains(&command), "{command}: {all:?}");
    }
}

#[tokio::test]
async fn ids_are_not_completed_with_a_key_that_their_environment_does_not_know() {
    let (mut home, _service) = knowing_acme(Vec::new()).await;
    let script = home.run(&["completions", "bash"]).await.out;
    let script = home.write("groupdesk.bash", &script);
    assert_eq!(offered(&home, &script, "groupdesk get ac"), ["acme"]);
    home.set("LIVE_KEY", "another");
    assert_eq!(offered(&home, &script, "groupdesk get ac"), [""; 0]);
}

#[tokio::test]
async fn without_a_directory_nothing_is_completed() {
    let mut home = Home::new();
    let script = home.run(&["completions", "bash"]).await.out;
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

/// Sends what the scripts of zsh and fish would ask, because the shells may not be installed.
#[tokio::test]
async fn completion_answers_in_the_formats_of_zsh_and_fish() {
    let (home, _service) = knowing_acme(Vec::new()).await;
    let asked = async |shell: &str, words: &[&str]| {
        let mut command = home.command(&[&["--"][..], words].concat());
        command.env("GROUPDESK_COMPLETE", shell);
        command.env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
        command.env("_CLAP_IFS", "\n");
        let output = command.output().await.expect("it starts");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(asked("fish", &["groupdesk", "show", "ac"]).await, "acme\n");
    assert_eq!(asked("zsh", &["groupdesk", "show", "ac"]).await, "acme");
    let doctor = asked("zsh", &["groupdesk", "doc"]).await;
    assert!(doctor.starts_with("doctor:"), "{doctor}");
    assert_eq!(asked("csh", &["groupdesk", "doc"]).await, "");
    for (shell, words) in [
        ("zsh", "#compdef groupdesk\n"),
        ("fish", "complete --keep-order"),
    ] {
        let script = home.run(&["completions", shell]).await;
        assert!(script.out.starts_with(words), "{shell}: {}", script.out);
        assert!(script.out.contains("GROUPDESK_COMPLETE"), "{shell}");
    }
    let other = home.run(&["completions", "basch"]).await;
    assert_eq!(other.code, 2);
    assert_has(&other.err, "a similar value exists: 'bash'");
}

#[tokio::test]
async fn every_command_has_a_manual_page_with_the_exit_codes() {
    let home = Home::new();
    let folder = home.path("share/man1");
    let name = folder.display().to_string();
    let told = home.json(0, &["man", &name]).await;
    let told: BTreeSet<String> = serde_json::from_value(told).expect("names");
    let written: BTreeSet<String> = std::fs::read_dir(&folder)
        .expect("made")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.to_str().expect("UTF-8").to_owned())
        .collect();
    assert_eq!(told, written);
    let mut wanted = BTreeSet::from(["groupdesk.1".to_owned()]);
    for command in listed(&home, &[]).await {
        wanted.insert(format!("groupdesk-{command}.1"));
        for below in listed(&home, &[&command]).await {
            wanted.insert(format!("groupdesk-{command}-{below}.1"));
            for deep in listed(&home, &[&command, &below]).await {
                wanted.insert(format!("groupdesk-{command}-{below}-{deep}.1"));
            }
        }
    }
    assert!(wanted.contains("groupdesk-profile-add.1"), "{wanted:?}");
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
    let page = home.run(&["man"]).await;
    let file = std::fs::read_to_string(folder.join("groupdesk.1")).expect("readable");
    assert_eq!((page.code, page.out), (0, file));
    let blocked = home.write("file", "");
    let refused = home.run(&["man", &blocked]).await;
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("cannot write"), "{}", refused.err);
}

#[tokio::test]
async fn the_help_the_manual_and_the_reference_know_the_same_exit_codes() {
    let home = Home::new();
    let help = home.run(&["--help"]).await.out.replace('\n', " ");
    let reference = include_str!("../../../docs/reference/exit-codes.md").replace('\n', " ");
    for (help_says, reference_says) in [
        ("0 done", "0 done"),
        ("1 refused by the service", "1 refused by the service"),
        (
            "2 usage or configuration error",
            "2 usage or configuration error",
        ),
        (
            "3 not confirmed, or blocked by a safety check",
            "3 not confirmed, or blocked by a safety check",
        ),
        (
            "4 API key missing or refused",
            "4 API key missing or refused",
        ),
        ("5 service unreachable", "5 service unreachable"),
        ("6 partly done", "6 partly done"),
        ("7 result unknown", "7 result unknown"),
        ("130 interrupted", "130 interrupted"),
    ] {
        assert!(help.contains(help_says), "{help_says}: {help}");
        assert!(reference.contains(reference_says), "{reference_says}");
    }
}

#[tokio::test]
async fn a_mistyped_word_gets_the_nearest_one() {
    let (home, _service) = knowing_acme(Vec::new()).await;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&["rotat"][..], 2, "'rotate'"),
        (&["docter"], 2, "'doctor'"),
        (&["rotations", "setle"], 2, "'settle'"),
        (&["profile", "chek"], 2, "'check'"),
        (&["list", "--jsn"], 2, "'--json'"),
        (&["list", "--profile", "lvie"], 2, "did you mean \"live\"?"),
        (&["get", "acmee"], 3, "did you mean \"acme\"?"),
        (&["show", "acmee"], 3, "did you mean \"acme\"?"),
        (&["rotate", "acmee", "--yes"], 3, "did you mean \"acme\"?"),
        (&["history", "acmee"], 3, "did you mean \"acme\"?"),
        (&["update", "acmee", "--name", "x", "--yes"], 3, "did you mean \"acme\"?"),
        (&["rotate", "acmee", "nobody-at-all", "--yes"], 2, "\"acmee\" (did you mean \"acme\"?), \"nobody-at-all\" are not in the directory"),
        (&["rotate", "--filter", "acme tga:customer", "--yes"], 2, "tga:customer: did you mean tag:?"),
        (&["rotate", "--filter", "state:opne", "--yes"], 2, "state:opne: open, intended"),
        (&["get", "--refersh-all"], 2, "'--refresh-all'"),
        (&["update", "acme", "--if-unchange"], 2, "'--if-unchanged'"),
        (&["profile", "show", "lvie"], 2, "did you mean \"live\"?"),
        (&["profile", "remove", "lvie", "--yes"], 2, "did you mean \"live\"?"),
        (&["profile", "check", "lvie"], 2, "did you mean \"live\"?"),
        (&["export", "--format", "jsn"], 2, "'json'"),
    ];
    for (arguments, code, words) in table {
        let ran = home.run(arguments).await;
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
    }
}

#[tokio::test]
async fn a_mistyped_key_of_the_configuration_gets_the_nearest_one() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:1", "key");
    let file = home.path("config.toml");
    let whole = std::fs::read_to_string(&file).expect("readable");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("timout = \"1s\"", "list", 2, "did you mean \"timeout\"?"),
        ("[theme]\nbase = \"drak\"", "list", 2, "did you mean \"dark\"?"),
        ("[theme]\neror = \"red\"", "list", 2, "did you mean \"error\"?"),
        // Keys belong to the console, but doctor checks the whole file.
        ("[keys.list]\nrotate_marked = [\"R\"]", "doctor", 2, "put its lines below [keys]"),
        ("[keys]\nrotate_marke = [\"R\"]", "doctor", 2, "did you mean \"rotate_marked\"?"),
    ];
    for (more, command, code, words) in table {
        std::fs::write(&file, format!("{whole}{more}\n")).expect("written");
        let ran = home.run(&[command]).await;
        let said = format!("{}{}", ran.out, ran.err);
        let said = in_one_line(&said);
        assert_eq!(ran.code, code, "{more}: {said}");
        assert!(said.contains(words), "{more}: {said}");
    }
}

#[tokio::test]
async fn a_token_as_an_option_is_refused_and_the_right_way_is_named() {
    let home = Home::new();
    for arguments in [
        &["rotate", "--token", "canary"][..],
        &["rotate", "acme", "--current-token=canary"],
        &["rotate", "--token-stdin=canary"],
        &["whose", "--token", "canary"],
        &["whose", "--token=canary"],
        &["get", "acme", "--token", "canary"],
    ] {
        let ran = home.run(arguments).await;
        assert_eq!(ran.code, 2, "{arguments:?}");
        for words in [
            "do not pass secrets as arguments",
            "standard input",
            "groupdesk whose",
        ] {
            assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
        }
        assert!(!format!("{ran:?}").contains("canary"), "{ran:?}");
    }
}
