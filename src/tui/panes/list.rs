//! The groups of a profile: finding one, and continuing from there. State and actions; `view` draws.

mod columns;
mod commands;
mod finder;
mod marks;
mod view;

use std::{collections::BTreeSet, sync::Arc};

pub(crate) use self::finder::MAX_SYNCHRONOUS;
use self::{
    columns::Summary,
    commands::{Completion, completions},
    finder::Finder,
    marks::Flags,
};

use super::{Click, compare::Compare, group::open_about, prelude::*};
use crate::{
    search::{ListColumn, ListView, SearchResults},
    tui::{
        page::{group_details, prompt::Filter},
        state::notices::Condition,
    },
};

#[derive(Debug, Default)]
pub struct List {
    filter: Filter,
    cursor: Cursor,
    /// Reads the groups.
    reading: Pending,
    finder: Finder,
    detail: bool,
    /// The chosen columns; empty: the default columns.
    columns: Vec<ListColumn>,
    /// Movement keys scroll the details.
    in_details: bool,
    detail_scroll: Cursor,
    /// Number of columns scrolled out at the left.
    skipped: usize,
    summary: Summary,
    /// The completion that Tab put into the filter.
    completion: Option<Completion>,
    /// The group that the person moved to; the cursor follows it when the rows change.
    on: Option<UserGroupId>,
    /// A new group, until the list was seen again.
    created: Option<UserGroupId>,
    /// Since when the cursor has been on it.
    cursor_id_since: Timestamp,
    marks: BTreeSet<UserGroupId>,
    /// The last bulk rotation that was seen here.
    bulk: Option<Ticket>,
    /// The view as it was last left is not known yet, and may still be taken over.
    untouched: bool,
    /// A filter was applied: the row that it shows under the cursor keeps it.
    is_applied: bool,
    /// The view stored in the directory; `None` before the first answer.
    kept: Option<ListView>,
    saving: Pending,
}

impl List {
    /// Opens the list of the current profile as it was left, and reads the directory.
    pub fn start(context: &mut Context) -> Self {
        let view = context.views.get(&context.current).cloned();
        let untouched = view.is_none();
        let view = view.unwrap_or_default();
        let reading = Pending::default();
        context.ask(&reading, Job::List);
        Self {
            filter: Filter::with(&view.filter),
            reading,
            finder: Finder::of(&view),
            detail: true,
            columns: view.columns,
            cursor_id_since: context.now,
            marks: context.marks.remove(&context.current).unwrap_or_default(),
            bulk: context.batch_here().map(|run| run.ticket),
            untouched,
            ..Self::default()
        }
    }

    /// Filter, order and columns, to be stored for the next time.
    pub fn current_view(&self) -> ListView {
        ListView {
            filter: if self.filter.is_hidden() {
                String::new()
            } else {
                self.filter.text().to_owned()
            },
            sort: self.finder.sort.clone(),
            reverse: self.finder.reverse,
            best_first: self.finder.best_first,
            columns: self.columns.clone(),
        }
    }

    fn id(&self) -> Option<UserGroupId> {
        self.finder.id(self.cursor.at)
    }

    fn group(&self, context: &Context) -> Option<KnownGroup> {
        context.groups.get(&self.id()?)
    }

    /// The directory has been read: shows the view as it was last left, unless the person changed something before.
    fn restore_view(&mut self, view: Option<&ListView>, context: &mut Context) {
        if self.kept.is_some() {
            return;
        }
        let view = view.cloned().unwrap_or_default();
        if self.untouched && !self.filter.is_typing() && self.current_view() == ListView::default()
        {
            self.filter.set_text(&view.filter);
            self.finder = Finder::of(&view);
            self.columns.clone_from(&view.columns);
            // The filter is visible above the list as well, so any other message is more useful.
            let is_quiet = context.messages.current().is_none()
                && context.drafts.of(context.current).is_empty();
            if !view.filter.is_empty() && is_quiet {
                let key = context.keys.key(Focus::List, Action::Back);
                let text = format!("Last filter: {}   {key} clears it", view.filter);
                context.say(Severity::Info, text);
            }
        }
        self.kept = Some(view);
    }

    /// Stores the view once the filter is not being typed any more.
    fn save_view(&mut self, context: &mut Context) {
        let now = self.current_view();
        let is_new = self.kept.as_ref().is_some_and(|kept| *kept != now);
        let is_possible = context.view_only_reason().is_none();
        if is_new && is_possible && !self.filter.is_typing() && !self.saving.is_waiting() {
            context.ask(&self.saving, Job::KeepView(now.clone()));
            self.kept = Some(now);
        }
    }

