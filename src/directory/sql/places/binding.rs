//! Determines which place a profile means from address, key and name.

use super::{SET_TAG, TABLE, add_event, all, names_beside, who};
use crate::{
    db::{Access, Tx, Value, record, row, values},
    directory::{
        Binding, BindingPreview, Bound, Caller, Directory, KeyState, OtherPlace, PlaceId, Question,
        QuestionReason, Result,
        sql::{fault::Fault, states::open_states},
    },
    domain::{group::EnvironmentTag, token::Fingerprint},
};

impl Directory {
    /// Returns the place that this profile with this address was last bound to, which is enough for reading. `None` if
    /// it never was.
    pub async fn place_of(&self, profile: &str, url: &str) -> Result<Option<PlaceId>> {
        self.one(PLACE_OF, values![profile, url]).await
    }

    /// Returns the place with this name, otherwise the only one with this address. For a viewer, who cannot bind.
    pub async fn place_named(&self, name: &str, url: &str) -> Result<Option<PlaceId>> {
        let found = self.all::<(PlaceId, bool)>(Access::Short, NAMED, values![name, url]);
        Ok(match found.await?[..] {
            [(place, true), ..] | [(place, _)] => Some(place),
            _ => None,
        })
    }

    /// As [`Directory::place_of`], with the API key: `None` if the place does not know it. A profile that was never
    /// bound, and one made of variables, is recognised by address and key.
    pub async fn place_with_key(
        &self,
        (profile, url): (&str, &str),
        key: Fingerprint,
        from_variables: bool,
    ) -> Result<Option<PlaceId>> {
        let (profile, url) = (profile.to_owned(), url.to_owned());
        self.execute(Access::Short, move |c| {
            with_key(c, (&profile, &url), key, from_variables)
        })
        .await
    }

    /// Compares address, key and name with what is known, and binds the profile if there is no doubt.
    pub async fn bind(&self, caller: Caller) -> Result<Binding> {
        let copy = caller.clone();
        // Nothing needs to be written for a profile that is used every day.
        let settled = self
            .execute(Access::Short, move |tx| bound(tx, &copy))
            .await?;
        match settled {
            Some(bound) => Ok(Binding::Bound(bound)),
            None => self.write(move |tx| bind(tx, &caller)).await,
        }
    }

    /// Returns what [`Directory::bind`] would result in; nothing is written.
    pub async fn preview_binding(&self, caller: Caller) -> Result<BindingPreview> {
        self.execute(Access::Short, move |c| preview_binding(c, &caller))
            .await
    }

    /// Returns the other addresses with which a name was bound, each with the name of its place.
    pub async fn bound_elsewhere(&self, profile: &str, url: &str) -> Result<Vec<(String, String)>> {
        self.all(Access::Short, ELSEWHERE, values![profile, url])
            .await
    }

    /// Returns other places of this address that are not empty.
    pub async fn other_places(&self, url: &str, place: PlaceId) -> Result<Vec<OtherPlace>> {
        self.all(Access::Short, OTHERS, values![url, place]).await
    }
}

/// The places that address, key and name point to.
pub(super) struct KnownPlaces {
    /// Places that know both address and key.
    pub(super) here: Vec<PlaceId>,
    pub(super) by_key: Vec<PlaceId>,
    pub(super) by_url: Vec<PlaceId>,
    /// Bound with this name and this address.
    pub(super) exact: Option<PlaceId>,
    /// Bound with this name and other addresses.
    pub(super) elsewhere: Vec<PlaceId>,
    /// Places of a team in which a group was seen, if nothing else points to a place.
    of_team: Vec<PlaceId>,
}

pub(super) const OF_TEAM: &str = "\
SELECT number FROM places WHERE EXISTS (SELECT 1 FROM fingerprints WHERE place = number) ORDER BY name";

const BY_KEY: &str =
    "SELECT place FROM place_keys WHERE fingerprint = $1 AND state <> 'withdrawn' ORDER BY place";

