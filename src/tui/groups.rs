//! The groups of the current profile as the console holds them: a copy of the directory, by id, with a text to search.

use jiff::Timestamp;

use crate::domain::{group::UserGroupId, known::KnownGroup};

#[derive(Debug, Clone)]
pub struct Listed {
    pub group: KnownGroup,
    /// Lower-case name, id, tag, fingerprint and team id.
    haystack: String,
}

impl Listed {
    fn new(group: KnownGroup) -> Self {
        let mut haystack = format!("{} {}", group.title(), group.id.as_str()).to_lowercase();
        let tag = group
            .environment_tag
            .as_ref()
            .map(|known| known.value.to_string());
        let fingerprint = group
            .fingerprint
            .as_ref()
            .map(|known| known.value.to_string());
        let team = group.team_id.as_ref().map(|known| known.value.to_string());
        for more in [tag, fingerprint, team].into_iter().flatten() {
            haystack.push(' ');
            haystack.push_str(&more.to_lowercase());
        }
        Self { group, haystack }
    }

    /// Whether every word (lower case) is somewhere in it.
    pub fn holds(&self, words: &[String]) -> bool {
        words.iter().all(|word| self.haystack.contains(word))
    }
}

/// Ordered by id.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    rows: Vec<Listed>,
    /// When the directory was read; `None` before the first time.
    pub read_at: Option<Timestamp>,
    /// Changes whenever the rows do, so that views know when to look again.
    pub generation: u64,
}

impl Groups {
    pub fn replace(&mut self, groups: Vec<KnownGroup>, at: Timestamp) {
        self.rows = groups.into_iter().map(Listed::new).collect();
        self.rows.sort_by(|a, b| a.group.id.cmp(&b.group.id));
        self.read_at = Some(at);
        self.generation += 1;
    }

    /// Takes in what is known of one group now.
    pub fn upsert(&mut self, group: KnownGroup) {
        match self.position(&group.id) {
            Ok(at) => self.rows[at] = Listed::new(group),
            Err(at) => self.rows.insert(at, Listed::new(group)),
        }
        self.generation += 1;
    }

    pub fn get(&self, id: &UserGroupId) -> Option<&KnownGroup> {
        let at = self.position(id).ok()?;
        Some(&self.rows[at].group)
    }

    pub fn rows(&self) -> &[Listed] {
        &self.rows
    }

    pub fn all(&self) -> impl Iterator<Item = &KnownGroup> {
        self.rows.iter().map(|row| &row.group)
    }

    pub fn ids(&self) -> impl Iterator<Item = &UserGroupId> {
        self.rows.iter().map(|row| &row.group.id)
    }

    fn position(&self, id: &UserGroupId) -> Result<usize, usize> {
        self.rows.binary_search_by(|row| row.group.id.cmp(id))
    }
}
