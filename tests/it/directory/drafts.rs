//! Unsent forms: one per profile and group, as typed; the newer one wins.

use crate::support::world::place;
use groupdesk::{
    directory::{DraftSaved, KeptDraft, OtherDraft},
    domain::{
        change::DesiredFields,
        draft::{Draft, DraftFields, DraftRow},
    },
};

use super::*;

pub(super) fn draft(group: &str, name: &str, at: i64) -> Draft {
    let row = |key: &str, before: Option<(&str, &str)>, is_dropped| DraftRow {
        key: key.into(),
        value: String::new(),
        before: before.map(|(key, value)| (key.into(), value.into())),
        is_dropped,
    };
    Draft {
        user_group_id: id(group),
        creating: false,
        typed: DraftFields {
            name: name.into(),
            mapping: vec![row("7", Some(("7", "40")), true), row("7", None, false)],
            properties: "{ \"tier\": go".into(),
            mapping_text: Some("7 = ".into()),
            group_text: Some("{".into()),
        },
        base: DesiredFields {
            name: Some("Acme".into()),
            mapping: None,
            properties: Some(
                serde_json::from_str(r#"{"z": 12345678901234567890123, "a": 1.10}"#)
                    .expect("an object"),
            ),
        },
        base_at: second(at - 100),
        changed_at: second(at),
    }
}

fn kept(draft: Draft, by: &str) -> KeptDraft {
    KeptDraft {
        draft,
        by: by.into(),
    }
}

#[tokio::test]
async fn a_draft_is_restored_exactly_also_from_disk() {
    let installation = Opened::new();
    let directory = installation.open();
    let saved = directory
        .save_draft(
            place(&directory, "eu"),
            draft("acme", "Acme 2", 1),
            "ana",
            None,
        )
        .await;
    assert_eq!(saved.expect("saved"), DraftSaved::Kept);
    drop(directory);
    if installation.team.is_none() {
        assert_eq!(mode(&installation.path()), 0o600);
    }
    let directory = installation.open();
    let found = directory
        .drafts(place(&directory, "eu"))
        .await
        .expect("readable");
    assert_eq!(found, [kept(draft("acme", "Acme 2", 1), "ana")]);
    assert_eq!(
        directory
            .drafts(place(&directory, "us"))
            .await
            .expect("readable"),
        []
    );
}

#[tokio::test]
async fn the_newer_draft_wins_and_its_writer_is_told_of_the_other() {
    let directory = Opened::new();
    let (ana, li) = (directory.open(), directory.open());
    let save = async |installation: &Directory, name: &str, at, by: &str, seen: Option<i64>| {
        installation
            .save_draft(
                place(installation, "eu"),
                draft("acme", name, at),
                by,
                seen.map(second),
            )
            .await
            .expect("answered")
    };
    assert_eq!(save(&ana, "a", 1, "ana", None).await, DraftSaved::Kept);
    assert_eq!(save(&ana, "ab", 2, "ana", Some(1)).await, DraftSaved::Kept);
    let other = |by: &str, at| OtherDraft {
        by: by.into(),
        at: second(at),
    };
    if directory.team.is_some() {
        // For two consoles of one person the clocks do not decide: a draft unknown to the other console stays.
        let known = DraftSaved::Overtaken(other("ana", 2));
        assert_eq!(save(&li, "l", 3, "ana", None).await, known);
        assert_eq!(save(&li, "l", 1, "ana", Some(2)).await, DraftSaved::Kept);
        let found = ana.drafts(place(&ana, "eu")).await.expect("readable");
        assert_eq!(found, [kept(draft("acme", "l", 1), "ana")]);
        return;
    }
    assert_eq!(
        save(&li, "l", 3, "li", None).await,
        DraftSaved::Replaced(other("ana", 2))
    );
    assert_eq!(
        save(&ana, "abc", 2, "ana", Some(2)).await,
        DraftSaved::Overtaken(other("li", 3))
    );
    let found = ana.drafts(place(&ana, "eu")).await.expect("readable");
    assert_eq!(found, [kept(draft("acme", "l", 3), "li")]);
}

#[tokio::test]
async fn a_sent_draft_is_forgotten_but_not_one_typed_later_or_elsewhere() {
    let installation = Opened::new();
    let directory = installation.open();
    for (profile, group) in [("eu", "acme"), ("eu", "globex"), ("us", "acme")] {
        let draft = draft(group, "x", 5);
        let saved = directory
            .save_draft(place(&directory, profile), draft, "ana", None)
            .await;
        saved.expect("saved");
    }
    let forget = async |at| {
        let forgotten = directory
            .forget_draft(place(&directory, "eu"), &id("acme"), second(at))
            .await;
        forgotten.expect("answered");
        directory
            .drafts(place(&directory, "eu"))
            .await
            .expect("readable")
            .len()
    };
    assert_eq!(forget(4).await, 2, "it was changed after that");
    assert_eq!(forget(5).await, 1);
    assert_eq!(
        directory
            .drafts(place(&directory, "us"))
            .await
            .expect("readable")
            .len(),
        1
    );
}

#[tokio::test]
async fn a_damaged_draft_hides_no_other() {
    let installation = Opened::new();
    let directory = installation.open();
    for group in ["acme", "globex"] {
        let draft = draft(group, "x", 5);
        let saved = directory
            .save_draft(place(&directory, "eu"), draft, "ana", None)
            .await;
        saved.expect("saved");
    }
    installation.tamper("UPDATE drafts SET mapping = '[7]' WHERE user_group_id = 'acme'");
    let found = directory
        .drafts(place(&directory, "eu"))
        .await
        .expect("readable");
    assert_eq!(found, [kept(draft("globex", "x", 5), "ana")]);
}
