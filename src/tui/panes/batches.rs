//! The batches of this profile or of all profiles: the state of each, and finishing what is unfinished. The list itself
//! only sends reads.

mod view;

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{View, filtered_list::FilteredList};
use crate::{
    domain::batch::BatchKind,
    operations::{Batch, Guarded},
    search::normalize::lowered,
    tui::widgets::text_field::TextField,
    tui::{
        keymap::{Action, Focus},
        state::{
            batch::BatchRun,
            context::{Context, Navigation},
            message::{Job, Outcome, Pending, ProfileIndex},
            navigation::{BatchAim, EditSource, PaneRequest},
            notices::Severity,
        },
    },
};

#[derive(Debug)]
pub struct Batches {
    /// Most recently started first, each with its profile.
    rows: Vec<(ProfileIndex, Batch)>,
    /// Show the batches of all profiles.
    all: bool,
    /// The batches have been read, and the cursor has been placed.
    is_read: bool,
    list: FilteredList,
    /// Reads the groups with an unknown outcome.
    checking: Pending,
}

/// The run of this session, if it is this batch and still running.
fn running<'a>(batch: &Batch, context: &'a Context) -> Option<&'a BatchRun> {
    let run = context.bulk.as_ref();
    run.filter(|run| run.batch == Some(batch.id) && run.is_under_way())
}

/// Whether the batch has not ended and no process is working on it.
pub(super) fn is_unfinished(batch: &Batch, context: &Context) -> bool {
    batch.ended_at.is_none() && !batch.is_run() && running(batch, context).is_none()
}

impl Batches {
    /// Opens the list and reads the journal.
    pub fn open(context: &mut Context) -> Self {
        let pane = Self {
            rows: Vec::new(),
            all: false,
            is_read: false,
            list: FilteredList::with_filter(""),
            checking: Pending::default(),
        };
        pane.reload(context);
        pane
    }

    /// Reads the journal again.
    pub fn reload(&self, context: &mut Context) {
        context.ask(&self.list.pending, Job::AllBatches);
    }

    fn shown<'a>(&'a self, context: &Context) -> Vec<&'a (ProfileIndex, Batch)> {
        let words = self.list.words();
        let is_meant = |(profile, batch): &&(ProfileIndex, Batch)| {
            if !self.all && *profile != context.current {
                return false;
            }
            let text = lowered(&format!(
                "{} {} {} {} {}",
                batch.id.0,
                batch.by,
                batch.reason.as_deref().unwrap_or_default(),
                view::name(*profile, context),
                view::state(batch, context).1
            ));
            words.iter().all(|word| text.contains(word.as_str()))
        };
        self.rows.iter().filter(is_meant).collect()
    }

    fn selected(&self, context: &Context) -> Option<&(ProfileIndex, Batch)> {
        self.shown(context).get(self.list.cursor.at).copied()
    }

    /// The cursor stays on its batch; at first it is on the newest unfinished one, preferring one's own.
    fn take(&mut self, rows: &[(ProfileIndex, Batch)], context: &Context) {
        let on = self.selected(context).map(|(_, batch)| batch.id);
        rows.clone_into(&mut self.rows);
        let shown = self.shown(context);
        let own = |batch: &Batch| batch.by == context.operator;
        let find =
            |is_it: &dyn Fn(&Batch) -> bool| shown.iter().position(|(_, batch)| is_it(batch));
        let at = if self.is_read {
            find(&|batch| Some(batch.id) == on)
        } else {
            find(&|batch| is_unfinished(batch, context) && own(batch))
                .or_else(|| find(&|batch| is_unfinished(batch, context)))
        };
        let rows = shown.len();
        self.list.stay_on(at, rows);
        self.is_read = true;
    }

    /// Opens the batch of the row, in its profile.
    fn open_selected(&self, aim: BatchAim, context: &mut Context) {
        let Some((profile, batch)) = self.selected(context) else {
            context.mention("No batch here");
            return;
        };
        let (profile, opening) = match running(batch, context) {
            Some(run) => (run.profile, PaneRequest::WatchBulk(run.ticket)),
            None => (*profile, PaneRequest::Batch(batch.id, aim)),
        };
        if profile != context.current {
            context.navigate(Navigation::SwitchTo(profile));
        }
        context.navigate(Navigation::Push(opening));
    }

    /// Reviews the reverse of the edit in the row, in its profile.
    fn reverse(&self, context: &mut Context) {
        let Some((profile, batch)) = self.selected(context) else {
            return;
        };
        if *profile != context.current {
            context.navigate(Navigation::SwitchTo(*profile));
        }
        let reverse = PaneRequest::BulkEdit(EditSource::Reverse(batch.id));
        context.navigate(Navigation::Push(reverse));
    }

    /// The batch of the row, if any of its outcomes is unknown.
    fn check_target(&self, context: &Context) -> Option<&(ProfileIndex, Batch)> {
        let here = self.selected(context);
        here.filter(|(_, batch)| batch.counts.unknown > 0)
    }

    fn check(&self, context: &mut Context) {
        let Some((profile, batch)) = self.check_target(context) else {
            self.reload(context);
            return;
        };
        self.checking
            .begin(context.start_in(*profile, Job::settle(&batch.kind)));
    }
}

