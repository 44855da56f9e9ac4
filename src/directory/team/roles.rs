//! Who may access a team's directory, and in which role: members of its database roles.

use std::collections::BTreeMap;

use super::TableStatus;
use crate::{
    db::{Access, quoted, values},
    directory::{
        Result, TeamLocation,
        engine::Engine,
        location::TeamFault,
        tables::{Role, as_owner},
    },
    domain::text::visible,
};

/// Grants a database user exactly this role. Blocks.
pub fn grant(team: &TeamLocation, name: &str, role: Role) -> Result<()> {
    change(team, name, Some(role)).map(drop)
}

/// Revokes all roles. Returns whether there were any. Blocks.
pub fn revoke(team: &TeamLocation, name: &str) -> Result<bool> {
    change(team, name, None)
}

/// Also those who are members by way of another role.
const MEMBERS: &str = "\
WITH RECURSIVE held (member, role) AS (\
 SELECT m.member, r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid \
 WHERE r.rolname IN ($1::text::name, $2::text::name, $3::text::name, $4::text::name) \
 UNION SELECT m.member, held.role FROM pg_auth_members m JOIN held ON held.member = m.roleid \
 WHERE held.role <> $4::text::name) \
SELECT p.rolname::text, held.role::text FROM held JOIN pg_roles p ON p.oid = held.member";

/// Who has which role, by name; of several roles the highest. Superusers, who may do everything, are not among them.
/// Blocks.
pub fn members(team: &TeamLocation) -> Result<Vec<(String, Role)>> {
    let schema = team.schema().to_owned();
    Engine::of_team(team)?.block(Access::Short, move |tx| {
        TableStatus::read(tx)?;
        let name = |role: Role| role.of(&schema).trim_matches('"').to_owned();
        // Admins are members of the owner by way of their own role: that does not make them owners.
        let all = [Role::Viewer, Role::Operator, Role::Admin, Role::Owner];
        let own = all.map(name);
        let held: Vec<(String, String)> =
            tx.all(MEMBERS, values![&own[0], &own[1], &own[2], &own[3]])?;
        let mut members = BTreeMap::new();
        for (member, held) in held.into_iter().filter(|(member, _)| !own.contains(member)) {
            let role = all.into_iter().find(|role| name(*role) == held);
            let highest = members.entry(member).or_insert(Role::Viewer);
            *highest = (*highest).max(role.unwrap_or(Role::Viewer));
        }
        Ok(members.into_iter().collect())
    })
}

const CAN_LOG_IN: &str = "SELECT rolcanlogin FROM pg_roles WHERE rolname = $1::text::name";

/// PostgreSQL only warns if the caller may not change a membership, so the result is checked: whether it is a member, and
/// whether it has the rights without asking for them.
const MEMBER: &str = "\
SELECT COALESCE(bool_or(pg_has_role($1::text::name, r.oid, 'MEMBER')), FALSE), \
 COALESCE(bool_or(pg_has_role($1::text::name, r.oid, 'USAGE')), FALSE) \
FROM pg_roles r WHERE r.rolname = $2::text::name";

/// A role, not one of the directory itself, that gives the first one the second.
const THROUGH: &str = "\
SELECT r.rolname::text FROM pg_roles r \
WHERE r.rolname <> ALL (ARRAY[$1::text::name, $2::text::name, $3::text::name, $4::text::name, $5::text::name]) \
 AND NOT r.rolsuper AND pg_has_role(r.oid, $6::text::name, 'MEMBER') \
 AND EXISTS (SELECT 1 FROM pg_auth_members m JOIN pg_roles p ON p.oid = m.member WHERE m.roleid = r.oid \
  AND p.rolname = $1::text::name) \
ORDER BY 1 LIMIT 1";

const AUDIT: &str =
    "INSERT INTO audit (who, what, before, after) VALUES (session_user, 'role', $1, $2)";

fn change(team: &TeamLocation, name: &str, to: Option<Role>) -> Result<bool> {
    let (name, schema) = (name.to_owned(), team.schema().to_owned());
    Engine::of_team(team)?.block(Access::WriteOnce, move |tx| {
        let status = TableStatus::read(tx)?;
        status.requires(Role::Admin)?;
        // Without the role, an admin could not record the change either. An owner has it in any case.
        if status.membership.user == name && status.membership.role < Role::Owner {
            return Err(TeamFault::OwnRole.into());
        }
        // "public" would mean every user.
        let can_log_in = tx.one::<bool>(CAN_LOG_IN, values![&name])?;
        if name == "public" || can_log_in.is_none() {
            let role = match &*name {
                "public" => "NAME".to_owned(),
                name => quoted(name),
            };
            return Err(match to {
                Some(_) => TeamFault::Nobody(visible(&role).into_owned()),
                None => TeamFault::NobodyToRevoke(visible(&name).into_owned()),
            }
            .into());
        }
        // Without its memberships in the others, the owner's role could grant nothing any more. Who gets a role that cannot log
        // in, such as one of another directory, would get this one as well.
        let mut own_roles = Role::GRANTED.iter().chain([&Role::Owner]);
        if own_roles.any(|role| role.of(&schema) == quoted(&name))
            || to.is_some() && can_log_in == Some(false)
        {
            return Err(TeamFault::NoLogin(visible(&name).into_owned()).into());
        }
        let who = quoted(&name);
        let own = |role: Role| role.of(&schema).trim_matches('"').to_owned();
        let mut was_member = false;
        let mut after = Vec::new();
        for role in Role::GRANTED {
            let of = role.of(&schema);
            let before: Option<(bool, bool)> = tx.one(MEMBER, values![&name, own(role)])?;
            was_member |= before.is_some_and(|(is_member, _)| is_member);
            // An admin also needs the operator's rights.
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
            // Admins may make others admins; all other roles are granted by the owner.
            let said_by = if role == Role::Admin {
                "RESET ROLE".to_owned()
            } else {
                as_owner(&schema)
            };
            tx.batch(&format!("{said_by}; {text}"))?;
            after.push((role, is_wanted));
        }
        for (role, is_wanted) in after {
            let found: Option<(bool, bool)> = tx.one(MEMBER, values![&name, own(role)])?;
            let (is_member, inherits) = found.unwrap_or_default();
            // A higher role includes the lower ones.
            let is_kept = is_member && !is_wanted && to.is_none_or(|to| role > to);
            if is_kept || !is_member && is_wanted {
                let [viewer, operator, admin] = Role::GRANTED.map(own);
                let all = values![&name, viewer, operator, admin, own(Role::Owner), own(role)];
                let through: Option<String> = tx.one(THROUGH, all)?;
                // Whoever owns the directory, or is superuser, has every role in any case.
                if to.is_none() || is_wanted || through.is_some() {
                    let through = through.map(|role| visible(&role).into_owned());
                    return Err(TeamFault::RightStays(through).into());
                }
            }
            // An admin's rights are asked for by SET ROLE.
            if is_wanted && !inherits && role != Role::Admin {
                return Err(TeamFault::NotInherited(visible(&who).into_owned()).into());
            }
        }
        if to.is_none() && !was_member {
            return Ok(false);
        }
        tx.batch(&as_owner(&schema))?;
        tx.write(AUDIT, values![&name, to.map(Role::as_str)])?;
        Ok(true)
    })
}
