//! A filter of rows that are not groups themselves: entries of the history, rotations, batches, messages. It has the
//! words of the command line; time, person and operation are asked of the row, every other test of its group.

use std::{fmt::Write as _, time::Duration};

use jiff::Timestamp;

use super::{
    Query, Views,
    parse::{Piece, Reader, looks_like_a_test, pieces},
};
use crate::{
    domain::{history::Operation, when},
    search::normalize::lowered,
};

/// What the rows of a list can be asked for, besides words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowTest {
    /// `since:` and `until:`.
    Time,
    /// `by:`.
    Operator,
    /// `operation:`.
    Operation,
    /// Everything that can be asked of a group.
    Group,
}

/// What a row answers to these tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowFacts<'r> {
    pub at: Option<Timestamp>,
    pub by: Option<&'r str>,
    pub operation: Option<Operation>,
}

/// How a filter of rows is read.
#[derive(Debug, Clone, Copy)]
pub struct RowRules<'a> {
    /// What this list can be asked for.
    pub tests: &'a [RowTest],
    pub views: &'a Views,
    /// The token age limit of the profile, if it has one.
    pub limit: Option<Duration>,
    /// What ages count from.
    pub now: Timestamp,
}

/// A parsed filter of rows. A row must match all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowQuery {
    /// Words in lower case; `true`: the row must not have it. The same for the others.
    words: Vec<(String, bool)>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    by: Vec<(String, bool)>,
    operations: Vec<(Operation, bool)>,
    /// What is asked of the group of a row.
    pub group: Query,
    /// Parts that were ignored, each with the reason.
    pub wrong: Vec<String>,
    /// Words that look like a test but are not. Worth mentioning if nothing matches.
    pub doubtful: Vec<String>,
}

/// The tests of rows, as a filter begins them.
const NAMES: [(&str, RowTest); 5] = [
    ("since", RowTest::Time),
    ("until", RowTest::Time),
    ("by", RowTest::Operator),
    ("operation", RowTest::Operation),
    ("op", RowTest::Operation),
];

const NOT_HERE: &str = "not possible in this list";

impl RowQuery {
    pub fn parse(text: &str, rules: RowRules<'_>) -> Self {
        let mut query = Self::default();
        for piece in pieces(text) {
            if let Err(why) = query.take(&piece, rules) {
                query.wrong.push(format!("{}: {why}", piece.text));
            }
        }
        query
    }

    fn take(&mut self, piece: &Piece, rules: RowRules<'_>) -> Result<(), String> {
        let tests = rules.tests;
        let named = piece.text.split_once(':').filter(|_| !piece.quoted);
        let named = named.map(|(name, value)| (lowered(name), value));
        let test = named.as_ref().and_then(|(name, _)| {
            let mut names = NAMES.into_iter();
            names.find(|(known, _)| known == name)
        });
        if let (Some((name, test)), Some((_, value))) = (test, &named)
            && !piece.torn
        {
            if !tests.contains(&test) {
                return Err(NOT_HERE.into());
            }
            return self.take_test(name, value, piece.negated, rules.now);
        }
        if let Some((name, _)) = &named
            && let Some((meant, _)) = NAMES
                .into_iter()
                .find(|(known, _)| strsim::damerau_levenshtein(known, name) == 1 && known.len() > 2)
        {
            return Err(format!("did you mean {meant}:? In quotes it is a word"));
        }
        let reader = Reader::new(rules.limit, rules.views);
        let found = reader
            .piece(piece, &mut Vec::new())
            .map_err(|why| why.to_string())?;
        let is_word = found.tests.is_empty() && !piece.text.starts_with('@');
        if is_word {
            if !piece.quoted && looks_like_a_test(&piece.text) {
                let doubtful = format!("{}: not a test, searched as a word", piece.text);
                self.doubtful.push(doubtful);
            }
            let word = lowered(&piece.text);
            let is_asked = !word.is_empty();
            self.words.extend(is_asked.then_some((word, piece.negated)));
        } else if tests.contains(&RowTest::Group) {
            self.wrong
                .extend(found.wrong.iter().map(ToString::to_string));
            self.group.add(found, piece.negated);
        } else {
            return Err(NOT_HERE.into());
        }
        Ok(())
    }

    fn take_test(
        &mut self,
        name: &str,
        value: &str,
        negated: bool,
        now: Timestamp,
    ) -> Result<(), String> {
        match name {
            "since" | "until" => {
                let at = when::parse(value)?.at(now);
                // Not since then is until then.
                if (name == "since") == negated {
                    self.until = Some(self.until.map_or(at, |until| until.min(at)));
                } else {
                    self.since = Some(self.since.map_or(at, |since| since.max(at)));
                }
            }
            "by" if value.is_empty() => return Err("write by:li".into()),
            "by" => self.by.push((lowered(value), negated)),
            _ => {
                let operation = Operation::parse(&lowered(value));
                let operation = operation.ok_or("get, create, update, rotate or handoff")?;
                self.operations.push((operation, negated));
            }
        }
        Ok(())
    }

