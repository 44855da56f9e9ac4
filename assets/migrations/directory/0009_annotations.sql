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
