//! The client on the wire: what it sends, that it sends it once, and what it says when the answer is odd, damaged,
//! late or missing.

use std::time::Duration;

use groupdesk::{
    api::{
        answer::Verdict,
        client::{Client, LARGEST_BODY, Reply},
        failure::{Call, CallError, ClientError, Lost, NotSent},
        rotation::rotation_answer,
        unclear::{RedirectHint, Unclear},
        wire::GroupRequest,
    },
    config::profile::{KeySource, Profile},
    domain::{
        group::UserGroupId,
        rotation::Answer,
        token::{Fingerprinter, Token},
    },
};
use serde_json::json;

use crate::support::faults::{self, Fault, Faults, http};

const KEY: &str = "canary-key-5c1";
const OLD: &str = "canary-token-old";
const NEW: &str = "canary-token-new";
/// Long enough for a busy machine; where something must be waited for, `SHORT` is.
const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(600);
const CALLS: [Call; 3] = [Call::GetOrCreate, Call::Update, Call::Rotate];
/// A mebibyte of zeros as a piece of a deflate stream that may be repeated for ever.
const ZEROS: &[u8] = include_bytes!("client/zeros.deflate");
const GZIP_HEAD: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\xff";
/// The answer of `good`, compressed.
const ANSWER: &[u8] = include_bytes!("client/answer.gz");

fn profile(base_url: String, timeout: Duration) -> Profile {
    Profile {
        name: "eu".into(),
        base_url,
        path: "/api/user".into(),
        api_key: KeySource::Env("KEY".into()),
        environment: None,
        production: false,
        read_only: false,
        timeout,
        connect_timeout: timeout,
        allow_plain_http: false,
        proxy_from_environment: false,
        read_properties: false,
    }
}

fn client_of(profile: &Profile) -> Client {
    Client::new(profile, KEY.into()).expect("a client")
}

fn client(server: &Faults, timeout: Duration) -> Client {
    client_of(&profile(server.base_url(), timeout))
}

fn id() -> UserGroupId {
    UserGroupId::parse("acme-eu").expect("a valid id")
}

fn request() -> GroupRequest {
    GroupRequest {
        name: Some("Acme".into()),
        user_group_id: "acme-eu".into(),
        ..GroupRequest::default()
    }
}

/// Calls, and makes sure of what holds for every outcome: no secret in any text.
async fn call(client: &Client, call: Call) -> Result<Reply, CallError> {
    let result = match call {
        Call::GetOrCreate => client.get_or_create(&request(), &id()).await,
        Call::Update => client.update(&request(), &id()).await,
        Call::Rotate => client.rotate(&Token::new(OLD.into()), Some(&id())).await,
    };
    let said = match &result {
        Ok(reply) => format!("{:?}", reply.verdict.explain()),
        Err(error) => error.to_string(),
    };
    let said = format!("{said} {result:?} {client:?}");
    assert!(!said.contains("canary"), "{said}");
    assert!(!said.contains("Token can"), "{said}");
    result
}

fn good() -> Fault {
    faults::json(
        "200 OK",
        &json!({"success": 1, "user_group": {"token": NEW, "provided_id": "acme-eu"}}),
    )
}

fn answer(result: &Result<Reply, CallError>) -> Answer {
    rotation_answer(result, &Fingerprinter::new(&[1; 32]))
}