    /// Whether a row matches, apart from what is asked of its group. `text` returns what words are looked for in.
    pub fn admits(&self, facts: RowFacts<'_>, text: impl FnOnce() -> String) -> bool {
        let by = lowered(facts.by.unwrap_or_default());
        let is_by = |(start, negated): &(String, bool)| by.starts_with(start) != *negated;
        let is_at = facts
            .at
            .map_or(self.since.is_none() && self.until.is_none(), |at| {
                self.since.is_none_or(|since| at >= since)
                    && self.until.is_none_or(|until| at < until)
            });
        if !is_at || !self.by.iter().all(is_by) || !self.admits_operation(facts.operation) {
            return false;
        }
        if self.words.is_empty() {
            return true;
        }
        let text = lowered(&text());
        let has = |(word, negated): &(String, bool)| text.contains(word) != *negated;
        self.words.iter().all(has)
    }

    /// Several operations are alternatives, as on the command line.
    fn admits_operation(&self, operation: Option<Operation>) -> bool {
        let is_it = |(asked, _): &&(Operation, bool)| Some(*asked) == operation;
        let (not, any): (Vec<_>, Vec<_>) = self.operations.iter().partition(|(_, not)| *not);
        !not.iter().any(is_it) && (any.is_empty() || any.iter().any(is_it))
    }

    /// The tests of such a list as examples: `since:7d, by:li`.
    pub fn examples(tests: &[RowTest]) -> String {
        let mut text = String::new();
        for test in tests {
            let example = match test {
                RowTest::Time => "since:7d, until:2026-11-30",
                RowTest::Operator => "by:li",
                RowTest::Operation => "operation:rotate",
                RowTest::Group => "label:vip, age>90d",
            };
            let comma = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{comma}{example}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [RowTest; 4] = [
        RowTest::Time,
        RowTest::Operator,
        RowTest::Operation,
        RowTest::Group,
    ];

    fn parsed(text: &str, tests: &[RowTest]) -> RowQuery {
        let now = "2026-11-25T12:00:00Z".parse().expect("a time");
        let rules = RowRules {
            tests,
            views: &Views::new(),
            limit: None,
            now,
        };
        RowQuery::parse(text, rules)
    }

    fn admits(filter: &str, facts: RowFacts<'_>, text: &str) -> bool {
        parsed(filter, &ALL).admits(facts, || text.to_owned())
    }

    #[test]
    fn time_person_and_operation_are_those_of_the_row() {
        let facts = RowFacts {
            at: "2026-11-20T08:00:00Z".parse().ok(),
            by: Some("Li@bastion2"),
            operation: Some(Operation::Rotate),
        };
        for (filter, is_found) in [
            ("", true),
            ("since:7d", true),
            ("since:2026-11-21", false),
            ("UNTIL:2026-11-21 by:li", true),
            ("until:7d", false),
            ("-since:7d", false),
            ("-until:7d", true),
            ("by:ana", false),
            ("-by:ana", true),
            ("operation:rotate", true),
            ("operation:update op:rotate", true),
            ("-operation:rotate", false),
            ("leaked since:7d", true),
            ("Leaked lost", false),
            ("\"leaked in\"", true),
            ("-leaked", false),
        ] {
            let found = admits(filter, facts, "acme-eu leaked in ticket");
            assert_eq!(found, is_found, "{filter}");
            assert_eq!(parsed(filter, &ALL).wrong, Vec::<String>::new(), "{filter}");
        }
        assert!(!admits("since:7d", RowFacts::default(), ""), "no time");
    }

    #[test]
    fn every_other_test_is_asked_of_the_group() {
        let query = parsed("prop:tier=gold age>90d -label:vip acme", &ALL);
        assert_eq!(query.wrong, Vec::<String>::new());
        assert_eq!((query.group.tests.len(), query.group.without.len()), (2, 1));
        assert_eq!(query.words, [("acme".to_owned(), false)]);
    }

    #[test]
    fn what_is_not_understood_is_named_and_ignored() {
        for (filter, tests, words) in [
            ("since:3m", &ALL[..], "minutes or months"),
            ("until:", &ALL, "write a day"),
            ("operation:delete", &ALL, "get, create, update"),
            ("by:", &ALL, "write by:li"),
            ("sinc:7d", &ALL, "did you mean since:"),
            ("age>x", &ALL, "write an age"),
            ("lable:vip", &ALL, "did you mean label:"),
            ("by:li", &ALL[..1], "not possible in this list"),
            ("age>90d", &ALL[..1], "not possible in this list"),
        ] {
            let query = parsed(filter, tests);
            let [said] = &query.wrong[..] else {
                panic!("{filter}: {:?}", query.wrong)
            };
            assert!(said.contains(words) && said.starts_with(filter), "{said}");
            assert!(query.admits(RowFacts::default(), String::new), "{filter}");
        }
        for torn in ["since: 7d", "by: li", "op : rotate", "prop:tier = gold"] {
            assert!(!parsed(torn, &ALL).wrong.is_empty(), "{torn}");
        }
        let query = parsed("ticket:4711 \"since:x\"", &ALL);
        assert_eq!(query.wrong, Vec::<String>::new());
        assert_eq!(query.doubtful.len(), 1);
    }
}
