//! Whose token is this? The fingerprint of a pasted token, which is masked, is compared with every token that the
//! directory has seen; nothing is sent, and the token is forgotten as soon as it was compared.

use crossterm::event::KeyEvent;

use super::prelude::*;
use crate::{
    config::profile::Profile,
    domain::{capitalised, pasted::Pasted},
    operations::{Owner, TokenLookup as Answer, TokenReport},
    tui::kit::did_not_fit,
};

/// Maximum number of characters of a pasted log.
const LONGEST: usize = 64 * 1024;
/// Rows below those of the tokens.
const ADVICE: usize = 4;

#[derive(Debug)]
pub struct WhosePane {
    token: TextField,
    pending: Pending,
    /// The results of the look-up.
    answered: Option<Vec<TokenReport>>,
    /// The line of something else that may be a token or a part of one.
    unclear: Option<usize>,
    /// Why there is no result for the last input.
    refused: Option<String>,
    cursor: Cursor,
}

impl Default for WhosePane {
    fn default() -> Self {
        Self {
            token: TextField::secret("token")
                .with_longest(LONGEST)
                .with_lines(),
            pending: Pending::default(),
            answered: None,
            unclear: None,
            refused: None,
            cursor: Cursor::default(),
        }
    }
}

impl WhosePane {
    fn look_up(&mut self, context: &mut Context) {
        let token = self.token.text().trim();
        if token.is_empty() {
            self.token.error = Some("Paste or type the token first".into());
            return;
        }
        let job = Job::FindTokenOwners(Pasted::of(token));
        context.ask(&self.pending, job);
        self.token = Self::default().token;
        self.refused = None;
    }

    /// One row for every group of every token, and for each token without a group.
    fn rows(&self) -> Vec<(&TokenReport, Option<&Owner>)> {
        let answered = self.answered.iter().flatten();
        let rows = answered.flat_map(|answer| {
            let none = answer.owners.is_empty().then_some((answer, None));
            let owners = answer.owners.iter().map(move |owner| (answer, Some(owner)));
            owners.chain(none)
        });
        rows.collect()
    }

    fn owner(&self) -> Option<&Owner> {
        self.rows().get(self.cursor.at)?.1
    }

    /// Opens the token pane of the group, in a profile that is bound to its environment.
    fn open_owner(&self, context: &mut Context) {
        let Some(owner) = self.owner() else { return };
        match profile_of(owner, context) {
            Some(profile) => context.navigate(Navigation::TokenOf(
                ProfileIndex(profile),
                owner.user_group_id.clone(),
            )),
            None => context.say(
                Severity::Warning,
                format!(
                    "No profile here is bound to the environment \"{}\"; add one to continue",
                    visible(&owner.environment)
                ),
            ),
        }
    }
}

impl View for WhosePane {
    fn focus(&self) -> Focus {
        if self.answered.is_some() {
            Focus::WhoseFound
        } else {
            Focus::Whose
        }
    }

    fn title(&self, _context: &Context) -> String {
        "Whose token is this?".into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let rows = self.rows().len();
        if self.cursor.act(action, rows, 0) {
            return;
        }
        match action {
            Action::Enter if self.answered.is_none() && !self.pending.is_waiting() => {
                self.look_up(context);
            }
            Action::Token => self.open_owner(context),
            Action::Whose => *self = Self::default(),
            Action::Back => self.pop(context),
            _ => {}
        }
    }

    fn takes_secrets(&self) -> bool {
        true
    }

    fn input(&mut self, key: KeyEvent, _context: &mut Context) {
        if self.answered.is_none() {
            self.token.key(key);
            self.token.error = None;
        }
    }

    fn paste(&mut self, text: &str, _context: &mut Context) -> bool {
        let is_field = self.answered.is_none();
        if is_field {
            let cut = self.token.paste(text);
            self.token.error = (cut > 0).then(|| did_not_fit(cut));
        }
        is_field
    }

