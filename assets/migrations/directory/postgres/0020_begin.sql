-- The tables of a team's directory on PostgreSQL: those of the SQLite file at version 20, under the same names,
-- so that the same SQL works on both. Fingerprints, never tokens. Times are whole microseconds since 1970-01-01 UTC by
-- the operator's clock; JSON is stored as text, with its key order.
--
-- Whoever runs this sets the search path to this schema, pg_catalog and pg_temp, in this order, and every function keeps
-- it (`SET search_path FROM CURRENT`): a caller's temporary tables, or functions in other schemas, are never found, whatever
-- the caller's own path is. A test requires it of every function.

-- `reads_from`, `writes_from`: the oldest version that a groupdesk may know to still read, or write. Every write reads
-- this table, so that a migration, which locks it, runs between two writes and never during one.
CREATE TABLE schema_versions (
    version     BIGINT PRIMARY KEY,
    at          TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    by          NAME        NOT NULL DEFAULT session_user,
    reads_from  BIGINT      NOT NULL,
    writes_from BIGINT      NOT NULL
);

-- The key for fingerprints, in a table of its own with rights of its own. Empty when the key is kept elsewhere.
CREATE TABLE fingerprint_key (
    key BYTEA NOT NULL CHECK (octet_length(key) = 32)
);

-- Identifies the installation: a copy is another one. `key_check` tells whether a key is the right one. `timeline`
-- changes with a failover. `stands`: server, tables and timeline; another one after a restore. `tidied_at`: when old
-- rows of `writes` were last deleted. `moved_to`: where the directory is now.
CREATE TABLE installation (
    instance  UUID NOT NULL DEFAULT gen_random_uuid(),
    key_check BYTEA CHECK (octet_length(key_check) = 32),
    timeline  TEXT,
    stands    TEXT,
    tidied_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    moved_to  TEXT
);
INSERT INTO installation DEFAULT VALUES;

-- A row per write. After a lost connection the client asks by `stamp` whether its write was committed. If not, the
-- query itself inserts the row, so that the write can never be committed, and a second query gets the same answer.
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

-- Ten people may have ten profiles of one name: each sees and binds only their own.
CREATE TABLE all_bindings (
    author      NAME NOT NULL DEFAULT session_user,
    profile     TEXT COLLATE "C" NOT NULL,
    url         TEXT COLLATE "C" NOT NULL,
    place       BIGINT NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    environment TEXT,
    at          BIGINT NOT NULL,
    PRIMARY KEY (author, profile, url)
);
CREATE INDEX bindings_of_place ON all_bindings (place);
CREATE VIEW bindings AS SELECT profile, url, place, environment, at FROM all_bindings WHERE author = session_user;

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

-- `source` is 'announced' if the service told it about itself in an answer, which `by` got.
CREATE TABLE facts (
    place   BIGINT NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    fact    TEXT COLLATE "C" NOT NULL,
    value   TEXT   NOT NULL,
    source  TEXT   NOT NULL,
    at      BIGINT NOT NULL,
    by      TEXT   NOT NULL,
    db_user NAME   NOT NULL DEFAULT session_user,
    PRIMARY KEY (place, fact)
);

-- `changed_in` is the transaction that wrote the row. Consoles ask for the difference of two snapshots, because numbers
-- from a sequence become visible in another order than they were assigned.
CREATE TABLE user_groups (
    place           BIGINT NOT NULL REFERENCES places (number),
    user_group_id   TEXT COLLATE "C" NOT NULL,
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
    -- The name, or else the id, in lower case: finds the first groups of a list that is sorted by name.
    title           TEXT COLLATE "C",
    PRIMARY KEY (place, user_group_id)
);
CREATE INDEX user_groups_by_title ON user_groups (place, title, user_group_id);
CREATE INDEX user_groups_changed ON user_groups (place, change) WHERE change > 0;
CREATE INDEX user_groups_changed_in ON user_groups (changed_in);

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
    key                  BIGINT,
    -- The change that it is about.
    mutation             BIGINT,
    rotation             BIGINT,
    db_user              NAME        NOT NULL DEFAULT session_user,
    db_at                TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    written_in           XID8        NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX history_of_place ON history (place);
CREATE INDEX history_of_group ON history (user_group_id, place);
CREATE INDEX history_written_in ON history (written_in);

-- `boot_clock`: when the intent, and later the sending, was recorded, in microseconds of the database's clock, which
-- all share, and on which timeline, because another server may have another clock. The value that a console passes is
-- of its own machine's clock, and is not stored.
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
    handoff_exit   BIGINT CHECK (handoff_exit BETWEEN -2147483648 AND 2147483647),
    handoff_note   TEXT,
    boot_clock     TEXT,
    key            BIGINT,
    hands_off      BOOLEAN NOT NULL DEFAULT FALSE,
    merged         BIGINT  NOT NULL DEFAULT 0,
    process        TEXT,
    -- Who hands the new token off, or was the last to; `handoff_clock` is when, as `boot_clock`.
    handoff_run     BIGINT,
    handoff_by      TEXT,
    handoff_process TEXT,
    handoff_limit   BIGINT,
    handoff_at      BIGINT,
    handoff_clock   TEXT,
    -- How many microseconds after it was sent it may still take effect, by the timeout of the profile that sent it.
    settles_in      BIGINT,
    -- Its `previous` was returned as the current token again, long after it had been replaced.
    revived         BOOLEAN NOT NULL DEFAULT FALSE,
    -- Set with the intent of a rotation whose new token goes to a file, until it is in one.
    unwritten       BOOLEAN NOT NULL DEFAULT FALSE
);

