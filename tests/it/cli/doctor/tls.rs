//! `doctor` over TLS: each step of connecting is timed on its own, and an untrusted certificate is reported.

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

use super::{finding, findings_of};
use crate::{
    cli::program::Home,
    support::assertions::{assert_has, assert_lacks},
};

/// A TLS server with a self-signed certificate that refuses requests naming no group. Returns the port and the
/// certificate.
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
                // The probe that only does the handshake sends no request.
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

/// Each step trusts the same authorities, whether they are the machine's or those of the profile.
#[tokio::test]
async fn each_step_of_connecting_is_timed_on_its_own() {
    let (port, certificate) = serve().await;
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("another");
    for is_of_the_profile in [false, true] {
        let mut home = Home::new();
        home.connect(&format!("https://localhost:{port}"), "key-of-the-desk");
        let ca = home.write("ca.pem", &certificate);
        if is_of_the_profile {
            home.add_config("ca_file = \"ca.pem\"\n");
            let system = home.write("system.pem", &other.cert.pem());
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
        home.write("ca.pem", &other.cert.pem());
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
