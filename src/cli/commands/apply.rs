//! `apply`: brings groups to the state that files describe. It shows the plan, asks for confirmation, then sends the
//! differences; a second run finds nothing to do. It can never delete a group. `diff` compares files with what is known, or a group
//! with the same group of another profile, and changes nothing; the exit code tells whether there is a difference.

use super::{
    import::{
        checked::Checked,
        plan::{self, ImportOptions},
        send,
        shown::{self, ShownPlan, planned_row},
    },
    prelude::*,
};
use crate::{
    cli::{
        args::{Order, Speed},
        input::listing::Listing,
        output::json::{PLACE, of_place},
    },
    directory::PlaceId,
    domain::group::InvalidId,
    formats::{Ids, Plan},
    intake,
    operations::{Class, Permit, changes_json},
};

/// Extensions of the files that are read from a folder.
const ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "csv", "tsv"];
/// How many files that are not read are named.
const NAMED: usize = 10;

/// Send everything that differs.
const ALL: Sending = Sending {
    create: true,
    update: true,
    only_differences: true,
};

/// Apply files to the service: create missing groups and update those that differ
#[derive(Debug, Args)]
#[command(
    after_help = "Groups cannot be deleted: --prune-report only lists groups that are missing from the files. In a folder, \
        apply reads the .json, .jsonl, .ndjson, .csv and .tsv files in name order, skips hidden files, and lists all \
        others."
)]
pub(crate) struct Apply {
    /// File in import format, or a folder of such files
    #[arg(value_name = "DIR|FILE")]
    path: PathBuf,
    /// Read the groups of the files before the plan
    #[arg(long)]
    refresh: bool,
    /// With --dry-run: exit with 10 if anything would change, otherwise with 0
    #[arg(long, requires = "dry_run")]
    detailed_exitcode: bool,
    /// List known groups that are missing from the files
    #[arg(long)]
    prune_report: bool,
    /// Limit --prune-report to groups that match this filter, as in list --filter
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "prune_report"
    )]
    filter: Option<String>,
    #[command(flatten)]
    replace: Replace,
    #[command(flatten)]
    speed: Speed,
    #[command(flatten)]
    mutation: Mutation,
}

impl Run for Apply {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("apply", &["groupdesk apply groups/ --dry-run --detailed-exitcode", "groupdesk apply groups.jsonl --prune-report --yes"],
            &[lines("PATH", &[&shown::ROW, &send::ROW, &send::SUM]), lines("PATH --dry-run", &[&shown::ROW, &shown::SUM])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        self.mutation.no_curl("it works for one group only")?;
        let mut signals = Signals::new()?;
        let sources = sources(&self.path)?;
        let checked = signals.unless_signalled(Checked::of(sources, global.json));
        let Some(checked) = checked.await? else {
            return Ok(Exit::Usage);
        };
        let session = signals.unless_signalled(Session::open(global)).await?;
        session.say_where();
        let prepared = signals.unless_signalled(prepare(&session, &self, &checked));
        let (permit, shown) = match prepared.await? {
            Ok(ready) => ready,
            Err(exit) => return Ok(exit),
        };
        let rows = shown.into_rows(&checked, permit, None)?;
        send::run(&session, &mut signals, rows, self.speed.pace()).await
    }
}

fn sending(plan: Plan) -> Sending {
    Sending {
        create: plan.create > 0,
        // A group that is to be created may turn out to exist already.
        update: true,
        only_differences: true,
    }
}

/// The rows of these files and folders, or `None` if some are wrong, which were reported.
pub(crate) async fn checked(paths: &[PathBuf], json: bool) -> Result<Option<Checked>, CliError> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(sources(path)?);
    }
    Checked::of(files, json).await
}

/// Compares the files with what is known. Sends nothing but reads.
pub(crate) async fn compare(
    session: &Session,
    checked: &Checked,
    refreshes: bool,
) -> Result<Exit, CliError> {
    let options = ImportOptions {
        sending: ALL,
        sends: false,
        replace: Replace::default(),
        refreshes,
        replaces: true,
    };
    let shown = plan::print_plan(session, checked, options, true).await?;
    shown::print_summary(session, ALL, &shown)?;
    Ok(Exit::from_difference(is_different(&shown)))
}

fn is_different(shown: &ShownPlan) -> bool {
    shown.plan.to_do() > 0 || !shown.annotations.is_empty()
}

