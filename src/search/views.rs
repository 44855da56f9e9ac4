//! How a list is viewed: its filter, its order, its columns.

use std::{fmt, str::FromStr, sync::Arc};

use crate::domain::annotation::Attribution;

/// Prefix of the name of a column that shows a property.
const PROPERTY: &str = "prop.";

/// As a person names it; a property also as the filter does.
impl FromStr for SortBy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let property = text.strip_prefix("prop:").map(|key| format!("prop.{key}"));
        Self::parse(property.as_deref().unwrap_or(text)).ok_or(
            "expected name, id, tag, map, props, fingerprint, age, read or prop:KEY, such as prop:tier",
        )
    }
}

/// Makes an enum of columns, each beside its stored name; any property is a column as well.
macro_rules! columns {
    ($(#[$about:meta])* $name:ident($key:ty) { $($(#[$of_one:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        pub enum $name {
            $($(#[$of_one])* $variant,)+
            /// The value of a property.
            Property($key),
        }

        impl $name {
            /// All except the properties, in default order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The stored name, or the key of the property.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Property(key) => key,
                }
            }

            fn named(text: &str) -> Option<Self> {
                match text.strip_prefix(PROPERTY) {
                    Some(key) => (!key.is_empty()).then(|| Self::Property(key.into())),
                    None => Self::ALL.into_iter().find(|known| known.name() == text),
                }
            }
        }

        /// The stored name.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let prefix = if matches!(self, Self::Property(_)) { PROPERTY } else { "" };
                write!(f, "{prefix}{}", self.name())
            }
        }
    };
}

/// As people call the column that is stored as `token`.
pub const FINGERPRINT: &str = "fingerprint";

columns! {
    /// A column to sort by; of properties numbers come first, by value, then texts.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    SortBy(Arc<str>) {
        #[default]
        Name = "name",
        Id = "id",
        Tag = "tag",
        Mapping = "map",
        Properties = "props",
        Token = "token",
        Rotated = "rotated",
        Seen = "seen",
    }
}

columns! {
    /// A column of the list.
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    ListColumn(String) {
        Name = "name",
        Id = "id",
        Age = "age",
        Token = "token",
        Map = "map",
        Props = "props",
        Due = "due",
        Labels = "labels",
        By = "by",
        Read = "read",
        Tag = "tag",
    }
}

impl SortBy {
    /// The names that people use; for properties, the prefix.
    pub const WORDS: [&str; 9] = [
        "name",
        "id",
        "tag",
        "map",
        "props",
        FINGERPRINT,
        "age",
        "read",
        "prop:",
    ];

    /// Parses the stored name, or the one that people use.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "age" | "due" => Some(Self::Rotated),
            "read" => Some(Self::Seen),
            FINGERPRINT => Some(Self::Token),
            _ => Self::named(text),
        }
    }

    /// The next column; `None` after the last.
    pub fn next(&self) -> Option<Self> {
        let at = Self::ALL.iter().position(|known| known == self)?;
        Self::ALL.get(at + 1).cloned()
    }

    /// As the column is called.
    pub fn word(&self) -> String {
        match self {
            Self::Rotated => "age".to_owned(),
            Self::Seen => "read".to_owned(),
            Self::Token => FINGERPRINT.to_owned(),
            _ => self.to_string(),
        }
    }
}

impl ListColumn {
    /// As the column is called: no token is shown.
    pub fn word(&self) -> String {
        match self {
            Self::Token => FINGERPRINT.to_owned(),
            _ => self.to_string(),
        }
    }

    /// Parses `id` or `prop.tier`.
    pub fn parse(text: &str) -> Option<Self> {
        let lower = text.to_lowercase();
        match &*lower {
            FINGERPRINT => Some(Self::Token),
            _ if text.starts_with(PROPERTY) => Self::named(text),
            _ => Self::ALL.into_iter().find(|known| known.name() == lower),
        }
    }

    /// Parses several columns, separated by commas; `None` if one is not a column. A comma in the key of a property is
    /// written `\,`.
    pub fn parse_all(text: &str) -> Option<Vec<Self>> {
        let mut columns = Vec::new();
        for word in column_words(text) {
            let column = Self::parse(&word)?;
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        Some(columns)
    }

    /// The format that [`Self::parse_all`] reads.
    pub fn text_of(columns: &[Self]) -> String {
        let words = columns.iter().map(|column| {
            let name = column.to_string();
            name.replace('\\', "\\\\").replace(',', "\\,")
        });
        words.collect::<Vec<_>>().join(",")
    }
}

/// The words between commas, trimmed. A backslash escapes the next character.
pub fn column_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match sign {
            ',' => words.push(String::new()),
            '\\' => words.last_mut().expect("one is there").extend(signs.next()),
            sign => words.last_mut().expect("one is there").push(sign),
        }
    }
    let words = words.into_iter().map(|word| word.trim().to_owned());
    words.filter(|word| !word.is_empty()).collect()
}

/// How a person left a list, as it is restored at the next start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListView {
    pub filter: String,
    pub sort: SortBy,
    pub reverse: bool,
    /// Order by best match, as long as the filter contains words.
    pub best_first: bool,
    /// The chosen columns in order; empty for the default ones.
    pub columns: Vec<ListColumn>,
}

impl Default for ListView {
    fn default() -> Self {
        Self {
            filter: String::new(),
            sort: SortBy::default(),
            reverse: false,
            best_first: true,
            columns: Vec::new(),
        }
    }
}

/// A view that was saved under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedView {
    /// As written after `@`: lower case, without spaces.
    pub name: String,
    pub view: ListView,
    /// Who saved it, and when.
    pub written: Attribution,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_as_they_were_written() {
        let columns =
            ListColumn::parse_all("name, ID,age,prop.tier,prop.a\\,b\\\\c,name").expect("columns");
        let expected = [
            ListColumn::Name,
            ListColumn::Id,
            ListColumn::Age,
            ListColumn::Property("tier".into()),
            ListColumn::Property("a,b\\c".into()),
        ];
        assert_eq!(columns, expected);
        assert_eq!(
            ListColumn::parse_all(&ListColumn::text_of(&columns)),
            Some(columns)
        );
        assert_eq!(ListColumn::parse_all(""), Some(Vec::new()));
        assert_eq!(ListColumn::parse_all("name,size"), None);
    }

    #[test]
    fn an_order_is_read_as_it_is_kept_and_as_people_call_it() {
        for sort in SortBy::ALL
            .into_iter()
            .chain([SortBy::Property("name".into())])
        {
            assert_eq!(SortBy::parse(&sort.to_string()), Some(sort));
        }
        assert_eq!(SortBy::parse("age"), Some(SortBy::Rotated));
        assert_eq!(SortBy::parse("size"), None);
    }
}
