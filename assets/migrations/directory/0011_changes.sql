-- What the consoles of one directory see of each other. `change` counts the writes of groups within a place, so that the
-- rows written since a look are found without reading all; 0: before this version. `desk` is a number of whoever had the
-- directory open and wrote the row: one's own writes are no news.
ALTER TABLE user_groups ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user_groups ADD COLUMN desk INTEGER;

CREATE INDEX user_groups_changed ON user_groups (place, change) WHERE change > 0;
