//! Checks the places of the directory: who uses them, and what in them needs attention.

use super::{Area, Report};
use crate::{directory::KeyState, operations::prelude::*};

const AREA: Area = Area::Directory;

/// `profiles`: those of the configuration, if it can be read. `instead`: what to do where nothing can be written to the
/// directory, in place of a command.
pub(super) fn check(
    places: &[Place],
    profiles: Option<&[Profile]>,
    instead: Option<&str>,
    report: &mut Report,
) {
    for place in places {
        let name = visible(&place.name);
        let users = match place.profiles.as_slice() {
            [] => "no profile".to_owned(),
            names => format!("used by {}", visible(&names.join(", "))),
        };
        report.about(AREA).ok(format!(
            "environment {name}: {}, {} open; {users}",
            counted(place.groups as usize, "group"),
            place.open
        ));
        if let Some(profiles) = profiles {
            orphan(place, profiles, instead, report);
        }
        keys(place, instead, report);
        if let Some(at) = place.restored_at {
            let profile = a_profile(place);
            report.about(AREA).warning(
                format!(
                    "environment {name}: the directory was restored from an older copy, or copied (noticed {}). Later changes may be \
                     missing, so --sole-writer was set to no, and mappings and other unreadable values known before then are not \
                     sent without a review",
                    when::minute(at)
                ),
                &or_else(instead, || format!(
                    "Send whole mappings (groupdesk -P {profile} update ID --mapping FILE). When all of them are right and only this \
                     directory writes: groupdesk profile behaviour {profile} --sole-writer yes"
                )),
            );
        }
        for alarm in &place.alarms {
            report.about(AREA).problem(
                format!(
                    "ALARM in environment {name} since {}: {}. No requests are sent for its groups",
                    when::minute(alarm.at),
                    visible(&alarm.what)
                ),
                &or_else(instead, || {
                    format!(
                        "Investigate, then run: groupdesk environment acknowledge {} --reason WHY",
                        quoted(&name)
                    )
                }),
            );
        }
    }
}

/// The advice: `instead`, or else the command.
fn or_else(instead: Option<&str>, command: impl FnOnce() -> String) -> String {
    instead.map_or_else(command, str::to_owned)
}

/// A place that no profile is bound to any more: its profile was renamed or removed, or has another key or address.
fn orphan(place: &Place, profiles: &[Profile], instead: Option<&str>, report: &mut Report) {
    let is_used = |profile: &Profile| {
        place.profiles.contains(&profile.name)
            && (place.urls.is_empty() || place.urls.contains(&profile.url()))
    };
    if profiles.iter().any(is_used) || place.groups == 0 && place.open == 0 {
        return;
    }
    let name = visible(&place.name);
    let argument = quoted(&name);
    report.about(AREA).warning(
        format!(
            "no profile of the configuration is bound to environment {name}, which has {} and {} open",
            counted(place.groups as usize, "group"),
            place.open
        ),
        &or_else(instead, || format!(
            "To bind one: groupdesk profile bind NAME --same-environment {argument}. If it is the same as another \
             environment: groupdesk environment merge {argument} ENVIRONMENT"
        )),
    );
}

/// A profile of the place, as the argument of a command.
fn a_profile(place: &Place) -> String {
    let name = place.profiles.first();
    name.map_or_else(
        || "NAME".to_owned(),
        |name| quoted(&visible(name)).into_owned(),
    )
}

fn keys(place: &Place, instead: Option<&str>, report: &mut Report) {
    let name = visible(&place.name);
    let profile = a_profile(place);
    for key in &place.keys {
        let fingerprint = key.fingerprint;
        match key.state {
            KeyState::Trial => report.about(AREA).warning(
                format!("API key {fingerprint} of environment {name} is not verified; nothing is sent with it"),
                &or_else(instead, || {
                    format!("groupdesk profile bind {profile} --same-environment --verify-with ID")
                }),
            ),
            KeyState::Withdrawn if key.recorded > 0 => report.about(AREA).warning(
                format!(
                    "{} of the history of environment {name} {} written with API key {fingerprint}, which was withdrawn",
                    counted(key.recorded as usize, "line"),
                    if key.recorded == 1 { "was" } else { "were" }
                ),
                &format!(
                    "These values may come from another environment. {}",
                    or_else(instead, || format!(
                        "Read it again with a key of the environment: groupdesk -P {profile} get --refresh-all"
                    ))
                ),
            ),
            KeyState::Trusted | KeyState::Withdrawn => {}
        }
    }
}
