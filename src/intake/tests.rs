//! What arrives in every encoding, with every line end, is the same text; and what cannot be read is named once.

use std::{net::SocketAddr, time::Duration};

use super::{
    decoder::Decoder,
    duration::{self, InvalidAge, InvalidDuration, LONGEST_WAIT},
    fault::Fault,
    ids, kind, listen, pairs, pem, secret, signs, text,
};

fn utf16(text: &str, is_big: bool) -> Vec<u8> {
    let bytes = if is_big {
        u16::to_be_bytes
    } else {
        u16::to_le_bytes
    };
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn a_text_is_the_same_in_every_encoding_and_in_pieces() {
    let words = "Zoë 한국 😀\r\nend";
    let marked = format!("\u{feff}{words}");
    for bytes in [
        words.as_bytes().to_vec(),
        marked.as_bytes().to_vec(),
        utf16(&marked, false),
        utf16(&marked, true),
    ] {
        for piece in [1, 2, 3, 7, 4096] {
            let mut decoder = Decoder::default();
            let mut out = Vec::new();
            for piece in bytes.chunks(piece) {
                decoder.push(piece, &mut out).expect("a text");
            }
            assert_eq!(decoder.end(&mut out), Ok(()));
            assert_eq!(String::from_utf8(out).as_deref(), Ok(words));
        }
    }
    // Longer than what is looked at to find the encoding.
    let long = "é😀".repeat(2_000);
    let marked = utf16(&format!("\u{feff}{long}"), false);
    for bytes in [long.as_bytes(), &marked] {
        assert_eq!(text::decoded(bytes).as_deref(), Ok(long.as_str()));
    }
}

/// Other places: `tests/it/intake.rs`.
#[test]
fn what_is_not_utf8_is_named_once_with_the_number_of_places() {
    for (bytes, words) in [
        (
            &b"c,\xe9\xe9\n\xeb"[..],
            ", and 2 more places; save the file",
        ),
        (b"Zo\xc3", "line 1, column 3: "),
    ] {
        let fault = text::decoded(bytes).expect_err(words).to_string();
        assert!(fault.contains(words), "{fault}");
    }
}

#[test]
fn what_is_too_large_is_never_cut() {
    assert_eq!(text::bytes(&b"12345"[..], 4), Err(Fault::TooLarge(4)));
    assert_eq!(text::bytes(&b"1234"[..], 4).as_deref(), Ok(&b"1234"[..]));
}

/// The other kinds: `tests/it/intake.rs`.
#[test]
fn another_kind_of_file_is_named_by_its_content() {
    let mut tar = vec![0; 600];
    tar[257..262].copy_from_slice(b"ustar");
    for (bytes, words) in [
        (&tar[..], "an archive (tar)"),
        (b"\xef\xbb\xbf\n <HTML lang=en>", "a web page"),
    ] {
        let fault = text::decoded(bytes).expect_err(words).to_string();
        assert!(fault.contains(words), "{fault}");
    }
    for (words, expected) in [
        (" [ {\"a\":1}]", kind::Kind::Array),
        ("[\"a\"]", kind::Kind::Array),
        ("{\n \"a\":1}", kind::Kind::Objects),
        ("{8c2f-11}", kind::Kind::Lines),
        ("[old] acme", kind::Kind::Lines),
        ("user_group_id;name", kind::Kind::Lines),
    ] {
        assert_eq!(kind::of(words), expected, "{words}");
    }
}

#[test]
fn lines_end_in_all_three_ways() {
    let lines = ["a", "b", "", "c"];
    for written in ["a\nb\n\nc", "a\r\nb\r\n\r\nc\r\n", "a\rb\r\rc\r"] {
        assert!(text::lines(written).eq(lines), "{written:?}");
        let converted = text::with_line_ends(written.to_owned());
        assert!(converted.lines().eq(lines), "{written:?}");
    }
    assert_eq!(text::lines("").count(), 0);
}

#[test]
fn a_list_of_ids_is_read_as_programs_write_it() {
    let list = "\"acme-us\"\n  acme-eu \n\n# leaked\n\u{feff}00123\r#N/A\r\n\"a\"b\"";
    let lines = ids::lines(list).map(|line| (line.number, line.plain, line.is_comment()));
    let expected = [
        (1, "acme-us", false),
        (2, "acme-eu", false),
        (4, "# leaked", true),
        (5, "00123", false),
        (6, "#N/A", false),
        (7, "\"a\"b\"", false),
    ];
    assert!(lines.eq(expected));
    for written in [
        "'a-1'",
        "`a-1`",
        "“a-1”",
        "a-1,",
        "\"a-1\";",
        "* a-1",
        "- a-1",
        "> a-1",
        "12. 'a-1',",
        "3) a-1",
    ] {
        let line = ids::lines(written).next().expect("a line");
        assert!(line.parts().eq(["a-1"]), "{written}");
    }
}

#[test]
fn a_secret_is_its_first_line_in_any_encoding() {
    for bytes in [
        b"key-1\nmore".to_vec(),
        b"\xef\xbb\xbfkey-1\r\n".to_vec(),
        b"key-1\rmore".to_vec(),
        utf16("\u{feff}key-1\r\n", false),
        utf16("\u{feff}key-1", true),
    ] {
        assert_eq!(&secret::first_line(&bytes)[..], b"key-1");
    }
    // A password may be in any encoding.
    assert_eq!(&secret::first_line(b"p\xe9s\n")[..], b"p\xe9s");
}

#[test]
fn each_certificate_of_a_bundle_counts() {
    let one = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let cut = "-----BEGIN CERTIFICATE-----\nAAAA\n";
    let bundle = format!("\u{feff}# root\r{one}{key}{cut}{one}").replace('\n', "\r\n");
    let plain = pem::plain(bundle.as_bytes());
    assert_eq!(pem::certificates(&plain).len(), 3);
    assert!(pem::certificates(b"nothing").is_empty());
    let indented = pem::plain(bundle.replace('\n', "\n \t ").as_bytes());
    assert_eq!(pem::certificates(&indented).len(), 3, "a value of YAML");
}

#[test]
fn an_age_has_hours_days_or_weeks() {
    for (text, hours) in [
        ("90d", 90 * 24),
        ("36h", 36),
        ("2w", 14 * 24),
        ("90D", 90 * 24),
    ] {
        assert_eq!(duration::age(text), Ok(Duration::from_hours(hours)));
    }
    for (wrong, write) in [
        ("3m", "3 months are 90d"),
        ("1m", "1 month is 30d"),
        ("3min", "minutes or months"),
        ("3M", "write 90d"),
        ("90", "has no unit; write 90d"),
        ("90 d", "write 90d"),
        ("90days", "write 90d"),
        ("6months", "write 180d"),
        ("1y", "write 365d"),
        ("", "a whole number"),
        ("-1d", "a whole number"),
        ("1.5d", "a whole number"),
        ("٣d", "a whole number"),
    ] {
        let why = duration::age(wrong).expect_err(wrong).to_string();
        assert!(why.contains(write), "{wrong}: {why}");
    }
    assert_eq!(duration::age("x"), Err(InvalidAge::Unreadable));
}

#[test]
fn how_long_to_wait_has_three_units() {
    assert_eq!(duration::wait("1500ms"), Ok(Duration::from_millis(1500)));
    assert_eq!(duration::wait("30s"), Ok(Duration::from_secs(30)));
    assert_eq!(duration::wait("10m"), Ok(LONGEST_WAIT));
    for text in ["", "30", "s", "-1s", "1.5s", "30 s", "1h", "٣s", "30S"] {
        let unreadable = Err(InvalidDuration::Unreadable);
        assert_eq!(duration::wait(text), unreadable, "{text}");
    }
    assert_eq!(duration::wait("0ms"), Err(InvalidDuration::Zero));
    for long in ["601s", "99999999999999999999s"] {
        assert_eq!(duration::wait(long), Err(InvalidDuration::TooLong));
    }
}

#[test]
fn what_is_no_certificate_is_named() {
    let pem =
        |kind: &str| format!("-----BEGIN {kind}-----\nMIIB\n-----END {kind}-----\n").into_bytes();
    for (bytes, words) in [
        (pem("EC PRIVATE KEY"), "private key"),
        (pem("ENCRYPTED PRIVATE KEY"), "private key"),
        (pem("CERTIFICATE REQUEST"), "CSR"),
        (pem("NEW CERTIFICATE REQUEST"), "CSR"),
        (pem("TRUSTED CERTIFICATE"), "openssl x509 -in"),
        (pem("PKCS7"), "openssl pkcs7 -print_certs -in"),
        (pem("PUBLIC KEY"), "public key"),
        (b"\xef\xbb\xbf \r\n".to_vec(), "empty"),
        (Vec::new(), "empty"),
        (
            b"\x30\x82\x01\x10\x02\x01\x03\x30".to_vec(),
            "pkcs12 -nokeys",
        ),
        (
            b"\x30\x82\x01\x10\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02".to_vec(),
            "pkcs7 -inform der",
        ),
        (b"\x30\x82\x01\x10\x30\x82".to_vec(), "-inform der"),
        (b"nothing".to_vec(), "no PEM certificate"),
    ] {
        assert!(pem::certificates(&pem::plain(&bytes)).is_empty(), "{words}");
        let said = pem::instead(&bytes);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_pair_is_trimmed_and_a_wrong_sign_is_named() {
    assert_eq!(pairs::pair("40=213"), Ok(("40", "213")));
    assert_eq!(pairs::pair(" 40 =\t2=13 "), Ok(("40", "2=13")));
    for text in ["\"40\"=x", "'40' = x", "40=x"] {
        assert_eq!(pairs::pair(text), Ok(("40", "x")), "{text}");
    }
    assert_eq!(pairs::pair("acme-eu=-5"), Ok(("acme-eu", "-5")));
    for (wrong, words) in [
        ("40", ""),
        ("=1", ""),
        ("40=", ""),
        (" = ", ""),
        ("40= ", ""),
        (
            "40＝213",
            "column 3: ＝ (U+FF1D) is a wide equals sign: use =",
        ),
        ("“40”=213", "column 1: “ (U+201C) is a curly quote: use \""),
        ("40=>213", "write one = between key and value"),
        ("40 => 213", "write one = between key and value"),
        ("40==213", "write one = between key and value"),
        ("40:=213", "write one = between key and value"),
        ("40-=213", "write one = between key and value"),
        ("40=<213", "write one = between key and value"),
        ("40=:213", "write one = between key and value"),
        ("40 -> 213\n41=5", "write one = between key and value"),
        ("\"\"=213", "there is nothing before the ="),
        (
            "4\u{200b}0=213",
            "column 2: U+200B is a zero-width space: remove it",
        ),
    ] {
        let why = pairs::pair(wrong).expect_err(wrong);
        assert!(words.is_empty() || why == words, "{why}");
    }
}

#[test]
fn signs_are_named_near_the_place_where_a_parser_stopped() {
    let sign = signs::at("{\n \u{201c}a\u{201d}: 1}", 2, 2);
    assert!(sign.is_some_and(|sign| sign.contains("U+201C")));
    assert_eq!(signs::at("{\n a: 1}", 2, 2), None);
    assert_eq!(signs::at("", 1, 0), None);
}

#[test]
fn an_address_to_listen_on_is_taken_where_it_is_clear() {
    let read = |text: &str| listen::address(text, Some(8474));
    let at = |text: &str| Ok::<SocketAddr, String>(text.parse().expect("an address"));
    for (text, expected) in [
        ("127.0.0.1:8474", "127.0.0.1:8474"),
        ("localhost:80", "127.0.0.1:80"),
        ("LocalHost", "127.0.0.1:8474"),
        ("9000", "127.0.0.1:9000"),
        ("0.0.0.0", "0.0.0.0:8474"),
        ("::1", "[::1]:8474"),
        ("fe80::1:2", "[fe80::1:2]:8474"),
        ("[::1]", "[::1]:8474"),
        ("[::]:0", "[::]:0"),
        (" 127.0.0.1:1\r\n", "127.0.0.1:1"),
    ] {
        assert_eq!(read(text), at(expected), "{text}");
    }
    for (text, write) in [
        (":8474", "127.0.0.1:8474 for this machine only"),
        ("*:8474", "0.0.0.0:8474"),
        ("http://127.0.0.1:8474/", "as 127.0.0.1:8474"),
        ("db1:8474", "127.0.0.1:8474 or [::1]:8474"),
        ("::1:8474", "[::1]:8474 or [::1:8474]"),
        ("localhost:99999", "0 to 65535"),
        ("99999", "0 to 65535"),
        ("localhost:http", "0 to 65535"),
        ("", "127.0.0.1:8474"),
    ] {
        let why = read(text).expect_err(text);
        assert!(why.contains(write), "{text}: {why}");
    }
    assert!(listen::address("127.0.0.1", None).is_err());
}
