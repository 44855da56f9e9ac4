-- A place is one environment of one service; a profile is a name in somebody's configuration for one. Everything that
-- was kept by the name of a profile is kept by the number of a place from here on. One place per name that is known so far.

CREATE TABLE places (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    name    TEXT    NOT NULL UNIQUE,
    -- The environment tag that the profile names, else the first that an answer brought.
    tag     TEXT,
    made_at INTEGER NOT NULL,
    made_by TEXT    NOT NULL
) STRICT;

-- Addresses of a place, in their normal form. None: it comes from a directory that did not know of addresses yet.
CREATE TABLE place_urls (
    place INTEGER NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    url   TEXT    NOT NULL,
    PRIMARY KEY (url, place)
) STRICT, WITHOUT ROWID;

-- Fingerprints of API keys: HMAC-SHA-256 under the directory's key; never the key.
-- `state`: trusted, trial (may only read what proves it) or withdrawn.
CREATE TABLE place_keys (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    place       INTEGER NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    state       TEXT    NOT NULL,
    added_at    INTEGER NOT NULL,
    added_by    TEXT    NOT NULL,
    UNIQUE (fingerprint, place)
) STRICT;

-- Which place a profile with this address was last bound to; the address is '' where it was not known yet.
CREATE TABLE bindings (
    profile     TEXT    NOT NULL,
    url         TEXT    NOT NULL,
    place       INTEGER NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    environment TEXT,
    at          INTEGER NOT NULL,
    PRIMARY KEY (profile, url)
) STRICT, WITHOUT ROWID;

CREATE INDEX bindings_of_place ON bindings (place);

-- What a person said about places, and alarms that were raised and acknowledged; append-only.
CREATE TABLE place_events (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    place   INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    by      TEXT    NOT NULL,
    profile TEXT    NOT NULL,
    event   TEXT    NOT NULL,
    note    TEXT
) STRICT;

CREATE INDEX place_events_of_place ON place_events (place);

-- Answers that contradict the place. While one is not acknowledged, nothing by id is sent for the place.
CREATE TABLE alarms (
    number          INTEGER PRIMARY KEY AUTOINCREMENT,
    place           INTEGER NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    user_group_id   TEXT,
    what            TEXT    NOT NULL,
    raised_at       INTEGER NOT NULL,
    raised_by       TEXT    NOT NULL,
    acknowledged_at INTEGER,
    acknowledged_by TEXT,
    reason          TEXT
) STRICT;

CREATE INDEX alarms_open ON alarms (place) WHERE acknowledged_at IS NULL;

INSERT INTO places (name, made_at, made_by)
SELECT profile, MIN(at), '' FROM (
    SELECT profile, COALESCE(last_seen, 0) AS at FROM user_groups
    UNION ALL SELECT profile, first_seen FROM fingerprints
    UNION ALL SELECT profile, at FROM history
    UNION ALL SELECT profile, started_at FROM rotations
    UNION ALL SELECT profile, started_at FROM batches
    UNION ALL SELECT profile, started_at FROM imports
    UNION ALL SELECT profile, changed_at FROM drafts
) GROUP BY profile ORDER BY MIN(at), profile;

INSERT INTO bindings (profile, url, place, at) SELECT name, '', number, made_at FROM places;

-- The tables whose key was the profile are made anew.
ALTER TABLE user_groups RENAME TO user_groups_before;
CREATE TABLE user_groups (
    place           INTEGER NOT NULL REFERENCES places (number),
    user_group_id   TEXT    NOT NULL CHECK (length(user_group_id) BETWEEN 1 AND 255),
    name            TEXT,
    team_id         INTEGER,
    mapping         TEXT CHECK (json_valid(mapping)),
    properties      TEXT CHECK (json_valid(properties)),
    environment_tag TEXT,
    fingerprint     BLOB CHECK (length(fingerprint) = 32),
    origin          TEXT    NOT NULL CHECK (json_valid(origin)),
    last_rotated_at INTEGER,
    last_rotated_by TEXT,
    last_seen       INTEGER,
    -- Number of the API key that the last answer was got with.
    key             INTEGER,
    -- When its creation was seen: its first token is from then.
    created_at      INTEGER,
    PRIMARY KEY (place, user_group_id)
) STRICT, WITHOUT ROWID;
INSERT INTO user_groups
SELECT p.number, g.user_group_id, g.name, g.team_id, g.mapping, g.properties, g.environment_tag, g.fingerprint, g.origin,
       g.last_rotated_at, g.last_rotated_by, g.last_seen, NULL,
       (SELECT MIN(h.at) FROM history h WHERE h.profile = g.profile AND h.user_group_id = g.user_group_id
        AND h.ending IN ('created', 'created_by_get'))
FROM user_groups_before g JOIN places p ON p.name = g.profile ORDER BY p.number, g.user_group_id;
DROP TABLE user_groups_before;

ALTER TABLE fingerprints RENAME TO fingerprints_before;
CREATE TABLE fingerprints (
    fingerprint   BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    place         INTEGER NOT NULL REFERENCES places (number),
    user_group_id TEXT    NOT NULL,
    first_seen    INTEGER NOT NULL,
    last_seen     INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, place, user_group_id)
) STRICT, WITHOUT ROWID;
INSERT INTO fingerprints
SELECT f.fingerprint, p.number, f.user_group_id, f.first_seen, f.last_seen
FROM fingerprints_before f JOIN places p ON p.name = f.profile;
DROP TABLE fingerprints_before;

