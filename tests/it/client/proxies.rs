//! Proxies: those named by the environment, which are not used, and those in between, which drop, strip, refuse and
//! cache.

mod environment;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
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
        faults::{Request, http, read_request},
        proxy::{ProxyFault, Then},
        stage::{Stage, Task, created, run},
        world::Side,
    },
};

enum Way {
    /// The service gets these bytes.
    On(Vec<u8>),
    /// The service gets nothing; these bytes are answered.
    Back(Vec<u8>),
}

/// What a proxy in between does with a request; whether it is a get.
type Habit = fn(&Request, bool) -> Way;

/// The words that name the cause; those for a read (a create says less); the exit code of doctor and its words.
#[rustfmt::skip] // A table: one case per line.
const HABITS: [(&str, Habit, &str, &str, i32, &str); 13] = [
    ("drops bodies of gets", |request, get| without(request, "", !get), DROPS, "", 1, DOCTOR),
    ("drops bodies", |request, _| without(request, "", false), DROPS, "", 0, ""),
    ("strips the key", |request, _| without(request, "authorization", true),
        "API key|whether a proxy removes the key from requests", "", 4, "does not accept the API key"),
    ("strips the type", |request, _| without(request, "content-type", true),
        "(415)|a proxy", "whether a proxy changes requests", 0, ""),
    // An HTML page, as a content delivery network sends it.
    ("forbids", |_, _| page("403 Forbidden"), REFUSED, FIREWALL, 1, "proxy"),
    ("forbids gets", |request, get| gets(request, get, page("403 Forbidden")), REFUSED, FIREWALL, 1, DOCTOR),
    ("wants a password", |_, _| page("407 Proxy Authentication Required"), "proxy|407", "", 0, ""),
    ("wants a length", |_, _| page("411 Length Required"), "411|proxy", "", 0, ""),
    ("is a bad gateway", |_, _| page("502 Bad Gateway"), "HTTP 502", "", 0, ""),
    ("asks to sign in", |_, _| page("200 OK"),
        "a web page instead of JSON|a proxy, a login page or a wrong path", "", 1, "a proxy, a login page or a wrong path"),
    // One answer for every get, whatever its body asks for.
    ("remembers gets", |request, get| gets(request, get, success(Some("somebody-else"), false)), CACHE, "", 1, DOCTOR),
    ("remembers", |_, _| success(Some("somebody-else"), false), CACHE, "", 0, ""),
    // Bodies of gets are dropped, and the service takes the rest for a creation.
    ("makes nameless", |request, get| gets(request, get, success(None, true)),
        "does not name its group|drops request bodies", "", 1, DOCTOR),
];

const DROPS: &str = "a proxy may drop the body of a GET|doctor --id";
const DOCTOR: &str = "a proxy may drop the body of a GET";
const REFUSED: &str = "the service or a proxy refused";
const FIREWALL: &str = "(403)|a proxy or a firewall may be in between";
const CACHE: &str = "about group \"somebody-else\"|responds from a cache";

/// The answer to gets; everything else is passed on.
fn gets(request: &Request, is_get: bool, answer: Way) -> Way {
    if is_get {
        answer
    } else {
        without(request, "", true)
    }
}

fn page(status: &str) -> Way {
    let page = "<html><head><title>Attention Required!</title></head></html>";
    Way::Back(http(
        status,
        &["Content-Type: text/html", "Server: cdn"],
        page,
    ))
}

fn success(id: Option<&str>, new: bool) -> Way {
    let group = json!({"team_id": 9, "token": "token-of-another", "name": "Other", "provided_id": id, "properties": null});
    let body = json!({"success": 1, "new_user_group": new, "user_group": group}).to_string();
    let lines = ["Content-Type: application/json", "Age: 300", "X-Cache: HIT"];
    Way::Back(http("200 OK", &lines, body))
}

/// The request without its body or one of its headers.
fn without(request: &Request, header: &str, body: bool) -> Way {
    let is_kept = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default().to_lowercase();
        !line.is_empty() && name != header && (body || name != "content-length")
    };
    let head = request.head();
    let lines = head.lines().filter(is_kept);
    let head: String = lines.flat_map(|line| [line, "\r\n"]).collect();
    let body = if body { request.body() } else { b"" };
    Way::On([head.as_bytes(), b"Connection: close\r\n\r\n", body].concat())
}

