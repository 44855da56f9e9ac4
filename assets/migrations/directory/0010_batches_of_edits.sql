-- A batch is a queue of single rotations, or of single updates that make one change; `change` says which, as JSON.
ALTER TABLE batches ADD COLUMN kind TEXT NOT NULL DEFAULT 'rotate' CHECK (kind IN ('rotate', 'edit'));
ALTER TABLE batches ADD COLUMN change TEXT CHECK (json_valid(change));

-- Set when the update is about to leave, in one transaction; its row in `mutations` says how it ended.
ALTER TABLE batch_items ADD COLUMN mutation_id INTEGER REFERENCES mutations (id);
-- What the review showed of the group, and what the row is to be: {"name", "mapping", "properties", "to"}.
ALTER TABLE batch_items ADD COLUMN edit TEXT CHECK (json_valid(edit));