-- One rotation per token, and one with an unknown outcome per group: with concurrent writers, a check before the insert
-- is not enough.
CREATE UNIQUE INDEX rotations_one_per_token ON rotations (place, user_group_id, previous, merged)
    WHERE state NOT IN ('not_applied', 'abandoned') AND NOT revived;
CREATE INDEX rotations_revived ON rotations (place) WHERE revived;
CREATE UNIQUE INDEX rotations_one_unsettled ON rotations (place, user_group_id, merged)
    WHERE state IN ('intended', 'sent', 'unknown');
CREATE INDEX rotations_open ON rotations (place)
    WHERE state IN ('intended', 'sent', 'rotated', 'unknown');
CREATE INDEX rotations_of_group ON rotations (place, user_group_id);
CREATE INDEX rotations_to_hand_off ON rotations (place) WHERE handoff = 'pending';

CREATE TABLE rotation_events (
    rotation_id    BIGINT  NOT NULL REFERENCES rotations (id),
    seq            BIGINT  NOT NULL,
    at             BIGINT  NOT NULL,
    event          TEXT    NOT NULL,
    fingerprint    BYTEA CHECK (octet_length(fingerprint) = 32),
    since_sent     BIGINT CHECK (since_sent >= 0),
    horizon_passed BOOLEAN NOT NULL,
    state          TEXT    NOT NULL,
    note           TEXT,
    db_user        NAME        NOT NULL DEFAULT session_user,
    db_at          TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (rotation_id, seq)
);

CREATE TABLE mutations (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    place         BIGINT NOT NULL REFERENCES places (number),
    user_group_id TEXT COLLATE "C" NOT NULL,
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
    sent          TEXT CHECK (sent IS NULL OR sent::json IS NOT NULL),
    merged        BIGINT NOT NULL DEFAULT 0,
    settles_in    BIGINT
);
CREATE UNIQUE INDEX mutations_one_per_group ON mutations (place, user_group_id, merged)
    WHERE state IN ('intended', 'sent', 'unknown');
CREATE INDEX mutations_open ON mutations (place, user_group_id)
    WHERE state IN ('intended', 'sent', 'unknown', 'open');

-- The last recorded change of each group, of its fields and of its token. A sequence numbers them, because concurrent
-- writers would take the same next number.
CREATE SEQUENCE order_of_changes AS BIGINT CACHE 1;
CREATE TABLE last_changes (
    place         BIGINT NOT NULL REFERENCES places (number),
    user_group_id TEXT COLLATE "C" NOT NULL,
    part          TEXT   NOT NULL CHECK (part IN ('fields', 'token')),
    number        BIGINT NOT NULL,
    rotation      BIGINT REFERENCES rotations (id),
    boot_clock    TEXT,
    PRIMARY KEY (place, user_group_id, part)
);
CREATE INDEX last_changes_by_number ON last_changes (number);

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
    stopped    TEXT CHECK (stopped IS NULL OR stopped::json IS NOT NULL),
    noted      BIGINT
);
CREATE INDEX batches_of_place ON batches (place);

-- A process that works on a batch updates its row every few seconds; `boot_clock` is when, by the database's clock.
CREATE TABLE batch_runs (
    batch_id     BIGINT  NOT NULL REFERENCES batches (id),
    run          BIGINT  NOT NULL,
    by           TEXT    NOT NULL,
    process      TEXT,
    paused       BOOLEAN NOT NULL,
    stands_since BIGINT  NOT NULL,
    seen         BIGINT  NOT NULL,
    boot_clock   TEXT,
    ended        BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (batch_id, run)
);

-- Which scheduled rotation is running at a place: one row per place, taken over when its process has died.
CREATE TABLE scheduled_runs (
    place        BIGINT  PRIMARY KEY REFERENCES places (number),
    run          BIGINT  NOT NULL,
    by           TEXT    NOT NULL,
    process      TEXT,
    stands_since BIGINT  NOT NULL,
    seen         BIGINT  NOT NULL,
    boot_clock   TEXT,
    ended        BOOLEAN NOT NULL DEFAULT FALSE
);

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

-- The drafts of each person, so that none is lost because a colleague's clock is ahead; further ones of a group that the
-- same person typed on other consoles have a number below 0 in `merged`.
CREATE TABLE all_drafts (
    author        NAME    NOT NULL DEFAULT session_user,
    place         BIGINT  NOT NULL REFERENCES places (number),
    user_group_id TEXT COLLATE "C" NOT NULL,
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
    PRIMARY KEY (place, user_group_id, merged, author)
);
CREATE VIEW drafts AS SELECT place, user_group_id, merged, creating, name, mapping, properties, mapping_text, group_text, base,
    base_at, changed_at, by FROM all_drafts WHERE author = session_user;
-- One's own drafts, and after them those of others, numbered on.
CREATE VIEW shown_drafts AS SELECT place, user_group_id, CASE WHEN author = session_user THEN merged ELSE COALESCE((SELECT MIN(merged)
        FROM all_drafts own WHERE own.place = every.place AND own.user_group_id = every.user_group_id AND own.author = session_user), 1)
        - row_number() OVER (PARTITION BY place, user_group_id, author = session_user ORDER BY merged = 0 DESC, changed_at DESC, author,
        merged) END AS merged, creating, name, mapping, properties, mapping_text, group_text, base, base_at, changed_at, by
    FROM all_drafts every;

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
    user_group_id TEXT COLLATE "C" NOT NULL,
    note          TEXT,
    noted_at      BIGINT,
    noted_by      TEXT,
    labels        TEXT    NOT NULL CHECK (labels IS NULL OR labels::json IS NOT NULL),
    labelled_at   BIGINT,
    labelled_by   TEXT,
    favourite     BOOLEAN NOT NULL,
    changed_in    XID8    NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (place, user_group_id)
);
CREATE INDEX annotations_changed_in ON annotations (changed_in);

