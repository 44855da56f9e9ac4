-- Keys with a name, keys that end by themselves, when a key was last used, and a row to write where somebody asks whether writing works.

ALTER TABLE keys ADD COLUMN name TEXT;
ALTER TABLE keys ADD COLUMN expires_at INTEGER;
ALTER TABLE keys ADD COLUMN last_used_at INTEGER;

CREATE TABLE probe (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
) STRICT;
