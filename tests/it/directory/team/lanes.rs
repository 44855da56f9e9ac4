//! Several connections do concurrent writes: no more than allowed, and writes to one group in order.

use super::*;

/// How many connections this user has to the server.
fn lines(who: &str) -> usize {
    let server = postgres::server().expect("a server");
    let text = format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{who}'");
    server.execute("public", &text).parse().expect("a number")
}

/// The directory opened by this user, with no connection yet except the first.
fn opened(who: &str, connections: usize) -> Option<Directory> {
    let team = postgres::team()?;
    let server = postgres::server()?;
    server.let_in(who, team.schema(), &["operator"]);
    let mut team = postgres::at_as(who, server.folder(), team.schema());
    team.connections = connections;
    Some(Directory::open(&team).expect("it opens"))
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_opened_under_load_and_no_more_than_allowed() {
    for (who, connections, most) in [("lena", 4, 4), ("lars", 1, 1)] {
        let Some(directory) = opened(who, connections) else {
            return;
        };
        let place = place(&directory, "eu");
        for number in 0..20 {
            let mut line = entry("eu", &format!("alone-{number}"), number);
            line.by = who.into();
            directory
                .record(place, history_record(line))
                .await
                .expect("written");
        }
        assert_eq!(lines(who), 2, "one that writes, one for short reads");
        let begun = (0..200).map(|group| {
            let mut intent = intent(&format!("g{group}"), OLD);
            intent.by = who.into();
            directory.begin_rotation(place, intent)
        });
        let begun = join_all(begun).await.into_iter();
        let begun = begun.filter(|answer| matches!(answer, Ok(BeginResult::Started(_))));
        assert_eq!(begun.count(), 200);
        assert_eq!(lines(who), 1 + most, "{who}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_for_one_group_are_done_in_order() {
    let Some(directory) = opened("lotte", 4) else {
        return;
    };
    let place = place(&directory, "eu");
    let asked = (0..400).map(|number: i64| {
        let mut line = entry("eu", &format!("g{}", number % 7), number);
        (line.by, line.note) = ("lotte".into(), Some(number.to_string()));
        directory.record(place, history_record(line))
    });
    for written in join_all(asked).await {
        written.expect("written");
    }
    assert!(lines("lotte") > 2, "over several lines");
    for group in 0..7 {
        let lines = directory.history(HistoryFilter {
            user_group_id: Some(id(&format!("g{group}"))),
            ..HistoryFilter::default()
        });
        let lines = lines.await.expect("read");
        let mut numbers = lines.iter().rev().map(|line| {
            let note = line.value.note.as_deref().expect("a note");
            note.parse::<i64>().expect("a number")
        });
        assert!(numbers.by_ref().is_sorted(), "g{group}");
    }
}