    fn show(&mut self, found: Arc<SearchResults>) {
        let is_other = |old: &Arc<SearchResults>| old.request.query != found.request.query;
        let is_other = self.finder.found().is_some_and(is_other);
        // A newer list for the same filter: what it shows under the cursor is not decided again.
        let is_seen = !is_other && (self.filter.is_typing() || self.is_applied);
        let here = is_seen.then(|| self.id()).flatten();
        let row = self.finder.take(found, here.as_ref().or(self.on.as_ref()));
        // The best match of a new filter comes first.
        let row = row.unwrap_or(if is_other { 0 } else { self.cursor.at });
        self.cursor.at = row.min(self.finder.shown().len().saturating_sub(1));
    }

    /// The cursor has moved: if it was on the old row long enough, the changes of that row count as seen.
    fn mark_seen(&mut self, context: &mut Context) {
        let now = self.id();
        if self.on == now {
            return;
        }
        if let Some(left) = &self.on {
            context.live.left(left, self.cursor_id_since, context.now);
        }
        self.on = now;
        self.cursor_id_since = context.now;
    }

    /// Applies this filter.
    pub fn filter_by(&mut self, text: &str) {
        self.filter.clear();
        self.filter.set_text(text);
        self.cursor.at = 0;
        self.is_applied = true;
    }

    /// The cursor goes to this new group, as soon as it is listed.
    pub fn select(&mut self, id: &UserGroupId) {
        self.on = Some(id.clone());
        self.created = Some(id.clone());
    }

    /// Says that the filter hides the new group, once the list is seen again.
    pub fn say_hidden(&mut self, context: &mut Context) {
        if self.finder.is_searching() {
            return;
        }
        let Some(id) = self.created.take() else {
            return;
        };
        if !self.filter.is_empty() && self.id().as_ref() != Some(&id) {
            let key = context.keys.key(Focus::List, Action::Back);
            let text = format!("The filter hides \"{id}\": {key} clears it");
            context.say(Severity::Warning, text);
        }
    }

    /// Moves to the next or previous row with a flag, wrapping around.
    fn seek_flag(&mut self, is_next: bool, context: &Context) {
        let flags = Flags::of(context);
        let count = self.finder.shown().len();
        let row = |step: usize| {
            let step = if is_next { step } else { count - step };
            (self.cursor.at + step) % count.max(1)
        };
        let mut rows = (1..=count).map(row);
        if let Some(row) = rows.find(|row| self.has_flag(*row, &flags)) {
            self.cursor.at = row;
            self.on = self.id();
        }
    }

    fn why_no_flag(&self, context: &Context) -> Option<String> {
        let flags = Flags::of(context);
        let mut rows = 0..self.finder.shown().len();
        let is_any = !flags.is_empty() && rows.any(|row| self.has_flag(row, &flags));
        (!is_any).then(|| "no row is flagged".into())
    }

    fn has_flag(&self, row: usize, flags: &Flags<'_>) -> bool {
        let number = self.finder.shown().get(row);
        let entry = number.and_then(|number| self.finder.entry(*number));
        entry.is_some_and(|entry| flags.flag(entry.id()).is_some())
    }

    /// For actions on the current row: why there is no row.
    fn why_no_row(&self, action: Action, context: &Context) -> Option<String> {
        let is_of_row = match action {
            Action::Enter => !self.filter.is_typing(),
            Action::Edit
            | Action::EditWhole
            | Action::Token
            | Action::Compare
            | Action::Note
            | Action::Favourite
            | Action::CopyMenu
            | Action::Mark
            | Action::MarkDown
            | Action::MarkUp => true,
            _ => false,
        };
        let is_there = || self.id().is_some_and(|id| context.groups.contains(&id));
        (is_of_row && !is_there()).then(|| {
            if context.is_reading_groups() {
                return "the groups are still being read".into();
            }
            let opens = Action::OpenOrCreate;
            if self.why_not(opens, context).is_some() || context.why_no_key().is_some() {
                return "no group here".into();
            }
            let key = context.keys.key(Focus::List, opens);
            match context.read_only_reason() {
                Some(_) => format!("no group here; {key} opens one"),
                None => format!("no group here; {key} opens or creates one"),
            }
        })
    }

    /// Number of scroll positions of the details.
    fn detail_lines(&self, context: &Context) -> usize {
        let Some(group) = self.group(context) else {
            return 1;
        };
        let area = view::on_screen(self, context).details.unwrap_or_default();
        let page = group_details::stacked(&group, area.width.saturating_sub(2), context);
        page.last_scroll(area.height.saturating_sub(1)) + 1
    }
}

impl View for List {
    fn about(&self) -> Vec<UserGroupId> {
        self.targets(true)
    }

    fn focus(&self) -> Focus {
        self.filter.focus(Focus::List)
    }

    fn title(&self, _context: &Context) -> String {
        "Groups".into()
    }

