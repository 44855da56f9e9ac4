//! `groupdesk serve`: runs the User Group Service until a signal, and lets what is in flight end.

use std::{path::PathBuf, sync::Arc};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::keys;
use crate::{
    api::wire::DEFAULT_PATH,
    cli::{
        args::{Global, Serve, ServeCommand},
        error::CliError,
        output,
        process::{exit::Exit, signals::Signals},
    },
    config::{Environment, paths},
    service::{
        Limits, Service,
        store::{Options, Store},
    },
};

pub(crate) async fn run(arguments: Serve, global: &Global) -> Result<Exit, CliError> {
    let Serve {
        listen,
        no_facts_header,
        database,
        command,
    } = arguments;
    let database =
        database.map_or_else(|| paths::service_database(&Environment::of_process()), Ok)?;
    match command {
        Some(ServeCommand::Keys(command)) => keys::run(command, &database, global),
        None => {
            let limits = Limits {
                states_facts: !no_facts_header,
                ..Limits::default()
            };
            serve(listen, database, limits, global.json).await
        }
    }
}

async fn serve(
    listen: std::net::SocketAddr,
    database: PathBuf,
    limits: Limits,
    json: bool,
) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    more_files();
    let options = Options {
        report: Some(Arc::new(|error| output::alarm(&format!("! {error}")))),
        ..Options::default()
    };
    let store = Store::open_with(&database, options)
        .map_err(|error| CliError::of_store(&database, error))?;
    if store
        .list_keys()?
        .iter()
        .all(|key| key.revoked_at.is_some())
    {
        output::say(&format!(
            "there is no API key yet; make one with: groupdesk serve keys create --environment NAME --database {}",
            database.display()
        ));
    }
    let running = Service::start_with(listen, store.clone(), DEFAULT_PATH, limits)
        .await
        .map_err(|error| {
            CliError::Usage(format!(
                "cannot listen on {listen}: {error}; name another address with --listen"
            ))
        })?;
    let address = running.address;
    if !address.ip().is_loopback() {
        output::alarm(&format!(
            "! {address} can be reached from other machines, and http protects neither API keys nor tokens: put TLS before it"
        ));
    }
    let url = format!("http://{address}{DEFAULT_PATH}");
    if json {
        output::json_line(&serde_json::json!({"listening": url}))?;
    } else {
        output::result(&format!("listening on {url}"))?;
    }
    signals.next().await;
    output::alarm("finishing what is in flight; Ctrl-C again leaves");
    let exit = tokio::select! {
        () = running.stop() => Exit::Done,
        () = signals.next() => return Err(CliError::Interrupted { in_flight: true }),
    };
    // The last handle waits until everything queued is durable.
    drop(store);
    Ok(exit)
}

/// Each connection takes a descriptor, and many systems allow few unless one asks. A refusal only means fewer connections.
fn more_files() {
    const ENOUGH: u64 = 4096;
    let limit = getrlimit(Resource::Nofile);
    let enough = limit.maximum.map_or(ENOUGH, |maximum| maximum.min(ENOUGH));
    if limit.current.is_some_and(|current| current < enough) {
        let current = Some(enough);
        let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    }
}
