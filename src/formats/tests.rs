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
};

/// Reads the rows of a text that arrives in chunks of this size.
fn read(text: &[u8], piece: usize) -> (Vec<RowResult>, Result<(), String>) {
    let mut reader = Reader::default();
    let mut rows = Vec::new();
    let mut out = |read| rows.push(read);
    let mut done = Ok(());
    for piece in text.chunks(piece.max(1)) {
        done = done.and_then(|()| reader.push(piece, &mut out));
    }
    let done = done.and_then(|()| reader.end(&mut out).map(drop));
    (rows, done)
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
fn each_format_is_recognised() {
    let expected = ["acme", "globex"];
    for text in [
        "user_group_id\nacme\nglobex\n",
        "\u{feff}user_group_id,name\r\nacme,\r\n\r\nglobex,\"\"",
        "mapping,user_group_id\n\"{\"\"40\"\":\"\"213\"\"}\",acme\n,\"globex\"\n",
        "{\"user_group_id\":\"acme\"}\n\n  {\"user_group_id\":\"globex\",\"name\":null}",
        " [ {\"user_group_id\":\"acme\"}, {\"user_group_id\":\n\"globex\", \"properties\":{\"a\":[{}]}} ] \n",
    ] {
        for piece in [1, 7, 4096] {
            let (rows, done) = read(text.as_bytes(), piece);
            assert_eq!(done, Ok(()), "{text}");
            let ids: Vec<_> = rows
                .into_iter()
                .map(|read| read.row.expect(text).id.as_str().to_owned())
                .collect();
            assert_eq!(ids, expected, "{text}");
        }
    }
    let (rows, done) = read(
        b"{\n  \"user_group_id\": \"acme\",\n  \"name\": \"x\"\n}\n",
        5,
    );
    assert_eq!(
        (done, rows.len()),
        (Ok(()), 1),
        "one object over several lines"
    );
    let (_, nothing) = read(b" \n", 1);
    assert!(nothing.expect_err("refused").contains("it is empty"));
    assert_eq!(read(b"[]", 1), (Vec::new(), Ok(())));
}

#[test]
fn a_quoted_empty_cell_is_an_empty_text() {
    let (rows, _) = read(b"user_group_id,name\na,\nb,\"\"\n", 99);
    let names: Vec<_> = rows
        .iter()
        .map(|read| read.row.as_ref().expect("good").fields.name.as_deref())
        .collect();
    assert_eq!(names, [None, Some("")]);
}

#[test]
fn every_bad_row_is_named_with_its_number_and_reason() {
    let head = "user_group_id,name,mapping,properties\n";
    let long = "x".repeat(256);
    for (text, number, line, reason) in [
        (
            format!("{head}acme,,,\n,x,,\n"),
            2,
            3,
            "the user group ID is empty",
        ),
        (format!("{head}{long},,,\n"), 1, 2, "256 characters"),
        (format!("{head}a\0b,,,\n"), 1, 2, "NUL"),
        (
            format!("{head}acme,\"x\ny\",,\nacme,,,\n"),
            2,
            4,
            "is already in row 1",
        ),
        (
            format!("{head}acme,x\n"),
            1,
            2,
            "2 cells, but the first line names 4",
        ),
        (
            format!("{head}acme,,\"{{\"\"40\"\":213}}\",\n"),
            1,
            2,
            "mapping: line 1",
        ),
        (format!("{head}acme,,,[1]\n"), 1, 2, "properties: "),
        (
            format!("{head}acme,\"x\"y,,\n"),
            1,
            2,
            "text after a closing quote",
        ),
        (format!("{head}acme,x\"y\",,\n"), 1, 2, "double the quotes"),
        (format!("{head}acme,\"x,,\n"), 1, 2, "not closed"),
        (
            "{\"user_group_id\":\"a\"}\n{\"nam\":\"x\"}\n".into(),
            2,
            2,
            "did you mean name?",
        ),
        (
            "{\"name\":\"x\"}\n".into(),
            1,
            1,
            "user_group_id is missing",
        ),
        (
            "user_group_id,note\na,\"x\ny\"\n".into(),
            1,
            2,
            "note: invalid note: expected one line",
        ),
        (
            format!("user_group_id,note\na,{}\n", "x".repeat(501)),
            1,
            2,
            "note: invalid note: expected at most 500",
        ),
        (
            "user_group_id,labels\na,vip\nb,a!b\n".into(),
            2,
            3,
            "labels: a label has letters",
        ),
        (
            "user_group_id,favourite\na,yes\n".into(),
            1,
            2,
            "favourite: write true or false",
        ),
        (
            "{\"user_group_id\":\"a\",\"note\":7}\n".into(),
            1,
            1,
            "note: it must be a string",
        ),
        (
            "{\"user_group_id\":\"a\",\"labels\":\"vip\"}\n".into(),
            1,
            1,
            "labels: it must be an array",
        ),
        (
            "{\"user_group_id\":\"a\",\"note\":\"x\\u0000\"}\n".into(),
            1,
            1,
            "note: it contains a NUL",
        ),
        (
            "{\"user_group_id\":\"a\",\"favourite\":1}\n".into(),
            1,
            1,
            "favourite: it must be true or false",
        ),
        ("{\"user_group_id\":7}\n".into(), 1, 1, "must be a string"),
        (
            "{\"user_group_id\":\"a\",\"user_group_id\":\"b\"}".into(),
            1,
            1,
            "appears twice",
        ),
        (
            "{\"user_group_id\":\"a\"\n{\"user_group_id\":\"b\"}\n".into(),
            1,
            1,
            "ends too early",
        ),
        (
            "[\n{\"user_group_id\":\"a\"},\n{\"user_group_id\":\"a\"}\n]".into(),
            2,
            3,
            "already in row 1",
        ),
        (
            "[{\"user_group_id\":\"a\"},]".into(),
            2,
            1,
            "remove a comma",
        ),
        ("[\"acme\"]".into(), 1, 1, "a group is an object"),
        (
            "{\"user_group_id\":\"a\",\"mapping\":{\"40\":213}}".into(),
            1,
            1,
            "object of strings",
        ),
        (
            "{\"user_group_id\":\"a\",\"token\":\"canary\"}".into(),
            1,
            1,
            "a token does not belong",
        ),
    ] {
        for piece in [1, 4096] {
            let (rows, _) = read(text.as_bytes(), piece);
            let bad: Vec<_> = rows
                .iter()
                .filter_map(|read| Some((read.number, read.line, read.row.as_ref().err()?)))
                .collect();
            let [(at, on, why)] = bad[..] else {
                panic!("{text:?}: {rows:?}");
            };
            assert_eq!((at, on), (number, line), "{text:?}: {why}");
            assert!(why.contains(reason), "{text:?}: {why}");
            assert!(!why.contains("canary"), "{why}");
        }
    }
}

#[test]
fn a_file_that_is_wrong_as_a_whole_is_refused() {
    for (text, reason) in [
        (
            "acme\nglobex\n",
            "the first line must contain the column names",
        ),
        ("user_group_id,nmae\n", "did you mean name?"),
        ("user_group_id,token\n", "a token does not belong"),
        ("user_group_id,name,name\n", "appears twice"),
        ("name\n", "the first line must contain the column names"),
        ("[{\"user_group_id\":\"a\"}", "not closed"),
        ("[] {}", "text after the end"),
        ("canary-0123456789abcdef\n", "unknown column;"),
    ] {
        let (_, done) = read(text.as_bytes(), 1);
        let why = done.expect_err(text);
        assert!(why.contains(reason), "{text}: {why}");
        assert!(!why.contains("canary"), "{why}");
    }
}

#[test]
fn the_digest_is_of_the_rows_not_of_their_spelling() {
    let digest = |text: &str| {
        let mut reader = Reader::default();
        let done = reader.push(text.as_bytes(), &mut |_| {});
        done.and_then(|()| reader.end(&mut |_| {}).map(drop))
            .expect("good");
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
    let fields = DesiredFields {
        name: Some("Acme".into()),
        ..DesiredFields::default()
    };
    let id = UserGroupId::parse("acme").expect("a valid id");
    let row = GroupRow {
        id: id.clone(),
        fields: fields.clone(),
        annotation: AnnotationChange::default(),
        parts: Parts::default(),
    };
    let mut group = KnownGroup::new(id);
    group.import(&fields, Timestamp::UNIX_EPOCH, "ana");
    assert_eq!(RowPlan::of(&row, None).action, RowAction::Create);
    assert_eq!(RowPlan::of(&row, Some(&group)).action, RowAction::Create);
    group.last_seen = Some(Timestamp::UNIX_EPOCH);
    assert_eq!(RowPlan::of(&row, Some(&group)).action, RowAction::Update);
    if let Some(name) = &mut group.name {
        name.source = crate::domain::known::Source::Returned;
    }
    assert_eq!(RowPlan::of(&row, Some(&group)).action, RowAction::Unchanged);
}

#[test]
fn what_no_service_takes_is_refused_with_its_row() {
    let long = format!("{{\"user_group_id\":\"{}\"}}", "x".repeat(256));
    for (text, reason) in [
        ("{\"user_group_id\":\"a\\u0000b\"}", "a NUL character"),
        (
            "{\"user_group_id\":\"a\",\"name\":\"\\u0000\"}",
            "name: it contains a NUL",
        ),
        (
            "{\"user_group_id\":\"a\",\"mapping\":{\"4\\u0000\":\"1\"}}",
            "mapping: it contains a NUL",
        ),
        (
            "{\"user_group_id\":\"a\",\"properties\":{\"x\":[{\"y\":\"\\u0000\"}]}}",
            "properties: it contains a NUL",
        ),
        ("{\"user_group_id\":\"\\ud800\"}", "not JSON"),
        (
            "{\"user_group_id\":\"a\",\"properties\":{\"x\":{\"k\":1,\"k\":2}}}",
            "a key appears twice",
        ),
        (long.as_str(), "256 characters"),
        ("user_group_id,name\na,\0\n", "name: it contains a NUL"),
        (
            "user_group_id,properties\na,\"{\"\"x\"\":\"\"\\ud800\"\"}\"\n",
            "properties: ",
        ),
    ] {
        let (rows, done) = read(text.as_bytes(), 5);
        assert_eq!(done, Ok(()), "{text}");
        let [
            RowResult {
                number: 1,
                row: Err(why),
                ..
            },
        ] = &rows[..]
        else {
            panic!("{text:?}: {rows:?}");
        };
        assert!(why.contains(reason), "{text:?}: {why}");
    }
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
        Ok(columns
            .iter()
            .map(Column::as_str)
            .collect::<Vec<_>>()
            .join(","))
    };
    let usual = "user_group_id,name,mapping,properties";
    assert_eq!(names(""), Ok(usual.to_owned()));
    assert_eq!(names("note,name"), Ok("user_group_id,note,name".into()));
    assert_eq!(
        names("+note +labels,+name"),
        Ok(format!("{usual},note,labels"))
    );
    for (text, words) in [("+note,name", "prefix all"), ("labls", "mean labels?")] {
        let wrong: String = names(text).expect_err("wrong");
        assert!(wrong.contains(words), "{wrong}");
    }
}
