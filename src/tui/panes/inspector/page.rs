//! One exchange as a page: summary, request and response.

use ratatui::style::Style;

use super::style;
use crate::{
    operations::{Body, ExchangeKind},
    tui::{state::exchanges::Exchange, theme::Theme, widgets::text_page::TextPage},
};

/// In bytes, KiB or MiB.
pub fn size(bytes: usize) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} K", bytes / 1_024),
        _ => format!("{} M", bytes / 1_048_576),
    }
}

/// Writes the exchange in full.
pub fn describe(page: &mut TextPage, exchange: &Exchange, theme: Theme) {
    let recorded = &exchange.recorded;
    let group = recorded.id.as_deref().unwrap_or("a group unknown here");
    let what = format!("{} {group}, in {}", recorded.call.word(), recorded.profile);
    let at = exchange.at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    page.field("request", &what, theme.title(), &at);
    let took = format!("{}ms", recorded.duration.as_millis());
    let verdict = exchange.verdict();
    page.field("result", verdict, style(recorded.kind, theme), &took);
    if !recorded.words.is_empty() {
        page.field("", &recorded.words, Style::new(), "");
    }
    page.blank();
    page.heading(&format!("{} {}", recorded.call.method(), recorded.url));
    page.text("content-type, accept: application/json", theme.dim());
    body(page, &recorded.request, theme);
    page.blank();
    let Some(status) = recorded.status else {
        page.heading(match recorded.kind {
            ExchangeKind::InFlight => "Waiting for the response",
            _ => "No response",
        });
        return;
    };
    let length = recorded.answer.as_ref().map_or(0, |body| body.size);
    page.heading(&format!("HTTP {status}, {}", size(length)));
    for (name, value) in &recorded.headers {
        page.text(&format!("{name}: {value}"), theme.dim());
    }
    if let Some(answer) = &recorded.answer {
        body(page, answer, theme);
    }
}

fn body(page: &mut TextPage, body: &Body, theme: Theme) {
    if body.size == 0 {
        page.text("(no body)", theme.dim());
    }
    page.json(body.text.lines().map(|line| (None, line)));
    if body.is_cut {
        let note = format!("(cut: only the beginning of {} is kept)", size(body.size));
        page.text(&note, theme.warning());
    }
    if body.is_masked {
        let note = "(secrets are hidden; a number after **** tells tokens apart)";
        page.text(note, theme.dim());
    }
}
