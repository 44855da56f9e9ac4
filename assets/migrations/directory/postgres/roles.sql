-- Creates the roles of a directory, before its tables. People have roles of their own, which are members of these. The
-- rights of each role are in rights.sql. `:schema` is the name of the schema.

DO $$
DECLARE
    role TEXT;
BEGIN
    -- All databases of a server share its roles: whoever got them here would have the directory there.
    IF EXISTS (
        SELECT 1 FROM pg_shdepend d JOIN pg_roles r ON d.refclassid = 'pg_authid'::regclass AND r.oid = d.refobjid
        WHERE r.rolname IN (':schema_owner', ':schema_viewer', ':schema_operator', ':schema_admin')
        AND d.dbid NOT IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    ) THEN
        RAISE 'another database of this server has a directory with the schema ":schema"; set another schema'
            USING ERRCODE = 'GD004';
    END IF;
    FOREACH role IN ARRAY ARRAY['owner', 'viewer', 'operator', 'admin'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', ':schema_' || role);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END LOOP;
END $$;
-- An admin does not rewrite anything by accident: the owner's rights must be taken by SET ROLE.
ALTER ROLE ":schema_admin" NOINHERIT;
GRANT ":schema_viewer" TO ":schema_operator";
GRANT ":schema_viewer", ":schema_operator" TO ":schema_owner" WITH ADMIN OPTION;
GRANT ":schema_owner" TO ":schema_admin";
GRANT ":schema_operator" TO SESSION_USER;
GRANT ":schema_admin" TO SESSION_USER WITH ADMIN OPTION;
