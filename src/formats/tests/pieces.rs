//! Files that arrive in chunks: detecting the format, where rows begin, and when to give up.

use std::path::Path;

use super::{
    MAX_ROW_BYTES, Reader, begins_as_json, ids_below, ids_in, is_json, read, read_all, read_on,
    table,
};

#[test]
fn a_table_is_read_by_what_its_header_shows() {
    let tabs = "\u{feff}user_group_id\tname\r\na\tx\r\nb\ty\r\n".encode_utf16();
    let tabs = tabs.flat_map(u16::to_le_bytes).collect();
    let tabs = (tabs, "separated by a tab");
    #[rustfmt::skip] // A table: one file per line.
    let texts = [
        ("user_group_id,name\na,x\nb,y\n", ""),
        ("\u{feff}user_group_id,name\na,x\nb,y\n", ""),
        ("user_group_id;name\r\na;x\r\nb;y\r\n", "separated by a semicolon"),
        ("sep=;\r\nuser_group_id;name\r\na;x\r\nb;y", "semicolon"),
        ("\"sep=|\"\nuser_group_id|name\na|x\nb|y", "vertical bar"),
        ("#TYPE System.Object\n\"user_group_id\",\"name\"\n\"a\",\"x\"\n\"b\",\"y\"\n", "1 comment line skipped"),
        ("# don't \"quote\n\nuser_group_id,name\ra,x\rb,y\r", "1 comment line skipped"),
        ("user_group_id,name\ra,x\r\rb,y", ""),
        ("user_group_id,name,,\na,x,,\n,,,\nb,y,,\n,,,\n", "2 empty columns and 2 empty rows skipped"),
        ("name,user_group_id\n\"x\",a\n\"y\",\"b\"\n", ""),
        (" [ {\"user_group_id\":\"a\",\"name\":\"x\"}, {\"user_group_id\":\n\"b\", \"name\":\"y\", \"properties\":{\"a\":[{}]}} ] \n", ""),
        ("user_group_id,name\na,x,,\nb,y\n", ""),
        ("user_group_id, name\na, x\nb , y \n", ""),
        // Several tables, one after the other.
        ("user_group_id,name\na,x\nuser_group_id,name\nb,y\n", "1 repeated header skipped"),
        ("\u{feff}user_group_id;name\r\na;x\r\n\u{feff}user_group_id; name\r\nb;y\r\n", "1 repeated header skipped"),
        ("user_group_id, \"name\"\na, \"x\" \nb, \"y\"\n", ""),
        ("{\n \"user_group_id\": \"a\", \"name\": \"x\"\n}\n{\n \"user_group_id\": \"b\",\n \"name\": \"y\" }", ""),
        ("{\"user_group_id\":\"a\",\"name\":\"x\"}{\"user_group_id\":\"b\",\"name\":\"y\"}\n", ""),
        ("{\"user_group_id\":\"a\",\"name\":\"x\"}\r{\"user_group_id\":\"b\",\"name\":\"y\"}\r", ""),
        ("{\"user_group_id\": \"a\",\n  \"name\": \"x\"}\n{\"user_group_id\": \"b\",\n  \"name\": \"y\"}\n", ""),
    ];
    let texts = texts.map(|(text, remark)| (text.as_bytes().to_vec(), remark));
    for (text, remark) in texts.into_iter().chain([tabs]) {
        let shown = String::from_utf8_lossy(&text).into_owned();
        for piece in [1, 7, 4096] {
            let (rows, said) = read_all(&text, piece);
            let said = said.expect(&shown);
            let rows = rows.iter().map(|read| read.row.as_ref().expect(&shown));
            let found: Vec<_> = rows
                .map(|row| (row.id.as_str(), row.fields.name.as_deref()))
                .collect();
            assert_eq!(found, [("a", Some("x")), ("b", Some("y"))], "{shown}");
            assert_eq!(said.is_none(), remark.is_empty(), "{shown}: {said:?}");
            assert!(said.unwrap_or_default().contains(remark), "{shown}");
        }
    }
}

/// A comment on top of JSON would be the columns of a table.
#[test]
fn what_is_json_by_its_name_is_no_table() {
    for name in ["a.json", "b/c.JSONL", "d.ndjson"] {
        assert!(is_json(Path::new(name)), "{name}");
    }
    for name in ["-", "a.csv", "json", "a.json.bak"] {
        assert!(!is_json(Path::new(name)), "{name}");
    }
    let group = "{\"user_group_id\": \"acme\"}\n";
    for (before, line) in [("// x\n", 1), ("\n\r\n\r# x\n", 4), ("\"a\": 1", 1)] {
        let text = format!("{before}{group}");
        let expected = format!("line {line}: not JSON: ");
        for piece in [1, 4096] {
            let mut reader = Reader::default();
            reader.expect_json();
            // The beginning of a short file is held back until its encoding is known.
            let (_, read) = read_on(&mut reader, text.as_bytes(), piece);
            let why = read.expect_err(before);
            assert!(why.starts_with(&expected), "{before}: {why}");
        }
        let why = begins_as_json(&text).expect_err(before);
        assert!(why.starts_with(&expected), "{before}: {why}");
    }
    for text in [format!(" \n{group}"), "\"a\"\n\"b\"\n7\n".into()] {
        assert_eq!(begins_as_json(&text), Ok(()));
    }
    // The next file may be a table again.
    let mut reader = Reader::default();
    reader.expect_json();
    for text in [group, "user_group_id\nbeta\n"] {
        let (rows, done) = read_on(&mut reader, text.as_bytes(), 99);
        assert!(done.is_ok() && rows.len() == 1 && rows[0].row.is_ok());
    }
}

