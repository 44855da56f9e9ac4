//! Which groups a command applies to: ids, a file with a list of ids, or a filter and an age. Of several ids that were
//! typed, an unknown one is a mistake, and then nothing is done for the others either; unknown ids of files and filters are
//! listed and skipped.

use std::{collections::HashSet, fmt::Display};

use super::{
    forgotten,
    listing::{ListedFor, Listing},
};
use crate::{
    cli::{args::Selection, output, prelude::*, session::Session},
    domain::{
        dash::begins_long,
        text::{has_variable, oddities},
    },
    formats::{begins_as_json, ids_below, ids_in, is_json},
    intake::{fault::Fault, ids, text},
    operations::{RotationId, RotationRow},
    search::suggest::similar,
};

/// Maximum size of a list of ids, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The selected groups, in order.
#[derive(Debug)]
pub(crate) struct Selected {
    pub(crate) ids: Vec<UserGroupId>,
    /// The person named each group, so groups for which nothing can be done are reported.
    pub(crate) all_named: bool,
}

/// The file of `--from`, which is read before the configuration is looked at.
#[derive(Debug, Default)]
pub(crate) struct Given(Option<Source>);

#[derive(Debug)]
struct Source {
    name: String,
    ids: Ids,
}

type Numbered = (usize, UserGroupId);

#[derive(Debug)]
enum Ids {
    /// With their lines or entries.
    OfGroups(Vec<Numbered>),
    /// A plain list. What its lines mean depends on which groups there are.
    List(String),
}

impl Given {
    pub(crate) async fn read(
        selection: &Selection,
        older_than: Option<Duration>,
        undone: &str,
    ) -> Result<Self, CliError> {
        let is_filter = selection.filter.is_some() || older_than.is_some();
        if !is_filter && selection.order.is_given() {
            return Err(CliError::Usage(format!(
                "--sort, --reverse and --limit need --filter; {undone}"
            )));
        }
        // As of a variable of a script that has no value.
        let is_sign = |c: char| c.is_whitespace() || c == '"' || c == '-';
        let is_nothing = |filter: &String| filter.chars().all(is_sign);
        if older_than.is_none() && selection.filter.as_ref().is_some_and(is_nothing) {
            return Err(CliError::Usage(format!(
                "--filter contains no word, so it would select all groups; {undone}. To select all groups, pass the \
                 IDs of `groupdesk list -o name` with --from -"
            )));
        }
        let file = selection.from.as_deref().filter(|_| !is_filter);
        let Some(file) = file else {
            return Ok(Self(None));
        };
        Source::read(file, undone).await.map(Some).map(Self)
    }
}

impl Selected {
    /// `undone` tells the person what was not done if something cannot be understood.
    pub(crate) async fn of(
        session: &Session,
        (selection, given): (&Selection, Given),
        older_than: Option<Duration>,
        undone: &str,
    ) -> Result<Self, CliError> {
        let Selection {
            ids, filter, order, ..
        } = selection;
        if filter.is_none() && older_than.is_none() {
            let ids = if let Given(Some(source)) = given {
                source.ids(session, undone).await?
            } else {
                ensure_groups(session, ids, undone).await?;
                ids.clone()
            };
            return Ok(Self {
                ids,
                all_named: true,
            });
        }
        let filter = filter.as_deref();
        let listing = Listing::of(
            session,
            ListedFor::Sending,
            filter,
            order,
            older_than,
            undone,
        )
        .await?;
        Ok(Self {
            ids: session.ids_listed(&listing).await?,
            all_named: false,
        })
    }
}