CREATE TABLE all_console_views (
    author     NAME NOT NULL DEFAULT session_user,
    profile    TEXT COLLATE "C" NOT NULL,
    filter     TEXT    NOT NULL,
    sort       TEXT    NOT NULL,
    reverse    BOOLEAN NOT NULL,
    best_first BOOLEAN NOT NULL,
    columns    TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (author, profile)
);
CREATE VIEW console_views AS SELECT profile, filter, sort, reverse, best_first, columns FROM all_console_views
    WHERE author = session_user;

-- Visible to all, changed only by whoever saved it.
CREATE TABLE saved_views (
    author     NAME NOT NULL DEFAULT session_user,
    name       TEXT COLLATE "C" PRIMARY KEY,
    filter     TEXT    NOT NULL,
    sort       TEXT    NOT NULL,
    reverse    BOOLEAN NOT NULL,
    best_first BOOLEAN NOT NULL,
    columns    TEXT    NOT NULL,
    at         BIGINT  NOT NULL,
    by         TEXT    NOT NULL
);

-- What groupdesk reads as a word, a time or an ID is one, so that no row can be written that stops whoever reads the table.
DO $$
DECLARE
    named TEXT;
BEGIN
    FOREACH named IN ARRAY ARRAY[
        'place_keys state trusted trial withdrawn',
        'facts source proven told announced unknown',
        'history operation get create update rotate handoff',
        'history ending found created existed updated rotated confirmed recovered not_applied superseded conflict refused '
            'unknown unreachable created_by_get abandoned handed_off not_handed_off',
        'rotations state intended sent rotated confirmed unknown recovered not_applied superseded conflict abandoned',
        'rotations handoff none pending done failed',
        'rotation_events event intended sending answered_new_token answered_same_token answered_wrong_group answered_refused '
            'answered_not_sent answered_unclear read read_contradicts found_at_start abandon',
        'rotation_events state intended sent rotated confirmed unknown recovered not_applied superseded conflict abandoned',
        'mutations operation get create update rotate handoff',
        'mutations state intended sent unknown open ended',
        'mutations ending found created existed updated rotated confirmed recovered not_applied superseded conflict refused '
            'unknown unreachable created_by_get abandoned handed_off not_handed_off',
        'batch_items outcome found created existed updated rotated confirmed recovered not_applied superseded conflict refused '
            'unknown unreachable created_by_get abandoned handed_off not_handed_off'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ADD CHECK (%I = ANY (%L))', split_part(named, ' ', 1), split_part(named, ' ', 2),
            (string_to_array(named, ' '))[3:]);
    END LOOP;
    FOR named IN SELECT format('%I ADD CHECK (%I %s)', table_name, column_name, CASE
            WHEN column_name = 'user_group_id' THEN 'IS NULL OR char_length(user_group_id) BETWEEN 1 AND 255'
            ELSE 'BETWEEN -377705023201000000 AND 253402207200999999' END)
        FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
        WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'
            AND (column_name = 'user_group_id' OR data_type = 'bigint' AND column_name ~ '^(at|.*_at|.*seen|stands_since)$') LOOP
        EXECUTE 'ALTER TABLE ' || named;
    END LOOP;
END $$;

