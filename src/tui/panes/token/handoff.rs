//! The hand-off of the new token on the token page, and running it again.

use super::{Stage, TokenPane};
use crate::tui::panes::prelude::*;
use crate::{
    domain::HandOffState,
    operations::{HandedOff, RotationId},
};

/// One line about an attempted hand-off.
pub(crate) fn describe(handed: &HandedOff) -> (Severity, String) {
    let HandedOff {
        user_group_id: id,
        handoff,
        ..
    } = handed;
    let (exit, note) = handoff.in_words();
    match handoff.state {
        HandOffState::Done => (Severity::Done, format!("{id} handed off{note}")),
        HandOffState::None | HandOffState::Pending => {
            (Severity::Error, format!("{id} NOT HANDED OFF{note}"))
        }
        HandOffState::Failed if handoff.is_late() => {
            (Severity::Error, format!("{id} HANDED OFF TOO LATE{note}"))
        }
        HandOffState::Failed => (Severity::Error, format!("{id} HAND-OFF FAILED{exit}{note}")),
    }
}

/// The hand-off of the token on this page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HandOffProgress {
    /// The profile has no hand-off command, or nothing was rotated here.
    Nowhere,
    /// Waits until the token has been read back.
    Later,
    Running(Ticket),
    Ended(HandedOff),
    /// Why it was not run.
    NotRun(String),
}

impl HandOffProgress {
    pub(super) fn is_under_way(&self) -> bool {
        match self {
            Self::Later | Self::Running(_) => true,
            Self::Nowhere | Self::Ended(_) | Self::NotRun(_) => false,
        }
    }
}

impl TokenPane {
    /// Follows a rotation: runs at once if nothing remains to be read back, otherwise after that.
    pub(super) fn hand_off(&mut self, done: &Done, context: &mut Context) {
        if context.hands_off_to().is_none() || done.rotation.is_none() {
            return;
        }
        let is_first = matches!(self.stage, Stage::Rotating(_));
        self.hand_off_progress = if is_first && done.ending == Ending::Rotated {
            HandOffProgress::Later
        } else {
            HandOffProgress::Running(context.start(Job::HandOff(Box::new(done.clone()))))
        };
    }

    /// The rotation whose token can be handed off from this page.
    fn to_hand_off(&self, context: &Context) -> Option<RotationId> {
        match &self.stage {
            Stage::Rotated { done, .. } => done.rotation,
            Stage::Current(_) => context.to_hand_off.get(&self.id).copied(),
            Stage::Reading(_) | Stage::Check { .. } | Stage::Rotating(_) | Stage::Failed(_) => None,
        }
    }

    pub(super) fn why_no_hand_off(&self, context: &Context) -> Option<String> {
        if context.hands_off_to().is_none() {
            return Some("the profile has no handoff".into());
        }
        if self.hand_off_progress.is_under_way() {
            return Some("the hand-off is running".into());
        }
        if self.to_hand_off(context).is_none() {
            return Some("no new token waits to be handed off".into());
        }
        context.why_forbidden(Guarded::HandOff)
    }

    pub(super) fn hand_off_again(&mut self, context: &mut Context) {
        if let Some(rotation) = self.to_hand_off(context) {
            let job = Job::HandOffAgain(rotation, self.id.clone());
            self.hand_off_progress = HandOffProgress::Running(context.start(job));
        }
    }

    pub(super) fn handed(&mut self, handed: Option<&HandedOff>, context: &mut Context) {
        self.hand_off_progress = match handed {
            None => HandOffProgress::Nowhere,
            Some(handed) => {
                let (severity, text) = describe(handed);
                context.say(severity, text);
                HandOffProgress::Ended(handed.clone())
            }
        };
    }

