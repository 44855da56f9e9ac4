//! From one environment to another: `copy`, `diff`, and a group in the editor.

use std::path::PathBuf;

use serde_json::json;

use super::program::{Background, Home, Ran, each, files, has, set_mode};

/// Two environments of one service, and a group in the testing one. The editor changes its name.
pub(super) async fn two() -> (Home, Background) {
    let mut home = Home::new();
    let (serving, url) = home.serve().await;
    let live = home.key("--environment live --tag Customer").await;
    let testing = home.key("--environment testing --tag Testing").await;
    let profile = |name: &str, tag: &str| {
        let key = format!("{{ env = \"{}_KEY\" }}", name.to_uppercase());
        format!(
            "[profiles.{name}]\nbase_url = \"{url}\"\napi_key = {key}\nenvironment = \"{tag}\"\n"
        )
    };
    let config = [profile("testing", "Testing"), profile("live", "Customer")].concat();
    let config = format!("default_profile = \"testing\"\n{config}");
    let config = home.write("config.toml", &config);
    home.set("GROUPDESK_CONFIG", config);
    home.set("LIVE_KEY", live);
    home.set("TESTING_KEY", testing);
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (0, "profile bind testing --new-environment", ""),
        (0, "profile bind live --new-environment", ""),
        (0, "create acme --name Acme --map 40=213 --map 7=x --property tier=\"gold\" --yes", ""),
    ]).await;
    editor(&mut home, "sed -i 's/Acme/Acme Edited/' \"$1\"");
    (home, serving)
}

/// Sets the script of the editor; `$1` is its file.
pub(super) fn editor(home: &mut Home, does: &str) {
    let file = home.write("editor", &format!("#!/bin/sh\n{does}\n"));
    set_mode(&file, 0o755);
    home.set("EDITOR", file);
    home.set("PATH", "/usr/bin:/bin");
}

#[tokio::test]
async fn a_group_is_copied_into_another_profile_and_compared() {
    let (home, _serving) = two().await;
    let copy = "copy acme --to live";
    let other = format!("{copy} --map 40=9 --unmap 7");
    let dry = home.json(0, &format!("{other} --dry-run")).await;
    assert_eq!(dry["request"]["mapping"], json!({"40": "9"}));
    // What is odd is named wherever it comes from, once, and only if it is sent.
    home.exits(0, "create odd --map 40=#N/A --map 7=213 --yes")
        .await;
    let odd = "! the mapping \"#N/A\" is";
    for (copy, count) in [
        ("copy odd --to live --dry-run", 1),
        ("copy odd --to live --unmap 40 --dry-run", 0),
    ] {
        let ran = home.exits(0, copy).await;
        assert_eq!(ran.err.matches(odd).count(), count, "{copy}: {}", ran.err);
    }
    assert_eq!(dry["method"], "GET", "it is not there yet");
    // Nobody confirmed it.
    home.exits(3, copy).await;
    let made = home.json(0, &format!("{other} --yes")).await;
    assert_eq!(made["outcome"], "created");
    let there = home.json(0, "-P live show acme").await;
    has!(there, {"name": "Acme", "mapping": {"40": "9"}, "properties": {"tier": "gold"}});
    let here = home.json(0, "show acme").await;
    assert_eq!(here["mapping"]["40"], "213", "here nothing changed");

    let diff = "diff acme --with live";
    let found = home.json(10, diff).await;
    has!(found, {"same": false, "changes": {"mapping": {"40": ["213", "9"], "7": ["x", null]}}});
    let human = home.exits(10, diff).await;
    human
        .shows("~ mapping 40: 213 -> 9")
        .shows("- mapping 7: x");
    // The group exists there now: only differing values are laid over it.
    let again = home.json(0, &format!("{copy} --yes")).await;
    assert_eq!(again["outcome"], "updated");
    let same = home.json(0, diff).await;
    has!(same, {"same": true, "changes": null});
    let same = home.json(0, &format!("{diff} --refresh")).await;
    assert_eq!(same["same"], true);

    // No answer has mapping and properties, so they are unknown for a group that was only read here.
    for profile in ["testing", "live"] {
        // The get created the group, which is an alarm.
        let get = format!("-P {profile} get bare --exists --yes");
        assert_eq!(home.json(3, &get).await["outcome"], "created_by_get");
    }
    let found = home.json(0, "diff bare --with live").await;
    has!(found, {"same": true, "not_known": ["mapping"]});
    let human = home.run("diff bare --with live").await;
    human.says("! mapping is known on neither side");
    human.says("according to the directory");
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "copy acme --to lvie --yes", "did you mean \"live\"?"),
        (2, "copy acme --to testing --yes", "the same environment"),
        (3, "copy acmee --to live --yes", "did you mean \"acme\"?"),
        (2, "diff acme other --with live", "pass one ID"),
        (2, "diff acme --with testing", "are one environment"),
        (3, "diff acmee --with live", "did you mean \"acme\"?"),
        (0, "copy acme --to testing --as-id acme-2 --yes", ""),
    ]).await;
}

#[tokio::test]
async fn files_are_compared_with_the_directory_and_the_exit_code_says_so() {
    let (home, _serving) = two().await;
    home.write(
        "same.json",
        r#"[{"user_group_id": "acme", "name": "Acme"}]"#,
    );
    home.write("other.csv", "user_group_id,name\nnew-one,New\n");
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (0, "diff same.json", ""),
        (0, "apply same.json --dry-run --detailed-exitcode", ""),
        (10, "apply other.csv --dry-run --detailed-exitcode", ""),
        (0, "apply other.csv --dry-run", ""),
        (2, "apply same.json --detailed-exitcode", ""),
        (2, "diff nowhere.json", ""),
    ]).await;
    home.exits(10, "diff same.json other.csv")
        .await
        .shows("new-one");
    let listed = home.json(0, "list").await;
    assert_eq!(each(&listed, "user_group_id"), ["acme"], "nothing was made");
}