-- SQLite's function, for a path of a single name.
CREATE FUNCTION json_remove(document TEXT, path TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT SET search_path FROM CURRENT
    AS $$ SELECT (document::jsonb - substr(path, 3))::text $$;

CREATE FUNCTION written() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    NEW.changed_in := pg_current_xact_id();
    RETURN NEW;
END $$;
CREATE TRIGGER user_groups_written BEFORE INSERT OR UPDATE ON user_groups FOR EACH ROW EXECUTE FUNCTION written();
CREATE TRIGGER annotations_written BEFORE INSERT OR UPDATE ON annotations FOR EACH ROW EXECUTE FUNCTION written();

CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are kept as they are', TG_TABLE_NAME;
END $$;
-- Only the place of a line may ever change, when two places are merged.
CREATE TRIGGER history_no_update BEFORE UPDATE OF number, at, by, profile, user_group_id, operation, ending,
    previous_fingerprint, fingerprint, reason, changes, note, key, mutation, rotation ON history FOR EACH ROW EXECUTE FUNCTION refused();
CREATE TRIGGER history_no_delete BEFORE DELETE ON history FOR EACH ROW EXECUTE FUNCTION refused();
-- The next number is always theirs: a number that somebody else names would leave no next one.
CREATE FUNCTION in_order() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_TABLE_NAME = 'user_groups' THEN
        NEW.change := 0;
    ELSIF NOT is_owner(TG_RELID) THEN
        NEW.seq := (SELECT COALESCE(MAX(seq), 0) + 1 FROM rotation_events WHERE rotation_id = NEW.rotation_id);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER user_groups_in_order BEFORE INSERT OR UPDATE OF change ON user_groups FOR EACH ROW EXECUTE FUNCTION in_order();
CREATE TRIGGER rotation_events_in_order BEFORE INSERT ON rotation_events FOR EACH ROW EXECUTE FUNCTION in_order();
CREATE TRIGGER rotation_events_no_change BEFORE UPDATE OR DELETE ON rotation_events
    FOR EACH ROW EXECUTE FUNCTION refused();
CREATE TRIGGER place_events_no_change BEFORE UPDATE OR DELETE ON place_events FOR EACH ROW EXECUTE FUNCTION refused();
CREATE TRIGGER mutations_no_delete BEFORE DELETE ON mutations FOR EACH ROW EXECUTE FUNCTION refused();

CREATE FUNCTION now_in_micros() RETURNS BIGINT LANGUAGE sql VOLATILE SET search_path FROM CURRENT
    AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- Changes with a failover, because the new server may have another clock. A standby does not know its own before that.
CREATE FUNCTION timeline() RETURNS TEXT LANGUAGE sql STABLE SET search_path FROM CURRENT
    AS $$ SELECT CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END $$;

-- Where these tables are: restored ones are others, and a server that was restored, or has taken over, has another timeline.
CREATE FUNCTION stands() RETURNS TEXT LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || 'installation'::regclass::oid || '/' || timeline() $$;

-- Microseconds since `boot_clock`, as text. 0 if the clock was set back or the timeline is another one. A standby
-- decides nothing by it, and shows it whatever the timeline.
CREATE FUNCTION since(boot_clock TEXT) RETURNS TEXT LANGUAGE sql VOLATILE STRICT SET search_path FROM CURRENT
    AS $$ SELECT 'age:' || CASE WHEN split_part(boot_clock, '@', 2) = timeline() OR pg_is_in_recovery()
        THEN greatest(0, now_in_micros() - split_part(boot_clock, '@', 1)::bigint) ELSE 0 END $$;

CREATE FUNCTION timed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'INSERT' OR NEW.state = 'sent' AND OLD.state <> 'sent'
        OR split_part(OLD.boot_clock, '@', 2) <> timeline() THEN
        NEW.boot_clock := now_in_micros() || '@' || timeline();
    ELSE
        NEW.boot_clock := OLD.boot_clock;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER rotations_timed BEFORE INSERT OR UPDATE ON rotations FOR EACH ROW EXECUTE FUNCTION timed();
CREATE TRIGGER mutations_timed BEFORE INSERT OR UPDATE ON mutations FOR EACH ROW EXECUTE FUNCTION timed();

-- Of another timeline, and in a copy, what was handed off has no time, and what may still be handed off starts its time again.
CREATE FUNCTION taken() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.handoff_run IS NULL THEN
        NEW.handoff_clock := NULL;
    ELSIF TG_OP = 'INSERT' THEN
        NEW.handoff_clock := CASE WHEN NEW.handoff = 'pending' THEN now_in_micros() || '@' || timeline() END;
    ELSIF NEW.handoff_run IS DISTINCT FROM OLD.handoff_run THEN
        NEW.handoff_clock := now_in_micros() || '@' || timeline();
    ELSIF split_part(OLD.handoff_clock, '@', 2) <> timeline() THEN
        NEW.handoff_clock := CASE WHEN NEW.handoff = 'pending' THEN now_in_micros() || '@' || timeline() END;
    ELSE
        NEW.handoff_clock := OLD.handoff_clock;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER rotations_taken BEFORE INSERT OR UPDATE ON rotations FOR EACH ROW EXECUTE FUNCTION taken();

CREATE FUNCTION heard_of() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    NEW.boot_clock := now_in_micros() || '@' || timeline();
    RETURN NEW;
END $$;
CREATE TRIGGER batch_runs_heard_of BEFORE INSERT OR UPDATE ON batch_runs FOR EACH ROW EXECUTE FUNCTION heard_of();

-- Numbered and timed by the server. A copied row comes without a time, and keeps its number, from which the sequence goes on: only
-- the owner copies. An operator has no right to set the sequence, with which nothing could be recorded any more.
CREATE FUNCTION numbered() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.boot_clock IS NULL AND is_owner(TG_RELID) THEN
        PERFORM setval('order_of_changes', greatest(NEW.number, nextval('order_of_changes')));
    ELSE
        NEW.number := nextval('order_of_changes');
        NEW.boot_clock := now_in_micros() || '@' || timeline();
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER last_changes_numbered BEFORE INSERT OR UPDATE OF number ON last_changes FOR EACH ROW EXECUTE FUNCTION numbered();
CREATE TRIGGER scheduled_runs_heard_of BEFORE INSERT OR UPDATE ON scheduled_runs FOR EACH ROW EXECUTE FUNCTION heard_of();

-- Of what has ended only the hand-off and the place may change, and a conflict may be closed. That it was sent, and what was
-- answered, is said by its sender alone, and how a hand-off ended by whoever took it.
CREATE FUNCTION stepped() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF OLD.state NOT IN ('intended', 'sent', 'rotated', 'unknown')
        AND NOT (OLD.state = 'conflict' AND NEW.state = 'abandoned')
        AND (NEW.state, NEW.fingerprint, NEW.refused, NEW.read_unchanged, NEW.sent_at, NEW.note)
            IS DISTINCT FROM (OLD.state, OLD.fingerprint, OLD.refused, OLD.read_unchanged, OLD.sent_at, OLD.note) THEN
        RAISE EXCEPTION 'a rotation that has ended stays so';
    ELSIF (NOT is_oneself(OLD."by") AND (NEW.sent_at IS DISTINCT FROM OLD.sent_at OR NEW.refused > OLD.refused
            OR NEW.state IN ('sent', 'rotated') AND NEW.state <> OLD.state
            OR NEW.fingerprint IS DISTINCT FROM OLD.fingerprint AND NOT (OLD.state = 'unknown' AND NEW.state = 'recovered'))
        OR is_oneself(NEW.handoff_by) IS NOT TRUE AND NEW.handoff IN ('done', 'failed')
            AND (NEW.handoff, NEW.handoff_exit, NEW.handoff_note) IS DISTINCT FROM (OLD.handoff, OLD.handoff_exit, OLD.handoff_note))
        AND NOT is_owner(TG_RELID) THEN
        RAISE insufficient_privilege USING MESSAGE = 'in the name of somebody else';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER rotations_stepped BEFORE UPDATE ON rotations FOR EACH ROW EXECUTE FUNCTION stepped();

-- What was sent is said by its sender alone: others may end it, and note what a later request has replaced. The claim of a rotation
-- ends as that does. What was sent is kept, so that whoever takes over a mapping that was sent can be checked.
CREATE FUNCTION mutation_stepped() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF OLD.state = 'ended' AND (NEW.state, NEW.sent_at, NEW.ended_at, NEW.note, NEW.changes, NEW.sent)
            IS DISTINCT FROM (OLD.state, OLD.sent_at, OLD.ended_at, OLD.note, OLD.changes, OLD.sent)
        OR OLD.state = 'ended' AND OLD.ending IS DISTINCT FROM NEW.ending
            AND NOT EXISTS (SELECT FROM rotations WHERE id = NEW.rotation_id AND state = NEW.ending) THEN
        RAISE EXCEPTION 'a change that has ended stays so';
    END IF;
    IF NEW.state = 'ended' THEN
        NEW.sent := OLD.sent;
    END IF;
    IF (NEW.changes IS NOT DISTINCT FROM OLD.changes AND NEW.sent_at IS NOT DISTINCT FROM OLD.sent_at
            AND (NEW.state <> 'sent' OR OLD.state = 'sent') AND (NEW.sent IS NOT DISTINCT FROM OLD.sent
            OR OLD.sent::jsonb @> NEW.sent::jsonb)) OR is_oneself(OLD."by") OR is_owner(TG_RELID) THEN
        RETURN NEW;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'in the name of somebody else';
END $$;
CREATE TRIGGER mutations_stepped BEFORE UPDATE ON mutations FOR EACH ROW EXECUTE FUNCTION mutation_stepped();

-- An item is taken, or ends, once. Only an update that certainly changed nothing leaves it free.
CREATE FUNCTION item_stepped() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF OLD.rotation_id IS NOT NULL OR OLD.outcome IS NOT NULL
        OR OLD.mutation_id IS NOT NULL AND NOT EXISTS (SELECT FROM mutations WHERE id = OLD.mutation_id AND state = 'ended'
            AND ending IN ('refused', 'not_applied', 'unreachable'))
        OR NEW.rotation_id IS NOT NULL AND NOT EXISTS (SELECT FROM rotations WHERE id = NEW.rotation_id
            AND user_group_id = NEW.user_group_id)
        OR NEW.mutation_id IS NOT NULL AND NOT EXISTS (SELECT FROM mutations WHERE id = NEW.mutation_id
            AND user_group_id = NEW.user_group_id) THEN
        RAISE EXCEPTION 'an item that was taken, or has ended, stays so';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER batch_items_stepped BEFORE UPDATE ON batch_items FOR EACH ROW EXECUTE FUNCTION item_stepped();

-- Called when a connection is opened. On a new timeline, open rotations, hand-offs and changes start their time again, once;
-- once a day, old stamps are deleted. Rows of a restored backup name transactions that this server has not reached yet: they
-- would be reported as new again and again, until it has. What was restored, or taken over, may lack changes that were sent:
-- then nobody is the sole writer until it is said again.
CREATE FUNCTION care() RETURNS VOID LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM user_groups WHERE changed_in >= pg_snapshot_xmax(pg_current_snapshot())) THEN
        UPDATE user_groups SET change = change WHERE changed_in >= pg_snapshot_xmax(pg_current_snapshot());
    END IF;
    IF EXISTS (SELECT FROM annotations WHERE changed_in >= pg_snapshot_xmax(pg_current_snapshot())) THEN
        UPDATE annotations SET favourite = favourite WHERE changed_in >= pg_snapshot_xmax(pg_current_snapshot());
    END IF;
    IF NOT EXISTS (SELECT FROM installation WHERE timeline IS DISTINCT FROM timeline() OR stands IS DISTINCT FROM stands()
            OR tidied_at < clock_timestamp() - INTERVAL '1 day') THEN
        RETURN;
    END IF;
    PERFORM FROM installation FOR UPDATE;
    IF EXISTS (SELECT FROM installation WHERE timeline IS DISTINCT FROM timeline()) THEN
        UPDATE rotations SET boot_clock = boot_clock
            WHERE (state IN ('intended', 'sent', 'rotated', 'unknown') OR handoff = 'pending')
            AND split_part(boot_clock, '@', 2) <> timeline();
        UPDATE rotations SET handoff = handoff WHERE split_part(handoff_clock, '@', 2) <> timeline();
        UPDATE mutations SET boot_clock = boot_clock WHERE state IN ('intended', 'sent', 'unknown', 'open')
            AND split_part(boot_clock, '@', 2) <> timeline();
        -- Marked: when it was recorded is no longer known.
        UPDATE last_changes SET boot_clock = now_in_micros() || '@' || timeline() || '@again'
            WHERE split_part(boot_clock, '@', 2) <> timeline();
        UPDATE batch_runs SET seen = seen WHERE NOT ended;
        UPDATE scheduled_runs SET seen = seen WHERE NOT ended;
        INSERT INTO audit (who, what, before, after)
            SELECT session_user, 'timeline', timeline, timeline() FROM installation WHERE timeline IS NOT NULL;
        UPDATE installation SET timeline = timeline();
    END IF;
    IF EXISTS (SELECT FROM installation WHERE stands IS DISTINCT FROM stands()) THEN
        INSERT INTO audit (who, what, before, after)
            SELECT DISTINCT session_user, 'sole_writer', value, 'no' FROM facts WHERE fact = 'sole_writer' AND value = 'yes';
        -- Not before any value that is there, whatever clock its sender had: all of them may be outdated.
        UPDATE facts SET value = 'no', source = 'proven', by = 'a restored or copied directory',
            at = (SELECT greatest(now_in_micros(), max((g.origin::jsonb -> 'mapping' ->> 1)::bigint),
                    max((g.origin::jsonb -> 'properties' ->> 1)::bigint)) FROM user_groups g WHERE g.place = facts.place)
            WHERE fact = 'sole_writer' AND (value = 'yes' OR by = 'a restored or copied directory');
        UPDATE installation SET stands = stands();
    END IF;
    UPDATE installation SET tidied_at = clock_timestamp() WHERE tidied_at < clock_timestamp() - INTERVAL '1 day';
    IF FOUND THEN
        DELETE FROM writes WHERE at < clock_timestamp() - INTERVAL '7 days';
    END IF;
