//! Where the words of a stream begin or end: a token stands between two such places.

use super::streams::Stream;

/// Ends that are tried for each beginning, also if a blank is between: fewer the longer the text is.
const FEWEST: usize = 3;
pub(super) const MOST: usize = 48;
const PER_STREAM: usize = 12_000;

/// What usually stands beside a token, in a table, a program or an address.
pub(super) fn is_edge(c: char) -> bool {
    "\"'`()[]{}<>,;:=|&?".contains(c)
}

/// Where the words of a stream begin or end, each with the number of cuts up to there.
pub(super) struct Ends {
    pub(super) at: Vec<(usize, usize)>,
    /// How many are tried for each beginning.
    pub(super) tries: usize,
}

impl Ends {
    pub(super) fn of(stream: &Stream, is_of_word: fn(char) -> bool) -> Self {
        let mut at = Vec::new();
        let mut cuts = stream.cuts.iter().copied().peekable();
        let (mut before, mut number) = (false, 0);
        for (place, c) in stream.text.char_indices() {
            let is_cut = cuts.next_if_eq(&place).is_some();
            number += usize::from(is_cut);
            let now = is_of_word(c);
            if place == 0 || is_cut || !(before && now) {
                at.push((place, number));
            }
            before = now;
        }
        at.push((stream.text.len(), number));
        let tries = (PER_STREAM / at.len()).clamp(FEWEST, MOST);
        Self { at, tries }
    }
}
