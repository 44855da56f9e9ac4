//! Assertions about texts; a failure shows the whole text.

use memchr::memmem;

/// Whether a text contains a part. `str::contains` is slow where it is not optimised: here it is compiled with the tests.
pub(crate) fn is_in(text: &str, part: &str) -> bool {
    memmem::find(text.as_bytes(), part.as_bytes()).is_some()
}

/// A text without its line breaks, which depend on the width.
pub(crate) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
pub(crate) fn assert_has(text: &str, part: &str) {
    assert!(is_in(text, part), "{part:?} is missing in: {text}");
}

#[track_caller]
pub(crate) fn assert_lacks(text: &str, part: &str) {
    assert!(!is_in(text, part), "{part:?} is in: {text}");
}

/// Asserts that a value has a form; a failure shows the value, or the words that follow the form.
macro_rules! assert_is {
    ($value:expr, $form:pat $(if $guard:expr)? $(,)?) => {
        match &$value {
            $form $(if $guard)? => {}
            other => panic!("{other:?}"),
        }
    };
    ($value:expr, $form:pat $(if $guard:expr)?, $($words:tt)+) => {
        match &$value {
            $form $(if $guard)? => {}
            _ => panic!($($words)+),
        }
    };
}
pub(crate) use assert_is;
