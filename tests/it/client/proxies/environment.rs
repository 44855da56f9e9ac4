//! Proxies named by the environment: nothing is sent to them unless the profile asks for it.

use crate::support::{
    faults::{Fault, Faults},
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
}
