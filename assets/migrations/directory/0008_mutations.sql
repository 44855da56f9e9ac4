-- Creates, updates and rotations from their intent to their end. The open intent is the claim on the group: one unsettled
-- mutation per group and place. Rows are never deleted; of rotations the journal of `rotations` decides.
CREATE TABLE mutations (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    place         INTEGER NOT NULL REFERENCES places (number),
    user_group_id TEXT    NOT NULL CHECK (length(user_group_id) BETWEEN 1 AND 255),
    -- create, update, rotate, or a get of an id that was not known: it can create.
    operation     TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    rotation_id   INTEGER UNIQUE REFERENCES rotations (id),
    by            TEXT    NOT NULL,
    profile       TEXT    NOT NULL,
    key           INTEGER,
    reason        TEXT,
    started_at    INTEGER NOT NULL,
    sent_at       INTEGER,
    -- As in `rotations`: when the intent, then the sending, became durable.
    boot_clock    TEXT,
    ended_at      INTEGER,
    ending        TEXT,
    note          TEXT,
    -- What was to be changed, as the history writes it.
    changes       TEXT CHECK (json_valid(changes)),
    -- Grows with every outcome of the group that is written down: a reading that left before it says nothing any more.
    recorded      INTEGER,
    -- The place it came from where two places became one, else 0: two that held one group both stand.
    merged        INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE UNIQUE INDEX mutations_one_per_group ON mutations (place, user_group_id, merged)
    WHERE state IN ('intended', 'sent', 'unknown');
CREATE INDEX mutations_open ON mutations (place, user_group_id)
    WHERE state IN ('intended', 'sent', 'unknown', 'open');
CREATE INDEX mutations_recorded ON mutations (place, user_group_id, recorded);

CREATE TRIGGER mutations_no_delete BEFORE DELETE ON mutations
BEGIN SELECT RAISE(ABORT, 'mutations are never deleted'); END;

-- Rotations that hold their group already. Of several in one group each stands, as after a merge.
INSERT INTO mutations (place, user_group_id, operation, state, rotation_id, by, profile, key, reason, started_at, sent_at,
 boot_clock, merged)
SELECT place, user_group_id, 'rotate', state, id, by, profile, key, reason, started_at, sent_at, boot_clock,
       ROW_NUMBER() OVER (PARTITION BY place, user_group_id ORDER BY id DESC) - 1
FROM rotations WHERE state IN ('intended', 'sent', 'unknown') ORDER BY id;

-- What a place is known to do that nobody documents. `source`: proven, told; a fact without a row is unknown.
CREATE TABLE facts (
    place  INTEGER NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    fact   TEXT    NOT NULL,
    value  TEXT    NOT NULL,
    source TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    by     TEXT    NOT NULL,
    PRIMARY KEY (place, fact)
) STRICT, WITHOUT ROWID;
