//! The functions of rules beside CEL's own, and the bounds on what one rule may do.
//!
//! Sums and products of decimal numbers are decimal: `0.1 + 0.2 == 0.3`, and whole numbers and others may be mixed, which
//! CEL's own operators refuse; a JSON file has one kind of number.

use crate::{date, evaluate::shown, number};
use cel::{
    Context, ExecutionError, FunctionContext,
    common::{
        types::{CelBool, CelDouble, CelInt, CelList, CelString, CelTimestamp, CelUInt, LIST_TYPE},
        value::{CowVal, Val},
    },
};
use chrono::{NaiveDate, NaiveTime};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use std::{
    cmp::Ordering,
    collections::HashMap,
    ops::RangeInclusive,
    str::FromStr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Steps of one rule for one record: rounds of its macros, elements of lists and, many at once, characters of texts.
pub(crate) const MOST_STEPS: u64 = 2_000_000;
/// All rules of one file together may take so long.
pub(crate) const MOST_TIME: Duration = Duration::from_secs(10);
/// Characters that are one step.
const CHARACTERS: u64 = 32;
/// Bytes of a text that a rule puts together.
const MOST_TEXT: usize = 1 << 20;
/// Dates that are kept as they were read, and the characters of each.
const MOST_DATES: usize = 10_000;
const MOST_DATE: usize = 40;
/// A double holds each number of fifteen digits, and powers of ten up to there.
const FIFTEEN_DIGITS: i64 = 1_000_000_000_000_000;

/// Names of functions of our own, and how many values each takes.
pub(crate) const FUNCTIONS: [(&str, RangeInclusive<usize>); 11] = [
    ("sum", 1..=1),
    ("count", 1..=1),
    ("unique", 1..=1),
    ("min", 1..=usize::MAX),
    ("max", 1..=usize::MAX),
    ("number", 1..=1),
    ("date", 1..=1),
    ("near", 3..=3),
    ("text", 1..=2),
    ("rows", 1..=2),
    ("records", 2..=2),
];

/// Names that rules can't write, into which operators are turned.
pub(crate) const ADD: &str = "@add";
pub(crate) const SUBTRACT: &str = "@subtract";
pub(crate) const MULTIPLY: &str = "@multiply";
pub(crate) const DIVIDE: &str = "@divide";
/// What a macro goes through.
pub(crate) const EACH: &str = "@each";
/// The text that a function searches.
pub(crate) const SEARCHED: &str = "@searched";
/// Whether all elements of a list differ.
pub(crate) const ALL_DIFFER: &str = "@all_differ";

/// A question about what is outside of the record's file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    Text { document: String, page: Option<u64> },
    Rows { document: String, sheet: Option<String> },
    Records { file: String, path: String },
}

impl Question {
    /// The name by which the answer is looked up.
    pub(crate) fn name(&self) -> String {
        format!("@{self:?}")
    }
}

/// What the rules of a file have used up, and what one of them would have to know.
#[derive(Debug)]
pub(crate) struct Bounds {
    steps: AtomicU64,
    until: Instant,
    asked: Mutex<Option<Question>>,
    /// Several rules look at the same dates, and to read one takes longer than the rest of a rule.
    dates: Mutex<HashMap<String, Result<NaiveDate, String>>>,
}

impl Bounds {
    pub(crate) fn new() -> Self {
        let until = Instant::now() + MOST_TIME;
        Self { steps: AtomicU64::new(0), until, asked: Mutex::new(None), dates: Mutex::default() }
    }

    fn date(&self, text: &str) -> Result<NaiveDate, String> {
        let mut dates = self.dates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = dates.get(text) {
            return known.clone();
        }
        let date = date::date(text);
        if dates.len() < MOST_DATES && text.len() <= MOST_DATE {
            dates.insert(text.to_owned(), date.clone());
        }
        date
    }

