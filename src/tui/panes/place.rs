//! Questions to answer before anything is sent: which environment the profile is, a verification of a
//! new key, the result of investigating an alarm. Until then nothing is sent, but the list can be read. Enter alone is
//! never an answer.

mod view;

use std::mem::discriminant;

use super::prelude::*;
use crate::{
    config::guard::Level,
    operations::{BindingAnswer, Place, PlaceProblem, Question},
    tui::state::JobError,
};

const PLACES: Places = Places::boxed(Focus::PlaceReason, Focus::PlaceNew);
const NOT_FOUND_OUT: &str = "Enter what was found; it is recorded";

#[derive(Debug)]
enum Stage {
    /// The choices: not now, one of the places, or a new one.
    Choose(Box<Question>, Cursor),
    /// The choice with this number, waiting for confirmation.
    Answer(Box<Question>, usize, Box<Confirm>),
    /// Asks for a group that proves the key; with the suggested one.
    Proof(TextField, Option<UserGroupId>),
    /// Asks what was found out about the alarms.
    Reason(Box<Confirm>),
    /// The proof failed; there is nothing left to choose.
    Failed,
}

#[derive(Debug)]
pub struct PlacePane {
    problem: PlaceProblem,
    stage: Stage,
    /// The error of the last answer.
    error: Option<String>,
    /// The job that searches for a group to suggest.
    looking: Option<Ticket>,
    /// The job that sends the answer.
    working: Option<Ticket>,
}

impl PlacePane {
    /// The dialog about this problem; `None` if there is nothing that a person could answer here.
    pub fn open(problem: &PlaceProblem, context: &mut Context) -> Option<Self> {
        let mut pane = Self {
            stage: stage(problem)?,
            problem: problem.clone(),
            error: None,
            looking: None,
            working: None,
        };
        pane.find_proof(context);
        Some(pane)
    }

    fn find_proof(&mut self, context: &mut Context) {
        if matches!(self.stage, Stage::Proof(..)) {
            self.looking = Some(context.start(Job::Proof));
        }
    }

    /// Switches the dialog to another problem.
    fn switch_to(&mut self, problem: PlaceProblem, context: &mut Context) {
        self.stage = stage(&problem).unwrap_or(Stage::Failed);
        self.problem = problem;
        self.find_proof(context);
    }

    /// Another console has answered, and this is asked now; or there are more alarms.
    pub fn follow(&mut self, problem: &PlaceProblem, context: &mut Context) {
        if !self.is_asking() {
            return;
        }
        if discriminant(problem) == discriminant(&self.problem) {
            if matches!(problem, PlaceProblem::Alarmed { .. }) {
                self.problem = problem.clone();
            }
            return;
        }
        self.error = None;
        self.switch_to(problem.clone(), context);
        if let PlaceProblem::OnTrial { place, .. } = problem {
            let place = visible(place);
            let text =
                format!("Answered by another console: this profile uses environment {place}");
            context.say(Severity::News, text);
        }
    }

    fn choose(&mut self, context: &mut Context) {
        let Stage::Choose(question, cursor) = &self.stage else {
            return;
        };
        let profile = context.profile_name();
        let what = match chosen(question, cursor.at) {
            Choice::NotNow => return self.close(context),
            Choice::Same(place) => {
                let place = visible(&place.name);
                format!("confirms that profile {profile} uses environment {place}")
            }
            Choice::New => format!("confirms that profile {profile} uses a new environment"),
        };
        let confirm = Box::new(Confirm::with_key(Focus::PlaceNew).of(what, ""));
        self.stage = Stage::Answer(question.clone(), cursor.at, confirm);
    }

    /// Whether the question stands and no answer to it is being recorded.
    pub fn is_asking(&self) -> bool {
        self.working.is_none() && !matches!(self.stage, Stage::Failed)
    }

    fn start(&mut self, job: Job, context: &mut Context) {
        self.error = None;
        self.working = Some(context.start(job));
    }

