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
            "expected name, id, tag, map, props, token, age, read or prop:KEY, such as prop:tier",
        )
    }
}

/// A column to sort by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SortBy {
    #[default]
    Name,
    Id,
    Tag,
    Mapping,
    Properties,
    Token,
    Rotated,
    Seen,
    /// The value of a property: numbers first, by value, then texts.
    Property(Arc<str>),
}

impl SortBy {
    /// All except the properties.
    pub const ALL: [Self; 8] = [
        Self::Name,
        Self::Id,
        Self::Tag,
        Self::Mapping,
        Self::Properties,
        Self::Token,
        Self::Rotated,
        Self::Seen,
    ];

    /// The names that people use; for properties, the prefix.
    pub const WORDS: [&str; 9] = [
        "name", "id", "tag", "map", "props", "token", "age", "read", "prop:",
    ];

    /// Parses the stored name, or the one that people use.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "age" | "due" => return Some(Self::Rotated),
            "read" => return Some(Self::Seen),
            "fingerprint" => return Some(Self::Token),
            _ => {}
        }
        if let Some(key) = text.strip_prefix(PROPERTY) {
            return (!key.is_empty()).then(|| Self::Property(key.into()));
        }
        Self::ALL.into_iter().find(|known| known.stored() == text)
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
            _ => self.to_string(),
        }
    }

    fn stored(&self) -> &str {
        match self {
            Self::Name => "name",
            Self::Id => "id",
            Self::Tag => "tag",
            Self::Mapping => "map",
            Self::Properties => "props",
            Self::Token => "token",
            Self::Rotated => "rotated",
            Self::Seen => "seen",
            Self::Property(key) => key,
        }
    }
}

/// The stored name.
impl fmt::Display for SortBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(self, Self::Property(_)) {
            f.write_str(PROPERTY)?;
        }
        f.write_str(self.stored())
    }
}

/// A column of the list.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ListColumn {
    Id,
    Name,
    Age,
    Token,
    Map,
    Props,
    Due,
    Labels,
    By,
    Read,
    Tag,
    /// The value of a property.
    Property(String),
}

impl ListColumn {
    /// All except the properties, in default order.
    pub const ALL: [Self; 11] = [
        Self::Name,
        Self::Id,
        Self::Age,
        Self::Token,
        Self::Map,
        Self::Props,
        Self::Due,
        Self::Labels,
        Self::By,
        Self::Read,
        Self::Tag,
    ];

    /// Parses `id` or `prop.tier`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(key) = text.strip_prefix(PROPERTY) {
            return (!key.is_empty()).then(|| Self::Property(key.to_owned()));
        }
        let text = text.to_lowercase();
        if text == "fingerprint" {
            return Some(Self::Token);
        }
        Self::ALL.into_iter().find(|known| known.name() == text)
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

    /// The column's name, or the key of the property.
    pub fn name(&self) -> &str {
        match self {
            Self::Id => "id",
            Self::Name => "name",
            Self::Age => "age",
            Self::Token => "token",
            Self::Map => "map",
            Self::Props => "props",
            Self::Due => "due",
            Self::Labels => "labels",
            Self::By => "by",
            Self::Read => "read",
            Self::Tag => "tag",
            Self::Property(key) => key,
        }
    }
}

impl fmt::Display for ListColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(self, Self::Property(_)) {
            f.write_str(PROPERTY)?;
        }
        f.write_str(self.name())
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
