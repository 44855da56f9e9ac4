//! Facts about undocumented behaviour of a place, with their sources (hazard 4 of docs/design/service.md). They decide
//! how dangerous an update is, and are never guessed.

use jiff::Timestamp;

use super::word_enum::word_enum;

word_enum! {
    /// What a get returns where it carries properties.
    #[derive(Default)]
    pub enum GetBehaviour {
        /// The stored ones.
        Returned = "returned",
        /// Those of the request.
        Echoed = "echoed",
        #[default]
        Unknown = "unknown",
    }
}

word_enum! {
    /// What becomes of a field that an update leaves out.
    #[derive(Default)]
    pub enum OmittedField {
        Keep = "keep",
        Clear = "clear",
        /// Everything last known is sent unchanged.
        #[default]
        Unknown = "unknown",
    }
}

word_enum! {
    /// Where a fact comes from.
    #[derive(Default)]
    pub enum Basis {
        /// Seen in an exchange.
        Proven = "proven",
        /// By a person.
        Told = "told",
        /// By the service itself, in an answer that the named person got.
        Announced = "announced",
        #[default]
        Unknown = "unknown",
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

    /// Whether what the service announces counts: neither a person nor an exchange has said more.
    fn may_be_announced(&self) -> bool {
        self.by.is_none() || self.basis == Basis::Announced
    }
}

/// The facts of a place. By default nothing is known, and others write as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub properties_on_get: Stated<GetBehaviour>,
    pub absent_name: Stated<OmittedField>,
    pub absent_properties: Stated<OmittedField>,
    pub absent_mapping: Stated<OmittedField>,
    /// Nobody writes to this environment except through this directory.
    pub sole_writer: Stated<bool>,
}

/// Who announced a fact, where it is told.
pub const THE_SERVICE: &str = "the service";

/// Who said that a directory is not the only writer because it was restored or copied; as stored.
pub const RESTORED: &str = "a restored or copied directory";

impl Facts {
    /// Since when the directory counts as an older copy: what was known then may lack changes that were sent. Until somebody
    /// has said anew who writes.
    pub fn restored_at(&self) -> Option<Timestamp> {
        let sole = &self.sole_writer;
        let is_restored = !sole.value && sole.by.as_deref() == Some(RESTORED);
        sole.at.filter(|_| is_restored)
    }

    pub fn properties_are_readable(&self) -> bool {
        self.properties_on_get.value == GetBehaviour::Returned
    }

    /// The fields that a read returns.
    pub fn readable(&self) -> Vec<Field> {
        let properties = self.properties_are_readable().then_some(Field::Properties);
        [Some(Field::Name), properties]
            .into_iter()
            .flatten()
            .collect()
    }

    /// What is known in the place of a fact, and whether an announcement of the service replaces it.
    pub fn in_place_of(&self, fact: Fact) -> (Fact, bool) {
        match fact {
            Fact::PropertiesOnGet(_) => {
                let known = &self.properties_on_get;
                (Fact::PropertiesOnGet(known.value), known.may_be_announced())
            }
            Fact::OmittedField(field, _) => {
                let known = self.absent(field);
                let fact = Fact::OmittedField(field, known.value);
                (fact, known.may_be_announced())
            }
            Fact::SoleWriter(_) => (Fact::SoleWriter(self.sole_writer.value), false),
        }
    }

    pub fn absent(&self, field: Field) -> &Stated<OmittedField> {
        match field {
            Field::Name => &self.absent_name,
            Field::Mapping => &self.absent_mapping,
            Field::Properties => &self.absent_properties,
        }
    }
}

word_enum! {
    /// One of the three fields that a person can set.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum Field {
        Name = "name",
        Mapping = "mapping",
        Properties = "properties",
    }
}

impl Field {
    /// The verb after the field: "the mapping is", "the properties are".
    pub const fn is(self) -> &'static str {
        if self.is_plural() { "are" } else { "is" }
    }

    /// The field where it has been named: "replaces it", "replaces them".
    pub const fn it(self) -> &'static str {
        if self.is_plural() { "them" } else { "it" }
    }

    const fn is_plural(self) -> bool {
        matches!(self, Self::Properties)
    }
}

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

    /// By its name and value; `None` if they are inconsistent.
    pub fn parse(name: &str, value: &str) -> Option<Self> {
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
