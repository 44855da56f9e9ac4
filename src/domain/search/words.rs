//! How a word is found in a group: letter by letter in name and id, as it stands in everything else. A chance find of
//! scattered letters in a long JSON would help nobody.

use nucleo_matcher::{
    Config, Matcher, Utf32Str,
    chars::graphemes,
    pattern::{Atom, AtomKind, CaseMatching, Normalization},
};

use super::{
    arena::Entry,
    plain::Plain,
    query::{Query, Word},
};

/// A name or an id that is the whole word stands above all that only hold it.
const WHOLE: u32 = 64;

struct Needle {
    /// `None`: only as it stands.
    scattered: Option<Atom>,
    together: Atom,
    /// The same as `together`, where both sides are ASCII.
    plain: Option<Plain>,
    letters: usize,
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
struct Lens {
    matcher: Matcher,
    buffer: Vec<char>,
}

impl Lens {
    fn score(&mut self, atom: &Atom, text: &str) -> Option<u32> {
        let text = letters(text, &mut self.buffer);
        atom.score(text, &mut self.matcher).map(u32::from)
    }

    fn holds(&mut self, needle: &Needle, text: &str) -> bool {
        match &needle.plain {
            Some(plain) if text.is_ascii() => plain.is_in(text),
            _ => self.score(&needle.together, text).is_some(),
        }
    }

    fn head(&mut self, needle: &Needle, head: &str) -> Option<Fit> {
        let (score, exact) = match &needle.scattered {
            Some(scattered) => {
                let score = self.score(scattered, head)?;
                (score, self.holds(needle, head))
            }
            // Most have it not, and that is found out faster without a score.
            None if !self.holds(needle, head) => return None,
            None => (self.score(&needle.together, head)?, true),
        };
        let whole = exact && head.chars().count() == needle.letters;
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
                .any(|part| !part.is_empty() && self.holds(needle, part)),
        }
    }
}

/// A text as it is searched: one character for each letter. The library's own way would leave letters of two parts in
/// their parts where the first ones are all ASCII.
fn letters<'a>(text: &'a str, buffer: &'a mut Vec<char>) -> Utf32Str<'a> {
    if text.is_ascii() {
        return Utf32Str::Ascii(text.as_bytes());
    }
    buffer.clear();
    buffer.extend(graphemes(text));
    Utf32Str::Unicode(buffer)
}

/// The words of a query, ready to be looked for.
pub(super) struct Words {
    needles: Vec<Needle>,
    lens: Lens,
}

impl Words {
    pub(super) fn of(query: &Query) -> Self {
        Self {
            needles: query.words.iter().map(needle).collect(),
            lens: Lens {
                matcher: Matcher::new(Config::DEFAULT),
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
        let Self { needles, lens } = self;
        for needle in needles {
            let name = entry.name().and_then(|name| lens.head(needle, name));
            let best = name.max(lens.head(needle, entry.id()));
            let fit = match best {
                Some(fit) if fit.exact => fit,
                _ if lens.is_elsewhere(needle, entry) => ELSEWHERE,
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
        let Self { needles, lens } = self;
        for needle in needles {
            let mut mark = |atom: &Atom| {
                let mut found = false;
                for (head, marks) in heads.iter().zip(&mut marks) {
                    let text = letters(head, &mut lens.buffer);
                    found |= atom.indices(text, &mut lens.matcher, marks).is_some();
                }
                found
            };
            if mark(&needle.together) {
                continue;
            }
            // Found in a cell that stands for itself, or in nothing that is shown.
            if let Some(scattered) = &needle.scattered
                && !lens.is_elsewhere(needle, entry)
            {
                for (head, marks) in heads.iter().zip(&mut marks) {
                    let text = letters(head, &mut lens.buffer);
                    scattered.indices(text, &mut lens.matcher, marks);
                }
            }
        }
        marks.map(|marks| {
            let mut marks: Vec<usize> = marks.into_iter().map(|at: u32| at as usize).collect();
            marks.sort_unstable();
            marks.dedup();
            marks
        })
    }
}

fn needle(word: &Word) -> Needle {
    let atom = |kind| {
        Atom::new(
            &word.text,
            CaseMatching::Ignore,
            Normalization::Smart,
            kind,
            false,
        )
    };
    let together = atom(AtomKind::Substring);
    Needle {
        scattered: word.is_scattered().then(|| atom(AtomKind::Fuzzy)),
        letters: together.needle_text().len(),
        plain: Plain::of(&word.text),
        together,
    }
}
