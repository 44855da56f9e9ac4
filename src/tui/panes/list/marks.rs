//! Which groups are marked: a set of IDs, so that a mark stays with its group whatever is filtered, sorted or read again.
//!
//! The flag before a row: what needs attention there, the most serious one first.

use std::collections::HashSet;

use super::List;
use crate::search::{Entry, matcher};
use crate::tui::panes::prelude::*;

impl List {
    pub(super) fn mark(&mut self) {
        let Some(id) = self.id() else {
            return;
        };
        self.on = Some(id.clone());
        self.toggle_mark(id);
    }

    pub(super) fn toggle_mark(&mut self, id: UserGroupId) {
        if !self.marks.remove(&id) {
            self.marks.insert(id);
        }
    }

    /// The marked groups, ascending.
    pub(super) fn marked(&self) -> Vec<UserGroupId> {
        self.marks.iter().cloned().collect()
    }

    /// Marks the row and the next one, as Shift does in other programs.
    pub(super) fn mark_range(&mut self, action: Action, context: &mut Context) {
        for step in 0..2 {
            if step > 0 {
                self.act(action, context);
            }
            if let Some(id) = self.id()
                && !self.marks.contains(id.as_str())
            {
                self.mark();
            }
        }
    }

    /// The groups that "all shown" means. Rows that are only kept although they do not match any more are left out, and
    /// a message says so.
    fn all_shown(&self, context: &mut Context) -> Vec<UserGroupId> {
        let now = self.finder.current_request(context);
        let mut matches = now.as_ref().map(matcher);
        let mut is_meant = |entry: Entry<'_>| {
            let now = context.groups.entry(entry.id()).unwrap_or(entry);
            matches.as_mut().is_none_or(|matches| matches(now))
        };
        let shown = self.finder.shown().iter();
        let shown = shown.filter_map(|number| self.finder.entry(*number));
        let meant = shown.filter(|entry| is_meant(*entry));
        let meant = meant.filter_map(|entry| UserGroupId::parse(entry.id()).ok());
        let meant: Vec<_> = meant.collect();
        let left_out = self.finder.shown().len() - meant.len();
        if left_out > 0 {
            let text = format!(
                "Skipped: {} no longer matching the filter",
                counted(left_out, "group")
            );
            context.say(Severity::Warning, text);
        }
        meant
    }

    pub(super) fn mark_all(&mut self, context: &mut Context) {
        let shown = self.all_shown(context);
        self.marks.extend(shown);
        self.say_loose(context);
    }

    /// Marks what is shown and not marked; nothing else stays marked, least of all what the filter hides.
    pub(super) fn invert(&mut self, context: &mut Context) {
        let mut shown = self.all_shown(context);
        shown.retain(|id| !self.marks.contains(id));
        self.marks = shown.into_iter().collect();
        self.say_loose(context);
    }

    /// Opens the export of the marked groups, else of all shown.
    pub(super) fn export(&self, context: &mut Context) {
        let (ids, which) = if self.marks.is_empty() {
            (self.all_shown(context), "shown")
        } else {
            (self.marked(), "marked")
        };
        if !ids.is_empty() {
            context.open_pane(PaneRequest::Export(ids, which));
        }
    }

    /// How many groups are marked, and how many of them are not shown: "2 marked, 1 hidden".
    pub(super) fn marked_words(&self, what: &str) -> Option<String> {
        let marked = self.marks.len();
        let number = |id: &UserGroupId| self.finder.found()?.index.number(id.as_str());
        let numbers: HashSet<u32> = self.marks.iter().filter_map(number).collect();
        let shown = self.finder.shown().iter();
        let shown = shown.filter(|number| numbers.contains(number));
        let hidden = match marked - shown.take(marked).count() {
            0 => String::new(),
            hidden if hidden == marked => ", hidden".into(),
            hidden => format!(", {hidden} hidden"),
        };
        (marked > 0).then(|| format!("{what}{hidden}"))
    }

    fn say_loose(&self, context: &mut Context) {
        let loose = self.finder.found().map_or(0, |found| found.loose);
        if loose > 0 {
            let text = format!(
                "{loose} of the marked groups match only letter by letter; in \"...\" the letters must be together"
            );
            context.say(Severity::Warning, text);
        }
    }

    /// Why not everything that is shown can be marked: it is not what was asked for.
    pub(super) fn why_no_marking(&self, context: &Context) -> Option<String> {
        if let Some(why) = context.why_incomplete() {
            return Some(why.into());
        }
        if let Some(wrong) = self.finder.mistake() {
            return Some(wrong.clone());
        }
        let searching = self.finder.is_searching();
        searching.then(|| "the search is still running".into())
    }

    pub(super) fn why_none_to_mark(&self, context: &Context) -> Option<String> {
        let is_empty = || self.id().is_none().then(|| "no group is listed".into());
        self.why_no_marking(context).or_else(is_empty)
    }
}

pub(super) struct Flags<'a> {
    drafts: HashSet<&'a str>,
    /// Those of them of which somebody else, or another console, has a draft as well.
    contested: HashSet<&'a str>,
    context: &'a Context,
}

impl<'a> Flags<'a> {
    pub(super) fn of(context: &'a Context) -> Self {
        let drafts = context.drafts.of(context.current);
        let drafts = drafts.iter().map(|unsent| &unsent.draft.user_group_id);
        let is_contested = |id: &&UserGroupId| {
            let key = (context.current, (*id).clone());
            context.drafts.is_contested(&key)
        };
        let contested = drafts.clone().filter(is_contested);
        Self {
            contested: contested.map(UserGroupId::as_str).collect(),
            drafts: drafts.map(UserGroupId::as_str).collect(),
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

    /// `x` failed hand-off, `/` somebody else is changing it, `?` open rotation, `~` changed elsewhere,
    /// `D` drafts of several, `d` draft, `+` new.
    pub(super) fn flag(&self, id: &str) -> Option<(&'static str, Style)> {
        if self.is_empty() {
            return None;
        }
        let theme = self.context.theme;
        let parsed = UserGroupId::parse(id).ok()?;
        let open = self.context.open.get(&parsed);
        if self.context.to_hand_off.contains_key(&parsed) {
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
        } else if self.contested.contains(id) {
            Some(("D", theme.warning()))
        } else if self.drafts.contains(id) {
            Some(("d", theme.label()))
        } else {
            None
        }
    }
}
