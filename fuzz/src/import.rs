//! Files of groups, in any of the formats: read alike however the bytes arrive, and the same again after writing.

use groupdesk::formats::{Columns, Format, GroupRow, Reader, RowResult};

use super::is_safe;

/// The first byte says how many bytes arrive at a time.
pub fn run(data: &[u8]) {
    let Some((step, file)) = data.split_first() else {
        return;
    };
    let whole = read(file, file.len().max(1));
    let pieces = read(file, usize::from(*step).max(1));
    assert_eq!(whole, pieces, "in pieces of {step}");
    let (rows, ended, digest) = whole;
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    // As UTF-16 it may have more of them than its bytes show.
    let lines = file.len() + file.split(is_end).count();
    let mut last = 1;
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row.number, number + 1);
        assert!(
            row.line >= last && row.line <= lines,
            "line {} of {lines}",
            row.line
        );
        last = row.line;
        if let Err(why) = &row.row {
            assert!(!why.is_empty(), "an error says what is wrong");
            // The error names a duplicate id.
            if !why.starts_with("the id \"") {
                is_safe(why);
            }
        }
    }
    if let Err(why) = &ended {
        is_safe(why);
    }
    let good: Vec<&GroupRow> = rows
        .iter()
        .filter_map(|row| row.row.as_ref().ok())
        .collect();
    // A file without rows is empty, and refused.
    if good.is_empty() {
        return;
    }
    for format in [Format::JsonLines, Format::Json, Format::Csv] {
        again(format, &good, &digest);
    }
}

type Outcome = (Vec<RowResult>, Result<(), String>, [u8; 32]);

fn read(file: &[u8], step: usize) -> Outcome {
    let mut reader = Reader::default();
    let mut rows = Vec::new();
    let mut take = |row| rows.push(row);
    let mut ended = Ok(());
    for piece in file.chunks(step) {
        ended = reader.push(piece, &mut take);
        if ended.is_err() {
            break;
        }
    }
    if ended.is_ok() {
        ended = reader.end(&mut take).map(drop);
    }
    assert_eq!(reader.rows(), rows.len());
    (rows, ended, reader.digest())
}

fn again(format: Format, good: &[&GroupRow], digest: &[u8; 32]) {
    let columns = Columns::all();
    let mut text = format.head(&columns);
    for (number, row) in good.iter().enumerate() {
        text.push_str(&format.row(row, &columns, number == 0));
    }
    text.push_str(format.foot());
    let (rows, ended, read) = read(text.as_bytes(), 7);
    assert_eq!(ended, Ok(()), "{format:?}: {text}");
    assert_eq!(rows.len(), good.len(), "{format:?}: {text}");
    for (row, good) in rows.iter().zip(good) {
        assert_eq!(row.row.as_ref(), Ok(*good), "{format:?}: {text}");
    }
    assert_eq!(&read, digest, "{format:?}");
}
