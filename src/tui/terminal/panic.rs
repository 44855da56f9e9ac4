//! What a panic does to the screen: a panic on the console's own thread restores the terminal and reports where it
//! happened; one on any other thread does not touch the live screen and is kept for later. Texts are scrubbed, because
//! a panic message can quote a token.

use std::{
    panic::PanicHookInfo,
    sync::{Mutex, PoisonError, atomic::Ordering},
};

use super::{OWNS_SCREEN, console_thread, restore};
use crate::domain::{text::take_front, visible};

/// Maximum number of kept panics of other threads.
const MAX_KEPT: usize = 16;
/// Maximum length of a message, in columns.
const MAX_COLUMNS: usize = 300;
/// A run of token characters at least this long is taken for a secret.
const SECRET_RUN: usize = 16;
/// A word at least this long is taken for a secret if it has both letters and digits.
const SECRET_WORD: usize = 12;

static MISSED_PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// To be called by the panic hook of the process before it prints anything. Returns true when the panic was kept for
/// later, because a live screen belongs to another thread; otherwise the terminal has been restored. Not ratatui's
/// hook, which leaves the screen on a panic of any thread.
pub fn keeps_panic(panic: &PanicHookInfo<'_>) -> bool {
    let is_console = *console_thread() == Some(std::thread::current().id());
    let is_kept = OWNS_SCREEN.load(Ordering::SeqCst) && !is_console;
    if is_kept {
        let mut missed = MISSED_PANICS.lock().unwrap_or_else(PoisonError::into_inner);
        if missed.len() < MAX_KEPT {
            missed.push(describe_panic(panic));
        }
    } else {
        restore();
    }
    is_kept
}

/// Takes the panics of other threads since the last call, to show them as messages.
pub fn missed_panics() -> Vec<String> {
    std::mem::take(&mut *MISSED_PANICS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Describes a panic and its location, without anything that could be a secret.
pub fn describe_panic(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map_or_else(
        || "an unknown place".to_owned(),
        |place| format!("{}:{}", place.file(), place.line()),
    );
    let message = panic.payload_as_str().unwrap_or("no message");
    format!("{} (at {place})", scrub(message))
}

/// Returns the first line, without quoted texts, addresses, and anything that could be a token.
pub fn scrub(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    // An escaped quote does not end a quoted text.
    let line = line.replace("\\\"", "…");
    let mut scrubbed = String::new();
    let pieces: Vec<_> = line.split('"').collect();
    // A quoted text stays hidden even if it is never closed.
    for (index, piece) in pieces.iter().enumerate() {
        if index % 2 == 1 {
            scrubbed.push_str("\"…\"");
            continue;
        }
        let words: Vec<_> = piece.split(' ').collect();
        let clean = words.iter().enumerate().map(|(at, word)| {
            let is_after = at == 0 && index > 0;
            let is_before = at + 1 == words.len() && index + 1 < pieces.len();
            // A key can contain a quote.
            if (is_after || is_before) && word.bytes().any(|byte| byte.is_ascii_digit()) {
                "…".to_owned()
            } else {
                without_secrets(word)
            }
        });
        scrubbed.push_str(&clean.collect::<Vec<_>>().join(" "));
    }
    take_front(&visible(&scrubbed), MAX_COLUMNS)
}

fn without_secrets(word: &str) -> String {
    // An address can contain a name and a password, and its query anything.
    if is_mixed(word) || word.contains("://") {
        "…".to_owned()
    } else {
        without_runs(word)
    }
}

/// Whether a word has both letters and digits; any character but a space can be part of a key.
fn is_mixed(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    word.len() >= SECRET_WORD && count(u8::is_ascii_digit) > 1 && count(u8::is_ascii_alphabetic) > 1
}

fn without_runs(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_run = is_token_character(first);
        let end = rest
            .find(|c| is_token_character(c) != is_run)
            .unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        if is_run && piece.len() >= SECRET_RUN {
            kept.push('…');
        } else {
            kept.push_str(piece);
        }
        rest = after;
    }
    kept
}

/// The alphabets of hex, base64, base64url and most key formats. `_` is one of them, so long names are hidden as well.
fn is_token_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_' | '.' | '~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_scrubbed_and_the_rest_stays_readable() {
        let token = "3fa9c1d290b1e772c04d51aa3fa9c1d2";
        for message in [
            format!("called `Result::unwrap()` on an `Err` value: Token({token})"),
            "bad value \"short secret\" here".to_owned(),
            "open \"quote with a secret".to_owned(),
            "a key like sEcret1\"3fa9c1d2 with a quote".to_owned(),
            format!("line\n{token}"),
            "no answer from https://ana:secret@api.example.com/api?key=secret".to_owned(),
        ] {
            let scrubbed = scrub(&message);
            assert!(
                !scrubbed.contains("3fa9c1d2") && !scrubbed.contains("secret"),
                "{scrubbed}"
            );
        }
        let plain = "index out of bounds: the len is 3 but the index is 7";
        assert_eq!(scrub(plain), plain);
        assert_eq!(scrub("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
    }
}
