//! Commands that messages propose act on the profile, the configuration and the directory of this command.

use std::{
    borrow::Cow,
    sync::{PoisonError, RwLock},
};

use crate::domain::{
    group::UserGroupId,
    proposal::{Selection, quoted},
};

/// What is selected, with the profile that this command works with.
static SELECTED: RwLock<Option<(Selection, Option<String>)>> = RwLock::new(None);

/// Later proposals act on this profile.
pub(crate) fn select(selection: Selection, profile: Option<String>) {
    let mut selected = SELECTED.write().unwrap_or_else(PoisonError::into_inner);
    *selected = Some((selection, profile));
}

/// Later proposals act on this profile, of the same configuration.
pub(crate) fn select_profile(name: &str) {
    let mut selected = SELECTED.write().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, profile)) = &mut *selected {
        *profile = Some(name.to_owned());
    }
}

/// The text with complete commands.
pub(crate) fn complete(text: &str) -> Cow<'_, str> {
    complete_for(text, None)
}

/// The command that reads these groups; of many only the first.
pub(crate) fn to_read<'g>(groups: impl Iterator<Item = &'g UserGroupId>) -> String {
    let groups: Vec<_> = groups.collect();
    let named = &groups[..groups.len().min(20)];
    let which = match groups.len() - named.len() {
        0 => String::new(),
        more => format!(" ({more} more)"),
    };
    // An ID that begins with a dash is no option.
    let is_dashed = |id: &&UserGroupId| id.command("get", "").contains(" -- ");
    let dashes = if named.iter().any(is_dashed) {
        "-- "
    } else {
        ""
    };
    let ids: Vec<_> = named.iter().map(|id| quoted(id.as_str())).collect();
    format!(
        "to read them{which}: groupdesk get {dashes}{}",
        ids.join(" ")
    )
}

/// The same for another profile than the selected one.
pub(crate) fn complete_for<'t>(text: &'t str, other: Option<&str>) -> Cow<'t, str> {
    let selected = SELECTED.read().unwrap_or_else(PoisonError::into_inner);
    match &*selected {
        Some((selection, profile)) => selection.complete(text, other.or(profile.as_deref())),
        None => text.into(),
    }
}
