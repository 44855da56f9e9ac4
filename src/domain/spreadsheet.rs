//! What a spreadsheet makes of a value when it opens or saves a file: errors, shortened numbers, dates. What programs write
//! where there is none, what a template left, and signs that nobody sees.

use std::collections::HashSet;

use super::{
    change::DesiredFields,
    dash,
    text::{has_variable, is_hidden},
};

/// What is odd about the text of a field; of IDs and data sources also what is usual elsewhere.
pub fn changed(field: &str, text: &str) -> Option<&'static str> {
    let is_id = matches!(field, "ID" | "mapping");
    let odd = broken(text).or_else(|| is_id.then(|| converted(text))?);
    let odd = odd.or_else(|| is_id.then(|| brought(field, text))?);
    let odd = odd.or_else(|| (field != "note").then(|| escaped(field, text))?);
    let begins_option = || (field != "note" && dash::begins_option(text)).then_some(OPTION);
    odd.or_else(begins_option)
        .or_else(|| overlooked(field, text))
}

/// What keys have in common that are the same number or differ in case only: `07`, `7.0` and `7`, `Tier` and `tier`.
pub fn spelling(key: &str) -> String {
    // A number of more digits is not exact.
    let is_short = key.len() <= 15 && key.starts_with(|c: char| c.is_ascii_digit());
    let number = key.parse::<f64>().ok().filter(|_| is_short);
    let plain = || key.trim().trim_start_matches('0').to_lowercase();
    number.map_or_else(plain, |number| number.to_string())
}

/// The new keys that are a known one in another spelling, each with its field. What is odd by itself is no more.
pub fn spelled_otherwise<'f>(
    fields: &'f DesiredFields,
    known: &DesiredFields,
) -> Vec<(&'static str, &'f str)> {
    fn keys(fields: &DesiredFields) -> impl Iterator<Item = (&'static str, &String)> {
        let mapping = fields.mapping.iter().flat_map(|rows| rows.keys());
        let properties = fields.properties.iter().flat_map(|all| all.keys());
        let mapping = mapping.map(|key| ("mapping", key));
        mapping.chain(properties.map(|key| ("property", key)))
    }
    let spellings: HashSet<_> = keys(known)
        .map(|(field, key)| (field, spelling(key)))
        .collect();
    let known: HashSet<_> = keys(known).collect();
    let is_other = |one: &(&'static str, &String)| {
        !known.contains(one)
            && spellings.contains(&(one.0, spelling(one.1)))
            && changed(one.0, one.1).is_none()
    };
    let others = keys(fields).filter(is_other);
    others.map(|(field, key)| (field, key.as_str())).collect()
}

/// What such a key is.
pub const SPELLED_OTHERWISE: &str = "a known key in another spelling";

const OPTION: &str = "a text that begins like an option or an entry of a list";

