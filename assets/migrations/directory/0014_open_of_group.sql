-- What is open of one group is found without reading what is open of its whole place.
DROP INDEX rotations_open;
CREATE INDEX rotations_open ON rotations (place, user_group_id)
    WHERE state IN ('intended', 'sent', 'rotated', 'unknown');
