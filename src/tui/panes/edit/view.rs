//! How the form looks: three fields below each other, and what would change beside them where there is room.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{Edit, Section};
use crate::tui::{
    changes::{self, Of},
    desk::Desk,
    frame::boxed,
    messages::Severity,
    sheet::Sheet,
    theme::Theme,
    widgets::mapping_table::PastedRows,
};

/// From this width on the changes stand beside the form.
const BESIDE: u16 = 100;
/// Rows from which mapping and properties are shown both.
const BOTH: u16 = 10;

pub(super) fn draw(edit: &Edit, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
    let theme = desk.theme;
    let form = Rect {
        width: if area.width >= BESIDE {
            area.width * 3 / 5
        } else {
            area.width
        },
        ..area
    };
    let name = Rect {
        x: form.x + 1,
        width: form.width.saturating_sub(2),
        height: 1.min(form.height),
        ..form
    };
    let rest = form.height.saturating_sub(1);
    let mapping = Rect {
        y: name.bottom(),
        height: match edit.section {
            // A low window has room for one of the two.
            Section::Properties if rest < BOTH => 0,
            _ if rest < BOTH => rest,
            _ => rest / 2,
        },
        ..form
    };
    let properties = Rect {
        y: mapping.bottom(),
        height: rest - mapping.height,
        ..form
    };
    let on = |section| edit.section == section;
    let name_at = edit.name.draw(buffer, name, theme, on(Section::Name));
    let mapping_title = if edit.creating || edit.base.mapping.is_some() {
        "Mapping: schema id to data source id"
    } else {
        "Mapping: not known here; rows you add replace the whole"
    };
    let inner = field_box(buffer, mapping, mapping_title, on(Section::Mapping), theme);
    let mapping_at = edit
        .mapping
        .draw(buffer, inner, theme, on(Section::Mapping));
    let properties_title = if edit.creating || edit.base.properties.is_some() {
        "Properties: a JSON object"
    } else {
        "Properties: not known here; what you type replaces the whole"
    };
    let inner = field_box(
        buffer,
        properties,
        properties_title,
        on(Section::Properties),
        theme,
    );
    let properties_at = edit
        .properties
        .draw(buffer, inner, theme, on(Section::Properties));
    if area.width >= BESIDE {
        let beside = Rect {
            x: form.right(),
            width: area.width - form.width,
            ..area
        };
        draw_changes(edit, buffer, beside, desk);
    }
    match edit.section {
        Section::Name => name_at,
        Section::Mapping => mapping_at,
        Section::Properties => properties_at,
    }
}

fn field_box(buffer: &mut Buffer, area: Rect, title: &str, on: bool, theme: Theme) -> Rect {
    let mark = if on { "> " } else { "" };
    boxed(buffer, area, &format!("{mark}{title}"), theme)
}

fn draw_changes(edit: &Edit, buffer: &mut Buffer, area: Rect, desk: &Desk) {
    let inner = boxed(buffer, area, "What would change", desk.theme);
    let mut sheet = Sheet::new(inner.width, desk.theme);
    match edit.change() {
        None => {
            if let Err((text, field)) = edit.wanted() {
                sheet.text(&format!("{field}: {text}"), desk.theme.warning());
            }
        }
        Some(change) if change.is_empty() => sheet.text("nothing yet", desk.theme.dim()),
        Some(change) => {
            let of = if edit.creating {
                Of::Creation
            } else {
                Of::Known
            };
            changes::write(&mut sheet, &change, of, false, desk.theme);
        }
    }
    sheet.draw_still(buffer, inner);
}

/// Says what became of a paste.
pub(super) fn say_pasted(pasted: &PastedRows, desk: &mut Desk) {
    match pasted {
        PastedRows::Cell(_) => {}
        PastedRows::Rows { added, changed } => desk.say(
            Severity::Info,
            format!("pasted: {added} rows added, {changed} changed; z undoes"),
        ),
        PastedRows::Refused(why) => desk.say(Severity::Warning, why.to_string()),
    }
}