/// What came along with an ID or a data source when it was copied: from a program, a list, a table or a page. No system gives
/// such IDs; dots, slashes and `@` are in those of some.
fn brought(field: &str, text: &str) -> Option<&'static str> {
    const QUOTES: &str = "\"'`“”„‟‘’‚«»";
    const ENDS: &str = ",;:|。、，；";
    const HEADERS: [&str; 5] = [
        "user_group_id",
        "user_group",
        "group_id",
        "provided_id",
        "id",
    ];
    let text = text.trim();
    let is_word = |word: &str| {
        let mut signs = word.chars();
        !word.is_empty() && signs.all(|c| c.is_ascii_alphabetic() || c == '_')
    };
    let is_labelled = || {
        let (label, rest) = text.split_once(['=', ':'])?;
        let is_pair = text[label.len()..].starts_with('=') || rest.starts_with(' ');
        let is_number = is_number(label, 1..=99) && text[label.len()..].starts_with('=');
        let label = label.trim_end();
        // As directories name what they have: `cn=acme,ou=groups`.
        let is_path = matches!(
            label.to_ascii_lowercase().as_str(),
            "cn" | "ou" | "dc" | "uid" | "o"
        );
        let is_pair = is_pair && is_word(label) && !is_path || is_number;
        (is_pair && rest.contains(char::is_alphanumeric)).then_some(())
    };
    let is_around = |open, close| text.starts_with(open) && text.ends_with(close);
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let mut threes = text.as_bytes().windows(3);
    let has_list = threes
        .any(|part| is_digit(part[0]) && b",;| ".contains(&part[1]) && is_digit(part[2]))
        && text
            .bytes()
            .all(|byte| is_digit(byte) || b",;|= .".contains(&byte));
    if text.starts_with(|c| QUOTES.contains(c)) || text.ends_with(|c| QUOTES.contains(c)) {
        Some("a text that begins or ends with a quote")
    } else if text.ends_with(|c| ENDS.contains(c)) {
        Some("a text that ends with a separator")
    } else if is_around('(', ')') || is_around('[', ']') {
        Some("a text in brackets")
    } else if !text.is_empty() && !text.contains(char::is_alphanumeric) {
        Some("a text without a letter or a digit")
    } else if text.starts_with(|c| c == '-' || dash::is_long(c)) {
        Some(OPTION)
    } else if text.starts_with(['#', '*', '>']) || text.contains(" #") {
        Some("a text that looks like a comment or a list")
    } else if ["\\n", "\\r", "\\t"].iter().any(|end| text.ends_with(end)) {
        Some("a text that ends with an escaped line end or tab")
    } else if text.contains("://") {
        Some("a URL")
    } else if HEADERS.iter().any(|name| name.eq_ignore_ascii_case(text)) {
        Some("the name of a column")
    } else if field == "mapping"
        && ["map.", "map:", "mapping.", "mapping:"]
            .iter()
            .any(|start| text.starts_with(start))
    {
        Some("a key with the prefix of a column")
    } else if is_labelled().is_some() {
        Some("a pair of a name and a value")
    } else if has_list {
        Some("several numbers, or one with separators")
    } else {
        None
    }
}

/// Letters as an address, a page, a program or another encoding writes them. A property may be an address or a page.
fn escaped(field: &str, text: &str) -> Option<&'static str> {
    let is_hex =
        |text: &str| text.len() >= 2 && text.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    let is_entity = |rest: &str| {
        let name = rest
            .split_once(';')
            .map(|(name, _)| name.trim_start_matches('#'));
        name.is_some_and(|name| {
            (2..=8).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    };
    // UTF-8 that was read as Latin-1 or as its form for Windows.
    let is_second = |c: char| matches!(c, '\u{80}'..='\u{bf}' | '€' | '™' | '‚'..='„' | '‰' | '‹' | '›' | 'Œ'..='œ');
    let mut pairs = text.chars().zip(text.chars().skip(1));
    if pairs.any(|(first, second)| matches!(first, 'Ã' | 'Â') && is_second(second)) {
        return Some("a text in another encoding: save the file as UTF-8");
    }
    let behind = |sign: &str, is_it: &dyn Fn(&str) -> bool| text.split(sign).skip(1).any(is_it);
    if behind("\\u", &|rest| is_hex(rest)) {
        Some("a text with an escaped letter (\\u00e9)")
    } else if field != "property" && behind("%", &is_hex) {
        Some("a text with a URL escape (%20)")
    } else if field != "property" && behind("&", &is_entity) {
        Some("a text with an HTML escape (&amp;)")
    } else {
        None
    }
}

/// What is easily overlooked in a value that is kept by the service. The characters of an ID are named one by one elsewhere
/// ([`crate::domain::text::oddities`]), and a note is for people.
fn overlooked(field: &str, text: &str) -> Option<&'static str> {
    if matches!(field, "ID" | "note") {
        return None;
    }
    let is_other_digit = |c: char| !c.is_ascii() && (c.is_numeric() || c == '\u{20e3}');
    let is_odd_blank = |c: char| !c.is_ascii() && c.is_whitespace();
    if text.contains(is_hidden) {
        Some("a text with an invisible character")
    } else if text.trim() != text {
        Some("a text that begins or ends with a blank")
    } else if text.contains(is_odd_blank) {
        Some("a text with a blank that is not the usual one")
    } else if has_variable(text) {
        Some("a text with a variable that only a shell or a template replaces")
    } else if field == "mapping" && text.contains(is_other_digit) {
        Some("a text with digits that are not 0 to 9")
    } else {
        None
    }
}

