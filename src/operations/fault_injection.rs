//! Points at which tests make a process fail: how the program reports its own internal errors cannot be tested
//! otherwise. Without the feature `failpoints` these points do nothing.

use std::io;

/// Names the point and how to fail there: `panic PLACE MESSAGE` or `error PLACE MESSAGE`.
#[cfg(feature = "failpoints")]
const BREAK: &str = "GROUPDESK_TEST_BREAK";

/// Passes a point. Returns an error if the variable asks for one.
///
/// # Panics
/// If the variable asks for a panic.
#[cfg(feature = "failpoints")]
pub fn fail_at(place: &str) -> io::Result<()> {
    let spec = std::env::var(BREAK).unwrap_or_default();
    let mut words = spec.splitn(3, ' ');
    let how = words.next();
    if words.next() != Some(place) {
        return Ok(());
    }
    let message = words.next().unwrap_or_default();
    assert!(how != Some("panic"), "{message}");
    Err(io::Error::other(message.to_owned()))
}

#[cfg(not(feature = "failpoints"))]
pub fn fail_at(_: &str) -> io::Result<()> {
    Ok(())
}
