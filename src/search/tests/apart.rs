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
        let found = ids(&find(&index, asked(text))).contains(&"acme-eu");
        let exact = found && find(&index, asked(text)).loose == 0;
        assert_eq!(exact, is_found, "{text}");
    }
}

/// The separators of the index may also occur in a text.
#[test]
fn a_group_with_the_signs_in_between_is_found_by_what_it_says() {
    let mut odd = group("odd", "Odd");
    let value = "x\u{1e}y\u{1f}z";
    odd.mapping = known(
        [("7\u{1f}8".to_owned(), value.to_owned())]
            .into_iter()
            .collect(),
    );
    let mut properties = serde_json::Map::new();
    properties.insert("tier".into(), value.into());
    odd.properties = known(properties);
    let plain = group("plain", "Plain");
    let index = Index::of(&[odd.clone(), plain]);
    for (text, expected) in [
        ("prop:tier", &["odd"][..]),
        ("prop:y", &[]),
        ("map:7", &[]),
        ("map:z", &[]),
        ("odd", &["odd"]),
    ] {
        assert_eq!(ids(&find(&index, asked(text))), expected, "{text}");
    }
    let entry = index.entry(0).expect("a group");
    assert_eq!(entry.to_group(), odd);
    let mut users = Vec::new();
    index.each_use_of(&[value, "z", ""], |entry, source| {
        users.push((entry.id().to_owned(), source.to_owned()));
    });
    assert_eq!(users, [("odd".to_owned(), value.to_owned())]);
}

#[test]
fn an_earlier_answer_to_another_question_spares_nothing() {
    let index = Index::of(&world());
    let first = asked("e");
    let before = find(&index, first.clone());
    let other_time = SearchRequest {
        at: NOW + SignedDuration::from_hours(24 * 365),
        ..asked("e age>200d")
    };
    let none_open = SearchRequest {
        open: Arc::default(),
        ..asked("e state:open")
    };
    let turned = SearchRequest {
        reverse: true,
        best_first: false,
        ..asked("e")
    };
    let by_id = SearchRequest {
        sort: SortBy::Id,
        best_first: false,
        ..asked("e")
    };
    for now in [other_time, none_open, turned, by_id, first] {
        let spared = run_search(&index, now.clone(), Some(&before), &|| true).expect("wanted");
        let whole = find(&index, now);
        assert_eq!(spared.shown, whole.shown);
        assert_eq!(spared.loose, whole.loose);
    }
    let open = find(&index, asked("state:open"));
    assert_eq!(ids(&open), ["globex"]);
    let closed = SearchRequest {
        open: Arc::default(),
        ..asked("state:open")
    };
    let closed = run_search(&index, closed, Some(&open), &|| true).expect("wanted");
    assert!(ids(&closed).is_empty());
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
        let mut found = ids(&find(&index, asked(text)))
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        found.sort();
        assert_eq!(found, expected, "{text}");
    }
    for text in ["prop:", "prop:=", "prop:=gold"] {
        let wrong = Query::parse(text, None).wrong;
        assert_eq!(wrong.len(), 1, "{text}");
        assert!(
            matches!(wrong[0].why, FilterErrorKind::NoProperty),
            "{wrong:?}"
        );
    }
}
