//! Proxies: those named by the environment, which are not used, and those in between, which drop, strip, refuse and
//! cache.

mod environment;

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use groupdesk::operations::{Done, Failure, Warning};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use crate::{
    client::LONG,
    support::{
        assertions::in_one_line,
        cases::cases,
        faults::{Request, http, read_request},
        stage::{Stage, Task, created, run},
        world::Side,
    },
};

cases! {
    /// What a proxy in between does.
    enum ProxyBehaviour {
        DropsBodiesOfGets,
        DropsBodies,
        StripsAuthorization,
        StripsContentType,
        /// An HTML page, as a content delivery network sends it.
        Forbids,
        ForbidsGets,
        WantsAPassword,
        WantsALength,
        BadGateway,
        SignIn,
        /// One answer for every get, whatever its body asks for.
        RemembersGets,
        Remembers,
        /// Bodies of gets are dropped, and the service takes the rest for a creation.
        MakesNameless,
    }
}

enum Way {
    /// The service gets these bytes.
    On(Vec<u8>),
    /// The service gets nothing; these bytes are answered.
    Back(Vec<u8>),
}

const PAGE: &str = "Content-Type: text/html";

fn page(status: &str) -> Way {
    let page = "<html><head><title>Attention Required!</title></head></html>";
    Way::Back(http(status, &[PAGE, "Server: cdn"], page))
}

fn success(id: Option<&str>, new: bool) -> Way {
    let group = json!({"team_id": 9, "token": "token-of-another", "name": "Other", "provided_id": id, "properties": null});
    let body = json!({"success": 1, "new_user_group": new, "user_group": group}).to_string();
    let lines = ["Content-Type: application/json", "Age: 300", "X-Cache: HIT"];
    Way::Back(http("200 OK", &lines, body))
}

/// The request without its body or one of its headers.
fn without(request: &Request, header: Option<&str>, body: bool) -> Way {
    let is_left_out = |line: &str| {
        let name = line.split(':').next().unwrap_or_default();
        let length = name.eq_ignore_ascii_case("content-length");
        header.is_some_and(|header| name.eq_ignore_ascii_case(header)) || !body && length
    };
    let head = request.head();
    let lines = head
        .lines()
        .filter(|line| !line.is_empty() && !is_left_out(line));
    let mut bytes: Vec<u8> = lines
        .flat_map(|line| format!("{line}\r\n").into_bytes())
        .collect();
    bytes.extend_from_slice(b"Connection: close\r\n\r\n");
    if body {
        bytes.extend_from_slice(request.body());
    }
    Way::On(bytes)
}

impl ProxyBehaviour {
    fn way(self, request: &Request) -> Way {
        let is_get = request.head().starts_with("GET ");
        match self {
            Self::DropsBodiesOfGets => without(request, None, !is_get),
            Self::DropsBodies => without(request, None, false),
            Self::StripsAuthorization => without(request, Some("authorization"), true),
            Self::StripsContentType => without(request, Some("content-type"), true),
            Self::Forbids => page("403 Forbidden"),
            Self::ForbidsGets if is_get => page("403 Forbidden"),
            Self::WantsAPassword => page("407 Proxy Authentication Required"),
            Self::WantsALength => page("411 Length Required"),
            Self::BadGateway => page("502 Bad Gateway"),
            Self::SignIn => page("200 OK"),
            Self::RemembersGets if is_get => success(Some("somebody-else"), false),
            Self::Remembers => success(Some("somebody-else"), false),
            Self::MakesNameless if is_get => success(None, true),
            Self::ForbidsGets | Self::RemembersGets | Self::MakesNameless => {
                without(request, None, true)
            }
        }
    }

    /// The words that name the cause, for a read and for a change.
    fn says(self, errand: Task) -> &'static [&'static str] {
        let reads = errand == Task::Get || errand.reads_before();
        match self {
            Self::DropsBodiesOfGets | Self::DropsBodies => {
                &["a proxy may drop the body of a GET", "doctor --id"]
            }
            Self::StripsAuthorization => {
                &["API key", "whether a proxy removes the key from requests"]
            }
            Self::StripsContentType if reads => &["(415)", "whether a proxy changes requests"],
            Self::StripsContentType => &["(415)", "a proxy"],
            Self::Forbids | Self::ForbidsGets if reads => &[
                "the service or a proxy refused (403)",
                "a proxy or a firewall may be in between",
            ],
            Self::Forbids => &["the service or a proxy refused (HTTP 403)"],
            Self::ForbidsGets => &["the service or a proxy refused"],
            Self::WantsAPassword => &["proxy", "407"],
            Self::WantsALength => &["411", "proxy"],
            Self::BadGateway => &["HTTP 502"],
            Self::SignIn => &[
                "a web page instead of JSON",
                "a proxy, a login page or a wrong path",
            ],
            Self::RemembersGets | Self::Remembers => {
                &["about group \"somebody-else\"", "responds from a cache"]
            }
            Self::MakesNameless => &["does not name its group", "drops request bodies"],
        }
    }
}

/// A proxy in front of the service; stops when dropped.
struct Proxy {
    address: SocketAddr,
    /// Methods of the requests that it passed on.
    passed: Arc<Mutex<Vec<String>>>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    async fn before(service: SocketAddr, habit: ProxyBehaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let passed = Arc::<Mutex<Vec<String>>>::default();
        let accepting = tokio::spawn({
            let passed = passed.clone();
            async move {
                while let Ok((mut stream, _)) = listener.accept().await {
                    let passed = passed.clone();
                    tokio::spawn(async move {
                        let Some(request) = read_request(&mut stream, 0).await else {
                            return;
                        };
                        let answer = match habit.way(&request) {
                            Way::Back(bytes) => bytes,
                            Way::On(bytes) => {
                                let head = request.head();
                                let method = head.split(' ').next().unwrap_or_default();
                                passed.lock().expect("no panic").push(method.to_owned());
                                forward(service, &bytes).await
                            }
                        };
                        let _ = stream.write_all(&answer).await;
                        let _ = stream.shutdown().await;
                    });
                }
            }
        });
        Self {
            address,
            passed,
            accepting,
        }
    }

