//! What is known about a group, as one list of values, each with its origin and time (hazard 3 of
//! docs/design/service.md): a page has all of it; below or beside the list it fills the room there is.

use std::time::Duration;

use ratatui::{
    layout::{Constraint, Layout},
    prelude::{Buffer, Rect, Style},
};
use serde_json::Value;

use crate::{
    domain::{
        Known, KnownGroup, TokenAge,
        age::{self, DEFAULT_LIMIT, days},
        annotation::Attribution,
        capitalised, counted,
        known::Source,
        rotation::State,
        text::oddities,
        visible,
    },
    tui::{
        keymap::{Action, Focus},
        kit::{
            TextPage,
            paint::{self, columns},
        },
        state::{ChangedField, Context},
        theme::Theme,
    },
};

/// Width of the labels of the short forms, in cells.
const LABEL: usize = 9;
/// Maximum width of the keys of mapping and properties in a pane, in cells.
const MAX_KEY_WIDTH: usize = 16;
/// From this width on, mapping and properties are beside the other values.
const COLUMNS_WIDTH: u16 = 100;
/// In fewer rows there is only the brief form.
const MIN_ROWS: u16 = 8;
/// A list that is cut has a heading, a row and the number of further rows.
const MIN_LIST_ROWS: u16 = 3;

type Pieces = Vec<(String, Style)>;

/// A value, or a list of rows with their number as its value.
#[derive(Default)]
struct Field {
    label: &'static str,
    value: String,
    style: Style,
    origin: String,
    /// The label of the origin, if it is worth a row of its own in a pane.
    origin_label: &'static str,
    /// What others may have changed.
    changed: Option<ChangedField>,
    /// Key and value with their styles.
    rows: Vec<[(String, Style); 2]>,
    /// Between key and value.
    joint: &'static str,
}

impl Field {
    fn plain(label: &'static str, value: String) -> Self {
        Self {
            label,
            value,
            ..Self::default()
        }
    }

    fn styled(label: &'static str, value: impl Into<String>, style: Style) -> Self {
        Self {
            style,
            ..Self::plain(label, value.into())
        }
    }

    /// A value with its origin; if it is unknown, why.
    fn known<T>(
        label: &'static str,
        known: Option<&Known<T>>,
        shown: impl Fn(&T) -> String,
        unknown: &str,
        context: &Context,
    ) -> Self {
        Self {
            origin: known.map_or_else(|| unknown.into(), |known| origin(known, context)),
            ..Self::plain(
                label,
                known.map_or_else(|| "-".into(), |known| shown(&known.value)),
            )
        }
    }

    fn changed(self, field: ChangedField) -> Self {
        Self {
            changed: Some(field),
            ..self
        }
    }

    /// Changes by others have a sign and a colour until the person has seen them.
    fn marked(&self, group: &KnownGroup, context: &Context) -> (String, Style) {
        let news = context.live.news_of(group.id.as_str());
        let is_news = |field| news.is_some_and(|news| news.fields.contains(&field));
        if self.changed.is_some_and(is_news) {
            (format!("~ {}", self.value), context.theme.news())
        } else {
            (self.value.clone(), self.style)
        }
    }
}

/// "returned at 14:05 CET", "sent 3h ago by ana@bastion2".
fn origin<T>(known: &Known<T>, context: &Context) -> String {
    let since = context.moment(known.at);
    match known.source {
        Source::Returned => format!("returned {since}"),
        Source::Sent => format!("sent {since} by {}", visible(&known.by)),
        Source::Imported => format!("imported {since} by {}", visible(&known.by)),
    }
}

/// "4d ago by li@desk7".
pub fn by(written: &Attribution, context: &Context) -> String {
    format!("{} by {}", context.moment(written.at), visible(&written.by))
}

/// The token, of which only the fingerprint is known.
fn known_token(group: &KnownGroup) -> String {
    match &group.fingerprint {
        Some(known) => format!("fingerprint {}", known.value),
        None => "-".to_owned(),
    }
}

