//! The same id in two profiles, side by side: what differs, and a form for this profile that takes over one row or
//! everything. At first only the directory is read; the service is asked on request, and only about ids known there.

mod view;

use super::prelude::*;
use crate::{
    domain::{Part, facts::Field, merge::parts},
    tui::page::list_page::profile_name,
};

#[derive(Debug)]
pub struct Compare {
    id: UserGroupId,
    /// The other profiles that know the id, most likely counterpart first, each with its group.
    others: Vec<(ProfileIndex, KnownGroup)>,
    /// Index of the profile that is compared with.
    pick: usize,
    /// Reads from the directory which profiles know the id.
    asking: Pending,
    /// Reads from the services; first that of this profile, then the other one.
    reading: Pending,
    read_in: Option<ProfileIndex>,
    /// Problems and warnings of the last reading.
    notes: Vec<String>,
    unchanged_too: bool,
    cursor: Cursor,
}

/// How a part compares on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Same,
    Differs,
    OnlyHere,
    OnlyThere,
    /// The whole field is unknown on one side.
    NotKnown,
}

impl Compare {
    /// Opens with what the directory knows; sends nothing.
    pub fn open(id: UserGroupId, context: &mut Context) -> Self {
        let asking = Pending::default();
        context.ask(&asking, Job::SameId(id.clone()));
        Self {
            id,
            others: Vec::new(),
            pick: 0,
            asking,
            reading: Pending::default(),
            read_in: None,
            notes: Vec::new(),
            unchanged_too: false,
            cursor: Cursor::default(),
        }
    }

    /// Why nothing can be compared at all.
    pub fn why_not(context: &Context) -> Option<String> {
        (context.profiles.len() < 2).then(|| "there is no other profile".into())
    }

    fn here(&self, context: &Context) -> Option<KnownGroup> {
        context.groups.get(&self.id)
    }

    fn there(&self) -> Option<&(ProfileIndex, KnownGroup)> {
        self.others.get(self.pick)
    }

    /// The settable fields of both sides, as far as known.
    fn both(&self, context: &Context) -> Option<(DesiredFields, DesiredFields)> {
        let (_, there) = self.there()?;
        Some((
            DesiredFields::of(&self.here(context)?),
            DesiredFields::of(there),
        ))
    }

    /// The visible parts, and how they compare.
    fn rows(&self, context: &Context) -> Vec<(Part, Comparison)> {
        let Some((here, there)) = self.both(context) else {
            return Vec::new();
        };
        let all = parts(&[&here, &there]).into_iter();
        all.map(|part| {
            let comparison = comparison(&part, &here, &there);
            (part, comparison)
        })
        .filter(|(_, comparison)| self.unchanged_too || *comparison != Comparison::Same)
        .collect()
    }

    fn differences(&self, context: &Context) -> Option<usize> {
        let (here, there) = self.both(context)?;
        let all = parts(&[&here, &there]).into_iter();
        let differs = |part: &Part| comparison(part, &here, &there) != Comparison::Same;
        Some(all.filter(differs).count())
    }

    fn selected(&self, context: &Context) -> Option<(Part, Comparison)> {
        self.rows(context).into_iter().nth(self.cursor.at)
    }

    /// Why the row under the cursor cannot be brought here.
    fn why_not_bring(&self, context: &Context) -> Option<String> {
        if let Some(why) = self.why_not_edit(context) {
            return Some(why);
        }
        let (here, there) = self.both(context)?;
        match self.selected(context) {
            None => Some("no row to copy".into()),
            Some((_, Comparison::Same)) => Some("this row is the same on both sides".into()),
            Some((part, _)) if !part.is_known_in(&there) => Some(format!(
                "the {} in the other profile {} unknown",
                part.field.as_str(),
                part.field.is()
            )),
            Some((part, _)) if part.field != Field::Name && !part.is_known_in(&here) => {
                let (is, it) = (part.field.is(), part.field.it());
                Some(format!(
                    "the {} {is} unknown: copying one row would replace all of {it}; {} copies all",
                    part.field.as_str(),
                    context.keys.key(Focus::Compare, Action::BringAll)
                ))
            }
            Some(_) => None,
        }
    }

    fn why_not_edit(&self, context: &Context) -> Option<String> {
        if let Some(why) = context.read_only_reason() {
            return Some(why);
        }
        self.both(context)
            .is_none()
            .then(|| "there is nothing to compare with".into())
    }

    /// Opens the form here with parts from there; like every edit, it ends in a review.
    fn bring(&mut self, parts: &[Part], context: &mut Context) {
        let (Some(here), Some((profile, there))) = (self.here(context), self.there()) else {
            return;
        };
        let from = DesiredFields::of(there);
        let name = profile_name(*profile, context).to_owned();
        match GroupForm::carrying(&here, parts, &from, context) {
            Ok(edit) => {
                self.leave(context);
                let what = match parts {
                    [part] => part.label(),
                    _ => "all differences".into(),
                };
                let text = format!("{} copied from {name}; nothing was sent", visible(&what));
                context.say(Severity::Info, text);
                context.open_pane(PaneRequest::Edit(Box::new(edit)));
            }
            Err(why) => context.say(Severity::Warning, why),
        }
    }

    fn read(&mut self, profile: ProfileIndex, context: &mut Context) {
        let ticket = context.start_in(profile, Job::LookUp(self.id.clone()));
        self.reading.begin(ticket);
        self.read_in = Some(profile);
    }

    /// Asks the other service once this one has answered, whatever the answer was.
    fn read_on(&mut self, answered: ProfileIndex, context: &mut Context) {
        let other = self.there().map(|(profile, _)| *profile);
        if let Some(other) = other.filter(|_| answered == context.current) {
            self.read(other, context);
        }
    }

