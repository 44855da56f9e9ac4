//! An operator's decision about the place of a profile, and the trial of a key.

use super::{
    TABLE, add_event,
    binding::{BOUND, KnownPlaces, OF_TEAM, UNBIND, bind_to, caller_of, create},
    has_no_key, has_no_tokens,
    merging::merge,
    name, who,
};
use crate::{
    db::{Access, Tx, values},
    directory::{
        Binding, BindingAnswer, Bound, Caller, Directory, KeyId, KeyState, PlaceId, Refusal,
        Result, sql::fault::Fault,
    },
};

impl Directory {
    /// Binds the profile as the operator answered.
    pub async fn answer_binding(
        &self,
        caller: Caller,
        answer: BindingAnswer,
    ) -> Result<Result<Bound, Refusal>> {
        self.write(move |tx| {
            let caller = &caller;
            let known = KnownPlaces::of(tx, caller)?;
            let (place, state) = match answer {
                BindingAnswer::Undo => return undo(tx, caller, &known),
                BindingAnswer::New => {
                    if let Some(here) = known.here.first() {
                        let place = name(tx, *here)?;
                        return Ok(Err(Refusal::AlreadyKnown { place }));
                    }
                    (create(tx, caller)?, KeyState::Trusted)
                }
                BindingAnswer::Same { place, unproven } => {
                    let same = match same(tx, caller, &known, place)? {
                        Ok(same) => same,
                        Err(refusal) => return Ok(Err(refusal)),
                    };
                    if let Some(left) = same.left {
                        tx.put(LEAVE, values![left, caller.key])?;
                        let note = format!("never used; it is {}", name(tx, same.place)?);
                        add_event(tx, left, who(caller), "left", Some(&note))?;
                    }
                    if let Some(merged) = same.merged {
                        let merged = merge(tx, merged, same.place, caller.at, &caller.by)?;
                        if let Err(refusal) = merged {
                            return Ok(Err(refusal));
                        }
                    }
                    let is_trusted = unproven || !same.needs_proof;
                    let state = if is_trusted {
                        KeyState::Trusted
                    } else {
                        KeyState::Trial
                    };
                    (same.place, state)
                }
            };
            match bind_to(tx, caller, place, Some(state))? {
                Binding::Bound(bound) => Ok(Ok(bound)),
                Binding::TagConflict { place, .. } => Ok(Err(Refusal::OtherPlace { place })),
                Binding::Asked(_) => Err(Fault::Row(TABLE)),
            }
        })
        .await
    }

    /// The place that "the same" with this name means, whose groups prove a key; nothing is written.
    pub async fn place_to_prove(
        &self,
        caller: Caller,
        named: Option<PlaceId>,
    ) -> Result<Result<PlaceId, Refusal>> {
        self.execute(Access::Short, move |tx| {
            let known = KnownPlaces::of(tx, &caller)?;
            let same = same(tx, &caller, &known, named)?;
            Ok(same.map(|same| same.merged.unwrap_or(same.place)))
        })
        .await
    }

    /// Ends the trial of a key: it is trusted from now on, or withdrawn together with the bindings that used it. Returns
    /// false if it was to be trusted and somebody has withdrawn it meanwhile: then it stays withdrawn.
    pub async fn end_trial(
        &self,
        caller: Caller,
        bound: &Bound,
        state: KeyState,
        note: &str,
    ) -> Result<bool> {
        let (place, key, note) = (bound.place, bound.key, note.to_owned());
        self.write(move |tx| {
            let caller = &caller;
            let note = note.as_str();
            match state {
                KeyState::Withdrawn => {
                    withdraw(tx, caller, place, key, "trial failed", Some(note))?;
                }
                KeyState::Trusted | KeyState::Trial => {
                    if tx.write(PASS_KEY, values![state, key])? == 0 {
                        return Ok(false);
                    }
                    add_event(tx, place, who(caller), "trial passed", Some(note))?;
                }
            }
            Ok(true)
        })
        .await
    }
}

/// What "the same" comes to.
struct Same {
    place: PlaceId,
    /// A place without a key that turns out to be that one.
    merged: Option<PlaceId>,
    /// A place without a group that the key was taken for, for example because the profile wrote its URL in another way.
    left: Option<PlaceId>,
    /// The key is not trusted there, and there are tokens that can prove it.
    needs_proof: bool,
}

