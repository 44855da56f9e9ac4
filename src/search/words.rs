//! How a word is found in a group: letter by letter in name and id, as it stands in everything else. A chance find of
//! scattered letters in a long JSON would help nobody.

use nucleo_matcher::{Config, Matcher, Utf32Str, Utf32String};
use unicode_segmentation::UnicodeSegmentation;

use super::{
    arena::Entry,
    ascii::AsciiNeedle,
    query::{Query, Word},
    substring,
};
use crate::search::normalize;

/// A name or an id that is the whole word stands above all that only hold it.
const WHOLE: u32 = 64;

/// It compares; what it would fold, it folds in two ways that do not agree.
const MATCHER: Config = {
    let mut config = Config::DEFAULT;
    config.normalize = false;
    config
};

/// A word, ready to be looked for.
pub(super) struct Needle {
    letters: Vec<char>,
    /// It has accents itself, so those of the text count.
    accents: bool,
    /// `None`: only as it stands.
    scattered: Option<Utf32String>,
    /// The same, where both sides are ASCII.
    plain: Option<AsciiNeedle>,
}

impl Needle {
    pub(super) fn of(word: &Word) -> Self {
        let letters: Vec<char> = word.text.chars().collect();
        let scattered = if word.text.is_ascii() {
            Utf32String::Ascii(word.text.as_str().into())
        } else {
            Utf32String::Unicode(letters.as_slice().into())
        };
        Self {
            accents: !letters.iter().all(|c| normalize::is_bare(*c)),
            scattered: word.is_scattered().then_some(scattered),
            plain: AsciiNeedle::of(&word.text),
            letters,
        }
    }

    /// A text as it is searched for this one.
    pub(super) fn letters_of<'a>(&self, text: &'a str, buffer: &'a mut Vec<char>) -> Utf32Str<'a> {
        if text.is_ascii() {
            return Utf32Str::Ascii(text.as_bytes());
        }
        buffer.clear();
        normalize::fill(text, self.accents, buffer);
        Utf32Str::Unicode(buffer)
    }

    /// Where it stands best, and how well.
    fn best(&self, letters: Utf32Str<'_>) -> Option<(usize, u32)> {
        match letters {
            Utf32Str::Ascii(letters) => substring::best(letters, &self.letters),
            Utf32Str::Unicode(letters) => substring::best(letters, &self.letters),
        }
    }

    /// As [`Self::best`], but found out faster where it is not there, and most have it not.
    pub(super) fn is_in(&self, text: &str, letters: Utf32Str<'_>) -> bool {
        match (&self.plain, letters) {
            (Some(plain), Utf32Str::Ascii(_)) => plain.is_in(text),
            (None, Utf32Str::Ascii(_)) => false,
            (_, letters) => self.best(letters).is_some(),
        }
    }

    /// The grapheme of every letter of a text.
    fn graphemes_of(&self, text: &str) -> Vec<usize> {
        let mut buffer = Vec::new();
        let letters = |grapheme| self.letters_of(grapheme, &mut buffer).len();
        let counts = text.graphemes(true).map(letters);
        let each = counts.enumerate();
        each.flat_map(|(at, count)| std::iter::repeat_n(at, count))
            .collect()
    }
}

/// How well a group fits the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fit {
    /// Every word is there as it stands, not only letter by letter.
    pub(super) exact: bool,
    pub(super) score: u32,
}

/// Found somewhere outside name and id.
const ELSEWHERE: Fit = Fit {
    exact: true,
    score: 1,
};

/// What the words are looked for with.
struct WordMatcher {
    matcher: Matcher,
    buffer: Vec<char>,
}

