//! How filters are parsed, and which parts cannot be parsed.

use super::*;
use crate::domain::age::DEFAULT_LIMIT;

fn parse(text: &str) -> Query {
    Query::parse(text, Some(Duration::from_secs(90)))
}

fn word(text: &str, quoted: bool) -> Word {
    Word {
        text: text.into(),
        quoted,
    }
}

#[test]
fn words_and_tests_are_told_apart() {
    let query = parse(
        "Acme tag:Cust age>90d MAP:213 map:40=213 prop:Tier=Gold prop:tier state:unknown state:open old tag:? \
         \"two words\"",
    );
    assert_eq!(query.words, [word("acme", false), word("two words", true)]);
    assert_eq!(
        query.tests,
        [
            Condition::Tag("cust".into()),
            Condition::Age(Side::More, Duration::from_hours(90 * 24)),
            Condition::Map("213".into()),
            Condition::MapRow("40".into(), "213".into()),
            Condition::Property("tier".into(), Some("gold".into())),
            Condition::Property("tier".into(), None),
            Condition::Rotation(Some(State::Unknown)),
            Condition::Rotation(None),
            Condition::Age(Side::More, Duration::from_secs(90)),
            Condition::TagUnknown,
        ]
    );
    assert_eq!(query.wrong, [""; 0]);
    assert!(query.depends_on_time());
}

