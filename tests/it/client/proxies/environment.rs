//! Proxies named by the environment: nothing is sent to them unless the profile asks for it.

use std::path::PathBuf;

use crate::support::{
    faults::{Fault, Faults, http},
    stage::{Stage, run},
};

const VARIABLES: [&str; 6] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
];
/// A command; the stage has one group.
const GET: &str = "get h0000";
const ASKS: &str = "proxy_from_environment = true";

/// No label of a name may be this long, so no name server is asked for it.
fn nowhere() -> String {
    format!("https://{}.invalid", "a".repeat(70))
}

/// Runs a command with a variable: `NAME=VALUE`.
async fn with(stage: &Stage, config: &PathBuf, set: &str, line: &str) -> (i32, String) {
    let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
    let mut program = stage.program(config, &words);
    let (name, value) = set.split_once('=').expect("a variable");
    program.env(name, value);
    run(program).await
}

/// All parts between `|` are said.
#[track_caller]
fn says(said: &str, all: &str) {
    for words in all.split('|') {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[tokio::test]
async fn nothing_is_sent_to_a_proxy_of_the_environment() {
    let stage = Stage::new(1).await;
    let proxy = Faults::always(Fault::Close).await;
    let here = stage.config(&stage.proxy.base_url(), "");
    let there = stage.config(&nowhere(), "");
    for line in [
        GET,
        "create new --yes",
        "update h0000 --name Changed --yes",
        "rotate h0000 --yes",
        "doctor --id h0000",
        "profile check",
    ] {
        for (config, expected) in [(&here, 0), (&there, 5)] {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            let mut program = stage.program(config, &words);
            // It excludes what the other variables do not cover: nothing.
            program.env("no_proxy", "");
            program.envs(VARIABLES.map(|name| (name, proxy.base_url())));
            let (code, said) = run(program).await;
            assert_eq!(code, expected, "{line}: {said}");
            assert_eq!(proxy.connections(), 0, "{line}");
        }
    }
}

/// Control: with a profile that asks for it the proxy is used, so the test above can fail.
#[tokio::test]
async fn a_profile_may_use_the_proxy_and_does_not_give_it_the_key() {
    let stage = Stage::new(1).await;
    let proxy = Faults::always(Fault::Close).await;
    let set = |name: &str| format!("{name}={}", proxy.base_url());
    let there = stage.config(&nowhere(), ASKS);
    for (before, variable) in VARIABLES[2..].iter().enumerate() {
        let (code, said) = with(&stage, &there, &set(variable), GET).await;
        assert_eq!(code, 5, "{said}");
        assert_eq!(proxy.connections(), before + 1, "{variable}");
    }
    for request in proxy.requests() {
        assert!(request.head().starts_with("CONNECT "), "{}", request.head());
        assert!(request.header("authorization").is_empty());
    }
    // This machine itself is never reached through a proxy.
    let here = stage.config(&stage.proxy.base_url(), ASKS);
    for variable in ["http_proxy", "all_proxy"] {
        let (code, said) = with(&stage, &here, &set(variable), GET).await;
        assert_eq!((code, proxy.connections()), (0, 4), "{said}");
    }
    let (_, said) = with(&stage, &here, &set("http_proxy"), "doctor").await;
    says(&said, "no proxy reaches it");
    let is_proposed = said.contains("Set proxy_from_environment");
    assert!(!is_proposed, "it is set already: {said}");
}

/// A proxy that refuses, or that says yes to everything as a sign-in page does, is named; the service is not blamed.
#[tokio::test]
async fn a_failure_at_or_behind_a_proxy_names_the_proxy_with_its_variable() {
    let stage = Stage::new(1).await;
    let config = stage.config(&nowhere(), ASKS);
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("200 OK", GET, " through the proxy "),
        ("403 Forbidden", "create new --yes", "refuses to connect to this host (HTTP 403)"),
        ("407 Login", "rotate h0000 --yes", "requires a user name and a password (HTTP 407)"),
        ("502 Bad Gateway", GET, "(HTTP 502)"),
        ("nothing listens", "create new --yes", "refused the connection"),
    ];
    for (status, line, words) in table {
        let proxy = Faults::always(Fault::Answer(http(status, &[], "<html>"))).await;
        let mut address = proxy.address.to_string();
        if !status.starts_with(char::is_numeric) {
            address = "127.0.0.1:1".into();
        }
        let set = format!("HTTPS_PROXY=http://{address}");
        let (code, said) = with(&stage, &config, &set, line).await;
        assert_eq!(code, 5, "{said}");
        let named = format!("{address} (HTTPS_PROXY)|nothing was sent|{words}");
        says(&said, &named);
        let is_blamed = said.contains("check `base_url`, and that the service is running");
        assert!(!is_blamed, "{said}");
        for request in proxy.requests() {
            assert!(request.header("authorization").is_empty());
        }
    }
}

/// Over plain HTTP the answer of a proxy looks like one of the service.
#[tokio::test]
async fn a_plain_answer_names_the_proxy_beside_the_service() {
    let stage = Stage::new(1).await;
    let config = stage.config(&nowhere().replace("https://", "http://"), ASKS);
    let text = std::fs::read_to_string(&config).expect("readable");
    let text = text.replace("base_url =", "allow_plain_http = true\nbase_url =");
    std::fs::write(&config, text).expect("written");
    let broken = "the connection broke before the response was complete";
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>no</html>";
    let json =
        |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{body}");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n".into(), "failed with HTTP 502"),
        ("HTTP/1.1 407 Login\r\n\r\n".into(), "refused (407)"),
        (page.replace("200 OK", "403 Forbidden"), "refused (403)"),
        (page.into(), "a web page instead of JSON"),
        (json(""), "is empty"),
        (json("{\"success\": 1,"), "is not JSON"),
        (json("{}"), "has no `success`"),
        (json("[]"), "is JSON but"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".into(), broken),
        ("HTTP/1.1 200".into(), broken),
        (String::new(), broken),
    ];
    let lines = [GET, "rotate h0000 --yes"].into_iter().cycle();
    for ((answer, words), line) in table.into_iter().zip(lines) {
        let proxy = Faults::always(Fault::AnswerAndClose(answer.into_bytes())).await;
        let set = format!("HTTP_PROXY={}", proxy.base_url());
        let named = format!("the proxy {} (HTTP_PROXY)|{words}", proxy.address);
        let (code, said) = with(&stage, &config, &set, line).await;
        assert_ne!(code, 0, "{said}");
        says(&said, &named);
        if words == broken || words.contains("403") {
            let (code, said) = with(&stage, &config, &set, "profile check").await;
            assert_ne!(code, 0, "{said}");
            says(&said, &format!("proxy {}", proxy.address));
        }
    }
    for (answer, words) in [
        (
            "HTTP/1.1 511 Login\r\n\r\n",
            "requires you to log in first (HTTP 511)",
        ),
        (
            "HTTP/1.1 302 Found\r\nLocation: https://login.example/\r\n\r\n",
            "points to https://login.example/",
        ),
    ] {
        let proxy = Faults::always(Fault::AnswerAndClose(answer.into())).await;
        let set = format!("HTTP_PROXY={}", proxy.base_url());
        let (code, said) = with(&stage, &config, &set, "profile check").await;
        assert_ne!(code, 0, "{said}");
        says(
            &said,
            &format!("the proxy {} (HTTP_PROXY)|{words}", proxy.address),
        );
    }
}

