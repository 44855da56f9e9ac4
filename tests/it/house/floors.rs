//! The floors of the console: each uses only those below it, so that a page can change without the kit, and the kit is
//! understood without any page.

use super::{
    files,
    rules::inside_the_crate,
    source::{paths, tokens},
};

/// The modules of `src/tui`, from the bottom; those of a row do not use each other.
const FLOORS: [&[&str]; 9] = [
    &["terminal", "theme"],
    &["kit"],
    &["keymap"],
    &["state"],
    &["page"],
    &["panes"],
    &["app"],
    &["frame"],
    &["runtime"],
];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// What a file uses from its own height or above, as `file:line: what`. A name that is no floor belongs to `src/tui.rs`,
/// which is above all of them.
fn arrows_up(file: &str, text: &str) -> Vec<String> {
    let Some(inner) = file.strip_prefix("src/tui/") else {
        return Vec::new();
    };
    let own = inner.split('/').next().unwrap_or_default();
    let own = own.trim_end_matches(".rs");
    let Some(height) = floor(own) else {
        return vec![format!("{file}: {own} is no floor of the console")];
    };
    let mut found = Vec::new();
    for path in paths(&tokens(text)) {
        let target = inside_the_crate(file, &path).unwrap_or_default();
        let [room, module, ..] = &target[..] else {
            continue;
        };
        let is_below = floor(module).is_some_and(|floor| floor < height);
        if room == "tui" && module != own && !is_below {
            found.push(format!("{file}:{}: {own} must not use {module}", path.line));
        }
    }
    found
}

#[test]
fn the_console_uses_only_floors_below() {
    let files = files();
    for module in FLOORS.concat() {
        let path = format!("src/tui/{module}.rs");
        assert!(files.iter().any(|(file, _)| *file == path), "{path}");
    }
    let found = files.iter().flat_map(|(file, text)| arrows_up(file, text));
    let found: Vec<_> = found.collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn an_arrow_up_is_found_however_it_is_written() {
    for (file, line) in [
        (
            "src/tui/kit/table.rs",
            "use crate::tui::state::context::Context;",
        ),
        ("src/tui/kit.rs", "use super::keymap::Action;"),
        ("src/tui/kit/columns/a.rs", "use super::super::super::page;"),
        (
            "src/tui/theme.rs",
            "use crate::tui::{terminal::paint, theme};",
        ),
        (
            "src/tui/state/context.rs",
            "use crate::{domain, tui::{kit::paint, panes::Pane}};",
        ),
        ("src/tui/page.rs", "fn f(app: &crate::tui::app::App) {}"),
        ("src/tui/panes/list.rs", "use crate::tui::ExitReason;"),
        (
            "src/tui/panes/list.rs",
            "mod tests { use super::super::super::runtime; }",
        ),
        ("src/tui/frame.rs", "use super::*;"),
        ("src/tui/attic.rs", "use std::fmt;"),
    ] {
        assert_eq!(arrows_up(file, line).len(), 1, "{file}: {line}");
    }
    for (file, line) in [
        (
            "src/tui/runtime/runner.rs",
            "use crate::tui::{app::App, frame, terminal};",
        ),
        (
            "src/tui/panes/list.rs",
            "use super::View; use crate::tui::panes::list::view;",
        ),
        ("src/tui.rs", "use crate::tui::runtime;"),
    ] {
        assert_eq!(
            arrows_up(file, line),
            Vec::<String>::new(),
            "{file}: {line}"
        );
    }
}
