//! Draws the form: three fields below each other, and the pending changes beside them if there is room, otherwise a
//! line that counts them.
//!
//! The last updates of the group, below the pending changes.

use ratatui::prelude::Margin;

use super::{GroupForm, Section};
use crate::tui::panes::prelude::*;
use crate::{
    domain::{Change, Entry, Mark, Operation, text::person, undo},
    tui::kit::{
        ChangeTarget, PastedPairs, PropertiesFocus, RowKeys, did_not_fit,
        paint::{self, columns},
        side_by_side, take, text_page, titled_rows,
    },
};

/// From this width on, the changes are beside the form.
pub(super) const SIDE_BY_SIDE_WIDTH: u16 = 100;
/// From this number of rows on, both mapping and properties are shown.
const MIN_ROWS_FOR_BOTH: u16 = 10;
/// From this number of rows on, one of them can count the changes.
const MIN_ROWS_FOR_TALLY: u16 = 14;
/// From this number of rows on, the name has a rule as well.
const MIN_ROWS_FOR_RULE: u16 = 16;
/// From this number of rows of the mapping on, one of them can say who else uses a data source.
const MIN_ROWS_FOR_USAGE: u16 = 4;
/// Minimum width of the name when its previous value is shown beside it, in cells.
const MIN_NAME_WIDTH: u16 = 40;

/// The keys that the rows mention in their hints.
fn row_keys(context: &Context, focus: Focus) -> RowKeys {
    let key = |hint| context.keys.key_in_field(focus, hint);
    RowKeys {
        add: key("add"),
        drop: key("remove"),
    }
}

pub(super) fn draw(
    edit: &GroupForm,
    buffer: &mut Buffer,
    area: Rect,
    context: &Context,
) -> Option<Position> {
    let theme = context.theme;
    let is_wide = area.width >= SIDE_BY_SIDE_WIDTH;
    let mut left = area;
    if is_wide {
        let (form, beside) = side_by_side(buffer, area, area.width * 2 / 5 - 1, theme);
        draw_changes(edit, buffer, beside, context);
        left = form;
    } else if area.height >= MIN_ROWS_FOR_TALLY {
        let (form, last) = split_below(area, 1);
        draw_tally(edit, buffer, last, theme);
        left = form;
    }
    let meanwhile = edit.meanwhile.clone().map(|text| (text, theme.changed()));
    let others = edit.others_line(context);
    let others = others.map(|text| (text, theme.warning()));
    for (text, style) in meanwhile.into_iter().chain(others) {
        if left.height > MIN_ROWS_FOR_BOTH {
            let (above, last) = split_below(left, 1);
            paint::line(buffer, last, &format!(" ~ {text}"), style, theme);
            left = above;
        }
    }
    let [on_name, on_mapping, on_properties] =
        [Section::Name, Section::Mapping, Section::Properties].map(|one| edit.section == one);
    if left.height >= MIN_ROWS_FOR_RULE {
        left = titled_rows(buffer, left, "Name", on_name, theme);
    }
    let name = take(&mut left, 1).inner(Margin::new(1, 0));
    let rows = match left.height {
        rest if rest >= MIN_ROWS_FOR_BOTH => rest / 2,
        // A low window has room for only one of the two.
        _ if on_properties => 0,
        rest => rest,
    };
    let mapping = take(&mut left, rows);
    // If the changes are beside the form, they contain the previous name.
    let name = edit.draw_name_mark(buffer, name, is_wide, theme);
    let name_at = edit.name.draw(buffer, name, theme, on_name);
    let title = if edit.creating || edit.base.mapping.is_some() {
        format!("Mapping: schema ID {} data source ID", theme.arrow())
    } else {
        "Mapping: unknown; the rows you add replace all of it".to_owned()
    };
    let mut inner = titled(buffer, mapping, &title, on_mapping, theme);
    if on_mapping {
        inner = draw_data_source_usage(edit, buffer, inner, theme);
    }
    let keys = row_keys(context, Focus::EditMapping);
    let table = &edit.mapping;
    let mapping_at = table.draw(buffer, inner, theme, on_mapping, &keys);
    let is_known = edit.creating || edit.base.properties.is_some();
    let title = match edit.properties.place() {
        _ if !is_known => "Properties: unknown; your input replaces all of them",
        PropertiesFocus::Text => "Properties: a JSON object",
        PropertiesFocus::Rows | PropertiesFocus::Cell | PropertiesFocus::ValueType => {
            "Properties: key, type, value"
        }
    };
    let inner = titled(buffer, left, title, on_properties, theme);
    let keys = row_keys(context, Focus::EditRows);
    let field = &edit.properties;
    let properties_at = field.draw(buffer, inner, theme, on_properties, &keys);
    match edit.section {
        Section::Name => name_at,
        Section::Mapping => mapping_at,
        Section::Properties => properties_at,
    }
}

fn draw_changes(edit: &GroupForm, buffer: &mut Buffer, area: Rect, context: &Context) {
    let inner = titled(buffer, area, "What would change", false, context.theme);
    let mut page = TextPage::new(inner.width, context.theme);
    match edit.cached_change() {
        Err((text, field)) => page.warning(&format!("{field}: {text}")),
        Ok(change) if change.is_empty() => page.dim("No changes"),
        Ok(change) => page.brief_change(change, ChangeTarget::of(edit.creating)),
    }
    page.draw_still(buffer, inner);
    edit.draw_last_updates(buffer, inner, page.height(), context);
}

