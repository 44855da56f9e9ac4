//! A command on one line, run without a shell: words between blanks, which quotes hold together.

/// The words of a command.
///
/// # Errors
///
/// A quote is not closed.
pub fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for sign in line.chars() {
        match quote {
            Some(open) if open == sign => quote = None,
            None if sign.is_whitespace() => words.extend(word.take()),
            None if matches!(sign, '"' | '\'') => {
                // Nothing between quotes is a word, too.
                word.get_or_insert_default();
                quote = Some(sign);
            }
            Some(_) | None => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    match quote {
        None => Ok(words),
        Some(_) => Err("a quote is not closed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together() {
        for (line, expected) in [
            ("pass show eu", &["pass", "show", "eu"][..]),
            ("  pass  'eu live' ", &["pass", "eu live"]),
            ("get \"it's\" --key='a b'", &["get", "it's", "--key=a b"]),
            ("a '' b", &["a", "", "b"]),
            ("a\\b", &["a\\b"]),
            ("", &[]),
        ] {
            let expected: Vec<_> = expected.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(words(line), Ok(expected), "{line}");
        }
        for line in ["pass 'eu", "\"", "it's"] {
            assert!(words(line).is_err(), "{line}");
        }
    }
}
