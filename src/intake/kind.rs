//! The kind of a file by its content: what people name by mistake, and how to make a text out of it.

use std::fmt;

/// How much of a file is looked at.
pub const LOOK: usize = 1024;

/// A kind of file that contains no groups, IDs or settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign {
    pub is: &'static str,
    pub todo: &'static str,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.is, self.todo)
    }
}

const WORKBOOK: Foreign = Foreign {
    is: "a workbook",
    todo: "export it as CSV",
};
/// A directory of groupdesk is one.
pub const SQLITE: Foreign = Foreign {
    is: "an SQLite database",
    todo: NO_TEXT,
};
const UNPACK: &str = "unpack it first";
const NO_TEXT: &str = "export the data as CSV or JSON";

/// Kinds with fixed bytes at a fixed place.
#[rustfmt::skip] // A table: one kind per line.
const MAGIC: [(usize, &[u8], &str, &str); 20] = [
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", WORKBOOK.is, WORKBOOK.todo),
    (0, b"\x1f\x8b", "compressed (gzip)", "unpack it first, for example with gunzip"),
    (0, b"BZh", "compressed (bzip2)", UNPACK),
    (0, b"\xfd7zXZ\0", "compressed (xz)", UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "compressed (zstd)", UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "an archive (7z)", UNPACK),
    (0, b"Rar!\x1a\x07", "an archive (rar)", UNPACK),
    (257, b"ustar\0", "an archive (tar)", UNPACK),
    (257, b"ustar  \0", "an archive (tar)", UNPACK),
    (0, b"%PDF-", "a PDF document", NO_TEXT),
    (0, b"\x89PNG\r\n\x1a\n", "a picture", NO_TEXT),
    (0, b"\xff\xd8\xff", "a picture", NO_TEXT),
    (0, b"GIF8", "a picture", NO_TEXT),
    (0, b"SQLite format 3\0", SQLITE.is, SQLITE.todo),
    (0, b"\x7fELF", "a program", "use another file"),
    (0, b"PAR1", "a Parquet file", NO_TEXT),
    (0, b"{\\rtf", "a formatted text (RTF)", "save it as plain text"),
    (0, b"version https://git-lfs", "a Git LFS pointer, not the file itself", "run git lfs pull"),
    (0, b"-----BEGIN ", "a certificate or key in PEM", "use another file"),
    (0, b"PGDMP", "a dump of a database", NO_TEXT),
];

/// Recognises a file that is no text of ours by its first bytes.
pub fn foreign(start: &[u8]) -> Option<Foreign> {
    let start = &start[..start.len().min(LOOK)];
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        return Some(zip(start));
    }
    let magic = MAGIC.iter().find(|(at, bytes, ..)| {
        let from = start.get(*at..);
        from.is_some_and(|from| from.starts_with(bytes))
    });
    if let Some((_, _, is, todo)) = magic {
        return Some(Foreign { is, todo });
    }
    markup(start)
}

fn zip(start: &[u8]) -> Foreign {
    let has = |words: &[u8]| start.windows(words.len()).any(|window| window == words);
    let is_workbook = has(b"[Content_Types].xml")
        || has(b"_rels/")
        || has(b"xl/")
        || has(b"opendocument.spreadsheet")
        || has(b"Index/Document.iwa");
    if is_workbook {
        WORKBOOK
    } else {
        Foreign {
            is: "an archive (zip)",
            todo: "unpack it first",
        }
    }
}

/// Kinds by the words that they begin with.
#[rustfmt::skip] // A table: one kind per line.
const MARKUP: [(&[&str], &str, &str); 3] = [
    (&["<!doctype html", "<html", "<head", "<body", "<script", "<table"], "a web page (HTML)", "was it a sign-in page? Download the file again"),
    (&["<?xml", "<workbook"], "XML", "export it as CSV or JSON"),
    (&["---\n", "---\r", "- user_group_id:", "user_group_id:"], "YAML", "convert it to JSON, for example with yq -o json"),
];

fn markup(start: &[u8]) -> Option<Foreign> {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let start = start.trim_ascii_start();
    let head = start[..start.len().min(256)].to_ascii_lowercase();
    let begins = |words: &[&str]| words.iter().any(|word| head.starts_with(word.as_bytes()));
    let (_, is, todo) = MARKUP.iter().find(|(words, ..)| begins(words))?;
    Some(Foreign { is, todo })
}

/// What a text is, as far as its beginning shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A JSON array.
    Array,
    /// JSON objects, or one.
    Objects,
    /// Lines: a table with separators, or one value each.
    Lines,
}

/// The kind of a decoded text. An id may begin with a bracket, so only what can be JSON counts as such.
pub fn of(text: &str) -> Kind {
    let text = text.trim_start();
    let after = |bracket: char| {
        let rest = text.strip_prefix(bracket)?.trim_start();
        Some(rest.chars().next())
    };
    match (after('['), after('{')) {
        (Some(Some('{' | '"' | ']') | None), _) => Kind::Array,
        (_, Some(Some('"' | '}') | None)) => Kind::Objects,
        _ => Kind::Lines,
    }
}
