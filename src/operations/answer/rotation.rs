//! What follows from the answer to a rotation (docs/design/rotation.md): the outcome is durable before anybody sees it,
//! and anything unclear is settled by one get. No rotation is sent from here.

use super::{
    error_response::{explain, problem_with_check, refused},
    observe::{GoodAnswer, Lookup},
};
use crate::{
    api::{
        answer::{Verdict, rotation::rotation_answer},
        client::Reply,
        failure::CallError,
    },
    directory::{ChangeId, Recorded},
    domain::{
        known::{Observation, Returned},
        operation_record::followed_by,
        rotation::{Event, RotateOutcome},
        text::without_retry,
    },
    operations::{
        Failpoint,
        attempts::Recording,
        prelude::*,
        rotation::{
            rotate::{UnderWay, WithStep},
            settle::{BeforeGet, ending},
        },
    },
};

const NEXT: &str = "Never rotate again to find out";

impl Operations {
    pub(crate) async fn handle_answer(
        &self,
        mut under_way: UnderWay<'_>,
        result: Result<Reply, CallError>,
    ) -> Result<Done, Failure> {
        let wrong_tag = self.wrong_tag(&result);
        let answer = match &wrong_tag {
            Some(_) => RotateOutcome::WrongGroup,
            None => rotation_answer(&result, self.directory().fingerprinter()),
        };
        let event = Event::Answered(answer);
        match (answer, result) {
            (
                RotateOutcome::NewToken(_),
                Ok(Reply {
                    verdict: Verdict::Success(group),
                    status,
                    latency,
                    ..
                }),
            ) => {
                let read = self.split_answer(group, status, latency);
                self.rotated(under_way, event, read).await
            }
            (RotateOutcome::NotSent, Err(error)) => {
                let why = error.to_string();
                // Nothing was sent, whether or not that could be recorded.
                drop(
                    self.end(&mut under_way, event, Ending::Unreachable, &why, None)
                        .await,
                );
                Err(Failure::Unreachable(error))
            }
            (
                RotateOutcome::NewToken(_) | RotateOutcome::SameToken | RotateOutcome::NotSent,
                result,
            ) => {
                let why = words(&result);
                let ended = self.end(&mut under_way, event, Ending::NotApplied, &why, None);
                let why = bare(&result);
                ended
                    .await
                    .map_err(|error| answered(under_way.id, not_recorded(&why, &error)))?;
                let id = under_way.id.clone();
                Err(Failure::NotApplied { id, why })
            }
            (RotateOutcome::WrongGroup, result) => {
                let wrong_environment = wrong_tag.is_some();
                let alarm = wrong_tag.as_ref().map(Warning::bare);
                let why = wrong_tag.map_or_else(|| words(&result), |alarm| alarm.to_string());
                let ended = self.end(&mut under_way, event, Ending::Conflict, &why, alarm);
                ended
                    .await
                    .map_err(|error| answered(under_way.id, not_recorded(&why, &error)))?;
                Err(Failure::Conflict {
                    id: under_way.id.clone(),
                    why,
                    wrong_environment,
                })
            }
            (RotateOutcome::Refused | RotateOutcome::Unclear, result) => {
                let why = words(&result);
                let ended = self.end(&mut under_way, event, Ending::Unknown, &why, None);
                let why = bare(&result);
                if let Err(error) = ended.await {
                    let failure = unknown(under_way.id, not_recorded(&why, &error));
                    return Err(self.settled_if_moved(&under_way, &error, failure).await);
                }
                self.decide_by_get(under_way, why, result).await
            }
        }
    }

    /// A warning if the answer comes from another environment than the profile expects: then it is no success
    /// (hazard 11).
    fn wrong_tag(&self, result: &Result<Reply, CallError>) -> Option<Warning> {
        match result {
            Ok(Reply {
                verdict: Verdict::Success(group) | Verdict::SameToken(group),
                ..
            }) => self.tag_alarm(group.environment_tag.as_ref()),
            _ => None,
        }
    }

