//! Case-insensitive search for an ASCII word in ASCII text, written so that the compiler can compare many bytes at
//! once.

/// Not empty, and in lower case.
pub(super) struct AsciiNeedle(Vec<u8>);

impl AsciiNeedle {
    /// Returns `None` if the word is empty or not ASCII.
    pub(super) fn of(word: &str) -> Option<Self> {
        let is_plain = word.is_ascii() && !word.is_empty();
        is_plain.then(|| Self(word.to_ascii_lowercase().into_bytes()))
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.may_be_in(text.as_bytes()) && (self.0.len() == 1 || self.is_found(text))
    }

    /// Whether its first two letters occur next to each other; the loop has no branches.
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

    fn is_found(&self, text: &str) -> bool {
        let mut windows = text.as_bytes().windows(self.0.len());
        windows.any(|window| window.eq_ignore_ascii_case(&self.0))
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
            text in "[a-cA-C1 ]{0,9}",
        ) {
            let plain = AsciiNeedle::of(&word).expect("ASCII");
            let holds = text.to_lowercase().contains(&word.to_lowercase());
            prop_assert_eq!(plain.is_in(&text), holds);
        }
    }
}
