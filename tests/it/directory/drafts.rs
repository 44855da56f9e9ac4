//! Unsent forms: as typed, and none is lost, whoever else types about the same group.

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
        loaded_from: None,
        taken_over: std::collections::BTreeSet::from(["507f1f77bcf86cd799439011".to_owned()]),
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
        continues: Vec::new(),
    }
}

fn kept(draft: Draft, by: &str) -> KeptDraft {
    KeptDraft {
        draft,
        by: by.into(),
    }
}

async fn save(directory: &Directory, profile: &str, draft: Draft) {
    let place = place(directory, profile);
    let saved = directory.save_draft(place, draft, "ana", None).await;
    assert_eq!(saved.expect("saved"), DraftSaved::Kept);
}

async fn drafts(directory: &Directory, profile: &str) -> Vec<KeptDraft> {
    let drafts = directory.drafts(place(directory, profile)).await;
    drafts.expect("readable")
}

#[tokio::test]
async fn a_draft_is_restored_exactly_also_from_disk() {
    let installation = Opened::new();
    let directory = installation.open();
    save(&directory, "eu", draft("acme", "Acme 2", 1)).await;
    drop(directory);
    if installation.team.is_none() {
        assert_eq!(mode(&installation.path()), 0o600);
    }
    let directory = installation.open();
    let found = drafts(&directory, "eu").await;
    assert_eq!(found, [kept(draft("acme", "Acme 2", 1), "ana")]);
    assert_eq!(drafts(&directory, "us").await, []);
}

/// Two consoles alternate on one group: in a file two people or one, in a team's database one person.
#[tokio::test]
async fn no_save_replaces_what_another_console_typed_and_each_is_told_of_the_other() {
    for second_by in ["li", "ana"] {
        let directory = Opened::new();
        let is_team = directory.team.is_some();
        if is_team && second_by != "ana" {
            // A connection is one person; two people are in the tests of the console.
            continue;
        }
        let (first, other) = (directory.open(), directory.open());
        let save = async |by: &str, name: &str, at, seen: Option<i64>| {
            let from = if by == "ana" { &first } else { &other };
            let place = place(from, "eu");
            let saved = from.save_draft(place, draft("acme", name, at), by, seen.map(second));
            saved.await.expect("answered")
        };
        let names = async || {
            let found = drafts(&first, "eu").await.into_iter();
            let mut names: Vec<_> = found.map(|kept| kept.draft.typed.name).collect();
            names.sort();
            names
        };
        let told = |by: &str, at| OtherDraft {
            by: by.into(),
            at: second(at),
        };
        assert_eq!(save("ana", "a1", 1, None).await, DraftSaved::Kept);
        assert_eq!(save("ana", "a2", 2, Some(1)).await, DraftSaved::Kept);
        assert_eq!(names().await, ["a2"]);
        // The clocks of a team do not decide; in a file the newer one becomes that of the group.
        let beside = |other| {
            if is_team {
                DraftSaved::Overtaken(other)
            } else {
                DraftSaved::Replaced(other)
            }
        };
        let saved = save(second_by, "b1", 3, None).await;
        assert_eq!(saved, beside(told("ana", 2)));
        assert_eq!(names().await, ["a2", "b1"]);
        let saved = save("ana", "a3", 4, Some(2)).await;
        if is_team {
            assert_eq!(saved, DraftSaved::Kept);
        } else {
            assert_eq!(saved, beside(told(second_by, 3)));
        }
        let saved = save(second_by, "b2", 5, Some(3)).await;
        assert_eq!(saved, beside(told("ana", 4)));
        // However often they alternate, there is one version of each.
        assert_eq!(names().await, ["a3", "b2"]);
        let forget = async |at, by: &str| {
            let place = place(&first, "eu");
            let acme = id("acme");
            let gone = first.forget_draft(place, &acme, (second(at), by));
            gone.await.expect("answered");
        };
        forget(5, "nobody").await;
        assert_eq!(names().await, ["a3", "b2"], "it is not theirs");
        forget(5, second_by).await;
        assert_eq!(names().await, ["a3"]);
        assert_eq!(save("ana", "a4", 6, Some(4)).await, DraftSaved::Kept);
        forget(6, "ana").await;
        assert_eq!(names().await, [""; 0]);
    }
}

