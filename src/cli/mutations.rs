//! `create`, `update` and `rotate`: look, show what will happen, ask, send once, say what came of it.

use super::{
    args::{Create, Rotate, TokenArgs, Update},
    ask::{self, Question},
    exit::Exit,
    fields::{Edits, Unknown},
    human, json, print, review,
    session::Session,
    stop::Stop,
    token_out::TokenFile,
};
use crate::{
    api::inspect::Method,
    domain::{
        change::{Change, Wanted},
        group::UserGroupId,
        history::Ending,
        near::near,
        text::oddities,
    },
    operations::{Assurance, Done, Failure},
};

/// How many similar ids are named.
const NEAR: usize = 5;

/// What may be said of an id that the directory does not know.
pub(super) fn assurance(exists: bool) -> Assurance {
    if exists {
        Assurance::Exists
    } else {
        Assurance::KnownOnly
    }
}

pub(super) async fn create(session: &Session, arguments: Create) -> Result<Exit, Stop> {
    let Create {
        id,
        fields,
        mutation,
        token,
    } = arguments;
    session.operations.writable()?;
    if !mutation.dry_run {
        ask::can_be_asked(session, mutation.yes)?;
    }
    session.say_where();
    let edits = Edits::read(fields, Vec::new(), Vec::new()).await?;
    let wanted = edits.apply(&Wanted::default(), Unknown::IsEmpty)?;
    let change = Change::between(&Wanted::default(), &wanted);
    say_what_is_odd(session, &id).await?;
    if mutation.dry_run {
        review::dry_run(session, Method::Get, &id, &wanted, &change)?;
        return Ok(Exit::Done);
    }
    let mut file = token_file(&token)?;
    if !mutation.yes {
        print::say(&review::lines(&change));
    }
    let question = format!("Create \"{id}\"? It cannot be deleted again.");
    ask::confirm(mutation.yes, &question, Question::YesOrNo).await?;
    let created = session
        .in_flight
        .during(Box::pin(session.operations.create(&id, &wanted)))
        .await;
    let done = created.map_err(Stop::of_mutation)?;
    answer(session, &done, false, &token, file.as_mut())
}

/// Hazard 1: an id that was mistyped makes a group for ever.
async fn say_what_is_odd(session: &Session, id: &UserGroupId) -> Result<(), Stop> {
    for oddity in oddities(id.as_str()) {
        print::say(&format!(
            "! character {} of the id: {}",
            oddity.position, oddity.what
        ));
    }
    if session.operations.show(id).await?.is_some() {
        print::say(&format!(
            "! \"{id}\" is known here already; the service returns a group that exists unchanged"
        ));
        return Ok(());
    }
    let groups = session.operations.list().await?;
    let near = near(id.as_str(), groups.iter().map(|group| &group.id), NEAR);
    if !near.is_empty() {
        let near: Vec<_> = near.iter().map(|id| format!("\"{id}\"")).collect();
        print::say(&format!("! known ids like it: {}", near.join(", ")));
    }
    Ok(())
}

pub(super) async fn update(session: &Session, arguments: Update) -> Result<Exit, Stop> {
    let Update {
        id,
        fields,
        unmap,
        remove_property,
        assurance: exists,
        mutation,
        token,
    } = arguments;
    let assurance = assurance(exists.exists);
    session.operations.writable()?;
    session.operations.known(&id, assurance).await?;
    if !mutation.dry_run {
        ask::can_be_asked(session, mutation.yes)?;
    }
    session.say_where();
    let edits = Edits::read(fields, unmap, remove_property).await?;
    let mut file = if mutation.dry_run {
        None
    } else {
        token_file(&token)?
    };
    // A get may create (hazard 1): once begun, it is waited for like a change.
    let read = session
        .in_flight
        .during(read_first(session, &id, assurance))
        .await?;
    let base = Wanted::of(&read.group);
    let wanted = edits.apply(&base, Unknown::IsUnknown)?;
    let change = Change::between(&base, &wanted);
    say_what_is_left_out(&wanted);
    if mutation.dry_run {
        review::dry_run(session, Method::Put, &id, &wanted, &change)?;
        return Ok(Exit::Done);
    }
    if change.is_empty() {
        print::say("nothing is different; no update was sent");
        return answer(session, &read, false, &token, file.as_mut());
    }
    if !mutation.yes {
        human::say_warnings(&read);
        print::say(&review::lines(&change));
    }
    ask::confirm(
        mutation.yes,
        &format!("Update \"{id}\"?"),
        Question::YesOrNo,
    )
    .await?;
    let updated = session
        .in_flight
        .during(Box::pin(
            session.operations.update(&id, &base, &wanted, assurance),
        ))
        .await;
    let mut done = updated.map_err(Stop::of_mutation)?;
    // What the first read noticed was news then; it is still news to whoever asked.
    for warning in read.warnings {
        if !done.warnings.contains(&warning) {
            done.warnings.push(warning);
        }
    }
    answer(session, &done, false, &token, file.as_mut())
}

