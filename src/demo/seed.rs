//! Puts planned groups into the service, and remembers their tokens for as long as it takes to fingerprint them.

use std::collections::HashMap;

use tokio::sync::mpsc;

use super::{
    DemoError,
    samples::{self, SampleEnvironment, SampleGroup},
};
use crate::{
    domain::token::Token,
    service::{seed::SeedGroup, store::Store},
};

/// What the service gave a group.
pub(super) struct SeededGroup {
    pub(super) team_id: i64,
    pub(super) token: Token,
}

/// Of each place, by the number of the group in the plan.
pub(super) type Tokens = HashMap<(SampleEnvironment, usize), SeededGroup>;

/// Groups that are made together.
const PART: usize = 1_000;

/// Seeds the samples, or so many generated groups, some at a time: those that come next are made while the last ones are
/// remembered, and never are all of them held. It ends where nobody takes them.
pub(super) fn parts(store: Store, groups: Option<usize>) -> mpsc::Receiver<Part> {
    let (sender, parts) = mpsc::channel(1);
    tokio::task::spawn_blocking(move || {
        let Some(groups) = groups else {
            let part = samples::all().and_then(|plan| made(&store, plan));
            drop(sender.blocking_send(part));
            return;
        };
        for first in (0..groups).step_by(PART) {
            let part = made(&store, samples::generated(first..groups.min(first + PART)));
            let is_last = part.is_err();
            if sender.blocking_send(part).is_err() || is_last {
                return;
            }
        }
    });
    parts
}

type Part = Result<(Vec<SampleGroup>, Tokens), DemoError>;

fn made(store: &Store, plan: Vec<SampleGroup>) -> Part {
    let tokens = seed(store, &plan)?;
    Ok((plan, tokens))
}

/// Seeds both environments. Blocks.
fn seed(store: &Store, plan: &[SampleGroup]) -> Result<Tokens, DemoError> {
    let mut tokens = Tokens::new();
    for place in SampleEnvironment::ALL {
        let there = || {
            plan.iter()
                .enumerate()
                .filter(|(_, group)| group.is_in(place))
        };
        let groups = there()
            .map(|(_, group)| SeedGroup {
                user_group_id: group.user_group_id.clone(),
                name: group.name_in(place),
                mapping: group.mapping.clone(),
                properties: group.properties.clone(),
            })
            .collect();
        let seeded = store.seed(place.environment(), groups)?;
        tokens.extend(there().zip(seeded).map(|((number, _), seeded)| {
            use secrecy::ExposeSecret;
            let token = Token::new(seeded.token.expose_secret().to_owned());
            (
                (place, number),
                SeededGroup {
                    team_id: seeded.team_id,
                    token,
                },
            )
        }));
    }
    Ok(tokens)
}
