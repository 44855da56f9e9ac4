//! `rotations`: what was rotated and what is still open; settling by reads, and abandoning. It rotates nothing.

use std::slice;

use super::{
    handoff::{self, HandOff, rotation_number},
    prelude::*,
    run::{RunReport, Summary, follow},
};
use crate::{
    cli::{input::selection, output::form},
    domain::{
        batch::Halt,
        history::Ending,
        rotation::{Event, State},
    },
    operations::{
        CheckCounts, CheckSum, Checked, Checking, DirectoryError, Mutation, MutationId, Recovered,
        RotationId,
    },
};

/// List this profile's rotations, newest first; check, abandon or hand off one
#[derive(Debug, Args)]
pub(crate) struct Rotations {
    /// Show only open rotations
    #[arg(long)]
    open: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read the groups of open rotations to find out how they ended; never rotates
    #[command(
        after_help = "Exit codes: 0 all resolved, 7 some results are still unknown or in conflict. A rotation that a \
                      colleague is still running counts only if you pass its number.",
        alias = "settle"
    )]
    #[command(name = "check")]
    Settle {
        /// Numbers of rotations [default: all open ones]
        #[arg(value_name = "NUMBER", value_parser = rotation_number)]
        ids: Vec<i64>,
    },
    /// Close a rotation, open or in conflict; its token can then be rotated again
    Abandon {
        /// Number of the rotation, or m and a number, as history --open lists creates and updates
        #[arg(value_name = "NUMBER", value_parser = abandoned)]
        id: Abandoned,
        /// Reason to record in the history
        #[arg(long)]
        reason: String,
        /// Skip the confirmation prompt
        #[arg(long, short = 'y')]
        yes: bool,
    },
    #[command(name = "handoff")]
    HandOff(HandOff),
}

/// Rotation or change to abandon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Abandoned {
    Rotation(i64),
    /// A create or an update.
    Change(i64),
}

fn abandoned(text: &str) -> Result<Abandoned, &'static str> {
    let number = |digits: &str| digits.parse().ok().filter(|number| *number > 0);
    let change = text
        .strip_prefix('m')
        .and_then(number)
        .map(Abandoned::Change);
    let found = change.or_else(|| number(text).map(Abandoned::Rotation));
    found.ok_or("expected the number of a rotation, or m and the number of a change, such as m7")
}

impl Run for Rotations {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("rotations", &[
            "groupdesk rotations --open",
            r#"groupdesk rotations --json | jq '.[] | select(.state == "unknown")'"#,
            "groupdesk rotations check",
        ], &[array("", &[&json::ROTATION])]),
        page("rotations check", &["groupdesk rotations check", "groupdesk rotations check 12 13"], &[array("[NUMBER]", &[&json::SETTLED, &json::CHANGE])]),
        page("rotations abandon", &[
            "groupdesk rotations abandon 12 --reason 'the customer left'",
            "groupdesk rotations abandon 12 --reason 'confirmed by phone' --yes --json",
        ], &[one("NUMBER", &[&json::ROTATION, &json::CHANGE])]),
        page("rotations handoff", &[
            "groupdesk rotations handoff",
            "groupdesk rotations handoff --failed --json",
            "groupdesk rotations handoff 17",
        ], &[array("[NUMBER]", &[&handoff::DELIVERY])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let only_open = self.open;
        match self.command {
            Some(Command::Settle { ids }) => settle(global, &ids).await,
            None => in_session(global, async |session| list(session, only_open).await).await,
            Some(Command::HandOff(which)) => {
                in_session(global, async |session| handoff::run(session, which).await).await
            }
            Some(Command::Abandon { id, reason, yes }) => {
                in_session(global, async |session| match id {
                    Abandoned::Rotation(id) => abandon(session, RotationId(id), &reason, yes).await,
                    Abandoned::Change(id) => {
                        abandon_change(session, MutationId(id), &reason, yes).await
                    }
                })
                .await
            }
        }
    }
}

async fn list(session: &Session, only_open: bool) -> Result<Exit, CliError> {
    let rows = if only_open {
        let mut rows = session.operations.open_rotations().await?;
        rows.extend(session.operations.conflicts().await?);
        rows
    } else {
        session.operations.rotations().await?
    };
    let none = if only_open {
        "no open rotations"
    } else {
        "nothing has been rotated yet"
    };
    let text = |now| human::rotations(&rows, now);
    session.list(&rows, json::rotation, none, text).await
}

/// A signal stops the check; reads in flight are finished and recorded.
async fn settle(global: &Global, ids: &[i64]) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let session = signals.unless_signalled(Session::open(global)).await?;
    let ended = check(&session, &mut signals, ids).await;
    session.explained(ended).await
}

