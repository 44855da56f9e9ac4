//! Draws the question about a place: why it is asked, the choices, and what distinguishes the places.

use super::{Choice, PlacePane, Stage, choices, chosen};
use crate::tui::panes::prelude::*;
use crate::{
    operations::{Place, PlaceProblem, Question},
    tui::{
        kit::write_waiting,
        page::prompt::{FRAME, box_page, draw_box},
    },
};

const WIDTH: u16 = 78;

pub(super) fn draw(
    pane: &PlacePane,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let mut page = box_page(WIDTH, area, context.theme);
    if let Some(error) = &pane.error {
        page.error(error);
        page.blank();
    }
    let profile = match &pane.problem {
        PlaceProblem::Asked { profile, .. } | PlaceProblem::OnTrial { profile, .. } => profile,
        _ => "",
    };
    let mut at = None;
    let (title, field) = match &pane.stage {
        Stage::Choose(question, cursor) => {
            let why = format!(
                "Profile {profile}: {}. groupdesk sends and records nothing until you choose the environment.",
                question.reason()
            );
            page.warning(&why);
            at = Some(choose(&mut page, question, cursor.at, context));
            ("Which environment is this?", None)
        }
        Stage::Answer(question, at, _) => {
            let (place, text) = match chosen(question, *at) {
                Choice::Same(place) => (Some(place), same(profile, place)),
                Choice::New | Choice::NotNow => (None, new(profile, question)),
            };
            page.text(&text, Style::new());
            page.blank();
            keys(&mut page, question, place, context);
            let title = match place {
                Some(_) => "The same environment",
                None => "A new environment",
            };
            (title, None)
        }
        Stage::Proof(field, proposed) => {
            trial(&mut page, pane);
            page.blank();
            let tab = context.keys.key(Focus::PlaceProof, Action::NextField);
            let text = match proposed {
                Some(id) => format!("proposed: {id}; {tab} uses it"),
                None if pane.looking.is_some() => "looking for a group to propose".into(),
                None => "enter a group that this environment has returned before".into(),
            };
            page.text(&text, context.theme.title());
            ("Verify the API key", Some(field))
        }
        Stage::Reason(_) => {
            alarms(&mut page, pane, context);
            ("Alarm: nothing is sent", None)
        }
        Stage::Failed => ("Not the same environment", None),
    };
    if pane.working.is_some() {
        page.blank();
        match context.waiting(pane.working) {
            Some(line) => write_waiting(&mut page, &line, context.theme),
            None => page.dim("running"),
        }
    }
    if let Some(confirm) = pane.confirm() {
        return draw_box(&page, confirm, (title, WIDTH), (buffer, area), context);
    }
    let field = field.filter(|_| pane.working.is_none());
    let inside = WIDTH.min(area.width).saturating_sub(FRAME.0);
    let rows = field.map_or(0, |field| field.rows(inside).max(2));
    let height = page.height() as u16 + rows + FRAME.1;
    let inner = popup(buffer, area, (WIDTH, height), title, context.theme);
    let (page_area, below) = split_below(inner, rows);
    // The line of the cursor is always visible; before a field, the end of the text is.
    let scroll = match at {
        Some(line) => (line + 2).saturating_sub(usize::from(page_area.height)),
        None if field.is_some() => page.last_scroll(page_area.height),
        None => 0,
    };
    page.draw(buffer, page_area, scroll);
    field?.draw(buffer, below, context.theme, true)
}

/// Writes the choices; returns the line of the cursor.
fn choose(page: &mut TextPage, question: &Question, at: usize, context: &Context) -> usize {
    page.blank();
    let first = page.height();
    for line in 0..choices(question) {
        let text = match chosen(question, line) {
            Choice::NotNow => "not now: nothing is sent".to_owned(),
            Choice::Same(place) => format!(
                "the same environment as {} ({})",
                visible(&place.name),
                used(place, context)
            ),
            Choice::New => "a new environment, not in the directory yet".into(),
        };
        let room = page.width().saturating_sub(2);
        let text = paint::cut(&text, room, context.theme);
        page.choice(line == at, &format!("{text:<room$}"));
    }
    page.blank();
    let shown = match chosen(question, at) {
        Choice::Same(place) => Some(place),
        Choice::NotNow | Choice::New => question.places.first(),
    };
    keys(page, question, shown, context);
    first + at
}

/// Writes the key that is asked about, and what is known of an environment.
fn keys(page: &mut TextPage, question: &Question, place: Option<&Place>, context: &Context) {
    page.plain("its key", &question.key.to_string());
    if let Some(place) = place {
        details(page, place, context);
    }
}

/// Number of groups, and when something was last recorded.
fn used(place: &Place, context: &Context) -> String {
    let groups = counted(place.groups as usize, "group");
    match place.last_used {
        Some(at) => format!("{groups}, used {}", context.moment(at)),
        None => format!("{groups}, never used"),
    }
}

fn details(page: &mut TextPage, place: &Place, context: &Context) {
    let open = match place.open {
        0 => String::new(),
        open => format!("{open} open"),
    };
    page.field("environment", &place.name, context.theme.title(), &open);
    for url in &place.urls {
        page.plain("address", url);
    }
    for key in &place.keys {
        let (print, added) = (key.fingerprint.to_string(), context.moment(key.added_at));
        let state = format!("{}, added {added}", key.state.as_str());
        page.field("known key", &print, Style::new(), &state);
    }
    if place.keys.is_empty() {
        page.plain("known key", "none");
    }
}

fn same(profile: &str, place: &Place) -> String {
    format!(
        "Profile {profile} uses {} from now on: known groups, open rotations and drafts are shared.",
        visible(&place.name)
    )
}

fn new(profile: &str, question: &Question) -> String {
    let names = question.places.iter();
    let names: Vec<_> = names.map(|place| visible(&place.name)).collect();
    format!(
        "Profile {profile} uses a new environment from now on and begins with an empty list. The known groups, open \
         rotations and drafts of {} stay there: they cannot be checked or finished from this profile.",
        names.join(", ")
    )
}

fn trial(page: &mut TextPage, pane: &PlacePane) {
    let PlaceProblem::OnTrial { profile, place } = &pane.problem else {
        return;
    };
    let text = format!(
        "The API key of profile {profile} is new for environment {place}. To verify it, groupdesk reads one group that you name and \
         sends nothing else. If {place} has never seen the token that the service returns, the binding is undone."
    );
    page.text(&text, Style::new());
    page.text(
        "If this is another environment after all, reading can create the group there.",
        Style::new(),
    );
}

fn alarms(page: &mut TextPage, pane: &PlacePane, context: &Context) {
    let PlaceProblem::Alarmed { place, alarms } = &pane.problem else {
        return;
    };
    let text = format!(
        "A response contradicted environment {place}. Requests for its groups are blocked until you record \
         what you found."
    );
    page.text(&text, Style::new());
    page.blank();
    for alarm in alarms {
        let at = context.whole_time(alarm.at);
        let about = alarm.user_group_id.as_deref().unwrap_or("no group");
        page.field("ALARM", &alarm.what, context.theme.error(), "");
        page.plain("", &format!("{at}, {about}, by {}", alarm.by));
    }
}
