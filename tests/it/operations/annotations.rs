//! Notes, labels, favourites and saved views: kept in the directory, never sent, and no place for a secret.

use groupdesk::{
    domain::annotation::{AnnotationChange, InvalidAnnotation, Label, SeenNote},
    operations::Failure,
    search::{ListColumn, ListView, SortBy},
};

use super::{ACME, Scene, look_up};
use crate::support::world::id;

fn note(text: &str) -> AnnotationChange {
    AnnotationChange {
        note: Some(text.into()),
        ..AnnotationChange::default()
    }
}

#[tokio::test]
async fn a_note_and_labels_are_kept_with_who_wrote_them_and_nothing_is_sent() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let before = scene.proxy.methods().len();
    let lines = scene.history().await.len();
    let acme = id(ACME);
    let labelled = AnnotationChange {
        add: Label::parse_all("vip sso").expect("labels"),
        favourite: Some(true),
        ..note(" call first ")
    };
    let written = scene.ana.annotate(vec![acme.clone()], labelled).await;
    let (of, there) = written.expect("written").pop().expect("one");
    assert_eq!(
        (of, there.note.as_deref()),
        (acme.clone(), Some("call first"))
    );
    let all = scene.ana.annotations().await.expect("readable");
    assert_eq!(all.get(&acme), Some(&there));
    let noted = there.noted.expect("by somebody");
    assert_eq!(noted.by, scene.ana.operator());

    let gone = AnnotationChange {
        remove: Label::parse_all("sso").expect("labels"),
        ..note("")
    };
    scene
        .ana
        .annotate(vec![acme.clone()], gone)
        .await
        .expect("written");
    let all = scene.ana.annotations().await.expect("readable");
    assert_eq!(all[&acme].note, None);
    assert_eq!(all[&acme].labels_text(), "#vip");
    assert!(all[&acme].is_favourite);
    assert_eq!(scene.proxy.methods().len(), before, "nothing is sent");
    assert_eq!(scene.history().await.len(), lines);
}

#[tokio::test]
async fn of_two_who_write_a_note_at_once_the_second_is_refused_and_labels_of_both_stay() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let bob = scene.installation().by("bob@desk7").operations();
    let acme = id(ACME);
    let from_none = |text: &str, labels: &str| AnnotationChange {
        seen: Some(SeenNote(None)),
        add: Label::parse_all(labels).expect("labels"),
        ..note(text)
    };
    let first = bob
        .annotate(vec![acme.clone()], from_none("bob's", "vip"))
        .await;
    let first = first.expect("written").remove(0).1;
    let second = scene
        .ana
        .annotate(vec![acme.clone()], from_none("ana's", "sso"))
        .await;
    let Err(Failure::Annotation(InvalidAnnotation::NoteChanged(now))) = second else {
        panic!("{second:?}");
    };
    assert_eq!(*now, first, "what stands there is told");
    let labels = AnnotationChange {
        note: None,
        ..from_none("", "sso")
    };
    let both = scene.ana.annotate(vec![acme], labels).await;
    let both = both.expect("written").remove(0).1;
    assert_eq!(
        (both.note.as_deref(), both.labels_text().as_str()),
        (Some("bob's"), "#sso #vip")
    );
}

#[tokio::test]
async fn a_known_token_is_no_note_and_an_unknown_group_has_none() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let acme = id(ACME);
    let place = scene.ana.places().await.expect("readable").remove(0);
    let token = scene.token();
    for text in [
        token.clone(),
        format!("token {token} of acme"),
        format!("token={token}"),
        format!("note:{token}"),
        format!("\"{token}\""),
        format!("{token}, as of today"),
        format!("it is {token}."),
        format!("(-note:'{token}')"),
        format!("token:{token}."),
    ] {
        let refused = scene.ana.annotate(vec![acme.clone()], note(&text)).await;
        assert!(
            matches!(refused, Err(Failure::HoldsSecret { .. })),
            "{refused:?}"
        );
        let filter = ListView {
            filter: text,
            ..ListView::default()
        };
        let reason = scene.ana.acknowledge(&place, &filter.filter).await;
        assert!(
            matches!(reason, Err(Failure::HoldsSecret { .. })),
            "{reason:?}"
        );
        let refused = scene.ana.save_view("night", filter).await;
        assert!(
            matches!(refused, Err(Failure::HoldsSecret { .. })),
            "{refused:?}"
        );
    }
    let both = vec![acme, id("nobody")];
    let refused = scene.ana.annotate(both, note("x")).await;
    assert!(
        matches!(refused, Err(Failure::NotKnown { .. })),
        "{refused:?}"
    );
    assert!(scene.ana.annotations().await.expect("readable").is_empty());
    assert!(scene.ana.saved_views().await.expect("readable").is_empty());
}

#[tokio::test]
async fn a_view_is_saved_under_its_name_and_removed() {
    let scene = Scene::new().await;
    let view = ListView {
        filter: "old -label:vip".into(),
        sort: SortBy::Property("seats".into()),
        reverse: true,
        columns: ListColumn::parse_all("name,id,prop.tier").expect("columns"),
        ..ListView::default()
    };
    for view in [ListView::default(), view.clone()] {
        let name = scene.ana.save_view("@Night", view).await.expect("saved");
        assert_eq!(name, "night");
    }
    let saved = scene.ana.saved_views().await.expect("readable");
    assert_eq!(saved.len(), 1);
    assert_eq!(
        (&saved[0].view, saved[0].written.by.as_str()),
        (&view, scene.ana.operator())
    );
    let filters = scene.ana.filters_of_views().await.expect("readable");
    assert_eq!(filters["night"], "old -label:vip");
    for name in ["", "two words", "@"] {
        let refused = scene.ana.save_view(name, view.clone()).await;
        assert!(
            matches!(refused, Err(Failure::ViewName { .. })),
            "{refused:?}"
        );
    }
    assert!(scene.ana.remove_view("night").await.expect("removed"));
    assert!(!scene.ana.remove_view("night").await.expect("there is none"));
}
