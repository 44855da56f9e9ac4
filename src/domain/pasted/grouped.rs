//! Letters and digits that somebody wrote apart in groups of one length: `4eC39HqL.yjWDarjt.T1zdP7dc`, as it is read out
//! or as a program wraps it. Hex digits are told by [`shape`](fn@super::shape) in other ways.

use std::collections::VecDeque;

use super::{
    shape::{CHANGES, FRAGMENT, SHORTEST_PIECE, is_hex},
    streams::lines,
};

/// Signs that a group may have: none, those of base64, those of its form for URLs, all of them. What else is not
/// alphanumeric stands between groups.
const SIGNS: [&str; 4] = ["", "+/=", "-_", "+/=-_"];

/// The line in which the last of such groups stands. Of a cleaned text.
pub(super) fn line(text: &str) -> Option<usize> {
    SIGNS.iter().find_map(|signs| {
        let mut groups = Groups::default();
        let is_of_group = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
        let words = lines(text).flat_map(|(line, number)| {
            let words = line.split(move |c| !is_of_group(c));
            words
                .filter(|word| !word.is_empty())
                .zip(std::iter::repeat(number))
        });
        let mut words = words.filter(|(word, _)| groups.add(word));
        words.next().map(|(_, line)| line)
    })
}

/// Words of one length that follow each other: as few as have [`FRAGMENT`] characters.
#[derive(Default)]
struct Groups<'t> {
    words: VecDeque<&'t str>,
    length: usize,
}

impl<'t> Groups<'t> {
    /// Returns whether they may be parts of a token now. A shorter word may be the last of them.
    fn add(&mut self, word: &'t str) -> bool {
        let first = self.words.front().map_or(word.len(), |first| first.len());
        let is_group = (SHORTEST_PIECE..FRAGMENT).contains(&word.len());
        if !is_group || word.len() > first {
            self.clear();
        }
        if !is_group {
            return false;
        }
        self.words.push_back(word);
        self.length += word.len();
        while let Some(front) = self.words.front().map(|front| front.len())
            && self.length - front >= FRAGMENT
        {
            self.words.pop_front();
            self.length -= front;
        }
        let is_suspicious = self.are_suspicious();
        if word.len() < first {
            self.clear();
            self.words.push_back(word);
            self.length = word.len();
        }
        is_suspicious
    }

    fn clear(&mut self) {
        self.words.clear();
        self.length = 0;
    }

    /// Numbered names, such as those of hosts, have one pattern; names of programs change their case only once.
    fn are_suspicious(&self) -> bool {
        let words = || self.words.iter().enumerate();
        let is_first = |(at, word): &(usize, &&str)| {
            let mut before = self.words.iter().take(*at);
            before.all(|other| !pattern(other).eq(pattern(word)))
        };
        self.length >= FRAGMENT
            && self.words.len() > 1
            && words().filter(is_first).count() * 2 > self.words.len()
            && words().map(|(_, word)| changes(word)).sum::<usize>() >= CHANGES
            && !words().all(|(_, word)| is_hex(word))
    }
}

fn pattern(word: &str) -> impl Iterator<Item = [bool; 3]> {
    let bytes = word.bytes();
    bytes.map(|b| {
        [
            b.is_ascii_digit(),
            b.is_ascii_uppercase(),
            b.is_ascii_lowercase(),
        ]
    })
}

/// Where a digit stands beside a letter, or a capital behind a small letter.
pub(super) fn changes(word: &str) -> usize {
    let pairs = word.as_bytes().windows(2);
    let is_change = |pair: &&[u8]| {
        let is_word = pair.iter().all(u8::is_ascii_alphanumeric);
        let is_case = pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        is_word && (is_case || pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
    };
    pairs.filter(is_change).count()
}
