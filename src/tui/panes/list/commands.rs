//! Entries of the palette that act on the list, and Tab completion in its filter.
//!
//! From the marked groups to a batch: rotating or editing them all, and why that is not possible.
//!
//! The mouse in the list: a click on a column title sorts, a click on a pane focuses it, and the wheel scrolls what is
//! under the pointer.

use super::{
    List,
    columns::sort_of,
    finder::Finder,
    view::{self, Places},
};
use crate::tui::panes::prelude::*;
use crate::{
    domain::AnnotationChange,
    operations::NextStep,
    search::ListView,
    tui::{
        kit::table,
        panes::Click,
        state::{EditSource, command::ListCommand},
    },
};

/// The filter as it was typed, and which completion is shown.
#[derive(Debug)]
pub(super) struct Completion {
    typed: String,
    shown: usize,
}

impl List {
    /// The group under the cursor, or the marked ones if `several` and there are any.
    pub fn targets(&self, several: bool) -> Vec<UserGroupId> {
        if several && !self.marks.is_empty() {
            return self.marked();
        }
        self.id().into_iter().collect()
    }

    /// Carries out an entry of the palette.
    pub fn run(&mut self, command: ListCommand, context: &mut Context) {
        match command {
            ListCommand::Sort(sort) => {
                self.finder.sort = sort;
                self.finder.reverse = false;
                self.finder.best_first = false;
            }
            ListCommand::Columns(change) => self.columns = change.of(&self.columns),
            ListCommand::View(name) => self.apply(&name, context),
            ListCommand::Unmark => self.marks.clear(),
            ListCommand::Invert => self.invert(context),
            ListCommand::Row(row) if row > self.finder.shown().len() => {
                let rows = counted(self.finder.shown().len(), "row");
                context.refuse(format!("No row {row}: the list has {rows}"));
            }
            ListCommand::Row(row) => {
                self.cursor.at = row.saturating_sub(1);
                self.on = self.id();
            }
        }
    }

    fn apply(&mut self, name: &str, context: &mut Context) {
        let mut saved = context.annotations.saved_views.iter();
        let Some(saved) = saved.find(|saved| saved.name == name).cloned() else {
            let names: Vec<String> = context
                .annotations
                .saved_views
                .iter()
                .map(|one| format!("@{}", one.name))
                .collect();
            let names = if names.is_empty() {
                "none is saved yet".into()
            } else {
                names.join(" ")
            };
            context.say(Severity::Warning, format!("No view @{name}: {names}"));
            return;
        };
        self.apply_view(&saved.view);
        context.say(Severity::Info, format!("View @{name} applied"));
    }

    /// Applies filter, order and columns of a view.
    pub(super) fn apply_view(&mut self, view: &ListView) {
        self.filter.clear();
        self.filter.set_text(&view.filter);
        let old = std::mem::replace(&mut self.finder, Finder::of(view));
        self.finder.keep_results(old);
        self.columns.clone_from(&view.columns);
    }

    /// Makes the group under the cursor a favourite, or removes it from the favourites.
    pub(super) fn toggle_favourite(&mut self, context: &mut Context) {
        let ids = self.targets(false);
        let is_one = |id: &UserGroupId| {
            let annotation = context.annotations.get(id.as_str());
            annotation.is_some_and(|annotation| annotation.is_favourite)
        };
        let is_favourite = ids.iter().any(is_one);
        let change = AnnotationChange {
            favourite: Some(!is_favourite),
            ..AnnotationChange::default()
        };
        self.on = self.id();
        context.annotate(ids, change);
    }

    /// Replaces the last word of the filter by the next completion: a saved view or a recent filter after `@`, a label
    /// after `label:`, a property after `prop:`.
    pub(super) fn complete(&mut self, context: &Context) {
        let typed = match &self.completion {
            Some(completion) => completion.typed.clone(),
            None => self.filter.text().to_owned(),
        };
        let found = completions(&typed, context);
        if found.is_empty() {
            return;
        }
        let shown = self.completion.as_ref().map_or(0, |one| one.shown + 1) % found.len();
        self.filter.set_text(&found[shown]);
        self.completion = Some(Completion { typed, shown });
    }
}

