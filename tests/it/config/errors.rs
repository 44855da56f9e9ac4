//! Errors about a wrong configuration file: the position, what to do, and never a secret.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use groupdesk::config::{ConfigError, Overrides, Settings};

use super::{CANARY, Home, has_problem, problems, profile_and};

#[test]
fn each_error_names_its_place_and_what_to_do() {
    // What follows the three lines of a valid profile; line and column of the problem; a part of the error text.
    #[rustfmt::skip] // A table: one case per line.
    let cases = [
        ("timout = \"1s\"", (4, 1), "unknown key \"timout\"; did you mean \"timeout\"?"),
        ("  url = \"x\"", (4, 3), "did you mean \"base_url\"?"),
        ("colour = \"red\"", (4, 1), "unknown key \"colour\"; known keys:"),
        ("timeout = 30", (4, 11), "timeout must be a string such as \"30s\", but is of type integer"),
        ("timeout = \"30\"", (4, 11), "timeout is not a duration"),
        ("timeout = \"0s\"", (4, 11), "timeout is zero"),
        ("timeout = \"11m\"", (4, 11), "timeout is too long; at most \"10m\""),
        ("connect_timeout = \"31s\"", (4, 19), "connect_timeout is longer than timeout"),
        ("environment = \"Costumer\"", (4, 15), "did you mean \"Customer\"?"),
        ("environment = \"testing\"", (4, 15), "did you mean \"Testing\"?"),
        ("production = \"yes\"", (4, 14), "production must be true or false without quotes"),
        ("read_only = 1", (4, 13), "read_only must be true or false"),
        ("max_token_age = \"90\"", (4, 17), "max_token_age has no unit; write 90d"),
        ("max_token_age = 90", (4, 17), "max_token_age must be a string"),
        ("max_token_age = \"0d\"", (4, 17), "max_token_age is zero"),
        ("token_age_limit = \"90d\"", (4, 1), "did you mean \"max_token_age\"?"),
        ("max_token_ag = \"90d\"", (4, 1), "did you mean \"max_token_age\"?"),
        ("max_token = \"4eC39HqLyjWDarjtT1zdP7dc\"", (4, 1), "must not be in this file"),
        ("handof = { command = [\"x\"] }", (4, 1), "did you mean \"handoff\"?"),
        ("handoff = [\"x\"]", (4, 11), "handoff must be a table, but is of type array"),
        ("handoff = { timeout = \"30s\" }", (4, 11), "handoff has no command"),
        ("handoff = { command = \"put x\" }", (4, 23), "handoff.command runs without a shell"),
        ("handoff = { command = [] }", (4, 23), "handoff.command must be a list of strings that begins with a program"),
        ("handoff = { command = [\"x\", 1] }", (4, 23), "handoff.command must be a list of strings"),
        ("handoff = { command = [\"x\"], timeout = \"11m\" }", (4, 40), "handoff.timeout is too long"),
        ("handoff = { command = [\"x\"], timout = \"1s\" }", (4, 30), "did you mean \"timeout\"?"),
        ("path = \"api/user\"", (4, 8), "path must begin with \"/\""),
        ("path = \"/a?b\"", (4, 8), "path contains a query"),
        ("read_only = true\nread_only = true", (5, 1), "duplicate key"),
        ("timeout = ", (4, 11), "not TOML"),
        ("[profiles.eu-live]", (4, 11), "duplicate key"),
        ("[profiles.\"\"]", (4, 11), "the name of the profile is empty"),
        ("[profiles.\"eu \"]", (4, 11), "invalid character at position 3"),
        ("[profiles.us]", (4, 11), "has no base_url"),
        ("[profile.us]", (4, 2), "unknown key \"profile\"; did you mean \"profiles\"?"),
    ];
    for (lines, place, words) in cases {
        has_problem(&profile_and(lines), place, words);
    }
}

/// TOML only says what it expected.
#[test]
fn a_sign_of_a_word_processor_is_named_where_the_parser_stopped() {
    for (line, words) in [
        ("timeout = “30s”", "“ (U+201C) is a curly quote"),
        ("timeout =\u{a0}\"30s\"", "U+00A0 is a no-break space"),
        ("timeout = \u{200b}\"30s\"", "U+200B is a zero-width space"),
        ("timeout = −1", "− (U+2212) is a minus sign"),
        ("read–only = true", "– (U+2013) is an en dash"),
        ("timeout ＝ \"30s\"", "＝ (U+FF1D) is a wide equals sign"),
        ("timeout = \"30s\"\u{2028}", "U+2028 is an unusual space"),
    ] {
        let found = problems(&profile_and(line));
        let named = found.iter().any(|found| found.what.contains(words));
        assert!(named, "{line}: {found:?}");
    }
    let found = problems(&profile_and("timeout = \"30s"));
    assert!(!found[0].what.contains("column"), "{found:?}");
}

#[test]
fn keys_at_the_top_are_checked_too() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("default_profile = \"eu-life\"", 19, "profile \"eu-life\" not found; did you mean \"eu-live\"?"),
        ("default_profil = \"eu-live\"", 1, "did you mean \"default_profile\"?"),
        ("operator = \"\"", 12, "operator is empty"),
        ("base_url = \"https://x\"", 1, "belongs in a profile"),
    ];
    for (line, column, words) in table {
        let text = format!("{line}\n{}", profile_and(""));
        has_problem(&text, (1, column), words);
        assert_eq!(problems(&text).len(), 1, "{text}");
    }
    let what = &problems(&profile_and("colour = \"red\""))[0].what;
    assert_eq!(what.matches("base_url").count(), 1, "listed once: {what}");
    for text in ["profiles = 3", "profiles.eu = 3"] {
        assert!(problems(text)[0].what.contains("[profiles.NAME]"), "{text}");
    }
}