#[tokio::test]
async fn a_variable_that_names_no_proxy_is_refused_and_a_password_may_contain_any_sign() {
    let stage = Stage::new(1).await;
    let config = stage.config(&nowhere(), ASKS);
    let proxy = Faults::always(Fault::Close).await;
    let socks = "socks5://127.0.0.1:1";
    for (value, expected, words) in [
        (socks, 2, "HTTPS_PROXY|SOCKS proxy, which is not supported"),
        (
            "http://canary pass@:x",
            2,
            "HTTPS_PROXY|is not the address of a proxy",
        ),
        (&format!("http://ana:p@ss@{}", proxy.address), 5, ""),
    ] {
        let set = format!("HTTPS_PROXY={value}");
        let (code, said) = with(&stage, &config, &set, GET).await;
        assert_eq!(code, expected, "{said}");
        says(&said, words);
        assert!(!said.contains("canary") && !said.contains("p@ss"), "{said}");
    }
    assert_eq!(proxy.connections(), 1);
    // "ana:p@ss" in base64.
    let login = proxy.requests()[0].header("proxy-authorization");
    assert_eq!(login, ["Basic YW5hOnBAc3M="]);
}

#[tokio::test]
async fn doctor_names_the_proxies_of_the_environment() {
    let stage = Stage::new(1).await;
    let set = "HTTPS_PROXY=http://ana:canary@127.0.0.1:1";
    for (lines, words) in [
        (ASKS, "requests go through it"),
        ("", "not used, because proxy_from_environment is not set"),
    ] {
        let config = stage.config(&nowhere(), lines);
        let (_, said) = with(&stage, &config, set, "doctor --json").await;
        says(&said, "HTTPS_PROXY sets the proxy 127.0.0.1:1");
        says(&said, words);
        assert!(!said.contains("canary"), "{said}");
    }
}
