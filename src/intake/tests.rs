//! What arrives in every encoding, with every line end, is the same text; and what cannot be read is named once.

use std::{net::SocketAddr, time::Duration};

use super::{
    decoder::Decoder,
    duration::{self, InvalidAge, InvalidDuration, LONGEST_WAIT},
    fault::Fault,
    ids, kind, listen, pairs, pem, secret, signs, text,
};

fn utf16(text: &str, is_big: bool) -> Vec<u8> {
    let units = text.encode_utf16();
    units
        .flat_map(|unit| {
            if is_big {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            }
        })
        .collect()
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
    for bytes in [
        long.as_bytes().to_vec(),
        utf16(&format!("\u{feff}{long}"), false),
    ] {
        assert_eq!(text::decoded(&bytes).as_deref(), Ok(long.as_str()));
    }
}

#[test]
fn what_is_not_utf8_is_named_once_with_the_number_of_places() {
    let latin: Vec<u8> = "user_group_id,name\nb,Zo\u{eb}\nc,\u{e9}\u{e9}\n"
        .chars()
        .map(|letter| u8::try_from(u32::from(letter)).expect("Latin-1"))
        .collect();
    let Err(fault) = text::decoded(&latin) else {
        panic!("it was read");
    };
    assert_eq!(
        fault.to_string(),
        "line 2, column 5: the byte 0xEB is not UTF-8 (\"ë\" in Windows-1252), and 2 more places; save the file as UTF-8"
    );
    let cut = text::decoded("Zo\u{eb}".as_bytes().split_last().expect("bytes").1);
    assert!(
        matches!(cut, Err(Fault::Encoding(place)) if place.column == 3),
        "{cut:?}"
    );
    let mut half = utf16("\u{feff}a\nb", false);
    half.extend(0xd83d_u16.to_le_bytes());
    half.extend(u16::from(b'c').to_le_bytes());
    let fault = text::decoded(&half).expect_err("half a pair").to_string();
    assert!(
        fault.starts_with("line 2, column 2: 0xD83D is not valid UTF-16"),
        "{fault}"
    );
    assert_eq!(
        text::decoded(&utf16("user", false)),
        Err(Fault::UnmarkedUtf16)
    );
    assert_eq!(
        text::decoded(&utf16("user", true)),
        Err(Fault::UnmarkedUtf16)
    );
    assert_eq!(text::decoded(b"\xff\xfe\0\0u\0\0\0"), Err(Fault::Utf32));
}

#[test]
fn what_is_empty_is_said_and_what_is_too_large_is_never_cut() {
    for empty in [
        &b""[..],
        b" \r\n\t\n",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xff\xfe\n\0",
    ] {
        assert_eq!(text::decoded(empty), Err(Fault::Empty), "{empty:?}");
    }
    let fault = text::bytes(&b"12345"[..], 4);
    assert_eq!(fault, Err(Fault::TooLarge(4)));
    assert_eq!(text::bytes(&b"1234"[..], 4).as_deref(), Ok(&b"1234"[..]));
}

