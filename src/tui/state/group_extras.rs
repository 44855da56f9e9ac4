//! Data beside the values of groups that filters can use, completion of what they contain, and writing notes
//! and labels.

use std::{collections::BTreeSet, sync::Arc};

use super::{context::Context, message::Job, notices::Severity};
use crate::{
    domain::{annotation::AnnotationChange, group::UserGroupId},
    search::{GroupExtras, Row},
};

/// Maximum number of groups whose properties are searched for keys.
const MAX_GROUPS_SEARCHED: usize = 2_000;

impl Context {
    /// Data beside the values of groups that filters can use.
    pub fn group_extras(&self) -> GroupExtras {
        let news = |new: bool| {
            let news = self.live.news();
            let news = news.filter(|(_, news)| news.fields.is_empty() == new);
            Arc::new(news.map(|(id, _)| id.clone()).collect())
        };
        let drafts = self.drafts.of(self.current);
        let drafts = drafts
            .iter()
            .map(|unsent| unsent.draft.user_group_id.clone());
        GroupExtras {
            annotations: self.annotations.of.clone(),
            drafts: Arc::new(drafts.collect()),
            changed: news(false),
            new: news(true),
        }
    }

    /// Property keys of the known groups, each once.
    pub fn property_keys(&self) -> BTreeSet<String> {
        let entries = self.groups.index().entries().take(MAX_GROUPS_SEARCHED);
        let keys = entries.flat_map(Row::property_keys);
        keys.map(str::to_owned).collect()
    }

    /// Changes the notes or labels of these groups.
    pub fn annotate(&mut self, ids: Vec<UserGroupId>, change: AnnotationChange) {
        if ids.is_empty() {
            self.say(
                Severity::Warning,
                "No group here to write a note or label for",
            );
            return;
        }
        self.start(Job::Annotate(ids, Box::new(change)));
    }
}
