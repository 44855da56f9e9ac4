//! Time and memory for files of groups: import, export, and the plan of `apply`, with 10,000 and 100,000 groups. The
//! shipped binary in processes of its own; nothing is sent. `cargo bench --bench exchange`; `GROUPDESK_BENCH_GROUPS`
//! sets another large number, `GROUPDESK_BENCH_FOLDER` another folder.
//!
//! Memory is the kernel's peak (VmHWM), read every two milliseconds until the process ends; so is processor time. On a
//! busy machine only the processor time is meaningful.

use std::{
    fmt::Write as _,
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const SMALL: usize = 10_000;
const LARGE: usize = 100_000;

fn main() {
    let large =
        variable("GROUPDESK_BENCH_GROUPS").map_or(LARGE, |text| text.parse().expect("a number"));
    let folder = match variable("GROUPDESK_BENCH_FOLDER") {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = folder.expect("a folder");
    println!(
        "{:<28} {:>8} {:>8} {:>8} {:>8}",
        "", "groups", "s", "cpu s", "MiB"
    );
    for groups in [SMALL, large] {
        let home = folder.path().join(groups.to_string());
        std::fs::create_dir(&home).expect("a folder");
        let (csv, lines) = (home.join("groups.csv"), home.join("groups.jsonl"));
        write(&csv, &lines, groups).expect("room for the files");
        let (csv, lines) = (csv.display().to_string(), lines.display().to_string());
        for (what, arguments) in [
            ("import csv", &["import", &csv, "--directory", "csv.db"][..]),
            ("import jsonl", &["import", &lines]),
            ("import jsonl again", &["import", &lines]),
            (
                "import jsonl --dry-run",
                &["import", &lines, "--dry-run", "--json"],
            ),
            ("export jsonl", &["export", "--output", "out.jsonl"]),
            ("export csv", &["export", "--format", "csv"]),
            (
                "apply jsonl --dry-run",
                &["apply", &lines, "--dry-run", "--prune-report"],
            ),
            (
                "apply csv --dry-run --json",
                &["apply", &csv, "--dry-run", "--json"],
            ),
        ] {
            let Measured { took, cpu, peak } = measure(&home, arguments);
            println!(
                "{what:<28} {groups:>8} {:>8.2} {:>8.2} {:>8.1}",
                took.as_secs_f64(),
                cpu.as_secs_f64(),
                peak as f64 / 1024.0
            );
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Writes the same groups in both formats, about 200 bytes each.
fn write(csv: &Path, lines: &Path, groups: usize) -> std::io::Result<()> {
    let mut csv = BufWriter::new(File::create(csv)?);
    let mut lines = BufWriter::new(File::create(lines)?);
    writeln!(csv, "user_group_id,name,mapping,properties")?;
    for number in 0..groups {
        let name = format!("Customer {number}, Inc.");
        let mapping = format!(
            r#"{{"40":"ds-{}","134":"ds-{}","7":"acme_orders"}}"#,
            number % 500,
            number % 300
        );
        let mut properties = String::new();
        write!(
            properties,
            r#"{{"tier":"gold","region":"eu","seats":{number},"limits":{{"rows":1000000,"exports":[1,2,3]}}}}"#
        )
        .expect("a String takes it");
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        writeln!(
            csv,
            "customer-{number:07},{},{},{}",
            quoted(&name),
            quoted(&mapping),
            quoted(&properties)
        )?;
        writeln!(
            lines,
            r#"{{"user_group_id":"customer-{number:07}","name":"{name}","mapping":{mapping},"properties":{properties}}}"#
        )?;
    }
    csv.flush()?;
    lines.flush()
}

struct Measured {
    took: Duration,
    cpu: Duration,
    /// In KiB.
    peak: u64,
}

fn measure(home: &Path, arguments: &[&str]) -> Measured {
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_groupdesk"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .env("TMPDIR", home)
        .env("GROUPDESK_BASE_URL", "http://127.0.0.1:1")
        .env("GROUPDESK_API_KEY", "none")
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let (mut cpu, mut peak) = (Duration::ZERO, 0);
    let status = loop {
        if let Some(status) = child.try_wait().expect("it runs") {
            break status;
        }
        cpu = processor(&child).unwrap_or(cpu);
        peak = high_water(&child).unwrap_or(peak);
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(status.success(), "{arguments:?}: {status}");
    Measured {
        took: begun.elapsed(),
        cpu,
        peak,
    }
}

/// In KiB.
fn high_water(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// User and kernel time; a tick is 10 ms on Linux.
fn processor(child: &Child) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(ticks * 10))
}
