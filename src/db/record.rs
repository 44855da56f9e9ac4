//! Rows as values of ours: the columns of a type are named once, for `SELECT *`, for decoding and for writing.

use super::{
    Row, Value, ValueRef,
    value::{FromValue, Result, Text},
};

/// What is read from the next columns of a row: one column, or a record of several.
pub(crate) trait Read: Sized {
    /// Adds the names of its columns; `name` is that of the field.
    fn columns(name: &'static str, list: &mut Vec<&'static str>);

    fn read(row: &mut Cursor<'_>) -> Result<Self>;
}

/// A row that is read from left to right.
pub(crate) struct Cursor<'a> {
    row: &'a Row<'a>,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn of(row: &'a Row<'a>) -> Self {
        Self { row, at: 0 }
    }

    pub(crate) fn next<T: Read>(&mut self) -> Result<T> {
        T::read(self)
    }

    pub(crate) fn value(&mut self) -> Result<ValueRef<'a>> {
        self.at += 1;
        self.row.value(self.at - 1)
    }
}

impl<T: FromValue> Read for T {
    fn columns(name: &'static str, list: &mut Vec<&'static str>) {
        list.push(name);
    }

    fn read(row: &mut Cursor<'_>) -> Result<Self> {
        T::from_value(row.value()?)
    }
}

/// Whatever a row contains: that it is there is the answer.
impl Read for () {
    fn columns(_: &'static str, list: &mut Vec<&'static str>) {
        list.push("1");
    }

    fn read(_: &mut Cursor<'_>) -> Result<Self> {
        Ok(())
    }
}

/// Tuples of records, or of columns that the statement names.
macro_rules! tuple {
    ($($of:ident),*) => {
        impl<$($of: Read),*> Read for ($($of,)*) {
            fn columns(name: &'static str, list: &mut Vec<&'static str>) {
                $($of::columns(name, list);)*
            }

            fn read(row: &mut Cursor<'_>) -> Result<Self> {
                Ok(($(row.next::<$of>()?,)*))
            }
        }
    };
}
tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
tuple!(A, B, C, D, E);
tuple!(A, B, C, D, E, F);
tuple!(A, B, C, D, E, F, G);

/// The columns of a record in order, each named like its field, or as the text says; `or`: what cannot be read is this
/// instead. `with` fills the fields that are in no column. A row that cannot be read is damaged, in the table named.
macro_rules! record {
    ($of:ty, $table:literal {
        $($field:ident $(= $column:tt)? $(or $default:expr)?),* $(,)?
    } $(with { $($more:tt)* })?) => {
        impl $crate::db::Read for $of {
            fn columns(_: &'static str, list: &mut Vec<&'static str>) {
                $($crate::db::columns_of(
                    |record: &Self| &record.$field,
                    [$($column,)? stringify!($field)][0],
                    list,
                );)*
            }

            fn read(row: &mut $crate::db::Cursor<'_>) -> std::result::Result<Self, $crate::db::Fault> {
                Ok(Self {
                    $($field: row
                        .next()
                        $(.or_else(|_| Ok::<_, $crate::db::Fault>($default)))?
                        .map_err(|fault: $crate::db::Fault| fault.in_table($table))?,)*
                    $($($more)*)?
                })
            }
        }
    };
}

pub(crate) fn columns_of<R, F: Read>(
    _: fn(&R) -> &F,
    name: &'static str,
    list: &mut Vec<&'static str>,
) {
    F::columns(name, list);
}

/// Replaces the `*` of `SELECT *` or `RETURNING *` by the columns of the record.
pub(crate) fn with_columns<T: Read>(text: Text) -> Text {
    let columns = || {
        let mut list = Vec::new();
        T::columns("", &mut list);
        list.join(", ")
    };
    if let Some(rest) = text.strip_prefix("SELECT *") {
        return format!("SELECT {}{rest}", columns()).into();
    }
    match text.strip_suffix("RETURNING *") {
        Some(start) => format!("{start}RETURNING {}", columns()).into(),
        None => text,
    }
}

/// Columns to write, each with its value.
pub(crate) type NewRow = Vec<(&'static str, Value)>;

/// A row to write: `column: value`, or the name of a variable.
macro_rules! row {
    ($($name:ident $(: $value:expr)?),* $(,)?) => {
        vec![$((stringify!($name), $crate::db::Value::from($crate::db::row!(@ $name $(, $value)?)))),*]
    };
    (@ $name:ident, $value:expr) => { $value };
    (@ $name:ident) => { $name };
}
pub(crate) use {record, row};

fn names_of(row: &NewRow) -> String {
    let names: Vec<_> = row.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

fn values_of(row: NewRow) -> Vec<Value> {
    row.into_iter().map(|(_, value)| value).collect()
}

/// `$1, $2, …`
pub(crate) fn placeholders(count: usize) -> String {
    let all: Vec<_> = (1..=count).map(|number| format!("${number}")).collect();
    all.join(", ")
}

pub(super) fn insert(table: &str, row: NewRow) -> (String, Vec<Value>) {
    let (names, places) = (names_of(&row), placeholders(row.len()));
    let text = format!("INSERT INTO {table} ({names}) VALUES ({places})");
    (text, values_of(row))
}

/// Inserts the row, or replaces that with the same key: its first columns.
pub(super) fn upsert(table: &str, key: usize, row: NewRow) -> (String, Vec<Value>) {
    let (keys, rest) = row.split_at(key);
    let keys: Vec<_> = keys.iter().map(|(name, _)| *name).collect();
    let set: Vec<_> = rest
        .iter()
        .map(|(name, _)| format!("{name} = excluded.{name}"))
        .collect();
    let (keys, set) = (keys.join(", "), set.join(", "));
    let (text, values) = insert(table, row);
    (
        format!("{text} ON CONFLICT ({keys}) DO UPDATE SET {set}"),
        values,
    )
}

/// Changes the row with this key: its first columns.
pub(super) fn update(table: &str, key: usize, mut row: NewRow) -> (String, Vec<Value>) {
    row.rotate_left(key);
    let count = row.len() - key;
    let set = row
        .iter()
        .zip(1..)
        .map(|((name, _), number)| format!("{name} = ${number}"));
    let set: Vec<_> = set.collect();
    let text = format!(
        "UPDATE {table} SET {} WHERE {}",
        set[..count].join(", "),
        set[count..].join(" AND ")
    );
    (text, values_of(row))
}

/// A statement under construction, from a filter; `*` stands for the columns of what is read.
pub(crate) struct Select {
    text: String,
    joint: &'static str,
    values: Vec<Value>,
}

impl Select {
    pub(crate) fn from(table: &str) -> Self {
        Self {
            text: format!("SELECT * FROM {table}"),
            joint: " WHERE ",
            values: Vec::new(),
        }
    }

    pub(crate) fn only(mut self, condition: &str) -> Self {
        self.text += self.joint;
        self.text += condition;
        self.joint = " AND ";
        self
    }

    /// `None` matches all.
    pub(crate) fn and(mut self, comparison: &str, value: Option<impl Into<Value>>) -> Self {
        let Some(value) = value else {
            return self;
        };
        self.values.push(value.into());
        let number = self.values.len();
        self.only(&format!("{comparison} ${number}"))
    }

    pub(crate) fn newest_first(
        mut self,
        column: &str,
        limit: Option<usize>,
    ) -> (String, Vec<Value>) {
        self.values.push(limit.unwrap_or(usize::MAX).into());
        let number = self.values.len();
        let text = format!("{} ORDER BY {column} DESC LIMIT ${number}", self.text);
        (text, self.values)
    }
}
