-- What waits for a person and was put aside for a while, by what it is about, for example "batch/12". It is back after
-- `until`, and as soon as it stands otherwise than it did.
CREATE TABLE hidden_concerns (
    place   INTEGER NOT NULL REFERENCES places (number),
    concern TEXT    NOT NULL,
    stands  TEXT    NOT NULL,
    until   INTEGER NOT NULL,
    by      TEXT    NOT NULL,
    PRIMARY KEY (place, concern)
) STRICT, WITHOUT ROWID;

-- Why the last run of a batch began nothing more, as JSON; "running" from its begin until then.
ALTER TABLE batches ADD COLUMN stopped TEXT CHECK (json_valid(stopped));