    fn passed(&self, method: &str) -> usize {
        let passed = self.passed.lock().expect("no panic");
        passed.iter().filter(|one| *one == method).count()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn forward(service: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(service).await.expect("it runs");
    stream.write_all(request).await.expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("it answers");
    answer
}

/// Everything that a person is told.
fn text_of(result: &Result<Done, Failure>) -> String {
    match result {
        Ok(done) => done
            .warnings
            .iter()
            .map(Warning::to_string)
            .collect::<Vec<_>>()
            .join("; "),
        Err(failure) => failure.to_string(),
    }
}

#[tokio::test]
async fn nothing_is_stored_and_the_cause_is_named() {
    let mut cases = 0;
    for habit in ProxyBehaviour::ALL.iter().copied() {
        let stage = Stage::new(4).await;
        let proxy = Proxy::before(stage.world.address(), habit).await;
        let installation = stage.through(&format!("http://{}", proxy.address), LONG);
        for (errand, group) in Task::ALL.into_iter().zip(&stage.groups) {
            cases += 1;
            let (known, token) = (stage.known().await, stage.token(group));
            let result = errand.run(&installation, group).await;
            let said = text_of(&result);
            let what = format!("{habit:?} {errand:?}: {result:?}\n{said}");
            assert!(
                habit.says(errand).iter().all(|says| said.contains(says)),
                "{what}"
            );
            assert!(!said.contains("token-of-another"), "{what}");
            assert!(result.is_err(), "{what}");
            assert_eq!(stage.known().await, known, "{what}: nothing is stored");
            assert_eq!(stage.token(group), token, "{what}: nothing is rotated");
            let new = stage.world.find_stored(Side::Testing, &created(group));
            assert_eq!(new, None, "{what}: nothing is created");
            let passed = proxy.passed("POST") + proxy.passed("PUT");
            assert_eq!(passed, 0, "{what}: a read came before");
        }
    }
    assert!(cases >= 52, "{cases}");
}

/// A cache that keeps answering with the group as it was before the rotation.
#[tokio::test]
async fn a_cached_answer_does_not_bring_back_a_dead_token() {
    use crate::support::proxy::{ProxyFault, Then};

    let stage = Stage::new(1).await;
    let group = stage.groups[0].as_str();
    let old = stage.token(group);
    let done = Task::Rotate.run(&stage.ana, group).await.expect("rotated");
    let new = done.token().cloned().expect("a token");
    assert_eq!(new.expose(), stage.token(group));
    let known = stage.known().await;
    let body = json!({"success": 1, "new_user_group": false,
        "user_group": {"team_id": 1, "token": old, "name": group, "provided_id": group}});
    let cached = http("200 OK", &["Age: 60"], body.to_string());
    stage
        .proxy
        .next("GET", ProxyFault::swallowed(Then::Instead(cached.clone())));
    let stale = Task::Get.run(&stage.ana, group).await.expect("an answer");
    assert!(
        stale.warnings.contains(&Warning::StaleAnswer),
        "{:?}",
        stale.warnings
    );
    assert!(stale.token().is_none(), "a dead token is not shown");
    let fingerprint = |known: &str| {
        let at = known.find("fingerprint").expect("one");
        known[at..at + 80].to_owned()
    };
    assert_eq!(fingerprint(&stage.known().await), fingerprint(&known));
    // And a rotation based on that answer is not sent.
    stage
        .proxy
        .next("GET", ProxyFault::swallowed(Then::Instead(cached)));
    let failure = Task::Rotate
        .run(&stage.ana, group)
        .await
        .expect_err("not sent");
    assert!(failure.to_string().contains("older token"), "{failure}");
    assert_eq!(stage.proxy.count("POST"), 1);
}

#[tokio::test]
async fn doctor_names_the_cause_too() {
    let mut cases = 0;
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (ProxyBehaviour::DropsBodiesOfGets, 1, "a proxy may drop the body of a GET"),
        (ProxyBehaviour::ForbidsGets, 1, "a proxy may drop the body of a GET"),
        (ProxyBehaviour::RemembersGets, 1, "a proxy may drop the body of a GET"),
        (ProxyBehaviour::MakesNameless, 1, "a proxy may drop the body of a GET"),
        (ProxyBehaviour::StripsAuthorization, 4, "does not accept the API key"),
        (ProxyBehaviour::Forbids, 1, "proxy"),
        (ProxyBehaviour::SignIn, 1, "a proxy, a login page or a wrong path"),
    ];
    for (habit, code, says) in table {
        let stage = Stage::new(1).await;
        let proxy = Proxy::before(stage.world.address(), habit).await;
        let config = stage.config(&format!("http://{}", proxy.address), "");
        let arguments = ["doctor", "--id", stage.groups[0].as_str()].map(str::to_owned);
        let (ended, said) = run(stage.program(&config, &arguments)).await;
        assert_eq!(ended, code, "{habit:?}: {said}");
        let said = in_one_line(&said);
        assert!(said.contains(says), "{habit:?}: {said}");
        cases += 1;
    }
    assert_eq!(cases, 7);
}
