//! Copying through the terminal, which never confirms it.

use super::prelude::*;

/// The bytes of a text in base64 (RFC 4648, section 4).
fn decoded(text: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    assert_eq!(text.len() % 4, 0, "{text}");
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for sign in text.trim_end_matches('=').bytes() {
        let value = alphabet.iter().position(|known| *known == sign);
        bits = bits << 6 | value.expect("a sign of the alphabet") as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    bytes
}

/// The texts passed to the clipboard, in order.
fn copied(session: &mut Session) -> Vec<String> {
    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
    raw.split("\x1b]52;c;")
        .skip(1)
        .map(|rest| {
            let end = rest.find(['\x07', '\x1b']).expect("an end");
            String::from_utf8(decoded(&rest[..end])).expect("text")
        })
        .collect()
}

#[test]
fn the_copy_menu_sends_to_the_terminal_and_promises_nothing() {
    let place = TempHome::new();
    let mut session = place.groupdesk(&["demo"]).size(24, 120).start();
    session.wait_for("10 groups", PATIENCE);
    session.type_until("y", "> user group ID", PATIENCE);
    session.type_until("\r", "User group ID sent to your terminal", PATIENCE);
    session.wait_for("it does not confirm", PATIENCE);
    assert_eq!(copied(&mut session), ["acme-eu"]);
    session.type_until("yj\r", "Name sent to your terminal", PATIENCE);
    assert_eq!(copied(&mut session), ["acme-eu", "Acme Europe (test)"]);
}

#[test]
fn a_token_is_copied_without_being_shown() {
    let place = TempHome::new();
    let mut session = place.groupdesk(&["demo"]).size(24, 120).start();
    session.wait_for("10 groups", PATIENCE);
    session.type_until("t", "T rotates it", PATIENCE);
    session.type_until("y", "Token sent to your terminal", PATIENCE);
    let copied = copied(&mut session);
    assert_eq!(copied.len(), 1);
    assert_eq!(copied[0].len(), 64);
    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
    assert!(!raw.contains(&copied[0][..16]), "it was shown");
}
