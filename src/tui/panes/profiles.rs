//! Choosing the environment to work in.
//!
//! The parts of a group that can be copied; none is secret.

use serde_json::{Value, json};

use super::prelude::*;
use crate::{
    config::profile::Profile,
    operations::{request, request_json},
    tui::page::list_page::{Command, ListPage, Rows, command},
};

#[derive(Debug)]
pub struct Profiles;

pub type ProfilesPage = ListPage<Profiles>;

/// Opens the profiles, on the current one.
pub fn open(context: &mut Context) -> ProfilesPage {
    let page = ListPage::open(Profiles, context);
    match context.profile() {
        Some(here) => page.on(here.name.clone()),
        None => page,
    }
}

impl Rows for Profiles {
    type Row = Profile;
    type Key = String;
    const PLACE: Focus = Focus::Profiles;
    const ROW: &'static str = "profile";
    const BOX: Option<u16> = Some(76);
    const CLOSE: Action = Action::Profiles;

    fn all<'a>(&'a self, context: &'a Context) -> Vec<&'a Profile> {
        context.profiles.iter().collect()
    }

    fn key(row: &Profile) -> String {
        row.name.clone()
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

    fn commands() -> Vec<Command<ProfilesPage>> {
        vec![
            command(Action::Enter, ProfilesPage::always, |page, context| {
                context.close_pane();
                context.navigate(Navigation::SwitchTo(ProfileIndex(page.at())));
            }),
            command(
                Action::Connect,
                |_, context| {
                    if context.can_connect {
                        Ok(None)
                    } else {
                        Err("not in the demo".into())
                    }
                },
                |_, context| context.navigate(Navigation::Replace(PaneRequest::Connect)),
            ),
        ]
    }
}

#[derive(Debug)]
pub struct Copies {
    items: Vec<Item>,
}

/// What it is, and its text.
type Item = (&'static str, String);
pub type CopyMenu = ListPage<Copies>;

impl Copies {
    pub fn of(group: &KnownGroup) -> Self {
        let mut items = vec![("user group ID", group.id.as_str().to_owned())];
        if let Some(known) = &group.name {
            items.push(("name", known.value.clone()));
        }
        if let Some(known) = &group.fingerprint {
            items.push(("token fingerprint", known.value.to_string()));
        }
        if let Some(known) = &group.mapping {
            items.push(("mapping as JSON", json!(known.value).to_string()));
        }
        if let Some(known) = &group.properties {
            let text = Value::Object(known.value.clone()).to_string();
            items.push(("properties as JSON", text));
        }
        let all = request_json(&request(&group.id, &DesiredFields::of(group)));
        items.push(("all as JSON", all));
        Self { items }
    }
}

impl Rows for Copies {
    type Row = Item;
    type Key = &'static str;
    const PLACE: Focus = Focus::CopyMenu;
    const ROW: &'static str = "part";
    const BOX: Option<u16> = Some(76);
    const CLOSE: Action = Action::CopyMenu;

    fn all<'a>(&'a self, _context: &'a Context) -> Vec<&'a Item> {
        self.items.iter().collect()
    }

    fn key(row: &Item) -> &'static str {
        row.0
    }

    fn line((what, text): &Item, _context: &Context) -> String {
        format!(" {what:<20}{text}")
    }

    fn commands() -> Vec<Command<CopyMenu>> {
        vec![command(Action::Enter, CopyMenu::always, |page, context| {
            if let Some((what, text)) = page.selected(context).cloned() {
                context.copy(what, &text);
            }
            context.close_pane();
        })]
    }
}
