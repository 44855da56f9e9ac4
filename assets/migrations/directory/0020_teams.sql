-- From 0.2.0 to 0.3.0, in one step. Numbers 9 to 19 were those of development versions, which no release reads.

-- What people write beside a group for each other, and views of the list that they saved. Never sent.
CREATE TABLE annotations (
    place         INTEGER NOT NULL REFERENCES places (number),
    user_group_id TEXT    NOT NULL CHECK (length(user_group_id) BETWEEN 1 AND 255),
    note          TEXT,
    noted_at      INTEGER,
    noted_by      TEXT,
    -- Without the `#`.
    labels        TEXT    NOT NULL CHECK (json_valid(labels)),
    labelled_at   INTEGER,
    labelled_by   TEXT,
    favourite     INTEGER NOT NULL CHECK (favourite IN (0, 1)),
    change        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (place, user_group_id)
) STRICT, WITHOUT ROWID;

-- `columns` as in `:columns`; empty for the usual ones.
CREATE TABLE saved_views (
    name       TEXT    NOT NULL PRIMARY KEY,
    filter     TEXT    NOT NULL,
    sort       TEXT    NOT NULL,
    reverse    INTEGER NOT NULL,
    best_first INTEGER NOT NULL,
    columns    TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    by         TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE console_views ADD COLUMN columns TEXT NOT NULL DEFAULT '';

-- A batch is a queue of single rotations, or of single updates that make one change; `change` says which, as JSON.
ALTER TABLE batches ADD COLUMN kind TEXT NOT NULL DEFAULT 'rotate' CHECK (kind IN ('rotate', 'edit'));
ALTER TABLE batches ADD COLUMN change TEXT CHECK (json_valid(change));
-- Why the last run of a batch began nothing more, as JSON; "running" from its begin until then.
ALTER TABLE batches ADD COLUMN stopped TEXT CHECK (json_valid(stopped));
-- The last number of the directory when the groups of the batch were selected. NULL: begun with 0.2.0.
ALTER TABLE batches ADD COLUMN noted INTEGER;

-- Set when the update is about to leave, in one transaction; its row in `mutations` says how it ended.
ALTER TABLE batch_items ADD COLUMN mutation_id INTEGER REFERENCES mutations (id);
-- What the review showed of the group, and what the row is to be: {"name", "mapping", "properties", "to"}.
ALTER TABLE batch_items ADD COLUMN edit TEXT CHECK (json_valid(edit));

-- The runs of batches: a process that works on one says so here every few seconds, also while it is paused, so that others
-- can tell it from one that died. `boot_clock` is when it was last heard of, by the clock since the start of the machine;
-- `process` names it, so that its own machine sees at once that it has ended. A run that ended stays, with `ended` set.
CREATE TABLE batch_runs (
    batch_id     INTEGER NOT NULL REFERENCES batches (id),
    run          INTEGER NOT NULL,
    by           TEXT    NOT NULL,
    process      TEXT,
    paused       INTEGER NOT NULL,
    stands_since INTEGER NOT NULL,
    seen         INTEGER NOT NULL,
    boot_clock   TEXT,
    ended        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (batch_id, run)
) STRICT, WITHOUT ROWID;

-- Whose scheduled rotation is at work on a place, so that two never overlap, also of two machines: one row per place, with
-- the same words as `batch_runs`. One whose process died is taken over by the next; one that ended stays, with `ended` set.
CREATE TABLE scheduled_runs (
    place        INTEGER PRIMARY KEY REFERENCES places (number),
    run          INTEGER NOT NULL,
    by           TEXT    NOT NULL,
    process      TEXT,
    stands_since INTEGER NOT NULL,
    seen         INTEGER NOT NULL,
    boot_clock   TEXT,
    ended        INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What the consoles of one directory see of each other. `change` counts the writes of groups within a place, so that the
-- rows written since a look are found without reading all; 0: not written since 0.2.0. `desk` is a number of whoever had
-- the directory open and wrote the row: one's own writes are no news.
ALTER TABLE user_groups ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user_groups ADD COLUMN desk INTEGER;
CREATE INDEX user_groups_changed ON user_groups (place, change) WHERE change > 0;

-- The same for notes, labels and favourites, counted for the whole directory by whatever writes them.
CREATE INDEX annotations_changed ON annotations (change);
CREATE TRIGGER annotations_added AFTER INSERT ON annotations BEGIN
    UPDATE annotations SET change = (SELECT MAX(change) + 1 FROM annotations)
        WHERE place = NEW.place AND user_group_id = NEW.user_group_id;
END;
CREATE TRIGGER annotations_written
    AFTER UPDATE OF place, user_group_id, note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite ON annotations BEGIN
    UPDATE annotations SET change = (SELECT MAX(change) + 1 FROM annotations)
        WHERE place = NEW.place AND user_group_id = NEW.user_group_id;
END;

-- The name, or else the id, in lower case: finds the first groups of a list that is sorted by name. NULL: written by another
-- program.
ALTER TABLE user_groups ADD COLUMN title TEXT;
CREATE INDEX user_groups_by_title ON user_groups (place, title);

-- The process that began it, as in `batch_runs`: so that its own machine sees at once that nobody works on it any more.
ALTER TABLE rotations ADD COLUMN process TEXT;

-- How many microseconds after it was sent a change may still take effect, by the timeout of the profile that sent it: who
-- settles it may have a shorter one. NULL: begun with 0.2.0.
ALTER TABLE rotations ADD COLUMN settles_in INTEGER;
ALTER TABLE mutations ADD COLUMN settles_in INTEGER;

-- Who hands the new token off, or was the last to: a run of a hand-off, taken in one transaction so that no two deliver the
-- same token; `handoff_limit` is how many microseconds it may take at most, from `handoff_clock` on, which is as `boot_clock`.
ALTER TABLE rotations ADD COLUMN handoff_run INTEGER;
ALTER TABLE rotations ADD COLUMN handoff_by TEXT;
ALTER TABLE rotations ADD COLUMN handoff_process TEXT;
ALTER TABLE rotations ADD COLUMN handoff_limit INTEGER;
ALTER TABLE rotations ADD COLUMN handoff_at INTEGER;
ALTER TABLE rotations ADD COLUMN handoff_clock TEXT;

-- Its `previous` was returned as the current token again, long after it had been replaced: the service's data was restored
-- to an older copy. Such a rotation no longer keeps that token from being rotated. What was read so with 0.2.0 counts as well.
ALTER TABLE rotations ADD COLUMN revived INTEGER NOT NULL DEFAULT 0 CHECK (revived IN (0, 1));
UPDATE rotations SET revived = 1 WHERE state IN ('confirmed', 'recovered', 'superseded') AND EXISTS (
    SELECT 1 FROM user_groups g WHERE g.place = rotations.place AND g.user_group_id = rotations.user_group_id
        AND g.fingerprint = rotations.previous AND g.last_seen > rotations.started_at + 1200000000);
DROP INDEX rotations_one_per_token;
CREATE UNIQUE INDEX rotations_one_per_token ON rotations (place, user_group_id, previous, merged)
    WHERE state NOT IN ('not_applied', 'abandoned') AND NOT revived;
CREATE INDEX rotations_revived ON rotations (place) WHERE revived;

-- Set with the intent of a rotation whose new token goes to a file, until it is in one.
ALTER TABLE rotations ADD COLUMN unwritten INTEGER NOT NULL DEFAULT 0 CHECK (unwritten IN (0, 1));

-- The rotations of one group are found without reading those of others.
CREATE INDEX rotations_of_group ON rotations (place, user_group_id);

-- The last recorded change of each group, of its fields and of its token, numbered in the order of the directory: an answer
-- to a request that was sent before it says nothing about that part any more. `rotation`: the rotation that the token came
-- from; NULL where it was changed elsewhere. `boot_clock`: when it was recorded, as in `rotations`.
CREATE TABLE last_changes (
    place         INTEGER NOT NULL REFERENCES places (number),
    user_group_id TEXT    NOT NULL CHECK (length(user_group_id) BETWEEN 1 AND 255),
    part          TEXT    NOT NULL CHECK (part IN ('fields', 'token')),
    number        INTEGER NOT NULL,
    rotation      INTEGER REFERENCES rotations (id),
    boot_clock    TEXT,
    PRIMARY KEY (place, user_group_id, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX last_changes_by_number ON last_changes (number);

-- The change that an entry is about: what became of one is found by its number. NULL: written with 0.2.0, or about none.
DROP TRIGGER history_no_update;
ALTER TABLE history ADD COLUMN mutation INTEGER;
ALTER TABLE history ADD COLUMN rotation INTEGER;
CREATE TRIGGER history_no_update
BEFORE UPDATE OF number, at, by, profile, user_group_id, operation, ending, previous_fingerprint, fingerprint, reason,
 changes, note, key, mutation, rotation ON history
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;

-- What the request of an open create or update contained, and no later request of the group has replaced.
ALTER TABLE mutations ADD COLUMN sent TEXT CHECK (json_valid(sent));
DROP INDEX mutations_recorded;
ALTER TABLE mutations DROP COLUMN recorded;
