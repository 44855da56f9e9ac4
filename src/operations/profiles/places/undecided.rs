//! Explains, before anything is sent, why a profile cannot send, and shows the operator what helps to decide.

use super::PlaceProblem;
use crate::{
    directory::{BindingPreview, Question, QuestionReason},
    operations::prelude::*,
};

impl Question {
    /// Why the question is asked; the end of a sentence about the profile.
    pub fn reason(&self) -> String {
        match self.why {
            QuestionReason::NewKey => {
                format!("its API key (fingerprint {}) is new for its URL", self.key)
            }
            QuestionReason::OtherAddress => "its URL or API key has changed".into(),
            QuestionReason::NewToTeam => {
                "the team's directory knows neither its URL nor its API key, but may know the service by another URL".into()
            }
            QuestionReason::OtherName => {
                "its URL and API key belong to another environment than its name".into()
            }
        }
    }
}

impl Operations {
    /// What the operator has to decide before anything is sent for this profile. Sends nothing. Also `None` if that
    /// cannot be determined now: then the requests themselves are refused, with the reason.
    pub async fn place_problem(&self) -> Option<PlaceProblem> {
        // A viewer sends nothing and may record no answer; its key is not read.
        if self.directory().role() == Some(Role::Viewer) {
            return None;
        }
        let caller = self.caller().await.ok()?;
        match self.directory().preview_binding(caller).await.ok()? {
            BindingPreview::Asked(question) => Some(PlaceProblem::asked(self.profile(), question)),
            BindingPreview::New => None,
            // Sending is refused for such a profile as well, with the reason.
            BindingPreview::Known | BindingPreview::TagConflict { .. } => {
                match self.may_send(None).await {
                    Err(Failure::Place(problem)) => Some(problem),
                    _ => None,
                }
            }
        }
    }

    /// The best group to prove a key on trial with: its token was seen most recently, and nothing of it is open.
    pub async fn proof_candidate(&self) -> Result<Option<UserGroupId>, DirectoryError> {
        let open = self.open_rotations().await?;
        let best = move |best: &mut Option<(Timestamp, UserGroupId)>, group: KnownGroup| {
            let is_open = open.iter().any(|row| row.user_group_id == group.id);
            if let Some(at) = group.last_seen
                && group.fingerprint.is_some()
                && !is_open
                && best.as_ref().is_none_or(|(latest, _)| at >= *latest)
            {
                *best = Some((at, group.id));
            }
        };
        let best = self.fold_groups(self.place().await?, best).await?;
        Ok(best.map(|(_, id)| id))
    }

    /// Acknowledges the alarms of the place with this name.
    pub async fn acknowledge_at(&self, place: &str, reason: &str) -> Result<usize, Failure> {
        let places = self
            .directory()
            .places()
            .await
            .map_err(Failure::NothingSent)?;
        match places.iter().find(|known| known.name == place) {
            Some(place) => self.acknowledge(place, reason).await,
            None => Err(PlaceProblem::no_place(place, &places, "nothing was changed").into()),
        }
    }

    /// A hint for a profile that is bound to no place although its name is known with another address: an empty list
    /// must say why it is empty.
    pub async fn known_elsewhere(&self) -> Result<Option<String>, DirectoryError> {
        let profile = self.profile();
        if profile.from_variables || self.place().await? != PlaceId::NONE {
            return Ok(None);
        }
        let (name, url) = (&profile.name, profile.url());
        if self.directory().place_of(name, &url).await?.is_some() {
            // The place of this name does not know the key.
            return Ok(self
                .place_problem()
                .await
                .map(|problem| problem.to_string()));
        }
        let others = self.directory().bound_elsewhere(name, &url).await?;
        Ok(others.first().map(|(url, place)| {
            let (argument, known) = (quoted(name), quoted(place));
            let with = match url.as_str() {
                "" => "before URLs were recorded",
                url => &format!("with {url}"),
            };
            format!(
                "profile {name} is not bound with this URL; {with} it is environment {place}. If it is the same \
                 environment: groupdesk profile bind {argument} --same-environment {known}; if not: groupdesk profile bind \
                 {argument} --new-environment"
            )
        }))
    }
}
