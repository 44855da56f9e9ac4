//! The same in a directory that a team shares, on PostgreSQL: its clock says what may be settled.

use super::{Case, cases, whatever_dies};
use crate::support::postgres;

/// Every so many of the spread.
const STEP: usize = 17;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_dies_whenever_the_journal_in_the_database_says_what_the_service_says() {
    if postgres::server().is_none() {
        return;
    }
    let some = || Case::spread().into_iter().step_by(STEP).collect();
    let played = whatever_dies(cases(some)).await;
    let died = played.iter().any(|(_, played)| played.died);
    let died_again = played.iter().any(|(_, played)| played.died_again > 0);
    let sent = played.iter().any(|(_, played)| played.requests > 0);
    assert!(died && died_again && sent, "nothing was proved");
}
