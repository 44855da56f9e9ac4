//! A plan as it is shown: its counts, losses and rows, for people and for programs.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
};

use serde_json::{Map, json};

use super::{
    checked::Checked,
    counts,
    resembling::{Losses, ODD, ODDITIES, Oddities, Resembling, SpreadsheetCells, odd, of_row},
};
use crate::{
    cli::commands::prelude::*,
    domain::{
        annotation::{AnnotationChange, AnnotationDifference, AnnotationPlan},
        known::KnownGroup,
        update::UnsafeUpdate,
    },
    formats::{Plan, RowAction, RowPlan},
    operations::{Foresight, Import, Permit, RowsToSend, changes_json, request},
};

/// One row and what it requires, including changes to annotations.
pub(crate) struct PlannedRow {
    pub(super) number: usize,
    pub(super) row: GroupRow,
    pub(super) planned: RowPlan,
    pub(super) annotations: AnnotationPlan,
    /// The group, if the directory has the id, from the service or from a file.
    pub(super) known: Option<KnownGroup>,
}

/// Rows that are refused, and updates that also send other rows and properties as last known.
#[derive(Default)]
pub(super) struct Blind {
    /// `None`: nothing is sent.
    foresight: Option<Foresight>,
    /// Others hold the group.
    locked: (usize, Option<String>),
    /// An earlier change has no result.
    uncertain: usize,
    /// How many groups are refused because the directory was restored.
    restored: usize,
    refused: (usize, BTreeSet<&'static str>),
    sent: (usize, BTreeSet<&'static str>),
}

impl Blind {
    pub(super) fn new(foresight: Foresight) -> Self {
        Self {
            foresight: Some(foresight),
            ..Self::default()
        }
    }

    fn count(&mut self, one: &PlannedRow) {
        let Some(foresight) = &self.foresight else {
            return;
        };
        if let Some(holder) = foresight.holder(&one.row, one.planned.action) {
            self.locked.0 += 1;
            self.locked.1.get_or_insert_with(|| holder.to_string());
            return;
        }
        let plan = one
            .known
            .as_ref()
            .filter(|_| one.planned.action == RowAction::Update)
            .and_then(|group| foresight.of(&one.row, group));
        let Some(plan) = plan else { return };
        let mut partial = BTreeSet::new();
        for objection in &plan.objections {
            match objection {
                UnsafeUpdate::PartialChange {
                    uncertain: false,
                    field,
                    ..
                } => {
                    partial.insert(field.as_str());
                }
                UnsafeUpdate::PartialChange { .. } | UnsafeUpdate::Uncertain { .. } => {
                    self.uncertain += 1;
                    return;
                }
                UnsafeUpdate::Restored { .. } => {
                    self.restored += 1;
                    return;
                }
                // That of the first row stops the run and says what is missing.
                UnsafeUpdate::NotStated { .. } | UnsafeUpdate::WouldClear { .. } => {}
            }
        }
        let counted = if partial.is_empty() {
            let whole = one.row.edit(&one.planned.base).whole;
            let replaced = plan.replaced.iter().filter(|field| !whole.contains(field));
            partial.extend(replaced.map(|field| field.as_str()));
            &mut self.sent
        } else {
            &mut self.refused
        };
        counted.0 += usize::from(!partial.is_empty());
        counted.1.append(&mut partial);
    }

    fn in_words(&self) -> impl Iterator<Item = String> {
        let named = |fields: &BTreeSet<&str>, between: &str| {
            fields.iter().copied().collect::<Vec<_>>().join(between)
        };
        let groups = |count: usize| counted(count, "group");
        let (refused, fields) = &self.refused;
        let refused = (*refused > 0).then(|| {
            format!(
                "! {} cannot be updated: others may have changed the other rows of the {} since. To send the last known ones \
                 with the change: add --replace-{}",
                groups(*refused),
                named(fields, " and "),
                named(fields, " --replace-"),
            )
        });
        let (sent, fields) = &self.sent;
        let sent = (*sent > 0).then(|| {
            format!(
                "! the last known values ({}) of {} are sent with the change: others may have changed them since",
                named(fields, " and "),
                groups(*sent),
            )
        });
        let uncertain = (self.uncertain > 0).then(|| {
            format!(
                "! {} cannot be updated: an earlier change may have taken effect. To list such changes: groupdesk history \
                 --open",
                groups(self.uncertain)
            )
        });
        let restored = (self.restored > 0).then(|| {
            format!(
                "! {} cannot be updated: the directory was restored from an older copy, and later changes may be missing. Send whole \
                 fields",
                groups(self.restored)
            )
        });
        let locked = self
            .locked
            .1
            .as_ref()
            .map(|first| format!("! {} cannot be changed now: {first}", groups(self.locked.0)));
        let all = [locked, uncertain, restored, refused, sent];
        all.into_iter().flatten()
    }
}

/// A plan that was shown. Exactly this is sent.
#[derive(Default)]
pub(crate) struct ShownPlan {
    pub(crate) plan: Plan,
    /// For each row that would update a group, by row number: the known values of the fields it touches.
    bases: HashMap<usize, DesiredFields>,
    /// The changes to annotations, by row number.
    pub(crate) annotations: HashMap<usize, AnnotationChange>,
    /// The fields of rows with single parts, laid over what is known; by row number.
    completed: HashMap<usize, DesiredFields>,
    /// Rows whose note or labels differ from what a person wrote here, which is kept.
    kept: usize,
    pub(super) blind: Blind,
    losses: Losses,
    resembling: Resembling,
    spreadsheet: SpreadsheetCells,
    /// The rows for people, as many as are shown; and how many more there are.
    pub(super) named: String,
    pub(super) more: usize,
    /// The rows whose groups were read before planning.
    pub(super) read: HashSet<usize>,
}

impl ShownPlan {
    /// The rows of the files, to be sent as they were shown.
    pub(crate) fn into_rows(
        self,
        checked: &Checked,
        permit: Permit,
        journal: Option<Import>,
    ) -> Result<RowsToSend, CliError> {
        Ok(RowsToSend {
            rows: checked.read()?,
            planned: checked.rows,
            permit: permit.into(),
            journal,
            bases: self.bases,
            annotations: self.annotations,
            completed: self.completed,
        })
    }

    pub(super) fn add(&mut self, one: &PlannedRow) {
        let (number, row) = (one.number, &one.row);
        let (planned, annotations) = (&one.planned, &one.annotations);
        self.plan.count(planned.action);
        self.losses.count(planned, annotations);
        if !row.parts.is_empty() {
            self.completed.insert(number, row.fields.clone());
        }
        if planned.action != RowAction::Unchanged {
            self.blind.count(one);
        }
        if planned.action == RowAction::Update {
            let base = planned.base.clone().restricted_to(&row.fields);
            self.bases.insert(number, base);
        }
        if !annotations.change.is_empty() {
            self.annotations.insert(number, annotations.change.clone());
        }
        self.kept += usize::from(!annotations.kept.is_empty());
    }

    /// Notices ids that resemble known ones, and cells that a spreadsheet may have changed.
    pub(super) async fn look_at(
        &mut self,
        session: &Session,
        one: &PlannedRow,
    ) -> Result<Oddities, CliError> {
        let is_new = one.planned.action == RowAction::Create;
        let known = (!is_new).then_some(&one.planned.base);
        let spreadsheet = self.spreadsheet.check(one.number, &one.row, known);
        let mut resembles = Vec::new();
        if is_new && one.known.is_none() {
            let resembling = &mut self.resembling;
            resembles = resembling.check(session, one.number, &one.row.id).await?;
        }
        Ok(Oddities {
            resembles,
            spreadsheet,
        })
    }

    /// How many groups would be created or updated. If only creates are asked for, each known group is requested as well,
    /// which creates it if the service no longer has it.
    pub(crate) fn to_send(&self, sending: Sending) -> usize {
        let [(_, create), (_, update), (_, unchanged), _, (_, exists)] = counts(sending, self.plan);
        let is_requested = sending.create && !sending.update;
        let requested = if is_requested { unchanged + exists } else { 0 };
        create + update + requested
    }

    /// The exit code that rows give a dry run which the run itself would refuse.
    pub(crate) fn exit_of_dry_run(&self) -> Option<Exit> {
        let blind = &self.blind;
        let refused = blind.locked.0 + blind.uncertain + blind.restored + blind.refused.0;
        let is_all = refused == self.plan.all();
        (refused > 0).then_some(if is_all { Exit::Guarded } else { Exit::Partly })
    }

    /// How many values would be lost; the question names it.
    pub(crate) fn lost(&self) -> Option<String> {
        self.losses.in_words()
    }

    /// The rows as they are shown to people.
    pub(crate) fn rows(&self) -> String {
        let mut text = self.named.clone();
        if self.more > 0 {
            let _ = writeln!(
                text,
                "and {} more; --verbose shows all",
                counted(self.more, "row")
            );
        }
        text
    }

    /// What is printed before the rows: counts, losses, look-alikes and cells of spreadsheets.
    pub(super) fn head(&self, sending: Sending) -> Vec<String> {
        let mut lines = vec![in_words(sending, self)];
        lines.extend(self.lost().map(|lost| format!("! {lost}")));
        lines.extend(self.blind.in_words());
        lines.extend(self.resembling.in_words());
        lines.extend(self.spreadsheet.in_words());
        lines
    }

    /// When the group was read in this run; `None` if it was not.
    pub(super) fn read_at(&self, one: &PlannedRow) -> Option<Timestamp> {
        let seen = one.planned.seen;
        seen.filter(|_| self.read.contains(&one.number))
    }
}

/// Prints the summary and the rows before the question.
pub(crate) fn print_head(
    session: &Session,
    sending: Sending,
    shown: &ShownPlan,
) -> Result<(), CliError> {
    output::context(&shown.head(sending).join("\n"));
    let rows = shown.rows();
    if session.json || rows.is_empty() {
        return Ok(());
    }
    output::result(&rows)
}

/// Prints the summary.
pub(crate) fn print_summary(
    session: &Session,
    sending: Sending,
    shown: &ShownPlan,
) -> Result<(), CliError> {
    if session.json {
        return output::json_line(sum(sending, shown));
    }
    let mut lines = shown.head(sending);
    lines[0].push_str(", according to the directory; nothing was sent");
    output::result(&format!("{}\n{}", lines.join("\n"), shown.rows()))
}

/// For example `create 3, update 0, unchanged 7`. What was not requested appears only if its count is not zero.
fn in_words(sending: Sending, shown: &ShownPlan) -> String {
    let counts = counts(sending, shown.plan).into_iter();
    let is_given = |(word, count): &(&str, usize)| {
        *count > 0
            || *word == "unchanged"
            || *word == "create" && sending.create
            || *word == "update" && sending.update
    };
    let annotations = [
        ("annotate", shown.annotations.len()),
        ("notes or labels kept", shown.kept),
    ];
    let annotations = annotations.into_iter().filter(|(_, count)| *count > 0);
    let parts = counts.filter(is_given).chain(annotations);
    let parts = parts.map(|(word, count)| format!("{} {count}", word_for_people(word)));
    joined(parts, ", ")
}

/// A [`word`] for people. The other groups were not read, so they must not be called unchanged.
pub(super) fn word_for_people(word: &str) -> String {
    match word {
        "unchanged" => "without difference".to_owned(),
        word => word.replace('_', " "),
    }
}

/// The old and the new values by column, if there are any.
fn pairs(differing: &[AnnotationDifference]) -> Option<Map<String, Value>> {
    let pairs = differing.iter();
    let pairs = pairs.map(|one| (one.column.to_owned(), json!([one.current, one.wanted])));
    (!differing.is_empty()).then(|| pairs.collect())
}

shape! {
    pub(super) ANNOTATED_ROW = "", "";
    /// The fields about notes and labels, if there is anything to say.
    pub(super) fn annotated_row(annotations: &AnnotationPlan) {
        maybe "annotations": any = pairs(&annotations.changed), "changes of note, labels and favourite in the directory: [before, after] by column; only present if there are any";
        maybe "annotations_kept": any = pairs(&annotations.kept), "existing values that differ and are kept without --update and --replace-notes, as `annotations`; only present if there are any";
    }

    pub(super) ANNOTATED = "", "";
    pub(super) fn annotated((changed, _): (usize, usize)) {
        "changed": number = changed, "rows that change them";
    }

    ANNOTATED_OR_KEPT = "", "";
    fn annotated_or_kept((changed, kept): (usize, usize)) {
        ..ANNOTATED = annotated((changed, kept));
        "kept": number = kept, "rows whose note, labels or favourite differ; existing ones are kept";
    }

    pub(super) ROWS_ANNOTATED = "", "";
    /// How many rows change annotations, and how many leave some, if there are any.
    pub(super) fn rows_annotated(changed: usize, kept: usize) {
        maybe "annotations": {ANNOTATED_OR_KEPT} = (changed + kept > 0).then(|| annotated_or_kept((changed, kept))), "notes, labels and favourites; only present if a row changes any";
    }
}

pub(super) fn annotation_lines(text: &mut String, indent: &str, annotations: &AnnotationPlan) {
    let mut line = |sign: &str, one: &AnnotationDifference, rest: &str| {
        let _ = writeln!(text, "{indent}{sign} {one}{rest}");
    };
    for one in &annotations.changed {
        line(if one.is_replacement() { "~" } else { "+" }, one, "");
    }
    for one in &annotations.kept {
        line("!", one, ": the existing value is kept");
    }
}

shape! {
    pub(crate) ROW = "planned-row", "what would be sent for a row, according to the directory";
    /// Without a row it is a group that is not in the files.
    pub(crate) fn planned_row(
        planned: Option<(&PlannedRow, &Oddities, Option<Timestamp>)>,
        id: &UserGroupId,
        word: &str,
    ) {
        maybe "row": number = planned.map(|(one, ..)| one.number), "row number in the files, from 1; missing for not_in_files";
        "user_group_id": text = id.as_str(), "the group";
        "plan": text = word, "create, update, unchanged; not_known (needs --create), exists (needs --update); not_in_files, with --prune-report";
        maybe "request": any or "unchanged" = planned.map(|(one, ..)| matches!(word, "create" | "update").then(|| request(id, &one.planned.wanted))), "the body that would be sent; missing for not_in_files";
        maybe "changes": any or "nothing changes" = planned.map(|(one, ..)| changes_json(&one.planned.change)), "as in `request`; missing for not_in_files";
        maybe "read_at": time or "it was not read in this run" = planned.map(|(.., read_at)| read_at), "when the group was last seen in the service; \
        missing for not_in_files";
        ..ANNOTATED_ROW = planned.map(|(one, ..)| annotated_row(&one.annotations)).unwrap_or_default();
        ..ODDITIES = planned.map(|(_, oddities, _)| of_row(oddities)).unwrap_or_default();
    }

    pub(crate) SUM = "plan-sum", "the last line: create + update + unchanged + not_known + exists = rows";
    fn sum(sending: Sending, shown: &ShownPlan) {
        "dry_run": bool = true, "true";
        "rows": number = shown.plan.all(), "rows of the files";
        ..COUNTS = by_word(counts(sending, shown.plan).map(|(_, count)| count));
        ..ODD = odd(&shown.losses, &shown.resembling, &shown.spreadsheet);
        ..ROWS_ANNOTATED = rows_annotated(shown.annotations.len(), shown.kept);
    }

    COUNTS = "", "";
    fn by_word([create, update, unchanged, not_known, exists]: [usize; 5]) {
        "create": number = create, "groups that are not in the directory";
        "update": number = update, "groups that differ";
        "unchanged": number = unchanged, "groups that already have these values";
        "not_known": number = not_known, "groups that need --create";
        "exists": number = exists, "groups that need --update";
    }
}

pub(super) fn lines(sending: Sending, one: &PlannedRow) -> String {
    let (planned, annotations) = (&one.planned, &one.annotations);
    let mut text = String::new();
    let word = match planned.action {
        RowAction::Unchanged if *annotations == AnnotationPlan::default() => return text,
        RowAction::Unchanged => "annotate",
        need => word(sending, need),
    };
    let _ = writeln!(text, "{word} {}", visible(one.row.id.as_str()));
    let is_creation = planned.action == RowAction::Create;
    for line in review::lines(&planned.change, is_creation).lines() {
        let _ = writeln!(text, "  {line}");
    }
    annotation_lines(&mut text, "  ", annotations);
    text
}

/// What would be done with the row. Has separate words for what was not requested.
pub(super) fn word(sending: Sending, need: RowAction) -> &'static str {
    match need {
        RowAction::Create if !sending.create => "not_known",
        RowAction::Update if !sending.update => "exists",
        need => need.as_str(),
    }
}