/// The age of a token relative to its limit: `388d, 298d over the limit`.
fn age(group: &KnownGroup, context: &Context) -> (String, Style) {
    let limit = context.profile().and_then(|profile| profile.max_token_age);
    let age = age::age(group, context.now);
    let scale = TokenAge::of(age, limit);
    let style = context.theme.age(scale);
    let Some(age) = age else {
        return ("age unknown".into(), style);
    };
    let left = |limit: Duration| days(limit.saturating_sub(age));
    let text = match (scale, limit) {
        (TokenAge::Fresh | TokenAge::Unknown, _) => days(age),
        (TokenAge::Due, Some(limit)) => format!("{}, due in {}", days(age), left(limit)),
        (TokenAge::Over | TokenAge::Far, Some(limit)) => {
            format!(
                "{}, {} over the limit",
                days(age),
                days(age.saturating_sub(limit))
            )
        }
        (_, None) => format!("{}, usual limit {}", days(age), days(DEFAULT_LIMIT)),
    };
    (text, style)
}

/// When and by whom the token was rotated.
pub fn rotated(group: &KnownGroup, context: &Context) -> String {
    match &group.last_rotated {
        Some(last) => match &last.by {
            Some(by) => format!("rotated {} by {}", context.moment(last.at), visible(by)),
            None => format!("changed elsewhere, noticed {}", context.moment(last.at)),
        },
        None => "rotation unknown".into(),
    }
}

/// The values of a group, without its mapping and properties.
fn fields(group: &KnownGroup, context: &Context) -> Vec<Field> {
    let theme = context.theme;
    let name = group.name.as_ref();
    let name = Field::known("name", name, String::clone, "not in the directory", context);
    let name = Field {
        style: theme.title(),
        ..name
    };
    let seen = group.last_seen.map(|at| context.moment(at));
    let mut fields = vec![
        name.changed(ChangedField::Name),
        Field {
            origin: seen.map_or_else(|| "not read yet".into(), |at| format!("read {at}")),
            origin_label: "read",
            ..Field::plain("ID", group.id.to_string())
        },
    ];
    fields.extend(oddities(group.id.as_str()).iter().map(|oddity| {
        let what = format!("! character {}: {}", oddity.position, oddity.what);
        Field::styled("", what, theme.warning())
    }));
    if let Some(team) = &group.team_id {
        let team = Field::known("team", Some(team), i64::to_string, "", context);
        fields.push(team);
    }
    let unknown = "returned by update and rotate only";
    let tag = group.environment_tag.as_ref();
    let tag = Field::known("tag", tag, |tag| tag.as_str().into(), unknown, context);
    fields.push(tag);
    let (age, style) = age(group, context);
    let token = Field::plain("token", known_token(group));
    fields.push(Field {
        origin: rotated(group, context),
        origin_label: "rotated",
        ..token.changed(ChangedField::Token)
    });
    fields.push(Field::styled("age", age.trim_start_matches("age "), style));
    if let Some(state) = context.open.get(&group.id) {
        let what = match state {
            State::Rotated => "a read confirms it",
            State::Unknown => "only a read shows the result; do not rotate",
            _ => "in progress; do not rotate",
        };
        let what = format!("? {}: {what}", state.as_str());
        fields.push(Field::styled("rotation", what, theme.unknown()));
    }
    if context.to_hand_off.contains_key(&group.id) {
        let what = "x the new token was not delivered";
        fields.push(Field::styled("hand-off", what, theme.error()));
    }
    let draft = context.drafts.get(&(context.current, group.id.clone()));
    if let Some(draft) = draft.filter(|draft| context.other_author(draft).is_none()) {
        fields.push(Field {
            origin: format!("typed {}", context.moment(draft.draft.changed_at)),
            ..Field::styled("draft", "your changes, not sent", theme.label())
        });
    }
    if let Some(doing) = context.doing(&group.id) {
        fields.push(Field::styled("now", doing.in_words(), theme.news()));
    }
    fields.extend(annotations(group, context));
    fields
}

