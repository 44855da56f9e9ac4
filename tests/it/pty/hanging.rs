//! The console while the connection hangs: keys have their effect although the answer is still missing. The test checks
//! the order, not the time; the time is printed.

use super::prelude::*;
use crate::{
    client::{an_authority, full},
    support::{faults::http, stage::Stage},
};

const PATIENCE: Duration = Duration::from_mins(1);
const READING: &str = "reading it from the service";

/// A key, and what it shows.
const KEYS: [(&str, &str); 11] = [
    ("?", "Groups › h0000 › Help"),
    ("\x1b", READING),
    ("m", "› Messages"),
    ("\x1b", READING),
    (":", "› Palette"),
    ("rot", ":  rot"),
    ("\x1b", READING),
    ("2", "› History"),
    ("\x1b", READING),
    ("\x1b", "Cancelled: read h0000"),
    ("\x1b", " 1 group "),
];

/// How many bytes a console may write per second while it waits.
const BYTES_A_SECOND: usize = 80;

/// Presses the keys while the read hangs. Returns how long each took, in milliseconds.
fn press_all(session: &mut Session) -> Vec<u128> {
    session.wait_for(" 1 group ", PATIENCE);
    session.type_until("\r", "s of 600s  Esc cancels", PATIENCE);
    let mut seconds =
        std::iter::repeat_with(|| session.output_during(Duration::from_secs(2)).len());
    let written = seconds.by_ref().take(10).find(|written| *written > 0);
    let written = written.unwrap_or_default();
    assert!(
        (1..=2 * BYTES_A_SECOND).contains(&written),
        "{written} bytes"
    );
    KEYS.iter()
        .map(|(key, shown)| {
            let begun = Instant::now();
            session.type_until(key, shown, PATIENCE);
            begun.elapsed().as_millis()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_work_while_the_connection_hangs_in_any_phase() {
    let stage = Stage::new(1).await;
    let folder = stage.world.folder();
    std::fs::write(folder.join("authority.pem"), an_authority()).expect("written");
    let answer = http("200 OK", &[], "{\"success\": 1}");
    let (queue, _full) = full().await;
    let silent = Faults::always(Fault::Hang).await;
    let head = Faults::always(Fault::AnswerAndHang(answer[..20].to_vec())).await;
    let body = Faults::always(Fault::AnswerAndHang(answer[..answer.len() - 1].to_vec())).await;
    let phases = [
        ("connecting", format!("http://{queue}")),
        ("TLS", silent.base_url().replace("http:", "https:")),
        ("silence", silent.base_url()),
        ("in the head", head.base_url()),
        ("in the body", body.base_url()),
    ];
    // All at once, because each mostly waits.
    let consoles = phases.map(|(name, base_url)| {
        let lines = "timeout = \"10m\"\nconnect_timeout = \"9m\"\nca_file = \"authority.pem\"";
        let config = stage.config(&base_url, lines);
        let folder = folder.to_string_lossy();
        let program = Program::groupdesk(&[])
            .env("HOME", folder.clone())
            .env("USER", "ana")
            .env("GROUPDESK_CONFIG", config.to_string_lossy())
            .env(
                "GROUPDESK_DIRECTORY",
                stage.world.directory_file().to_string_lossy(),
            );
        tokio::task::spawn_blocking(move || {
            let mut session = program.start();
            let took = press_all(&mut session);
            session.send("q");
            assert_eq!(session.exit_status(PATIENCE).code(), Some(0), "{name}");
            println!("{name}: {took:?} ms");
        })
    });
    for console in consoles {
        console.await.expect("the console answers");
    }
}
