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
    /// Until when the latest of them may still take effect: nothing is sent before.
    pub until: Option<Timestamp>,
}

/// One sentence about the first objection, and one command. On a terminal the command line asks instead, as the console does.
impl fmt::Display for UnknownFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (why, instead) = self.parts();
        write!(f, "{why}; nothing was sent. {instead}")
    }
}

impl UnknownFields {
    /// The same for the console, whose review shows what is sent instead and asks again.
    pub fn why(&self) -> String {
        format!("{}; nothing was sent", self.parts().0)
    }

    /// Whether the next group of a file may be sent all the same: single rows change here, or an earlier change is open.
    pub fn is_of_one_group(&self) -> bool {
        self.objections.iter().all(|objection| match objection {
            UnsafeUpdate::PartialChange { .. }
            | UnsafeUpdate::Uncertain { .. }
            | UnsafeUpdate::Restored { .. } => true,
            UnsafeUpdate::NotStated { .. } | UnsafeUpdate::WouldClear { .. } => false,
        })
    }

    /// Whether it may be sent as it is once earlier changes of the group have a result.
    pub fn waits_for_a_result(&self) -> bool {
        self.objections.iter().any(|objection| match objection {
            UnsafeUpdate::PartialChange { uncertain, .. } => *uncertain,
            UnsafeUpdate::Uncertain { .. } => true,
            UnsafeUpdate::NotStated { .. }
            | UnsafeUpdate::WouldClear { .. }
            | UnsafeUpdate::Restored { .. } => false,
        })
    }

    /// Why it is not sent, and the command that helps.
    fn parts(&self) -> (String, String) {
        let is_stated = |one: &&UnsafeUpdate| !matches!(one, UnsafeUpdate::NotStated { .. });
        let first = self.objections.iter().find(is_stated);
        let Some(objection) = first.or(self.objections.first()) else {
            return Default::default();
        };
        let (id, field) = (&self.id, objection.field().as_str());
        let (is, it) = (objection.field().is(), objection.field().it());
        let open = self.open.first();
        let open = open.map_or_else(
            || "an earlier change".to_owned(),
            |at| format!("the change of {}", when::second(*at)),
        );
        let look = "To look at that change: groupdesk history --open".to_owned();
        let is_uncertain = matches!(
            objection,
            UnsafeUpdate::PartialChange {
                uncertain: true,
                ..
            } | UnsafeUpdate::Uncertain { .. }
        );
        if is_uncertain && let Some(until) = self.until {
            let why = format!("{open} of \"{id}\" may have taken effect, and may still do so");
            let until = when::second(until);
            return (why, format!("Wait until {until}, then run this again"));
        }
        match objection {
            UnsafeUpdate::PartialChange {
                uncertain: true, ..
            } => (
                format!(
                    "{open} of \"{id}\" may have taken effect, so its {field} may differ from the last known value"
                ),
                format!(
                    "Repeat that change, or send all of {it}: {}. {look}",
                    self.id.command("update", &format!("--{field} FILE"))
                ),
            ),
            UnsafeUpdate::PartialChange { at: Some(at), .. } => (
                format!(
                    "the service does not return the {field} of \"{id}\", and others may have changed it since {}",
                    when::minute(*at)
                ),
                format!("To send the last known {field} with this change: add --replace-{field}"),
            ),
            UnsafeUpdate::PartialChange { at: None, .. } => (
                format!(
                    "the {field} of \"{id}\" {is} unknown, and a single change would replace all of {it}"
                ),
                format!(
                    "To send all of {it}: {}",
                    self.id.command("update", &format!("--{field} FILE"))
                ),
            ),
            UnsafeUpdate::NotStated { .. } => (
                format!(
                    "it is unknown whether the service keeps the {field} of \"{id}\" when an update omits {it}"
                ),
                format!(
                    "To send last known values again: groupdesk profile behaviour {} --omitted-fields unknown",
                    quoted(&visible(&self.profile))
                ),
            ),
            UnsafeUpdate::WouldClear { .. } => (
                format!(
                    "the service clears the {field} if an update omits {it}, and the last value of \"{id}\" is unknown"
                ),
                format!("To send {it}: add --{field}"),
            ),
            UnsafeUpdate::Restored { at, .. } => (
                format!(
                    "the directory was restored from an older copy: it knows the {field} of \"{id}\" as of {}, and later changes may \
                     be missing",
                    when::minute(*at)
                ),
                format!(
                    "To send all of {it}: {}",
                    self.id.command("update", &format!("--{field} FILE"))
                ),
            ),
            UnsafeUpdate::Uncertain { .. } => (
                format!(
                    "{open} of \"{id}\" may have taken effect, and its {field} would be sent again"
                ),
                look,
            ),
        }
    }
}
