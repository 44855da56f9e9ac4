//! How a word matches a group: as scattered letters in the name and id, but only exactly in everything else. Scattered
//! letters that happen to match in a long JSON would help nobody.

use std::{
    fmt::{Display, Write},
    mem::take,
    ptr,
};

use nucleo_matcher::{Config, Matcher, Utf32Str, Utf32String};
use unicode_segmentation::UnicodeSegmentation;

use super::{
    arena::{Arena, Entry},
    ascii::AsciiNeedle,
    interner::Interner,
    normalize,
    packed::{mapping_text, properties_text},
    packed_values::{TextRef, ValueReader},
    query::{Query, Word},
    substring,
};
use crate::domain::{known::KnownGroup, token::Fingerprint};

/// Added to the score if the name or id is the whole word, to rank it above those that only contain it.
const WHOLE_TEXT_BONUS: u32 = 64;

/// The matcher must only compare. It would fold in two ways that do not agree, so its input is folded already.
const MATCHER: Config = {
    let mut config = Config::DEFAULT;
    config.normalize = false;
    config
};

/// A word that is prepared for searching.
pub(super) struct Needle {
    letters: Vec<char>,
    /// The word has accents, so those of the text matter.
    accents: bool,
    /// `None` if only exact occurrences count.
    scattered: Option<Utf32String>,
    /// The same word, for when both it and the text are ASCII.
    plain: Option<AsciiNeedle>,
    /// Whether it could occur in a displayed fingerprint, and in a number.
    may_be_hex: bool,
    may_be_number: bool,
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
            may_be_hex: letters.iter().all(char::is_ascii_hexdigit),
            may_be_number: letters.iter().all(|c| c.is_ascii_digit() || *c == '-'),
            letters,
        }
    }

    /// The searchable form of a text for this word.
    pub(super) fn letters_of<'a>(&self, text: &'a str, buffer: &'a mut Vec<char>) -> Utf32Str<'a> {
        if text.is_ascii() {
            return Utf32Str::Ascii(text.as_bytes());
        }
        buffer.clear();
        normalize::fill(text, self.accents, buffer);
        Utf32Str::Unicode(buffer)
    }

    /// The best exact occurrence and its score.
    fn best(&self, letters: Utf32Str<'_>) -> Option<(usize, u32)> {
        match letters {
            Utf32Str::Ascii(letters) => substring::best(letters, &self.letters),
            Utf32Str::Unicode(letters) => substring::best(letters, &self.letters),
        }
    }

    /// Like [`Self::best`], but faster for texts that do not contain the word, as most do not.
    pub(super) fn is_in(&self, text: &str, letters: Utf32Str<'_>) -> bool {
        match (&self.plain, letters) {
            (Some(plain), Utf32Str::Ascii(_)) => plain.is_in(text),
            (None, Utf32Str::Ascii(_)) => false,
            (_, letters) => self.best(letters).is_some(),
        }
    }

    /// The index of the grapheme that each letter of a text belongs to.
    fn graphemes_of(&self, text: &str) -> Vec<usize> {
        let mut buffer = Vec::new();
        let letters = |grapheme| self.letters_of(grapheme, &mut buffer).len();
        let counts = text.graphemes(true).map(letters);
        let each = counts.enumerate();
        each.flat_map(|(at, count)| std::iter::repeat_n(at, count))
            .collect()
    }
}

/// How well a group matches the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MatchScore {
    /// Every word occurs exactly, not only as scattered letters.
    pub(super) exact: bool,
    pub(super) score: u32,
}

/// Found outside of name and id.
const IN_OTHER_VALUE: MatchScore = MatchScore {
    exact: true,
    score: 1,
};

/// The buffers and the fuzzy matcher that all words of a query share.
struct WordMatcher<'a> {
    matcher: Matcher,
    buffer: Vec<char>,
    shown: String,
    /// The arena that most groups are in: each text that it interned is compared with a word only once.
    arena: Option<&'a Arena>,
}

/// A word, and which interned texts of the arena contain it.
struct WordState {
    needle: Needle,
    matches: Option<InternedMatches>,
}

