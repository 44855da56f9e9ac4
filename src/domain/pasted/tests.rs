//! A corpus: forms in which tokens turn up, times shapes of tokens, and what is no all-clear.

mod forms;

use super::*;
use forms::{forms, parts, split};

/// Tokens as services generate them: hex digits, a UUID, a signed token, letters with signs.
const TOKENS: [&str; 10] = [
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "b94d27b9-934e-4e08-a52e-52d7da7dabfa",
    "eyJhbGciOiJIUzI1NiJ9.eyJncm91cCI6ImFjbWUtZXUiLCJ2IjoxfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    "Tok/en+4e8A==",
    "sk_live_4eC39HqLyjWDarjtT1zdP7dc",
    "q8Zt+Kf/3LwVx0YbNn7R2dPeJh5UoMsA1cGi9TkXyZ4=",
    "Tok/en+4e8A==.Zq_7~Kx!p9@w#3$Lm%2",
    "plum-harbor-quilt-ember-42",
    "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08",
    "B94D27B9-934E-4E08-A52E-52D7DA7DABFA",
];
const HEX: &str = TOKENS[0];
/// Another token, which stands beside it.
const OTHER: &str = "00d1f4aa00d1f4bb00d1f4cc00d1f4dd00d1f4ee00d1f4ff00d1f40000d1f411";

/// As somebody typed them behind a word.
#[test]
fn tokens_with_a_pattern_are_found_within_a_word() {
    for token in &TOKENS[..3] {
        let text = format!("Acme Europe{token}");
        assert!(finds(text.as_bytes(), token), "{text}");
    }
}

