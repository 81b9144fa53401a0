//! Evaluates rules on a record. A rule that fails reports the values that it compared.

use crate::{
    bounds::{MOST_TIME, Question, RuleBounds},
    functions,
    json_value::borrowed,
    rule::{FILE, LANGUAGE, Rule, THIS, with_stack},
    shown_value::{MOST_FIELDS, shown},
};
use cel::{
    Context, ExecutionError, IdedExpr, Value as CelValue,
    common::{
        ast::{Expr, operators},
        types::{CelBool, CelNull},
        value::CowVal,
    },
    context::VariableResolver,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::Arc,
};

/// The maximum number of questions that one rule may ask for one record.
const MOST_QUESTIONS: usize = 2_000;
/// The maximum size in bytes of all answers that the rules of one file ask for.
const MOST_ANSWERED: usize = 64 << 20;
/// The maximum number of duplicate values that are reported.
const MOST_TWICE: usize = 20;

/// Data from outside of the file. Errors are fragments that follow the function's name: "there is no document 'a.pdf'".
pub trait Outside {
    /// The text of a document, or of one of its pages.
    fn text(&mut self, document: &str, page: Option<u64>) -> Result<String, String>;
    /// The number of data rows of a table document, without the header.
    fn rows(&mut self, document: &str, sheet: Option<&str>) -> Result<u64, String>;
    /// The records at a path of another deliverable.
    fn records(&mut self, file: &str, path: &str) -> Result<Vec<Value>, String>;
}

/// Provides nothing, for rules that look at their record alone ([`Rule::is_of_record_alone`]).
impl Outside for () {
    fn text(&mut self, document: &str, _: Option<u64>) -> Result<String, String> {
        Err(format!("there is no document '{document}'"))
    }

    fn rows(&mut self, document: &str, _: Option<&str>) -> Result<u64, String> {
        Err(format!("there is no document '{document}'"))
    }

    fn records(&mut self, file: &str, _: &str) -> Result<Vec<Value>, String> {
        Err(format!("there is no file '{file}'"))
    }
}

/// The result of a rule for a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleVerdict {
    /// The rule holds.
    Holds,
    /// The rule fails: the values that it compared, "sum(lines.map(l, l.amount)) is 1180, total is 1280", or empty.
    Fails(String),
    /// The rule can't be evaluated: the reason, with the values.
    Unclear(String),
}

/// Evaluates the rules of one file, within their bounds.
pub struct Evaluator {
    bounds: Arc<RuleBounds>,
    functions: Context<'static, 'static>,
    answers: HashMap<String, Value>,
    /// The size in bytes of all answers, about.
    answered: usize,
}

/// The data that rules may look at.
struct Scope<'v> {
    this: &'v Value,
    file: &'v Value,
    rules: &'v [&'v Rule],
    answers: &'v HashMap<String, Value>,
}

impl VariableResolver for Scope<'_> {
    fn resolve<'b>(&'b self, name: &str) -> Option<CowVal<'b, 'b>> {
        let value = match name {
            THIS => self.this,
            FILE => self.file,
            name if name.starts_with('@') => self.answers.get(name)?,
            name => match self.this.get(name) {
                Some(value) => value,
                None if self.rules.iter().any(|rule| rule.has_field(name)) => return Some(CowVal::owned(CelNull)),
                None => return None,
            },
        };
        Some(CowVal::Owned(borrowed(value)))
    }
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

impl Default for Evaluator {
    fn default() -> Self {
        let bounds = Arc::new(RuleBounds::new());
        let mut functions = Context::with_env(Arc::clone(&LANGUAGE));
        functions::add_to(&mut functions, &bounds);
        Self { bounds, functions, answers: HashMap::new(), answered: 0 }
    }
}

