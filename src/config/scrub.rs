//! Keeps API keys out of displayed text: any word that looks like a key becomes `…`, whoever wrote it.

use crate::domain::text;

const MARK: &str = "…";
/// Of words in a text of a program that knows a key, see [`without_possible_keys`].
const SHORTEST_POSSIBLE: usize = 12;
const LONGEST_WORD: usize = 20;
/// In the name of a server, as in `eu-central-1`.
const MOST_DIGITS: usize = 4;
const SCHEMES: [&str; 2] = ["https://", "http://"];
/// It has all settings.
const EXAMPLE: &str = include_str!("../../assets/config.example.toml");

/// Keys have at least this many letters and digits in a row.
const SHORTEST_KEY: usize = 16;
/// Changes between letters and digits. A name may end in a number or contain a year; a key alternates more often.
const FEWEST_CHANGES: usize = 3;
const LONGEST_SHOWN: usize = 200;

/// Whether a text may be an API key itself: a long run of mixed letters and digits.
pub fn looks_like_a_key(text: &str) -> bool {
    text.split(|c: char| !is_of_a_key(c)).any(is_long_and_mixed)
}

/// The text for display: hidden characters escaped, key-like words replaced, and cut to a readable length.
pub fn shown(text: &str) -> String {
    let clean = replaced(&text::visible(text), is_of_a_key, is_long_and_mixed);
    text::cut_middle(&clean, LONGEST_SHOWN, MARK)
}

/// The text without any long word that could be a key of any shape, also a UUID or a phrase with dashes. Words of letters stay,
/// and so does the address of a page, up to its query: a person may have to open it.
pub(super) fn without_possible_keys(text: &str) -> String {
    without_words(text, &is_of_possible_key, &could_be_a_key)
}

fn without_words(
    text: &str,
    is_of_run: &dyn Fn(char) -> bool,
    is_key: &dyn Fn(&str) -> bool,
) -> String {
    let without_keys = |text: &str| replaced(text, is_of_run, is_key);
    let words = text.split_inclusive(char::is_whitespace);
    let words = words.map(|word| {
        let starts = SCHEMES.iter().filter_map(|scheme| word.find(scheme));
        let Some(start) = starts.min() else {
            // A path stays readable, so that the message says which file.
            if word.starts_with(['/', '~']) || word.starts_with("./") {
                return replaced(word, |c| c != '/', could_be_a_key);
            }
            return without_keys(word);
        };
        let (before, address) = word.split_at(start);
        let end = address.find(|c: char| c.is_whitespace() || "\"'<>()[]{}`,;".contains(c));
        let (address, after) = address.split_at(end.unwrap_or(address.len()));
        [
            without_keys(before),
            readable_address(address),
            without_keys(after),
        ]
        .concat()
    });
    words.collect()
}

/// A text that was edited, without what may be a key of any shape in lines that were not there before. Settings, and the
/// names of profiles, variables and files stay.
pub fn without_new_keys(before: &str, text: &str) -> String {
    let profiles: Vec<_> = text.split('\n').filter_map(profile).collect();
    let is_of_run = |c: char| is_of_possible_key(c) || "!#$%&*?@^|\\".contains(c);
    let is_key = |run: &str| {
        // A setting may be a comment.
        let run = run.strip_prefix('#').unwrap_or(run);
        let run = run.trim_matches(['.', '=']);
        let run = run.strip_prefix("profiles.").unwrap_or(run);
        could_be_a_key(run) && !profiles.contains(&run) && !is_of_settings(run)
    };
    // The quotes that end a literal key of several lines.
    let mut open: Option<&str> = None;
    let lines = text.split_inclusive('\n').map(|line| {
        let end = if line.ends_with('\n') { "\n" } else { "" };
        let mut known = before.split_inclusive('\n');
        let is_known = known.any(|known| known.trim_end() == line.trim_end());
        if let Some(quotes) = open {
            let is_last = line.contains(quotes);
            open = open.filter(|_| !is_last);
            let after = if is_last { quotes } else { "" };
            return if is_known {
                line.to_owned()
            } else {
                format!("{MARK}{after}{end}")
            };
        }
        let literal = literal_key(line);
        if let Some((_, _, value)) = literal {
            open = MANY_LINES.into_iter().find(|quotes| {
                let inner = value.trim_start().strip_prefix(quotes);
                inner.is_some_and(|inner| !inner.contains(quotes))
            });
        }
        match literal {
            _ if is_known => line.to_owned(),
            Some((before, name, _)) => {
                let before = without_words(before, &is_of_run, &is_key);
                match open {
                    Some(quotes) => format!("{before}{name}= {quotes}{MARK}{end}"),
                    None => format!("{before}{name}= \"{MARK}\"{end}"),
                }
            }
            None => without_words(line, &is_of_run, &is_key),
        }
    });
    lines.collect()
}

const MANY_LINES: [&str; 2] = ["\"\"\"", "'''"];

/// The name of the profile that begins there.
fn profile(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("[profiles.")?.strip_suffix(']')?;
    is_name(name).then_some(name)
}

