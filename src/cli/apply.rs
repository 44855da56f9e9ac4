//! `apply`: the groups as files want them. First the plan, then the confirmation, then what differs is sent; a second run
//! finds nothing to do. Nothing can delete a group.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use serde_json::json;

use super::{
    args::{Apply, Global},
    ask::{self, Question},
    exit::Exit,
    import::{
        checked::{Checked, line},
        plan,
        send::{self, Job},
    },
    print,
    session::{InFlight, Session},
    signals::Signals,
    stop::Stop,
};
use crate::{
    domain::{exchange::Plan, group::UserGroupId},
    operations::Sending,
};

/// How the names of files in a folder end.
const ENDINGS: [&str; 3] = ["json", "jsonl", "csv"];

pub(super) async fn run(global: &Global, arguments: Apply) -> Result<Exit, Stop> {
    let mut signals = Signals::new()?;
    let session = Session::open(global, InFlight::default())?;
    session.say_where();
    let prepared = tokio::select! {
        biased;
        () = signals.next() => return Err(Stop::Interrupted { in_flight: false }),
        prepared = Box::pin(prepare(&session, &arguments)) => prepared?,
    };
    let (checked, plan) = match prepared {
        Ok(ready) => ready,
        Err(exit) => return Ok(exit),
    };
    let job = Job {
        sending: sending(plan),
        concurrency: arguments.pace.concurrency.into(),
        import: None,
    };
    send::run(&session, &mut signals, &checked, job).await
}

fn sending(plan: Plan) -> Sending {
    Sending {
        create: plan.create > 0,
        // A group that is to be created may turn out to be there.
        update: true,
        only_differences: true,
    }
}

/// Up to the confirmation; the inner `Err` is an end.
async fn prepare(
    session: &Session,
    arguments: &Apply,
) -> Result<Result<(Checked, Plan), Exit>, Stop> {
    let sources = sources(&arguments.path)?;
    let Some(checked) = Checked::of(sources, session.json).await? else {
        return Ok(Err(Exit::Usage));
    };
    let all = Sending {
        create: true,
        update: true,
        only_differences: true,
    };
    let mut ids = HashSet::new();
    let plan = plan::tell(session, &checked, all, |row| {
        if arguments.prune_report {
            ids.insert(row.id.clone());
        }
    })
    .await?;
    if arguments.prune_report {
        prune_report(session, &ids).await?;
    }
    if arguments.mutation.dry_run {
        plan::say_sum(session, &checked, plan)?;
        return Ok(Err(Exit::Done));
    }
    print::context(&format!(
        "create {}, update {}, unchanged {}",
        plan.create, plan.update, plan.unchanged
    ));
    if plan.to_do() > 0 {
        session.operations.sending_permitted(sending(plan))?;
        ask::can_be_asked(session, arguments.mutation.yes)?;
        session.operations.ready().await?;
        let profile = &session.operations.profile().name;
        let words = format!("apply {} in {profile}", plan.to_do());
        let what = "Groups are created and changed; none can be deleted again.";
        ask::confirm(arguments.mutation.yes, what, Question::TypeWords(&words)).await?;
    }
    Ok(Ok((checked, plan)))
}

/// Known groups that the files do not have.
async fn prune_report(session: &Session, ids: &HashSet<UserGroupId>) -> Result<(), Stop> {
    let groups = session.operations.list().await?;
    let others = groups.iter().filter(|group| !ids.contains(&group.id));
    for group in others {
        if session.json {
            line(&json!({"user_group_id": group.id.as_str(), "plan": "not_in_files"}))?;
        } else {
            print::result(&format!("not in the files: {}", group.id))?;
        }
    }
    Ok(())
}

/// The file, or the files of a folder in the order of their names.
fn sources(path: &Path) -> Result<Vec<PathBuf>, Stop> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |error: std::io::Error| Stop::Usage(format!("{}: {error}", path.display()));
    let mut files = Vec::new();
    for entry in path.read_dir().map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let ending = file.extension().and_then(|ending| ending.to_str());
        if file.is_file() && ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(Stop::Usage(format!(
            "{} has no file that ends in .json, .jsonl or .csv; nothing was done",
            path.display()
        )));
    }
    files.sort();
    Ok(files)
}
