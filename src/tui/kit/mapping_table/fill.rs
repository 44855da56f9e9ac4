//! Takes over a whole mapping from elsewhere, in one step that can be undone.

use super::{MappingRow, MappingTable};
use crate::domain::group::Mapping;

impl MappingTable {
    /// Makes the table want this mapping: known rows change or are marked for removal, new ones are appended.
    pub fn fill(&mut self, wanted: &Mapping) {
        self.commit();
        if self.value().as_ref() == Ok(wanted) {
            return;
        }
        self.remember();
        let known = |row: &MappingRow| row.before.as_ref().map(|(key, _)| key.clone());
        self.rows.retain(|row| row.before.is_some());
        for row in &mut self.rows {
            let Some((key, value)) = row.before.clone() else {
                continue;
            };
            let now = wanted.get(&key);
            row.is_dropped = now.is_none();
            row.value = now.cloned().unwrap_or(value);
            row.key = key;
        }
        let there: Vec<String> = self.rows.iter().filter_map(known).collect();
        let new = wanted.iter().filter(|(key, _)| !there.contains(key));
        self.rows
            .extend(new.map(|(key, value)| MappingRow::added(key, value)));
        self.cursor = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(rows: &[(&str, &str)]) -> Mapping {
        let rows = rows.iter();
        rows.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn the_table_asks_for_what_it_was_filled_with_and_one_undo_takes_it_back() {
        let before = mapping(&[("7", "40"), ("8", "1")]);
        let mut table = MappingTable::new(Some(&before));
        table.add();
        table.commit();
        let wanted = mapping(&[("7", "213"), ("9", "5")]);
        table.fill(&wanted);
        assert_eq!(table.value(), Ok(wanted));
        assert_eq!(table.count_changes(), 3, "changed, removed and new");
        table.undo();
        assert_eq!(table.value(), Ok(before.clone()));
        table.fill(&before);
        assert!(!table.undo(), "nothing to do is no step");
    }

    #[test]
    fn an_unknown_mapping_is_filled_with_new_rows() {
        let mut table = MappingTable::new(None);
        let wanted = mapping(&[("7", "213")]);
        table.fill(&wanted);
        assert_eq!(table.value(), Ok(wanted));
        assert!(!table.is_known());
    }
}