#[test]
fn a_key_in_the_file_is_refused_and_not_repeated() {
    let places = [
        format!("api_key = \"{CANARY}\""),
        format!("api_key = {{ env = \"{CANARY}\" }}"),
        format!("api_key = {{ \"{CANARY}\" = \"env\" }}"),
        format!("api_key = {{ key = \"{CANARY}\" }}"),
        format!("api_key = {{ value = [\"{CANARY}\"] }}"),
        format!("api_key = {{ env = [\"{CANARY}\"] }}"),
        format!("api_key = {{ command = \"echo {CANARY}\" }}"),
        format!("api_key = {{ command = [\"echo\", \"{CANARY}\", 1] }}"),
        format!("api_key = {{ env = \"A\", file = \"{CANARY}\" }}"),
        format!("api_key = {CANARY}"),
        format!("api_key = \"{CANARY}"),
        format!("api_key = [\"{CANARY}\"]"),
        "api_key = { file = \"9f86d081884c7d659a2feaa0c55ad015\" }".into(),
        "api_key = { env = \"sk_live_4eC39HqLyjWDarjtT1zdP7dc\" }".into(),
        "api_key = { command = [\"sk_live_4eC39HqLyjWDarjtT1zdP7dc\"] }".into(),
    ];
    for line in places {
        let found = problems(&format!(
            "[profiles.eu]\nbase_url = \"https://a.example\"\n{line}\n"
        ));
        assert_eq!(found[0].line, 3, "{line}: {found:?}");
        let shown = format!("{found:?}");
        assert!(!shown.contains("4eC39Hq"), "{line}: {shown}");
    }
    for name in "token api_key_value apikey api_kye API_TOKEN password".split(' ') {
        let text = profile_and(&format!("{name} = \"{CANARY}\""));
        has_problem(&text, (4, 1), "must not be in this file");
        has_problem(&text, (4, 1), "{ env = \"EU_KEY\" }");
    }
}

#[test]
fn an_address_is_checked_and_a_password_in_it_is_not_repeated() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (format!("https://ana:{CANARY}@a.example"), "user name or password"),
        (format!("https://{CANARY}@a.example"), "user name or password"),
        (format!("https://a.example?key={CANARY}"), "query"),
        (format!("https://a.example#{CANARY}"), "fragment"),
        (format!("{CANARY}://a.example"), "must begin with https://"),
        (format!("https://a b/{CANARY}"), "contains a blank"),
        ("http://a.example".into(), "allow_plain_http = true"),
        ("https://a.example/api/user".into(), "remove \"/api/user\" from it"),
    ];
    for (address, words) in table {
        let text = profile_and("").replace("https://api.example.com", &address);
        has_problem(&text, (2, 12), words);
        assert_eq!(problems(&text).len(), 1, "{address}");
    }
}

#[test]
fn several_errors_are_reported_together_in_the_order_of_the_file() {
    let text = "operater = \"x\"\n[profiles.b]\ntimeout = 1\n[profiles.a]\npath = \"x\"\n";
    let home = Home::with_file(text);
    let text = home.load().expect_err("wrong").to_string();
    let file = home.folder.path().join(".config/groupdesk/config.toml");
    let lines: Vec<_> = text.lines().collect();
    for (line, place) in lines.iter().zip(["1:1", "2:11", "3:11", "4:11", "5:8"]) {
        let start = format!("{}:{place}: ", file.display());
        assert!(line.starts_with(&start), "{text}");
    }
    assert_eq!(lines.len(), 5, "{text}");
}

#[test]
fn hostile_text_in_the_file_is_shown_escaped() {
    let found = problems(&profile_and("\"a\\u001b[2Jb\" = 1"));
    assert!(found[0].what.contains("a\\u{1b}[2Jb"), "{found:?}");
}

#[test]
fn a_file_that_is_not_text_is_named_with_its_place() {
    let home = Home::with_file("");
    let file = home.folder.path().join(".config/groupdesk/config.toml");
    std::fs::write(&file, b"# ok\n# \xff").expect("written");
    let text = home.load().expect_err("wrong").to_string();
    let end = ":2:3: is not UTF-8 text; save the file as UTF-8";
    assert!(text.ends_with(end), "{text}");
}

/// A name that is changed to become a text would be the name of another file.
#[test]
fn a_program_in_a_folder_that_is_not_utf_8_is_refused() {
    let home = crate::support::folder::temporary();
    let folder = home.path().join(OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&folder).expect("made");
    let file = folder.join("config.toml");
    let source = "base_url = \"https://a.example\"\napi_key = { command = [\"./key\"] }\n";
    let handoff = "handoff = { command = [\"./put\"] }\n";
    std::fs::write(&file, format!("[profiles.a]\n{source}{handoff}")).expect("written");
    let overrides = Overrides {
        config: Some(file),
        ..Overrides::default()
    };
    let error = Settings::load(&overrides).expect_err("refused");
    let ConfigError::Wrong { problems, .. } = error else {
        panic!("{error}");
    };
    let told: Vec<_> = problems.iter().map(|found| found.what.as_str()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("api_key.command is in a folder whose name is not UTF-8"));
    assert!(told[1].starts_with("handoff.command is in"), "{told:?}");
}
