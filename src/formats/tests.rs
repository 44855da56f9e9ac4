//! What was written reads back the same, and mistakes are reported with their row.

mod pieces;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::domain::{
    annotation::{AnnotationChange, Label},
    change::DesiredFields,
    group::UserGroupId,
    known::KnownGroup,
    testing::{group, id, only_name, table, told},
};

/// The rows of a text that arrives in chunks of this size; and what was read differently from a plain file.
fn read_all(text: &[u8], piece: usize) -> (Vec<RowResult>, Result<Option<String>, String>) {
    read_on(&mut Reader::default(), text, piece)
}

/// As [`read_all`], after what the reader has read before.
fn read_on(
    reader: &mut Reader,
    text: &[u8],
    piece: usize,
) -> (Vec<RowResult>, Result<Option<String>, String>) {
    let mut rows = Vec::new();
    let mut out = |read| rows.push(read);
    let mut done = Ok(());
    for piece in text.chunks(piece.max(1)) {
        done = done.and_then(|()| reader.push(piece, &mut out));
    }
    let done = done.and_then(|()| reader.end(&mut out));
    (rows, done)
}

fn read(text: &[u8], piece: usize) -> (Vec<RowResult>, Result<(), String>) {
    let (rows, done) = read_all(text, piece);
    (rows, done.map(drop))
}

fn written(format: Format, rows: &[GroupRow]) -> String {
    let columns = Columns::all();
    let mut text = format.head(&columns);
    for (index, row) in rows.iter().enumerate() {
        text.push_str(&format.row(row, &columns, index == 0));
    }
    text + format.foot()
}

fn annotation() -> impl Strategy<Value = AnnotationChange> {
    let note = "([a-c\"',#\u{e9}]([a-c \"',#]{0,4}[a-c])?)?";
    let labels = prop::collection::btree_set("[a-c:/.]{1,3}", 0..3);
    let labels = labels.prop_map(|labels| {
        let labels = labels.iter().map(|label| Label::parse(label));
        labels.collect::<Result<_, _>>().expect("labels")
    });
    let all = (
        prop::option::of(note),
        prop::option::of(labels),
        prop::option::of(any::<bool>()),
    );
    all.prop_map(|(note, labels, favourite)| AnnotationChange {
        note,
        labels,
        favourite,
        ..AnnotationChange::default()
    })
}

fn row() -> impl Strategy<Value = GroupRow> {
    let text = || "[a-c \"',;\\\\\\r\\n\u{e9}\u{202e}{}\\[\\]]{0,6}";
    let mapping = prop::collection::vec((text(), text()), 0..4);
    let property = prop_oneof![
        text().prop_map(serde_json::Value::String),
        Just(serde_json::json!({"x": [1, null, true]})),
        Just(serde_json::from_str("123456789012345678901234567890").expect("a number")),
    ];
    let properties = prop::collection::vec((text(), property), 0..4);
    (
        prop::option::of(text()),
        prop::option::of(mapping),
        prop::option::of(properties),
        annotation(),
        text(),
    )
        .prop_map(|(name, mapping, properties, annotation, id)| GroupRow {
            annotation,
            parts: Parts::default(),
            id: UserGroupId::parse(format!("{id}.")).expect("a valid id"),
            fields: DesiredFields {
                name,
                mapping: mapping.map(|rows| rows.into_iter().collect()),
                properties: properties.map(|rows| rows.into_iter().collect()),
            },
        })
}

proptest! {
    #[test]
    fn export_import_export_is_byte_identical(rows in prop::collection::vec(row(), 1..6), piece in 1_usize..40) {
        let mut rows = rows;
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        rows.dedup_by(|a, b| a.id == b.id);
        for format in [Format::JsonLines, Format::Json, Format::Csv] {
            let text = written(format, &rows);
            let (found, done) = read(text.as_bytes(), piece);
            prop_assert_eq!(done, Ok(()), "{}", text);
            let imported: Vec<GroupRow> = found
                .into_iter()
                .map(|read| {
                    let row = read.row.expect("a good row");
                    let mut group = KnownGroup::new(row.id.clone());
                    group.import(&row.fields, Timestamp::UNIX_EPOCH, "ana");
                    GroupRow {
                        annotation: row.annotation,
                        ..GroupRow::of(group, None)
                    }
                })
                .collect();
            prop_assert_eq!(&imported, &rows);
            prop_assert_eq!(written(format, &imported), text);
        }
    }
}

