//! What a command works with: the operations of the selected profile, how to print, and whether a change is in flight.

use super::{
    args::Global,
    error::advice,
    input::forgotten,
    output::{self, exchanges, proposals, shape::Object},
    prelude::*,
    process::{exit::Exit, signals::Signals},
};
use crate::{
    api::sent,
    config::{
        DirectoryAt, NewDirectory, directory_of, new_directory,
        profile::{KeySource, Profile},
        unknown_profile,
    },
    directory::{Directory, DirectoryError, Role},
    domain::text::alternatives,
    operations::{
        Cancel, ClaimHolder, Clock, PlaceId, PlaceProblem, hide_secret_reasons, open_directory,
    },
};

/// Set while a change was sent, or is about to be, and its outcome is not known yet; and what cancels those that are not
/// sent yet.
#[derive(Debug, Clone, Default)]
pub(super) struct InFlight(Arc<AtomicBool>, Cancel);

impl InFlight {
    pub(super) fn is_on(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Sets the flag while `work` runs.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        self.0.store(true, Ordering::SeqCst);
        let done = work.await;
        self.0.store(false, Ordering::SeqCst);
        done
    }
}

/// How long a response may take before it is said that it is waited for; at most twice as long.
const UNTOLD: Duration = Duration::from_secs(2);

/// Runs work that may change something. The first signal ends it, unless a change is in flight: then it
/// only cancels what is not sent yet, and the second signal ends it.
pub(super) async fn interruptible(
    changes: &InFlight,
    signals: &mut Signals,
    work: impl Future<Output = Result<Exit, CliError>>,
) -> Result<Exit, CliError> {
    let mut work = std::pin::pin!(work);
    let mut warned = false;
    // Only on a terminal, and once.
    let (mut is_told, mut waited_for) = (!std::io::stderr().is_terminal(), None);
    loop {
        tokio::select! {
            biased;
            ended = &mut work => return ended,
            () = tokio::time::sleep(UNTOLD), if !is_told => {
                let waits = sent::waiting();
                is_told = waits.is_some() && waits == waited_for;
                waited_for = waits;
                if is_told {
                    let stop = if changes.is_on() { "a second Ctrl-C stops" } else { "Ctrl-C stops" };
                    output::say(&format!("waiting for the service ({stop})"));
                }
            }
            () = signals.next() => {
                let in_flight = changes.is_on();
                if !in_flight || warned {
                    return Err(CliError::Interrupted { in_flight });
                }
                warned = true;
                // A change that is not sent yet is not sent any more.
                changes.1.cancel();
                output::alarm(output::FINISHING);
            }
        }
    }
}

/// Runs a command that works with one session.
pub(super) async fn in_session(
    global: &Global,
    work: impl AsyncFnOnce(&Session) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    let none = async { Ok(()) };
    in_session_with(global, none, async |session, ()| work(session).await).await
}

/// Runs a command whose files are read first: a mistake in them is reported before the configuration is looked at, and
/// before anything is asked.
pub(super) async fn in_session_with<T>(
    global: &Global,
    input: impl Future<Output = Result<T, CliError>>,
    work: impl AsyncFnOnce(&Session, T) -> Result<Exit, CliError>,
) -> Result<Exit, CliError> {
    let mut signals = Signals::new()?;
    let in_flight = InFlight::default();
    let work = async {
        let input = input.await?;
        let session = Session::with(global, in_flight.clone()).await?;
        session.say_other_places().await?;
        session.explained(work(&session, input).await).await
    };
    interruptible(&in_flight, &mut signals, Box::pin(work)).await
}

/// The environment of one command.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) operations: Operations,
    pub(super) json: bool,
    pub(super) no_input: bool,
    pub(super) in_flight: InFlight,
    /// All configured profiles, and (below) where their variables come from.
    profiles: Vec<Profile>,
    environment: Environment,
    said_elsewhere: Arc<AtomicBool>,
}

impl Session {
    pub(super) async fn open(global: &Global) -> Result<Self, CliError> {
        Self::with(global, InFlight::default()).await
    }