-- A draft of somebody else is no longer replaced where two places become one.
ALTER TABLE drafts RENAME TO drafts_before;
CREATE TABLE drafts (
    place         INTEGER NOT NULL REFERENCES places (number),
    user_group_id TEXT    NOT NULL CHECK (length(user_group_id) BETWEEN 1 AND 255),
    -- The place it came from where two places became one, else 0.
    merged        INTEGER NOT NULL DEFAULT 0,
    creating      INTEGER NOT NULL CHECK (creating IN (0, 1)),
    name          TEXT    NOT NULL,
    mapping       TEXT    NOT NULL CHECK (json_valid(mapping)),
    properties    TEXT    NOT NULL,
    mapping_text  TEXT,
    group_text    TEXT,
    base          TEXT    NOT NULL CHECK (json_valid(base)),
    base_at       INTEGER NOT NULL,
    changed_at    INTEGER NOT NULL,
    by            TEXT    NOT NULL,
    PRIMARY KEY (place, user_group_id, merged)
) STRICT;
INSERT INTO drafts
SELECT p.number, d.user_group_id, 0, d.creating, d.name, d.mapping, d.properties, d.mapping_text, d.group_text, d.base,
       d.base_at, d.changed_at, d.by
FROM drafts_before d JOIN places p ON p.name = d.profile;
DROP TABLE drafts_before;

-- Lines and journals keep the name of the profile, as it was called then, beside the place.
-- Only the place of a line may ever change: where two places turn out to be one.
DROP TRIGGER history_no_update;
ALTER TABLE history ADD COLUMN place INTEGER REFERENCES places (number);
ALTER TABLE history ADD COLUMN key INTEGER;
UPDATE history SET place = (SELECT number FROM places WHERE name = history.profile);
CREATE TRIGGER history_no_update
BEFORE UPDATE OF number, at, by, profile, user_group_id, operation, ending, previous_fingerprint, fingerprint, reason,
 changes, note, key ON history
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
-- What a program from before places would add.
CREATE TRIGGER history_needs_place BEFORE INSERT ON history WHEN NEW.place IS NULL
BEGIN SELECT RAISE(ABORT, 'a history entry needs its place'); END;
DROP INDEX history_of_profile;
DROP INDEX history_of_group;
CREATE INDEX history_of_place ON history (place);
CREATE INDEX history_of_group ON history (user_group_id, place);

DROP INDEX rotations_one_per_token;
DROP INDEX rotations_open;
DROP INDEX rotations_to_hand_off;
ALTER TABLE rotations ADD COLUMN place INTEGER REFERENCES places (number);
ALTER TABLE rotations ADD COLUMN key INTEGER;
-- The profile that began it hands new tokens off; another one of the place that finds out how it ended does not.
ALTER TABLE rotations ADD COLUMN hands_off INTEGER NOT NULL DEFAULT 0 CHECK (hands_off IN (0, 1));
-- The place it came from where two places became one, else 0: two that held one token both stand.
ALTER TABLE rotations ADD COLUMN merged INTEGER NOT NULL DEFAULT 0;
UPDATE rotations SET place = (SELECT number FROM places WHERE name = rotations.profile);
CREATE TRIGGER rotations_need_place BEFORE INSERT ON rotations WHEN NEW.place IS NULL
BEGIN SELECT RAISE(ABORT, 'a rotation needs its place'); END;
-- One rotation per seen token.
CREATE UNIQUE INDEX rotations_one_per_token ON rotations (place, user_group_id, previous, merged)
    WHERE state NOT IN ('not_applied', 'abandoned');
CREATE INDEX rotations_open ON rotations (place)
    WHERE state IN ('intended', 'sent', 'rotated', 'unknown');
CREATE INDEX rotations_to_hand_off ON rotations (place) WHERE handoff = 'pending';

DROP INDEX batches_of_profile;
ALTER TABLE batches ADD COLUMN place INTEGER REFERENCES places (number);
UPDATE batches SET place = (SELECT number FROM places WHERE name = batches.profile);
CREATE TRIGGER batches_need_place BEFORE INSERT ON batches WHEN NEW.place IS NULL
BEGIN SELECT RAISE(ABORT, 'a batch needs its place'); END;
CREATE INDEX batches_of_place ON batches (place);

DROP INDEX imports_open;
ALTER TABLE imports ADD COLUMN place INTEGER REFERENCES places (number);
UPDATE imports SET place = (SELECT number FROM places WHERE name = imports.profile);
CREATE TRIGGER imports_need_place BEFORE INSERT ON imports WHEN NEW.place IS NULL
BEGIN SELECT RAISE(ABORT, 'an import needs its place'); END;
CREATE INDEX imports_open ON imports (place, digest) WHERE ended_at IS NULL;

CREATE TRIGGER place_events_no_update BEFORE UPDATE ON place_events
BEGIN SELECT RAISE(ABORT, 'place_events is append-only'); END;
CREATE TRIGGER place_events_no_delete BEFORE DELETE ON place_events
BEGIN SELECT RAISE(ABORT, 'place_events is append-only'); END;
