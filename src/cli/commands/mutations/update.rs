//! `update`: reads the group, lays the edits over it, and sends what may be sent (hazard 4 of docs/design/service.md).

use super::{answer, assurance, reading, token_file};
use crate::{
    api::inspect::Method,
    cli::{
        args::Update,
        error::CliError,
        input::{
            confirm::{self, Asking},
            fields::Edits,
        },
        output::{self, human, review},
        process::exit::Exit,
        session::Session,
    },
    config::guard::Level,
    domain::{
        change::{Change, DesiredFields},
        facts::Field,
        group::UserGroupId,
        history::Ending,
        update::Edit,
    },
    operations::{Done, Failure, Guarded, UnknownIdPolicy, Warning, sendable},
};

pub(crate) async fn update(session: &Session, arguments: Update) -> Result<Exit, CliError> {
    let Update {
        id,
        fields,
        unmap,
        remove_property,
        apply,
        replace_mapping,
        replace_properties,
        if_unchanged,
        assurance: exists,
        mutation,
        token,
    } = arguments;
    let assurance = assurance(exists.exists);
    session.operations.permitted(Guarded::Update)?;
    let known = session.operations.known(&id, assurance).await?;
    if known.is_none() && mutation.dry_run {
        return Err(CliError::Guarded(format!(
            "\"{id}\" is not known here, and reading it could create it: a dry run sends nothing. Leave --dry-run out, or name a known id"
        )));
    }
    if !mutation.dry_run {
        confirm::can_be_asked(session, mutation.yes)?;
    }
    session.say_where();
    let edits = match apply {
        Some(file) => Edits::of_file(file, id.clone()).await?,
        None => Edits::read(fields, unmap, remove_property).await?,
    };
    let mut file = if mutation.dry_run {
        None
    } else {
        token_file(&token)?
    };
    let first = read_first(session, &id, assurance, if_unchanged);
    let read = reading(session, known.as_ref(), first).await?;
    // What was relied on is withdrawn: the person looks first.
    if read.warnings.iter().any(Warning::is_of_facts) {
        return answer(session, &read, None, &token, file.as_mut());
    }
    let base = DesiredFields::of(&read.group);
    let replace = [
        (replace_mapping, Field::Mapping),
        (replace_properties, Field::Properties),
    ];
    let replace = replace.into_iter().filter(|(said, _)| *said);
    let edit = Edit {
        wanted: edits.apply(&base)?,
        base,
        whole: edits.whole(),
        replace: replace.map(|(_, field)| field).collect(),
        travels: false,
    };
    if edit.fields().is_empty() {
        if mutation.dry_run {
            let nothing = Change::between(&edit.base, &edit.base);
            review::dry_run(
                session,
                Method::Put,
                &id,
                &DesiredFields::default(),
                &nothing,
            )?;
            return Ok(Exit::Done);
        }
        output::say("nothing is different; no update was sent");
        return answer(session, &read, None, &token, file.as_mut());
    }
    // What cannot be sent so is said before anybody is asked.
    let plan = read.plan(&edit);
    sendable(&id, &plan, &read)?;
    let change = Change::between(&edit.base, &plan.send);
    let beside = review::beside(&plan, &read, session.operations.now());
    if !beside.is_empty() {
        output::context(&beside);
    }
    if mutation.dry_run {
        review::dry_run(session, Method::Put, &id, &plan.send, &change)?;
        return Ok(Exit::Done);
    }
    if !mutation.yes {
        human::say_warnings(&read);
        output::context(&review::lines(&change, false));
    }
    let asking = Asking::about(session, Guarded::Update, &id, Level::Key);
    let question = format!("Update \"{id}\"?");
    confirm::confirm(mutation.yes, &question, asking.question(&id)).await?;
    let updated = session
        .in_flight
        .during(Box::pin(
            session.operations.update_edit(&id, &edit, assurance),
        ))
        .await;
    let mut done = updated.map_err(CliError::of_mutation)?;
    // What the first read noticed was news then; it is still news to whoever asked.
    for warning in read.warnings {
        if !done.warnings.contains(&warning) {
            done.warnings.push(warning);
        }
    }
    answer(session, &done, None, &token, file.as_mut())
}

/// The get before an update (hazard 4). An alarm ends the command: nothing further is sent.
async fn read_first(
    session: &Session,
    id: &UserGroupId,
    assurance: UnknownIdPolicy,
    if_unchanged: bool,
) -> Result<Done, CliError> {
    let read = if if_unchanged {
        Box::pin(session.operations.look_up_unchanged(id)).await?
    } else {
        Box::pin(session.operations.look_up(id, assurance)).await?
    };
    if read.ending == Ending::CreatedByGet {
        return Err(Failure::CreatedByGet { id: id.clone() }.into());
    }
    Ok(read)
}