impl Evaluator {
    /// Evaluates each of `rules` for `this`, which is a record of `file` or the whole file.
    pub fn evaluate(
        &mut self,
        rules: &[&Rule],
        this: &Value,
        file: &Value,
        outside: &mut dyn Outside,
    ) -> Vec<RuleVerdict> {
        let mut verdicts: Vec<RuleVerdict> = Vec::with_capacity(rules.len());
        let stack = rules.iter().map(|rule| rule.stack()).max().unwrap_or_default();
        let mut questions = 0;
        while verdicts.len() < rules.len() {
            let rest = || self.evaluate_rest(rules, this, file, &mut verdicts);
            let question = match with_stack(stack, rest) {
                Ok(Some(question)) => question,
                Ok(None) => break,
                Err(why) => {
                    verdicts.push(RuleVerdict::Unclear(format!("can't be evaluated: {why}")));
                    continue;
                }
            };
            questions += 1;
            let answer = match &question {
                Question::Text { document, page } => outside.text(document, *page).map(Value::String),
                Question::Rows { document, sheet } => outside.rows(document, sheet.as_deref()).map(Value::from),
                Question::Records { file, path } => outside.records(file, path).map(Value::Array),
            };
            self.answered += answer.as_ref().map_or(0, weight);
            match answer {
                Ok(_) if self.answered > MOST_ANSWERED => verdicts.push(RuleVerdict::Unclear(format!(
                    "can't be evaluated: the rules of this file ask for more than {} MB of text",
                    MOST_ANSWERED >> 20
                ))),
                Ok(answer) if questions <= MOST_QUESTIONS => drop(self.answers.insert(question.name(), answer)),
                Ok(_) => verdicts.push(RuleVerdict::Unclear(format!(
                    "can't be evaluated: it asks for more than {MOST_QUESTIONS} documents or files"
                ))),
                Err(why) => verdicts.push(RuleVerdict::Unclear(format!("can't be evaluated: {why}"))),
            }
        }
        verdicts
    }

    /// Whether the time of all rules has run out: later verdicts may be due to lack of time, and are then not final.
    pub fn is_out_of_time(&self) -> bool {
        self.bounds.is_over()
    }

    /// Evaluates the rules that have no verdict yet, until one of them has a question, which is returned.
    fn evaluate_rest(
        &self,
        rules: &[&Rule],
        this: &Value,
        file: &Value,
        verdicts: &mut Vec<RuleVerdict>,
    ) -> Option<Question> {
        let scope = Scope { this, file, rules, answers: &self.answers };
        let mut context = self.functions.new_inner_scope();
        context.set_variable_resolver(&scope);
        for rule in rules.iter().skip(verdicts.len()) {
            self.bounds.reset();
            if self.is_out_of_time() {
                let most = MOST_TIME.as_secs();
                verdicts.push(RuleVerdict::Unclear(format!(
                    "was not evaluated: the rules of this file take more than {most} seconds"
                )));
                continue;
            }
            let verdict = verdict(rule, &context, &scope);
            if let Some(question) = self.bounds.take_asked() {
                return Some(question);
            }
            verdicts.push(verdict);
        }
        None
    }
}

/// The approximate size of a value in bytes.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| 32 + weight(item)).sum(),
        Value::Object(fields) => fields.iter().map(|(key, value)| 64 + key.len() + weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 16,
    }
}

fn verdict(rule: &Rule, context: &Context<'_, '_>, scope: &Scope<'_>) -> RuleVerdict {
    let whole = 0..rule.length();
    match truth(&rule.expression, context) {
        Ok(true) => RuleVerdict::Holds,
        Ok(false) => {
            let mut seen = Vec::new();
            explain(rule, &rule.expression, whole, context, &mut seen);
            if seen.is_empty() {
                seen = fields(rule, scope);
            }
            RuleVerdict::Fails(seen.join(", "))
        }
        Err(why) => {
            let fields = fields(rule, scope);
            let seen = if fields.is_empty() { String::new() } else { format!(" ({})", fields.join(", ")) };
            RuleVerdict::Unclear(format!("can't be evaluated: {why}{seen}"))
        }
    }
}

fn truth(expression: &IdedExpr, context: &Context<'_, '_>) -> Result<bool, String> {
    let value = CelValue::resolve_val(expression, context).map_err(|error| told(&error))?;
    match value.downcast_ref::<CelBool>() {
        Some(flag) => Ok(*flag.inner()),
        None => Err(format!("it gives {}, neither true nor false", shown(&*value))),
    }
}

/// An error in the terms of a rule's author.
fn told(error: &ExecutionError) -> String {
    match error {
        ExecutionError::FunctionError { function, message } if function.is_empty() => message.clone(),
        ExecutionError::FunctionError { function, message } => format!("{function}: {message}"),
        ExecutionError::NoSuchKey(key) => format!("there is no '{key}'"),
        ExecutionError::NoSuchOverload(overload) => {
            let operator = overload.function().trim_matches('_').trim_start_matches('@').to_owned();
            let types: Vec<&str> = overload.argument_types().iter().map(String::as_str).collect();
            format!("'{operator}' doesn't take {}", types.join(" and "))
        }
        ExecutionError::UnexpectedType { got, want } => format!("{want} is wanted, and it is {got}"),
        ExecutionError::UndeclaredReference(name) => format!("nothing is called '{name}'"),
        other => other.to_string().chars().take(200).collect(),
    }
}

