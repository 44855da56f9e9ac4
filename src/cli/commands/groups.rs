//! `list`, `show` and `get`: what is known, and a single read.

use super::{mutations, prelude::*, refresh, watch};
use crate::{
    api::failure::Call,
    cli::{
        args::{Filter, Get, Order, Selection, which_groups},
        input::listing::Listing,
        output::{
            form::{self, Items},
            human::{Columns, Listed},
        },
    },
    domain::age::DEFAULT_LIMIT,
};

pub(super) const UNDONE: &str = "nothing was listed";
/// How many groups are looked up at a time.
const AT_ONCE: usize = 128;
/// Of `show`.
const UNSHOWN: &str = "nothing was shown";

/// List the groups in the directory, without contacting the service
#[derive(Debug, Args)]
#[command(
    after_help = "The filter works as in the console, but matches words exactly. Tests: tag:customer, age>90d, prop:tier=gold, \
        map>3, label:vip, by:li (rotated it or sent its mapping), state:open, @view. Put - before a word or test to exclude \
        what it matches.\nColumns: name, id, tag, map, props, fingerprint, age, read, due, by, labels, note, favourite, prop:KEY, \
        map:SCHEMA. With JSON they only add note, labels and favourite."
)]
pub(crate) struct List {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    order: Order,
    /// Columns to show; prefix each with + to add it to the default columns
    #[arg(long, value_name = "COLUMNS", value_parser = Columns::parse)]
    columns: Option<Columns>,
    /// Keep watching, and print each group that changes, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    watch: bool,
}

impl Run for List {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("list", &[
            "groupdesk list",
            "groupdesk list --filter 'prop:tier age>90d' --sort age --limit 20",
            "groupdesk list --columns id,prop:tier,map:40",
            "groupdesk list --json | jq -r '.[].user_group_id'",
            "groupdesk list --filter old -o name",
            "groupdesk list --filter state:open --watch -o jsonl",
        ], &[array("", &[&json::GROUP])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        if self.watch {
            return watch::until_signal(global, async |session| keep_watching(session, self).await)
                .await;
        }
        in_session(global, async |session| list(session, self).await).await
    }
}

/// Prints the groups while they are read, so that a long list is never held in memory as a whole.
async fn list(session: &Session, arguments: List) -> Result<Exit, CliError> {
    let mut lines = Lines::of(session, arguments.columns.unwrap_or_default()).await?;
    let filter = arguments.filter.filter.as_deref();
    let mut listing = Listing::of(
        session,
        ListedFor::Reading,
        filter,
        &arguments.order,
        None,
        UNDONE,
    )
    .await?;
    listing.with_annotations = lines.has_annotations;
    lines.all(session, &listing).await?;
    output::chunk(&lines.end())?;
    Ok(Exit::Done)
}

/// Prints what is there, then each group that changes.
async fn keep_watching(session: &Session, arguments: List) -> Result<Exit, CliError> {
    let from = session.operations.cursor().await?;
    let mut feed = session.operations.feed(from);
    let mut lines = Lines::of(session, arguments.columns.unwrap_or_default()).await?;
    let filter = arguments.filter.filter.as_deref();
    let has_annotations = lines.has_annotations;
    let listing = async |order: &Order| {
        let mut listing =
            Listing::of(session, ListedFor::Reading, filter, order, None, UNDONE).await?;
        listing.with_annotations = has_annotations;
        Ok::<_, CliError>(listing)
    };
    let first = listing(&arguments.order).await?;
    lines.all(session, &first).await?;
    let mut reporter = watch::LossReporter::default();
    loop {
        let Some(changes) = reporter.report(feed.read_changes().await)? else {
            watch::pause().await;
            continue;
        };
        // What else the filter depends on may have changed too.
        if changes.as_ref().is_some_and(|changes| changes.are_more) {
            output::say("! too many changes: printing the whole list again");
            lines
                .all(session, &listing(&arguments.order).await?)
                .await?;
        } else if let Some(changes) = changes {
            let now = listing(&Order::default()).await?;
            let mut groups = changes.groups;
            now.keep(&mut groups);
            let groups = session.with_annotations(&now, groups).await?;
            if !groups.is_empty()
                && !output::chunk(&lines.later(&groups, session.operations.now())?)?
            {
                return Ok(Exit::Done);
            }
        }
        watch::wait(&mut feed).await;
    }
}

/// Prints groups, the first ones and those that come later.
pub(super) struct Lines {
    columns: Columns,
    pub(super) has_annotations: bool,
    max_age: Option<Duration>,
    /// The name of the place, for the JSON output.
    place: Option<String>,
    items: Items,
    /// For output to a person; `None` for the other forms.
    table: Option<human::List>,
}

impl Lines {
    pub(super) async fn of(session: &Session, columns: Columns) -> Result<Self, CliError> {
        let place = session.place_for_json().await?;
        let is_wide = form::is_wide();
        let columns = columns.or_usual(is_wide);
        let max_age = session.operations.profile().max_token_age;
        let now = session.operations.now();
        // The same age limit as in the console's colours.
        let of_people = Some(max_age.unwrap_or(DEFAULT_LIMIT));
        let table = human::List::new(columns.clone(), is_wide, now, of_people);
        Ok(Self {
            has_annotations: columns.has_annotations(),
            items: if columns.is_chosen() {
                Items::with_columns(columns.chosen_words())
            } else {
                Items::default()
            },
            columns,
            place,
            max_age,
            table: (!session.json).then_some(table),
        })
    }

