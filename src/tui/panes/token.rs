//! The token of a group: its current state, and rotating it (docs/design/rotation.md). Nothing is sent before the
//! check; leaving never stops a running rotation; the token is masked and only kept in memory.

pub(crate) mod handoff;
mod page;
mod progress;

use jiff::SignedDuration;

use handoff::HandOffProgress;
use progress::Steps;
pub(crate) use progress::describe;

use super::prelude::*;
use crate::{
    domain::{Fingerprint, Token, mutation::State},
    operations::{Changes, Warning},
    tui::{
        page::{CONFIRMATION_LOST, prompt::Prompt},
        state::{
            ChangedField, JobError, KeptReason,
            live::{last_learnt, news_between},
        },
    },
};

/// How long a revealed token stays visible.
const REVEAL_TIME: SignedDuration = SignedDuration::from_secs(20);

const PLACES: Places = Places {
    reason: Focus::RotateReason,
    typed: Focus::RotateTyped,
    key: Focus::RotateCheck,
};

#[derive(Debug)]
enum Stage {
    /// Reading the token that the service holds now.
    Reading(Ticket),
    Current(Done),
    /// The check: what will happen, the reason, the confirmation.
    Check {
        confirm: Box<Confirm>,
        /// The token that was shown; if it is another one by then, it is not rotated.
        seen: Option<Fingerprint>,
    },
    Rotating(Ticket),
    /// Rotated; `confirming` while it is read back.
    Rotated {
        done: Done,
        confirming: Option<Ticket>,
    },
    /// The group could not be read, or the rotation did not end well.
    Failed(JobError),
}

#[derive(Debug)]
pub struct TokenPane {
    id: UserGroupId,
    stage: Stage,
    /// Steps of the rotation started by this page, until the token is read again.
    steps: Option<Steps>,
    revealed_until: Option<Timestamp>,
    /// A sentence about when and by whom the token on the page was replaced.
    replaced: Option<String>,
    /// When a rotation whose result the page does not know was resolved.
    resolved_at: Option<Timestamp>,
    /// The file to write the token to.
    file: Prompt,
    /// The file that has the token on the page.
    saved: Option<String>,
    hand_off_progress: HandOffProgress,
    /// The reason as it was typed last; a check that begins again has it.
    reason: KeptReason,
    scroll: Cursor,
}

/// Why no way out passes the token on.
const WITHHELD: &str = "its response has an alarm: check the group";

impl TokenPane {
    pub fn id(&self) -> &UserGroupId {
        &self.id
    }

    /// Opens the page and reads the group; rotating always requires the check.
    pub fn open(group: &KnownGroup, context: &mut Context) -> Self {
        let ticket = context.start(Job::LookUp(group.id.clone()));
        Self {
            stage: Stage::Reading(ticket),
            steps: None,
            id: group.id.clone(),
            revealed_until: None,
            replaced: None,
            resolved_at: None,
            file: Prompt::default(),
            saved: None,
            hand_off_progress: HandOffProgress::Nowhere,
            reason: KeptReason::default(),
            scroll: Cursor::default(),
        }
    }

    /// The rotation of this group has a result now.
    pub fn resolved(&mut self, id: &UserGroupId, now: Timestamp) {
        let is_unknown = |error: &JobError| error.severity() == Severity::Unknown;
        if *id == self.id && matches!(&self.stage, Stage::Failed(error) if is_unknown(error)) {
            self.resolved_at = Some(now);
        }
    }

    fn done(&self) -> Option<&Done> {
        match &self.stage {
            Stage::Current(done) | Stage::Rotated { done, .. } => Some(done),
            Stage::Reading(_) | Stage::Check { .. } | Stage::Rotating(_) | Stage::Failed(_) => None,
        }
    }

    fn token(&self) -> Option<&Token> {
        self.done()?.token()
    }
}

/// Who holds the group, so that no rotation may start: since when, and what helps.
fn why_blocked(done: &Done, context: &Context) -> Option<String> {
    let time = |at: Timestamp| context.second(at);
    let open = done.warnings.iter().find_map(|warning| match warning {
        Warning::RotationOpen {
            state,
            by,
            decided_from,
        } => Some(format!(
            "a rotation by {} is open ({}); a read after {} can resolve it",
            visible(by),
            state.as_str(),
            time(*decided_from)
        )),
        _ => None,
    });
    let holder = || done.open.iter().find(|holder| holder.state.holds());
    open.or_else(|| {
        holder().map(|holder| {
            let state = match holder.state {
                State::Unknown => "may still take effect",
                _ => "is in progress",
            };
            format!(
                "the {} by {} of {} {state}; read the token again later",
                holder.operation.as_str(),
                visible(&holder.by),
                time(holder.since())
            )
        })
    })
}

impl View for TokenPane {
    fn about(&self) -> Vec<UserGroupId> {
        vec![self.id().clone()]
    }

