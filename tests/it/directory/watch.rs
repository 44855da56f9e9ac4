//! Two processes with one directory open: a hint when the other writes, and a look that says what changed.

use groupdesk::directory::{Changes, PlaceId, Watch};

use super::*;

/// The longest wait for a hint.
const DEADLINE: Duration = Duration::from_mins(1);

async fn write(directory: &Directory, group: &str, fingerprint: Fingerprint, at: i64) {
    let record = observation_record(observation(group, fingerprint, at));
    recorded(directory, record).await;
}

async fn watching(directory: &Directory) -> (Watch, PlaceId) {
    let place = place(directory, "eu");
    let cursor = directory.cursor(place).await.expect("readable");
    (directory.watch(cursor), place)
}

async fn look(watch: &mut Watch, place: PlaceId) -> Option<Changes> {
    watch.read_changes(place).await.expect("readable")
}

fn ids(changes: &Changes) -> Vec<&str> {
    changes.groups.iter().map(|one| one.id.as_str()).collect()
}

#[tokio::test]
async fn a_look_reports_writes_of_others_since_the_last_look_and_no_own_ones() {
    let installation = Opened::new();
    let (ours, theirs) = (installation.open(), installation.open());
    write(&theirs, "before", OLD, 0).await;
    let (mut watch, place) = watching(&ours).await;
    assert_eq!(look(&mut watch, place).await, None, "nobody has written");

    write(&ours, "mine", OLD, 1).await;
    assert_eq!(look(&mut watch, place).await, None, "one's own is no news");

    write(&theirs, "b", OLD, 2).await;
    write(&ours, "mine", NEW, 3).await;
    write(&theirs, "a", OLD, 4).await;
    write(&theirs, "b", NEW, 5).await;
    let changes = look(&mut watch, place).await.expect("somebody has written");
    assert_eq!(ids(&changes), ["a", "b"], "in the order of the last writes");
    let told = changes.groups[1].fingerprint.as_ref().expect("known");
    assert_eq!(
        told.value, NEW,
        "rows are reported completely, with current values"
    );
    assert!(!changes.are_more);
    assert_eq!(look(&mut watch, place).await, None, "told once");
}

#[tokio::test]
async fn a_cursor_from_before_misses_nothing() {
    let installation = Opened::new();
    let (ours, theirs) = (installation.open(), installation.open());
    let place = place(&ours, "eu");
    let cursor = ours.cursor(place).await.expect("readable");
    write(&theirs, "between", OLD, 0).await;
    ours.groups(place).await.expect("readable");
    let mut watch = ours.watch(cursor);
    let changes = look(&mut watch, place).await.expect("somebody has written");
    assert_eq!(ids(&changes), ["between"]);
}

#[tokio::test]
async fn open_rotations_and_drafts_are_reported_in_full() {
    let installation = Opened::new();
    let (ours, theirs) = (installation.open(), installation.open());
    write(&theirs, "acme", OLD, 0).await;
    let (mut watch, place) = watching(&ours).await;
    let begun = theirs.begin_rotation(place, intent("acme", OLD)).await;
    assert_is!(begun, Ok(BeginResult::Started(_)));
    let draft = drafts::draft("acme", "Typed", 1);
    let kept = theirs.save_draft(place, draft, "li@desk7", None).await;
    kept.expect("kept");
    let changes = look(&mut watch, place).await.expect("somebody has written");
    assert_eq!(ids(&changes), [""; 0]);
    let open: Vec<_> = changes.open.iter().map(|row| row.rotation.state).collect();
    assert_eq!(open, [State::Intended]);
    let drafts: Vec<_> = changes
        .drafts
        .iter()
        .map(|head| (head.id.as_str(), head.by.as_str(), head.at))
        .collect();
    assert_eq!(drafts, [("acme", "li@desk7", second(1))]);
    assert_eq!(changes.status.place, place);
}

#[tokio::test]
async fn many_changed_groups_are_reported_as_a_new_list_even_if_one_is_damaged() {
    for damaged in [false, true] {
        let installation = Opened::new();
        let (ours, theirs) = (installation.open(), installation.open());
        let (mut watch, place) = watching(&ours).await;
        let records =
            (0..1_001).map(|n| observation_record(observation(&format!("g{n:04}"), OLD, n)));
        let written = theirs.record_all(place, records.collect()).await;
        written.expect("written");
        if damaged {
            let text = "UPDATE user_groups SET user_group_id = 'a' || char(0) WHERE user_group_id = 'g0007'";
            installation.tamper(text);
        }
        let changes = look(&mut watch, place).await.expect("somebody has written");
        assert!(
            changes.are_more,
            "only {} are reported",
            changes.groups.len()
        );
        assert_eq!(look(&mut watch, place).await, None, "told once");
    }
}

#[tokio::test]
async fn a_forgotten_tag_is_reported() {
    let installation = Opened::new();
    let (ours, theirs) = (installation.open(), installation.open());
    let mut tagged = observation("acme", OLD, 0);
    let returned = tagged.returned.as_mut().expect("an answer");
    returned.environment_tag = Some(EnvironmentTag::parse("Customer"));
    let place = place(&theirs, "eu");
    let written = theirs.record(place, observation_record(tagged)).await;
    written.expect("written");
    let (mut watch, place) = watching(&ours).await;
    let count = theirs.acknowledge(place, None, second(1), "li@desk7", "a proxy");
    count.await.expect("written");
    let changes = look(&mut watch, place).await.expect("somebody has written");
    assert_eq!(ids(&changes), ["acme"]);
    assert_eq!(changes.groups[0].environment_tag, None);
}

/// The hint comes before the commit is visible, so the look has to wait for it. Every write is reported without a
/// further one.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_hint_comes_with_every_write_and_the_look_after_it_finds_the_write() {
    let installation = Opened::new();
    let (ours, theirs) = (installation.open(), installation.open());
    let (mut watch, place) = watching(&ours).await;
    assert!(watch.has_events());
    for n in 0..100 {
        let group = format!("g{n}");
        let writing = write(&theirs, &group, OLD, n);
        let told = async {
            loop {
                watch.maybe_written().await;
                if let Some(changes) = look(&mut watch, place).await {
                    return changes;
                }
            }
        };
        let told = tokio::time::timeout(DEADLINE, told);
        let ((), told) = tokio::join!(writing, told);
        assert_eq!(ids(&told.expect("in time")), [group.as_str()]);
    }
}
