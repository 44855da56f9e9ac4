//! `copy`: copies what is known of a group to another profile, by creating the group there or merging it into the
//! existing one.

use super::{
    create::{create_with, may_create},
    update::{How, lay_over, may_update},
};
use crate::{
    cli::{
        args::Copy,
        error::CliError,
        input::fields::Edits,
        output::{self, proposals},
        process::exit::Exit,
        session::Session,
    },
    domain::{change::DesiredFields, facts::Field},
    operations::UnknownIdPolicy,
};

pub(crate) async fn copy(session: &Session, arguments: Copy) -> Result<Exit, CliError> {
    let Copy {
        id,
        to,
        as_id,
        fields,
        unmap,
        remove_property,
        mutation,
        token,
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
    let known = DesiredFields::of(&session.known_here(&id).await?);
    let edits = Edits::read(fields, unmap, remove_property).await?;
    let wanted = edits.apply(&known)?;
    for (field, is_known) in [
        (Field::Mapping, wanted.mapping.is_some()),
        (Field::Properties, wanted.properties.is_some()),
    ] {
        if !is_known {
            let name = field.as_str();
            output::context(&format!("! {name} of \"{id}\" unknown here; not copied"));
        }
    }
    proposals::select_profile(&to);
    output::context(&format!("from {} \"{id}\"", here.profile().name));
    if target.operations.show(&other).await?.is_none() {
        may_create(&target, &mutation)?;
        return create_with(&target, other, wanted, mutation, token).await;
    }
    let how = How {
        replace: Vec::new(),
        if_unchanged: false,
        assurance: UnknownIdPolicy::KnownOnly,
        mutation,
        token,
    };
    let known = may_update(&target, &other, &how).await?;
    let edits = Edits::of_fields(wanted);
    lay_over(&target, &other, known.as_ref(), &edits, how).await
}