    fn note(
        &mut self,
        profile: ProfileIndex,
        text: &str,
        severity: Severity,
        context: &mut Context,
    ) {
        let text = format!("{}: {text}", profile_name(profile, context));
        context.say(severity, text.clone());
        self.notes.push(text);
    }

    /// Sorts the most likely counterpart first: the same service with the other tag.
    fn take_others(&mut self, found: &[(ProfileIndex, KnownGroup)], context: &Context) {
        self.others = found
            .iter()
            .filter(|(profile, _)| *profile != context.current)
            .cloned()
            .collect();
        let Some(here) = context.profile() else {
            return;
        };
        self.others.sort_by_key(|(profile, _)| {
            let there = context.profiles.get(profile.0);
            let is_counterpart = there.is_some_and(|there| {
                there.environment.is_some()
                    && here.environment.is_some()
                    && there.environment != here.environment
            });
            let is_same_host = there.is_some_and(|there| there.host() == here.host());
            (!is_counterpart, !is_same_host, *profile)
        });
        self.pick = 0;
    }
}

fn comparison(part: &Part, here: &DesiredFields, there: &DesiredFields) -> Comparison {
    if !part.is_known_in(here) || !part.is_known_in(there) {
        Comparison::NotKnown
    } else if part.is_same(here, there) {
        Comparison::Same
    } else if part.text_in(there).is_none() {
        Comparison::OnlyHere
    } else if part.text_in(here).is_none() {
        Comparison::OnlyThere
    } else {
        Comparison::Differs
    }
}

impl View for Compare {
    fn focus(&self) -> Focus {
        Focus::Compare
    }

    fn title(&self, _context: &Context) -> String {
        format!("Compare {}", self.id)
    }

    fn status(&self, context: &Context) -> String {
        if self.reading.is_waiting() {
            return "reading both from the service".into();
        }
        if self.asking.is_waiting() {
            return "reading the directory".into();
        }
        match self.differences(context) {
            None => String::new(),
            Some(0) => "no difference".into(),
            Some(more) => counted(more, "difference"),
        }
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let rows = self.rows(context).len();
        if self.cursor.act(action, rows, context.half_page()) {
            return;
        }
        match action {
            Action::Back => self.pop(context),
            Action::Unchanged => {
                let on = self.selected(context).map(|(part, _)| part);
                self.unchanged_too = !self.unchanged_too;
                let rows = self.rows(context);
                let at = rows.iter().position(|(part, _)| Some(part) == on.as_ref());
                self.cursor.at = at.unwrap_or(0);
            }
            Action::NextField if !self.others.is_empty() => {
                self.leave(context);
                self.pick = (self.pick + 1) % self.others.len();
                self.notes.clear();
                self.cursor.at = 0;
            }
            Action::Refresh => {
                self.leave(context);
                self.notes.clear();
                self.read(context.current, context);
            }
            Action::Enter => {
                if let Some((part, _)) = self.selected(context) {
                    self.bring(&[part], context);
                }
            }
            Action::BringAll => {
                if let Some((here, there)) = self.both(context) {
                    let all = parts(&[&here, &there]).into_iter();
                    let known: Vec<Part> = all
                        .filter(|part| part.is_known_in(&there) && !part.is_same(&here, &there))
                        .collect();
                    self.bring(&known, context);
                }
            }
            Action::History => {
                context.open_pane(PaneRequest::History(self.id.clone()));
            }
            _ => {}
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::Enter => self.why_not_bring(context),
            Action::BringAll if self.differences(context) == Some(0) => {
                Some("nothing differs".into())
            }
            Action::BringAll => self.why_not_edit(context),
            Action::Unchanged if self.others.is_empty() => Some("nothing to compare with".into()),
            Action::NextField if self.others.len() < 2 => Some("no further profile".into()),
            Action::Refresh if self.others.is_empty() => {
                Some("no other profile knows this ID".into())
            }
            _ => None,
        }
    }

    fn pending(&self) -> Vec<&Pending> {
        vec![&self.asking, &self.reading]
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        let reading = self.read_in.take_if(|_| !self.reading.is_waiting());
        if let Outcome::SameId(found) = outcome {
            self.take_others(found, context);
        } else if let (Outcome::Done(done), Some(profile)) = (outcome, reading) {
            let other = self.others.iter_mut().find(|(known, _)| *known == profile);
            if let Some((_, group)) = other {
                group.clone_from(&done.group);
            }
            for warning in &done.warnings {
                let severity = Severity::of_warning(warning.is_alarm());
                self.note(profile, &warning.to_string(), severity, context);
            }
            self.read_on(profile, context);
        } else if let (Outcome::Failed(error), Some(profile)) = (outcome, reading) {
            self.note(profile, &error.text, Severity::Error, context);
            self.read_on(profile, context);
        } else if let Outcome::Failed(error) = outcome {
            self.notes.push(error.text.clone());
            context.say_error(error);
        }
    }

    fn job_panicked(&mut self, context: &mut Context) {
        // What still arrives belongs to another read.
        self.read_in.take_if(|_| !self.reading.is_waiting());
        let key = context.keys.key(Focus::Compare, Action::Refresh);
        let text = format!("Internal error, the read stopped; {key} reads again");
        self.notes.push(text);
    }

    fn sync(&mut self, context: &mut Context) {
        let rows = self.rows(context).len();
        self.cursor.at = self.cursor.at.min(rows.saturating_sub(1));
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        view::draw(self, buffer, area, context);
        None
    }
}