    async fn with(global: &Global, in_flight: InFlight) -> Result<Self, CliError> {
        let overrides = &overrides(global);
        let mut settings = Settings::load(overrides)?;
        let name = settings.profile(None)?.name.clone();
        let environment = overrides.env.clone();
        let selection = overrides.selection(settings.usual_profile.clone());
        proposals::select(selection, Some(name));
        let directory = open_named(&settings.directory, overrides)?;
        directory.set_is_of_command(true);
        if let Some(notice) = directory.notice() {
            output::alarm(&format!("! {notice}"));
        }
        hide_secret_reasons(&mut settings.profiles, &directory).await;
        let operations = Operations::new(
            settings.profile(None)?.clone(),
            environment.clone(),
            directory,
            settings.operator,
            Clock::System,
        );
        Ok(Self {
            operations: with_listeners(&operations.cancelled_by(in_flight.1.clone())),
            json: global.json,
            no_input: global.no_input,
            in_flight,
            profiles: settings.profiles,
            environment,
            said_elsewhere: Arc::default(),
        })
    }

    /// The operations of every configured profile, the selected one first. For information that only needs the
    /// directory.
    pub(super) fn operations_of_all(&self) -> Vec<Operations> {
        let mine = &self.operations.profile().name;
        let others = self.profiles.iter().filter(|other| other.name != *mine);
        let others = others.map(|other| self.operations_of(other));
        let mine = [self.operations.clone()].into_iter();
        mine.chain(others).collect()
    }

    /// The session of another profile, on the same directory.
    pub(super) fn with_profile(&self, name: &str) -> Result<Self, CliError> {
        let mut profiles = self.profiles.iter();
        let Some(profile) = profiles.find(|profile| profile.name == name) else {
            return Err(unknown_profile(name, None, &self.profiles).into());
        };
        let cancel = self.in_flight.1.clone();
        Ok(Self {
            operations: with_listeners(&self.operations_of(profile).cancelled_by(cancel)),
            said_elsewhere: Arc::default(),
            ..self.clone()
        })
    }

    /// The name of the place, where JSON has to say it.
    pub(super) async fn place_for_json(&self) -> Result<Option<String>, CliError> {
        if self.json {
            Ok(self.operations.place_name().await?)
        } else {
            Ok(None)
        }
    }

