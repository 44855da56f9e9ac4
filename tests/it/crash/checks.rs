//! The checks after a run: at most one request, the journal agrees with the service, no secret in a file, and the new
//! token was handed off, or is offered again.

use super::run::Run;
use super::*;

impl Run<'_> {
    pub(super) async fn look(&mut self) {
        let mut secrets = self.scene.secrets();
        secrets.push(INVENTED.to_owned());
        // Before this process opens a connection to the files.
        if let Some(file) = file_with_secret(&self.scene.folder, &secrets) {
            self.wrong(format!("a secret stands in {}", file.display()));
        }
        let directory = opened(&self.scene.directory);
        let fingerprint = |token: &str| directory.fingerprinter().of(&Token::new(token.to_owned()));
        let rows = directory.rotations(RotationFilter::default()).await;
        let rows = rows.expect("readable");
        for row in &rows {
            let events = directory.journal_events(row.id).await.expect("readable");
            if replay(&events) != Some(row.rotation) {
                self.wrong("the journal does not add up");
            }
        }
        self.requests(&rows, fingerprint);
        self.hand_off(&directory, &rows).await;
        self.agreement(
            &rows,
            fingerprint(&self.scene.old),
            fingerprint(&self.scene.token()),
        );
        let group = id(&self.scene.group);
        let group = directory.group(place(&directory, Side::Testing.name()), &group);
        let known = group
            .await
            .expect("readable")
            .and_then(|group| group.fingerprint);
        // A conflict is left for a person; the group is read only then.
        let is_unread = self.case.way != RecoveryKind::LookUp
            && rows.iter().any(|row| row.rotation.state == State::Conflict);
        let now = fingerprint(&self.scene.token());
        if !is_unread && known.as_ref().map(|known| known.value) != Some(now) {
            let what = match known {
                Some(_) => "the directory holds another token than the service",
                None => "the directory knows no token",
            };
            let failures = std::mem::take(&mut self.played.failures);
            self.wrong(format!("{what}; {} rotations; {failures:?}", rows.len()));
        }
    }

    /// At most one rotate request per intent, and none without an intent.
    fn requests(&mut self, rows: &[RotationRow], fingerprint: impl Fn(&str) -> Fingerprint) {
        let bodies = self.scene.proxy.bodies("POST");
        self.played.requests = bodies.len();
        let sent: Vec<_> = bodies
            .iter()
            .map(|body| fingerprint(body["current_token"].as_str().expect("a token")))
            .collect();
        if rows.len() > 1 {
            self.wrong(format!("{} rotations", rows.len()));
        }
        for token in &sent {
            let intents = rows
                .iter()
                .filter(|row| row.sent_at.is_some() && row.rotation.previous == *token);
            if intents.count() == 0 {
                self.wrong("a request without an intent");
            }
        }
        if sent.len() > rows.len().max(1) {
            self.wrong(format!("{} requests", sent.len()));
        }
    }

    /// An existing new token was handed off, or is offered again and then arrives; nothing else is ever handed off.
    async fn hand_off(&mut self, directory: &Directory, rows: &[RotationRow]) {
        if self.variant != Variant::Shipped {
            return;
        }
        let Some(row) = rows.first() else { return };
        let is_new = matches!(row.rotation.state, State::Confirmed | State::Recovered);
        let before = row.handoff.state;
        let expected: &[_] = match (is_new, self.case.kill) {
            (false, _) => &[HandOffState::None],
            (true, Some(HANDING_OFF)) if self.played.died => &[HandOffState::Pending],
            (true, None) if self.case.fault == Fault::Good => &[HandOffState::Done],
            (true, _) => &[HandOffState::Pending, HandOffState::Done],
        };
        if !expected.contains(&before) {
            self.wrong(format!("the hand-off is {}", before.as_str()));
        }
        let order = self.scene.order(Task::Rotate);
        let operations = hand_off_operations(order, self.sink.command(), directory);
        let offered = operations.pending_hand_offs().await.expect("readable");
        let is_offered = offered.iter().any(|offered| offered.id == row.id);
        if is_offered != (before == HandOffState::Pending) {
            self.wrong("a hand-off that is pending is not offered, or one that is not");
        }
        if is_offered {
            match operations.hand_off_again(row.id).await {
                Ok(handed) if handed.is_done() => {}
                other => self.wrong(format!("not handed off again: {other:?}")),
            }
        }
        let taken = self.sink.taken();
        let current = (self.scene.group.clone(), self.scene.token());
        if taken.is_empty() == is_new || taken.iter().any(|taken| *taken != current) {
            self.wrong("another token than the new one was handed off, or none");
        }
    }

    /// The journal agrees with the service.
    fn agreement(&mut self, rows: &[RotationRow], old: Fingerprint, now: Fingerprint) {
        let is_rotated = old != now;
        if is_rotated != (self.has_left && self.case.fault.is_applied()) {
            self.wrong("the fault did not do what it is for");
        }
        let Some(row) = rows.first() else {
            if is_rotated {
                self.wrong("rotated, and the journal knows nothing of it");
            }
            return;
        };
        let state = row.rotation.state;
        let agrees = match state {
            State::Confirmed | State::Recovered => {
                is_rotated && row.rotation.fingerprint == Some(now)
            }
            State::NotApplied => !is_rotated,
            // A person has to look; allowed only where the answer contradicted the service.
            State::Conflict => self.case.fault.ends() == Ends::Conflict,
            State::Intended
            | State::Sent
            | State::Rotated
            | State::Unknown
            | State::Superseded
            | State::Abandoned => false,
        };
        if !agrees {
            let fingerprint = row.rotation.fingerprint.map(|new| hex(new.as_bytes()));
            self.wrong(format!(
                "{state:?} with {fingerprint:?}, rotated: {is_rotated}"
            ));
        }
        let expected = match self.case.fault.ends() {
            Ends::Confirmed => State::Confirmed,
            Ends::Recovered => State::Recovered,
            Ends::NotApplied => State::NotApplied,
            Ends::Conflict => State::Conflict,
        };
        if self.case.kill.is_none() && state != expected {
            self.wrong(format!(
                "{state:?} instead of {expected:?} though nobody was killed"
            ));
        }
    }
}
