//! From the marked groups to a batch: rotating or editing them all, and why that is not possible.

use super::List;
use crate::{
    operations::Guarded,
    tui::{
        keymap::{Action, Focus},
        state::{
            batch::BatchRun,
            context::{Context, Navigation},
            navigation::{EditSource, PaneRequest},
        },
    },
};

impl List {
    /// Checks the marked groups; without marks, shows the current run or the last one.
    pub(super) fn rotate_marked(&mut self, context: &mut Context) {
        let opening = match self.watched(context) {
            Some(run) => PaneRequest::WatchBulk(run.ticket),
            None => PaneRequest::CheckBulk(self.marks.ids()),
        };
        context.navigate(Navigation::Push(opening));
    }

    /// The batch that is shown instead of a new one.
    pub(super) fn watched<'c>(&self, context: &'c Context) -> Option<&'c BatchRun> {
        let run = context.batch_here();
        run.filter(|run| run.is_under_way() || self.marks.is_empty())
    }

    /// Opens a bulk edit of the marked groups; the filter suggests the row.
    pub(super) fn edit_marked(&self, context: &mut Context) {
        let filter = self.filter.text().to_owned();
        let source = EditSource::Groups(self.marks.ids(), filter);
        context.navigate(Navigation::Push(PaneRequest::BulkEdit(source)));
    }

    pub(super) fn why_no_bulk_edit(&self, context: &Context) -> Option<String> {
        if self.marks.is_empty() {
            let edit = context.keys.key(Focus::List, Action::Edit);
            return Some(format!("nothing is marked; {edit}: this row"));
        }
        if context.bulk.as_ref().is_some_and(BatchRun::is_under_way) {
            return Some("another batch is running".into());
        }
        let forbidden = context.why_forbidden(Guarded::Bulk);
        forbidden.or_else(|| context.why_forbidden(Guarded::Update))
    }

    pub(super) fn why_no_batch(&self, context: &Context) -> Option<String> {
        let is_watched = context.batch_here().is_some_and(BatchRun::is_under_way);
        if let Some(why) = context.why_forbidden(Guarded::Bulk).filter(|_| !is_watched) {
            return Some(why);
        }
        match &context.bulk {
            Some(run) if run.is_under_way() && run.profile != context.current => {
                let place = context.profiles.get(run.profile.0);
                let place = place.map_or("another profile", |profile| profile.name.as_str());
                Some(format!("a batch in {place} is running"))
            }
            _ if self.marks.is_empty() && context.batch_here().is_none() => {
                let token = context.keys.key(Focus::List, Action::Token);
                Some(format!("nothing is marked; {token}: this row"))
            }
            _ => None,
        }
    }
}