#[tokio::test]
async fn a_draft_stands_before_those_that_it_goes_on_from_and_ends_with_them() {
    let opened = Opened::new();
    let directory = opened.open();
    save(&directory, "eu", draft("acme", "a", 10)).await;
    // The clock of the machine that went on with it is behind; a third version is of another console.
    let mut next = draft("acme", "ab", 7);
    next.continues = vec![second(10)];
    save(&directory, "eu", next.clone()).await;
    let eu = place(&directory, "eu");
    let saved = directory.save_draft(eu, draft("acme", "c", 8), "ana", None);
    assert_ne!(saved.await.expect("saved"), DraftSaved::Kept);
    let found = drafts(&directory, "eu").await;
    let names = found.iter().map(|kept| &*kept.draft.typed.name);
    assert_eq!(names.collect::<Vec<_>>(), ["a", "c", "ab"]);
    assert!(found.contains(&kept(next, "ana")));
    let acme = id("acme");
    let gone = directory.forget_draft(eu, &acme, (second(7), "ana"));
    gone.await.expect("answered");
    let left = drafts(&directory, "eu").await;
    assert_eq!(left, [kept(draft("acme", "c", 8), "ana")]);
}

#[tokio::test]
async fn a_sent_draft_is_forgotten_but_not_one_typed_later_or_elsewhere() {
    let installation = Opened::new();
    let directory = installation.open();
    for (profile, group) in [("eu", "acme"), ("eu", "globex"), ("us", "acme")] {
        save(&directory, profile, draft(group, "x", 5)).await;
    }
    for (at, left) in [(4, 2), (5, 1)] {
        let eu = place(&directory, "eu");
        let acme = id("acme");
        let gone = directory.forget_draft(eu, &acme, (second(at), "ana"));
        gone.await.expect("answered");
        assert_eq!(drafts(&directory, "eu").await.len(), left, "sent at {at}");
    }
    assert_eq!(drafts(&directory, "us").await.len(), 1);
}

#[tokio::test]
async fn a_damaged_draft_hides_no_other() {
    let installation = Opened::new();
    let directory = installation.open();
    for group in ["acme", "globex"] {
        save(&directory, "eu", draft(group, "x", 5)).await;
    }
    installation.tamper("UPDATE drafts SET mapping = '[7]' WHERE user_group_id = 'acme'");
    let found = drafts(&directory, "eu").await;
    assert_eq!(found, [kept(draft("globex", "x", 5), "ana")]);
}

/// A person who changes machines still has one draft, and sending it there forgets it.
#[tokio::test]
async fn a_draft_belongs_to_the_person_on_whichever_machine() {
    let installation = Opened::new();
    let directory = installation.open();
    let place = place(&directory, "eu");
    for (name, at, by, seen) in [
        ("a1", 1, "ana@desk1", None),
        ("a2", 2, "ana@desk2", Some(1)),
        // Repeated, because it was unknown whether it was saved.
        ("a2", 2, "ana@desk2", Some(1)),
    ] {
        let saved = directory.save_draft(place, draft("acme", name, at), by, seen.map(second));
        assert_eq!(saved.await.expect("answered"), DraftSaved::Kept);
        let found = drafts(&directory, "eu").await;
        assert_eq!(found.len(), 1, "{found:?}");
    }
    let acme = id("acme");
    let gone = directory.forget_draft(place, &acme, (second(2), "ana@desk3"));
    gone.await.expect("answered");
    assert_eq!(drafts(&directory, "eu").await, []);
}
