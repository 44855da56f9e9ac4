-- The rights of each role; executed again whenever a table is added. Nobody gets more than the work needs: history,
-- journals and the audit are append-only, and the server records who wrote a line, and when. `:schema` is the name of
-- the schema.

GRANT USAGE ON SCHEMA ":schema" TO ":schema_viewer";
GRANT SELECT ON ALL TABLES IN SCHEMA ":schema" TO ":schema_viewer";
REVOKE ALL ON fingerprint_key FROM ":schema_viewer";
GRANT SELECT ON fingerprint_key TO ":schema_operator";

GRANT INSERT (stamp, asked), UPDATE (stamp) ON writes TO ":schema_operator";
GRANT INSERT (name, made_at, made_by), UPDATE (name, tag)
    ON places TO ":schema_operator";
GRANT INSERT
    ON place_urls TO ":schema_operator";
GRANT INSERT (place, fingerprint, state, added_at, added_by), UPDATE (state, added_at, added_by)
    ON place_keys TO ":schema_operator";
GRANT INSERT (place, at, by, profile, event, note)
    ON place_events TO ":schema_operator";
GRANT INSERT (place, user_group_id, what, raised_at, raised_by), UPDATE (acknowledged_at, acknowledged_by, reason)
    ON alarms TO ":schema_operator";
GRANT INSERT (place, fact, value, source, at, by), UPDATE (value, source, at, by)
    ON facts TO ":schema_operator";
GRANT INSERT, UPDATE (name, team_id, mapping, properties, environment_tag, fingerprint, origin, last_rotated_at, last_rotated_by,
    last_seen, key, created_at, change, desk, title)
    ON user_groups TO ":schema_operator";
GRANT INSERT, UPDATE (first_seen, last_seen)
    ON fingerprints TO ":schema_operator";
GRANT INSERT (at, by, profile, user_group_id, operation, ending, previous_fingerprint, fingerprint, reason, changes, note, place,
    key, mutation, rotation)
    ON history TO ":schema_operator";
GRANT INSERT (place, profile, user_group_id, state, previous, fingerprint, refused, read_unchanged, by, reason, started_at, boot_clock,
    key, hands_off, process, settles_in, unwritten), UPDATE (state, fingerprint, refused, read_unchanged, sent_at, note, boot_clock, handoff, handoff_exit, handoff_note, profile,
    handoff_run, handoff_by, handoff_process, handoff_limit, handoff_at, handoff_clock, revived, unwritten)
    ON rotations TO ":schema_operator";
GRANT INSERT (rotation_id, seq, at, event, fingerprint, since_sent, horizon_passed, state, note)
    ON rotation_events TO ":schema_operator";
GRANT INSERT (place, user_group_id, operation, state, rotation_id, by, profile, key, reason, started_at, boot_clock, changes,
    settles_in), UPDATE (state, sent_at, boot_clock, ended_at, ending, note, changes, sent)
    ON mutations TO ":schema_operator";
GRANT INSERT, UPDATE (number, rotation, boot_clock)
    ON last_changes TO ":schema_operator";
-- The next number, and no other.
GRANT USAGE ON SEQUENCE order_of_changes TO ":schema_operator";
GRANT INSERT (place, profile, by, reason, started_at, kind, change, noted), UPDATE (stopped, ended_at)
    ON batches TO ":schema_operator";
GRANT INSERT (batch_id, position, user_group_id, edit), UPDATE (rotation_id, mutation_id, outcome, note)
    ON batch_items TO ":schema_operator";
GRANT INSERT (batch_id, run, by, process, paused, stands_since, seen, boot_clock),
    UPDATE (seen, boot_clock, paused, stands_since, ended)
    ON batch_runs TO ":schema_operator";
GRANT INSERT, UPDATE (run, by, process, stands_since, seen, boot_clock, ended)
    ON scheduled_runs TO ":schema_operator";
GRANT INSERT (place, profile, digest, started_at, by), UPDATE (ended_at)
    ON imports TO ":schema_operator";
GRANT INSERT, DELETE
    ON import_rows TO ":schema_operator";
GRANT INSERT, UPDATE (note, noted_at, noted_by, labels, labelled_at, labelled_by, favourite)
    ON annotations TO ":schema_operator";
-- One's own rows.
GRANT INSERT, UPDATE, DELETE ON bindings, drafts, console_views TO ":schema_operator";
GRANT INSERT (name, filter, sort, reverse, best_first, columns, at, by), UPDATE (filter, sort, reverse, best_first, columns, at, by),
    DELETE ON saved_views TO ":schema_operator";
