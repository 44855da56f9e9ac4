//! `version`: prints the version of groupdesk.

use super::prelude::*;

pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The release date in CHANGELOG.md; a test compares the two.
pub(super) const RELEASED: &str = "2026-11-22";

/// Print the version and release date
#[derive(Debug, Args)]
pub(crate) struct Version;

impl Run for Version {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("version", &["groupdesk version", "groupdesk version --json | jq -r .version"], &[one("", &[&OBJECT])]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        let text = || format!("groupdesk {VERSION}, {RELEASED}");
        output::either(global.json, value, text)
    }
}

shape! {
    OBJECT = "version", "the version of groupdesk";
    fn value() {
        "version": text = VERSION, "its version";
        "released": text = RELEASED, "the day of its release";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_is_that_of_the_changelog() {
        let changelog = include_str!("../../../CHANGELOG.md");
        let line = format!("\n## [{VERSION}] - {RELEASED}\n");
        assert!(changelog.contains(&line), "{line}");
    }
}
