//! The filter of the history: words, and the tests of the command line: `since:7d`, `until:2026-11-30`, `by:ana`,
//! `operation:rotate`.

use jiff::Timestamp;

use crate::{
    domain::{
        history::{Entry, Operation},
        when,
    },
    search::normalize::lowered,
};

/// How the tests begin.
const TESTS: &str = "since:7d, until:2026-11-30, by:NAME and operation:rotate";

#[derive(Debug, Default)]
pub(super) struct HistoryFilter {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    by: Vec<String>,
    operations: Vec<Operation>,
    words: Vec<String>,
    /// What cannot be understood: it finds nothing.
    wrong: Option<String>,
}

impl HistoryFilter {
    pub(super) fn parse(text: &str, now: Timestamp) -> Self {
        let mut filter = Self::default();
        for word in text.split_whitespace() {
            let test = word.split_once(':');
            let test = test.map(|(name, value)| (lowered(name), value));
            let done = match test.as_ref().map(|(name, value)| (name.as_str(), *value)) {
                Some(("since", value)) => {
                    when::parse(value).map(|time| filter.since = Some(time.at(now)))
                }
                Some(("until", value)) => {
                    when::parse(value).map(|time| filter.until = Some(time.at(now)))
                }
                Some(("by", value)) => {
                    filter.by.push(lowered(value));
                    Ok(())
                }
                Some(("operation" | "op", value)) => Operation::parse(&lowered(value))
                    .map(|operation| filter.operations.push(operation))
                    .ok_or_else(|| "write get, create, update, rotate or handoff".to_owned()),
                _ => {
                    filter.words.push(lowered(word));
                    Ok(())
                }
            };
            if let (Err(why), Some((name, _))) = (done, test) {
                filter.wrong = Some(format!("{name}: {why}"));
            }
        }
        filter
    }

    pub(super) fn finds(&self, entry: &Entry) -> bool {
        if self.wrong.is_some() {
            return false;
        }
        let by = lowered(&entry.by);
        let text = lowered(&format!(
            "{} {} {} {} {}",
            entry.by,
            entry.operation.as_str(),
            entry.user_group_id.as_str(),
            entry.ending.as_str(),
            entry.reason.as_deref().unwrap_or_default()
        ));
        self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at < until)
            && self.by.iter().all(|start| by.starts_with(start.as_str()))
            && (self.operations.is_empty() || self.operations.contains(&entry.operation))
            && self.words.iter().all(|word| text.contains(word.as_str()))
    }

    /// What to say if nothing is found.
    pub(super) fn nothing(&self) -> String {
        match &self.wrong {
            Some(why) => format!("Nothing matches: {why}"),
            None => format!("Nothing matches. Also possible: {TESTS}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_those_of_the_command_line_and_a_wrong_one_is_said() {
        let now: Timestamp = "2026-11-25T12:00:00Z".parse().expect("a time");
        let filter =
            HistoryFilter::parse("since:7d UNTIL:2026-11-24 by:Li operation:rotate acme", now);
        assert_eq!(filter.since, "2026-11-18T12:00:00Z".parse().ok());
        assert_eq!(filter.until, "2026-11-24T00:00:00Z".parse().ok());
        assert_eq!(
            (filter.by, filter.words),
            (vec!["li".to_owned()], vec!["acme".to_owned()])
        );
        assert_eq!(filter.operations, [Operation::Rotate]);
        for (text, words) in [
            ("since:3m", "minutes or months"),
            ("until:", "write a day"),
            ("operation:delete", "write get, create"),
            ("last week", "since:7d"),
        ] {
            let said = HistoryFilter::parse(text, now).nothing();
            assert!(
                said.starts_with("Nothing matches") && said.contains(words),
                "{said}"
            );
        }
    }
}