    /// Begins to count anew, for the next rule or record.
    pub(crate) fn reset(&self) {
        self.steps.store(0, Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() > self.until
    }

    pub(crate) fn take_asked(&self) -> Option<Question> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn charge(&self, steps: u64) -> Result<(), ExecutionError> {
        let before = self.steps.fetch_add(steps, Relaxed);
        if before + steps > MOST_STEPS {
            return Err(wrong("", format!("it takes more than {MOST_STEPS} steps")));
        }
        if before / 1_000 != (before + steps) / 1_000 && self.is_over() {
            return Err(wrong("", format!("the rules of this file take more than {} seconds", MOST_TIME.as_secs())));
        }
        Ok(())
    }
}

type Answer<'c, 'v> = Result<CowVal<'c, 'v>, ExecutionError>;

fn wrong(function: &str, what: impl std::fmt::Display) -> ExecutionError {
    ExecutionError::function_error(function, what)
}

/// Adds all functions to a context.
pub(crate) fn add_to(context: &mut Context<'_, '_>, bounds: &Arc<Bounds>) {
    type Plain = for<'c, 'v> fn(&Bounds, &str, &mut Vec<CowVal<'c, 'v>>) -> Answer<'c, 'v>;
    let plain: [(&'static str, Plain); 15] = [
        (ADD, |bounds, _, values| arithmetic(bounds, "+", values)),
        (SUBTRACT, |bounds, _, values| arithmetic(bounds, "-", values)),
        (MULTIPLY, |bounds, _, values| arithmetic(bounds, "*", values)),
        (DIVIDE, |bounds, _, values| arithmetic(bounds, "/", values)),
        (EACH, each),
        (SEARCHED, searched),
        (ALL_DIFFER, |bounds, _, values| {
            let list = list("unique", bounds, &values[0])?;
            Ok(CowVal::owned(CelBool::from(distinct(bounds, &list)?.len() == list.len())))
        }),
        ("sum", |bounds, name, values| sum(bounds, name, values)),
        ("count", |_, name, values| {
            let size = values[0].as_sizer().filter(|_| *values[0].get_type() == LIST_TYPE);
            let size = size.ok_or_else(|| wrong(name, format!("{} is no list", shown(&*values[0]))))?;
            Ok(CowVal::owned(size.size()))
        }),
        ("unique", |bounds, name, values| {
            let list = list(name, bounds, &values[0])?;
            let kept = distinct(bounds, &list)?.into_iter().map(Val::clone_as_boxed).collect::<Vec<_>>();
            Ok(CowVal::owned(CelList::from(kept)))
        }),
        ("min", |bounds, name, values| extreme(bounds, name, values, Ordering::Less)),
        ("max", |bounds, name, values| extreme(bounds, name, values, Ordering::Greater)),
        ("number", |_, name, values| match values[0].downcast_ref::<CelString>() {
            None => decimal(&*values[0])
                .map(|_| values.pop().unwrap_or_else(null))
                .ok_or_else(|| wrong(name, "only a number or a text can be one")),
            Some(text) => match number::number(text.inner()) {
                Ok(number) => Ok(owned_number(number)),
                Err(why) => Err(wrong(name, format!("{} {why}", shown(text)))),
            },
        }),
        ("date", |bounds, name, values| {
            if values[0].downcast_ref::<CelTimestamp>().is_some() {
                return Ok(values.pop().unwrap_or_else(null));
            }
            let text = values[0].downcast_ref::<CelString>();
            let text = text.ok_or_else(|| wrong(name, format!("{} is no text", shown(&*values[0]))))?;
            let date = bounds.date(text.inner()).map_err(|why| wrong(name, format!("{} {why}", shown(text))))?;
            let midnight = date.and_time(NaiveTime::MIN).and_utc().fixed_offset();
            Ok(CowVal::owned(CelTimestamp::from(midnight)))
        }),
        ("near", |_, name, values| near(name, values)),
    ];
    for (name, function) in plain {
        let bounds = Arc::clone(bounds);
        let known = FUNCTIONS.iter().find(|(known, _)| *known == name);
        let called: cel_function::Function = Box::new(move |context: &mut FunctionContext<'_, '_>| {
            let mut values = arguments(context);
            // Of names that rules can't write the number of values is right.
            if let Some((_, counts)) = known
                && !counts.contains(&values.len())
            {
                return Err(ExecutionError::invalid_argument_count(*counts.start(), values.len()));
            }
            function(&bounds, name, &mut values)
        });
        let _ = context.add_function(name, called);
    }
    for (name, question) in [("text", text as Asks), ("rows", rows), ("records", records)] {
        let bounds = Arc::clone(bounds);
        let called: cel_function::Function = Box::new(move |context: &mut FunctionContext<'_, '_>| {
            let question = question(&arguments(context)).map_err(|why| wrong(name, why))?;
            if let Some(answer) = context.ptx.get_variable(question.name()) {
                let weight =
                    answer.downcast_ref::<CelString>().map_or(1, |text| text.inner().len() as u64 / CHARACTERS);
                bounds.charge(weight)?;
                return Ok(answer);
            }
            *bounds.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(question);
            Err(wrong(name, "is asked for"))
        });
        let _ = context.add_function(name, called);
    }
}

/// The type of a function, which the crate names only where it takes it.
mod cel_function {
    use cel::{ExecutionError, FunctionContext, common::value::CowVal};

    pub(super) type Function =
        Box<dyn for<'c, 'v> Fn(&mut FunctionContext<'c, 'v>) -> Result<CowVal<'c, 'v>, ExecutionError> + Send + Sync>;
}

fn null<'c, 'v>() -> CowVal<'c, 'v> {
    CowVal::owned(cel::common::types::CelNull)
}

/// `items.count()` is `count(items)`.
fn arguments<'c, 'v>(context: &mut FunctionContext<'c, 'v>) -> Vec<CowVal<'c, 'v>> {
    context.this.take().into_iter().chain(std::mem::take(&mut context.args)).collect()
}

type Asks = fn(&[CowVal<'_, '_>]) -> Result<Question, String>;

fn word(value: &dyn Val, what: &str) -> Result<String, String> {
    let text = value.downcast_ref::<CelString>().map(|text| text.inner().to_owned());
    text.ok_or_else(|| format!("{} does not name a {what}", shown(value)))
}

fn text(values: &[CowVal<'_, '_>]) -> Result<Question, String> {
    let page = match values.get(1) {
        None => None,
        Some(page) => {
            let number = decimal(&**page).and_then(|number| number.to_u64());
            Some(number.ok_or_else(|| format!("{} is no page", shown(&**page)))?)
        }
    };
    Ok(Question::Text { document: word(&*values[0], "document")?, page })
}

fn rows(values: &[CowVal<'_, '_>]) -> Result<Question, String> {
    let sheet = values.get(1).map(|sheet| word(&**sheet, "sheet")).transpose()?;
    Ok(Question::Rows { document: word(&*values[0], "document")?, sheet })
}

fn records(values: &[CowVal<'_, '_>]) -> Result<Question, String> {
    Ok(Question::Records { file: word(&*values[0], "file")?, path: word(&*values[1], "path")? })
}

fn each<'c, 'v>(bounds: &Bounds, _: &str, values: &mut Vec<CowVal<'c, 'v>>) -> Answer<'c, 'v> {
    let value = values.pop().unwrap_or_else(null);
    let size = value.as_sizer().map_or(0, |sizer| u64::try_from(*sizer.size().inner()).unwrap_or(u64::MAX));
    bounds.charge(size.saturating_add(1))?;
    Ok(value)
}

fn searched<'c, 'v>(bounds: &Bounds, _: &str, values: &mut Vec<CowVal<'c, 'v>>) -> Answer<'c, 'v> {
    let value = values.pop().unwrap_or_else(null);
    if let Some(text) = value.downcast_ref::<CelString>() {
        bounds.charge(text.inner().len() as u64 / CHARACTERS + 1)?;
    }
    Ok(value)
}

/// The elements of a list.
fn list<'b, 'v>(
    name: &str,
    bounds: &Bounds,
    value: &'b CowVal<'_, 'v>,
) -> Result<Vec<&'b (dyn Val + 'v)>, ExecutionError> {
    let iterable = value.as_iterable().filter(|_| *value.get_type() == LIST_TYPE);
    let iterable = iterable.ok_or_else(|| wrong(name, format!("{} is no list", shown(&**value))))?;
    let (mut items, mut found) = (iterable.iter(), Vec::new());
    while let Some(item) = items.next() {
        found.push(item);
    }
    bounds.charge(found.len() as u64 + 1)?;
    Ok(found)
}

/// Those that differ from all before them.
fn distinct<'b, 'v>(bounds: &Bounds, list: &[&'b (dyn Val + 'v)]) -> Result<Vec<&'b (dyn Val + 'v)>, ExecutionError> {
    let mut known = std::collections::HashSet::new();
    let mut kept: Vec<&'b (dyn Val + 'v)> = Vec::new();
    for item in list {
        let is_new = match (item.downcast_ref::<CelString>(), decimal(*item)) {
            (Some(text), _) => known.insert(format!("t{}", text.inner())),
            (None, Some(number)) => known.insert(format!("n{}", number.normalize())),
            (None, None) => {
                bounds.charge(kept.len() as u64)?;
                !kept.iter().any(|other| other.equals(*item))
            }
        };
        if is_new {
            kept.push(*item);
        }
    }
    Ok(kept)
}

