//! `--name`, `--map`, `--property` and related options: read and checked before anything is sent, then merged into what
//! is known.

use std::collections::HashSet;

use crate::{
    cli::{args::Fields, error::blocking, output, prelude::*},
    domain::{batch::BulkChange, size::check_size, spreadsheet},
    formats::{Parts, Reader, RowResult, is_json, strict_json},
    intake::{
        pairs::{pair, second_key, unquoted},
        text,
    },
    search::suggest::similar,
};

/// In bytes. More than any service accepts; a longer file must be the wrong one.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// The changes that a person wants.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    /// Fields that are replaced whole.
    replaced: DesiredFields,
    /// Single rows and keys of a file, in columns of their own.
    parts: Parts,
    map: Vec<(String, String)>,
    unmap: Vec<String>,
    property: Vec<(String, Value)>,
    remove_property: Vec<String>,
}

impl Edits {
    /// Reads the options and the files they name, on a blocking thread because standard input may have to be waited
    /// for.
    pub(crate) async fn read(
        fields: Fields,
        unmap: Vec<String>,
        remove_property: Vec<String>,
    ) -> Result<Self, CliError> {
        let read = move || Self::read_now(&fields, unmap, remove_property);
        blocking("the options could not be read", read).await
    }

    /// Reads a whole group as `export` writes it. It must be the only group in the file and have this id.
    pub(crate) async fn of_file(path: PathBuf, id: UserGroupId) -> Result<Self, CliError> {
        blocking("the file could not be read", move || {
            let is_json = is_json(&path);
            let row = file("--apply", Some(&path), |text| only_row(text, &id, is_json))?;
            Ok::<_, CliError>(row.map(Self::of_row).unwrap_or_default())
        })
        .await
    }

    /// Replaces these fields whole.
    pub(crate) fn of_fields(replaced: DesiredFields) -> Self {
        Self {
            replaced,
            ..Self::default()
        }
    }

    fn of_row(row: GroupRow) -> Self {
        Self {
            replaced: row.fields,
            parts: row.parts,
            ..Self::default()
        }
    }

    /// Like [`Self::of_file`], for a text, which is JSON. `Err` is the reason why the text is not that group.
    pub(crate) fn of_text(text: &str, id: &UserGroupId) -> Result<Self, String> {
        only_row(text, id, true).map(Self::of_row)
    }

    fn read_now(
        fields: &Fields,
        unmap: Vec<String>,
        remove_property: Vec<String>,
    ) -> Result<Self, CliError> {
        let is_input = |path: &Option<std::path::PathBuf>| path.as_deref() == Some(Path::new("-"));
        if is_input(&fields.mapping) && is_input(&fields.properties) {
            return Err(usage(
                "--mapping and --properties cannot both read standard input",
            ));
        }
        let map = fields.map.iter().map(|row| map_row(row));
        let map = map.collect::<Result<Vec<_>, _>>()?;
        let property = fields.property.iter().map(|text| property(text));
        let property = property.collect::<Result<Vec<_>, _>>()?;
        refuse_duplicates("--map", map.iter().map(|(key, _)| key).chain(&unmap))?;
        refuse_duplicates(
            "--property",
            property.iter().map(|(key, _)| key).chain(&remove_property),
        )?;
        let replaced = DesiredFields {
            name: fields.name.clone(),
            mapping: file("--mapping", fields.mapping.as_deref(), strict_json::mapping)?,
            properties: file(
                "--properties",
                fields.properties.as_deref(),
                strict_json::properties,
            )?,
        };
        // Checked before the group is read.
        check_size(&replaced).map_err(Failure::from)?;
        Ok(Self {
            replaced,
            parts: Parts::default(),
            map,
            unmap,
            property,
            remove_property,
        })
    }

    /// The fields that are replaced whole.
    pub(crate) fn whole(&self) -> Vec<Field> {
        let fields = [Field::Mapping, Field::Properties].into_iter();
        fields.filter(|field| self.replaced.has(*field)).collect()
    }