/// The fields refuse the same forms.
#[tokio::test]
async fn a_text_is_kept_without_a_known_token_in_any_form() {
    let (mut home, _serving) = two().await;
    let token = home.exits(0, "get acme --reveal").await.out;
    let token = token
        .split(|c: char| !c.is_ascii_hexdigit())
        .find(|word| word.len() == 64)
        .expect("a token");
    let (first, second) = token.split_at(30);
    for (form, kept_of_it) in [
        (format!("echo {first} {second}"), first),
        (format!("echo {first}; echo '  {second}'"), first),
        (
            format!("echo {token} | fold -w 8 | tr '\\n' ' '"),
            &first[..8],
        ),
        (format!("echo {}", &token[..40]), first),
        (format!("printf %s {token} | base64 -w0"), token),
    ] {
        editor(
            &mut home,
            &format!("(echo '{{\"name\": \"New name'; {form}) > \"$1\""),
        );
        let ran = home.exits(2, "edit acme --yes").await;
        let text = std::fs::read_to_string(kept(&ran).expect("a path")).expect("kept");
        assert!(text.contains("name"), "{form}: {text}");
        assert!(
            text.contains("xxxx") && !text.contains(kept_of_it),
            "{form}: {text}"
        );
        let encoded = text
            .split_whitespace()
            .any(|word| word.len() > 60 && !word.contains("xx"));
        assert!(!encoded, "{form}: {text}");
    }
}

#[tokio::test]
async fn a_group_is_changed_in_the_editor() {
    let (mut home, _serving) = two().await;
    let dry = home.json(0, "edit acme --dry-run").await;
    assert_eq!(dry["changes"], json!({"name": ["Acme", "Acme Edited"]}));
    assert_eq!(home.json(0, "show acme").await["name"], "Acme");
    let done = home.json(0, "edit acme --yes").await;
    has!(done, {"outcome": "updated", "name": "Acme Edited", "properties": {"tier": "gold"}});
    editor(&mut home, "true");
    let ran = home.exits(0, "edit acme --yes").await;
    ran.says("no changes; no update was sent");

    // A text that is not a group is kept, and its path is named.
    let no_group = "{\"user_group_id\": \"acme\", \"nam\": \"x\"}";
    editor(&mut home, &format!("echo '{no_group}' > \"$1\""));
    let ran = home.exits(2, "edit acme --yes").await;
    ran.says("did you mean name?")
        .says(": groupdesk update acme --apply");
    let text = std::fs::read_to_string(kept(&ran).expect("a path")).expect("kept");
    assert!(text.contains("\"nam\""), "{text}");
    let with_token = "{\"user_group_id\": \"acme\", \"token\": \"canary-token\"}";
    editor(&mut home, &format!("echo '{with_token}' > \"$1\""));
    home.exits(2, "edit acme --yes")
        .await
        .says("without the token");
    let is_script = |file: &PathBuf| file.ends_with("editor");
    for file in files(home.folder.path())
        .iter()
        .filter(|file| !is_script(file))
    {
        let bytes = std::fs::read(file).expect("readable");
        let found = bytes.windows(12).any(|piece| piece == b"canary-token");
        assert!(!found, "{}", file.display());
    }
    // However the editor ends, and with whatever end of the command, what was typed is kept.
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("echo typed > \"$1\"; exit 3", 2, "--yes"),
        ("echo typed > \"$1\"; kill -9 $$", 2, "--yes"),
        ("printf 'typed\\377' > \"$1\"", 2, "--yes"),
        ("echo typed > \"$1~\"; rm \"$1\"", 2, "--yes"),
        ("sed -i s/Acme/typed/ \"$1\"", 0, "--dry-run"),
    ];
    for (script, code, more) in table {
        editor(&mut home, script);
        let ran = home.exits(code, &format!("edit acme {more}")).await;
        let text = std::fs::read(kept(&ran).expect(script)).expect("kept");
        assert!(text.windows(5).any(|piece| piece == b"typed"), "{script}");
    }
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("true", 3, "--read-only", ""),
        (": > \"$1\"", 2, "--yes", "error: the editor left an empty file; nothing was sent\n"),
        ("exit 3", 2, "--yes", ""),
    ];
    for (script, code, more, said) in table {
        editor(&mut home, script);
        let ran = home.exits(code, &format!("edit acme {more}")).await;
        assert_eq!(kept(ran.says(said)), None, "nothing was typed");
    }
    editor(&mut home, "printf '{\\n\"name\": \"x\",\\n}' > \"$1\"");
    let ran = home.run("edit acme --yes").await;
    ran.says("is not used: line 3, column 1: not JSON");
    editor(
        &mut home,
        "printf '// changed\\n%s\\n' \"$(cat \"$1\")\" > \"$1\"",
    );
    let ran = home.run("edit acme --yes").await;
    ran.says("is not used: line 1: not JSON");
    home.set("EDITOR", "");
    home.exits(2, "edit acme --yes").await.says("export EDITOR");
}

/// The file in which what was typed is kept.
fn kept(ran: &Ran) -> Option<&str> {
    let (_, kept) = ran.err.split_once("your text is in ")?;
    kept.split([':', ',', ';', '\n']).next()
}