    fn disabled(&self, action: Action, _context: &Context) -> Option<String> {
        match action {
            Action::Token if self.owner().is_none() => {
                Some("no group is known for this token".into())
            }
            _ => None,
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.pending]
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::TokenOwners(Answer::Answered { tokens, unclear }) => {
                self.answered = Some(tokens.clone());
                self.unclear = *unclear;
            }
            Outcome::TokenOwners(Answer::Unclear(why)) => {
                self.refused = Some(capitalised(&why.to_string()));
            }
            Outcome::Failed(error) => context.say_error(error),
            _ => {}
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let title = self.title(context);
        let inner = popup(buffer, area, (76, 12), &title, context.theme);
        let mut page = TextPage::new(inner.width, context.theme);
        if let Some(answered) = &self.answered {
            self.found(&mut page, answered, inner.height, context);
            page.draw_still(buffer, inner);
            return None;
        }
        let cursor = self.token.draw(buffer, inner, context.theme, true);
        let below = below(inner, self.token.rows(inner.width).max(2));
        if let Some(refused) = &self.refused {
            page.warning(refused);
            page.blank();
        }
        let text = if self.pending.is_waiting() {
            "looking it up in the directory"
        } else {
            "Paste a token, or log lines that contain tokens. groupdesk looks up their fingerprints in the directory, in all \
             profiles. Nothing is sent or kept."
        };
        page.dim(text);
        page.draw_still(buffer, below);
        cursor
    }
}

impl WhosePane {
    fn found(&self, page: &mut TextPage, answered: &[TokenReport], height: u16, context: &Context) {
        let theme = context.theme;
        let again = context.keys.key(Focus::WhoseFound, Action::Whose);
        let elsewhere = format!(
            "It may still belong to a group that was never read here. {again} asks for another token."
        );
        if let [TokenReport { owners, .. }] = answered
            && owners.is_empty()
        {
            page.warning("No group in this directory has or had this token.");
            page.dim(&elsewhere);
            return;
        }
        let rows = self.rows();
        let room = usize::from(height).saturating_sub(ADVICE).max(1);
        let first = self.cursor.first(rows.len(), room);
        for (index, (answer, owner)) in rows.into_iter().enumerate().skip(first).take(room) {
            let here = index == self.cursor.at;
            let (mark, mut style) = theme.choice(here);
            if !here && owner.is_some_and(|owner| owner.current) {
                style = theme.warning();
            }
            let name = if answered.len() > 1 {
                format!("{} ", answer.fingerprint)
            } else {
                String::new()
            };
            let story = owner.map_or_else(
                || "no group in this directory has or had it".to_owned(),
                |owner| describe_owner(owner, context),
            );
            page.pieces(vec![(format!("{mark} {name}{story}"), style)]);
        }
        page.blank();
        let key = context.keys.key(Focus::WhoseFound, Action::Token);
        let next = match self.owner() {
            Some(_) if let Some(why) = context.view_only_reason() => {
                format!("It cannot be read or rotated here: {why}.")
            }
            Some(owner) if owner.current => {
                format!("{key} goes to its token: read it, and rotate it after a leak.")
            }
            Some(_) => {
                format!("A former token no longer works. {key} goes to the token of the group.")
            }
            None => elsewhere,
        };
        page.dim(&next);
        if let Some(line) = self.unclear {
            let text =
                format!("Line {line} has something else that may be a token, or a part of one.");
            page.warning(&text);
        }
    }
}

/// Index of a profile that is bound to the environment of the group: the current one if possible, otherwise the first.
fn profile_of(owner: &Owner, context: &Context) -> Option<usize> {
    let is_bound = |profile: &Profile| {
        let (name, url) = (&profile.name, profile.url());
        owner
            .bound
            .iter()
            .any(|bound| (&bound.0, &bound.1) == (name, &url))
    };
    let current = context.current.0;
    if context.profiles.get(current).is_some_and(is_bound) {
        return Some(current);
    }
    context.profiles.iter().position(is_bound)
}

fn describe_owner(owner: &Owner, context: &Context) -> String {
    let what = if owner.current { "current" } else { "former" };
    let id = paint::cut_id(owner.user_group_id.as_str(), 32, context.theme);
    let environment = visible(&owner.environment);
    let ago = context.ago(owner.last_seen);
    format!("{what:<8} token of {id} in {environment}, seen {ago}")
}
