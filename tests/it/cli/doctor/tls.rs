//! `doctor` over TLS: each step of the way has a time of its own, and a certificate that nobody vouches for is told.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

use super::{of, with};
use crate::cli::program::Home;

/// Refuses what names no group, over TLS, with a certificate of its own; returns the port and the certificate.
async fn serve() -> (u16, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a key of that certificate");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // One that only shakes hands says nothing.
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                let mut buffer = [0; 4096];
                let Ok(1..) = stream.read(&mut buffer).await else {
                    return;
                };
                let body = r#"{"success": 0, "error": {"message": "no id"}}"#;
                let answer = format!(
                    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (port, made.cert.pem())
}

#[tokio::test]
async fn each_step_of_the_way_has_a_time_of_its_own() {
    let (port, certificate) = serve().await;
    let mut home = Home::new();
    home.connect(&format!("https://localhost:{port}"), "key-of-the-desk");
    let file = home.write("ca.pem", &certificate);
    home.set("SSL_CERT_FILE", file);
    let report = home.json(0, &["doctor"]).await;
    let steps = of(&report, "network");
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
    assert_eq!(with(&report, "the API key is accepted")["severity"], "ok");

    // Without it nobody vouches for that certificate.
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("another");
    home.write("ca.pem", &other.cert.pem());
    let report = home.json(5, &["doctor"]).await;
    let steps = of(&report, "network");
    assert!(
        steps.iter().any(
            |found| found.starts_with("problem: Not reached: ") && found.contains("ertificate")
        ),
        "{steps:?}"
    );
    assert!(
        !steps.iter().any(|found| found.contains("TLS: TLS")),
        "{steps:?}"
    );
}

/// The step that is timed on its own trusts whom the requests trust.
#[tokio::test]
async fn an_authority_of_the_profile_counts_for_each_step() {
    let (port, certificate) = serve().await;
    let mut home = Home::new();
    home.connect(&format!("https://localhost:{port}"), "key-of-the-desk");
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("another");
    let system = home.write("system.pem", &other.cert.pem());
    home.set("SSL_CERT_FILE", system);
    home.write("own.pem", &certificate);
    let config = std::fs::read_to_string(home.path("config.toml")).expect("readable");
    home.write("config.toml", &format!("{config}ca_file = \"own.pem\"\n"));
    let report = home.json(0, &["doctor"]).await;
    let steps = of(&report, "network");
    assert!(
        steps.iter().any(|found| found.starts_with("ok: TLS: TLS")),
        "{steps:?}"
    );
    assert_eq!(with(&report, "the API key is accepted")["severity"], "ok");

    // And one that is not the right one counts for nothing.
    home.write("own.pem", &other.cert.pem());
    let report = home.json(5, &["doctor"]).await;
    let steps = of(&report, "network");
    assert!(
        !steps.iter().any(|found| found.contains("TLS: TLS")),
        "{steps:?}"
    );
    with(&report, "does not hold the authority that signed it");
}
