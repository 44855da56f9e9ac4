//! Checks the way to the service: the key, name resolution, connection, TLS, the answer to a request that can create
//! nothing, and the clock of the service; for a known group also whether the body of a get arrives.

use secrecy::SecretString;
use tokio::sync::mpsc;

use super::{Area, DoctorRequest, Report, directory::UsableDirectory};
use crate::{
    api::{
        address::Address,
        client::Client,
        failure::ClientError,
        probe::{Finding, Probe},
        recording::{ExchangeKind, Listener, RecordedExchange},
    },
    config::{DirectoryAt, KeySource, Settings},
    directory::{BindingPreview, preview_binding_in},
    domain::token::Fingerprinter,
    intake::{self, proxy::Proxy},
    operations::{PlaceProblem, open_directory, prelude::*, profiles::places::caller},
};

/// A clock that is off by more confuses history and certificates.
const CLOCK_LIMIT: Duration = Duration::from_mins(1);
/// A step that takes longer is reported as slow: a person waits for each one.
const SLOW: Duration = Duration::from_secs(2);

const NEEDS_AN_ID: &str =
    "To test it, run `groupdesk doctor --id ID` with the ID of a known group.";

pub(super) async fn check(
    request: &DoctorRequest,
    settings: &Settings,
    profile: &Profile,
    directory: Option<&UsableDirectory>,
    report: &mut Report,
) {
    if directory.is_some_and(|directory| directory.is_viewer) {
        let found = match profile.api_key {
            KeySource::Unset => "there is none, and a viewer of the directory needs none",
            _ => "not read: you are a viewer of the directory, and a viewer needs none",
        };
        let key = report.about(Area::Key);
        key.note(found, "The service was not contacted.");
        return;
    }
    let Some((client, key, mut exchanges)) = client(request, profile, report).await else {
        return;
    };
    let begun = request.clock.now();
    let probe = client.probe().await;
    let ended = request.clock.now();
    if let Some(directory) = directory.filter(|directory| directory.is_current) {
        let is_good = probe.finding.is_good();
        place(
            request,
            settings,
            profile,
            (&key, is_good),
            &directory.at,
            report,
        )
        .await;
    }
    let mut answer = None;
    while let Ok(exchange) = exchanges.try_recv() {
        if let Some(listener) = &request.listener {
            listener.tell(exchange.clone());
        }
        if exchange.kind != ExchangeKind::InFlight {
            answer.get_or_insert(exchange);
        }
    }
    steps(&probe, report);
    judge(&probe, report);
    if let Some(answer) = &answer {
        clock(answer, (begun, ended), report);
        between(answer, report);
    }
    match (&request.id, probe.finding.is_good()) {
        (None, _) => report.about(Area::Service).note(
            "whether a GET body reaches the service was not tested: a get of an unknown ID could create a group",
            NEEDS_AN_ID,
        ),
        (Some(_), false) => report.about(Area::Service).note(
            "whether a GET body reaches the service was not tested: the service has a problem",
            "Fix that first, then run doctor again.",
        ),
        (Some(id), true) => get(request, settings, profile, directory, id, report).await,
    }
}

