//! What a spreadsheet makes of a value when it opens or saves a file: errors, shortened numbers, dates. And what programs
//! write where there is none.

/// What is odd about the text of a field; of IDs and data sources also what is usual elsewhere.
pub fn changed(field: &str, text: &str) -> Option<&'static str> {
    let is_id = matches!(field, "ID" | "mapping");
    broken(text).or_else(|| is_id.then(|| converted(text))?)
}

/// What only a spreadsheet writes in the place of a value.
pub fn broken(text: &str) -> Option<&'static str> {
    let text = text.trim();
    if is_error(text) {
        return Some("an error of a spreadsheet");
    }
    if is_missing(text) {
        return Some("what programs write for a missing value");
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
    if is_date(text) {
        Some("a date that a spreadsheet may have made")
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
    const WORDS: [&str; 12] = [
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
    WORDS.contains(&text)
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
            "N/A",
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
