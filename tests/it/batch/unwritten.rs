//! New tokens that go to a file and are not in it: their answers were lost, or the file could not be written.

use super::*;

impl Scene {
    /// The program with these words: its exit code, what it printed and what it said.
    async fn says(&self, line: &str) -> (i32, Vec<Value>, String) {
        let program = self.program(&args(line)).spawn();
        read(wait(program.expect("it starts")).await)
    }

    /// The groups whose current token is in this file.
    fn written(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.world.folder().join(file)).expect("there");
        let lines = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let group = line["user_group_id"].as_str().expect("an ID").to_owned();
            assert_eq!(
                line["token"],
                self.world.stored(Side::Testing, &group).token
            );
            group
        });
        lines.collect()
    }
}

/// A sink that is full from the second token on.
struct Full(Mutex<usize>);

impl TokenSink for Full {
    fn keep(&self, _: &Done) -> io::Result<()> {
        let mut kept = self.0.lock().expect("whole");
        *kept += 1;
        if *kept > 1 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

#[tokio::test]
async fn tokens_that_a_later_read_finds_are_counted_until_a_file_has_them() {
    let scene = Scene::new(5).await;
    let applied = || ProxyFault::applied(Then::Drop);
    let passed = ProxyFault::passed;
    scene.next(
        "POST",
        [passed(), applied(), applied(), applied(), applied()],
    );
    scene.next("GET", [passed(), passed(), passed(), lost()]);
    scene.next(
        "GET",
        [passed(), lost(), passed(), lost(), passed(), lost()],
    );
    let line = "rotate --filter g --yes --json --concurrency 1 --max-failures 9 --token-out first";
    let (code, lines, err) = scene.says(line).await;
    assert_eq!(code, 7, "{err}");
    let sum = lines.last().expect("a sum");
    assert_eq!((&sum["unknown"], &sum["unwritten"]), (&json!(4), &json!(0)));
    assert_eq!(scene.written("first"), ["g000"]);

    let (code, shown, err) = scene.says("batches check 1 --json").await;
    assert_eq!((code, &shown[0]["unwritten"]), (0, &json!(4)), "{err}");
    assert_has(
        &shown[0]["items"][1]["note"].to_string(),
        "not in the token file",
    );
    let told = "4 new tokens are not in the token file. To write: groupdesk batches resume 1 --token-out FILE";
    for line in ["batches show 1", "batches resume 1"] {
        let output = wait(scene.program(&args(line)).spawn().expect("it starts")).await;
        assert_has(&String::from_utf8_lossy(&output.stderr), told);
    }
    let waiting = async || {
        let (code, found, err) = scene.says("attention --json").await;
        let concerns = found[0].as_array().expect("a list");
        let mut concerns = concerns.iter().map(|one| (&one["what"], &one["next"]));
        let next = "groupdesk batches resume 1 --token-out FILE";
        let expected = (&json!("tokens not in the file"), &json!(next));
        let is_listed = concerns.any(|one| one == expected);
        assert_eq!(code, if is_listed { 7 } else { 0 }, "{err}");
        let (_, batches, _) = scene.says("batches list --json").await;
        assert_eq!(batches[0][0]["unwritten"] != json!(0), is_listed);
        is_listed
    };
    assert!(waiting().await);

    // Whatever writes them: a read of one group, of several, a later rotation, or the batch itself.
    assert_eq!(scene.says("get g001 --json --token-out one").await.0, 0);
    assert_eq!(
        scene.says("get g000 g002 --json --token-out two").await.0,
        0
    );
    assert_eq!(scene.written("two"), ["g000", "g002"]);
    let again = scene
        .says("rotate g003 --yes --json --include-recent --token-out other")
        .await;
    assert_eq!(again.0, 0, "{}", again.2);
    assert!(waiting().await, "g004");
    let (code, lines, err) = scene.says("batches resume 1 --json --token-out rest").await;
    assert_eq!(code, 0, "{err}");
    assert_eq!(scene.written("rest"), ["g004"]);
    let sum = lines.last().expect("a sum");
    assert_eq!(
        (&sum["confirmed"], &sum["unwritten"]),
        (&json!(5), &json!(0))
    );
    assert!(!waiting().await);
    assert_sent_once(&scene.proxy);
}

#[tokio::test]
async fn a_token_counts_as_written_only_if_the_file_took_it() {
    let scene = Scene::new(2).await;
    // The read after the first rotation is lost; it is repeated at the end of the next run.
    scene.next("GET", [ProxyFault::passed(), lost()]);
    let batch = scene.begin().await;
    let keep = || Some(Arc::new(Full(Mutex::default())) as Arc<dyn TokenSink>);
    let run = scene.ana.run_batch(batch, one_at_a_time(), keep()).await;
    let (ended, report) = watch(run.expect("it begins")).await;
    let notes = format!("{ended:?}");
    let told =
        "its new token is not in the token file. To write it: groupdesk get g001 --token-out FILE";
    assert_has(&notes, told);
    assert!(!notes.contains("get g000"), "{notes}");
    assert_is!(report.halt, Some(Halt::Cannot(_)));
    scene.finish(batch).await;
    let unwritten: Vec<_> = scene.items(batch).await;
    let unwritten: Vec<_> = unwritten.iter().map(|item| item.unwritten).collect();
    assert_eq!(unwritten, [false, true]);
    let found = scene.ana.batch(batch).await.expect("readable");
    assert_eq!((found.counts.confirmed, found.unwritten), (2, 1));
    let run = scene.ana.run_batch(batch, one_at_a_time(), keep()).await;
    watch(run.expect("it begins")).await;
    assert_eq!(scene.ana.batch(batch).await.expect("readable").unwritten, 0);
}
