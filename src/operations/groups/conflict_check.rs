//! Protects an edit from overwriting somebody else's change (hazard 4 of docs/design/service.md): reads the service's
//! copy and compares it with what this installation has last seen.

use crate::{
    domain::{group::UserGroupId, history::Ending, remote_changes::RemoteChanges, text::visible},
    operations::{Done, Failure, Operations, UnknownIdPolicy},
};

impl Operations {
    /// As [`Operations::look_up`], but refuses if name, mapping or properties differ from what this installation has
    /// last seen. The service never returns the mapping and may not return the properties: a field it does not return
    /// cannot differ.
    ///
    /// As after every read, what it found is recorded.
    pub async fn look_up_unchanged(&self, id: &UserGroupId) -> Result<Done, Failure> {
        let seen = self.known(id, UnknownIdPolicy::KnownOnly).await?;
        let seen = seen.filter(|group| group.last_seen.is_some());
        let seen = seen.ok_or_else(|| {
            Failure::guarded(format!(
                "\"{id}\" has never been read here, so groupdesk cannot tell whether it was changed; nothing was sent. \
                 Read it first"
            ))
        })?;
        let done = self.look_up(id, UnknownIdPolicy::KnownOnly).await?;
        if let Some(stale) = done.warnings.iter().find(|warning| warning.is_stale()) {
            return Err(Failure::Unreadable(format!("nothing was changed: {stale}")));
        }
        let parts = RemoteChanges::between(&seen, &done.group).parts;
        // A group created by the read raises an alarm of its own.
        if parts.is_empty() || done.ending == Ending::CreatedByGet {
            return Ok(done);
        }
        let what = parts.iter().map(|part| visible(&part.label()).into_owned());
        let what: Vec<_> = what.collect();
        Err(Failure::guarded(format!(
            "\"{id}\" was changed elsewhere since it was last seen here ({}); your change was not sent. To see the current \
             values: {}",
            what.join(", "),
            id.command("show", "")
        )))
    }
}
