//! Secure connections that must not be made: each is refused before a byte of the request leaves, and says the way out.
//! The shipped binary, real certificates and real handshakes; the authorities of the system are a file of the test.

mod certificates;
mod connected;

use std::path::Path;

use rcgen::{ExtendedKeyUsagePurpose, date_time_ymd};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::{
    client::LONG,
    support::stage::{Stage, Task, run},
};
use certificates::{Authority, Front, alone, itself};

/// The certificate of some authority, as `ca_file` may name it.
pub(crate) fn an_authority() -> String {
    Authority::new("some").pem
}

const HERE: [&str; 2] = ["127.0.0.1", "localhost"];

/// What answers a handshake.
enum Peer {
    Front(Front),
    /// Waits for the first bytes, sends these, and resets or closes.
    Raw {
        bytes: &'static [u8],
        resets: bool,
    },
}

struct Case<'f> {
    name: &'static str,
    peer: Peer,
    ca_file: Option<&'f Path>,
    /// What stands in the error.
    says: [&'static str; 2],
}

/// Listens as a peer that is not rustls; returns the address.
async fn raw(bytes: &'static [u8], resets: bool) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut hello = [0; 4096];
            let _ = stream.read(&mut hello).await;
            let _ = stream.write_all(bytes).await;
            if resets {
                let _ = stream.set_zero_linger();
            } else {
                let _ = stream.shutdown().await;
                while matches!(stream.read(&mut hello).await, Ok(read) if read > 0) {}
            }
        }
    });
    address
}

/// A ServerHello of TLS 1.0, as old servers send it whatever they are offered.
const TLS_1_0: &[u8] = b"\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01\
    0123456789abcdef0123456789abcdef\x00\x00\x2f\x00";
