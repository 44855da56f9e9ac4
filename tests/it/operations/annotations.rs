//! Notes, labels, favourites and saved views: stored in the directory, never sent, and refused when they contain a
//! secret.

use super::*;

fn note(text: &str) -> AnnotationChange {
    AnnotationChange {
        note: Some(text.into()),
        ..AnnotationChange::default()
    }
}

#[tokio::test]
async fn a_note_and_labels_are_kept_with_who_wrote_them_and_nothing_is_sent() {
    let scene = Scene::new().await;
    let lines = scene.history().await.len();
    let acme = id(ACME);
    let labelled = AnnotationChange {
        add: Label::parse_all("vip sso").expect("labels"),
        favourite: Some(true),
        ..note(" call first ")
    };
    let there = annotate(&scene.ana, labelled).await.expect("written");
    assert_eq!(there.note.as_deref(), Some("call first"));
    assert_eq!(all(&scene).await.get(&acme), Some(&there));
    assert_eq!(there.noted.expect("told").by, scene.ana.operator());
    let gone = AnnotationChange {
        remove: Label::parse_all("sso").expect("labels"),
        ..note("")
    };
    annotate(&scene.ana, gone).await.expect("written");
    let now = &all(&scene).await[&acme];
    assert_eq!((&now.note, &*now.labels_text()), (&None, "#vip"));
    assert!(now.is_favourite);
    assert_eq!(scene.proxy.methods(), [""; 0], "nothing is sent");
    assert_eq!(scene.history().await.len(), lines);
}

async fn annotate(of: &Operations, change: AnnotationChange) -> Result<Annotation, Failure> {
    let written = of.annotate(vec![id(ACME)], change).await;
    Ok(written?.remove(0).1)
}

async fn all(scene: &Scene) -> BTreeMap<UserGroupId, Annotation> {
    scene.ana.annotations().await.expect("readable")
}

fn noted(of: &str, annotation: AnnotationChange) -> GroupRow {
    GroupRow {
        annotation,
        ..row(of, DesiredFields::default())
    }
}

#[tokio::test]
async fn of_two_concurrent_notes_the_second_is_refused_and_labels_of_both_stay() {
    let scene = Scene::new().await;
    let bob = scene.installation().by("bob@desk7").operations();
    let from_none = |text: &str, labels: &str| AnnotationChange {
        seen: Some(SeenNote(None)),
        add: Label::parse_all(labels).expect("labels"),
        ..note(text)
    };
    let first = annotate(&bob, from_none("bob's", "vip")).await;
    let second = annotate(&scene.ana, from_none("ana's", "sso")).await;
    let Err(Failure::Annotation(InvalidAnnotation::NoteChanged(now))) = second else {
        panic!("{second:?}");
    };
    assert_eq!(*now, first.expect("written"), "the present note is shown");
    let labels = AnnotationChange {
        note: None,
        ..from_none("", "sso")
    };
    let both = annotate(&scene.ana, labels).await.expect("written");
    let shown = (both.note.as_deref(), &*both.labels_text());
    assert_eq!(shown, (Some("bob's"), "#sso #vip"));
}

#[tokio::test]
async fn a_file_adds_missing_annotations_and_replaces_others_only_if_allowed() {
    let scene = Scene::new().await;
    let bob = scene.installation().by("bob@desk7").operations();
    let said = |text: &str, labels: &str| AnnotationChange {
        labels: Some(Label::parse_all(labels).expect("labels")),
        favourite: Some(true),
        ..note(text)
    };
    let rows = [
        noted(ACME, said("from a file", "vip")),
        noted("new-1", note("x")),
    ];
    let taken = bob.import(rows.into(), false).await.expect("taken in");
    let columns = taken[0].annotations.changed.iter().map(|one| one.column);
    assert!(columns.eq(["note", "labels", "favourite"]), "{taken:?}");
    assert_eq!(taken[1].result, ImportResult::Added);
    let before = all(&scene).await;
    assert_eq!(before[&id("new-1")].note.as_deref(), Some("x"));
    let of_acme = &before[&id(ACME)];
    assert_eq!(of_acme.noted.as_ref().expect("by bob").by, bob.operator());
    for replaces in [false, true] {
        let older = vec![noted(ACME, said("older", "sso"))];
        let taken = scene.ana.import(older, replaces).await.expect("taken in");
        let annotations = &taken[0].annotations;
        let counts = (annotations.kept.len(), annotations.changed.len());
        assert_eq!(counts, if replaces { (0, 2) } else { (2, 0) }, "{taken:?}");
        let now = &all(&scene).await[&id(ACME)];
        assert_eq!(now != of_acme, replaces);
        assert_eq!(now.note.as_deref() == Some("older"), replaces);
    }
    assert_eq!(scene.proxy.methods(), [""; 0], "nothing is sent");
}

