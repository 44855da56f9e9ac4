//! A corpus: forms in which tokens turn up, times shapes of tokens, and what is no all-clear.

use super::*;

/// Tokens as services generate them: hex digits, a UUID, a signed token, letters with signs.
const TOKENS: [&str; 5] = [
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "b94d27b9-934e-4e08-a52e-52d7da7dabfa",
    "eyJhbGciOiJIUzI1NiJ9.eyJncm91cCI6ImFjbWUtZXUiLCJ2IjoxfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    "Tok/en+4e8A==",
    "sk_live_4eC39HqLyjWDarjtT1zdP7dc",
];
const HEX: &str = TOKENS[0];
/// Another token, which stands beside it.
const OTHER: &str = "00d1f4aa00d1f4bb00d1f4cc00d1f4dd00d1f4ee00d1f4ff00d1f40000d1f411";

/// Inserts something into the middle of a token.
fn split(token: &str, between: &str) -> String {
    let (front, back) = token.split_at(token.len() / 2);
    format!("{front}{between}{back}")
}

/// The token in parts of this length.
fn parts(token: &str, length: usize) -> Vec<&str> {
    let ends = token.as_bytes().chunks(length);
    ends.map(|part| std::str::from_utf8(part).expect("ASCII"))
        .collect()
}

fn each(token: &str, form: impl Fn(char) -> String) -> String {
    token.chars().map(form).collect()
}

fn base64(text: &str) -> String {
    let alphabet: Vec<char> = ('A'..='Z')
        .chain('a'..='z')
        .chain('0'..='9')
        .chain(['+', '/'])
        .collect();
    let mut out = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits = three
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for sextet in 0..4 {
            out.push(if sextet <= three.len() {
                alphabet[(bits >> (18 - 6 * sextet)) as usize & 63]
            } else {
                '='
            });
        }
    }
    out
}