    fn enter(&mut self, context: &mut Context) {
        match &mut self.stage {
            Stage::Choose(..) => self.choose(context),
            Stage::Answer(..) | Stage::Reason(_) => {}
            Stage::Failed => context.close_pane(),
            Stage::Proof(field, _) => match UserGroupId::written(field.text()) {
                Ok(id) => self.start(Job::Prove(id), context),
                Err(error) => field.error = Some(error.to_string()),
            },
        }
    }

    fn close(&self, context: &mut Context) {
        if !matches!(self.stage, Stage::Failed) {
            let key = context.keys.key(Focus::List, Action::Refresh);
            let text = format!(
                "Nothing is sent for this profile until this question is answered, here or elsewhere; {key} in the list asks again"
            );
            context.say(Severity::Warning, text);
        }
        context.close_pane();
    }

    fn back(&mut self, context: &mut Context) {
        if let Stage::Answer(question, at, _) = &self.stage {
            self.stage = Stage::Choose(question.clone(), Cursor::new(*at));
        } else {
            self.close(context);
        }
    }

    fn failed(&mut self, error: &JobError, context: &mut Context) {
        match error.place.as_deref() {
            Some(problem) if stage(problem).is_some() => self.switch_to(problem.clone(), context),
            Some(PlaceProblem::NotProven { .. }) => {
                // The message remains when the dialog is closed.
                context.say_error(error);
                self.stage = Stage::Failed;
            }
            // Perhaps another console has answered meanwhile.
            _ => drop(context.start(Job::OpenRotations)),
        }
        match &mut self.stage {
            Stage::Proof(field, _) => field.error = Some(error.text.clone()),
            Stage::Reason(confirm) => confirm.refuse(&error.text),
            _ => self.error = Some(error.text.clone()),
        }
    }
}

fn stage(problem: &PlaceProblem) -> Option<Stage> {
    match problem {
        PlaceProblem::Asked { question, .. } => {
            Some(Stage::Choose(question.clone(), Cursor::default()))
        }
        PlaceProblem::OnTrial { .. } => Some(Stage::Proof(
            TextField::new("group ID", "").for_data(),
            None,
        )),
        PlaceProblem::Alarmed { .. } => {
            let what = "acknowledges the alarms: requests are sent again";
            let confirm = Confirm::new(PLACES, Level::Key, None).of(what, "");
            let confirm = confirm.with_needed_reason("what was found", NOT_FOUND_OUT);
            Some(Stage::Reason(Box::new(confirm.with_verb("ACKNOWLEDGE"))))
        }
        PlaceProblem::TagConflict { .. }
        | PlaceProblem::NotProven { .. }
        | PlaceProblem::NoProof { .. }
        | PlaceProblem::Refused { .. }
        | PlaceProblem::NoPlace { .. }
        | PlaceProblem::BadName { .. }
        | PlaceProblem::NameTaken { .. } => None,
    }
}

/// One line of the choices.
enum Choice<'q> {
    /// The first line: chosen by a key that was meant for something else.
    NotNow,
    Same(&'q Place),
    New,
}

fn choices(question: &Question) -> usize {
    question.places.len() + 2
}

fn chosen(question: &Question, at: usize) -> Choice<'_> {
    let place = at.checked_sub(1).map(|at| question.places.get(at));
    match place {
        None => Choice::NotNow,
        Some(Some(place)) => Choice::Same(place),
        Some(None) => Choice::New,
    }
}

impl View for PlacePane {
    fn focus(&self) -> Focus {
        match &self.stage {
            _ if self.working.is_some() => Focus::PlaceWait,
            Stage::Choose(..) => Focus::PlaceChoice,
            Stage::Answer(_, _, confirm) | Stage::Reason(confirm) => confirm.focus(),
            Stage::Proof(..) => Focus::PlaceProof,
            Stage::Failed => Focus::PlaceWait,
        }
    }

