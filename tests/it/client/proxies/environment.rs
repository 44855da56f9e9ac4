//! Proxies named by the environment: nothing is sent to them unless the profile asks for it.

use crate::support::{
    faults::{Fault, Faults, http},
    stage::{Stage, Task, run},
};

const VARIABLES: [&str; 7] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
];

/// No label of a name may be this long, so no name server is asked for it.
fn nowhere() -> String {
    format!("https://{}.invalid", "a".repeat(70))
}

#[tokio::test]
async fn nothing_is_sent_to_a_proxy_of_the_environment() {
    let stage = Stage::new(4).await;
    let proxy = Faults::always(Fault::Close).await;
    let here = stage.config(&stage.proxy.base_url(), "");
    let there = stage.config(&nowhere(), "");
    let group = stage.groups[0].as_str();
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let mut runs = Vec::new();
    for variable in VARIABLES {
        runs.push((vec![variable], Task::Get.arguments(group), true));
        runs.push((vec![variable], Task::Get.arguments(group), false));
    }
    for (errand, group) in Task::ALL.into_iter().zip(&stage.groups) {
        runs.push((VARIABLES.to_vec(), errand.arguments(group), true));
        runs.push((VARIABLES.to_vec(), errand.arguments(group), false));
    }
    for arguments in [
        words(&["doctor", "--id", group]),
        words(&["profile", "check"]),
    ] {
        runs.push((VARIABLES.to_vec(), arguments.clone(), true));
        runs.push((VARIABLES.to_vec(), arguments, false));
    }
    let mut cases = 0;
    for (variables, arguments, is_here) in runs {
        let mut program = stage.program(if is_here { &here } else { &there }, &arguments);
        for variable in variables {
            // `no_proxy` excludes what the other variables do not cover: nothing.
            let value = if variable == "no_proxy" {
                String::new()
            } else {
                proxy.base_url()
            };
            program.env(variable, value);
        }
        let (code, said) = run(program).await;
        assert_eq!(code, if is_here { 0 } else { 5 }, "{arguments:?}: {said}");
        assert_eq!(proxy.connections(), 0, "{arguments:?}");
        cases += 1;
    }
    assert!(cases >= 20, "{cases}");
}

/// Control: with a profile that asks for it the proxy is used, so the test above can fail.
#[tokio::test]
async fn a_profile_may_use_the_proxy_and_does_not_give_it_the_key() {
    let stage = Stage::new(1).await;
    let proxy = Faults::always(Fault::Close).await;
    let config = stage.config(&nowhere(), "proxy_from_environment = true");
    let group = stage.groups[0].as_str();
    let mut cases = 0;
    for variable in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        let before = proxy.connections();
        let mut program = stage.program(&config, &Task::Get.arguments(group));
        program.env(variable, proxy.base_url());
        let (code, said) = run(program).await;
        assert_eq!(code, 5, "{said}");
        assert_eq!(proxy.connections(), before + 1, "{variable}");
        cases += 1;
    }
    assert_eq!(cases, 4);
    for request in proxy.requests() {
        assert!(request.head().starts_with("CONNECT "), "{}", request.head());
        assert!(request.header("authorization").is_empty());
    }
    // This machine itself is never reached through a proxy.
    let config = stage.config(&stage.proxy.base_url(), "proxy_from_environment = true");
    let before = proxy.connections();
    let mut program = stage.program(&config, &Task::Get.arguments(group));
    program
        .env("http_proxy", proxy.base_url())
        .env("all_proxy", proxy.base_url());
    let (code, said) = run(program).await;
    assert_eq!((code, proxy.connections()), (0, before), "{said}");
    let mut doctor = stage.program(&config, &["doctor".to_owned()]);
    doctor.env("http_proxy", proxy.base_url());
    let (_, said) = run(doctor).await;
    assert!(said.contains("no proxy reaches it"), "{said}");
    let is_proposed = said.contains("Set proxy_from_environment");
    assert!(!is_proposed, "it is set already: {said}");
}