    async fn settled_if_moved(
        &self,
        under_way: &UnderWay<'_>,
        error: &DirectoryError,
        failure: Failure,
    ) -> Failure {
        // A directory that is lost is not waited for once more.
        if !error.is_of_others() {
            return failure;
        }
        let change = ChangeId::Rotation(under_way.row);
        self.settled_meanwhile(Operation::Rotate, under_way.id, change, failure)
            .await
    }

    async fn rotated(
        &self,
        mut under_way: UnderWay<'_>,
        event: Event,
        read: GoodAnswer,
    ) -> Result<Done, Failure> {
        let GoodAnswer {
            returned,
            token,
            status,
            latency,
            ..
        } = read;
        let why = "the service rotated it and returned a new token, which is not shown";
        let (recorded, news) = match self.note_rotated(&mut under_way, event, &returned).await {
            Ok(recorded) => recorded,
            // While the answer waited for the directory: it was recorded after all, or somebody has settled it.
            Err(DirectoryError::MovedOn { .. }) if self.keeps_outcomes() => {
                return self.read_what_came_of_it(under_way, why.into()).await;
            }
            Err(error) => {
                let failure = answered(under_way.id, not_recorded(why, &error));
                return Err(self.settled_if_moved(&under_way, &error, failure).await);
            }
        };
        self.reached(Failpoint::OutcomeDurable);
        let mut warnings = under_way.warnings;
        warnings.extend(news);
        Ok(Done {
            ending: Ending::Rotated,
            group: recorded
                .group
                .unwrap_or_else(|| KnownGroup::new(under_way.id.clone())),
            returned_token: Some(token),
            previous_fingerprint: Some(under_way.rotation.previous),
            warnings,
            status,
            latency,
            rotation: Some(under_way.row),
            read: Vec::new(),
            facts: Facts::default(),
            open: Vec::new(),
        })
    }

    /// Records the rotation. The group takes over the answer only while it still has the token that was rotated, or
    /// already has the new one: a late answer must not bring back a dead token.
    async fn note_rotated(
        &self,
        under_way: &mut UnderWay<'_>,
        event: Event,
        returned: &Returned,
    ) -> Result<(Recorded, Vec<Warning>), DirectoryError> {
        let new = returned.fingerprint;
        let entry = self.rotation_entry(under_way, Ending::Rotated, Some(new), None);
        let observation = Observation {
            rotated_by: Some(self.operator().to_owned()),
            ..self.observation(under_way.id, DesiredFields::default(), returned.clone())
        };
        let step = WithStep {
            entry: Some(entry),
            observation: Some(observation),
            ..WithStep::default()
        };
        let (mut record, after) = self.step_record(under_way, event, step);
        record.then = under_way.then.is_some().then(|| self.extras_here());
        let (row, previous) = (under_way.row, under_way.rotation.previous);
        let operations = self.clone();
        let decide = move |found: &GroupSnapshot, _: bool| {
            let mut record = record.clone();
            let mut news = Vec::new();
            let group = found.group.as_ref();
            let token = group.and_then(|group| group.fingerprint.as_ref());
            if token.is_some_and(|token| ![previous, new].contains(&token.value)) {
                record.observation = None;
            }
            if let Some((group, observation)) = group.zip(record.observation.as_ref()) {
                let noticed = group.drift(observation);
                news = Warning::of(&noticed, None);
                record.facts = operations.withdrawn_by(noticed.is_foreign(), &found.facts);
                news.extend(record.facts.first().map(|_| Warning::NotSoleWriter));
            }
            record.token_from = Some(row);
            (vec![record], news)
        };
        let (place, id) = (self.here(), under_way.id);
        let mut attempts = self.recording(Recording::Outcome);
        let (at, decided) = loop {
            let at = self.moment();
            let decided = self.directory();
            let decided = decided.decide(place, id, None, 0, decide.clone()).await;
            // If it was recorded after all, the step has moved on.
            if !attempts.go_on(&decided).await {
                break (at, decided);
            }
        };
        drop(attempts);
        let (mut recorded, news) = decided?;
        under_way.rotation = after;
        let mut recorded = recorded.pop().unwrap_or_default();
        if let (Some(then), Some(found)) = (under_way.then.take(), recorded.then.take()) {
            *then = self.recorded_before_get(at, found);
        }
        if recorded.group.is_none() {
            // It is recorded; the group is only shown.
            recorded.group = self.show(id).await.unwrap_or_default();
        }
        Ok((recorded, news))
    }

