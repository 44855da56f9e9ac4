//! Packaging of the service: the systemd unit and the image start the shipped program, and every metric named by the
//! documentation, the dashboard and the alerts exists.

use std::{collections::BTreeSet, fs, path::Path};

use rustix::process::Signal;
use secrecy::SecretString;
use serde_json::Value;

use crate::{
    cli::program::{Background, Home},
    support::service::{Caller, plain_client},
};

const PREFIX: &str = "groupdesk_service_";

fn packaged(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of metrics in a text.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let rest = text.split(PREFIX).skip(1);
    let names = rest.map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        format!("{PREFIX}{}", &rest[..end.unwrap_or(rest.len())])
    });
    names.collect()
}

/// The values that a text gives a label, with `=` or `=~`.
fn label_values(text: &str, label: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for rest in text.split(label).skip(1) {
        let value = rest.trim_start_matches(['!', '=', '~', '\\']);
        let is_test = rest.trim_start_matches('!').starts_with('=');
        let Some(value) = value.strip_prefix('"').filter(|_| is_test) else {
            continue;
        };
        let end = value.find(['"', '\\']).expect("an end");
        found.extend(value[..end].split('|').map(str::to_owned));
    }
    found
}

/// Starts the program with the arguments of a unit or an image, adapted to this home.
async fn assert_starts(home: &Home, arguments: &[&str]) {
    let here = arguments
        .iter()
        .map(|argument| match argument.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() => format!("{host}:0"),
            _ => (*argument).to_owned(),
        });
    let here: Vec<_> = here.collect();
    let here: Vec<_> = here.iter().map(String::as_str).collect();
    let mut serving = Background::start(home.command(&here));
    assert!(serving.line().await.starts_with("listening on http://"));
    serving.says("/metrics").await;
    serving.signal(Signal::TERM);
    serving.says("no longer ready").await;
    serving.signal(Signal::INT);
    assert_eq!(serving.code().await, Some(130));
}

#[tokio::test]
async fn every_named_metric_exists_and_every_metric_is_named() {
    let home = Home::new();
    let key = home.key("--environment live").await;
    let (mut serving, url) = home.serve_with("--metrics 127.0.0.1:0").await;
    let said = serving.says("/metrics").await;
    let (_, metrics) = said.split_once("metrics on ").expect("an address");
    let asked = plain_client().get(format!("{url}/openapi.json")).send();
    asked.await.expect("an answer");
    // The requests of a key are counted once there are any.
    let caller = Caller::new(&url, &SecretString::from(key.trim().to_owned()));
    caller.token_of("acme").await;
    let text = plain_client().get(metrics).send().await.expect("an answer");
    let text = text.text().await.expect("text");
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let there: BTreeSet<String> = samples.flat_map(metrics_in).collect();
    assert!(there.len() > 10, "{there:?}");
    let page = packaged("docs/operations/service.md");
    let dashboard = packaged("packaging/monitoring/dashboard.json");
    let alerts = packaged("packaging/monitoring/alerts.yml");
    let parts = ["_bucket", "_count", "_sum"];
    let whole = |name: &str| {
        let mut parts = parts.iter().filter_map(|part| name.strip_suffix(part));
        parts.next().unwrap_or(name).to_owned()
    };
    for (file, text) in [
        ("page", &page),
        ("dashboard", &dashboard),
        ("alerts", &alerts),
    ] {
        let names = metrics_in(text);
        assert!(names.len() > 4, "{file}: {names:?}");
        for name in names {
            let is_there = there.contains(&name)
                || file == "page" && there.iter().any(|there| whole(there) == name);
            assert!(is_there, "{file} names {name}; there are {there:?}");
        }
    }
    // And every metric is documented for operators.
    let explained = metrics_in(&page);
    for name in &there {
        assert!(explained.contains(&whole(name)), "{name} is not explained");
    }
    // Refusal codes are in the description of the interface.
    let description = packaged("assets/openapi.json");
    for text in [&dashboard, &alerts] {
        for verdict in label_values(text, "result") {
            let is_known = verdict == "ok" || description.contains(&format!("\"{verdict}\""));
            assert!(is_known, "{verdict}");
        }
        for operation in label_values(text, "operation") {
            assert!(page.contains(&format!("`{operation}`")), "{operation}");
        }
    }
    let dashboard: Value = serde_json::from_str(&dashboard).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    assert!(
        panels
            .iter()
            .all(|panel| panel["targets"][0]["expr"].is_string())
    );
}

#[tokio::test]
async fn the_unit_starts_the_program_and_is_hardened() {
    let unit = packaged("packaging/systemd/groupdesk-serve.service");
    let setting = |name: &str| {
        let mut lines = unit.lines().filter_map(|line| line.split_once('='));
        let found = lines.find(|(found, _)| *found == name);
        found.unwrap_or_else(|| panic!("no {name}")).1
    };
    let options = setting("Environment").strip_prefix("OPTIONS=\"");
    let options = options.and_then(|options| options.strip_suffix('"'));
    let start = setting("ExecStart").replace("$OPTIONS", options.expect("options"));
    let mut words = start.split(' ');
    assert_eq!(words.next(), Some("/usr/bin/groupdesk"));
    // As in the unit: the data is below XDG_DATA_HOME, the parent of the state directory.
    assert!(unit.contains("\nEnvironment=XDG_DATA_HOME=/var/lib\n"));
    let mut home = Home::new();
    home.set("XDG_DATA_HOME", home.at("lib"));
    assert_starts(&home, &words.collect::<Vec<_>>()).await;
    let database = format!("lib/{}/service.db", setting("StateDirectory"));
    assert!(home.path(&database).exists());
    for (name, wanted) in [
        ("DynamicUser", "yes"),
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("PrivateDevices", "yes"),
        ("MemoryDenyWriteExecute", "yes"),
        ("CapabilityBoundingSet", ""),
        ("StateDirectory", "groupdesk"),
        ("StateDirectoryMode", "0700"),
        ("UMask", "0077"),
    ] {
        assert_eq!(setting(name), wanted, "{name}");
    }
}

#[tokio::test]
async fn the_image_starts_the_program_as_nobody() {
    let file = packaged("packaging/Containerfile");
    let list = |name: &str| -> Vec<String> {
        let mut lines = file.lines().filter_map(|line| line.strip_prefix(name));
        serde_json::from_str(lines.next().expect("a line").trim()).expect("a list")
    };
    let all = [list("ENTRYPOINT"), list("CMD")].concat();
    assert_eq!(all[0], "/usr/bin/groupdesk");
    let arguments: Vec<_> = all[1..].iter().map(String::as_str).collect();
    // As in the image: the data is below XDG_DATA_HOME.
    assert!(file.contains("\nENV XDG_DATA_HOME=/data\n"));
    let mut home = Home::new();
    let data = home.at("data");
    home.set("XDG_DATA_HOME", data);
    assert_starts(&home, &arguments).await;
    assert!(home.path("data/groupdesk/service.db").exists());
    let (user, group) = ("65532", "65532");
    assert!(file.contains(&format!("\nUSER {user}:{group}\n")));
    assert!(file.contains(&format!("--chown={user}:{group} --chmod=0700 /data /data")));
}