/// Every form, by a name.
fn forms(t: &str) -> Vec<(&'static str, String)> {
    let lines = |length: usize, begin: &str, end: &str| {
        let all = parts(t, length)
            .into_iter()
            .map(|part| format!("{begin}{part}{end}"));
        all.collect::<Vec<_>>().join("\n")
    };
    let percent = each(t, |c| format!("%{:02X}", u32::from(c)));
    vec![
        ("alone", t.into()),
        ("between blanks", format!("  \t{t} \r\n")),
        ("in a header", format!("Authorization: Token {t}")),
        (
            "in a command",
            format!("curl -H 'Authorization: Bearer {t}' https://bi.example.com/a?b=1"),
        ),
        (
            "in a URL",
            format!("https://bi.example.com/embed?x=1&token={t}&y=2#top"),
        ),
        ("as user of a URL", format!("https://{t}:x@bi.example.com/")),
        ("in JSON", format!("{{\"token\": \"{t}\", \"n\": 1}}")),
        ("in JSON in JSON", format!("{{\\\"token\\\": \\\"{t}\\\"}}")),
        (
            "in JSON with \\u0022",
            format!("{{\\u0022token\\u0022:\\u0022{t}\\u0022}}"),
        ),
        (
            "in JSON twice escaped",
            format!("token\\\\u0022:\\\\u0022{t}\\\\u0022"),
        ),
        ("after a literal \\n", format!("token:\\n{t}\\nend")),
        ("after a literal \\t", format!("acme\\t{t}\\tgold")),
        ("after a literal \\r\\n", format!("acme\\r\\n{t}\\r\\n")),
        ("after \\\\n", format!("acme\\\\n{t}\\\\n")),
        ("after \\x0a", format!("acme\\x0a{t}\\x0a")),
        ("after \\012", format!("acme\\012{t}\\012")),
        ("after a backslash", format!("acme\\{t}")),
        ("after %20", format!("token%20{t}%20x")),
        ("after %3D", format!("next=%2Fembed%3Ftoken%3D{t}%26x")),
        (
            "after %253D",
            format!("next=%252Fembed%253Ftoken%253D{t}%2526x"),
        ),
        ("after %0A", format!("a%0A{t}%0Ab")),
        ("percent-encoded", percent.clone()),
        ("percent-encoded twice", percent.replace('%', "%25")),
        (
            "as \\u escapes",
            each(t, |c| format!("\\u{:04x}", u32::from(c))),
        ),
        (
            "as \\u{} escapes",
            each(t, |c| format!("\\u{{{:x}}}", u32::from(c))),
        ),
        (
            "as \\x escapes",
            each(t, |c| format!("\\x{:02x}", u32::from(c))),
        ),
        (
            "as octal escapes",
            each(t, |c| format!("\\{:03o}", u32::from(c))),
        ),
        (
            "as &#x entities",
            each(t, |c| format!("&#x{:x};", u32::from(c))),
        ),
        (
            "as &# entities",
            each(t, |c| format!("&#{};", u32::from(c))),
        ),
        ("after &quot;", format!("token=&quot;{t}&quot;")),
        ("after &#34;", format!("token=&#34;{t}&#34;")),
        ("in HTML", format!("<p>Token: <code>{t}</code></p>")),
        (
            "in an attribute",
            format!("<a href=\"https://x/?token={t}\">x</a>"),
        ),
        ("with a tag inside", split(t, "<wbr>")),
        ("with a span inside", split(t, "</span><span class=\"hl\">")),
        ("with a comment inside", split(t, "<!-- x -->")),
        ("coloured", format!("\u{1b}[36m{t}\u{1b}[0m")),
        ("with a colour inside", split(t, "\u{1b}[1;31m")),
        (
            "each character coloured",
            each(t, |c| format!("\u{1b}[32m{c}\u{1b}[0m")),
        ),
        ("coloured, literal \\e", format!("\\e[36m{t}\\e[0m")),
        ("coloured, literal \\x1b", format!("\\x1b[36m{t}\\x1b[0m")),
        ("coloured, literal \\033", format!("\\033[36m{t}\\033[0m")),
        (
            "coloured, literal \\u001b",
            format!("\\u001b[36m{t}\\u001b[0m"),
        ),
        ("coloured, literal ^[", format!("^[[36m{t}^[[0m")),
        ("coloured, no escape left", format!("[36m{t}[0m")),
        ("with a colour of no escape inside", split(t, "[31m")),
        (
            "in a link of a terminal",
            format!("\u{1b}]8;;https://x/?token={t}\u{7}x\u{1b}]8;;\u{7}"),
        ),
        (
            "as text of a link",
            format!("\u{1b}]8;;https://x/\u{1b}\\{t}\u{1b}]8;;\u{1b}\\"),
        ),
        (
            "bold as in manual pages",
            each(t, |c| format!("{c}\u{8}{c}")),
        ),
        ("with U+200B inside", split(t, "\u{200b}")),
        ("with U+200D inside", split(t, "\u{200d}")),
        ("with U+00AD inside", split(t, "\u{ad}")),
        ("with U+FEFF in front", format!("\u{feff}{t}")),
        (
            "with U+2060 between all",
            each(t, |c| format!("{c}\u{2060}")),
        ),
        ("with selectors", each(t, |c| format!("{c}\u{fe0f}"))),
        ("struck through", each(t, |c| format!("{c}\u{336}"))),
        (
            "fullwidth",
            each(t, |c| {
                char::from_u32(u32::from(c) + 0xfee0).expect("one").into()
            }),
        ),
        ("with long dashes", t.replace('-', "\u{2011}")),
        ("over two lines", split(t, "\n")),
        (
            "over two indented lines",
            format!("    {}", split(t, "\n    ")),
        ),
        ("over lines with CR LF", split(t, "\r\n")),
        ("over many lines", lines(8, "", "")),
        ("in quoted mail", format!("> Hi,\n> {t}\n> Bye")),
        ("in quoted mail, wrapped", lines(t.len() / 2 + 1, "> ", "")),
        (
            "in mail quoted twice, wrapped",
            lines(t.len() / 3 + 1, ">> > ", ""),
        ),
        ("after =3D", format!("token=3D{t}")),
        ("with a soft line break", split(t, "=\n")),
        ("with soft line breaks and CR LF", split(t, "=\r\n")),
        (
            "in quoted mail with soft line breaks",
            format!("> {}", split(t, "=\n> ")),
        ),
        ("continued by a backslash", split(t, "\\\n")),
        ("continued and indented", split(t, " \\\n    ")),
        ("in strings that are added", split(t, "\" +\n  \"")),
        ("in strings side by side", split(t, "\"\n  \"")),
        ("in a comment", lines(t.len() / 2 + 1, "# ", "")),
        ("in a comment of //", lines(t.len() / 2 + 1, "// ", "")),
        ("in a comment of *", lines(t.len() / 2 + 1, " * ", "")),
        ("in a table", format!("| acme-eu | {t} | gold |")),
        (
            "in a table with borders",
            format!("┌──────┐\n│ {t} │\n└──────┘"),
        ),
        ("wrapped in a table", lines(t.len() / 2 + 1, "| ", " |")),
        (
            "wrapped in a table of lines",
            lines(t.len() / 2 + 1, "│ ", " │"),
        ),
        (
            "wrapped in a column",
            format!(
                "| acme | {} | gold |\n|      | {} |      |",
                &t[..t.len() / 2],
                &t[t.len() / 2..]
            ),
        ),
        (
            "wrapped after numbers",
            format!("10: {}\n11: {}\n", &t[..t.len() / 2], &t[t.len() / 2..]),
        ),
        (
            "wrapped after times",
            format!("12:30:01 app[7]: {}", split(t, "\n12:30:02 app[7]: ")),
        ),
        ("in tabs", format!("acme\t{t}\tgold")),
        ("in CSV", format!("id,token,tier\nacme-eu,{t},gold\n")),
        ("in quoted CSV", format!("\"acme-eu\",\"{t}\",\"gold\"")),
        ("in Markdown", format!("the token is **`{t}`**.")),
        ("in brackets", format!("(token: <{t}>)")),
        ("at the end of a sentence", format!("It is {t}.")),
        ("in YAML", format!("token: >-\n  {}", split(t, "\n  "))),
        ("in base64", format!("token: {}", base64(t))),
        (
            "as a password in base64",
            format!("Authorization: Basic {}", base64(&format!("acme:{t}"))),
        ),
        (
            "in base64, wrapped",
            split(
                &base64(&format!("The token of acme is {t}, keep it.")),
                "\n",
            ),
        ),
        ("in hex", each(t, |c| format!("{:02x}", u32::from(c)))),
        ("beside another", format!("{OTHER} {t}")),
        (
            "in a log beside another",
            format!("GET /?token={OTHER} 200\nGET /?token={t} 404\n"),
        ),
    ]
}

