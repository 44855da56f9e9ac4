//! Explains why an update is not sent although nobody changed the group: its values are not known well enough. Each
//! text names what would make the refusal unnecessary.

use std::fmt;

use jiff::Timestamp;

use crate::domain::{
    group::UserGroupId, proposal::quoted, text::visible, update::UnsafeUpdate, when,
};

/// Why an update is not sent although nobody changed what it touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFields {
    pub id: UserGroupId,
    pub profile: String,
    pub objections: Vec<UnsafeUpdate>,
    /// When earlier changes with an unknown outcome were sent.
    pub open: Vec<Timestamp>,
}

/// One sentence about the first objection, and one command. On a terminal the command line asks instead, as the console does.
impl fmt::Display for UnknownFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_stated = |one: &&UnsafeUpdate| !matches!(one, UnsafeUpdate::NotStated { .. });
        let first = self.objections.iter().find(is_stated);
        let Some(objection) = first.or(self.objections.first()) else {
            return Ok(());
        };
        let (id, field) = (&self.id, objection.field().as_str());
        let (is, it) = (objection.field().is(), objection.field().it());
        let open = self.open.first();
        let open = open.map_or_else(
            || "an earlier change".to_owned(),
            |at| format!("the change of {}", when::second(*at)),
        );
        match objection {
            UnsafeUpdate::PartialChange {
                uncertain: true, ..
            } => write!(
                f,
                "{open} of \"{id}\" may have taken effect, so its {field} may differ from the last known value; nothing was \
                 sent. Repeat that change, or send all of {it}: add --{field} FILE. To look at that change: groupdesk history \
                 --open"
            ),
            UnsafeUpdate::PartialChange { at: Some(at), .. } => write!(
                f,
                "the service does not return the {field} of \"{id}\", and others may have changed it since {}; nothing was \
                 sent. To send the last known {field} with this change: add --replace-{field}",
                when::minute(*at)
            ),
            UnsafeUpdate::PartialChange { at: None, .. } => write!(
                f,
                "the {field} of \"{id}\" {is} unknown, and a single change would replace all of {it}; nothing was sent. To send \
                 all of {it}: add --{field} FILE"
            ),
            UnsafeUpdate::NotStated { .. } => write!(
                f,
                "it is unknown whether the service keeps the {field} of \"{id}\" when an update omits {it}; nothing was sent. To \
                 send last known values again: groupdesk profile behaviour {} --omitted-fields unknown",
                quoted(&visible(&self.profile))
            ),
            UnsafeUpdate::WouldClear { .. } => write!(
                f,
                "the service clears the {field} if an update omits {it}, and the last value of \"{id}\" is unknown; nothing was \
                 sent. To send {it}: add --{field}"
            ),
            UnsafeUpdate::Uncertain { .. } => write!(
                f,
                "{open} of \"{id}\" may have taken effect, and its {field} would be sent again; nothing was sent. To look at \
                 that change: groupdesk history --open"
            ),
        }
    }
}
