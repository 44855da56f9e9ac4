//! A filter of rows that are not groups themselves: entries of the history, rotations, batches, messages. It has the
//! words of the command line; time, person and operation are asked of the row, every other test of its group.

use std::{cell::LazyCell, time::Duration};

use jiff::Timestamp;

use super::{
    Query, Views,
    parse::{Piece, Reader, pieces},
};
use crate::{
    domain::{history::Operation, when::Time},
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
    /// `draft`, asked of the row rather than of its group.
    Draft,
}

/// What a row answers to these tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowFacts<'r> {
    pub at: Option<Timestamp>,
    pub by: Option<&'r str>,
    pub operation: Option<Operation>,
    pub is_draft: bool,
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

/// What is asked of a row itself. Texts are in lower case.
#[derive(Debug, Clone, PartialEq)]
enum Asked {
    Since(Timestamp),
    Until(Timestamp),
    /// The start of the name of the operator.
    By(String),
    Operation(Operation),
    /// Whether it is a draft.
    Draft,
    Word(String),
}

/// A parsed filter of rows. A row must match all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowQuery {
    /// `true`: the row must not match.
    asked: Vec<(Asked, bool)>,
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
                query.wrong.push(piece.remark(&why));
            }
        }
        query
    }

    fn take(&mut self, piece: &Piece, rules: RowRules<'_>) -> Result<(), String> {
        let is_plain = !piece.quoted && piece.stray.is_none();
        let named = piece.text.split_once(':').filter(|_| is_plain);
        if let Some((name, value)) = named {
            let name = lowered(name);
            let mut names = NAMES.into_iter();
            let known = names.find(|(known, _)| *known == name);
            if let Some((name, test)) = known {
                if !rules.tests.contains(&test) {
                    return Err(NOT_HERE.into());
                }
                if let Some(why) = piece.doubt(false, false).filter(|_| piece.negated) {
                    return Err(why);
                }
                self.asked
                    .push(asked(name, value, piece.negated, rules.now)?);
                return Ok(());
            }
            let is_meant =
                |known: &str| known.len() > 2 && strsim::damerau_levenshtein(known, &name) == 1;
            if let Some((meant, _)) = NAMES.into_iter().find(|(known, _)| is_meant(known)) {
                let meant = piece.proposing(&format!("{meant}:"));
                return Err(format!("{meant} In quotes it is a word"));
            }
        }
        if rules.tests.contains(&RowTest::Draft) && is_plain && lowered(&piece.text) == "draft" {
            self.asked.push((Asked::Draft, piece.negated));
            return Ok(());
        }
        let asks_group = rules.tests.contains(&RowTest::Group);
        let found = Reader::new(rules.limit, rules.views).piece(piece, &mut Vec::new());
        // How to write the test would be no help where it cannot be asked.
        let is_help = asks_group || piece.stray.is_some() || piece.text.starts_with('@');
        let found = found.map_err(|why| if is_help { why } else { NOT_HERE.into() })?;
        // Where no group can be asked, `old`, `fav` and `draft` are words like any other.
        let is_bare = !asks_group && !piece.text.contains([':', '<', '>', '=']);
        let is_word = (found.tests.is_empty() || is_bare) && !piece.text.starts_with('@');
        if is_word || asks_group {
            let doubt = piece.doubt(is_word, asks_group);
            let doubt = doubt.map(|why| piece.remark(&why));
            let kind = if piece.negated {
                &mut self.wrong
            } else {
                &mut self.doubtful
            };
            kind.extend(doubt);
        }
        if is_word {
            if !piece.text.is_empty() {
                let word = Asked::Word(lowered(&piece.text));
                self.asked.push((word, piece.negated));
            }
        } else if asks_group {
            self.wrong.extend_from_slice(&found.wrong);
            self.group.add(found, piece);
        } else {
            return Err(NOT_HERE.into());
        }
        Ok(())
    }

    /// Whether a row matches, apart from what is asked of its group. `text` returns what words are looked for in. Several
    /// operations are alternatives, as on the command line.
    pub fn admits(&self, facts: RowFacts<'_>, text: impl FnOnce() -> String) -> bool {
        let by = lowered(facts.by.unwrap_or_default());
        let text = LazyCell::new(|| lowered(&text()));
        let is_one_of_them = |operation| self.asked.contains(&(Asked::Operation(operation), false));
        self.asked.iter().all(|(asked, negated)| match asked {
            Asked::Since(since) => facts.at.as_ref().is_some_and(|at| at >= since),
            Asked::Until(until) => facts.at.as_ref().is_some_and(|at| at < until),
            Asked::By(start) => by.starts_with(start) != *negated,
            Asked::Operation(operation) if *negated => facts.operation != Some(*operation),
            Asked::Operation(_) => facts.operation.is_some_and(is_one_of_them),
            Asked::Draft => facts.is_draft != *negated,
            Asked::Word(word) => text.contains(word) != *negated,
        })
    }

    /// The tests of such a list as examples: `since:7d, by:li`.
    pub fn examples(tests: &[RowTest]) -> String {
        let examples = tests.iter().map(|test| match test {
            RowTest::Time => "since:7d, until:2026-11-30",
            RowTest::Operator => "by:li",
            RowTest::Operation => "operation:rotate",
            RowTest::Group => "label:vip, age>90d",
            RowTest::Draft => "draft",
        });
        examples.collect::<Vec<_>>().join(", ")
    }
}