/// Returns a client with the key of the profile, the key, and a recording of its exchanges.
async fn client(
    request: &DoctorRequest,
    profile: &Profile,
    report: &mut Report,
) -> Option<(
    Client,
    SecretString,
    mpsc::UnboundedReceiver<RecordedExchange>,
)> {
    proxies(profile, report);
    let source = &profile.api_key;
    let key = match source.read(&request.overrides.env).await {
        Ok(key) => key,
        Err(error) => {
            let stored = format!(
                "To store it, run `groupdesk profile key {}`; a reboot removes it.",
                quoted(&visible(&profile.name))
            );
            let advice = match source {
                KeySource::Command(_) => "Run the command yourself to see its output.",
                KeySource::Keyring(_) => &stored,
                KeySource::Env(_) | KeySource::File(_) | KeySource::Unset => {
                    "The service was not contacted."
                }
            };
            report
                .about(Area::Key)
                .problem(error.without_words(), advice);
            return None;
        }
    };
    let client = match Client::new(profile, key.clone()) {
        Ok(client) => client,
        Err(error) => {
            let area = match error {
                ClientError::NoKey(_) | ClientError::Key(_) => Area::Key,
                ClientError::Unusable(_) => Area::Configuration,
            };
            let advice = "The service was not contacted.";
            report.about(area).problem(error.to_string(), advice);
            return None;
        }
    };
    report
        .about(Area::Key)
        .ok(format!("can be read from {source}"));
    let (to, exchanges) = mpsc::unbounded_channel();
    Some((
        client.with_listener(Some(Listener::new(0, to))),
        key,
        exchanges,
    ))
}

fn steps(probe: &Probe, report: &mut Report) {
    for step in &probe.steps {
        let Ok(result) = &step.result else {
            // The text of the probe says what failed.
            continue;
        };
        let found = format!("{}: {result}, {} ms", step.what, step.took.as_millis());
        if step.took > SLOW {
            report.about(Area::Network).warning(
                format!("{found}; that is slow"),
                "Run doctor again; if the result is the same, ask the administrator of the network or the service.",
            );
        } else {
            report.about(Area::Network).ok(found);
        }
    }
}

/// Says what the environment says about proxies, and what the profile makes of it. Passwords are never shown.
fn proxies(profile: &Profile, report: &mut Report) {
    // What is wrong with the address is reported with the client.
    let Ok(address) = Address::of(profile) else {
        return;
    };
    let url = &address.url;
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(443);
    let is_used = profile.proxy_from_environment && !address.loopback;
    match Proxy::of(url.scheme(), host, port, intake::text::variable) {
        Ok(Some(proxy)) if is_used => report.about(Area::Network).note(
            format!(
                "{} sets the proxy {}: requests go through it",
                proxy.variable, proxy.address
            ),
            "Remove proxy_from_environment from the profile if none is needed.",
        ),
        Ok(Some(proxy)) => {
            let (why, next) = if address.loopback {
                (
                    "the service is on this machine",
                    "Nothing needs to be done: no proxy reaches it.",
                )
            } else {
                (
                    "proxy_from_environment is not set",
                    "Set proxy_from_environment = true in the profile if the service can only be reached through it.",
                )
            };
            let (variable, at) = (proxy.variable, proxy.address);
            let text = format!("{variable} sets the proxy {at}: not used, because {why}");
            report.about(Area::Network).note(text, next);
        }
        Ok(None) if is_used => report.about(Area::Network).note(
            "proxy_from_environment is set, but the environment has no proxy for this host",
            "Remove proxy_from_environment from the profile if none is needed.",
        ),
        Ok(None) => {}
        // If it is used, no client could be made, which is a problem of its own.
        Err(_) if is_used => {}
        Err(wrong) => report.about(Area::Network).note(
            format!("{} {}; it is not used", wrong.variable, wrong.why),
            "Correct or unset it.",
        ),
    }
}

fn judge(probe: &Probe, report: &mut Report) {
    let check = "Fix it in the profile, then run `groupdesk profile check`.";
    let found = probe.text.as_str();
    match probe.finding {
        Finding::Accepted => report.about(Area::Service).ok(found),
        Finding::MayNotChange => report.about(Area::Service).note(
            found,
            "Set read_only = true in the profile, so that groupdesk offers nothing that would be refused.",
        ),
        Finding::KeyRefused => report.about(Area::Key).problem(
            found,
            "Request a new key, or set the right source as api_key in the profile.",
        ),
        Finding::Busy => report.about(Area::Service).warning(found, "Wait a while, then run doctor again."),
        Finding::NotFound
        | Finding::Slash
        | Finding::Redirected
        | Finding::WebPage
        | Finding::Strange => report.about(Area::Service).problem(found, check),
        Finding::ServiceFailed => report.about(Area::Service).problem(
            found,
            "Run doctor again later; if the result is the same, inform the administrator of the service.",
        ),
        Finding::NoAnswer | Finding::NotReached => report.about(Area::Network).problem(
            found,
            "Run doctor on another machine, to find out whether the network or the service is at fault.",
        ),
    }
}