    fn focus(&self) -> Focus {
        if self.file.is_asked() {
            return Focus::WritePath;
        }
        match &self.stage {
            Stage::Reading(_) | Stage::Current(_) | Stage::Failed(_) => Focus::Token,
            Stage::Check { confirm, .. } => confirm.focus(),
            Stage::Rotating(_) => Focus::RotateRunning,
            Stage::Rotated { .. } => Focus::RotateResult,
        }
    }

    fn title(&self, _context: &Context) -> String {
        match &self.stage {
            Stage::Check { .. } | Stage::Rotating(_) => {
                format!("Rotate {}", visible(self.id.as_str()))
            }
            Stage::Reading(_) | Stage::Current(_) | Stage::Rotated { .. } | Stage::Failed(_) => {
                format!("Token of {}", visible(self.id.as_str()))
            }
        }
    }

    fn status(&self, _context: &Context) -> String {
        match &self.stage {
            Stage::Reading(_) => "reading".into(),
            Stage::Check { .. } => "nothing is sent yet".into(),
            Stage::Rotating(_) => "rotating".into(),
            Stage::Rotated {
                confirming: Some(_),
                ..
            } => "reading it back".into(),
            Stage::Current(_) | Stage::Rotated { .. } | Stage::Failed(_) => String::new(),
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let page = context.half_page();
        if self.scroll.act(action, page::lines(self, context), page) {
            return;
        }
        match action {
            Action::Back if self.file.is_asked() => self.file.close(),
            Action::Enter if self.file.is_asked() => self.write(context),
            Action::Rotate => {
                (self.revealed_until, self.saved) = (None, None);
                let fingerprint = self.done().and_then(|done| done.group.fingerprint.as_ref());
                self.stage = Stage::Check {
                    seen: fingerprint.map(|known| known.value),
                    confirm: Box::new(self.confirmation(context)),
                };
            }
            Action::Back | Action::Enter => {
                if let Stage::Check { confirm, .. } = &self.stage {
                    self.reason = confirm.kept_reason();
                    context.mention("Nothing was sent");
                    self.read(context);
                } else {
                    self.pop(context);
                }
            }
            Action::Refresh if self.file.is_asked() => {}
            Action::Refresh => match &self.stage {
                Stage::Reading(_) | Stage::Current(_) | Stage::Failed(_) => self.read(context),
                Stage::Check { .. } | Stage::Rotating(_) | Stage::Rotated { .. } => {}
            },
            Action::Reveal => self.reveal(context),
            Action::CopyMenu => {
                if let Some(token) = self.token().cloned() {
                    context.copy_secret("token", token);
                }
            }
            Action::WriteFile => self.ask_path(),
            Action::HandOff => self.hand_off_again(context),
            _ => {}
        }
    }

    /// The field that has the keys.
    fn field(&mut self) -> Option<&mut TextField> {
        if self.file.is_asked() {
            return self.file.field();
        }
        self.confirm_mut()?.field()
    }

    fn take_back(&mut self, field: &str, _context: &mut Context) {
        if field == "reason" {
            // The next check does not begin with it.
            self.reason = KeptReason::default();
        }
    }

    fn confirm(&self) -> Option<&Confirm> {
        match &self.stage {
            Stage::Check { confirm, .. } => Some(confirm),
            _ => None,
        }
    }

    fn confirm_mut(&mut self) -> Option<&mut Confirm> {
        match &mut self.stage {
            Stage::Check { confirm, .. } => Some(confirm),
            _ => None,
        }
    }

    fn unsaved(&self) -> Option<String> {
        let is_typed = match &self.stage {
            Stage::Check { confirm, .. } => confirm.has_input(),
            // It was sent.
            Stage::Rotating(_) => false,
            // The next check begins with it.
            Stage::Reading(_) | Stage::Current(_) | Stage::Rotated { .. } | Stage::Failed(_) => {
                self.reason.is_typed()
            }
        };
        is_typed.then(|| CONFIRMATION_LOST.into())
    }

    fn carry_out(&mut self, context: &mut Context) {
        self.rotate(context);
    }

    fn hint(&self, action: Action, context: &Context) -> Option<&'static str> {
        if let (Action::Back, Stage::Rotating(ticket)) = (action, &self.stage)
            && context.is_unsent_change(*ticket)
        {
            return Some("cancel");
        }
        let is_shown = self.revealed_until.is_some();
        (action == Action::Reveal && is_shown).then_some("hide")
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        let uses = matches!(
            action,
            Action::Reveal | Action::CopyMenu | Action::WriteFile | Action::Rotate
        );
        match action {
            _ if uses && matches!(self.stage, Stage::Reading(_)) => {
                Some("the token is being read".into())
            }
            _ if uses && self.replaced.is_some() => {
                let key = context.keys.key(Focus::Token, Action::Refresh);
                Some(format!("the token was replaced; {key} reads the new one"))
            }
            Action::Rotate => match &self.stage {
                Stage::Current(done) if done.has_alarm() => Some("stopped: read the alarm".into()),
                Stage::Current(done) => {
                    why_blocked(done, context).or_else(|| context.why_forbidden(Guarded::Rotate))
                }
                _ => {
                    let key = context.keys.key(Focus::Token, Action::Refresh);
                    Some(format!("the token must be read first; {key} reads it"))
                }
            },
            Action::Reveal | Action::CopyMenu | Action::WriteFile if self.token().is_none() => {
                Some(match self.done() {
                    Some(done) if done.withholds_token() => WITHHELD.into(),
                    _ => "no token has been read".into(),
                })
            }
            Action::HandOff => self.why_no_hand_off(context),
            _ => None,
        }
    }

