//! The list at every width: which texts are cut, where, and which column a click hits.

use super::{attention::draft, find::listed, groups::known_group, prelude::*};

/// Groups with ids of 15 cells, names of many lengths and tokens of every age.
fn many() -> Vec<KnownGroup> {
    let names = [
        "Acme",
        "Stadtwerke Bad Reichenhall",
        "Northern Regional Water Supply and Sewerage Board",
    ];
    let named = |n: usize| {
        let name = format!("{n:03} {}", names[n % names.len()]);
        let mut group = named(&format!("group-id-{n:06}"), &name);
        group.created_at = Some(BEGIN - SignedDuration::from_hours(24 * n as i64));
        group
    };
    (0..300).map(named).collect()
}

fn scene() -> Scene {
    listed(many())
}

/// A text is cut only at its end, and not in a word of a table.
#[track_caller]
fn assert_cut_at_ends(name: &str, screen: &str) {
    for line in screen.lines() {
        for (at, mark) in line.match_indices('…') {
            let after = line[at + mark.len()..].chars().next();
            let is_end = after.is_none_or(|next| !next.is_alphanumeric());
            assert!(is_end, "{name}: {line}\n{screen}");
        }
    }
}

fn sized(scene: &mut Scene, width: u16, height: u16) -> String {
    scene.msg(Msg::Resize(width, height));
    scene.screen()
}

/// The views added after the list, each with a state whose text is longer than a narrow window.
fn later_views() -> Vec<(&'static str, Scene)> {
    let failures = LastRun::Stopped(Halt::Cannot(
        "a new token cannot be kept (No space left on device); read it again from the service"
            .into(),
    ));
    let batch = Batch {
        last_run: Some(failures),
        reason: Some("leaked in a ticket of somebody who left the company last year".into()),
        ..unfinished(BATCH).batch
    };
    let mut waits = scene();
    waits.keys("0");
    let kind = ConcernKind::Batch(Box::new(batch.clone()));
    let rows = vec![concern(TESTING, kind), draft(TESTING, "acme-eu")];
    answer_concerns(&mut waits, rows);
    let listed = || {
        let mut listed = scene();
        let all = vec![(ProfileIndex(TESTING), batch.clone())];
        listed.open("5", Outcome::AllBatches(all));
        listed
    };
    let mut page = listed();
    let stands = Box::new((batch.clone(), unfinished(BATCH).items));
    page.open("<enter>", Outcome::Batch(stands));
    let opened = |keys: &str| {
        let mut opened = scene();
        opened.walk(keys);
        opened
    };
    let diff = |keys| {
        let mut diff = with_history();
        diff.keys(keys);
        diff
    };
    let mut all = dialogs();
    all.extend(vec![
        ("history diff", diff("d")),
        ("history diff with now", diff("dd")),
        ("bulk edit review", opened("*B40<tab>214")),
        ("bulk edit confirmation", opened("*B40<tab>214<ctrl-s>")),
        ("attention", waits),
        ("batches", listed()),
        ("batch", page),
        ("rotations", opened("3")),
        ("history", opened("2")),
        ("views", opened("v")),
        (
            "note",
            opened("aSSO change until the first of December, call first and never in the morning"),
        ),
        ("bulk edit", opened("  B")),
        ("requests", opened("4")),
        ("messages", opened("m")),
    ]);
    all
}

#[test]
fn texts_of_the_later_views_are_cut_only_at_the_end_and_sentences_after_a_word() {
    for (name, mut scene) in later_views() {
        for height in [15, 24, 40] {
            for width in (60..=200).step_by(if long::all() { 3 } else { 8 }) {
                let screen = sized(&mut scene, width, height);
                assert_cut_at_ends(name, &screen);
                for (line, begin) in screen.lines().flat_map(|line| {
                    let begins = ["stopped: a", "reason: leaked", "resume: 1 of"].into_iter();
                    begins.filter_map(move |begin| Some((line, line.find(begin)?)))
                }) {
                    let cut = line[begin..].split_once('…').map(|(said, _)| said);
                    let is_whole =
                        cut.is_none_or(|said| said.ends_with(' ') || said.contains("  "));
                    assert!(is_whole, "{name} {width}x{height}: {line}\n{screen}");
                }
            }
        }
    }
}

/// A list of many groups, the first of which has these fields.
fn before_many(wanted: &DesiredFields) -> Scene {
    let mut groups = many();
    groups[0] = known_group("group-id-000000", wanted, 1);
    listed(groups)
}

/// Three columns need not have one width.
#[test]
fn a_value_that_is_cut_beside_another_column_has_a_mark() {
    let wanted = DesiredFields {
        mapping: Some([("m".to_owned(), "x".repeat(90))].into()),
        properties: Some(std::iter::once(("q".to_owned(), "x".repeat(90).into())).collect()),
        name: Some("000 Acme".into()),
    };
    let mut scene = before_many(&wanted);
    for width in 110..=114 {
        let screen = sized(&mut scene, width, 36);
        assert_eq!(screen.matches("xxxx…").count(), 2, "{width}: {screen}");
    }
}

