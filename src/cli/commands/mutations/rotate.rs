//! `rotate`: asks, rotates once, writes the new token where it was requested, and confirms it by reading it back.

use super::{Rotated, answer, assurance, mistyped::may_be_mistyped, token_file, write_token};
use crate::{
    cli::{
        args::Rotate,
        commands::{batch, handoff, prelude::*, whose},
        output::{
            json::{ONE_REQUEST, one_request},
            token_file::TokenFile,
        },
    },
    domain::{pasted::Pasted, token::Fingerprint},
    operations::{JUST_ROTATED, Spare, Target, TokenLookup},
};

impl Run for Rotate {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("rotate", &[
            "groupdesk rotate acme-eu --reason 'leaked in a log' --token-out acme.token",
            "groupdesk rotate acme-eu --yes --json --reveal",
            "groupdesk rotate --older-than 90d --limit 50 --yes -o jsonl",
            "groupdesk rotate --from leaked.txt --yes --token-out new-tokens.jsonl",
        ], &[
            one("ID", &[&json::ROTATED]),
            one("ID --dry-run", &[&REQUEST]),
            lines(", of many groups", &[&batch::ITEM, &batch::SUM]),
            one(", of many groups --dry-run", &[&batch::PLAN]),
        ]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        token_file::prepare_for(&self.token)?;
        match self.single().cloned() {
            _ if self.token_stdin => {
                let pasted = whose::ask(global.no_input);
                in_session_with(global, pasted, async |session, pasted| {
                    rotate_pasted(session, pasted, self).await
                })
                .await
            }
            Some(id) => {
                in_session(global, async |session| {
                    rotate(session, id, None, self).await
                })
                .await
            }
            None => batch::run(global, self).await,
        }
    }
}

/// Rotates the group that a pasted token belongs to (docs/design/rotation.md: the fingerprint is looked up first; if
/// that finds nothing the id is asked for, with a plain warning). The token itself is forgotten before anything is
/// sent.
async fn rotate_pasted(
    session: &Session,
    pasted: Pasted,
    arguments: Rotate,
) -> Result<Exit, CliError> {
    let directory = session.operations.directory();
    let mut unclear = None;
    let (seen, mut owners) = match TokenLookup::of(directory, &pasted).await? {
        TokenLookup::Answered { mut tokens, .. } if tokens.len() == 1 => {
            let answer = tokens.remove(0);
            (answer.fingerprint, answer.owners)
        }
        TokenLookup::Answered { .. } => {
            return Err(CliError::Guarded(
                "standard input has more than one token; nothing was sent. Pass only one".into(),
            ));
        }
        // The service may issue tokens of another shape.
        TokenLookup::Unclear(why) => {
            if why.key.is_some() {
                return Err(CliError::Guarded(with_state(
                    &why.to_string(),
                    "nothing was sent",
                )));
            }
            unclear = Some(why);
            let whole = directory.fingerprinter().of(&pasted.as_token());
            (whole, Vec::new())
        }
    };
    drop(pasted);
    session.operations.permitted(Guarded::Rotate)?;
    // Not by name: a renamed profile keeps its place, which keeps its own name.
    let here = session.operations.place().await?;
    let elsewhere = owners
        .iter()
        .find(|owner| owner.current && owner.place != here);
    let elsewhere = elsewhere.map(|owner| {
        let profile = owner.bound.first();
        let profile = profile.map_or_else(String::new, |(name, _)| {
            format!(". Use -P {}", quoted(name))
        });
        format!(
            "this token belongs to \"{}\" in environment {}; nothing was sent{profile}",
            owner.user_group_id,
            visible(&owner.environment)
        )
    });
    owners.retain(|owner| owner.place == here);
    if let Some(elsewhere) = elsewhere.filter(|_| owners.is_empty()) {
        return Err(CliError::Guarded(elsewhere));
    }
    let current = owners.iter().find(|owner| owner.current);
    let id = match (arguments.groups.ids.as_slice(), current) {
        ([], Some(owner)) => owner.user_group_id.clone(),
        ([id], Some(owner)) if *id == owner.user_group_id => id.clone(),
        (_, Some(owner)) => {
            return Err(CliError::Guarded(format!(
                "this token belongs to \"{}\"; nothing was sent",
                owner.user_group_id
            )));
        }
        (_, None) if !owners.is_empty() => {
            return Err(CliError::Guarded(format!(
                "this token belonged to \"{}\" and has since been replaced; nothing was sent",
                owners[0].user_group_id
            )));
        }
        ([id], None) => {
            output::context(&format!(
                "! the directory has never seen this token; it is rotated only if the service confirms that it belongs to \"{id}\""
            ));
            id.clone()
        }
        _ if let Some(why) = unclear => {
            return Err(CliError::Guarded(with_state(
                &why.to_string(),
                "nothing was sent",
            )));
        }
        _ => {
            return Err(CliError::Guarded(
                "no known group of this profile has this token; nothing was sent. Pass the ID of its group: groupdesk rotate ID --token-stdin"
                    .into(),
            ));
        }
    };
    rotate(session, id, Some(seen), arguments).await
}

