//! Everything that needs attention, over all profiles, worst first, and the ages of the tokens. Only reads and
//! hand-offs are sent from here; everything else opens the page where it is finished.

mod words;

use self::words::{enter_word, histogram, limit, place, since, step, what, why_refused};
use super::prelude::*;
use crate::{
    operations::{
        PlaceProblem,
        attention::{Ages, Attention, Concern, ConcernKind},
    },
    search::{RowFacts, RowTest, quoted},
    tui::{
        page::list_page::{
            Can, Col, Command, ListPage, Rows, col, command, open_in, profile_name, unless,
        },
        panes::token::handoff::describe,
        state::BatchAim,
    },
};

#[derive(Debug, Default)]
pub struct Concerns {
    found: Attention,
}

pub type AttentionPage = ListPage<Concerns>;

/// A concern stays the same one when its state changes.
#[derive(Debug, Clone)]
pub struct Same(Concern);

impl PartialEq for Same {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_about(&other.0)
    }
}

impl Concerns {
    /// Whether the batch of the row is running here, and needs no attention.
    fn runs_here(row: &Concern, context: &Context) -> bool {
        let running = context.running_batch();
        let running = running.and_then(|run| run.batch);
        matches!(&row.kind, ConcernKind::Batch(batch) if Some(batch.id) == running)
    }

    /// The token ages of the profiles that are shown.
    fn ages(&self, is_of_all: bool, context: &Context) -> Vec<&(usize, Ages)> {
        let ages = self.found.ages.iter();
        ages.filter(|(profile, _)| is_of_all || *profile == context.current.0)
            .collect()
    }
}

