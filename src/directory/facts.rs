//! Facts about undocumented behaviour of a place, each with its source and date.

mod requests;

use jiff::Timestamp;

use crate::domain::facts::{Basis, Field, GetBehaviour, OmittedField};

/// A fact and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    PropertiesOnGet(GetBehaviour),
    OmittedField(Field, OmittedField),
    SoleWriter(bool),
}

impl Fact {
    pub fn name(self) -> &'static str {
        match self {
            Self::PropertiesOnGet(_) => "properties_on_get",
            Self::OmittedField(Field::Name, _) => "absent_name",
            Self::OmittedField(Field::Mapping, _) => "absent_mapping",
            Self::OmittedField(Field::Properties, _) => "absent_properties",
            Self::SoleWriter(_) => "sole_writer",
        }
    }

    pub fn value(self) -> &'static str {
        match self {
            Self::PropertiesOnGet(value) => value.as_str(),
            Self::OmittedField(_, value) => value.as_str(),
            Self::SoleWriter(true) => "yes",
            Self::SoleWriter(false) => "no",
        }
    }

    /// Decodes the columns; `None` if they are inconsistent.
    pub(super) fn parse(name: &str, value: &str) -> Option<Self> {
        let absent =
            |field| OmittedField::parse(value).map(|value| Self::OmittedField(field, value));
        match name {
            "properties_on_get" => GetBehaviour::parse(value).map(Self::PropertiesOnGet),
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
