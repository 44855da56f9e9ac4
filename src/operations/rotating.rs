//! Rotating one token (rotation.md): preflight get, durable intent, one request on a fresh connection, durable
//! outcome, and only then the new token. Nothing here ever sends a rotation twice.

use std::time::Duration;

use super::{Assurance, Done, Failure, Operations, Warning, groups::Read};
use crate::{
    api::{answer::Verdict, client::Reply, failure::CallError, rotation::rotation_answer},
    directory::{Begun, Intent, Record, RotationId, RotationStep},
    domain::{
        group::UserGroupId,
        history::{Ending, Entry, Operation},
        known::{KnownGroup, Lesson, Sent},
        rotation::{Answer, Event, Rotation},
        token::{Fingerprint, Token},
    },
};

/// A rotation under way: its row in the journal and where it stands.
struct UnderWay<'a> {
    id: &'a UserGroupId,
    row: RotationId,
    rotation: Rotation,
    reason: Option<String>,
}

const NEXT: &str = "Read the group to find out; never rotate again to find out";

impl Operations {
    /// Rotates the token of a group once. The returned [`Done`] carries the new token, whose fingerprint is durable;
    /// [`Operations::confirm`] reads it back.
    pub async fn rotate(
        &self,
        id: &UserGroupId,
        reason: Option<String>,
        assurance: Assurance,
    ) -> Result<Done, Failure> {
        self.writable()?;
        let preflight = self.preflight(id, assurance).await?;
        let current = preflight.token.ok_or_else(no_token)?;
        let previous = self.directory().fingerprinter().of(&current);
        let intent = Intent {
            user_group_id: id.clone(),
            previous,
            by: self.operator().to_owned(),
            reason: reason.clone(),
            at: self.now(),
        };
        let begun = self
            .directory()
            .begin_rotation(&self.profile().name, intent)
            .await
            .map_err(Failure::NothingSent)?;
        let row = match begun {
            Begun::Started(row) => row,
            Begun::TakenBy(row) => {
                return Err(Failure::RotationTaken {
                    id: id.clone(),
                    state: row.rotation.state,
                    by: row.by,
                });
            }
        };
        let mut under_way = UnderWay {
            id,
            row,
            rotation: Rotation::intended(previous),
            reason,
        };
        // The key and TLS are ready since the preflight: from here on only the network stands in between.
        self.advance(&mut under_way, Event::Sending, None, None, None)
            .await
            .map_err(nothing_sent)?;
        let result = self.client().await?.rotate(&current, Some(id)).await;
        self.take_answer(under_way, &current, result).await
    }

    /// The operator's token is the service's current one, and this is the right environment.
    async fn preflight(&self, id: &UserGroupId, assurance: Assurance) -> Result<Done, Failure> {
        let read = self.look_up(id, assurance).await?;
        if read.ending == Ending::CreatedByGet {
            return Err(Failure::CreatedByGet { id: id.clone() });
        }
        let tag = read
            .group
            .environment_tag
            .as_ref()
            .map(|known| &known.value);
        match (&self.profile().environment, tag) {
            (Some(expected), Some(got)) if expected != got => Err(Failure::WrongEnvironment {
                id: id.clone(),
                expected: expected.clone(),
                got: got.clone(),
            }),
            _ => Ok(read),
        }
    }

    async fn take_answer(
        &self,
        mut under_way: UnderWay<'_>,
        current: &Token,
        result: Result<Reply, CallError>,
    ) -> Result<Done, Failure> {
        let answer = self.with_tag(
            rotation_answer(&result, self.directory().fingerprinter()),
            &result,
        );
        let event = Event::Answered(answer);
        match (answer, result) {
            (
                Answer::NewToken(_),
                Ok(Reply {
                    verdict: Verdict::Success(group),
                    status,
                    latency,
                }),
            ) => {
                let read = self.take_apart(group, status, latency);
                self.rotated(under_way, event, read).await
            }
            (Answer::NewToken(_) | Answer::SameToken | Answer::NotSent, result) => {
                let why = words(&result);
                let unreachable = match result {
                    Err(error @ CallError::NotSent { .. }) => Some(error),
                    _ => None,
                };
                let ending = if unreachable.is_some() {
                    Ending::Unreachable
                } else {
                    Ending::NotApplied
                };
                self.end(&mut under_way, event, ending, &why).await?;
                Err(unreachable.map_or(Failure::NotApplied { why }, Failure::Unreachable))
            }
            (Answer::WrongGroup, result) => {
                let why = words(&result);
                self.end(&mut under_way, event, Ending::Conflict, &why)
                    .await?;
                Err(Failure::Conflict { why })
            }
            (Answer::Refused | Answer::Unclear, result) => {
                let why = words(&result);
                self.end(&mut under_way, event, Ending::Unknown, &why)
                    .await?;
                self.find_out(under_way, current, why, result).await
            }
        }
    }

    /// An answer from another environment than the profile expects is no success (hazard 11).
    fn with_tag(&self, answer: Answer, result: &Result<Reply, CallError>) -> Answer {
        let tag = match result {
            Ok(Reply {
                verdict: Verdict::Success(group),
                ..
            }) => group.environment_tag.as_ref(),
            _ => None,
        };
        match (&self.profile().environment, tag) {
            (Some(expected), Some(got)) if expected != got => Answer::WrongGroup,
            _ => answer,
        }
    }

    async fn rotated(
        &self,
        mut under_way: UnderWay<'_>,
        event: Event,
        read: Read,
    ) -> Result<Done, Failure> {
        let lesson = Lesson {
            rotated: true,
            ..self.lesson(under_way.id, Sent::default(), &read)
        };
        let entry = self.rotation_entry(
            &under_way,
            Ending::Rotated,
            Some(read.returned.fingerprint),
            None,
        );
        let group = self
            .advance(&mut under_way, event, Some(lesson), Some(entry), None)
            .await
            .map_err(|error| unknown(format!("the answer could not be written down: {error}")))?;
        Ok(self.done(&under_way, Ending::Rotated, group, read))
    }