const BY_URL: &str = "SELECT place FROM place_urls WHERE url = $1 ORDER BY place";

const BY_NAME: &str = "SELECT url, place FROM bindings WHERE profile = $1 ORDER BY at DESC";

impl KnownPlaces {
    pub(super) fn of(tx: &Tx<'_>, caller: &Caller) -> Result<Self, Fault> {
        let by_key = tx.ask(BY_KEY, values![caller.key])?;
        let by_url = tx.ask(BY_URL, values![&caller.url])?;
        let named = tx.ask::<(String, PlaceId)>(BY_NAME, values![&caller.profile])?;
        let (by_key, by_url, named): (Vec<PlaceId>, Vec<PlaceId>, _) =
            (by_key.all()?, by_url.all()?, named.all()?);
        let here = by_key.iter().filter(|place| by_url.contains(place));
        let here = here.copied().collect();
        let exact = named.iter().find(|(url, _)| *url == caller.url);
        let exact = exact.map(|(_, place)| *place);
        // A name made from variables says nothing: several keys may have been used with it.
        let counts = !caller.from_variables;
        let is_unknown = by_key.is_empty() && by_url.is_empty() && named.is_empty();
        let of_team = match tx.sqlite() {
            None if counts && is_unknown => tx.all(OF_TEAM, values![])?,
            _ => Vec::new(),
        };
        Ok(Self {
            of_team,
            here,
            by_key,
            by_url,
            exact,
            elsewhere: named
                .iter()
                .filter(|(url, _)| counts && *url != caller.url)
                .map(|(_, place)| *place)
                .collect(),
        })
    }

    /// All possible places, most likely first.
    pub(super) fn candidates(&self) -> Vec<PlaceId> {
        let mut all = Vec::new();
        let found = self.here.iter().chain(&self.exact);
        let found = found.chain(&self.by_key).chain(&self.by_url);
        for place in found.chain(&self.elsewhere).chain(&self.of_team) {
            if !all.contains(place) {
                all.push(*place);
            }
        }
        all
    }
}

pub(in crate::directory::sql) const PLACE_OF: &str =
    "SELECT place FROM bindings WHERE profile = $1 AND url = $2";

const NAMED: &str = "\
SELECT p.number, p.name = $1 FROM places p WHERE p.name = $1 \
 OR EXISTS (SELECT 1 FROM place_urls u WHERE u.place = p.number AND u.url = $2) \
ORDER BY p.name <> $1, p.number LIMIT 2";

const WITH_KEY: &str = "\
SELECT u.place FROM place_urls u JOIN place_keys k ON k.place = u.place \
WHERE u.url = $1 AND k.fingerprint = $2 AND k.state <> 'withdrawn' ORDER BY k.state = 'trusted' DESC, u.place";

/// The place of this name and address, unless it does not know this key: an unknown key knows nothing. The name that
/// variables make says nothing, so there the key alone decides.
pub(crate) fn with_key(
    tx: &Tx<'_>,
    (profile, url): (&str, &str),
    key: Fingerprint,
    from_variables: bool,
) -> Result<Option<PlaceId>, Fault> {
    let by_name = tx.one(PLACE_OF, values![profile, url])?;
    let by_key: Vec<PlaceId> = tx.all(WITH_KEY, values![url, key])?;
    match by_name {
        Some(place) if by_key.contains(&place) => Ok(Some(place)),
        Some(_) if !from_variables => Ok(None),
        Some(_) | None => Ok(by_key.first().copied()),
    }
}

const ELSEWHERE: &str = "\
SELECT b.url, p.name FROM bindings b JOIN places p ON p.number = b.place \
WHERE b.profile = $1 AND b.url <> $2 ORDER BY b.at DESC, b.url";

pub(super) const BOUND: &str = "\
SELECT p.number, p.name, p.tag, k.number, k.state = 'trial', b.environment FROM bindings b \
JOIN places p ON p.number = b.place \
JOIN place_urls u ON u.place = p.number AND u.url = b.url \
JOIN place_keys k ON k.place = p.number \
WHERE b.profile = $1 AND b.url = $2 AND k.fingerprint = $3 AND k.state <> 'withdrawn'";