#[test]
fn a_blank_around_a_sign_is_named_and_never_searched_in_silence() {
    let tests = [
        ("tag:", "x"),
        ("map:", "40"),
        ("map:40=", "213"),
        ("prop:", "tier=gold"),
        ("prop:tier=", "gold"),
        ("prop:tier>", "3"),
        ("state:", "old"),
        ("label:", "vip"),
        ("note:", "call"),
        ("note:", "\"two words\""),
        ("flag:", "new"),
        ("by:", "li"),
        ("age>", "90d"),
        ("age<", "90d"),
        ("due<", "7d"),
        ("read>", "7d"),
        ("map>", "3"),
        ("props>", "3"),
        ("since:", "7d"),
        ("until:", "7d"),
        ("operation:", "rotate"),
    ];
    let named: Vec<_> = tests.iter().map(|(name, _)| name.to_string()).collect();
    for test in filter_tests() {
        assert!(named.contains(&test.into()), "{test} is not in this test");
    }
    for (name, value) in tests {
        let sign = name.len() - 1;
        for text in [
            format!("{name} {value}"),
            format!("{} {}{value}", &name[..sign], &name[sign..]),
            format!("{} {} {value}", &name[..sign], &name[sign..]),
            format!("-{name}  {value} acme"),
        ] {
            assert!(!parse(&text).wrong.is_empty(), "{text}: {:?}", parse(&text));
        }
    }
    // These are whole.
    for text in [
        "label: -note:",
        "label: note: tag:x",
        "prop:tier= map:40=",
        "acme label:",
        "note: @mine",
        "\"prop:tier\" \"= gold\"",
    ] {
        let wrong = parse(text).wrong;
        let is_view = |wrong: &String| wrong.ends_with(": no saved view of this name");
        assert!(wrong.iter().all(is_view), "{text}: {wrong:?}");
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    for (text, why) in [
        ("since:7d", "asks for changes; in quotes it is a word"),
        ("-until:7d", "asks for changes; in quotes it is a word"),
        ("op:rotate", "asks for changes; in quotes it is a word"),
        ("age>xx", "write an age as 90d, 12w or 36h"),
        ("age>3m", "m may mean months: write 90d, 12w or 36h"),
        ("age>", "write an age as 90d, 12w or 36h"),
        ("age>9", "write an age as 90d, 12w or 36h"),
        ("age>=90d", "write age>90d or age<90d"),
        ("age<=90d", "write age>90d or age<90d"),
        ("age<0d", "zero is not an age"),
        ("age>9999w", "3650d at most"),
        ("tag:", "write tag:customer"),
        ("map:", "write map:213 or map:40=213"),
        ("map:=", "write map:213 or map:40=213"),
        ("prop:", "write prop:tier or prop:tier=gold"),
        ("prop:=gold", "write prop:tier or prop:tier=gold"),
        ("state:", "open, intended, sent, rotated or unknown"),
        (
            "state:confirmed",
            "open, intended, sent, rotated or unknown",
        ),
        ("tga:customer", "did you mean tag:? In quotes it is a word"),
        ("maps:40=213", "did you mean map:? In quotes it is a word"),
        ("props:tier", "did you mean prop:? In quotes it is a word"),
        ("stat:open", "did you mean state:? In quotes it is a word"),
        ("aeg>90d", "did you mean age>? In quotes it is a word"),
        ("due<", "write an age as 90d, 12w or 36h"),
        ("map>x", "write a count, as map>3 or props>=10"),
        ("props>=", "write a count, as map>3 or props>=10"),
        ("prop:seats>many", "write a number, as prop:seats>100"),
        ("prop:>3", "write prop:tier or prop:tier=gold"),
        ("flag:odd", "write flag:changed or flag:new"),
        ("label:a,b", "write label:vip"),
        ("by:", "write by:li"),
        ("@night", "no saved view of this name"),
        ("-age>xx", "write an age as 90d, 12w or 36h"),
        ("lable:vip", "did you mean label:? In quotes it is a word"),
        ("-lable:vip", "did you mean -label:? In quotes it is a word"),
        ("--dry-run", "looks like an option; in quotes it is a word"),
        ("—vip", "looks like an option; in quotes it is a word"),
        ("-–vip", "looks like an option; in quotes it is a word"),
        (">", "a test has no spaces: age>90d; put words before it"),
        (">90d", "a test has no spaces: age>90d; put words before it"),
        ("age=9", "write < or >, as age>90d"),
        (
            "-tier=x",
            "did you mean -prop:tier=x? In quotes it is a word",
        ),
    ] {
        let query = parse(&format!("acme {text}"));
        let wrong = format!("{}: {why}", text.trim_end_matches(':'));
        assert!(wrong.len() < 60, "{wrong}");
        assert_eq!(query.wrong, [wrong]);
        assert_eq!(query.words, [word("acme", false)], "the rest still holds");
    }
    // Without a limit in the profile, the one that the console counts and colours by.
    let old = Query::parse("old", None).tests;
    assert_eq!(old, [Condition::Age(Side::More, DEFAULT_LIMIT)]);
}

#[test]
fn ids_that_resemble_tests_are_words() {
    for text in [
        "eu:acme", "team:7", "a>b", "tg:x", "oldtown", "agent", "mapped", "age", ":", "=", "!x",
        "a!=b",
    ] {
        let query = parse(text);
        assert_eq!(query.words, [word(text, false)]);
        assert!(query.tests.is_empty() && query.wrong.is_empty(), "{text}");
    }
    assert_eq!(parse("\"tag:x\"").words, [word("tag:x", true)]);
    assert_eq!(parse("\"--json\"").words, [word("--json", true)]);
    assert_eq!(parse("\"open end").words, [word("open end", true)]);
    assert!(parse("  \"\"  ").is_empty());
    assert_eq!(
        parse("prop:city=\"New York\"").tests,
        [Condition::Property("city".into(), Some("new york".into()))]
    );
}

#[test]
fn more_letters_and_more_words_only_take_away() {
    for (narrow, wide, is_within) in [
        ("acme", "acm", true),
        ("acme", "ac", false),
        ("ac", "a", true),
        ("acme eu", "acme", true),
        ("acme tag:test", "tag:test", true),
        ("\"acme\"", "ac", true),
        ("\"acme\"", "acm", true),
        ("\"xacme\"", "acm", false),
        ("\"acme\"", "\"cm\"", true),
        ("acme", "\"ac\"", false),
        ("ac", "acme", false),
        ("tag:test", "tag:tes", false),
        ("map:21", "map:2", false),
        ("x", "", true),
        ("", "x", false),
        ("-acme x", "-acme", true),
        ("-acm", "-acme", false),
        ("-acme", "-acm", false),
        ("-acme", "acme", false),
        ("map>3 x", "map>3", true),
    ] {
        let found = parse(narrow).is_within(&parse(wide));
        assert_eq!(found, is_within, "{narrow} in {wide}");
    }
}

#[test]
fn numbers_compare_and_a_minus_negates() {
    let day = 24 * 60 * 60;
    let query = parse(
        "map>3 props>=10 prop:seats<=1e2 due<14d read>7d -label:VIP fav note:Call draft by:LI flag:new",
    );
    let limit = Duration::from_secs(90);
    let hundred = Number::parse("100.0").expect("a number");
    assert_eq!(
        query.tests,
        [
            Condition::Rows(Side::More, 3),
            Condition::Keys(Side::AtLeast, 10),
            Condition::PropertyNumber("seats".into(), Side::AtMost, hundred),
            Condition::Due {
                side: Side::Less,
                within: Duration::from_secs(14 * day),
                limit,
            },
            Condition::Read(Side::More, Duration::from_secs(7 * day)),
            Condition::Favourite,
            Condition::Note(Some(word("call", true))),
            Condition::Draft,
            Condition::By("li".into()),
            Condition::New,
        ]
    );
    assert_eq!(query.without, [parse("label:vip")]);
    assert!(query.depends_on_time() && query.uses_extras() && query.is_flagged());
    assert!(!parse("acme prop:seats>3").depends_on_time());
    for (text, other) in [("0", "-0"), ("1e2", "100.0"), ("+5", "5")] {
        assert_eq!(Number::parse(text), Number::parse(other));
    }
    for text in ["", "nan", "inf", "1 2", "0x1", "-"] {
        assert_eq!(Number::parse(text), None, "{text}");
    }
    // Never as scattered letters: a word is excluded only where it occurs exactly.
    assert_eq!(parse("-acme").without[0].words, [word("acme", true)]);
    assert_eq!(
        parse("-\"two words\"").without[0].words,
        [word("two words", true)]
    );
    assert_eq!(parse("a-b -").words, [word("a-b", false), word("-", false)]);
    assert!(parse("-\"\"").is_empty());
}

#[test]
fn a_view_stands_for_its_filter_and_never_for_itself() {
    let views = [
        ("night", "age>90d -label:vip @eu"),
        ("eu", "prop:region=eu"),
        ("loop", "x @loop"),
        ("all", " "),
        ("over", "@all"),
    ];
    let views: Views = views
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into();
    let read = |text: &str| Query::parse_with(text, None, &views);
    assert_eq!(
        read("@Night acme"),
        read("age>90d -label:vip prop:region=eu acme")
    );
    let without = read("-@eu");
    assert_eq!(without.without, [read("prop:region=eu")]);
    assert_eq!(read("x @loop").wrong, ["@loop: this view contains itself"]);
    assert_eq!(read("@day").wrong, ["@day: no saved view of this name"]);
    // A view that selects nothing in particular is no condition, not even in a filter that has others.
    for (text, view) in [("@all", "@all"), ("acme -@all", "-@all"), ("@over", "@all")] {
        let why = "it has no filter, so it matches all groups";
        assert_eq!(read(text).wrong, [format!("{view}: {why}")], "{text}");
    }
}

#[test]
fn what_looks_like_a_test_is_a_word_with_a_remark() {
    let query = parse("foo:bar");
    assert_eq!(query.words, [word("foo:bar", false)]);
    let remark = "foo:bar: not a test, searched as a word; did you mean prop:foo=bar?";
    assert_eq!(query.doubtful, [remark]);
    for (text, meant) in [
        ("tier>=3", "did you mean prop:tier>=3?"),
        ("Who:li", "did you mean by:li?"),
        ("user=li", "did you mean by:li?"),
        ("status:open", "did you mean state:open?"),
        ("name:acme", "did you mean acme?"),
        ("id:acme", "did you mean acme?"),
    ] {
        let said = format!("{text}: not a test, searched as a word; {meant}");
        assert_eq!(parse(text).doubtful, [said]);
    }
    for text in ["\"foo:bar\"", "12:30", "foo:", ":bar", "tag:x"] {
        assert_eq!(parse(text).doubtful, [""; 0], "{text}");
    }
    for text in ["foo<1h", "foo=bar", "foo>3"] {
        assert_eq!(parse(text).doubtful.len(), 1, "{text}");
    }
}

#[test]
fn the_word_of_a_column_or_a_program_leads_to_the_test() {
    for (text, test) in [
        ("prop.tier:gold", "prop:"),
        ("prop.tier=gold", "prop:"),
        ("property:tier", "prop:"),
        ("map.40:213", "map:"),
        ("mapping:40", "map:"),
        ("seen<1h", "read>"),
        ("rotated>90d", "age>"),
    ] {
        let wrong = format!("{text}: did you mean {test}? In quotes it is a word");
        assert_eq!(parse(text).wrong, [wrong]);
    }
    assert_eq!(parse("rotated:never").wrong, [""; 0]);
    assert_eq!(parse("\"prop.tier:gold\"").wrong, [""; 0]);
}

/// A key may have a colon, so it is no mistake; what is meant is said where nothing matches.
#[test]
fn a_second_colon_is_doubtful() {
    for (text, meant) in [
        ("map:40:213", "map:40=213"),
        ("prop:tier:gold", "prop:tier=gold"),
        ("prop:Tier~Gold", "prop:Tier=Gold"),
    ] {
        let query = parse(text);
        let doubtful = format!("{text}: did you mean {meant}?");
        assert_eq!((query.doubtful, query.wrong), (vec![doubtful], vec![]));
        let query = parse(&format!("-{text}"));
        assert_eq!(query.wrong, [format!("-{text}: did you mean -{meant}?")]);
    }
    for text in [
        "map:40=2:13",
        "prop:a:b=c",
        "\"map:40:213\"",
        "tag:a:b",
        "map:40:",
        "prop::x",
        "prop:\"tier:gold\"",
    ] {
        assert_eq!(parse(text).doubtful, [""; 0], "{text}");
    }
}

/// An exclusion that excludes nothing leaves everything selected.
#[test]
fn what_is_no_exclusion_is_never_ignored_in_silence() {
    for text in [
        "prop:seats==3",
        "prop:seats!=3",
        "prop:seats=>4",
        "prop:seats≥3",
        "prop:tier~=gold",
        "prop:tier=~gold",
        "map:7!=4",
        "map:7=>4",
        "map:7>4",
        "label!=vip",
        "label=vip",
        "label==vip",
        "tag:=customer",
        "tag：customer",
        "state=open",
        "read=7d",
        "due=14d",
        "age≥90d",
        "age==90d",
        "age!=90d",
        "NOT label:vip",
        "label:a OR label:b",
        "tag:x && label:b",
        "!label:vip",
        "! label:vip",
        "!@night",
        "−label:vip",
        "–label:vip",
        "—@night",
        "–fav",
        "−since:7d",
        "fav=",
        "old:",
        "draft==",
        "label:'vip'",
    ] {
        for text in [text.to_owned(), format!("-{text}")] {
            let query = parse(&format!("grp- {text}"));
            assert!(!query.wrong.is_empty(), "{text}: {query:?}");
        }
    }
    for text in [
        "tier=gold",
        "prop:tier:gold",
        "prop:tier~gold",
        "env:Customer",
        "age:90d",
        "grp-*",
        "grp-?",
        "grp%",
        "a,b",
        "a;b",
        "a&b",
        "tag:a|b",
        "!acme",
        "(acme)",
        "(acme",
        "^acme",
        "acme$",
        "/acme/",
        "'acme'",
        "‘acme’",
        "“acme”",
        "«acme»",
        "[acme]",
        "~acme",
        "#vip",
        "+acme",
        "acme=",
        "acme:",
        "prop:tier='gold'",
        "prop:tier=(none)",
        "note:“call”",
    ] {
        assert_eq!(parse(text).wrong, [""; 0], "{text}");
        let query = parse(&format!("grp- -{text}"));
        assert_eq!(query.wrong.len(), 1, "{text}: {query:?}");
    }
    assert_eq!(
        parse("grp- - prop:seats=3").wrong,
        ["-: write - directly before what it excludes, or \"-\" as a word"]
    );
    for text in [
        "acme AND eu",
        "acme OR globex",
        "NOT acme",
        "acme || globex",
        "007 OR 008",
        "ACME OR globex",
    ] {
        let query = parse(text);
        assert_eq!(query.wrong.len(), 1, "{text}: {query:?}");
    }
    for (text, why) in [
        ("-acme*", "no wildcards; write -acme"),
        ("-grp-%", "no wildcards; write -grp-"),
        ("-a*b", "no wildcards; write -acme, or use quotes"),
        ("-(acme)", "write -acme; in quotes it is a word"),
        ("-a,b", "one word or test for each -, or use quotes"),
        ("−label:vip", "write a plain -"),
        ("-fav=", "write old, fav or draft without a sign"),
    ] {
        assert_eq!(parse(text).wrong, [format!("{text}: {why}")]);
    }
    // As it is typed, or with quotes.
    for text in [
        "acme -",
        "acme NOT",
        "SALT AND PEPPER",
        "-prop:tier",
        "-prop:tier=",
        "-prop:tier=a!=b",
        "-map:7=4=5",
        "-prop:\"a:b\"",
        "-prop:x=\"=5\"",
        "-\"env:Customer\"",
        "-note:\"a, b\"",
        "-acme-eu_1.2",
        "-_acme.",
        "-acme/eu",
        "-o'brien",
        "-e\u{301}",
        "-\"(acme)\"",
        "-prop:path=/a/",
        "acme and eu",
        "OR",
    ] {
        assert_eq!(parse(text).wrong, [""; 0], "{text}");
    }
    let views = [("all".to_owned(), String::new())].into();
    let query = Query::parse_with("acme -@all", None, &views);
    assert_eq!(query.wrong.len(), 1, "{query:?}");
}
