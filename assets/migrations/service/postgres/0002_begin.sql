-- The User Group Service's data in a schema of PostgreSQL, like the SQLite file of the same version. Times are Unix
-- milliseconds. Files in this folder are only ever added.

CREATE TABLE schema_versions (
    version BIGINT PRIMARY KEY
);

-- A row per write. After a lost connection the service asks by `stamp` whether its write was committed.
CREATE TABLE writes (
    stamp UUID PRIMARY KEY,
    at    TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    asked BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE INDEX writes_by_time ON writes (at);

CREATE TABLE environments (
    id   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    tag  TEXT CHECK (tag IN ('Customer', 'Testing'))
);

-- API keys; only their SHA-256 is stored.
CREATE TABLE keys (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    environment  BIGINT NOT NULL REFERENCES environments (id),
    hash         BYTEA NOT NULL UNIQUE CHECK (length(hash) = 32),
    name         TEXT,
    read_only    BOOLEAN NOT NULL,
    created_at   BIGINT NOT NULL,
    revoked_at   BIGINT,
    expires_at   BIGINT,
    last_used_at BIGINT
);

CREATE TABLE groups (
    team_id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    environment   BIGINT NOT NULL REFERENCES environments (id),
    user_group_id TEXT COLLATE "C" NOT NULL,
    name          TEXT NOT NULL,
    mapping       TEXT NOT NULL,
    properties    TEXT NOT NULL,
    token         TEXT COLLATE "C" NOT NULL UNIQUE,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    -- The id first, because every create asks which other environments have this id.
    UNIQUE (user_group_id, environment)
);

-- Former tokens, as SHA-256, so that a late caller gets "retired" instead of "unknown".
CREATE TABLE retired_tokens (
    hash        BYTEA NOT NULL CHECK (length(hash) = 32),
    environment BIGINT NOT NULL REFERENCES environments (id),
    team_id     BIGINT NOT NULL REFERENCES groups (team_id),
    retired_at  BIGINT NOT NULL,
    PRIMARY KEY (hash, environment)
);

CREATE TABLE probe (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    at BIGINT NOT NULL
);
