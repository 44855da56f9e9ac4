//! `copy`: copies what is known of a group to another profile, by creating the group there or merging it into the
//! existing one.

use std::mem;

use super::{
    create::{create_with, may_create},
    update::{How, lay_over, may_update},
};
use crate::{
    cli::{
        args::{Fields, Mutation, TokenArgs},
        commands::prelude::*,
        input::fields::Edits,
        output::{self, json, proposals, review, token_file},
    },
    domain::{change::DesiredFields, facts::Field, group::UserGroupId},
    operations::UnknownIdPolicy,
};

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
        token_file::prepare(self.token.token_out.as_deref(), false)?;
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
    let Copy {
        id,
        to,
        as_id,
        mutation,
        token,
        ..
    } = arguments;
    let target = session.with_profile(&to)?;
    let other = as_id.unwrap_or_else(|| id.clone());
    let here = &session.operations;
    if other == id && here.place().await? == target.operations.place().await? {
        return Err(CliError::Usage(format!(
            "profile {to} is the same environment as {}; to copy to another ID, use --as-id. Nothing was sent",
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
        replace: Vec::new(),
        if_unchanged: false,
        assurance: UnknownIdPolicy::KnownOnly,
        mutation,
        token,
        undoes: false,
    };
    let known = may_update(&target, &other, &how).await?;
    let edits = Edits::of_fields(wanted);
    lay_over(&target, &other, known.as_ref(), &edits, how).await
}