/// Possible completions of a filter.
pub(super) fn completions(typed: &str, context: &Context) -> Vec<String> {
    let start = typed.rfind(' ').map_or(0, |at| at + 1);
    let (before, word) = typed.split_at(start);
    let (minus, word) = match word.strip_prefix('-') {
        Some(word) => ("-", word),
        None => ("", word),
    };
    let with = |text: String| format!("{before}{minus}{text}");
    if let Some(name) = word.strip_prefix('@') {
        let name = name.to_lowercase();
        let saved = context.annotations.saved_views.iter();
        let saved = saved.filter(|saved| saved.name.starts_with(&name));
        let saved = saved.map(|saved| with(format!("@{}", saved.name)));
        let recent = context.annotations.recent.iter().rev();
        let recent = recent.filter(|_| name.is_empty() && before.is_empty());
        return saved.chain(recent.cloned()).collect();
    }
    if let Some(start) = word.strip_prefix("label:") {
        let labels = context.annotations.known_labels().into_iter();
        let labels = labels.filter(|label| label.as_str().starts_with(start));
        return labels
            .map(|label| with(format!("label:{}", label.as_str())))
            .collect();
    }
    if let Some(start) = word.strip_prefix("prop:") {
        let keys = context.property_keys().into_iter();
        let keys = keys.filter(|key| key.starts_with(start) && !key.contains(' '));
        return keys.map(|key| with(format!("prop:{key}"))).collect();
    }
    Vec::new()
}

impl List {
    /// Checks the marked groups; without marks, shows the current run or the last one.
    pub(super) fn rotate_marked(&mut self, context: &mut Context) {
        let opening = match self.watched(context) {
            Some(run) => PaneRequest::WatchBulk(run.ticket),
            None => PaneRequest::CheckBulk(self.marked()),
        };
        context.open_pane(opening);
    }

    /// The batch that is shown instead of a new one.
    pub(super) fn watched<'c>(&self, context: &'c Context) -> Option<&'c BatchRun> {
        let run = context.batch_here();
        run.filter(|run| run.is_under_way() || self.marks.is_empty())
    }

    /// Opens a bulk edit of the marked groups; the filter suggests the row.
    pub(super) fn edit_marked(&self, context: &mut Context) {
        let filter = self.filter.text().to_owned();
        let source = EditSource::Groups(self.marked(), filter);
        context.open_pane(PaneRequest::BulkEdit(source));
    }

    pub(super) fn why_no_bulk_edit(&self, context: &Context) -> Option<String> {
        if self.marks.is_empty() {
            let edit = context.keys.key(Focus::List, Action::Edit);
            return Some(format!("nothing is marked; {edit}: this row"));
        }
        if context.running_batch().is_some() {
            return Some("another batch is running".into());
        }
        context.why_not(context.current, NextStep::BULK_EDIT)
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

impl List {
    pub(super) fn clicked(&mut self, at: Position, context: &mut Context) -> Click {
        let places = view::on_screen(self, context);
        if places.details.is_some_and(|area| area.contains(at)) {
            self.in_details = true;
            return Click::Taken;
        }
        self.in_details = false;
        let header = table::after_flags(paint::row(places.rows, 0));
        if header.contains(at) {
            self.sort_by_click(&places, at);
            return Click::Taken;
        }
        if !places.rows.contains(at) {
            return Click::Nothing;
        }
        let height = usize::from(places.rows.height.saturating_sub(1));
        let rows = self.finder.shown().len();
        let first = self.cursor.first(rows, height);
        let row = first + usize::from(at.y - places.rows.y).saturating_sub(1);
        if at.y == places.rows.y || row >= rows {
            return Click::Nothing;
        }
        self.cursor.at = row;
        self.on = self.id();
        Click::Row
    }

    fn sort_by_click(&mut self, places: &Places, at: Position) {
        let header = table::after_flags(paint::row(places.rows, 0));
        let column = places.layout.layout.at(header, at.x);
        let Some(sort) = column.and_then(|column| sort_of(&places.layout.columns[column])) else {
            return;
        };
        let is_again = self.finder.sort == sort && !self.finder.is_ranked();
        self.finder.reverse = is_again && !self.finder.reverse;
        self.finder.best_first = false;
        self.finder.sort = sort;
    }

    /// Scrolls the details if the pointer is over them; returns whether it is.
    pub(super) fn wheeled(&mut self, at: Position, action: Action, context: &mut Context) -> bool {
        let places = view::on_screen(self, context);
        if !places.details.is_some_and(|area| area.contains(at)) {
            return false;
        }
        self.in_details = true;
        let lines = self.detail_lines(context);
        self.detail_scroll.act(action, lines, 0);
        true
    }
}
