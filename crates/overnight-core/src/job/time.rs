//! A moment, as the journal writes it: UTC with milliseconds. Time is data in an answer; nothing in `job` uses a clock.

use chrono::{DateTime, SubsecRound, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{borrow::Cow, fmt};

/// 9999-12-31T23:59:59.999Z in milliseconds since 1970.
const LAST_MS: i64 = 253_402_300_799_999;

/// A UTC moment with millisecond precision, written `2026-11-21T03:14:07.123Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// Cuts `moment` to whole milliseconds, so that what is written reads back the same.
    pub fn new(moment: DateTime<Utc>) -> Self {
        Self(moment.trunc_subsecs(3))
    }

    /// The moment in the form of the time library, for arithmetic and other formats.
    pub fn utc(self) -> DateTime<Utc> {
        self.0
    }

    /// The moment `passed` later; not past the year 9999, which is the last that can be written.
    #[must_use]
    pub fn after(self, passed: std::time::Duration) -> Self {
        let later = chrono::TimeDelta::from_std(passed).ok().and_then(|passed| self.0.checked_add_signed(passed));
        let last = DateTime::from_timestamp_millis(LAST_MS).unwrap_or(self.0);
        Self::new(later.map_or(last, |later| later.min(last))).max(self)
    }

    /// Milliseconds from `earlier` to here; 0 when the clock went backwards.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from((self.0 - earlier.0).num_milliseconds()).unwrap_or(0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.format("%Y-%m-%dT%H:%M:%S%.3fZ").fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }

    fn inline_schema() -> bool {
        true
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        DateTime::parse_from_rfc3339(&text)
            .map(|moment| Self::new(moment.with_timezone(&Utc)))
            .map_err(|error| D::Error::custom(format!("'{text}' is not a time: {error}")))
    }
}

/// Milliseconds as people read them: `1h 02m`, `3m 20s`, `4.2s`, `350ms`.
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{}m {:02}s", ms / 60_000, ms % 60_000 / 1_000),
        3_600_000.. => format!("{}h {:02}m", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// A moment to the second, as people read it.
pub fn moment(at: Timestamp) -> String {
    at.utc().format("%Y-%m-%d %H:%M:%S").to_string()
}
