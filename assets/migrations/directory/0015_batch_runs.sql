-- The runs of batches: a process that works on one says so here every few seconds, also while it is paused, so that others
-- can tell it from one that died. `boot_clock` is when it was last heard of, by the clock since the start of the machine;
-- `process` names it, so that its own machine sees at once that it has ended. A run that ended stays, with `ended` set.
CREATE TABLE batch_runs (
    batch_id     INTEGER NOT NULL REFERENCES batches (id),
    run          INTEGER NOT NULL,
    by           TEXT    NOT NULL,
    process      TEXT,
    paused       INTEGER NOT NULL,
    stands_since INTEGER NOT NULL,
    seen         INTEGER NOT NULL,
    boot_clock   TEXT,
    ended        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (batch_id, run)
) STRICT, WITHOUT ROWID;
