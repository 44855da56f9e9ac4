//! Carries out the entries of the palette: on the list, on the group that is shown, or on the console.

use super::{App, Pane};
use crate::{
    domain::{annotation::AnnotationChange, group::UserGroupId},
    tui::{
        panes::open::Open,
        state::{
            command::Command,
            context::Navigation,
            navigation::{BatchAim, PaneRequest},
        },
    },
};

impl App {
    pub(super) fn run(&mut self, command: Command) {
        match command {
            Command::Go(id) if self.context.groups.contains(&id) => {
                self.context
                    .navigate(Navigation::Push(PaneRequest::Group(id)));
            }
            Command::Go(id) => {
                // Gone since the palette was opened. A get could create it; the dialog says so.
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
            Command::Profile(profile) => self.switch(profile),
            Command::AddLabel(label) => self.annotate(AnnotationChange {
                add: [label].into(),
                ..AnnotationChange::default()
            }),
            Command::RemoveLabel(label) => self.annotate(AnnotationChange {
                remove: [label].into(),
                ..AnnotationChange::default()
            }),
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

    fn annotate(&mut self, change: AnnotationChange) {
        match self.targets() {
            ids if ids.is_empty() => {
                self.refuse("Not available here: it acts on a group; open one, or the list".into());
            }
            ids => self.context.annotate(ids, change),
        }
    }

    /// The group that the page shows; on the list, the marked groups, else the one under the cursor.
    fn targets(&self) -> Vec<UserGroupId> {
        let page = self.stack.iter().rfind(|pane| !pane.view().is_overlay());
        match page {
            Some(Pane::List(list)) => list.targets(true),
            Some(Pane::Group(group)) => vec![group.id().clone()],
            Some(Pane::Edit(form)) => vec![form.id.clone()],
            Some(Pane::Token(token)) => vec![token.id().clone()],
            _ => Vec::new(),
        }
    }
}

/// Whether the pane has input or results that would be lost or hidden if the list replaced it.
pub(super) fn holds_something(pane: &Pane) -> bool {
    matches!(
        pane,
        Pane::Edit(_) | Pane::Review(_) | Pane::Token(_) | Pane::BulkEdit(_) | Pane::Connect(_)
    )
}