    /// The get that decides what the answer did not (rotation.md, rule 2).
    async fn find_out(
        &self,
        under_way: UnderWay<'_>,
        current: &Token,
        why: String,
        result: Result<Reply, CallError>,
    ) -> Result<Done, Failure> {
        let Ok(read) = self.look_up(under_way.id, Assurance::Exists).await else {
            return Err(unknown(why));
        };
        // The look-up has settled the journal; here only the words for the person are chosen.
        if read.token.as_ref().is_some_and(|token| token != current) {
            return Ok(Done {
                ending: Ending::Recovered,
                previous_fingerprint: Some(under_way.rotation.previous),
                rotation: Some(under_way.row),
                ..read
            });
        }
        match result {
            Ok(Reply {
                verdict:
                    Verdict::Refused {
                        stated: true,
                        words,
                        ..
                    },
                status,
                ..
            }) => Err(super::groups::refused(status, words)),
            _ => Err(unknown(why)),
        }
    }

    /// The confirming get after a rotation: the ending becomes Confirmed, Superseded or Conflict, or stays Rotated when
    /// the group cannot be read.
    pub async fn confirm(&self, rotated: Done) -> Done {
        let id = rotated.group.id.clone();
        match self.look_up(&id, Assurance::Exists).await {
            Ok(read) => {
                let mut done = rotated;
                let fingerprint = read.group.fingerprint.as_ref().map(|known| known.value);
                let news = read
                    .warnings
                    .into_iter()
                    .filter(|warning| !matches!(warning, Warning::RotationSettled { .. }));
                done.warnings.extend(news);
                if read.token == done.token {
                    done.ending = Ending::Confirmed;
                } else if fingerprint == done.previous_fingerprint {
                    // A replica may lag; the token of the answer stays the best there is.
                    done.warnings.push(Warning::NotReadBack {
                        why: "the service still returned the old token; read the group again in a minute".into(),
                    });
                    return done;
                } else {
                    done.ending = Ending::Superseded;
                }
                done.group = read.group;
                done.token = read.token;
                done
            }
            Err(failure) => {
                let mut done = rotated;
                done.warnings.push(Warning::NotReadBack {
                    why: failure.to_string(),
                });
                done
            }
        }
    }

    /// Journals one step together with what was learnt; nothing is acted on before this is durable.
    async fn advance(
        &self,
        under_way: &mut UnderWay<'_>,
        event: Event,
        lesson: Option<Lesson>,
        entry: Option<Entry>,
        note: Option<String>,
    ) -> Result<Option<KnownGroup>, Failure> {
        let from = under_way.rotation.state;
        let after = under_way
            .rotation
            .step(event, self.horizon())
            .map_err(|error| Failure::Conflict {
                why: error.to_string(),
            })?;
        let record = Record {
            lesson,
            entry,
            rotation: Some(RotationStep {
                id: under_way.row,
                from,
                event,
                after,
                at: self.now(),
                note,
            }),
        };
        let recorded = self.write(record).await?;
        under_way.rotation = after;
        Ok(recorded.group)
    }

    async fn end(
        &self,
        under_way: &mut UnderWay<'_>,
        event: Event,
        ending: Ending,
        why: &str,
    ) -> Result<(), Failure> {
        let entry = self.rotation_entry(under_way, ending, None, Some(why.to_owned()));
        self.advance(under_way, event, None, Some(entry), Some(why.to_owned()))
            .await
            .map_err(|error| {
                unknown(format!("{why}; and it could not be written down: {error}"))
            })?;
        Ok(())
    }

    fn rotation_entry(
        &self,
        under_way: &UnderWay<'_>,
        ending: Ending,
        fingerprint: Option<Fingerprint>,
        note: Option<String>,
    ) -> Entry {
        Entry {
            previous_fingerprint: Some(under_way.rotation.previous),
            fingerprint,
            reason: under_way.reason.clone(),
            note,
            ..self.entry(Operation::Rotate, under_way.id, ending)
        }
    }

    fn done(
        &self,
        under_way: &UnderWay<'_>,
        ending: Ending,
        group: Option<KnownGroup>,
        read: Read,
    ) -> Done {
        let Read {
            token,
            status,
            latency,
            ..
        } = read;
        Done {
            ending,
            group: group.unwrap_or_else(|| KnownGroup::new(under_way.id.clone())),
            token: Some(token),
            previous_fingerprint: Some(under_way.rotation.previous),
            warnings: Vec::new(),
            status,
            latency,
            rotation: Some(under_way.row),
        }
    }
}

fn words(result: &Result<Reply, CallError>) -> String {
    match result {
        Ok(reply) => super::groups::explain(&reply.verdict),
        Err(error) => error.to_string(),
    }
}

fn unknown(why: String) -> Failure {
    Failure::Unknown {
        operation: "rotation",
        why,
        next: NEXT,
    }
}

/// Until the sending is journalled, a failure to write means that nothing was sent.
fn nothing_sent(failure: Failure) -> Failure {
    match failure {
        Failure::NotWritten(error) => Failure::NothingSent(error),
        other => other,
    }
}

fn no_token() -> Failure {
    Failure::Unreadable("the service returned no token; nothing was rotated".into())
}

/// Time between two moments of the wall clock; zero when the clock went back.
pub(super) fn since(earlier: jiff::Timestamp, now: jiff::Timestamp) -> Duration {
    Duration::try_from(now.duration_since(earlier)).unwrap_or_default()
}