/// What only a spreadsheet writes in the place of a value.
pub fn broken(text: &str) -> Option<&'static str> {
    let text = text.trim();
    if is_error(text) {
        return Some("a spreadsheet error");
    }
    if is_missing(text) {
        return Some("a word for a missing value");
    }
    if is_place(text) {
        return Some("a placeholder from a template");
    }
    if text.len() > 1 && text.starts_with('=') {
        return Some("a spreadsheet formula");
    }
    if text.contains('\u{fffd}') {
        return Some("a text with a letter that was lost (U+FFFD)");
    }
    if text.len() > 1 && text.bytes().all(|byte| byte == b'#') {
        return Some("a cell that was too narrow for its value");
    }
    let (number, exponent) = text.split_once(['E', 'e'])?;
    let parts: Vec<_> = number.split(['.', ',']).collect();
    let is_short = match parts[..] {
        [whole] => is_number(whole, 1..=1),
        [whole, rest] => is_number(whole, 1..=1) && is_number(rest, 1..=99),
        _ => false,
    };
    let exponent = exponent.strip_prefix('+')?;
    (is_short && is_number(exponent, 1..=99)).then_some("a number that a spreadsheet shortened")
}

/// What a spreadsheet may have made of an ID or a data source. Elsewhere people write the same.
pub fn converted(text: &str) -> Option<&'static str> {
    let text = text.trim();
    let has_decimals = || {
        let (whole, rest) = text.split_once(['.', ','])?;
        let is_none = !rest.is_empty() && rest.bytes().all(|byte| byte == b'0');
        (is_none && is_number(whole, 1..=99)).then_some(())
    };
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if is_date(text) {
        Some("a date that a spreadsheet may have created")
    } else if digits > 15 && digits == text.len() && text[15..].bytes().all(|byte| byte == b'0') {
        Some("a number whose last digits a spreadsheet may have lost")
    } else if has_thousands(text) {
        Some("a number to which a spreadsheet may have added separators")
    } else if matches!(text, "Total" | "Sum" | "Summe" | "Gesamt") {
        Some("the label of a total in a spreadsheet")
    } else if has_decimals().is_some() {
        Some("a number to which a spreadsheet may have added decimals")
    } else {
        truth(text)
    }
}

/// True or false in the way of a spreadsheet.
pub fn truth(text: &str) -> Option<&'static str> {
    const WORDS: [&str; 6] = ["TRUE", "FALSE", "WAHR", "FALSCH", "VRAI", "FAUX"];
    let is_word = WORDS.contains(&text.trim());
    is_word.then_some("true or false as a spreadsheet writes it")
}

/// As jq, databases and programs write it.
fn is_missing(text: &str) -> bool {
    const WORDS: [&str; 20] = [
        "-",
        "N/A",
        "n/a",
        "TBD",
        "TODO",
        "[object Object]",
        "<nil>",
        "<none>",
        "null",
        "NULL",
        "(null)",
        "None",
        "nil",
        "undefined",
        "nan",
        "NaN",
        "NaT",
        "<NA>",
        "<null>",
        "\\N",
    ];
    let is_dash = |text: &str| !text.is_empty() && text.chars().all(dash::is_long);
    WORDS.contains(&text)
        || is_dash(text)
        || text.starts_with("%!")
        || text.starts_with("Optional(")
}

