-- Whose scheduled rotation is at work on a place, so that two never overlap, also of two machines: one row per place, with
-- the same words as `batch_runs`. One whose process died is taken over by the next; one that ended stays, with `ended` set.
CREATE TABLE scheduled_runs (
    place        INTEGER PRIMARY KEY REFERENCES places (number),
    run          INTEGER NOT NULL,
    by           TEXT    NOT NULL,
    process      TEXT,
    stands_since INTEGER NOT NULL,
    seen         INTEGER NOT NULL,
    boot_clock   TEXT,
    ended        INTEGER NOT NULL DEFAULT 0
) STRICT;