impl WordMatcher {
    fn head(&mut self, needle: &Needle, head: &str) -> Option<Fit> {
        let letters = needle.letters_of(head, &mut self.buffer);
        let (score, exact) = match &needle.scattered {
            Some(scattered) => {
                // Of what is folded it folds nothing.
                self.matcher.config.ignore_case = letters.is_ascii();
                let score = self.matcher.fuzzy_match(letters, scattered.slice(..))?;
                (u32::from(score), needle.is_in(head, letters))
            }
            None if !needle.is_in(head, letters) => return None,
            None => (needle.best(letters)?.1, true),
        };
        let whole = exact && letters.len() == needle.letters.len();
        let score = score + if whole { WHOLE } else { 0 };
        Some(Fit { exact, score })
    }

    fn is_elsewhere(&mut self, needle: &Needle, entry: Entry<'_>) -> bool {
        let text = entry.rest_text();
        match &needle.plain {
            Some(plain) if text.is_ascii() => plain.is_in_parts(text, entry.rest_ends()),
            _ => entry
                .rest()
                .into_iter()
                .any(|part| needle.is_in(part, needle.letters_of(part, &mut self.buffer))),
        }
    }
}

/// The words of a query, ready to be looked for.
pub(super) struct Words {
    needles: Vec<Needle>,
    matcher: WordMatcher,
}

impl Words {
    pub(super) fn of(query: &Query) -> Self {
        Self {
            needles: query.words.iter().map(Needle::of).collect(),
            matcher: WordMatcher {
                matcher: Matcher::new(MATCHER),
                buffer: Vec::new(),
            },
        }
    }

    /// `None` where a word is missing.
    pub(super) fn fit(&mut self, entry: Entry<'_>) -> Option<Fit> {
        let mut all = Fit {
            exact: true,
            score: 0,
        };
        let Self { needles, matcher } = self;
        for needle in needles {
            let name = entry.name().and_then(|name| matcher.head(needle, name));
            let best = name.max(matcher.head(needle, entry.id()));
            let fit = match best {
                Some(fit) if fit.exact => fit,
                _ if matcher.is_elsewhere(needle, entry) => ELSEWHERE,
                other => other?,
            };
            all.exact &= fit.exact;
            all.score += fit.score;
        }
        Some(all)
    }

    /// The graphemes of name and id in which the words were found, ascending.
    pub(super) fn marks(&mut self, entry: Entry<'_>) -> [Vec<usize>; 2] {
        let heads = [entry.name().unwrap_or_default(), entry.id()];
        let mut marks = [Vec::new(), Vec::new()];
        let Self { needles, matcher } = self;
        for needle in needles {
            let mut found = false;
            for (head, marks) in heads.iter().zip(&mut marks) {
                let letters = needle.letters_of(head, &mut matcher.buffer);
                if let Some((at, _)) = needle.best(letters) {
                    found = true;
                    let graphemes = needle.graphemes_of(head);
                    marks.extend_from_slice(&graphemes[at..at + needle.letters.len()]);
                }
            }
            // Found in a cell that stands for itself, or in nothing that is shown.
            let Some(scattered) = &needle.scattered else {
                continue;
            };
            if found || matcher.is_elsewhere(needle, entry) {
                continue;
            }
            for (head, marks) in heads.iter().zip(&mut marks) {
                let letters = needle.letters_of(head, &mut matcher.buffer);
                let (mut places, scattered) = (Vec::new(), scattered.slice(..));
                matcher.matcher.config.ignore_case = letters.is_ascii();
                matcher
                    .matcher
                    .fuzzy_indices(letters, scattered, &mut places);
                if !places.is_empty() {
                    let graphemes = needle.graphemes_of(head);
                    marks.extend(places.into_iter().map(|at| graphemes[at as usize]));
                }
            }
        }
        marks.map(|mut marks| {
            marks.sort_unstable();
            marks.dedup();
            marks
        })
    }
}

impl Word {
    /// Whether it stands in a text, not only letter by letter.
    pub fn is_in(&self, text: &str) -> bool {
        let needle = Needle::of(self);
        needle.is_in(text, needle.letters_of(text, &mut Vec::new()))
    }
}