/// A group with more rows than there is room for, as the first of a long list.
#[test]
fn details_show_every_row_or_say_how_many_more_there_are_and_which_key_shows_them() {
    const ROWS: usize = 30;
    let row = |first: char, n: usize| format!("{first}{n:02}");
    let wanted = DesiredFields {
        name: Some("000 Acme".into()),
        mapping: Some((0..ROWS).map(|n| (row('m', n), "40".into())).collect()),
        properties: Some((0..ROWS).map(|n| (row('q', n), n.into())).collect()),
    };
    let mut scene = before_many(&wanted);
    let screen = sized(&mut scene, 80, 24);
    assert!(screen.contains("d hide  Enter all"), "{screen}");
    for (width, height) in [(120, 36), (160, 50), (200, 50)] {
        let screen = sized(&mut scene, width, height);
        let shown = ['m', 'q'].map(|first| {
            let is_shown = |n: &usize| screen.contains(&format!("  {} ", row(first, *n)));
            (0..ROWS).filter(is_shown).count()
        });
        let more = screen.match_indices("Enter: ").filter_map(|(at, key)| {
            let number = screen[at + key.len()..].split(' ').next()?;
            number.parse::<usize>().ok()
        });
        let more: usize = more.sum();
        assert!(shown[0] > 3 && shown[1] > 3, "{width}x{height}\n{screen}");
        assert_eq!(shown[0] + shown[1] + more, 2 * ROWS, "{screen}");
        scene.shows_all(["Rotated", "Age"]);
    }
}

#[test]
fn columns_that_are_scrolled_out_are_counted_at_their_side() {
    let mut scene = scene();
    let header = |screen: &str| {
        let line = screen.lines().find(|line| line.contains("NAME"));
        line.unwrap_or_default().to_owned()
    };
    let screen = sized(&mut scene, 100, 24);
    assert!(header(&screen).starts_with("    NAME"), "{screen}");
    let screen = scene.walk("ll").screen();
    assert!(header(&screen).starts_with("‹2  NAME"), "{screen}");
}

#[test]
fn details_fill_their_height() {
    let mut scene = scene();
    for (width, height) in [(120, 36), (160, 50), (120, 24)] {
        let screen = sized(&mut scene, width, height);
        let is_cut = screen.contains("Enter: ");
        let details = screen.lines().filter_map(|line| line.split_once('│'));
        let empty = details.filter(|(_, right)| right.trim().is_empty()).count();
        assert!(!is_cut || empty <= 3, "{width}x{height}\n{screen}");
    }
}

fn press(scene: &mut Scene, column: u16, row: u16) {
    scene.msg(Msg::Mouse(MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column,
        row,
        modifiers: KeyModifiers::NONE,
    }));
    scene.answer();
}

/// The column where a title begins.
fn title_position(screen: &str, title: &str) -> (u16, u16) {
    let found = screen.lines().enumerate().find_map(|(row, line)| {
        let before = line.split_once(title)?.0;
        Some((before.chars().count() as u16, row as u16))
    });
    found.unwrap_or_else(|| panic!("{title}\n{screen}"))
}

#[test]
fn a_click_on_a_title_sorts_and_a_second_one_on_a_row_opens_it() {
    let mut scene = scene();
    let screen = sized(&mut scene, 120, 36);
    let (column, row) = title_position(&screen, "AGE");
    press(&mut scene, column, row);
    scene.shows_all(["sort age ▴", "AGE ▴"]);
    press(&mut scene, column, row);
    scene.shows_all(["sort age ▾", "AGE ▾"]);
    press(&mut scene, 6, row + 3);
    let screen = scene.screen();
    let there = screen.lines().position(|line| line.starts_with('>'));
    assert_eq!(there, Some(usize::from(row) + 3), "{screen}");
    // A slow second click counts as a first one.
    scene.now += SignedDuration::from_secs(2);
    press(&mut scene, 6, row + 3);
    scene.shows(" Groups  300 groups");
    press(&mut scene, 6, row + 3);
    scene.shows(" Groups › ");
}

#[test]
fn tab_goes_to_the_details_and_back() {
    let mut scene = scene();
    sized(&mut scene, 160, 36);
    scene.shows_all(["━━ Groups ━", "─ Details ─"]);
    scene.walk("*").shows("Esc clear");
    scene
        .walk("<tab>")
        .shows_all(["── Groups ─", "━ Details ━"])
        .hides("Esc clear");
    scene.walk("<esc>").shows_all(["━━ Groups ━", "300 marked"]);
}

#[test]
fn shift_marks_a_range_and_hidden_columns_scroll() {
    let mut scene = scene();
    sized(&mut scene, 80, 24);
    scene.walk("<shift-down><shift-down>").shows("3 marked");
    scene.walk("<esc>l").shows("FINGERPRINT").hides("AGE");
    scene.walk("h").shows("AGE");
}