    /// The complete wanted values, starting from `base`. Single changes to a field that is not known stand alone;
    /// whether they may be sent that way is decided later.
    pub(crate) fn apply(&self, base: &DesiredFields) -> Result<DesiredFields, CliError> {
        let mut wanted = self.replaced.over(base);
        self.parts.lay_over(&mut wanted);
        if !(self.map.is_empty() && self.unmap.is_empty()) {
            let mapping = wanted.mapping.get_or_insert_default();
            for key in &self.unmap {
                // Blanks around it count only if there is such a row.
                let removed = mapping.shift_remove(key);
                if removed.is_none() && mapping.shift_remove(key.trim()).is_none() {
                    let what = "--unmap: the mapping has no row";
                    return Err(missing_key(what, key, &mapping.keys().collect()));
                }
            }
            mapping.extend(self.map.iter().cloned());
        }
        if !(self.property.is_empty() && self.remove_property.is_empty()) {
            let properties = wanted.properties.get_or_insert_default();
            for key in &self.remove_property {
                let removed = properties.shift_remove(key);
                if removed.is_none() && properties.shift_remove(key.trim()).is_none() {
                    let what = "--remove-property: the properties have no key";
                    return Err(missing_key(what, key, &properties.keys().collect()));
                }
            }
            properties.extend(self.property.iter().cloned());
        }
        check_size(&wanted).map_err(Failure::from)?;
        Ok(wanted)
    }
}

/// The single mapping row or property that is changed in many groups.
pub(crate) fn bulk_change(
    fields: &Fields,
    unmap: &[String],
    remove_property: &[String],
    only_where: Option<&str>,
) -> Result<BulkChange, CliError> {
    let is_whole = fields.name.is_some() || fields.mapping.is_some() || fields.properties.is_some();
    // As for pairs, blanks around it are not part of it. A data source can be empty.
    let only_where = only_where.map(str::trim);
    let change = match (
        fields.map.as_slice(),
        unmap,
        fields.property.as_slice(),
        remove_property,
    ) {
        ([row], [], [], []) if !is_whole => {
            let (schema, source) = map_row(row)?;
            BulkChange::mapping(&schema, Some(&source), only_where)
        }
        ([], [schema], [], []) if !is_whole => {
            refuse_prefix("--unmap", "map:", schema)?;
            BulkChange::mapping(schema, None, only_where)
        }
        ([], [], [row], []) if !is_whole => {
            let (key, value) = property(row)?;
            BulkChange::property(&key, Some(&value.to_string()), only_where)
        }
        ([], [], [], [key]) if !is_whole => {
            refuse_prefix("--remove-property", "prop:", key)?;
            BulkChange::property(key, None, only_where)
        }
        _ if only_where.is_some() => {
            return Err(usage(
                "--if-value needs one of --map, --unmap, --property or --remove-property, and no other field option; nothing \
                 was sent",
            ));
        }
        ([], [], [], []) if !is_whole => {
            return Err(usage(
                "update needs a change, for example --map 7=213; nothing was sent",
            ));
        }
        _ => {
            return Err(usage(
                "an update of several groups changes one row: use one --map, --unmap, --property or --remove-property, and no \
                 other field option; nothing was sent",
            ));
        }
    };
    change.map_err(|error| usage(&with_state(&error.to_string(), "nothing was sent")))
}

/// How many known keys are named.
const NEAR: usize = 3;

/// What stands between keys.
const BETWEEN: [char; 6] = [' ', ',', ';', '=', '\n', '\t'];

/// Whether a key that several groups lack must be another one than was meant; otherwise it may be removed already, and
/// repeating a finished run is no mistake.
pub(crate) fn is_another_key(key: &str, known: &BTreeSet<&String>) -> bool {
    // Numbers that are spelled nearly alike are others.
    let is_number = key.bytes().all(|byte| byte.is_ascii_digit());
    let mut words = key.split(BETWEEN);
    key.trim().is_empty()
        || words.any(|word| known.contains(&word.to_owned()))
        || known
            .iter()
            .any(|other| spreadsheet::spelling(other) == spreadsheet::spelling(key))
        || !is_number && !similar(key, known.iter().copied(), 1).is_empty()
}

