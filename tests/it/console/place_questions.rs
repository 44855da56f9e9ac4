//! Questions to the person before anything is sent: which environment, a proof, an alarm.

use super::prelude::*;

/// The same profile with another API key, whose environment nobody has confirmed.
fn with_key(world: &World, proxy: &FaultyProxy, key: &str) -> Operations {
    let installation = world.installation(Side::Testing).at(NOW);
    installation.through(proxy.base_url()).key(key).unbound()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_key_is_asked_about_at_once_and_then_proven() {
    let world = a_world().await;
    let (proxy, _known) = through_a_proxy(&world).await;
    let renewed = world.new_key("testing", Some("Testing"));
    let operations = with_key(&world, &proxy, &renewed);
    let mut console = open_with(vec![operations.clone()]).await;
    let ours = operations.directory().fingerprinter();
    let fingerprint = ours.of_key(&renewed.clone().into()).to_string();
    console
        .shows("Which environment is this?")
        .shows("! WHICH ENVIRONMENT?")
        .shows("is new for its")
        .shows("> not now: nothing is sent")
        .shows("the same environment as testing (7 groups, used at 06:00 UTC)")
        .shows("a new environment")
        .shows(&fingerprint)
        .shows(&proxy.base_url())
        .shows("trusted, added");
    // An Enter that was meant for something else confirms nothing.
    console.keys("<enter>").await;
    console
        .hides("Which environment is this?")
        .shows("! WHICH ENVIRONMENT?")
        .hides("Acme Europe")
        .shows("Nothing is sent for this profile until this question is answered");
    assert_eq!(proxy.methods(), Vec::<String>::new());
    // The next request asks again.
    console
        .keys("<enter>r")
        .await
        .shows("Which environment is this?");
    console.keys("<down><enter>").await;
    console
        .shows("Profile testing uses testing from now on")
        .shows("y confirms that profile testing uses environment testing.");
    console.keys("<enter><esc><enter>y").await;
    console.shows_all(["Verify the API key", "! UNVERIFIED KEY", "proposed: "]);
    assert_eq!(proxy.methods(), Vec::<String>::new());
    console
        .keys("never-seen<enter>")
        .await
        .shows("cannot verify a key");
    assert_eq!(proxy.methods(), Vec::<String>::new());
    console.keys("<ctrl-u>").await;
    console.keys("<tab><enter>").await;
    console
        .shows("The API key is verified")
        .hides("! UNVERIFIED KEY")
        .hides("Verify the API key");
    assert_eq!(proxy.methods(), ["GET"]);
    console.keys("tTy").await.shows("rotated");
}

/// The console hears of it with the feed, whether its question is still on the screen or not: no key is pressed.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_console_answers_ends_the_question() {
    for keys in ["", "<enter>"] {
        let world = a_world().await;
        let (proxy, _known) = through_a_proxy(&world).await;
        let renewed = world.new_key("testing", Some("Testing"));
        let of = |directory: &Directory| {
            let installation = world.installation(Side::Testing).at(NOW).on(directory);
            let through = installation.through(proxy.base_url());
            through.key(&renewed).unbound()
        };
        let open = || Directory::open(&world.directory_file()).expect("it opens");
        let mut first = open_with(vec![of(&open())]).await;
        first.shows("Which environment is this?");
        first.keys(keys).await;
        let mut second = open_with(vec![of(&open())]).await;
        second.keys("<down><enter>y").await;
        second.shows("Verify the API key");
        first.until("Verify the API key").await;
        if keys.is_empty() {
            first.shows("Answered by another console: this profile uses environment testing");
        }
        second.keys("<tab><enter>").await;
        second.shows("The API key is verified");
        first
            .until("Answered by another console: the API key is verified; requests are sent")
            .await;
        // The list is read again after the message, or before.
        first.until("Acme Europe").await;
        first.hides("Verify the API key").hides("UNVERIFIED KEY");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_environment_is_never_confirmed_by_enter_alone() {
    let world = a_world().await;
    let (proxy, _known) = through_a_proxy(&world).await;
    let other = world.new_key("elsewhere", Some("Testing"));
    let operations = with_key(&world, &proxy, &other);
    let mut console = open_with(vec![operations.clone()]).await;
    console.keys("<down><down><enter>").await;
    console
        .shows("A new environment")
        .shows("uses a new environment from now on");
    console
        .keys("<enter><enter>")
        .await
        .shows("A new environment");
    let held = operations.place_problem().await;
    assert!(held.is_some(), "nothing was said yet");
    console.keys("<esc>").await.shows("> a new environment");
    console.keys("<enter>y").await;
    console
        .shows("This profile now uses environment testing-2")
        .shows("0 groups")
        .hides("! WHICH ENVIRONMENT?");
    assert!(operations.place_problem().await.is_none());
    assert_eq!(proxy.methods(), Vec::<String>::new());
}

/// The settling at the start, which no key caused, adds no error message to the dialog.
#[tokio::test(flavor = "multi_thread")]
async fn open_rotations_are_not_settled_with_an_unknown_key() {
    let world = a_world().await;
    let (proxy, known) = through_a_proxy(&world).await;
    let mut console = open_with(vec![known.clone()]).await;
    console.keys("tT").await;
    proxy.next("POST", ProxyFault::swallowed(Then::Drop));
    proxy.next("GET", ProxyFault::passed());
    proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    console.keys("y").await;
    let sent = proxy.methods().len();
    let other = world.new_key("elsewhere", Some("Testing"));
    let mut console = open_with(vec![with_key(&world, &proxy, &other)]).await;
    console
        .shows_all(["Which environment is this?", "1 open"])
        .hides("unknown result")
        .hides(" x ");
    console.keys("<esc>m").await.hides("settled");
    assert_eq!(proxy.methods().len(), sent, "Nothing was sent");
    let open = known.open_rotations().await.expect("readable");
    assert_eq!(open[0].rotation.state, State::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alarm_stays_until_a_reason_is_typed() {
    let world = a_world().await;
    let (proxy, operations) = through_a_proxy(&world).await;
    let other_tag = |body: &mut serde_json::Value| {
        body["user_group"]["api_environment_tag"] = "Customer".into();
    };
    proxy.next("GET", ProxyFault::change(other_tag));
    let acme = id("acme-eu");
    let read = operations.look_up(&acme, UnknownIdPolicy::KnownOnly).await;
    read.expect("an answer");
    let sent = proxy.methods().len();
    let mut console = open_with(vec![operations.clone()]).await;
    console
        .shows("! ALARM")
        .shows("Alarm: nothing is sent")
        .shows("acme-eu, by ana@bastion2")
        .shows("2026-11-20 09:00:00 UTC");
    console
        .keys("<esc><enter>")
        .await
        .shows("Alarm: nothing is sent");
    console
        .keys("<enter>")
        .await
        .shows("Enter what was found; it is recorded");
    assert_eq!(proxy.methods().len(), sent, "Nothing was sent");
    console.keys("proxy fixed<enter><enter>y").await;
    console.shows("Acknowledged").hides("! ALARM");
    let place = world.place(Side::Testing);
    let events = operations
        .directory()
        .place_events(place)
        .await
        .expect("readable");
    let why = events.iter().filter_map(|event| event.note.as_deref());
    assert!(
        why.into_iter().any(|note| note.contains("proxy fixed")),
        "{events:?}"
    );
    console.keys("<esc>r").await;
    console.keys("tTy").await.shows("rotated");
}
