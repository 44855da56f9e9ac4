-- What a list needs of every group, in a small row of its own: the title in lower case, by which lists are ordered, and all
-- that is known as the console holds it (src/search/packed.rs). A copy; `user_groups` stays what is true. Whatever writes a
-- group empties its copy, whichever program it is: an empty one counts for nothing until it is made anew.
CREATE TABLE packed_groups (
    place         INTEGER NOT NULL,
    user_group_id TEXT    NOT NULL,
    title         TEXT    NOT NULL,
    packed        BLOB    NOT NULL,
    PRIMARY KEY (place, user_group_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX packed_groups_by_title ON packed_groups (place, title);

-- How many groups a place has.
CREATE TABLE group_counts (
    place  INTEGER PRIMARY KEY,
    groups INTEGER NOT NULL
) STRICT;

CREATE TRIGGER packed_groups_added AFTER INSERT ON user_groups BEGIN
    INSERT INTO packed_groups (place, user_group_id, title, packed)
    VALUES (NEW.place, NEW.user_group_id, lower(COALESCE(NULLIF(NEW.name, ''), NEW.user_group_id)), x'')
    ON CONFLICT (place, user_group_id) DO UPDATE SET packed = x'';
    INSERT INTO group_counts (place, groups) VALUES (NEW.place, 1)
    ON CONFLICT (place) DO UPDATE SET groups = groups + 1;
END;

CREATE TRIGGER packed_groups_changed AFTER UPDATE ON user_groups BEGIN
    UPDATE packed_groups SET packed = x'' WHERE place = OLD.place AND user_group_id = OLD.user_group_id;
END;

-- A group is never renamed or moved; where somebody does it by hand, its copy goes along.
CREATE TRIGGER packed_groups_moved AFTER UPDATE OF place, user_group_id ON user_groups
WHEN OLD.place <> NEW.place OR OLD.user_group_id <> NEW.user_group_id BEGIN
    UPDATE packed_groups SET place = NEW.place, user_group_id = NEW.user_group_id, packed = x''
    WHERE place = OLD.place AND user_group_id = OLD.user_group_id;
    UPDATE group_counts SET groups = groups - 1 WHERE place = OLD.place;
    INSERT INTO group_counts (place, groups) VALUES (NEW.place, 1)
    ON CONFLICT (place) DO UPDATE SET groups = groups + 1;
END;

CREATE TRIGGER packed_groups_removed AFTER DELETE ON user_groups BEGIN
    DELETE FROM packed_groups WHERE place = OLD.place AND user_group_id = OLD.user_group_id;
    UPDATE group_counts SET groups = groups - 1 WHERE place = OLD.place;
END;