    /// The same directory and operator, with another profile.
    fn operations_of(&self, profile: &Profile) -> Operations {
        Operations::new(
            profile.clone(),
            self.environment.clone(),
            self.operations.directory().clone(),
            self.operations.operator().to_owned(),
            Clock::System,
        )
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// A profile made of variables goes to a new place if its key is new. Names the places that other keys of the same
    /// address left behind.
    pub(super) async fn say_other_places(&self) -> Result<(), CliError> {
        let others = self.operations.other_places().await?;
        // Then it is not said again where nothing is found.
        let is_said = !others.is_empty() && !output::is_quiet();
        self.said_elsewhere.fetch_or(is_said, Ordering::Relaxed);
        for other in &others {
            output::context(&proposals::complete(&format!(
                "the same URL has environment {} with {} ({} open), which is not visible with this key; if it is the \
                 same environment: groupdesk profile bind --variables --same-environment {}",
                other.name,
                counted(other.groups as usize, "group"),
                other.open,
                quoted(&other.name)
            )));
        }
        Ok(())
    }

    /// Explains, once, why the directory has nothing for this profile, if it has data under this name with another URL or
    /// key. Returns whether it did.
    pub(super) async fn say_elsewhere(&self) -> Result<bool, CliError> {
        if self.said_elsewhere.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let said = self.elsewhere().await?;
        self.said_elsewhere.store(said, Ordering::Relaxed);
        Ok(said)
    }

    async fn elsewhere(&self) -> Result<bool, CliError> {
        let line = self.operations.known_elsewhere().await?;
        if let Some(line) = &line {
            output::alarm(&format!("! {line}"));
            return Ok(true);
        }
        let others = self.operations.known_with_other_keys().await?;
        let profile = self.operations.profile();
        let names: Vec<_> = others.iter().map(|other| visible(&other.name)).collect();
        let is_viewer = self.operations.directory().role() == Some(Role::Viewer);
        if is_viewer && !others.is_empty() && self.operations.bound_place_name().is_none() {
            output::alarm(&format!(
                "! a viewer sees only the environment with the name of the profile, and there is none named \"{}\". To see groups, \
                 rename the profile in the configuration file to {}",
                visible(&profile.name),
                alternatives(&names.iter().map(AsRef::as_ref).collect::<Vec<_>>())
            ));
            return Ok(true);
        }
        let is_unset = profile.api_key == KeySource::Unset;
        if !others.is_empty() && (is_unset || self.operations.lacks_key().await) {
            let (what, then) = if is_unset {
                (
                    "no API key",
                    "To see its groups, add api_key to the profile",
                )
            } else {
                ("no readable API key", "To see why, run `groupdesk doctor`")
            };
            output::alarm(&format!(
                "! profile {} has {what}, which decides the environment; environments at this URL: {}. {then}",
                visible(&profile.name),
                names.join(", ")
            ));
            return Ok(true);
        }
        for other in &others {
            let which = if profile.from_variables {
                "--variables".into()
            } else {
                quoted(&profile.name)
            };
            output::alarm(&format!(
                "! no group is known with this API key; another key for the same URL has {}, in environment {}. \
                 If it is the same environment: groupdesk profile bind {which} --same-environment {}",
                counted(other.groups as usize, "group"),
                other.name,
                quoted(&other.name)
            ));
        }
        Ok(!others.is_empty())
    }

    /// Prints rows of the directory, or that there are none, and where there may be some.
    pub(super) async fn list<'r, T>(
        &self,
        rows: &'r [T],
        value: impl Fn(&'r T, Option<&str>) -> Object,
        none: &str,
        text: impl FnOnce(Timestamp) -> String,
    ) -> Result<Exit, CliError> {
        let place = self.place_for_json().await?;
        if rows.is_empty() {
            self.say_elsewhere().await?;
        }
        let value = |row| value(row, place.as_deref());
        output::list(self.json, rows, value, none, || text(self.operations.now()))
    }

    /// An error of a command may be about its group: what explains it is said before it, and no mistake is repeated.
    pub(super) async fn explained<T>(&self, ended: Result<T, CliError>) -> Result<T, CliError> {
        match ended {
            Ok(done) => Ok(done),
            Err(error) => {
                self.explain(&error).await;
                Err(self.or_mistake(error).await)
            }
        }
    }

    /// A command may have failed because nothing is known with this key: that is said before its error, unless the error
    /// says so. Nothing more is asked of a directory that failed.
    async fn explain(&self, error: &CliError) {
        let may_be_so = match error {
            CliError::Failed { failure } => {
                !matches!(failure.bare(), Failure::Place(_) | Failure::NothingSent(_))
            }
            CliError::Directory(error) => matches!(error, DirectoryError::NoBatch(_)),
            CliError::Usage(_) | CliError::Guarded(_) => true,
            _ => false,
        };
        if may_be_so {
            drop(self.say_unknown_key().await);
        }
    }

    /// The error, or that its unknown ID is a token or a variable: a token is not repeated, and no group is proposed for it.
    /// One that is spelt like an option is first proposed as that.
    async fn or_mistake(&self, error: CliError) -> CliError {
        let CliError::Failed { failure } = &error else {
            return error;
        };
        let Failure::NotKnown { id, undone, .. } = failure.bare() else {
            return error;
        };
        let checked = self.operations.no_mistake_as_id(id).await;
        if let Err(mistake @ (Failure::HoldsSecret { .. } | Failure::Refusal { .. })) = checked {
            return mistake.into();
        }
        let meant = match forgotten::option(id.as_str()) {
            Some(option) => format!("did you mean {option}?"),
            None if id.as_str().starts_with("--") => "this command has no such option".into(),
            None => return error,
        };
        // No group of such a name is proposed.
        let advice = if id.as_str().starts_with('-') {
            advice(failure.bare())
        } else {
            "".into()
        };
        CliError::Guarded(format!(
            "\"{id}\" is not in the directory of this profile; {undone}; {meant}{advice}"
        ))
    }

    /// Says that nothing is known with this key, although another key of its address knows groups: every group looks new.
    pub(super) async fn say_unknown_key(&self) -> Result<(), CliError> {
        if matches!(self.operations.place().await, Ok(PlaceId::NONE)) {
            self.say_elsewhere().await?;
        }
        Ok(())
    }

    /// Refuses a run over several groups with an unknown key, which knows none of them: that no group is left would pass
    /// for a success.
    pub(super) async fn refuse_unknown_key(&self) -> Result<(), CliError> {
        if self.operations.place().await? == PlaceId::NONE
            && let Some(problem) = self.quiet_place_problem().await
        {
            return Err(Failure::from(problem).into());
        }
        Ok(())
    }

    /// Why nothing may be sent for this profile. Not looked for if a program would have to be run for the API key, except
    /// where only the key tells the environment.
    pub(super) async fn quiet_place_problem(&self) -> Option<PlaceProblem> {
        self.operations.place().await.ok()?;
        if !self.operations.key_is_at_hand() {
            return None;
        }
        self.operations.place_problem().await
    }

    /// A refusal that proposes to create a group proposes the binding instead, where the profile has to be bound first.
    pub(super) async fn or_bind_first(&self, mut failure: Failure) -> Failure {
        if let Failure::NotKnown { may_create, .. } = &mut failure
            && *may_create
            && let Some(problem) = self.quiet_place_problem().await
        {
            output::alarm(&format!("! {problem}"));
            *may_create = false;
        }
        failure
    }

    /// What the directory knows of the group, even if only from a file. Fails for an id that it does not know at all, and
    /// says what was not done.
    pub(super) async fn known_here(
        &self,
        id: &UserGroupId,
        undone: &'static str,
    ) -> Result<KnownGroup, CliError> {
        if let Some(group) = self.operations.show(id).await? {
            return Ok(group);
        }
        let mut known = self.operations.known(id, UnknownIdPolicy::KnownOnly).await;
        if let Err(Failure::NotKnown { undone: said, .. }) = &mut known {
            *said = undone;
            self.say_elsewhere().await?;
        }
        match known? {
            Some(group) => Ok(group),
            None => Err(self.operations.not_known(id, undone).await.into()),
        }
    }

    /// Prints where a change goes: `PRODUCTION eu-live https://api.example.com/api/user`. With `--quiet` only before a
    /// question.
    pub(super) fn say_where(&self) {
        let profile = self.operations.profile();
        output::context(&format!(
            "{} {} {}",
            profile.environment_word(),
            profile.name,
            profile.url()
        ));
    }
}

/// Adds listeners that report who is being waited for and, with `--verbose`, each exchange.
fn with_listeners(operations: &Operations) -> Operations {
    let operations = operations.with_wait_listener(Arc::new(say_who_is_waited_for));
    match exchanges::listener() {
        Some(listener) => operations.with_listener(listener),
        None => operations,
    }
}

/// Only on a terminal, for a person; a program only needs the result.
fn say_who_is_waited_for(held: &ClaimHolder) {
    if std::io::stderr().is_terminal() {
        output::say(&format!("waiting: {held}"));
    }
}

/// Whether there is a directory already; opening it then begins no new one.
pub(super) fn has_directory(overrides: &Overrides) -> bool {
    match directory_of(overrides) {
        Ok(DirectoryAt::File(file)) => file.exists(),
        at => at.is_ok(),
    }
}

/// Opens the configured directory. Says so if that begins a new directory that nobody may expect: at a named path, which can be
/// mistyped, in an empty file, or elsewhere than where groupdesk was used before.
pub(super) fn open_named(
    at: &DirectoryAt,
    overrides: &Overrides,
) -> Result<Directory, DirectoryError> {
    let new = new_directory(overrides, at);
    let directory = open_directory(at, &overrides.env)?;
    if let Some(file) = new {
        output::alarm(&new_directory_text(&file));
    }
    Ok(directory)
}

pub(super) fn new_directory_text(new: &NewDirectory) -> String {
    match new {
        NewDirectory::Missing(file) => format!(
            "! {} is a new, empty directory; there was no file",
            file.display()
        ),
        NewDirectory::Empty(file) => format!(
            "! {} is a new, empty directory; the file was empty (0 bytes). If it had groups, restore a backup",
            file.display()
        ),
    }
}

/// The flags and the environment variables of this process.
pub(super) fn overrides(global: &Global) -> Overrides {
    let env = Environment::of_process();
    Overrides {
        config: global.config.clone(),
        profile: global.profile.clone(),
        directory: global.directory.clone(),
        read_only: global.read_only,
        // A key command may ask where groupdesk may.
        env: if global.no_input {
            env
        } else {
            env.with_terminal()
        },
    }
}
