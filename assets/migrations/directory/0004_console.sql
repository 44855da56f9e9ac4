-- How a person left the list of a profile: filter and order, for the next start. Only ever the last state.
CREATE TABLE console_views (
    profile    TEXT    NOT NULL PRIMARY KEY,
    filter     TEXT    NOT NULL,
    sort       TEXT    NOT NULL,
    reverse    INTEGER NOT NULL,
    best_first INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