#[test]
fn a_quoted_empty_cell_is_an_empty_text() {
    let (rows, _) = read(b"user_group_id,name\na,\nb,\"\"\n", 99);
    let names = rows
        .iter()
        .map(|read| read.row.as_ref().expect("good").fields.name.as_deref());
    assert_eq!(names.collect::<Vec<_>>(), [None, Some("")]);
}

/// The text, the number of the bad row, its line, and the reason.
#[test]
fn every_bad_row_is_named_with_its_number_and_reason() {
    for [text, number, line, reason] in table(
        r#"
        HEAD⏎acme,,,⏎,x,,⏎                             | 2 | 3 | the user group ID is empty
        HEAD⏎LONG,,,⏎                                  | 1 | 2 | 256 characters
        HEAD⏎a␀b,,,⏎                                   | 1 | 2 | NUL
        HEAD⏎acme,"x⏎y",,⏎acme,,,⏎                     | 2 | 4 | is already in row 1
        HEAD⏎acme,x⏎                                   | 1 | 2 | 2 cells, but the first line names 4
        HEAD⏎acme,,"{""40"":213}",⏎                    | 1 | 2 | mapping: line 1
        HEAD⏎acme,,,[1]⏎                               | 1 | 2 | properties:
        HEAD⏎acme,"x"y,,⏎                              | 1 | 2 | text after a closing quote
        HEAD⏎acme,x"y",,⏎                              | 1 | 2 | double the quotes
        HEAD⏎acme,"x,,⏎                                | 1 | 2 | not closed
        {ID:"a"}⏎{"nam":"x"}⏎                          | 2 | 2 | did you mean name?
        {"name":"x"}⏎                                  | 1 | 1 | user_group_id is missing
        user_group_id,note⏎a,"x⏎y"⏎                    | 1 | 2 | note: invalid note: expected one line
        user_group_id,note⏎a,LONGLONG⏎                 | 1 | 2 | note: invalid note: expected at most 500
        user_group_id,labels⏎a,vip⏎b,a!b⏎              | 2 | 3 | labels: a label has letters
        user_group_id,favourite⏎a,yes⏎                 | 1 | 2 | favourite: write true or false
        {ID:"a","note":7}⏎                             | 1 | 1 | note: it must be a string
        {ID:"a","labels":"vip"}⏎                       | 1 | 1 | labels: it must be an array
        {ID:"a","note":"x\u0000"}⏎                     | 1 | 1 | note: it contains a NUL
        {ID:"a","favourite":1}⏎                        | 1 | 1 | favourite: it must be true or false
        {ID:7}⏎                                        | 1 | 1 | must be a string
        {ID:"a","id":"b"}⏎                             | 1 | 1 | id and user_group_id cannot be combined
        {ID:"a","map:40":"7"}⏎                         | 1 | 1 | unknown column "map:40"; expected one of user_group_id (or id), name, mapping, properties, note, labels, favourite$
        {ID:"a","team_id":1,"x":2,"y":3}               | 1 | 1 | the column "team_id" of a list cannot be imported; remove it, or write the file with groupdesk export; unknown column "x"; unknown column "y"; expected
        {ID:"a",ID:"b"}                                | 1 | 1 | appears twice
        {ID:"a"⏎{ID:"b"}⏎                              | 1 | 1 | ends too early
        [⏎{ID:"a"},⏎{ID:"a"}⏎]                         | 2 | 3 | already in row 1
        [{ID:"a"},]                                    | 2 | 1 | remove a comma
        ["acme"]                                       | 1 | 1 | a group must be an object
        {ID:"a","mapping":{"40":213}}                  | 1 | 1 | object of strings
        {ID:"a","token":"canary"}                      | 1 | 1 | a token does not belong
        [{ID:"a","properties":{"seats":1 2}}]          | 1 | 1 |
        {⏎ ID: "a"⏎}⏎{⏎ ID: "b",⏎}⏎                    | 2 | 6 | column 1: not JSON
        user_group_id,,name⏎a,stray,x⏎                 | 1 | 2 | cell 2 has a value
        {ID:"a\u0000b"}                                | 1 | 1 | a NUL character
        {ID:"a","name":"\u0000"}                       | 1 | 1 | name: it contains a NUL
        {ID:"a","mapping":{"4\u0000":"1"}}             | 1 | 1 | mapping: it contains a NUL
        {ID:"a","properties":{"x":[{"y":"\u0000"}]}}   | 1 | 1 | properties: it contains a NUL
        {ID:"\ud800"}                                  | 1 | 1 | not JSON
        {ID:"a","properties":{"x":{"k":1,"k":2}}}      | 1 | 1 | a key appears twice
        {ID:"LONG"}                                    | 1 | 1 | 256 characters
        user_group_id,name⏎a,␀⏎                        | 1 | 2 | name: it contains a NUL
        user_group_id,properties⏎a,"{""x"":""\ud800""}"⏎ | 1 | 2 | properties:
        "#,
    ) {
        let text = text
            .replace("HEAD", "user_group_id,name,mapping,properties")
            .replace("LONG", &"x".repeat(256))
            .replace("ID:", "\"user_group_id\":")
            .replace('␀', "\0");
        for piece in [1, 5, 4096] {
            let (rows, _) = read(text.as_bytes(), piece);
            let bad = rows.iter().filter_map(|read| {
                let why = read.row.as_ref().err()?;
                Some((read.number.to_string(), read.line.to_string(), why))
            });
            let [(at, on, why)] = &bad.collect::<Vec<_>>()[..] else {
                panic!("{text:?}: {rows:?}");
            };
            assert_eq!((at, on), (&number, &line), "{text:?}: {why}");
            // `$`: that is its end.
            assert!(format!("{why}$").contains(&reason), "{text:?}: {why}");
            assert!(!why.contains("canary"), "{why}");
        }
    }
}

/// People and spreadsheets write them in capitals; other programs call the ID `id`.
#[test]
fn columns_and_truth_are_read_in_any_case() {
    for text in [
        "ID;Name;MAP:40;Favourite\na;A;1;TRUE\n",
        "USER_GROUP_ID,name,map:40,FAVOURITE\na,A,1,True\n",
    ] {
        let (rows, done) = read(text.as_bytes(), 5);
        assert_eq!((rows.len(), done), (1, Ok(())), "{rows:?}");
        let row = rows[0].row.as_ref().expect("good");
        assert_eq!(row.id, id("a"));
        assert_eq!(row.fields, only_name("A"));
        assert_eq!(row.parts.map, [("40".to_owned(), "1".to_owned())]);
        assert_eq!(row.annotation.favourite, Some(true));
    }
    let (rows, _) = read(b"{\"id\":\"a\"}\n", 5);
    assert_eq!(rows[0].row.as_ref().map(|row| &row.id), Ok(&id("a")));
    let (_, done) = read(b"user_group_id,seats\n", 5);
    let why = done.expect_err("refused");
    assert!(why.ends_with("favourite, map:SCHEMA, prop:KEY"), "{why}");
}

#[test]
fn a_file_that_is_wrong_as_a_whole_is_refused_once() {
    for [text, reason] in table(
        "
        acme⏎globex⏎                 | the first line must contain the column names
        user_group_id,nmae⏎          | did you mean name?
        user_group_id,token⏎         | a token does not belong
        user_group_id,name,name⏎     | appears twice
        name⏎                        | the first line must contain the column names
        [{\"user_group_id\":\"a\"}   | not closed
        [] {}                        | text after the end
        canary-0123456789abcdef⏎     | unknown column;
        x                            | the first line must contain the column names
        user_group_id\u{200b},name⏎  | character 14 of its name: U+200B is a zero-width space: remove it
        “user_group_id”,name⏎        | character 1 of its name: “ (U+201C) is a curly quote: use \"
        user_group_id,age,read,nmae⏎ | the columns \"age\", \"read\" of a list cannot be imported
        user_group_id,age,read,nmae⏎ | unknown column \"nmae\"; did you mean name?
        ",
    ) {
        for piece in [1, 64, 4096] {
            let (rows, done) = read(text.as_bytes(), piece);
            assert!(rows.iter().all(|read| read.row.is_err()), "{rows:?}");
            let why = done.expect_err(&reason);
            assert!(why.contains(&reason), "{why}, not {reason}");
            assert!(!why.contains("canary"), "{why}");
        }
    }
}

#[test]
fn the_digest_is_of_the_rows_not_of_their_spelling() {
    let digest = |text: &str| {
        let mut reader = Reader::default();
        let (_, done) = read_on(&mut reader, text.as_bytes(), 99);
        done.expect("good");
        reader.digest()
    };
    let csv = digest("user_group_id,name\nacme,Acme\n");
    assert_eq!(
        csv,
        digest("[{\"name\":\"Acme\",\"user_group_id\":\"acme\"}]")
    );
    assert_ne!(csv, digest("user_group_id,name\nacme,Acme 2\n"));
}

#[test]
fn a_plan_counts_only_what_the_service_has_said() {
    let row = GroupRow {
        id: id("acme"),
        fields: only_name("Acme"),
        annotation: AnnotationChange::default(),
        parts: Parts::default(),
    };
    let mut group = group("acme", "");
    group.import(&row.fields, Timestamp::UNIX_EPOCH, "ana");
    let plan = |group: Option<&KnownGroup>| RowPlan::of(&row, group).action;
    assert_eq!(
        (plan(None), plan(Some(&group))),
        (RowAction::Create, RowAction::Create)
    );
    group.last_seen = Some(Timestamp::UNIX_EPOCH);
    assert_eq!(plan(Some(&group)), RowAction::Update);
    group.name = Some(told("Acme".into()));
    assert_eq!(plan(Some(&group)), RowAction::Unchanged);
}

#[test]
fn a_stray_quote_hides_no_other_row() {
    let text = "user_group_id\n\"a\"x\"y\nb\nc\n";
    let (rows, done) = read(text.as_bytes(), 3);
    assert_eq!((rows.len(), done), (3, Ok(())));
    assert_eq!((rows[0].line, rows[0].row.is_ok()), (2, false));
    assert_eq!((rows[1].line, rows[1].row.is_ok()), (3, true), "{rows:?}");
}

#[test]
fn ids_that_look_alike_are_noticed() {
    let text = "user_group_id\nacme\nAcme\n\u{430}cme\nglobex\n acme\nac\u{200b}me\n";
    let (rows, done) = read(text.as_bytes(), 4);
    assert_eq!(done, Ok(()));
    let twins: Vec<_> = rows.iter().map(|read| read.twin).collect();
    assert!(rows.iter().all(|read| read.row.is_ok()), "{rows:?}");
    assert_eq!(twins, [None, Some(1), Some(1), None, Some(1), Some(1)]);
}

#[test]
fn columns_are_chosen_or_added() {
    let names = |text: &str| {
        let columns = Columns::parse(text)?;
        let names: Vec<_> = columns.iter().map(Column::as_str).collect();
        Ok::<_, String>(names.join(","))
    };
    let usual = "user_group_id,name,mapping,properties";
    for (text, columns) in [
        ("note,name", "user_group_id,note,name".into()),
        ("+note +labels,+name", format!("{usual},note,labels")),
    ] {
        assert_eq!(names(text), Ok(columns));
    }
    for (text, words) in [
        ("", "no column is named"),
        ("+note,name", "prefix all"),
        ("labls", "mean labels?"),
    ] {
        let wrong = names(text).expect_err(text);
        assert!(wrong.contains(words), "{wrong}");
    }
}

/// As a chat, psql, mysql and Markdown show a table.
#[test]
fn a_table_between_bars_is_read_without_its_lines() {
    let rows = |id: &str, name: &str| format!("{id}={name}");
    for (text, remarks) in [
        (
            "| id | name |\n|----|:----:|\n| a | Acme |\n| b | B |\n",
            "1 drawn line",
        ),
        ("|id|name|\n|-|-|\n|a|Acme|\n|b|B|", "1 drawn line"),
        ("id|name\n--|--\na|Acme\nb|B", "1 drawn line"),
        (
            " id | name \n----+------\n a  | Acme\n b  | B\n(2 rows)\n\n",
            "2 drawn lines",
        ),
        (
            "+----+------+\n| id | name |\n+----+------+\n| a  | Acme |\n| b  | B    |\n+----+------+\n2 rows in set (0.00 sec)\n",
            "4 drawn lines",
        ),
    ] {
        for piece in [1, 7, text.len()] {
            let (found, done) = read_all(text.as_bytes(), piece);
            let said = done.expect("it is read").unwrap_or_default();
            assert!(said.contains("by a vertical bar"), "{text}: {said}");
            assert!(
                said.contains(remarks) && !said.contains("column"),
                "{text}: {said}"
            );
            let found = found.into_iter().map(|read| read.row.expect("a row"));
            let found =
                found.map(|row| rows(row.id.as_str(), &row.fields.name.unwrap_or_default()));
            assert_eq!(found.collect::<Vec<_>>(), ["a=Acme", "b=B"], "{text}");
        }
    }
    let alone = " user_group_id \n---------------\n a\n b\n(2 rows)\n";
    let (found, _) = read(alone.as_bytes(), 9);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|read| read.row.is_ok()), "{found:?}");
    // A group may be called so where no lines are drawn.
    let (found, done) = read(b"user_group_id\n---\n", 9);
    assert!(
        done.is_ok() && found.len() == 1 && found[0].row.is_ok(),
        "{found:?}"
    );
}

#[test]
fn a_table_that_is_drawn_for_reading_alone_is_refused_as_one() {
    for (text, words) in [
        (
            "ID        NAME   TOKEN\nacme-eu   Acme   ab12\n",
            "list -o name for IDs",
        ),
        ("NAME   ID\nAcme   acme-eu\n", "list -o name for IDs"),
        ("\u{2502} id \u{2502} name \u{2502}\n", "drawn with lines"),
        (
            "\u{250c}\u{2500}\u{2500}\u{2510}\n\u{2502} id \u{2502}\n",
            "drawn with lines",
        ),
    ] {
        let (found, done) = read(text.as_bytes(), 5);
        assert!(found.is_empty(), "{found:?}");
        let why = done.expect_err("refused");
        assert!(why.contains(words), "{why}");
        assert_eq!(ids_in(text), Err(why), "{text}");
    }
    let why = ids_in("| group | name |\n|---|---|\n| a | b |\n").expect_err("refused");
    assert!(why.contains("without a column user_group_id"), "{why}");
    let (ids, _) = ids_in("| ID | Name |\n|---|---|\n| a | b |\n")
        .expect("read")
        .expect("a table");
    assert_eq!(ids, [(3, "a".to_owned())]);
    assert_eq!(ids_in("acme-eu\nID  x\n"), Ok(None), "a plain list");
    for text in ["[123,\"acme-eu\"]", " [null, \"acme-eu\"]\n"] {
        let why = ids_in(text).expect_err("no IDs");
        assert!(why.starts_with("entry 1 "), "{text}: {why}");
    }
    assert_eq!(ids_in("[123]\n[a, b]\n"), Ok(None), "IDs in brackets");
}

#[test]
fn a_separator_that_is_named_and_another_one_in_the_header_are_told() {
    let (_, said) = read_all(b"sep=,\nuser_group_id;name\na;x\n", 64);
    let why = said.expect_err("refused");
    let words = "the line sep= names a comma, but the header has the semicolon between its columns";
    assert!(why.contains(words), "{why}");
}
