//! Writes many known groups into the demo's directory, one large transaction after the other, while more groups are
//! being generated.

use tokio::{sync::mpsc, task::JoinHandle};

use super::{DemoError, seed::TRANSACTION_LEN};
use crate::{
    directory::{Directory, DirectoryError, PlaceId},
    domain::known::KnownGroup,
};

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
