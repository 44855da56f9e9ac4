//! The file itself, cut off at any length, and with bits flipped anywhere. SQLite has no checksums of pages: a flipped
//! bit inside a value changes the value; anything else is noticed, and nothing makes it worse.

use super::*;

const CUTS: usize = 60;
const FLIPS: usize = 160;
pub(super) const CASES: usize = CUTS + FLIPS;
const STEP: usize = 5;
const PAGE: usize = 4096;

/// A directory with some of everything, closed.
async fn good() -> Vec<u8> {
    let place = TempFile::new();
    let directory = Directory::open(&place.file()).expect("it opens");
    for number in 0..40 {
        recorder::group(&directory, &format!("acme-{number}"), |_| {}).await;
    }
    drop(directory);
    let bytes = bytes_of(&place.file());
    assert!(bytes.len() > 10 * PAGE, "{} bytes", bytes.len());
    bytes
}

/// The result for one damaged file.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Finding {
    /// No fault is found, and everything works.
    Whole,
    /// An error or faults are reported, with what to do.
    Reported,
}

/// Inspects the file as `doctor` does, then works with it.
async fn open_damaged(what: &str, bytes: &[u8]) -> Finding {
    let place = TempFile::with(bytes);
    let file = place.file();
    let looked = inspect(&file, &HashMap::new());
    if let Err(error) = &looked {
        assert_error_is_clear(error, &file);
    }
    let is_whole = looked.as_ref().is_ok_and(|looked| looked.faults == 0);
    assert_eq!(
        bytes_of(&file),
        bytes,
        "{what}: the inspection changes nothing"
    );
    match exercise(&file).await {
        Ok(()) => {
            // The acknowledged write is there, or the file is known to be damaged.
            let is_there = has_after(&file).await;
            assert!(
                is_there || !is_whole,
                "{what}: an acknowledged write is lost"
            );
            if is_whole {
                Finding::Whole
            } else {
                Finding::Reported
            }
        }
        Err(error) => {
            assert_error_is_clear(&error, &file);
            assert!(
                !bytes_of(&file).is_empty(),
                "{what}: the rest of the file is still there"
            );
            Finding::Reported
        }
    }
}

#[tokio::test]
async fn a_file_cut_off_anywhere_is_refused_or_works() {
    let good = good().await;
    let pages = good.len() / PAGE;
    let mut lengths: Vec<usize> = [1, 15, 16, 99, 100, 511, 512, 513, 1024, PAGE - 1].into();
    lengths.extend(
        (1..)
            .map(|page| page * PAGE)
            .take_while(|at| *at < good.len()),
    );
    lengths.truncate(CUTS / 2);
    let odd = (0..).map(|case| PAGE + case * 7919 % ((pages - 1) * PAGE));
    let missing = CUTS - lengths.len();
    lengths.extend(odd.take(missing));
    assert_eq!(lengths.len(), CUTS);
    let cases = long::spread(lengths, STEP);
    let (all, mut said) = (cases.len(), 0);
    for length in cases {
        let found = open_damaged(&format!("cut at {length}"), &good[..length]).await;
        said += usize::from(found == Finding::Reported);
    }
    println!("{all} files cut off: {said} refused or said to be broken");
    assert_eq!(said, all, "something is always missing");
}

#[tokio::test]
async fn flipped_bits_are_reported_or_do_no_harm() {
    let good = good().await;
    // All fixed bytes of the file header, then the headers of pages, then anywhere.
    let header = (0..100).step_by(2);
    let heads = (1..good.len() / PAGE).map(|page| page * PAGE + page % 12);
    let rest = FLIPS - header.len() - heads.len().min(40);
    let anywhere = (0..rest).map(|case| (case * 104_729 + 4_111) % good.len());
    let places: Vec<usize> = header.chain(heads.take(40)).chain(anywhere).collect();
    assert_eq!(places.len(), FLIPS);
    let (mut all, mut said) = (0, 0);
    for (case, at) in long::spread(places.into_iter().enumerate(), STEP) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (case % 8);
        let found = open_damaged(&format!("bit {} of byte {at}", case % 8), &bytes).await;
        all += 1;
        said += usize::from(found == Finding::Reported);
    }
    println!("{all} files with a flipped bit: {said} said to be broken, the rest whole");
    assert!(said * 10 > all, "some damage is reported: {said} of {all}");
    assert!(said < all, "and is not afraid of everything");
}