    /// Prints all groups of the listing, or a message when there are none.
    pub(super) async fn all(
        &mut self,
        session: &Session,
        listing: &Listing,
    ) -> Result<(), CliError> {
        let mut is_empty = true;
        if let Some(table) = &mut self.table {
            session
                .each_listed(listing, async |groups| {
                    is_empty &= groups.is_empty();
                    table.measure(&groups);
                    Ok(true)
                })
                .await?;
        }
        if self.table.is_none() || !is_empty {
            session
                .each_listed(listing, async |groups| {
                    is_empty &= groups.is_empty();
                    output::chunk(&self.chunk(&groups)?)
                })
                .await?;
        }
        if is_empty && !session.say_elsewhere().await? && !session.json {
            let profile = &session.operations.profile().name;
            if listing.is_filtered() {
                output::say(&format!("no group of profile {profile} matches the filter"));
            } else if let Some(problem) = session.quiet_place_problem().await {
                output::alarm(&format!("! {problem}"));
            } else {
                let how = if session.operations.permitted(Guarded::Create).is_ok() {
                    ". To add one, run `groupdesk get ID --exists` or `groupdesk create ID`, or `groupdesk import FILE` for \
                     known IDs"
                } else {
                    ", and you may not create groups in it"
                };
                output::say(&format!(
                    "profile {profile} has no groups in the directory yet{how}"
                ));
            }
        }
        Ok(())
    }

    /// The text of some groups, following those printed before.
    pub(super) fn chunk(&mut self, groups: &[Listed]) -> Result<String, CliError> {
        let (columns, max_age) = (&self.columns, self.max_age);
        match &mut self.table {
            Some(_) if groups.is_empty() => Ok(String::new()),
            Some(table) => Ok(table.lines(groups)),
            None if form::chosen() == Some(Form::Csv) && columns.is_chosen() => {
                let values = groups.iter().map(|listed| columns.values(listed, max_age));
                self.items.text(values)
            }
            None => {
                let place = self.place.as_deref();
                let groups = groups.iter();
                self.items
                    .text(groups.map(|listed| json::listed(listed, columns, place)))
            }
        }
    }

    /// The text of groups that came later. Ages are relative to `now`, and columns grow to fit these groups.
    pub(super) fn later(&mut self, groups: &[Listed], now: Timestamp) -> Result<String, CliError> {
        if let Some(table) = &mut self.table {
            table.at(now);
            table.measure(groups);
        }
        self.chunk(groups)
    }

    /// The text after the last group.
    fn end(&mut self) -> String {
        match self.table {
            Some(_) => String::new(),
            None => self.items.end(),
        }
    }
}

/// Show one or more groups from the directory, without contacting the service
#[derive(Debug, Args)]
#[command(
    group = which_groups()
)]
pub(crate) struct Show {
    #[command(flatten)]
    groups: Selection,
}

