//! No answer: what certainly never left, and what may have taken effect.

use std::time::Duration;

use groupdesk::{
    api::{
        client::Client,
        failure::{Call, CallError, ClientError, Lost, NotSent},
        send_by::SendBy,
    },
    domain::rotation::RotateOutcome,
};

use super::{CALLS, KEY, LONG, answer, bodies::PACKED, call, client, client_of, profile};
use crate::support::faults::{Fault, Faults, http};

/// Where something must be waited for.
const SHORT: Duration = Duration::from_millis(600);

#[tokio::test]
async fn an_answer_that_breaks_off_is_lost_and_nothing_is_sent_again() {
    let whole = http("200 OK", &[], r#"{"success":1,"user_group":{}}"#);
    let mut garbled = http("200 OK", &["Content-Encoding: gzip"], PACKED);
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
            assert_eq!(answer(&result), RotateOutcome::Unclear, "{what}");
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
        assert_eq!(answer(&result), RotateOutcome::NotSent);
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
    let host = format!("{}.invalid", "a".repeat(70));
    let mut profile = profile(format!("http://{host}"), LONG);
    profile.allow_plain_http = true;
    let client = client_of(&profile);
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
    assert_eq!(answer(&result), RotateOutcome::NotSent);
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

/// The machine may have slept while the connection was made: others have settled by then that nothing was sent.
#[tokio::test]
async fn what_connects_too_late_sends_not_a_byte() {
    for one in [Call::Create, Call::Update, Call::Rotate] {
        let server = Faults::always(Fault::Close).await;
        let late = client(&server, LONG).until(SendBy::new(|| true));
        let result = call(&late, one).await;
        assert_eq!(answer(&result), RotateOutcome::NotSent, "{one:?}");
        let error = result.expect_err("not sent");
        let late = matches!(
            &error,
            CallError::NotSent {
                why: NotSent::Late(_),
                ..
            }
        );
        assert!(late, "{error:?}");
        assert_eq!(server.requests().len(), 0, "{one:?}");
        let in_time = client(&server, LONG).until(SendBy::new(|| false));
        assert_eq!(answer(&call(&in_time, one).await), RotateOutcome::Unclear);
        assert_eq!(server.requests().len(), 1, "{one:?}");
    }
}
