//! A value with the data for comparing at each of its places: the value's own fields and those of the schema, the rule
//! of each field, and each value in its comparable form. Ignored fields are left out.

use crate::{
    field_rule::ComparisonKind,
    form::{Form, Forms},
    plan::ComparisonPlan,
    schema,
};
use serde_json::Value;

static NULL: Value = Value::Null;

/// A value, with everything below it.
#[derive(Debug)]
pub(crate) struct ValueTree<'v> {
    pub(crate) value: &'v Value,
    pub(crate) content: TreeContent<'v>,
}

/// The content of a value for the comparison.
#[derive(Debug)]
pub(crate) enum TreeContent<'v> {
    /// A single value, or null. Null may stand for an object or a list that isn't there.
    Single {
        kind: ComparisonKind,
        judge: bool,
        form: Option<Form>,
    },
    /// The fields by the number of their key: the keys of the expected value and the schema come first, in order.
    Object(Vec<TreeField<'v>>),
    List(Vec<ValueTree<'v>>),
}

/// A field of an object.
#[derive(Debug)]
pub(crate) struct TreeField<'v> {
    pub(crate) key: u32,
    pub(crate) name: &'v str,
    pub(crate) tree: ValueTree<'v>,
}

/// A missing value, where the other side has one.
pub(crate) const NOTHING: ValueTree<'static> = ValueTree {
    value: &Value::Null,
    content: TreeContent::Single { kind: ComparisonKind::Exact, judge: false, form: None },
};

impl ValueTree<'_> {
    /// Whether the value is null or missing.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self.content, TreeContent::Single { form: None, .. })
    }

    /// Whether the value contains nothing but null.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.content {
            TreeContent::Single { form, .. } => form.is_none(),
            TreeContent::Object(fields) => fields.iter().all(|field| field.tree.is_empty()),
            TreeContent::List(items) => items.iter().all(Self::is_empty),
        }
    }
}

/// Builds trees whose forms can be compared with each other.
#[derive(Debug)]
pub(crate) struct TreeBuilder<'v> {
    plan: &'v ComparisonPlan,
    forms: Forms,
    /// Parts of the schema on the path, where the value is missing: the schema may lead back to one of them.
    open: Vec<&'v Value>,
}

impl<'v> TreeBuilder<'v> {
    pub(crate) fn new(plan: &'v ComparisonPlan) -> Self {
        Self { plan, forms: Forms::default(), open: Vec::new() }
    }

    /// Builds the tree of a document. The expected document has to be built first.
    pub(crate) fn document(&mut self, value: &'v Value) -> ValueTree<'v> {
        self.tree("$", value, &self.plan.root()).unwrap_or(NOTHING)
    }

    /// Builds the tree of a field; none if the field is ignored.
    fn tree(&mut self, field: &str, value: &'v Value, place: &[&'v Value]) -> Option<ValueTree<'v>> {
        if self.plan.is_ignored(field) {
            return None;
        }
        let names = match value {
            Value::Object(_) | Value::Null => schema::property_names(place),
            _ => Vec::new(),
        };
        let content = match value {
            Value::Object(_) => self.object(field, value, place, names),
            Value::Array(items) => self.list(field, items, place)?,
            Value::Null if !names.is_empty() => {
                if place.iter().any(|part| self.open.iter().any(|other| std::ptr::eq(*other, *part))) {
                    self.single(field, value, place)
                } else {
                    self.open.extend(place);
                    let content = self.object(field, value, place, names);
                    self.open.truncate(self.open.len() - place.len());
                    content
                }
            }
            Value::Null if schema::is_list(place) => self.list(field, &[], place)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => self.single(field, value, place),
        };
        Some(ValueTree { value, content })
    }

    fn object(
        &mut self,
        field: &str,
        value: &'v Value,
        place: &[&'v Value],
        mut names: Vec<&'v str>,
    ) -> TreeContent<'v> {
        let own = value.as_object().into_iter().flat_map(|fields| fields.keys()).map(String::as_str);
        let own: Vec<&str> = own.filter(|name| !names.contains(name)).collect();
        names.extend(own);
        let mut fields = Vec::with_capacity(names.len());
        for name in names {
            let key = self.forms.id(format!("key {name}"));
            let below = value.get(name).unwrap_or(&NULL);
            let tree = self.tree(&format!("{field}.{name}"), below, &self.plan.property(place, name));
            fields.extend(tree.map(|tree| TreeField { key, name, tree }));
        }
        fields.sort_by_key(|field| field.key);
        TreeContent::Object(fields)
    }

    /// Builds a list; none if its items are ignored.
    fn list(&mut self, field: &str, items: &'v [Value], place: &[&'v Value]) -> Option<TreeContent<'v>> {
        let (field, place) = (format!("{field}[*]"), self.plan.items(place));
        if self.plan.is_ignored(&field) {
            return None;
        }
        Some(TreeContent::List(items.iter().filter_map(|item| self.tree(&field, item, &place)).collect()))
    }

    fn single(&mut self, field: &str, value: &'v Value, place: &[&'v Value]) -> TreeContent<'v> {
        let rule = self.plan.rule(field, place);
        let of_value = if value.is_number() { ComparisonKind::NUMBER } else { ComparisonKind::Exact };
        // The other side's value may determine that both are numbers.
        let form = self.forms.form(rule.map_or(ComparisonKind::NUMBER, |rule| rule.kind), value);
        TreeContent::Single {
            kind: rule.map_or(of_value, |rule| rule.kind),
            judge: rule.is_some_and(|rule| rule.judge),
            form,
        }
    }
}