    fn counts(&self, context: &Context) -> Vec<(String, Style)> {
        let theme = context.theme;
        let loading = context.groups.loading();
        let all = loading.map_or(context.groups.listed().len(), |loading| loading.rows.total);
        let shown = self.finder.shown().len();
        let filter = self.filter.text();
        let mut counts = Vec::new();
        let count = match (filter.is_empty() || loading.is_some(), all) {
            (true, _) => counted(all, "group"),
            (false, _) => format!("{shown} of {all}"),
        };
        let loose = match self.finder.found().map_or(0, |found| found.loose) {
            0 => String::new(),
            loose => format!(" ({loose} loosely)"),
        };
        counts.push((count + &loose, Style::new()));
        // Before the filter: in a narrow window the reason counts. It repeats what was typed.
        if let Some(wrong) = self.finder.remark().filter(|_| !self.filter.is_hidden()) {
            counts.push((wrong.clone(), theme.warning()));
        }
        if !filter.is_empty() && !self.filter.is_typing() && !self.filter.is_hidden() {
            counts.push((format!("/{filter}"), theme.matched()));
        }
        let marked = self.marked_words(&format!("{} marked", self.marks.len()));
        counts.extend(marked.map(|marked| (marked, theme.mark())));
        let new = context.groups.unlisted();
        if new > 0 {
            let key = context.keys.key(Focus::List, Action::Refresh);
            counts.push((format!("{new} new  {key}"), theme.news()));
        }
        counts
    }

    fn status(&self, context: &Context) -> String {
        let read = self::columns::how_far(context, self.reading.is_waiting());
        let order = match (self.finder.is_ranked(), self.finder.reverse) {
            (true, _) => String::new(),
            (false, is_falling) => format!(" {}", context.theme.order(is_falling)),
        };
        format!("sort {}{order}  {read}", self.finder.order())
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let page = context.half_page();
        if self.in_details
            && self
                .detail_scroll
                .act(action, self.detail_lines(context), page)
        {
            return;
        }
        if self.cursor.act(action, self.finder.shown().len(), page) {
            self.mark_seen(context);
            self.detail_scroll.at = 0;
            return;
        }
        match action {
            Action::Back if self.in_details => self.in_details = false,
            Action::NextField if !self.filter.is_typing() => self.in_details = !self.in_details,
            Action::ScrollLeft => self.skipped = self.skipped.saturating_sub(1),
            Action::ScrollRight => self.skipped += 1,
            Action::NextFlag => self.seek_flag(true, context),
            Action::PreviousFlag => self.seek_flag(false, context),
            Action::MarkDown => self.mark_range(Action::Down, context),
            Action::MarkUp => self.mark_range(Action::Up, context),
            Action::Back => {
                self.finder.best_first = true;
                if self.filter.clear() {
                    return;
                }
                if !self.marks.is_empty() {
                    self.marks.clear();
                } else if !context.messages.dismiss() {
                    // The line about an ended run is dismissed last.
                    context.bulk = context.bulk.take().filter(BatchRun::is_under_way);
                }
            }
            Action::Mark => self.mark(),
            Action::Favourite => self.toggle_favourite(context),
            Action::Views => {
                let empty = view::empty_columns(self, context);
                context.open_pane(PaneRequest::Views(Box::new(self.current_view()), empty));
            }
            Action::NextField if self.filter.is_typing() => self.complete(context),
            Action::Enter if self.filter.is_typing() => {
                context.annotations.used(self.filter.text());
                self.finder.apply_again(context);
                self.is_applied = true;
                self.filter.act(action);
            }
            Action::MarkAll => self.mark_all(context),
            Action::RotateMarked => self.rotate_marked(context),
            Action::EditMarked => self.edit_marked(context),
            Action::WriteFile => self.export(context),
            Action::Detail => {
                self.detail = !self.detail;
                self.in_details = false;
            }
            Action::Sort => self.finder.sort_by_next(),
            Action::SortReverse => self.finder.reverse = !self.finder.reverse,
            // Replaces a running read, so that an older answer cannot arrive after the new one.
            Action::Refresh => {
                context.live.clear();
                context.ask(&self.reading, Job::List);
            }
            action if self.filter.act(action) => {}
            Action::Enter
            | Action::Edit
            | Action::EditWhole
            | Action::Token
            | Action::Compare
            | Action::Note
            | Action::CopyMenu => {
                let Some(group) = self.group(context) else {
                    return;
                };
                self.on = Some(group.id.clone());
                if matches!(action, Action::Edit | Action::EditWhole) && !self.marks.is_empty() {
                    let count = self.marks.len();
                    let text = format!("Edits {} only, not the {count} marked", group.id);
                    let one = Condition::OneOfMarked;
                    context.say_condition(one, Severity::Warning, text);
                }
                open_about(group, action, context);
            }
            _ => {}
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.filter.field()
    }

    fn kept_field(&mut self) -> Option<&mut TextField> {
        Some(self.filter.kept())
    }

    fn take_back(&mut self, field: &str, context: &mut Context) {
        // Another one may be typed by now.
        let refused = self.kept.as_ref().map(|kept| kept.filter.as_str());
        if field == "filter" && refused == Some(self.filter.text()) {
            self.filter.kept().take_back();
            self.typed(context);
        }
    }

    fn typed(&mut self, _context: &mut Context) {
        self.completion = None;
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        if let Some(why) = self.why_no_row(action, context) {
            return Some(why);
        }
        match action {
            Action::Edit | Action::EditWhole => context.why_forbidden(Guarded::Update),
            Action::Compare => Compare::why_not(context),
            Action::RotateMarked => self.why_no_batch(context),
            Action::EditMarked => self.why_no_bulk_edit(context),
            Action::MarkAll => self.why_none_to_mark(context),
            Action::WriteFile if self.marks.is_empty() => self.why_none_to_mark(context),
            Action::WriteFile => self.why_no_marking(context),
            Action::NextField
                if self.filter.is_typing()
                    && completions(self.filter.text(), context).is_empty() =>
            {
                Some("complete @view, label: or prop:".into())
            }
            Action::NextField
                if !self.filter.is_typing() && view::on_screen(self, context).details.is_none() =>
            {
                Some("no details here".into())
            }
            Action::ScrollRight if view::on_screen(self, context).layout.hidden == 0 => {
                Some("the last columns are shown".into())
            }
            Action::ScrollLeft if self.skipped == 0 => Some("the first columns are shown".into()),
            Action::NextFlag | Action::PreviousFlag => self.why_no_flag(context),
            Action::SortReverse if self.finder.is_ranked() => {
                let sort = context.keys.key(Focus::List, Action::Sort);
                Some(format!("the best match is first; {sort} sorts by a column"))
            }
            _ => None,
        }
    }

    fn marked(&self) -> Option<String> {
        self.marked_words(&counted(self.marks.len(), "marked group"))
    }

    fn hint(&self, action: Action, context: &Context) -> Option<&'static str> {
        let clears = !self.in_details && (self.filter.is_on() || !self.marks.is_empty());
        match action {
            Action::RotateMarked if self.watched(context).is_some() => Some("the batch"),
            Action::Back if clears => Some("clear"),
            _ => None,
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.reading, &self.saving]
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        let mut pending = self.pending().into_iter();
        pending.any(|pending| pending.waits_for(ticket)) || self.finder.waits_for(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::Found(found) => self.show(found.clone()),
            Outcome::Listed(listing) => {
                self.restore_view(listing.view.as_ref(), context);
                self.finder.drop_ended(context);
            }
            Outcome::Failed(error) => {
                let is_told = error.is_directory_outage && context.outage.is_some();
                if !is_told {
                    context.say_error(error);
                }
                self.finder.drop_ended(context);
            }
            _ => self.finder.drop_ended(context),
        }
    }

