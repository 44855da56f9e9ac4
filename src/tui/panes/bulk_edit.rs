//! One change to many groups: the change, its effect on each group, and the confirmation. Nothing is sent before it is
//! confirmed; the run is then shown on the page of the batch.
//!
//! The fields of a bulk edit: the action, its row, the new value, and the value that a row must have to be changed.

mod view;

pub(super) use view::sent_unread;

use super::prelude::*;
use crate::{
    config::guard::{self, Level},
    domain::{
        BulkChange, EditPlan,
        batch::{EditRow, Verdict},
        pasted::LOOKS_SECRET,
    },
    operations::NextStep,
    search::{RowCondition, row_condition},
    tui::{
        kit::Form,
        state::{BulkEditRequest, EditSource},
    },
};

const PLACES: Places = Places {
    reason: Focus::BulkEditField,
    typed: Focus::BulkEditTyped,
    key: Focus::BulkEditConfirm,
};

/// Which rows are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Shown {
    #[default]
    All,
    Change,
    Same,
    Skipped,
}

#[derive(Debug)]
pub struct BulkEdit {
    source: EditSource,
    fields: Fields,
    /// The confirmation has the focus, not the fields.
    confirming: bool,
    plan: Option<EditPlan>,
    /// Why there is no plan.
    wrong: Option<String>,
    pending: Pending,
    shown: Shown,
    /// Also include groups that cannot be read and were last sent more than 30 days ago.
    include_old: bool,
    /// The visible rows of the plan.
    rows: Vec<usize>,
    cursor: Cursor,
    /// The key, or the words `edit N in PROFILE`.
    confirm: Confirm,
}

/// The level of confirmation, and the reason of the guard that raised it.
fn level(context: &Context) -> (Level, Option<String>) {
    let Some(profile) = context.profile() else {
        return (Level::Words, None);
    };
    let (level, reason) = guard::level_of_bulk_edit(&profile.guards, profile.production);
    (level, reason.map(str::to_owned))
}

impl BulkEdit {
    pub fn open(source: EditSource, context: &mut Context) -> Self {
        let fields = Fields::of(&source);
        let (level, guard) = level(context);
        let mut pane = Self {
            confirming: !matches!(source, EditSource::Groups(..)),
            source,
            fields,
            plan: None,
            wrong: None,
            pending: Pending::default(),
            shown: Shown::All,
            include_old: false,
            rows: Vec::new(),
            cursor: Cursor::default(),
            confirm: Confirm::new(PLACES, level, guard),
        };
        pane.check(context);
        pane
    }

    fn has_fields(&self) -> bool {
        matches!(self.source, EditSource::Groups(..))
    }

    /// Checks the change as typed; sends nothing.
    fn check(&mut self, context: &mut Context) {
        let asked = match &self.source {
            EditSource::Groups(ids, _) => match self.fields.change() {
                Ok(change) => BulkEditRequest::Groups(change, ids.clone()),
                Err(why) => {
                    context.give_up(&self.pending);
                    self.wrong = Some(why);
                    self.plan = None;
                    self.rows.clear();
                    return;
                }
            },
            EditSource::Reverse(batch) => BulkEditRequest::Reverse(*batch),
            EditSource::Again(batch) => BulkEditRequest::Again(*batch),
        };
        self.wrong = None;
        self.ask(context);
        let include_old = self.include_old;
        context.ask(&self.pending, Job::PlanEdit { asked, include_old });
    }

    fn show(&mut self) {
        let Some(plan) = &self.plan else { return };
        let is_shown = |row: &EditRow| match (self.shown, &row.verdict) {
            (Shown::All, _)
            | (Shown::Change, Verdict::Change)
            | (Shown::Same, Verdict::Same)
            | (Shown::Skipped, Verdict::Skipped(_)) => true,
            (Shown::Change | Shown::Same | Shown::Skipped, _) => false,
        };
        let rows = plan.rows.iter().enumerate();
        self.rows = rows
            .filter(|(_, row)| is_shown(row))
            .map(|(at, _)| at)
            .collect();
        self.cursor.at = self.cursor.at.min(self.rows.len().saturating_sub(1));
    }