    /// The get that decides what the answer did not (docs/design/rotation.md, rule 2). The look-up settles the journal,
    /// and the journal tells what became of the rotation.
    async fn decide_by_get(
        &self,
        under_way: UnderWay<'_>,
        why: String,
        result: Result<Reply, CallError>,
    ) -> Result<Done, Failure> {
        let Ok(read) = self.look_up(under_way.id, UnknownIdPolicy::Exists).await else {
            return Err(unknown(under_way.id, why));
        };
        let Ok(Some(row)) = self.directory().rotation(under_way.row).await else {
            return Err(unknown(under_way.id, why));
        };
        match row.rotation.state {
            State::Recovered => {
                let mut warnings = under_way.warnings;
                warnings.extend(read.warnings.into_iter().filter(is_news));
                Ok(Done {
                    ending: Ending::Recovered,
                    previous_fingerprint: Some(under_way.rotation.previous),
                    rotation: Some(under_way.row),
                    warnings,
                    ..read
                })
            }
            State::NotApplied => Err(match result {
                Ok(Reply {
                    verdict:
                        Verdict::Refused {
                            stated,
                            words,
                            via,
                            retry_after,
                            ..
                        },
                    status,
                    ..
                }) => refused(status, stated, words, via, retry_after),
                _ => Failure::NotApplied {
                    id: under_way.id.clone(),
                    why,
                },
            }),
            State::Conflict => Err(Failure::Conflict {
                id: under_way.id.clone(),
                why: followed_by(&why, &row.note.unwrap_or_default()),
                wrong_environment: read.warnings.iter().any(Warning::is_wrong_environment),
            }),
            _ => Err(unknown(under_way.id, why)),
        }
    }

    /// The group as it is now, for a rotation whose outcome is in the journal already; `why` says what the response stated.
    async fn read_what_came_of_it(
        &self,
        under_way: UnderWay<'_>,
        why: String,
    ) -> Result<Done, Failure> {
        let Ok(read) = self.look_up(under_way.id, UnknownIdPolicy::Exists).await else {
            return Err(answered(under_way.id, why));
        };
        let row = self.directory().rotation(under_way.row).await;
        let state = row.ok().flatten().map(|row| row.rotation.state);
        match state.and_then(ending) {
            Some(ending @ (Ending::Confirmed | Ending::Recovered | Ending::Superseded)) => {
                let mut warnings = under_way.warnings;
                warnings.extend(read.warnings.into_iter().filter(is_news));
                Ok(Done {
                    ending,
                    previous_fingerprint: Some(under_way.rotation.previous),
                    rotation: Some(under_way.row),
                    warnings,
                    ..read
                })
            }
            _ => Err(answered(under_way.id, why)),
        }
    }

    /// The confirming get after a rotation. The ending becomes Confirmed, Superseded or Conflict, or stays Rotated if
    /// the group cannot be read.
    pub async fn confirm(&self, rotated: Done) -> Done {
        self.confirm_with_snapshot(rotated, None).await
    }

    /// As [`Operations::confirm`], once the new token is in its file: that is recorded together with the ending.
    pub(crate) async fn confirm_written(&self, rotated: Done) -> Done {
        let before = self.snapshot_before_get(&rotated.group.id).await;
        let before = before.ok().map(|mut before| {
            before.open_before.written = rotated.rotation;
            before
        });
        self.confirm_with_snapshot(rotated, before).await
    }

