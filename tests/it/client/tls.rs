//! TLS connections that must not be made: each is refused before a byte of the request is sent, and the error says what
//! to do. The shipped binary, real certificates and real handshakes; the system's certificate authorities are a file of
//! the test.

mod connected;

use rcgen::{ExtendedKeyUsagePurpose, date_time_ymd};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::{
    client::LONG,
    support::{
        certificates::{Authority, Front, self_signed, self_signed_authority},
        stage::{Stage, Task, run},
    },
};

/// The certificate of some authority, for `ca_file`.
pub(crate) fn an_authority() -> String {
    Authority::new("some").pem
}

const HERE: [&str; 2] = ["127.0.0.1", "localhost"];

/// What answers a handshake.
type Peer = (std::net::SocketAddr, Option<Front>);

/// A peer that is not rustls: it waits for the first bytes, sends these, and resets or closes.
async fn raw(bytes: &'static [u8], resets: bool) -> Peer {
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
    (address, None)
}

/// A ServerHello of TLS 1.0, as old servers send it whatever they are offered.
const TLS_1_0: &[u8] = b"\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01\
    0123456789abcdef0123456789abcdef\x00\x00\x2f\x00";
/// An alert `protocol_version`, from a server that supports at most TLS 1.1.
const TLS_1_1: &[u8] = b"\x15\x03\x02\x00\x02\x02\x46";
/// Alerts of servers that require a client certificate and speak TLS 1.2: `handshake_failure` and `bad_certificate`.
const HANDSHAKE: &[u8] = b"\x15\x03\x03\x00\x02\x02\x28";
const CERTIFICATE: &[u8] = b"\x15\x03\x03\x00\x02\x02\x2a";
const SSL_3: &[u8] = b"\x15\x03\x00\x00\x02\x02\x46";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn untrusted_servers_are_refused_and_the_error_says_what_to_do() {
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
    let front = async |served| -> Peer {
        let front = Front::before(backend, served).await;
        (front.address, Some(front))
    };
    let (leaf, itself) = (self_signed(&HERE), self_signed_authority(&HERE));
    let leaf_file = folder.join("leaf.pem");
    std::fs::write(&leaf_file, &leaf.pem).expect("written");
    let itself_file = folder.join("itself.pem");
    std::fs::write(&itself_file, &itself.pem).expect("written");
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
    let dead = system.certify(&HERE, |params| params.not_after = date_time_ymd(2020, 1, 1));
    let named = |names: &[&str]| own.certify(names, |_| {});

    let own_file = Some(own_file);
    // The error: the reason, and what to do.
    let ask = "not signed by a trusted CA|set its certificate (PEM) as `ca_file` in the profile";
    let held = "not signed by a trusted CA|the `ca_file` of the profile does not contain the CA";
    let authority = "it is a CA certificate, not a server certificate|have a certificate issued";
    let name = "is for another name|check `base_url`|`ca_file` changes nothing";
    let old = "only TLS versions older than 1.2|must speak TLS 1.2 or 1.3";
    let none = "does not speak TLS|check `base_url` and its port";
    let broken = "no secure connection|the certificate of the service and the clock";
    let young = "not valid yet|check the clock";
    let gone = "no connection to|check the network";
    let asked = "it requires a client certificate|cannot send a client certificate to a service";
    let refused = "it refused the handshake|cannot send a client certificate to a service";
    let demanding = Front::demanding(backend, named(&HERE), &other).await;
    #[rustfmt::skip] // A table: one case per line.
    let cases = [
        ("unknown authority", front(named(&HERE)).await, None, ask),
        ("another ca_file", front(named(&HERE)).await, Some(other_file), held),
        ("self-signed", front(leaf).await, None, ask),
        ("self-signed, another ca_file", front(self_signed(&HERE)).await, Some(&leaf_file), held),
        ("an authority as server", front(itself).await, Some(&itself_file), authority),
        ("none in between", front(signed_between).await, own_file, held),
        ("expired", front(dated(2019, 2020)).await, own_file, "has expired|to renew it"),
        ("expired, of the system", front(dead).await, None, "has expired|check the clock"),
        ("not valid yet", front(dated(2999, 3000)).await, own_file, young),
        ("another host", front(named(&["api.example.com"])).await, own_file, name),
        ("another address", front(named(&["127.0.0.2"])).await, own_file, name),
        ("a name for an address", front(named(&["localhost"])).await, own_file, name),
        ("no name at all", front(named(&[])).await, own_file, name),
        ("not for servers", front(client_only).await, own_file, broken),
        ("TLS 1.0", raw(TLS_1_0, false).await, own_file, old),
        ("TLS 1.1", raw(TLS_1_1, false).await, own_file, old),
        ("SSL 3", raw(SSL_3, false).await, own_file, old),
        ("client certificate, TLS 1.2", raw(CERTIFICATE, false).await, own_file, asked),
        ("handshake refused", raw(HANDSHAKE, false).await, own_file, refused),
        ("client certificate, TLS 1.3", (demanding.address, Some(demanding)), own_file, asked),
        ("plain http", raw(b"HTTP/1.1 400 Bad Request\r\n\r\n", false).await, own_file, none),
        ("mail", raw(b"220 mail.example.com ESMTP\r\n", false).await, own_file, none),
        ("the end", raw(b"", false).await, own_file, broken),
        ("a reset", raw(b"", true).await, own_file, gone),
    ];
    let group = stage.groups[0].as_str();
    for (number, (what, peer, ca_file, says)) in cases.into_iter().enumerate() {
        let (address, front) = peer;
        let lines = ca_file.map(|file| format!("ca_file = \"{}\"", file.display()));
        let config = stage.config(&format!("https://{address}"), &lines.unwrap_or_default());
        let errand = Task::ALL[number % 4];
        let mut program = stage.program(&config, &errand.arguments(group));
        program.env("SSL_CERT_FILE", &system_file);
        let (code, said) = run(program).await;
        assert_eq!(code, 5, "{what} {errand:?}: {said}");
        for says in says.split('|').chain(["nothing was sent"]) {
            assert!(
                said.contains(says),
                "{what} {errand:?}: no {says} in {said}"
            );
        }
        if let Some(front) = front {
            assert_eq!((front.handshakes(), front.connections()), (0, 1), "{what}");
        }
    }
    assert!(stage.proxy.methods().is_empty(), "nothing got through");
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
    let key = own.key_pem.as_bytes();
    let nonsense = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    // The end of the last one, or some lines of the first one, are missing.
    let half = &own.pem[..own.pem.len() / 2];
    let cut = format!("{}{half}", own.pem);
    let end = "\n-----END CERTIFICATE-----\n";
    let (first, _) = half.rsplit_once('\n').expect("lines");
    let middle = format!("{first}{end}{}", own.pem);
    let unread = |which: &str| format!("certificate {which} in it cannot be read");
    let (first, second, alone) = (unread("1 of 2"), unread("2 of 2"), unread("1 of 1"));
    let cases = [
        ("missing.pem".to_owned(), "there is no such file or folder"),
        (".".into(), "not a regular file"),
        ("fifo.pem".into(), "not a regular file"),
        (open, "every user can write to it"),
        (file("empty.pem", b""), "it is empty"),
        (file("der.pem", &own.der), "not in PEM but in DER"),
        (file("key.pem", key), "a private key instead"),
        (file("broken.pem", broken.as_bytes()), "no PEM certificate"),
        (file("nonsense.pem", nonsense), &alone),
        (file("cut.pem", cut.as_bytes()), &second),
        (file("middle.pem", middle.as_bytes()), &first),
        (file("large.pem", &vec![b'x'; 2 << 20]), "larger than 1 MiB"),
    ];
    for ((name, says), errand) in cases.into_iter().zip(Task::THREE.into_iter().cycle()) {
        let lines = format!("ca_file = \"{name}\"");
        let config = stage.config(&format!("https://{}", front.address), &lines);
        let arguments = errand.arguments(&stage.groups[0]);
        let (code, said) = run(stage.program(&config, &arguments)).await;
        assert_eq!(code, 2, "{name}: {said}");
        for says in ["`ca_file` of profile testing cannot be used", says, &name] {
            assert!(said.contains(says), "{name}: {said}");
        }
    }
    assert_eq!(front.connections(), 0);
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

/// Which addresses those are: in `config::address`.
#[tokio::test]
async fn plain_http_to_another_machine_is_refused() {
    let stage = Stage::new(1).await;
    let config = stage.config("http://localhost.example.com", "");
    for errand in Task::THREE {
        let arguments = errand.arguments(&stage.groups[0]);
        let (code, said) = run(stage.program(&config, &arguments)).await;
        assert_eq!(code, 2, "{said}");
        let words = ["https://", "allow_plain_http"];
        assert!(words.iter().all(|words| said.contains(words)), "{said}");
    }
}

/// `localhost` is this machine, whatever a name server says.
#[tokio::test]
async fn plain_http_to_localhost_stays_here() {
    let stage = Stage::new(1).await;
    let port = stage.proxy.address().port();
    let group = stage.groups[0].as_str();
    let config = stage.config(&format!("http://localhost:{port}"), "");
    let (code, said) = run(stage.program(&config, &Task::Get.arguments(group))).await;
    assert_eq!(code, 0, "{said}");
    // A name for which no name server is asked.
    let installation = stage.through(&format!("http://no-such-name.localhost:{port}"), LONG);
    let done = Task::Get.run(&installation, group).await;
    assert_eq!(done.expect("read").status, 200);
    assert_eq!(stage.proxy.count("GET"), 2);
}