    /// Cycles through all rows, those that change, those already as wanted, those skipped; then all again, including
    /// those skipped because of their age.
    fn show_next(&mut self, context: &mut Context) {
        self.cursor = Cursor::default();
        self.shown = match self.shown {
            Shown::All => Shown::Change,
            Shown::Change => Shown::Same,
            Shown::Same => Shown::Skipped,
            Shown::Skipped => {
                let old = self.plan.as_ref().map_or(0, EditPlan::old);
                if self.include_old || old > 0 {
                    self.include_old = !self.include_old;
                    self.check(context);
                }
                Shown::All
            }
        };
        self.show();
    }

    /// Says what the confirmation does; words that were typed for another change do not count.
    fn ask(&mut self, context: &Context) {
        let (count, profile) = (self.changes(), context.profile_name());
        let what = format!("edits {} in {profile}", counted(count, "group"));
        self.confirm.forget_typed();
        self.confirm.set(what, format!("edit {count} in {profile}"));
    }

    fn changes(&self) -> usize {
        self.plan.as_ref().map_or(0, |plan| plan.counts().0)
    }

    /// Why nothing can be sent now.
    fn why_not_ready(&self, context: &Context) -> Option<String> {
        if self.pending.is_waiting() {
            return Some("still checking".into());
        }
        if let Some(wrong) = &self.wrong {
            return Some(wrong.clone());
        }
        if self.plan.as_ref().is_some_and(EditPlan::lacks_row) {
            return Some("no group has this key".into());
        }
        if self.changes() == 0 {
            return Some("no group changes".into());
        }
        if context.running_batch().is_some() {
            return Some("another batch is running".into());
        }
        context.why_not(context.current, NextStep::BULK_EDIT)
    }

    fn send(&mut self, context: &mut Context) {
        let Some(plan) = self.plan.take() else { return };
        let retries = match self.source {
            EditSource::Again(batch) => Some(batch),
            EditSource::Groups(..) | EditSource::Reverse(_) => None,
        };
        let run = context.start_edit(plan, retries);
        context.navigate(Navigation::Replace(PaneRequest::WatchBulk(run)));
    }
}

impl View for BulkEdit {
    fn unsaved(&self) -> Option<String> {
        let prefilled = Fields::of(&self.source);
        let is_typed = |row| self.fields.0.typed(row) != prefilled.0.typed(row);
        let mut rows = [Row::Key, Row::To, Row::OnlyWhere].into_iter();
        (rows.any(is_typed) || self.confirm.has_input()).then(|| "the bulk edit is not sent".into())
    }

    fn focus(&self) -> Focus {
        match (self.confirming, self.fields.0.key()) {
            (true, _) => self.confirm.focus(),
            (false, Row::Action) => Focus::BulkEditAction,
            (false, _) => Focus::BulkEditField,
        }
    }

    fn title(&self, _context: &Context) -> String {
        match &self.source {
            EditSource::Groups(ids, _) if ids.len() == 1 => "Edit 1 marked group".into(),
            EditSource::Groups(ids, _) => format!("Edit {} marked groups", ids.len()),
            EditSource::Reverse(batch) => format!("Reverse edit of batch {}", batch.0),
            EditSource::Again(batch) => format!("Retry batch {}", batch.0),
        }
    }

    fn status(&self, _context: &Context) -> String {
        if self.pending.is_waiting() {
            "checking".into()
        } else {
            "nothing is sent yet".into()
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let page = context.half_page();
        if self.cursor.act(action, self.rows.len(), page) {
            return;
        }
        match action {
            Action::NextField if self.confirming => {
                self.confirming = !self.has_fields();
                self.fields.0.focus(Row::Action);
            }
            Action::PreviousField if self.confirming => {
                self.confirming = !self.has_fields();
                self.fields.0.focus(Row::OnlyWhere);
            }
            Action::NextField => self.fields.0.go(true),
            Action::PreviousField => self.fields.0.go(false),
            Action::NextChoice | Action::PreviousChoice => {
                self.fields.choose(action == Action::NextChoice);
                self.typed(context);
            }
            Action::Review => self.confirming = true,
            Action::ShowNext => self.show_next(context),
            Action::Refresh => self.check(context),
            Action::Back => {
                context.mention(match self.unsaved() {
                    Some(_) => "Nothing was sent; what was typed is not kept",
                    None => "Nothing was sent",
                });
                self.pop(context);
            }
            _ => {}
        }
    }

    fn confirm(&self) -> Option<&Confirm> {
        Some(&self.confirm).filter(|_| self.confirming)
    }

    fn confirm_mut(&mut self) -> Option<&mut Confirm> {
        Some(&mut self.confirm).filter(|_| self.confirming)
    }

    fn carry_out(&mut self, context: &mut Context) {
        self.send(context);
    }

    fn field(&mut self) -> Option<&mut TextField> {
        if self.confirming {
            self.confirm.field()
        } else {
            self.fields.0.field()
        }
    }

    fn typed(&mut self, context: &mut Context) {
        if !self.confirming {
            self.check(context);
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::Review | Action::Confirm => self.why_not_ready(context),
            Action::NextField | Action::PreviousField if !self.has_fields() => {
                Some("the change comes from the batch".into())
            }
            Action::ShowNext if self.plan.is_none() => Some("no review yet".into()),
            _ => None,
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.pending]
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::EditPlanned(Some(plan)) => {
                self.plan = Some((**plan).clone());
                self.show();
                self.ask(context);
            }
            Outcome::EditPlanned(None) => {
                self.wrong = Some("this batch is a rotation, which cannot be undone".into());
            }
            Outcome::Failed(error) => {
                self.wrong = Some(error.text.clone());
                context.say_error(error);
            }
            _ => {}
        }
    }

