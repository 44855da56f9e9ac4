//! What must be kept apart: the parts of a group, groups that contain the separators, and earlier results of another
//! request.

use super::*;

#[test]
fn a_word_is_not_found_across_two_parts() {
    let index = Index::of(&world());
    // The parts of acme-eu in the order they are stored: customer, 3f3f…, 7701, then the rows.
    for (text, is_found) in [
        ("customer", true),
        ("3f3f", true),
        ("7701", true),
        ("r3f", false),
        ("\"r3f\"", false),
        ("f7701", false),
        ("770113", false),
        ("\"770140\"", false),
    ] {
        let found = find(&index, asked(text));
        let exact = ids(&found).contains(&"acme-eu") && found.loose == 0;
        assert_eq!(exact, is_found, "{text}");
    }
}

/// The separators of the index may also occur in a text.
#[test]
fn a_group_with_the_signs_in_between_is_found_by_what_it_says() {
    let value = "x\u{1e}y\u{1f}z";
    let odd = KnownGroup {
        mapping: known(mapping(&[("7\u{1f}8", value)])),
        properties: known([("tier".to_owned(), value.into())].into_iter().collect()),
        ..group("odd", "Odd")
    };
    let index = Index::of(&[odd.clone(), group("plain", "Plain")]);
    for (text, expected) in [
        ("prop:tier", &["odd"][..]),
        ("prop:y", &[]),
        ("map:7", &[]),
        ("map:z", &[]),
        ("odd", &["odd"]),
    ] {
        assert_eq!(ids(&find(&index, asked(text))), expected, "{text}");
    }
    assert_eq!(index.entry(0).expect("a group").to_group(), odd);
    let mut users = Vec::new();
    index.each_use_of(&[value, "z", ""], |entry, source| {
        users.push((entry.id().to_owned(), source.to_owned()));
    });
    assert_eq!(users, [("odd".to_owned(), value.to_owned())]);
}

#[test]
fn an_earlier_answer_to_another_question_spares_nothing() {
    let index = Index::of(&world());
    let other_time = SearchRequest {
        at: NOW + SignedDuration::from_hours(24 * 365),
        ..asked("e age>200d")
    };
    let closed = |text| SearchRequest {
        open: Arc::default(),
        ..asked(text)
    };
    for (before, now) in [
        ("e", other_time),
        ("e", closed("e state:open")),
        ("e", sorted_by(SortBy::Name, true, "e")),
        ("e", sorted_by(SortBy::Id, false, "e")),
        ("e", asked("e")),
        ("state:open", closed("state:open")),
    ] {
        let before = find(&index, asked(before));
        let spared = run_search(&index, now.clone(), Some(&before), &|| true).expect("wanted");
        let whole = find(&index, now);
        assert_eq!((&spared.shown, spared.loose), (&whole.shown, whole.loose));
    }
    assert_eq!(ids(&find(&index, asked("state:open"))), ["globex"]);
    assert_eq!(ids(&find(&index, closed("state:open"))), [""; 0]);
    assert!(!index.is_empty() && Index::default().is_empty());
}

#[test]
fn half_a_row_of_a_mapping_is_looked_for_on_either_side() {
    let index = Index::of(&world());
    for (text, expected) in [
        ("map:=213", &["acme-eu"][..]),
        ("map:134=", &["acme-eu"]),
        ("map:7=2130", &["gl-ob-ex"]),
        ("map:7=213", &[]),
        ("prop:tier=", &["acme-eu", "globex"]),
    ] {
        assert_eq!(ids(&find(&index, asked(text))), expected, "{text}");
    }
}
