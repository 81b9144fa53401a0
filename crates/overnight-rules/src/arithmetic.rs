//! Sums and products of decimal numbers are computed in decimal: `0.1 + 0.2 == 0.3`. Whole numbers and others may be
//! mixed, which CEL's own operators refuse, because JSON has only one kind of number.

use crate::{
    bounds::{CHARACTERS, RuleBounds},
    functions::{Answer, wrong},
    shown_value::shown,
};
use cel::{
    ExecutionError,
    common::{
        types::{CelDouble, CelInt, CelString, CelUInt},
        value::{CowVal, Val},
    },
};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use std::str::FromStr;

/// The maximum length in bytes of a text that a rule builds.
const MOST_TEXT: usize = 1 << 20;
/// A double represents every number of up to fifteen digits exactly, and the powers of ten up to that size.
const FIFTEEN_DIGITS: i64 = 1_000_000_000_000_000;

/// A number of any of CEL's three kinds.
pub(crate) fn decimal(value: &dyn Val) -> Option<Decimal> {
    if let Some(number) = value.downcast_ref::<CelInt>() {
        return Some(Decimal::from(*number.inner()));
    }
    if let Some(number) = value.downcast_ref::<CelUInt>() {
        return Some(Decimal::from(*number.inner()));
    }
    let number = value.downcast_ref::<CelDouble>()?.inner();
    // The shortest digits that mean this number, which are those that were written: no other fifteen digits mean it.
    let millionths = (number * 1e6).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "it has at most fifteen digits")]
    #[expect(clippy::float_cmp, reason = "it is the same number or another one")]
    if millionths.abs() < FIFTEEN_DIGITS as f64 && millionths / 1e6 == *number {
        return Some(Decimal::new(millionths as i64, 6).normalize());
    }
    Decimal::from_str(&format!("{number}")).or_else(|_| Decimal::from_scientific(&format!("{number:e}"))).ok()
}

fn double(value: &dyn Val) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "what is too large for a decimal is a double")]
    let whole = |number: i64| number as f64;
    let int = value.downcast_ref::<CelInt>().map(|number| whole(*number.inner()));
    int.or_else(|| value.downcast_ref::<CelDouble>().map(|number| *number.inner()))
}

/// Converts a number to a value of CEL: a whole number to an integer, any other number to a double.
pub(crate) fn owned_number<'c, 'v>(number: Decimal) -> CowVal<'c, 'v> {
    let number = number.normalize();
    if number.scale() == 0
        && let Some(whole) = number.to_i64()
    {
        return CowVal::owned(CelInt::from(whole));
    }
    // The double nearest to the digits, as if the digits had been parsed.
    #[expect(clippy::cast_precision_loss, reason = "it has at most fifteen digits")]
    let double = match i64::try_from(number.mantissa())
        .ok()
        .filter(|digits| digits.unsigned_abs() < FIFTEEN_DIGITS.unsigned_abs())
    {
        Some(digits) if number.scale() <= 15 => digits as f64 / 10_i64.pow(number.scale()) as f64,
        Some(_) | None => number.to_string().parse().unwrap_or(f64::NAN),
    };
    CowVal::owned(CelDouble::from(double))
}

pub(crate) fn arithmetic<'c, 'v>(bounds: &RuleBounds, operator: &str, values: &[CowVal<'c, 'v>]) -> Answer<'c, 'v> {
    let [left, right] = values else { return Err(ExecutionError::invalid_argument_count(2, values.len())) };
    if let (Some(one), Some(other)) = (decimal(&**left), decimal(&**right)) {
        if operator == "/" && other.is_zero() {
            return Err(wrong(operator, format!("{} is divided by zero", shown(&**left))));
        }
        let result = match operator {
            "+" => one.checked_add(other),
            "-" => one.checked_sub(other),
            "*" => one.checked_mul(other),
            _ => one.checked_div(other),
        };
        if let Some(result) = result {
            return Ok(owned_number(result));
        }
    }
    if let (Some(one), Some(other)) = (double(&**left), double(&**right)) {
        let result = match operator {
            "+" => one + other,
            "-" => one - other,
            "*" => one * other,
            _ => one / other,
        };
        return Ok(CowVal::owned(CelDouble::from(result)));
    }
    // CEL's own addition handles texts, lists, dates and times.
    let size = |value: &CowVal<'_, '_>| match value.downcast_ref::<CelString>() {
        Some(text) => text.inner().len(),
        None => value.as_sizer().map_or(0, |sizer| usize::try_from(*sizer.size().inner()).unwrap_or(usize::MAX)),
    };
    let together = size(left).saturating_add(size(right));
    if together > MOST_TEXT {
        return Err(wrong(operator, format!("it would make a text or list of more than {MOST_TEXT} parts")));
    }
    bounds.charge(together as u64 / CHARACTERS + 1)?;
    let refused = || wrong(operator, format!("{} {operator} {} can't be worked out", shown(&**left), shown(&**right)));
    let result = match operator {
        "+" => left.as_adder().ok_or_else(refused)?.add(&**right),
        "-" => left.as_subtractor().ok_or_else(refused)?.sub(&**right),
        _ => return Err(refused()),
    };
    result.map(|value| CowVal::Owned(value.into_owned())).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn numbers_keep_the_digits_that_were_written(digits: i64, places in 0_u32..20, whole: i32) {
            for number in [Decimal::new(digits, places), Decimal::new(i64::from(whole), places % 8)] {
                let text = number.normalize().to_string();
                let double: f64 = text.parse().unwrap();
                let written = Decimal::from_str(&double.to_string()).unwrap();
                assert_eq!(decimal(&CelDouble::from(double)), Some(written));
                let again = owned_number(number);
                let again = again.downcast_ref::<CelDouble>().map(|number| number.inner().to_string());
                assert!(again.is_none_or(|again| again == double.to_string()), "{text}");
            }
        }
    }
}
