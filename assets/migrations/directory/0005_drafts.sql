-- Unsent forms: what was typed, as it was typed, and what it started from. No token, no API key.
-- `mapping` is a list of rows: [schema id, data source id, [both when the edit began] or null, dropped].
-- `mapping_text` and `group_text` came from an outside editor and cannot be read yet.
CREATE TABLE drafts (
    profile       TEXT    NOT NULL,
    user_group_id TEXT    NOT NULL CHECK (length(user_group_id) BETWEEN 1 AND 255),
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
    PRIMARY KEY (profile, user_group_id)
) STRICT;