#[test]
fn parts_in_another_order_are_found() {
    for at in [8, 32, 56] {
        let text = format!("{}\n{}", &HEX[at..], &HEX[..at]);
        assert!(finds(text.as_bytes(), HEX), "{text}");
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

#[test]
fn a_token_with_quotes_is_found_where_they_are_doubled() {
    let token = "Tok\"en-4e8A'Kx\"9'Zq7";
    for (form, text) in forms(token) {
        assert!(
            !form.contains("quotes") || finds(text.as_bytes(), token),
            "{form}: {text}"
        );
    }
}

/// As much as `whose` reads, of lines with all kinds of signs.
#[test]
fn a_token_is_found_within_a_log_of_the_greatest_length() {
    let access = |n: usize, token: &str| {
        format!(
            "10.0.{}.{} - - [25/Nov/2026:20:{:02}:{:02} +0000] \"GET /embed?view=v{n}&token={token}&page={} HTTP/1.1\" 200 {} \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"\n",
            n % 251,
            n % 13,
            n / 60 % 60,
            n % 60,
            n % 7,
            n * 31
        )
    };
    let logfmt = |n: usize, token: &str| {
        format!(
            "ts=2026-11-25T20:{:02}:{:02}.{:03}Z level=info msg=\"request done\" id=req-{n} path=/embed user=u{} token={token} ms={}\n",
            n / 60 % 60,
            n % 60,
            n % 1000,
            n * 7,
            n % 97
        )
    };
    for is_access in [true, false] {
        let line = |n, token: &str| {
            if is_access {
                access(n, token)
            } else {
                logfmt(n, token)
            }
        };
        let mut text = String::new();
        for n in 0.. {
            // Each of them once, far from each other.
            let token = TOKENS.get(n / 40).filter(|_| n % 40 == 7);
            let next = line(n, token.unwrap_or(&"-"));
            if text.len() + next.len() > 64 * 1024 {
                break;
            }
            text += &next;
        }
        let reading = read(text.as_bytes(), 4);
        let mut forms = Vec::new();
        for found in &reading.candidates {
            forms.extend(found.forms.iter().map(Token::expose));
        }
        for token in TOKENS {
            assert!(forms.contains(&token), "{token} in {}", line(0, "-"));
        }
        let count = reading.candidates.len();
        assert!(
            count < BUDGET,
            "{count} of {}: not all was tried",
            line(0, "-")
        );
    }
}

#[test]
fn what_is_not_tried_is_no_all_clear() {
    let mut state = 1_u64;
    let mut text = String::new();
    while text.len() < 200_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let word = format!("{:x}x,", state >> 40);
        text += &word;
    }
    let reading = read(text.as_bytes(), 4);
    assert!(reading.candidates.len() >= BUDGET && reading.unclear.is_some());
}

/// As a form within a text of some size, as it is pasted from a ticket.
#[test]
fn a_token_is_found_within_a_long_text() {
    let line = "2026-11-25 20:18:29 INFO host-3 app[812]: GET /embed/view?id=77&x=ab 200 31ms\n";
    for token in &TOKENS[..3] {
        for (form, text) in forms(token) {
            let all = format!("{line}\n{text}\n\n{line}");
            // Lines beside it take part in what is joined.
            let is_of_columns = ["wrapped after", "column", "of od"]
                .iter()
                .any(|word| form.contains(word));
            assert!(
                is_of_columns || finds(all.as_bytes(), token),
                "{form}: {text:?}"
            );
        }
    }
}

/// Looked at once: with a look at all before each, this would take an hour.
#[test]
fn a_text_of_very_many_short_numbers_is_read() {
    for numbers in ["0,", "7 ", "12;"] {
        assert_eq!(shape(&numbers.repeat(200_000 / numbers.len())), None);
    }
}

/// A token of hex digits is often the bytes that a program has.
#[test]
fn the_bytes_of_hex_digits_are_found_in_base64() {
    let bytes = HEX.as_bytes().chunks(2);
    let bytes = bytes.map(|two| u8::from_str_radix(str::from_utf8(two).expect("ASCII"), 16));
    let raw = forms::base64(bytes.collect::<Result<Vec<_>, _>>().expect("digits"));
    let bare = raw.trim_end_matches('=');
    for text in [
        format!("token: {raw}"),
        format!("session-{bare}"),
        format!("https://h/{bare}/view"),
        format!("https://h/e/{}", bare.replace('+', "-").replace('/', "_")),
    ] {
        assert!(finds(text.as_bytes(), HEX), "{text}");
    }
}

/// Each of its words is a stream of its own.
#[test]
fn a_text_of_many_encoded_words_is_read() {
    let hex = |byte: u8| format!("{byte:02x}");
    let word = |n: usize| format!("word{n:06}").bytes().map(hex).collect::<String>();
    let text = (0..5_000).map(|n| word(n) + ",").collect::<String>();
    assert!(encoded::inner(&joined(&text, false)).len() >= 5_000);
    read(text.as_bytes(), 4);
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

/// Where both are in the text, too: that one is unknown says nothing about the other.
#[test]
fn hex_digits_are_tried_in_the_other_case_too() {
    for token in TOKENS
        .iter()
        .filter(|token| shape::is_hex(&token.replace('-', "")))
    {
        let (lower, upper) = (token.to_ascii_lowercase(), token.to_ascii_uppercase());
        for text in [
            format!("old: {lower}\nnew: {upper}\n"),
            format!("old: {upper}\nnew: {lower}\n"),
            lower,
            upper,
        ] {
            assert!(finds(text.as_bytes(), token), "{token} in {text}");
            // An unknown one is reported as `serve` has it.
            let all = read(text.as_bytes(), 4).candidates;
            let shaped = all.into_iter().filter(|found| found.is_shaped);
            for last in shaped.filter_map(|mut found| found.forms.pop()) {
                assert_eq!(last.expose(), token.to_ascii_lowercase(), "{text}");
            }
        }
    }
}

/// As a form of a browser and programs shorten base64.
#[test]
fn base64_without_its_signs_is_found() {
    let token = TOKENS[5];
    for text in [
        token.trim_end_matches('=').to_owned(),
        format!("GET /e?t={} HTTP/1.1", token.replace('+', " ")),
        format!(
            "{OTHER}\n10.0.0.1 - - \"GET /e?x=1&t={}&y=2 HTTP/1.1\" 200 31",
            token.replace('+', " ")
        ),
    ] {
        assert!(finds(text.as_bytes(), token), "{text}");
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
        "db01 db02 db03 db04, host1 host2 host3 host4".into(),
        "acme-0012 acme-0013 beta-0014 userGroup tokenName INFO".into(),
        "fe80:1a2b:3c4d:5e6f and 10.0.12.31, 4711-8812-9912".into(),
        "12, 31, 45, 60, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78".into(),
    ] {
        assert!(clear(&text), "{text}");
    }
    // As a mail, the lines of each are joined.
    for text in [
        format!("https://a.example/?token=\n{}", &HEX[..16]),
        format!("key=\n{}\nname=\nAcme", &HEX[..24]),
    ] {
        assert!(!clear(&text), "{text}");
    }
    for text in [
        format!(
            "Your token is=20{}=\n{} of Acme=20\nBest regards=2C\nAna",
            &HEX[..40],
            &HEX[40..]
        ),
        format!("<a href=3D\"https://a.example/?token=3D{HEX}\">Caf=C3=A9 of=\n Acme</a>"),
        "The group=E2=80=99s dashboards move on 2026-11-25 at 20:18, and the rest foll=\nows."
            .into(),
    ] {
        assert!(clear(&text), "{text}");
    }
    // Between signs there may be few characters in a row, and words are words.
    for token in TOKENS[..6].iter().filter(|token| token.len() >= 16) {
        for length in 16..token.len() {
            for cut in [&token[..length], &token[token.len() - length..]] {
                let text = format!("{OTHER} and {cut} here");
                let is_dashes = cut.len() < 20;
                assert!(!clear(&text) || is_dashes, "{text}");
            }
        }
    }
    // `/` and `+` cut base64 into words that are none by themselves.
    for cut in ["kQ/Zt+KfLwV/xbYNn+RdPeJh", "q8/Kf3+wVx/YbN7+2dP/Jh5U"] {
        assert!(!clear(&format!("{OTHER} and {cut} here")), "{cut}");
    }
    assert!(clear("GET /api/v2/userGroups/acmeEu/tokenName HTTP/1.1"));
    for (length, between) in [(1, " "), (2, ":"), (2, " "), (2, "-"), (3, " ")] {
        let text = parts(&HEX[9..33], length).join(between);
        assert!(!clear(&format!("{OTHER} and {text}")), "{text}");
    }
    let base64 = "VGhpcyBpcyBhIHRva2VuIG9mIGFjbWUgZXVyb3BlIQ==";
    for token in [TOKENS[2], TOKENS[4], "Tok/en+4e8Aq9ZxLmNo==", base64] {
        for (length, between) in [
            (4, " "),
            (5, "."),
            (6, " | "),
            (8, "."),
            (8, " "),
            (8, "\n"),
            (10, ", "),
        ] {
            let text = parts(token, length).join(between);
            assert!(!clear(&format!("{OTHER} and {text}")), "{text}");
        }
    }
    for (form, text) in forms(&HEX[..40]) {
        let beside = format!("{OTHER}\n{text}");
        assert!(!clear(&beside), "{form}: {text:?}");
    }
}

#[test]
fn the_shape_of_a_token_is_seen_in_every_form_and_of_words_is_not() {
    for (form, text) in forms(HEX) {
        let hides = [
            "recording",
            "base64",
            "hex",
            "numbers",
            "times",
            "column",
            "strings",
        ];
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

/// As the middle of a log, where each of two programs writes it in its own way.
#[test]
fn one_token_in_several_spellings_is_one_candidate() {
    let (lower, upper) = (HEX.to_owned(), HEX.to_ascii_uppercase());
    let mixed = format!("{}{}", &lower[..32], &upper[32..]);
    let other = format!("{}{}", &upper[..32], &lower[32..]);
    for texts in [
        [&lower, &upper],
        [&lower, &mixed],
        [&mixed, &other],
        [&other, &upper],
    ] {
        let text = format!("{}\nand {}", texts[0], texts[1]);
        let found = read(text.as_bytes(), 4).candidates;
        let shaped = found.iter().filter(|candidate| candidate.is_shaped);
        assert_eq!(shaped.count(), 1, "{text}");
        for spelling in texts {
            assert!(finds(text.as_bytes(), spelling), "{text}");
        }
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

/// As programs shorten a secret. That another token is in the text as a whole says nothing about this one.
#[test]
fn a_shortened_token_is_no_all_clear() {
    let unclear = |text: &str| read(format!("{OTHER}\n{text}\n").as_bytes(), 4).unclear;
    for shortened in [
        format!("token={}...", &HEX[..12]),
        format!("token={}…", &HEX[..8]),
        format!("{} ...", &HEX[..10]),
        format!("...{}", &HEX[52..]),
        format!("{}…{}", &HEX[..6], &HEX[58..]),
        format!("\"{}****\"", &HEX[..12]),
        format!("{}[...]", &HEX[..12]),
        "sk_live_4eC39Hq...".into(),
        "Tok4en9Kx2…".into(),
    ] {
        assert_eq!(unclear(&shortened), Some(2), "{shortened}");
    }
    for none in [
        "Loading... 25 of 40 groups…",
        "db01... host-3... acme-eu-00123...",
        "2026-11-25... 10.0.12.31... 4711-8812...",
        "**acme-0012** and ...beta",
        "token 6a21d2b4",
    ] {
        assert_eq!(unclear(none), None, "{none}");
    }
}

/// The bytes of a token, of which most are no signs.
#[test]
fn a_token_as_bytes_is_found_and_half_of_one_is_no_all_clear() {
    let bytes: Vec<u8> = HEX
        .as_bytes()
        .chunks(2)
        .map(|two| u8::from_str_radix(str::from_utf8(two).expect("ASCII"), 16).expect("hex"))
        .collect();
    let each = |form: &dyn Fn(u8) -> String, between: &str| {
        let all: Vec<_> = bytes.iter().map(|byte| form(*byte)).collect();
        all.join(between)
    };
    let python = |byte: u8| match byte {
        b'\\' | b'\'' => format!("\\{}", char::from(byte)),
        b'!'..=b'~' => char::from(byte).into(),
        _ => format!("\\x{byte:02x}"),
    };
    for written in [
        each(&|byte| format!("\\x{byte:02X}"), ""),
        each(&|byte| format!("\\{byte:03o}"), ""),
        each(&|byte| format!("&#x{byte:x};"), ""),
        each(&|byte| format!("&#{byte};"), ""),
        each(&|byte| byte.to_string(), ", "),
        each(&|byte| byte.to_string(), ",\n  "),
        each(&|byte| byte.cast_signed().to_string(), ", "),
        each(&|byte| byte.cast_signed().to_string(), ",\r\n"),
        each(&|byte| byte.cast_signed().to_string(), " "),
        each(&|byte| byte.to_string(), ",\u{2028}"),
        each(&|byte| format!("0x{byte:02X}"), ", "),
        each(&|byte| format!("(byte) 0x{byte:x}"), ", "),
        format!("b'{}'", each(&python, "")),
    ] {
        let text = format!("{OTHER}\n{written}\n");
        assert!(finds(text.as_bytes(), HEX), "{text}");
        assert_eq!(read(text.as_bytes(), 4).unclear, Some(2), "{text}");
    }
    let raw = [OTHER.as_bytes(), b"\n", &bytes, b"\n"].concat();
    assert!(read(&raw, 4).unclear.is_some(), "raw bytes");
    for none in [
        "GET /x 200 12 34 ms",
        "M\\xfcller",
        "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18",
    ] {
        let text = format!("{OTHER}\n{none}\n");
        assert_eq!(read(text.as_bytes(), 4).unclear, None, "{text}");
    }
}

#[test]
fn an_id_with_many_digits_is_odd_unless_a_known_one_has_as_many() {
    let part = "9fceb02d0ae598e95dc970b7";
    let odd = |known: &[&str]| odd_digits(part, known.iter().copied());
    assert!(
        odd(&["acme-eu", "0d0ae598e95dc970"]).is_some_and(|what| what.contains("24 hex digits"))
    );
    assert_eq!(odd(&["0d0ae598e95dc970b7ceb02d"]), None);
    assert_eq!(odd_digits("acme-eu", [].into_iter()), None);
}
