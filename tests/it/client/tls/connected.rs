//! TLS connections that are made: with a private authority that is named by the profile or known to the system.

use super::{
    HERE,
    certificates::{Authority, Front, self_signed},
};
use crate::support::{
    assertions::assert_has,
    stage::{Stage, Task, run},
    world::{Side, id},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trusted_server_is_used_for_every_operation() {
    let stage = Stage::new(4).await;
    let folder = stage.world.folder();
    let (system, own) = (Authority::new("the system's"), Authority::new("our own"));
    let (system_file, own_file) = (system.write(folder), own.write(folder));
    let (leaf, leaf_pem) = self_signed(&HERE);
    std::fs::write(folder.join("leaf.pem"), leaf_pem).expect("written");
    // More than one authority in the file, and text between them.
    let both = format!("# ours\n{}\nanother:\n{}", Authority::new("x").pem, own.pem);
    std::fs::write(folder.join("both.pem"), both).expect("written");
    let relative = own_file.file_name().and_then(|name| name.to_str());
    let relative = format!("ca_file = \"{}\"", relative.expect("a name"));
    #[rustfmt::skip] // A table: one case per line.
    let cases = [
        ("ca_file, named from the folder of the configuration", own.certify(&HERE, |_| {}), relative),
        ("ca_file with several", own.certify(&HERE, |_| {}), "ca_file = \"both.pem\"".into()),
        ("the certificate itself", leaf, "ca_file = \"leaf.pem\"".into()),
        ("an authority of the system", system.certify(&HERE, |_| {}), String::new()),
    ];
    let mut count = 0;
    for ((name, served, lines), group) in cases.into_iter().zip(&stage.groups) {
        let front = Front::before(stage.proxy.address(), served).await;
        let config = stage.config(&format!("https://{}", front.address), &lines);
        let before = stage.token(group);
        for errand in Task::ALL {
            let mut program = stage.program(&config, &errand.arguments(group));
            program.env("SSL_CERT_FILE", &system_file);
            let (code, said) = run(program).await;
            assert_eq!(code, 0, "{name} {errand:?}: {said}");
            count += 1;
        }
        assert_ne!(stage.token(group), before, "{name}: it is rotated");
        assert_eq!(stage.world.stored(Side::Testing, group).name, "Changed");
        let words = ["profile", "check"].map(str::to_owned);
        let doctor = ["doctor", "--id", group].map(str::to_owned);
        for arguments in [words.to_vec(), doctor.to_vec()] {
            let mut program = stage.program(&config, &arguments);
            program.env("SSL_CERT_FILE", &system_file);
            let (code, said) = run(program).await;
            assert_eq!(code, 0, "{name} {arguments:?}: {said}");
            assert!(said.contains("HTTP 400"), "{name}: {said}");
            count += 1;
        }
        assert!(front.handshakes() >= 6, "{name}");
    }
    assert_eq!(count, 24);
}

#[tokio::test]
async fn a_profile_is_tested_and_added_over_tls() {
    let stage = Stage::new(1).await;
    let folder = stage.world.folder();
    let (system, own) = (Authority::new("the system's"), Authority::new("our own"));
    let (system_file, own_file) = (system.write(folder), own.write(folder));
    let front = Front::before(stage.proxy.address(), own.certify(&HERE, |_| {})).await;
    let config = stage.config("http://127.0.0.1:9", "");
    let key = folder.join("keys/testing").display().to_string();
    let url = format!("https://{}", front.address);
    let ca_file = own_file.display().to_string();
    let add = |name: &str, more: &[&str]| {
        let words = [
            "profile",
            "add",
            name,
            "--base-url",
            &url,
            "--environment",
            "Testing",
            "--api-key-file",
            &key,
        ];
        let all = words.iter().chain(more).map(|word| (*word).to_owned());
        let mut program = stage.program(&config, &all.collect::<Vec<_>>());
        program.env("SSL_CERT_FILE", &system_file);
        program
    };
    let (code, said) = run(add("refused", &[])).await;
    assert_eq!(code, 1, "{said}");
    assert_has(
        &said,
        "set its certificate (PEM) as `ca_file` in the profile",
    );
    assert!(said.contains("the profile was not written"), "{said}");
    assert_eq!(front.handshakes(), 0);

    let (code, said) = run(add("own", &["--ca-file", &ca_file])).await;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("the API key is accepted"), "{said}");
    // doctor times the handshake separately; both connections trust the file.
    assert_eq!(
        (front.handshakes(), stage.proxy.methods().as_slice()),
        (2, ["PUT".to_owned()].as_slice())
    );
    let written = std::fs::read_to_string(&config).expect("readable");
    assert_has(&written, &format!("ca_file = \"{ca_file}\""));
    let words = ["profile", "show", "own"].map(str::to_owned);
    let (code, said) = run(stage.program(&config, &words)).await;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(&ca_file), "{said}");
    // The address is new; the key was used with another one before.
    let bind = ["profile", "bind", "own", "--same-environment", "testing"].map(str::to_owned);
    let (code, said) = run(stage.program(&config, &bind)).await;
    assert_eq!(code, 0, "{said}");
    let get = [
        "get",
        stage.groups[0].as_str(),
        "--profile",
        "own",
        "--exists",
    ]
    .map(str::to_owned);
    let mut program = stage.program(&config, &get);
    program.env("SSL_CERT_FILE", &system_file);
    let (code, said) = run(program).await;
    assert_eq!(code, 0, "{said}");
}

/// The connection form of the console says what to do, too.
#[tokio::test]
async fn the_connection_form_of_the_console_connects() {
    let stage = Stage::new(1).await;
    let own = Authority::new("our own");
    let front = Front::before(stage.proxy.address(), own.certify(&HERE, |_| {})).await;
    let file = own.write(stage.world.folder());
    let installation = stage.world.installation(Side::Testing);
    let installation = installation.through(format!("https://{}", front.address));
    let trusting = installation
        .clone()
        .with(|profile| profile.ca_file = Some(file));
    let group = &id(&stage.groups[0]);
    let known = groupdesk::operations::UnknownIdPolicy::KnownOnly;
    let done = trusting.operations().look_up(group, known).await;
    assert_eq!(done.expect("read").status, 200);
    // A machine without any certificate authorities says so before connecting.
    let failure = installation
        .operations()
        .look_up(group, known)
        .await
        .expect_err("unknown");
    let said = failure.to_string();
    assert!(
        said.contains("`ca_file`") || said.contains("ca-certificates"),
        "{said}"
    );
    assert_eq!((front.handshakes(), stage.proxy.count("GET")), (1, 1));
}
