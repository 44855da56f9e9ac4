//! What is said of exclusions that exclude nothing.

use super::*;

fn remarks(text: &str) -> ExclusionRemarks {
    let groups = world();
    let index = Index::of(&groups);
    find(&index, asked(text)).exclusions
}

#[test]
fn an_exclusion_that_excludes_a_group_needs_no_remark() {
    for text in [
        "-acme",
        "-label:vip",
        "-tag:cust",
        "-fav",
        "-note:call",
        "acme -globex",
    ] {
        assert_eq!(remarks(text), ExclusionRemarks::default(), "{text}");
    }
}

#[test]
fn a_word_that_excludes_nothing_is_refused_and_the_test_is_proposed() {
    for (text, meant) in [
        ("-favourite", "-fav?"),
        ("-favorites", "-fav?"),
        ("-notes", "-note:?"),
        ("-labels", "-label:?"),
        ("-overdue", "-old?"),
        ("-vip", "-label:vip?"),
        ("-VIP", "-label:vip?"),
        ("-production", "-tag:customer?"),
        ("-nowhere", "no known group matches this word"),
        ("-\"nowhere\"", "no known group matches this word"),
        ("-nowhere–eu", "did you mean -nowhere-eu?"),
    ] {
        let remarks = remarks(&format!("a {text}"));
        let [refused] = &remarks.refused[..] else {
            panic!("{text}: {remarks:?}")
        };
        assert!(refused.ends_with(meant), "{text}: {refused}");
    }
}

/// Many groups are searched in parts at once.
#[test]
fn what_parts_have_seen_is_joined() {
    let groups = world();
    for text in [
        "-acme",
        "-tag:custmer",
        "-label:vpi",
        "-nowhere",
        "-map:400",
        "-map:40=214",
    ] {
        let request = asked(text);
        let parts = groups.iter().map(|group| {
            let mut seen = Exclusions::of(&request);
            seen.see(group);
            seen
        });
        let joined = parts.reduce(|mut all, part| {
            all.join(part);
            all
        });
        let joined = joined.map(Exclusions::remarks);
        assert_eq!(joined, Some(remarks(text)), "{text}");
    }
}

#[test]
fn a_mistyped_test_is_refused_and_a_standing_one_is_told() {
    let refused = |text: &str| remarks(text).refused;
    for (text, meant) in [
        ("-label:vpi", "-label:vip"),
        ("-label:vio", "-label:vip"),
        ("-tag:custmer", "-tag:Customer"),
        ("-tag:ｃustomer", "-tag:customer"),
        ("-map:４０", "-map:40"),
        ("-map:40=٢١٣", "-map:40=213"),
        ("-map:40=\"'213'\"", "-map:40=213"),
        ("-by:–li", "-by:-li"),
    ] {
        let refused = refused(text);
        assert_eq!(refused.len(), 1, "{text}: {refused:?}");
        let meant = format!("did you mean {meant}?");
        assert!(refused[0].ends_with(&meant), "{text}: {refused:?}");
    }
    for text in [
        "-label:hold",
        "-state:intended",
        "-note:later",
        "-by:nobody",
        "-age>3000d",
    ] {
        let said = remarks(text);
        let told = vec![format!("{text}: excludes no known group")];
        assert_eq!((said.refused, said.told), (vec![], told), "{text}");
    }
}

#[test]
fn keys_rows_and_numbers_are_compared() {
    let all = fields(
        "",
        &[("40", "213")],
        r#"{"tier":"gold","seats":100,"seat":1,"zone":"eu-1","region":"region-eu"}"#,
    );
    let one = KnownGroup {
        mapping: all.mapping.map(told),
        properties: all.properties.map(told),
        ..group("a", "")
    };
    let index = Index::of([&one]);
    let refused = |text: &str| find(&index, asked(text)).exclusions.refused;
    for (text, meant) in [
        ("-prop:teir=gold", "-prop:tier=gold"),
        ("-prop:teir", "-prop:tier"),
        ("-prop:tier=glod", "-prop:tier=gold"),
        ("-prop:seats=100.0", "-prop:seats=100"),
        ("-prop:saets>3", "-prop:seats>3"),
        ("-map:040", "-map:40"),
    ] {
        let found = refused(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(
            found[0].ends_with(&format!("did you mean {meant}?")),
            "{found:?}"
        );
    }
    // Numbers that are both meant.
    for text in [
        "-map:41",
        "-map:400",
        "-map:40=231",
        "-map:40=21",
        "-prop:seats=10",
        "-prop:seats>500",
        "-prop:region=region-us",
        "-map:40=214",
        "-prop:seats=101",
        "-prop:zone=eu-2",
        "-prop:tier=silver",
    ] {
        assert_eq!(refused(text), [""; 0], "{text}");
    }
    let none = Index::of([]);
    let said = find(&none, asked("a -nowhere")).exclusions;
    assert_eq!(said, ExclusionRemarks::default(), "there are no groups");
}