    /// As [`Operations::confirm`], with the snapshot of the group, if that was just read.
    pub(crate) async fn confirm_with_snapshot(
        &self,
        rotated: Done,
        before: Option<BeforeGet>,
    ) -> Done {
        let mut done = rotated;
        let (id, exists) = (&done.group.id, UnknownIdPolicy::Exists);
        let answer = match before {
            Some(before) => Box::pin(self.look_up_with_snapshot(before, id, exists, None)).await,
            None => Box::pin(self.look_up_in_detail(id, exists)).await,
        };
        let lookup = match answer {
            Ok(lookup) => lookup,
            Err(failure) => {
                let why = failure.to_string();
                done.warnings.push(Warning::NotReadBack { why });
                return done;
            }
        };
        let state = match done.rotation {
            Some(row) => self.state_of(row, &lookup).await,
            None => None,
        };
        let read = lookup.done;
        done.ending = state.and_then(ending).unwrap_or(done.ending);
        let news = read.warnings.into_iter().filter(is_news);
        done.warnings.extend(news);
        match done.ending {
            Ending::Confirmed => done.group = read.group,
            // The current token is no longer the one from our rotation.
            Ending::Superseded | Ending::Recovered => {
                done.group = read.group;
                done.returned_token = read.returned_token;
            }
            Ending::Rotated if !done.warnings.contains(&Warning::StaleAnswer) => {
                let why = "the response does not show it".into();
                done.warnings.push(Warning::NotReadBack { why });
            }
            _ => {}
        }
        done
    }

    async fn state_of(&self, row: RotationId, lookup: &Lookup) -> Option<State> {
        if let Some(state) = lookup.state_of(row) {
            return Some(state);
        }
        // Another process has advanced this rotation.
        let row = self.directory().rotation(row).await.ok().flatten();
        row.map(|row| row.rotation.state)
    }

    async fn end(
        &self,
        under_way: &mut UnderWay<'_>,
        event: Event,
        ending: Ending,
        why: &str,
        alarm: Option<String>,
    ) -> Result<(), DirectoryError> {
        let why = Some(why.to_owned());
        let step = WithStep {
            observation: None,
            entry: Some(self.rotation_entry(under_way, ending, None, why.clone())),
            alarm,
            note: why,
        };
        self.advance(under_way, event, step).await?;
        self.reached(match ending {
            Ending::Unknown => Failpoint::UnknownDurable,
            _ => Failpoint::OutcomeDurable,
        });
        Ok(())
    }
}

/// Excludes the settlement itself: here it is the outcome, not a warning.
fn is_news(warning: &Warning) -> bool {
    warning.settled().is_none()
}

fn words(result: &Result<Reply, CallError>) -> String {
    match result {
        Ok(reply) => explain(&reply.verdict),
        Err(error) => error.to_string(),
    }
}

/// What was wrong, without advice: the failure gives that once.
fn bare(result: &Result<Reply, CallError>) -> String {
    match result {
        Ok(reply) => problem_with_check(&reply.verdict),
        Err(error) => error.what(),
    }
}

fn unknown(id: &UserGroupId, why: String) -> Failure {
    Failure::Unknown {
        id: id.clone(),
        operation: "rotation",
        is_answered: false,
        why,
        next: NEXT,
    }
}

/// The response stated the outcome, but the directory does not have it.
fn answered(id: &UserGroupId, why: String) -> Failure {
    Failure::Unknown {
        id: id.clone(),
        operation: "rotation",
        is_answered: true,
        why,
        next: NEXT,
    }
}

fn not_recorded(why: &str, error: &DirectoryError) -> String {
    let error = error.to_string();
    let cause = without_retry(&error);
    format!("{why}; it could not be recorded: {cause}")
}