/// Note and labels of the group, with who wrote them and when.
fn annotations(group: &KnownGroup, context: &Context) -> Vec<Field> {
    let Some(annotation) = context.annotations.get(group.id.as_str()) else {
        return Vec::new();
    };
    let field = |label, value, written: &Option<Attribution>| Field {
        origin: written
            .as_ref()
            .map_or_else(String::new, |written| by(written, context)),
        ..Field::plain(label, value)
    };
    let note = annotation.note.clone();
    let note = note.map(|note| field("note", note, &annotation.noted).changed(ChangedField::Note));
    let favourite = annotation.is_favourite.then(|| "favourite".to_owned());
    let labels = Some(annotation.labels_text()).filter(|labels| !labels.is_empty());
    let labels: Vec<String> = favourite.into_iter().chain(labels).collect();
    let labels = (!labels.is_empty()).then(|| {
        let field = field("labels", labels.join(" "), &annotation.labelled);
        field.changed(ChangedField::Labels)
    });
    note.into_iter().chain(labels).collect()
}

/// Mapping and properties, row by row.
fn lists(group: &KnownGroup, context: &Context) -> [Field; 2] {
    let theme = context.theme;
    let plain = Style::new();
    let count = |count: usize| match count {
        0 => "empty".into(),
        count => counted(count, "row"),
    };
    let never = "unknown; the service never returns it";
    let mapping = group.mapping.as_ref();
    let rows = mapping.into_iter().flat_map(|known| known.value.iter());
    let rows = rows.map(|(schema, source)| [(schema.clone(), plain), (source.clone(), plain)]);
    let rows = rows.collect();
    let mapping = Field::known("mapping", mapping, |all| count(all.len()), never, context);
    let unread = if group.last_seen.is_some() {
        "unknown: not read yet"
    } else {
        "unknown: never seen in the service"
    };
    let mapping = Field {
        rows,
        joint: theme.arrow(),
        ..mapping.changed(ChangedField::Mapping)
    };
    let known = group.properties.as_ref();
    let rows = known.into_iter().flat_map(|known| known.value.iter());
    let rows = rows.map(|(key, value)| {
        let style = value_style(value, theme);
        [(key.clone(), theme.json_key()), (value.to_string(), style)]
    });
    let rows = rows.collect();
    let properties = Field::known("properties", known, |all| count(all.len()), unread, context);
    let properties = Field {
        rows,
        ..properties.changed(ChangedField::Properties)
    };
    [mapping, properties]
}

/// The colour of a JSON value.
fn value_style(value: &Value, theme: Theme) -> Style {
    match value {
        Value::String(_) => theme.json_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) => theme.json_value(),
        Value::Array(_) | Value::Object(_) => Style::new(),
    }
}

/// Writes everything that is known; mapping and properties row by row.
pub fn whole(page: &mut TextPage, group: &KnownGroup, context: &Context) {
    // A plain age is as long ago as the rotation.
    let is_said = |field: &Field| {
        field.label == "age" && group.last_rotated.is_some() && !field.value.contains(',')
    };
    let fields = fields(group, context).into_iter();
    for field in fields.filter(|field| !is_said(field)) {
        page.field(field.label, &field.value, field.style, &field.origin);
    }
    for list in lists(group, context) {
        page.blank();
        page.field(list.label, &list.value, list.style, &list.origin);
        for [(key, _), (value, style)] in &list.rows {
            let joint = match list.joint {
                "" => ":".into(),
                joint => format!(" {joint}"),
            };
            page.indented(17, &format!("{key}{joint} {value}"), *style);
        }
    }
}

/// Writes the values with these labels.
pub fn some(page: &mut TextPage, group: &KnownGroup, labels: &[&str], context: &Context) {
    let fields = fields(group, context).into_iter();
    for field in fields.filter(|field| labels.contains(&field.label)) {
        page.field(field.label, &field.value, field.style, &field.origin);
    }
}

fn label(text: &str, theme: Theme) -> (String, Style) {
    (format!("{text:<LABEL$}"), theme.heading())
}