/// The place of a profile whose name, address and key are all known for it, so that nothing needs to be written.
pub(crate) fn bound(tx: &Tx<'_>, caller: &Caller) -> Result<Option<Bound>, Fault> {
    let found: Option<(Bound, Option<String>)> = tx.one(BOUND, caller_of(caller))?;
    let Some((bound, environment)) = found else {
        return Ok(None);
    };
    let configured = caller.environment.as_ref().map(EnvironmentTag::as_str);
    if environment.as_deref() != configured
        || configured.is_some() && bound.tag != caller.environment
    {
        return Ok(None);
    }
    Ok(Some(bound))
}

/// Name, address and key, as parameters of [`BOUND`].
pub(super) fn caller_of(caller: &Caller) -> Vec<Value> {
    values![&caller.profile, &caller.url, caller.key]
}

record!(Bound, "places" {
    place = "p.number", name = "p.name", tag = "p.tag", key = "k.number", on_trial = "k.state = 'trial'",
});
record!(OtherPlace, "places" { name, groups, open });

/// Places of this address that are not empty.
const OTHERS: &str = concat!(
    "SELECT name, groups, open FROM ( \
 SELECT p.name, \
  (SELECT COUNT(*) FROM user_groups g WHERE g.place = p.number) AS groups, \
  (SELECT COUNT(*) FROM rotations WHERE place = p.number AND ",
    open_states!(),
    ") AS open \
 FROM places p WHERE p.number IN (SELECT place FROM place_urls WHERE url = $1) AND p.number <> $2) others \
WHERE groups > 0 OR open > 0 ORDER BY name"
);

/// What address, key and name determine, before anything is written.
enum Verdict {
    Bind(PlaceId, Option<KeyState>),
    Create,
    Ask(QuestionReason),
}

fn bind(tx: &Tx<'_>, caller: &Caller) -> Result<Binding, Fault> {
    let known = KnownPlaces::of(tx, caller)?;
    let (place, state) = match decide(caller, &known) {
        Verdict::Bind(place, state) => (place, state),
        Verdict::Create => (create(tx, caller)?, Some(KeyState::Trusted)),
        Verdict::Ask(why) => return question(tx, caller, &known, why).map(Binding::Asked),
    };
    bind_to(tx, caller, place, state)
}

/// What binding would result in; nothing is written.
pub(crate) fn preview_binding(tx: &Tx<'_>, caller: &Caller) -> Result<BindingPreview, Fault> {
    if bound(tx, caller)?.is_some() {
        return Ok(BindingPreview::Known);
    }
    let known = KnownPlaces::of(tx, caller)?;
    Ok(match decide(caller, &known) {
        Verdict::Bind(place, _) => match tag_conflict(tx, caller, place)? {
            Some((place, profile)) => BindingPreview::TagConflict { place, profile },
            None => BindingPreview::Known,
        },
        Verdict::Create => BindingPreview::New,
        Verdict::Ask(why) => BindingPreview::Asked(question(tx, caller, &known, why)?),
    })
}

fn decide(caller: &Caller, known: &KnownPlaces) -> Verdict {
    if let Some(place) = known.here.first().copied() {
        let exact = known.exact.filter(|_| !caller.from_variables);
        let named = match &exact {
            Some(exact) => std::slice::from_ref(exact),
            None => &known.elsewhere,
        };
        return if named.iter().all(|named| *named == place) {
            Verdict::Bind(place, None)
        } else {
            Verdict::Ask(QuestionReason::OtherName)
        };
    }
    if let (true, Some(place)) = (caller.key_changes, known.exact) {
        return Verdict::Bind(place, Some(KeyState::Trial));
    }
    if caller.from_variables {
        return if known.by_key.is_empty() {
            Verdict::Create
        } else {
            Verdict::Ask(QuestionReason::OtherAddress)
        };
    }
    if known.candidates().is_empty() {
        Verdict::Create
    } else if !known.of_team.is_empty() {
        Verdict::Ask(QuestionReason::NewToTeam)
    } else if known.by_url.is_empty() {
        Verdict::Ask(QuestionReason::OtherAddress)
    } else {
        Verdict::Ask(QuestionReason::NewKey)
    }
}

