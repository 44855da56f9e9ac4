//! Values whose answer could not be read are not sent; the largest allowed ones can be read back.

use super::*;

fn with(properties: &Value) -> DesiredFields {
    wanted("Acme", &[("7", "40")], properties)
}

fn deep(levels: usize) -> Value {
    let inner = (1..levels).fold(json!(1), |inner, _| json!([inner]));
    json!({ "a": inner })
}

fn too_much() -> Vec<Value> {
    vec![
        json!({"a": "x".repeat(MAX_GROUP_BYTES)}),
        json!({"a": vec![0; MAX_VALUES]}),
        deep(MAX_DEPTH + 1),
    ]
}

#[tokio::test]
async fn no_create_update_or_row_that_is_too_large_is_sent() {
    let scene = Scene::new().await;
    let stored = scene.world.stored(Side::Testing, ACME);
    for properties in too_much() {
        let wanted = with(&properties);
        let created = scene.ana.create(&id("new-1"), &wanted).await;
        let updated = update(&scene.ana, &DesiredFields::default(), &wanted).await;
        let sending = Sending {
            create: true,
            update: true,
            only_differences: false,
        };
        let permit = scene.ana.sending_permitted(sending, 1).expect("permitted");
        let end = send_row(&scene.ana, &permit, &row("new-1", wanted), None).await;
        assert!(!end.is_alarm() && !end.is_unknown(), "{end:?}");
        let RowEnd::Failed(of_row) = end else {
            panic!("{end:?}");
        };
        for failure in [created.err(), updated.err(), Some(of_row)] {
            let failure = failure.expect("it is refused");
            assert_is!(failure, Failure::TooLarge(_));
            assert_eq!(failure.ending(), None);
            let text = failure.to_string();
            assert!(text.ends_with("; nothing was sent"), "{text}");
            assert!(text.len() < 200, "no part is quoted");
        }
    }
    assert_eq!(scene.proxy.methods(), Vec::<String>::new());
    assert_eq!(scene.world.stored(Side::Testing, ACME), stored);
    assert!(history(&scene.ana).await.is_empty());
}

/// A service that returns everything, with as much around it as services do.
#[tokio::test]
async fn the_largest_allowed_group_is_read_back() {
    let room = MAX_GROUP_BYTES - r#""Acme"{"7":"40"}{"a":""}"#.len();
    let filled = (0..MAX_VALUES - 1).collect::<Vec<_>>();
    for (properties, more) in [
        (
            json!({"a": "x".repeat(room)}),
            json!({"a": "x".repeat(room + 1)}),
        ),
        (json!({"a": filled}), json!({"a": filled, "b": 1})),
        (deep(MAX_DEPTH), deep(MAX_DEPTH + 1)),
    ] {
        let scene = Scene::new().await;
        let wanted = with(&properties);
        let answer = json!({
            "success": 1,
            "user_group": {
                "team_id": 7, "token": scene.token(), "name": "Acme", "provided_id": ACME,
                "properties": properties, "api_environment_tag": "Testing",
            },
            "more": "y".repeat(60_000),
        });
        let headers = ["Content-Type: application/json"];
        let answer = Then::Instead(http("200 OK", &headers, answer.to_string()));
        scene.proxy.next("PUT", ProxyFault::swallowed(answer));
        let done = update(&scene.ana, &DesiredFields::default(), &wanted).await;
        assert_eq!(done.expect("updated").ending, Ending::Updated);
        let refused = update(&scene.ana, &wanted, &with(&more)).await;
        let Err(Failure::TooLarge(why)) = &refused else {
            panic!("{refused:?}");
        };
        assert_eq!(why.field(), "properties");
        assert_eq!(
            matches!(why, TooLarge::Text { .. }),
            properties["a"].is_string()
        );
        assert_eq!(scene.proxy.count("PUT"), 1);
    }
}
