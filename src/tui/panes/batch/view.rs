//! Draws the bulk pane before the run: what is ready, and what confirms it.
//!
//! The actions of the bulk pane: starting once it is confirmed, handling outcomes, writing the report.

use std::fmt::Display;

use super::{BatchPane, RESUME, START, Stage};
use crate::tui::panes::prelude::*;
use crate::{
    config::guard::Level,
    domain::{
        BatchKind,
        age::{self, days},
        batch::Plan,
    },
    operations::{
        Batch, BatchId, BatchItem,
        batch::{Resumption, RunCommand},
    },
    search::Row,
    tui::{
        kit::{
            page,
            paint::{self, WHOLE_ID},
        },
        panes::bulk_edit,
        state::{BatchAim, BatchRow, EditSource, KeptReason, batch::report},
    },
};

/// Width of an age with the gap before it, in cells.
const AGE: usize = 6;
/// So many skipped groups are read one by one; of more, the reasons are counted.
const FEW: usize = 5;

pub(super) fn draw(
    pane: &BatchPane,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let is_edit = pane
        .run(context)
        .is_some_and(|run| run.kind != BatchKind::Rotate);
    let verb = if is_edit { "Edit" } else { "Rotate" };
    let title = match pane.run(context).map(|run| run.counts().planned()) {
        Some(1) => format!("{verb} 1 group"),
        Some(groups) => format!("{verb} {groups} groups"),
        None if matches!(pane.stage, Stage::Resume(..)) => "Resume".to_owned(),
        None => pane.title(context),
    };
    let inner = page(buffer, area, &title, context.theme);
    if let Some(run) = pane.run(context) {
        super::run::draw(pane, run, buffer, inner, context);
        return pane.file.draw(buffer, inner, u16::MAX, context.theme);
    }
    let page = text_page(pane, inner.width, context);
    let Some(confirm) = pane.confirm() else {
        page.draw(buffer, inner, pane.cursor.at);
        return None;
    };
    let keys = (&context.keys, context.theme);
    let why_not = BatchPane::why_not_start(context);
    let scroll = Some(pane.cursor.at);
    confirm.draw_below(&page, scroll, (buffer, inner), keys, why_not.as_deref())
}

/// Number of scroll positions before the run.
pub(super) fn check_lines(pane: &BatchPane, context: &Context) -> usize {
    let (width, rows) = page_room(context.size);
    let (area, theme) = (Rect::new(0, 0, width, rows), context.theme);
    let rows = pane.confirm().map_or(rows, |confirm| {
        let why_not = BatchPane::why_not_start(context);
        confirm.room(area, &context.keys, theme, why_not.as_deref())
    });
    text_page(pane, width, context).last_scroll(rows) + 1
}

fn text_page(pane: &BatchPane, width: u16, context: &Context) -> TextPage {
    let theme = context.theme;
    let mut page = TextPage::new(width, theme);
    match &pane.stage {
        Stage::Planning(_) => page.dim("Checking the groups in the directory"),
        Stage::Failed(why) => {
            page.error(why);
            let key = context.keys.key(Focus::BulkCheck, Action::Refresh);
            let text = format!("Nothing was sent. {key} checks again.");
            page.text(&text, Style::new());
        }
        Stage::Check(plan, _) => {
            check(&mut page, plan, context);
            recent(&mut page, pane, context);
            groups(&mut page, &plan.ready, &plan.skipped, context);
        }
        Stage::Resume(resumption, _) => {
            resume(&mut page, pane, resumption, context);
        }
        Stage::Run(_) => {
            let key = context.keys.key(Focus::List, Action::Batches);
            page.dim(&format!("{key} shows this batch."));
        }
    }
    page
}

