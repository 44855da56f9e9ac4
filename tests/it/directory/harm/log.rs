//! What a killed process leaves beside the file: the log cut off or flipped anywhere, the index of the log replaced,
//! and the log alone. Everything written before the damage is there, in order, and nothing partly.

use super::*;

const CUTS: usize = 40;
const FLIPS: usize = 20;
const INDEXES: usize = 5;
const ALONE: usize = 4;
pub(super) const CASES: usize = CUTS + FLIPS + INDEXES + ALONE;
const STEP: usize = 4;

/// The files of a killed writer, and the writes that were acknowledged to it.
struct Leftovers {
    file: Vec<u8>,
    log: Vec<u8>,
    said: BTreeSet<String>,
}

impl Leftovers {
    fn new() -> Self {
        let place = TempFile::new();
        let mut scribe = Recorder::start(&Order {
            directory: place.file(),
            name: "left".into(),
            // One writer, so that there is one order.
            writers: 1,
            groups: None,
            lock: None,
        });
        let mut said: BTreeSet<_> = std::iter::from_fn(|| scribe.next()).take(60).collect();
        said.extend(scribe.kill());
        said.remove("open");
        Self {
            file: bytes_of(&place.file()),
            log: bytes_of(&with_suffix(&place.file(), "-wal")),
            said,
        }
    }

    fn with(&self, log: &[u8]) -> TempFile {
        let place = TempFile::with(&self.file);
        put(&with_suffix(&place.file(), "-wal"), log);
        place
    }
}

/// How many writes are there: all up to one, and none after it.
async fn written(what: &str, place: &TempFile) -> usize {
    let file = place.file();
    let found = {
        let directory = Directory::open(&file).unwrap_or_else(|error| panic!("{what}: {error}"));
        present(&directory).await.expect("readable")
    };
    assert!(is_whole(&file), "{what}");
    let words = ["told", "intent", "sent", "draft"];
    let steps = (0..).flat_map(|number| words.map(|word| format!("{word} left-0-{number}")));
    let reached = steps.take_while(|step| found.contains(step)).count();
    assert_eq!(reached, found.len(), "{what}: a gap in {found:?}");
    reached
}

#[tokio::test]
async fn a_log_cut_off_anywhere_keeps_earlier_writes() {
    let left = Leftovers::new();
    let lengths: Vec<_> = (0..CUTS)
        .map(|case| left.log.len() * case / CUTS + case % 7)
        .collect();
    let mut before = 0;
    let cases = long::spread(lengths, STEP);
    println!("{} logs cut off", cases.len());
    for length in cases {
        let reached = written(&format!("cut at {length}"), &left.with(&left.log[..length])).await;
        assert!(reached >= before, "a longer log has fewer writes");
        before = reached;
    }
    let place = left.with(&left.log);
    assert_recorded(&place.file(), &left.said).await;
    assert!(before > 0, "the cuts were within it");
}

#[tokio::test]
async fn a_flipped_bit_ends_the_log_there() {
    let left = Leftovers::new();
    let places = (0..FLIPS).map(|case| left.log.len() * (case + 1) / (FLIPS + 1) + case);
    let cases = long::spread(places, STEP);
    println!("{} logs with a flipped bit", cases.len());
    let mut before = 0;
    for at in cases {
        let mut log = left.log.clone();
        log[at] ^= 0x10;
        let reached = written(&format!("byte {at}"), &left.with(&log)).await;
        assert!(reached >= before);
        before = reached;
    }
}

/// The index of the log is rebuilt; nothing in it is trusted.
#[tokio::test]
async fn a_replaced_index_of_the_log_loses_nothing() {
    let left = Leftovers::new();
    let indexes: [Vec<u8>; INDEXES] = [
        Vec::new(),
        vec![0; 32 * 1024],
        vec![0xff; 32 * 1024],
        b"not an index".to_vec(),
        (0..40_000_u32).map(|n| ((n * 31) >> 3) as u8).collect(),
    ];
    for index in indexes {
        let place = left.with(&left.log);
        put(&with_suffix(&place.file(), "-shm"), &index);
        assert_recorded(&place.file(), &left.said).await;
        assert!(is_whole(&place.file()));
    }
}

#[test]
fn a_log_without_its_file_is_not_deleted() {
    let left = Leftovers::new();
    for (is_there, log) in [
        (true, left.log.as_slice()),
        (false, left.log.as_slice()),
        (true, &left.log[..100]),
        (false, &left.log[..100]),
    ] {
        let place = if is_there {
            TempFile::with(b"")
        } else {
            TempFile::new()
        };
        let beside = with_suffix(&place.file(), "-wal");
        put(&beside, log);
        let refused = Directory::open(&place.file()).expect_err("refused");
        assert_is!(refused, DirectoryError::LogAlone { .. });
        assert_error_is_clear(&refused, &place.file());
        assert_eq!(bytes_of(&beside), log);
        if is_there {
            let looked = inspect(&place.file(), &HashMap::new()).expect_err("refused, too");
            assert_error_is_clear(&looked, &place.file());
            assert_eq!(bytes_of(&beside), log, "looking changes nothing");
        }
        // The way out: move the log away.
        std::fs::rename(&beside, place.0.path().join("kept")).expect("moved");
        Directory::open(&place.file()).expect("a new one");
    }
}
