//! Tables as spreadsheets write them: with any separator, and comments, empty rows and columns, they are the same rows.

use groupdesk::formats::{Reader, RowResult, csv_line, ids_in};

/// The first byte chooses the separator; the rest is cells, divided by line ends.
pub fn run(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(rest);
    drop(ids_in(&text));
    let names: Vec<String> = text
        .split('\n')
        .map(|cell| cell.replace(['\r', '\0'], ""))
        .collect();
    let rows: Vec<Vec<Option<String>>> = names
        .iter()
        .enumerate()
        .map(|(at, name)| vec![Some(format!("g{at}")), Some(name.clone())])
        .collect();
    let plain = table(',', "", &rows);
    let separator = [';', '\t', ',', '|'][usize::from(*choice % 4)];
    let noise = if choice & 4 == 0 { "" } else { "# noise\n\n" };
    let other = table(separator, noise, &rows);
    let (expected, found) = (read(&plain), read(&other));
    assert_eq!(expected.len(), rows.len(), "{plain}");
    for (one, two) in expected.iter().zip(&found) {
        assert_eq!(one.row, two.row, "{plain} and {other}");
    }
    assert_eq!(expected.len(), found.len(), "{other}");
}

fn table(separator: char, noise: &str, rows: &[Vec<Option<String>>]) -> String {
    let mut text = format!("{noise}user_group_id{separator}name\n");
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            if at > 0 {
                text.push(separator);
            }
            // Always quoted, so that every separator may be in it.
            let cell = cell.as_deref().unwrap_or_default();
            text.push('"');
            text.push_str(&cell.replace('"', "\"\""));
            text.push('"');
        }
        text.push('\n');
    }
    // What groupdesk itself writes is such a table, too.
    assert!(csv_line(rows[0].iter().cloned()).ends_with("\r\n"));
    text
}

fn read(text: &str) -> Vec<RowResult> {
    let mut reader = Reader::default();
    let mut rows = Vec::new();
    for piece in text.as_bytes().chunks(13) {
        reader
            .push(piece, &mut |row| rows.push(row))
            .expect("a table");
    }
    reader.end(&mut |row| rows.push(row)).expect("a table");
    rows
}