/// Everything that is known, each value on one line, in three parts: values, mapping, properties.
fn parts(group: &KnownGroup, width: u16, context: &Context) -> [TextPage; 3] {
    let theme = context.theme;
    let mut values = TextPage::new(width, theme);
    let room = values.width().saturating_sub(LABEL);
    for field in fields(group, context) {
        let (value, style) = field.marked(group, context);
        let value = match field.label {
            "" => {
                values.text(&value, style);
                continue;
            }
            "ID" => paint::cut_id(&value, room, theme),
            _ => paint::words_that_fit(&value, room, theme),
        };
        values.pieces(vec![
            label(&capitalised(field.label), theme),
            (value, style),
        ]);
        if !field.origin_label.is_empty() {
            let origin = field.origin.trim_start_matches(field.origin_label);
            let origin = origin.trim_start().trim_start_matches("at ");
            let origin = origin.trim_start_matches("rotation ");
            let origin = paint::words_that_fit(origin, room, theme);
            let label = label(&capitalised(field.origin_label), theme);
            values.pieces(vec![label, (origin, Style::new())]);
        }
    }
    let [mapping, properties] = lists(group, context).map(|list| {
        let mut page = TextPage::new(width, theme);
        let (count, style) = list.marked(group, context);
        let head = format!("{} ", capitalised(list.label));
        let taken = columns(&head) + columns(&count) + 2;
        let fits = taken + columns(&list.origin) <= page.width();
        let mut line = vec![(head, theme.heading()), (format!("{count}  "), style)];
        if fits {
            line.push((list.origin.clone(), theme.dim()));
        }
        page.pieces(line);
        if !fits {
            page.indented(2, &list.origin, theme.dim());
        }
        let keys = list.rows.iter().map(|[(key, _), _]| columns(key)).max();
        let keys = keys.unwrap_or(0).min(MAX_KEY_WIDTH);
        for [(key, key_style), (value, style)] in list.rows {
            let key = paint::cut(&key, keys, theme);
            let gap = " ".repeat(keys.saturating_sub(columns(&key)) + 1);
            let joint = match list.joint {
                "" => String::new(),
                joint => format!("{joint} "),
            };
            let key = format!("  {key}{gap}{joint}");
            let value = paint::cut(&value, page.width().saturating_sub(columns(&key)), theme);
            page.pieces(vec![(key, key_style), (value, style)]);
        }
        page
    });
    [values, mapping, properties]
}

/// Everything on one page, for scrolling.
pub fn stacked(group: &KnownGroup, width: u16, context: &Context) -> TextPage {
    let [mut page, mapping, properties] = parts(group, width, context);
    for part in [mapping, properties] {
        page.blank();
        page.append(part);
    }
    page
}

/// Whether so many rows have only the brief form, which leaves values out.
pub fn is_brief(rows: u16) -> bool {
    rows < MIN_ROWS
}

/// Draws the details in an area of the list: all of them, or how many lines there are more and the key that shows them.
pub fn draw(buffer: &mut Buffer, area: Rect, group: &KnownGroup, context: &Context) {
    if is_brief(area.height) {
        brief(area.width, group, context).draw_still(buffer, area);
        return;
    }
    let enter = context.keys.key(Focus::List, Action::Enter);
    let enter = format!("{enter}: ");
    let columns = Layout::horizontal([Constraint::Fill(1); 3]).spacing(2);
    let columns: [Rect; 3] = columns.areas(area);
    if area.width >= COLUMNS_WIDTH {
        let width = columns.iter().map(|column| column.width).min();
        let parts = parts(group, width.unwrap_or(0), context);
        for (part, area) in parts.iter().zip(columns) {
            part.draw_with(buffer, area, 0, &enter);
        }
        return;
    }
    let whole = stacked(group, area.width, context);
    let parts = parts(group, area.width, context);
    let [values, mapping, properties] = parts.each_ref().map(|part| part.height() as u16);
    let free = area.height.saturating_sub(values + 2);
    if whole.last_scroll(area.height) == 0 || free < 2 * MIN_LIST_ROWS {
        whole.draw_with(buffer, area, 0, &enter);
        return;
    }
    // Mapping and properties share what the others leave; rows that one does not need go to the other.
    let mapping = mapping.min(free - properties.min(free / 2));
    let rows = Layout::vertical([values, mapping, free - mapping].map(Constraint::Length));
    for (part, area) in parts.iter().zip(rows.spacing(1).areas::<3>(area)) {
        part.draw_with(buffer, area, 0, &enter);
    }
}

