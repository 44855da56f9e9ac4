//! Checks the configuration file and the profile: every problem with its line, and which profile would be used.

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::{Area, DoctorRequest, Report, path};
use crate::{
    config::{ConfigError, KeySource, Problem, Settings, file_of},
    operations::{hand_off_cannot_start, prelude::*},
};

const AREA: Area = Area::Configuration;
/// What works without a readable configuration file, besides `doctor` itself.
const WITHOUT_FILE: &str = "only completions, demo, help, man and serve work";
/// For wrong key bindings: only the console uses them.
const WITHOUT_CONSOLE: &str = "the console does not start; the commands work";

/// Returns the settings and the profile that would be used, if there are any.
pub(super) fn check(request: &DoctorRequest, report: &mut Report) -> Option<(Settings, Profile)> {
    // What is wrong with its name is reported with the settings.
    let (file, named_by) = file_of(&request.overrides).unwrap_or_default();
    let there = file.as_ref().filter(|file| file.exists());
    if let Some(file) = there {
        check_permissions(file, report);
    }
    let settings = match Settings::load(&request.overrides) {
        Ok(settings) => settings,
        Err(error) => {
            refused(error, report);
            return None;
        }
    };
    let named = named_by.map_or_else(String::new, |by| format!(", set by {by}"));
    match (there, &file) {
        (Some(file), _) => {
            let wrong = (request.wrong_keys)(&settings.keys);
            if wrong.is_empty() {
                let profiles = counted(settings.profiles.len(), "profile");
                report.about(AREA).ok(format!("{}{named}: {profiles}", path(file)));
            }
            report_problems(file, &wrong, WITHOUT_CONSOLE, report);
        }
        (None, Some(file)) => report.about(AREA).note(
            format!("there is no file {}", path(file)),
            "To create one, run `groupdesk profile add NAME`; with environment variables you need none.",
        ),
        (None, None) => report.about(AREA).note(
            "there is no folder for the configuration file: HOME is not set",
            "Set HOME, or pass a file with --config.",
        ),
    }
    contradicting(&settings.profiles, report);
    match settings.profile(None) {
        Ok(profile) => {
            let profile = profile.clone();
            report.about(AREA).ok(format!(
                "profile {}: {}, {}{}",
                shown(&profile.name),
                profile.url(),
                profile.environment_word(),
                if profile.read_only { ", read-only" } else { "" }
            ));
            unprotected(&profile, report);
            let handoff = profile.handoff.as_ref();
            let variables = request.overrides.env.for_commands();
            if let Some(why) =
                handoff.and_then(|command| hand_off_cannot_start(command, &variables))
            {
                report
                    .about(AREA)
                    .problem(why, "Until then no rotation is sent in this profile.");
            }
            Some((settings, profile))
        }
        Err(error) => {
            refused(error, report);
            None
        }
    }
}

fn refused(error: ConfigError, report: &mut Report) {
    match error {
        ConfigError::Wrong { file, problems } => {
            report_problems(&file, &problems, WITHOUT_FILE, report);
        }
        ConfigError::Unreadable { .. } => report.about(AREA).problem(
            error.to_string(),
            "Fix it, or pass another file with --config.",
        ),
        ConfigError::Variable { .. } | ConfigError::NoHome(..) => {
            report.about(AREA).problem(error.to_string(), "Set it for this shell.");
        }
        ConfigError::NoFolder { .. } | ConfigError::UnusablePath { .. } => {
            report.about(AREA).problem(
                error.to_string(),
                "groupdesk does nothing until this is fixed.",
            );
        }
        ConfigError::UnknownProfile { .. } | ConfigError::NoDefault { .. } => report.about(AREA).problem(
            error.to_string(),
            "Choose one with --profile or GROUPDESK_PROFILE.",
        ),
        ConfigError::NoProfile { .. } => report.about(AREA).problem(
            error.to_string(),
            "To add one, run `groupdesk profile add NAME`. To try groupdesk without one, run `groupdesk demo`.",
        ),
    }
}

/// `until_then`: what works while the problems remain.
fn report_problems(file: &Path, problems: &[Problem], until_then: &str, report: &mut Report) {
    for Problem { line, column, what } in problems {
        report.about(AREA).problem(
            format!("{}:{line}:{column}: {what}", path(file)),
            &format!("Fix line {line}; until then {until_then}."),
        );
    }
}

/// Whoever can write the file can send the API key to another host. A file that every user can write is already refused
/// when it is read.
fn check_permissions(file: &Path, report: &mut Report) {
    let folder = file.parent().map_or_else(PathBuf::new, Path::to_owned);
    for (place, what) in [(file, "file"), (folder.as_path(), "folder")] {
        let Ok(found) = std::fs::metadata(place) else {
            continue;
        };
        let mode = found.mode() & 0o7777;
        let sticky = mode & 0o1000 != 0;
        // For a file that every user can write, reading it reports the problem.
        let wide = if what == "file" { 0o020 } else { 0o022 };
        if mode & wide != 0 && !sticky {
            report.about(AREA).warning(
                format!("other users can write to the {what} {} (mode {mode:04o}): they could send the API key elsewhere", path(place)),
                &format!("chmod go-w {}", path(place)),
            );
        }
        let owner = found.uid();
        if owner != 0 && owner != rustix::process::geteuid().as_raw() {
            report.about(AREA).warning(
                format!("the {what} {} belongs to another user", path(place)),
                "Use one that belongs to you or to root.",
            );
        }
    }
}

/// Profiles of one environment by address and key that name different tags: nothing is sent for the one that is used later.
fn contradicting(profiles: &[Profile], report: &mut Report) {
    for (number, one) in profiles.iter().enumerate() {
        let same = profiles[..number].iter().find(|other| {
            let tags = one.environment.as_ref().zip(other.environment.as_ref());
            let is_here = one.api_key == other.api_key && one.url() == other.url();
            is_here && one.api_key != KeySource::Unset && tags.is_some_and(|(a, b)| a != b)
        });
        if let Some(other) = same {
            report.about(AREA).warning(
                format!(
                    "profiles {} and {} have the same URL and API key, but different `environment` settings",
                    shown(&other.name),
                    shown(&one.name)
                ),
                "Correct one of them: groupdesk sends nothing for the one that is used later.",
            );
        }
    }
}

fn unprotected(profile: &Profile, report: &mut Report) {
    if profile.allow_plain_http && profile.base_url.starts_with("http://") {
        report.about(AREA).warning(
            "the profile allows plain http: anyone on the network path can read the API key and the tokens",
            "Use https:// if the service supports it.",
        );
    }
}
