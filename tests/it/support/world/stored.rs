//! The truth: what the service's own database contains, read without its interface.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::{Side, World};

/// A group as the service stores it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    pub(crate) team_id: i64,
    pub(crate) name: String,
    pub(crate) mapping: Value,
    pub(crate) properties: Value,
    pub(crate) token: String,
}

impl World {
    /// The group as it is now; `None` if it does not exist.
    pub(crate) fn find_stored(&self, side: Side, id: &str) -> Option<Stored> {
        let json = |text: String| serde_json::from_str(&text).expect("stored JSON");
        open(&self.service_file())
            .query_row(
                "SELECT g.team_id, g.name, g.mapping, g.properties, g.token FROM groups g \
                 JOIN environments e ON e.id = g.environment WHERE e.name = ?1 AND g.user_group_id = ?2",
                [side.name(), id],
                |row| {
                    Ok(Stored {
                        team_id: row.get(0)?,
                        name: row.get(1)?,
                        mapping: json(row.get(2)?),
                        properties: json(row.get(3)?),
                        token: row.get(4)?,
                    })
                },
            )
            .optional()
            .expect("the service's database can be read")
    }

    /// The group as it is now.
    pub(crate) fn stored(&self, side: Side, id: &str) -> Stored {
        self.find_stored(side, id).expect("the group exists")
    }

    /// How often the service has rotated the token of this group.
    pub(crate) fn rotations(&self, side: Side, id: &str) -> usize {
        let team_id = self.stored(side, id).team_id;
        let retired = "SELECT count(*) FROM retired_tokens WHERE team_id = ?1";
        let count = open(&self.service_file())
            .query_row(retired, [team_id], |row| row.get::<_, i64>(0))
            .expect("the service's database can be read");
        count as usize
    }

    /// Makes an earlier token the current one, as an older copy of the service's database does.
    pub(crate) fn revive(&self, side: Side, id: &str, token: &str) {
        let team_id = self.stored(side, id).team_id;
        let service = open(&self.service_file());
        let retired = "DELETE FROM retired_tokens WHERE team_id = ?1";
        service.execute(retired, [team_id]).expect("deleted");
        let current = "UPDATE groups SET token = ?1 WHERE team_id = ?2";
        let changed = service.execute(current, rusqlite::params![token, team_id]);
        assert_eq!(changed.expect("changed"), 1);
    }

    /// Deletes a group, which the interface cannot do.
    pub(crate) fn vanish(&self, side: Side, id: &str) {
        let team_id = self.stored(side, id).team_id;
        let service = open(&self.service_file());
        for statement in [
            "DELETE FROM retired_tokens WHERE team_id = ?1",
            "DELETE FROM groups WHERE team_id = ?1",
        ] {
            service.execute(statement, [team_id]).expect("deleted");
        }
    }
}

pub(super) fn tokens(file: &Path) -> Vec<String> {
    let service = open(file);
    let mut statement = service.prepare("SELECT token FROM groups").expect("SQL");
    let tokens = statement.query_map([], |row| row.get(0)).expect("rows");
    tokens.collect::<Result<_, _>>().expect("tokens")
}

fn open(file: &Path) -> Connection {
    Connection::open(file).expect("a second connection")
}
