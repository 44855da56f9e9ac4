//! Tests of values as SQLite returns them, and of the three steps of a request.

use rusqlite::Connection;

use super::*;

fn values_of(row: &Row<'_>, columns: usize) -> Vec<Value> {
    let values = (0..columns).map(|index| Value::from(row.value(index).expect("a value")));
    values.collect()
}

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
    let found = tx.one(text, bound.clone(), |row| {
        Ok::<_, Fault>(values_of(row, bound.len()))
    });
    assert_eq!(found.expect("read"), Some(bound));
    let found = tx.one("SELECT $1", values![true], |row| row.get::<bool>(0));
    assert_eq!(found.expect("read"), Some(true), "SQLite keeps a number");
}

#[test]
fn another_type_than_asked_for_is_a_fault() {
    let connection = Connection::open_in_memory().expect("a database");
    let tx = Tx::of(&connection);
    let text = "SELECT 'x', -1, x'00', 1.5";
    for index in 0..4 {
        let read = tx.one(text, values![], |row| row.get::<u32>(index));
        assert!(matches!(read, Err(Fault::Column)), "{index}: {read:?}");
    }
}

/// Takes a free number, and records it together with the previous one.
struct Take(i64);

impl Request for Take {
    type Answer = Vec<i64>;
    type Error = Fault;

    fn read(&self) -> Statements {
        Statements::default()
            .with(
                "INSERT INTO taken (number) SELECT $1 WHERE $1 > 0 ON CONFLICT DO NOTHING RETURNING number",
                values![self.0],
            )
            .with("UPDATE counted SET number = number + 1", values![])
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, Vec<i64>), Fault> {
        let taken: Option<i64> = found.next().first(|row| row.get(0))?;
        assert_eq!(found.next().changed, 1);
        let mut writes = Statements::default();
        if let Some(number) = taken {
            writes.add("INSERT INTO noted (number) VALUES ($1)", values![number]);
        }
        Ok((writes, Vec::new()))
    }

    fn read_after(&self) -> Statements {
        Statements::default().with("SELECT number FROM noted ORDER BY number", values![])
    }

    fn finish(&self, answer: &mut Vec<i64>, after: &mut Results) {
        let all = after.next().all(|row| row.get(0));
        *answer = all.expect("numbers");
    }
}

#[test]
fn a_request_claims_decides_writes_and_reads_what_stands_then() {
    let connection = Connection::open_in_memory().expect("a database");
    let tables = "CREATE TABLE taken (number INTEGER PRIMARY KEY); CREATE TABLE noted (number INTEGER); \
                  CREATE TABLE counted (number INTEGER); INSERT INTO counted VALUES (0)";
    connection.execute_batch(tables).expect("tables");
    let tx = Tx::of(&connection);
    assert_eq!(tx.run(&Take(2)).expect("run"), [2]);
    assert_eq!(tx.run(&Take(1)).expect("run"), [1, 2]);
    assert_eq!(tx.run(&Take(2)).expect("run"), [1, 2], "taken before");
    assert_eq!(tx.run(&Take(0)).expect("run"), [1, 2], "not to be taken");
}
