//! The faults of the rows of a file: each kind once, with the lines where it also occurs.

use crate::cli::output;

/// How many further lines are named.
const NAMED: usize = 10;
/// How many kinds of faults are shown.
const KINDS: usize = 50;

/// One kind of fault: its message without what differs from row to row.
struct Fault {
    kind: String,
    place: String,
    why: String,
    more: usize,
    lines: Vec<usize>,
}

#[derive(Default)]
pub(super) struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn add(&mut self, place: &str, line: usize, why: &str) {
        let kind = kind(why);
        if let Some(known) = self.0.iter_mut().find(|fault| fault.kind == kind) {
            known.more += 1;
            if known.lines.len() < NAMED {
                known.lines.push(line);
            }
            return;
        }
        // Kinds beyond those that are shown are counted together.
        if self.0.len() > KINDS {
            if let Some(last) = self.0.last_mut() {
                last.more += 1;
            }
            return;
        }
        self.0.push(Fault {
            kind,
            place: place.to_owned(),
            why: why.to_owned(),
            more: 0,
            lines: Vec::new(),
        });
    }

    pub(super) fn print(&self) {
        for fault in &self.0 {
            output::alarm(&fault.line());
        }
    }
}

impl Fault {
    fn line(&self) -> String {
        let mut line = format!("x {}: {}", self.place, self.why);
        if self.more > 0 {
            let lines: Vec<_> = self.lines.iter().map(ToString::to_string).collect();
            let open = if self.more > lines.len() { ", …" } else { "" };
            let rows = if self.more == 1 { "row" } else { "rows" };
            let more = format!(
                " (and {} more {rows} like it: line {}{open})",
                self.more,
                lines.join(", ")
            );
            line.push_str(&more);
        }
        line
    }
}

/// The message without its numbers and quoted words.
fn kind(why: &str) -> String {
    let mut kind = String::with_capacity(why.len());
    let mut is_quoted = false;
    for letter in why.chars() {
        if letter == '"' {
            is_quoted = !is_quoted;
        } else if !is_quoted && !letter.is_ascii_digit() {
            kind.push(letter);
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_occurs_in_many_rows_is_one_line() {
        let mut faults = Faults::default();
        for line in 2..202 {
            let why = format!("mapping: line 1, column {line}: not JSON");
            faults.add(&format!("row {}, line {line}", line - 1), line, &why);
        }
        faults.add("row 201, line 202", 202, "the ID \"a\" is empty");
        let lines: Vec<_> = faults.0.iter().map(Fault::line).collect();
        assert_eq!(
            lines,
            [
                "x row 1, line 2: mapping: line 1, column 2: not JSON (and 199 more rows like it: line 3, 4, 5, 6, 7, 8, 9, \
                 10, 11, 12, …)",
                "x row 201, line 202: the ID \"a\" is empty",
            ]
        );
    }
}