    fn job_panicked(&mut self, context: &mut Context) {
        self.finder.drop_ended(context);
    }

    /// Its profile is left; everything comes back with it.
    fn leave(&mut self, context: &mut Context) {
        for pending in self.pending() {
            context.give_up(pending);
        }
        self.finder.give_up(context);
        context.views.insert(context.current, self.current_view());
        let marks = std::mem::take(&mut self.marks);
        context.marks.insert(context.current, marks);
    }

    fn sync(&mut self, context: &mut Context) {
        self.summary.follow(context);
        if let Some(found) = self.finder.search(self.filter.text(), context) {
            self.show(found);
        }
        let found = self
            .finder
            .found()
            .filter(|found| found.request.query == self.finder.query);
        let finds = found.is_some_and(|found| found.shown.len() > found.loose);
        // Only if all of it was looked for: a part that is not understood, or must not match, finds groups as well.
        let is_asked = self.finder.query.wrong.is_empty() && self.finder.query.without.is_empty();
        self.filter.allow(finds && is_asked);
        self.save_view(context);
        // The groups were marked for a run that has started, so the marks are cleared.
        let begun = context.batch_here().map(|run| run.ticket);
        if begun != self.bulk && begun.is_some() {
            self.marks.clear();
        }
        self.bulk = begun.or(self.bulk);
        self.is_applied &= !self.filter.is_typing();
        let is_seen = !self.finder.is_searching() && std::mem::take(&mut self.is_applied);
        if self.on.is_none() || is_seen && self.id().is_some() {
            self.mark_seen(context);
        }
    }

    fn click(&mut self, at: Position, context: &mut Context) -> Click {
        self.clicked(at, context)
    }

    fn wheel(&mut self, at: Position, action: Action, context: &mut Context) -> bool {
        self.wheeled(at, action, context)
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}
