-- Bulk rotation: a batch is a queue of single rotations; each has its own row in `rotations`.
CREATE TABLE batches (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    profile    TEXT    NOT NULL,
    by         TEXT    NOT NULL,
    reason     TEXT,
    started_at INTEGER NOT NULL,
    -- Null while something is left to do.
    ended_at   INTEGER
) STRICT;

CREATE INDEX batches_of_profile ON batches (profile);

-- `outcome` is null until the item has ended; `rotation_id` is set with the intent, in one transaction.
CREATE TABLE batch_items (
    batch_id      INTEGER NOT NULL REFERENCES batches (id),
    position      INTEGER NOT NULL,
    user_group_id TEXT    NOT NULL,
    rotation_id   INTEGER REFERENCES rotations (id),
    outcome       TEXT,
    note          TEXT,
    PRIMARY KEY (batch_id, position),
    UNIQUE (batch_id, user_group_id)
) STRICT, WITHOUT ROWID;

-- The hand-off of a new token: none, pending, done or failed; with the exit code and the last line of its stderr.
ALTER TABLE rotations ADD COLUMN handoff TEXT NOT NULL DEFAULT 'none';
ALTER TABLE rotations ADD COLUMN handoff_exit INTEGER;
ALTER TABLE rotations ADD COLUMN handoff_note TEXT;

CREATE INDEX rotations_to_hand_off ON rotations (profile) WHERE handoff = 'pending';
