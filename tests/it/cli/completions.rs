//! What is made of the words of the command line: completions, manual pages, and the nearest word to a mistyped one.

use std::{collections::BTreeSet, process::Command};

use super::{guards::acquainted, program::Home};

/// The commands and what is below them, as the help lists them.
async fn listed(home: &Home, above: &[&str]) -> Vec<String> {
    let mut arguments = above.to_vec();
    arguments.push("--help");
    let help = home.run(&arguments).await;
    assert_eq!(help.code, 0, "{}", help.err);
    let lines = help.out.lines().skip_while(|line| *line != "Commands:");
    lines
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        // Continued lines are further in.
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn completions_know_every_command_and_are_shell_scripts() {
    let home = Home::new();
    let commands = listed(&home, &[]).await;
    assert!(commands.contains(&"doctor".to_owned()), "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = home.run(&["completions", shell]).await;
        assert_eq!((script.code, script.err.as_str()), (0, ""), "{shell}");
        for command in &commands {
            assert!(script.out.contains(command.as_str()), "{shell}: {command}");
        }
        assert!(script.out.contains("token-stdin"), "{shell}");
    }
    let bash = home.run(&["completions", "bash"]).await.out;
    let file = home.write("groupdesk.bash", &bash);
    let read = Command::new("bash").args(["-n", &file]).output();
    let read = read.expect("bash is there");
    let said = String::from_utf8_lossy(&read.stderr);
    assert!(read.status.success() && said.is_empty(), "{said}");
    // It completes: the shell itself is asked.
    let ask = format!(
        "source '{file}'; COMP_WORDS=(groupdesk doc); COMP_CWORD=1; \
         _groupdesk groupdesk doc groupdesk; printf '%s ' \"${{COMPREPLY[@]}}\""
    );
    let asked = Command::new("bash").args(["-c", &ask]).output();
    let asked = asked.expect("bash is there");
    assert_eq!(String::from_utf8_lossy(&asked.stdout), "doctor ");

    let other = home.run(&["completions", "basch"]).await;
    assert_eq!(other.code, 2);
    assert!(
        other.err.contains("a similar value exists: 'bash'"),
        "{}",
        other.err
    );
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
    let mut wanted = BTreeSet::from(["groupdesk.1".to_owned(), "groupdesk-json.1".to_owned()]);
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
        for code in [0, 1, 2, 3, 4, 5, 6, 7, 130] {
            assert!(
                text.contains(&format!("\\fB{code}\\fR\n")),
                "{page}: {code}"
            );
        }
    }
    // Without a folder the page of groupdesk itself.
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
        ("2 usage or configuration", "2 usage or configuration"),
        ("3 not confirmed or guarded", "3 not confirmed or guarded"),
        (
            "4 API key missing or refused",
            "4 API key missing or refused",
        ),
        ("5 service unreachable", "5 service unreachable"),
        ("6 done only in part", "6 done only in part"),
        ("7 outcome unknown", "7 outcome unknown"),
        ("130 interrupted", "130 interrupted"),
    ] {
        assert!(help.contains(help_says), "{help_says}: {help}");
        assert!(reference.contains(reference_says), "{reference_says}");
    }
}

#[tokio::test]
async fn a_mistyped_word_gets_the_nearest_one() {
    let (home, _service) = acquainted(Vec::new()).await;
    for (arguments, code, words) in [
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
        (
            &["update", "acmee", "--name", "x", "--yes"],
            3,
            "did you mean \"acme\"?",
        ),
        (
            &["rotate", "acmee", "nobody-at-all", "--yes"],
            3,
            "! \"acmee\" is not known here; did you mean \"acme\"?",
        ),
        (
            &["rotate", "--filter", "acme tga:customer", "--yes"],
            2,
            "tga:customer: did you mean tag:?",
        ),
        (
            &["rotate", "--filter", "state:opne", "--yes"],
            2,
            "state:opne: open, intended",
        ),
        (&["get", "--refersh-all"], 2, "'--refresh-all'"),
        (&["update", "acme", "--if-unchange"], 2, "'--if-unchanged'"),
        (&["profile", "show", "lvie"], 2, "did you mean \"live\"?"),
        (
            &["profile", "remove", "lvie", "--yes"],
            2,
            "did you mean \"live\"?",
        ),
        (&["profile", "check", "lvie"], 2, "did you mean \"live\"?"),
        (&["export", "--format", "jsn"], 2, "'json'"),
    ] {
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
    for (more, command, code, words) in [
        ("timout = \"1s\"", "list", 2, "did you mean \"timeout\"?"),
        (
            "[theme]\nbase = \"drak\"",
            "list",
            2,
            "did you mean \"dark\"?",
        ),
        (
            "[theme]\neror = \"red\"",
            "list",
            2,
            "did you mean \"error\"?",
        ),
        // The keys are the console's; doctor looks at all.
        (
            "[keys.lsit]\nrotate_marked = [\"R\"]",
            "doctor",
            2,
            "did you mean \"list\"?",
        ),
        (
            "[keys.list]\nrotate_marke = [\"R\"]",
            "doctor",
            2,
            "did you mean \"rotate_marked\"?",
        ),
    ] {
        std::fs::write(&file, format!("{whole}{more}\n")).expect("written");
        let ran = home.run(&[command]).await;
        let said = format!("{}{}", ran.out, ran.err);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(ran.code, code, "{more}: {said}");
        assert!(said.contains(words), "{more}: {said}");
    }
}

#[tokio::test]
async fn a_token_as_an_option_is_refused_and_the_way_to_give_it_is_told() {
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
            "never go on a command line",
            "standard input",
            "groupdesk whose",
        ] {
            assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
        }
        assert!(!format!("{ran:?}").contains("canary"), "{ran:?}");
    }
}