/// Refuses to remove a key that is not there: to count as done it would have to be another one. Names those of the known keys
/// that it consists of, as in `40 134`, else the nearest one.
pub(crate) fn missing_key(what: &str, key: &str, known: &BTreeSet<&String>) -> CliError {
    let words = key.split(BETWEEN);
    let mut near: Vec<_> = words
        .filter_map(|word| known.get(&word.to_owned()))
        .copied()
        .collect();
    near.dedup();
    if near.is_empty() {
        near = similar(key, known.iter().copied(), 1);
    }
    near.truncate(NEAR);
    let near = near.iter().map(|near| format!("\"{}\"", visible(near)));
    let meant = match joined(near, ", ") {
        none if none.is_empty() => none,
        near => format!("; did you mean {near}?"),
    };
    usage(&format!(
        "{what} \"{}\"; nothing was changed{meant}",
        visible(key)
    ))
}

/// The only group of a file, in any format of `export`.
fn only_row(text: &str, id: &UserGroupId, is_json: bool) -> Result<GroupRow, String> {
    let mut reads = Vec::new();
    let mut reader = Reader::default();
    if is_json {
        reader.expect_json();
    }
    let mut out = |read: RowResult| reads.push(read);
    reader.push(text.as_bytes(), &mut out)?;
    reader.end(&mut out)?;
    // A sign too many makes a row of its own.
    if let Some(wrong) = reads.iter().position(|read| read.row.is_err()) {
        reads.swap(0, wrong);
        reads.truncate(1);
    }
    let count = reads.len();
    let mut reads = reads.into_iter();
    let (Some(only), None) = (reads.next(), reads.next()) else {
        return Err(match count {
            0 => "contains no group; use the format of `groupdesk export`".into(),
            _ => format!(
                "contains {count} groups instead of one; for several groups, use `groupdesk apply`"
            ),
        });
    };
    let row = only.row.map_err(|why| {
        let end = if why.starts_with("column ") { "," } else { ":" };
        format!("line {}{end} {why}", only.line)
    })?;
    if !row.annotation.is_empty() {
        return Err(
            "contains a note, labels or a favourite, which are not sent to the service; use `groupdesk apply`, or remove those \
             columns"
                .into(),
        );
    }
    if row.id != *id {
        return Err(format!(
            "is for \"{}\", not for \"{id}\"; use that ID, or another file",
            row.id
        ));
    }
    Ok(row)
}

fn map_row(text: &str) -> Result<(String, String), CliError> {
    let (schema, source) = pair(text).map_err(|why| {
        usage(&format!(
            "--map: {why}; expected a schema ID, =, and a data source ID: --map 40=213"
        ))
    })?;
    let plain = unquoted(source);
    if plain.is_empty() {
        return Err(usage(
            "--map: there is nothing after the =; expected a schema ID, =, and a data source ID: --map 40=213",
        ));
    }
    refuse_prefix("--map", "map:", schema)?;
    if schema.contains('"') || plain.contains('"') {
        return Err(usage(
            "--map: there is a quote in it; nothing was sent. Write 40=213, with one --map for each row. For an ID \
             that contains a quote, use JSON: --mapping FILE",
        ));
    }
    if let Some(second) = second_key(source, &["="]).filter(|_| plain == source) {
        let (one, two) = (visible(schema), visible(second));
        return Err(usage(&format!(
            "--map {one}: this looks like two rows; nothing was sent. Two rows: --map {one}=ID --map {two}=ID. As one value, \
             write it as JSON: --mapping FILE"
        )));
    }
    Ok((schema.to_owned(), plain.to_owned()))
}

/// Refuses a key as filters and columns write it: it would be another one.
fn refuse_prefix(option: &str, prefix: &str, key: &str) -> Result<(), CliError> {
    let Some(plain) = key.strip_prefix(prefix) else {
        return Ok(());
    };
    Err(usage(&format!(
        "{option}: only filters and columns have {prefix} before a key; nothing was sent. Write only the key: {}",
        visible(plain)
    )))
}

/// Says what a spreadsheet or a program may have written in the place of a value, as for the rows of a file.
fn say_cell(field: &str, text: &str) {
    if let Some(what) = spreadsheet::changed(field, text) {
        output::context(&format!("! the {field} \"{}\" is {what}", visible(text)));
    }
}

