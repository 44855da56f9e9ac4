//! Facts about undocumented behaviour of the place (hazard 4 of docs/design/service.md): declared by a person or by the
//! service, and withdrawn as soon as a reading contradicts them.

use crate::{
    directory::Statement,
    domain::facts::{Basis, Fact, GetBehaviour, OmittedField, Stated},
    operations::prelude::*,
};

/// The last stated facts: the service repeats them with every answer.
#[derive(Debug, Default)]
pub(crate) struct LastStated(Mutex<Vec<Fact>>);

impl LastStated {
    fn differs_from(&self, stated: &[Fact]) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[..] != *stated
    }

    /// Call this only once they are recorded: concurrent callers rely on that.
    fn keep(&self, stated: &[Fact]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = stated.to_vec();
    }
}

impl Operations {
    /// Returns what is known of how this place treats updates and gets.
    pub async fn facts(&self) -> Result<Facts, DirectoryError> {
        let place = self.place().await?;
        Ok(self.with_configured_facts(self.directory().facts(place).await?))
    }

    /// Adds what the profile's configuration states, which predates stored facts.
    pub(crate) fn with_configured_facts(&self, mut facts: Facts) -> Facts {
        if self.profile().read_properties && facts.properties_on_get.by.is_none() {
            facts.properties_on_get = Stated {
                value: GetBehaviour::Returned,
                basis: Basis::Told,
                at: None,
                by: Some("the setting read_properties".into()),
            };
        }
        facts
    }

    /// Records facts that an operator states about the place.
    pub async fn state_facts(&self, facts: Vec<Fact>) -> Result<Facts, Failure> {
        let place = self.may_record().await?;
        let facts = facts.into_iter();
        let statements = facts.map(|fact| self.statement(fact, Basis::Told));
        let stored = self.directory().state_facts(place, statements.collect());
        stored.await.map_err(Failure::NothingSent)?;
        self.facts().await.map_err(Failure::NothingSent)
    }

    pub(crate) fn statement(&self, fact: Fact, basis: Basis) -> Statement {
        Statement {
            fact,
            basis,
            at: self.now(),
            by: self.operator().to_owned(),
        }
    }

    /// Whether the service states other facts about itself than last time.
    pub(crate) fn states_new_facts(&self, stated: &[Fact]) -> bool {
        self.0.last_stated.differs_from(stated)
    }

    /// Records the facts that the service states about itself, where neither a person nor an exchange has said more, and
    /// returns the facts that hold then, if they are others than `known`, which were read with an answer.
    pub(crate) async fn record_stated_facts(
        &self,
        stated: &[Fact],
        known: &Facts,
    ) -> Result<Option<Facts>, DirectoryError> {
        if self.not_recorded(stated, known).is_empty() {
            self.0.last_stated.keep(stated);
            return Ok(None);
        }
        if self.states_new_facts(stated) {
            let place = self.here();
            let now = self.directory().facts(place).await?;
            let statements = self.not_recorded(stated, &now);
            if !statements.is_empty() {
                self.directory().state_facts(place, statements).await?;
            }
            self.0.last_stated.keep(stated);
        }
        // Another answer may have been faster.
        self.facts().await.map(Some)
    }

    /// What of the stated facts is to be recorded.
    fn not_recorded(&self, stated: &[Fact], known: &Facts) -> Vec<Statement> {
        let is_new = |fact: &&Fact| {
            let (before, is_open) = known.in_place_of(**fact);
            is_open && before != **fact
        };
        let new = stated.iter().filter(is_new);
        new.map(|fact| self.statement(*fact, Basis::Announced))
            .collect()
    }

    /// What is to be recorded of a reading which shows that somebody else writes to this environment: from then on no
    /// process takes itself for the sole writer.
    pub(crate) fn withdrawn_by(&self, is_foreign: bool, known: &Facts) -> Vec<Statement> {
        let is_told = is_foreign && known.sole_writer.value;
        let withdrawn = is_told.then(|| self.statement(Fact::SoleWriter(false), Basis::Proven));
        withdrawn.into_iter().collect()
    }

    /// What is to be recorded if a field that an update left out has changed: from then on nobody relies on it being
    /// kept.
    pub(crate) fn no_longer_kept(&self, field: Field) -> Statement {
        let unknown = OmittedField::Unknown;
        self.statement(Fact::OmittedField(field, unknown), Basis::Unknown)
    }
}
