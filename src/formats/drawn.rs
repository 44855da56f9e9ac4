//! Tables as they are drawn for reading: Markdown, psql and mysql put cells between vertical bars; others draw lines or only
//! align columns, which cannot be read back for certain.

/// A line of dashes: `|---|:--:|`, `----+----`, `+----+----+`.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let is_divided = line.contains(['|', '+']) || line.contains("---");
    is_divided && line.contains('-') && line.chars().all(|c| "-+|: ".contains(c))
}

/// The number of rows below a table: `(2 rows)`, `2 rows in set (0.00 sec)`.
pub(super) fn is_count(line: &str) -> bool {
    let line = line.trim();
    let inside = line
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    let (number, rest) = inside.unwrap_or(line).split_once(' ').unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_rows = |rest: &str| rest == "row" || rest == "rows";
    is_number
        && match inside {
            Some(_) => is_rows(rest),
            None => rest
                .split_once(" in set")
                .is_some_and(|(rows, _)| is_rows(rows)),
        }
}

/// The cells of a line between vertical bars; `None` if it has none.
pub(super) fn cells(line: &str) -> Option<Vec<&str>> {
    let line = line.trim();
    let inside = line
        .strip_prefix('|')
        .and_then(|rest| rest.strip_suffix('|'));
    let is_drawn = inside.is_some() || line.contains(" | ");
    is_drawn.then(|| inside.unwrap_or(line).split('|').map(str::trim).collect())
}

/// Why a table that begins with this line cannot be read, if it is one.
pub(super) fn why_unreadable(first: &str) -> Option<&'static str> {
    // What a list prints, and what draws with lines.
    let is_line = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    let is_boxed = first.trim_start().starts_with(is_line);
    if is_boxed || first.contains(" \u{2502} ") || first.contains(" \u{2503} ") {
        return Some("it is a table drawn with lines, for reading: export it as CSV");
    }
    let titles: Vec<_> = first.trim().split("  ").map(str::trim).collect();
    let is_list = titles.len() > 1
        && !first.contains([',', ';', '\t', '|'])
        && titles.contains(&"ID")
        && !first.contains(char::is_lowercase);
    is_list.then_some(
        "it is a table of aligned columns, for reading: use groupdesk export, or groupdesk list -o name for IDs",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_dashes_and_counts_are_no_rows() {
        for line in [
            "|---|---|",
            "|:--|--:|",
            "| - | - |",
            "----+----",
            "---",
            "+----+----+",
            " ---+--- ",
        ] {
            assert!(is_rule(line), "{line}");
        }
        for line in ["", "-", "--", "- x", "a-b", "|", "+", "-->"] {
            assert!(!is_rule(line), "{line}");
        }
        for line in ["(2 rows)", "(1 row)", "2 rows in set (0.00 sec)"] {
            assert!(is_count(line), "{line}");
        }
        for line in ["(two rows)", "2 rows", "rows", "(2)", "(2 rows"] {
            assert!(!is_count(line), "{line}");
        }
    }
}
