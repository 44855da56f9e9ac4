//! What a list says of itself: while it is read, if that failed, if there is nothing, and if nothing matches.

use super::{ListPage, Rows};
use crate::{
    search::RowQuery,
    tui::{keymap::Action, state::context::Context},
};

impl<R: Rows> ListPage<R> {
    /// The right of line 2.
    pub(super) fn state(&self, context: &Context) -> String {
        let key = context.keys.key(R::PLACE, Action::Refresh);
        if let Some(working) = R::WORKING.filter(|_| self.working.is_waiting()) {
            working.into()
        } else if self.reading.is_waiting() && !self.is_read {
            "reading".into()
        } else if self.failed.is_some() {
            format!("not read, {key} reads again")
        } else {
            R::status(self, context)
        }
    }

    /// What stands in place of the rows if there is none.
    pub fn nothing(&self, context: &Context) -> String {
        let key = context.keys.key(R::PLACE, Action::Refresh);
        if self.reading.is_waiting() && !self.is_read {
            let waiting = context.waiting(self.reading.ticket());
            return waiting.map_or_else(|| "Reading the directory".into(), |line| line.whole());
        }
        if let Some(why) = &self.failed {
            return format!("Not read, {key} reads again: {why}");
        }
        if !self.is_read {
            return format!("Not read. {key} reads it");
        }
        if !self.filter.is_empty() {
            return self.nothing_matches();
        }
        if !self.kind.all(context).is_empty() {
            return R::when_none_shown(self, context);
        }
        self.kind.when_empty(context)
    }

    fn nothing_matches(&self) -> String {
        let filter = self.filter.nothing_matches();
        match R::TESTS {
            [] => filter,
            tests => format!("{filter}. Also possible: {}", RowQuery::examples(tests)),
        }
    }

    /// What of the filter is not understood.
    pub(super) fn remark(&self, context: &Context) -> Option<&str> {
        let query = &self.query;
        let doubtful = query.doubtful.first();
        let doubtful = doubtful.filter(|_| self.shown(context).is_empty());
        let remark = query.wrong.first().or(doubtful)?;
        (!self.filter.is_hidden()).then_some(remark.as_str())
    }
}
