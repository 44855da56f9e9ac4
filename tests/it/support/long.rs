//! The long runs: all cases, or a spread of them.

/// Whether every case is to run (`GROUPDESK_LONG=all`), not only the spread that a plain `cargo test` takes.
pub(crate) fn all() -> bool {
    std::env::var("GROUPDESK_LONG").is_ok_and(|value| value == "all")
}

/// Every `step`th of the cases, or all of them in the long run.
pub(crate) fn spread<T>(cases: impl IntoIterator<Item = T>, step: usize) -> Vec<T> {
    cases
        .into_iter()
        .step_by(if all() { 1 } else { step })
        .collect()
}