/// Everything up to the confirmation. The inner `Err` is an exit without anything left to send.
async fn prepare(
    session: &Session,
    arguments: &Apply,
    checked: &Checked,
) -> Result<Result<(Permit, ShownPlan), Exit>, CliError> {
    session.say_other_places().await?;
    let options = ImportOptions {
        sending: ALL,
        sends: true,
        replace: arguments.replace,
        refreshes: arguments.refresh,
        replaces: true,
    };
    let operations = &session.operations;
    // A plan that cannot be carried out is not printed.
    if !arguments.mutation.dry_run {
        operations.place_to_write().await?;
    }
    let shown = plan::print_plan(session, checked, options, false).await?;
    let plan = shown.plan;
    let permit = match plan.to_do() {
        0 => Permit::nothing(),
        rows => operations.sending_permitted(sending(plan), rows)?,
    };
    let permit = permit.replacing(arguments.replace.fields());
    if arguments.prune_report {
        prune_report(session, arguments.filter.as_deref(), &checked.ids).await?;
    }
    if arguments.mutation.dry_run {
        shown::print_summary(session, ALL, &shown)?;
        let is_told = arguments.detailed_exitcode && is_different(&shown);
        let exit = shown.exit_of_dry_run();
        return Ok(Err(exit.unwrap_or(Exit::from_difference(is_told))));
    }
    shown::print_head(session, ALL, &shown)?;
    let review = Review::new(session, arguments.mutation.yes);
    if plan.to_do() == 0 {
        send::ask_without_change(&review, &shown).await?;
        return Ok(Ok((permit, shown)));
    }
    review.can_ask()?;
    operations.ready().await?;
    let profile = &operations.profile().name;
    let words = format!("apply {} in {profile}", plan.to_do());
    let what = "This creates and changes groups. Groups cannot be deleted.";
    review.ask_losing(shown.lost(), what, &words).await?;
    Ok(Ok((permit, shown)))
}

/// Reports known groups that are not in the files.
async fn prune_report(session: &Session, filter: Option<&str>, ids: &Ids) -> Result<(), CliError> {
    let undone = "nothing was sent";
    let listing = Listing::of(
        session,
        ListedFor::Reading,
        filter,
        &Order::default(),
        None,
        undone,
    )
    .await?;
    session
        .each_listed(&listing, async |groups| {
            let mut text = String::new();
            let groups = groups.iter().map(|(group, _)| group);
            for group in groups.filter(|group| !ids.has(&group.id)) {
                let line = if session.json {
                    output::compact(planned_row(None, &group.id, "not_in_files"))
                } else {
                    format!("not in the files: {}", group.id)
                };
                text.push_str(&line);
                text.push('\n');
            }
            output::chunk(&text)
        })
        .await
}

/// The file itself, or the files of a folder in name order; what a folder has besides is listed.
fn sources(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |error: std::io::Error| CliError::Usage(format!("{}: {error}", path.display()));
    let (mut files, mut ignored) = (Vec::new(), Vec::new());
    for entry in path.read_dir().map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let Some(name) = file.file_name() else {
            continue;
        };
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let is_meant = file.extension().is_some_and(|ending| {
            let mut endings = ENDINGS.iter();
            endings.any(|known| ending.eq_ignore_ascii_case(known))
        });
        if !is_meant {
            ignored.push(left_out(&file));
            continue;
        }
        // If the file were skipped silently, its groups would not end up as wanted.
        let why = match std::fs::metadata(&file) {
            Ok(found) if found.is_file() => {
                files.push(file);
                continue;
            }
            Ok(_) => "it is not a regular file".to_owned(),
            Err(error) => error.to_string(),
        };
        return Err(CliError::Usage(format!(
            "{}: {why}; nothing was changed. Remove it from the folder",
            file.display()
        )));
    }
    ignored.sort();
    if !ignored.is_empty() {
        let more = ignored.len().saturating_sub(NAMED);
        ignored.truncate(NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        output::context(&format!(
            "! not read in {}: {}{more}",
            path.display(),
            ignored.join(", ")
        ));
    }
    if files.is_empty() {
        return Err(CliError::Usage(format!(
            "{} has no file that ends in .json, .jsonl, .ndjson, .csv or .tsv; nothing was changed",
            path.display()
        )));
    }
    files.sort();
    Ok(files)
}

/// A file of a folder that is not read, with the reason if its content shows one.
fn left_out(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default();
    let name = visible(&name.to_string_lossy()).into_owned();
    if file.is_dir() {
        return format!("{name}/ (a folder; pass it separately)");
    }
    let is_file = file.is_file();
    let start = is_file.then(|| intake::text::start(file)).flatten();
    let kind = start.and_then(|start| intake::kind::foreign(&start));
    kind.map_or_else(|| name.clone(), |kind| format!("{name} ({kind})"))
}

/// Compare files with known groups, or a group in two profiles; changes nothing
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 the same, 10 different.")]
pub(crate) struct Diff {
    /// Files or folders in the format of apply; with --with, one group ID
    #[arg(value_name = "FILE|ID", required = true)]
    what: Vec<PathBuf>,
    /// Compare the group with the group of the same ID in this profile
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
        let open = || Session::open(global);
        let compared = async {
            if let Some(with) = &self.with {
                let id = one_id(&self.what)?;
                return beside(&open().await?, &id, with, self.refresh).await;
            }
            match checked(&self.what, global.json).await? {
                Some(checked) => compare(&open().await?, &checked, self.refresh).await,
                None => Ok(Exit::Usage),
            }
        };
        signals.unless_signalled(Box::pin(compared)).await
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
