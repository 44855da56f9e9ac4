//! Problems that block the current profile: the dialog opens by itself, once, and its answer starts the work that had
//! to wait.

use super::{App, Job, Outcome, Pane, ProfileIndex};
use crate::{
    operations::PlaceProblem,
    tui::{panes::place::PlacePane, state::message::JobError},
};

impl App {
    /// Whether the dialog shows this outcome, so that no message is needed.
    pub(super) fn is_asked(outcome: &Outcome, is_here: bool) -> bool {
        is_here && problem_of(outcome).is_some_and(has_dialog)
    }

    /// Records what blocks a profile, and asks the person if that profile is open.
    pub(super) fn note_place(&mut self, profile: ProfileIndex, outcome: &Outcome) {
        let is_here = profile == self.context.current;
        match outcome {
            Outcome::PlaceBound(bound) if bound.on_trial => {
                self.problem_resolved(profile);
                if let Some(name) = self.context.profiles.get(profile.0) {
                    let problem = PlaceProblem::OnTrial {
                        profile: name.name.clone(),
                        place: bound.name.clone(),
                    };
                    self.context.place_problems.insert(profile, problem);
                }
                if is_here {
                    // Reading is allowed; nothing is settled before the key is proven.
                    self.context.start(Job::List);
                }
            }
            Outcome::PlaceBound(_) | Outcome::Proven | Outcome::Acknowledged => {
                self.problem_resolved(profile);
                if matches!(outcome, Outcome::Acknowledged) {
                    self.context.wrong_environment.remove(&profile);
                }
                if is_here {
                    self.reload_place();
                }
            }
            Outcome::Done(_) | Outcome::OpenRotations(_) => self.problem_resolved(profile),
            _ => {}
        }
        let Some(problem) = problem_of(outcome).filter(|problem| has_dialog(problem)) else {
            return;
        };
        self.context.place_problems.insert(profile, problem.clone());
        let is_open = |pane: &Pane| matches!(pane, Pane::Place(_));
        if is_here
            && !self.stack.iter().any(is_open)
            && let Some(pane) = PlacePane::open(problem, &mut self.context)
        {
            self.stack.push(Pane::Place(Box::new(pane)));
        }
    }

    /// Called when the person refreshes: checks again whether the profile is still blocked.
    pub(super) fn ask_again(&mut self) {
        if self
            .context
            .place_problems
            .contains_key(&self.context.current)
        {
            self.context.start(Job::OpenRotations);
        }
    }

    /// The profile is no longer blocked: removes the problem and its message.
    fn problem_resolved(&mut self, profile: ProfileIndex) {
        if let Some(problem) = self.context.place_problems.remove(&profile) {
            let now = self.context.now;
            let text = self.context.proposing(problem.to_string(), profile);
            self.context.messages.take_back(now, &text);
        }
    }

    /// Reads the content of the place, which may be another one than before, and settles what is open there.
    pub(super) fn reload_place(&mut self) {
        let context = &mut self.context;
        context.start(Job::List);
        context.start(Job::OpenRotations);
        context.start(Job::Batches);
        context.read_drafts();
        if context.hands_off_to().is_some() {
            context.start(Job::PendingHandOffs);
        }
    }
}

fn problem_of(outcome: &Outcome) -> Option<&PlaceProblem> {
    match outcome {
        Outcome::Failed(JobError { place, .. }) | Outcome::NotHandedOff(JobError { place, .. }) => {
            place.as_deref()
        }
        _ => None,
    }
}

fn has_dialog(problem: &PlaceProblem) -> bool {
    matches!(
        problem,
        PlaceProblem::Asked { .. } | PlaceProblem::OnTrial { .. } | PlaceProblem::Alarmed { .. }
    )
}