/// `<ID>` or `{id}`.
fn is_place(text: &str) -> bool {
    let between = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let name = between('<', '>').or_else(|| between('{', '}'));
    let is_word = |c: char| c.is_alphanumeric() || " _-".contains(c);
    name.is_some_and(|name| name.starts_with(char::is_alphabetic) && name.chars().all(is_word))
}

/// `1,234` or `1.234.567,50`.
fn has_thousands(text: &str) -> bool {
    [',', '.', '\'', '\u{a0}', '\u{202f}']
        .into_iter()
        .any(|sign| {
            let mut parts = text.split(sign);
            let is_first = parts.next().is_some_and(|first| is_number(first, 1..=3));
            let (mut rest, is_decimal) = (parts.peekable(), |part: &str| {
                let whole = part.split_once(['.', ',']);
                whole
                    .is_some_and(|(whole, rest)| is_number(whole, 3..=3) && is_number(rest, 1..=99))
            });
            let is_some = rest.peek().is_some();
            is_first && is_some && rest.all(|part| is_number(part, 3..=3) || is_decimal(part))
        })
}

/// In any language: `#REF!`, `#VALEUR!`, `#¿NOMBRE?`, `Err:502`.
fn is_error(text: &str) -> bool {
    const NOT_AVAILABLE: [&str; 4] = ["#N/A", "#N/D", "#NV", "#GETTING_DATA"];
    let of_sign = || {
        let name = text.strip_prefix('#')?.strip_suffix(['!', '?'])?;
        let mut signs = name.chars();
        let is_sign = |c: char| c.is_uppercase() || c.is_ascii_digit() || "/_¡¿".contains(c);
        (!name.is_empty() && signs.all(is_sign)).then_some(())
    };
    let of_number = || {
        let (word, number) = text.split_once(':')?;
        (matches!(word, "Err" | "Fehler") && is_number(number, 3..=3)).then_some(())
    };
    NOT_AVAILABLE
        .iter()
        .any(|error| text.eq_ignore_ascii_case(error))
        || of_sign().is_some()
        || of_number().is_some()
}