    fn job_panicked(&mut self, _context: &mut Context) {
        self.wrong = Some("internal error, stopped".into());
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    Action,
    Key,
    To,
    OnlyWhere,
}

/// Two that set and two that remove; the first two are about the mapping.
const ACTIONS: &[(&str, &str)] = &[
    ("Set mapping row", ""),
    ("Remove mapping row", ""),
    ("Set property", ""),
    ("Remove property", ""),
];
const SET_ROW: usize = 0;
const SET_PROPERTY: usize = 2;

#[derive(Debug)]
struct Fields(Form<Row>);

impl Fields {
    /// As they are before anything is typed.
    fn of(source: &EditSource) -> Self {
        match source {
            EditSource::Groups(_, filter) => Self::prefilled(filter),
            EditSource::Reverse(_) | EditSource::Again(_) => Self::prefilled(""),
        }
    }

    /// Fills in the row of a filter like `map:40=213` or `prop:tier=gold`, and focuses the first empty field.
    fn prefilled(filter: &str) -> Self {
        let (action, key, value) = match row_condition(filter) {
            Some(RowCondition::Mapping(key, value)) => (SET_ROW, key, value),
            Some(RowCondition::Property(key, value)) => (SET_PROPERTY, key, value),
            None => (SET_ROW, String::new(), String::new()),
        };
        let first = if key.is_empty() { Row::Key } else { Row::To };
        let field = |text: String| TextField::new("", text).for_value();
        let mut form = Form::default()
            .choice(Row::Action, "", ACTIONS, action)
            .text(Row::Key, "key", field(key))
            .text(Row::To, "to", field(String::new()))
            .text(Row::OnlyWhere, "only if it is", field(value));
        form.focus(first);
        Self(form)
    }

    fn sets(&self) -> bool {
        matches!(self.0.chosen(Row::Action), SET_ROW | SET_PROPERTY)
    }

    fn choose(&mut self, next: bool) {
        self.0.choose(Row::Action, next);
        self.0.show(Row::To, self.sets());
    }

