//! The partner of the bracket at the cursor. Only the visible rows are searched: a partner elsewhere cannot be marked.

use std::ops::Range;

use super::{
    lex::{Kind, tokens},
    lines::TextPosition,
};

/// The bracket at or just before the cursor, and its partner, if that is in one of the rows.
pub(super) fn pair(
    lines: &[String],
    cursor: TextPosition,
    rows: Range<usize>,
) -> Option<[TextPosition; 2]> {
    let line = lines.get(cursor.row)?;
    let is_bracket =
        |byte: usize| matches!(line.as_bytes().get(byte), Some(b'{' | b'}' | b'[' | b']'));
    let before = cursor.byte.checked_sub(1);
    let byte = [Some(cursor.byte), before]
        .into_iter()
        .flatten()
        .find(|byte| is_bracket(*byte))?;
    let here = TextPosition {
        row: cursor.row,
        byte,
    };
    let mut open: Vec<(TextPosition, &str)> = Vec::new();
    for row in rows.clone() {
        let line = lines.get(row)?;
        for token in tokens(line).filter(|token| token.kind == Kind::Sign) {
            let at = TextPosition {
                row,
                byte: token.from,
            };
            match &line[token.from..token.to] {
                sign @ ("{" | "[") => open.push((at, sign)),
                sign @ ("}" | "]") => {
                    let opened = open.pop();
                    let fits = matches!(
                        (opened, sign),
                        (Some((_, "{")), "}") | (Some((_, "[")), "]")
                    );
                    if let Some((opened, _)) = opened
                        && (opened == here || at == here)
                    {
                        return fits.then_some([opened, at]);
                    }
                    // A bracket that was opened above these rows is closed here; counting starts again.
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(row: usize, byte: usize) -> TextPosition {
        TextPosition { row, byte }
    }

    #[test]
    fn the_partner_is_found_from_both_sides_and_from_behind() {
        let lines: Vec<String> = ["{\"a}\": [", "  {}, [1]", "], \"b\": {]", "}"]
            .map(str::to_owned)
            .into();
        let all = 0..4;
        for (cursor, pairs) in [
            (at(0, 7), Some([at(0, 7), at(2, 0)])),
            (at(0, 8), Some([at(0, 7), at(2, 0)])),
            (at(2, 0), Some([at(0, 7), at(2, 0)])),
            (at(1, 2), Some([at(1, 2), at(1, 3)])),
            (at(1, 8), Some([at(1, 6), at(1, 8)])),
            (at(0, 3), None),
            (at(2, 8), None),
            (at(1, 0), None),
        ] {
            assert_eq!(pair(&lines, cursor, all.clone()), pairs, "{cursor:?}");
        }
        assert_eq!(pair(&lines, at(0, 7), 0..2), None, "out of sight");
        assert_eq!(pair(&lines, at(1, 2), 1..2), Some([at(1, 2), at(1, 3)]));
    }
}
