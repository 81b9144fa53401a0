//! CEL values as they are shown to people.

use crate::arithmetic::decimal;
use cel::common::{
    types::{CelBool, CelDuration, CelInt, CelNull, CelString, CelTimestamp, LIST_TYPE, MAP_TYPE},
    value::Val,
};

/// The maximum number of characters of a shown value.
const MOST_SHOWN: usize = 60;
/// The maximum number of fields that are shown of an object, or of a rule that compares nothing.
pub(crate) const MOST_FIELDS: usize = 6;

/// A value as it is shown: `1180.5`, `"EUR"`, `2024-05-03`, `12 elements`.
pub(crate) fn shown(value: &dyn Val) -> String {
    let clip = |text: &str| {
        let mut clipped: String = text.chars().take(MOST_SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
        if text.chars().nth(MOST_SHOWN).is_some() {
            clipped.push('…');
        }
        clipped
    };
    if let Some(number) = decimal(value) {
        return number.normalize().to_string();
    }
    if let Some(text) = value.downcast_ref::<CelString>() {
        return format!("\"{}\"", clip(text.inner()));
    }
    if let Some(flag) = value.downcast_ref::<CelBool>() {
        return flag.inner().to_string();
    }
    if value.downcast_ref::<CelNull>().is_some() {
        return "null".to_owned();
    }
    if let Some(date) = value.downcast_ref::<CelTimestamp>() {
        return date.inner().format("%Y-%m-%d").to_string();
    }
    if let Some(duration) = value.downcast_ref::<CelDuration>() {
        let (seconds, days) = (duration.inner().num_seconds(), duration.inner().num_days());
        return if days * 86_400 == seconds { format!("{days} days") } else { format!("{seconds} seconds") };
    }
    let size = value.as_sizer().map_or(0, |sizer| *sizer.size().inner());
    if *value.get_type() == LIST_TYPE {
        return if size == 1 { "1 element".to_owned() } else { format!("{size} elements") };
    }
    if *value.get_type() == MAP_TYPE {
        return object(value).map_or_else(|| format!("an object of {size} fields"), |text| clip(&text));
    }
    format!("a {}", value.get_type().name())
}

/// An object's short values: `{"item": "Desk", "amount": 12}`.
fn object(value: &dyn Val) -> Option<String> {
    let (iterable, indexer) = (value.as_iterable()?, value.as_indexer()?);
    let (mut keys, mut parts) = (iterable.iter(), Vec::new());
    while let Some(key) = keys.next() {
        let value = indexer.get(key).ok()?;
        let is_short = value.downcast_ref::<CelInt>().is_some()
            || value.downcast_ref::<CelString>().is_some()
            || decimal(&*value).is_some();
        if is_short {
            parts.push(format!("{}: {}", shown(key).trim_matches('"'), shown(&*value)));
        }
        if parts.len() == MOST_FIELDS {
            break;
        }
    }
    Some(format!("{{{}}}", parts.join(", ")))
}
