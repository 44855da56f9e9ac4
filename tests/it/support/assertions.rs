//! Assertions about texts; a failure shows the whole text.

/// A text without its line breaks, which depend on the width.
pub(crate) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
pub(crate) fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is missing in: {text}");
}

#[track_caller]
pub(crate) fn assert_lacks(text: &str, part: &str) {
    assert!(!text.contains(part), "{part:?} is in: {text}");
}
