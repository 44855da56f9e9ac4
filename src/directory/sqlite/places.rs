//! Places: which one a profile means, the keys of each, alarms, and two places that turn out to be one.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::{fault::Fault, groups};
use crate::{
    directory::{
        Alarm, Answer, Binding, Bound, Caller, Gate, KeyId, KeyState, OtherPlace, Place,
        PlaceEvent, PlaceId, PlaceKey, Question, Refusal, Why, columns, sql::places as sql,
    },
    domain::{
        group::{EnvironmentTag, UserGroupId},
        history::Entry,
        token::Fingerprint,
    },
};

const TABLE: &str = "places";

/// Rows of one query, each as a value.
fn rows<T>(
    connection: &Connection,
    text: &str,
    parameters: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Fault> {
    let mut statement = connection.prepare_cached(text)?;
    let found = statement.query_map(parameters, read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn number(row: &Row<'_>) -> rusqlite::Result<PlaceId> {
    row.get(0).map(PlaceId)
}

/// What address, key and name point to.
struct Known {
    /// Places that know both address and key.
    here: Vec<PlaceId>,
    by_key: Vec<PlaceId>,
    by_url: Vec<PlaceId>,
    /// This name with this address.
    exact: Option<PlaceId>,
    /// This name, from before addresses were kept.
    before: Option<PlaceId>,
    /// This name with other addresses.
    elsewhere: Vec<PlaceId>,
}

impl Known {
    fn of(connection: &Connection, caller: &Caller) -> Result<Self, Fault> {
        let by_key = rows(
            connection,
            sql::BY_KEY,
            [caller.key.as_bytes().as_slice()],
            number,
        )?;
        let by_url = rows(connection, sql::BY_URL, [&caller.url], number)?;
        let here = by_key.iter().copied().filter(|p| by_url.contains(p));
        let here = here.collect();
        let named: Vec<(String, PlaceId)> =
            rows(connection, sql::BY_NAME, [&caller.profile], |row| {
                Ok((row.get(0)?, PlaceId(row.get(1)?)))
            })?;
        let at = |url: &str| {
            named
                .iter()
                .find(|(u, _)| u == url)
                .map(|(_, place)| *place)
        };
        // A name that variables made says nothing: several keys may have gone by it.
        let counts = !caller.from_variables;
        Ok(Self {
            here,
            by_key,
            by_url,
            exact: at(&caller.url),
            before: at("").filter(|_| counts),
            elsewhere: named
                .iter()
                .filter(|(url, _)| counts && !url.is_empty() && *url != caller.url)
                .map(|(_, place)| *place)
                .collect(),
        })
    }

    /// Every place it could be, the likeliest first.
    fn candidates(&self) -> Vec<PlaceId> {
        let mut all = Vec::new();
        let found = self.here.iter().chain(&self.exact).chain(&self.before);
        let found = found.chain(&self.by_key).chain(&self.by_url);
        for place in found.chain(&self.elsewhere) {
            if !all.contains(place) {
                all.push(*place);
            }
        }
        all
    }
}

pub(in crate::directory) fn place_of(
    connection: &Connection,
    profile: &str,
    url: &str,
) -> Result<Option<PlaceId>, Fault> {
    let found = connection
        .prepare_cached(sql::PLACE_OF)?
        .query_row([profile, url], number)
        .optional()?;
    Ok(found)
}

pub(in crate::directory) fn with_key(
    connection: &Connection,
    url: &str,
    key: Fingerprint,
) -> Result<Option<PlaceId>, Fault> {
    let found = connection
        .prepare_cached(sql::WITH_KEY)?
        .query_row(params![url, key.as_bytes()], number)
        .optional()?;
    Ok(found)
}

/// The place of a profile whose name, address and key are all known for it, and to which nothing is to be added.
pub(in crate::directory) fn bound(
    connection: &Connection,
    caller: &Caller,
) -> Result<Option<Bound>, Fault> {
    let found: Option<(Bound, Option<String>)> = connection
        .prepare_cached(sql::BOUND)?
        .query_row(
            params![caller.profile, caller.url, caller.key.as_bytes()],
            |row| Ok((bound_of(row)?, row.get(5)?)),
        )
        .optional()?;
    let Some((mut bound, environment)) = found else {
        return Ok(None);
    };
    let told = caller.environment.as_ref().map(EnvironmentTag::as_str);
    if environment.as_deref() != told || told.is_some() && bound.tag != caller.environment {
        return Ok(None);
    }
    bound.others = others(connection, caller, bound.place)?;
    Ok(Some(bound))
}

/// Place, name, tag, key, state.
fn bound_of(row: &Row<'_>) -> rusqlite::Result<Bound> {
    let tag: Option<String> = row.get(2)?;
    Ok(Bound {
        place: PlaceId(row.get(0)?),
        name: row.get(1)?,
        tag: tag.as_deref().map(EnvironmentTag::parse),
        key: KeyId(row.get(3)?),
        on_trial: row.get::<_, String>(4)? == KeyState::Trial.as_str(),
        others: Vec::new(),
    })
}

/// Only a profile made of variables goes to a new place without a question, so it has to be told of others.
fn others(
    connection: &Connection,
    caller: &Caller,
    here: PlaceId,
) -> Result<Vec<OtherPlace>, Fault> {
    if !caller.from_variables {
        return Ok(Vec::new());
    }
    rows(
        connection,
        sql::OTHERS,
        params![caller.url, here.0, caller.profile],
        |row| {
            Ok(OtherPlace {
                name: row.get(0)?,
                groups: row.get(1)?,
                open: row.get(2)?,
            })
        },
    )
}

pub(in crate::directory) fn bind(tx: &Connection, caller: &Caller) -> Result<Binding, Fault> {
    let known = Known::of(tx, caller)?;
    if let Some(place) = known.here.first().copied() {
        let exact = known.exact.filter(|_| !caller.from_variables);
        let others = known.before.iter().chain(&known.elsewhere);
        let named: Vec<_> = match exact {
            Some(exact) => vec![exact],
            None => others.copied().collect(),
        };
        return if named.iter().all(|named| *named == place) {
            take(tx, caller, place, None)
        } else if exact.is_none() && known.elsewhere.is_empty() {
            before(tx, caller, &known)
        } else {
            ask(tx, caller, &known, Why::OtherName)
        };
    }
    if let (true, Some(place)) = (caller.key_changes, known.exact) {
        return take(tx, caller, place, Some(KeyState::Trial));
    }
    if caller.from_variables {
        return if known.by_key.is_empty() {
            let place = make(tx, caller)?;
            take(tx, caller, place, Some(KeyState::Trusted))
        } else {
            ask(tx, caller, &known, Why::OtherAddress)
        };
    }
    if known.exact.is_none() && known.before.is_some() {
        return before(tx, caller, &known);
    }
    if known.candidates().is_empty() {
        let place = make(tx, caller)?;
        return take(tx, caller, place, Some(KeyState::Trusted));
    }
    let why = if known.by_url.is_empty() {
        Why::OtherAddress
    } else {
        Why::NewKey
    };
    ask(tx, caller, &known, why)
}

/// A name from before addresses were kept: its place is taken by use only where there is nothing in it.
fn before(tx: &Connection, caller: &Caller, known: &Known) -> Result<Binding, Fault> {
    let empty = match known.before {
        Some(place) => is_empty(tx, place)?.then_some(place),
        None => None,
    };
    match (empty, known.here.first()) {
        (Some(empty), Some(here)) => {
            merge(tx, empty, *here, caller.at, &caller.by)?;
            take(tx, caller, *here, None)
        }
        (Some(empty), None) if known.by_key.is_empty() && known.by_url.is_empty() => {
            take(tx, caller, empty, Some(KeyState::Trusted))
        }
        _ => ask(tx, caller, known, Why::FromBefore),
    }
}

fn ask(tx: &Connection, caller: &Caller, known: &Known, why: Why) -> Result<Binding, Fault> {
    let candidates = known.candidates();
    let mut places = all(tx)?;
    places.retain(|place| candidates.contains(&place.id));
    places.sort_by_key(|place| candidates.iter().position(|id| *id == place.id));
    Ok(Binding::Asked(Question {
        why,
        key: caller.key,
        places,
    }))
}

fn make(tx: &Connection, caller: &Caller) -> Result<PlaceId, Fault> {
    let names = (1..).map(|n| match n {
        1 => caller.profile.clone(),
        n => format!("{}-{n}", caller.profile),
    });
    for name in names {
        let made = tx
            .prepare_cached(sql::ADD_PLACE)?
            .query_row(params![name, columns::micros(caller.at), caller.by], number)
            .optional()?;
        if let Some(place) = made {
            event(tx, place, caller, "made", None)?;
            return Ok(place);
        }
    }
    Err(Fault::Row(TABLE))
}

/// Binds the profile to the place. A key that is not known there yet is added in the given state.
fn take(
    tx: &Connection,
    caller: &Caller,
    place: PlaceId,
    state: Option<KeyState>,
) -> Result<Binding, Fault> {
    let environment = caller.environment.as_ref().map(EnvironmentTag::as_str);
    let conflict = tx
        .prepare_cached(sql::TAG_CONFLICT)?
        .query_row(params![place.0, caller.profile, environment], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    if let Some((place, profile)) = conflict {
        return Ok(Binding::TagConflict { place, profile });
    }
    tx.prepare_cached(sql::ADD_URL)?
        .execute(params![place.0, caller.url])?;
    if let Some(state) = state {
        tx.prepare_cached(sql::ADD_KEY)?.execute(params![
            place.0,
            caller.key.as_bytes(),
            state.as_str(),
            columns::micros(caller.at),
            caller.by
        ])?;
        let note = format!("key {} at {}: {}", caller.key, caller.url, state.as_str());
        event(tx, place, caller, "bound", Some(&note))?;
    }
    tx.prepare_cached(sql::BIND)?.execute(params![
        caller.profile,
        caller.url,
        place.0,
        environment,
        columns::micros(caller.at)
    ])?;
    if environment.is_some() {
        tx.prepare_cached(sql::SET_TAG)?
            .execute(params![place.0, environment])?;
    }
    let bound = tx.prepare_cached(sql::BOUND)?.query_row(
        params![caller.profile, caller.url, caller.key.as_bytes()],
        bound_of,
    )?;
    let others = others(tx, caller, place)?;
    Ok(Binding::Bound(Bound { others, ..bound }))
}

pub(in crate::directory) fn answer(
    tx: &Connection,
    caller: &Caller,
    answer: Answer,
) -> Result<Result<Bound, Refusal>, Fault> {
    let known = Known::of(tx, caller)?;
    let (place, state) = match answer {
        Answer::Undo => return undo(tx, caller, &known),
        Answer::New => {
            if let Some(here) = known.here.first() {
                let place = name(tx, *here)?;
                return Ok(Err(Refusal::AlreadyKnown { place }));
            }
            (make(tx, caller)?, KeyState::Trusted)
        }
        Answer::Same { place, unproven } => {
            let place = match same(tx, &known, place)? {
                Ok(place) => place,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let place = match (known.here.first(), known.by_key.first()) {
                (Some(here), _) if *here != place => {
                    // What was kept by name alone turns out to be a place that is known.
                    if !has_no_key(tx, place)? {
                        let place = name(tx, *here)?;
                        return Ok(Err(Refusal::OtherPlace { place }));
                    }
                    merge(tx, place, *here, caller.at, &caller.by)?;
                    *here
                }
                (None, Some(other)) if *other != place => {
                    let place = name(tx, *other)?;
                    return Ok(Err(Refusal::OtherPlace { place }));
                }
                _ => place,
            };
            let is_first = has_no_key(tx, place)? || has_no_tokens(tx, place)?;
            let is_known = known.by_key.contains(&place);
            let trusted = unproven || is_first || is_known;
            (
                place,
                if trusted {
                    KeyState::Trusted
                } else {
                    KeyState::Trial
                },
            )
        }
    };
    match take(tx, caller, place, Some(state))? {
        Binding::Bound(bound) => Ok(Ok(bound)),
        Binding::TagConflict { place, .. } => Ok(Err(Refusal::OtherPlace { place })),
        Binding::Asked(_) => Err(Fault::Row(TABLE)),
    }
}

/// The place that is meant by "the same": the named one, else the only one possible.
fn same(
    tx: &Connection,
    known: &Known,
    named: Option<PlaceId>,
) -> Result<Result<PlaceId, Refusal>, Fault> {
    if let Some(place) = named {
        return Ok(Ok(place));
    }
    // What the name held before goes into the place that address and key tell, if there is one.
    let likely = known.exact.or(known.before);
    if let Some(place) = likely.or(known.here.first().copied()) {
        return Ok(Ok(place));
    }
    let candidates = known.candidates();
    if let [only] = candidates.as_slice() {
        return Ok(Ok(*only));
    }
    let places = candidates.iter().map(|place| name(tx, *place));
    let places = places.collect::<Result<_, _>>()?;
    Ok(Err(Refusal::WhichPlace { places }))
}

fn undo(tx: &Connection, caller: &Caller, known: &Known) -> Result<Result<Bound, Refusal>, Fault> {
    let Some(place) = known.exact else {
        return Ok(Err(Refusal::NotBound));
    };
    let mut bound = tx
        .prepare_cached(sql::BOUND)?
        .query_row(
            params![caller.profile, caller.url, caller.key.as_bytes()],
            bound_of,
        )
        .optional()?
        .unwrap_or(Bound {
            place,
            name: name(tx, place)?,
            tag: None,
            key: KeyId(0),
            on_trial: false,
            others: Vec::new(),
        });
    withdraw(tx, caller, place, bound.key, "undone", None)?;
    bound.on_trial = false;
    Ok(Ok(bound))
}

fn withdraw(
    tx: &Connection,
    caller: &Caller,
    place: PlaceId,
    key: KeyId,
    what: &str,
    note: Option<&str>,
) -> Result<(), Fault> {
    set_key(tx, key, KeyState::Withdrawn)?;
    tx.prepare_cached(sql::UNBIND)?
        .execute([&caller.profile, &caller.url])?;
    event(tx, place, caller, what, note)
}

fn set_key(tx: &Connection, key: KeyId, state: KeyState) -> Result<(), Fault> {
    tx.prepare_cached(sql::SET_KEY)?
        .execute(params![key.0, state.as_str()])?;
    Ok(())
}

pub(in crate::directory) fn end_trial(
    tx: &Connection,
    caller: &Caller,
    place: PlaceId,
    key: KeyId,
    state: KeyState,
    note: &str,
) -> Result<(), Fault> {
    match state {
        KeyState::Withdrawn => withdraw(tx, caller, place, key, "trial failed", Some(note)),
        KeyState::Trusted | KeyState::Trial => {
            set_key(tx, key, state)?;
            event(tx, place, caller, "trial passed", Some(note))
        }
    }
}

pub(in crate::directory) fn gate(
    connection: &Connection,
    place: PlaceId,
    key: KeyId,
) -> Result<Gate, Fault> {
    let found: Option<(String, Option<String>)> = connection
        .prepare_cached(sql::KEY_STATE)?
        .query_row(params![key.0, place.0], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let (state, tag) = found.unzip();
    let state = state.as_deref().and_then(KeyState::parse);
    let tag = tag.flatten();
    let alarm = alarms(connection, place)?.into_iter().next();
    Ok(Gate {
        // A key that is there no more went with a place that became part of another.
        key: state.unwrap_or(KeyState::Withdrawn),
        tag: tag.as_deref().map(EnvironmentTag::parse),
        alarm,
    })
}

fn alarms(connection: &Connection, place: PlaceId) -> Result<Vec<Alarm>, Fault> {
    let found = rows(connection, sql::ALARMS, [place.0], |row| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
        ))
    })?;
    found
        .into_iter()
        .map(|(number, user_group_id, what, at, by)| {
            Ok(Alarm {
                number,
                user_group_id,
                what,
                at: columns::timestamp(at).ok_or(Fault::Row("alarms"))?,
                by,
            })
        })
        .collect()
}

/// Nothing by id is sent for the place from here on.
pub(super) fn raise(
    tx: &Connection,
    place: PlaceId,
    what: &str,
    entry: &Entry,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::ADD_ALARM)?.execute(params![
        place.0,
        entry.user_group_id.as_str(),
        what,
        columns::micros(entry.at),
        entry.by
    ])?;
    Ok(())
}

/// The first tag that an answer brought is the place's, where no profile names one.
pub(super) fn first_tag(
    tx: &Connection,
    place: PlaceId,
    tag: &EnvironmentTag,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::FIRST_TAG)?
        .execute(params![place.0, tag.as_str()])?;
    Ok(())
}

pub(in crate::directory) fn acknowledge(
    tx: &Connection,
    place: PlaceId,
    tag: Option<&EnvironmentTag>,
    at: Timestamp,
    by: &str,
    reason: &str,
) -> Result<usize, Fault> {
    let count = tx.prepare_cached(sql::ACKNOWLEDGE)?.execute(params![
        place.0,
        columns::micros(at),
        by,
        reason
    ])?;
    tx.prepare_cached(sql::SET_TAG)?
        .execute(params![place.0, tag.map(EnvironmentTag::as_str)])?;
    add_event(tx, place, (at, by, ""), "alarms acknowledged", Some(reason))?;
    Ok(count)
}

pub(in crate::directory) fn had_token(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
    token: Fingerprint,
) -> Result<bool, Fault> {
    let known = connection.prepare_cached(sql::HAD_TOKEN)?.exists(params![
        token.as_bytes(),
        place.0,
        id.as_str()
    ])?;
    Ok(known)
}

pub(in crate::directory) fn all(connection: &Connection) -> Result<Vec<Place>, Fault> {
    let found = rows(connection, sql::PLACES, [], |row| {
        let tag: Option<String> = row.get(2)?;
        let last_used: Option<i64> = row.get(5)?;
        Ok(Place {
            id: PlaceId(row.get(0)?),
            name: row.get(1)?,
            tag: tag.as_deref().map(EnvironmentTag::parse),
            urls: Vec::new(),
            keys: Vec::new(),
            profiles: Vec::new(),
            groups: row.get(3)?,
            open: row.get(4)?,
            last_used: last_used.and_then(columns::timestamp),
            alarms: Vec::new(),
        })
    })?;
    found
        .into_iter()
        .map(|mut place| {
            let number = [place.id.0];
            place.urls = rows(connection, sql::URLS, number, |row| row.get(0))?;
            place.profiles = rows(connection, sql::PROFILES, number, |row| row.get(0))?;
            place.keys = keys(connection, place.id)?;
            place.alarms = alarms(connection, place.id)?;
            Ok(place)
        })
        .collect()
}

fn keys(connection: &Connection, place: PlaceId) -> Result<Vec<PlaceKey>, Fault> {
    type Columns = (i64, [u8; 32], String, i64, String, u32);
    let found: Vec<Columns> = rows(connection, sql::KEYS, [place.0], |row| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
            row.get(5)?,
        ))
    })?;
    found
        .into_iter()
        .map(|(id, fingerprint, state, at, added_by, recorded)| {
            let parts = KeyState::parse(&state).zip(columns::timestamp(at));
            let (state, added_at) = parts.ok_or(Fault::Row("place_keys"))?;
            Ok(PlaceKey {
                id: KeyId(id),
                fingerprint: Fingerprint::from_bytes(fingerprint),
                state,
                added_at,
                added_by,
                recorded,
            })
        })
        .collect()
}