async fn check(session: &Session, signals: &mut Signals, ids: &[i64]) -> Result<Exit, CliError> {
    let operations = &session.operations;
    let prepared = async {
        session.say_other_places().await?;
        operations.bound().await?;
        let rows = selection::rotations(session, ids).await?;
        let which: Vec<_> = rows.iter().map(|row| row.id).collect();
        let settled = rows.into_iter();
        let settled = settled.filter(|row| !row.rotation.state.is_open());
        let mut settled: Vec<_> = settled.map(Recovered::Settled).collect();
        if ids.is_empty() {
            let conflicts = operations.conflicts().await?.into_iter();
            settled.extend(conflicts.map(Recovered::Settled));
        }
        let open = operations.open_changes().await?;
        Ok((settled, open, operations.run_check(&which).await?))
    };
    let (mut rotations, open, run) = signals.unless_signalled(prepared).await?;
    for one in &rotations {
        if one.row().rotation.state == State::Conflict {
            output::alarm(&line(one));
        }
    }
    let mut changes = Ok(Vec::new());
    let report = Report {
        ids,
        rotations: &mut rotations,
        changes: &mut changes,
    };
    let exit = follow(session, signals, run, report).await?;
    let place = operations.bound_place_name();
    // The rest is said, also if this cannot be read.
    let ended = operations.ended_since(&open).await.unwrap_or_default();
    if session.json {
        let mut found: Vec<_> = rotations
            .iter()
            .map(|one| json::recovered(one, place.as_deref()))
            .collect();
        // A table has the columns of its first line, and a name does not tell what it is of.
        if !matches!(form::chosen(), Some(Form::Csv | Form::Name)) {
            let left = changes.iter().flatten();
            let all = ended.iter().chain(left);
            found.extend(all.map(|change| json::change(change, place.as_deref())));
        }
        output::json(&found)?;
    } else if rotations.is_empty() {
        output::say("no open rotations");
    } else {
        let rows = rotations.iter().map(Recovered::row);
        output::result(&human::rotations(rows, operations.now()))?;
    }
    for change in ended {
        let ending = change.ending.map_or("ended", Ending::as_str);
        output::say(&format!(
            "{} m{} of \"{}\" by {}: {}",
            change.operation.as_str(),
            change.id.0,
            change.user_group_id,
            visible(&change.by),
            human::word(ending)
        ));
    }
    // What was found out is printed, whatever becomes of the rest.
    let (of_colleagues, changes): (Vec<_>, Vec<_>) = changes?
        .into_iter()
        .partition(|change| operations.is_change_of_colleague(change));
    for change in &of_colleagues {
        output::say(&format!(
            "{} m{} of \"{}\" by {} is in progress",
            change.operation.as_str(),
            change.id.0,
            change.user_group_id,
            visible(&change.by)
        ));
    }
    // As long as an alarm stands, nothing can be read.
    let blocked = match operations.ready().await {
        Err(Failure::Place(problem @ crate::operations::PlaceProblem::Alarmed { .. })) => {
            Some(problem)
        }
        _ => None,
    };
    for change in &changes {
        let why = match &blocked {
            Some(problem) => format!("it could not be checked: {problem}"),
            None => format!(
                "no response shows whether it took effect; {}",
                operations.next_step(change)
            ),
        };
        output::alarm(&format!(
            "the result of {} m{} of \"{}\" is still unknown: {why}",
            change.operation.as_str(),
            change.id.0,
            change.user_group_id,
        ));
    }
    if exit != Exit::Done {
        return Ok(exit);
    }
    if operations.has_open_elsewhere().await? || !changes.is_empty() {
        return Ok(Exit::Unknown);
    }
    if ids.is_empty() {
        rotations.retain(|one| !operations.is_rotation_of_colleague(one.row()));
    }
    Ok(Exit::from_recovered(&rotations))
}

/// A line for each rotation as soon as its group was read, and what was found.
struct Report<'f> {
    /// The numbers that were given.
    ids: &'f [i64],
    rotations: &'f mut Vec<Recovered>,
    /// Creates and updates that are still open.
    changes: &'f mut Result<Vec<Mutation>, DirectoryError>,
}

