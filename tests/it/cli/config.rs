//! `config` and `profile rename`: where the file is, whether it is valid, and edits that never leave an
//! invalid file behind.

use std::fs;

use serde_json::json;

use super::{guards::knowing_acme, program::Home, promote};
use crate::support::bare::args;

/// An editor that changes the text with sed.
fn editor(home: &mut Home, sed: &str) {
    promote::editor(home, &format!("exec sed -i -E '{sed}' \"$1\""));
}

fn text(home: &Home) -> String {
    fs::read_to_string(home.path("config.toml")).expect("there")
}

#[tokio::test]
async fn the_path_and_the_validity_of_the_file_are_reported() {
    let mut home = Home::new();
    let path = home
        .path(".config/groupdesk/config.toml")
        .display()
        .to_string();
    let ran = home.run(&["config", "path"]).await;
    assert_eq!((ran.code, ran.out.trim_end()), (0, path.as_str()));
    let told = home.json(0, &["config", "path"]).await;
    assert_eq!(
        told,
        json!({"file": path, "exists": false, "named_by": null})
    );

    let ran = home.run(&["config", "validate"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(
        ran.err.contains("there is no configuration file at"),
        "{}",
        ran.err
    );
    home.connect("http://127.0.0.1:1", "key");
    let ran = home.run(&["config", "validate"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.ends_with("config.toml is valid: 1 profile\n"),
        "{}",
        ran.out
    );
    let whole = text(&home);
    // A crash or a full disk left nothing of it.
    home.write("config.toml", "");
    let ran = home.run(&["config", "validate"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(
        ran.err.contains("an empty configuration file at"),
        "{}",
        ran.err
    );
    for (more, words) in [
        ("timout = \"1s\"\n", "did you mean \"timeout\"?"),
        (
            "[keys]\nrotate_marke = [\"R\"]\n",
            "did you mean \"rotate_marked\"?",
        ),
    ] {
        home.write("config.toml", &format!("{whole}{more}"));
        let ran = home.run(&["config", "validate"]).await;
        assert_eq!((ran.code, ran.out.as_str()), (2, ""));
        assert!(ran.err.contains(words), "{}", ran.err);
        // The path is also printed for a file that cannot be parsed.
        assert_eq!(home.run(&["config", "path"]).await.code, 0);
    }
    let missing = ["config", "validate", "--config", "nowhere.toml"];
    assert_eq!(home.run(&missing).await.code, 2);
}

#[tokio::test]
async fn an_edited_file_is_written_if_valid_and_otherwise_left_alone() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:1", "key");
    let before = text(&home);
    editor(&mut home, "s/\"30s\"/\"7s\"/");
    assert_eq!(home.json(0, &["config", "edit"]).await["written"], true);
    assert_eq!(text(&home), before.replace("\"30s\"", "\"7s\""));
    let before = text(&home);
    for sed in [
        "s/timeout/timout/",
        "s/api_key = .*/api_key = \"s3cret-s3cret-s3cret\"/",
    ] {
        editor(&mut home, sed);
        let ran = home.run(&["config", "edit"]).await;
        assert_eq!(ran.code, 2, "{sed}: {}", ran.err);
        assert!(!ran.err.contains("s3cret"), "{}", ran.err);
        assert_eq!(text(&home), before);
    }
    // The file is changed by somebody else meanwhile: their version stays, and the edited text is kept beside it.
    let file = home.path("config.toml").display().to_string();
    let both = format!("sed -i s/7s/9s/ \"$1\"; exec echo '# theirs' >> '{file}'");
    promote::editor(&mut home, &both);
    let ran = home.run(&["config", "edit"]).await;
    assert!(
        ran.code == 2 && ran.err.contains("changed by somebody else in the meantime"),
        "{}",
        ran.err
    );
    assert_eq!(text(&home), format!("{before}# theirs\n"));
    let (_, path) = ran.err.split_once("your text is in ").expect("where it is");
    let path = path.lines().next().expect("a path");
    assert!(
        std::fs::read_to_string(path)
            .expect("kept")
            .contains("\"9s\"")
    );
    std::fs::remove_file(path).expect("removed");
    home.write("config.toml", &before);
    editor(&mut home, "");
    assert_eq!(home.json(0, &["config", "edit"]).await["written"], false);
    home.set("EDITOR", "");
    let ran = home.run(&["config", "edit"]).await;
    assert!(
        ran.code == 2 && ran.err.contains("export EDITOR"),
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn a_renamed_profile_keeps_its_place_and_all_that_is_known_there() {
    let (home, service) = knowing_acme(Vec::new()).await;
    let history = home.json(0, &["history"]).await;
    let dry = ["profile", "rename", "live", "eu-live", "--dry-run"];
    assert_eq!(home.json(0, &dry).await["dry_run"], true);
    assert!(text(&home).contains("[profiles.live]"));
    let renamed = home.json(0, &args("profile rename live eu-live")).await;
    assert_eq!(
        (&renamed["profile"], &renamed["was"]),
        (&json!("eu-live"), &json!("live"))
    );
    assert!(text(&home).contains("[profiles.eu-live]"));
    let groups = home.json(0, &["list"]).await;
    assert_eq!(groups[0]["user_group_id"], "acme");
    assert_eq!(home.json(0, &["history"]).await, history);
    let place = home.json(0, &["environment", "show", "live"]).await;
    assert_eq!(place["profiles"], json!(["eu-live"]), "{place}");
    let events = place["events"].as_array().expect("events");
    let told = events
        .iter()
        .any(|event| event["note"] == "live is called eu-live");
    assert!(told, "{events:?}");
    assert_eq!(service.requests().len(), 1, "nothing is sent for it");
    let ran = home.run(&["profile", "rename", "live", "other"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    for wrong in ["", "eu/live"] {
        let ran = home.run(&["profile", "rename", "eu-live", wrong]).await;
        assert_eq!(ran.code, 2, "{wrong:?}: {}", ran.err);
        assert_eq!(
            home.json(0, &["list"]).await.as_array().map(Vec::len),
            Some(1)
        );
    }
}

#[tokio::test]
async fn a_name_that_meant_another_environment_cannot_be_reused() {
    let (mut home, service) = knowing_acme(Vec::new()).await;
    home.set("OTHER_KEY", "another-key-of-the-desk");
    let other = format!(
        "[profiles.other]\nbase_url = \"{}\"\napi_key = {{ env = \"OTHER_KEY\" }}\n",
        service.base_url()
    );
    let one = text(&home);
    home.write(
        "config.toml",
        &format!("default_profile = \"live\"\n{one}\n{other}"),
    );
    assert_eq!(
        home.run(&["profile", "bind", "other", "--new-environment"])
            .await
            .code,
        0
    );
    assert_eq!(
        home.run(&["profile", "remove", "other", "--yes"])
            .await
            .code,
        0
    );
    let before = text(&home);
    let ran = home.run(&["profile", "rename", "live", "other"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("environment other"), "{}", ran.err);
    assert_eq!(text(&home), before);
    assert_eq!(home.json(0, &["list"]).await[0]["user_group_id"], "acme");
}
