-- Lists are read from the groups themselves; packed copies, which no release had, are gone.
DROP TRIGGER packed_groups_added;
DROP TRIGGER packed_groups_changed;
DROP TRIGGER packed_groups_moved;
DROP TRIGGER packed_groups_removed;
DROP TABLE packed_groups;
DROP TABLE group_counts;

-- The name, or else the id, in lower case: finds the first groups of a list that is sorted by name. NULL: written by another
-- program.
ALTER TABLE user_groups ADD COLUMN title TEXT;
CREATE INDEX user_groups_by_title ON user_groups (place, title);
