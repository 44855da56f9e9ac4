//! How rows become values: the columns of each type, once. Of a group only the field that cannot be read is left out.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    db::{Cursor, Fault, Read, record},
    directory::{
        Alarm, BatchItem, BatchRun, EventKind, HandOffTaker, ItemKey, ItemUpdate, JournalEvent,
        KeyState, Mutation, Numbered, Owner, PlaceEvent, PlaceKey, RotationRow, RunId, TokenChange,
        columns::{EventColumns, Origin, Origins},
    },
    domain::{
        annotation::Attribution,
        batch::ItemStatus,
        group::UserGroupId,
        handoff::HandOff,
        history::Entry,
        known::{Known, KnownGroup, LastRotated},
        mutation,
        rotation::Rotation,
    },
};

type Result<T> = std::result::Result<T, Fault>;

record!(Rotation, "rotations" { state, previous, fingerprint, refused, read_unchanged });
// Of an item that has no rotation there is none.
record!(HandOff, "rotations" { state = "COALESCE(handoff, 'none')", exit = "handoff_exit", note = "handoff_note" });
record!(RotationRow, "rotations" {
    id, place, profile, hands_off, user_group_id, rotation, by, reason, started_at, sent_at, note, handoff,
    boot_clock = "since(boot_clock)" or None, process, settles_in or Duration::ZERO, taker,
});

impl Read for Option<HandOffTaker> {
    fn columns(_: &'static str, list: &mut Vec<&'static str>) {
        list.push(
            "handoff_run, handoff_by, handoff_process, handoff_limit, handoff_at, since(handoff_clock)",
        );
    }

    fn read(row: &mut Cursor<'_>) -> Result<Self> {
        let (run, by): (Option<RunId>, Option<String>) = (row.next()?, row.next()?);
        let (process, limit) = (row.next()?, row.next::<Option<Duration>>()?);
        let (at, boot_clock) = (row.next()?, row.next().unwrap_or_default());
        let Some(((run, by), at)) = run.zip(by).zip(at) else {
            return Ok(None);
        };
        Ok(Some(HandOffTaker {
            run,
            by,
            process,
            limit: limit.unwrap_or_default(),
            at,
            boot_clock,
        }))
    }
}
record!(Mutation, "mutations" {
    id, user_group_id, operation, state, rotation = "rotation_id", by, profile, started_at, sent_at or None,
    boot_clock = "since(boot_clock)" or None, settles_in or Duration::ZERO, ending or None, note, changes or None, sent or None,
});
record!(Entry, "history" {
    at, by, profile, user_group_id, operation, ending, previous_fingerprint, fingerprint, reason, changes or None, note,
});
record!(Owner, "fingerprints" {
    environment = "p.name", place = "f.place", user_group_id = "f.user_group_id",
    current = "COALESCE(g.fingerprint = f.fingerprint, FALSE) AS is_current", last_seen = "f.last_seen",
} with { bound: Vec::new() });
record!(TokenChange, "last_changes" {
    rotation = "c.rotation", by = "r.by", recorded = "since(c.boot_clock)" or None,
});
record!(BatchRun, "batch_runs" {
    id = "run", by, process, is_paused = "paused", since = "stands_since", seen,
    boot_clock = "since(boot_clock)" or None, is_revoked,
});
record!(Alarm, "alarms" { number, user_group_id, what, at = "raised_at", by = "raised_by" });
record!(PlaceEvent, "place_events" { at, by, profile, event, note });
record!(PlaceKey, "place_keys" {
    id = "k.number", fingerprint = "k.fingerprint",
    // An unknown state is not trusted with anything.
    state = "k.state" or KeyState::Withdrawn,
    added_at = "k.added_at", added_by = "k.added_by",
    recorded = "(SELECT COUNT(*) FROM history h WHERE h.place = k.place AND h.key = k.number)",
});
record!(Attribution, "saved_views" { at, by });

impl<T: Read> Read for Numbered<T> {
    fn columns(_: &'static str, list: &mut Vec<&'static str>) {
        list.push("number");
        T::columns("", list);
    }

    fn read(row: &mut Cursor<'_>) -> Result<Self> {
        let (number, value) = (row.next()?, row.next()?);
        Ok(Self { number, value })
    }
}

