//! Which message is in the line when, and which are unread.

use jiff::SignedDuration;

use super::*;

fn at(milliseconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_millis(milliseconds)
}

fn say(messages: &mut Notices, at_ms: i64, severity: Severity, text: &str) {
    messages.say_about(at(at_ms), severity, text.into(), None, None);
}

fn shown(messages: &Notices) -> Option<String> {
    messages.current().map(|one| one.shown(false))
}

/// The messages that the line shows by itself over time, each with the time when it appears.
fn course(messages: &mut Notices) -> Vec<(i64, Option<String>)> {
    let mut course = Vec::new();
    while let Some(due) = messages.due() {
        messages.advance(due);
        course.push((due.as_millisecond(), shown(messages)));
        assert!(course.len() < 20, "{course:?}");
    }
    course
}

#[test]
fn every_level_stays_its_time() {
    for (severity, seconds) in [
        (Severity::Info, 6),
        (Severity::Done, 8),
        (Severity::Warning, 15),
        (Severity::News, 15),
    ] {
        let mut messages = said(severity);
        messages.advance(at(seconds * 1_000 - 1));
        assert!(shown(&messages).is_some(), "{severity:?}");
        assert_eq!(course(&mut messages), [(seconds * 1_000, None)]);
        assert_eq!(messages.unread(), (0, 0), "{severity:?}");
    }
}

/// Where this was said at the beginning.
fn said(severity: Severity) -> Notices {
    let mut messages = Notices::default();
    say(&mut messages, 0, severity, "said");
    messages
}

#[test]
fn an_error_stays_until_its_time_is_over_and_a_key_was_pressed() {
    for (severity, seconds, unread) in [
        (Severity::Error, 15, (0, 1)),
        (Severity::Unknown, 30, (1, 0)),
    ] {
        let mut messages = said(severity);
        assert_eq!(messages.due(), None, "nobody was there yet");
        messages.advance(at(3_600_000));
        assert!(shown(&messages).is_some());
        messages.key(at(3_600_000));
        assert_eq!(shown(&messages), None);
        assert_eq!(messages.unread(), unread);
        let mut messages = said(severity);
        messages.key(at(1_000));
        assert_eq!(messages.unread(), (0, 0), "it stands in the line");
        assert_eq!(course(&mut messages), [(seconds * 1_000, None)]);
        assert_eq!(messages.unread(), unread);
    }
}

#[test]
fn an_error_is_covered_by_nothing_less_until_a_key_was_pressed() {
    let mut messages = Notices::default();
    say(&mut messages, 0, Severity::Error, "broken");
    for text in ["one", "two", "two"] {
        say(&mut messages, 10_000, Severity::Info, text);
    }
    assert_eq!(shown(&messages).as_deref(), Some("broken"));
    assert_eq!(course(&mut messages), [], "nobody was there yet");
    let texts = messages.all().map(|one| (one.text.as_str(), one.times));
    assert_eq!(
        texts.collect::<Vec<_>>(),
        [("two", 2), ("one", 1), ("broken", 1)],
        "all are in the log"
    );
    messages.key(at(11_000));
    say(&mut messages, 11_000, Severity::Info, "sent");
    assert_eq!(shown(&messages).as_deref(), Some("sent"));
    assert_eq!(messages.unread(), (0, 1));

    say(&mut messages, 20_000, Severity::Error, "broken again");
    for (severity, text) in [
        (Severity::Error, "what matters as much"),
        (Severity::Unknown, "what matters more"),
    ] {
        say(&mut messages, 20_001, severity, text);
        assert_eq!(shown(&messages).as_deref(), Some(text));
    }
    say(&mut messages, 20_002, Severity::Error, "what matters less");
    assert_eq!(shown(&messages).as_deref(), Some("what matters more"));
}

#[test]
fn the_newest_message_is_shown_and_equal_ones_are_counted() {
    let mut messages = Notices::default();
    for text in ["old", "new", "new"] {
        say(&mut messages, 500, Severity::Info, text);
    }
    assert_eq!(shown(&messages).as_deref(), Some("new ×2"));
    assert_eq!(course(&mut messages), [(6_500, None)]);
    let texts = messages.all().map(|one| (one.text.as_str(), one.times));
    assert_eq!(texts.collect::<Vec<_>>(), [("new", 2), ("old", 1)]);
}

#[test]
fn a_refusal_goes_with_the_next_key_and_is_not_logged() {
    let mut messages = Notices::default();
    messages.refuse(at(0), "Not available: no");
    assert_eq!(messages.due(), None, "it waits for a key");
    messages.key(at(60_000));
    assert_eq!((shown(&messages), messages.all().len()), (None, 0));

    say(&mut messages, 0, Severity::Error, "broken");
    messages.refuse(at(1), "Not available: no");
    messages.key(at(2));
    messages.advance(at(4_000));
    assert_eq!(shown(&messages).as_deref(), Some("broken"));
}