    /// The change as typed, or what is missing.
    fn change(&self) -> Result<BulkChange, String> {
        let only = Some(self.0.typed(Row::OnlyWhere)).filter(|text| !text.is_empty());
        let to = Some(self.0.typed(Row::To)).filter(|_| self.sets());
        let key = self.0.typed(Row::Key);
        for (label, row) in [
            ("key", Row::Key),
            ("to", Row::To),
            ("only if it is", Row::OnlyWhere),
        ] {
            if self.0.is_hidden(row) && (row != Row::To || to.is_some()) {
                return Err(format!("{label}: {LOOKS_SECRET}"));
            }
        }
        let change = if self.0.chosen(Row::Action) >= SET_PROPERTY {
            let (to, only) = (to.map(json), only.map(json));
            BulkChange::property(key, to.as_deref(), only.as_deref())
        } else {
            BulkChange::mapping(key, to, only)
        };
        change.map_err(|why| why.to_string())
    }
}

/// A plain word is a text, as in the filter; anything that looks like JSON must be valid JSON.
fn json(text: &str) -> String {
    let is_json = serde_json::from_str::<serde_json::Value>(text).is_ok();
    if is_json || text.is_empty() || text.starts_with(['{', '[', '"']) {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::batch::OnlyWhere;

    fn action(fields: &Fields) -> usize {
        fields.0.chosen(Row::Action)
    }

    #[test]
    fn a_filter_fills_the_row_and_the_focus_waits_for_the_rest() {
        let mut fields = Fields::prefilled("acme map:40=213");
        assert_eq!((action(&fields), fields.0.key()), (SET_ROW, Row::To));
        assert_eq!(fields.change().unwrap_err(), "Type a data source ID");
        fields.0.field().expect("a field").set_text("214");
        let expected = BulkChange::mapping("40", Some("214"), Some("213"));
        assert_eq!(fields.change(), expected.map_err(|why| why.to_string()));
        let fields = Fields::prefilled("acme");
        assert_eq!((fields.0.key(), fields.change().is_err()), (Row::Key, true));
    }

    #[test]
    fn a_part_of_a_token_is_no_value() {
        const PART: &str = "6cb90c31d0ae598e95dc970b";
        let mut fields = Fields::prefilled("map:40");
        for row in [Row::Key, Row::To, Row::OnlyWhere] {
            for row in [Row::Key, Row::To, Row::OnlyWhere] {
                let text = format!("{row:?}");
                fields.0.field_of(row).expect("a field").set_text(&text);
            }
            assert!(fields.change().is_ok());
            fields.0.field_of(row).expect("a field").set_text(PART);
            let why = fields.change().unwrap_err();
            assert!(
                why.contains("looks like a token; if not: groupdesk apply FILE"),
                "{why}"
            );
            assert!(!why.contains(PART), "{why}");
        }
    }

    /// The text is one that groupdesk has filled in, and what the groups have.
    #[test]
    fn a_value_of_the_filter_is_no_part_of_a_token() {
        const OTHER: &str = "6cb90c31d0ae598e95dc970b";
        let mut fields = Fields::prefilled("map:40=507f1f77bcf86cd799439011");
        fields.0.field().expect("a field").set_text("214");
        let only = Some("507f1f77bcf86cd799439011");
        let expected = BulkChange::mapping("40", Some("214"), only);
        assert_eq!(fields.change(), expected.map_err(|why| why.to_string()));
        let field = fields.0.field_of(Row::OnlyWhere).expect("a field");
        field.set_text(OTHER);
        assert!(fields.change().is_err());
    }

    #[test]
    fn the_filter_is_read_as_the_search_reads_it() {
        for (filter, wanted, key, only) in [
            ("prop:tier=\"very gold\"", SET_PROPERTY, "tier", "very gold"),
            ("MAP:40=A1 prop:tier=gold", SET_ROW, "40", "A1"),
            ("-map:40=213 prop:Tier=Gold", SET_PROPERTY, "Tier", "Gold"),
            ("prop:seats>=100", SET_ROW, "", ""),
            ("-prop:tier=gold \"map:40=213\" map:40", SET_ROW, "", ""),
        ] {
            let fields = Fields::prefilled(filter);
            let (typed, only_where) = (fields.0.typed(Row::Key), fields.0.typed(Row::OnlyWhere));
            assert_eq!(
                (action(&fields), typed, only_where),
                (wanted, key, only),
                "{filter}"
            );
        }
    }

    #[test]
    fn a_plain_word_is_a_text_and_json_is_json() {
        let mut fields = Fields::prefilled("prop:tier=gold");
        assert_eq!(action(&fields), SET_PROPERTY);
        for (typed, json) in [("silver", "\"silver\""), ("7", "7"), ("[1]", "[1]")] {
            fields.0.field().expect("a field").set_text(typed);
            let change = fields.change().expect("a change");
            let only = OnlyWhere::Is(Some("\"gold\"".into()));
            let expected = BulkChange::property("tier", Some(json), Some("\"gold\""));
            assert_eq!(
                (&change.only_where, Ok(&change)),
                (&only, expected.as_ref())
            );
        }
        for wrong in ["", "{", "[1"] {
            fields.0.field().expect("a field").set_text(wrong);
            assert!(fields.change().is_err(), "{wrong}");
        }
    }

    #[test]
    fn removing_needs_no_new_value() {
        let mut fields = Fields::prefilled("map:40=213");
        fields.choose(true);
        assert_eq!(
            (action(&fields), fields.0.shown().count()),
            (SET_ROW + 1, 3)
        );
        assert!(fields.change().is_ok());
        fields.choose(false);
        fields.choose(false);
        assert_eq!(action(&fields), SET_PROPERTY + 1);
    }
}
