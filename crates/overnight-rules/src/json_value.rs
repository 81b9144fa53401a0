//! JSON as values of CEL. Objects and lists are borrowed from the file and read when a rule asks for them: the crate's
//! own conversion copies a whole file, and each of its elements again for every round of a macro.

use cel::{
    ExecutionError,
    common::{
        traits::{Adder, Container, Indexer, Iterable, Iterator, Sizer},
        types::{CelBool, CelDouble, CelInt, CelList, CelNull, CelString, CelUInt, LIST_TYPE, MAP_TYPE, Type},
        value::{CowVal, Val},
    },
};
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// The CEL value of `json`, borrowed.
pub(crate) fn borrowed(json: &Value) -> Box<dyn Val + '_> {
    match json {
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::Array(items) => Box::new(BorrowedList { items, values: OnceLock::new() }),
        Value::Object(fields) => Box::new(JsonMap { fields, keys: OnceLock::new() }),
        Value::Null | Value::Bool(_) | Value::Number(_) => scalar(json),
    }
}

/// Converts null, booleans and numbers; whole numbers become integers.
fn scalar(json: &Value) -> Box<dyn Val> {
    match json {
        Value::Bool(flag) => Box::new(CelBool::from(*flag)),
        // Numbers may be stored as their digits: each of these conversions parses them.
        Value::Number(number) => {
            if let Some(number) = number.as_i64() {
                Box::new(CelInt::from(number))
            } else if let Some(number) = number.as_u64() {
                Box::new(CelUInt::from(number))
            } else {
                Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN)))
            }
        }
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => Box::new(CelNull),
    }
}

#[derive(Debug)]
struct BorrowedList<'v> {
    items: &'v [Value],
    /// Created when the list is first iterated.
    values: OnceLock<Vec<Box<dyn Val + 'v>>>,
}

#[derive(Debug)]
struct JsonMap<'v> {
    fields: &'v Map<String, Value>,
    /// Created when the object is first iterated.
    keys: OnceLock<Vec<CelString<'v>>>,
}

fn place(index: &dyn Val) -> Option<usize> {
    if let Some(index) = index.downcast_ref::<CelInt>() {
        return usize::try_from(*index.inner()).ok();
    }
    let index = index.downcast_ref::<CelUInt>()?;
    usize::try_from(*index.inner()).ok()
}

fn no_key(key: &dyn Val) -> ExecutionError {
    match key.downcast_ref::<CelString>() {
        Some(key) => ExecutionError::no_such_key(key.inner()),
        None => ExecutionError::no_such_key("of another type than text"),
    }
}

fn no_place(index: &dyn Val) -> ExecutionError {
    ExecutionError::function_error("[]", format!("there is no element {}", crate::shown_value::shown(index)))
}

/// Whether two lists have equal elements.
fn are_equal(mine: &mut dyn std::iter::Iterator<Item = &dyn Val>, other: &dyn Val) -> bool {
    let Some(theirs) = other.as_iterable().filter(|_| *other.get_type() == LIST_TYPE) else { return false };
    let mut theirs = theirs.iter();
    loop {
        match (mine.next(), theirs.next()) {
            (None, None) => return true,
            (Some(mine), Some(theirs)) if mine.equals(theirs) => {}
            (_, _) => return false,
        }
    }
}

struct Values<'b, 'v>(std::slice::Iter<'b, Box<dyn Val + 'v>>);

impl<'b, 'v: 'w, 'w> Iterator<'b, 'w> for Values<'b, 'v> {
    fn next(&mut self) -> Option<&'b (dyn Val + 'w)> {
        self.0.next().map(|value| {
            let value: &'b (dyn Val + 'w) = &**value;
            value
        })
    }
}

struct Keys<'b, 'v>(std::slice::Iter<'b, CelString<'v>>);

impl<'b, 'v: 'w, 'w> Iterator<'b, 'w> for Keys<'b, 'v> {
    fn next(&mut self) -> Option<&'b (dyn Val + 'w)> {
        self.0.next().map(|key| {
            let key: &'b (dyn Val + 'w) = key;
            key
        })
    }
}

