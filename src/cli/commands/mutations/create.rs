//! `create`: checks for an odd id, shows what will be sent, and sends a get-or-create with it.

use super::{answer, token_file};
use crate::{
    api::inspect::Method,
    cli::{
        args::{Fields, Mutation, TokenArgs},
        commands::prelude::*,
        input::{confirm::Review, fields::Edits},
        output::{self, json, review, token_file},
    },
    config::guard::Weight,
    domain::{
        change::{Change, DesiredFields},
        group::UserGroupId,
        text::oddities,
    },
    operations::Guarded,
    search::suggest::similar,
};

/// How many similar ids are named.
const NEAR: usize = 5;

/// Create a group; if it exists, return it unchanged
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// ID of the group; it cannot be changed or deleted later
    id: UserGroupId,
    #[command(flatten)]
    fields: Fields,
    #[command(flatten)]
    mutation: Mutation,
    #[command(flatten)]
    token: TokenArgs,
}

impl Run for Create {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("create", &[
            r#"groupdesk create acme-eu --name 'Acme Europe' --map 40=213 --property 'tier="gold"'"#,
            "groupdesk create acme-eu --mapping mapping.json --properties - --dry-run < properties.json",
        ], &[one("ID", &[&json::ANSWER]), one("ID --dry-run", &[&review::REQUEST])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let Self {
            id,
            fields,
            mutation,
            token,
        } = self;
        token_file::prepare(token.token_out.as_deref(), false)?;
        let wanted = async {
            let edits = Edits::read(fields, Vec::new(), Vec::new()).await?;
            edits.apply(&DesiredFields::default())
        };
        in_session_with(global, wanted, async |session, wanted| {
            may_create(session, &id, &mutation).await?;
            create_with(session, id, wanted, mutation, token).await
        })
        .await
    }
}

/// Refuses what cannot be created, confirmed or sent, before anything is sent.
pub(super) async fn may_create(
    session: &Session,
    id: &UserGroupId,
    mutation: &Mutation,
) -> Result<(), CliError> {
    session.operations.no_mistake_as_id(id).await?;
    Review::of(session, Guarded::Create, mutation)?.begin()
}

/// Shows what would be sent, asks, and sends it.
pub(super) async fn create_with(
    session: &Session,
    id: UserGroupId,
    wanted: DesiredFields,
    mutation: Mutation,
    token: TokenArgs,
) -> Result<Exit, CliError> {
    let change = Change::between(&DesiredFields::default(), &wanted);
    let nothing = DesiredFields::default();
    session.operations.no_secret_in(&nothing, &wanted).await?;
    say_what_is_odd(session, &id).await?;
    if mutation.dry_run {
        session.say_elsewhere().await?;
        review::dry_run(session, Method::Get, &id, (&wanted, &change), mutation.curl)?;
        return Ok(Exit::Done);
    }
    let mut file = token_file(&token)?;
    if !mutation.yes {
        output::context(&review::lines(&change, true));
    }
    let question = format!("Create \"{id}\"? It cannot be deleted.");
    let review = Review::of(session, Guarded::Create, &mutation)?;
    let about = (Guarded::Create, &id);
    review
        .ask_about(about, Weight::default(), &question)
        .await?;
    let created = session
        .in_flight
        .during(Box::pin(session.operations.create(&id, &wanted)))
        .await;
    let done = created.map_err(|failure| failure.of_change(&id, "created"))?;
    answer(session, &done, None, &token, file.as_mut())
}

/// Warns about an unusual id: hazard 1, a mistyped id creates a permanent group.
async fn say_what_is_odd(session: &Session, id: &UserGroupId) -> Result<(), CliError> {
    for oddity in oddities(id.as_str()) {
        output::context(&format!(
            "! character {} of the id: {}",
            oddity.position, oddity.what
        ));
    }
    if session.operations.show(id).await?.is_some() {
        output::context(&format!(
            "! \"{id}\" is already in the directory; the service returns an existing group unchanged"
        ));
        return Ok(());
    }
    let known = session.operations.known_ids().await?;
    let near = similar(id.as_str(), &known, NEAR);
    if !near.is_empty() {
        let near: Vec<_> = near.iter().map(|id| format!("\"{id}\"")).collect();
        output::context(&format!("! similar known IDs: {}", near.join(", ")));
    }
    Ok(())
}
