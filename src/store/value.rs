//! Values as the two databases keep them, where the client library's own choice isn't ours: in SQLite, ids and times are
//! text that a person can read; in PostgreSQL, they have their own types.

use chrono::{DateTime, Utc};
use overnight_core::job::{digest, id::JobId, time::Timestamp};
use sqlx::{
    Database, Decode, Encode, Postgres, Sqlite, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgTypeInfo, PgValueRef},
    sqlite::{SqliteTypeInfo, SqliteValueRef},
};
use std::borrow::Cow;
use uuid::Uuid;

/// A time in a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct DbTime(pub(super) Timestamp);

impl Type<Sqlite> for DbTime {
    fn type_info() -> SqliteTypeInfo {
        <String as Type<Sqlite>>::type_info()
    }

    fn compatible(column: &SqliteTypeInfo) -> bool {
        <String as Type<Sqlite>>::compatible(column)
    }
}

impl Encode<'_, Sqlite> for DbTime {
    fn encode_by_ref(&self, buffer: &mut <Sqlite as Database>::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
        <String as Encode<Sqlite>>::encode(self.0.to_string(), buffer)
    }
}

impl Decode<'_, Sqlite> for DbTime {
    fn decode(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        let text = <&str as Decode<Sqlite>>::decode(value)?;
        Ok(Self(Timestamp::new(DateTime::parse_from_rfc3339(text)?.with_timezone(&Utc))))
    }
}

impl Type<Postgres> for DbTime {
    fn type_info() -> PgTypeInfo {
        <DateTime<Utc> as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for DbTime {
    fn encode_by_ref(&self, buffer: &mut <Postgres as Database>::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
        <DateTime<Utc> as Encode<Postgres>>::encode(self.0.utc(), buffer)
    }
}

impl Decode<'_, Postgres> for DbTime {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self(Timestamp::new(<DateTime<Utc> as Decode<Postgres>>::decode(value)?)))
    }
}

/// A UUID in a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct DbId(pub(super) Uuid);

impl Type<Sqlite> for DbId {
    fn type_info() -> SqliteTypeInfo {
        <String as Type<Sqlite>>::type_info()
    }

    fn compatible(column: &SqliteTypeInfo) -> bool {
        <String as Type<Sqlite>>::compatible(column)
    }
}

impl Encode<'_, Sqlite> for DbId {
    fn encode_by_ref(&self, buffer: &mut <Sqlite as Database>::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
        <String as Encode<Sqlite>>::encode(self.0.hyphenated().to_string(), buffer)
    }
}

impl Decode<'_, Sqlite> for DbId {
    fn decode(value: SqliteValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self(Uuid::parse_str(<&str as Decode<Sqlite>>::decode(value)?)?))
    }
}

impl Type<Postgres> for DbId {
    fn type_info() -> PgTypeInfo {
        <Uuid as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for DbId {
    fn encode_by_ref(&self, buffer: &mut <Postgres as Database>::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
        <Uuid as Encode<Postgres>>::encode(self.0, buffer)
    }
}

impl Decode<'_, Postgres> for DbId {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self(<Uuid as Decode<Postgres>>::decode(value)?))
    }
}

/// A parameter of a statement. Both databases accept the same: text without NUL, which PostgreSQL refuses (it is
/// replaced by U+FFFD), and finite numbers (SQLite would read NaN back as null).
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Uuid(Option<Uuid>),
    Uuids(Vec<Uuid>),
    Time(Option<Timestamp>),
    Text(Option<String>),
    Integer(i64),
    Real(Option<f64>),
    Flag(bool),
}

/// The values of a statement, in the order of its parameters.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::value::Value::from($value)),*] };
}
pub(super) use values;

/// Conversions into a value, by variant.
macro_rules! from {
    ($($variant:ident: $($from:ty => |$value:ident| $made:expr),+;)+) => {
        $($(impl From<$from> for Value {
            fn from($value: $from) -> Self {
                Self::$variant($made)
            }
        })+)+
    };
}

from! {
    Uuid: Uuid => |id| Some(id), JobId => |id| Some(id.0), Option<Uuid> => |id| id;
    Uuids: Vec<Uuid> => |ids| ids;
    Time: Timestamp => |time| Some(time), Option<Timestamp> => |time| time;
    Text: &str => |written| Some(text(written).into_owned()), Option<&str> => |written| written.map(|it| text(it).into_owned()),
        &String => |written| Some(text(written).into_owned()), String => |written| Some(if written.contains('\0') { text(&written).into_owned() } else { written }),
        Option<&String> => |written| written.map(|it| text(it).into_owned());
    Integer: u64 => |number| count(number), i64 => |number| number, u32 => |number| number.into();
    Real: f64 => |number| finite(Some(number)), Option<f64> => |number| finite(number);
    Flag: bool => |flag| flag;
}

/// A count for a signed column. No count here comes near the limit.
pub(super) fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A model's text, with U+FFFD for NUL: a job must not fail for it.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// A number, if it is finite.
pub(super) fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}

/// A limit in USD. A value that is not a number exceeds every budget.
pub(super) fn at_most(usd: f64) -> f64 {
    if usd.is_finite() { usd.max(0.0) } else { f64::MAX }
}

/// The longest lease, so that a slip of units can't overflow the database's calendar: a year.
const LONGEST_LEASE_MS: u64 = 366 * 24 * 3600 * 1000;

/// Milliseconds of a lease, bounded.
pub(super) fn lease_ms(for_ms: u64) -> i64 {
    count(for_ms.min(LONGEST_LEASE_MS))
}

/// The range of ids that begin with `name`: the first and the last one, ignoring hyphens and case. `None` if no id can
/// begin like this. A range of ids is looked up in the primary key's own order.
pub(super) fn ids_beginning(name: &str) -> Option<(Uuid, Uuid)> {
    let digits: String = name.chars().filter(|&c| c != '-').take(33).collect();
    if digits.is_empty() || digits.len() > 32 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let first = u128::from_str_radix(&format!("{digits:0<32}"), 16).ok()?;
    let last = u128::from_str_radix(&format!("{digits:f<32}"), 16).ok()?;
    Some((Uuid::from_u128(first), Uuid::from_u128(last)))
}

/// The anchor of a job without a journal line.
pub(super) const NO_HEAD: &str = digest::ZERO;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn beginnings() {
        let range = |first, last| Some((Uuid::from_u128(first), Uuid::from_u128(last)));
        assert_eq!(
            ids_beginning("01AB"),
            range(0x01ab_0000_0000_0000_0000_0000_0000_0000, 0x01ab_ffff_ffff_ffff_ffff_ffff_ffff_ffff)
        );
        let whole = 0x0123_4567_89ab_7def_8123_4567_89ab_cdef;
        assert_eq!(ids_beginning("01234567-89ab-7def-8123-456789abcdef"), range(whole, whole));
        for nothing in ["", "-", "last", "01 ", "01%", "é", "01234567-89ab-7def-8123-456789abcdef0"] {
            assert_eq!(ids_beginning(nothing), None, "{nothing}");
        }
    }

    proptest! {
        #[test]
        fn an_id_is_within_each_of_its_beginnings(id: u128, length in 1usize..=36) {
            let id = Uuid::from_u128(id);
            let (first, last) = ids_beginning(&id.to_string()[..length]).unwrap();
            prop_assert!(first <= id && id <= last);
        }

        #[test]
        fn any_name_is_looked_at_without_a_panic(name: String) {
            let _ = ids_beginning(&name);
        }
    }
}
