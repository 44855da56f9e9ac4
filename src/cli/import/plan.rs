//! What the rows of a file would change, as far as this desk knows; nothing is sent.

use std::{collections::HashMap, fmt::Write};

use serde_json::json;

use super::checked::{Checked, line, piece};
use crate::{
    cli::{print, review, session::Session, stop::Stop},
    domain::{
        exchange::{Need, Plan, Planned, Row},
        group::UserGroupId,
        known::KnownGroup,
        text::visible,
    },
    operations::{Sending, changes_json, request},
};

/// Tells of every row what it needs; `seen` gets each of them.
pub(in crate::cli) async fn tell(
    session: &Session,
    checked: &Checked,
    sending: Sending,
    mut seen: impl FnMut(&Row),
) -> Result<Plan, Stop> {
    let groups = session.operations.list().await?.into_iter();
    let known: HashMap<UserGroupId, KnownGroup> =
        groups.map(|group| (group.id.clone(), group)).collect();
    let mut rows = checked.read()?;
    let mut plan = Plan::default();
    while let Some(next) = rows.recv().await {
        let mut text = String::new();
        for (number, row) in piece(next)? {
            let planned = Planned::of(&row, known.get(&row.id));
            plan.count(planned.need);
            seen(&row);
            let word = word(sending, planned.need);
            if session.json {
                line(&json!({
                    "row": number,
                    "user_group_id": row.id.as_str(),
                    "plan": word,
                    "request": (planned.need != Need::Unchanged).then(|| request(&row.id, &planned.wanted)),
                    "changes": changes_json(&planned.change),
                }))?;
            } else if planned.need != Need::Unchanged {
                writeln!(text, "{word} {}", visible(row.id.as_str())).expect("a String takes it");
                let is_creation = planned.need == Need::Create;
                for line in review::lines(&planned.change, is_creation).lines() {
                    writeln!(text, "  {line}").expect("a String takes it");
                }
            }
        }
        if !text.is_empty() {
            print::result(&text)?;
        }
    }
    Ok(plan)
}

/// The sum of it.
pub(in crate::cli) fn say_sum(
    session: &Session,
    checked: &Checked,
    plan: Plan,
) -> Result<(), Stop> {
    let Plan {
        create,
        update,
        unchanged,
    } = plan;
    if session.json {
        return line(&json!({
            "dry_run": true,
            "rows": checked.rows,
            "create": create,
            "update": update,
            "unchanged": unchanged,
        }));
    }
    print::result(&format!(
        "create {create}, update {update}, unchanged {unchanged}, as far as is known; nothing was sent"
    ))
}

/// What would be done, where not all of it was asked for.
fn word(sending: Sending, need: Need) -> &'static str {
    match need {
        Need::Create if !sending.create => "not_known",
        Need::Update if !sending.update => "exists",
        need => need.as_str(),
    }
}