impl Val for BorrowedList<'_> {
    fn get_type(&self) -> &Type {
        &LIST_TYPE
    }

    fn cel_type() -> &'static Type {
        &LIST_TYPE
    }

    fn as_adder<'b, 'w>(&'b self) -> Option<&'b (dyn Adder + 'w)>
    where
        Self: 'w,
    {
        Some(self)
    }

    fn as_container(&self) -> Option<&dyn Container> {
        Some(self)
    }

    fn as_indexer<'b, 'w>(&'b self) -> Option<&'b (dyn Indexer + 'w)>
    where
        Self: 'w,
    {
        Some(self)
    }

    fn as_iterable<'b, 'w>(&'b self) -> Option<&'b (dyn Iterable + 'w)>
    where
        Self: 'w,
    {
        Some(self)
    }

    fn as_sizer(&self) -> Option<&dyn Sizer> {
        Some(self)
    }

    fn equals(&self, other: &dyn Val) -> bool {
        self.is_equal(other)
    }

    fn clone_as_boxed<'w>(&self) -> Box<dyn Val + 'w>
    where
        Self: 'w,
    {
        Box::new(BorrowedList { items: self.items, values: OnceLock::new() })
    }
}

impl Adder for BorrowedList<'_> {
    fn add<'b, 'w>(&'b self, other: &(dyn Val + 'w)) -> Result<CowVal<'b, 'w>, ExecutionError>
    where
        Self: 'w,
    {
        let others = other.as_iterable().filter(|_| *other.get_type() == LIST_TYPE);
        let others = others.ok_or_else(|| ExecutionError::function_error("+", "a list is only added to a list"))?;
        let (mut list, mut mine, mut others) = (Vec::new(), self.iter(), others.iter());
        while let Some(value) = mine.next() {
            list.push(value.clone_as_boxed());
        }
        while let Some(value) = others.next() {
            list.push(value.clone_as_boxed());
        }
        Ok(CowVal::owned(CelList::from(list)))
    }
}

impl Val for JsonMap<'_> {
    fn get_type(&self) -> &Type {
        &MAP_TYPE
    }

    fn cel_type() -> &'static Type {
        &MAP_TYPE
    }

    fn as_container(&self) -> Option<&dyn Container> {
        Some(self)
    }

    fn as_indexer<'b, 'w>(&'b self) -> Option<&'b (dyn Indexer + 'w)>
    where
        Self: 'w,
    {
        Some(self)
    }

    fn as_iterable<'b, 'w>(&'b self) -> Option<&'b (dyn Iterable + 'w)>
    where
        Self: 'w,
    {
        Some(self)
    }

    fn as_sizer(&self) -> Option<&dyn Sizer> {
        Some(self)
    }

    fn equals(&self, other: &dyn Val) -> bool {
        self.is_equal(other)
    }

    fn clone_as_boxed<'w>(&self) -> Box<dyn Val + 'w>
    where
        Self: 'w,
    {
        Box::new(JsonMap { fields: self.fields, keys: OnceLock::new() })
    }
}

impl<'v> BorrowedList<'v> {
    fn values(&self) -> &[Box<dyn Val + 'v>] {
        self.values.get_or_init(|| self.items.iter().map(borrowed).collect())
    }

    fn is_equal(&self, other: &dyn Val) -> bool {
        are_equal(&mut self.values().iter().map(|value| &**value as &dyn Val), other)
    }
}

impl Container for BorrowedList<'_> {
    fn contains(&self, wanted: &dyn Val) -> Result<bool, ExecutionError> {
        Ok(self.values().iter().any(|value| value.equals(wanted)))
    }
}

impl Iterable for BorrowedList<'_> {
    fn iter<'b, 'w>(&'b self) -> Box<dyn Iterator<'b, 'w> + 'b>
    where
        Self: 'w,
    {
        Box::new(Values(self.values().iter()))
    }
}

impl Sizer for BorrowedList<'_> {
    fn size(&self) -> CelInt {
        CelInt::from(i64::try_from(self.items.len()).unwrap_or(i64::MAX))
    }
}

impl Indexer for BorrowedList<'_> {
    fn get<'b, 'w>(&'b self, index: &dyn Val) -> Result<CowVal<'b, 'w>, ExecutionError>
    where
        Self: 'w,
    {
        let item = place(index).and_then(|index| self.items.get(index));
        item.map(|item| CowVal::Owned(borrowed(item))).ok_or_else(|| no_place(index))
    }

    fn steal<'w>(self: Box<Self>, index: &dyn Val) -> Result<Box<dyn Val + 'w>, ExecutionError>
    where
        Self: 'w,
    {
        self.get(index).map(CowVal::into_owned)
    }
}

impl<'v> JsonMap<'v> {
    fn keys(&self) -> &[CelString<'v>] {
        self.keys.get_or_init(|| self.fields.keys().map(|key| CelString::from(key.as_str())).collect())
    }

    fn is_equal(&self, other: &dyn Val) -> bool {
        let size = other.as_sizer().map(|sizer| *sizer.size().inner());
        let Some(theirs) = other.as_indexer().filter(|_| size == Some(*self.size().inner())) else { return false };
        self.fields.iter().all(|(key, value)| {
            theirs.get(&CelString::from(key.as_str())).is_ok_and(|other| borrowed(value).equals(other.as_ref()))
        })
    }
}

impl Container for JsonMap<'_> {
    fn contains(&self, wanted: &dyn Val) -> Result<bool, ExecutionError> {
        Ok(wanted.downcast_ref::<CelString>().is_some_and(|key| self.fields.contains_key(key.inner())))
    }
}

impl Iterable for JsonMap<'_> {
    fn iter<'b, 'w>(&'b self) -> Box<dyn Iterator<'b, 'w> + 'b>
    where
        Self: 'w,
    {
        Box::new(Keys(self.keys().iter()))
    }
}

impl Sizer for JsonMap<'_> {
    fn size(&self) -> CelInt {
        CelInt::from(i64::try_from(self.fields.len()).unwrap_or(i64::MAX))
    }
}

impl Indexer for JsonMap<'_> {
    fn get<'b, 'w>(&'b self, key: &dyn Val) -> Result<CowVal<'b, 'w>, ExecutionError>
    where
        Self: 'w,
    {
        let value = key.downcast_ref::<CelString>().and_then(|key| self.fields.get(key.inner()));
        value.map(|value| CowVal::Owned(borrowed(value))).ok_or_else(|| no_key(key))
    }

    fn steal<'w>(self: Box<Self>, key: &dyn Val) -> Result<Box<dyn Val + 'w>, ExecutionError>
    where
        Self: 'w,
    {
        self.get(key).map(CowVal::into_owned)
    }
}
