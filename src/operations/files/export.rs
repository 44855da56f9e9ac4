//! Groups as the rows of a file that `import` and `apply` read; shared by console and command line.

use std::path::{Path, PathBuf};

use crate::{
    api::inspect::escape_hidden,
    domain::{annotation::Annotation, known::KnownGroup},
    formats::{Columns, Format, GroupRow},
};

/// Returns one group as a row of a file, without its token, and with the annotations that the columns ask for.
/// In the JSON formats, hidden characters are written as escapes; reading gives the same text again.
pub fn exported_row(
    format: Format,
    columns: &Columns,
    (group, beside): (KnownGroup, Option<&Annotation>),
    is_first: bool,
) -> String {
    let text = format.row(&GroupRow::of(group, beside), columns, is_first);
    match format {
        Format::Csv => text,
        Format::Json | Format::JsonLines => escape_hidden(&text),
    }
}

/// The format for the extension of a path; `None` if no known format has it.
pub fn format_of(path: &Path) -> Option<Format> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "csv" => Some(Format::Csv),
        "json" => Some(Format::Json),
        "jsonl" | "ndjson" => Some(Format::JsonLines),
        _ => None,
    }
}

/// Splits a file name from the extra columns named after it: `groups.csv +note +labels`.
pub fn path_and_columns(path: &Path) -> Result<(PathBuf, Columns), String> {
    let Some(text) = path.to_str() else {
        return Ok((path.to_owned(), Columns::default()));
    };
    let mut name = text.trim_end();
    while let Some((before, _)) = name
        .rsplit_once(' ')
        .filter(|(_, word)| word.starts_with('+'))
    {
        name = before.trim_end();
    }
    let columns = match text[name.len()..].trim() {
        "" => Columns::default(),
        columns => Columns::parse(columns)?,
    };
    Ok((name.into(), columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_behind_the_name_of_a_file_and_its_ending_asks_for_a_format() {
        let read = |text: &str| path_and_columns(Path::new(text));
        let usual = Columns::default();
        assert_eq!(read("my groups.csv"), Ok(("my groups.csv".into(), usual)));
        let (path, columns) = read("/a b/c.csv +note  +labels ").expect("columns");
        assert_eq!(path, Path::new("/a b/c.csv"));
        assert_eq!(Columns::parse("+note,+labels"), Ok(columns));
        let wrong = read("c.csv +notes").expect_err("no column");
        assert!(wrong.contains("did you mean note?"), "{wrong}");
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
