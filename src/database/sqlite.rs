//! Statements on an SQLite connection, each prepared once per connection.

use rusqlite::{Connection, Params, params_from_iter};

use super::{Fault, Row, Rows, Statement, Value, value::column};

fn bound(statement: &Statement) -> impl Params + '_ {
    params_from_iter(&statement.values)
}

pub(super) fn each<E: From<Fault>>(
    connection: &Connection,
    statement: &Statement,
    take: &mut dyn FnMut(&Row<'_>) -> Result<bool, E>,
) -> Result<(), E> {
    let mut prepared = connection
        .prepare_cached(&statement.text)
        .map_err(Fault::from)?;
    let mut found = prepared.query(bound(statement)).map_err(Fault::from)?;
    while let Some(row) = found.next().map_err(Fault::from)? {
        if !take(&Row::Sqlite(row))? {
            break;
        }
    }
    Ok(())
}

pub(super) fn write(connection: &Connection, statement: &Statement) -> Result<usize, Fault> {
    let mut prepared = connection.prepare_cached(&statement.text)?;
    Ok(prepared.execute(bound(statement))?)
}

pub(super) fn run(connection: &Connection, statement: &Statement) -> Result<Rows, Fault> {
    let mut prepared = connection.prepare_cached(&statement.text)?;
    let columns = prepared.column_count();
    if columns == 0 {
        let changed = prepared.execute(bound(statement))?;
        let rows = Vec::new();
        return Ok(Rows { rows, changed });
    }
    let mut rows = Vec::new();
    let mut found = prepared.query(bound(statement))?;
    while let Some(row) = found.next()? {
        let row = (0..columns).map(|index| column(row, index).map(Value::from));
        rows.push(row.collect::<Result<_, _>>()?);
    }
    Ok(Rows { rows, changed: 0 })
}
