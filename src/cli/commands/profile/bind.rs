//! `profile bind`: lets a person declare which place a profile means. `--yes` never decides that.

use super::Setup;
use crate::{
    cli::commands::{places, prelude::*},
    config::profile::Profile,
    directory::Directory,
    operations::{BindingAnswer, Bound, PlaceProblem},
};

#[derive(Debug, Default, Args)]
#[command(group = clap::ArgGroup::new("answer").required(true))]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Bind {
    /// The profile
    #[arg(group = "which")]
    name: Option<String>,
    /// Bind the profile that GROUPDESK_BASE_URL and GROUPDESK_API_KEY define
    #[arg(long, group = "which")]
    variables: bool,
    /// Bind every profile in the configuration file whose environment is undecided
    #[arg(long, group = "which", requires = "same_environment")]
    all: bool,
    /// The profile is a known environment with a new key, URL or name [default: the only candidate]
    #[arg(long, value_name = "ENVIRONMENT", num_args = 0..=1, default_missing_value = "", group = "answer")]
    same_environment: Option<String>,
    /// The profile is a new environment
    #[arg(long, group = "answer")]
    new_environment: bool,
    /// As `profile unbind`, which version 0.2.0 did not have
    #[arg(long, group = "answer", hide = true)]
    undo: bool,
    /// Read this group now, to verify that the key belongs to the environment
    #[arg(
        long,
        alias = "proof",
        value_name = "ID",
        requires = "same_environment"
    )]
    verify_with: Option<UserGroupId>,
    /// Trust the key without verification, for example if all tokens have changed; asks you to type a phrase
    #[arg(
        long,
        alias = "no-proof",
        requires = "same_environment",
        conflicts_with = "verify_with"
    )]
    no_verify: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Unbind {
    /// The profile
    #[arg(group = "which")]
    name: Option<String>,
    /// Unbind the profile that GROUPDESK_BASE_URL and GROUPDESK_API_KEY define
    #[arg(long, group = "which")]
    variables: bool,
}

impl From<Unbind> for Bind {
    fn from(Unbind { name, variables }: Unbind) -> Self {
        Self {
            name,
            variables,
            undo: true,
            ..Self::default()
        }
    }
}

pub(super) async fn bind(context: &Setup<'_>, arguments: Bind) -> Result<Exit, CliError> {
    let settings = context.settings()?;
    let directory = session::open_named(&settings.directory, &context.overrides)?;
    super::not_as_viewer(&directory)?;
    let profiles = chosen(&settings, &arguments)?;
    let mut bound = Vec::new();
    let mut failed = None;
    for profile in profiles {
        match one(context, &settings, &directory, profile, &arguments).await {
            Ok(Some(done)) => bound.push(done),
            Ok(None) => {}
            Err(stop) if arguments.all => {
                output::alarm(&format!("{}: {stop}", profile.name));
                failed.get_or_insert(stop);
            }
            Err(stop) => return Err(stop),
        }
    }
    if context.json {
        output::json(&bound)?;
    }
    failed.map_or(Ok(Exit::Done), Err)
}

fn chosen<'s>(settings: &'s Settings, arguments: &Bind) -> Result<Vec<&'s Profile>, CliError> {
    if arguments.all {
        let profiles = settings.profiles.iter();
        return Ok(profiles.filter(|profile| !profile.from_variables).collect());
    }
    if arguments.variables {
        let made = settings.profiles.iter().find(|p| p.from_variables);
        return made.map(|made| vec![made]).ok_or_else(|| {
            CliError::Usage(
                "GROUPDESK_BASE_URL is not set, so no profile is defined by variables".into(),
            )
        });
    }
    Ok(vec![settings.profile(arguments.name.as_deref())?])
}

async fn one(
    context: &Setup<'_>,
    settings: &Settings,
    directory: &Directory,
    profile: &Profile,
    arguments: &Bind,
) -> Result<Option<Object>, CliError> {
    let operations = Operations::new(
        profile.clone(),
        context.overrides.env.clone(),
        directory.clone(),
        settings.operator.clone(),
        Clock::System,
    );
    // With --all, only profiles whose place is in question are asked about.
    if arguments.all && !is_asked(&operations).await? {
        return Ok(None);
    }
    let answer = if arguments.undo {
        BindingAnswer::Undo
    } else if arguments.new_environment {
        BindingAnswer::New
    } else {
        if arguments.no_verify {
            typed(context, profile).await?;
        }
        let named = arguments.same_environment.as_deref();
        same(&operations, named, arguments.no_verify).await?
    };
    if let Some(id) = &arguments.verify_with {
        operations.can_prove(answer, id).await?;
    }
    let mut bound = operations.answer_binding(answer).await?;
    output::note_change();
    if let Some(id) = &arguments.verify_with {
        if !operations.prove(id).await? {
            // Verified already: this read says whether it still is.
            let read = operations.look_up(id, UnknownIdPolicy::KnownOnly).await?;
            if let Some(alarm) = read.warnings.iter().find(|warning| warning.is_alarm()) {
                return Err(CliError::Guarded(alarm.to_string()));
            }
        }
        bound.on_trial = false;
    }
    if arguments.undo {
        output::say(&format!(
            "{} is no longer bound to environment {}. Its API key is withdrawn; to use it again, bind the profile",
            profile.name, bound.name
        ));
    } else {
        say(&profile.name, &bound);
    }
    Ok(Some(binding(&profile.name, &bound, !arguments.undo)))
}

shape! {
    pub(crate) BINDING = "binding", "the environment of a profile";
    fn binding(profile: &str, bound: &Bound, is_bound: bool) {
        "profile": text = profile, "its name";
        "environment": text = bound.name, "the name of the environment";
        "on_trial": bool = bound.on_trial, "its API key is not verified: it can only read groups that verify it";
        "bound": bool = is_bound, "false: the binding was removed";
    }
}

/// Binds to the place of that name, or to the only candidate if there is no name.
pub(super) async fn same(
    operations: &Operations,
    named: Option<&str>,
    unproven: bool,
) -> Result<BindingAnswer, CliError> {
    let place = match named.filter(|name| !name.is_empty()) {
        Some(name) => Some(places::named(operations, name).await?.id),
        None => None,
    };
    Ok(BindingAnswer::Same { place, unproven })
}

async fn is_asked(operations: &Operations) -> Result<bool, CliError> {
    match operations.bound().await {
        Ok(_) => Ok(false),
        Err(Failure::Place(PlaceProblem::Asked { .. })) => Ok(true),
        Err(failure) => Err(failure.into()),
    }
}

async fn typed(context: &Setup<'_>, profile: &Profile) -> Result<(), CliError> {
    if context.no_input || !io::stdin().is_terminal() {
        return Err(CliError::Guarded(
            "--no-verify asks you to type a phrase, but there is no terminal; nothing was changed"
                .into(),
        ));
    }
    let words = format!("trust {}", profile.name);
    confirm::confirm(
        false,
        "groupdesk cannot verify that this key belongs to that environment.",
        Question::TypeWords(&words),
    )
    .await
}

/// Reports where the profile belongs from now on, and what is left to do.
pub(super) fn say(name: &str, bound: &Bound) {
    let place = &bound.name;
    if bound.on_trial {
        output::say(&format!(
            "bound {name} to environment {place}; its API key is not verified yet. To verify it, read a known group: groupdesk profile \
             bind {} --same-environment --verify-with ID",
            quoted(name)
        ));
    } else {
        output::say(&format!("{name} is bound to environment {place}"));
    }
}