/// Draws one line, when there is no room for more.
fn draw_tally(edit: &GroupForm, buffer: &mut Buffer, line: Rect, theme: Theme) {
    let line = line.inner(Margin::new(1, 0));
    let (text, style) = match edit.cached_change() {
        Err((text, field)) => (format!("! {field}: {text}"), theme.warning()),
        Ok(change) if change.is_empty() => return,
        Ok(change) => {
            let what = if edit.creating { "create" } else { "change" };
            let text = format!("would {what}: {}", text_page::tally(change));
            (text, theme.changed())
        }
    };
    paint::line(buffer, line, &text, style, theme);
}

/// Uses the last row of the mapping to say which other groups use the data source under the cursor. Returns the
/// remaining area.
fn draw_data_source_usage(edit: &GroupForm, buffer: &mut Buffer, area: Rect, theme: Theme) -> Rect {
    let Some(text) = edit
        .data_source_usage
        .line()
        .filter(|_| area.height >= MIN_ROWS_FOR_USAGE)
    else {
        return area;
    };
    let (area, last) = split_below(area, 1);
    paint::line(buffer, last, text, theme.dim(), theme);
    area
}

/// Reports the result of a paste into the mapping or the properties.
pub(super) fn report_pasted(pasted: PastedPairs, focus: Focus, context: &mut Context) {
    match pasted {
        PastedPairs::Text { cut: 0 } => {}
        PastedPairs::Text { cut } => context.say(Severity::Warning, did_not_fit(cut)),
        PastedPairs::Rows { added, changed } => {
            let added = match (focus, added) {
                (Focus::EditMapping, _) => counted(added, "row"),
                (_, 1) => "1 property".to_owned(),
                _ => format!("{added} properties"),
            };
            let undo = context.keys.key_in_field(focus, "undo");
            let text = format!("Pasted: {added} added, {changed} changed; {undo} undoes");
            context.say(Severity::Info, text);
        }
        PastedPairs::Refused(why) => context.say_paste_refused(why),
    }
}

/// Minimum number of rows: the heading and one entry.
const MIN_ROWS: usize = 3;
/// Maximum number of entries.
const MAX_ENTRIES: usize = 8;
/// Maximum width of the person's name, in cells.
const MAX_OPERATOR_WIDTH: usize = 12;

impl GroupForm {
    /// Draws a sign before a name that differs, and the previous one if there is room. Returns the area of the field.
    fn draw_name_mark(&self, buffer: &mut Buffer, line: Rect, is_told: bool, theme: Theme) -> Rect {
        let now = self.name.text();
        let (mark, words) = match &self.base.name {
            Some(was) if was == now => return line,
            Some(was) => (Mark::Changed, format!("was {}", visible(was))),
            None if now.is_empty() || self.creating => return line,
            None => (Mark::Added, "new".to_owned()),
        };
        let (sign, style) = (mark.sign().to_string(), theme.change(mark));
        paint::text(buffer, line.x.saturating_sub(1), line.y, 1, &sign, style);
        let room =
            (paint::columns(&words) as u16 + 2).min(line.width.saturating_sub(MIN_NAME_WIDTH));
        if room < 10 || is_told {
            return line;
        }
        let beside = paint::from_column(line, line.right() - room + 2);
        paint::line(buffer, beside, &words, theme.dim(), theme);
        paint::first_cells(line, line.width - room)
    }

    /// Requests the history if there is room to show it.
    pub(super) fn ask_last_updates(&mut self, context: &mut Context) {
        if !self.creating
            && context.size.0 >= super::view::SIDE_BY_SIDE_WIDTH
            && self.updates.must_request()
        {
            let job = Job::History(Some(self.id.clone()));
            context.ask(&self.updates.reading, job);
        }
    }

    /// Draws as many entries as fit below `taken` rows, at the bottom of the area, so that they do not move while the
    /// changes above them grow.
    pub(super) fn draw_last_updates(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        taken: usize,
        context: &Context,
    ) {
        let free = usize::from(area.height).saturating_sub(taken);
        let entries = self.updates.entries();
        if free < MIN_ROWS || entries.is_empty() {
            return;
        }
        let shown = &entries[..entries.len().min(MAX_ENTRIES).min(free - 2)];
        let rows = shown.len() as u16 + 1;
        let (_, area) = split_below(area, rows);
        let mut page = TextPage::new(area.width, context.theme);
        write(&mut page, shown, context);
        page.draw_still(buffer, area);
    }
}

fn write(page: &mut TextPage, shown: &[Entry], context: &Context) {
    let theme = context.theme;
    let column = |text: &dyn Fn(&Entry) -> String| -> Vec<String> {
        let mut cells: Vec<String> = shown.iter().map(text).collect();
        let widest = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        for cell in &mut cells {
            *cell += &" ".repeat(widest - columns(cell) + 2);
        }
        cells
    };
    let whens = column(&|entry| context.when(entry.at));
    // Only the person of `ana@bastion2`.
    let whos = column(&|entry| paint::cut(person(&entry.by), MAX_OPERATOR_WIDTH, theme));
    page.heading("Last updates");
    for (at, entry) in shown.iter().enumerate() {
        let head = format!("{}{}", whens[at], whos[at]);
        let room = page.width().saturating_sub(columns(&head));
        let what = paint::words_that_fit(&what(entry, context), room, theme);
        page.pieces(vec![(head, theme.dim()), (what, Style::new())]);
    }
}

fn what(entry: &Entry, context: &Context) -> String {
    match entry.operation {
        Operation::Create => "created".into(),
        Operation::Rotate => "token rotated".into(),
        _ => match undo::changed(entry) {
            Ok((before, after)) => {
                text_page::in_short(&Change::between(&before, &after), context.theme)
            }
            Err(_) => "updated".into(),
        },
    }
}