/// An alert `protocol_version`, from a server that knows no more than TLS 1.1.
const TLS_1_1: &[u8] = b"\x15\x03\x02\x00\x02\x02\x46";
const SSL_3: &[u8] = b"\x15\x03\x00\x00\x02\x02\x46";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_trusted_is_refused_and_says_the_way_out() {
    let stage = Stage::new(1).await;
    let backend = stage.proxy.address();
    let folder = stage.world.folder();
    let (system, own, other) = (
        Authority::new("the system's"),
        Authority::new("our own"),
        Authority::new("another"),
    );
    let system_file = system.write(folder);
    let [own_file, other_file] = [own.write(folder), other.write(folder)];
    let (own_file, other_file) = (own_file.as_path(), other_file.as_path());
    let front = |served| Front::before(backend, served);
    let (leaf, leaf_pem) = alone(&HERE);
    let (itself, itself_pem) = itself(&HERE);
    let leaf_file = folder.join("leaf.pem");
    std::fs::write(&leaf_file, leaf_pem).expect("written");
    let itself_file = folder.join("itself.pem");
    std::fs::write(&itself_file, itself_pem).expect("written");
    let dated = |from: i32, to: i32| {
        own.certify(&HERE, |params| {
            params.not_before = date_time_ymd(from, 1, 1);
            params.not_after = date_time_ymd(to, 1, 1);
        })
    };
    let client_only = own.certify(&HERE, |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    let between = own.authority_below("in between");
    let signed_between = between.certify(&HERE, |_| {});
    let unknown = "signed by nobody who is known here";
    let ask = "name that in PEM as `ca_file` of the profile";
    let held = "`ca_file` of the profile does not hold the authority";
    let name = "is for another name";
    let expired = "has expired";
    let old = ["only a TLS older than 1.2", "must speak TLS 1.2 or 1.3"];
    let none = ["does not speak TLS", "check `base_url` and its port"];
    let broken = [
        "no secure connection",
        "the certificate of the service and the clock",
    ];
    let raw = |bytes, resets| Peer::Raw { bytes, resets };
    let case = |name, peer, ca_file, says| Case {
        name,
        peer,
        ca_file,
        says,
    };
    let good = || own.certify(&HERE, |_| {});
    let cases = vec![
        case(
            "an unknown authority",
            Peer::Front(front(good()).await),
            None,
            [unknown, ask],
        ),
        case(
            "another ca_file",
            Peer::Front(front(good()).await),
            Some(other_file),
            [unknown, held],
        ),
        case(
            "self-signed",
            Peer::Front(front(leaf).await),
            None,
            [unknown, ask],
        ),
        case(
            "self-signed, another ca_file",
            Peer::Front(front(alone(&HERE).0).await),
            Some(&leaf_file),
            [unknown, held],
        ),
        case(
            "an authority as server",
            Peer::Front(front(itself).await),
            Some(&itself_file),
            [
                "that of an authority, not of a server",
                "have a certificate issued",
            ],
        ),
        case(
            "its authority is missing in between",
            Peer::Front(front(signed_between).await),
            Some(own_file),
            [unknown, held],
        ),
        case(
            "expired",
            Peer::Front(front(dated(2019, 2020)).await),
            Some(own_file),
            [expired, "renewed"],
        ),
        case(
            "expired, signed for the system",
            Peer::Front(
                front(system.certify(&HERE, |params| params.not_after = date_time_ymd(2020, 1, 1)))
                    .await,
            ),
            None,
            [expired, "check the clock"],
        ),
        case(
            "not valid yet",
            Peer::Front(front(dated(2999, 3000)).await),
            Some(own_file),
            ["not valid yet", "check the clock"],
        ),
        case(
            "another host",
            Peer::Front(front(own.certify(&["api.example.com"], |_| {})).await),
            Some(own_file),
            [name, "`ca_file` changes nothing"],
        ),
        case(
            "another address",
            Peer::Front(front(own.certify(&["127.0.0.2"], |_| {})).await),
            Some(own_file),
            [name, "check `base_url`"],
        ),
        case(
            "a name where an address is asked",
            Peer::Front(front(own.certify(&["localhost"], |_| {})).await),
            Some(own_file),
            [name, "check `base_url`"],
        ),
        case(
            "no name at all",
            Peer::Front(front(own.certify(&[], |_| {})).await),
            Some(own_file),
            [name, "check `base_url`"],
        ),
        case(
            "not for servers",
            Peer::Front(front(client_only).await),
            Some(own_file),
            broken,
        ),
        case("TLS 1.0", raw(TLS_1_0, false), Some(own_file), old),
        case("TLS 1.1", raw(TLS_1_1, false), Some(own_file), old),
        case("SSL 3", raw(SSL_3, false), Some(own_file), old),
        case(
            "plain http",
            raw(b"HTTP/1.1 400 Bad Request\r\n\r\n", false),
            Some(own_file),
            none,
        ),
        case(
            "mail",
            raw(b"220 mail.example.com ESMTP\r\n", false),
            Some(own_file),
            none,
        ),
        case("the end", raw(b"", false), Some(own_file), broken),
        case(
            "a reset",
            raw(b"", true),
            Some(own_file),
            ["no connection to", "check the network"],
        ),
    ];
    let group = stage.groups[0].as_str();
    let count = cases.len();
    for (number, case) in cases.into_iter().enumerate() {
        let address = match &case.peer {
            Peer::Front(front) => front.address,
            Peer::Raw { bytes, resets } => self::raw(bytes, *resets).await,
        };
        let lines = case
            .ca_file
            .map(|file| format!("ca_file = \"{}\"", file.display()));
        let config = stage.config(&format!("https://{address}"), &lines.unwrap_or_default());
        let errand = Task::ALL[number % 4];
        let mut program = stage.program(&config, &errand.arguments(group));
        program.env("SSL_CERT_FILE", &system_file);
        let (code, said) = run(program).await;
        let what = format!("{} {errand:?}: {said}", case.name);
        assert_eq!(code, 5, "{what}");
        assert!(case.says.iter().all(|says| said.contains(says)), "{what}");
        assert!(said.contains("nothing was sent"), "{what}");
        if let Peer::Front(front) = &case.peer {
            assert_eq!((front.handshakes(), front.connections()), (0, 1), "{what}");
        }
    }
    assert!(stage.proxy.methods().is_empty(), "nothing got through");
    assert!(count >= 8, "{count}");
}

#[tokio::test]
async fn a_ca_file_that_cannot_be_used_is_named_and_nothing_is_sent() {
    let stage = Stage::new(1).await;
    let own = Authority::new("our own");
    let front = Front::before(stage.proxy.address(), own.certify(&HERE, |_| {})).await;
    let folder = stage.world.folder();
    let file = |name: &str, contents: &[u8]| {
        std::fs::write(folder.join(name), contents).expect("written");
        name.to_owned()
    };
    let open = file("open.pem", own.pem.as_bytes());
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    std::fs::set_permissions(folder.join(&open), everybody).expect("ours");
    let fifo = rustix::fs::Mode::RWXU;
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("fifo.pem"), fifo).expect("a FIFO");
    let broken = own.pem.replace('A', "!");
    let cases = [
        ("missing.pem".to_owned(), "No such file"),
        (".".into(), "not a regular file"),
        ("fifo.pem".into(), "not a regular file"),
        (open, "every user can write to it"),
        (file("empty.pem", b""), "no certificate in PEM"),
        (file("der.pem", &own.der), "no certificate in PEM"),
        (
            file("key.pem", own.key_pem.as_bytes()),
            "no certificate in PEM",
        ),
        (
            file("broken.pem", broken.as_bytes()),
            "no certificate in PEM",
        ),
        (
            file(
                "nonsense.pem",
                b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            ),
            "cannot be read",
        ),
        (file("large.pem", &vec![b'x'; 2 << 20]), "larger than 1 MiB"),
    ];
    let mut count = 0;
    for (name, says) in cases {
        let lines = format!("ca_file = \"{name}\"");
        let config = stage.config(&format!("https://{}", front.address), &lines);
        for errand in Task::THREE {
            let (code, said) =
                run(stage.program(&config, &errand.arguments(&stage.groups[0]))).await;
            assert_eq!(code, 2, "{name}: {said}");
            assert!(
                said.contains("`ca_file` of profile testing cannot be used"),
                "{name}: {said}"
            );
            assert!(
                said.contains(says) && said.contains(&name),
                "{name}: {said}"
            );
            count += 1;
        }
    }
    assert_eq!((count, front.connections()), (30, 0));
    // And in the configuration itself.
    for (line, says) in [
        ("ca_file = \"\"", "must be the name of a file"),
        ("ca_file = true", "ca_file"),
    ] {
        let config = stage.config("https://127.0.0.1:9", line);
        let (code, said) = run(stage.program(&config, &["list".into()])).await;
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(says), "{said}");
    }
}