/// Compares the Date header with our clock; the service may have written it at any moment of the exchange.
fn clock(answer: &RecordedExchange, (begun, ended): (Timestamp, Timestamp), report: &mut Report) {
    let date = answer
        .headers
        .iter()
        .find(|(name, _)| name == "date")
        .and_then(|(_, date)| jiff::fmt::rfc2822::parse(date).ok());
    let Some(date) = date else {
        if answer.status.is_some() {
            report.about(Area::Clock).note(
                "not compared: the response has no Date",
                "To see whether the network sets this clock, run `timedatectl`.",
            );
        }
        return;
    };
    let date = date.timestamp();
    let nearest = date.clamp(begun, ended.max(begun));
    let off = date.duration_since(nearest);
    let seconds = off.as_secs();
    if off.unsigned_abs() > CLOCK_LIMIT {
        let word = if seconds < 0 { "ahead of" } else { "behind" };
        report.about(Area::Clock).warning(
            format!(
                "this clock is {} s {word} that of the service: times in the history are off, and TLS may fail",
                seconds.unsigned_abs()
            ),
            "Set this clock by the network (`timedatectl set-ntp true`), or inform the administrator of the service.",
        );
    } else {
        report
            .about(Area::Clock)
            .ok("agrees with the service's clock to within a minute");
    }
}

fn between(answer: &RecordedExchange, report: &mut Report) {
    let via = answer.headers.iter().find(|(name, _)| name == "via");
    if let Some((_, via)) = via {
        report.about(Area::Network).note(
            format!("a proxy is in between: Via {}", shown(via)),
            "Proxies may drop the body of a GET: to test it, use --id.",
        );
    }
}

/// Reports whether the operator will be asked which place the profile means; with a wrong address or key they would choose
/// one for that. `is_good`: the service has accepted the key.
async fn place(
    request: &DoctorRequest,
    settings: &Settings,
    profile: &Profile,
    (key, is_good): (&SecretString, bool),
    at: &DirectoryAt,
    report: &mut Report,
) {
    let caller = |fingerprinter: &Fingerprinter| {
        let (key, now) = (fingerprinter.of_key(key), request.clock.now());
        caller(profile, key, now, &settings.operator)
    };
    let foreseen = match at {
        DirectoryAt::File(file) => preview_binding_in(file, caller),
        DirectoryAt::Team(_) => match open_directory(at, &request.overrides.env) {
            // A viewer binds nothing.
            Ok(directory) if directory.role() == Some(Role::Viewer) => return,
            Ok(directory) => {
                directory
                    .preview_binding(caller(directory.fingerprinter()))
                    .await
            }
            Err(error) => Err(error),
        },
    };
    match foreseen {
        Ok(BindingPreview::Asked(_)) if !is_good => report.about(Area::Key).note(
            format!(
                "the environment of profile {} is not chosen yet",
                shown(&profile.name)
            ),
            "Fix the connection first, then run doctor again.",
        ),
        Ok(BindingPreview::Asked(question)) => {
            let asked = PlaceProblem::asked(profile, question);
            let advice = "Choose the environment; until then nothing is sent for this profile.";
            report.about(Area::Key).problem(asked.to_string(), advice);
        }
        Ok(BindingPreview::TagConflict {
            place,
            profile: other,
        }) => {
            let differs = PlaceProblem::TagConflict {
                profile: profile.name.clone(),
                other,
                place,
            };
            let advice = "Until one of them is corrected, nothing is sent for this profile.";
            report
                .about(Area::Configuration)
                .problem(differs.to_string(), advice);
        }
        Ok(BindingPreview::Known | BindingPreview::New) | Err(_) => {}
    }
}