    /// Draws the state of the hand-off on the page of the result.
    pub(super) fn draw_handing(&self, page: &mut TextPage, context: &Context) {
        let theme = context.theme;
        let command = context.hands_off_to().map(ToString::to_string);
        let command = command.unwrap_or_default();
        let key = context.keys.key(self.page_focus(), Action::HandOff);
        match &self.hand_off_progress {
            HandOffProgress::Nowhere => {}
            HandOffProgress::Later => {
                page.field(
                    "hand-off",
                    "after the token is read back",
                    theme.dim(),
                    &command,
                );
            }
            HandOffProgress::Running(ticket) => {
                let waits = context.waiting(Some(*ticket));
                let waits = waits.map_or(command, |line| line.text);
                page.field("hand-off", "running", theme.warning(), &waits);
            }
            HandOffProgress::NotRun(why) => {
                let next = context.how_to_hand_off(format!("{key} runs it again"));
                page.field("hand-off", "NOT RUN", theme.error(), &next);
                page.indented(2, why, theme.error());
            }
            HandOffProgress::Ended(handed) => {
                let handoff = &handed.handoff;
                let exit = handoff
                    .exit
                    .map_or_else(String::new, |exit| format!(" (exit {exit})"));
                let how = |how| context.how_to_hand_off(format!("{key} {how}"));
                let (word, style, next) = match handoff.state {
                    HandOffState::Done => ("done", theme.ok(), command.clone()),
                    HandOffState::Failed if handoff.is_late() => {
                        ("TOO LATE", theme.error(), how("runs it again"))
                    }
                    HandOffState::Failed => ("FAILED", theme.error(), how("runs it again")),
                    HandOffState::None | HandOffState::Pending => {
                        ("WAITS", theme.warning(), how("runs it"))
                    }
                };
                page.field("hand-off", &format!("{word}{exit}"), style, &next);
                if let Some(note) = &handoff.note {
                    page.indented(2, note, style);
                }
            }
        }
    }

    /// Draws, on the page of a token that was read, that it has not been handed off yet, or the result of an attempt.
    pub(super) fn draw_waiting(&self, page: &mut TextPage, context: &Context) {
        if self.hand_off_progress == HandOffProgress::Nowhere
            && context.to_hand_off.contains_key(&self.id)
        {
            let style = context.theme.warning();
            let key = context.keys.key(self.page_focus(), Action::HandOff);
            let next = context.how_to_hand_off(format!("{key} hands this token off"));
            page.field("hand-off", "WAITS", style, &next);
        } else {
            self.draw_handing(page, context);
        }
    }

    /// The place whose keys apply to the page, even while a path is being typed on it.
    pub(super) fn page_focus(&self) -> Focus {
        match self.stage {
            Stage::Rotated { .. } => Focus::RotateResult,
            Stage::Reading(_)
            | Stage::Current(_)
            | Stage::Check { .. }
            | Stage::Rotating(_)
            | Stage::Failed(_) => Focus::Token,
        }
    }

    /// What a person does next with the new token.
    pub(super) fn what_now(&self, context: &Context) -> String {
        let key = |action| context.keys.key(self.page_focus(), action);
        let (copy, write) = (key(Action::CopyMenu), key(Action::WriteFile));
        let has_arrived =
            matches!(&self.hand_off_progress, HandOffProgress::Ended(handed) if handed.is_done());
        match &self.hand_off_progress {
            HandOffProgress::Later | HandOffProgress::Running(_) => {
                "The hand-off delivers it to your dashboards. Leaving this screen does not stop it."
                    .into()
            }
            _ if self.replaced.is_some() => {
                let token = context.keys.key(Focus::List, Action::Token);
                format!("Leave this page; {token} on the group reads the new token.")
            }
            _ if self.done().is_some_and(Done::withholds_token) => {
                let token = context.keys.key(Focus::List, Action::Token);
                format!("Leave this page, check the group, then {token} reads it again.")
            }
            _ if let Some(path) = &self.saved => {
                let begin = if has_arrived {
                    "Delivered, and saved"
                } else {
                    "Saved"
                };
                format!("{begin} to {path} (mode 600). {copy} copies it.")
            }
            _ if has_arrived => {
                format!(
                    "Delivered. {copy} copies it, {write} saves it to a new file (mode 600); otherwise this machine does not keep it."
                )
            }
            _ => {
                let token = context.keys.key(Focus::List, Action::Token);
                format!(
                    "Dashboards need this token now. {copy} copies it, {write} saves it to a new file (mode 600); \
                     otherwise this machine does not keep it, and {token} on the group reads it again."
                )
            }
        }
    }
}