/// Rotates one group; `batch` rotates several. `pasted` is the token that selected the group, if one was given.
async fn rotate(
    session: &Session,
    id: UserGroupId,
    pasted: Option<Fingerprint>,
    arguments: Rotate,
) -> Result<Exit, CliError> {
    let (mutation, token) = (arguments.mutation, arguments.token);
    let assurance = assurance(arguments.assurance.exists);
    let review = Review::of(session, Guarded::Rotate, &mutation)?;
    // Before anything is shown: what somebody rotates from here on, this command leaves alone.
    let noted = session.operations.directory().last_number().await?;
    let known = session.operations.known(&id, assurance).await?;
    let seen = pasted.or_else(|| Some(known.as_ref()?.fingerprint.as_ref()?.value));
    mutation
        .no_curl("a rotation cannot be printed as a curl command, because its body is a token")?;
    review.begin()?;
    let spare = if arguments.bulk.include_recent || pasted.is_some() {
        // A token that was pasted is meant, however young it is.
        Spare::default()
    } else {
        Spare {
            since: Some(noted),
            younger_than: JUST_ROTATED,
        }
    };
    if mutation.dry_run {
        let reason = arguments.reason.as_deref();
        let would = session
            .operations
            .would_rotate(&id, spare, reason, assurance);
        let would = would.await;
        would.map_err(|failure| failure.of_change(&id, "rotated"))?;
        return dry_rotation(session, &id, seen);
    }
    let mut what = format!(
        "Rotate the token of \"{id}\" (fingerprint {})? The old token stops working at once.",
        word(seen)
    );
    if assurance == UnknownIdPolicy::Exists
        && let Some(consequence) = may_be_mistyped(session, &id, known.as_ref()).await?
    {
        what = format!("{what} {consequence}");
    }
    let mut file = token_file(&token)?;
    let about = (Guarded::Rotate, &id);
    review.ask_about(about, Weight::default(), &what).await?;
    let target = Target {
        seen,
        spare,
        to_file: file.as_ref().is_some_and(TokenFile::is_file),
    };
    let (operations, in_flight) = (&session.operations, &session.in_flight);
    let rotating = Box::pin(operations.rotate_seen(&id, target, arguments.reason, assurance));
    let rotated = in_flight.during(rotating).await;
    let rotated = rotated.map_err(|failure| failure.of_change(&id, "rotated"))?;
    // Write the token before the confirming get, so that the person has it whatever happens next. A failure is reported
    // below. Standard output has to wait, because what was written there cannot be taken back.
    let early = file.as_mut().filter(|file| file.is_file());
    drop(write_token(session, &rotated, early).await);
    let done = if rotated.ending == Ending::Rotated {
        in_flight
            .during(Box::pin(operations.confirm(rotated)))
            .await
    } else {
        rotated
    };
    // Hand off only after the confirming get: a token that it contradicts must not reach the dashboards.
    let handed = handoff::after(session, &done).await;
    let rotated = Some(Rotated(handed.as_ref()));
    answer(session, &done, rotated, &token, file.as_mut()).await
}

fn word(seen: Option<Fingerprint>) -> String {
    seen.map_or_else(|| "unknown".to_owned(), |seen| seen.to_string())
}

fn dry_rotation(
    session: &Session,
    id: &UserGroupId,
    seen: Option<Fingerprint>,
) -> Result<Exit, CliError> {
    let url = session.operations.profile().url();
    let value = || requested(&url, id, seen);
    output::either(session.json, value, || {
        format!(
            "would read \"{id}\", then send one POST {url} with its current token (last seen: {})",
            word(seen)
        )
    })
}

shape! {
    REQUEST = "rotation-request", "what rotate --dry-run would do";
    fn requested(url: &str, id: &UserGroupId, seen: Option<Fingerprint>) {
        ..ONE_REQUEST = one_request("POST", url);
        "user_group_id": text = id.as_str(), "the group";
        "fingerprint": text or "unknown" = seen, "fingerprint of the token that would be replaced";
    }
}
