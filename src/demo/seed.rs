//! Putting planned groups into the service, and remembering their tokens for as long as it takes to fingerprint them.

use std::collections::HashMap;

use super::{
    DemoError,
    samples::{SampleEnvironment, SampleGroup},
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

/// Seeds both environments. Blocks.
pub(super) fn seed(store: &Store, plan: &[SampleGroup]) -> Result<Tokens, DemoError> {
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
