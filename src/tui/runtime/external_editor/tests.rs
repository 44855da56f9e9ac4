//! Every way in which an editor can end, and what is kept then.

use super::*;

fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    let owned = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
    pairs.iter().map(owned).collect()
}

/// The editor that these variables name, and its file with this text.
fn opened(pairs: &[(&str, &str)], text: &str) -> (Editor, EditFile) {
    let editor = Editor::find(variables(pairs)).expect("an editor");
    let outside = EditRequest {
        file: "text",
        text: text.into(),
    };
    let file = editor.write(&outside).expect("written");
    (editor, file)
}

/// How the editor ends if no signal comes.
async fn exit(editor: &Editor, file: &EditFile) -> EditorExit {
    editor
        .run(file, async || std::future::pending().await)
        .await
}

#[test]
fn visual_comes_before_editor_and_none_says_what_to_do() {
    let both = variables(&[("EDITOR", "ed"), ("VISUAL", "code --wait")]);
    assert_eq!(Editor::find(both).expect("one").line, "code --wait");
    let empty = variables(&[("VISUAL", " \t"), ("EDITOR", "ed")]);
    assert_eq!(Editor::find(empty).expect("one").line, "ed");
    let empty = variables(&[("EDITOR", "ed"), ("TMPDIR", ""), ("HOME", "")]);
    let found = Editor::find(empty).expect("one");
    let tmp = PathBuf::from("/tmp");
    assert_eq!((&found.folder, &found.keeps), (&tmp, &vec![tmp.clone()]));
    let error = Editor::find(Vec::new()).expect_err("none");
    assert!(error.contains("EDITOR="), "{error}");
}

/// Both processes receive the same Ctrl-C, in no particular order.
#[tokio::test]
async fn a_ctrl_c_that_comes_after_the_end_of_the_editor_is_still_the_editors() {
    // If Ctrl-C is ignored, as in a background job, the shell reports the same by its exit status.
    let line = "kill -INT $$; exit 130";
    let (editor, file) = opened(&[("EDITOR", line)], "text");
    let is_heard = std::cell::Cell::new(false);
    let late = async || {
        if is_heard.get() {
            return std::future::pending().await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        is_heard.set(true);
        Signal::Interrupt
    };
    let run = editor.run(&file, late).await;
    assert_eq!(run.end, None);
    assert!(is_heard.get(), "it is left for the console");
}

#[tokio::test]
async fn an_editor_with_arguments_and_quotes_gets_a_private_file() {
    let place = tempfile::tempdir().expect("a folder");
    let open = place.path().join("open");
    std::fs::create_dir(&open).expect("a folder");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).expect("set");
    let script = r#"sh -c 'stat -c %a "$2" >"$1"; dirname "$2" | xargs stat -c %a >>"$1"; echo "$KEEP" >>"$2"' 'an editor'"#;
    let log = place.path().join("a log");
    let line = format!("{script} \"{}\"", log.display());
    let tmp = place.path().join("tmp");
    std::fs::create_dir(&tmp).expect("a folder");
    let pairs = [
        ("EDITOR", &*line),
        ("KEEP", "kept"),
        ("PATH", "/usr/bin:/bin"),
        ("XDG_RUNTIME_DIR", &open.to_string_lossy()),
        ("TMPDIR", &tmp.to_string_lossy()),
    ];
    let (editor, file) = opened(&pairs, "Acme");
    assert_eq!(editor.folder, tmp, "the other one is open to all");
    let run = exit(&editor, &file).await;
    assert_eq!(editor.refusal(&run.status), None);
    assert_eq!(
        file.finish(None, async |text: &[u8]| Some(text.to_vec()))
            .await
            .as_deref(),
        Ok("Acme\nkept\n")
    );
    let modes = std::fs::read_to_string(&log).expect("a log");
    assert_eq!(modes, "600\n700\n");
    assert_eq!(std::fs::read_dir(&tmp).expect("readable").count(), 0);
}

#[test]
fn an_editor_that_may_have_opened_a_window_is_told_from_one_that_was_left() {
    let place = tempfile::tempdir().expect("a folder");
    let tmp = place.path().to_string_lossy();
    let (_, file) = opened(&[("EDITOR", "code"), ("TMPDIR", &tmp)], "given");
    let hint = |millis, code, end| {
        let time = Duration::from_millis(millis);
        let status = Ok(ExitStatus::from_raw(code));
        file.hint(&EditorExit { status, time, end }).is_some()
    };
    assert!(hint(300, 0, None));
    assert!(!hint(5000, 0, None), "somebody read it");
    assert!(!hint(300, 256, None), "it failed");
    assert!(!hint(300, 0, Some(Signal::Terminate)));
    std::fs::write(&file.file, "typed\n").expect("written");
    assert!(!hint(300, 0, None), "it was changed");
}

#[tokio::test]
async fn asked_for_the_end_it_ends_its_editor() {
    let pairs = [("EDITOR", "tail -f /dev/null"), ("PATH", "/usr/bin:/bin")];
    let (editor, file) = opened(&pairs, "");
    let run = editor.run(&file, async || Signal::Terminate).await;
    assert_eq!(run.end, Some(Signal::Terminate));
    let refusal = editor.refusal(&run.status).expect("killed");
    assert!(refusal.contains("not applied"), "{refusal}");
}

