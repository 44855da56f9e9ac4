//! Phrases that docs/design/words.md forbids are in no text that a user reads: strings of the sources, help, documents.

use super::{citations::below, files};

/// Not what a native reader would write, and what to write instead.
#[rustfmt::skip] // A table: one phrase per line.
const FORBIDDEN: [(&str, &str); 61] = [
    ("a person", "groupdesk, the service, you, or a colleague"),
    ("somebody", "groupdesk, the service, you, or a colleague"),
    ("nobody", "groupdesk, the service, you, or a colleague"),
    ("anybody", "groupdesk, the service, you, or a colleague"),
    ("everybody", "all users, or all colleagues"),
    ("whoever", "groupdesk, the service, you, or a colleague"),
    ("may have arrived", "may have taken effect"),
    ("known here", "in the directory"),
    ("put right", "fix"),
    ("puts right", "fixes"),
    ("sent along", "also sent"),
    ("broke off", "was interrupted"),
    ("broken off", "interrupted"),
    ("begun by", "started by"),
    ("under way", "in progress"),
    ("in flight", "in progress"),
    ("anew", "again"),
    ("for ever", "permanently"),
    ("is gone", "no longer exists"),
    ("on trial", "not verified"),
    ("an authority", "a CA"),
    ("authorities", "CAs"),
    ("name another", "use another"),
    ("taken out", "removed"),
    ("goes on", "continues"),
    ("go on with", "resume"),
    ("going on", "resuming"),
    ("left out", "skipped, omitted"),
    ("it holds", "it contains"),
    ("the newest first", "newest first"),
    ("the oldest first", "oldest first"),
    ("what came of", "the result of"),
    ("exists already", "already exists"),
    ("any more", "no longer"),
    ("mended", "fixed"),
    ("written down here", "recorded"),
    ("as far as can be seen", "apparently"),
    ("as far as is known", "according to the directory"),
    ("is stronger", "overrides"),
    ("put it right", "fix it"),
    ("list of texts", "list of strings"),
    ("object of texts", "object of strings"),
    ("must be a text", "must be a string"),
    ("an odd character", "an invalid character"),
    ("if need be", "name the case"),
    ("look into it", "investigate"),
    ("look again", "run … again"),
    ("told to end", "shutting down"),
    ("belong into", "belong in"),
    ("belongs into", "belongs in"),
    ("taken back", "withdrawn, undone"),
    ("there only where", "only present if"),
    ("there only with", "only present with"),
    ("was there before", "already existed"),
    ("settled by reading", "resolved by reading"),
    ("none was given", "no … was given"),
    ("names none", "has none"),
    ("tells more", "for details, run"),
    ("more than it may", "exceeds its limit"),
    ("does not say so", "is not set"),
    ("nothing was done", "nothing was sent, nothing was changed, nothing was saved"),
];

/// Texts of earlier versions that are read and never written.
const READ: [&str; 1] = ["begun by"];

/// The strings of a source file without its tests, each with its line, and the comments that clap prints as help.
fn texts(file: &str, source: &str) -> Vec<(usize, String)> {
    let source = source
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let mut found = Vec::new();
    let (mut line, mut text) = (1, None::<(usize, String)>);
    let mut rest = source.chars().peekable();
    while let Some(sign) = rest.next() {
        if sign == '\n' {
            line += 1;
        }
        match (&mut text, sign) {
            (None, '"') => text = Some((line, String::new())),
            // A character, not the beginning of a string.
            (None, '\'') if rest.peek() == Some(&'"') => drop(rest.next()),
            (None, '/') if rest.peek() == Some(&'/') => {
                let comment: String =
                    std::iter::from_fn(|| rest.next_if(|sign| *sign != '\n')).collect();
                let help = comment
                    .strip_prefix("// ")
                    .filter(|_| file.starts_with("src/cli/args") || source.contains("use clap::"));
                found.extend(help.map(|help| (line, help.to_owned())));
            }
            (None, _) => {}
            (Some(_), '"') => found.extend(text.take()),
            (Some((_, text)), '\\') => match rest.next() {
                // A string that goes on in the next line.
                Some('\n') => {
                    line += 1;
                    while rest.next_if(|sign| sign.is_whitespace()).is_some() {}
                }
                Some('n') => text.push(' '),
                Some(sign) => text.push(sign),
                None => {}
            },
            (Some((_, text)), sign) => text.push(sign),
        }
    }
    assert!(text.is_none(), "{file}: a string does not end: {text:?}");
    found
}

