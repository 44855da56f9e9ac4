//! Draws the question about a place: why it is asked, the choices, and what distinguishes the places.

use ratatui::prelude::{Buffer, Position, Rect, Style};

use super::{Choice, PlacePane, Stage, choices, chosen};
use crate::{
    domain::{counted, visible},
    operations::{Place, PlaceProblem, Question},
    tui::{
        keymap::{Action, Focus},
        kit::{TextPage, paint, popup, split_below, write_waiting},
        page::prompt::{FRAME, box_page, draw_box},
        panes::View,
        state::Context,
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
        page.text(error, context.theme.error());
        page.blank();
    }
    let mut at = None;
    let (title, field) = match &pane.stage {
        Stage::Choose(question, cursor) => {
            at = Some(choose(&mut page, pane, question, cursor.at, context));
            ("Which environment is this?", None)
        }
        Stage::Answer(question, at, _) => match chosen(question, *at) {
            Choice::Same(place) => {
                same(&mut page, pane, question, place, context);
                ("The same environment", None)
            }
            Choice::New | Choice::NotNow => {
                new(&mut page, pane, question);
                ("A new environment", None)
            }
        },
        Stage::Proof(field, proposed) => {
            trial(&mut page, pane);
            page.blank();
            let tab = context.keys.key(Focus::PlaceProof, Action::NextField);
            let text = match proposed {
                Some(id) => format!("proposed: {id}; {tab} takes it"),
                None if pane.looking.is_some() => "looking for one to propose".into(),
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
            None => page.text("running", context.theme.dim()),
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

fn profile(pane: &PlacePane) -> &str {
    match &pane.problem {
        PlaceProblem::Asked { profile, .. } | PlaceProblem::OnTrial { profile, .. } => profile,
        _ => "",
    }
}

/// Writes the choices; returns the line of the cursor.
fn choose(
    page: &mut TextPage,
    pane: &PlacePane,
    question: &Question,
    at: usize,
    context: &Context,
) -> usize {
    let why = format!(
        "Profile {}: {}. groupdesk sends and records nothing until you choose the environment.",
        profile(pane),
        question.reason()
    );
    page.text(&why, context.theme.warning());
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
    page.plain("its key", &question.key.to_string());
    let shown = match chosen(question, at) {
        Choice::Same(place) => Some(place),
        Choice::NotNow | Choice::New => question.places.first(),
    };
    if let Some(place) = shown {
        details(page, place, context);
    }
    first + at
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
        let state = format!(
            "{}, added {}",
            key.state.as_str(),
            context.moment(key.added_at)
        );
        page.field(
            "known key",
            &key.fingerprint.to_string(),
            Style::new(),
            &state,
        );
    }
    if place.keys.is_empty() {
        page.plain("known key", "none");
    }
}

fn same(
    page: &mut TextPage,
    pane: &PlacePane,
    question: &Question,
    place: &Place,
    context: &Context,
) {
    let text = format!(
        "Profile {} uses {} from now on: known groups, open rotations and drafts are shared.",
        profile(pane),
        visible(&place.name)
    );
    page.text(&text, Style::new());
    page.blank();
    page.plain("its key", &question.key.to_string());
    details(page, place, context);
}

fn new(page: &mut TextPage, pane: &PlacePane, question: &Question) {
    let names = question
        .places
        .iter()
        .map(|place| visible(&place.name).into_owned());
    let text = format!(
        "Profile {} uses a new environment from now on and begins with an empty list. The known groups, open \
         rotations and drafts of {} stay there: they cannot be checked or finished from this profile.",
        profile(pane),
        names.collect::<Vec<_>>().join(", ")
    );
    page.text(&text, Style::new());
    page.blank();
    page.plain("its key", &question.key.to_string());
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
