-- The User Group Service's own data. Times are Unix milliseconds. Files in this folder are only ever added.

-- 'gdgS': tells this database from any other SQLite file.
PRAGMA application_id = 1734633299;

CREATE TABLE environments (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    tag  TEXT CHECK (tag IN ('Customer', 'Testing'))
) STRICT;

-- API keys; only the SHA-256 is kept. AUTOINCREMENT: the number of a key is never given to another.
CREATE TABLE keys (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    environment INTEGER NOT NULL REFERENCES environments (id),
    hash        BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    read_only   INTEGER NOT NULL CHECK (read_only IN (0, 1)),
    created_at  INTEGER NOT NULL,
    revoked_at  INTEGER
) STRICT;

CREATE TABLE groups (
    team_id       INTEGER PRIMARY KEY AUTOINCREMENT,
    environment   INTEGER NOT NULL REFERENCES environments (id),
    user_group_id TEXT NOT NULL,
    name          TEXT NOT NULL,
    mapping       TEXT NOT NULL,
    properties    TEXT NOT NULL,
    token         TEXT NOT NULL UNIQUE,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    -- The id first: "who else has this id" is asked at every creation.
    UNIQUE (user_group_id, environment)
) STRICT;

-- Tokens that were current once, as SHA-256, so that a late caller hears "retired" and not "unknown".
CREATE TABLE retired_tokens (
    hash        BLOB NOT NULL CHECK (length(hash) = 32),
    environment INTEGER NOT NULL REFERENCES environments (id),
    team_id     INTEGER NOT NULL REFERENCES groups (team_id),
    retired_at  INTEGER NOT NULL,
    PRIMARY KEY (hash, environment)
) STRICT, WITHOUT ROWID;
