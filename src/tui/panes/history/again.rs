//! From an entry back to its request: copied as curl, or prepared as the edit that takes it back. Both only where the
//! history knows enough; nothing is sent from here.

use super::History;
use crate::{
    domain::{change::Wanted, history::Entry, merge::Part, undo},
    operations::{Method, as_curl, request},
    tui::{
        forms::group::Edit,
        state::{
            context::{Ask, Desk},
            navigation::Opening,
            notices::Severity,
        },
    },
};

const NO_ENTRY: &str = "no entry here";

impl History {
    fn entry(&self) -> Result<&Entry, &'static str> {
        self.shown().get(self.cursor.at).copied().ok_or(NO_ENTRY)
    }

    pub(super) fn cannot_copy(&self) -> Option<String> {
        let wanted = self.entry().and_then(undo::created_with);
        wanted.err().map(str::to_owned)
    }

    pub(super) fn copy_curl(&self, desk: &mut Desk) {
        let Ok(entry) = self.entry() else { return };
        if let (Ok(wanted), Some(profile)) = (undo::created_with(entry), desk.profile()) {
            let request = request(&entry.user_group_id, &wanted);
            let curl = as_curl(profile, Method::Get, &request);
            desk.copy("curl command", &curl);
        }
    }

    pub(super) fn cannot_reverse(&self, desk: &Desk) -> Option<String> {
        let read_only = desk.read_only_reason();
        let why = read_only.or_else(|| self.reversal(desk).err());
        why.map(str::to_owned)
    }

    /// What the update of the row changed, and what that was before it.
    fn reversal(&self, desk: &Desk) -> Result<(Vec<Part>, Wanted), &'static str> {
        let entry = self.entry()?;
        let (parts, before) = undo::before(entry)?;
        let group = desk.groups.get(&entry.user_group_id);
        let now = Wanted::of(&group.ok_or("the group is not in the directory")?);
        if parts.iter().all(|part| part.is_known_in(&now)) {
            Ok((parts, before))
        } else {
            Err("what is there now is not known here")
        }
    }

    /// Opens the form with what the parts of the update were before it.
    pub(super) fn reverse(&self, desk: &mut Desk) {
        let (Ok(entry), Ok((parts, before))) = (self.entry(), self.reversal(desk)) else {
            return;
        };
        let Some(group) = desk.groups.get(&entry.user_group_id) else {
            return;
        };
        match Edit::carrying(&group, &parts, &before, desk) {
            Ok(edit) => {
                let age = desk.age(entry.at);
                let text = format!("filled with what it was {age} ago, before that update");
                desk.say(Severity::Info, text);
                desk.ask(Ask::Push(Opening::Edit(Box::new(edit))));
            }
            Err(why) => desk.say(Severity::Warning, why),
        }
    }
}
