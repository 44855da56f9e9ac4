//! Facts about undocumented behaviour of a place, with their sources (hazard 4 of docs/design/service.md). They decide
//! how dangerous an update is, and are never guessed.

use jiff::Timestamp;

/// Which properties a get returns if the request contains properties.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnGet {
    /// The stored ones.
    Returned,
    /// Those of the request.
    Echoed,
    #[default]
    Unknown,
}

impl OnGet {
    pub const ALL: [Self; 3] = [Self::Returned, Self::Echoed, Self::Unknown];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Returned => "returned",
            Self::Echoed => "echoed",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}

/// What happens to a field that an update leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Absent {
    Keep,
    Clear,
    /// Then everything last known is sent unchanged.
    #[default]
    Unknown,
}

impl Absent {
    pub const ALL: [Self; 3] = [Self::Keep, Self::Clear, Self::Unknown];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Clear => "clear",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}

/// The source of a fact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Basis {
    /// Seen in an exchange.
    Proven,
    /// Stated by a person, or by the service itself.
    Told,
    #[default]
    Unknown,
}

impl Basis {
    pub const ALL: [Self; 3] = [Self::Proven, Self::Told, Self::Unknown];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Told => "told",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}

/// A fact, its source, since when, and by whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stated<T> {
    pub value: T,
    pub basis: Basis,
    pub at: Option<Timestamp>,
    pub by: Option<String>,
}

impl<T> Stated<T> {
    /// Whether somebody has answered the question, even with "unknown".
    pub fn is_answered(&self) -> bool {
        self.basis != Basis::Unknown
    }
}

/// The facts of a place. By default nothing is known, and others write, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub properties_on_get: Stated<OnGet>,
    pub absent_name: Stated<Absent>,
    pub absent_properties: Stated<Absent>,
    pub absent_mapping: Stated<Absent>,
    /// Nobody writes to this environment except through this directory.
    pub sole_writer: Stated<bool>,
}

impl Facts {
    pub fn properties_are_readable(&self) -> bool {
        self.properties_on_get.value == OnGet::Returned
    }

    pub fn absent(&self, field: Field) -> &Stated<Absent> {
        match field {
            Field::Name => &self.absent_name,
            Field::Mapping => &self.absent_mapping,
            Field::Properties => &self.absent_properties,
        }
    }
}

/// One of the three fields that an operator can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    Name,
    Mapping,
    Properties,
}

impl Field {
    pub const ALL: [Self; 3] = [Self::Name, Self::Mapping, Self::Properties];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Mapping => "mapping",
            Self::Properties => "properties",
        }
    }
}
