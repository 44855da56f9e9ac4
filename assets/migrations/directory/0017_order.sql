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

-- What the request of an open create or update contained, and no later request of the group has replaced.
ALTER TABLE mutations ADD COLUMN sent TEXT CHECK (json_valid(sent));
DROP INDEX mutations_recorded;
ALTER TABLE mutations DROP COLUMN recorded;

-- The last number of the directory when the groups of the batch were selected. NULL: begun before there were numbers.
ALTER TABLE batches ADD COLUMN noted INTEGER;