impl Rows for Concerns {
    type Row = Concern;
    type Key = Same;
    const PLACE: Focus = Focus::Attention;
    const ROW: &'static str = "item";
    const TESTS: &'static [RowTest] = &[
        RowTest::Time,
        RowTest::Operator,
        RowTest::Operation,
        RowTest::Group,
        RowTest::Draft,
    ];
    const HAS_SCOPE: bool = true;
    const WORKING: Option<&'static str> = None;

    fn job(&self) -> Option<Job> {
        Some(Job::Attention { whole: true })
    }

    fn take(&mut self, outcome: &Outcome) -> bool {
        let Outcome::Attention(found) = outcome else {
            return false;
        };
        self.found.clone_from(found);
        true
    }

    fn all<'a>(&'a self, _context: &'a Context) -> Vec<&'a Concern> {
        self.found.concerns.iter().collect()
    }

    fn key(row: &Concern) -> Same {
        Same(row.clone())
    }

    fn is_shown(&self, row: &Concern, context: &Context) -> bool {
        !Self::runs_here(row, context)
    }

    fn profile(row: &Concern, _context: &Context) -> Option<ProfileIndex> {
        row.profile.map(ProfileIndex)
    }

    fn facts(row: &Concern) -> RowFacts<'_> {
        RowFacts {
            at: row.since,
            by: row.by.as_deref(),
            operation: row.kind.operation(),
            is_draft: matches!(row.kind, ConcernKind::Draft(..)),
        }
    }

    fn group(row: &Concern) -> Option<&str> {
        row.kind.group().map(UserGroupId::as_str)
    }

    fn columns(&self) -> Vec<Col<Concern>> {
        let col = col::<Concern>;
        vec![
            col("  WHAT", (19, 21), 0, |row, context| {
                let (sign, what, style) = what(row, context.theme);
                Cell::new(format!("{sign} {what}")).styled(style)
            })
            .spread(),
            col("WHERE", (8, 56), 0, |row, _| Cell::new(place(row))).kept(24),
            col("SINCE", (6, 13), 2, |row, context| {
                Cell::new(since(row, context))
            })
            .kept(12)
            .right(),
            col("NEXT STEP", (10, 90), 1, |row, context| {
                Cell::new(step(row, context))
            })
            .kept(30)
            .sentence(),
            col("BY", (4, 24), 3, |row, _| {
                Cell::new(row.by.as_deref().unwrap_or_default())
            }),
        ]
    }

    fn commands() -> Vec<Command<AttentionPage>> {
        vec![
            command(
                Action::Enter,
                |page, context| {
                    let row = page.row(context)?;
                    if row.profile.is_none() {
                        return Err("no profile for this environment".into());
                    }
                    let acts = matches!(row.kind, ConcernKind::Draft(..) | ConcernKind::Alarms(..));
                    match why_refused(row, context).filter(|_| acts) {
                        Some(why) => Err(why.into()),
                        None => Ok(Some(enter_word(row))),
                    }
                },
                go_there,
            ),
            command(
                Action::Refresh,
                |page, context| {
                    is_free(page)?;
                    Ok(to_check(page, context).is_none().then_some("refresh"))
                },
                |page, context| match to_check(page, context) {
                    Some((job, profile)) => start(page, job, profile, context),
                    None => page.reload(context),
                },
            ),
            command(
                Action::HandOff,
                |page, context| {
                    is_free(page)?;
                    let row = page.row(context)?;
                    match row.kind {
                        ConcernKind::HandOff { .. } => unless(why_refused(row, context)),
                        _ => Err("this row is not a hand-off".into()),
                    }
                },
                |page, context| {
                    if let Some(row) = page.selected(context)
                        && let ConcernKind::HandOff {
                            rotation,
                            id,
                            begun_in: Some(profile),
                            ..
                        } = &row.kind
                    {
                        let (job, profile) = (Job::HandOffAgain(*rotation, id.clone()), *profile);
                        start(page, job, profile, context);
                    }
                },
            ),
            command(
                Action::Resume,
                |page, context| {
                    let row = page.row(context)?;
                    let hint = match &row.kind {
                        ConcernKind::NotDone(batch, _) if batch.can_be_retried() => Some("RETRY"),
                        ConcernKind::Batch(_) => None,
                        _ => return Err("this row is not a batch to resume or retry".into()),
                    };
                    unless(why_refused(row, context))?;
                    Ok(hint)
                },
                |page, context| {
                    let Some((row, profile)) = page
                        .selected(context)
                        .and_then(|row| Some((row, row.profile?)))
                    else {
                        return;
                    };
                    let (batch, aim) = match &row.kind {
                        ConcernKind::Batch(batch) => (batch.id, BatchAim::Resume),
                        ConcernKind::NotDone(batch, _) => (batch.id, BatchAim::Retry),
                        _ => return,
                    };
                    let opening = PaneRequest::Batch(batch, aim);
                    open_in(ProfileIndex(profile), opening, context);
                },
            ),
            command(
                Action::Edit,
                |page, context| {
                    let row = page.row(context)?;
                    match row.kind {
                        ConcernKind::Draft(..) => unless(why_refused(row, context)),
                        _ => Err("this row is not a draft".into()),
                    }
                },
                go_there,
            ),
        ]
    }

    fn status(page: &AttentionPage, context: &Context) -> String {
        let without = Self::what_is_missing(page, context);
        let profiles = match (page.is_of_all, page.kind.found.profiles) {
            (false, _) => "this profile".to_owned(),
            (true, 0 | 1) if without.is_empty() => "all profiles".to_owned(),
            (true, profiles) => counted(profiles, "profile"),
        };
        let items = counted(page.shown(context).len(), "item");
        format!("{items} in {profiles}{without}")
    }

    fn what_is_missing(page: &AttentionPage, context: &Context) -> String {
        let is_read = |problem: &PlaceProblem| {
            matches!(
                problem,
                PlaceProblem::Alarmed { .. } | PlaceProblem::OnTrial { .. }
            )
        };
        let unread = context.place_problems.iter();
        let unread = unread.filter(|(at, problem)| {
            !is_read(problem) && (page.is_of_all || **at == context.current)
        });
        let unread: Vec<&str> = unread.map(|(at, _)| profile_name(*at, context)).collect();
        match unread[..] {
            [] => String::new(),
            _ => format!(", not read: {}", unread.join(", ")),
        }
    }

    fn when_empty(&self, _context: &Context) -> String {
        "Nothing needs attention: no alarm, overdue token, open work or draft".into()
    }

    fn when_none_shown(page: &AttentionPage, context: &Context) -> String {
        let key = |action| context.keys.key(Focus::Attention, action);
        let here = Some(context.current.0);
        let is_elsewhere = |row: &Concern| row.profile != here && !Self::runs_here(row, context);
        let others = !page.is_of_all && page.kind.found.concerns.iter().any(is_elsewhere);
        if others {
            let all = key(Action::NextField);
            format!("Nothing needs attention in this profile: {all} shows all profiles")
        } else {
            page.kind.when_empty(context)
        }
    }

    /// Two rows for the box, one for the titles.
    fn detail_rows(page: &AttentionPage, context: &Context) -> u16 {
        match page.kind.ages(page.is_of_all, context).len() {
            0 => 0,
            ages => u16::try_from(ages).unwrap_or(u16::MAX).saturating_add(2),
        }
    }

    fn draw_below(
        page: &AttentionPage,
        buffer: &mut Buffer,
        area: Rect,
        context: &Context,
    ) -> bool {
        let ages = page.kind.ages(page.is_of_all, context);
        if !ages.is_empty() {
            histogram(&ages, buffer, area, context);
        }
        true
    }

    fn answer(page: &mut AttentionPage, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::Done(done) => {
                let text = format!("Read {}", done.group.id);
                context.say(Severity::Done, text);
            }
            Outcome::HandedOff(Some(handed)) => {
                let (severity, text) = describe(handed);
                context.say(severity, text);
            }
            Outcome::NotHandedOff(error) => context.say_error(error),
            Outcome::HandedOff(None) | Outcome::Recovered(_) | Outcome::Failed(_) => {}
            _ => return,
        }
        page.reload(context);
    }
}

