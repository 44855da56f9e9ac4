//! The forms of a result that is a list or one object: indented JSON, one object per line, CSV, or only the names. All
//! are made from the same JSON, so they cannot disagree.

use clap::ValueEnum;
use serde::Serialize;

use crate::{api::inspect::escape_hidden, cli::prelude::*, formats::csv_line};

/// The forms of a list.
pub(crate) const EVERY: &[Form] = &[
    Form::Table,
    Form::Wide,
    Form::Json,
    Form::Jsonl,
    Form::Csv,
    Form::Name,
];

/// The forms of what is no list.
pub(crate) const FOR_PROGRAMS: &[Form] = &[Form::Json, Form::Jsonl];

static FORM: OnceLock<Form> = OnceLock::new();
/// The columns of the result as CSV, if it is a list.
static COLUMNS: OnceLock<Vec<String>> = OnceLock::new();
/// Whether a part of an array was printed, but not its end.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Table, fitted to the terminal width
    Table,
    /// With all columns and whole times, nothing cut or omitted
    Wide,
    /// As --json
    Json,
    /// One JSON object per line
    Jsonl,
    /// CSV with a header line; lists and objects as JSON
    Csv,
    /// IDs only, one per line
    Name,
}

impl Form {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Wide => "wide",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Name => "name",
        }
    }

    /// Whether the form is made from JSON.
    pub(crate) fn is_for_programs(self) -> bool {
        !matches!(self, Self::Table | Self::Wide)
    }
}

/// Sets the form from now on, and the columns that a list without lines has as CSV.
pub(crate) fn choose(form: Form, columns: Vec<String>) {
    FORM.get_or_init(|| form);
    COLUMNS.get_or_init(|| columns);
}

pub(crate) fn chosen() -> Option<Form> {
    FORM.get().copied()
}

/// Whether a table may be wider than the terminal, with whole times instead of ages.
pub(crate) fn is_wide() -> bool {
    chosen() == Some(Form::Wide)
}

/// Whether an array was started that is not at its end: nothing else may be printed then.
pub(crate) fn is_open() -> bool {
    IS_OPEN.load(Ordering::SeqCst)
}

/// Writes the items of a list. A single object is treated as a list of one.
#[derive(Default)]
pub(crate) struct Items {
    is_begun: bool,
    /// The columns as CSV, if the person chose them.
    columns: Option<Vec<String>>,
}

impl Items {
    /// With the columns that the person chose.
    pub(crate) fn with_columns(columns: Vec<String>) -> Self {
        Self {
            columns: Some(columns),
            ..Self::default()
        }
    }

    /// The text of more items, continuing the text of those before.
    pub(crate) fn text(
        &mut self,
        items: impl Iterator<Item: Into<Value>>,
    ) -> Result<String, CliError> {
        let mut text = String::new();
        for item in items.map(Into::<Value>::into) {
            match chosen() {
                Some(Form::Jsonl) => {
                    text.push_str(&escape_hidden(&item.to_string()));
                    text.push('\n');
                }
                Some(Form::Csv) => {
                    let fields = item.as_object().into_iter().flatten();
                    let (names, values): (Vec<_>, Vec<_>) = fields.unzip();
                    if !self.is_begun {
                        text.push_str(&csv_line(names.into_iter().cloned().map(Some)));
                    }
                    text.push_str(&csv_line(values.into_iter().map(plain)));
                }
                Some(Form::Name) => {
                    let name = item.get("user_group_id").or_else(|| first(&item));
                    let name = name.and_then(plain).unwrap_or_default();
                    // The rest of it would be another name.
                    text.push_str(&if name.contains(['\n', '\r']) {
                        visible(&name)
                    } else {
                        name.as_str().into()
                    });
                    text.push('\n');
                }
                Some(Form::Json | Form::Table | Form::Wide) | None => {
                    text.push_str(if self.is_begun { "," } else { "[" });
                    let item = serde_json::to_string_pretty(&item)
                        .map_err(CliError::unexpected(NO_JSON))?;
                    for line in item.lines() {
                        text.push_str("\n  ");
                        text.push_str(line);
                    }
                }
            }
            self.is_begun = true;
        }
        let text = match chosen() {
            Some(Form::Jsonl) => text,
            _ => escaped(&text),
        };
        let is_array = matches!(chosen(), Some(Form::Json) | None);
        IS_OPEN.store(is_array && self.is_begun, Ordering::SeqCst);
        Ok(text)
    }

    /// The text after the last item.
    pub(crate) fn end(&mut self) -> String {
        IS_OPEN.store(false, Ordering::SeqCst);
        match (chosen(), self.is_begun) {
            // Whoever reads it needs the header, also above no lines.
            (Some(Form::Csv), false) => {
                let columns = self.columns.take().or_else(|| COLUMNS.get().cloned());
                let columns = columns.filter(|columns| !columns.is_empty());
                columns.map_or_else(String::new, |columns| {
                    csv_line(columns.into_iter().map(Some))
                })
            }
            (Some(Form::Jsonl | Form::Csv | Form::Name), _) => String::new(),
            (_, true) => "\n]\n".into(),
            (_, false) => "[]\n".into(),
        }
    }
}

/// Never expected: every result can be written.
pub(super) const NO_JSON: &str = "the result is not JSON";

/// A whole result in the chosen form. `None` if that is indented JSON.
pub(super) fn whole(result: &impl Serialize) -> Result<Option<String>, CliError> {
    match chosen() {
        Some(Form::Jsonl | Form::Csv | Form::Name) => {
            let result = serde_json::to_value(result).map_err(CliError::unexpected(NO_JSON))?;
            let mut all = Items::default();
            let text = match result {
                Value::Array(items) => all.text(items.into_iter())?,
                one => all.text(std::iter::once(one))?,
            };
            Ok(Some(text + &all.end()))
        }
        _ => Ok(None),
    }
}

fn first(item: &Value) -> Option<&Value> {
    item.as_object()?.values().next()
}

/// A cell: text as it is, nothing for null.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Makes hidden characters visible. CSV and names have no escapes that could be read back, so files and pipes get them as
/// they are, as an export does: an import would take an escape for a part of an ID or a name.
fn escaped(text: &str) -> String {
    match chosen() {
        Some(Form::Csv | Form::Name) if !io::stdout().is_terminal() => text.to_owned(),
        Some(Form::Csv | Form::Name) => {
            let lines = text.split_inclusive('\n');
            let lines = lines.map(|line| {
                let bare = line.trim_end_matches(['\r', '\n']);
                let shown = visible(bare);
                format!("{shown}\n")
            });
            lines.collect()
        }
        _ => escape_hidden(text),
    }
}
