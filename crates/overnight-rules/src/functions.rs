//! The functions of rules in addition to CEL's own.

use crate::{
    arithmetic::{arithmetic, decimal, owned_number},
    bounds::{CHARACTERS, Question, RuleBounds},
    number,
    shown_value::shown,
};
use cel::{
    Context, ExecutionError, FunctionContext,
    common::{
        types::{CelBool, CelList, CelString, CelTimestamp, LIST_TYPE},
        value::{CowVal, Val},
    },
};
use chrono::NaiveTime;
use rust_decimal::{Decimal, prelude::ToPrimitive};
use std::{cmp::Ordering, ops::RangeInclusive, sync::Arc};

pub(crate) type Answer<'c, 'v> = Result<CowVal<'c, 'v>, ExecutionError>;

/// A function from its name and its arguments to its value.
type Plain = for<'c, 'v> fn(&RuleBounds, &str, &mut Vec<CowVal<'c, 'v>>) -> Answer<'c, 'v>;

/// Where the value of a function comes from.
#[derive(Clone, Copy)]
enum ValueSource {
    Values(Plain),
    /// The caller answers this question.
    Caller(fn(&[CowVal<'_, '_>]) -> Result<Question, String>),
}

/// A function that rules can call.
pub(crate) struct RuleFunction {
    pub(crate) name: &'static str,
    /// The number of arguments.
    pub(crate) takes: RangeInclusive<usize>,
    /// The kind of its result, if the result can't be true or false.
    pub(crate) gives: Option<&'static str>,
    source: ValueSource,
}

impl RuleFunction {
    const fn new(name: &'static str, takes: RangeInclusive<usize>, gives: Option<&'static str>, plain: Plain) -> Self {
        Self { name, takes, gives, source: ValueSource::Values(plain) }
    }

    /// Whether the function needs more than its arguments.
    pub(crate) fn asks(&self) -> bool {
        matches!(self.source, ValueSource::Caller(_))
    }
}

const NUMBER: Option<&str> = Some("a number");

/// Our own functions: a new one is a line here and in `docs/src/value-rules.md`.
pub(crate) static FUNCTIONS: &[RuleFunction] = &[
    RuleFunction::new("sum", 1..=1, NUMBER, |bounds, name, values| sum(bounds, name, values)),
    RuleFunction::new("count", 1..=1, NUMBER, |_, name, values| {
        let size = values[0].as_sizer().filter(|_| *values[0].get_type() == LIST_TYPE);
        let size = size.ok_or_else(|| wrong(name, format!("{} is no list", shown(&*values[0]))))?;
        Ok(CowVal::owned(size.size()))
    }),
    RuleFunction::new("unique", 1..=1, None, |bounds, name, values| {
        let list = list(name, bounds, &values[0])?;
        let kept = distinct(bounds, &list)?.into_iter().map(Val::clone_as_boxed).collect::<Vec<_>>();
        Ok(CowVal::owned(CelList::from(kept)))
    }),
    RuleFunction::new("min", 1..=usize::MAX, None, |bounds, name, values| {
        extreme(bounds, name, values, Ordering::Less)
    }),
    RuleFunction::new("max", 1..=usize::MAX, None, |bounds, name, values| {
        extreme(bounds, name, values, Ordering::Greater)
    }),
    RuleFunction::new("number", 1..=1, NUMBER, |_, name, values| match values[0].downcast_ref::<CelString>() {
        None => decimal(&*values[0])
            .map(|_| values.pop().unwrap_or_else(null))
            .ok_or_else(|| wrong(name, "only a number or a text can be one")),
        Some(text) => match number::number(text.inner()) {
            Ok(number) => Ok(owned_number(number)),
            Err(why) => Err(wrong(name, format!("{} {why}", shown(text)))),
        },
    }),
    RuleFunction::new("date", 1..=1, Some("a date"), |bounds, name, values| {
        if values[0].downcast_ref::<CelTimestamp>().is_some() {
            return Ok(values.pop().unwrap_or_else(null));
        }
        let text = values[0].downcast_ref::<CelString>();
        let text = text.ok_or_else(|| wrong(name, format!("{} is no text", shown(&*values[0]))))?;
        let date = bounds.date(text.inner()).map_err(|why| wrong(name, format!("{} {why}", shown(text))))?;
        let midnight = date.and_time(NaiveTime::MIN).and_utc().fixed_offset();
        Ok(CowVal::owned(CelTimestamp::from(midnight)))
    }),
    RuleFunction::new("near", 3..=3, None, |_, name, values| near(name, values)),
    RuleFunction { name: "text", takes: 1..=2, gives: Some("a text"), source: ValueSource::Caller(text) },
    RuleFunction { name: "rows", takes: 1..=2, gives: NUMBER, source: ValueSource::Caller(rows) },
    RuleFunction { name: "records", takes: 2..=2, gives: Some("a list"), source: ValueSource::Caller(records) },
];

