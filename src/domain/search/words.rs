//! How a word is found in a group: letter by letter in name and id, as it stands in everything else. A chance find of
//! scattered letters in a long JSON would help nobody.

use nucleo_matcher::{
    Config, Matcher, Utf32Str,
    pattern::{Atom, AtomKind, CaseMatching, Normalization},
};

use super::{
    index::Entry,
    query::{Query, Word},
};

/// A name or an id that is the whole word stands above all that only hold it.
const WHOLE: u32 = 64;

struct Needle {
    /// `None`: only as it stands.
    scattered: Option<Atom>,
    together: Atom,
    letters: usize,
}

/// How well a group fits the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fit {
    /// Every word is there as it stands, not only letter by letter.
    pub(super) exact: bool,
    pub(super) score: u32,
}

/// The words of a query, ready to be looked for.
pub(super) struct Words {
    needles: Vec<Needle>,
    matcher: Matcher,
    buffer: Vec<char>,
}

impl Words {
    pub(super) fn of(query: &Query) -> Self {
        Self {
            needles: query.words.iter().map(needle).collect(),
            matcher: Matcher::new(Config::DEFAULT),
            buffer: Vec::new(),
        }
    }

    /// `None` where a word is missing.
    pub(super) fn fit(&mut self, entry: Entry<'_>) -> Option<Fit> {
        let mut all = Fit {
            exact: true,
            score: 0,
        };
        let Self {
            needles,
            matcher,
            buffer,
        } = self;
        for needle in needles {
            let mut find = |atom: &Atom, text: &str| {
                atom.score(Utf32Str::new(text, buffer), matcher)
                    .map(u32::from)
            };
            let heads = [entry.name().unwrap_or_default(), entry.id()];
            let first = needle.scattered.as_ref().unwrap_or(&needle.together);
            let scores = heads.map(|head| find(first, head));
            let best = heads
                .iter()
                .zip(scores)
                .filter_map(|(head, score)| {
                    let score = score?;
                    let exact =
                        needle.scattered.is_none() || find(&needle.together, head).is_some();
                    let whole = exact && head.chars().count() == needle.letters;
                    let score = score + if whole { WHOLE } else { 0 };
                    Some(Fit { exact, score })
                })
                .max();
            let fit = match best {
                Some(fit) if fit.exact => fit,
                other => {
                    let mut parts = entry.rest().into_iter();
                    let is_there = parts
                        .any(|part| !part.is_empty() && find(&needle.together, part).is_some());
                    if is_there {
                        Fit {
                            exact: true,
                            score: 1,
                        }
                    } else {
                        other?
                    }
                }
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
        let Self {
            needles,
            matcher,
            buffer,
        } = self;
        for needle in needles {
            let mut mark = |atom: &Atom| {
                let mut found = false;
                for (head, marks) in heads.iter().zip(&mut marks) {
                    let text = Utf32Str::new(head, buffer);
                    found |= atom.indices(text, matcher, marks).is_some();
                }
                found
            };
            if mark(&needle.together) {
                continue;
            }
            // Found in a cell that stands for itself, or in nothing that is shown.
            let is_elsewhere = entry.rest().into_iter().any(|part| {
                let text = Utf32Str::new(part, buffer);
                needle.together.score(text, matcher).is_some()
            });
            if let Some(scattered) = needle.scattered.as_ref().filter(|_| !is_elsewhere) {
                for (head, marks) in heads.iter().zip(&mut marks) {
                    let text = Utf32Str::new(head, buffer);
                    scattered.indices(text, matcher, marks);
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
        together,
    }
}
