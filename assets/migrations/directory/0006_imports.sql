-- Files that are being sent: which rows are done, so that an interrupted one goes on and sends nothing twice.
-- `digest` is SHA-256 over what was asked for and the rows. An import stays open while a row of it is not done.
-- From here on the source of a value in `user_groups.origin` may also be "imported".
CREATE TABLE imports (
    id         INTEGER PRIMARY KEY,
    profile    TEXT    NOT NULL,
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    by         TEXT    NOT NULL
) STRICT;

CREATE INDEX imports_open ON imports (profile, digest) WHERE ended_at IS NULL;

CREATE TABLE import_rows (
    import_id INTEGER NOT NULL REFERENCES imports (id),
    number    INTEGER NOT NULL CHECK (number > 0),
    outcome   TEXT    NOT NULL,
    PRIMARY KEY (import_id, number)
) STRICT, WITHOUT ROWID;