/// As somebody typed them behind a word.
#[test]
fn tokens_with_a_pattern_are_found_within_a_word() {
    for token in &TOKENS[..3] {
        let text = format!("Acme Europe{token}");
        assert!(finds(text.as_bytes(), token), "{text}");
    }
}

fn finds(bytes: &[u8], token: &str) -> bool {
    let reading = read(bytes, 4);
    let mut forms = reading.candidates.iter().flat_map(|found| &found.forms);
    forms.any(|form| form.expose() == token)
}

#[test]
fn a_token_of_any_shape_is_found_in_every_form() {
    let mut missed = Vec::new();
    for token in TOKENS {
        let all = forms(token);
        assert!(all.len() >= 60, "{}", all.len());
        for (form, text) in all {
            if !finds(text.as_bytes(), token) {
                missed.push(format!("{form}: {text:?}"));
            }
        }
    }
    assert!(
        missed.is_empty(),
        "{} missed:\n{}",
        missed.len(),
        missed.join("\n")
    );
}

/// As a form within a text of some size, as it is pasted from a ticket.
#[test]
fn a_token_is_found_within_a_long_text() {
    let line = "2026-11-25 20:18:29 INFO host-3 app[812]: GET /embed/view?id=77&x=ab 200 31ms\n";
    let around = line.repeat(6);
    for token in &TOKENS[..3] {
        for (form, text) in forms(token) {
            let all = format!("{around}\n{text}\n\n{around}");
            // Lines beside it take part in what is joined.
            let is_of_columns = form.contains("wrapped after") || form.contains("column");
            assert!(
                is_of_columns || finds(all.as_bytes(), token),
                "{form}: {text:?}"
            );
        }
    }
}

#[test]
fn bytes_of_other_encodings_are_read() {
    for token in TOKENS {
        let text = format!("Token: {token}\r\n");
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = [&[0xff, 0xfe][..], &little].concat();
        let marked_big = [&[0xfe, 0xff][..], &big].concat();
        let latin = [&b"Schl\xfcssel \xe9"[..], token.as_bytes(), b"\xff"].concat();
        let (front, back) = token.split_at(token.len() / 2);
        let broken = [front.as_bytes(), b"\xff\xfe", back.as_bytes()].concat();
        for (form, bytes) in [
            ("UTF-16 LE", little),
            ("UTF-16 BE", big),
            ("UTF-16 LE with a mark", marked),
            ("UTF-16 BE with a mark", marked_big),
            ("Latin-1", latin),
            ("broken bytes inside", broken),
            (
                "UTF-8 with a mark of UTF-16",
                [&b"\xff\xfe\xff"[..], token.as_bytes()].concat(),
            ),
            (
                "zeros between",
                token
                    .as_bytes()
                    .iter()
                    .flat_map(|byte| [0, *byte])
                    .skip(1)
                    .collect(),
            ),
            (
                "zeros inside",
                token.bytes().flat_map(|byte| [byte, 0, 0]).collect(),
            ),
        ] {
            assert!(finds(&bytes, token), "{form} of {token}");
        }
    }
}

