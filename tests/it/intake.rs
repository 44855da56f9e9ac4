//! The corpus of files from elsewhere: the same groups as spreadsheets, shells, editors and other programs write them
//! are the same rows; what is none of ours is refused once, with its kind or its first place.

use groupdesk::formats::{Reader, RowResult};

/// A way to write text as bytes.
type Encode = fn(&str) -> Vec<u8>;

type Whole = (Vec<RowResult>, [u8; 32], Option<String>);

/// The rows of a file, its digest, and what was read differently.
fn read(file: &[u8]) -> Result<Whole, String> {
    let mut reader = Reader::default();
    let mut rows = Vec::new();
    for piece in file.chunks(911) {
        reader.push(piece, &mut |row| rows.push(row))?;
    }
    let remarks = reader.end(&mut |row| rows.push(row))?;
    Ok((rows, reader.digest(), remarks))
}

fn utf16(text: &str, is_big: bool) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    let bytes = units.map(|unit| {
        if is_big {
            unit.to_be_bytes()
        } else {
            unit.to_le_bytes()
        }
    });
    bytes.flatten().collect()
}

const ENCODINGS: [(&str, Encode); 4] = [
    ("UTF-8", |text| text.as_bytes().to_vec()),
    ("UTF-8 with a mark", |text| {
        format!("\u{feff}{text}").into_bytes()
    }),
    ("UTF-16, little end first", |text| utf16(text, false)),
    ("UTF-16, big end first", |text| utf16(text, true)),
];

const LINE_ENDS: [&str; 3] = ["\n", "\r\n", "\r"];

/// The same two groups. `N` stands for a line end.
#[rustfmt::skip] // A table: one shape per line.
const SHAPES: [(&str, &str); 17] = [
    ("commas", "user_group_id,nameNacme,ZoëN00123,\"x, y\"N"),
    ("no line end at the end", "user_group_id,nameNacme,ZoëN00123,\"x, y\""),
    ("semicolons", "user_group_id;nameNacme;ZoëN00123;x, yN"),
    ("tabs", "user_group_id\tnameNacme\tZoëN00123\tx, yN"),
    ("a separator that is named", "sep=;Nuser_group_id;nameNacme;ZoëN00123;x, yN"),
    ("every cell quoted", "\"user_group_id\",\"name\"N\"acme\",\"Zoë\"N\"00123\",\"x, y\"N"),
    ("as PowerShell writes it", "#TYPE System.Management.Automation.PSCustomObjectN\"user_group_id\",\"name\"N\"acme\",\"Zoë\"N\"00123\",\"x, y\"N"),
    ("a comment first", "# exported by hand, don't editNNuser_group_id,nameNacme,ZoëN00123,\"x, y\"N"),
    ("empty columns and rows", "user_group_id,name,,Nacme,Zoë,,N,,,N00123,\"x, y\",,N,,,N"),
    ("more empty cells than columns", "user_group_id,nameNacme,Zoë,,N00123,\"x, y\",N"),
    ("blanks after separators", "user_group_id, nameNacme, ZoëN00123, \"x, y\"N"),
    ("JSON lines", "{\"user_group_id\":\"acme\",\"name\":\"Zoë\"}N{\"user_group_id\":\"00123\",\"name\":\"x, y\"}N"),
    ("JSON lines with blank lines", "N{\"user_group_id\":\"acme\",\"name\":\"Zoë\"}NN{\"user_group_id\":\"00123\",\"name\":\"x, y\"}"),
    ("a JSON array", "[N  {\"user_group_id\":\"acme\",\"name\":\"Zoë\"},N  {\"user_group_id\":\"00123\",\"name\":\"x, y\"}N]N"),
    ("as jq prints it", "{N  \"user_group_id\": \"acme\",N  \"name\": \"Zoë\"N}N{N  \"user_group_id\": \"00123\",N  \"name\": \"x, y\"N}N"),
    ("JSON without line ends", "{\"user_group_id\":\"acme\",\"name\":\"Zoë\"}{\"user_group_id\":\"00123\",\"name\":\"x, y\"}"),
    ("null for what is not given", "[{\"user_group_id\":\"acme\",\"name\":\"Zoë\",\"mapping\":null},{\"user_group_id\":\"00123\",\"name\":\"x, y\"}]"),
];

#[test]
fn the_same_groups_are_the_same_rows_in_every_encoding_shape_and_line_end() {
    let (_, expected, _) =
        read(b"user_group_id,name\nacme,Zo\xc3\xab\n00123,\"x, y\"\n").expect("plain");
    let mut files = 0;
    for (shape, text) in SHAPES {
        for end in LINE_ENDS {
            // "N" is no letter of these texts, except where it stands for a line end.
            let text = text.replace('N', end);
            for (encoding, encode) in ENCODINGS {
                let name = format!("{shape}, {encoding}, {end:?}");
                let (rows, digest, _) =
                    read(&encode(&text)).unwrap_or_else(|why| panic!("{name}: {why}"));
                for row in &rows {
                    assert!(row.row.is_ok(), "{name}: {row:?}");
                }
                assert_eq!((rows.len(), digest), (2, expected), "{name}");
                files += 1;
            }
        }
    }
    assert!(files >= 200, "{files}");
}

