//! Files that arrive in chunks: detecting the format, where rows begin, and when to give up.

use super::{MAX_ROW_BYTES, Reader, read};

#[test]
fn another_kind_of_file_is_told_so() {
    let nothing = vec![b' '; MAX_ROW_BYTES + 2];
    let utf_16: Vec<u8> = "user_group_id\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (text, reason) in [
        (&b"user_group_id;name\na;b\n"[..], "separated by commas"),
        (b"user_group_id\tname\na\tb\n", "separated by commas"),
        (&[b"\xff\xfe", &utf_16[..]].concat(), "not UTF-8"),
        (&nothing, "more than 8 MiB of nothing"),
    ] {
        let (rows, done) = read(text, 64 * 1024);
        assert_eq!(rows, []);
        let why = done.expect_err("refused");
        assert!(why.contains(reason), "{why}");
    }
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

/// Nothing is buffered for ever while waiting for an end.
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
    assert!(why.contains("8 MiB of nothing"), "{why}");
}

#[test]
fn two_numbers_with_a_gap_are_not_one() {
    let text = r#"[{"user_group_id":"a","properties":{"seats":1 2}}]"#;
    let (rows, _) = read(text.as_bytes(), 9);
    assert!(rows[0].row.is_err(), "{rows:?}");
}
