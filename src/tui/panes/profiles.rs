//! Choosing the environment to work in.

use crate::{
    config::profile::Profile,
    search::{RowFacts, RowTest},
    tui::{
        keymap::{Action, Focus},
        page::list_page::{Command, ListPage, Rows},
        state::{
            context::{Context, Navigation},
            message::ProfileIndex,
            navigation::PaneRequest,
        },
    },
};

#[derive(Debug)]
pub struct Profiles;

pub type ProfilesPage = ListPage<Profiles>;

impl Rows for Profiles {
    type Row = Profile;
    type Key = String;
    const PLACE: Focus = Focus::Profiles;
    const TITLE: &'static str = "Profiles";
    const ROW: &'static str = "profile";
    const TESTS: &'static [RowTest] = &[];
    const BOX: Option<u16> = Some(76);
    const CLOSE: Action = Action::Profiles;

    fn all<'a>(&'a self, context: &'a Context) -> Vec<&'a Profile> {
        context.profiles.iter().collect()
    }

    fn key(row: &Profile) -> String {
        row.name.clone()
    }

    fn facts(_row: &Profile) -> RowFacts<'_> {
        RowFacts::default()
    }

    fn line(row: &Profile, context: &Context) -> String {
        let is_current = context.profile().is_some_and(|here| here.name == row.name);
        format!(
            "{} {:<16} {:<14} {}{}",
            if is_current { "*" } else { " " },
            row.name,
            row.environment_word(),
            row.url(),
            if row.read_only { "  read-only" } else { "" }
        )
    }

    fn commands() -> &'static [Command<ProfilesPage>] {
        &[
            Command {
                action: Action::Enter,
                can: ProfilesPage::needs_row,
                run: |page, context| {
                    context.navigate(Navigation::Pop);
                    context.navigate(Navigation::SwitchTo(ProfileIndex(page.at())));
                },
            },
            Command {
                action: Action::Connect,
                can: |_, context| {
                    if context.can_connect {
                        Ok(None)
                    } else {
                        Err("not in the demo".into())
                    }
                },
                run: |_, context| context.navigate(Navigation::Replace(PaneRequest::Connect)),
            },
        ]
    }

    fn status(_page: &ProfilesPage, _context: &Context) -> String {
        String::new()
    }
}