/// A proxy that says yes to everything, as a sign-in page does, is in between: a failure behind it names it.
#[tokio::test]
async fn a_failure_behind_a_proxy_names_the_proxy() {
    let stage = Stage::new(1).await;
    let config = stage.config(&nowhere(), "proxy_from_environment = true");
    let group = stage.groups[0].as_str();
    let proxy = Faults::always(Fault::Answer(http("200 OK", &[], "<html>"))).await;
    for task in Task::ALL {
        let mut program = stage.program(&config, &task.arguments(group));
        program.env("HTTPS_PROXY", proxy.base_url());
        let (code, said) = run(program).await;
        assert_eq!(code, 5, "{said}");
        let address = proxy.base_url().replace("http://", "");
        let words = format!(" through the proxy {address} (HTTPS_PROXY)");
        assert!(said.contains(&words), "{said}");
        assert!(said.contains("nothing was sent"), "{said}");
    }
}

/// What the proxy does, and what is said of it; the service is not blamed.
#[tokio::test]
async fn a_proxy_that_refuses_is_named_with_its_variable() {
    let stage = Stage::new(1).await;
    let config = stage.config(&nowhere(), "proxy_from_environment = true");
    let group = stage.groups[0].as_str();
    let refusing = |status: &'static str| async move {
        Faults::always(Fault::Answer(http(status, &[], "no"))).await
    };
    let mut held = Vec::new();
    let mut cases = vec![(
        // Nothing listens on this port.
        "http://127.0.0.1:1".to_owned(),
        "the proxy 127.0.0.1:1 (HTTPS_PROXY) refused the connection",
    )];
    for (status, words) in [
        ("403 Forbidden", "refuses to pass this host on (HTTP 403)"),
        (
            "407 Proxy Authentication Required",
            "wants a user and a password (HTTP 407)",
        ),
        ("502 Bad Gateway", "(HTTP 502)"),
    ] {
        let proxy = refusing(status).await;
        cases.push((proxy.base_url(), words));
        held.push(proxy);
    }
    for (value, words) in cases {
        let mut program = stage.program(&config, &Task::Get.arguments(group));
        program.env("HTTPS_PROXY", &value);
        let (code, said) = run(program).await;
        assert_eq!(code, 5, "{said}");
        for words in [words, "(HTTPS_PROXY)", "nothing was sent"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(
            !said.contains("check `base_url`, and that the service is running"),
            "{said}"
        );
    }
    for proxy in &held {
        for request in proxy.requests() {
            assert!(request.header("authorization").is_empty());
        }
    }
}

