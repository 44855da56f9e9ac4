//! A reader of standard output that does not read: it delays neither a signal nor the run, and no output is lost.

use std::{
    io::{PipeReader, pipe, read_to_string},
    os::fd::AsRawFd,
    path::Path,
    process::Stdio,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::process::Child;

use super::{
    guards::{group, knowing_acme},
    program::{DEADLINE, Home},
};
use crate::support::{
    faults::{Fault, Faults, http},
    stall::fill,
    stderr,
    wait::received,
};

/// A process whose standard output is a full pipe.
struct Stalled {
    child: Child,
    reader: PipeReader,
}

impl Stalled {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let (reader, writer) = pipe().expect("a pipe");
        let itself = format!("/proc/self/fd/{}", writer.as_raw_fd());
        fill(Path::new(&itself), b'\n', || true);
        let mut command = home.command(arguments);
        let child = command.stdout(Stdio::from(writer)).spawn();
        Self {
            child: child.expect("it starts"),
            reader,
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = self.child.id().expect("it runs") as i32;
        kill_process(Pid::from_raw(pid).expect("a process id"), signal).expect("it can be sent");
    }

    async fn code(&mut self) -> Option<i32> {
        let ended = tokio::time::timeout(DEADLINE, self.child.wait()).await;
        ended.expect("it ends in time").expect("it ran").code()
    }
}

/// An installation that knows `acme`, whose service then answers with this script, and a file of two rows.
async fn scene(script: Vec<Fault>) -> (Home, Faults) {
    let (home, service) = knowing_acme(script).await;
    home.write("rows.csv", "user_group_id,name\nacme,Acme\nother,Other\n");
    (home, service)
}

#[tokio::test]
async fn a_signal_ends_a_command_that_waits_for_its_reader() {
    for (arguments, signal) in [
        (
            &["import", "rows.csv", "--create", "--dry-run"][..],
            Signal::INT,
        ),
        (&["apply", "rows.csv", "--dry-run", "--json"], Signal::TERM),
        (&["get", "--refresh-all", "--dry-run"], Signal::INT),
        (&["get", "acme"], Signal::TERM),
    ] {
        let (home, service) = scene(vec![group("token-0", &json!(null))]).await;
        let mut running = Stalled::start(&home, arguments);
        if *arguments == ["get", "acme"] {
            received(&service, 2).await;
        } else {
            stderr::says(&mut running.child, "PRODUCTION live").await;
        }
        running.signal(signal);
        assert_eq!(running.code().await, Some(130), "{arguments:?}");
    }
}

#[tokio::test]
async fn a_signal_ends_a_finished_run_that_waits_for_its_reader() {
    let refused = http(
        "400 Bad Request",
        &["Content-Type: application/json"],
        json!({"success": 0, "error": {"code": "bad", "message": "no"}}).to_string(),
    );
    let (home, _service) = scene(vec![Fault::Answer(refused)]).await;
    let run = ["import", "rows.csv", "--create", "--yes", "--json"];
    let mut running = Stalled::start(&home, &run);
    // Printed when nothing is left to be done.
    stderr::says(&mut running.child, "run the same command again").await;
    running.signal(Signal::TERM);
    assert_eq!(running.code().await, Some(1));
}

#[tokio::test]
async fn the_output_is_complete_once_it_is_read() {
    let (home, _service) = scene(Vec::new()).await;
    let mut running = Stalled::start(&home, &["import", "rows.csv", "--create", "--dry-run"]);
    stderr::says(&mut running.child, "PRODUCTION live").await;
    let reader = running.reader.try_clone().expect("one more");
    let read = tokio::task::spawn_blocking(move || read_to_string(reader));
    assert_eq!(running.code().await, Some(0));
    let text = read.await.expect("no panic").expect("UTF-8");
    let text = text.trim_start_matches('\n');
    assert!(text.starts_with("create 1, without difference 1"), "{text}");
    assert!(text.contains("\ncreate other\n"), "{text}");
}