/// Whether the word is in each interned text, by number.
struct InternedMatches {
    words: Vec<bool>,
    keys: Vec<bool>,
    values: Vec<bool>,
    /// The word is in none of the interned keys and values.
    in_no_row: bool,
}

impl WordMatcher<'_> {
    fn match_text(&mut self, needle: &Needle, text: &str) -> Option<MatchScore> {
        let letters = needle.letters_of(text, &mut self.buffer);
        let (score, exact) = match &needle.scattered {
            Some(scattered) => {
                // Text that is not ASCII is folded already, and must not be folded again.
                self.matcher.config.ignore_case = letters.is_ascii();
                let score = self.matcher.fuzzy_match(letters, scattered.slice(..))?;
                // One letter cannot be scattered.
                let exact = needle.letters.len() == 1 || needle.is_in(text, letters);
                (u32::from(score), exact)
            }
            None if !needle.is_in(text, letters) => return None,
            None => (needle.best(letters)?.1, true),
        };
        let whole = exact && letters.len() == needle.letters.len();
        let score = score + if whole { WHOLE_TEXT_BONUS } else { 0 };
        Some(MatchScore { exact, score })
    }

    fn is_in(&mut self, needle: &Needle, text: &str) -> bool {
        needle.is_in(text, needle.letters_of(text, &mut self.buffer))
    }

    /// Whether it is in the tag, the fingerprint, the team, the mapping or the properties.
    fn is_in_other_values(&mut self, word: &mut WordState, entry: Entry<'_>) -> bool {
        let mut reader = match ValueReader::of(entry) {
            Ok(reader) => reader,
            Err(unpacked) => return self.is_in_unpacked(&word.needle, unpacked),
        };
        let arena = reader.arena;
        if word.matches.is_none() && self.arena.is_some_and(|most| ptr::eq(most, arena)) {
            word.matches = Some(self.matches(&word.needle, arena));
        }
        let WordState { needle, matches } = word;
        let matches = matches.as_ref();
        let matches = matches.filter(|_| self.arena.is_some_and(|most| ptr::eq(most, arena)));
        if let Some(token) = reader.fingerprint
            && needle.may_be_hex
            && self.is_in_display(needle, &Fingerprint::from_bytes(*token))
        {
            return true;
        }
        if let Some(tag) = reader.tag()
            && match matches {
                Some(matches) => matches.words[tag as usize],
                None => self.is_in(needle, &arena.words[tag as usize]),
            }
        {
            return true;
        }
        if let Some(team) = reader.team()
            && needle.may_be_number
            && self.is_in_display(needle, &team)
        {
            return true;
        }
        if matches.is_some_and(|matches| matches.in_no_row) && !reader.has_inline {
            return false;
        }
        let Interner { keys, values, .. } = &arena.interner;
        let mut is_in = |(key, value): (TextRef<'_>, TextRef<'_>)| match matches {
            Some(matches) => {
                self.is_in_text(needle, key, &matches.keys)
                    || self.is_in_text(needle, value, &matches.values)
            }
            None => self.is_in(needle, key.of(keys)) || self.is_in(needle, value.of(values)),
        };
        let mut rows = reader.mapping();
        rows.any(&mut is_in) || rows.skip_to_end().properties().any(is_in)
    }

    fn is_in_text(&mut self, needle: &Needle, text: TextRef<'_>, matches: &[bool]) -> bool {
        match text {
            TextRef::Interned(number) => matches[number as usize],
            TextRef::Inline(text) => self.is_in(needle, text),
        }
    }

    fn matches(&mut self, needle: &Needle, arena: &Arena) -> InternedMatches {
        let Arena {
            words, interner, ..
        } = arena;
        let mut is_in = |text: &str| self.is_in(needle, text);
        let keys: Vec<_> = interner.keys.iter().map(&mut is_in).collect();
        let values: Vec<_> = interner.values.iter().map(&mut is_in).collect();
        InternedMatches {
            words: words.iter().map(|word| is_in(word)).collect(),
            in_no_row: !keys.contains(&true) && !values.contains(&true),
            keys,
            values,
        }
    }

    fn is_in_display(&mut self, needle: &Needle, value: &impl Display) -> bool {
        let mut shown = take(&mut self.shown);
        shown.clear();
        write!(shown, "{value}").expect("a text takes what is written");
        let is_in = self.is_in(needle, &shown);
        self.shown = shown;
        is_in
    }

    fn is_in_unpacked(&mut self, needle: &Needle, group: &KnownGroup) -> bool {
        let tag = group.environment_tag.as_ref();
        let token = group.fingerprint.as_ref();
        let team = group.team_id.as_ref();
        [
            tag.map_or("", |tag| tag.value.as_str()),
            &token.map_or_else(String::new, |token| token.value.to_string()),
            &team.map_or_else(String::new, |team| team.value.to_string()),
            &mapping_text(group),
            &properties_text(group),
        ]
        .into_iter()
        .any(|text| self.is_in(needle, text))
    }
}