pub(in crate::directory) fn events(
    connection: &Connection,
    place: PlaceId,
) -> Result<Vec<PlaceEvent>, Fault> {
    let found = rows(connection, sql::EVENTS, [place.0], |row| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
        ))
    })?;
    found
        .into_iter()
        .map(|(at, by, profile, event, note)| {
            Ok(PlaceEvent {
                at: columns::timestamp(at).ok_or(Fault::Row("place_events"))?,
                by,
                profile,
                event,
                note,
            })
        })
        .collect()
}

fn event(
    tx: &Connection,
    place: PlaceId,
    caller: &Caller,
    event: &str,
    note: Option<&str>,
) -> Result<(), Fault> {
    add_event(
        tx,
        place,
        (caller.at, &caller.by, &caller.profile),
        event,
        note,
    )
}

fn add_event(
    tx: &Connection,
    place: PlaceId,
    (at, by, profile): (Timestamp, &str, &str),
    event: &str,
    note: Option<&str>,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::ADD_EVENT)?.execute(params![
        place.0,
        columns::micros(at),
        by,
        profile,
        event,
        note
    ])?;
    Ok(())
}

fn name(connection: &Connection, place: PlaceId) -> Result<String, Fault> {
    let name = connection
        .prepare_cached(sql::NAME)?
        .query_row([place.0], |row| row.get(0))?;
    Ok(name)
}