/// The few lines below a short list.
fn brief(width: u16, group: &KnownGroup, context: &Context) -> TextPage {
    let theme = context.theme;
    let mut page = TextPage::new(width, theme);
    let (age, style) = age(group, context);
    let token = known_token(group);
    let room = page.width();
    let room = room.saturating_sub(LABEL + columns(&token) + columns(&age) + 4);
    // Its age already says when it was rotated.
    let last = group.last_rotated.as_ref();
    let by = last.and_then(|last| last.by.as_ref());
    let rotated = match by {
        Some(by) => format!("rotated by {}", visible(by)),
        None => rotated(group, context),
    };
    page.pieces(vec![
        label("Token", theme),
        (token + "  ", Style::new()),
        (age + "  ", style),
        (paint::words_that_fit(&rotated, room, theme), theme.dim()),
    ]);
    let [mapping, properties] = lists(group, context);
    one_line(&mut page, "Mapping", &mapping, theme);
    one_line(&mut page, "Props", &properties, theme);
    let fields = fields(group, context);
    let worth_most = [
        "", "rotation", "hand-off", "now", "draft", "note", "labels", "ID",
    ];
    let mut found = worth_most
        .iter()
        .filter_map(|label| fields.iter().find(|field| field.label == *label));
    match found.next() {
        Some(field) if field.label == "ID" => {
            let origin = field.origin.trim_start_matches("read ");
            let origin = origin.trim_start_matches("at ").to_owned();
            page.pieces(vec![label("Read", theme), (origin, Style::new())]);
        }
        Some(field) if field.label.is_empty() => page.text(&field.value, field.style),
        Some(field) => one_field(&mut page, field, found.next(), theme),
        None => {}
    }
    page
}

/// Writes a value with its origin on one line, and the labels after a note.
fn one_field(page: &mut TextPage, field: &Field, next: Option<&Field>, theme: Theme) {
    let labels = next.filter(|next| next.label == "labels");
    let labels = labels.map_or("", |labels| &labels.value);
    let room = page.width().saturating_sub(LABEL);
    let labels = paint::words_that_fit(labels, room / 3, theme);
    let room = room.saturating_sub(columns(&labels) + columns(&field.origin) + 5);
    let parts = [
        (
            paint::words_that_fit(&field.value, room, theme),
            field.style,
        ),
        (field.origin.clone(), theme.dim()),
        (labels, theme.label()),
    ];
    let mut line = vec![label(&capitalised(field.label), theme)];
    for (text, style) in parts.into_iter().filter(|(text, _)| !text.is_empty()) {
        line.push((text + "  ", style));
    }
    page.pieces(line);
}

/// Writes as many parts as fit, the number of further ones, and their origin.
fn one_line(page: &mut TextPage, name: &str, list: &Field, theme: Theme) {
    let room = page.width().saturating_sub(LABEL);
    let parts = list.rows.iter().map(|[(key, key_style), (value, style)]| {
        let joint = if list.joint.is_empty() {
            " "
        } else {
            list.joint
        };
        let key = format!("{}{joint}", visible(key));
        vec![(key, *key_style), (visible(value).into_owned(), *style)]
    });
    let parts: Vec<Pieces> = parts.collect();
    let width = |pieces: &Pieces| pieces.iter().map(|(text, _)| columns(text)).sum::<usize>();
    let mut line = vec![label(name, theme)];
    let mut used = 0;
    let mut shown = 0;
    let origin = match (&list.value[..], parts.len()) {
        (empty, 0) if empty != "-" => format!("{empty}, {}", list.origin),
        _ => list.origin.clone(),
    };
    let tail = |shown: usize| match parts.len() - shown {
        0 => format!("  {origin}"),
        more => format!("  +{more}, {origin}"),
    };
    for pieces in &parts {
        let before = if shown == 0 { 0 } else { 2 };
        let after = columns(&tail(shown + 1));
        if used + before + width(pieces) + after > room {
            break;
        }
        if before > 0 {
            line.push(("  ".into(), Style::new()));
        }
        used += before + width(pieces);
        line.extend(pieces.iter().cloned());
        shown += 1;
    }
    let tail = tail(shown);
    let tail = if used == 0 { tail.trim_start() } else { &tail };
    let tail = paint::words_that_fit(tail, room - used, theme);
    line.push((tail, theme.dim()));
    page.pieces(line);
}
