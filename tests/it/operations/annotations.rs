//! Notes, labels, favourites and saved views: stored in the directory, never sent, and refused when they contain a
//! secret.

use groupdesk::{
    domain::{
        annotation::{Annotation, AnnotationChange, InvalidAnnotation, Label, SeenNote},
        change::DesiredFields,
        known::ImportResult,
    },
    formats::GroupRow,
    operations::{
        Failure, RowEnd, Sending, Warning,
        batch::{Control, Slot},
    },
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
async fn of_two_concurrent_notes_the_second_is_refused_and_labels_of_both_stay() {
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
    assert_eq!(*now, first, "the present note is shown");
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

fn row(of: &str, beside: AnnotationChange) -> GroupRow {
    GroupRow {
        id: id(of),
        fields: DesiredFields::default(),
        annotation: beside,
        parts: groupdesk::formats::Parts::default(),
    }
}

#[tokio::test]
async fn a_file_adds_missing_annotations_and_replaces_others_only_if_allowed() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let bob = scene.installation().by("bob@desk7").operations();
    let sent = scene.proxy.methods().len();
    let said = |text: &str, labels: &str| AnnotationChange {
        labels: Some(Label::parse_all(labels).expect("labels")),
        favourite: Some(true),
        ..note(text)
    };
    let rows = vec![
        row(ACME, said("from a file", "vip")),
        row("new-1", note("x")),
    ];
    let taken = bob.import(rows, false).await.expect("taken in");
    let columns = taken[0].annotations.changed.iter().map(|one| one.column);
    let columns: Vec<_> = columns.collect();
    assert_eq!(columns, ["note", "labels", "favourite"]);
    assert_eq!(taken[1].result, ImportResult::Added);
    let all = scene.ana.annotations().await.expect("readable");
    assert_eq!(all[&id("new-1")].note.as_deref(), Some("x"));
    let of_acme = &all[&id(ACME)];
    assert_eq!(of_acme.noted.as_ref().expect("by bob").by, bob.operator());

    let older = || vec![row(ACME, said("older", "sso"))];
    let taken = scene.ana.import(older(), false).await.expect("taken in");
    assert_eq!(taken[0].annotations.kept.len(), 2, "{taken:?}");
    assert_eq!(
        scene.ana.annotations().await.expect("readable")[&id(ACME)],
        *of_acme
    );
    let taken = scene.ana.import(older(), true).await.expect("taken in");
    assert_eq!(taken[0].annotations.changed.len(), 2, "{taken:?}");
    let now = scene.ana.annotations_of(vec![id(ACME), id("nobody")]);
    let now = now.await.expect("readable");
    let acme = now[0].as_ref().expect("there");
    assert_eq!(
        (acme.note.as_deref(), acme.labels_text()),
        (Some("older"), "#sso".into())
    );
    assert_eq!(now[1], None);
    assert_eq!(scene.proxy.methods().len(), sent, "nothing is sent");
}

#[tokio::test]
async fn a_row_that_is_sent_leaves_a_note_that_is_newer_than_its_plan() {
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let sending = Sending {
        create: false,
        update: true,
        only_differences: false,
    };
    let permit = scene.ana.sending_permitted(sending, 2).expect("permitted");
    let planned = note("from the file").plan(&Annotation::default(), true);
    let send = || {
        let row = row(ACME, planned.change.clone());
        let (ana, permit) = (&scene.ana, &permit);
        async move {
            let control = Control::default();
            ana.send_row(
                permit,
                None,
                &row,
                None,
                (&control, Slot::default()),
                |_| {},
            )
            .await
        }
    };
    scene
        .ana
        .annotate(vec![id(ACME)], note("newer"))
        .await
        .expect("written");
    let end = Box::pin(send()).await;
    let RowEnd::Done { warnings, .. } = &end else {
        panic!("{end:?}");
    };
    assert!(
        matches!(
            &warnings[..],
            [Warning::NotAnnotated(InvalidAnnotation::NoteChanged(_))]
        ),
        "{warnings:?}"
    );
    assert!(end.leaves_annotations() && !end.is_annotated());
    scene
        .ana
        .annotate(vec![id(ACME)], note(""))
        .await
        .expect("written");
    let end = Box::pin(send()).await;
    assert!(end.is_annotated(), "{end:?}");
    let now = scene.ana.annotations().await.expect("readable");
    assert_eq!(now[&id(ACME)].note.as_deref(), Some("from the file"));
}

#[tokio::test]
async fn a_note_with_a_known_token_and_a_note_on_an_unknown_group_are_refused() {
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
        let rows = [row(ACME, note(&text))];
        let refused = scene.ana.no_secret_in_rows(&rows).await;
        let Err(Failure::HoldsSecret { field }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(field, format!("note of \"{ACME}\""));
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
        let refused = refused.expect_err("no name").to_string();
        assert!(refused.contains("invalid view name"), "{refused}");
    }
    assert!(scene.ana.remove_view("night").await.expect("removed"));
    assert!(!scene.ana.remove_view("night").await.expect("there is none"));
}