/// A setting or its value in the example, a variable as in `{ env = "EU_TESTING_KEY" }`, or the path of a file.
fn is_of_settings(run: &str) -> bool {
    let is_of_variable = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let is_variable = run.contains('_') && run.chars().all(is_of_variable);
    let is_path = run.starts_with(['/', '~']) || run.starts_with("./");
    EXAMPLE
        .split(|c| !is_of_possible_key(c))
        .any(|word| word == run)
        || (is_variable || is_path) && is_name(run)
}

/// Few digits, and none of the parts is long.
fn is_name(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let is_of_name = |c: char| c.is_alphanumeric() || "._-/~".contains(c);
    let mut parts = text.split(['.', '_', '-', '/', '~']);
    digits <= MOST_DIGITS && text.chars().all(is_of_name) && parts.all(|part| !could_be_a_key(part))
}

/// What is before the first literal key of a line, its name, and the rest of the line. It may be in an inline table.
fn literal_key(line: &str) -> Option<(&str, &str, &str)> {
    line.match_indices('=').find_map(|(at, sign)| {
        let (before, value) = (&line[..at], &line[at + sign.len()..]);
        let (before, name) = before.split_at(before.rfind(['{', ',']).map_or(0, |at| at + 1));
        is_literal_key(name, value).then_some((before, name, value))
    })
}

/// A key is written itself instead of where it comes from.
fn is_literal_key(name: &str, value: &str) -> bool {
    let name = name.trim().trim_matches('"').to_ascii_lowercase();
    let is_key = ["key", "password", "token"]
        .iter()
        .any(|end| name.ends_with(end));
    is_key && value.trim_start().starts_with(['"', '\''])
}

/// Up to the query, without a user and without parts of the path that could be a key.
fn readable_address(address: &str) -> String {
    let plain = address.split(['?', '#']).next().unwrap_or_default();
    let cut = if plain == address { "" } else { MARK };
    let (scheme, rest) = plain.split_at(plain.find("//").map_or(0, |at| at + 2));
    let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let server = if is_name_of_server(server) {
        server
    } else {
        MARK
    };
    let path = replaced(path, |c| c != '/', could_be_a_key);
    [scheme, server, &path, cut].concat()
}

fn is_name_of_server(text: &str) -> bool {
    let (name, port) = text.split_once(':').unwrap_or((text, ""));
    let digits = name.chars().filter(char::is_ascii_digit).count();
    let mut parts = name.split(['.', '-']);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_of_name = |c: char| c.is_alphanumeric() || c == '.' || c == '-';
    is_number(port)
        && name.chars().all(is_of_name)
        && (digits <= MOST_DIGITS && parts.all(|part| !could_be_a_key(part))
            || name.split('.').all(is_number))
}

fn is_of_possible_key(c: char) -> bool {
    c.is_alphanumeric() || "-_.~+/=".contains(c)
}

/// Long, and more than a word of letters.
fn could_be_a_key(word: &str) -> bool {
    if word.chars().count() < SHORTEST_POSSIBLE {
        return false;
    }
    let letters = word.trim_matches(|c: char| ".-=/".contains(c));
    let mut rest = letters.chars();
    let is_word = rest.next().is_some_and(char::is_alphabetic)
        && rest.all(char::is_lowercase)
        && letters.chars().count() <= LONGEST_WORD;
    !(is_word || letters.is_empty())
}

/// The text with a mark for each run of such characters that is a key.
fn replaced(text: &str, is_of_run: impl Fn(char) -> bool, is_key: impl Fn(&str) -> bool) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(&is_of_run) {
        let (before, from_run) = rest.split_at(start);
        let end = from_run.find(|c| !is_of_run(c)).unwrap_or(from_run.len());
        let (run, after) = from_run.split_at(end);
        clean.push_str(before);
        clean.push_str(if is_key(run) { MARK } else { run });
        rest = after;
    }
    clean.push_str(rest);
    clean
}

fn is_of_a_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '=')
}

