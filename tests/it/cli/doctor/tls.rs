//! `doctor` over TLS: each step of connecting is timed on its own, and an untrusted certificate is reported.

use super::{finding, findings_of, refusal};
use crate::{
    cli::program::Home,
    support::{
        assertions::{assert_has, assert_lacks},
        certificates::{Authority, Front, self_signed},
        faults::Faults,
    },
};

/// Each step trusts the same authorities, whether they are the machine's or those of the profile.
#[tokio::test]
async fn each_step_of_connecting_is_timed_on_its_own() {
    let service = Faults::always(refusal()).await;
    let (trusted, other) = (self_signed(&["localhost"]), self_signed(&["localhost"]));
    let certificate = trusted.pem.clone();
    let front = Front::before(service.address, trusted).await;
    let port = front.address.port();
    for is_of_the_profile in [false, true] {
        let mut home = Home::new();
        home.connect(&format!("https://localhost:{port}"), "key-of-the-desk");
        let ca = home.write("ca.pem", &certificate);
        if is_of_the_profile {
            home.add_config("ca_file = \"ca.pem\"\n");
            let system = home.write("system.pem", &other.pem);
            home.set("SSL_CERT_FILE", system);
        } else {
            home.set("SSL_CERT_FILE", ca);
        }
        let report = home.json(0, "doctor").await;
        let steps = findings_of(&report, "network");
        for step in [
            "ok: name localhost: ",
            "ok: connection to port ",
            "ok: TLS: TLS",
            "ok: whole request: HTTP 400",
        ] {
            let found = steps.iter().find(|found| found.starts_with(step));
            let found = found.unwrap_or_else(|| panic!("{step}: {steps:?}"));
            assert!(found.ends_with(" ms"), "{found}");
        }
        assert_eq!(finding(&report, "the API key is accepted").0, "ok");

        // Another certificate does not make this one trusted.
        home.write("ca.pem", &other.pem);
        let report = home.json(5, "doctor").await;
        let steps = findings_of(&report, "network").join("\n");
        assert_has(&steps, "problem: Not reached: ");
        assert_lacks(&steps, "TLS: TLS");
        if is_of_the_profile {
            finding(&report, "does not contain the CA that signed it");
        } else {
            assert_has(&steps, "ertificate");
        }
    }
}

/// A service that requires a client certificate: groupdesk cannot send one, and says so wherever it connects.
#[tokio::test]
async fn a_service_that_requires_a_client_certificate_is_told_as_such() {
    let service = Faults::always(refusal()).await;
    let served = self_signed(&["localhost"]);
    let certificate = served.pem.clone();
    let front = Front::demanding(service.address, served, &Authority::new("of clients")).await;
    let mut home = Home::new();
    let url = format!("https://localhost:{}", front.address.port());
    home.connect(&url, "key-of-the-desk");
    home.write("ca.pem", &certificate);
    home.add_config("ca_file = \"ca.pem\"\n");
    let report = home.json(5, "doctor").await;
    finding(&report, "it requires a client certificate");
    let checked = home.exits(5, "profile check").await;
    assert_has(&checked.all(), "it requires a client certificate");
    home.exits(5, "create acme --yes")
        .await
        .says("it requires a client certificate; nothing was sent")
        .says("groupdesk cannot send a client certificate to a service");
    assert_eq!(service.requests().len(), 0);
}