#[test]
fn another_kind_of_file_is_named_by_its_content() {
    let mut tar = vec![0; 600];
    tar[257..262].copy_from_slice(b"ustar");
    for (bytes, words) in [
        (
            &b"PK\x03\x04\x14\0\x06\0\x08\0[Content_Types].xml"[..],
            "a workbook: export it as CSV",
        ),
        (b"PK\x03\x04\x14\0groups.csv", "an archive (zip)"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "a workbook"),
        (b"\x1f\x8b\x08\0", "gunzip"),
        (&tar, "an archive (tar)"),
        (b"<!DOCTYPE html>\n<html>", "a sign-in page"),
        (b"\xef\xbb\xbf\n <HTML lang=en>", "a web page"),
        (b"<?xml version=\"1.0\"?>", "XML"),
        (b"SQLite format 3\0", "SQLite"),
        (b"%PDF-1.7", "PDF"),
        (b"- user_group_id: a\n", "YAML"),
        (
            b"version https://git-lfs.github.com/spec/v1\n",
            "git lfs pull",
        ),
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
    for written in ["a\nb\n\nc", "a\r\nb\r\n\r\nc\r\n", "a\rb\r\rc\r"] {
        assert_eq!(
            text::lines(written).collect::<Vec<_>>(),
            ["a", "b", "", "c"],
            "{written:?}"
        );
        let converted = text::with_line_ends(written.to_owned());
        assert_eq!(converted.lines().collect::<Vec<_>>(), ["a", "b", "", "c"]);
    }
    assert_eq!(text::lines("").count(), 0);
}

#[test]
fn a_list_of_ids_is_read_as_programs_write_it() {
    let list = "\"acme-us\"\n  acme-eu \n\n# leaked\n\u{feff}00123\r#N/A\r\n\"a\"b\"";
    let lines: Vec<_> = ids::lines(list).collect();
    let plain: Vec<_> = lines.iter().map(|line| line.plain).collect();
    assert_eq!(
        plain,
        [
            "acme-us", "acme-eu", "# leaked", "00123", "#N/A", "\"a\"b\""
        ]
    );
    let numbers: Vec<_> = lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [1, 2, 4, 5, 6, 7]);
    let comments = lines.iter().filter(|line| line.is_comment());
    assert_eq!(comments.count(), 1);
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
}

#[test]
fn an_age_has_hours_days_or_weeks() {
    let read = |text: &str| duration::age(text).map(|age| age.as_secs());
    assert_eq!(read("90d"), Ok(90 * 86_400));
    assert_eq!(read("36h"), Ok(36 * 3_600));
    assert_eq!(read("2w"), Ok(14 * 86_400));
    for (wrong, write) in [
        ("3m", "3 months are 90d"),
        ("3min", "minutes or months"),
        ("90", "has no unit; write 90d"),
        ("90 d", "write 90d"),
        ("90days", "write 90d"),
        ("6months", "write 180d"),
        ("1y", "write 365d"),
        ("90D", "write 90d"),
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
fn a_pair_is_trimmed_and_a_wrong_sign_is_named() {
    assert_eq!(pairs::pair("40=213"), Ok(("40", "213")));
    assert_eq!(pairs::pair(" 40 =\t2=13 "), Ok(("40", "2=13")));
    for wrong in ["40", "=1", "40=", " = ", "40= "] {
        assert!(pairs::pair(wrong).is_err(), "{wrong}");
    }
    for (wrong, words) in [
        (
            "40＝213",
            "column 3: ＝ (U+FF1D) is a wide equals sign: use =",
        ),
        ("“40”=213", "column 1: “ (U+201C) is a curly quote: use \""),
        (
            "4\u{200b}0=213",
            "column 2: U+200B is a zero-width space: remove it",
        ),
    ] {
        assert_eq!(pairs::pair(wrong).expect_err(wrong).to_string(), words);
    }
}

#[test]
fn signs_are_named_near_the_place_where_a_parser_stopped() {
    assert!(
        signs::at("{\n \u{201c}a\u{201d}: 1}", 2, 2).is_some_and(|sign| sign.contains("U+201C"))
    );
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

#[test]
fn how_long_to_wait_has_three_units() {
    assert_eq!(duration::wait("1500ms"), Ok(Duration::from_millis(1500)));
    assert_eq!(duration::wait("30s"), Ok(Duration::from_secs(30)));
    assert_eq!(duration::wait("10m"), Ok(LONGEST_WAIT));
}

#[test]
fn no_other_time_to_wait_is_read() {
    for text in ["", "30", "s", "-1s", "1.5s", "30 s", "1h", "٣s", "30S"] {
        assert_eq!(
            duration::wait(text),
            Err(InvalidDuration::Unreadable),
            "{text}"
        );
    }
    assert_eq!(duration::wait("0ms"), Err(InvalidDuration::Zero));
    assert_eq!(duration::wait("601s"), Err(InvalidDuration::TooLong));
    assert_eq!(
        duration::wait("99999999999999999999s"),
        Err(InvalidDuration::TooLong)
    );
}