fn question(
    tx: &Tx<'_>,
    caller: &Caller,
    known: &KnownPlaces,
    why: QuestionReason,
) -> Result<Question, Fault> {
    let candidates = known.candidates();
    let mut places = all(tx)?;
    places.retain(|place| candidates.contains(&place.id));
    places.sort_by_key(|place| candidates.iter().position(|id| *id == place.id));
    Ok(Question {
        why,
        key: caller.key,
        places,
    })
}

const ADD_PLACE: &str = "\
INSERT INTO places (name, made_at, made_by) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING number";

pub(super) fn create(tx: &Tx<'_>, caller: &Caller) -> Result<PlaceId, Fault> {
    let names = (1..).map(|n| match n {
        1 => caller.profile.clone(),
        n => format!("{}-{n}", caller.profile),
    });
    let known = names_beside(tx, PlaceId::NONE)?;
    let names = names.filter(|name| !known.contains(&name.to_lowercase()));
    for name in names {
        let made = tx.one(ADD_PLACE, values![name, caller.at, &caller.by])?;
        if let Some(place) = made {
            add_event(tx, place, who(caller), "made", None)?;
            return Ok(place);
        }
    }
    Err(Fault::Row(TABLE))
}

const TAG_CONFLICT: &str = "\
SELECT p.name, b.profile FROM bindings b JOIN places p ON p.number = b.place \
WHERE b.place = $1 AND b.profile <> $2 AND b.environment <> $3 ORDER BY b.at DESC LIMIT 1";

/// The name of the place, and another profile of it that names another tag.
fn tag_conflict(
    tx: &Tx<'_>,
    caller: &Caller,
    place: PlaceId,
) -> Result<Option<(String, String)>, Fault> {
    let environment = caller.environment.as_ref();
    Ok(tx.one(TAG_CONFLICT, values![place, &caller.profile, environment])?)
}

const ADD_URL: &str = "INSERT INTO place_urls (place, url) VALUES ($1, $2) ON CONFLICT DO NOTHING";

pub(super) const UNBIND: &str = "DELETE FROM bindings WHERE profile = $1 AND url = $2";

/// Binds the profile to the place. A key that the place does not know yet is added in the given state.
pub(super) fn bind_to(
    tx: &Tx<'_>,
    caller: &Caller,
    place: PlaceId,
    state: Option<KeyState>,
) -> Result<Binding, Fault> {
    let environment = caller.environment.as_ref();
    if let Some((place, profile)) = tag_conflict(tx, caller, place)? {
        return Ok(Binding::TagConflict { place, profile });
    }
    tx.put(ADD_URL, values![place, &caller.url])?;
    if let Some(state) = state {
        let row = row! {
            fingerprint: caller.key,
            place,
            state,
            added_at: caller.at,
            added_by: &caller.by,
        };
        tx.upsert("place_keys", 2, row)?;
        let note = format!("{}, API key {}", caller.url, state.as_str());
        add_event(tx, place, who(caller), "bound", Some(&note))?;
    }
    // Replaces the previous binding. In a team's database the bindings of all persons share a table; the old row is found
    // through the view of one's own.
    tx.put(UNBIND, values![&caller.profile, &caller.url])?;
    let row = row! {
        profile: &caller.profile,
        url: &caller.url,
        place,
        environment,
        at: caller.at,
    };
    tx.insert("bindings", row)?;
    if environment.is_some() {
        tx.put(SET_TAG, values![environment, place])?;
    }
    let bound = tx.one(BOUND, caller_of(caller))?;
    Ok(Binding::Bound(bound.ok_or(Fault::Row(TABLE))?))
}