/// Writes what resuming a batch does: first what is ready, then what is not.
fn resume(page: &mut TextPage, pane: &BatchPane, resumption: &Resumption, context: &Context) {
    let batch = &resumption.batch;
    let (left, all) = (batch.counts.not_started, batch.counts.planned());
    page.heading(&format!(
        "Batch {}: {left} of {all} groups left",
        batch.id.0
    ));
    let begun = context.whole_time(batch.started_at);
    let begun = if context.is_recent(batch.started_at) {
        begun
    } else {
        format!("{begun}, {}", context.ago(batch.started_at))
    };
    page.field("started by", &batch.by, Style::new(), &begun);
    let reason = batch.reason.as_deref().unwrap_or("none given");
    page.plain("reason", reason);
    page.plain("done", &batch.counts.in_words_of(&batch.kind));
    if let Some(why) = batch.last_run_in_words(|at| context.when(at)) {
        let what = if batch.is_run() { "now" } else { "last run" };
        page.plain(what, &why);
    }
    let text = match batch.kind {
        _ if left == 0 => "Nothing left to send: reads open results, then closes the batch.",
        BatchKind::Rotate => {
            "Every old token of these groups stops working at once; one request each, nothing is sent twice."
        }
        BatchKind::Edit(_) => {
            "One update for each group, which is read first; nothing is sent twice."
        }
    };
    page.warning(text);
    if let Some((count, oldest)) = &resumption.unverified {
        let text = bulk_edit::sent_unread(*count, oldest, context);
        page.warning(&format!("! {text}"));
    }
    old(page, pane, context);
    if let Some(runner) = batch.runner.as_ref().filter(|runner| runner.is_alive()) {
        let text = format!(
            "! Another console or command is running it, {}. You would join it: no group is processed twice.",
            runner.in_words(|at| context.when(at))
        );
        page.warning(&text);
    }
    if resumption.open > 0 {
        let text = match resumption.open {
            1 => "First reads 1 group whose result is open.".to_owned(),
            open => format!("First reads {open} groups whose result is open."),
        };
        page.text(&text, Style::new());
    }
    groups(page, &resumption.ready, &resumption.refused, context);
}

fn check(page: &mut TextPage, plan: &Plan, context: &Context) {
    let counts = format!("{} ready, {} skipped", plan.ready.len(), plan.skipped.len());
    page.heading(&counts);
    if plan.skipped.len() > FEW {
        for (count, why) in plan.reasons() {
            page.text(&format!("{count} skipped: {why}"), Style::new());
        }
    }
    if plan.ready.is_empty() {
        page.warning("No group can be rotated now. Nothing was sent.");
    } else {
        let place = context.profile().map_or_else(String::new, |profile| {
            format!("{} ({})", profile.name, profile.environment_word())
        });
        let text = format!(
            "Every old token of these groups in {place} stops working at once; one request each."
        );
        page.warning(&text);
        let to = if let Some(command) = context.hands_off_to() {
            match context.why_forbidden(Guarded::HandOff) {
                None => format!("The hand-off passes new tokens to {command}."),
                Some(why) => format!("The new tokens wait: {why}."),
            }
        } else {
            let key = context.keys.key(Focus::List, Action::Token);
            format!("New tokens are not sent anywhere; {key} on a group reads its token.")
        };
        page.text(&to, Style::new());
    }
}

/// Writes what is skipped because of its age when resuming, and the key that includes it.
fn old(page: &mut TextPage, pane: &BatchPane, context: &Context) {
    let key = context.keys.key(pane.focus(), Action::IncludeOld);
    let text = match pane.recent() {
        _ if pane.include_recent => {
            format!("! Includes values last sent more than 30 days ago; {key} excludes them.")
        }
        0 => return,
        old => format!("! {old} skipped for their age, and not sent; {key} includes them."),
    };
    page.warning(&text);
}

/// Writes what F7 does, if it has any effect.
fn recent(page: &mut TextPage, pane: &BatchPane, context: &Context) {
    let key = context.keys.key(pane.focus(), Action::IncludeRecent);
    let plain = Style::new();
    let (text, style) = match pane.recent() {
        _ if pane.include_recent => {
            let text = format!("Includes those rotated within 24 h; {key} excludes them.");
            (text, context.theme.warning())
        }
        0 => return,
        1 => (
            format!("1 was rotated within 24 h; {key} includes it."),
            plain,
        ),
        count => {
            let text = format!("{count} were rotated within 24 h; {key} includes them.");
            (text, plain)
        }
    };
    page.text(&text, style);
}

