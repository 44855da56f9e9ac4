//! What a place is known to do that nobody documents, and who says so (hazard 4 of docs/design/service.md). How
//! dangerous an update is depends on these; nothing of it is ever guessed.

use jiff::Timestamp;

/// What a get returns where it carries properties.
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

/// What becomes of a field that an update leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Absent {
    Keep,
    Clear,
    /// Everything last known is sent unchanged.
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

/// Where a fact comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Basis {
    /// Seen in an exchange.
    Proven,
    /// By a person, or by the service itself.
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

/// A fact, where it comes from, since when and by whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stated<T> {
    pub value: T,
    pub basis: Basis,
    pub at: Option<Timestamp>,
    pub by: Option<String>,
}

impl<T> Stated<T> {
    /// Somebody has answered the question, be it with "unknown".
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
    /// Nobody writes to this environment but through this directory.
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

/// One of the three fields that a person can set.
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
