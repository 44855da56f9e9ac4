//! Ids that look mistyped: hazard 1 of docs/design/service.md, a get-or-create of one creates a permanent group.

use crate::{
    cli::{commands::prelude::*, input::selection::alike},
    domain::{pasted::odd_digits, spreadsheet, text::oddities},
};

/// How many similar ids are named.
const NEAR: usize = 5;

/// Warns about an unusual id: hazard 1, a mistyped id creates a permanent group.
pub(super) async fn say_what_is_odd(session: &Session, id: &UserGroupId) -> Result<(), CliError> {
    if session.operations.show(id).await?.is_none() {
        looks_mistyped(session, id).await?;
        return Ok(());
    }
    say_oddities(id);
    output::context(&format!(
        "! \"{id}\" is already in the directory; the service returns an existing group unchanged"
    ));
    Ok(())
}

/// Says which characters of an id are unusual; returns whether any is.
fn say_oddities(id: &UserGroupId) -> bool {
    let odd = oddities(id.as_str());
    for oddity in &odd {
        output::context(&format!(
            "! character {} of the ID: {}",
            oddity.position, oddity.what
        ));
    }
    !odd.is_empty()
}

/// Says what is unusual about an id and which known ones are similar; returns whether there is anything.
async fn looks_mistyped(session: &Session, id: &UserGroupId) -> Result<bool, CliError> {
    let changed = spreadsheet::changed("ID", id.as_str());
    if let Some(what) = changed {
        output::context(&format!("! the ID \"{id}\" is {what}"));
    }
    // What people write elsewhere, too, is no reason to ask.
    let is_odd = say_oddities(id) || spreadsheet::broken(id.as_str()).is_some();
    let known = session.operations.known_ids().await?;
    if let Some(what) = odd_digits(id.as_str(), known.iter().map(UserGroupId::as_str)) {
        output::context(&format!("! {what}"));
    }
    let near = alike(id, &known, NEAR);
    if let Some(near) = &near {
        output::context(&format!("! similar known IDs: {near}"));
    }
    Ok(is_odd || near.is_some())
}

/// What is asked besides before a read of this id: `--exists` vouches for it, but if it was never seen and looks mistyped, the
/// read may create a group. `None`: nothing.
pub(super) async fn may_be_mistyped(
    session: &Session,
    id: &UserGroupId,
    known: Option<&KnownGroup>,
) -> Result<Option<&'static str>, CliError> {
    let is_seen = known.is_some_and(KnownGroup::is_seen);
    let is_odd = !is_seen && looks_mistyped(session, id).await?;
    Ok(is_odd
        .then_some("If the group does not exist, reading it creates it. Groups cannot be deleted."))
}

/// Asks before such a read.
pub(crate) async fn ask_before_reading(
    session: &Session,
    id: &UserGroupId,
    known: Option<&KnownGroup>,
    yes: bool,
) -> Result<(), CliError> {
    let Some(consequence) = may_be_mistyped(session, id, known).await? else {
        return Ok(());
    };
    let about = (Guarded::Create, id);
    let review = Review::new(session, yes).permitted(Guarded::Create)?;
    let question = format!("Read \"{id}\"? {consequence}");
    review.ask_about(about, Weight::default(), &question).await
}