impl RunReport for Report<'_> {
    type Of = Checking;

    fn ended(
        &mut self,
        session: &Session,
        progress: &Progress,
        checked: &Checked,
    ) -> Option<CheckCounts> {
        let is_open = |one: &Recovered| matches!(one, Recovered::Open(_));
        if !checked.rotations.iter().all(is_open) {
            output::note_change();
        }
        for one in &checked.rotations {
            let is_of_colleague = || session.operations.is_rotation_of_colleague(one.row());
            let is_clear = self.ids.is_empty() && is_of_colleague()
                || Exit::from_recovered(slice::from_ref(one)) == Exit::Done;
            if is_clear {
                progress.say(line(one));
            } else {
                progress.alarm(line(one));
            }
        }
        if let Some(why) = &checked.why {
            progress.alarm(why.clone());
        }
        self.rotations.extend(checked.rotations.iter().cloned());
        Some(checked.counts)
    }

    fn again(&self) -> Option<String> {
        let ids = joined(self.ids.iter().map(i64::to_string), " ");
        let command = format!("groupdesk rotations check {ids}");
        Some(command.trim_end().to_owned())
    }

    async fn summary(self, _session: &Session, sum: CheckSum) -> Summary {
        let alarms = sum.left.iter().map(line).collect();
        self.rotations.extend(sum.left);
        *self.changes = sum.changes;
        let is_asked = matches!(sum.halt, Some(Halt::Asked(_)));
        let exit = if is_asked {
            Exit::Interrupted
        } else {
            Exit::Done
        };
        Summary {
            alarms,
            is_left: sum.halt.is_some(),
            ..Summary::of(exit)
        }
    }
}

async fn abandon_change(
    session: &Session,
    id: MutationId,
    reason: &str,
    yes: bool,
) -> Result<Exit, CliError> {
    let review = Review::new(session, yes).permitted(Guarded::Abandon)?;
    session.operations.open_change(id).await?;
    let what = format!("Close m{}? Whether it took effect stays unknown.", id.0);
    review.ask(&what, Question::YesOrNo).await?;
    let change = session.operations.abandon_change(id, reason).await?;
    output::note_change();
    let place = session.operations.bound_place_name();
    let value = || json::change(&change, place.as_deref());
    let text = || human::changes(slice::from_ref(&change), session.operations.now());
    output::either(session.json, value, text)
}

fn line(recovered: &Recovered) -> String {
    let row = recovered.row();
    let (id, number) = (&row.user_group_id, row.id.0);
    let state = human::word(row.rotation.state.as_str());
    match recovered {
        Recovered::Settled(row) => {
            let next = match row.rotation.state {
                State::NotApplied => {
                    "; the old token is current. It is safe to rotate again".to_owned()
                }
                State::Recovered => {
                    format!(
                        "; a new token is current. To read it: {}",
                        id.command("get", "")
                    )
                }
                State::Conflict => format!(
                    "; the responses contradict each other: investigate, then close it: groupdesk rotations abandon {number} \
                     --reason WHY"
                ),
                _ => String::new(),
            };
            format!("rotation {number} of \"{id}\": {state}{next}")
        }
        Recovered::Alarmed(_, alarm) => format!("rotation {number} of \"{id}\": {state}; {alarm}"),
        Recovered::Open(open) => {
            let again = open
                .again_in
                .map_or_else(String::new, |wait| match wait.as_secs() + 1 {
                    seconds @ ..120 => format!("; check again in {seconds} s"),
                    seconds => format!("; check again in {} min", seconds.div_ceil(60)),
                });
            format!(
                "rotation {number} of \"{id}\" is still {state}: {}{again}",
                open.why
            )
        }
    }
}

async fn abandon(
    session: &Session,
    id: RotationId,
    reason: &str,
    yes: bool,
) -> Result<Exit, CliError> {
    let review = Review::new(session, yes).permitted(Guarded::Abandon)?;
    let row = session.operations.rotation(id).await?;
    if row.rotation.step(Event::Abandon, Duration::ZERO).is_ok() {
        let what = format!(
            "Abandon rotation {} of \"{}\" ({})? Its result stays unknown, and its token can be rotated again.",
            id.0,
            row.user_group_id,
            human::word(row.rotation.state.as_str())
        );
        review.ask(&what, Question::YesOrNo).await?;
    }
    let row = session.operations.abandon(id, reason).await?;
    output::note_change();
    let place = session.operations.bound_place_name();
    let value = || json::rotation(&row, place.as_deref());
    let text = || human::rotations([&row], session.operations.now());
    output::either(session.json, value, text)
}