/// The words of a query, ready to be looked for.
pub(super) struct Words<'a> {
    all: Vec<WordState>,
    matcher: WordMatcher<'a>,
}

impl<'a> Words<'a> {
    /// `arena` is the one that most of the searched groups are in, if there is one.
    pub(super) fn of(query: &Query, arena: Option<&'a Arena>) -> Self {
        let word = |word: &Word| WordState {
            needle: Needle::of(word),
            matches: None,
        };
        Self {
            all: query.words.iter().map(word).collect(),
            matcher: WordMatcher {
                matcher: Matcher::new(MATCHER),
                buffer: Vec::new(),
                shown: String::new(),
                arena,
            },
        }
    }

    /// Returns `None` if a word is missing.
    pub(super) fn fit(&mut self, entry: Entry<'_>) -> Option<MatchScore> {
        let mut all = MatchScore {
            exact: true,
            score: 0,
        };
        let Self {
            all: words,
            matcher,
        } = self;
        for word in words {
            let needle = &word.needle;
            let name = entry
                .name()
                .and_then(|name| matcher.match_text(needle, name));
            let best = name.max(matcher.match_text(needle, entry.id()));
            let fit = match best {
                Some(fit) if fit.exact => fit,
                _ if matcher.is_in_other_values(word, entry) => IN_OTHER_VALUE,
                other => other?,
            };
            all.exact &= fit.exact;
            all.score += fit.score;
        }
        Some(all)
    }

    /// The graphemes of name and id where the words were found, ascending.
    pub(super) fn marks(&mut self, entry: Entry<'_>) -> [Vec<usize>; 2] {
        let heads = [entry.name().unwrap_or_default(), entry.id()];
        let mut marks = [Vec::new(), Vec::new()];
        let Self {
            all: words,
            matcher,
        } = self;
        for word in words {
            let needle = &word.needle;
            let mut found = false;
            for (text, marks) in heads.iter().zip(&mut marks) {
                let letters = needle.letters_of(text, &mut matcher.buffer);
                if let Some((at, _)) = needle.best(letters) {
                    found = true;
                    let graphemes = needle.graphemes_of(text);
                    marks.extend_from_slice(&graphemes[at..at + needle.letters.len()]);
                }
            }
            // Found in another column, or in a value that is not displayed.
            if found || needle.scattered.is_none() || matcher.is_in_other_values(word, entry) {
                continue;
            }
            let needle = &word.needle;
            let Some(scattered) = &needle.scattered else {
                continue;
            };
            for (text, marks) in heads.iter().zip(&mut marks) {
                let letters = needle.letters_of(text, &mut matcher.buffer);
                let (mut places, scattered) = (Vec::new(), scattered.slice(..));
                matcher.matcher.config.ignore_case = letters.is_ascii();
                matcher
                    .matcher
                    .fuzzy_indices(letters, scattered, &mut places);
                if !places.is_empty() {
                    let graphemes = needle.graphemes_of(text);
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
    /// Whether the word occurs exactly in a text.
    pub fn is_in(&self, text: &str) -> bool {
        let needle = Needle::of(self);
        needle.is_in(text, needle.letters_of(text, &mut Vec::new()))
    }
}
