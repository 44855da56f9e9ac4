//! API keys in the kernel's keyring. Many containers have none: then the error must say so, and what to do.

use groupdesk::{
    config::{
        Environment, KeySource, Overrides,
        keyring::{KeyringError, forget, store},
        new_profile::NewProfile,
    },
    operations::{Clock, Connector},
};
use secrecy::{ExposeSecret, SecretString};

use super::{CANARY, Home, problems, profile_and};

#[test]
fn the_entry_is_named_in_the_file_and_never_the_key() {
    let file = profile_and("").replace("env = \"EU_KEY\"", "keyring = \"eu\"");
    let settings = Home::with_file(&file).load().expect("good");
    assert_eq!(
        settings.profiles[0].api_key,
        KeySource::Keyring("eu".into())
    );
    let key = file.replace("\"eu\"", &format!("\"{CANARY}4eC39HqLyjWDarjtT1zdP7dc\""));
    let what = &problems(&key)[0].what;
    assert!(
        what.contains("api_key.keyring must be the name of an entry"),
        "{what}"
    );
    let near = &problems(&profile_and("").replace("env =", "keyrign ="))[0].what;
    assert!(near.contains("did you mean \"keyring\"?"), "{near}");
}

#[tokio::test]
async fn a_key_is_stored_or_the_error_says_that_there_is_no_keyring() {
    let name = format!("groupdesk-test-{}", std::process::id());
    let source = KeySource::Keyring(name.clone());
    let env = Environment::default();
    match store(&name, &SecretString::from(CANARY)) {
        Ok(()) => {
            let key = source.read(&env).await.expect("it is there");
            assert_eq!(key.expose_secret(), CANARY);
            forget(&name).expect("taken out");
        }
        Err(error @ (KeyringError::NotAvailable(_) | KeyringError::NotBuiltIn)) => {
            let text = error.to_string();
            assert!(text.contains("use another source"), "{text}");
            assert!(!text.contains(CANARY), "{text}");
        }
        Err(error) => panic!("neither taken nor refused clearly: {error}"),
    }
    // Now there is no such key, with or without a keyring.
    let error = source.read(&env).await.expect_err("no key").to_string();
    assert!(
        error.contains(&format!("kernel keyring entry {name}")),
        "{error}"
    );
    assert!(
        error.contains("groupdesk profile key") || error.contains("use another source"),
        "{error}"
    );
    assert!(!error.contains(CANARY), "{error}");
}

#[tokio::test]
async fn a_new_key_does_not_replace_that_of_another_profile() {
    let folder = crate::support::folder::temporary();
    let file = folder.path().join("config.toml");
    let text =
        "[profiles.eu]\nbase_url = \"https://a.example\"\napi_key = { keyring = \"shared\" }\n";
    std::fs::write(&file, text).expect("written");
    let overrides = Overrides {
        config: Some(file.clone()),
        directory: Some(folder.path().join("directory.db")),
        env: Environment::default(),
        ..Overrides::default()
    };
    let connector = Connector::new(overrides, None, Clock::System);
    let new = NewProfile {
        name: "us".into(),
        // Nothing listens there.
        base_url: "http://127.0.0.1:9".into(),
        path: None,
        environment: None,
        api_key: KeySource::Keyring("shared".into()),
        ca_file: None,
        read_only: false,
    };
    let key = SecretString::from(CANARY);
    for error in [
        connector.check(&new, Some(&key)).await.err(),
        connector.add(&new, Some(&key)).await.err(),
    ] {
        let error = error.expect("refused").to_string();
        assert!(error.contains("profile eu has its key"), "{error}");
        assert!(!error.contains(CANARY), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("there"), text);
    // Sharing the existing key does no harm.
    connector.check(&new, None).await.expect("planned");
}