#[test]
fn upper_case_digits_are_tried_in_lower_case_too() {
    for token in &TOKENS[..2] {
        assert!(
            finds(token.to_ascii_uppercase().as_bytes(), token),
            "{token}"
        );
    }
}

/// Only whole tokens beside words are an answer; where a part may stand there is no all-clear.
#[test]
fn a_part_of_a_token_is_no_all_clear() {
    let clear = |text: &str| read(text.as_bytes(), 4).unclear.is_none();
    for text in [
        HEX.to_owned(),
        format!("Authorization: Token {HEX}"),
        format!("https://bi.example.com/embed?token={HEX}&x=1#top"),
        format!("GET /?token={HEX} 200\nGET /?token={OTHER} 200\n"),
        format!("2026-11-25 20:18:29.123456 INFO host-3: token {HEX} of acme-eu-00123, 31 ms"),
        format!("token 6a21d2b4 {HEX}"),
        split(HEX, "\n"),
        "Authorization: Token".into(),
        "The quick brown fox jumps over the lazy dog, 25 times.".into(),
        "9f:86:d0:81:88:4c of 2026-11-26 20:18:29".into(),
        "25 Dec 20:18:29\n25 Dec 20:18:30\n26 Feb 20:18:31\n".into(),
    ] {
        assert!(clear(&text), "{text}");
    }
    for token in TOKENS {
        if token.len() < 16 {
            continue;
        }
        for length in 16..token.len() {
            for cut in [&token[..length], &token[token.len() - length..]] {
                let text = format!("{OTHER} and {cut} here");
                let is_dashes = cut.len() < 20;
                assert!(!clear(&text) || is_dashes, "{text}");
            }
        }
    }
    for (length, between) in [(1, " "), (2, ":"), (2, " "), (2, "-"), (3, " ")] {
        let text = parts(&HEX[9..33], length).join(between);
        assert!(!clear(&format!("{OTHER} and {text}")), "{text}");
    }
    for (form, text) in forms(&HEX[..40]) {
        let beside = format!("{OTHER}\n{text}");
        assert!(!clear(&beside), "{form}: {text:?}");
    }
}

#[test]
fn the_shape_of_a_token_is_seen_in_every_form_and_of_words_is_not() {
    for (form, text) in forms(HEX) {
        let hides = ["base64", "hex", "numbers", "times", "column", "strings"];
        if !hides.iter().any(|word| form.contains(word)) {
            assert_eq!(shape(&text), Some(Shape::Token), "{form}: {text:?}");
        }
    }
    assert_eq!(shape(TOKENS[2]), Some(Shape::Token));
    assert_eq!(shape(&HEX[..63]), Some(Shape::Fragment));
    assert_eq!(shape(&HEX[9..25]), Some(Shape::Fragment));
    for text in [
        TOKENS[1],
        "acme-eu",
        "moved on 2026-11-25 at 20:18:29.123456, ticket 4711-8812-9912",
        "tag:gold -tag:old age>90d",
        "00112233445566778899",
        "rotate 12 in production",
        "~/work/report-2026-11-25T201829Z.json",
    ] {
        assert_eq!(shape(text), None, "{text}");
    }
}

#[test]
fn candidates_are_bounded_and_each_is_there_once() {
    let hex = "0123456789abcdef".repeat(512);
    let signs = "a1-/".repeat(2048);
    for text in [
        hex,
        signs,
        "é%é%2".repeat(9000),
        "%".repeat(9000),
        "\\u".repeat(9000),
    ] {
        let reading = read(text.as_bytes(), 4);
        assert!(
            reading.candidates.len() <= BUDGET,
            "{}",
            reading.candidates.len()
        );
    }
    let reading = read(format!("{HEX}\n{HEX}").as_bytes(), 4);
    let shaped = reading.candidates.iter().filter(|found| found.is_shaped);
    assert_eq!(shaped.map(|found| found.line).collect::<Vec<_>>(), [1]);
}