/// The names of our operators, which rules can't write.
pub(crate) const ADD: &str = "@add";
pub(crate) const SUBTRACT: &str = "@subtract";
pub(crate) const MULTIPLY: &str = "@multiply";
pub(crate) const DIVIDE: &str = "@divide";
/// Counts the elements that a macro goes through.
pub(crate) const EACH: &str = "@each";
/// Counts the text that a function searches.
pub(crate) const SEARCHED: &str = "@searched";
/// Whether all elements of a list differ.
pub(crate) const ALL_DIFFER: &str = "@all_differ";

/// The implementations of the operators.
const OPERATORS: [(&str, Plain); 7] = [
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
];

/// Looks up one of our own functions by its name.
pub(crate) fn own_function(name: &str) -> Option<&'static RuleFunction> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// Adds all functions to a CEL context.
pub(crate) fn add_to(context: &mut Context<'_, '_>, bounds: &Arc<RuleBounds>) {
    for (name, plain) in OPERATORS {
        let bounds = Arc::clone(bounds);
        let called: cel_function::Function =
            Box::new(move |context: &mut FunctionContext<'_, '_>| plain(&bounds, name, &mut arguments(context)));
        let _ = context.add_function(name, called);
    }
    for RuleFunction { name, takes, source, .. } in FUNCTIONS {
        let bounds = Arc::clone(bounds);
        let called: cel_function::Function = Box::new(move |context: &mut FunctionContext<'_, '_>| {
            let mut values = arguments(context);
            if !takes.contains(&values.len()) {
                return Err(ExecutionError::invalid_argument_count(*takes.start(), values.len()));
            }
            let question = match source {
                ValueSource::Values(plain) => return plain(&bounds, name, &mut values),
                ValueSource::Caller(question) => question(&values).map_err(|why| wrong(name, why))?,
            };
            if let Some(answer) = context.ptx.get_variable(question.name()) {
                let weight =
                    answer.downcast_ref::<CelString>().map_or(1, |text| text.inner().len() as u64 / CHARACTERS);
                bounds.charge(weight)?;
                return Ok(answer);
            }
            bounds.ask(question);
            Err(wrong(name, "is asked for"))
        });
        let _ = context.add_function(name, called);
    }
}

pub(crate) fn wrong(function: &str, what: impl std::fmt::Display) -> ExecutionError {
    ExecutionError::function_error(function, what)
}

/// The type of a function, which the crate names only in the signature that takes it.
mod cel_function {
    use cel::{ExecutionError, FunctionContext, common::value::CowVal};

    pub(super) type Function =
        Box<dyn for<'c, 'v> Fn(&mut FunctionContext<'c, 'v>) -> Result<CowVal<'c, 'v>, ExecutionError> + Send + Sync>;
}

fn null<'c, 'v>() -> CowVal<'c, 'v> {
    CowVal::owned(cel::common::types::CelNull)
}

/// The arguments of a call, in which `items.count()` is the same as `count(items)`.
fn arguments<'c, 'v>(context: &mut FunctionContext<'c, 'v>) -> Vec<CowVal<'c, 'v>> {
    context.this.take().into_iter().chain(std::mem::take(&mut context.args)).collect()
}

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

fn each<'c, 'v>(bounds: &RuleBounds, _: &str, values: &mut Vec<CowVal<'c, 'v>>) -> Answer<'c, 'v> {
    let value = values.pop().unwrap_or_else(null);
    let size = value.as_sizer().map_or(0, |sizer| u64::try_from(*sizer.size().inner()).unwrap_or(u64::MAX));
    bounds.charge(size.saturating_add(1))?;
    Ok(value)
}

fn searched<'c, 'v>(bounds: &RuleBounds, _: &str, values: &mut Vec<CowVal<'c, 'v>>) -> Answer<'c, 'v> {
    let value = values.pop().unwrap_or_else(null);
    if let Some(text) = value.downcast_ref::<CelString>() {
        bounds.charge(text.inner().len() as u64 / CHARACTERS + 1)?;
    }
    Ok(value)
}

/// The elements of a list.
fn list<'b, 'v>(
    name: &str,
    bounds: &RuleBounds,
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

/// The elements that differ from all elements before them.
fn distinct<'b, 'v>(
    bounds: &RuleBounds,
    list: &[&'b (dyn Val + 'v)],
) -> Result<Vec<&'b (dyn Val + 'v)>, ExecutionError> {
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

fn sum<'c, 'v>(bounds: &RuleBounds, name: &str, values: &[CowVal<'c, 'v>]) -> Answer<'c, 'v> {
    let mut total = Decimal::ZERO;
    for (place, item) in list(name, bounds, &values[0])?.into_iter().enumerate() {
        let number =
            decimal(item).ok_or_else(|| wrong(name, format!("element {place} is {}, no number", shown(item))))?;
        total = total.checked_add(number).ok_or_else(|| wrong(name, "it has more than 28 digits"))?;
    }
    Ok(owned_number(total))
}

fn extreme<'c, 'v>(bounds: &RuleBounds, name: &str, values: &[CowVal<'c, 'v>], wanted: Ordering) -> Answer<'c, 'v> {
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