impl Source {
    async fn read(file: &Path, undone: &str) -> Result<Self, CliError> {
        let path = file.to_owned();
        let done = tokio::task::spawn_blocking(move || text::of_source(&path, LONGEST));
        let done = done
            .await
            .map_err(CliError::unexpected("reading was interrupted"))?;
        let name = text::name(file);
        let wrong = |why: &dyn Display| wrong(&name, why, undone);
        let list = done.map_err(|fault| wrong(&fault))?;
        if is_json(file) {
            begins_as_json(&list).map_err(|why| wrong(&why))?;
        }
        let of_groups = ids_in(&list).map_err(|why| wrong(&why))?;
        let ids = if let Some((found, remarks)) = of_groups {
            if let Some(remarks) = remarks {
                output::context(&format!("{name}: {remarks}"));
            }
            Ids::OfGroups(numbered(found).map_err(|why| wrong(&why))?)
        } else {
            Ids::List(list)
        };
        let is_empty = match &ids {
            Ids::OfGroups(ids) => ids.is_empty(),
            Ids::List(list) => ids::lines(list).next().is_none(),
        };
        if is_empty {
            return Err(wrong(&Fault::Empty));
        }
        Ok(Self { name, ids })
    }

    /// The ids of a file of groups, or of a list. A line of a list is taken as it stands if there is such a group; else
    /// without blanks, quotes and invisible marks around it. Refuses an unknown one that is a known secret, which would
    /// be shown with why it is skipped.
    async fn ids(self, session: &Session, undone: &str) -> Result<Vec<UserGroupId>, CliError> {
        let Self { name, ids } = self;
        let found = match ids {
            Ids::OfGroups(ids) => ids,
            Ids::List(list) => {
                let found = listed(session, &list, &name).await;
                found.map_err(|why| match why {
                    CliError::Usage(why) => wrong(&name, &why, undone),
                    other => other,
                })?
            }
        };
        if found.is_empty() {
            return Err(wrong(&name, &Fault::Empty, undone));
        }
        let placed = found.iter();
        let placed = placed.map(|(number, id)| (format!("{name}, line {number}"), id));
        let placed: Vec<_> = placed.collect();
        session.operations.no_secret_as_new_ids(&placed).await?;
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }
}

fn numbered(found: Vec<(usize, String)>) -> Result<Vec<Numbered>, String> {
    let typed = found.into_iter().map(|(number, id)| {
        let id = UserGroupId::written(id).map(|id| (number, id));
        id.map_err(|error| format!("line {number}: {error}"))
    });
    typed.collect()
}

fn wrong(name: &str, why: &dyn Display, undone: &str) -> CliError {
    CliError::Usage(format!("{name}: {}", with_state(&why.to_string(), undone)))
}

/// The ids of a plain list.
async fn listed(session: &Session, list: &str, name: &str) -> Result<Vec<Numbered>, CliError> {
    let lines: Vec<_> = ids::lines(list).collect();
    // What `list -o csv --columns id` begins with, unless a group is called so.
    let is_header = |line: &ids::Line<'_>| line.plain.eq_ignore_ascii_case("id");
    let header = lines.first().filter(|line| is_header(line));
    let is_odd = |line: &ids::Line<'_>| {
        let is_plain = line.raw == line.plain && line.parts().eq([line.raw]);
        let is_mistyped = begins_long(line.raw) || has_variable(line.raw);
        let is_header = header.is_some_and(|header| header.number == line.number);
        !is_plain
            || is_header
            || line.is_comment()
            || is_mistyped
            || !oddities(line.plain).is_empty()
    };
    let odd = lines.iter().filter(|line| is_odd(line));
    let odd = odd.flat_map(|line| line.parts().chain([line.raw, line.plain]));
    let odd: HashSet<_> = odd.filter_map(|id| UserGroupId::parse(id).ok()).collect();
    let odd = odd.into_iter().collect();
    let known = session.operations.show_by_ids(odd).await?.into_iter();
    let known: HashSet<_> = known.flatten().map(|group| group.id).collect();
    let is_known = |text: &str| UserGroupId::parse(text).is_ok_and(|id| known.contains(&id));
    let header = header.filter(|line| !is_known(line.raw) && !is_known(line.plain));
    if let Some(found) = header.and_then(|_| ids_below(list)) {
        return numbered(found).map_err(CliError::Usage);
    }
    let mut found = Vec::new();
    for line in &lines {
        let raw = UserGroupId::parse(line.raw).ok();
        if let Some(id) = raw.filter(|id| !is_odd(line) || known.contains(id)) {
            found.push((line.number, id));
            continue;
        }
        if line.is_comment() {
            continue;
        }
        // Several ids on one line, if there is no such group and all of them are known.
        let parts = line.parts().filter_map(|id| UserGroupId::parse(id).ok());
        let parts: Vec<_> = parts.collect();
        let plain = UserGroupId::parse(line.plain).ok();
        if let Some(id) = plain.filter(|id| known.contains(id)) {
            found.push((line.number, id));
            continue;
        }
        if !parts.is_empty() && parts.iter().all(|id| known.contains(id)) {
            found.extend(parts.into_iter().map(|id| (line.number, id)));
            continue;
        }
        if let Some(oddity) = oddities(line.plain).first() {
            output::context(&format!(
                "! {name}, line {}: character {} of the ID: {}",
                line.number, oddity.position, oddity.what
            ));
        }
        let id = UserGroupId::typed(line.plain);
        let id = id.map_err(|error| CliError::Usage(format!("line {}: {error}", line.number)))?;
        found.push((line.number, id));
    }
    Ok(found)
}