/// All ways in which an editor can end.
#[tokio::test]
async fn what_was_typed_is_kept_however_the_editor_ends() {
    let (token, much) = ("6a21d2b4".repeat(8), vec![0; 3_000_000]);
    let with_token = format!("printf '{{\"token\": \"abc\", \"a\": \"{token}\"}}' >\"$1\"; exit 1");
    let hidden = format!("{{\"token\": \"xxx\", \"a\": \"{}\"}}", "x".repeat(64));
    #[rustfmt::skip] // A table: one case per line.
    let table: [(&str, &str, &[&[u8]]); 17] = [
        ("printf 'typed\\377' >\"$1\"", "not UTF-8", &[b"typed\xff"]),
        ("printf typed >\"$1\"; kill -9 $$", "exit code 137", &[b"typed"]),
        ("printf typed >\"$1\"; kill -TERM $$", "exit code 143", &[b"typed"]),
        ("printf typed >\"$1\"; exit 1", "exit code 1", &[b"typed"]),
        ("printf typed >\"$1\"; exit 127", "was not found, or ended with exit code 127", &[b"typed"]),
        ("printf typed >\"$1~\"; rm \"$1\"", "left no file", &[b"typed"]),
        ("printf typed >\"$1~\"; rm \"$1\"; mkdir \"$1\"", "left no file", &[b"typed"]),
        ("printf typed >\"$1~\"; rm \"$1\"; mkfifo \"$1\"", "left no file", &[b"typed"]),
        ("printf typed >\"$1~\"; : >\"$1\"", "an empty file", &[b"typed"]),
        ("printf typed >\"$1.new\"", "only other files, not its own", &[b"typed"]),
        ("printf typed >\"$(dirname \"$1\")/.text.swp\"; kill -9 $$", "exit code 137", &[b"typed"]),
        ("mkdir \"$1.d\"; printf typed >\"$1.d/text\"; kill -9 $$", "exit code 137", &[b"typed"]),
        ("rm \"$1\"; mkdir \"$1\"; printf typed >\"$1/text\"", "left no file", &[b"typed"]),
        ("head -c 3000000 /dev/zero >\"$1\"", "longer than 2 MiB", &[&much]),
        (&with_token, "without the token", &[hidden.as_bytes()]),
        ("exit 1", "exit code 1", &[]),
        ("rm -r \"$(dirname \"$1\")\"", "left no file", &[]),
    ];
    for (script, why, kept) in table {
        let place = tempfile::tempdir().expect("a folder");
        let tmp = place.path().join("tmp");
        std::fs::create_dir(&tmp).expect("a folder");
        let line = format!("sh -c '{}'", script.replace('\'', "'\\''")).replace("$1", "$0");
        let pairs = [
            ("EDITOR", &*line),
            ("PATH", "/usr/bin:/bin"),
            ("TMPDIR", &tmp.to_string_lossy()),
        ];
        let (editor, file) = opened(&pairs, "given");
        let refusal = editor.refusal(&exit(&editor, &file).await.status);
        let said = file
            .finish(refusal, async |text: &[u8]| Some(text.to_vec()))
            .await
            .expect_err(script);
        assert!(said.contains(why), "{script}: {said}");
        let left: Vec<_> = std::fs::read_dir(&tmp).expect("readable").collect();
        let left = left
            .into_iter()
            .map(|entry| entry.expect("an entry").path());
        let left: Vec<_> = left.collect();
        assert_eq!(left.len(), kept.len(), "{script}: {left:?}");
        for (path, kept) in left.iter().zip(kept) {
            assert!(
                said.contains(&path.display().to_string()),
                "{script}: {said}"
            );
            assert!(std::fs::read(path).expect("readable") == **kept, "{script}");
            let mode = std::fs::metadata(path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{script}");
        }
    }
}

#[tokio::test]
async fn a_text_that_is_not_used_is_kept_without_a_key() {
    for (kept, why) in [
        (Some(b"masked".to_vec()), "without what may be a secret"),
        (None, "was not saved"),
    ] {
        let place = tempfile::tempdir().expect("a folder");
        let tmp = place.path().to_string_lossy();
        let line = "sh -c 'printf typed >\"$0\"; exit 1'";
        let pairs = [
            ("EDITOR", line),
            ("PATH", "/usr/bin:/bin"),
            ("TMPDIR", &*tmp),
        ];
        let (editor, file) = opened(&pairs, "given");
        let refusal = editor.refusal(&exit(&editor, &file).await.status);
        let said = file.finish(refusal, async |_: &[u8]| kept.clone()).await;
        let said = said.expect_err("refused");
        assert!(said.contains(why), "{said}");
        let left = std::fs::read_dir(place.path()).expect("readable");
        let left = left.map(|entry| std::fs::read(entry.expect("an entry").path()));
        let left: Vec<_> = left.map(|text| text.expect("a file")).collect();
        assert_eq!(left, Vec::from_iter(kept));
    }
}

#[tokio::test]
async fn a_text_is_kept_in_another_folder_where_that_for_temporary_files_takes_none() {
    let place = tempfile::tempdir().expect("a folder");
    let private = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(place.path(), private).expect("set");
    let missing = place.path().join("missing");
    let line = "sh -c 'printf typed >\"$0\"; exit 1'";
    let pairs = [
        ("EDITOR", line),
        ("PATH", "/usr/bin:/bin"),
        ("XDG_RUNTIME_DIR", &place.path().to_string_lossy()),
        ("TMPDIR", &missing.to_string_lossy()),
    ];
    let (editor, file) = opened(&pairs, "given");
    let refusal = editor.refusal(&exit(&editor, &file).await.status);
    file.finish(refusal, async |text: &[u8]| Some(text.to_vec()))
        .await
        .expect_err("refused");
    let mut left = std::fs::read_dir(place.path()).expect("readable");
    let left = left.next().expect("a file").expect("readable");
    assert_eq!(std::fs::read(left.path()).expect("a file"), b"typed");
}