fn is_number(text: &str, digits: std::ops::RangeInclusive<usize>) -> bool {
    digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `01.03.2026`, `3/1/26`, `2026-03-26 00:00:00`, `Mar-26` or `26. Mrz`.
fn is_date(text: &str) -> bool {
    // The time of day.
    let date = text.split_once(' ').map_or(text, |(date, time)| {
        let mut parts = time.split(':');
        let is_time = time.contains(':') && parts.all(|part| is_number(part, 1..=2));
        if is_time { date } else { text }
    });
    let within = |part: &str, most: u32| {
        is_number(part, 1..=2) && part.parse().is_ok_and(|it: u32| (1..=most).contains(&it))
    };
    let is_year = |part: &str| is_number(part, 4..=4) && part.starts_with(['1', '2']);
    let of_three = |separator: char| {
        let parts: Vec<_> = date.split(separator).collect();
        let [first, second, last] = parts[..] else {
            return false;
        };
        let ends_with_year = (is_year(last) || is_number(last, 2..=2) && separator != '.')
            && (within(first, 31) && within(second, 12) || within(first, 12) && within(second, 31));
        let begins_with_year = is_year(first) && within(second, 12) && within(last, 31);
        ends_with_year && separator != '-' || begins_with_year
    };
    let words: Vec<_> = text
        .split(['-', ' ', '.'])
        .filter(|word| !word.is_empty())
        .collect();
    let of_month = match words[..] {
        [day, month] if is_month(month) => within(day, 31),
        [month, number] if is_month(month) => is_number(number, 2..=2) || is_year(number),
        [day, month, year] if is_month(month) => {
            within(day, 31) && (is_number(year, 2..=2) || is_year(year))
        }
        _ => false,
    };
    of_month || ['.', '/', '-'].into_iter().any(of_three)
}

/// As a spreadsheet abbreviates them: with a capital, in English, German or French.
#[rustfmt::skip] // A table: one language a line.
fn is_month(word: &str) -> bool {
    const MONTHS: [&str; 26] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        "Mrz", "Mär", "Mai", "Okt", "Dez",
        "Janv", "Févr", "Mars", "Avr", "Juin", "Juil", "Août", "Sept", "Déc",
    ];
    MONTHS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_spreadsheet_writes_is_found() {
        for text in [
            "#N/A",
            "#REF!",
            " #n/a ",
            "1.2E+11",
            "1,2E+11",
            "5E+10",
            "####",
            "#NV",
            "#WERT!",
            "#VALEUR!",
            "#NOME?",
            "#DIV/0!",
            "#ÜBERLAUF!",
            "#¿NOMBRE?",
            "Err:502",
            "null",
            " NULL",
            "(null)",
            "None",
            "undefined",
            "nan",
            "\\N",
            "Caf\u{fffd}",
        ] {
            assert!(broken(text).is_some(), "{text}");
        }
        for text in [
            "#",
            "E+1",
            "acme-e+1",
            "12E+11",
            "1.2E11",
            "1e5",
            "00123",
            "",
            "none",
            "nano",
            "Null GmbH",
            "#vip",
            "#!",
            "#1",
            "Err:5",
            "#Great!",
            "#VIP",
        ] {
            assert!(broken(text).is_none(), "{text}");
        }
    }

    #[test]
    #[rustfmt::skip] // A table: one text a line.
    fn what_is_odd_is_named_and_what_is_usual_is_not() {
        for (field, text, odd) in [
            ("ID", "N/A", "missing"), ("mapping", "—", "missing"), ("ID", "%!s(MISSING)", "missing"),
            ("ID", "{id}", "template"), ("ID", "<ID>", "template"), ("name", "=1+1", "formula"),
            ("ID", "12345678901234500000", "last digits"), ("ID", "1,234", "separators"), ("mapping", "1.234,50", "separators"),
            ("ID", "Summe", "total"),
            ("name", "Acme\u{a0}Europe", "not the usual one"), ("name", " Acme", "begins or ends"), ("property", "x\u{202e}", "invisible"),
            ("name", "{{name}}", "variable"), ("mapping", "4⃣0", "digits"), ("mapping", "٤٠", "digits"),
            ("name", "—dry-run", "option"), ("name", "–x", "option"), ("name", "--dry-run", "option"), ("property", "−x", "option"),
        ] {
            let named = changed(field, text).unwrap_or_default();
            assert!(named.contains(odd), "{field} {text:?}: {named:?}");
        }
        for (field, text) in [
            ("name", "1,234 shops"), ("name", "Acme – Europe"), ("name", "مجموعة ٣"), ("name", "A+ {beta}"),
            ("mapping", "213"), ("mapping", "acme_orders"), ("ID", "12.5.1"), ("ID", "1234567890123456"), ("property", "1,234"),
            ("note", " a note\u{a0}"), ("ID", "acme@example.com"), ("ID", "eu/acme.sales"), ("ID", "urn:acme:7"),
            ("ID", "cn=acme,ou=groups"), ("ID", "YWNtZQ=="), ("ID", "ACME\\nina"), ("ID", "Acme & Co"), ("ID", "acme_42"),
            ("mapping", "213.5"), ("name", "Acme (EU)"), ("name", "100% Acme & Co; Ltd"), ("name", "SÃO Paulo"),
            ("property", "https://a.example/?q=a%20b&amp;c"), ("name", "'Acme'"), ("name", "- Acme"), ("name", "— Acme"), ("property", "-5"), ("note", "—dry-run"), ("name", "Why?"),
        ] {
            assert_eq!(changed(field, text), None, "{field} {text:?}");
        }
    }

    #[test]
    #[rustfmt::skip] // A table: one text a line.
    fn what_came_along_with_an_id_is_named() {
        for (text, odd) in [
            ("'n1'", "quote"), ("\"n1\"", "quote"), ("`n1`", "quote"), ("“213”", "quote"), ("n1'", "quote"),
            ("n1,", "separator"), ("n1;", "separator"), ("213。", "separator"), ("n1:", "separator"),
            ("(n1)", "brackets"), ("[40]", "brackets"), (".", "without"), ("/", "without"),
            ("-n1", "option"), ("—213", "option"), ("–213", "option"), ("−213", "option"), ("－213", "option"), ("- n1", "option"), ("#n1", "comment"), ("213 # c", "comment"), ("* n1", "list"),
            ("id: n1", "pair"), ("name=n1", "pair"), ("213=5", "pair"),
            ("n1\\n", "line end"), ("https://h/n1", "URL"), ("user_group_id", "column"), ("ID", "column"),
            ("213|41=5", "several"), ("1,5", "several"), ("1 234", "several"),
            ("a%20b", "%20"), ("a&amp;b", "&amp;"), ("Caf\\u00e9", "escaped"), ("CafÃ©", "encoding"),
        ] {
            for field in ["ID", "mapping"] {
                let named = changed(field, text).unwrap_or_default();
                assert!(named.contains(odd), "{field} {text:?}: {named:?}");
            }
        }
        for (field, text, odd) in [
            ("mapping", "map.40", "prefix"), ("mapping", "mapping:40", "prefix"),
            ("name", "CafÃ©", "encoding"), ("name", "&amp;Co", "&amp;"), ("name", "%20X", "%20"), ("name", "Caf\\u00e9", "escaped"),
            ("property", "CafÃ©", "encoding"),
        ] {
            let named = changed(field, text).unwrap_or_default();
            assert!(named.contains(odd), "{field} {text:?}: {named:?}");
        }
    }

    #[test]
    fn a_new_key_that_spells_a_known_one_otherwise_is_found() {
        let fields = |keys: &[&str]| DesiredFields {
            mapping: Some(keys.iter().map(|key| ((*key).into(), "1".into())).collect()),
            ..DesiredFields::default()
        };
        let known = fields(&["7", "40", "tier", "1234567890123456789"]);
        for (key, expected) in [
            ("07", true),
            ("Tier", true),
            ("7", false),
            ("70", false),
            ("tiers", false),
            ("1234567890123456788", false),
            ("new", false),
            // What is said is that a spreadsheet made it, or its blank.
            ("7.0", false),
            (" 40", false),
        ] {
            let new = fields(&[key]);
            let found = spelled_otherwise(&new, &known);
            assert_eq!(!found.is_empty(), expected, "{key}");
        }
        for same in ["7", "07", "7.0", "7e0", " 7"] {
            assert_eq!(spelling(same), "7", "{same}");
        }
    }

    #[test]
    fn what_a_spreadsheet_may_have_made_of_an_id_is_found() {
        for text in [
            "Mar-26",
            "26-Mar",
            "12-Mar",
            "26. Mrz",
            "Mrz 26",
            "1-Mar-2026",
            "01.03.2026",
            "3/1/2026",
            "3/26/26",
            "2026-03-26 00:00:00",
            "2026-03-26",
            "2026/3/26",
            "213.0",
            "213,00",
            "TRUE",
            "FALSCH",
        ] {
            assert!(converted(text).is_some(), "{text}");
        }
        for text in [
            "mar-26",
            "acme-26",
            "Mar-acme",
            "March",
            "Mar",
            "true",
            "213",
            "213.5",
            "1.2.3",
            "10.0.12",
            "10.1.2.3",
            "26-03",
            "3/4",
            "99/99/2026",
            "acme 10:30",
            "10-12-2026",
            ".0",
        ] {
            assert!(converted(text).is_none(), "{text}");
        }
    }
}
