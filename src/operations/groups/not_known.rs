//! Explains why an update is not sent although nobody changed the group: its values are not known well enough. Each
//! text names what would make the refusal unnecessary.

use std::{fmt, mem};

use jiff::Timestamp;

use crate::domain::{group::UserGroupId, update::UnsafeUpdate};

/// Why an update is not sent although nobody changed what it touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFields {
    pub id: UserGroupId,
    pub objections: Vec<UnsafeUpdate>,
    /// When earlier changes with an unknown outcome were sent.
    pub open: Vec<Timestamp>,
}

impl fmt::Display for UnknownFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for objection in self.objections.iter().filter(|one| !is_not_told(one)) {
            if !mem::take(&mut is_first) {
                f.write_str("; ")?;
            }
            self.say(*objection, f)?;
        }
        let not_told = self.objections.iter().filter(|one| is_not_told(one));
        let not_told: Vec<_> = not_told.map(|one| one.field().as_str()).collect();
        if not_told.is_empty() {
            return Ok(());
        }
        write!(
            f,
            "{}nobody has said what the service does with fields that an update leaves out ({}): say it once with `groupdesk \
             profile facts NAME --absent-fields keep|clear|unknown` (unknown: what was last known is sent along)",
            if is_first { "" } else { "; " },
            not_told.join(", ")
        )
    }
}

fn is_not_told(objection: &UnsafeUpdate) -> bool {
    matches!(objection, UnsafeUpdate::NotStated { .. })
}

impl UnknownFields {
    fn say(&self, objection: UnsafeUpdate, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = objection.field().as_str();
        let open = self.open.first();
        let open = open.map_or_else(
            || "an earlier change".to_owned(),
            |at| format!("the change of {}", at.strftime("%Y-%m-%d %H:%M:%S UTC")),
        );
        match objection {
            UnsafeUpdate::PartialChange {
                uncertain: true, ..
            } => write!(
                f,
                "{open} may have arrived, so the {field} of \"{}\" are not known: give them whole (--replace-{field} \
                 sends the last known ones with this change in them), or close it with a reason: `groupdesk history --open`",
                self.id
            ),
            UnsafeUpdate::PartialChange { at: Some(at), .. } => write!(
                f,
                "the {field} of \"{}\" cannot be read, and others may have changed them since {}: --replace-{field} sends \
                 the last known ones with this change in them, `groupdesk profile facts NAME --sole-writer yes` says that \
                 nobody else writes",
                self.id,
                at.strftime("%Y-%m-%d %H:%M UTC")
            ),
            UnsafeUpdate::PartialChange { at: None, .. } => write!(
                f,
                "the {field} of \"{}\" are not known here, and single changes would replace all of them: give the whole with \
                 --{field} FILE, or --replace-{field}",
                self.id
            ),
            // Reported once for all fields.
            UnsafeUpdate::NotStated { .. } => Ok(()),
            UnsafeUpdate::WouldClear { .. } => write!(
                f,
                "the service clears {field} that an update leaves out, and those of \"{}\" are not known here: give them with \
                 --{field}",
                self.id
            ),
            UnsafeUpdate::Uncertain { .. } => write!(
                f,
                "{open} may have arrived, so the {field} of \"{}\" are not known, and would be sent along: give them, too, or \
                 close it with a reason: `groupdesk history --open`",
                self.id
            ),
        }
    }
}
