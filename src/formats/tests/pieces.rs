//! Files that arrive in chunks: detecting the format, where rows begin, and when to give up.

use super::{MAX_ROW_BYTES, Reader, ids_in, read};

#[test]
fn another_kind_of_file_is_told_so() {
    let nothing = vec![b' '; MAX_ROW_BYTES + 2];
    let utf_16: Vec<u8> = "user_group_id\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (text, reason) in [
        (&utf_16[..], "UTF-16 without a byte order mark"),
        (
            b"PK\x03\x04[Content_Types].xml",
            "a workbook: export it as CSV",
        ),
        (&nothing, "more than 8 MiB without content"),
    ] {
        let (rows, done) = read(text, 64 * 1024);
        assert_eq!(rows, []);
        let why = done.expect_err("refused");
        assert!(why.contains(reason), "{why}");
    }
}

/// What spreadsheets, shells and word processors write.
#[test]
fn a_table_is_read_by_what_its_header_shows() {
    let utf_16 = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16();
        units.flat_map(u16::to_le_bytes).collect()
    };
    let plain = b"user_group_id,name\na,x\nb,y\n".to_vec();
    for (text, remarks) in [
        (plain.clone(), None),
        ([b"\xef\xbb\xbf", &plain[..]].concat(), None),
        (utf_16("\u{feff}user_group_id\tname\r\na\tx\r\nb\ty\r\n"), Some("separated by a tab")),
        (b"user_group_id;name\r\na;x\r\nb;y\r\n".to_vec(), Some("separated by a semicolon")),
        (b"sep=;\r\nuser_group_id;name\r\na;x\r\nb;y".to_vec(), Some("semicolon")),
        (b"\"sep=|\"\nuser_group_id|name\na|x\nb|y".to_vec(), Some("vertical bar")),
        (b"#TYPE System.Object\n\"user_group_id\",\"name\"\n\"a\",\"x\"\n\"b\",\"y\"\n".to_vec(), Some("1 comment line skipped")),
        (b"# don't \"quote\n\nuser_group_id,name\ra,x\rb,y\r".to_vec(), Some("1 comment line skipped")),
        (b"user_group_id,name\ra,x\r\rb,y".to_vec(), None),
        (b"user_group_id,name,,\na,x,,\n,,,\nb,y,,\n,,,\n".to_vec(), Some("2 empty columns and 2 empty rows skipped")),
        (b"user_group_id,name\na,x,,\nb,y\n".to_vec(), None),
        (b"user_group_id, name\na, x\nb , y \n".to_vec(), None),
        // Several tables, one after the other.
        (b"user_group_id,name\na,x\nuser_group_id,name\nb,y\n".to_vec(), Some("1 repeated header skipped")),
        (
            b"\xef\xbb\xbfuser_group_id;name\r\na;x\r\n\xef\xbb\xbfuser_group_id; name\r\nb;y\r\n".to_vec(),
            Some("1 repeated header skipped"),
        ),
        (b"user_group_id, \"name\"\na, \"x\" \nb, \"y\"\n".to_vec(), None),
        (b"{\n \"user_group_id\": \"a\", \"name\": \"x\"\n}\n{\n \"user_group_id\": \"b\",\n \"name\": \"y\" }".to_vec(), None),
        (b"{\"user_group_id\":\"a\",\"name\":\"x\"}{\"user_group_id\":\"b\",\"name\":\"y\"}\n".to_vec(), None),
        (b"{\"user_group_id\":\"a\",\"name\":\"x\"}\r{\"user_group_id\":\"b\",\"name\":\"y\"}\r".to_vec(), None),
        (b"{\"user_group_id\": \"a\",\n  \"name\": \"x\"}\n{\"user_group_id\": \"b\",\n  \"name\": \"y\"}\n".to_vec(), None),
    ] {
        let shown = String::from_utf8_lossy(&text).into_owned();
        for piece in [1, 7, 4096] {
            let mut reader = Reader::default();
            let mut rows = Vec::new();
            for bytes in text.chunks(piece) {
                let pushed = reader.push(bytes, &mut |read| rows.push(read));
                assert_eq!(pushed, Ok(()), "{shown}");
            }
            let said = reader.end(&mut |read| rows.push(read)).expect(&shown);
            let found: Vec<_> = rows
                .iter()
                .map(|read| {
                    let row = read.row.as_ref().unwrap_or_else(|why| panic!("{shown}: {why}"));
                    (row.id.as_str(), row.fields.name.as_deref())
                })
                .collect();
            assert_eq!(found, [("a", Some("x")), ("b", Some("y"))], "{shown}");
            match (&said, remarks) {
                (None, None) => {}
                (Some(said), Some(words)) => assert!(said.contains(words), "{said}"),
                _ => panic!("{shown}: {said:?}, not {remarks:?}"),
            }
        }
    }
}

#[test]
fn what_is_wrong_with_a_whole_file_is_said_once() {
    let mut latin = b"user_group_id,name\n".to_vec();
    for number in 0..200 {
        latin.extend(format!("g{number},Zo").bytes());
        latin.extend(b"\xeb\n");
    }
    for (text, words) in [
        (
            &latin[..],
            "line 2, column 6: the byte 0xEB is not UTF-8 (\"ë\" in Windows-1252), and 199 more places",
        ),
        (b"", "did the command before it fail?"),
        (b"\xef\xbb\xbf\r\n", "did the command before it fail?"),
        (
            "user_group_id\u{200b},name\n".as_bytes(),
            "character 14 of its name: U+200B is a zero-width space: remove it",
        ),
        (
            "“user_group_id”,name\n".as_bytes(),
            "character 1 of its name: “ (U+201C) is a curly quote: use \"",
        ),
        (
            b"user_group_id,age,read,nmae\n",
            "the column \"age\" of a list cannot be imported",
        ),
        (
            b"user_group_id,age,read,nmae\n",
            "unknown column \"nmae\"; did you mean name?",
        ),
    ] {
        for piece in [1, 64, 4096] {
            let mut reader = Reader::default();
            let mut ended = Ok(());
            for bytes in text.chunks(piece) {
                ended = ended.and_then(|()| reader.push(bytes, &mut |_| {}));
            }
            let ended = ended.and_then(|()| reader.end(&mut |_| {}).map(drop));
            let why = ended.expect_err(words);
            assert!(why.contains(words), "{why}");
        }
    }
}