#[tokio::test]
async fn every_operation_sends_its_method_headers_and_body() {
    let server = Faults::always(good()).await;
    let client = client(&server, LONG);
    for one in CALLS {
        let reply = call(&client, one).await.expect("an answer");
        assert!(matches!(reply.verdict, Verdict::Success(_)), "{reply:?}");
        assert_eq!(reply.status, 200);
        assert!(reply.latency > Duration::ZERO);
    }
    let group = r#"{"name":"Acme","user_group_id":"acme-eu"}"#;
    let token = format!(r#"{{"current_token":"{OLD}"}}"#);
    let expected = [("GET", group), ("PUT", group), ("POST", token.as_str())];
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    for (request, (method, body)) in requests.iter().zip(expected) {
        let head = request.head();
        assert!(
            head.starts_with(&format!("{method} /api/user HTTP/1.1\r\n")),
            "{head}"
        );
        assert_eq!(request.body(), body.as_bytes());
        for (name, value) in [
            ("authorization", format!("Token {KEY}")),
            ("content-type", "application/json".into()),
            ("accept", "application/json".into()),
            (
                "user-agent",
                format!("groupdesk/{}", env!("CARGO_PKG_VERSION")),
            ),
            ("accept-encoding", "gzip".into()),
            ("content-length", body.len().to_string()),
            ("host", server.address.to_string()),
        ] {
            assert_eq!(request.header(name), [value], "{method} {name}");
        }
    }
}

#[tokio::test]
async fn writes_never_share_a_connection() {
    let server = Faults::always(good()).await;
    let client = client(&server, LONG);
    let calls = [
        Call::GetOrCreate,
        Call::Rotate,
        Call::Rotate,
        Call::Update,
        Call::GetOrCreate,
        Call::Rotate,
    ];
    for one in calls {
        call(&client, one).await.expect("an answer");
    }
    let requests = server.requests();
    assert_eq!(requests.len(), calls.len());
    for (index, request) in requests.iter().enumerate() {
        if calls[index] == Call::GetOrCreate {
            continue;
        }
        let sharing = requests
            .iter()
            .filter(|other| other.connection == request.connection)
            .count();
        assert_eq!(sharing, 1, "{:?} shares its connection", calls[index]);
    }
}

#[tokio::test]
async fn redirects_are_shown_and_never_followed() {
    for status in [301, 302, 303, 307, 308] {
        for one in CALLS {
            let other = Faults::always(good()).await;
            let sent = if one == Call::Rotate { OLD } else { KEY };
            let elsewhere = format!(
                "http://user:canary@{}/{sent}?key={KEY}#canary",
                other.address
            );
            for location in ["/api/user/", "/elsewhere", elsewhere.as_str()] {
                let header = format!("Location: {location}");
                let server = Faults::always(Fault::Answer(http(
                    &format!("{status} Moved"),
                    &[&header],
                    "",
                )))
                .await;
                let result = call(&client(&server, LONG), one).await;
                assert_eq!(answer(&result), Answer::Unclear);
                let verdict = result.expect("an answer").verdict;
                let Verdict::Unclear(Unclear::Redirect { to, hint, .. }) = &verdict else {
                    panic!("{verdict:?}");
                };
                let to = to.as_deref().expect("a place");
                if location == elsewhere {
                    assert_eq!(to, format!("http://{}/[hidden]", other.address));
                } else {
                    assert_eq!(to, format!("{}{location}", server.base_url()));
                }
                let slash = location == "/api/user/";
                assert_eq!(*hint == RedirectHint::AddSlash, slash);
                assert_eq!(server.requests().len(), 1, "{status} {one:?} {location}");
                assert_eq!(other.connections(), 0, "{status} {one:?} {location}");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_lost_and_nothing_is_sent_again() {
    let whole = http("200 OK", &[], r#"{"success":1,"user_group":{}}"#);
    let mut garbled = http("200 OK", &["Content-Encoding: gzip"], ANSWER);
    let last = garbled.len() - 20;
    garbled[last] ^= 0xff;
    let faults = [
        ("reset", Fault::Reset, None, Lost::Broken),
        ("close", Fault::Close, None, Lost::Broken),
        (
            "half a head",
            Fault::AnswerAndClose(whole[..20].to_vec()),
            None,
            Lost::Broken,
        ),
        (
            "half a body",
            Fault::AnswerAndClose(whole[..whole.len() - 5].to_vec()),
            Some(200),
            Lost::Broken,
        ),
        (
            "no HTTP",
            Fault::AnswerAndClose(b"SSH-2.0-canary\r\n".to_vec()),
            None,
            Lost::Broken,
        ),
        (
            "damaged gzip",
            Fault::Answer(garbled),
            Some(200),
            Lost::Damaged,
        ),
    ];
    for (what, fault, status, why) in faults {
        for one in CALLS {
            let server = Faults::always(fault.clone()).await;
            let result = call(&client(&server, LONG), one).await;
            assert_eq!(answer(&result), Answer::Unclear, "{what}");
            let expected = CallError::Lost {
                call: one,
                status,
                why,
            };
            assert_eq!(result.expect_err("lost"), expected, "{what}");
            assert_eq!(server.requests().len(), 1, "{what} {one:?}");
            assert_eq!(server.connections(), 1, "{what} {one:?}");
        }
    }
}

#[tokio::test]
async fn a_connection_that_is_cut_while_sending_is_lost_not_unsent() {
    let blurt = Fault::Blurt(b"canary \x00\xff nonsense\r\n\r\n".to_vec());
    for fault in [Fault::ResetAtOnce, blurt] {
        for one in CALLS {
            let server = Faults::always(fault.clone()).await;
            let error = call(&client(&server, LONG), one).await.expect_err("lost");
            assert!(matches!(error, CallError::Lost { .. }), "{error:?}");
            assert_eq!(server.connections(), 1, "{one:?}");
        }
    }
}

#[tokio::test]
async fn silence_is_lost_after_the_time_out() {
    let whole = http("200 OK", &[], r#"{"success":1}"#);
    for (fault, status) in [
        (Fault::Hang, None),
        (Fault::AnswerAndHang(whole[..10].to_vec()), None),
        (
            Fault::AnswerAndHang(whole[..whole.len() - 1].to_vec()),
            Some(200),
        ),
    ] {
        let server = Faults::always(fault).await;
        let client = client(&server, SHORT);
        let [get, update, rotate] = CALLS.map(|one| call(&client, one));
        let (get, update, rotate) = tokio::join!(get, update, rotate);
        for (one, result) in CALLS.into_iter().zip([get, update, rotate]) {
            let error = result.expect_err("lost");
            let expected = CallError::Lost {
                call: one,
                status,
                why: Lost::TimedOut(SHORT),
            };
            assert_eq!(error, expected);
            assert!(error.to_string().contains("within 0.6 s"), "{error}");
        }
        assert_eq!(server.requests().len(), 3);
        server.all_over().await;
    }
}

#[tokio::test]
async fn the_body_of_a_redirect_is_not_waited_for() {
    let head = b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 9\r\n\r\n".to_vec();
    let server = Faults::always(Fault::AnswerAndHang(head)).await;
    let reply = call(&client(&server, LONG), Call::Rotate)
        .await
        .expect("an answer");
    assert_eq!(reply.status, 302);
    assert!(matches!(
        reply.verdict,
        Verdict::Unclear(Unclear::Redirect { .. })
    ));
}

#[tokio::test]
async fn no_connection_means_nothing_was_sent() {
    // Bound but not listening: refused, and nobody else can take the port meanwhile.
    let taken = tokio::net::TcpSocket::new_v4().expect("a socket");
    taken
        .bind("127.0.0.1:0".parse().expect("an address"))
        .expect("a port");
    let host = taken.local_addr().expect("an address").to_string();
    for one in CALLS {
        let client = client_of(&profile(format!("http://{host}"), LONG));
        let result = call(&client, one).await;
        assert_eq!(answer(&result), Answer::NotSent);
        let error = result.expect_err("refused");
        let why = NotSent::Refused(host.clone());
        let expected = CallError::NotSent {
            host: host.clone(),
            why,
        };
        assert_eq!(error, expected);
        assert!(error.to_string().contains("nothing was sent"), "{error}");
    }
}

#[tokio::test]
async fn a_name_that_cannot_exist_means_nothing_was_sent() {
    // A label of more than 63 characters is refused before anybody is asked.
    let host = format!("{}.localhost", "a".repeat(70));
    let client = client_of(&profile(format!("http://{host}"), LONG));
    let error = call(&client, Call::Rotate).await.expect_err("no such name");
    let why = NotSent::Name(host.clone());
    assert_eq!(error, CallError::NotSent { host, why });
}

#[tokio::test]
async fn a_connection_that_is_never_made_is_not_sent_even_when_the_time_is_up() {
    // A queue for one connection that nobody takes: once it is full, attempts are not answered at all.
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket
        .bind("127.0.0.1:0".parse().expect("an address"))
        .expect("a port");
    let listener = socket.listen(0).expect("listens");
    let address = listener.local_addr().expect("an address");
    let mut waiting = Vec::new();
    while let Ok(stream) =
        tokio::time::timeout(SHORT, tokio::net::TcpStream::connect(address)).await
    {
        waiting.push(stream.expect("connected"));
        assert!(waiting.len() < 64, "the queue never fills");
    }
    let client = client_of(&profile(format!("http://{address}"), SHORT));
    let result = call(&client, Call::Rotate).await;
    assert_eq!(answer(&result), Answer::NotSent);
    let error = result.expect_err("no connection");
    let CallError::NotSent {
        why: NotSent::TimedOut { after, .. },
        ..
    } = error
    else {
        panic!("{error:?}");
    };
    assert!(after < SHORT);
}

#[tokio::test]
async fn a_failed_handshake_means_nothing_was_sent() {
    let server = Faults::always(Fault::Blurt(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())).await;
    let profile = profile(format!("https://{}", server.address), LONG);
    // A machine without certificates of authorities must say so instead.
    let client = match Client::new(&profile, KEY.into()) {
        Ok(client) => client,
        Err(error) => {
            assert_eq!(error, ClientError::Tls);
            return assert!(error.to_string().contains("ca-certificates"));
        }
    };
    let error = call(&client, Call::Rotate).await.expect_err("no handshake");
    let secure = matches!(
        &error,
        CallError::NotSent {
            why: NotSent::Tls { .. },
            ..
        }
    );
    assert!(secure, "{error:?}");
}

#[tokio::test]
async fn a_compressed_answer_is_read() {
    let bytes = http("200 OK", &["Content-Encoding: gzip"], ANSWER);
    let server = Faults::always(Fault::Answer(bytes)).await;
    let reply = call(&client(&server, LONG), Call::Rotate)
        .await
        .expect("an answer");
    let Verdict::Success(group) = reply.verdict else {
        panic!("{reply:?}");
    };
    assert_eq!(group.token.expose(), NEW);
}

#[tokio::test]
async fn a_body_is_read_up_to_the_limit_and_not_beyond() {
    let answer =
        json!({"success": 1, "user_group": {"token": NEW, "provided_id": "acme-eu"}}).to_string();
    for (size, fits) in [(LARGEST_BODY, true), (LARGEST_BODY + 1, false)] {
        let body = answer.clone() + &" ".repeat(size - answer.len());
        let server = Faults::always(Fault::Answer(http("200 OK", &[], body))).await;
        let reply = call(&client(&server, LONG), Call::GetOrCreate)
            .await
            .expect("an answer");
        let too_large = Verdict::Unclear(Unclear::TooLarge {
            status: 200,
            limit: LARGEST_BODY,
        });
        assert_eq!(matches!(reply.verdict, Verdict::Success(_)), fits);
        assert_eq!(reply.verdict == too_large, !fits);
    }
}

#[tokio::test]
async fn a_flood_and_a_bomb_are_cut_off() {
    // 256 MiB of garbage, and 100 GiB out of 100 MiB: neither may be taken in.
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
    let flood = Fault::Flood {
        head: format!("{head}\r\n").into_bytes(),
        piece: vec![b'x'; 1024 * 1024],
        times: 256,
    };
    let bomb = Fault::Flood {
        head: [
            format!("{head}Content-Encoding: gzip\r\n\r\n").as_bytes(),
            GZIP_HEAD,
        ]
        .concat(),
        piece: ZEROS.to_vec(),
        times: 100_000,
    };
    for (fault, whole) in [(flood, 256 * 1024 * 1024), (bomb, 100_000 * ZEROS.len())] {
        for one in CALLS {
            let server = Faults::always(fault.clone()).await;
            let reply = call(&client(&server, LONG), one).await.expect("an answer");
            let cut = matches!(reply.verdict, Verdict::Unclear(Unclear::TooLarge { .. }));
            assert!(cut, "{reply:?}");
            server.all_over().await;
            assert!(server.flooded() < whole, "all of it was taken in");
        }
    }
}

#[tokio::test]
async fn a_megabyte_of_garbage_is_unclear() {
    let garbage: Vec<u8> = (0..1_000_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    let server = Faults::always(Fault::Answer(http("200 OK", &[], garbage))).await;
    let result = call(&client(&server, LONG), Call::Rotate).await;
    assert_eq!(answer(&result), Answer::Unclear);
    let verdict = result.expect("an answer").verdict;
    assert!(matches!(verdict, Verdict::Unclear(Unclear::NotJson { .. })));
}

#[tokio::test]
async fn the_words_of_the_service_come_through_without_what_was_sent() {
    let body =
        json!({"error": {"code": "retired", "message": format!("{OLD} is not {KEY}\u{202e}")}});
    let bytes = http("429 Slow", &["Retry-After: 7"], body.to_string());
    let server = Faults::always(Fault::Answer(bytes)).await;
    let reply = call(&client(&server, LONG), Call::Rotate)
        .await
        .expect("an answer");
    let expected = Verdict::Refused {
        status: 429,
        stated: true,
        code: Some("retired".into()),
        words: Some("[hidden] is not [hidden]\\u{202e}".into()),
        retry_after: Some(Duration::from_secs(7)),
    };
    assert_eq!(reply.verdict, expected);
    let said = reply.verdict.explain().expect("a text");
    assert!(said.ends_with("wait 7 s, then try again"), "{said}");
}

#[tokio::test]
async fn a_refusal_by_a_proxy_is_no_refusal_by_the_service() {
    let page = http(
        "403 Forbidden",
        &["Content-Type: text/html"],
        "<html>no</html>",
    );
    let server = Faults::start([
        Fault::Answer(page),
        faults::json("403 Forbidden", &json!({"message": "no"})),
    ])
    .await;
    let client = client(&server, LONG);
    assert_eq!(answer(&call(&client, Call::Rotate).await), Answer::Unclear);
    assert_eq!(answer(&call(&client, Call::Rotate).await), Answer::Refused);
}

#[test]
fn a_key_that_cannot_be_sent_is_refused_without_quoting_it() {
    let profile = profile("http://127.0.0.1:9".into(), LONG);
    let refused = |key: &str| Client::new(&profile, key.into()).expect_err("refused");
    assert_eq!(refused(" \n"), ClientError::NoKey("eu".into()));
    let error = refused("canary\n");
    assert_eq!(error, ClientError::Key("eu".into()));
    assert!(!format!("{error} {error:?}").contains("canary"));
}
