//! What the rows of a file would change, as far as this desk knows; nothing is sent.

use std::{collections::HashSet, fmt::Write};

use serde_json::json;

use super::checked::{Checked, piece};
use crate::{
    api::inspect::escape_hidden,
    cli::{print, review, session::Session, stop::Stop},
    domain::{
        exchange::{Need, Plan, Planned, Row},
        text::visible,
    },
    operations::{Sending, changes_json, request},
};

/// How many rows are named before a confirmation.
const NAMED: usize = 20;

/// Tells of every row what it needs.
pub(in crate::cli) async fn tell(
    session: &Session,
    checked: &Checked,
    sending: Sending,
) -> Result<Plan, Stop> {
    let mut plan = Plan::default();
    let mut rows = checked.read()?;
    while let Some(next) = rows.recv().await {
        let mut text = String::new();
        for (number, row, planned) in planned(session, piece(next)?).await? {
            plan.count(planned.need);
            let told = if session.json {
                json_line(sending, number, &row, &planned)
            } else {
                lines(sending, &row, &planned)
            };
            text.push_str(&told);
        }
        if !text.is_empty() {
            print::result(&text)?;
        }
    }
    Ok(plan)
}

/// What a person sees before the confirmation: how many rows need what, and the first of them.
pub(super) async fn check_screen(
    session: &Session,
    checked: &Checked,
    sending: Sending,
    done: &[usize],
) -> Result<(), Stop> {
    let done: HashSet<usize> = done.iter().copied().collect();
    let mut plan = Plan::default();
    let mut named = String::new();
    let mut rows = checked.read()?;
    while let Some(next) = rows.recv().await {
        let mut left = piece(next)?;
        left.retain(|(number, _)| !done.contains(number));
        for (_, row, planned) in planned(session, left).await? {
            plan.count(planned.need);
            if plan.all() <= NAMED {
                let word = word(sending, planned.need).replace('_', " ");
                writeln!(named, "  {word} {}", visible(row.id.as_str()))
                    .expect("a String takes it");
            }
        }
    }
    let more = plan.all().saturating_sub(NAMED);
    if more > 0 {
        writeln!(named, "  and {more} more").expect("a String takes it");
    }
    print::context(&format!(
        "{} rows, as far as is known here: {}\n{named}",
        plan.all(),
        in_words(sending, plan)
    ));
    Ok(())
}

/// The sum of it.
pub(in crate::cli) fn say_sum(session: &Session, sending: Sending, plan: Plan) -> Result<(), Stop> {
    if session.json {
        let mut sum = json!({"dry_run": true, "rows": plan.all()});
        for (word, count) in counts(sending, plan) {
            sum[word] = count.into();
        }
        return print::result(&sum.to_string());
    }
    print::result(&format!(
        "{}, as far as is known; nothing was sent",
        in_words(sending, plan)
    ))
}

/// For example `create 3, update 0, unchanged 7`; what was not asked for only where there is some.
pub(in crate::cli) fn in_words(sending: Sending, plan: Plan) -> String {
    let counts = counts(sending, plan).into_iter();
    let is_said = |(word, count): &(&str, usize)| {
        *count > 0
            || *word == "unchanged"
            || *word == "create" && sending.create
            || *word == "update" && sending.update
    };
    let parts: Vec<_> = counts
        .filter(is_said)
        .map(|(word, count)| format!("{} {count}", word.replace('_', " ")))
        .collect();
    parts.join(", ")
}

/// How many rows of each [`word`].
fn counts(sending: Sending, plan: Plan) -> [(&'static str, usize); 5] {
    let asked = |is_asked: bool, count: usize| if is_asked { (count, 0) } else { (0, count) };
    let (create, not_known) = asked(sending.create, plan.create);
    let (update, exists) = asked(sending.update, plan.update);
    [
        ("create", create),
        ("update", update),
        ("unchanged", plan.unchanged),
        ("not_known", not_known),
        ("exists", exists),
    ]
}

async fn planned(
    session: &Session,
    rows: Vec<(usize, Row)>,
) -> Result<impl Iterator<Item = (usize, Row, Planned)>, Stop> {
    let ids = rows.iter().map(|(_, row)| row.id.clone()).collect();
    let known = session.operations.show_some(ids).await?;
    let rows = rows.into_iter().zip(known);
    Ok(rows.map(|((number, row), known)| {
        let planned = Planned::of(&row, known.as_ref());
        (number, row, planned)
    }))
}

fn json_line(sending: Sending, number: usize, row: &Row, planned: &Planned) -> String {
    let word = word(sending, planned.need);
    let is_sent = matches!(word, "create" | "update");
    let line = json!({
        "row": number,
        "user_group_id": row.id.as_str(),
        "plan": word,
        "request": is_sent.then(|| request(&row.id, &planned.wanted)),
        "changes": changes_json(&planned.change),
    });
    escape_hidden(&format!("{line}\n"))
}

fn lines(sending: Sending, row: &Row, planned: &Planned) -> String {
    let mut text = String::new();
    if planned.need == Need::Unchanged {
        return text;
    }
    let word = word(sending, planned.need);
    writeln!(text, "{word} {}", visible(row.id.as_str())).expect("a String takes it");
    let is_creation = planned.need == Need::Create;
    for line in review::lines(&planned.change, is_creation).lines() {
        writeln!(text, "  {line}").expect("a String takes it");
    }
    text
}

/// What would be done, where not all of it was asked for.
fn word(sending: Sending, need: Need) -> &'static str {
    match need {
        Need::Create if !sending.create => "not_known",
        Need::Update if !sending.update => "exists",
        need => need.as_str(),
    }
}