#[tokio::test]
async fn plain_http_to_a_name_or_another_machine_is_refused() {
    let stage = Stage::new(1).await;
    let mut count = 0;
    for address in [
        "http://api.example.com",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "http://10.0.0.1",
        "http://[2001:db8::1]",
        "http://0.0.0.0:8474",
        "HTTP://API.EXAMPLE.COM",
    ] {
        let config = stage.config(address, "");
        for errand in Task::THREE {
            let (code, said) =
                run(stage.program(&config, &errand.arguments(&stage.groups[0]))).await;
            assert_eq!(code, 2, "{address}: {said}");
            assert!(
                said.contains("https://") && said.contains("allow_plain_http"),
                "{address}: {said}"
            );
            count += 1;
        }
    }
    assert_eq!(count, 21);
}

/// `localhost` is this machine, whatever a name service says of it.
#[tokio::test]
async fn plain_http_to_localhost_stays_here() {
    let stage = Stage::new(1).await;
    let port = stage.proxy.address().port();
    let group = stage.groups[0].as_str();
    let config = stage.config(&format!("http://localhost:{port}"), "");
    let (code, said) = run(stage.program(&config, &Task::Get.arguments(group))).await;
    assert_eq!(code, 0, "{said}");
    // A name that no name service is asked for.
    let installation = stage.through(&format!("http://no-such-name.localhost:{port}"), LONG);
    let done = Task::Get.run(&installation, group).await;
    assert_eq!(done.expect("read").status, 200);
    assert_eq!(stage.proxy.count("GET"), 2);
}