/// Files that are refused as a whole, each with what is said.
#[rustfmt::skip] // A table: one file per line.
const REFUSED: [(&[u8], &str); 31] = [
    (b"", "it is empty (did the command before it fail?)"),
    (b"\n\r\n \t", "it is empty"),
    (b"\xef\xbb\xbf", "it is empty"),
    (b"\xff\xfe", "it is empty"),
    (b"PK\x03\x04\x14\0\x06\0[Content_Types].xml \xa2", "a workbook: export it as CSV"),
    (b"PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "a workbook"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0", "a workbook"),
    (b"PK\x03\x04\x14\0\0\0groups.csv", "an archive (zip): unpack it first"),
    (b"\x1f\x8b\x08\0\0\0", "compressed (gzip)"),
    (b"BZh91AY&SY", "compressed (bzip2)"),
    (b"\xfd7zXZ\0\0", "compressed (xz)"),
    (b"\x28\xb5\x2f\xfd\x04", "compressed (zstd)"),
    (b"7z\xbc\xaf\x27\x1c\0", "an archive (7z)"),
    (b"%PDF-1.7\n", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n\0", "a picture"),
    (b"PAR1\x15\x04", "a Parquet file"),
    (b"SQLite format 3\0\x10", "an SQLite database"),
    (b"{\\rtf1\\ansi", "a formatted text (RTF)"),
    (b"<!DOCTYPE html><html><head><title>Sign in", "a web page (HTML): was it a sign-in page?"),
    (b"\r\n<html>", "a web page"),
    (b"<?xml version=\"1.0\"?><Workbook>", "XML"),
    (b"---\nuser_group_id: acme\n", "YAML"),
    (b"- user_group_id: acme\n", "YAML"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    (b"u\0s\0e\0r\0_\0i\0d\0", "UTF-16 without a byte order mark"),
    (b"\0u\0s\0e\0r\0_\0i\0d", "UTF-16 without a byte order mark"),
    (b"\xff\xfe\0\0u\0\0\0", "UTF-32"),
    (b"user_group_id,name\nacme,Zo\xeb\nb,\xe9\n", "line 2, column 8: the byte 0xEB is not UTF-8 (\"\u{eb}\" in Windows-1252), and 1 more place; save the file as UTF-8"),
    (b"\xff\xfeu\0\x3d\xd8x\0", "line 1, column 2: 0xD83D is not valid UTF-16"),
    (b"user_group_id,nmae,age\n", "the column \"age\" of a list cannot be imported; remove it, or write the file with groupdesk export; unknown column \"nmae\"; did you mean name?"),
    (b"acme\nglobex\n", "the first line must contain the column names"),
];

#[test]
fn what_is_none_of_ours_is_refused_once_with_what_it_is() {
    for (file, words) in REFUSED {
        let name = String::from_utf8_lossy(file).into_owned();
        let why = read(file).map(|(rows, ..)| rows).expect_err(&name);
        assert!(why.contains(words), "{name}: {why}");
    }
}

#[test]
fn columns_of_a_list_change_single_rows_and_keys() {
    let (rows, ..) = read(b"id,prop:tier,map:40,prop:seats\nacme,gold,213,\n").expect("read");
    let row = rows[0].row.as_ref().expect("a good row");
    assert_eq!(row.parts.map, [("40".to_owned(), "213".to_owned())]);
    assert_eq!(
        row.parts.properties,
        [("tier".to_owned(), "gold".to_owned())]
    );
    assert!(row.fields.mapping.is_none() && row.fields.properties.is_none());
    for (file, words) in [
        (
            &b"user_group_id,map:40,map:40\n"[..],
            "the column map:40 appears twice",
        ),
        (b"user_group_id,map:40,mapping\n", "cannot be combined"),
        (b"user_group_id,map:\n", "unknown column \"map:\""),
    ] {
        let why = read(file).map(|(rows, ..)| rows).expect_err(words);
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn a_plain_file_has_no_remarks_and_another_says_what_was_left_out() {
    let remarks = |file: &[u8]| read(file).expect("read").2;
    assert_eq!(remarks(b"user_group_id,name\r\na,\r\n"), None);
    assert_eq!(
        remarks(b"# x\nuser_group_id;name;\na;;\n;;\n").as_deref(),
        Some(
            "the cells are separated by a semicolon; 1 comment line and 1 empty column and 1 empty row skipped"
        )
    );
}
