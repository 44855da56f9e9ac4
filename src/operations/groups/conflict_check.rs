//! An edit that must not meet a change of somebody else (hazard 4 of docs/design/service.md): the service's copy is
//! read and compared with the one this installation has seen before.

use crate::{
    domain::{group::UserGroupId, history::Ending, remote_changes::RemoteChanges, text::visible},
    operations::{Done, Failure, Operations, UnknownIdPolicy},
};

impl Operations {
    /// As [`Operations::look_up`]; refuses where name, mapping or properties are not what this installation has last seen. The
    /// service never returns the mapping, and may not return the properties: what it does not tell cannot differ.
    ///
    /// What it found is known afterwards, as after every read.
    pub async fn look_up_unchanged(&self, id: &UserGroupId) -> Result<Done, Failure> {
        let seen = self.known(id, UnknownIdPolicy::KnownOnly).await?;
        let seen = seen.filter(|group| group.last_seen.is_some());
        let seen = seen.ok_or_else(|| Failure::NeverSeen { id: id.clone() })?;
        let done = self.look_up(id, UnknownIdPolicy::KnownOnly).await?;
        if let Some(stale) = done.warnings.iter().find(|warning| warning.is_stale()) {
            return Err(Failure::Unreadable(format!("nothing was changed: {stale}")));
        }
        let parts = RemoteChanges::between(&seen, &done.group).parts;
        // A group that the read made is an alarm of its own.
        if parts.is_empty() || done.ending == Ending::CreatedByGet {
            return Ok(done);
        }
        let what = parts.iter().map(|part| visible(&part.label()).into_owned());
        Err(Failure::ChangedElsewhere {
            id: id.clone(),
            what: what.collect(),
        })
    }
}
