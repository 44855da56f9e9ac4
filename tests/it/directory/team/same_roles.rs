//! All databases of a server share its roles.

use groupdesk::directory::{TeamFault, TeamLocation, set_up, set_up_sql};

use super::*;

#[test]
fn a_directory_of_another_database_is_not_taken_over() {
    let Some(server) = postgres::own() else {
        return;
    };
    let schema = "groupdesk";
    server.set_up(schema);
    for text in [
        "CREATE ROLE max LOGIN CREATEROLE",
        "CREATE DATABASE stage OWNER max",
    ] {
        server.execute("public", text);
    }
    let folder = server.folder().display().to_string().replace('/', "%2F");
    let stage = |schema: &str| {
        let url = format!("postgres://max@{folder}/stage");
        TeamLocation::parse(&url, schema).expect("an address")
    };
    assert_eq!(fault_of(set_up(&stage(schema))), TeamFault::SameRoles);
    let printed = set_up_sql(schema, None);
    let refused = server.try_as("max", "public", &["\\connect stage", &printed]);
    let refused = refused.expect_err("it checks");
    assert!(refused.contains("GD004"), "{refused}");
    for role in ["owner", "viewer", "operator", "admin"] {
        let is = format!("SELECT pg_has_role('max', '{schema}_{role}', 'MEMBER')");
        assert_eq!(server.execute("public", &is), "f", "{role}");
    }
    set_up(&stage("staging")).expect("another schema");
    // Roles that are left over from an earlier directory of this database are used again.
    server.execute("public", "DROP SCHEMA groupdesk CASCADE");
    set_up(&postgres::at_as("desk", server.folder(), schema)).expect("set up again");
}
