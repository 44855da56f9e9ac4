//! Groups as the rows of a file that `import` and `apply` read; the same from the console and from the command line.

use std::path::Path;

use crate::{
    api::inspect::escape_hidden,
    domain::known::KnownGroup,
    formats::{Format, GroupRow},
};

/// One group as it stands in a file, without its token. What JSON can say without showing it, it says with an escape;
/// reading gives the same again.
pub fn exported_row(format: Format, group: KnownGroup, is_first: bool) -> String {
    let text = format.row(&GroupRow::of(group), is_first);
    match format {
        Format::Csv => text,
        Format::Json | Format::JsonLines => escape_hidden(&text),
    }
}

/// The format that the ending of a name asks for; `None` where it asks for none that there is.
pub fn format_of(path: &Path) -> Option<Format> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "csv" => Some(Format::Csv),
        "json" => Some(Format::Json),
        "jsonl" | "ndjson" => Some(Format::JsonLines),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_name_asks_for_a_format() {
        for (name, format) in [
            ("groups.csv", Some(Format::Csv)),
            ("groups.JSON", Some(Format::Json)),
            ("a.b/groups.jsonl", Some(Format::JsonLines)),
            ("groups.ndjson", Some(Format::JsonLines)),
            ("groups.txt", None),
            ("csv", None),
        ] {
            assert_eq!(format_of(Path::new(name)), format, "{name}");
        }
    }
}
