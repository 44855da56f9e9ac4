//! Assertions about texts; a failure shows the whole text.

#[track_caller]
pub(crate) fn assert_has(text: impl AsRef<str>, part: &str) {
    let text = text.as_ref();
    assert!(text.contains(part), "{part:?} is missing in: {text}");
}

#[track_caller]
pub(crate) fn assert_lacks(text: impl AsRef<str>, part: &str) {
    let text = text.as_ref();
    assert!(!text.contains(part), "{part:?} is in: {text}");
}