impl Read for EventKind {
    fn columns(_: &'static str, list: &mut Vec<&'static str>) {
        list.push("event, fingerprint, since_sent, horizon_passed");
    }

    fn read(row: &mut Cursor<'_>) -> Result<Self> {
        let columns = EventColumns {
            event: row.value()?.text().ok_or(Fault::Column)?,
            fingerprint: row.next()?,
            since_sent: row.next()?,
            horizon_passed: row.next()?,
        };
        columns.what().ok_or(Fault::Column)
    }
}
record!(JournalEvent, "rotation_events" { at, what, state, note });

/// As far as its row can be read: a field that cannot is unknown. `None` if not even the id can.
impl Read for Option<KnownGroup> {
    fn columns(_: &'static str, list: &mut Vec<&'static str>) {
        list.push(
            "user_group_id, origin, name, team_id, mapping, properties, environment_tag, fingerprint, last_rotated_at, \
             last_rotated_by, last_seen, created_at",
        );
    }

    fn read(row: &mut Cursor<'_>) -> Result<Self> {
        let Ok(id) = UserGroupId::parse(row.next::<String>()?) else {
            return Ok(None);
        };
        let origins = row.value()?.text().ok_or(Fault::Column)?;
        let origins = serde_json::from_str::<Origins<'_>>(origins).unwrap_or_default();
        let mut group = KnownGroup::new(id);
        group.name = known(origins.name, row.next());
        group.team_id = known(origins.team_id, row.next());
        group.mapping = known(origins.mapping, row.next());
        group.properties = known(origins.properties, row.next());
        group.environment_tag = known(origins.environment_tag, row.next());
        group.fingerprint = known(origins.fingerprint, row.next());
        let at: Option<Timestamp> = row.next().unwrap_or_default();
        let by = row.next()?;
        group.last_rotated = at.map(|at| LastRotated { at, by });
        group.last_seen = row.next().unwrap_or_default();
        group.created_at = row.next().unwrap_or_default();
        Ok(Some(group))
    }
}

/// A value is known only together with its origin.
fn known<T>(origin: Option<Origin<'_>>, value: Result<Option<T>>) -> Option<Known<T>> {
    origin?.known(value.ok()??)
}

/// Columns: state of the rotation, ending without one, state of the update.
impl Read for ItemStatus {
    fn columns(_: &'static str, list: &mut Vec<&'static str>) {
        list.push("r.state, COALESCE(m.ending, i.outcome), m.state");
    }

    fn read(row: &mut Cursor<'_>) -> Result<Self> {
        let (state, ending) = (row.next()?, row.next()?);
        let update: Option<mutation::State> = row.next()?;
        Ok(match update {
            Some(update) => Self::of_update(update, ending),
            None => Self::of(state, ending),
        })
    }
}

record!(ItemKey, "batch_items" { batch = "i.batch_id", position = "i.position" });
record!(BatchItem, "batch_items" {
    key, user_group_id = "i.user_group_id", rotation = "i.rotation_id", state = "r.state", update,
    edit = "i.edit" or None, ending = "COALESCE(m.ending, i.outcome)", note = "COALESCE(r.note, m.note, i.note)",
    previous = "r.previous", fingerprint = "r.fingerprint", by = "COALESCE(r.by, m.by)",
    at = "COALESCE(r.sent_at, r.started_at, m.sent_at, m.started_at)" or None, handoff, unwritten = (super::batches::unwritten!()),
    cause = "(SELECT e.note FROM rotation_events e WHERE e.rotation_id = r.id AND e.state = 'unknown' \
        AND e.note IS NOT NULL ORDER BY e.seq LIMIT 1)",
});

impl Read for Option<ItemUpdate> {
    fn columns(_: &'static str, list: &mut Vec<&'static str>) {
        list.push("i.mutation_id, m.state");
    }

    fn read(row: &mut Cursor<'_>) -> Result<Self> {
        let (id, state): (Option<_>, Option<_>) = (row.next()?, row.next()?);
        Ok(id.zip(state).map(|(id, state)| ItemUpdate { id, state }))
    }
}
