//! Places at which a process of a test breaks: what the program says of an error of its own cannot be seen otherwise.
//! Without the feature `failpoints` nothing can break there.

use std::io;

/// Where it breaks and how: `panic PLACE MESSAGE` or `error PLACE MESSAGE`.
#[cfg(feature = "failpoints")]
const BREAK: &str = "GROUPDESK_TEST_BREAK";

/// Passes a place.
///
/// # Panics
/// Where the variable says so.
#[cfg(feature = "failpoints")]
pub fn break_at(place: &str) -> io::Result<()> {
    let said = std::env::var(BREAK).unwrap_or_default();
    let mut words = said.splitn(3, ' ');
    let how = words.next();
    if words.next() != Some(place) {
        return Ok(());
    }
    let message = words.next().unwrap_or_default();
    assert!(how != Some("panic"), "{message}");
    Err(io::Error::other(message.to_owned()))
}

#[cfg(not(feature = "failpoints"))]
pub fn break_at(_: &str) -> io::Result<()> {
    Ok(())
}