fn is_free(page: &AttentionPage) -> Can {
    if page.working.is_waiting() {
        Err("a row is being read".into())
    } else {
        Ok(None)
    }
}

fn start(page: &AttentionPage, job: Job, profile: usize, context: &mut Context) {
    let ticket = context.start_in(ProfileIndex(profile), job);
    page.working.begin(ticket);
}

/// The job that reads the row at the service, and its profile; `None` if reading would not help.
fn to_check(page: &AttentionPage, context: &Context) -> Option<(Job, usize)> {
    let concern = page.selected(context)?;
    if context.view_only_reason().is_some() {
        return None;
    }
    let job = match &concern.kind {
        ConcernKind::Rotation(_, state, _) if state.is_open() => Job::Settle,
        ConcernKind::Batch(batch) if batch.counts.unknown > 0 => Job::settle(&batch.kind),
        ConcernKind::Change(_, _, id)
        | ConcernKind::Revived(_, id)
        | ConcernKind::ChangedElsewhere(id) => Job::LookUp(id.clone()),
        _ => return None,
    };
    Some((job, concern.profile?))
}

/// Opens what the row is about, in its profile.
fn go_there(page: &mut AttentionPage, context: &mut Context) {
    let Some(row) = page.selected(context).cloned() else {
        return;
    };
    let Some(profile) = row.profile.map(ProfileIndex) else {
        return;
    };
    match &row.kind {
        // The work that is stopped opens the dialog that asks; switching starts it as well.
        ConcernKind::Alarms(..) | ConcernKind::NewKey(_) if profile == context.current => {
            context.start(Job::OpenRotations);
        }
        ConcernKind::Alarms(..) | ConcernKind::NewKey(_) => {
            context.navigate(Navigation::SwitchTo(profile));
        }
        ConcernKind::Rotation(_, _, id)
        | ConcernKind::Change(_, _, id)
        | ConcernKind::HandOff { id, .. }
        | ConcernKind::Revived(_, id)
        | ConcernKind::UnwrittenToken(_, id)
        | ConcernKind::ChangedElsewhere(id) => {
            open_in(profile, PaneRequest::Group(id.clone()), context);
        }
        ConcernKind::Batch(batch)
        | ConcernKind::NotDone(batch, _)
        | ConcernKind::Unwritten(batch) => {
            let opening = PaneRequest::Batch(batch.id, BatchAim::Look);
            open_in(profile, opening, context);
        }
        ConcernKind::Draft(id, _) => {
            let by = row.by.as_deref().unwrap_or_default();
            open_draft(profile, id, by, context);
        }
        ConcernKind::Over(..) | ConcernKind::Due(..) => {
            let filter = row.kind.filter(limit(profile.0, context));
            context.show_list(profile, &filter.unwrap_or_default());
        }
        ConcernKind::NoProfile(_) => {}
    }
}

/// Opens the form of a draft; in another profile, once its groups and drafts have been read after switching.
fn open_draft(profile: ProfileIndex, id: &UserGroupId, by: &str, context: &mut Context) {
    if profile != context.current {
        context.navigate(Navigation::SwitchTo(profile));
        context.draft_to_open = Some((profile, id.clone(), by.to_owned()));
        return;
    }
    let is_known = context.groups.contains(id);
    if let Some(why) = context.why_incomplete().filter(|_| !is_known) {
        context.say(Severity::Info, format!("Draft of {id} not opened: {why}"));
        return;
    }
    if !context.has_draft(id, by) {
        context.say(Severity::Info, draft_is_gone(id));
    }
    if !GroupForm::open_draft(id, by, context) {
        context.show_list(profile, &quoted(id.as_str()));
    }
}

/// The message for a draft that somebody sent or discarded meanwhile.
pub(crate) fn draft_is_gone(id: &UserGroupId) -> String {
    format!("The draft of {id} no longer exists: it was sent or discarded")
}
