//! Adds many groups in one transaction, for the demo and for tests, under the same rules as requests.

use secrecy::SecretString;

use super::{
    request,
    rules::{self, StoredGroup},
    secret,
    store::{Access, Result, Store, StoreError},
};
use crate::{
    api::wire::GroupRequest,
    db::{Tx, values},
};

/// A group after seeding.
#[derive(Debug, Clone)]
pub struct Seeded {
    pub team_id: i64,
    pub token: SecretString,
}

impl Store {
    /// Adds groups to any environments in one transaction, all or none. Blocks, and the store is blocked as well, until
    /// `work` ends.
    pub fn seed<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Seeder<'_, '_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut work = Some(work);
        // Not repeated after a lost connection: `work` can run only once.
        self.execute_blocking(Access::WriteOnce, move |tx| {
            let work = work.take().ok_or(StoreError::Stopped)?;
            work(&Seeder(tx))
        })
    }
}

/// Adds groups within one transaction.
pub struct Seeder<'t, 'c>(&'t Tx<'c>);

impl Seeder<'_, '_> {
    /// Adds groups to an environment; existing ids are skipped. Returns one entry per given group, in order. The
    /// environment must have a key.
    pub fn add(&self, environment: &str, groups: Vec<GroupRequest>) -> Result<Vec<Seeded>> {
        let sql = "SELECT id, tag FROM environments WHERE name = $1";
        let found: Option<(i64, Option<String>)> = self.0.one(sql, values![environment])?;
        let found = found.ok_or_else(|| {
            StoreError::Unfit(format!(
                "there is no environment named {environment:?}; create a key for it first"
            ))
        })?;
        let environment = (found.0, found.1.as_deref());
        let seeded = groups.into_iter().enumerate();
        seeded
            .map(|(index, group)| add(self.0, environment, index + 1, &group))
            .collect()
    }
}

fn add(
    tx: &Tx<'_>,
    (environment, tag): (i64, Option<&str>),
    number: usize,
    wanted: &GroupRequest,
) -> Result<Seeded> {
    let seeded = |row: StoredGroup| Seeded {
        team_id: row.team_id,
        token: row.token,
    };
    let refused =
        |why: String| StoreError::Unfit(format!("group {number} cannot be seeded: {why}"));
    request::within_limits(wanted).map_err(refused)?;
    let found = rules::ask_group(tx, environment, &wanted.user_group_id)?;
    if let Some(row) = found.one()? {
        return Ok(seeded(row));
    }
    let others = rules::ask_others(tx, environment, &wanted.user_group_id)?;
    if !rules::may_create(tag, others)? {
        let why =
            "its ID exists in another environment, and the two are not tagged Customer and Testing";
        return Err(refused(why.into()));
    }
    let row = rules::insert(tx, environment, wanted, &secret::random()?)?;
    Ok(seeded(row))
}
