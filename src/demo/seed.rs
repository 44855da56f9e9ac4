//! Creates the planned groups in the service, and keeps their tokens only until they are fingerprinted; and writes many
//! known groups into the directory, one large transaction after the other, while more are being generated.

use secrecy::ExposeSecret;
use tokio::{sync::mpsc, task::JoinHandle};

use super::{
    DemoError,
    samples::{self, SampleEnvironment, SampleGroup},
};
use crate::{
    api::wire::GroupRequest,
    directory::{Directory, DirectoryError, PlaceId},
    domain::{known::KnownGroup, token::Token},
    service::{
        seed::Seeder,
        store::{Store, StoreError},
    },
};

/// What the service generated for a group.
pub(super) struct SeededGroup {
    pub(super) place: SampleEnvironment,
    /// The group's index in the plan.
    pub(super) position: usize,
    pub(super) team_id: i64,
    pub(super) token: Token,
}

/// The seeded groups: one environment after the other, each in the order of the plan.
pub(super) type Tokens = Vec<SeededGroup>;

/// Groups that are made together.
pub(super) const CHUNK_LEN: usize = 250;

/// Groups of one transaction.
pub(super) const TRANSACTION_LEN: usize = 400 * CHUNK_LEN;

/// Seeds the samples, or this many generated groups, in parts: the next part is generated while the previous one is
/// recorded, so that they are never all in memory. Stops when the receiver is dropped; await the handle to learn
/// whether it panicked.
pub(super) fn chunks(
    store: Store,
    groups: Option<usize>,
) -> (mpsc::Receiver<SeededChunk>, JoinHandle<()>) {
    let (sender, parts) = mpsc::channel(1);
    let making = tokio::task::spawn_blocking(move || {
        let Some(groups) = groups else {
            let part = samples::all().and_then(|plan| {
                let wanted = plan.clone();
                let tokens = store.seed(move |seeder| seed(seeder, &wanted))?;
                Ok((plan, tokens))
            });
            drop(sender.blocking_send(part));
            return;
        };
        for first in (0..groups).step_by(TRANSACTION_LEN) {
            let all = first..groups.min(first + TRANSACTION_LEN);
            let parts = sender.clone();
            let made = store.seed(move |seeder| {
                for first in all.clone().step_by(CHUNK_LEN) {
                    let plan = samples::generated(first..all.end.min(first + CHUNK_LEN));
                    let tokens = seed(seeder, &plan)?;
                    if parts.blocking_send(Ok((plan, tokens))).is_err() {
                        return Ok(false);
                    }
                }
                Ok(true)
            });
            match made {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    drop(sender.blocking_send(Err(error.into())));
                    return;
                }
            }
        }
    });
    (parts, making)
}

type SeededChunk = Result<(Vec<SampleGroup>, Tokens), DemoError>;

/// Seeds both environments. Blocks the thread.
fn seed(seeder: &Seeder<'_, '_>, plan: &[SampleGroup]) -> Result<Tokens, StoreError> {
    let mut tokens = Tokens::new();
    for place in SampleEnvironment::ALL {
        let there = plan.iter().enumerate();
        let there: Vec<_> = there.filter(|(_, group)| group.is_in(place)).collect();
        let groups = there.iter().map(|(_, group)| GroupRequest {
            user_group_id: group.user_group_id.clone(),
            name: Some(group.name_in(place)),
            mapping: Some(group.mapping.clone()),
            properties: Some(group.properties.clone()),
        });
        let seeded = seeder.add(place.environment(), groups.collect())?;
        let seeded = there.iter().zip(seeded);
        tokens.extend(seeded.map(|((position, _), seeded)| SeededGroup {
            place,
            position: *position,
            team_id: seeded.team_id,
            token: Token::new(seeded.token.expose_secret().to_owned()),
        }));
    }
    Ok(tokens)
}

type Chunk = Vec<(PlaceId, KnownGroup)>;
type Transaction = JoinHandle<Result<(), DirectoryError>>;

pub(super) struct Filler {
    directory: Directory,
    /// The open transaction.
    open: Option<(mpsc::Sender<Chunk>, Transaction)>,
    /// Number of groups in the open transaction.
    count: usize,
    is_begun: bool,
}

impl Filler {
    pub(super) fn of(directory: &Directory) -> Self {
        Self {
            directory: directory.clone(),
            open: None,
            count: 0,
            is_begun: false,
        }
    }

    pub(super) async fn add(&mut self, chunk: Chunk) -> Result<(), DemoError> {
        if !self.is_begun {
            self.directory.begin_filling().await?;
            self.is_begun = true;
        }
        self.count += chunk.len();
        let (sender, _) = self.open.get_or_insert_with(|| {
            let (sender, parts) = mpsc::channel(1);
            let directory = self.directory.clone();
            let filling = tokio::spawn(async move { directory.fill(parts).await });
            (sender, filling)
        });
        // If nobody receives it, the transaction has failed, and `commit` returns the error.
        if sender.send(chunk).await.is_err() || self.count >= TRANSACTION_LEN {
            self.commit().await?;
        }
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), DemoError> {
        self.count = 0;
        if let Some((sender, filling)) = self.open.take() {
            drop(sender);
            filling.await.map_err(|_| DemoError::Lost)??;
        }
        Ok(())
    }

    /// Commits the last transaction; from then on the groups are listed.
    pub(super) async fn finish(mut self) -> Result<(), DemoError> {
        self.commit().await?;
        if self.is_begun {
            self.directory.end_filling().await?;
        }
        Ok(())
    }
}
