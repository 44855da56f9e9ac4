//! Facts about undocumented behaviour of a place, each with its source and date.

mod requests;

use jiff::Timestamp;

use crate::domain::facts::{Absent, Basis, Field, OnGet};

/// A fact and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    PropertiesOnGet(OnGet),
    Absent(Field, Absent),
    SoleWriter(bool),
}

impl Fact {
    pub fn name(self) -> &'static str {
        match self {
            Self::PropertiesOnGet(_) => "properties_on_get",
            Self::Absent(Field::Name, _) => "absent_name",
            Self::Absent(Field::Mapping, _) => "absent_mapping",
            Self::Absent(Field::Properties, _) => "absent_properties",
            Self::SoleWriter(_) => "sole_writer",
        }
    }

    pub fn value(self) -> &'static str {
        match self {
            Self::PropertiesOnGet(value) => value.as_str(),
            Self::Absent(_, value) => value.as_str(),
            Self::SoleWriter(true) => "yes",
            Self::SoleWriter(false) => "no",
        }
    }

    /// Decodes the columns; `None` if they are inconsistent.
    pub(super) fn parse(name: &str, value: &str) -> Option<Self> {
        let absent = |field| Absent::parse(value).map(|value| Self::Absent(field, value));
        match name {
            "properties_on_get" => OnGet::parse(value).map(Self::PropertiesOnGet),
            "absent_name" => absent(Field::Name),
            "absent_mapping" => absent(Field::Mapping),
            "absent_properties" => absent(Field::Properties),
            "sole_writer" if value == "yes" => Some(Self::SoleWriter(true)),
            "sole_writer" if value == "no" => Some(Self::SoleWriter(false)),
            _ => None,
        }
    }
}

/// A fact as stated by somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub fact: Fact,
    pub basis: Basis,
    pub at: Timestamp,
    pub by: String,
}
