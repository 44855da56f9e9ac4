//! Redirects (hazard 7): one request, the target is named, and no other host gets a request.

use groupdesk::{domain::history::Ending, operations::Failure};

use crate::support::{
    faults::{Fault, Faults, http},
    proxy::Then,
    stage::{Stage, Task},
};

fn redirect(status: u16, location: Option<&str>) -> Then {
    let line = location.map(|location| format!("Location: {location}"));
    let headers: Vec<_> = line.as_deref().into_iter().collect();
    let status = format!("{status} Moved");
    Then::Instead(http(&status, &headers, "<html>moved</html>"))
}

/// The Location, how it is shown, and the setting that would help.
#[rustfmt::skip] // A table: one case per line.
fn places(here: &str, other: &str) -> Vec<(Option<String>, String, Option<&'static str>)> {
    let slash = Some("end the profile's `path` with a slash");
    let at = |location: &str| Some(location.replace("OTHER", other));
    let shown = |text: &str| text.replace("HERE", here).replace("OTHER", other);
    let secret = "http://me:secret@OTHER/api/user?token=secret#secret";
    vec![
        // For every status: the same host, another host, a slash added.
        (at("/elsewhere"), shown("HERE/elsewhere"), None),
        (at("http://OTHER/api/user"), shown("http://OTHER/api/user"), None),
        (at("/api/user/"), shown("HERE/api/user/"), slash),
        // And whatever else a header can contain.
        (at("user/"), shown("HERE/api/user/"), slash),
        (at("//OTHER/api/user"), shown("http://OTHER/api/user"), None),
        (at("https://OTHER/api/user"), shown("https://OTHER/api/user"), None),
        (at(secret), shown("http://OTHER/api/user"), None),
        (at("javascript:secret(1)"), shown("a javascript: URL"), None),
        (at("http://[secret"), shown("a URL that cannot be read"), None),
        (None, "nowhere".into(), None),
    ]
}

#[tokio::test]
async fn one_request_is_sent_and_the_target_is_named() {
    let other = Faults::always(Fault::Close).await;
    for status in [301, 302, 303, 307, 308] {
        let count = if status == 302 { 10 } else { 3 };
        let stage = Stage::new(count * Task::ALL.len()).await;
        let here = stage.proxy.base_url();
        let places = places(&here, &other.address.to_string());
        let groups = stage.groups.chunks(Task::ALL.len());
        for (groups, (location, shown, hint)) in groups.zip(places) {
            for (errand, group) in Task::ALL.into_iter().zip(groups) {
                let known = stage.known().await;
                let sent = stage.proxy.methods().len();
                let then = redirect(status, location.as_deref());
                stage.instead(errand, then);
                let result = errand.run(&stage.ana, group).await;
                let failure = result.expect_err("not followed");
                let said = failure.to_string();
                let what = format!("{status} {errand:?} {location:?}: {said}");
                assert!(said.contains(&shown), "{what}");
                assert!(said.contains(&format!("HTTP {status}")), "{what}");
                assert!(!said.contains("secret"), "{what}");
                assert!(hint.is_none_or(|hint| said.contains(hint)), "{what}");
                let requests = &stage.proxy.methods()[sent..];
                // A rotation is followed by a read to settle it, but is sent once.
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
                // The values of the read are recorded; the redirect adds nothing.
                let same = errand.reads_before() || stage.known().await == known;
                assert!(same, "{what}");
            }
        }
    }
    assert_eq!(other.connections(), 0, "no other host gets a request");
}
