//! Which groups are marked. Stored by index number, so that a hundred thousand marks cost one bit each; a mark stays
//! with its group whatever is filtered, sorted or read again.
//!
//! The flag before a row: what needs attention there, the most serious one first.

use std::collections::{BTreeSet, HashSet};

use ratatui::style::Style;

use super::List;
use crate::{
    domain::UserGroupId,
    search::{Entry, Index, Row, SearchResults, matcher},
    tui::{
        keymap::Action,
        panes::View,
        state::{Context, Severity},
    },
};

#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The index whose numbers the bits stand for.
    index: Index,
    bits: Vec<u64>,
    count: usize,
    /// Marked groups that are not in the index any more.
    gone: BTreeSet<UserGroupId>,
}

/// Number of bits per word.
const WORD: u32 = u64::BITS;

fn place(number: u32) -> (usize, u64) {
    ((number / WORD) as usize, 1 << (number % WORD))
}

impl Marks {
    pub(super) fn len(&self) -> usize {
        self.count + self.gone.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn clear(&mut self) {
        self.bits.clear();
        self.count = 0;
        self.gone.clear();
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        !self.is_empty()
            && match self.index.number(id) {
                Some(number) => self.has(number),
                None => self.gone.contains(id),
            }
    }

    /// Toggles the mark of a group.
    pub(super) fn toggle(&mut self, id: UserGroupId) {
        match self.index.number(id.as_str()) {
            Some(number) if self.has(number) => {
                let (word, bit) = place(number);
                self.bits[word] &= !bit;
                self.count -= 1;
            }
            Some(number) => self.set(number),
            None if self.gone.remove(&id) => {}
            None => {
                self.gone.insert(id);
            }
        }
    }

    /// Marks all results.
    pub(super) fn add(&mut self, found: &SearchResults) {
        let has_same_numbers = found.index.has_same_numbers_as(&self.index);
        for &number in &*found.shown {
            if has_same_numbers && (number as usize) < self.index.len() {
                self.set(number);
            } else if let Some(entry) = found.index.entry(number)
                && !self.contains(entry.id())
                && let Ok(id) = UserGroupId::parse(entry.id())
            {
                self.toggle(id);
            }
        }
    }

    /// The marked ids, ascending.
    pub(super) fn ids(&self) -> Vec<UserGroupId> {
        let marked = self.numbers().filter_map(|number| self.index.entry(number));
        let marked = marked.filter_map(|entry| UserGroupId::parse(entry.id()).ok());
        let mut ids: Vec<_> = marked.chain(self.gone.iter().cloned()).collect();
        ids.sort();
        ids
    }

    /// Switches to a newer index.
    pub(super) fn follow(&mut self, index: &Index) {
        if self.index == *index {
            return;
        }
        let old = std::mem::replace(&mut self.index, index.clone());
        if !old.has_same_numbers_as(index) {
            self.renumber(&old);
        }
        if !self.gone.is_empty() {
            let (back, gone): (BTreeSet<_>, BTreeSet<_>) = std::mem::take(&mut self.gone)
                .into_iter()
                .partition(|id| index.number(id.as_str()).is_some());
            self.gone = gone;
            for id in back {
                self.toggle(id);
            }
        }
    }

    fn renumber(&mut self, old: &Index) {
        let marked: Vec<u32> = self.numbers().collect();
        self.bits.clear();
        self.count = 0;
        // Both indexes are sorted by id, so the offset is usually that of the previous group.
        let mut shift = 0;
        for number in marked {
            let Some(id) = old.entry(number).map(Row::id) else {
                continue;
            };
            let guess = number.wrapping_add(shift);
            let is_right = |entry: Entry<'_>| entry.id() == id;
            let new = if self.index.entry(guess).is_some_and(is_right) {
                Some(guess)
            } else {
                self.index.number(id)
            };
            if let Some(new) = new {
                shift = new.wrapping_sub(number);
                self.set(new);
            } else if let Ok(id) = UserGroupId::parse(id) {
                self.gone.insert(id);
            }
        }
    }

    fn has(&self, number: u32) -> bool {
        let (word, bit) = place(number);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    fn set(&mut self, number: u32) {
        let (word, bit) = place(number);
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        self.count += usize::from(self.bits[word] & bit == 0);
        self.bits[word] |= bit;
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        let words = self.bits.iter().zip((0..).step_by(WORD as usize));
        words.flat_map(|(word, first)| {
            (0..WORD)
                .filter(move |bit| (word >> bit) & 1 == 1)
                .map(move |bit| first + bit)
        })
    }
}

impl List {
    pub(super) fn mark(&mut self) {
        let Some(id) = self.id() else {
            return;
        };
        self.on = Some(id.clone());
        self.marks.toggle(id);
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

    pub(super) fn mark_all(&mut self, context: &mut Context) {
        if let Some(found) = self.finder.found() {
            match self.finder.current_request(context) {
                None => self.marks.add(found),
                // Rows that are only kept although they do not match any more are not marked.
                Some(now) => {
                    let mut matches = matcher(&now);
                    let is_meant = |entry: Entry<'_>| {
                        matches(context.groups.entry(entry.id()).unwrap_or(entry))
                    };
                    self.marks.add(&found.only(is_meant));
                }
            }
        }
        let loose = self.finder.found().map_or(0, |found| found.loose);
        if loose > 0 {
            let text = format!(
                "{loose} of the marked match only letter by letter; \"...\" finds them together"
            );
            context.say(Severity::Warning, text);
        }
    }

    /// Why not everything that is shown can be marked: it is not what the person asked for.
    pub(super) fn why_no_marking(&self, context: &Context) -> Option<String> {
        if let Some(why) = context.why_incomplete() {
            return Some(why.into());
        }
        if let Some(wrong) = self.finder.remark() {
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        domain::KnownGroup,
        search::{GroupExtras, Query, SearchRequest, SortBy, run_search},
    };

    fn id(text: &str) -> UserGroupId {
        UserGroupId::parse(text).expect("a valid ID")
    }

    fn all(index: &Index) -> SearchResults {
        let asked = SearchRequest {
            query: Query::default(),
            sort: SortBy::Tag,
            reverse: true,
            best_first: false,
            open: Arc::new(BTreeMap::new()),
            extras: GroupExtras::default(),
            at: Timestamp::UNIX_EPOCH,
        };
        run_search(index, asked, None, &|| true).expect("it is wanted")
    }

    #[derive(Debug, Clone)]
    enum Step {
        Toggle(String),
        All,
        /// Marks all results as of the last read of the list.
        AllOfOld,
        Put(String),
        Read(BTreeSet<String>),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        let id = || "[a-f]{1,2}";
        prop_oneof![
            6 => id().prop_map(Step::Toggle),
            1 => Just(Step::All),
            1 => Just(Step::AllOfOld),
            2 => id().prop_map(Step::Put),
            3 => prop::collection::btree_set(id(), 0..20).prop_map(Step::Read),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        #[test]
        fn marks_are_a_set_of_ids_whatever_happens_to_the_groups(
            steps in prop::collection::vec(step(), 0..30),
        ) {
            let mut index = Index::default();
            let mut old = all(&index);
            let mut marks = Marks::default();
            let mut expected = BTreeSet::new();
            for step in steps {
                match step {
                    Step::Toggle(text) => {
                        marks.toggle(id(&text));
                        if !expected.remove(&text) {
                            expected.insert(text);
                        }
                    }
                    Step::All => {
                        let found = all(&index);
                        marks.add(&found);
                        expected.extend(index.entries().map(|entry| entry.id().to_owned()));
                    }
                    Step::AllOfOld => {
                        marks.add(&old);
                        expected.extend(old.index.entries().map(|entry| entry.id().to_owned()));
                    }
                    Step::Put(text) => index.put(&KnownGroup::new(id(&text))),
                    Step::Read(ids) => {
                        old = all(&index);
                        let groups: Vec<_> = ids.iter().map(|text| KnownGroup::new(id(text))).collect();
                        index = Index::of(&groups);
                    }
                    Step::Clear => {
                        marks.clear();
                        expected.clear();
                    }
                }
                marks.follow(&index);
                let ids: Vec<_> = marks.ids().iter().map(|id| id.as_str().to_owned()).collect();
                prop_assert_eq!(ids, expected.iter().cloned().collect::<Vec<_>>());
                prop_assert_eq!(marks.len(), expected.len());
                prop_assert!(expected.iter().all(|id| marks.contains(id)));
                prop_assert!(!marks.contains("zz"));
            }
        }
    }
}
