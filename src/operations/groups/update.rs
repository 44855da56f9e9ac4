//! Update (hazard 4 of docs/design/service.md): under the claim the group is read, the operator's changes are applied
//! to that reading, sent in time, and recorded together with the end of the claim.

use serde_json::Value;

use super::{answered, fields_in, request};
use crate::{
    domain::{
        change::differences,
        group::Properties,
        remote_changes::RemoteChanges,
        size::check_size,
        update::{ConcurrentChange, Plan},
    },
    operations::{
        Failpoint, RequestKind, UnknownFields,
        answer::observe::{ObservationInput, is_being_changed},
        prelude::*,
        recording::changes_for_history,
        rotation::settle::BeforeGet,
    },
};

const TRY_AGAIN_UPDATE: &str =
    "Read the group; once the waiting period is over, sending the same update again is safe";

/// How many history entries of a group are searched for an earlier value of a field.
const LEFT_OUT_HISTORY: usize = 100;

impl Operations {
    /// Sends an edit, applied to what is read under the claim. Refuses if somebody else has changed what the edit
    /// touches, or if a value is not known well enough and nobody vouched for it.
    pub async fn update_edit(
        &self,
        id: &UserGroupId,
        edit: &Edit,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure> {
        Box::pin(self.update_as(id, edit, assurance, None, None)).await
    }

    /// As [`Operations::update_edit`]; `before` is the snapshot of the group if it was just read. The `item` of a batch is
    /// sent only once, and is refused if name, properties or rows differ from what was reviewed; its answer confirms it:
    /// the group is not read again. It comes with what becomes the number of its claim, once there is one.
    pub(in crate::operations) async fn update_as(
        &self,
        id: &UserGroupId,
        edit: &Edit,
        assurance: UnknownIdPolicy,
        item: Option<(ItemKey, &mut Option<MutationId>)>,
        before: Option<BeforeGet>,
    ) -> Result<Done, Failure> {
        let (item, claimed) = item.unzip();
        self.updatable(edit).await?;
        let BeforeGet { known, gate, .. } = match before {
            Some(before) => before,
            None => self
                .snapshot_before_get(id)
                .await
                .map_err(Failure::NothingSent)?,
        };
        self.may_read(id, known.as_ref(), assurance).await?;
        if let Some(known) = known {
            self.check_environment(&known, assurance)?;
        } else {
            // This read can create: it is a mutation of its own, and stays unknown if its answer cannot be recorded.
            let read = self.look_up(id, assurance).await;
            let read = read.map_err(|no| match no {
                Failure::NotWritten(_) => no,
                no => no.before(id, "updated"),
            });
            not_created(id, &read?)?;
        }
        let change = Change::between(&edit.base, &edit.wanted);
        let changes = changes_for_history(Operation::Update, &change);
        let mut earlier = None;
        let claim = self.claim_with_read(id, Operation::Update, changes, gate, &mut earlier);
        let claim = claim.await;
        let mut earlier_warnings = Vec::new();
        if let Some(earlier) = earlier {
            not_created(id, &earlier)?;
            if earlier.has_alarm() {
                return Ok(earlier);
            }
            earlier_warnings = earlier.warnings;
            earlier_warnings.retain(|warning| !warning.is_stale());
        }
        let mut claim = claim.map_err(|mut failure| {
            if let Failure::Held(holder) = &mut failure {
                holder.noticed.clone_from(&earlier_warnings);
            }
            failure
        })?;
        if let Some(claimed) = claimed {
            *claimed = Some(claim.id());
        }
        let unread = |failure: Failure| failure.before(id, "updated");
        let read = self.look_up(id, UnknownIdPolicy::KnownOnly);
        let read = self.unless_cancelled(id, "updated", read).await;
        let mut before = read.map_err(unread)?;
        let is_fit = |read: &Done| {
            not_created(id, read)?;
            match read.warnings.iter().find(|warning| warning.is_stale()) {
                Some(stale) => Err(unread(Failure::Stale(stale.clone()))),
                None => Ok(!read.has_alarm()),
            }
        };
        if !is_fit(&before)? {
            return Ok(before);
        }
        // A place that had never been read before has just revealed that it returns properties.
        let readable = before.facts.properties_are_readable();
        if readable && !before.read.contains(&Field::Properties) {
            let read = self.look_up(id, UnknownIdPolicy::KnownOnly);
            let read = self.unless_cancelled(id, "updated", read).await;
            earlier_warnings.append(&mut before.warnings);
            before = read.map_err(unread)?;
            if !is_fit(&before)? {
                return Ok(before);
            }
        }
        add_new(&mut before.warnings, &earlier_warnings);
        before.open.retain(|other| other.id != claim.id());
        let plan = before.plan(edit, self.operator());
        let now = DesiredFields::of(&before.group);
        sendable(id, &self.profile().name, &plan, &before.open)?;
        if item.is_some() {
            as_reviewed(id, changed_since(&edit.base, &now))?;
        }
        if !plan.changes(&now, &before.read) {
            return Ok(before);
        }
        check_size(&plan.send)?;
        // Where nothing is known now, the base of the edit may have known more.
        let change = Change::between(&now.over(&edit.base), &plan.send);
        let request = request(id, &plan.send);
        let client = self.client(RequestKind::Change(Guarded::Update)).await?;
        let changes = changes_for_history(Operation::Update, &change);
        let send_by = claim.sending(changes, plan.send.clone(), item).await?;
        self.reached(Failpoint::SentDurable);
        let result = client.until(send_by).update(&request, id).await;
        self.reached(Failpoint::Answered);
        let read = match self.judge(result) {
            Ok(read) => read,
            Err(no) => {
                let failure = no.into_mutation_failure(id, "update", TRY_AGAIN_UPDATE);
                return Err(self
                    .note_failure(Operation::Update, id, failure, claim)
                    .await);
            }
        };
        let answered = answered(&read.returned);
        let fields_read = fields_in(&read.returned);
        let input = ObservationInput {
            operation: Operation::Update,
            ending: Ending::Updated,
            sent: plan.send.clone(),
            read,
            changes: Some(change),
            open_before: None,
            claim: Some(claim.end(Ending::Updated, None)),
            fields: Vec::new(),
            discards_result: false,
        };
        let mut done = Box::pin(self.observe(id, input)).await?.done;
        self.reached(Failpoint::OutcomeDurable);
        let different = differences(&plan.send, &answered);
        done.warnings
            .extend(different.into_iter().map(Warning::Differs));
        add_new(&mut done.warnings, &before.warnings);
        // An alarm stops everything that would follow.
        if !done.has_alarm() {
            if item.is_some() {
                done.read = fields_read;
            } else {
                self.read_back(id, &mut done).await;
            }
            self.compare_left_out(&plan.send, &before, &mut done)
                .await?;
        }
        Ok(done)
    }

    /// Refuses what must not be sent as an update.
    async fn updatable(&self, edit: &Edit) -> Result<(), Failure> {
        self.permitted(Guarded::Update)?;
        check_size(&edit.wanted)?;
        self.no_secret_to_send(None, &edit.base, &edit.wanted).await
    }

    /// Refuses what [`Operations::update_edit`] would refuse before it sends the update, for a group that was just `read`.
    pub async fn would_update(
        &self,
        read: &Done,
        edit: &Edit,
        assurance: UnknownIdPolicy,
    ) -> Result<(), Failure> {
        self.updatable(edit).await?;
        self.check_environment(&read.group, assurance)?;
        let (id, plan) = (&read.group.id, read.plan(edit, self.operator()));
        sendable(id, &self.profile().name, &plan, &read.open)?;
        check_size(&plan.send)?;
        self.not_locked(id, (Operation::Update, None), true).await
    }

    /// As [`Operations::look_up`], but refuses if name, mapping or properties differ from what this installation has
    /// last seen. The service never returns the mapping and may not return the properties: a field it does not return
    /// cannot differ.
    ///
    /// As after every read, what it found is recorded.
    pub async fn look_up_unchanged(&self, id: &UserGroupId) -> Result<Done, Failure> {
        let seen = self.known(id, UnknownIdPolicy::KnownOnly).await?;
        let seen = seen.filter(KnownGroup::is_seen);
        let seen = seen.ok_or_else(|| {
            Failure::guarded(format!(
                "\"{id}\" has never been read here, so groupdesk does not know if it was changed; nothing was sent. \
                 Read it first"
            ))
        })?;
        let done = self.look_up(id, UnknownIdPolicy::KnownOnly).await?;
        if let Some(stale) = done.warnings.iter().find(|warning| warning.is_stale()) {
            return Err(Failure::Unreadable(format!("nothing was changed: {stale}")));
        }
        let parts = RemoteChanges::between(&seen, &done.group).parts;
        // A group created by the read raises an alarm of its own.
        if parts.is_empty() || done.ending == Ending::CreatedByGet {
            return Ok(done);
        }
        let what = parts.iter().map(|part| visible(&part.label()).into_owned());
        Err(Failure::guarded(format!(
            "\"{id}\" was changed elsewhere since it was last seen here ({}); your change was not sent. To see the current \
             values: {}",
            joined(what, ", "),
            id.command("show", "")
        )))
    }

    /// Checks that a field which was left out, and which both reads contain, is the same in both. Where others write to
    /// the environment, a new value is theirs; only a field that was cleared, or went back to an earlier value, shows
    /// that the service does not keep it.
    async fn compare_left_out(
        &self,
        sent: &DesiredFields,
        before: &Done,
        after: &mut Done,
    ) -> Result<(), Failure> {
        let (then, now) = (
            DesiredFields::of(&before.group),
            DesiredFields::of(&after.group),
        );
        let mut changed = Vec::new();
        if sent.name.is_none() && then.name != now.name {
            changed.push(Field::Name);
        }
        if sent.properties.is_none() && then.properties != now.properties {
            changed.push(Field::Properties);
        }
        changed.retain(|field| before.read.contains(field) && after.read.contains(field));
        if changed.is_empty() {
            return Ok(());
        }
        let id = after.group.id.clone();
        if !before.facts.sole_writer.value {
            let history = self.history(Some(id.clone()), Some(LEFT_OUT_HISTORY)).await;
            // Without it nothing can be told, and the read after the update has told what is new.
            let history = history.unwrap_or_default();
            let entries: Vec<_> = history.iter().map(|numbered| &numbered.value).collect();
            changed.retain(|field| went_back(*field, &then, &now, &entries));
        }
        let operations = self.clone();
        let decide = move |found: &GroupSnapshot, _: bool| {
            let known = found.group.as_ref().map(DesiredFields::of);
            let is_current = known.as_ref() == Some(&now) && !is_being_changed(found, None);
            let fields = changed.iter().copied().filter(|_| is_current);
            let fields: Vec<_> = fields.collect();
            let facts = fields.iter().map(|field| operations.no_longer_kept(*field));
            let record = Record {
                facts: facts.collect(),
                ..Record::default()
            };
            (vec![record], fields)
        };
        let decided = self.directory().decide(self.here(), &id, None, 0, decide);
        // The answer is recorded already: if this is refused, the next update finds it again.
        let fields = decided.await.map(|(_, fields)| fields);
        let fields = fields.unwrap_or_default().into_iter();
        after
            .warnings
            .extend(fields.map(|field| Warning::LeftOutChanged { field }));
        Ok(())
    }
}

/// Whether a field that an update left out was cleared, or has an earlier value again.
fn went_back(field: Field, then: &DesiredFields, now: &DesiredFields, history: &[&Entry]) -> bool {
    let changes = history.iter().filter_map(|entry| entry.changes.as_ref());
    let changes: Vec<_> = changes.collect();
    let had = |path: &[&str], value: &Value| {
        let pairs = changes
            .iter()
            .filter_map(|changes| path.iter().try_fold(*changes, |value, key| value.get(key)));
        let mut values = pairs.filter_map(Value::as_array).flatten();
        values.any(|earlier| earlier == value)
    };
    match field {
        Field::Name => now
            .name
            .as_ref()
            .is_none_or(|name| name.is_empty() || had(&["name"], &Value::String(name.clone()))),
        Field::Properties => {
            let empty = Properties::new();
            let then = then.properties.as_ref().unwrap_or(&empty);
            let now = now.properties.as_ref().unwrap_or(&empty);
            let keys = then.keys().chain(now.keys());
            let mut changed = keys.filter(|key| then.get(*key) != now.get(*key));
            changed.all(|key| match now.get(key) {
                None => true,
                Some(value) => had(&["properties", key], &Value::String(value.to_string())),
            })
        }
        Field::Mapping => false,
    }
}

/// Adds the warnings of an earlier read that are not among these.
pub(crate) fn add_new(warnings: &mut Vec<Warning>, earlier: &[Warning]) {
    for warning in earlier {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
}

/// Refuses a plan of which not all may be sent.
pub fn sendable(
    id: &UserGroupId,
    profile: &str,
    plan: &Plan,
    open: &[Mutation],
) -> Result<(), Failure> {
    as_reviewed(id, plan.concurrent_changes.iter().map(in_words).collect())?;
    if !plan.objections.is_empty() {
        return Err(Failure::NotKnownEnough(Box::new(UnknownFields {
            id: id.clone(),
            profile: profile.to_owned(),
            objections: plan.objections.clone(),
            open: open.iter().map(Mutation::since).collect(),
            until: open.iter().filter_map(Mutation::held_until).max(),
        })));
    }
    Ok(())
}

/// Refuses what has changed, if anything has.
pub(crate) fn as_reviewed(id: &UserGroupId, what: Vec<String>) -> Result<(), Failure> {
    if what.is_empty() {
        return Ok(());
    }
    let id = id.clone();
    Err(Failure::ChangedSince { id, what })
}

/// What of a row is no longer as planned, for a row that the plan had nothing to change for.
pub(crate) fn changed_since(planned: &DesiredFields, now: &DesiredFields) -> Vec<String> {
    let nobody_touches = Edit::whole(planned, now);
    nobody_touches
        .touched()
        .into_iter()
        .filter(|part| part.is_known_in(planned) && part.is_known_in(now))
        .map(|part| {
            in_words(&ConcurrentChange {
                reviewed: part.text_in(planned),
                now: part.text_in(now),
                part,
            })
        })
        .collect()
}

/// Formats `name: reviewed "Acme", now "Acme plc"`, with invisible characters made visible.
fn in_words(meanwhile: &ConcurrentChange) -> String {
    let value = |value: &Option<String>| {
        value.as_ref().map_or_else(
            || "nothing".to_owned(),
            |text| format!("\"{}\"", visible(text)),
        )
    };
    format!(
        "{}: reviewed {}, now {}",
        visible(&meanwhile.part.label()),
        value(&meanwhile.reviewed),
        value(&meanwhile.now)
    )
}

/// Refuses a read that created the group.
pub(crate) fn not_created(id: &UserGroupId, read: &Done) -> Result<(), Failure> {
    if read.ending == Ending::CreatedByGet {
        return Err(Failure::CreatedByGet { id: id.clone() });
    }
    Ok(())
}
