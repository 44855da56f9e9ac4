//! Redirects (hazard 7): one request, the place it wanted is named, and nobody else hears of it.

use groupdesk::{domain::history::Ending, operations::Failure};

use crate::support::{
    faults::{Fault, Faults, http},
    proxy::{ProxyFault, Then},
    stage::{Stage, Task, run},
};

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

fn redirect(status: u16, location: Option<&str>) -> Then {
    let line = location.map(|location| format!("Location: {location}"));
    let headers: Vec<_> = line.as_deref().into_iter().collect();
    Then::Instead(http(
        &format!("{status} Moved"),
        &headers,
        "<html>moved</html>",
    ))
}

/// Where to, what of it is shown, and the setting that would help.
fn places(here: &str, other: &str) -> Vec<(Option<String>, String, Option<&'static str>)> {
    let slash = Some("end the profile's `path` with a slash");
    let some = |text: String| Some(text);
    let same = |text: String| (some(text.clone()), text, None);
    vec![
        // The three of every status: the same host, another host, a slash added.
        (some("/elsewhere".into()), format!("{here}/elsewhere"), None),
        same(format!("http://{other}/api/user")),
        (
            some("/api/user/".into()),
            format!("{here}/api/user/"),
            slash,
        ),
        // And what else a header can hold.
        (some("user/".into()), format!("{here}/api/user/"), slash),
        (
            some(format!("//{other}/api/user")),
            format!("http://{other}/api/user"),
            None,
        ),
        same(format!("https://{other}/api/user")),
        (
            some(format!(
                "http://me:secret@{other}/api/user?token=secret#secret"
            )),
            format!("http://{other}/api/user"),
            None,
        ),
        (
            some("javascript:secret(1)".into()),
            "a javascript: address".into(),
            None,
        ),
        (
            some("http://[secret".into()),
            "an address that cannot be read".into(),
            None,
        ),
        (None, "nowhere".into(), None),
    ]
}

#[tokio::test]
async fn one_request_in_all_and_the_place_is_named() {
    let other = Faults::always(Fault::Close).await;
    let mut cases = 0;
    for status in STATUSES {
        let stage = Stage::new(10 * Task::ALL.len()).await;
        let here = stage.proxy.base_url();
        let places = places(&here, &other.address.to_string());
        let groups = stage.groups.chunks(Task::ALL.len());
        for (groups, (location, shown, hint)) in groups.zip(places) {
            for (errand, group) in Task::ALL.into_iter().zip(groups) {
                cases += 1;
                let known = stage.known().await;
                let sent = stage.proxy.methods().len();
                let then = redirect(status, location.as_deref());
                if errand.reads_before() {
                    stage.proxy.next("GET", ProxyFault::passed());
                }
                stage
                    .proxy
                    .next(errand.method(), ProxyFault::swallowed(then));
                let failure = errand
                    .run(&stage.ana, group)
                    .await
                    .expect_err("not followed");
                let said = failure.to_string();
                let what = format!("{status} {errand:?} {location:?}: {said}");
                assert!(said.contains(&shown), "{what}");
                assert!(said.contains(&format!("HTTP {status}")), "{what}");
                assert!(!said.contains("secret"), "{what}");
                assert!(hint.is_none_or(|hint| said.contains(hint)), "{what}");
                let requests = &stage.proxy.methods()[sent..];
                // A rotation is read again to find out; whatever it is, it is sent once.
                let expected: &[&str] = match errand {
                    Task::Rotate => &["GET", "POST", "GET"],
                    Task::Get | Task::Create => &["GET"],
                    Task::Update => &["GET", "PUT"],
                };
                assert_eq!(requests, expected, "{what}");
                let ending = (errand != Task::Get).then_some(Ending::Unknown);
                assert_eq!(failure.ending(), ending, "{what}");
                let is_read = matches!(failure, Failure::Unreadable(_));
                assert_eq!(is_read, errand == Task::Get, "{what}");
                // What is read is news; the redirect is none.
                let same = errand.reads_before() || stage.known().await == known;
                assert!(same, "{what}");
            }
        }
    }
    assert_eq!(other.connections(), 0, "nobody else hears of it");
    assert!(cases >= 45, "{cases}");
}

#[tokio::test]
async fn the_shipped_binary_names_the_place_too() {
    let other = Faults::always(Fault::Close).await;
    let stage = Stage::new(3 * Task::THREE.len()).await;
    let here = stage.proxy.base_url();
    let config = stage.config(&here, "");
    let mut cases = 0;
    let places = places(&here, &other.address.to_string());
    let groups = stage.groups.chunks(Task::THREE.len());
    for (groups, (location, shown, hint)) in groups.zip(places) {
        for (errand, group) in Task::THREE.into_iter().zip(groups) {
            let sent = stage.proxy.count(errand.method());
            let then = redirect(307, location.as_deref());
            if errand.reads_before() {
                stage.proxy.next("GET", ProxyFault::passed());
            }
            stage
                .proxy
                .next(errand.method(), ProxyFault::swallowed(then));
            let (code, said) = run(stage.program(&config, &errand.arguments(group))).await;
            let expected = if errand == Task::Get { 1 } else { 7 };
            assert_eq!(code, expected, "{errand:?}: {said}");
            assert!(said.contains(&shown), "{errand:?}: {said}");
            assert!(
                hint.is_none_or(|hint| said.contains(hint)),
                "{errand:?}: {said}"
            );
            if errand != Task::Get {
                assert_eq!(stage.proxy.count(errand.method()), sent + 1);
            }
            cases += 1;
        }
    }
    assert_eq!((cases, other.connections()), (9, 0));
}
