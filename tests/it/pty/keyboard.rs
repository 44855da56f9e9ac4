//! The shipped console on a terminal that sends too much at once, or incomplete sequences.

use super::{TempHome, prelude::*};
use crate::support::{memory::memory_of, random::Random};

const PATIENCE: Duration = Duration::from_mins(1);

/// MiB of memory in use; 0 once it is gone.
fn memory(session: &Session) -> usize {
    memory_of(session.pid(), "VmRSS").unwrap_or(0) / 1024
}

fn assert_quits(mut session: Session) {
    session.send("\x03\x03");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert_given_back(&mut session);
}

#[test]
fn thousands_of_keys_in_one_burst() {
    let place = TempHome::new();
    let mut session = place.demo();
    let before = memory(&session);
    let many = if long::all() { 1_500 } else { 500 };
    session.type_until("jk".repeat(many) + "?", "Keys: Groups", PATIENCE);
    // And into a field that takes them all, and is checked as JSON after each.
    session.send("\x1b");
    session.wait_for_no("Keys: Groups", PATIENCE);
    session.type_until("e", "Edit acme-eu", PATIENCE);
    session.type_until("\t\t", "━━ Properties", PATIENCE);
    session.type_until("x".repeat(many / 3) + "!", "x!", PATIENCE);
    let grown = memory(&session).saturating_sub(before);
    println!("{} keys, {grown} MiB more", 2 * many + many / 3);
    assert!(grown < 64, "{grown} MiB");
    assert_quits(session);
}

#[test]
fn a_paste_of_10_mb_is_accepted_and_freed() {
    let place = TempHome::new();
    let mut session = place.demo();
    let before = memory(&session);
    let row = format!("  \"key\": \"{}\",\n", "x".repeat(80));
    let text = row.repeat(10 * 1024 * 1024 / row.len());
    // Without a field, into a short field, and into the longest one.
    session.paste(&text);
    session.wait_for("Not pasted: there is no field here", PATIENCE);
    session.type_until("e", "Edit acme-eu", PATIENCE);
    session.paste(&text);
    session.wait_for("did not fit", PATIENCE);
    let small = memory(&session).saturating_sub(before);
    session.type_until("\t\t", "━━ Properties", PATIENCE);
    session.paste(&text);
    session.wait_for("not pasted: longer than the service accepts", PATIENCE);
    session.type_until("typed after it", "typed after it{", PATIENCE);
    let large = memory(&session).saturating_sub(before);
    println!("10 MiB into a short field: {small} MiB more, into the editor: {large}");
    assert!(small < 96 && large < 96, "{small} and {large} MiB");
    drop(session);
}

#[test]
fn a_paste_without_an_end_blocks_nothing_and_does_not_grow() {
    let place = TempHome::new();
    let mut session = place.demo();
    let before = memory(&session);
    session.type_until("/", "filter", PATIENCE);
    session.send("\x1b[200~acme");
    // More than anybody pastes, without the end marker.
    let piece = "x".repeat(1 << 20);
    for _ in 0..if long::all() { 200 } else { 24 } {
        session.send(&piece);
    }
    session.wait_for("Ctrl-C ends it", PATIENCE);
    let grown = memory(&session).saturating_sub(before);
    println!("an endless paste: {grown} MiB more");
    assert!(grown < 96, "{grown} MiB");
    session.type_until("\x03", "Not pasted: the text is longer", PATIENCE);
    session.send("\x1b");
    session.wait_for_no("\n filter", PATIENCE);
    session.type_until("j", ">   Acme US", PATIENCE);
    assert_quits(session);
}

/// What a broken connection or a cat on the keyboard sends: bytes, not keys.
#[test]
fn random_bytes_are_handled_or_ignored() {
    let sessions = if long::all() { 20 } else { 2 };
    let mut bytes = 0;
    for seed in 0..sessions {
        let place = TempHome::new();
        // Once the console has quit, Ctrl-C and Ctrl-Z would make the terminal drop whatever it has not shown yet, also
        // the end of the alternate screen.
        let mut session = place.shell("stty noflsh; exec groupdesk demo").start();
        session.wait_for(FIRST, PATIENCE);
        let mut dice = Random::new(1_000 + seed);
        for _ in 0..40 {
            let some: Vec<u8> = (0..50)
                .map(|_| match dice.below(6) {
                    0 => 0x1b,
                    1 => dice.one(b"[]OP;~0123?<MmR\\"),
                    2 => 0x80 + dice.below(128) as u8,
                    _ => dice.below(256) as u8,
                })
                // Excluded because, once the console has quit, the terminal's own settings make this byte kill it.
                .filter(|byte| *byte != 0x1c)
                .collect();
            bytes += some.len();
            session.send(some);
            session.output_during(Duration::from_millis(1));
        }
        // They may have made the console quit; then it quit properly.
        session.send("\x1b[201~\x03\x1b\x03\x03\x03\x03");
        let status = session.exit_status(PATIENCE);
        assert!(
            matches!(status.code(), Some(0 | 130)),
            "seed {seed}: {status:?}"
        );
        println!("seed {seed}: {status:?}");
        assert_given_back(&mut session);
    }
    println!("{bytes} bytes in {sessions} sessions");
    assert!(bytes as u64 > sessions * 1_900);
}
