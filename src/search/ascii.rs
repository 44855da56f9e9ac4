//! A word of plain ASCII in a plain ASCII text, either case: written so that many bytes are compared at once.

/// Not empty, in lower case.
pub(super) struct AsciiNeedle(Vec<u8>);

impl AsciiNeedle {
    /// `None` where it is more than ASCII, or nothing.
    pub(super) fn of(word: &str) -> Option<Self> {
        let is_plain = word.is_ascii() && !word.is_empty();
        is_plain.then(|| Self(word.to_ascii_lowercase().into_bytes()))
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.may_be_in(text.as_bytes()) && (self.0.len() == 1 || self.find(text, 0).is_some())
    }

    /// Whether it is in one of the parts of a text that end at `ends`, ascending, and not across an end.
    pub(super) fn is_in_parts(&self, text: &str, ends: [usize; 5]) -> bool {
        if !self.may_be_in(text.as_bytes()) {
            return false;
        }
        if self.0.len() == 1 {
            return true;
        }
        let mut from = 0;
        while let Some(at) = self.find(text, from) {
            let inside = at + 1..at + self.0.len();
            if !ends.iter().any(|end| inside.contains(end)) {
                return true;
            }
            from = at + 1;
        }
        false
    }

    /// Whether its first two letters stand side by side somewhere; without a branch in the loop.
    fn may_be_in(&self, text: &[u8]) -> bool {
        let first = self.0[0];
        match self.0.get(1) {
            None => text.iter().fold(false, |found, byte| {
                found | (byte.to_ascii_lowercase() == first)
            }),
            Some(second) => {
                let pairs = text.iter().zip(text.iter().skip(1));
                pairs.fold(false, |found, (a, b)| {
                    found
                        | ((a.to_ascii_lowercase() == first) & (b.to_ascii_lowercase() == *second))
                })
            }
        }
    }

    fn find(&self, text: &str, from: usize) -> Option<usize> {
        let windows = text.as_bytes().get(from..)?.windows(self.0.len());
        windows
            .enumerate()
            .find(|(_, window)| window.eq_ignore_ascii_case(&self.0))
            .map(|(at, _)| from + at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_what_the_plainest_search_finds(
            word in "[a-cA-C1]{1,4}",
            parts in prop::array::uniform5("[a-cA-C1 ]{0,6}"),
        ) {
            let plain = AsciiNeedle::of(&word).expect("ASCII");
            let holds = |text: &str| text.to_lowercase().contains(&word.to_lowercase());
            for part in &parts {
                prop_assert_eq!(plain.is_in(part), holds(part));
            }
            let text = parts.concat();
            let mut ends = [0; 5];
            let mut end = 0;
            for (slot, part) in ends.iter_mut().zip(&parts) {
                end += part.len();
                *slot = end;
            }
            let is_in_one = parts.iter().any(|part| holds(part));
            prop_assert_eq!(plain.is_in_parts(&text, ends), is_in_one);
        }
    }
}
