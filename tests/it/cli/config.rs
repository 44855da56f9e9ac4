//! `config` and `profile rename`: where the file is, whether it is valid, and edits that never leave an
//! invalid file behind.

use std::fs;

use serde_json::json;

use super::{
    guards::knowing_acme,
    program::{Home, each, has},
    promote,
};

/// An editor that changes the text with sed.
fn editor(home: &mut Home, sed: &str) {
    promote::editor(home, &format!("exec sed -i -E '{sed}' \"$1\""));
}

#[tokio::test]
async fn the_path_and_the_validity_of_the_file_are_reported() {
    let mut home = Home::new();
    let path = home.at(".config/groupdesk/config.toml");
    home.exits(0, "config path")
        .await
        .prints(&format!("{path}\n"));
    let told = home.json(0, "config path").await;
    assert_eq!(
        told,
        json!({"file": path, "exists": false, "named_by": null})
    );
    let validate = "config validate";
    let none = home.exits(2, validate).await;
    none.prints("").says("there is no configuration file at");
    home.connect("http://127.0.0.1:1", "key");
    home.exits(0, validate)
        .await
        .shows("config.toml is valid: 1 profile\n");
    let whole = home.config();
    // A crash or a full disk left nothing of it.
    for nothing in ["", "# default_profile = \"live\"\r\n\r\n"] {
        home.write("config.toml", nothing);
        let empty = home.exits(2, validate).await;
        empty.prints("").says("an empty configuration file at");
    }
    for (more, words) in [
        ("timout = \"1s\"\n", "did you mean \"timeout\"?"),
        (
            "[keys]\nrotate_marke = [\"R\"]\n",
            "did you mean \"rotate_marked\"?",
        ),
        (
            "[directory]\nurl = \"postgres://ana@db1/desk\"\ncert = \"ana.pem\"\n",
            "one of cert and key",
        ),
    ] {
        home.write("config.toml", &format!("{whole}{more}"));
        home.exits(2, validate).await.prints("").says(words);
        // The path is also printed for a file that cannot be parsed.
        home.exits(0, "config path").await;
    }
    home.exits(2, "config validate --config nowhere.toml").await;
}

/// The text in the file that a message names.
fn kept_text(said: &str) -> String {
    let (_, path) = said.split_once("your text is in ").expect("where it is");
    let path = path.lines().next().expect("a path");
    fs::read_to_string(path).expect("kept")
}

#[tokio::test]
async fn an_edited_file_is_written_if_valid_and_otherwise_left_alone() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:1", "key");
    let before = home.config();
    editor(&mut home, "s/\"30s\"/\"7s\"/");
    assert_eq!(home.json(0, "config edit").await["written"], true);
    assert_eq!(home.config(), before.replace("\"30s\"", "\"7s\""));
    let before = home.config();
    for sed in [
        "d",
        "s/timeout/timout/",
        "s/api_key = .*/api_key = \"s3cret-s3cret-s3cret\"/",
    ] {
        editor(&mut home, sed);
        home.exits(2, "config edit").await.hides("s3cret");
        assert_eq!(home.config(), before);
    }
    for key in [
        "s3cret-s3cret-s3cret",
        "plum-harbor-quilt-ember",
        "correct horse",
    ] {
        editor(
            &mut home,
            &format!("s/api_key = .*/api_key = \"{key}\"/; s/7s/8s/"),
        );
        let ran = home.exits(2, "config edit").await;
        ran.hides(key).says("without what may be a secret");
        let kept = kept_text(&ran.err);
        assert!(kept.contains("\"8s\"") && !kept.contains(key), "{kept}");
    }
    // In pieces, as a mail shows a token.
    let pieces = "6a21d2b4 c07f39e5 1b2c3d4e 9f8a7b6c 5d4e3f2a 7c6b5a4d 2e1f3c4b 8a9b7c6d";
    editor(&mut home, &format!("s/timeout/timout/; $a # {pieces}"));
    let ran = home.exits(2, "config edit").await;
    ran.says("without what may be a secret");
    let kept = kept_text(&ran.err);
    assert!(
        kept.contains("timout") && !kept.contains("6a21d2b4"),
        "{kept}"
    );
    // The file is changed by somebody else meanwhile: their version stays, and the edited text is kept beside it.
    let file = home.at("config.toml");
    let both = format!("sed -i s/7s/9s/ \"$1\"; exec echo '# theirs' >> '{file}'");
    promote::editor(&mut home, &both);
    let ran = home.exits(2, "config edit").await;
    ran.says("changed by another process in the meantime");
    assert_eq!(home.config(), format!("{before}# theirs\n"));
    let kept = kept_text(&ran.err);
    assert!(kept.contains("\"9s\""), "{kept}");
    home.write("config.toml", &before);
    editor(&mut home, "");
    assert_eq!(home.json(0, "config edit").await["written"], false);
    home.set("EDITOR", "");
    home.exits(2, "config edit").await.says("export EDITOR");
}

#[tokio::test]
async fn a_renamed_profile_keeps_its_place_and_all_that_is_known_there() {
    let (home, service) = knowing_acme(Vec::new()).await;
    let history = home.json(0, "history").await;
    let dry = home.json(0, "profile rename live eu-live --dry-run").await;
    assert_eq!(dry["dry_run"], true);
    assert!(home.config().contains("[profiles.live]"));
    let renamed = home.json(0, "profile rename live eu-live").await;
    has!(renamed, {"profile": "eu-live", "was": "live"});
    assert!(home.config().contains("[profiles.eu-live]"));
    assert_eq!(home.json(0, "history").await, history);
    let place = home.json(0, "environment show live").await;
    assert_eq!(place["profiles"], json!(["eu-live"]), "{place}");
    let told = each(&place["events"], "note").contains(&"live was renamed to eu-live");
    assert!(told, "{place}");
    assert_eq!(service.requests().len(), 1, "nothing is sent for it");
    for wrong in ["live other", "eu-live ''", "eu-live eu/live"] {
        home.exits(2, &format!("profile rename {wrong}")).await;
        let groups = home.json(0, "list").await;
        assert_eq!(each(&groups, "user_group_id"), ["acme"]);
    }
}

#[tokio::test]
async fn a_name_that_meant_another_environment_cannot_be_reused() {
    let (mut home, service) = knowing_acme(Vec::new()).await;
    home.set("OTHER_KEY", "another-key-of-the-desk");
    let url = service.base_url();
    let one = home.config();
    home.write(
        "config.toml",
        &format!(
            "default_profile = \"live\"\n{one}\n[profiles.other]\nbase_url = \"{url}\"\napi_key = {{ env = \"OTHER_KEY\" }}\n"
        ),
    );
    home.exits(0, "profile bind other --new-environment").await;
    home.exits(0, "profile remove other --yes").await;
    let before = home.config();
    home.exits(2, "profile rename live other")
        .await
        .says("environment other");
    assert_eq!(home.config(), before);
    let groups = home.json(0, "list").await;
    assert_eq!(each(&groups, "user_group_id"), ["acme"]);
}