/// A number of any of CEL's three kinds.
pub(crate) fn decimal(value: &dyn Val) -> Option<Decimal> {
    if let Some(number) = value.downcast_ref::<CelInt>() {
        return Some(Decimal::from(*number.inner()));
    }
    if let Some(number) = value.downcast_ref::<CelUInt>() {
        return Some(Decimal::from(*number.inner()));
    }
    let number = value.downcast_ref::<CelDouble>()?.inner();
    // The shortest digits that mean this number: those that were written. No other fifteen digits mean the same.
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

/// A whole number as such.
fn owned_number<'c, 'v>(number: Decimal) -> CowVal<'c, 'v> {
    let number = number.normalize();
    if number.scale() == 0
        && let Some(whole) = number.to_i64()
    {
        return CowVal::owned(CelInt::from(whole));
    }
    // The nearest double to the digits, as if they had been read.
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

fn arithmetic<'c, 'v>(bounds: &Bounds, operator: &str, values: &[CowVal<'c, 'v>]) -> Answer<'c, 'v> {
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
    // Texts, lists, dates and times: CEL's own.
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

fn sum<'c, 'v>(bounds: &Bounds, name: &str, values: &[CowVal<'c, 'v>]) -> Answer<'c, 'v> {
    let mut total = Decimal::ZERO;
    for (place, item) in list(name, bounds, &values[0])?.into_iter().enumerate() {
        let number =
            decimal(item).ok_or_else(|| wrong(name, format!("element {place} is {}, no number", shown(item))))?;
        total = total.checked_add(number).ok_or_else(|| wrong(name, "it has more than 28 digits"))?;
    }
    Ok(owned_number(total))
}

fn extreme<'c, 'v>(bounds: &Bounds, name: &str, values: &[CowVal<'c, 'v>], wanted: Ordering) -> Answer<'c, 'v> {
    let all = match values {
        [only] => list(name, bounds, only)?,
        several => several.iter().map(|value| &**value).collect(),
    };
    let mut items = all.into_iter();
    let mut best = items.next().ok_or_else(|| wrong(name, "the list is empty"))?;
    for item in items {
        let order = item.as_comparer().and_then(|item| item.compare(best).ok());
        let order =
            order.ok_or_else(|| wrong(name, format!("{} and {} can't be compared", shown(item), shown(best))))?;
        if order == wanted {
            best = item;
        }
    }
    Ok(CowVal::Owned(best.clone_as_boxed()))
}

fn near<'c, 'v>(name: &str, values: &[CowVal<'c, 'v>]) -> Answer<'c, 'v> {
    let numbers: Result<Vec<Decimal>, ExecutionError> = values
        .iter()
        .map(|value| decimal(&**value).ok_or_else(|| wrong(name, format!("{} is no number", shown(&**value)))))
        .collect();
    let is_near = match numbers?[..] {
        [one, other, tolerance] => one.checked_sub(other).is_some_and(|difference| difference.abs() <= tolerance.abs()),
        _ => false,
    };
    Ok(CowVal::owned(CelBool::from(is_near)))
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