impl View for Batches {
    fn focus(&self) -> Focus {
        self.list.focus(Focus::Batches)
    }

    fn title(&self, _context: &Context) -> String {
        "Batches".into()
    }

    fn status(&self, context: &Context) -> String {
        if !self.is_read {
            return "reading".into();
        }
        let shown = self.shown(context);
        let mut unfinished = shown.iter().map(|(_, batch)| batch);
        let unfinished = unfinished
            .by_ref()
            .filter(|batch| is_unfinished(batch, context));
        let all = if self.all { "   all profiles" } else { "" };
        match shown.len() {
            0 => format!("none{all}"),
            batches => format!("{} unfinished of {batches}{all}", unfinished.count()),
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let rows = self.shown(context).len();
        if self.list.act(action, rows, context) {
            return;
        }
        match action {
            Action::Enter => self.open_selected(BatchAim::Look, context),
            Action::Resume => self.open_selected(BatchAim::Resume, context),
            Action::RetryFailed => self.open_selected(BatchAim::Retry, context),
            Action::ReverseEdit => self.reverse(context),
            Action::WriteFile => self.open_selected(BatchAim::Report, context),
            Action::Refresh => self.check(context),
            Action::NextField => {
                let on = self.selected(context).map(|(_, batch)| batch.id);
                self.all = !self.all;
                let shown = self.shown(context);
                let at = shown.iter().position(|(_, batch)| Some(batch.id) == on);
                let rows = shown.len();
                self.list.stay_on(at, rows);
            }
            _ => {}
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.list.field()
    }

    fn input(&mut self, key: KeyEvent, _context: &mut Context) {
        if self.list.key(key) {
            self.list.cursor.at = 0;
        }
    }

    fn paste(&mut self, text: &str, _context: &mut Context) -> bool {
        self.list.paste(text)
    }

    fn hint(&self, action: Action, context: &Context) -> Option<&'static str> {
        let has_nothing_left = |(_, batch): &(_, Batch)| batch.counts.not_started == 0;
        let is_run = |(_, batch): &(_, Batch)| batch.is_run();
        match action {
            Action::NextField if self.all => Some("this profile"),
            Action::Resume if self.selected(context).is_some_and(is_run) => Some("JOIN"),
            Action::Resume if self.selected(context).is_some_and(has_nothing_left) => Some("CLOSE"),
            Action::Refresh if self.check_target(context).is_none() => Some("refresh"),
            _ => None,
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        if let Some(why) = self.list.disabled(action) {
            return Some(why);
        }
        let here = self.selected(context);
        let needs_row = matches!(
            action,
            Action::Resume | Action::RetryFailed | Action::ReverseEdit | Action::WriteFile
        ) || action == Action::Enter && !self.list.is_filtering();
        let Some((profile, batch)) = here else {
            return needs_row.then(|| "no batch here".into());
        };
        let forbidden = || {
            let is_here = *profile == context.current;
            is_here
                .then(|| context.why_forbidden(Guarded::Bulk))
                .flatten()
        };
        let is_busy = context.bulk.as_ref().is_some_and(BatchRun::is_under_way);
        match action {
            Action::Resume if running(batch, context).is_some() => {
                Some("this batch is running".into())
            }
            Action::Resume if batch.ended_at.is_some() => Some("this batch is finished".into()),
            Action::RetryFailed if batch.counts.not_applied == 0 => {
                Some("no group of this batch needs a retry".into())
            }
            Action::ReverseEdit if batch.kind == BatchKind::Rotate => {
                Some("a rotation cannot be taken back".into())
            }
            Action::ReverseEdit if batch.counts.confirmed == 0 => {
                Some("this batch has changed no group".into())
            }
            Action::Resume | Action::RetryFailed | Action::ReverseEdit if is_busy => {
                Some("another batch is running".into())
            }
            Action::Resume | Action::RetryFailed | Action::ReverseEdit => forbidden(),
            _ => None,
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.list.pending, &self.checking]
    }

    fn leave(&mut self, context: &mut Context) {
        // The check continues; a message reports how it ended.
        context.give_up(&self.list.pending);
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::AllBatches(rows) => self.take(rows, context),
            Outcome::Failed(error) => {
                context.say_error(error);
            }
            _ => {}
        }
    }

    fn job_panicked(&mut self, context: &mut Context) {
        let key = context.keys.key(Focus::Batches, Action::Refresh);
        let text = format!("Batches not read: internal error; {key} reads them");
        context.say(Severity::Error, text);
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}