fn is_empty(connection: &Connection, place: PlaceId) -> Result<bool, Fault> {
    let used = connection
        .prepare_cached(sql::IS_USED)?
        .query_row([place.0], |row| row.get::<_, bool>(0))?;
    Ok(!used)
}

fn has_no_key(connection: &Connection, place: PlaceId) -> Result<bool, Fault> {
    let mut statement = connection.prepare_cached(sql::HAS_KEY)?;
    Ok(!statement.exists([place.0])?)
}

fn has_no_tokens(connection: &Connection, place: PlaceId) -> Result<bool, Fault> {
    let mut statement = connection.prepare_cached(sql::HAS_TOKEN)?;
    Ok(!statement.exists([place.0])?)
}

pub(in crate::directory) fn rename(
    tx: &Connection,
    place: PlaceId,
    to: &str,
    at: Timestamp,
    by: &str,
) -> Result<bool, Fault> {
    let was = name(tx, place)?;
    let changed = tx
        .prepare_cached(sql::RENAME)?
        .execute(params![to, place.0])?;
    if changed == 1 {
        let note = format!("{was} is {to} from here on");
        add_event(tx, place, (at, by, ""), "renamed", Some(&note))?;
    }
    Ok(changed == 1)
}

/// Everything of one place becomes the other's. What both hold of a group is united field by field.
pub(in crate::directory) fn merge(
    tx: &Connection,
    from: PlaceId,
    into: PlaceId,
    at: Timestamp,
    by: &str,
) -> Result<(), Fault> {
    if from == into {
        return Ok(());
    }
    let was = name(tx, from)?;
    groups::unite(tx, from, into)?;
    for text in sql::MERGE {
        tx.prepare_cached(text)?.execute([from.0, into.0])?;
    }
    let note = format!("{was} turned out to be this place");
    add_event(tx, into, (at, by, ""), "merged", Some(&note))?;
    tx.prepare_cached(sql::REMOVE)?.execute([from.0])?;
    Ok(())
}
