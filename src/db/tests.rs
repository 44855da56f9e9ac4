//! Tests of values as SQLite returns them, and of records.

use rusqlite::Connection;

use super::*;

#[test]
fn values_come_back_as_they_were_bound() {
    let connection = Connection::open_in_memory().expect("a database");
    let tx = Tx::of(&connection);
    let odd = "a\0b \u{FDD0} \u{1F980}";
    let bound = values![
        7_i64,
        None::<i64>,
        odd,
        vec![0_u8, 255],
        Some(String::new()),
        i64::MIN
    ];
    let text = "SELECT $1, $2, $3, $4, $5, $6";
    let mut found = Vec::new();
    let read = tx.each_row(text, bound.clone(), |row| {
        for index in 0..bound.len() {
            found.push(Value::from(row.value(index)?));
        }
        Ok::<_, Fault>(true)
    });
    read.expect("read");
    assert_eq!(found, bound);
    let found = tx.one::<bool>("SELECT $1", values![true]);
    assert_eq!(found.expect("read"), Some(true), "SQLite keeps a number");
}

#[test]
fn a_parameter_is_its_number_wherever_it_first_appears() {
    let connection = Connection::open_in_memory().expect("a database");
    let tx = Tx::of(&connection);
    let found = tx.one::<(i64, i64, i64)>("SELECT $2, $1, $2", values![1, 2]);
    assert_eq!(found.expect("read"), Some((2, 1, 2)));
    for (text, values) in [
        ("SELECT $1, $3", values![1, 2]),
        ("SELECT $1", values![1, 2]),
        ("SELECT $1", values![]),
        ("SELECT :a", values![1]),
    ] {
        assert!(tx.one::<i64>(text, values).is_err(), "{text}");
    }
}

#[test]
fn another_type_than_asked_for_is_a_fault() {
    let connection = Connection::open_in_memory().expect("a database");
    let tx = Tx::of(&connection);
    for text in ["SELECT 'x'", "SELECT -1", "SELECT x'00'", "SELECT 1.5"] {
        let read = tx.one::<u32>(text, values![]);
        assert!(matches!(read, Err(Fault::Column)), "{text}: {read:?}");
    }
}

/// Two columns are a record of their own.
#[derive(Debug, PartialEq)]
struct Inner {
    a: i64,
    b: Option<String>,
}
record!(Inner, "outer" { a, b = "second" });

#[derive(Debug, PartialEq)]
struct Outer {
    number: i64,
    inner: Inner,
    kind: i64,
    sum: i64,
}
record!(Outer, "outer" { number, inner, kind or 7 } with { sum: 0 });

#[test]
fn a_record_is_written_replaced_changed_and_read_by_its_columns() {
    let connection = Connection::open_in_memory().expect("a database");
    let table =
        "CREATE TABLE outer_ (number INTEGER PRIMARY KEY, kind ANY, a INTEGER, second TEXT)";
    connection.execute_batch(table).expect("a table");
    let tx = Tx::of(&connection);
    let second = "x";
    let row = |number: i64, a: i64| row! { number, a, second, kind: "not a number" };
    let all = || tx.all::<(i64, i64)>("SELECT number, a FROM outer_ ORDER BY number", values![]);
    tx.insert("outer_", row(1, 10)).expect("inserted");
    tx.upsert("outer_", 1, row(2, 20)).expect("inserted");
    tx.upsert("outer_", 1, row(2, 21)).expect("replaced");
    assert!(tx.insert("outer_", row(2, 22)).is_err(), "there already");
    assert_eq!(all().expect("read"), [(1, 10), (2, 21)]);
    tx.keep("outer_", 1, row! { number: 2, a: 23 }, false)
        .expect("changed");
    assert_eq!(all().expect("read"), [(1, 10), (2, 23)]);

    let text = "SELECT * FROM outer_ WHERE number = $1";
    let inner = Inner {
        a: 10,
        b: Some("x".into()),
    };
    let outer = Outer {
        number: 1,
        inner,
        kind: 7,
        sum: 0,
    };
    assert_eq!(tx.one(text, values![1]).expect("read"), Some(outer));
    assert_eq!(tx.one::<Outer>(text, values![9]).expect("read"), None);
    let text = "UPDATE outer_ SET a = 'x' WHERE number = $1 RETURNING *";
    let damaged = tx.one::<Outer>(text, values![1]);
    assert!(matches!(damaged, Err(Fault::Row("outer"))), "{damaged:?}");
    let text = "SELECT * FROM outer_ ORDER BY number";
    let readable = tx.readable::<Outer>(text, values![]).expect("read");
    assert_eq!(readable.len(), 1, "{readable:?}");
}