    fn title(&self, _context: &Context) -> String {
        "Environment".into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if self.working.is_some() {
            if action == Action::Back {
                context.close_pane();
            }
            return;
        }
        if let Stage::Choose(question, cursor) = &mut self.stage
            && cursor.act(action, choices(question), 0)
        {
            return;
        }
        match action {
            Action::Enter => self.enter(context),
            Action::NextField => {
                if let Stage::Proof(field, Some(id)) = &mut self.stage {
                    field.set_text(id.as_str());
                    field.error = None;
                }
            }
            Action::Back => self.back(context),
            _ => {}
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        match &mut self.stage {
            Stage::Proof(field, _) => Some(field),
            Stage::Reason(confirm) => confirm.field(),
            _ => None,
        }
    }

    fn confirm(&self) -> Option<&Confirm> {
        match &self.stage {
            _ if self.working.is_some() => None,
            Stage::Answer(_, _, confirm) | Stage::Reason(confirm) => Some(confirm),
            _ => None,
        }
    }

    fn confirm_mut(&mut self) -> Option<&mut Confirm> {
        match &mut self.stage {
            _ if self.working.is_some() => None,
            Stage::Answer(_, _, confirm) | Stage::Reason(confirm) => Some(confirm),
            _ => None,
        }
    }

    fn carry_out(&mut self, context: &mut Context) {
        let job = match (&self.stage, &self.problem) {
            (Stage::Answer(question, at, _), _) => Job::AnswerPlace(match chosen(question, *at) {
                Choice::Same(place) => BindingAnswer::Same {
                    place: Some(place.id),
                    unproven: false,
                },
                Choice::New => BindingAnswer::New,
                Choice::NotNow => return,
            }),
            (Stage::Reason(confirm), PlaceProblem::Alarmed { place, .. }) => {
                let reason = confirm.reason().unwrap_or_default();
                Job::Acknowledge(place.clone(), reason)
            }
            _ => return,
        };
        self.start(job, context);
    }

    fn paste(&mut self, text: &str, _context: &mut Context) -> bool {
        let Some(field) = self.field() else {
            return false;
        };
        field.paste(text.trim());
        field.error = None;
        true
    }

    fn hint(&self, action: Action, _context: &Context) -> Option<&'static str> {
        match (action, &self.stage) {
            // There is no choice to go back to.
            (Action::Back, Stage::Reason(_)) if self.working.is_none() => Some("not now"),
            (Action::Confirm, _) => self.confirm()?.verb(),
            _ => None,
        }
    }

    fn disabled(&self, action: Action, _context: &Context) -> Option<String> {
        match (action, &self.stage) {
            (Action::NextField, Stage::Proof(_, None)) => Some("no group is proposed".into()),
            _ => self.confirm()?.disabled(action),
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        [self.looking, self.working].contains(&Some(ticket))
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        let is_proposal = matches!(outcome, Outcome::Proof(_)) || self.working.is_none();
        if is_proposal {
            self.looking = None;
            if let (Outcome::Proof(found), Stage::Proof(_, proposed)) = (outcome, &mut self.stage) {
                proposed.clone_from(found);
            }
            return;
        }
        self.working = None;
        match outcome {
            Outcome::PlaceBound(bound) if bound.on_trial => {
                if let PlaceProblem::Asked { profile, .. } = &self.problem {
                    let problem = PlaceProblem::OnTrial {
                        profile: profile.clone(),
                        place: bound.name.clone(),
                    };
                    self.switch_to(problem, context);
                }
            }
            Outcome::PlaceBound(bound) => {
                let text = format!("This profile now uses environment {}", visible(&bound.name));
                context.say(Severity::Done, text);
                context.close_pane();
            }
            Outcome::Proven => {
                context.say(Severity::Done, "The API key is verified; requests are sent");
                context.close_pane();
            }
            Outcome::Acknowledged => {
                context.say(Severity::Done, "Acknowledged; requests are sent again");
                context.close_pane();
            }
            Outcome::Failed(error) => self.failed(error, context),
            _ => {}
        }
    }

    fn job_panicked(&mut self, _context: &mut Context) {
        self.looking = None;
        self.working = None;
    }

    fn leave(&mut self, context: &mut Context) {
        if let Some(ticket) = self.looking.take() {
            context.cancel(ticket);
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context)
    }
}