/// Says it of everything that is to be sent and is new, wherever it comes from: options, a file, an editor, another group.
pub(crate) fn say_cells(base: &DesiredFields, fields: &DesiredFields) {
    if let Some(name) = fields.name.as_ref().filter(|_| fields.name != base.name) {
        say_cell("name", name);
    }
    let known = |schema| base.mapping.as_ref().and_then(|rows| rows.get(schema));
    for (schema, source) in fields.mapping.iter().flatten() {
        if known(schema) != Some(source) {
            say_cell("mapping", schema);
            say_cell("mapping", source);
        }
    }
    let known = |key| base.properties.as_ref().and_then(|all| all.get(key));
    for (key, value) in fields.properties.iter().flatten() {
        if known(key) != Some(value) {
            say_cell("property", key);
            say_cell("property", value.as_str().unwrap_or_default());
        }
    }
    for (field, key) in spreadsheet::spelled_otherwise(fields, base) {
        let what = spreadsheet::SPELLED_OTHERWISE;
        output::context(&format!("! the {field} \"{}\" is {what}", visible(key)));
    }
}

fn property(text: &str) -> Result<(String, Value), CliError> {
    let (key, value) = pair(text).map_err(|why| {
        usage(&format!(
            "--property: {why}; expected a key, =, and a JSON value: --property 'seats=25'"
        ))
    })?;
    let value = strict_json::value(value).map_err(|error| {
        if let Some(second) = second_key(value, &["="]) {
            let (one, two) = (visible(key), visible(second));
            return usage(&format!(
                "--property {one}: this looks like two properties; nothing was sent. Two properties: --property {one}=JSON \
                 --property {two}=JSON. As one value, write it as a JSON string"
            ));
        }
        usage(&format!(
            "--property {}: {error}; strings need quotes: --property '{}=\"gold\"'",
            visible(key),
            visible(key)
        ))
    })?;
    refuse_prefix("--property", "prop:", key)?;
    Ok((key.to_owned(), value))
}

fn refuse_duplicates<'a>(
    option: &str,
    keys: impl Iterator<Item = &'a String>,
) -> Result<(), CliError> {
    let mut seen = HashSet::new();
    for key in keys {
        if !seen.insert(key) {
            return Err(usage(&format!(
                "{option}: \"{}\" is given twice; nothing was sent",
                visible(key)
            )));
        }
    }
    Ok(())
}

