//! `create`: checks for an odd id, shows what will be sent, and sends a get-or-create with it. `copy`: copies what is known of
//! a group to another profile, by creating the group there or merging it into the existing one.

use std::mem;

use super::{
    answer,
    mistyped::say_what_is_odd,
    token_file,
    update::{How, lay_over},
};
use crate::{
    api::failure::Call,
    cli::{
        args::Fields,
        commands::prelude::*,
        input::fields::{Edits, say_cells},
    },
    operations::PlaceId,
};

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
        token_file::prepare_for(&token)?;
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
    say_cells(&nothing, &wanted);
    say_what_is_odd(session, &id).await?;
    if mutation.dry_run {
        let would = session.operations.would_create(&id, &wanted).await;
        would.map_err(|failure| failure.of_change(&id, "created"))?;
        session.say_elsewhere().await?;
        return review::dry_run(
            session,
            Call::Create,
            &id,
            (&wanted, &change),
            mutation.curl,
        );
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
    let creating = Box::pin(session.operations.create(&id, &wanted));
    let created = session.in_flight.during(creating).await;
    let done = created.map_err(|failure| failure.of_change(&id, "created"))?;
    answer(session, &done, None, &token, file.as_mut()).await
}

/// Copy a group to another profile: create it there, or update it
#[derive(Debug, Args)]
#[command(
    after_help = "Copies name, mapping and properties from the directory; to refresh them, run `groupdesk get ID` first. Token, \
        note and labels are not copied. \
        Options such as --map and --property override the copied values."
)]
pub(crate) struct Copy {
    /// The group
    id: UserGroupId,
    /// Profile to copy the group to
    #[arg(long, value_name = "PROFILE")]
    to: String,
    /// ID of the copy [default: the same ID]
    #[arg(long, value_name = "ID")]
    as_id: Option<UserGroupId>,
    #[command(flatten)]
    fields: Fields,
    /// Skip this mapping row
    #[arg(long, value_name = "SCHEMA")]
    unmap: Vec<String>,
    /// Skip this property
    #[arg(long, value_name = "KEY")]
    remove_property: Vec<String>,
    #[command(flatten)]
    mutation: Mutation,
    #[command(flatten)]
    token: TokenArgs,
}

impl Run for Copy {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("copy", &[
            "groupdesk copy acme-eu --to eu-live --map 40=213 -P testing --dry-run",
            "groupdesk copy acme-eu --to eu-live --unmap 7 --yes --json",
        ], &[one("ID --to PROFILE", &[&json::ANSWER]), one("ID --to PROFILE --dry-run", &[&review::REQUEST])]),
    ];

    async fn run(mut self, global: &Global) -> Result<Exit, CliError> {
        token_file::prepare_for(&self.token)?;
        let fields = mem::take(&mut self.fields);
        let [unmap, remove] = [&mut self.unmap, &mut self.remove_property].map(mem::take);
        let edits = Edits::read(fields, unmap, remove);
        in_session_with(global, edits, async |session, edits| {
            copy(session, self, edits).await
        })
        .await
    }
}

async fn copy(session: &Session, arguments: Copy, edits: Edits) -> Result<Exit, CliError> {
    let (id, to, mutation, token) = (
        arguments.id,
        arguments.to,
        arguments.mutation,
        arguments.token,
    );
    let target = session.with_profile(&to)?;
    let other = arguments.as_id.unwrap_or_else(|| id.clone());
    let here = &session.operations;
    let place = here.place().await?;
    // Two that are not bound yet are not thereby the same.
    if other == id && place != PlaceId::NONE && place == target.operations.place().await? {
        return Err(CliError::Usage(format!(
            "profile {to} is the same environment as {}; nothing was sent. To copy to another ID, use --as-id",
            here.profile().name
        )));
    }
    let known = DesiredFields::of(&session.known_here(&id, "nothing was sent").await?);
    let wanted = edits.apply(&known)?;
    for field in [Field::Mapping, Field::Properties] {
        if !wanted.has(field) {
            let (name, is) = (field.as_str(), field.is());
            output::context(&format!("! {name} of \"{id}\" {is} unknown; not copied"));
        }
    }
    proposals::select_profile(&to);
    output::context(&format!("from {} \"{id}\"", here.profile().name));
    if target.operations.show(&other).await?.is_none() {
        may_create(&target, &other, &mutation).await?;
        return create_with(&target, other, wanted, mutation, token).await;
    }
    let how = How {
        token,
        ..How::of(mutation)
    };
    lay_over(&target, &other, &Edits::of_fields(wanted), how).await
}