fn groups(
    page: &mut TextPage,
    ready: &[UserGroupId],
    skipped: &[(UserGroupId, impl Display)],
    context: &Context,
) {
    let theme = context.theme;
    if !ready.is_empty() {
        page.blank();
        page.heading("ready");
        let ids = widest(ready.iter().map(UserGroupId::as_str), WHOLE_ID as u16).into();
        for id in ready {
            // Whole, because this is what a person confirms.
            let shown = if paint::columns(id.as_str()) > ids {
                page.text(&visible(id.as_str()), Style::new());
                String::new()
            } else {
                paint::cut_id(id.as_str(), ids, theme)
            };
            let gap = " ".repeat(ids.saturating_sub(paint::columns(&shown)));
            let entry = context.groups.entry(id.as_str());
            let times = entry.map(Row::times);
            let at = times.and_then(|(rotated, created, _)| rotated.or(created));
            let age = at.and_then(|at| age::of(at, context.now));
            let age = age.map_or_else(|| "-".into(), days);
            let name = entry.and_then(|entry| entry.name().map(ToOwned::to_owned));
            let name = name.unwrap_or_default();
            let taken = ids + AGE + 2;
            let name = paint::cut(&name, page.width().saturating_sub(taken), theme);
            let text = format!("{shown}{gap}{age:>AGE$}  {name}");
            page.pieces(vec![(text, Style::new())]);
        }
    }
    if !skipped.is_empty() {
        page.blank();
        page.heading("skipped");
        for (id, skip) in skipped {
            page.warning(&format!("{id}: {skip}"));
        }
    }
}

impl BatchPane {
    /// Asks for the words to start the run, the same as on the command line; for nothing where no group is ready.
    fn ask_to_start(&self, plan: &Plan, context: &Context) -> Option<Box<Confirm>> {
        let ready = plan.ready.len();
        let profile = context.profile().filter(|_| ready > 0)?;
        let words = format!("rotate {ready} in {}", profile.name);
        let confirm = Confirm::new(START, Level::Words, None);
        Some(Box::new(confirm.of("", words).with_reason(&self.reason)))
    }

    pub(super) fn start(&mut self, context: &mut Context) {
        let Stage::Check(plan, Some(confirm)) = &self.stage else {
            return;
        };
        let ticket = context.start_batch(plan.clone(), confirm.reason(), self.retries);
        // It belongs to the batch now.
        self.reason = KeptReason::default();
        self.stage = Stage::Run(ticket);
        self.cursor = Cursor::default();
    }

    /// Asks for the key or the words to resume the batch.
    fn ask_to_resume(resumption: &Resumption, context: &Context) -> Confirm {
        let profile = context.profile_name();
        let words = resumption.words(profile);
        let guard = resumption.guard.clone();
        let confirm = Confirm::new(RESUME, resumption.level, guard);
        match resumption.batch.counts.not_started {
            0 => confirm.of("closes the batch", words).with_verb("CLOSE"),
            _ => confirm.of(format!("resumes the batch in {profile}"), words),
        }
    }

    /// Why no run can be started: another one is running, or it is not allowed.
    pub(super) fn why_not_start(context: &Context) -> Option<String> {
        let runs = context.running_batch().is_some();
        let runs = runs.then(|| "another batch is running".into());
        runs.or_else(|| context.why_forbidden(Guarded::Bulk))
    }

    pub(super) fn resume(&mut self, context: &mut Context) {
        let Stage::Resume(resumption, _) = &self.stage else {
            return;
        };
        self.stage = Stage::Run(context.resume_batch(resumption));
        self.stored = None;
        self.cursor = Cursor::default();
    }

    /// Checks the remaining items of the batch.
    pub(super) fn plan_resumption(&mut self, context: &mut Context) {
        if let Some(id) = self.batch(context) {
            let other = Self::of(id, BatchAim::Resume, context);
            *self = other;
        }
    }

    /// The batch of this page.
    fn batch(&self, context: &Context) -> Option<BatchId> {
        match &self.stage {
            Stage::Run(_) => self.run(context)?.batch,
            _ => self.number,
        }
    }

    /// A batch of the journal has been read: starts what it was opened for.
    fn batch_read(&mut self, batch: &Batch, items: &[BatchItem], context: &mut Context) {
        if let Some(stored) = &mut self.stored {
            stored.follow_batch(batch);
            stored.follow(items);
            return;
        }
        let Stage::Planning(ticket) = self.stage else {
            return;
        };
        let run = BatchRun::stored(ticket, context.current, batch, items);
        self.stage = Stage::Run(ticket);
        self.stored = Some(Box::new(run));
        match self.aim {
            BatchAim::Look | BatchAim::Resume => {}
            BatchAim::Retry => self.retry(context),
            BatchAim::Report => self.ask_path(context),
        }
    }