#[tokio::test]
async fn a_row_that_is_sent_leaves_a_note_that_is_newer_than_its_plan() {
    let scene = Scene::new().await;
    let sending = Sending {
        create: false,
        update: true,
        only_differences: false,
    };
    let permit = scene.ana.sending_permitted(sending, 2).expect("permitted");
    let planned = note("from the file").plan(&Annotation::default(), true);
    let row = noted(ACME, planned.change);
    annotate(&scene.ana, note("newer")).await.expect("written");
    let end = send_row(&scene.ana, &permit, &row, None).await;
    let RowEnd::Done { warnings, .. } = &end else {
        panic!("{end:?}");
    };
    assert_is!(
        warnings[..],
        [Warning::NotAnnotated(InvalidAnnotation::NoteChanged(_))]
    );
    assert!(end.leaves_annotations() && !end.is_annotated());
    annotate(&scene.ana, note("")).await.expect("written");
    let end = send_row(&scene.ana, &permit, &row, None).await;
    assert!(end.is_annotated(), "{end:?}");
    let now = all(&scene).await[&id(ACME)].note.clone();
    assert_eq!(now.as_deref(), Some("from the file"));
}

#[tokio::test]
async fn a_note_with_a_known_token_and_a_note_on_an_unknown_group_are_refused() {
    let scene = Scene::new().await;
    let place = scene
        .ana
        .directory()
        .places()
        .await
        .expect("readable")
        .remove(0);
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
        let refused = annotate(&scene.ana, note(&text)).await;
        assert_is!(refused, Err(Failure::HoldsSecret { .. }));
        let rows = [(1, noted(ACME, note(&text)))];
        let refused = scene.ana.no_secret_in_rows(&rows, &Ids::default()).await;
        let Err(Failure::HoldsSecret { field }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(field, format!("note of \"{ACME}\""));
        let reason = scene.ana.acknowledge(&place, &text).await;
        assert_is!(reason, Err(Failure::HoldsSecret { .. }));
        let filter = ListView {
            filter: text,
            ..ListView::default()
        };
        let refused = scene.ana.save_view("night", filter, None).await;
        assert_is!(refused, Err(Failure::HoldsSecret { .. }));
    }
    let both = vec![id(ACME), id("nobody")];
    let refused = scene.ana.annotate(both, note("x")).await;
    assert_is!(refused, Err(Failure::NotKnown { .. }));
    assert!(all(&scene).await.is_empty());
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
    let save = async |view, seen| {
        let saved = scene.ana.save_view("@Night", view, seen).await;
        saved.expect("readable")
    };
    assert_eq!(save(ListView::default(), None).await, Ok(()));
    let first = scene.ana.saved_views().await.expect("readable").remove(0);
    // Whoever has not seen it does not replace it.
    assert_eq!(save(view.clone(), None).await, Err(first.clone()));
    assert_eq!(save(view.clone(), Some(first.clone())).await, Ok(()));
    let saved = scene.ana.saved_views().await.expect("readable");
    assert_eq!(saved.len(), 1);
    assert_eq!(saved[0].name, "night");
    assert_eq!(
        (&saved[0].view, saved[0].written.by.as_str()),
        (&view, scene.ana.operator())
    );
    let filters = scene.ana.filters_of_views().await.expect("readable");
    assert_eq!(filters["night"], "old -label:vip");
    for name in ["", "two words", "@"] {
        let refused = scene.ana.save_view(name, view.clone(), None).await;
        let refused = refused.expect_err("no name").to_string();
        assert!(refused.contains("invalid view name"), "{refused}");
    }
    for (seen, is_removed) in [(&first, false), (&saved[0], true), (&saved[0], false)] {
        let removed = scene.ana.remove_view(seen).await.expect("asked");
        assert_eq!(removed, is_removed);
    }
}

#[tokio::test]
async fn a_note_or_label_of_a_file_that_looks_like_a_token_is_refused_unless_the_group_has_it() {
    let scene = Scene::new().await;
    let part = "3b0c44298fc1c149afbf4c8996fb92";
    let labelled = || AnnotationChange {
        labels: Some(Label::parse_all(part).expect("a label")),
        ..AnnotationChange::default()
    };
    let none = Ids::default();
    for (change, field) in [
        (note(&format!("leaked {part}")), "note"),
        (labelled(), "labels"),
    ] {
        let rows = [(1, noted(ACME, change))];
        let refused = scene.ana.no_secret_in_rows(&rows, &none).await;
        let said = refused.expect_err("refused").to_string();
        let expected = format!("{field} of \"{ACME}\": this looks like a token");
        assert!(said.starts_with(&expected), "{said}");
        assert!(!said.contains(part), "{said}");
        // Kept by an earlier version, which did not look at files.
        scene
            .ana
            .import(vec![rows[0].1.clone()], true)
            .await
            .expect("kept");
        let again = scene.ana.no_secret_in_rows(&rows, &none).await;
        again.expect("what the group has is taken");
    }
}
