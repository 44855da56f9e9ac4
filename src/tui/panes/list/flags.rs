//! The flag before a row: what needs attention there, the most serious one first.

use std::collections::HashSet;

use ratatui::style::Style;

use crate::{
    domain::{group::UserGroupId, rotation::State},
    tui::state::context::Context,
};

pub(super) struct Flags<'a> {
    drafts: HashSet<&'a str>,
    context: &'a Context,
}

impl<'a> Flags<'a> {
    pub(super) fn of(context: &'a Context) -> Self {
        let drafts = context.drafts.of(context.current);
        let drafts = drafts
            .iter()
            .map(|unsent| unsent.draft.user_group_id.as_str());
        Self {
            drafts: drafts.collect(),
            context,
        }
    }

    /// Whether no group has a flag.
    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
            && self.context.open.is_empty()
            && self.context.to_hand_off.is_empty()
            && self.context.live.news().next().is_none()
            && !self.context.others_do_something()
    }

    /// `x` conflict or failed hand-off, `/` somebody else is changing it, `?` open rotation, `~` changed elsewhere,
    /// `d` draft, `+` new.
    pub(super) fn flag(&self, id: &str) -> Option<(&'static str, Style)> {
        if self.is_empty() {
            return None;
        }
        let theme = self.context.theme;
        let parsed = UserGroupId::parse(id).ok()?;
        let open = self.context.open.get(&parsed);
        if open == Some(&State::Conflict) || self.context.to_hand_off.contains_key(&parsed) {
            Some(("x", theme.error()))
        } else if self
            .context
            .doing(&parsed)
            .is_some_and(|doing| doing.is_now)
        {
            Some(("/", theme.focus()))
        } else if open.is_some() {
            Some(("?", theme.unknown()))
        } else if let Some(news) = self.context.live.news_of(id) {
            let sign = if news.fields.is_empty() { "+" } else { "~" };
            Some((sign, theme.news()))
        } else if self.drafts.contains(id) {
            Some(("d", theme.label()))
        } else {
            None
        }
    }
}