fn file<T>(
    option: &str,
    path: Option<&Path>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, CliError> {
    let Some(path) = path else { return Ok(None) };
    let name = text::name(path);
    let failed = |why: String| usage(&format!("{option}: {name}: {why}"));
    let text = text::of_source(path, MAX_FILE).map_err(|fault| failed(fault.to_string()))?;
    parse(&text).map(Some).map_err(failed)
}

fn usage(text: &str) -> CliError {
    CliError::Usage(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::fields as desired;

    fn edits(fields: &Fields) -> Result<Edits, CliError> {
        Edits::read_now(fields, Vec::new(), Vec::new())
    }

    #[test]
    fn single_changes_are_laid_over_what_is_known() {
        let base = desired(
            "Acme",
            &[("40", "213"), ("7", "1")],
            r#"{"tier":"gold","x":1}"#,
        );
        let fields = Fields {
            map: vec!["40=9=9".into(), "8=2".into()],
            property: vec!["seats=25".into()],
            ..Fields::default()
        };
        let edits = Edits::read_now(&fields, vec!["7".into()], vec!["x".into()]).expect("read");
        let wanted = edits.apply(&base).expect("applied");
        let rows = [("40", "9=9"), ("8", "2")];
        assert_eq!(
            wanted,
            desired("Acme", &rows, r#"{"tier":"gold","seats":25}"#)
        );
    }

    #[test]
    fn the_text_of_an_editor_is_json_whatever_it_begins_with() {
        let id = UserGroupId::parse("acme").expect("an ID");
        let group = "{\n  \"user_group_id\": \"acme\",\n  \"name\": \"A\"\n}\n";
        assert!(Edits::of_text(group, &id).is_ok());
        for (before, line) in [("// changed\n", 1), ("\r\n\n# changed\n", 3)] {
            let why = Edits::of_text(&format!("{before}{group}"), &id).expect_err("refused");
            assert!(why.starts_with(&format!("line {line}: not JSON")), "{why}");
        }
        let one_too_many = format!("{group}}}\n");
        let comment = group.replacen('{', "{ // changed", 1);
        for (text, line) in [(one_too_many, 5), (comment, 1)] {
            let why = Edits::of_text(&text, &id).expect_err("refused");
            assert!(why.starts_with(&format!("line {line}")), "{why}");
            assert!(why.contains("not JSON"), "{why}");
        }
    }

    #[test]
    fn what_is_given_by_a_file_is_whole_and_rows_are_not() {
        let fields = Fields {
            map: vec!["40=1".into()],
            ..Fields::default()
        };
        let rows = edits(&fields).expect("read");
        assert_eq!(rows.whole(), []);
        let wanted = rows.apply(&DesiredFields::default()).expect("applied");
        assert_eq!(
            wanted.mapping.as_ref().map(indexmap::IndexMap::len),
            Some(1)
        );
        let whole = Edits {
            replaced: wanted,
            ..Edits::default()
        };
        assert_eq!(whole.whole(), [Field::Mapping]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (map, property) in [
            (&["40"][..], &[][..]),
            (&["=1"], &[]),
            (&["40="], &[]),
            (&["40=1", "40=2"], &[]),
            (&["40=213,41=5"], &[]),
            (&["40 = 213; 41 = 5"], &[]),
            (&["40=213 41=5"], &[]),
            (&["40=213\t41 = 5"], &[]),
            (&["40=a b\n41=5"], &[]),
            (&["40 -> 213\n41=5"], &[]),
            (&["40=>213"], &[]),
            (&["40='' "], &[]),
            (&["map:40=213"], &[]),
            (&[], &["prop:seats=5"]),
            (&[], &["seats==5"]),
            (&[], &["a=1,b=2"]),
            (&[], &["tier"]),
            (&[], &["tier=gold"]),
            (&[], &["a=1", "a=2"]),
        ] {
            let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
            let fields = Fields {
                map: texts(map),
                property: texts(property),
                ..Fields::default()
            };
            let is_refused = matches!(edits(&fields), Err(CliError::Usage(_)));
            assert!(is_refused, "{map:?} {property:?}");
        }
        for one in [
            "40=a,b",
            "40=213;",
            "40=x, y z=1",
            "40=\"213 41=5\"",
            "acme-eu=orders-eu",
            "40=https://x/?a=1",
        ] {
            assert!(map_row(one).is_ok(), "{one}");
        }
        for quoted in ["\"40\"=\"213\"", "40='213'", "'40' = 213"] {
            let row = map_row(quoted).expect("read");
            assert_eq!(row, ("40".to_owned(), "213".to_owned()), "{quoted}");
        }
        let two = map_row("40=213,41=5").expect_err("two rows").to_string();
        assert!(two.contains("--map 40=ID --map 41=ID"), "{two}");
        assert!(property("a=\"1,b=2\"").is_ok(), "a string has its quotes");
        let two = property("a=1,b=2").expect_err("two").to_string();
        assert!(two.contains("--property a=JSON --property b=JSON"), "{two}");
        let nothing = Edits {
            unmap: vec!["1".into()],
            ..Edits::default()
        };
        assert!(nothing.apply(&DesiredFields::default()).is_err());
    }

    #[test]
    fn a_missing_key_is_refused_with_the_known_ones_in_it() {
        let known = ["134", "40", "7", "tier"].map(str::to_owned);
        let known = known.iter().collect();
        for (key, near) in [
            ("40 134", "did you mean \"40\", \"134\"?"),
            ("7,x1", "did you mean \"7\"?"),
            ("teir", "did you mean \"tier\"?"),
            ("zzzz", "nothing was changed"),
        ] {
            let text = missing_key("no key", key, &known).to_string();
            assert!(text.ends_with(near), "{text}");
        }
    }

    /// Which key that is, only the groups know.
    #[test]
    fn a_key_of_any_shape_may_be_removed_from_many_groups() {
        let fields = Fields::default();
        let bulk = |unmap: &[&str], remove: &[&str]| {
            let [unmap, remove] = [unmap, remove]
                .map(|keys| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
            bulk_change(&fields, &unmap, &remove, None)
        };
        for key in ["7,x1", "7;8", "7=50", "7\n8"] {
            assert!(bulk(&[key], &[]).is_ok(), "{key}");
            assert!(bulk(&[], &[key]).is_ok(), "{key}");
        }
        assert!(bulk(&["map:7"], &[]).is_err());
        assert!(bulk(&[], &["prop:tier"]).is_err());
        assert!(bulk(&["acme-eu"], &[]).is_ok());
        assert!(bulk(&[], &["billing contact"]).is_ok());
    }
}