#[test]
fn an_id_in_two_files_is_named_with_both() {
    let mut reader = Reader::default();
    let [_, rows] = ["a.csv", "b.csv"].map(|name| {
        reader.begin_file(name);
        let (rows, done) = read_on(&mut reader, b"user_group_id\nacme\n", 99);
        done.expect("a file");
        rows
    });
    let why = rows[0].row.as_ref().expect_err("refused");
    assert_eq!(why, "the ID \"acme\" is already in a.csv, row 1, line 2");
}

/// A token may have any shape, and no directory is open that could tell.
#[test]
fn an_id_that_may_be_a_token_is_not_repeated() {
    for id in [
        "correct-horse-battery",
        "Tok/en+4e8A==.Zq_7~Kx!",
        "e4eaaaf2-d142-11e1",
    ] {
        let text = format!("{id}\n").repeat(2);
        let text = format!("user_group_id\n{text}");
        let (rows, done) = read(text.as_bytes(), 4096);
        assert_eq!(done, Ok(()));
        let why = rows[1].row.as_ref().expect_err("refused");
        assert_eq!(why, "the ID \"…\" is already in row 1");
    }
}

/// The text, and the lines of `acme` and `00123`.
#[test]
fn ids_are_found_in_whatever_other_programs_write() {
    for [text, first, second] in table(
        r#"
        user_group_id;name;age⏎acme;x;1⏎⏎00123;y;2⏎            | 2 | 4
        id,prop:tier⏎acme,gold⏎00123,⏎                         | 2 | 3
        ID;Name⏎acme;x⏎00123;⏎                                 | 2 | 3
        User_Group_ID,Name⏎acme,x⏎00123,⏎                      | 2 | 3
        USER_GROUP_ID⏎acme⏎00123⏎                              | 2 | 3
        id,user_group_id⏎17,acme⏎18,00123⏎                     | 2 | 3
        [{"user_group_id":"acme","token_age":1},{"user_group_id":"00123"}] | 1 | 2
        ["acme",⏎"00123"]                                      | 1 | 2
        {"user_group_id":"acme"}⏎{"user_group_id":"00123"}⏎    | 1 | 2
        "#,
    ) {
        let (found, _) = ids_in(&text).expect("readable").expect(&text);
        let found = found
            .iter()
            .map(|(line, id)| (line.to_string(), id.as_str()));
        assert!(found.eq([(first, "acme"), (second, "00123")]), "{text}");
    }
    for text in ["acme\n00123\n", "id\nacme\n", "acme, inc\n"] {
        assert_eq!(ids_in(text), Ok(None), "{text}");
    }
    // Whether "id" is a group, only the directory can tell.
    let below = ids_below("ID\n\"a \"\"b\"\"\"\n00123\n");
    let found = |line: usize, id: &str| (line, id.to_owned());
    assert_eq!(below, Some(vec![found(2, "a \"b\""), found(3, "00123")]));
    assert!(ids_in("[{\"user_group_id\":7}]").is_err());
    assert!(ids_in("{\"user_group_id\":").is_err());
}

/// In an editor, a person looks for the line where the row begins.
#[test]
fn a_row_is_named_by_the_line_where_it_begins() {
    let row = |id: &str| format!("{{\n \"user_group_id\":\n \"{id}\"\n}}");
    let array = format!("[\n{},\n\n{}\n]\n", row("a"), row("b"));
    for (text, lines) in [
        ("user_group_id,name\na,\"x\n\ny\"\nb,z\n", [2, 5]),
        (&array, [2, 7]),
        (
            "\n{\"user_group_id\":\"a\"}\n\n{\"user_group_id\":\"b\"}",
            [2, 4],
        ),
    ] {
        for piece in [1, 7, 1000] {
            let (rows, done) = read(text.as_bytes(), piece);
            assert_eq!(done, Ok(()));
            let found: Vec<_> = rows.iter().map(|read| read.line).collect();
            assert_eq!(found, lines, "{text}");
        }
    }
}

#[test]
fn what_kind_of_json_it_is_shows_with_its_first_line() {
    let line = |id: &str| format!("{{  \"user_group_id\": \"{id}\"}}");
    let lines = format!("{}\n{}", line("a"), line("b"));
    let whole = "{  \n \"user_group_id\": \"a\",\n \"name\": \"x\"\n}\n";
    let marked = format!("\u{feff}{}", line("a"));
    for (text, count) in [(&lines[..], 2), (whole, 1), (&line("a"), 1), (&marked, 1)] {
        for piece in [1, 2, 3, 1000] {
            let (rows, done) = read(text.as_bytes(), piece);
            assert_eq!((rows.len(), done), (count, Ok(())), "{text}");
            assert!(rows.iter().all(|read| read.row.is_ok()), "{rows:?}");
        }
    }
}

#[test]
fn a_row_without_an_end_is_given_up_on_the_way() {
    for (start, filler, words) in [
        ("user_group_id,name\na,\"", "x", "longer than 8 MiB"),
        ("[{\"user_group_id\":\"", "x", "longer than 8 MiB"),
        ("{\"user_group_id\":\"", "x", "longer than 8 MiB"),
        ("", " ", "8 MiB without content"),
    ] {
        let filler = filler.repeat(1_000_000);
        let mut reader = Reader::default();
        let mut push = |piece: &str| reader.push(piece.as_bytes(), &mut |_| {});
        push(start).expect("a beginning");
        let refused = (0..=MAX_ROW_BYTES / filler.len() + 1).find_map(|_| push(&filler).err());
        let why = refused.expect("it is given up");
        assert!(why.contains(words), "{start}: {why}");
    }
}
