//! Changes that may still be in progress, on either engine: an upgrade of the schema waits for them, because the
//! groupdesk that started them could not record their result afterwards.

use std::time::Duration;

use super::fault::Fault;
use crate::{
    db::{Tx, values},
    directory::{DirectoryError, columns},
    domain::{rotation::LONGEST_SETTLE_WINDOW, text::visible},
    platform::{
        boot_time::BootTime,
        clock::{self, Clock},
    },
};

/// The table and its column with what is done, if it has one.
type Journal = (&'static str, &'static str);

const ROTATIONS: Journal = ("rotations", "'rotate'");
const MUTATIONS: Journal = ("mutations", "operation");

/// The first versions whose changes have a time of the machine's own clock, and whose creates and updates are journalled.
const FIRST_WITH_CLOCK: i64 = 3;
const FIRST_WITH_MUTATIONS: i64 = 8;

/// Refuses an upgrade from this version while a change may be in progress: one that was started less than the longest settle window
/// ago, because the profile it was sent with, and so its own window, is unknown.
pub(crate) fn refuse_upgrade(tx: &Tx<'_>, from: i64) -> Result<(), Fault> {
    // A rotation has a row in both since there are mutations.
    let journal = match from {
        ..FIRST_WITH_MUTATIONS => ROTATIONS,
        _ => MUTATIONS,
    };
    let begun = begun(tx, journal, from >= FIRST_WITH_CLOCK)?;
    let mut begun = begun
        .into_iter()
        .filter_map(|(what, since)| Some((what, LONGEST_SETTLE_WINDOW.checked_sub(since)?)));
    let Some((what, mut left)) = begun.next() else {
        return Ok(());
    };
    let mut others = 0;
    for (_, longer) in begun {
        others += 1;
        left = left.max(longer);
    }
    Err(DirectoryError::UnderWay {
        what: match others {
            0 => what,
            _ => format!("{what} (and {others} more)"),
        },
        minutes: left.as_secs() / 60 + 1,
    }
    .into())
}

/// What was started and has not ended, and how long ago. Of another boot of the machine nothing is in progress.
fn begun(
    tx: &Tx<'_>,
    (table, operation): Journal,
    has_clock: bool,
) -> Result<Vec<(String, Duration)>, Fault> {
    let clock = if has_clock {
        "since(boot_clock)"
    } else {
        "NULL"
    };
    let text = format!(
        "SELECT {operation}, user_group_id, by, COALESCE(sent_at, started_at), {clock} FROM {table} \
         WHERE state IN ('intended', 'sent') ORDER BY id"
    );
    let (boot, wall) = (BootTime::now(), Clock::System.now());
    let rows: Vec<(String, String, String, i64, Option<String>)> = tx.all(text, values![])?;
    let begun = rows
        .into_iter()
        .filter_map(|(operation, group, by, wall_at, clock)| {
            let operation = match operation.as_str() {
                "rotate" => "rotation",
                other => other,
            };
            let what = format!("{operation} of \"{group}\" by {}", visible(&by));
            let begun = clock.as_deref().and_then(BootTime::parse);
            // What a server has measured itself.
            let age = clock
                .as_deref()
                .and_then(|text| text.strip_prefix("age:")?.parse().ok());
            let since = match (&boot, begun) {
                (Some(now), Some(begun)) => now.since(&begun),
                _ if age.is_some() => age.map(Duration::from_micros),
                // A time in the future is that of a clock that was wrong, and must not block for longer than that.
                _ => columns::timestamp(wall_at)
                    .filter(|begun| *begun <= wall)
                    .map(|begun| clock::between(begun, wall)),
            };
            Some((what, since?))
        });
    Ok(begun.collect())
}

/// The same for the SQL that the administrator of a database runs.
pub(crate) fn refuse_upgrade_sql() -> String {
    format!(
        "DO $$ BEGIN\n    IF EXISTS (SELECT FROM mutations WHERE state IN ('intended', 'sent')\n        \
         AND split_part(since(boot_clock), ':', 2)::bigint < {}) THEN\n        \
         RAISE EXCEPTION 'a change is in progress; try again when it has ended';\n    END IF;\nEND $$;\n",
        LONGEST_SETTLE_WINDOW.as_micros()
    )
}
