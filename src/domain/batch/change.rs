//! What a batch does to each of its groups: a rotation, or one change of one row.

use std::fmt;

use serde_json::Value;

use crate::domain::{
    facts::Field,
    fields::{DesiredFields, Part},
    history::Operation,
    text::visible,
    update::Edit,
};

/// What a batch does to each of its groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum BatchKind {
    #[default]
    Rotate,
    Edit(BulkChange),
}

impl BatchKind {
    pub fn operation(&self) -> Operation {
        match self {
            Self::Rotate => Operation::Rotate,
            Self::Edit(_) => Operation::Update,
        }
    }
}

/// One change for many groups: sets or removes a row of the mapping or a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkChange {
    /// A row of the mapping, or a property; never the name.
    pub row: Part,
    pub to: Target,
    pub only_where: OnlyWhere,
}

/// The wanted value of the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The same value in every group; for a property its JSON text. `None` removes the row.
    Value(Option<String>),
    /// The value in each group before the batch with this number.
    AsBefore(i64),
}

/// Selects groups by the present value of the row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OnlyWhere {
    #[default]
    Any,
    /// The row has this value; `None` means that it does not exist.
    Is(Option<String>),
}

/// Why a text is not a valid change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAChange {
    #[error("Type a schema ID")]
    NoSchemaId,
    #[error("Type the key of a property")]
    NoProperty,
    #[error("Type a data source ID")]
    NoDataSourceId,
    #[error("Type a value: JSON, for example \"gold\", 120 or true")]
    NotJson,
}

impl BulkChange {
    /// Changes a row of the mapping; `to: None` removes it.
    pub fn mapping(
        schema_id: &str,
        to: Option<&str>,
        only_where: Option<&str>,
    ) -> Result<Self, NotAChange> {
        if schema_id.is_empty() {
            return Err(NotAChange::NoSchemaId);
        }
        if to.is_some_and(str::is_empty) {
            return Err(NotAChange::NoDataSourceId);
        }
        Ok(Self {
            row: Part::mapping(schema_id),
            to: Target::Value(to.map(str::to_owned)),
            only_where: only_where.map_or(OnlyWhere::Any, |text| OnlyWhere::Is(Some(text.into()))),
        })
    }

    /// Changes a property; the values are JSON texts, and `to: None` removes it.
    pub fn property(
        key: &str,
        to: Option<&str>,
        only_where: Option<&str>,
    ) -> Result<Self, NotAChange> {
        if key.is_empty() {
            return Err(NotAChange::NoProperty);
        }
        let json = |text: &str| {
            let value: Value = serde_json::from_str(text).map_err(|_| NotAChange::NotJson)?;
            Ok(value.to_string())
        };
        let only_where = only_where.map(json).transpose()?;
        Ok(Self {
            row: Part::property(key),
            to: Target::Value(to.map(json).transpose()?),
            only_where: only_where.map_or(OnlyWhere::Any, |text| OnlyWhere::Is(Some(text))),
        })
    }

    pub fn key(&self) -> &str {
        &self.row.key
    }

    /// The same change of the key without blanks around it, if that is another one. Such a key was typed to be removed.
    pub fn without_blanks(&self) -> Option<Self> {
        let key = self.key().trim();
        (key != self.key()).then(|| {
            let mut change = self.clone();
            key.clone_into(&mut change.row.key);
            change
        })
    }

    pub fn field(&self) -> Field {
        self.row.field
    }

    /// A short label for lists: `map 40`, `prop tier`, `map 40, reverse of 11`.
    pub fn label(&self) -> String {
        let field = match self.field() {
            Field::Name => "name",
            Field::Mapping => "map",
            Field::Properties => "prop",
        };
        let label = format!("{field} {}", visible(self.key()));
        match self.to {
            Target::AsBefore(batch) => format!("{label}, reverse of {batch}"),
            Target::Value(_) => label,
        }
    }

    /// The texts that were newly typed, to check that they are no secrets.
    pub fn typed(&self) -> DesiredFields {
        match &self.to {
            Target::Value(value) => {
                let mut fields = DesiredFields::default();
                put(
                    &self.row,
                    Some(value.clone().unwrap_or_default()),
                    &mut fields,
                );
                fields
            }
            Target::AsBefore(_) => DesiredFields::default(),
        }
    }
}

impl fmt::Display for BulkChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = visible(&self.row.label()).into_owned();
        match &self.to {
            Target::Value(Some(value)) => write!(f, "Set {row} to {}", visible(value))?,
            Target::Value(None) => write!(f, "Remove {row}")?,
            Target::AsBefore(batch) => write!(f, "Set {row} back to before batch {batch}")?,
        }
        match &self.only_where {
            OnlyWhere::Any => Ok(()),
            OnlyWhere::Is(Some(value)) => write!(f, " where it is {}", visible(value)),
            OnlyWhere::Is(None) => f.write_str(" where it is not there"),
        }
    }
}

/// One group of a bulk edit as it was reviewed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemEdit {
    /// The state of the group that the review showed.
    pub base: DesiredFields,
    /// The wanted value of the row; `None` removes it.
    pub to: Option<String>,
}

impl ItemEdit {
    /// The update: only the field of the row, based on everything that was reviewed. A field that cannot be read was
    /// shown with its age, and is sent as last known.
    pub fn update(&self, row: &Part) -> Edit {
        let mut wanted = DesiredFields::default();
        wanted.copy(row.field, &self.base);
        put(row, self.to.clone(), &mut wanted);
        Edit {
            base: self.base.clone(),
            wanted,
            whole: Vec::new(),
            replace: vec![row.field],
            sends_unchanged: true,
            of_many: true,
        }
    }

    /// The value of the row when it was reviewed.
    pub fn before(&self, row: &Part) -> Option<String> {
        row.text_in(&self.base)
    }
}

/// Sets the row to this value, or removes it. An existing row keeps its position.
fn put(row: &Part, to: Option<String>, fields: &mut DesiredFields) {
    let value = to.map(|text| row.parse(text.clone()).unwrap_or(Value::String(text)));
    row.set(value, fields);
}

/// Whether two values of a row are equal. The order of keys within a property does not matter.
pub(super) fn is_same(row: &Part, one: Option<&str>, other: Option<&str>) -> bool {
    if one == other {
        return true;
    }
    let (Field::Properties, Some(one), Some(other)) = (row.field, one, other) else {
        return false;
    };
    let json = |text| serde_json::from_str::<Value>(text).ok();
    json(one).is_some() && json(one) == json(other)
}
