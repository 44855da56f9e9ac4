//! Values in PostgreSQL's binary format.

use std::{borrow::Cow, error::Error};

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};

use crate::db::Value;

/// PostgreSQL does not accept U+0000 in text. It is escaped as this character and a letter, and so is the character
/// itself.
const SIGN: char = '\u{FDD0}';

fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', SIGN]) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => escaped.extend([SIGN, '0']),
            SIGN => escaped.extend([SIGN, '1']),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            SIGN => plain.push(if chars.next() == Some('0') {
                '\0'
            } else {
                SIGN
            }),
            c => plain.push(c),
        }
    }
    plain
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null | Self::Writer => return Ok(IsNull::Yes),
            Self::Bool(value) => out.put_u8((*value).into()),
            Self::Integer(number) => match *ty {
                Type::INT8 => out.put_i64(*number),
                Type::INT4 => out.put_i32(i32::try_from(*number)?),
                _ => return Err(format!("no number is bound as {ty}").into()),
            },
            Self::Text(text) => out.put_slice(escaped(text).as_bytes()),
            Self::Bytes(bytes) => out.put_slice(bytes),
        }
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        [
            Type::BOOL,
            Type::INT4,
            Type::INT8,
            Type::TEXT,
            Type::NAME,
            Type::BYTEA,
            Type::UUID,
        ]
        .contains(ty)
    }

    tokio_postgres::types::to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *ty {
            Type::BOOL => Self::Bool(raw == [1]),
            Type::INT4 => Self::Integer(i32::from_be_bytes(raw.try_into()?).into()),
            Type::INT8 => Self::Integer(i64::from_be_bytes(raw.try_into()?)),
            Type::BYTEA => Self::Bytes(raw.to_vec()),
            _ => Self::Text(unescaped(str::from_utf8(raw)?)),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(ty: &Type) -> bool {
        [
            Type::BOOL,
            Type::INT4,
            Type::INT8,
            Type::TEXT,
            Type::NAME,
            Type::VARCHAR,
            Type::BYTEA,
            Type::UNKNOWN,
        ]
        .contains(ty)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_text_reads_back(parts in proptest::collection::vec(
            prop_oneof![Just("\0".to_owned()), Just(SIGN.to_string()), Just("0".to_owned()), Just("1".to_owned()), ".*"],
            0..8
        )) {
            let text = parts.concat();
            let escaped = escaped(&text);
            prop_assert!(!escaped.contains('\0'));
            prop_assert_eq!(unescaped(&escaped), text);
        }
    }
}
