//! The rotation again, with one mistake each; only here, so that the shipped code has no switches for them. They show
//! that the matrix of cases can fail; [`Variant::Careful`], the same code without a mistake, must pass it.

use super::*;

/// Which rotation an installation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Variant {
    /// The real one.
    Shipped,
    /// The one of this file, without a mistake.
    Careful,
    /// Sends again when the answer was no success.
    RetryBlindly,
    /// Shows the token, then records it.
    ShowFirst,
    /// Records the intent only after the answer.
    IntentAfterSending,
    /// Takes anything but 200 as a proof that nothing was done.
    TrustTheStatus,
    /// Takes the old token read twice as a proof that nothing was done, however soon.
    NoHorizon,
}

impl Variant {
    /// The mistakes, with the fault that shows them soonest, and what the checks report about them.
    #[rustfmt::skip] // A table: one mistake per line.
    pub(super) const WRONG: [(Self, Fault, &str); 5] = [
        (Self::RetryBlindly, Fault::ServerError, "2 requests"),
        (Self::ShowFirst, Fault::Good, "shown before its fingerprint was durable"),
        (Self::IntentAfterSending, Fault::Good, "a request without an intent"),
        (Self::TrustTheStatus, Fault::RefusedApplied, "NotApplied with None, rotated: true"),
        (Self::NoHorizon, Fault::ArrivesLate, "NotApplied with None, rotated: true"),
    ];
}

/// Without the horizon, every look-up happens long after the sending.
pub(super) fn settling_time(variant: Variant, at: Timestamp) -> Timestamp {
    match variant {
        Variant::NoHorizon => at + Duration::from_hours(1),
        _ => at,
    }
}

struct UnderWay<'a> {
    installation: &'a Child,
    at: Timestamp,
    row: RotationId,
    rotation: Rotation,
}

impl<'a> UnderWay<'a> {
    async fn begin(installation: &'a Child, at: Timestamp, previous: Fingerprint) -> Option<Self> {
        let (directory, profile) = (&installation.directory, &installation.profile.name);
        let intent = fields::intent(&installation.order.id, previous, (ANA, profile), at);
        let begun = directory.begin_rotation(place(directory, profile), intent);
        match begun.await.expect("written") {
            BeginResult::Started(row) => Some(Self {
                installation,
                at,
                row,
                rotation: Rotation::intended(previous),
            }),
            BeginResult::TakenBy(_) | BeginResult::HeldBy(_) | BeginResult::RotatedBy(_) => None,
        }
    }

    async fn step(&mut self, event: Event) {
        let horizon = settle_window(self.installation.profile.timeout);
        let step = fields::step(self.row, self.rotation, event, horizon, self.at);
        self.rotation = step.after;
        let (directory, profile) = (&self.installation.directory, &self.installation.profile);
        let written = directory.record(place(directory, &profile.name), fields::step_record(step));
        written.await.expect("written");
    }
}

/// What [`Operations::rotate`](groupdesk::operations::Operations::rotate) does, with the mistake.
pub(super) async fn rotate(installation: &Child, at: Timestamp) {
    let variant = installation.order.variant;
    let group = id(&installation.order.id);
    let environment = Environment::default();
    let key = installation.profile.api_key.read(&environment);
    let client = Client::new(&installation.profile, key.await.expect("a key")).expect("a client");
    let settling = installation.operations(Clock::Fixed(settling_time(variant, at)));
    let preflight = installation.operations(Clock::Fixed(at));
    let Ok(read) = preflight.look_up(&group, UnknownIdPolicy::Exists).await else {
        return say("failed", "unreadable");
    };
    let Some(current) = read.token().cloned() else {
        return say("failed", "stale");
    };
    let previous = installation.directory.fingerprinter().of(&current);
    let reached = |number| installation.watch.reached(number);

    reached(1);
    let mut under_way = None;
    if variant != Variant::IntentAfterSending {
        let Some(mut begun) = UnderWay::begin(installation, at, previous).await else {
            return say("failed", "taken");
        };
        reached(2);
        begun.step(Event::Sending).await;
        under_way = Some(begun);
    }
    reached(3);
    let mut result = client.rotate(&current, Some(&group)).await;
    let is_success = result
        .as_ref()
        .is_ok_and(|reply| matches!(reply.verdict, Verdict::Success(_)));
    if variant == Variant::RetryBlindly && !is_success {
        result = client.rotate(&current, Some(&group)).await;
    }
    reached(5);
    if under_way.is_none() {
        under_way = UnderWay::begin(installation, at, previous).await;
        if let Some(begun) = &mut under_way {
            begun.step(Event::Sending).await;
        }
    }
    let Some(mut under_way) = under_way else {
        return say("failed", "taken");
    };
    let answer = match &result {
        Ok(reply) if variant == Variant::TrustTheStatus && reply.status != 200 => {
            RotateOutcome::NotSent
        }
        _ => rotation_answer(&result, installation.directory.fingerprinter()),
    };
    let new = match answer {
        RotateOutcome::NewToken(new) => Some(new),
        _ => None,
    };
    if let Some(new) = new.filter(|_| variant == Variant::ShowFirst) {
        installation.show_fingerprint(new.as_bytes());
    }
    under_way.step(Event::Answered(answer)).await;
    reached(match under_way.rotation.state {
        State::Unknown => 8,
        _ => 6,
    });
    if let Some(new) = new.filter(|_| variant != Variant::ShowFirst) {
        installation.show_fingerprint(new.as_bytes());
    }
    if !under_way.rotation.state.is_open() {
        return;
    }
    if let Ok(read) = settling.look_up(&group, UnknownIdPolicy::Exists).await
        && under_way.rotation.state == State::Unknown
        && read.token() != Some(&current)
    {
        installation.show(&read);
    }
}
