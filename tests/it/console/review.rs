//! Two people edit one group: the review merges their changes by field, and what it shows is exactly what the service
//! gets.

use super::prelude::*;

/// The console on the testing profile alone, and a proxy that records what it sends.
async fn watched(world: &World) -> (Console, FaultyProxy) {
    let (proxy, operations) = through_a_proxy(world).await;
    (open_with(vec![operations]).await, proxy)
}

fn change_of_li() -> DesiredFields {
    wanted(
        "Acme EMEA",
        &[
            ("40", "213"),
            ("134", "999"),
            ("210", "acme_core"),
            ("7", "1"),
        ],
        r#"{"tier":"gold","region":"emea","seats":250,"currency":"EUR"}"#,
    )
}

/// The body in a copied curl command, as a shell would pass it.
fn body(curl: &str) -> String {
    let (_, rest) = curl.split_once("--data-raw '").expect("a body");
    let (body, _) = rest.rsplit_once("' '").expect("and then the address");
    body.replace(r"'\''", "'")
}

/// The JSON in the box on the screen.
fn json_on(screen: &str) -> Value {
    let lines = screen.lines().map(|line| line.trim_matches(['│', ' ']));
    // Changed rows have a sign before them.
    let lines = lines.map(|line| line.trim_start_matches(['~', '+', ' ']));
    let lines = lines.skip_while(|line| *line != "{");
    let text: Vec<&str> = lines.take_while(|line| !line.starts_with("y ")).collect();
    serde_json::from_str(&text.join("\n")).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn both_edits_survive_and_the_request_is_what_was_shown() {
    let world = a_world().await;
    let (mut console, proxy) = watched(&world).await;
    // A name that a shell, a terminal and JSON each quote differently.
    console.keys("e<end> O'Brien").await;
    console.paste("$(id) `x` \\ \"").await;
    console.keys("<tab><right><enter><end>9<enter>").await;
    li_sends(&world, &change_of_li()).await;
    console.keys("<ctrl-s>").await;
    console
        .shows("CHANGED BY li@desk7 ")
        .shows("> name: it was Acme Europe")
        .shows("! OVERWRITES theirs");
    assert_eq!(proxy.count("PUT"), 0);
    console.resize((160, 50));
    console
        .shows("mapping 134: it was 386")
        .shows("(*) theirs  999")
        .shows("mapping 135: it was 387")
        .shows("(*) theirs  (not there)")
        .shows("properties region: it was \"eu\"");
    console.keys("vc").await;
    let shown = json_on(&console.screen());
    let copied = console.runner.screen.copied.pop().expect("copied");
    assert!(copied.contains("$GROUPDESK_API_KEY"));
    console.keys("y").await.shows("UPDATED");

    let [received] = &proxy.bodies("PUT")[..] else {
        panic!("one update is sent");
    };
    // As texts, so that the order of the keys counts.
    assert_eq!(received.to_string(), shown.to_string());
    assert_eq!(received.to_string(), body(&copied));
    let stored = world.stored(Side::Testing, "acme-eu");
    assert_eq!(stored.name, "Acme Europe O'Brien$(id) `x` \\ \"");
    assert_eq!(
        stored.mapping,
        json!({"40": "2139", "134": "999", "210": "acme_core", "7": "1"})
    );
    assert_eq!(stored.properties["region"], "emea");
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_fields_are_left_out_or_replaced_by_choice() {
    let world = a_world().await;
    let tier = json!({"tier": "iron"});
    world.seed(Side::Testing, "aaa", "Hooli", &[("1", "2")], &tier);
    let installation = world.installation(Side::Testing).at(NOW).operations();
    let known = installation
        .look_up(&id("aaa"), UnknownIdPolicy::Exists)
        .await;
    known.expect("it is known by its name alone");
    let (mut console, proxy) = watched(&world).await;
    console.keys("/hooli<enter>e<end> 2<ctrl-s>").await;
    console
        .shows("> mapping: the current value is unknown")
        .shows("(*) omit")
        .shows("properties: the current value is unknown");
    console.keys("y").await.shows("UPDATED");
    let stored = world.stored(Side::Testing, "aaa");
    assert_eq!(
        (&stored.mapping, &stored.properties),
        (&json!({"1": "2"}), &tier)
    );
    let sent = proxy.bodies("PUT");
    assert_eq!(sent, [json!({"name": "Hooli 2", "user_group_id": "aaa"})]);

    console.keys("<enter>e<end>3<ctrl-s><space>").await;
    console.shows_all(["EMPTIES the field", "REPLACES all of them"]);
    console.keys("y").await;
    let stored = world.stored(Side::Testing, "aaa");
    assert_eq!((&stored.mapping, &stored.properties), (&json!({}), &tier));
    // The former value is unknown, so the change cannot be undone.
    console.keys("<esc>2z").await;
    console.shows_all(["> ", "unknown"]);
    assert_eq!(
        console.runner.app.top().focus(),
        groupdesk::tui::keymap::Focus::History
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_is_undone_from_the_history() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    let before = world.stored(Side::Testing, "acme-eu");
    console
        .keys("e<end> plc<tab><right><enter><end>9<enter><down>Da55<tab>66<enter>")
        .await;
    console.keys("<ctrl-s>y").await.shows("UPDATED");
    console.keys("<esc>2d").await;
    console
        .shows("before and after it")
        .shows("Acme Europe → Acme Europe plc")
        .shows("~ 40   213 → 2139");
    console
        .keys("d")
        .await
        .shows("The same now as after this entry.");
    // Opening and leaving the form creates no draft, because nothing was typed.
    console.keys("<esc><enter>2z<esc><esc>").await;
    assert_eq!(
        console.runner.app.top().focus(),
        groupdesk::tui::keymap::Focus::History
    );
    console.hides("Draft of acme-eu saved");
    let kept = async || {
        let place = world.place(Side::Testing);
        let drafts = world.directory().drafts(place).await;
        drafts.expect("readable").len()
    };
    assert_eq!(kept().await, 0);
    // Typing in it creates one.
    console
        .keys("z<esc><end>!<esc>")
        .await
        .shows("Draft of acme-eu saved");
    assert_eq!(kept().await, 1);
    console.keys("<esc>e<ctrl-x>y").await;
    assert_eq!(kept().await, 0);
    // Four keys from the list of groups.
    console.keys("<esc><enter>2z").await;
    console
        .shows("before that update")
        .shows("Acme Europe plc → Acme Europe")
        .shows("~ 40   2139 → 213")
        .shows("+ 134  386")
        .shows("- 55   66  will be removed");
    assert_eq!(
        world.stored(Side::Testing, "acme-eu").name,
        "Acme Europe plc",
        "nothing is sent before y"
    );
    console.keys("y").await;
    let after = world.stored(Side::Testing, "acme-eu");
    assert_eq!(after.name, before.name);
    // The order of rows has no meaning for the service.
    assert_eq!(after.mapping, before.mapping);
    assert_eq!(after.properties, before.properties);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_create_is_copied_from_the_history_as_it_was_sent() {
    let world = a_world().await;
    let (mut console, proxy) = watched(&world).await;
    console.keys("onew<tab>acme-us<enter>New<ctrl-s>y").await;
    console.shows("CREATED");
    console.keys("<enter>2c").await;
    let copied = console.runner.screen.copied.pop().expect("copied");
    let creating = proxy.bodies("GET");
    let creating = creating.iter().find(|body| body["user_group_id"] == "new");
    assert_eq!(creating.expect("sent").to_string(), body(&copied));
    console.keys("/rotate<enter>c").await.shows("never kept");
    assert!(console.runner.screen.copied.is_empty());
}
