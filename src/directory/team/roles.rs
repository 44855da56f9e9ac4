//! Who is let into a directory that a team shares, and as what: members of its roles.

use super::stands::{Stands, ask};
use crate::{
    database::{Access, values},
    directory::{
        DirectoryError, TeamLocation,
        engine::Engine,
        location::TeamFault,
        sqlite::Fault,
        tables::{Role, as_owner, quoted},
    },
};

/// Lets a role of the database work with the directory as that, and as no more. Blocks.
pub fn grant(team: &TeamLocation, name: &str, role: Role) -> Result<(), DirectoryError> {
    change(team, name, Some(role))
}

/// Takes all of that away. Blocks.
pub fn revoke(team: &TeamLocation, name: &str) -> Result<(), DirectoryError> {
    change(team, name, None)
}

const EXISTS: &str = "SELECT 1 FROM pg_roles WHERE rolname = $1::text::name";

/// Who may not change a right is only warned, so what came of it is asked.
const MEMBER: &str = "\
SELECT COALESCE(bool_or(pg_has_role($1::text::name, r.oid, 'MEMBER')), FALSE) FROM pg_roles r WHERE r.rolname = $2::text::name";

const AUDIT: &str =
    "INSERT INTO audit (who, what, before, after) VALUES (session_user, 'role', $1, $2)";

fn change(team: &TeamLocation, name: &str, to: Option<Role>) -> Result<(), DirectoryError> {
    let (name, schema) = (name.to_owned(), team.schema().to_owned());
    let at = team.clone();
    ask(&Engine::of_team(team)?, Access::Once, move |tx| {
        let stands = Stands::read(tx)?;
        let refused = |fault| Fault::from(DirectoryError::of_team(&at, fault));
        if stands.desk.role < Role::Admin {
            return Err(refused(TeamFault::NeedsRole {
                needs: Role::Admin,
                has: stands.desk.role,
            }));
        }
        // Everybody there is would be meant by "public".
        let is_there = tx.one(EXISTS, values![&name], |_| Ok::<_, Fault>(()))?;
        if name == "public" || is_there.is_none() {
            return Err(refused(TeamFault::Nobody));
        }
        let who = quoted(&name);
        let mut after = Vec::new();
        for role in Role::GRANTED {
            let of = role.of(&schema);
            // An admin works, too.
            let is_wanted = to == Some(role) || to == Some(Role::Admin) && role == Role::Operator;
            let text = if is_wanted {
                let more = if role == Role::Admin {
                    " WITH ADMIN OPTION"
                } else {
                    ""
                };
                format!("GRANT {of} TO {who}{more}")
            } else {
                format!("REVOKE {of} FROM {who}")
            };
            // Admins let others be admins; all else the owner says.
            let said_by = if role == Role::Admin {
                "RESET ROLE".to_owned()
            } else {
                as_owner(&schema)
            };
            tx.batch(&format!("{said_by}; {text}"))?;
            after.push((of, is_wanted));
        }
        for (of, is_wanted) in after {
            let of = of.trim_matches('"').to_owned();
            let is = tx.one(MEMBER, values![&name, of], |row| row.get::<bool>(0))?;
            // A higher role brings the lower ones along.
            let is_kept = is == Some(true) && !is_wanted && to.is_none();
            if is_kept || is != Some(true) && is_wanted {
                return Err(refused(TeamFault::RightStays));
            }
        }
        tx.batch(&as_owner(&schema))?;
        tx.write(AUDIT, values![&name, to.map(Role::as_str)])?;
        Ok(())
    })
}