/// Over plain HTTP the answer of a proxy looks like one of the service.
#[tokio::test]
async fn a_plain_answer_names_the_proxy_beside_the_service() {
    let stage = Stage::new(1).await;
    let plain = nowhere().replace("https://", "http://");
    let config = stage.config(&plain, "proxy_from_environment = true");
    let text = std::fs::read_to_string(&config).expect("readable");
    let text = text.replace("base_url =", "allow_plain_http = true\nbase_url =");
    std::fs::write(&config, text).expect("written");
    let group = stage.groups[0].as_str();
    let mut cases = Vec::new();
    for (status, page, words) in [
        ("502 Bad Gateway", false, "failed with HTTP 502"),
        ("407 Proxy Authentication Required", false, "refused (407)"),
        ("403 Forbidden", true, "refused (403)"),
        ("200 OK", true, "a web page instead of JSON"),
    ] {
        let headers = ["Content-Type: text/html"];
        let headers = if page { &headers[..] } else { &[] };
        let answer = Fault::Answer(http(status, headers, "<html>no</html>"));
        cases.push((answer, status, words));
    }
    let json = ["Content-Type: application/json"];
    let cut = |text: &str| Fault::AnswerAndClose(text.as_bytes().to_vec());
    let broken = "the connection broke before the response was complete";
    for (answer, words) in [
        (Fault::Answer(http("200 OK", &json, "")), "is empty"),
        (
            Fault::Answer(http("200 OK", &json, "{\"success\": 1,")),
            "is not JSON",
        ),
        (
            Fault::Answer(http("200 OK", &json, "{}")),
            "has no `success`",
        ),
        (Fault::Answer(http("200 OK", &json, "[]")), "is JSON but"),
        (
            cut("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
            broken,
        ),
        (cut("HTTP/1.1 200"), broken),
        (Fault::Close, broken),
    ] {
        cases.push((answer, "an answer that was spoilt", words));
    }
    for (answer, status, words) in cases {
        let proxy = Faults::always(answer).await;
        for task in [Task::Get, Task::Rotate] {
            let mut program = stage.program(&config, &task.arguments(group));
            program.env("HTTP_PROXY", proxy.base_url());
            let (code, said) = run(program).await;
            assert_ne!(code, 0, "{said}");
            let address = proxy.base_url().replace("http://", "");
            let named = format!("the proxy {address} (HTTP_PROXY)");
            for words in [&named, words] {
                assert!(said.contains(words), "{status}: {words}: {said}");
            }
        }
        let mut program = stage.program(&config, &["profile".to_owned(), "check".to_owned()]);
        program.env("HTTP_PROXY", proxy.base_url());
        let (_, said) = run(program).await;
        let address = proxy.base_url().replace("http://", "");
        assert!(said.contains(&format!("proxy {address}")), "{said}");
    }
}

#[tokio::test]
async fn a_variable_that_names_no_proxy_is_refused_and_a_password_may_contain_any_sign() {
    let stage = Stage::new(1).await;
    let config = stage.config(&nowhere(), "proxy_from_environment = true");
    let group = stage.groups[0].as_str();
    for (value, words) in [
        (
            "socks5://127.0.0.1:1",
            "SOCKS proxy, which is not supported",
        ),
        ("http://canary pass@:x", "is not the address of a proxy"),
    ] {
        let mut program = stage.program(&config, &Task::Get.arguments(group));
        program.env("HTTPS_PROXY", value);
        let (code, said) = run(program).await;
        assert_eq!(code, 2, "{said}");
        assert!(
            said.contains("HTTPS_PROXY") && said.contains(words),
            "{said}"
        );
        assert!(!said.contains("canary"), "{said}");
    }
    let proxy = Faults::always(Fault::Close).await;
    let address = proxy.base_url();
    let mut program = stage.program(&config, &Task::Get.arguments(group));
    program.env(
        "https_proxy",
        address.replace("http://", "http://ana:p@ss@"),
    );
    let (code, said) = run(program).await;
    assert_eq!((code, proxy.connections()), (5, 1), "{said}");
    assert!(!said.contains("p@ss"), "{said}");
    let requests = proxy.requests();
    // "ana:p@ss" in base64.
    assert_eq!(
        requests[0].header("proxy-authorization"),
        ["Basic YW5hOnBAc3M="]
    );
}

#[tokio::test]
async fn doctor_names_the_proxies_of_the_environment() {
    let stage = Stage::new(1).await;
    for (more, words) in [
        ("proxy_from_environment = true", "requests go through it"),
        ("", "not used, because proxy_from_environment is not set"),
    ] {
        let config = stage.config(&nowhere(), more);
        let mut program = stage.program(&config, &["doctor".to_owned(), "--json".to_owned()]);
        program.env("HTTPS_PROXY", "http://ana:canary@127.0.0.1:1");
        let (_, said) = run(program).await;
        assert!(
            said.contains("HTTPS_PROXY names the proxy 127.0.0.1:1"),
            "{said}"
        );
        assert!(said.contains(words), "{said}");
        assert!(!said.contains("canary"), "{said}");
    }
}
