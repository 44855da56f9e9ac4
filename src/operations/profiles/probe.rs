//! Finds out by experiment how a place behaves, on a known group that the operator names as expendable and of which
//! nothing is open. The group is changed and put back, all under one claim.

use serde_json::{Value, json};

use crate::{
    api::{client::Client, wire::GroupRequest},
    directory::Fact,
    domain::{
        change::DesiredFields,
        facts::{Basis, Facts, Field, GetBehaviour, OmittedField},
        group::{Properties, UserGroupId},
        history::{Ending, Operation},
        known::Sent,
    },
    operations::{
        Failure, Guarded, Operations, RequestKind, UnknownIdPolicy, Warning,
        answer::{
            error_response::ErrorResponse,
            observe::{GoodAnswer, ObservationInput},
        },
    },
};

/// A property name that nobody else uses; sent along with a get to see whether it comes back.
const MARK: &str = "groupdesk_probe";

const NEXT: &str = "Read the group, and put it right with an update; then probe again";

impl Operations {
    /// Proves what a get returns and what an update does with fields that it leaves out. The mapping never comes back,
    /// so it can only be told.
    pub async fn probe_facts(&self, id: &UserGroupId) -> Result<Facts, Failure> {
        self.permitted(Guarded::Update)?;
        let known = self.known(id, UnknownIdPolicy::KnownOnly).await?;
        let known = known.filter(|group| group.last_seen.is_some());
        known.ok_or_else(|| Failure::NeverSeen { id: id.clone() })?;
        let mut claim = self.claim(id, Operation::Update, None, None).await?;
        let read = self
            .look_up_in_detail(id, UnknownIdPolicy::KnownOnly)
            .await?;
        let others = read.done.open.iter().any(|other| other.id != claim.id());
        if others || !read.open.is_empty() || read.done.warnings.iter().any(Warning::is_alarm) {
            return Err(Failure::NotExpendable { id: id.clone() });
        }
        let before = DesiredFields::of(&read.done.group);
        let Some(name) = before.name.clone() else {
            return Err(Failure::NotExpendable { id: id.clone() });
        };
        let send_by = claim.sending(None, Sent::default()).await?;
        let client = self
            .client(RequestKind::Change(Guarded::Update))
            .await?
            .until(send_by);
        let proven = self.prove_facts(&client, id, &name, &before).await;
        let (facts, put_back) = match proven {
            Ok(proven) => proven,
            Err(no) => {
                let failure = no.into_mutation_failure(id, "probe", NEXT);
                return Err(self
                    .note_failure(Operation::Update, id, failure, claim)
                    .await);
            }
        };
        let statements = facts
            .into_iter()
            .map(|fact| self.statement(fact, Basis::Proven))
            .collect();
        let input = ObservationInput {
            operation: Operation::Update,
            ending: Ending::Updated,
            sent: Sent {
                name: before.name,
                mapping: before.mapping,
                properties: before.properties,
            },
            read: put_back,
            changes: None,
            open_before: None,
            facts: statements,
            claim: Some(claim.end(Ending::Updated, Some("a probe, put back".into()))),
            fields: Vec::new(),
            discards_result: false,
        };
        self.observe(id, input).await?;
        self.facts().await.map_err(Failure::NotWritten)
    }

    /// Returns the facts, and the answer to the update that put everything back.
    async fn prove_facts(
        &self,
        client: &Client,
        id: &UserGroupId,
        name: &str,
        before: &DesiredFields,
    ) -> Result<(Vec<Fact>, GoodAnswer), ErrorResponse> {
        let mut facts = Vec::new();
        let stored = before.properties.clone().unwrap_or_default();
        let whole = GroupRequest {
            name: Some(name.to_owned()),
            user_group_id: id.as_str().to_owned(),
            mapping: before.mapping.clone(),
            properties: Some(stored.clone()),
        };
        let marked = |number: u64| {
            let mut properties = stored.clone();
            properties.insert(MARK.into(), json!(number));
            properties
        };
        // From here on the current properties are known, whatever they were before.
        self.judge(client.update(&whole, id).await)?;
        let on_get = self.get_with(client, id, marked(1)).await?;
        let on_get = match on_get {
            Some(got) if got == stored => GetBehaviour::Returned,
            Some(got) if got.get(MARK) == Some(&json!(1)) => GetBehaviour::Echoed,
            _ => GetBehaviour::Unknown,
        };
        facts.push(Fact::PropertiesOnGet(on_get));
        // Leave out one field and send the others, as a real update does.
        let without_name = GroupRequest {
            name: None,
            ..whole.clone()
        };
        let updated = self.judge(client.update(&without_name, id).await)?;
        let kept = |is_same: bool| {
            if is_same {
                OmittedField::Keep
            } else {
                OmittedField::Clear
            }
        };
        if let Some(now) = &updated.returned.name {
            facts.push(Fact::OmittedField(Field::Name, kept(now == name)));
        }
        if on_get == GetBehaviour::Returned {
            let without_properties = GroupRequest {
                properties: None,
                ..whole.clone()
            };
            // There must be something that could be cleared.
            let full = GroupRequest {
                properties: Some(marked(2)),
                ..whole.clone()
            };
            self.judge(client.update(&full, id).await)?;
            self.judge(client.update(&without_properties, id).await)?;
            let now = self.get_with(client, id, marked(3)).await?;
            if let Some(now) = now {
                let is_kept = now.get(MARK) == Some(&Value::from(2));
                facts.push(Fact::OmittedField(Field::Properties, kept(is_kept)));
            }
        }
        let put_back = self.judge(client.update(&whole, id).await)?;
        Ok((facts, put_back))
    }

    /// The properties returned by a get that sends these.
    async fn get_with(
        &self,
        client: &Client,
        id: &UserGroupId,
        properties: Properties,
    ) -> Result<Option<Properties>, ErrorResponse> {
        let request = GroupRequest {
            user_group_id: id.as_str().to_owned(),
            properties: Some(properties),
            ..GroupRequest::default()
        };
        let read = self.judge(client.get_or_create(&request, id).await)?;
        Ok(read.returned.properties)
    }
}
