//! Why a text from outside cannot be used. Quotes nothing of it except one byte or sign.

use super::kind::Foreign;

/// Why a text from outside cannot be used. Each kind of fault is reported once, with the number of its places.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("it is empty (did the command before it fail?)")]
    Empty,
    #[error("it has more than {}: use another file, or divide it", size(*.0))]
    TooLarge(u64),
    #[error("{0}")]
    Encoding(Encoding),
    #[error("it is UTF-16 without a byte order mark: save it as UTF-8")]
    UnmarkedUtf16,
    #[error("it is UTF-32: save it as UTF-8")]
    Utf32,
    #[error("it is {0}")]
    Kind(Foreign),
    #[error("{0}")]
    Unreadable(String),
}

/// The first place that is not in the encoding of the file, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding {
    /// Counted from 1, in characters.
    pub line: usize,
    pub column: usize,
    /// The first byte that does not fit, or half of a pair of UTF-16.
    pub unit: u16,
    pub is_utf16: bool,
    pub places: usize,
}

impl std::fmt::Display for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            line,
            column,
            unit,
            is_utf16,
            places,
        } = *self;
        write!(f, "line {line}, column {column}: ")?;
        if is_utf16 {
            write!(f, "0x{unit:04X} is not valid UTF-16")?;
        } else {
            write!(f, "the byte 0x{unit:02X} is not UTF-8")?;
            if let Some(letter) = western(unit) {
                write!(f, " (\"{letter}\" in Windows-1252)")?;
            }
        }
        match places {
            0 | 1 => {}
            2 => f.write_str(", and 1 more place")?,
            _ => write!(f, ", and {} more places", places - 1)?,
        }
        f.write_str("; save the file as UTF-8")
    }
}

/// The letter that this byte is in the usual encoding of Western Windows.
fn western(unit: u16) -> Option<char> {
    match unit {
        // 0xAD is an invisible hyphen.
        0xA1..=0xAC | 0xAE..=0xFF => char::from_u32(u32::from(unit)),
        0x80 => Some('€'),
        0x91 => Some('‘'),
        0x92 => Some('’'),
        0x93 => Some('“'),
        0x94 => Some('”'),
        0x96 => Some('–'),
        0x97 => Some('—'),
        _ => None,
    }
}

fn size(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    if bytes >= MIB {
        format!("{} MiB", bytes / MIB)
    } else {
        format!("{} KiB", bytes / 1024)
    }
}
