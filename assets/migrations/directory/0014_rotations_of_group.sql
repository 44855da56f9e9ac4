-- The rotations of one group are found without reading those of others.
CREATE INDEX rotations_of_group ON rotations (place, user_group_id);
