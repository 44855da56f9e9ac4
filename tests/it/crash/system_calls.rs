//! Durable before sent, durable before shown: the order of system calls that the process really makes. A small library
//! between it and the C library records them; tracing would need privileges and a program that not every machine has.

use super::*;

/// The file through which SQLite makes commits durable.
const LOG: &str = "directory.db-wal";

/// Builds the recording library with the C compiler that SQLite needs anyway.
fn build_recorder(scene: &Scene<'_>) -> std::path::PathBuf {
    let source = scene.folder.join("witness.c");
    let library = scene.folder.join("witness.so");
    fs::write(&source, include_str!("witness.c")).expect("written");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let built = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .output()
        .expect("a C compiler");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    library
}

/// The system calls from the first failpoint until the token is shown; for files only those on the directory's log.
async fn record(scene: &Scene<'_>, variant: Variant) -> Vec<String> {
    let notes = scene.folder.join("notes");
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.env("LD_PRELOAD", build_recorder(scene));
    command.env("WITNESS", &notes);
    let mut order = scene.order(Task::Rotate);
    order.variant = variant;
    order.tells = true;
    let mut installation = Process::start_as(command, &order);
    while let Some((what, words)) = installation.next_report().await {
        assert_ne!(what, "failed", "{words}");
        if what == "shown" {
            installation.resume().await;
        }
    }
    let notes = fs::read_to_string(notes).expect("notes");
    let mut record: Vec<String> = notes
        .lines()
        .filter_map(|line| line.split_once('|'))
        .filter(|(what, file)| !matches!(*what, "write" | "sync") || *file == LOG)
        .map(|(what, _)| what.trim().to_owned())
        .skip_while(|what| what != "point 1")
        .collect();
    // Repeated writes of one commit, or pieces of one answer, count as one.
    record.dedup();
    let shown = record.iter().position(|what| what.starts_with("shown"));
    record.truncate(shown.expect("it is shown"));
    record
}

/// The right order, until the token is shown.
const RIGHT: [&str; 13] = [
    "point 1", "write", "sync", "point 2", "write", "sync", "point 3", "send", "receive",
    "point 5", "write", "sync", "point 6",
];

#[tokio::test]
async fn a_rotation_is_synced_before_it_is_sent_and_before_its_token_is_shown() {
    let stage = Stage::new().await;
    for variant in [Variant::Shipped, Variant::Careful] {
        let record = record(&stage.scene().await, variant).await;
        assert_eq!(record, RIGHT, "{variant:?}");
    }
    // Control: the record shows a wrong order.
    let first = record(&stage.scene().await, Variant::ShowFirst).await;
    assert_eq!(
        first,
        RIGHT[..10],
        "nothing written between answer and showing"
    );
    let late = record(&stage.scene().await, Variant::IntentAfterSending).await;
    assert_eq!(late[..4], ["point 1", "point 3", "send", "receive"]);
}