/// How many unknown ids are named.
const NAMED: usize = 5;

/// The known ids that are spelt like this one, in quotes; `None` if there are none.
pub(crate) fn alike(id: &UserGroupId, known: &[UserGroupId], most: usize) -> Option<String> {
    let near = similar(id.as_str(), known, most);
    (!near.is_empty()).then(|| in_quotes(&near))
}

pub(crate) fn in_quotes(ids: &[&UserGroupId]) -> String {
    joined(ids.iter().map(|id| format!("\"{id}\"")), ", ")
}

/// Refuses ids that the directory does not know. `undone` says what was not done.
pub(crate) async fn ensure_groups(
    session: &Session,
    ids: &[UserGroupId],
    undone: &str,
) -> Result<(), CliError> {
    let operations = &session.operations;
    let found = operations.show_all(ids).await?;
    let unknown = ids.iter().zip(&found).filter(|(_, found)| found.is_none());
    let unknown: Vec<_> = unknown.map(|(id, _)| id).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    for id in unknown.iter().take(NAMED) {
        operations.no_mistake_as_id(id).await?;
    }
    session.say_elsewhere().await?;
    let known = operations.known_ids().await?;
    let named = unknown.iter().take(NAMED).map(|id| {
        let is_first = ids.first() == Some(id);
        let near = alike(id, &known, 3);
        let value = forgotten::value(id.as_str()).filter(|_| !is_first);
        let value = value.map(|option| format!("{option} {}", quoted(id.as_str())));
        let option = forgotten::option(id.as_str());
        let value = value.filter(|_| option.is_none());
        let meant = [option, near, value];
        match joined(meant.into_iter().flatten(), "? Or ") {
            none if none.is_empty() => format!("\"{id}\""),
            meant => format!("\"{id}\" (did you mean {meant}?)"),
        }
    });
    let named = joined(named, ", ");
    let more = match unknown.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {}", counted(more, "other ID")),
    };
    let are = if unknown.len() == 1 { "is" } else { "are" };
    let text = unknown.iter().find_map(|id| forgotten::text(id.as_str()));
    let text = text.map_or_else(String::new, |option| {
        format!(". Put the text of {option} in quotes")
    });
    Err(CliError::Usage(format!(
        "{named}{more} {are} not in the directory of this profile; {undone}{text}"
    )))
}

/// The rotations with these numbers. Of several, each must exist before anything is done for one.
pub(crate) async fn rotations(
    session: &Session,
    ids: &[i64],
) -> Result<Vec<RotationRow>, CliError> {
    let mut rows = Vec::with_capacity(ids.len());
    for id in ids {
        match session.operations.rotation(RotationId(*id)).await {
            Ok(row) => rows.push(row),
            Err(failure @ Failure::NoRotation { .. }) if ids.len() > 1 => {
                return Err(CliError::Usage(failure.to_string()));
            }
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(rows)
}
