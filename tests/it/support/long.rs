//! Long runs: all cases, or a sample of them.

/// Whether to run every case (`GROUPDESK_LONG=all`), not only the sample of a plain `cargo test`.
pub(crate) fn all() -> bool {
    std::env::var("GROUPDESK_LONG").is_ok_and(|value| value == "all")
}

/// Every `step`th case, or all of them in a long run.
pub(crate) fn spread<T>(cases: impl IntoIterator<Item = T>, step: usize) -> Vec<T> {
    cases
        .into_iter()
        .step_by(if all() { 1 } else { step })
        .collect()
}

/// Every case on a file; every `step`th on a server, in a module `team`, where each costs many times more.
pub(crate) fn sampled<T>(cases: impl IntoIterator<Item = T>, module: &str, step: usize) -> Vec<T> {
    spread(cases, if module.contains("team") { step } else { 1 })
}