/// Parses a test of a row. Not since then is until then.
fn asked(name: &str, value: &str, negated: bool, now: Timestamp) -> Result<(Asked, bool), String> {
    Ok(match name {
        "since" | "until" => {
            let at = value.parse::<Time>()?.at(now);
            let is_since = (name == "since") != negated;
            let asked = if is_since { Asked::Since } else { Asked::Until };
            (asked(at), false)
        }
        "by" if value.is_empty() => return Err("write by:li".into()),
        "by" => (Asked::By(lowered(value)), negated),
        _ => {
            let value = lowered(value);
            // As the columns call it.
            let value = if value == "edit" { "update" } else { &value };
            let operation = Operation::parse(value);
            let operation = operation.ok_or("get, create, update, rotate or handoff")?;
            (Asked::Operation(operation), negated)
        }
    })
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
            is_draft: false,
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
            ("operation:edit", false),
            ("-operation:Edit", true),
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
    fn a_draft_is_asked_of_the_row_and_words_without_a_group_are_words() {
        let draft = RowFacts {
            is_draft: true,
            ..RowFacts::default()
        };
        for (filter, of_draft, of_others) in [
            ("draft", true, false),
            ("-Draft", false, true),
            ("\"draft\"", true, true),
        ] {
            let query = parsed(filter, &[RowTest::Group, RowTest::Draft]);
            let text = || "the draft of acme".to_owned();
            assert_eq!(query.admits(draft, text), of_draft, "{filter}");
            assert_eq!(
                query.admits(RowFacts::default(), text),
                of_others,
                "{filter}"
            );
        }
        for word in ["draft", "old", "fav"] {
            let query = parsed(word, &[RowTest::Time]);
            assert_eq!(query.wrong, Vec::<String>::new());
            assert!(query.admits(RowFacts::default(), || format!("the {word} one")));
            assert!(!query.admits(RowFacts::default(), || "acme".into()));
        }
    }

    #[test]
    fn every_other_test_is_asked_of_the_group() {
        let query = parsed("prop:tier=gold age>90d -label:vip acme", &ALL);
        assert_eq!(query.wrong, Vec::<String>::new());
        assert_eq!((query.group.tests.len(), query.group.without.len()), (2, 1));
        assert_eq!(query.asked, [(Asked::Word("acme".into()), false)]);
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
        for none in ["-by:'li'", "-by:li,ana", "−since:7d", "–by:li", "-(leaked)"] {
            assert_eq!(parsed(none, &ALL).wrong.len(), 1, "{none}");
        }
        for torn in ["since: 7d", "by: li", "op : rotate", "prop:tier = gold"] {
            assert!(!parsed(torn, &ALL).wrong.is_empty(), "{torn}");
        }
        let torn = parsed("since: 7d", &ALL).wrong;
        assert!(
            torn[0].starts_with("since: a test has no spaces"),
            "{torn:?}"
        );
        let query = parsed("ticket:4711 \"since:x\"", &ALL);
        assert_eq!(query.wrong, Vec::<String>::new());
        assert_eq!(query.doubtful.len(), 1);
    }
}
