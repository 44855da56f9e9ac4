//! HTTPS without a proxy: clients that check the certificate, a certificate renewed while the service runs, unusable
//! files.

use reqwest::Certificate;
use rustix::process::Signal;
use secrecy::SecretString;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    cli::program::{Background, DEADLINE, Home, set_mode},
    support::{
        certificates::{Authority, VERSION_1},
        service::{Caller, plain_client},
    },
};

/// A certificate authority and what it has signed for this machine, in PEM.
struct Signed {
    authority: String,
    cert: String,
    key: String,
}

impl Signed {
    fn new(name: &str) -> Self {
        let authority = Authority::new(name);
        let served = authority.certify(&["127.0.0.1", "localhost"], |_| {});
        Self {
            authority: authority.pem,
            cert: served.pem,
            key: served.key_pem,
        }
    }

    /// Writes certificate and key where the service expects them.
    fn put(&self, home: &Home) {
        home.write("cert.pem", &self.cert);
        write_key(home, &self.key);
    }

    /// A client that trusts only this authority, with a new connection for each request.
    fn client(&self) -> reqwest::Client {
        drop(plain_client());
        let authority = Certificate::from_pem(self.authority.as_bytes()).expect("PEM");
        reqwest::Client::builder()
            .no_proxy()
            .pool_max_idle_per_host(0)
            .tls_certs_only([authority])
            .timeout(DEADLINE)
            .build()
            .expect("a client")
    }

    async fn is_trusted(&self, url: &str) -> bool {
        let asked = self.client().get(format!("{url}/openapi.json")).send();
        asked.await.is_ok_and(|answer| answer.status() == 200)
    }
}

fn write_key(home: &Home, key: &str) {
    home.write("key.pem", key);
    set_mode(home.path("key.pem"), 0o640);
}

const FILES: &str = "--tls-cert cert.pem --tls-key key.pem";

async fn serve(home: &Home, more: &str) -> (Background, String) {
    let (serving, url) = home.serve_with(&format!("{FILES} {more}")).await;
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    (serving, url)
}

#[tokio::test]
async fn clients_check_its_certificate_and_a_renewed_one_is_read_at_sighup() {
    let mut home = Home::new();
    let (old, new) = (Signed::new("old"), Signed::new("new"));
    old.put(&home);
    let key = home.key("--environment live --tag Customer").await;
    let (mut serving, url) = serve(&home, "").await;
    assert!(old.is_trusted(&url).await);
    assert!(!new.is_trusted(&url).await);
    let mut caller = Caller::new(&url, &SecretString::from(key.trim().to_owned()));
    caller.http = old.client();
    let token = caller.token_of("acme").await;
    caller.rotate(&token).await.ok();

    // The shipped client, with `ca_file`.
    let authority = home.write("authority.pem", &old.authority);
    home.configure(&url, key.trim());
    let config = home.config();
    home.write(
        "config.toml",
        &format!("{config}ca_file = \"{authority}\"\n"),
    );
    let created = home.json(0, "create beta --yes").await;
    assert_eq!(created["outcome"], "created");

    // Unusable files leave the current certificate in place.
    write_key(&home, &new.key);
    serving.signal(Signal::HUP);
    serving.says("does not match").await;
    serving.says("still use the old certificate").await;
    assert!(old.is_trusted(&url).await);
    new.put(&home);
    serving.signal(Signal::HUP);
    serving.says("certificate reloaded").await;
    assert!(new.is_trusted(&url).await);
    assert!(!old.is_trusted(&url).await);
    serving.signal(Signal::TERM);
    assert_eq!(serving.code().await, Some(0));
}

#[tokio::test]
async fn clients_without_tls_are_counted_and_delay_nobody() {
    let home = Home::new();
    let signed = Signed::new("any");
    signed.put(&home);
    let (mut serving, url) = serve(&home, "--metrics 127.0.0.1:0").await;
    let said = serving.says("/metrics").await;
    let (_, metrics) = said.split_once("metrics on ").expect("an address");
    let host = url.trim_start_matches("https://");
    let mut plain = TcpStream::connect(host).await.expect("it listens");
    plain
        .write_all(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .expect("sent");
    let mut answer = Vec::new();
    // An alert or a reset, but no answer of the service.
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP/"), "{answer:?}");
    let silent = TcpStream::connect(host).await.expect("it listens");
    assert!(signed.is_trusted(&url).await);
    let counted = async {
        loop {
            let text = plain_client().get(metrics).send().await.expect("an answer");
            let text = text.text().await.expect("text");
            if text.contains("groupdesk_service_tls_failed_handshakes_total 1\n") {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, counted)
        .await
        .expect("in time");
    serving.signal(Signal::TERM);
    assert_eq!(
        serving.code().await,
        Some(0),
        "the silent one is not waited for"
    );
    drop(silent);
}

#[tokio::test]
async fn unusable_files_start_nothing_and_are_not_quoted() {
    let home = Home::new();
    let (one, other) = (Signed::new("one"), Signed::new("other"));
    let serve = format!("serve --listen 127.0.0.1:0 --database {}", home.database());
    let canary = "canary-secret";
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&*one.cert, &*other.key, 0o600, "does not match"),
        (canary, &one.key, 0o600, "contains no PEM certificate"),
        (&one.key, &one.key, 0o600, "contains no PEM certificate"),
        (&one.cert, canary, 0o600, "contains no unencrypted PEM private key"),
        (&one.cert, &one.key, 0o644, "chmod 600"),
        (VERSION_1.0, VERSION_1.1, 0o600, "it is of X.509 version 1"),
    ];
    for (cert, key, mode, says) in table {
        home.write("cert.pem", cert);
        home.write("key.pem", key);
        set_mode(home.path("key.pem"), mode);
        let ran = home.exits(2, &format!("{serve} {FILES}")).await;
        ran.prints("").says(says).hides(canary);
    }
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "serve --tls-cert cert.pem", ""),
        (2, "serve --tls-key key.pem", ""),
        (2, "serve --tls-cert missing.pem --tls-key key.pem", ""),
    ]).await;
}