/// The get before an update (hazard 4). An alarm ends the command: nothing further is sent.
async fn read_first(
    session: &Session,
    id: &UserGroupId,
    assurance: Assurance,
) -> Result<Done, Stop> {
    let read = session.operations.look_up(id, assurance).await?;
    if read.ending == Ending::CreatedByGet {
        return Err(Failure::CreatedByGet { id: id.clone() }.into());
    }
    let tag = read
        .group
        .environment_tag
        .as_ref()
        .map(|known| &known.value);
    match (&session.operations.profile().environment, tag) {
        (Some(expected), Some(got)) if expected != got => Err(Failure::WrongEnvironment {
            id: id.clone(),
            expected: expected.clone(),
            got: got.clone(),
        }
        .into()),
        _ => Ok(read),
    }
}

fn say_what_is_left_out(wanted: &Wanted) {
    if wanted.mapping.is_none() {
        print::say(
            "the mapping is not known here and is left out of the request; the service keeps what it has, as far as is known",
        );
    }
    if wanted.properties.is_none() {
        print::say("the properties are not known here and are left out of the request");
    }
}

pub(super) async fn rotate(session: &Session, arguments: Rotate) -> Result<Exit, Stop> {
    let Rotate {
        id,
        reason,
        assurance: exists,
        mutation,
        token,
    } = arguments;
    let assurance = assurance(exists.exists);
    session.operations.writable()?;
    let known = session.operations.known(&id, assurance).await?;
    let fingerprint = known.and_then(|group| group.fingerprint).map_or_else(
        || "not known here".to_owned(),
        |known| known.value.to_string(),
    );
    if mutation.dry_run {
        session.say_where();
        return dry_rotation(session, &id, &fingerprint);
    }
    ask::can_be_asked(session, mutation.yes)?;
    session.say_where();
    let mut file = token_file(&token)?;
    let question = if session.operations.profile().production {
        Question::TypeId(&id)
    } else {
        Question::YesOrNo
    };
    let what = format!(
        "Rotate the token of \"{id}\" (now {fingerprint})? The old token stops working at once."
    );
    ask::confirm(mutation.yes, &what, question).await?;
    let rotated = session
        .in_flight
        .during(Box::pin(session.operations.rotate(&id, reason, assurance)))
        .await
        .map_err(Stop::from)?;
    // Before the confirming get: whatever happens now, the person has the token. A failure is told below.
    drop(write_token(&rotated, file.as_mut()));
    let done = if rotated.ending == Ending::Rotated {
        session
            .in_flight
            .during(Box::pin(session.operations.confirm(rotated)))
            .await
    } else {
        rotated
    };
    answer(session, &done, true, &token, file.as_mut())
}

fn dry_rotation(session: &Session, id: &UserGroupId, fingerprint: &str) -> Result<Exit, Stop> {
    let url = session.operations.profile().url();
    if session.json {
        print::json(&serde_json::json!({
            "outcome": null,
            "dry_run": true,
            "method": "POST",
            "url": url,
            "user_group_id": id.as_str(),
            "fingerprint": fingerprint,
        }))?;
    } else {
        print::result(&format!(
            "would read \"{id}\", then send one POST {url} with its current token (last seen: {fingerprint})"
        ))?;
    }
    Ok(Exit::Done)
}

/// Makes the file of `--token-out`, before anything is sent.
pub(super) fn token_file(token: &TokenArgs) -> Result<Option<TokenFile>, Stop> {
    token
        .token_out
        .as_deref()
        .map(TokenFile::create)
        .transpose()
}

/// Puts the token where it was asked for, then prints the answer.
pub(super) fn answer(
    session: &Session,
    done: &Done,
    is_rotation: bool,
    token: &TokenArgs,
    file: Option<&mut TokenFile>,
) -> Result<Exit, Stop> {
    let written = write_token(done, file);
    let revealed = done.token.as_ref().filter(|_| token.reveal);
    human::say_warnings(done);
    if session.json {
        print::json(&json::Answered::of(done, is_rotation, revealed))?;
    } else {
        human::answered(done, is_rotation, revealed, session.operations.now())?;
    }
    written?;
    Ok(Exit::of_done(done))
}

fn write_token(done: &Done, file: Option<&mut TokenFile>) -> Result<(), Stop> {
    let (Some(file), Some(token)) = (file, &done.token) else {
        return Ok(());
    };
    file.write(token).map_err(|error| {
        Stop::Usage(format!(
            "{}, but the token cannot be written to {}: {error}; read it again with `groupdesk get {} --token-out FILE`",
            done.ending.as_str(),
            file.path().display(),
            done.group.id
        ))
    })
}
