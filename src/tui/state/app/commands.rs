//! What a typed command does: to the list, to the group one looks at, or to the console.

use super::{App, Pane, Severity};
use crate::{
    domain::{annotation::AnnotationChange, group::UserGroupId},
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
                // Reading it could create it: the dialog says so.
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
                let change = AnnotationChange {
                    note: Some(text),
                    ..AnnotationChange::default()
                };
                let ids = self.meant(false);
                self.context.annotate(ids, change);
            }
            Command::Label { add, remove } => {
                let change = AnnotationChange {
                    add,
                    remove,
                    ..AnnotationChange::default()
                };
                let ids = self.meant(true);
                self.context.annotate(ids, change);
            }
            command => {
                // A box above the list goes on standing there.
                if !self.top().is_overlay() {
                    self.go_home();
                }
                if let Some(Pane::List(list)) = self.stack.first_mut() {
                    list.run(command, &mut self.context);
                }
            }
        }
    }

    /// The group one looks at, or the marked ones where several may be meant.
    fn meant(&self, several: bool) -> Vec<UserGroupId> {
        match (self.stack.last(), self.stack.first()) {
            (Some(Pane::Group(group)), _) => vec![group.id().clone()],
            (_, Some(Pane::List(list))) => list.meant(several),
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