    /// Hides a token that somebody else has rotated.
    fn changed(&mut self, changes: &Changes, context: &mut Context) {
        let told = changes.groups.iter().find(|group| group.id == self.id);
        let (Some(now), Some(done)) = (told, self.done()) else {
            return;
        };
        let news = news_between(&done.group, now, context.now);
        let news = news.filter(|news| news.fields.contains(&ChangedField::Token));
        if let Some(news) = news.filter(|_| last_learnt(now) >= last_learnt(&done.group)) {
            let by = news
                .by
                .map_or(String::new(), |by| format!(" by {}", visible(&by)));
            self.replaced = Some(format!("Replaced {}{by}", context.moment(news.at)));
            (self.revealed_until, self.saved) = (None, None);
        }
    }

    fn leave(&mut self, context: &mut Context) {
        context.live.seen(&self.id);
        let what = match &self.stage {
            Stage::Rotating(_) => "rotation",
            Stage::Rotated { .. } if self.hand_off_progress.is_under_way() => "hand-off",
            Stage::Reading(ticket) => return context.cancel(*ticket),
            Stage::Current(_) | Stage::Check { .. } | Stage::Rotated { .. } | Stage::Failed(_) => {
                return;
            }
        };
        let id = &self.id;
        let text = format!("The {what} of {id} continues; a message reports the result");
        context.say(Severity::Info, text);
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        if self.file.waits_for(ticket) || self.hand_off_progress == HandOffProgress::Running(ticket)
        {
            return true;
        }
        match &self.stage {
            Stage::Reading(mine) | Stage::Rotating(mine) => *mine == ticket,
            Stage::Rotated { confirming, .. } => *confirming == Some(ticket),
            Stage::Current(_) | Stage::Check { .. } | Stage::Failed(_) => false,
        }
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        if let Outcome::Done(done) = outcome {
            self.take(done, context);
        } else if let Outcome::TokenWritten(path) = outcome {
            self.file.done();
            let path = path.display().to_string();
            let text = format!("Token saved to {path} (only you can read it)");
            context.say(Severity::Done, text);
            self.saved = self.replaced.is_none().then_some(path);
        } else if let Outcome::HandedOff(handed) = outcome {
            self.handed(handed.as_deref(), context);
        } else if let Outcome::NotHandedOff(error) = outcome {
            self.hand_off_progress = HandOffProgress::NotRun(error.text.clone());
            context.say_error(error);
        } else if let Outcome::Failed(error) = outcome {
            if self.file.failed(&error.text) {
                context.say_error(error);
            } else {
                self.failed(error, context);
            }
        }
    }

    fn job_panicked(&mut self, context: &mut Context) {
        // What is known stays visible: a new token must not be lost because something else failed.
        if self.file.job_panicked() {
            return;
        }
        if matches!(self.hand_off_progress, HandOffProgress::Running(_)) {
            let key = context.keys.key(self.page_focus(), Action::HandOff);
            self.hand_off_progress = HandOffProgress::NotRun(format!(
                "Internal error, stopped; {key} runs the hand-off again"
            ));
            return;
        }
        if let Stage::Rotated { confirming, .. } = &mut self.stage {
            *confirming = None;
            if self.hand_off_progress == HandOffProgress::Later {
                let key = context.keys.key(Focus::RotateResult, Action::HandOff);
                let why = format!(
                    "the confirming read stopped; {key} reads the group and runs the hand-off"
                );
                self.hand_off_progress = HandOffProgress::NotRun(why);
            }
            return;
        }
        let rotating = matches!(self.stage, Stage::Rotating(_));
        let key = context.keys.key(Focus::Token, Action::Refresh);
        let error = if rotating {
            JobError::unknown(format!(
                "UNKNOWN whether the token was rotated: internal error, stopped. {key} reads the group; never rotate to find out"
            ))
        } else {
            JobError::of(format!("Internal error, stopped; {key} reads again"))
        };
        self.failed(&error, context);
    }

    fn sync(&mut self, context: &mut Context) {
        if self
            .revealed_until
            .is_some_and(|until| context.now >= until)
        {
            self.revealed_until = None;
        }
        if let Some(steps) = &mut self.steps {
            steps.follow(context);
        }
    }

    fn ticks(&self) -> bool {
        self.revealed_until.is_some()
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        page::draw(self, buffer, area, context)
    }
}