fn operations(
    request: &DoctorRequest,
    settings: &Settings,
    profile: &Profile,
    at: &DirectoryAt,
) -> Result<Operations, DirectoryError> {
    let operations = Operations::new(
        profile.clone(),
        request.overrides.env.clone(),
        open_directory(at, &request.overrides.env)?,
        settings.operator.clone(),
        request.clock,
    );
    Ok(match &request.listener {
        Some(listener) => operations.with_listener(listener.clone()),
        None => operations,
    })
}

/// Sends a get as `groupdesk get` does: the body has arrived if the same id comes back.
async fn get(
    request: &DoctorRequest,
    settings: &Settings,
    profile: &Profile,
    directory: Option<&UsableDirectory>,
    id: &UserGroupId,
    report: &mut Report,
) {
    let unknown = format!(
        "\"{id}\" is not in the directory of this profile: nothing was read, because a get could create it"
    );
    let Some(directory) = directory else {
        report.about(Area::Service).warning(unknown, NEEDS_AN_ID);
        return;
    };
    let operations = match operations(request, settings, profile, &directory.at) {
        Ok(operations) => operations,
        Err(error) => {
            report.no_directory(&error, "No group was read.");
            return;
        }
    };
    match operations.look_up(id, UnknownIdPolicy::KnownOnly).await {
        Ok(done) => read(id, &done, report),
        Err(Failure::NotKnown { .. }) => report.about(Area::Service).warning(unknown, NEEDS_AN_ID),
        Err(failure) => failed(id, &failure, report),
    }
}

fn read(id: &UserGroupId, done: &Done, report: &mut Report) {
    for alarm in done.warnings.iter().filter(|warning| warning.is_alarm()) {
        report.about(Area::Service).problem(
            alarm.to_string(),
            "Investigate before you change anything with this profile.",
        );
    }
    report.about(Area::Service).ok(format!(
        "a get of \"{id}\" returned that ID: a GET body reaches the service ({} ms)",
        done.latency.as_millis()
    ));
}

/// The texts of these failures may name other groups, so they are not repeated.
fn failed(id: &UserGroupId, failure: &Failure, report: &mut Report) {
    let get = id.command("get", "");
    match failure {
        Failure::Refused { status, .. } => report.about(Area::Service).problem(
            format!(
                "a get of \"{id}\" was refused (HTTP {status}), though a PUT arrives: a proxy may drop the body of a GET"
            ),
            &format!(
                "To see the message of the service, run `{get}`; ask the network administrator about bodies of GET requests."
            ),
        ),
        Failure::Unreadable(_) => report.about(Area::Service).problem(
            format!(
                "the response to a get of \"{id}\" is unusable: it is for another ID or from a different API; a proxy may drop \
                 the body of a GET"
            ),
            &format!(
                "For details, run `{get}`; read nothing else until it is clear: a get without a body could create a group."
            ),
        ),
        Failure::KeyRefused { .. } => report.about(Area::Key).problem(
            format!("a get of \"{id}\" was refused for its API key, though a PUT was not"),
            "Ask the issuer of the key which operations it allows.",
        ),
        Failure::Busy { status, .. } => report.about(Area::Service).warning(
            format!("a get of \"{id}\" was postponed (HTTP {status})"),
            "Wait a while, then run doctor again.",
        ),
        Failure::Unreachable(_) => report.about(Area::Network).problem(
            format!("no response to a get of \"{id}\", although a PUT had one"),
            "A proxy may refuse GET requests that have a body: ask the network administrator.",
        ),
        Failure::NothingSent(error) | Failure::NotKept(error) | Failure::NotWritten(error) => {
            report.no_directory(error, "Fix that first.");
        }
        _ => report.about(Area::Service).problem(
            format!("\"{id}\" could not be read"),
            &format!("To see why, run `{get}`."),
        ),
    }
}