END $$;
UPDATE installation SET timeline = timeline(), stands = stands();

-- Moves what other people have at a place that is merged into another one: bindings and drafts. The caller moves the
-- rest.
CREATE FUNCTION merge_of_all(gone BIGINT, stays BIGINT) RETURNS BOOLEAN LANGUAGE sql SET search_path FROM CURRENT AS $$
    UPDATE all_drafts SET place = stays, merged = CASE WHEN EXISTS (SELECT FROM all_drafts other WHERE other.place = stays
            AND other.user_group_id = all_drafts.user_group_id AND other.merged = all_drafts.merged
            AND other.author = all_drafts.author)
        THEN CASE merged WHEN 0 THEN gone ELSE merged * 1000000 - gone END ELSE merged END WHERE place = gone;
    DELETE FROM all_bindings WHERE place = gone AND (url = '' OR EXISTS (SELECT FROM all_bindings other
        WHERE other.author = all_bindings.author AND other.profile = all_bindings.profile AND other.url = all_bindings.url
            AND other.place = stays));
    UPDATE all_bindings SET place = stays WHERE place = gone;
    SELECT TRUE;
$$;

-- What was done, and by which database user. Written only by triggers with the owner's rights.
CREATE TABLE audit (
    number        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at            TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    who           NAME        NOT NULL,
    address       INET        DEFAULT inet_client_addr(),
    what          TEXT        NOT NULL,
    place         BIGINT,
    user_group_id TEXT COLLATE "C",
    rotation      BIGINT,
    before        TEXT,
    after         TEXT,
    written_in    XID8        NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX audit_of_group ON audit (user_group_id, number);
CREATE INDEX audit_written_in ON audit (written_in);

CREATE FUNCTION audit_rotation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO audit (who, what, place, user_group_id, rotation, before, after) VALUES (session_user, 'rotation',
        NEW.place, NEW.user_group_id, NEW.id, CASE TG_OP WHEN 'UPDATE' THEN OLD.state END, NEW.state);
    RETURN NULL;
END $$;
CREATE TRIGGER rotations_begun AFTER INSERT ON rotations FOR EACH ROW EXECUTE FUNCTION audit_rotation();
CREATE TRIGGER rotations_audited AFTER UPDATE OF state ON rotations FOR EACH ROW
    WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION audit_rotation();

-- A rotation is covered by the line of its own row.
CREATE FUNCTION audit_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO audit (who, what, place, user_group_id, before, after) VALUES (session_user, NEW.operation,
        NEW.place, NEW.user_group_id, CASE TG_OP WHEN 'UPDATE' THEN OLD.state END,
        CASE NEW.state WHEN 'ended' THEN COALESCE(NEW.ending, NEW.state) ELSE NEW.state END);
    RETURN NULL;
END $$;
CREATE TRIGGER mutations_begun AFTER INSERT ON mutations FOR EACH ROW
    WHEN (NEW.rotation_id IS NULL) EXECUTE FUNCTION audit_change();
CREATE TRIGGER mutations_audited AFTER UPDATE OF state ON mutations FOR EACH ROW
    WHEN (NEW.rotation_id IS NULL AND OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION audit_change();

-- That the group changed, not its values.
CREATE FUNCTION audit_group() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO audit (who, what, place, user_group_id, after) VALUES (session_user, 'group', NEW.place, NEW.user_group_id,
        concat_ws(', ', CASE WHEN OLD.fingerprint IS DISTINCT FROM NEW.fingerprint THEN 'token' END,
            CASE WHEN OLD.mapping IS DISTINCT FROM NEW.mapping THEN 'mapping' END,
            CASE WHEN OLD.properties IS DISTINCT FROM NEW.properties THEN 'properties' END));
    RETURN NULL;
END $$;
CREATE TRIGGER user_groups_audited AFTER UPDATE ON user_groups FOR EACH ROW
    WHEN (OLD.fingerprint IS DISTINCT FROM NEW.fingerprint OR OLD.mapping IS DISTINCT FROM NEW.mapping
        OR OLD.properties IS DISTINCT FROM NEW.properties) EXECUTE FUNCTION audit_group();

-- Whoever has the key can verify it with this value, which reveals nothing else about the key.
CREATE FUNCTION key_check(key BYTEA) RETURNS BYTEA LANGUAGE plpgsql IMMUTABLE STRICT SET search_path FROM CURRENT AS $$
DECLARE
    inner_pad BYTEA := decode(repeat('36', 64), 'hex');
    outer_pad BYTEA := decode(repeat('5c', 64), 'hex');
BEGIN
    FOR at IN 0..octet_length(key) - 1 LOOP
        inner_pad := set_byte(inner_pad, at, get_byte(key, at) # 54);
        outer_pad := set_byte(outer_pad, at, get_byte(key, at) # 92);
    END LOOP;
    RETURN sha256(outer_pad || sha256(inner_pad || 'key check'::bytea || '\x00'::bytea || 'groupdesk'::bytea));
END $$;

CREATE FUNCTION key_set() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE installation SET key_check = key_check(NEW.key);
    INSERT INTO audit (who, what) VALUES (session_user, 'fingerprint key');
    RETURN NULL;
END $$;
CREATE TRIGGER fingerprint_key_set AFTER INSERT OR UPDATE ON fingerprint_key FOR EACH ROW EXECUTE FUNCTION key_set();

-- Whether a name is the database user, alone or with a machine appended. "ana@eu" is ana at the machine "eu", unless
-- another role has that name.
CREATE FUNCTION is_oneself(said TEXT) RETURNS BOOLEAN LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT said = session_user::text OR starts_with(said, session_user || '@') AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_roles WHERE rolname = ANY (ARRAY(
            SELECT array_to_string((string_to_array(said, '@'))[:parts], '@')::name FROM generate_series(
                cardinality(string_to_array(session_user::text, '@')) + 1, cardinality(string_to_array(said, '@'))) parts)))
$$;

-- Whoever has the owner's rights may also write rows of other people: a copied directory, a merged place. The functions
-- that ask this never run with the owner's rights themselves.
CREATE FUNCTION is_owner(relation OID) RETURNS BOOLEAN LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT pg_has_role(current_user, (SELECT relowner FROM pg_catalog.pg_class WHERE oid = relation), 'USAGE') $$;

-- Every column that names a person has one of the next three functions as a trigger, unless only the server writes it.
-- They run after the row is written, so that an upsert is seen as what it became.
CREATE FUNCTION by_oneself() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF is_oneself(NEW."by") OR is_owner(TG_RELID) THEN
        RETURN NULL;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'in the name of somebody else';
END $$;

-- The column that names a person, and the columns that are said in that name: who changes these signs them.
CREATE FUNCTION said_by() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    new_row JSONB := to_jsonb(NEW);
    old_row JSONB := CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END;
    said    TEXT  := new_row ->> TG_ARGV[0];
BEGIN
    IF is_oneself(said) OR TG_OP = 'UPDATE' AND NOT EXISTS (SELECT FROM unnest(TG_ARGV) one
            WHERE new_row -> one IS DISTINCT FROM old_row -> one) OR is_owner(TG_RELID) THEN
        RETURN NULL;
    -- Nothing was said yet, or a hand-off is free again.
    ELSIF said IS NULL AND (TG_OP = 'INSERT' AND NOT EXISTS (SELECT FROM unnest(TG_ARGV) one
            WHERE COALESCE(new_row ->> one, '[]') <> '[]') OR TG_ARGV[0] = 'handoff_by' AND new_row ->> 'handoff_run' IS NULL) THEN
        RETURN NULL;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'in the name of somebody else';
END $$;

-- The names in a group. A reading may find what somebody else did: the name is that of a person whose rotation of this
-- group is recorded (or change, for what was changed), or it stood there for the same value. No answer contains a mapping: one of
-- somebody else has only what their recorded request sent, beside what was there.
CREATE FUNCTION known_by() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM (
            SELECT NEW.last_rotated_by AS said, 'rotation' AS what, TG_OP = 'UPDATE'
                AND NEW.last_rotated_by = OLD.last_rotated_by
                AND NEW.last_rotated_at IS NOT DISTINCT FROM OLD.last_rotated_at AS stands
            UNION ALL
            SELECT value ->> 2, key, TG_OP = 'UPDATE' AND value = OLD.origin::jsonb -> key AND CASE key
                WHEN 'name' THEN NEW.name IS NOT DISTINCT FROM OLD.name
                WHEN 'team_id' THEN NEW.team_id IS NOT DISTINCT FROM OLD.team_id
                WHEN 'mapping' THEN NEW.mapping IS NOT DISTINCT FROM OLD.mapping
                WHEN 'properties' THEN NEW.properties IS NOT DISTINCT FROM OLD.properties
                WHEN 'environment_tag' THEN NEW.environment_tag IS NOT DISTINCT FROM OLD.environment_tag
                WHEN 'fingerprint' THEN NEW.fingerprint IS NOT DISTINCT FROM OLD.fingerprint
                ELSE TRUE END
            FROM jsonb_each(NEW.origin::jsonb)
        ) named
        WHERE said IS NOT NULL AND stands IS NOT TRUE AND NOT is_oneself(said)
            AND CASE what
                WHEN 'mapping' THEN NOT EXISTS (SELECT FROM mutations
                    WHERE place = NEW.place AND user_group_id = NEW.user_group_id AND "by" = said
                    AND sent::jsonb -> 'mapping' <@ NEW.mapping::jsonb)
                    OR EXISTS (SELECT FROM jsonb_each(NEW.mapping::jsonb) part
                        WHERE (TG_OP = 'INSERT' OR part.value IS DISTINCT FROM OLD.mapping::jsonb -> part.key)
                        AND NOT EXISTS (SELECT FROM mutations
                            WHERE place = NEW.place AND user_group_id = NEW.user_group_id
                            AND sent::jsonb -> 'mapping' -> part.key = part.value))
                ELSE NOT EXISTS (SELECT FROM rotations
                    WHERE place = NEW.place AND user_group_id = NEW.user_group_id AND "by" = said)
                    AND (what = 'rotation' OR NOT EXISTS (SELECT FROM mutations
                        WHERE place = NEW.place AND user_group_id = NEW.user_group_id AND "by" = said)) END
    ) OR is_owner(TG_RELID) THEN
        RETURN NULL;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'in the name of somebody else';
END $$;
CREATE TRIGGER user_groups_known_by AFTER INSERT OR UPDATE ON user_groups FOR EACH ROW EXECUTE FUNCTION known_by();

DO $$
DECLARE
    named TEXT;
BEGIN
    FOREACH named IN ARRAY ARRAY['history', 'rotations', 'mutations', 'batches', 'batch_runs', 'imports', 'place_events'] LOOP
        EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE OF "by" ON %I FOR EACH ROW EXECUTE FUNCTION by_oneself()',
            named || '_by_oneself', named);
    END LOOP;
    FOREACH named IN ARRAY ARRAY['places made_by', 'place_keys added_by added_at', 'alarms raised_by',
        'alarms acknowledged_by acknowledged_at reason', 'facts by value source at', 'scheduled_runs by run process',
        'rotations handoff_by handoff_run handoff_process handoff_at',
        'annotations noted_by note noted_at', 'annotations labelled_by labels labelled_at', 'saved_views by filter at',
        'all_drafts by'] LOOP
        EXECUTE format('CREATE TRIGGER %I AFTER INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION said_by(%s)',
            split_part(named, ' ', 1) || '_' || split_part(named, ' ', 2), split_part(named, ' ', 1),
            (SELECT string_agg(quote_literal(one), ', ' ORDER BY at) FROM unnest((string_to_array(named, ' '))[2:])
                WITH ORDINALITY columns (one, at)));
    END LOOP;
END $$;

-- Of a batch: whoever began it chooses its groups; whoever has a run of it, too, records what becomes of them.
CREATE FUNCTION of_batch() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    batch BIGINT := to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
    IF EXISTS (SELECT FROM batches WHERE id = batch AND is_oneself("by"))
        OR TG_OP = 'UPDATE' AND EXISTS (SELECT FROM batch_runs WHERE batch_id = batch AND is_oneself("by"))
        OR is_owner(TG_RELID) THEN
        RETURN NULL;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'in a batch of somebody else';
END $$;
CREATE TRIGGER batches_of_batch AFTER UPDATE ON batches FOR EACH ROW EXECUTE FUNCTION of_batch(id);
CREATE TRIGGER batch_items_of_batch AFTER INSERT OR UPDATE ON batch_items FOR EACH ROW EXECUTE FUNCTION of_batch(batch_id);
CREATE TRIGGER batch_runs_of_batch AFTER UPDATE ON batch_runs FOR EACH ROW EXECUTE FUNCTION of_batch(batch_id);

-- Others than the sender of a rotation say what they have read of it while it is open, and nothing of its request.
CREATE FUNCTION of_rotation() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    before TEXT := COALESCE((SELECT state FROM rotation_events WHERE rotation_id = NEW.rotation_id AND seq < NEW.seq
        ORDER BY seq DESC LIMIT 1), 'intended');
BEGIN
    IF EXISTS (SELECT FROM rotations WHERE id = NEW.rotation_id AND state = NEW.state
            AND (is_oneself("by") OR NEW.event IN ('read', 'read_contradicts', 'found_at_start', 'abandon')))
        AND (before IN ('intended', 'sent', 'rotated', 'unknown') OR before = 'conflict' AND NEW.event = 'abandon')
        OR is_owner(TG_RELID) THEN
        RETURN NULL;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'in a rotation of somebody else';
END $$;
CREATE TRIGGER rotation_events_of_rotation AFTER INSERT ON rotation_events FOR EACH ROW EXECUTE FUNCTION of_rotation();

-- The token of a group came from a rotation of that group that was sent.
CREATE FUNCTION from_rotation() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NEW.rotation IS NULL OR is_owner(TG_RELID) OR EXISTS (SELECT FROM rotations WHERE id = NEW.rotation
            AND place = NEW.place AND user_group_id = NEW.user_group_id AND state NOT IN ('intended', 'not_applied')) THEN
        RETURN NULL;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'from a rotation of somebody else';
END $$;
CREATE TRIGGER last_changes_from_rotation AFTER INSERT OR UPDATE OF rotation ON last_changes
    FOR EACH ROW EXECUTE FUNCTION from_rotation();

-- An entry about a change is about a change of the same group.
CREATE FUNCTION of_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF is_owner(TG_RELID) OR (NEW.mutation IS NULL OR EXISTS (SELECT FROM mutations WHERE id = NEW.mutation
            AND place = NEW.place AND user_group_id = NEW.user_group_id))
        AND (NEW.rotation IS NULL OR EXISTS (SELECT FROM rotations WHERE id = NEW.rotation
            AND place = NEW.place AND user_group_id = NEW.user_group_id)) THEN
        RETURN NULL;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'about a change of another group';
END $$;
CREATE TRIGGER history_of_change AFTER INSERT ON history FOR EACH ROW EXECUTE FUNCTION of_change();

CREATE FUNCTION recorded() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    NEW.db_user := session_user;
    RETURN NEW;
END $$;
CREATE TRIGGER facts_recorded BEFORE INSERT OR UPDATE ON facts FOR EACH ROW EXECUTE FUNCTION recorded();

ALTER TABLE saved_views ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON saved_views FOR SELECT USING (TRUE);
CREATE POLICY own ON saved_views USING (author = session_user) WITH CHECK (author = session_user);

-- Called by every write, with the version of the tables that it knows. Locks out migrations: a migration waits for
-- writes that have called this, and later writes wait for the migration and then see its result.
CREATE FUNCTION may_write(known BIGINT, synchronous BOOLEAN) RETURNS BOOLEAN LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    LOCK TABLE schema_versions IN ACCESS SHARE MODE;
    IF EXISTS (SELECT FROM schema_versions WHERE writes_from > known) THEN
        RAISE 'the tables are newer' USING ERRCODE = 'GD001';
    ELSIF EXISTS (SELECT FROM installation WHERE moved_to IS NOT NULL) THEN
        RAISE 'the directory was moved' USING ERRCODE = 'GD002';
    ELSIF synchronous AND current_setting('synchronous_standby_names') = '' THEN
        RAISE 'no standby has to have it' USING ERRCODE = 'GD003';
    END IF;
    RETURN TRUE;
END $$;
