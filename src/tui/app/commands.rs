//! Performs typed commands: on the list, on the group that is shown, or on the console.

use super::{App, Pane, Severity};
use crate::{
    domain::{
        annotation::{AnnotationChange, SeenNote},
        group::UserGroupId,
    },
    tui::{
        panes::open::Open,
        state::{
            command::Command,
            context::Navigation,
            message::ProfileIndex,
            navigation::{BatchAim, PaneRequest},
        },
    },
};

impl App {
    pub(super) fn run(&mut self, command: Command) {
        match command {
            Command::Press(action) => self.press(action),
            Command::Go(id) if self.context.groups.contains(&id) => {
                self.context
                    .navigate(Navigation::Push(PaneRequest::Group(id)));
            }
            Command::Go(id) => {
                // A get could create it; the dialog says so.
                let pane = Open::of(id.as_str(), &mut self.context);
                self.stack.push(Pane::Open(pane));
            }
            Command::Batch(id) => {
                let mut run = self.context.bulk.iter();
                let run = run.find(|run| run.batch == Some(id) && run.is_under_way());
                let opening = run.map_or(PaneRequest::Batch(id, BatchAim::Look), |run| {
                    PaneRequest::WatchBulk(run.ticket)
                });
                self.context.navigate(Navigation::Push(opening));
            }
            Command::Theme(ground) => {
                let theme = &mut self.context.theme;
                theme.palette = theme.palette.with_background(ground);
            }
            Command::Profile(name) => self.switch_to_named(&name),
            Command::Note(text) => {
                let seen = self.targets(false).into_iter().next();
                let seen = seen.and_then(|id| self.context.annotations.of.get(&id));
                let change = AnnotationChange {
                    note: Some(text),
                    seen: Some(SeenNote(seen.and_then(|seen| seen.note.clone()))),
                    ..AnnotationChange::default()
                };
                self.annotate(change, false);
            }
            Command::Label { add, remove } => {
                let change = AnnotationChange {
                    add,
                    remove,
                    ..AnnotationChange::default()
                };
                self.annotate(change, true);
            }
            _ if self.stack.iter().any(holds_something) => {
                let text =
                    "Not available while a form, a review or a token is open: close it first";
                self.refuse(text.into());
            }
            command => {
                // A box above the list stays open.
                if !self.top().is_overlay() {
                    self.go_home();
                }
                if let Some(Pane::List(list)) = self.stack.first_mut() {
                    list.run(command, &mut self.context);
                }
            }
        }
    }

    fn annotate(&mut self, change: AnnotationChange, several: bool) {
        match self.targets(several) {
            ids if ids.is_empty() => {
                self.refuse("Not available here: it acts on a group; open one, or the list".into());
            }
            ids => self.context.annotate(ids, change),
        }
    }

    /// The group that the page shows; on the list, the group under the cursor, or the marked ones if `several`.
    fn targets(&self, several: bool) -> Vec<UserGroupId> {
        let page = self.stack.iter().rfind(|pane| !pane.view().is_overlay());
        match page {
            Some(Pane::List(list)) => list.targets(several),
            Some(Pane::Group(group)) => vec![group.id().clone()],
            Some(Pane::Edit(form)) => vec![form.id.clone()],
            Some(Pane::Token(token)) => vec![token.id().clone()],
            _ => Vec::new(),
        }
    }

    fn switch_to_named(&mut self, name: &str) {
        let profiles = &self.context.profiles;
        if let Some(at) = profiles.iter().position(|profile| profile.name == name) {
            self.switch(ProfileIndex(at));
            return;
        }
        let names: Vec<&str> = profiles.iter().map(|one| one.name.as_str()).collect();
        let text = format!("No profile {name:?}: {}", names.join(", "));
        self.context.say(Severity::Warning, text);
    }
}

/// Whether the pane has input or results that would be lost or hidden if the list replaced it.
pub(super) fn holds_something(pane: &Pane) -> bool {
    matches!(
        pane,
        Pane::Edit(_) | Pane::Review(_) | Pane::Token(_) | Pane::BulkEdit(_) | Pane::Connect(_)
    )
}