/// A proxy in front of the service; stops when dropped.
struct Proxy {
    base_url: String,
    /// How many changes it passed on.
    changes: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    async fn before(service: SocketAddr, habit: Habit) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let changes = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&changes);
        let accepting = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let counted = Arc::clone(&counted);
                tokio::spawn(async move {
                    let request = read_request(&mut stream, 0).await?;
                    let is_get = request.head().starts_with("GET ");
                    let answer = match habit(&request, is_get) {
                        Way::Back(bytes) => bytes,
                        Way::On(bytes) => {
                            counted.fetch_add(usize::from(!is_get), Ordering::SeqCst);
                            forward(service, &bytes).await
                        }
                    };
                    let _ = stream.write_all(&answer).await;
                    stream.shutdown().await.ok()
                });
            }
        });
        Self {
            base_url: format!("http://{address}"),
            changes,
            accepting,
        }
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
        Ok(done) => done.warnings.iter().map(Warning::to_string).collect(),
        Err(failure) => failure.to_string(),
    }
}

#[tokio::test]
async fn nothing_is_stored_and_the_cause_is_named() {
    for (habit, does, says, more, code, doctor) in HABITS {
        let stage = Stage::new(4).await;
        let proxy = Proxy::before(stage.world.address(), does).await;
        let installation = stage.through(&proxy.base_url, LONG);
        for (errand, group) in Task::ALL.into_iter().zip(&stage.groups) {
            let (known, token) = (stage.known().await, stage.token(group));
            let result = errand.run(&installation, group).await;
            let said = text_of(&result);
            let what = format!("{habit} {errand:?}: {result:?}\n{said}");
            let more = if errand == Task::Create { "" } else { more };
            let mut words = says.split('|').chain(more.split('|'));
            assert!(words.all(|words| said.contains(words)), "{what}");
            assert!(!said.contains("token-of-another"), "{what}");
            assert!(result.is_err(), "{what}");
            assert_eq!(stage.known().await, known, "{what}: nothing is stored");
            assert_eq!(stage.token(group), token, "{what}: nothing is rotated");
            let new = stage.world.find_stored(Side::Testing, &created(group));
            assert_eq!(new, None, "{what}: nothing is created");
        }
        let changes = proxy.changes.load(Ordering::SeqCst);
        assert_eq!(changes, 0, "{habit}: a read came before");
        if !doctor.is_empty() {
            let config = stage.config(&proxy.base_url, "");
            let arguments = ["doctor", "--id", stage.groups[0].as_str()].map(str::to_owned);
            let (ended, said) = run(stage.program(&config, &arguments)).await;
            assert_eq!(ended, code, "{habit}: {said}");
            assert!(in_one_line(&said).contains(doctor), "{habit}: {said}");
        }
    }
}

/// A cache that keeps answering with the group as it was before the rotation.
#[tokio::test]
async fn a_cached_answer_does_not_bring_back_a_dead_token() {
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
    let cached = ProxyFault::swallowed(Then::Instead(cached));
    stage.proxy.next("GET", cached.clone());
    let stale = Task::Get.run(&stage.ana, group).await.expect("an answer");
    let is_told = stale.warnings.contains(&Warning::StaleAnswer);
    assert!(is_told, "{:?}", stale.warnings);
    assert!(stale.token().is_none(), "a dead token is not shown");
    let fingerprint = |known: &str| {
        let at = known.find("fingerprint").expect("one");
        known[at..at + 80].to_owned()
    };
    assert_eq!(fingerprint(&stage.known().await), fingerprint(&known));
    // And a rotation based on that answer is not sent.
    stage.proxy.next("GET", cached);
    let failure = Task::Rotate.run(&stage.ana, group).await;
    let failure = failure.expect_err("not sent").to_string();
    assert!(failure.contains("older token"), "{failure}");
    assert_eq!(stage.proxy.count("POST"), 1);
}