/// The values of the first fields that a rule names.
fn fields(rule: &Rule, scope: &Scope<'_>) -> Vec<String> {
    let mut seen = Vec::new();
    for (name, _) in rule.fields().take(MOST_FIELDS) {
        let value = scope.resolve(name).unwrap_or_else(|| CowVal::owned(CelNull));
        seen.push(format!("{name} is {}", shown(&*value)));
    }
    seen
}

/// Reports the values that the false part of an expression compares. `range` is the expression's place in the rule.
fn explain(rule: &Rule, expression: &IdedExpr, range: Range<usize>, context: &Context<'_, '_>, seen: &mut Vec<String>) {
    let range = rule.narrowed(range);
    match &expression.expr {
        Expr::Call(call) if call.func_name.starts_with(char::is_alphabetic) && call.target.is_none() => {
            tell(rule, &call.args, rule.arguments(range), context, seen);
        }
        Expr::Call(call) if call.args.len() == 2 && call.target.is_none() => {
            let Some(at) = rule.operator_at(expression.id).filter(|at| range.contains(at)) else { return };
            let length = call.func_name.trim_matches('_').trim_start_matches('@').chars().count();
            let (left, right) = (range.start..at, at + length..range.end);
            match call.func_name.as_str() {
                operators::LOGICAL_AND => match truth(&call.args[0], context) {
                    Ok(false) => explain(rule, &call.args[0], left, context, seen),
                    Ok(true) | Err(_) => explain(rule, &call.args[1], right, context, seen),
                },
                operators::LOGICAL_OR => {
                    explain(rule, &call.args[0], left, context, seen);
                    explain(rule, &call.args[1], right, context, seen);
                }
                operators::EQUALS
                | operators::NOT_EQUALS
                | operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS
                | operators::IN => {
                    tell(rule, &call.args, vec![left, right], context, seen);
                }
                _ => {}
            }
        }
        Expr::Call(call) if call.func_name == functions::ALL_DIFFER => {
            let Some(Ok(list)) = call.args.first().map(|list| CelValue::resolve_val(list, context)) else { return };
            let Some(iterable) = list.as_iterable() else { return };
            let (mut items, mut counts) = (iterable.iter(), BTreeMap::<String, u64>::new());
            while let Some(item) = items.next() {
                *counts.entry(shown(item)).or_default() += 1;
            }
            let twice: Vec<String> =
                counts.into_iter().filter(|(_, count)| *count > 1).map(|(item, _)| item).take(MOST_TWICE).collect();
            let verb = if twice.len() == 1 { "is" } else { "are" };
            seen.push(format!("{} {verb} there more than once", twice.join(", ")));
        }
        // Reports the first element for which the condition isn't true.
        Expr::Comprehension(of) => {
            let Ok(range) = CelValue::resolve_val(&of.iter_range, context) else { return };
            let Expr::Call(step) = &of.loop_step.expr else { return };
            let (operators::LOGICAL_AND, Some(condition), Some(items)) =
                (step.func_name.as_str(), step.args.get(1), range.as_iterable())
            else {
                return;
            };
            let (mut items, mut place) = (items.iter(), 0);
            while let Some(item) = items.next() {
                let mut inner = context.new_inner_scope();
                inner.add_variable_as_val(of.iter_var.as_str(), item.clone_as_boxed());
                if truth(condition, &inner) != Ok(true) {
                    seen.push(format!("{} {place} is {}", of.iter_var, shown(item)));
                    return;
                }
                place += 1;
            }
        }
        _ => {}
    }
}

/// Reports the values of parts of an expression; `ranges` are the places of these parts in the rule.
fn tell(rule: &Rule, parts: &[IdedExpr], ranges: Vec<Range<usize>>, context: &Context<'_, '_>, seen: &mut Vec<String>) {
    for (part, range) in parts.iter().zip(ranges) {
        if matches!(part.expr, Expr::Literal(_)) {
            continue;
        }
        if let Ok(value) = CelValue::resolve_val(part, context) {
            let said = format!("{} is {}", rule.text(range), shown(&*value));
            if !seen.contains(&said) {
                seen.push(said);
            }
        }
    }
}

#[cfg(test)]
mod tests;