fn same(
    tx: &Tx<'_>,
    caller: &Caller,
    known: &KnownPlaces,
    named: Option<PlaceId>,
) -> Result<Result<Same, Refusal>, Fault> {
    let meant = match resolve_same(tx, known, named)? {
        Ok(place) => place,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (place, merged, left) = match (known.here.first(), known.by_key.first()) {
        (Some(here), _) if *here != meant && has_no_key(tx, meant)? => (*here, Some(meant), None),
        (Some(other), _) | (None, Some(other)) if *other != meant => {
            if !is_empty(tx, *other)? {
                let place = name(tx, *other)?;
                return Ok(Err(Refusal::OtherPlace { place }));
            }
            (meant, None, Some(*other))
        }
        _ => (meant, None, None),
    };
    let mut has_tokens = !has_no_tokens(tx, place)?;
    if let Some(merged) = merged {
        has_tokens |= !has_no_tokens(tx, merged)?;
    }
    // A key on trial is as unproven as a new one, whoever answers for it; so is any key after the only one was withdrawn.
    let is_trusted = tx.one::<()>(IS_TRUSTED, values![place, caller.key])?;
    Ok(Ok(Same {
        place,
        merged,
        left,
        needs_proof: has_tokens && is_trusted.is_none(),
    }))
}

/// This key, or any if the place comes from a version that stored none.
const IS_TRUSTED: &str = "\
SELECT 1 WHERE EXISTS (SELECT 1 FROM place_keys WHERE place = $1 AND fingerprint = $2 AND state = 'trusted') \
 OR NOT EXISTS (SELECT 1 FROM place_keys WHERE place = $1)";

/// The key is no longer of this place.
const LEAVE: &str =
    "UPDATE place_keys SET state = 'withdrawn' WHERE place = $1 AND fingerprint = $2";

const HAS_WORK: &str = "SELECT 1 WHERE EXISTS (SELECT 1 FROM user_groups WHERE place = $1) \
    OR EXISTS (SELECT 1 FROM mutations WHERE place = $1) OR EXISTS (SELECT 1 FROM rotations WHERE place = $1) \
    OR EXISTS (SELECT 1 FROM annotations WHERE place = $1) OR EXISTS (SELECT 1 FROM batches WHERE place = $1) \
    OR EXISTS (SELECT 1 FROM imports WHERE place = $1) OR EXISTS (SELECT 1 FROM alarms WHERE place = $1)";

/// Whether no group was ever known in a place, and nothing was begun there.
fn is_empty(tx: &Tx<'_>, place: PlaceId) -> Result<bool, Fault> {
    let work = tx.one::<()>(HAS_WORK, values![place])?;
    Ok(work.is_none() && has_no_tokens(tx, place)?)
}

/// The place meant by "the same": the named one, otherwise the only possible one. In a team a place without groups is none that
/// others know: the profile itself may have made it.
fn resolve_same(
    tx: &Tx<'_>,
    known: &KnownPlaces,
    named: Option<PlaceId>,
) -> Result<Result<PlaceId, Refusal>, Fault> {
    if let Some(place) = named {
        return Ok(Ok(place));
    }
    let mut candidates = known.candidates();
    let own = known.exact.or(known.here.first().copied());
    if let Some(place) = own {
        // One that this key was never used for is known by its name: it is meant.
        let is_by_key = known.here.contains(&place);
        if tx.sqlite().is_some() || !is_by_key || !is_empty(tx, place)? {
            return Ok(Ok(place));
        }
        let others = tx.all::<PlaceId>(OF_TEAM, values![])?;
        candidates.retain(|candidate| *candidate != place && !others.contains(candidate));
        candidates.extend(others);
        if candidates.is_empty() {
            return Ok(Ok(place));
        }
    }
    if let [only] = candidates.as_slice() {
        return Ok(Ok(*only));
    }
    let places = candidates.iter().map(|place| name(tx, *place));
    let places = places.collect::<Result<_, _>>()?;
    Ok(Err(Refusal::WhichPlace { places }))
}

fn undo(
    tx: &Tx<'_>,
    caller: &Caller,
    known: &KnownPlaces,
) -> Result<Result<Bound, Refusal>, Fault> {
    let Some(place) = known.exact else {
        return Ok(Err(Refusal::NotBound));
    };
    let mut bound = tx.one(BOUND, caller_of(caller))?.unwrap_or(Bound {
        place,
        name: name(tx, place)?,
        tag: None,
        key: KeyId(0),
        on_trial: false,
    });
    withdraw(tx, caller, place, bound.key, "undone", None)?;
    bound.on_trial = false;
    Ok(Ok(bound))
}

fn withdraw(
    tx: &Tx<'_>,
    caller: &Caller,
    place: PlaceId,
    key: KeyId,
    what: &str,
    note: Option<&str>,
) -> Result<(), Fault> {
    tx.put(SET_KEY, values![KeyState::Withdrawn, key])?;
    tx.put(UNBIND, values![&caller.profile, &caller.url])?;
    add_event(tx, place, who(caller), what, note)
}

const PASS_KEY: &str =
    "UPDATE place_keys SET state = $1 WHERE number = $2 AND state <> 'withdrawn'";

const SET_KEY: &str = "UPDATE place_keys SET state = $1 WHERE number = $2";
