//! The feed of changes reports all of many changes, while transactions are rolled back or take long, and the server is
//! killed. `GROUPDESK_LONG=all` makes a million changes.

use std::{collections::BTreeMap, fmt::Write, time::Instant};

use groupdesk::{
    directory::{PlaceId, Watch},
    domain::known::KnownGroup,
};

use super::*;
use crate::support::{
    long,
    postgres::{Server, Writer},
    random::Random,
};

const SCHEMA: &str = "feeding";
const WRITERS: usize = 4;
/// Few enough that each change is reported by itself, instead of "many groups".
const GROUPS: usize = 900;
/// The version of each group, a number that only grows.
type Versions = BTreeMap<String, i64>;

/// The transactions of one writer, of some changes each: committed or rolled back, entirely or in part, some slowly.
/// Returns the number of changes, too.
fn script(drawn: &mut Random, transactions: usize) -> (String, usize) {
    let (mut text, mut changes) = (format!("SET search_path = {SCHEMA};\n"), 0);
    for _ in 0..transactions {
        text.push_str("BEGIN;\n");
        let (first, count) = (drawn.below(GROUPS - 40), 1 + drawn.below(39));
        let (undone, slow) = (drawn.below(10), drawn.below(40));
        // Rows in order, so that there is no deadlock.
        for row in first..first + count {
            if undone == 1 && row == first + count / 2 {
                text.push_str("SAVEPOINT some;\n");
            }
            writeln!(
                text,
                "UPDATE user_groups SET last_seen = last_seen + 1, desk = NULL WHERE user_group_id = 'g{row:05}';"
            )
            .expect("a String takes it");
        }
        changes += count;
        if slow == 0 {
            text.push_str("SELECT pg_sleep(0.05);\n");
        }
        text.push_str(match undone {
            0 => "ROLLBACK;\n",
            1 => "ROLLBACK TO some; COMMIT;\n",
            _ => "COMMIT;\n",
        });
    }
    (text, changes)
}

/// A console that only listens: it knows only what it was told.
struct Listener {
    place: PlaceId,
    watch: Watch,
    knows: Versions,
    looks: usize,
}

impl Listener {
    async fn new(directory: &Directory) -> Self {
        let place = place(directory, "eu");
        let cursor = directory.cursor(place).await.expect("read");
        let groups = directory.groups(place).await.expect("read");
        let mut listener = Self {
            place,
            watch: directory.watch(cursor),
            knows: Versions::new(),
            looks: 0,
        };
        listener.take(&groups);
        listener
    }

    fn take(&mut self, groups: &[KnownGroup]) {
        let seen = |group: &KnownGroup| {
            let at = group.last_seen.expect("it was seen").as_microsecond();
            (group.id.as_str().to_owned(), at)
        };
        self.knows.extend(groups.iter().map(seen));
    }

    /// Whether anything was reported.
    async fn look(&mut self) -> bool {
        self.looks += 1;
        let changes = self
            .watch
            .read_changes(self.place)
            .await
            .expect("the server is back in time");
        let Some(changes) = changes else {
            return false;
        };
        assert!(!changes.are_more);
        self.take(&changes.groups);
        !changes.groups.is_empty()
    }
}

fn table(server: &Server) -> Versions {
    let rows = server.execute(SCHEMA, "SELECT user_group_id, last_seen FROM user_groups");
    let row = |line: &str| {
        let (group, seen) = line.split_once('|').expect("two columns");
        (group.to_owned(), seen.parse().expect("a number"))
    };
    rows.lines().map(row).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_change_is_missed_even_if_the_server_is_killed() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up(SCHEMA);
    let directory = Directory::open(&team).expect("it opens");
    write_groups(&server, &directory).await;
    let wanted = if long::all() { 1_000_000 } else { 2_400 };
    let transactions = if long::all() { 25 } else { 5 };
    let mut drawn = Random::new(2_026);
    let mut listener = Listener::new(&directory).await;
    let (begun, mut changes, mut rounds, mut crashes) = (Instant::now(), 0, 0, 0);
    while changes < wanted {
        rounds += 1;
        let scripts = [(); WRITERS].map(|()| script(&mut drawn, transactions));
        let mut writers = scripts.each_ref().map(|(text, _)| server.writer(text));
        // In every third round the server is killed in the middle.
        let mut crash = rounds % 3 == 2;
        loop {
            let is_over = !writers.iter_mut().any(Writer::is_running);
            let is_told = listener.look().await;
            if crash && (is_told || is_over) {
                crash = false;
                crashes += 1;
                tokio::task::block_in_place(|| server.crash());
            } else if is_over {
                break;
            }
        }
        changes += scripts.iter().map(|(_, count)| count).sum::<usize>();
        let there = table(&server);
        let differs = |(group, seen): &(&String, &i64)| listener.knows.get(*group) != Some(*seen);
        let missed = there.iter().filter(differs).count();
        assert_eq!(missed, 0, "round {rounds}, {crashes} crashes");
    }
    println!(
        "{changes} changes in {rounds} rounds, {crashes} crashes, {} looks; 0 missed, {:?}",
        listener.looks,
        begun.elapsed()
    );
}

/// Writes all the groups, copying the first one.
async fn write_groups(server: &Server, directory: &Directory) {
    let record = observation_record(observation("g00000", OLD, 0));
    let written = directory.record(place(directory, "eu"), record).await;
    written.expect("written");
    let columns = server.execute(
        SCHEMA,
        "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns \
         WHERE table_schema = current_schema() AND table_name = 'user_groups' \
         AND column_name NOT IN ('user_group_id', 'changed_in') AND is_generated = 'NEVER' AND is_identity = 'NO'",
    );
    server.execute(
        SCHEMA,
        &format!(
            "INSERT INTO user_groups (user_group_id, {columns}) \
             SELECT 'g' || lpad(n::text, 5, '0'), {columns} FROM user_groups, generate_series(1, {GROUPS}) n"
        ),
    );
}
