//! The same with a shared directory on PostgreSQL, whose clock decides what may be settled.

use super::*;

/// Takes every 17th of the selected cases.
const STEP: usize = 17;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_any_death_the_journal_in_the_database_agrees_with_the_service() {
    if postgres::server().is_none() {
        return;
    }
    let some = || Case::spread().into_iter().step_by(STEP).collect();
    let played = play_and_check(cases(some)).await;
    let died = played.iter().any(|(_, played)| played.died);
    let died_again = played.iter().any(|(_, played)| played.died_again > 0);
    let sent = played.iter().any(|(_, played)| played.requests > 0);
    assert!(died && died_again && sent, "nothing was proved");
}