fn is_long_and_mixed(run: &str) -> bool {
    let changes = run
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count();
    run.len() >= SHORTEST_KEY && changes >= FEWEST_CHANGES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_replaced_and_words_are_not() {
        let key = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b";
        assert_eq!(shown(&format!("denied for {key}!")), "denied for …!");
        assert_eq!(shown("sk_live_4eC39HqLyjWDarjtT1zdP7dc"), "…");
        for harmless in [
            "/home/ana/.password-store/eu.gpg: not found",
            "GROUPDESK_API_KEY_FOR_EU_2",
            "eu-live-2",
            "productioneurope2026",
        ] {
            assert!(!looks_like_a_key(harmless));
            assert_eq!(shown(harmless), harmless);
        }
    }
    /// `KEY` stands for a key.
    #[test]
    fn an_edited_text_is_kept_without_new_keys() {
        let before = "key = \"as-before-and-long-1\"\nurl = \"http://127.0.0.1:1\"\n";
        for key in [
            KEY_OF_WORDS,
            "b94d27b9-934e-4e08-a52e-52d7da7dabfa",
            KEY_WITH_SIGNS,
            "x'y z",
        ] {
            let text = format!("{before}timeout = \"7s\"\napi_key = \"{key}\"\n");
            let kept = without_new_keys(before, &text);
            assert!(
                kept.starts_with(before) && kept.contains("timeout = \"7s\""),
                "{kept}"
            );
            assert!(!kept.contains(key), "{kept}");
            assert!(!without_new_keys(before, &format!("{key}-4")).contains(KEY_OF_WORDS));
        }
        for kept in [
            "api_key = { env = \"LIVE_KEY\" }",
            "api_key = { env = \"EU_TESTING_KEY_2\" }\n",
            "[profiles.eu-production-2]\nbase_url = \"https://eu.example.com\"\nmax_token_age = \"90d\"\n",
            "default_profile = \"eu-production\"\n[profiles.eu-production]\n",
            "connect_timeout = \"3s\"\nrotate_marked = \"R\"\ndefault_profile=\"a\"\n",
            "handoff = { command = [\"/usr/local/bin/put-token\", \"eu-live\"] }\n",
        ] {
            assert_eq!(without_new_keys("", kept), kept);
        }
        for (text, expected) in [
            ("KEY=\n", "…\n"),
            ("max_token_age = \"KEY\"\n", "max_token_age = \"…\"\n"),
            ("api_key = { env = \"KEY\" }", "api_key = { env = \"…\" }"),
            (
                "api_key = { keyring = \"KEY\" }",
                "api_key = { keyring = \"…\" }",
            ),
            (
                "api_key = \"\"\"\ncorrect horse\nx\"\"\"\nplain = true\n",
                "api_key = \"\"\"…\n…\n…\"\"\"\nplain = true\n",
            ),
            ("api_key = '''correct\nhorse", "api_key = '''…\n…"),
            ("timeout = \"SIGNS\"\n", "timeout = \"…\"\n"),
            ("#max_token_age = \"90d\"\n", "#max_token_age = \"90d\"\n"),
            (
                "x = { base_url = \"http://a.example\", api_key = \"s3cr3t-pw\" }\n",
                "x = { base_url = \"http://a.example\", api_key = \"…\"\n",
            ),
            (
                "x = { note = \"KEY\", \"api_key\" = 's3cr3t-pw', token = 'b' }",
                "x = { note = \"…\", \"api_key\" = \"…\"",
            ),
            (
                "x = { api_key = \"\"\"\ncorrect horse\n\"\"\" }\nplain = true\n",
                "x = { api_key = \"\"\"…\n…\n…\"\"\"\nplain = true\n",
            ),
            (
                "api_key = \"\"\"correct horse\"\"\"\nplain = true\n",
                "api_key = \"…\"\nplain = true\n",
            ),
        ] {
            let text = text.replace("KEY", KEY_OF_WORDS);
            let text = text.replace("SIGNS", KEY_WITH_SIGNS);
            assert_eq!(without_new_keys("", &text), expected);
        }
        let header = "[profiles.b94d27b9-934e-4e08-a52e-52d7da7dabfa]";
        assert_eq!(without_new_keys("", header), "[…]");
        let known = "api_key = \"\"\"\nold\n\"\"\"\n";
        let kept = without_new_keys(known, &known.replace("old", "correct horse"));
        assert_eq!(kept, known.replace("old", "…"));
    }

    const KEY_OF_WORDS: &str = "plum-harbor-quilt-ember-42";
    const KEY_WITH_SIGNS: &str = "Blaue-Katze!343+Regen&Sturm$8b97b75092";

    #[test]
    fn every_long_word_that_is_not_plain_is_possibly_a_key() {
        for (text, expected) in [
            ("+ echo KEY", "+ echo …"),
            ("key=KEY; 'a-b-c-d-e-f-g'", "…; '…'"),
            ("correct-horse-battery AbcdEfghIjkl", "… …"),
            ("a/b+c/d+e/f= ABCDEFGHIJKLMNOP", "… …"),
            ("abcdefghijklmnopqrstuvwxyz", "…"),
            ("(https://a.example/x/KEY/y)", "(https://a.example/x/…/y)"),
            ("http://ana:KEY@a.example/", "http://…/"),
            ("http://KEY/", "http://…/"),
            ("https://a.example:KEY", "https://…"),
            ("https://a.example/?t=KEY", "https://a.example/…"),
            ("https://a.example#KEY", "https://a.example…"),
            ("KEYhttps://a.example,KEY", "…https://a.example,…"),
        ] {
            let text = text.replace("KEY", "9f86d081-884c-7d65-9a2f-eaa0c55ad015");
            assert_eq!(without_possible_keys(&text), expected, "{text}");
        }
        for harmless in [
            "Authentication... is necessary:  code ABCD-EFGH",
            "open https://login.microsoftonline.com/common/oauth2/deviceauth, please",
            "https://device.sso.eu-central-1.amazonaws.com/",
            "http://127.0.0.1:8400/start",
            "--------------------",
            "",
        ] {
            assert_eq!(without_possible_keys(harmless), harmless);
        }
    }
}