    pub(super) fn check_again(&mut self, context: &mut Context) {
        if let Some(id) = self.number {
            *self = Self::open_with(id, self.aim, self.include_recent, context);
            return;
        }
        if let Some(confirm) = self.confirm() {
            self.reason = confirm.kept_reason();
        }
        let ticket = context.start(Job::PlanBulk {
            ids: self.ids.clone(),
            include_recent: self.include_recent,
            retries: self.retries,
        });
        self.stage = Stage::Planning(ticket);
    }

    /// Checks again what was not applied. An edit is never retried by rotating: it is reviewed again.
    pub(super) fn retry(&mut self, context: &mut Context) {
        let Some(run) = self.run(context) else { return };
        match (&run.kind, run.batch) {
            (BatchKind::Rotate, _) => {
                let (ids, batch) = (run.to_retry(), run.batch);
                let reason = KeptReason::given(run.reason.as_deref().unwrap_or_default());
                *self = Self::checking(ids, batch, context);
                self.reason = reason;
            }
            (BatchKind::Edit(_), Some(batch)) => {
                let again = PaneRequest::BulkEdit(EditSource::Again(batch));
                context.navigate(Navigation::Replace(again));
            }
            (BatchKind::Edit(_), None) => {}
        }
    }

    pub(super) fn take(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::Planned(plan) => {
                let confirm = self.ask_to_start(plan, context);
                self.stage = Stage::Check(plan.clone(), confirm);
                self.cursor = Cursor::default();
            }
            Outcome::Batch(stands) => self.batch_read(&stands.0, &stands.1, context),
            Outcome::Resumable(resumption) => {
                let confirm = Self::ask_to_resume(resumption, context);
                self.stage = Stage::Resume(resumption.clone(), Box::new(confirm));
                self.cursor = Cursor::default();
            }
            Outcome::BulkEnded(_) => {
                if let Some(run) = self.run(context) {
                    let (severity, text) = (run.severity(), run.line());
                    context.say(severity, text);
                }
            }
            Outcome::ReportWritten(path) => {
                self.file.done();
                let text = format!("Report saved to {} (only you can read it)", path.display());
                context.say(Severity::Done, text);
            }
            Outcome::Failed(error) if self.file.failed(&error.text) => {
                context.say_error(error);
            }
            Outcome::Failed(error) => {
                if matches!(self.stage, Stage::Planning(_)) {
                    self.stage = Stage::Failed(error.text.clone());
                }
                context.say_error(error);
            }
            _ => {}
        }
    }

    /// Moves the cursor by `step` rows until one needs a person, wrapping around.
    pub(super) fn go_to_failed(&mut self, step: usize, context: &Context) {
        let Some(run) = self.run(context) else { return };
        let count = self.shown.len();
        let mut on = self.cursor.at;
        for _ in 0..count {
            on = (on + step) % count;
            let row = self.shown.get(on).and_then(|at| run.rows.get(*at));
            if row.is_some_and(BatchRow::is_failed) {
                self.cursor.at = on;
                return;
            }
        }
    }

    pub(super) fn is_paused(&self, context: &Context) -> bool {
        let run = self.run(context);
        run.is_some_and(|run| run.command == RunCommand::Pause)
    }

    pub(super) fn open_group(&self, context: &mut Context) {
        let at = self.on();
        let row = self.run(context).and_then(|run| run.rows.get(at?));
        if let Some(id) = row.map(|row| row.id.clone()) {
            context.open_pane(PaneRequest::Group(id));
        }
    }

    pub(super) fn ask_path(&mut self, context: &Context) {
        let batch = self.run(context).and_then(|run| run.batch);
        let number = batch.map_or_else(|| "new".to_owned(), |batch| batch.0.to_string());
        let name = format!("~/batch-{number}.json");
        self.file.ask_file(name);
    }

    pub(super) fn write(&mut self, context: &mut Context) {
        let Some(path) = self.file.path() else {
            return;
        };
        let run = self.run(context);
        let report = run.map(|run| report::of(run, context, &path));
        if let Some(report) = report {
            self.file
                .begun(context.start(Job::WriteReport(report, path)));
        }
    }
}
