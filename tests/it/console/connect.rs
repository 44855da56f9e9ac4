//! The first start: from nothing to the list of a new profile, against the real service.

use super::{
    prelude::*,
    scene::{first_start, fresh_home},
};
use crate::support::assertions::{assert_has, assert_lacks};

struct Fresh {
    world: World,
    proxy: FaultyProxy,
    home: tempfile::TempDir,
    key: PathBuf,
}

impl Fresh {
    async fn new() -> Self {
        let world = World::new().await;
        let (home, key) = fresh_home(&world);
        Self {
            proxy: FaultyProxy::before(world.address()).await,
            world,
            home,
            key,
        }
    }

    fn config(&self) -> PathBuf {
        self.home.path().join("config/groupdesk/config.toml")
    }

    fn written(&self) -> String {
        fs::read_to_string(self.config()).expect("written")
    }

    async fn open(&self, read_only: bool) -> Console {
        first_start(self.home.path(), read_only).await
    }

    /// From the welcome page to the test of the key in the file.
    async fn fill(&self, console: &mut Console, base_url: &str) {
        console.keys("<enter>eu<tab>").await;
        console.paste(base_url).await;
        console.keys("<tab><tab><left><tab><right><tab>").await;
        console.paste(&self.key.display().to_string()).await;
        console.keys("<ctrl-s>").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_profile_is_tested_shown_written_and_opened() {
    let fresh = Fresh::new().await;
    let mut console = fresh.open(false).await;
    console.shows_all(["connect to a service", "try the demo"]);
    fresh.fill(&mut console, &fresh.proxy.base_url()).await;
    console
        .shows("the API key is accepted")
        .shows("[profiles.eu]")
        .shows("environment = \"Testing\"")
        .shows("w saves the profile and opens the list");
    // One request, which names no group; and nothing is written before it was seen.
    assert_eq!(fresh.proxy.methods(), ["PUT"]);
    assert_eq!(fresh.proxy.bodies("PUT"), [serde_json::json!({})]);
    assert!(!fresh.config().exists());
    console.keys("w").await;
    console.shows_all([" TESTING ", "0 groups", "Now in eu"]);
    let text = fresh.written();
    assert!(text.contains("[profiles.eu]"), "{text}");
    for secret in fresh.world.secrets() {
        assert!(!text.contains(&secret), "the file contains a key");
    }
    assert_private(&fresh.config());
    assert_eq!(fresh.proxy.methods(), ["PUT"], "opening it sends nothing");
    // The profile works, and a second one is added beside it.
    console.keys("oacme<enter><ctrl-s>y").await.shows("created");
    console.keys("<esc><esc>Pa").await.shows("Connect");
    fresh.world.end().await;
}

/// With a real handshake: see `client::tls::connected`.
#[tokio::test(flavor = "multi_thread")]
async fn a_ca_file_is_tested_and_kept_in_the_written_profile() {
    let fresh = Fresh::new().await;
    let mut console = fresh.open(false).await;
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    fresh.fill(&mut console, "https://127.0.0.1:1").await;
    console.keys("<esc><tab>").await;
    console.shows_all(["CA file", "PEM: extra CA"]);
    console.keys("~/own.pem<ctrl-s>").await;
    console
        .shows("`ca_file` of profile eu cannot be used")
        .shows("nothing was sent")
        .hides("Nothing was sent");
    fs::write(fresh.home.path().join("own.pem"), "no certificate").expect("written");
    console.keys("r").await.shows("PEM certificate");
    fs::write(fresh.home.path().join("own.pem"), made.cert.pem()).expect("written");
    console.keys("r").await;
    console
        .hides("cannot be used")
        .shows("connection to port 1: refused")
        .shows("ca_file = \"~/own.pem\"");
    console.keys("<esc>").await.shows("~/own.pem");
    console.keys("<ctrl-s>w").await;
    let text = fresh.written();
    assert!(text.contains("ca_file = \"~/own.pem\"\n"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_shown_at_their_fields_and_nothing_is_lost() {
    let fresh = Fresh::new().await;
    let mut console = fresh.open(false).await;
    console.keys("c<ctrl-s>").await.shows("enter a name");
    console.keys("eu<ctrl-s>").await;
    console.shows("enter the base URL");
    console.paste("ftp://api.example.com").await;
    console.keys("<ctrl-s>").await;
    console.shows("enter the source of the API key");
    console.keys("EU_KEY<ctrl-s>").await;
    console
        .shows("must begin with https://")
        .hides(" x ")
        .hides("1 error")
        .hides("Testing the connection");
    // Leaving the form and coming back keeps what was typed.
    console.keys("<esc>").await.shows("try the demo");
    console.keys("<enter>").await;
    console.shows_all(["ftp://api.example.com", "EU_KEY"]);
    // There is no profile to switch to.
    console.keys("<f6>").await;
    console.shows("no profile is configured yet");
    console.keys("<esc>2").await.shows("Welcome");
    assert!(!fresh.config().exists());
    assert_eq!(fresh.proxy.methods(), [""; 0]);
}

/// As in every form: before all of it is reviewed.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_shown_when_its_field_is_left() {
    let fresh = Fresh::new().await;
    let mut console = fresh.open(false).await;
    console.keys("<enter>https://a.example<tab>").await;
    console.shows("looks like a URL");
    console.keys("<shift-tab>x").await;
    console.hides("looks like a URL");
    console.keys("<tab>ftp://a.example<shift-tab>").await;
    console.shows("must begin with https://");
    // Nothing is missing yet.
    console.keys("<tab><tab><tab><tab><tab><tab>").await;
    console.hides("enter the source");
    console
        .keys("<shift-tab><shift-tab><right><right><tab>")
        .await;
    console.keys("pass show 'eu live'<tab>").await;
    console.shows("a command with quotes is expected as in the configuration");
    console.keys("<shift-tab><backspace>").await;
    console.hides("a command with quotes");
    assert_eq!(fresh.proxy.methods(), [""; 0]);
}

/// No shell would take quotes away, so words with blanks are in a list.
#[tokio::test(flavor = "multi_thread")]
async fn the_words_of_a_key_command_may_be_a_list() {
    let fresh = Fresh::new().await;
    let mut console = fresh.open(false).await;
    console.keys("<enter>eu<tab>").await;
    console.paste(&fresh.proxy.base_url()).await;
    console
        .keys("<tab><tab><left><tab><right><right><tab>")
        .await;
    console.paste("[\"/bin/echo\", \"a b\"]").await;
    console.keys("<ctrl-s>").await;
    console.shows("command = [\"/bin/echo\", \"a b\"]");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_and_an_unreachable_service_are_explained() {
    let fresh = Fresh::new().await;
    let mut console = fresh.open(false).await;
    fs::write(&fresh.key, "canary-no-such-key").expect("written");
    fresh.fill(&mut console, &fresh.proxy.base_url()).await;
    console
        .shows_all(["does not accept the API key", "w saves the profile anyway"])
        .hides("canary");
    console.keys("<esc>").await.shows("profile name");
    let secret = fresh.world.new_key("testing", Some("Testing"));
    fs::write(&fresh.key, secret).expect("written");
    console.keys("<ctrl-s>").await;
    console.shows("the API key is accepted");
    // A path that the service does not have.
    let path = "<esc><shift-tab><shift-tab><shift-tab>/<ctrl-s>";
    console.keys(path).await.shows("nothing at this path");
    console.shows("without a slash");
    assert!(fresh.proxy.methods().iter().all(|method| method == "PUT"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_session_stays_read_only_in_a_new_profile() {
    let fresh = Fresh::new().await;
    let mut console = fresh.open(true).await;
    fresh.fill(&mut console, &fresh.proxy.base_url()).await;
    console.keys("w").await.shows("READ-ONLY");
    console.keys("onew<enter>").await.shows("read-only");
    assert_eq!(fresh.proxy.methods(), ["PUT"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pasted_key_is_masked_and_stored_only_in_the_keyring() {
    let fresh = Fresh::new().await;
    let mut console = fresh.open(false).await;
    let secret = fresh.world.new_key("testing", Some("Testing"));
    console.keys("<enter>eu<tab>").await;
    console.paste(&fresh.proxy.base_url()).await;
    let entry = format!("groupdesk-console-test-{}", std::process::id());
    console.keys("<tab><tab><left><tab><left><tab>").await;
    console.paste(&entry).await;
    console.keys("<tab>").await;
    console.paste(&secret).await;
    console.shows("lost after a").hides(&secret);
    assert!(!format!("{:?}", console.runner.app).contains(&secret));
    console.keys("<ctrl-s>").await;
    console
        .shows_all(["the API key is accepted", "keyring = "])
        .hides(&secret);
    console.keys("w").await;
    if fresh.config().exists() {
        let text = fresh.written();
        assert_has(&text, "keyring = ");
        assert_lacks(&text, &secret);
        console.shows(" TESTING ");
        groupdesk::config::keyring::forget(&entry).expect("taken out");
    } else {
        console.shows("was not stored in the kernel keyring");
        console.hides(&secret);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_is_usable_in_every_window() {
    let fresh = Fresh::new().await;
    let mut console = fresh.open(false).await;
    console
        .keys("<enter>eu-live<tab>https://api.example.com<tab><tab><space><tab>")
        .await;
    for size in [USUAL, (40, 10)] {
        console.resize(size);
        assert_snapshot(
            "console/snapshots",
            format!("connect_{}x{}", size.0, size.1),
            text_of(console.buffer()),
        );
    }
    // The focused row is visible however low the window is.
    for size in SIZES.into_iter().filter(|size| size.1 >= 8) {
        console.resize(size);
        console.keys("<tab>").await.shows("variable");
        console.keys("<shift-tab>").await.shows("API key from");
    }
}
