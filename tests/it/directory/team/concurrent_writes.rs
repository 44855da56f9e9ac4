//! Two consoles write the same note, draft or new view: one is first, and the other is told so.

use std::future::Future;

use groupdesk::{
    directory::{DraftSaved, OtherDraft},
    domain::annotation::{AnnotationChange, Attribution, InvalidAnnotation, SeenNote},
    search::ListView,
};

use super::*;
use crate::support::wait::eventually;

/// Runs `asked` while another transaction has done the first SQL. Once that blocks it, the transaction does the second
/// SQL and commits.
async fn against_transaction<T: Send + 'static>(
    team: &TeamLocation,
    (before, then): (&str, &str),
    asked: impl Future<Output = T> + Send + 'static,
) -> T {
    let server = postgres::server().expect("a server");
    // Asked in a session that is open already: what is asked for waits only for a while.
    let (mut other, mut looking) = (server.session(team.schema()), server.session(team.schema()));
    let number = other.number();
    other.say(&format!("BEGIN; {before}"));
    let asked = tokio::spawn(asked);
    let waits = format!(
        "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE {number} = ANY (pg_blocking_pids(pid)))"
    );
    eventually("it waits", || looking.say(&waits) == "t").await;
    other.say(&format!("{then}; COMMIT"));
    asked.await.expect("it ended")
}

fn note_change(text: &str, seen: Option<&str>) -> AnnotationChange {
    AnnotationChange {
        note: Some(text.into()),
        seen: Some(SeenNote(seen.map(Into::into))),
        ..AnnotationChange::default()
    }
}

fn written() -> Attribution {
    Attribution {
        at: second(0),
        by: "ana@bastion2".into(),
    }
}

#[tokio::test]
async fn a_note_that_somebody_wrote_meanwhile_is_not_replaced() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let directory = installation.open();
    let place = place(&directory, "eu");
    let first = "INSERT INTO annotations (place, user_group_id, note, labels, favourite) \
        SELECT number, 'acme', 'first', '[]', FALSE FROM places";
    let second = "UPDATE annotations SET note = 'second'";
    for (text, seen, stands) in [(first, None, "first"), (second, Some("first"), "second")] {
        let writing = directory.clone();
        let refused = against_transaction(team, (text, ""), async move {
            let change = note_change("ours", seen);
            let written = writing.annotate(place, vec![id("acme")], change, written());
            written.await.expect("answered")
        });
        let Err(InvalidAnnotation::NoteChanged(now)) = refused.await else {
            panic!("{stands:?} was replaced");
        };
        assert_eq!(now.note.as_deref(), Some(stands));
        let kept = directory.annotations(place).await.expect("read");
        assert_eq!(kept[&id("acme")].note.as_deref(), Some(stands));
    }
}

#[tokio::test]
async fn of_two_first_drafts_both_stay_and_the_other_is_told() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let directory = installation.open();
    let place = place(&directory, "eu");
    let theirs = format!(
        "INSERT INTO all_drafts (author, place, user_group_id, creating, name, mapping, properties, base, base_at, changed_at, by) \
         SELECT 'ana', number, 'acme', FALSE, 'theirs', '[]', '', '{{}}', 0, {}, 'li' FROM places",
        second(9).as_microsecond()
    );
    let saving = directory.clone();
    let saved = against_transaction(team, (&theirs, ""), async move {
        let draft = drafts::draft("acme", "ours", 1);
        let saved = saving.save_draft(place, draft, "ana", None).await;
        saved.expect("answered")
    });
    let other = OtherDraft {
        by: "li".into(),
        at: second(9),
    };
    assert_eq!(saved.await, DraftSaved::Overtaken(other));
    let kept = directory.drafts(place).await.expect("read");
    let names: Vec<_> = kept
        .iter()
        .map(|kept| kept.draft.typed.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["theirs", "ours"],
        "the newest first, and both are kept"
    );
}

/// Rows are locked in one order, so that no writer waits for a row while it holds one that the other waits for.
#[tokio::test]
async fn a_writer_waiting_for_the_first_group_locks_no_later_one() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let directory = installation.open();
    let place = place(&directory, "eu");
    let annotate = move |directory: Directory, text: &'static str| async move {
        let ids = vec![id("b"), id("a"), id("b")];
        let change = AnnotationChange {
            seen: None,
            ..note_change(text, None)
        };
        let written = directory.annotate(place, ids, change, written()).await;
        written.expect("answered").expect("valid")
    };
    annotate(directory.clone(), "one").await;
    let texts = (
        "SELECT FROM annotations WHERE user_group_id = 'a' FOR UPDATE",
        "SELECT FROM annotations WHERE user_group_id = 'b' FOR UPDATE NOWAIT",
    );
    let changed = against_transaction(team, texts, annotate(directory, "two")).await;
    let answered = changed
        .iter()
        .map(|(id, now)| (id.as_str(), now.note.as_deref()));
    let answered: Vec<_> = answered.collect();
    assert_eq!(answered, ["b", "a", "b"].map(|id| (id, Some("two"))));
}

#[tokio::test]
async fn of_two_new_views_of_one_name_the_second_replaces_nothing() {
    let installation = Opened::new();
    let Some(team) = &installation.team else {
        return;
    };
    let directory = installation.open();
    let theirs = "INSERT INTO saved_views (name, filter, sort, reverse, best_first, columns, at, by) \
        VALUES ('night', 'theirs', 'name', FALSE, TRUE, '', 0, 'li')";
    let saving = directory.clone();
    let saved = against_transaction(team, (theirs, ""), async move {
        let view = ListView {
            filter: "ours".into(),
            ..ListView::default()
        };
        let saved = saving.save_view("night", view, None, written());
        saved.await.expect("answered")
    });
    let other = saved.await.expect_err("it is there");
    assert_eq!(other.view.filter, "theirs");
    assert_eq!(directory.saved_views().await.expect("read"), [other]);
}