#[test]
fn a_value_without_a_column_is_named() {
    let text = b"user_group_id,,name\na,stray,x\n";
    let (rows, done) = read(text, 9);
    assert_eq!(done, Ok(()));
    let why = rows[0].row.as_ref().expect_err("refused");
    assert!(why.contains("cell 2 has a value"), "{why}");
}

#[test]
fn an_id_in_two_files_is_named_with_both() {
    let mut reader = Reader::default();
    let mut rows = Vec::new();
    for name in ["a.csv", "b.csv"] {
        reader.begin_file(name);
        reader
            .push(b"user_group_id\nacme\n", &mut |read| rows.push(read))
            .expect("a file");
        reader.end(&mut |read| rows.push(read)).expect("a file");
    }
    let why = rows[1].row.as_ref().expect_err("refused");
    assert_eq!(why, "the ID \"acme\" is already in a.csv, row 1, line 2");
}

#[test]
fn ids_are_found_in_whatever_other_programs_write() {
    for (text, expected) in [
        (
            "user_group_id;name;age\nacme;x;1\n\n00123;y;2\n",
            Some(vec![(2, "acme"), (4, "00123")]),
        ),
        (
            "id,prop:tier\r\nacme,gold\r\n00123,\r\n",
            Some(vec![(2, "acme"), (3, "00123")]),
        ),
        (
            "[{\"user_group_id\":\"acme\",\"token_age\":1},{\"user_group_id\":\"00123\"}]",
            Some(vec![(1, "acme"), (2, "00123")]),
        ),
        (
            "[\"acme\",\n\"00123\"]",
            Some(vec![(1, "acme"), (2, "00123")]),
        ),
        (
            "{\"user_group_id\":\"acme\"}\n{\"user_group_id\":\"00123\"}\n",
            Some(vec![(1, "acme"), (2, "00123")]),
        ),
        ("acme\n00123\n", None),
        ("id\nacme\n", None),
        ("acme, inc\n", None),
    ] {
        let found = ids_in(text).expect(text);
        let found: Option<Vec<_>> = found
            .as_ref()
            .map(|ids| ids.iter().map(|(line, id)| (*line, id.as_str())).collect());
        assert_eq!(found, expected, "{text}");
    }
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
    let whole = "{  \n \"user_group_id\": \"a\"\n}\n";
    let marked = format!("\u{feff}{}", line("a"));
    for (text, count) in [(&lines[..], 2), (whole, 1), (&line("a"), 1), (&marked, 1)] {
        for piece in [1, 2, 3, 1000] {
            let (rows, done) = read(text.as_bytes(), piece);
            assert_eq!((rows.len(), done), (count, Ok(())), "{text}");
            assert!(rows.iter().all(|read| read.row.is_ok()), "{rows:?}");
        }
    }
    let (_, done) = read(b"x", 1);
    assert!(done.is_err(), "one letter is no file of groups");
}

/// Nothing is buffered without limit while waiting for an end.
#[test]
fn a_row_without_an_end_is_given_up_on_the_way() {
    let filler = vec![b'x'; 60_000];
    for start in [
        "user_group_id,name\na,\"",
        "[{\"user_group_id\":\"",
        "{\"user_group_id\":\"",
    ] {
        let mut reader = Reader::default();
        let mut push = |piece: &[u8]| reader.push(piece, &mut |_| {});
        push(start.as_bytes()).expect("a beginning");
        let refused = (0..=MAX_ROW_BYTES / filler.len() + 1).find_map(|_| push(&filler).err());
        let why = refused.expect("it is given up");
        assert!(why.contains("longer than 8 MiB"), "{start}: {why}");
    }
    let mut reader = Reader::default();
    let blank = vec![b' '; 60_000];
    let mut pieces = 0..=MAX_ROW_BYTES / blank.len() + 1;
    let refused = pieces.find_map(|_| reader.push(&blank, &mut |_| {}).err());
    let why = refused.expect("it is given up");
    assert!(why.contains("8 MiB without content"), "{why}");
}

#[test]
fn two_numbers_with_a_gap_are_not_one() {
    let text = r#"[{"user_group_id":"a","properties":{"seats":1 2}}]"#;
    let (rows, _) = read(text.as_bytes(), 9);
    assert!(rows[0].row.is_err(), "{rows:?}");
}

#[test]
fn json_that_breaks_is_told_at_its_line_of_the_file() {
    let line_of = |text: &str| {
        let (rows, _) = read(text.as_bytes(), 9);
        let wrong = rows.into_iter().find(|read| read.row.is_err());
        let wrong = wrong.expect("a mistake");
        (wrong.line, wrong.row.expect_err("wrong"))
    };
    let first = "{\n \"user_group_id\": \"a\"\n}\n";
    let (line, why) = line_of(&format!("{first}{{\n \"user_group_id\": \"b\",\n}}\n"));
    assert_eq!(line, 6);
    assert!(why.starts_with("column 1: not JSON"), "{why}");
    let (_, why) = line_of("[{\"user_group_id\":\"a\"},\n]\n");
    assert!(why.contains("remove a comma"), "{why}");
}
