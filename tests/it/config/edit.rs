//! Adding profiles to the configuration file and removing them, while the rest stays as the person wrote it.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use groupdesk::{
    config::{
        KeySource,
        edit::{Edit, EditError, Opened},
        new_profile::NewProfile,
    },
    domain::group::EnvironmentTag,
};

use super::{Home, profile_and};

fn new(name: &str) -> NewProfile {
    NewProfile {
        name: name.into(),
        base_url: "https://api.example.com".into(),
        path: None,
        environment: Some(EnvironmentTag::Customer),
        api_key: KeySource::Env("US_KEY".into()),
        ca_file: None,
        read_only: false,
    }
}

/// Adds a profile, or removes one.
fn add(home: &Home) -> Result<Edit, EditError> {
    Opened::read(&home.overrides())?
        .added(&new("us-live"))
        .map(|(edit, _)| edit)
}

fn remove(home: &Home) -> Result<Edit, EditError> {
    Opened::read(&home.overrides())?.removed("eu-live")
}

fn file_of(home: &Home) -> PathBuf {
    home.folder.path().join(".config/groupdesk/config.toml")
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

const LINES: &str = "[profiles.us-live]\nbase_url = \"https://api.example.com\"\napi_key = { env = \"US_KEY\" }\n\
                     environment = \"Customer\"\n";

#[test]
fn a_new_file_is_private_and_has_the_lines_that_were_shown() {
    let home = Home::new();
    let opened = Opened::read(&home.overrides()).expect("read");
    let (edit, profile) = opened.added(&new("us-live")).expect("it can be added");
    let file = file_of(&home);
    assert_eq!(edit.file, file);
    assert!(
        edit.is_new_file() && !file.exists(),
        "nothing is written yet"
    );
    edit.make().expect("written");
    let text = fs::read_to_string(&file).expect("readable");
    assert_eq!(text, edit.lines);
    assert_eq!(text, format!("default_profile = \"us-live\"\n\n{LINES}"));
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(file.parent().expect("a folder")), 0o700);
    let settings = home.load().expect("good");
    assert_eq!(*settings.profile(None).expect("the default"), profile);
    // Created by somebody else at the same time: it is not overwritten.
    assert!(matches!(edit.make(), Err(EditError::Changed(_))));
    assert_eq!(fs::read_to_string(&file).expect("readable"), text);
}

#[test]
fn a_profile_is_added_and_everything_else_stays() {
    let profile = profile_and("timeout = \"9s\" # slow");
    let before = format!("# mine\n{profile}\n# the end");
    let home = Home::with_file(&before);
    let file = file_of(&home);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("set");
    let link = home.folder.path().join("dotfiles.toml");
    fs::rename(&file, &link).expect("moved");
    std::os::unix::fs::symlink(&link, &file).expect("linked");
    add(&home)
        .expect("it can be added")
        .make()
        .expect("written");
    let text = fs::read_to_string(&file).expect("readable");
    // With a second profile, the one that was opened by default so far is named.
    let after = format!("default_profile = \"eu-live\"\n\n{before}\n\n{LINES}");
    assert_eq!(text, after);
    assert!(file.is_symlink(), "a link stays a link");
    assert_eq!(mode(&link), 0o640);
    let settings = home.load().expect("good");
    assert_eq!(settings.profile(None).expect("the default").name, "eu-live");
    assert!(matches!(add(&home), Err(EditError::Exists(name, _)) if name == "us-live"));
    let folder = fs::read_dir(home.folder.path()).expect("readable");
    assert_eq!(folder.count(), 2, "nothing is left behind");
}

#[test]
fn keys_of_the_console_whose_lines_move_hinder_no_edit() {
    let keys = "[keys.list]\nrotate_marked = [\"R\"]";
    let home = Home::with_file(&format!("{}\n{keys}\n", profile_and("")));
    add(&home)
        .expect("it can be added")
        .make()
        .expect("written");
    remove(&home).expect("it can go").make().expect("written");
    let settings = home.load().expect("good");
    assert_eq!(settings.profiles[0].name, "us-live");
    assert_eq!(settings.keys.len(), 1);
}

#[test]
fn a_file_that_cannot_be_edited_safely_is_left_alone() {
    let inline = "profiles = { eu-live = { base_url = \"https://api.example.com\", api_key = { env = \"EU_KEY\" } } }";
    let added = add(&Home::with_file(inline));
    assert!(matches!(added, Err(EditError::ByHand(_))), "{added:?}");
    let added = add(&Home::with_file("[profiles"));
    assert!(matches!(added, Err(EditError::Config(_))), "{added:?}");
    let home = Home::with_file(&profile_and(""));
    let edit = add(&home).expect("it can be added");
    home.write("config.toml", &profile_and("read_only = true"));
    assert!(matches!(edit.make(), Err(EditError::Changed(_))));
    // Whatever the scanner makes of a strange file, an unexpected result is not written.
    let like_a_table = "\nhandoff = { command = [\n[\"x\"][0],\n] }";
    let removed = remove(&Home::with_file(&profile_and(like_a_table)));
    assert!(removed.is_err(), "{removed:?}");
}

#[test]
fn a_profile_is_removed_with_its_tables_and_nothing_else() {
    let other = "[profiles.us-live]\nbase_url = \"https://us.example.com\"\napi_key = { env = \"US_KEY\" }\n";
    let text = format!(
        "# head\ndefault_profile = \"eu-live\"\noperator = \"ana\"\n\n{}\n[profiles.eu-live.handoff]\ncommand = [\"put\"]\n\n# of us\n{other}",
        profile_and("# inside\ntimeout = \"9s\"\n")
    );
    let home = Home::with_file(&text);
    let edit = remove(&home).expect("it can go");
    edit.make().expect("written");
    let left = fs::read_to_string(&edit.file).expect("readable");
    assert_eq!(
        left,
        format!("# head\noperator = \"ana\"\n\n\n# of us\n{other}")
    );
    let is_all = edit.lines.contains("# inside") && edit.lines.contains("handoff");
    assert!(is_all, "{}", edit.lines);
    assert_eq!(home.load().expect("good").profiles.len(), 1);
    let gone = remove(&home).expect_err("it is gone").to_string();
    assert!(gone.contains("profile \"eu-live\" not found"), "{gone}");
}