impl Run for Show {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("show", &[
            "groupdesk show acme-eu",
            "groupdesk show acme-eu --json | jq .mapping",
            "groupdesk show --filter 'acme tag:customer' -o jsonl",
        ], &[row("ID", &[&json::GROUP]), array(", of several groups", &[&json::GROUP])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let groups = &self.groups;
        if let Some(id) = groups.single() {
            return in_session(global, async |session| show_one(session, id).await).await;
        }
        let given = Given::read(groups, None, UNSHOWN);
        in_session_with(global, given, async |session, given| {
            show_several(session, groups, given).await
        })
        .await
    }
}

/// Prints nothing if one of the named groups is not known. Groups are printed while they are read, so that many are never
/// held in memory as a whole.
async fn show_several(
    session: &Session,
    groups: &Selection,
    given: Given,
) -> Result<Exit, CliError> {
    let selected = Selected::of(session, (groups, given), None, UNSHOWN).await?;
    if selected.all_named {
        for ids in selected.ids.chunks(AT_ONCE) {
            let known = session.operations.show_by_ids(ids.to_vec()).await?;
            for (id, _) in ids.iter().zip(known).filter(|(_, known)| known.is_none()) {
                session.known_here(id, UNSHOWN).await?;
            }
        }
    }
    if selected.ids.is_empty() {
        let text = |_| String::new();
        return session
            .list(&[], json::group, "no group matches the filter", text)
            .await;
    }
    let place = session.place_for_json().await?;
    let now = session.operations.now();
    let (mut items, mut is_first) = (Items::default(), true);
    let shown = Listing::of_ids(selected.ids);
    let each = session.each_listed(&shown, async |groups| {
        let groups = groups.iter().map(|(group, _)| group);
        if session.json {
            let values = groups.map(|group| json::group(group, place.as_deref()));
            return output::chunk(&items.text(values)?);
        }
        let mut text = String::new();
        for group in groups {
            if !std::mem::take(&mut is_first) {
                text.push('\n');
            }
            text.push_str(&human::group(group, now));
        }
        output::chunk(&text)
    });
    each.await?;
    if session.json {
        output::chunk(&items.end())?;
    }
    Ok(Exit::Done)
}

async fn show_one(session: &Session, id: &UserGroupId) -> Result<Exit, CliError> {
    let group = session.known_here(id, UNSHOWN).await?;
    let place = session.place_for_json().await?;
    let value = || json::group(&group, place.as_deref());
    let text = || human::group(&group, session.operations.now());
    output::either(session.json, value, text)
}

impl Run for Get {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("get", &[
            "groupdesk get acme-eu",
            "groupdesk get acme-eu --token-out acme.token",
            "groupdesk get --filter label:vip --token-out vip.jsonl",
            "groupdesk get --refresh-all --json",
            "groupdesk get --refresh-all --resume",
        ], &[
            one("ID", &[&json::ANSWER]),
            lines(", of several groups", &[&json::ANSWER, &refresh::ITEM, &refresh::SUM]),
            lines("--refresh-all", &[&refresh::ITEM, &refresh::SUM]),
            one("--refresh-all --dry-run", &[&refresh::PLAN]),
            one("ID --dry-run", &[&refresh::PLAN, &review::REQUEST]),
        ]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        token_file::prepare_for(&self.token)?;
        match self.single().cloned() {
            Some(id) => in_session(global, async |session| get(session, id, self).await).await,
            None => refresh::run(global, self).await,
        }
    }
}

async fn get(session: &Session, id: UserGroupId, arguments: Get) -> Result<Exit, CliError> {
    let (exists, token) = (arguments.assurance.exists, arguments.token);
    let assurance = mutations::assurance(exists);
    let known = session.operations.known(&id, assurance).await?;
    if exists {
        // This read could create the group (hazard 1).
        session.say_where();
        let yes = arguments.reading.yes;
        let yes = yes || arguments.reading.dry_run;
        mutations::ask_before_reading(session, &id, known.as_ref(), yes).await?;
    }
    if arguments.reading.dry_run {
        return match session.operations.would_look_up(&id, assurance).await? {
            Some(wanted) => {
                let change = Change::between(&DesiredFields::default(), &wanted);
                review::dry_run(session, Call::Create, &id, (&wanted, &change), false)
            }
            None => refresh::dry_run_of_one(session, &id, known.as_ref()),
        };
    }
    let mut file = mutations::token_file(&token)?;
    let read = Box::pin(session.operations.look_up(&id, assurance));
    let done = mutations::reading(session, known.as_ref(), read).await?;
    mutations::answer(session, &done, None, &token, file.as_mut()).await
}
