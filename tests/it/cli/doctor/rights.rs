//! Which other users could change the configuration of this installation.

use std::{fs, os::unix::fs::chown};

use rustix::process::geteuid;

use super::{Home, findings_of, set_mode};

#[tokio::test]
async fn users_who_could_redirect_the_key_are_named() {
    let home = Home::new();
    home.write("key", "k");
    set_mode(home.path("key"), 0o600);
    let profile = |url: &str, more: &str| {
        format!(
            "[profiles.eu]\nbase_url = \"{url}\"\napi_key = {{ file = \"{}\" }}\n{more}",
            home.path("key").display()
        )
    };
    let folder = home.path(".config/groupdesk");
    fs::create_dir_all(&folder).expect("a folder");
    let plain = "the profile allows plain http";
    let wide = "other users can write to the folder";
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("http://127.0.0.1:9", "allow_plain_http = true", 0o700, Some(plain)),
        ("https://127.0.0.1:9", "allow_plain_http = true", 0o700, None),
        ("http://127.0.0.1:9", "", 0o720, Some(wide)),
        ("http://127.0.0.1:9", "", 0o702, Some(wide)),
        ("http://127.0.0.1:9", "", 0o1777, None),
        ("http://127.0.0.1:9", "", 0o755, None),
    ];
    for (url, more, mode, said) in table {
        fs::write(folder.join("config.toml"), profile(url, more)).expect("written");
        set_mode(&folder, mode);
        let report = home.json(5, "doctor").await;
        let found = findings_of(&report, "configuration").join("\n");
        for words in [plain, wide] {
            assert_eq!(
                found.contains(words),
                said == Some(words),
                "{mode:o}: {found}"
            );
        }
        assert!(!found.contains("belongs to another user"), "{found}");
    }
    // Only root can give a folder away. A folder of another user is a warning, one of root is not.
    if geteuid().is_root() {
        chown(&folder, Some(65_534), None).expect("given away");
        let report = home.json(5, "doctor").await;
        let found = findings_of(&report, "configuration").join("\n");
        assert!(found.contains("the folder ") && found.contains("belongs to another user"));
    }
}
