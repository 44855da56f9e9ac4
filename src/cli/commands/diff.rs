//! `diff`: compares files with what is known, or a group with the same group of another profile. It changes nothing;
//! the exit code tells whether there is a difference.

use std::path::PathBuf;

use super::{apply, import::shown, prelude::*};
use crate::{
    cli::{
        output::{
            self,
            json::{PLACE, of_place},
            proposals, review,
            shape::shape,
        },
        process::signals::Signals,
        session::InFlight,
    },
    directory::PlaceId,
    domain::{
        change::{Change, DesiredFields},
        facts::Field,
        group::{InvalidId, UserGroupId},
        text::visible,
    },
    operations::{Class, UnknownIdPolicy, changes_json},
};

/// Compare files with known groups, or a group in two profiles; changes nothing
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 the same, 10 different.")]
pub(crate) struct Diff {
    /// Files or folders as apply reads them; with --with one group
    #[arg(value_name = "FILE|ID", required = true)]
    what: Vec<PathBuf>,
    /// Compare the group with the one of the same ID in this profile
    #[arg(long, value_name = "PROFILE")]
    with: Option<String>,
    /// Read the groups from the service first
    #[arg(long)]
    refresh: bool,
}

impl Run for Diff {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("diff", &[
            "groupdesk diff groups/ more.csv",
            "groupdesk diff groups.jsonl --refresh --json",
            "groupdesk diff acme-eu --with eu-live -P testing",
        ], &[lines("FILE", &[&shown::ROW, &shown::SUM]), one("ID --with PROFILE", &[&DIFFERENCE])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let mut signals = Signals::new()?;
        let open = || Session::open(global, InFlight::default());
        let Self {
            what,
            with,
            refresh,
        } = self;
        tokio::select! {
            biased;
            () = signals.next() => Err(CliError::Interrupted { in_flight: false }),
            ended = Box::pin(async {
                if let Some(with) = with {
                    let id = one_id(&what)?;
                    return beside(&open()?, &id, &with, refresh).await;
                }
                match apply::checked(&what, global.json).await? {
                    Some(checked) => apply::compare(&open()?, &checked, refresh).await,
                    None => Ok(Exit::Usage),
                }
            }) => ended,
        }
    }
}

fn one_id(what: &[PathBuf]) -> Result<UserGroupId, CliError> {
    let text = match what {
        [only] => only.to_str(),
        _ => None,
    };
    let text = text.ok_or_else(|| {
        CliError::Usage("--with compares one group, so pass one ID; nothing was compared".into())
    })?;
    text.parse()
        .map_err(|error: InvalidId| CliError::Usage(error.to_string()))
}

/// Compares the same id in two profiles.
async fn beside(
    session: &Session,
    id: &UserGroupId,
    with: &str,
    refresh: bool,
) -> Result<Exit, CliError> {
    let other = session.with_profile(with)?;
    let [one, two] = [
        session.operations.place().await?,
        other.operations.place().await?,
    ];
    if one == two && one != PlaceId::NONE {
        let names = [&session.operations, &other.operations];
        let [one, two] = names.map(|each| visible(&each.profile().name).into_owned());
        return Err(CliError::Usage(format!(
            "profiles {one} and {two} are one environment, so \"{id}\" is one group; nothing was compared"
        )));
    }
    let here = side(session, id, refresh).await?;
    let there = side(&other, id, refresh).await?;
    // A field that one side does not know cannot be shown as a difference.
    let on_one = |field| here.has(field) || there.has(field);
    let on_both = |field| here.has(field) && there.has(field);
    let unknown = Field::ALL.into_iter().filter(|field| !on_both(*field));
    let unknown: Vec<_> = unknown.map(|field| (field, on_one(field))).collect();
    let (mut one, mut two) = (here, there);
    for (field, _) in &unknown {
        for side in [&mut one, &mut two] {
            side.leave_out(*field);
        }
    }
    let change = Change::between(&one, &two);
    // Fields that neither side ever saw are listed, but are not a difference.
    let is_same = change.is_empty() && !unknown.iter().any(|(_, on_one)| *on_one);
    let not_known: Vec<_> = unknown.iter().map(|(field, _)| field.as_str()).collect();
    let names = [&session.operations, &other.operations].map(|each| each.profile().name.clone());
    if session.json {
        let here = session.operations.place_name().await?;
        let there = other.operations.place_name().await?;
        let sides = [
            (names[0].as_str(), here.as_deref()),
            (names[1].as_str(), there.as_deref()),
        ];
        let differing = (is_same, &change, &not_known[..]);
        output::json(&difference(id, sides, differing))?;
    } else {
        for (field, on_one) in &unknown {
            let sides = if *on_one {
                "one side only"
            } else {
                "neither side"
            };
            output::say(&format!("! {} is known on {sides}", field.as_str()));
        }
        if is_same {
            let far = if unknown.is_empty() {
                ""
            } else {
                ", according to the directory"
            };
            output::say(&format!(
                "\"{id}\" is the same in {} and {}{far}",
                names[0], names[1]
            ));
        } else if !change.is_empty() {
            output::say(&format!("from {} to {}", names[0], names[1]));
            output::result(&review::lines(&change, false))?;
        }
    }
    Ok(Exit::from_difference(!is_same))
}

async fn side(
    session: &Session,
    id: &UserGroupId,
    refresh: bool,
) -> Result<DesiredFields, CliError> {
    let known = session
        .known_here(id, "nothing was shown")
        .await
        .map_err(|error| match error {
            CliError::Failed { failure } if failure.class() == Class::Guarded => {
                let name = &session.operations.profile().name;
                CliError::Guarded(format!("profile {name}: {failure}"))
            }
            error => error,
        })?;
    if !refresh {
        return Ok(DesiredFields::of(&known));
    }
    let read = session.operations.look_up(id, UnknownIdPolicy::KnownOnly);
    let read = Box::pin(read).await?;
    if Exit::from_done(&read) != Exit::Done {
        return Err(CliError::Guarded(format!(
            "an alarm was raised while \"{id}\" was read in profile {}. To see it, run `{}`",
            session.operations.profile().name,
            proposals::complete_for(
                &id.command("get", ""),
                Some(&session.operations.profile().name)
            )
        )));
    }
    Ok(DesiredFields::of(&read.group))
}

shape! {
    DIFFERENCE = "difference", "a group in two profiles; exit 0 the same, 10 different";
    /// The sides are profiles with their places.
    fn difference(
        id: &UserGroupId,
        [(profile, place), (with, with_place)]: [(&str, Option<&str>); 2],
        (same, change, not_known): (bool, &Change, &[&str]),
    ) {
        "user_group_id": text = id.as_str(), "the group";
        "profile": text = profile, "the first profile";
        ..PLACE = of_place(place);
        "with": text = with, "the other profile";
        "with_environment": text or "the profile was never bound" = with_place, "the environment of the other profile";
        "same": bool = same, "whether both are equal, according to the directory";
        "changes": any or "nothing differs" = changes_json(change), "from the first profile to the other one, as in `request`";
        "not_known": texts = not_known, "name, mapping or properties, if one of the two values is unknown";
    }
}