/// The lines of a document without its examples.
fn lines(document: &str) -> Vec<(usize, String)> {
    let mut is_example = false;
    let mut found = Vec::new();
    for (at, line) in document.lines().enumerate() {
        if line.starts_with("```") {
            is_example = !is_example;
        } else if !is_example {
            found.push((at + 1, line.to_owned()));
        }
    }
    found
}

/// Whether the text has the phrase as whole words.
fn has(text: &str, phrase: &str) -> bool {
    let text = text.to_lowercase();
    text.match_indices(phrase).any(|(at, _)| {
        let is_edge = |sign: Option<char>| sign.is_none_or(|sign| !sign.is_alphanumeric());
        is_edge(text[..at].chars().next_back()) && is_edge(text[at + phrase.len()..].chars().next())
    })
}

fn complaints(file: &str, texts: &[(usize, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (line, text) in texts
        .iter()
        .filter(|(_, text)| !READ.contains(&text.as_str()))
    {
        let phrases = FORBIDDEN.iter().filter(|(phrase, _)| has(text, phrase));
        found.extend(phrases.map(|(phrase, instead)| {
            format!("{file}:{line}: \"{phrase}\"; write: {instead} (docs/design/words.md)")
        }));
    }
    found
}

#[test]
fn no_text_has_a_forbidden_phrase() {
    let mut found = Vec::new();
    let is_read = |file: &str| {
        file.starts_with("src/") && !file.ends_with("tests.rs") && !file.contains("/tests/")
    };
    let mut read = 0;
    for (file, source) in files().iter().filter(|(file, _)| is_read(file)) {
        let texts = texts(file, source);
        read += texts.len();
        found.extend(complaints(file, &texts));
    }
    assert!(read > 3000, "{read} texts");
    let folders = ["docs/guide", "docs/operations", "docs/reference"];
    let documents = folders.iter().flat_map(|folder| below(folder, &["md"]));
    let packaged = below("packaging", &["yml", "json", "service", "timer"]);
    assert!(packaged.len() >= 5, "{packaged:?}");
    let at_top = ["README.md", "SECURITY.md", "CONTRIBUTING.md"].map(str::to_owned);
    let others = packaged.into_iter().chain(at_top);
    for file in documents.chain(others) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
        let text = std::fs::read_to_string(path).expect("readable");
        found.extend(complaints(&file, &lines(&text)));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// Where messages leave the program: each of these files puts errors of the operating system into plain words.
const WAYS_OUT: [(&str, &str); 4] = [
    ("src/cli/", "ERR.write(&lines)"),
    ("src/cli/", ".println("),
    ("src/tui/", "LineMessage::new(Some("),
    ("src/tui/", "text: failure.to_string()"),
];

#[test]
fn no_message_leaves_with_a_raw_error_of_the_operating_system() {
    let mut found = 0;
    for (file, source) in files() {
        for (room, way) in WAYS_OUT {
            if file.starts_with(room) && !file.ends_with("tests.rs") && source.contains(way) {
                found += 1;
                assert!(source.contains("in_plain_words("), "{file}: {way}");
            }
        }
    }
    assert!(found >= 3, "{found} ways out");
}

#[test]
fn a_phrase_is_found_in_strings_and_help_and_nowhere_else() {
    let source = "//! Mended.\n/// Left out\nfn a() { say(\"it was mend\\\n    ed\"); '\"'; } // anew\n\"a\\nany more\"\n\
                  #[cfg(test)]\nmod tests {\n\"anew\"\n}\n";
    let of = |file: &str| complaints(file, &texts(file, source)).len();
    assert_eq!((of("src/cli/args.rs"), of("src/api.rs")), (3, 2));
    assert!(has("Mended, too", "mended") && !has("commended", "mended"));
}
