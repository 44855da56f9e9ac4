//! A token or an API key in a text that is not secret: refused, the field is named, and nothing is sent or written.

use super::*;
use secrecy::ExposeSecret;

fn field(result: Result<(), Failure>, secret: &str) -> String {
    match result {
        Err(failure @ Failure::HoldsSecret { .. }) => {
            let said = failure.to_string();
            assert!(!said.contains(secret), "the secret is repeated: {said}");
            let Failure::HoldsSecret { field } = failure else {
                unreachable!("it is one");
            };
            field
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_known_token_or_key_is_refused_in_every_text() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let acme = id(ACME);
    let known = UnknownIdPolicy::KnownOnly;
    let before = scene.proxy.methods().len();
    let lines = scene.history().await.len();
    let environment = Environment::default();
    let key = scene.ana.profile().api_key.read(&environment);
    let key = key.await.expect("readable");
    for secret in [scene.token().as_str(), key.expose_secret()] {
        let padded = format!(" {secret}\n");
        let nested = json!({"a": [{"b": padded}]});
        for (text, expected) in [
            (wanted(secret, &[], &json!({})), "name"),
            (wanted("A", &[("7", secret)], &json!({})), "mapping"),
            (wanted("A", &[], &json!({secret: 1})), "properties"),
            (wanted("A", &[], &nested), "properties"),
        ] {
            let created = scene.ana.create(&id("new"), &text).await.map(|_| ());
            assert_eq!(field(created, secret), expected);
            let edit = Edit::whole(&DesiredFields::default(), &text);
            let updated = scene.ana.update_edit(&acme, &edit, known).await;
            assert_eq!(field(updated.map(|_| ()), secret), expected);
            let rows = [(1, row(ACME, text))];
            let rows = scene.ana.no_secret_in_rows(&rows, &Ids::default()).await;
            assert_eq!(field(rows, secret), format!("{expected} of \"{ACME}\""));
        }
        let reason = || Some(padded.clone());
        let rotated = scene.ana.rotate(&acme, reason(), known).await;
        assert_eq!(field(rotated.map(|_| ()), secret), "reason");
        let plan = Plan {
            ready: vec![acme.clone()],
            ..Plan::default()
        };
        let begun = scene
            .ana
            .begin_batch(&plan, reason(), BatchOptions::default())
            .await;
        assert_eq!(field(begun.map(|_| ()), secret), "reason");
        let places = scene.ana.directory().places().await.expect("readable");
        let acknowledged = scene.ana.acknowledge(&places[0], &padded).await;
        assert_eq!(field(acknowledged.map(|_| ()), secret), "reason");
    }
    assert_eq!(scene.proxy.methods().len(), before, "nothing was sent");
    assert_eq!(scene.history().await.len(), lines, "nothing was written");
}

#[tokio::test]
async fn an_old_secret_in_another_field_does_not_block_a_change() {
    let scene = Scene::new().await;
    let token = scene.token();
    look_up(&scene.ana).await.expect("found");
    // Somebody wrote it there long ago.
    let base = wanted("Acme", &[], &json!({"old": token}));
    let mut now = base.clone();
    now.name = Some("Acme plc".into());
    let edit = Edit::whole(&base, &now);
    let known = UnknownIdPolicy::KnownOnly;
    let updated = scene.ana.update_edit(&id(ACME), &edit, known).await;
    assert!(!matches!(updated, Err(Failure::HoldsSecret { .. })));
}

#[tokio::test]
async fn a_draft_with_a_token_is_not_written_to_disk() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let token = scene.token();
    let typed = |name: &str, properties: String| DraftFields {
        name: name.into(),
        properties,
        ..DraftFields::default()
    };
    let draft = |typed: DraftFields| Draft {
        typed,
        ..fields::draft(ACME, Timestamp::UNIX_EPOCH)
    };
    for typed in [
        typed(&token, "{}".into()),
        typed("Acme", format!("{{\"a\": [\"{token}\"")),
    ] {
        let kept = scene.ana.keep_draft(draft(typed), None).await;
        let refused = kept.expect_err("refused").to_string();
        assert!(refused.contains("groupdesk knows") && !refused.contains(&token));
    }
    scene.world.scan_installations(&[token]);
    let plain = scene.ana.keep_draft(draft(typed("Acme", "{".into())), None);
    plain.await.expect("kept");
}

/// What comes from another group or an earlier state is sent, and so its draft is kept, with the words that were not typed.
#[tokio::test]
async fn a_draft_is_kept_with_hex_values_that_were_taken_over_and_without_typed_ones() {
    const VALUE: &str = "507f1f77bcf86cd799439011";
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let draft = |taken_over: &[&str]| Draft {
        typed: DraftFields {
            name: format!("for {VALUE}"),
            ..DraftFields::default()
        },
        taken_over: taken_over.iter().map(|word| (*word).to_owned()).collect(),
        ..fields::draft(ACME, Timestamp::UNIX_EPOCH)
    };
    let typed = scene.ana.keep_draft(draft(&[]), None).await;
    let refused = typed.expect_err("refused").to_string();
    assert!(
        refused.ends_with("pass it in a file: groupdesk apply FILE"),
        "{refused}"
    );
    scene
        .ana
        .keep_draft(draft(&[VALUE]), None)
        .await
        .expect("kept");
    let kept = scene.ana.drafts().await.expect("readable").remove(0);
    assert_eq!(kept.draft, draft(&[VALUE]));
}

/// An ID that is shown, sent and kept for good.
#[tokio::test]
async fn a_known_token_as_the_id_of_a_row_is_refused_by_its_place() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let token = scene.token();
    let empty = DesiredFields::default();
    let rows = [(1, row(ACME, empty.clone())), (2, row(&token, empty))];
    let refused = scene.ana.no_secret_in_rows(&rows, &Ids::default()).await;
    assert_eq!(field(refused, &token), "ID of row 2");
    let known = scene
        .ana
        .no_secret_in_rows(&rows[..1], &Ids::default())
        .await;
    known.expect("taken");
}
