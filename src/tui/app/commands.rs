//! Carries out the entries of the palette: on the list, on the group that is shown, or on the console.
//!
//! The numbered pages: they replace each other, so that Esc on one of them leaves one thing.
//!
//! Problems that block the current profile: the dialog opens by itself, once, and its answer starts the work that had
//! to wait.

use super::{App, Job, Outcome, Pane, ProfileIndex};
use crate::{
    domain::{AnnotationChange, UserGroupId, visible},
    operations::PlaceProblem,
    tui::{
        keymap::Action,
        panes::{help::why_no_command, is_page, open::Open, place::PlacePane},
        state::{BatchAim, Command, PaneRequest, Severity},
    },
};

impl App {
    pub(super) fn run(&mut self, command: Command) {
        if let Some(key) = command.key() {
            if let Some(why) = why_no_command(&command, self.top_pane(), &self.context) {
                return self.refuse(format!("Not available: {why}"));
            }
            if self.refuses_blind(key) {
                return;
            }
        }
        match command {
            Command::Go(id) if self.context.groups.contains(&id) => {
                self.context.open_pane(PaneRequest::Group(id));
            }
            Command::Go(id) => {
                // Gone since the palette was opened. A get could create it; the dialog says so.
                let pane = Open::of(id.as_str(), &mut self.context);
                self.stack.push(pane.into());
            }
            Command::Batch(id) => {
                let mut run = self.context.bulk.iter();
                let run = run.find(|run| run.batch == Some(id) && run.is_under_way());
                let opening = run.map_or(PaneRequest::Batch(id, BatchAim::Look), |run| {
                    PaneRequest::WatchBulk(run.ticket)
                });
                self.context.open_pane(opening);
            }
            Command::Theme(ground) => {
                let theme = &mut self.context.theme;
                theme.palette = theme.palette.with_background(ground);
            }
            Command::Profile(profile) if self.must_stay(profile) => {}
            Command::Profile(profile) => self.switch(profile),
            Command::AddLabel(label) => self.annotate(AnnotationChange {
                add: [label].into(),
                ..AnnotationChange::default()
            }),
            Command::RemoveLabel(label) => self.annotate(AnnotationChange {
                remove: [label].into(),
                ..AnnotationChange::default()
            }),
            Command::Save(name, seen) => {
                if let [Pane::List(list), .., Pane::Views(views)] = &mut self.stack[..] {
                    let save = Job::SaveView(name, list.current_view(), seen);
                    views.saves(self.context.start(save));
                }
            }
            Command::List(_) if self.stack.iter().any(holds_something) => {
                let text =
                    "Not available while a form, a review or a token is open: close it first";
                self.refuse(text.into());
            }
            Command::List(command) => {
                // A box above the list stays open.
                if !self.top_pane().is_box() && !self.go_home() {
                    return;
                }
                if let Some(Pane::List(list)) = self.stack.first_mut() {
                    list.run(command, &mut self.context);
                }
            }
        }
    }

    fn annotate(&mut self, change: AnnotationChange) {
        match self.targets() {
            ids if ids.is_empty() => {
                self.refuse(
                    "Not available here: labels need a group; open a group or the list".into(),
                );
            }
            ids => self.context.annotate(ids, change),
        }
    }

    /// The group that the page shows; on the list, the marked groups, else the one under the cursor.
    fn targets(&self) -> Vec<UserGroupId> {
        let page = self.stack.iter().rfind(|pane| !pane.is_box());
        page.map_or_else(Vec::new, |pane| pane.view().about())
    }
}

/// Whether the pane has input or results that would be lost or hidden if the list replaced it.
pub(super) fn holds_something(pane: &Pane) -> bool {
    matches!(
        pane,
        Pane::Edit(_) | Pane::Review(_) | Pane::Token(_) | Pane::BulkEdit(_) | Pane::Connect(_)
    )
}

/// Which of the pages a pane is, by the action that opens that.
fn page(pane: &Pane) -> Option<Action> {
    pane.opened_by().filter(|action| is_page(*action))
}

impl App {
    /// The page that is open: of the things on the screen, the last that is one. `None` while there is no profile.
    pub fn page(&self) -> Option<Action> {
        self.stack.iter().rev().find_map(page)
    }

