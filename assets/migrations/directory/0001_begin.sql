-- What this desk remembers. Fingerprints, never tokens.
-- Times are whole microseconds since 1970-01-01 UTC; JSON is kept as text, key order as written.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per known group of a profile. `origin` says of each value where it came from:
-- {"name": ["sent", 1767225600000000, "ana@bastion2"], ...}; a value without its origin does not count as known.
CREATE TABLE user_groups (
    profile         TEXT NOT NULL,
    user_group_id   TEXT NOT NULL CHECK (length(user_group_id) BETWEEN 1 AND 255),
    name            TEXT,
    team_id         INTEGER,
    mapping         TEXT CHECK (json_valid(mapping)),
    properties      TEXT CHECK (json_valid(properties)),
    environment_tag TEXT,
    fingerprint     BLOB CHECK (length(fingerprint) = 32),
    origin          TEXT NOT NULL CHECK (json_valid(origin)),
    last_rotated_at INTEGER,
    last_rotated_by TEXT,
    last_seen       INTEGER,
    PRIMARY KEY (profile, user_group_id)
) STRICT, WITHOUT ROWID;

-- Every fingerprint a group ever had: "whose token is this?".
CREATE TABLE fingerprints (
    fingerprint   BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    profile       TEXT    NOT NULL,
    user_group_id TEXT    NOT NULL,
    first_seen    INTEGER NOT NULL,
    last_seen     INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, profile, user_group_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE history (
    number               INTEGER PRIMARY KEY AUTOINCREMENT,
    at                   INTEGER NOT NULL,
    by                   TEXT    NOT NULL,
    profile              TEXT    NOT NULL,
    user_group_id        TEXT    NOT NULL,
    operation            TEXT    NOT NULL,
    ending               TEXT    NOT NULL,
    previous_fingerprint BLOB CHECK (length(previous_fingerprint) = 32),
    fingerprint          BLOB CHECK (length(fingerprint) = 32),
    reason               TEXT,
    changes              TEXT CHECK (json_valid(changes)),
    note                 TEXT
) STRICT;

CREATE INDEX history_of_profile ON history (profile);
CREATE INDEX history_of_group ON history (user_group_id, profile);

CREATE TABLE rotations (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    profile        TEXT    NOT NULL,
    user_group_id  TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    previous       BLOB    NOT NULL CHECK (length(previous) = 32),
    fingerprint    BLOB CHECK (length(fingerprint) = 32),
    refused        INTEGER NOT NULL CHECK (refused IN (0, 1)),
    read_unchanged INTEGER NOT NULL CHECK (read_unchanged IN (0, 1)),
    by             TEXT    NOT NULL,
    reason         TEXT,
    started_at     INTEGER NOT NULL,
    sent_at        INTEGER,
    note           TEXT
) STRICT;

-- One rotation per seen token.
CREATE UNIQUE INDEX rotations_one_per_token ON rotations (profile, user_group_id, previous)
    WHERE state NOT IN ('not_applied', 'abandoned');

CREATE INDEX rotations_open ON rotations (profile)
    WHERE state IN ('intended', 'sent', 'rotated', 'unknown');

-- What happened to a rotation, in order; `rotations` can be computed from it again.
-- `since_sent` is in milliseconds; `horizon_passed` is 1 where the step needed the settle horizon to be over.
CREATE TABLE rotation_events (
    rotation_id    INTEGER NOT NULL REFERENCES rotations (id),
    seq            INTEGER NOT NULL,
    at             INTEGER NOT NULL,
    event          TEXT    NOT NULL,
    fingerprint    BLOB CHECK (length(fingerprint) = 32),
    since_sent     INTEGER,
    horizon_passed INTEGER NOT NULL CHECK (horizon_passed IN (0, 1)),
    state          TEXT    NOT NULL,
    note           TEXT,
    PRIMARY KEY (rotation_id, seq)
) STRICT, WITHOUT ROWID;

-- Append-only. The insert triggers are there because INSERT OR REPLACE deletes without asking the delete trigger.
CREATE TRIGGER history_no_update BEFORE UPDATE ON history
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER history_no_delete BEFORE DELETE ON history
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER history_no_replace BEFORE INSERT ON history
WHEN EXISTS (SELECT 1 FROM history WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;

CREATE TRIGGER rotation_events_no_update BEFORE UPDATE ON rotation_events
BEGIN SELECT RAISE(ABORT, 'rotation_events is append-only'); END;
CREATE TRIGGER rotation_events_no_delete BEFORE DELETE ON rotation_events
BEGIN SELECT RAISE(ABORT, 'rotation_events is append-only'); END;
CREATE TRIGGER rotation_events_no_replace BEFORE INSERT ON rotation_events
WHEN EXISTS (SELECT 1 FROM rotation_events WHERE rotation_id = NEW.rotation_id AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'rotation_events is append-only'); END;
