//! TLS connections that are made: with a private authority that is named by the profile or known to the system.

use super::HERE;
use crate::support::{
    assertions::assert_has,
    certificates::{Authority, Front, self_signed},
    stage::{Stage, Task, run},
    world::Side,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trusted_server_is_used_for_every_operation() {
    let stage = Stage::new(4).await;
    let folder = stage.world.folder();
    let (system, own) = (Authority::new("the system's"), Authority::new("our own"));
    let (system_file, own_file) = (system.write(folder), own.write(folder));
    let leaf = self_signed(&HERE);
    std::fs::write(folder.join("leaf.pem"), &leaf.pem).expect("written");
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

    for ((name, served, lines), group) in cases.into_iter().zip(&stage.groups) {
        let front = Front::before(stage.proxy.address(), served).await;
        let config = stage.config(&format!("https://{}", front.address), &lines);
        let before = stage.token(group);
        for errand in Task::ALL {
            let mut program = stage.program(&config, &errand.arguments(group));
            program.env("SSL_CERT_FILE", &system_file);
            let (code, said) = run(program).await;
            assert_eq!(code, 0, "{name} {errand:?}: {said}");
        }
        assert_ne!(stage.token(group), before, "{name}: it is rotated");
        assert_eq!(stage.world.stored(Side::Testing, group).name, "Changed");
        let doctor = ["doctor", "--id", group].map(str::to_owned);
        let mut program = stage.program(&config, &doctor);
        program.env("SSL_CERT_FILE", &system_file);
        let (code, said) = run(program).await;
        assert_eq!(code, 0, "{name}: {said}");
        assert!(said.contains("HTTP 400"), "{name}: {said}");
        assert!(front.handshakes() >= 5, "{name}");
    }
}

#[tokio::test]
async fn a_profile_is_tested_and_added_over_tls() {
    let stage = Stage::new(1).await;
    let folder = stage.world.folder();
    let (system, own) = (Authority::new("the system's"), Authority::new("our own"));
    let (system_file, own_file) = (system.write(folder), own.write(folder));
    let front = Front::before(stage.proxy.address(), own.certify(&HERE, |_| {})).await;
    let config = stage.config("http://127.0.0.1:9", "");
    let ca_file = own_file.display().to_string();
    let key = folder.join("keys/testing").display().to_string();
    let add = format!(
        "profile add NAME --base-url https://{} --environment Testing --api-key-file {key}",
        front.address
    );
    let ran = async |line: &str, expected: i32| {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        let mut program = stage.program(&config, &words);
        program.env("SSL_CERT_FILE", &system_file);
        let (code, said) = run(program).await;
        assert_eq!(code, expected, "{line}: {said}");
        said
    };
    let said = ran(&add.replace("NAME", "refused"), 1).await;
    assert_has(
        &said,
        "set its certificate (PEM) as `ca_file` in the profile",
    );
    assert!(said.contains("the profile was not saved"), "{said}");
    assert_eq!(front.handshakes(), 0);
    let add = add.replace("NAME", "own");
    let said = ran(&format!("{add} --ca-file {ca_file}"), 0).await;
    assert!(said.contains("the API key is accepted"), "{said}");
    // doctor times the handshake separately; both connections trust the file.
    assert_eq!(
        (front.handshakes(), stage.proxy.methods()),
        (2, vec!["PUT".to_owned()])
    );
    let written = std::fs::read_to_string(&config).expect("readable");
    assert_has(&written, &format!("ca_file = \"{ca_file}\""));
    let said = ran("profile show own", 0).await;
    assert!(said.contains(&ca_file), "{said}");
    // The address is new; the key was used with another one before.
    ran("profile bind own --same-environment testing", 0).await;
    ran(
        &format!("get {} --profile own --exists", stage.groups[0]),
        0,
    )
    .await;
}

/// A machine without any certificate authorities says so before connecting.
#[tokio::test]
async fn without_any_authority_it_is_said_before_connecting() {
    let stage = Stage::new(1).await;
    let front = Front::before(stage.proxy.address(), self_signed(&HERE)).await;
    let there = stage.through(&format!("https://{}", front.address), crate::client::LONG);
    let failure = Task::Get.run(&there, &stage.groups[0]).await;
    let said = failure.expect_err("unknown").to_string();
    let is_told = said.contains("`ca_file`") || said.contains("ca-certificates");
    assert!(is_told, "{said}");
    assert_eq!(front.handshakes(), 0);
}