#[test]
fn a_question_about_the_next_key_is_seen_before_it_and_before_what_comes_after_it() {
    let mut messages = said(Severity::Unknown);
    for time in [1, 2] {
        messages.ask(at(time), "q again quits".into(), false);
        assert_eq!(shown(&messages).as_deref(), Some("q again quits"));
    }
    assert_eq!(messages.unread(), (1, 0));
    let mut messages = Notices::default();
    messages.ask(at(0), "Ctrl-C again quits".into(), false);
    say(&mut messages, 0, Severity::Info, "1 draft");
    say(&mut messages, 1, Severity::Error, "not read");
    assert_eq!(shown(&messages).as_deref(), Some("Ctrl-C again quits"));
    assert_eq!(course(&mut messages), [(5_000, None)]);
    assert_eq!(messages.unread(), (0, 1));
    // Whoever continues with another key has seen the question.
    messages.ask(at(20_000), "q again quits".into(), false);
    messages.key(at(20_001));
    say(&mut messages, 20_002, Severity::Info, "sorted");
    assert_eq!(shown(&messages).as_deref(), Some("sorted"));
}

#[test]
fn a_question_about_losses_names_what_is_so_now() {
    let mut messages = Notices::default();
    messages.ask(at(0), "2 sent: Ctrl-C again quits".into(), true);
    messages.follow_losses(Some("1 sent: Ctrl-C again quits".into()));
    assert_eq!(
        shown(&messages).as_deref(),
        Some("1 sent: Ctrl-C again quits")
    );
    messages.follow_losses(None);
    assert_eq!(shown(&messages), None);
    messages.ask(at(1), "Ctrl-C again quits".into(), false);
    messages.follow_losses(Some("1 sent: Ctrl-C again quits".into()));
    assert_eq!(shown(&messages).as_deref(), Some("Ctrl-C again quits"));
}

#[test]
fn what_is_read_or_resolved_is_unread_no_more() {
    let mut messages = Notices::default();
    say(&mut messages, 0, Severity::Error, "first");
    say(&mut messages, 1, Severity::Error, "second");
    assert_eq!(messages.unread(), (0, 1));
    messages.read_all();
    assert_eq!((messages.unread(), shown(&messages)), ((0, 0), None));

    let open = (Condition::OpenRotations, Severity::Unknown);
    messages.say_condition(at(10), open, "1 open".into(), None);
    messages.say_condition(at(20), open, "2 open".into(), None);
    assert_eq!(shown(&messages).as_deref(), Some("2 open"));
    assert_eq!(messages.unread(), (0, 0));
    messages.key(at(4_000));
    say(&mut messages, 5_000, Severity::Done, "news");
    assert_eq!(messages.unread(), (1, 0));
    messages.resolve_condition(at(6_000), Condition::OpenRotations);
    assert_eq!(messages.unread(), (0, 0));
    let newest = messages.all().nth(1).expect("kept");
    assert_eq!(newest.resolved, Some(at(6_000)));
}

#[test]
fn who_hears_them_is_told_each_once() {
    let mut messages = Notices::default();
    say(&mut messages, 0, Severity::Info, "hello");
    messages.announce_messages();
    say(&mut messages, 1, Severity::Error, "broken");
    messages.refuse(at(2), "Not available: no");
    let heard = messages.take_announcements();
    let expected = ["info: hello", "error: broken", "warning: Not available: no"];
    assert_eq!(heard, expected);
    assert_eq!(
        (messages.take_announcements().len(), messages.due()),
        (0, None)
    );
    assert!(messages.current().is_none());
}

#[test]
fn a_success_that_was_read_does_not_follow_to_the_next_page() {
    for (severity, read_for, stays) in [
        (Severity::Done, 2_000, false),
        (Severity::Info, 2_000, false),
        (Severity::Done, 1_999, true),
        (Severity::Warning, 2_000, true),
        (Severity::Unknown, 2_000, true),
    ] {
        let mut messages = said(severity);
        messages.key(at(read_for));
        messages.leave_page(at(read_for));
        assert_eq!(shown(&messages).is_some(), stays, "{severity:?}");
    }
    // The key that leaves a page may say something itself.
    let mut messages = Notices::default();
    messages.key(at(0));
    say(&mut messages, 0, Severity::Done, "said");
    messages.leave_page(at(5_000));
    assert!(shown(&messages).is_some());
}
