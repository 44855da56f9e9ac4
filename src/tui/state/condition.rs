//! What it means for whoever sits in front of it that the directory cannot be used.

use jiff::Timestamp;

use super::{context::Context, lost::WhyLost};

impl Context {
    /// The condition, for its place on every screen.
    pub fn directory_condition(&self) -> Option<String> {
        let lost = self.lost.as_ref()?;
        let since = self.second(lost.since);
        Some(match lost.why {
            WhyLost::Away => format!("directory lost, {since}; trying"),
            WhyLost::Standby => format!("directory is a standby, {since}; trying"),
            WhyLost::NotAllowed => format!("directory: rights withdrawn, {since}"),
            WhyLost::OtherVersion => "directory: update groupdesk".to_owned(),
        })
    }

    /// Why nothing that has to be written down first is sent, if so.
    pub fn refused_by_the_directory(&self) -> Option<String> {
        let lost = self.lost.as_ref()?;
        let since = self.second(lost.since);
        Some(match lost.why {
            WhyLost::Away => {
                format!("The directory cannot be reached since {since}; nothing was sent")
            }
            WhyLost::Standby => format!(
                "The directory is a standby or read only since {since}; nothing was sent. It needs the primary"
            ),
            WhyLost::NotAllowed => format!(
                "The directory does not allow it since {since}; nothing was sent. It needs the role operator"
            ),
            WhyLost::OtherVersion => {
                "The directory is of another version; nothing was sent. Update groupdesk".to_owned()
            }
        })
    }

    fn second(&self, at: Timestamp) -> String {
        let at = at.to_zoned(self.zone.clone());
        at.strftime("%H:%M:%S").to_string()
    }
}