    /// Opens the pane of an action; whether there is one. A page takes the place of the one that is open; what has input,
    /// asks something or shows a token stays below.
    pub(super) fn opens(&mut self, action: Action) -> bool {
        if is_page(action) {
            self.close_page();
        }
        let pane = Pane::open_by(action, &mut self.context);
        let is_opened = pane.is_some();
        self.stack.extend(pane);
        is_opened
    }

    fn close_page(&mut self) {
        let is_of_page = |pane: &&Pane| page(pane).is_some() || !Self::keeps(pane);
        let above = self.stack[1..].iter().rev().take_while(is_of_page);
        let above: Vec<bool> = above.map(|pane| page(pane).is_some()).collect();
        let closed = above.iter().rposition(|is_page| *is_page);
        for _ in 0..closed.map_or(0, |lowest| lowest + 1) {
            self.close_top();
        }
    }

    fn keeps(pane: &Pane) -> bool {
        let view = pane.view();
        let is_asking = pane.is_box() || view.confirm().is_some();
        holds_something(pane) || is_asking || view.focus().takes_text()
    }
}

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
            Outcome::Done(_) => drop(self.problem_resolved(profile)),
            Outcome::OpenRotations(_, place) => {
                let problem = self.problem_resolved(profile);
                // What is being answered here waits for its own outcome.
                let asks = |pane: &Pane| matches!(pane, Pane::Place(asking) if asking.is_asking());
                let is_asked = self.stack.iter().position(asks).filter(|_| is_here);
                if let Some(at) = is_asked {
                    self.stack.remove(at).view_mut().leave(&mut self.context);
                }
                if let Some(problem) = problem
                    && (is_asked.is_some() || is_here && !self.stack.iter().any(is_question))
                {
                    let text = answered_elsewhere(&problem, place.as_deref());
                    self.context.say(Severity::News, text);
                }
            }
            _ => {}
        }
        let Some(problem) = problem_of(outcome).filter(|problem| has_dialog(problem)) else {
            return;
        };
        self.context.place_problems.insert(profile, problem.clone());
        if !is_here {
            return;
        }
        let mut panes = self.stack.iter_mut();
        if let Some(Pane::Place(asking)) = panes.find(|pane| is_question(pane)) {
            asking.follow(problem, &mut self.context);
        } else if let Some(pane) = PlacePane::open(problem, &mut self.context) {
            self.stack.push(pane.into());
        }
    }

    /// Called when the person refreshes: checks again whether the profile is still blocked.
    pub(super) fn ask_again(&mut self) {
        let context = &mut self.context;
        if context.place_problems.contains_key(&context.current) {
            context.start(Job::OpenRotations);
        }
    }

    /// The profile is no longer blocked: removes the problem, which is returned, and its message.
    fn problem_resolved(&mut self, profile: ProfileIndex) -> Option<PlaceProblem> {
        let problem = self.context.place_problems.remove(&profile)?;
        let now = self.context.now;
        let text = self.context.proposing(problem.to_string(), profile);
        self.context.messages.take_back(now, &text);
        Some(problem)
    }

    /// Reads the content of the place, which may be another one than before, and settles what is open there.
    pub(super) fn reload_place(&mut self) {
        let context = &mut self.context;
        context.start(Job::List);
        context.start(Job::OpenRotations);
        context.start(Job::Batches);
        context.read_drafts();
        if context.hands_off_to().is_some() {
            context.start(Job::DueHandOffs);
        }
    }
}

fn is_question(pane: &Pane) -> bool {
    matches!(pane, Pane::Place(_))
}

/// What another console answered to this question; the profile uses `place` now.
fn answered_elsewhere(problem: &PlaceProblem, place: Option<&str>) -> String {
    let what = match (problem, place.map(visible)) {
        (PlaceProblem::OnTrial { .. }, _) => "the API key is verified; ".into(),
        (PlaceProblem::Alarmed { .. }, _) => "the alarms are acknowledged; ".into(),
        (_, Some(place)) => format!("this profile uses environment {place}; "),
        _ => String::new(),
    };
    format!("Answered by another console: {what}requests are sent")
}

fn problem_of(outcome: &Outcome) -> Option<&PlaceProblem> {
    outcome.error()?.place.as_deref()
}

fn has_dialog(problem: &PlaceProblem) -> bool {
    matches!(
        problem,
        PlaceProblem::Asked { .. } | PlaceProblem::OnTrial { .. } | PlaceProblem::Alarmed { .. }
    )
}
