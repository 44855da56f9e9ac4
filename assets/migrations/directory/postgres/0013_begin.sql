-- What a team remembers together, as PostgreSQL keeps it: the tables of the file at versions 13 and 14, under the same names, so that
-- one text asks both. Fingerprints, never tokens. Times are whole microseconds since 1970-01-01 UTC as the operator saw them;
-- JSON is kept as text, key order as written. What has no name here is found through the search path: it is this schema alone.

CREATE TABLE schema_versions (
    version BIGINT PRIMARY KEY,
    at      TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    by      NAME        NOT NULL DEFAULT session_user
);

-- Makes fingerprints; a table of its own, for rights of its own.
CREATE TABLE fingerprint_key (
    key BYTEA NOT NULL CHECK (octet_length(key) = 32)
);

-- Which installation this is: a copy of it is another one.
CREATE TABLE installation (
    instance UUID NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO installation DEFAULT VALUES;

-- A row of every write: who asks for it again after a lost line learns whether that write was committed. Where it was not,
-- the question leaves the row, so that the write never can be, and the next question is answered alike.
CREATE TABLE writes (
    stamp UUID PRIMARY KEY,
    at    TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    asked BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE INDEX writes_by_time ON writes (at);

CREATE TABLE places (
    number  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name    TEXT COLLATE "C" NOT NULL UNIQUE,
    tag     TEXT,
    made_at BIGINT NOT NULL,
    made_by TEXT   NOT NULL
);

CREATE TABLE place_urls (
    place BIGINT NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    url   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (url, place)
);

CREATE TABLE place_keys (
    number      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    place       BIGINT NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    fingerprint BYTEA  NOT NULL CHECK (octet_length(fingerprint) = 32),
    state       TEXT   NOT NULL,
    added_at    BIGINT NOT NULL,
    added_by    TEXT   NOT NULL,
    UNIQUE (fingerprint, place)
);

CREATE TABLE bindings (
    profile     TEXT COLLATE "C" NOT NULL,
    url         TEXT COLLATE "C" NOT NULL,
    place       BIGINT NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    environment TEXT,
    at          BIGINT NOT NULL,
    PRIMARY KEY (profile, url)
);
CREATE INDEX bindings_of_place ON bindings (place);

CREATE TABLE place_events (
    number  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    place   BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    by      TEXT   NOT NULL,
    profile TEXT   NOT NULL,
    event   TEXT   NOT NULL,
    note    TEXT
);
CREATE INDEX place_events_of_place ON place_events (place);

CREATE TABLE alarms (
    number          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    place           BIGINT NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    user_group_id   TEXT COLLATE "C",
    what            TEXT   NOT NULL,
    raised_at       BIGINT NOT NULL,
    raised_by       TEXT   NOT NULL,
    acknowledged_at BIGINT,
    acknowledged_by TEXT,
    reason          TEXT
);
CREATE INDEX alarms_open ON alarms (place) WHERE acknowledged_at IS NULL;

CREATE TABLE facts (
    place  BIGINT NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    fact   TEXT COLLATE "C" NOT NULL,
    value  TEXT   NOT NULL,
    source TEXT   NOT NULL,
    at     BIGINT NOT NULL,
    by     TEXT   NOT NULL,
    PRIMARY KEY (place, fact)
);

-- `changed_in` is the transaction that wrote the row: consoles ask for the difference of two snapshots, because numbers that
-- are counted up become visible in another order than they were given out.
CREATE TABLE user_groups (
    place           BIGINT NOT NULL REFERENCES places (number),
    user_group_id   TEXT COLLATE "C" NOT NULL CHECK (char_length(user_group_id) BETWEEN 1 AND 255),
    name            TEXT,
    team_id         BIGINT,
    mapping         TEXT CHECK (mapping IS NULL OR mapping::json IS NOT NULL),
    properties      TEXT CHECK (properties IS NULL OR properties::json IS NOT NULL),
    environment_tag TEXT,
    fingerprint     BYTEA CHECK (octet_length(fingerprint) = 32),
    origin          TEXT   NOT NULL CHECK (origin IS NULL OR origin::json IS NOT NULL),
    last_rotated_at BIGINT,
    last_rotated_by TEXT,
    last_seen       BIGINT,
    key             BIGINT,
    created_at      BIGINT,
    change          BIGINT NOT NULL DEFAULT 0,
    desk            BIGINT,
    changed_in      XID8   NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (place, user_group_id)
);
CREATE INDEX user_groups_changed ON user_groups (place, change) WHERE change > 0;
CREATE INDEX user_groups_changed_in ON user_groups (changed_in);

-- Counted when asked; the file keeps the numbers in a table.
CREATE VIEW group_counts AS SELECT place, count(*) AS groups FROM user_groups GROUP BY place;

CREATE TABLE fingerprints (
    fingerprint   BYTEA  NOT NULL CHECK (octet_length(fingerprint) = 32),
    place         BIGINT NOT NULL REFERENCES places (number),
    user_group_id TEXT COLLATE "C" NOT NULL,
    first_seen    BIGINT NOT NULL,
    last_seen     BIGINT NOT NULL,
    PRIMARY KEY (fingerprint, place, user_group_id)
);

CREATE TABLE history (
    number               BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at                   BIGINT NOT NULL,
    by                   TEXT   NOT NULL,
    profile              TEXT   NOT NULL,
    user_group_id        TEXT COLLATE "C" NOT NULL,
    operation            TEXT   NOT NULL,
    ending               TEXT   NOT NULL,
    previous_fingerprint BYTEA CHECK (octet_length(previous_fingerprint) = 32),
    fingerprint          BYTEA CHECK (octet_length(fingerprint) = 32),
    reason               TEXT,
    changes              TEXT CHECK (changes IS NULL OR changes::json IS NOT NULL),
    note                 TEXT,
    place                BIGINT NOT NULL REFERENCES places (number),
    key                  BIGINT
);
CREATE INDEX history_of_place ON history (place);
CREATE INDEX history_of_group ON history (user_group_id, place);

-- `boot_clock` is when the intent, then the sending, came here, in microseconds of the clock of the database, the one that all
-- share; what a console binds to it is the clock of its own machine, and is not kept.
CREATE TABLE rotations (
    id             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    place          BIGINT  NOT NULL REFERENCES places (number),
    profile        TEXT    NOT NULL,
    user_group_id  TEXT COLLATE "C" NOT NULL,
    state          TEXT    NOT NULL,
    previous       BYTEA   NOT NULL CHECK (octet_length(previous) = 32),
    fingerprint    BYTEA CHECK (octet_length(fingerprint) = 32),
    refused        BOOLEAN NOT NULL,
    read_unchanged BOOLEAN NOT NULL,
    by             TEXT    NOT NULL,
    reason         TEXT,
    started_at     BIGINT  NOT NULL,
    sent_at        BIGINT,
    note           TEXT,
    handoff        TEXT    NOT NULL DEFAULT 'none',
    handoff_exit   BIGINT,
    handoff_note   TEXT,
    boot_clock     TEXT,
    key            BIGINT,
    hands_off      BOOLEAN NOT NULL DEFAULT FALSE,
    merged         BIGINT  NOT NULL DEFAULT 0
);

-- One rotation per seen token, and one whose outcome is not known per group: with several writers at once a look before the
-- insert is not enough.
CREATE UNIQUE INDEX rotations_one_per_token ON rotations (place, user_group_id, previous, merged)
    WHERE state NOT IN ('not_applied', 'abandoned');
CREATE UNIQUE INDEX rotations_one_unsettled ON rotations (place, user_group_id, merged)
    WHERE state IN ('intended', 'sent', 'unknown');
CREATE INDEX rotations_open ON rotations (place, user_group_id)
    WHERE state IN ('intended', 'sent', 'rotated', 'unknown');
CREATE INDEX rotations_to_hand_off ON rotations (place) WHERE handoff = 'pending';

CREATE TABLE rotation_events (
    rotation_id    BIGINT  NOT NULL REFERENCES rotations (id),
    seq            BIGINT  NOT NULL,
    at             BIGINT  NOT NULL,
    event          TEXT    NOT NULL,
    fingerprint    BYTEA CHECK (octet_length(fingerprint) = 32),
    since_sent     BIGINT,
    horizon_passed BOOLEAN NOT NULL,
    state          TEXT    NOT NULL,
    note           TEXT,
    PRIMARY KEY (rotation_id, seq)
);

CREATE TABLE mutations (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    place         BIGINT NOT NULL REFERENCES places (number),
    user_group_id TEXT COLLATE "C" NOT NULL CHECK (char_length(user_group_id) BETWEEN 1 AND 255),
    operation     TEXT   NOT NULL,
    state         TEXT   NOT NULL,
    rotation_id   BIGINT UNIQUE REFERENCES rotations (id),
    by            TEXT   NOT NULL,
    profile       TEXT   NOT NULL,
    key           BIGINT,
    reason        TEXT,
    started_at    BIGINT NOT NULL,
    sent_at       BIGINT,
    boot_clock    TEXT,
    ended_at      BIGINT,
    ending        TEXT,
    note          TEXT,
    changes       TEXT CHECK (changes IS NULL OR changes::json IS NOT NULL),
    recorded      BIGINT,
    merged        BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX mutations_one_per_group ON mutations (place, user_group_id, merged)
    WHERE state IN ('intended', 'sent', 'unknown');
CREATE INDEX mutations_open ON mutations (place, user_group_id)
    WHERE state IN ('intended', 'sent', 'unknown', 'open');
CREATE INDEX mutations_recorded ON mutations (place, user_group_id, recorded);

CREATE TABLE batches (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    place      BIGINT NOT NULL REFERENCES places (number),
    profile    TEXT   NOT NULL,
    by         TEXT   NOT NULL,
    reason     TEXT,
    started_at BIGINT NOT NULL,
    ended_at   BIGINT,
    kind       TEXT   NOT NULL DEFAULT 'rotate' CHECK (kind IN ('rotate', 'edit')),
    change     TEXT CHECK (change IS NULL OR change::json IS NOT NULL),
    stopped    TEXT CHECK (stopped IS NULL OR stopped::json IS NOT NULL)
);
CREATE INDEX batches_of_place ON batches (place);

CREATE TABLE batch_items (
    batch_id      BIGINT NOT NULL REFERENCES batches (id),
    position      BIGINT NOT NULL,
    user_group_id TEXT COLLATE "C" NOT NULL,
    rotation_id   BIGINT REFERENCES rotations (id),
    outcome       TEXT,
    note          TEXT,
    mutation_id   BIGINT REFERENCES mutations (id),
    edit          TEXT CHECK (edit IS NULL OR edit::json IS NOT NULL),
    PRIMARY KEY (batch_id, position),
    UNIQUE (batch_id, user_group_id)
);

CREATE TABLE drafts (
    place         BIGINT  NOT NULL REFERENCES places (number),
    user_group_id TEXT COLLATE "C" NOT NULL CHECK (char_length(user_group_id) BETWEEN 1 AND 255),
    merged        BIGINT  NOT NULL DEFAULT 0,
    creating      BOOLEAN NOT NULL,
    name          TEXT    NOT NULL,
    mapping       TEXT    NOT NULL CHECK (mapping IS NULL OR mapping::json IS NOT NULL),
    properties    TEXT    NOT NULL,
    mapping_text  TEXT,
    group_text    TEXT,
    base          TEXT    NOT NULL CHECK (base IS NULL OR base::json IS NOT NULL),
    base_at       BIGINT  NOT NULL,
    changed_at    BIGINT  NOT NULL,
    by            TEXT    NOT NULL,
    PRIMARY KEY (place, user_group_id, merged)
);

CREATE TABLE imports (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    place      BIGINT NOT NULL REFERENCES places (number),
    profile    TEXT   NOT NULL,
    digest     BYTEA  NOT NULL CHECK (octet_length(digest) = 32),
    started_at BIGINT NOT NULL,
    ended_at   BIGINT,
    by         TEXT   NOT NULL
);
CREATE INDEX imports_open ON imports (place, digest) WHERE ended_at IS NULL;

CREATE TABLE import_rows (
    import_id BIGINT NOT NULL REFERENCES imports (id),
    number    BIGINT NOT NULL CHECK (number > 0),
    outcome   TEXT   NOT NULL,
    PRIMARY KEY (import_id, number)
);

CREATE TABLE annotations (
    place         BIGINT  NOT NULL REFERENCES places (number),
    user_group_id TEXT COLLATE "C" NOT NULL CHECK (char_length(user_group_id) BETWEEN 1 AND 255),
    note          TEXT,
    noted_at      BIGINT,
    noted_by      TEXT,
    labels        TEXT    NOT NULL CHECK (labels IS NULL OR labels::json IS NOT NULL),
    labelled_at   BIGINT,
    labelled_by   TEXT,
    favourite     BOOLEAN NOT NULL,
    PRIMARY KEY (place, user_group_id)
);

CREATE TABLE console_views (
    profile    TEXT COLLATE "C" PRIMARY KEY,
    filter     TEXT    NOT NULL,
    sort       TEXT    NOT NULL,
    reverse    BOOLEAN NOT NULL,
    best_first BOOLEAN NOT NULL,
    columns    TEXT    NOT NULL DEFAULT ''
);

CREATE TABLE saved_views (
    name       TEXT COLLATE "C" PRIMARY KEY,
    filter     TEXT    NOT NULL,
    sort       TEXT    NOT NULL,
    reverse    BOOLEAN NOT NULL,
    best_first BOOLEAN NOT NULL,
    columns    TEXT    NOT NULL,
    at         BIGINT  NOT NULL,
    by         TEXT    NOT NULL
);

CREATE TABLE hidden_concerns (
    place   BIGINT NOT NULL REFERENCES places (number),
    concern TEXT COLLATE "C" NOT NULL,
    stands  TEXT   NOT NULL,
    until   BIGINT NOT NULL,
    by      TEXT   NOT NULL,
    PRIMARY KEY (place, concern)
);

-- As SQLite has it, of a path of one name.
CREATE FUNCTION json_remove(document TEXT, path TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT
    AS $$ SELECT (document::jsonb - substr(path, 3))::text $$;

CREATE FUNCTION written() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.changed_in := pg_current_xact_id();
    RETURN NEW;
END $$;
CREATE TRIGGER user_groups_written BEFORE INSERT OR UPDATE ON user_groups FOR EACH ROW EXECUTE FUNCTION written();

CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are kept as they are', TG_TABLE_NAME;
END $$;
-- Only the place of a line may ever change: where two places turn out to be one.
CREATE TRIGGER history_no_update BEFORE UPDATE OF number, at, by, profile, user_group_id, operation, ending,
    previous_fingerprint, fingerprint, reason, changes, note, key ON history FOR EACH ROW EXECUTE FUNCTION refused();
CREATE TRIGGER history_no_delete BEFORE DELETE ON history FOR EACH ROW EXECUTE FUNCTION refused();
CREATE TRIGGER rotation_events_no_change BEFORE UPDATE OR DELETE ON rotation_events
    FOR EACH ROW EXECUTE FUNCTION refused();
CREATE TRIGGER place_events_no_change BEFORE UPDATE OR DELETE ON place_events FOR EACH ROW EXECUTE FUNCTION refused();
CREATE TRIGGER mutations_no_delete BEFORE DELETE ON mutations FOR EACH ROW EXECUTE FUNCTION refused();

CREATE FUNCTION now_in_micros() RETURNS BIGINT LANGUAGE sql VOLATILE
    AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- How long ago that was, when the row is read. A clock that was set back counts as no time.
CREATE FUNCTION since(boot_clock TEXT) RETURNS TEXT LANGUAGE sql VOLATILE STRICT
    AS $$ SELECT 'age:' || greatest(0, now_in_micros() - boot_clock::bigint) $$;

CREATE FUNCTION timed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.boot_clock := now_in_micros();
    ELSIF NEW.state = 'sent' AND OLD.state <> 'sent' THEN
        NEW.boot_clock := now_in_micros();
    ELSE
        NEW.boot_clock := OLD.boot_clock;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER rotations_timed BEFORE INSERT OR UPDATE ON rotations FOR EACH ROW EXECUTE FUNCTION timed();
CREATE TRIGGER mutations_timed BEFORE INSERT OR UPDATE ON mutations FOR EACH ROW EXECUTE FUNCTION timed();

CREATE FUNCTION stepped() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.state = OLD.state THEN
        RETURN NEW;
    END IF;
    IF OLD.state NOT IN ('intended', 'sent', 'rotated', 'unknown')
        AND NOT (OLD.state = 'conflict' AND NEW.state = 'abandoned') THEN
        RAISE EXCEPTION 'a rotation that has ended stays so';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER rotations_stepped BEFORE UPDATE ON rotations FOR EACH ROW EXECUTE FUNCTION stepped();
