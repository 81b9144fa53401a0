//! A parsed rule: its syntax, and the names and functions that it uses, so that errors are found before any job is
//! worked.

use crate::{
    bounded::bound,
    functions::{FUNCTIONS, own_function},
};
use cel::{
    Env, IdedExpr, Program,
    common::ast::{CallExpr, EntryExpr, Expr, LiteralValue, operators},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::{Arc, LazyLock},
    thread,
};

/// The maximum number of characters of a rule.
pub const MOST_CHARACTERS: usize = 4_000;
/// The maximum nesting depth of a rule's expressions.
const DEEPEST: usize = 100;
/// The stack in bytes for parsing a rule: CEL's parser takes up to 140 kB for each of 96 brackets when not optimised.
const PARSER_STACK: usize = 64 << 20;
/// The stack in bytes for evaluating one nested expression (measured: 31 kB where CEL is hardly optimised).
const STACK_OF_EXPRESSION: usize = 64 << 10;
const STACK_OF_ANY_THREAD: usize = 1 << 20;

/// The name of the record for which a rule is evaluated.
pub const THIS: &str = "this";
/// The name of the whole file.
pub const FILE: &str = "file";

/// Functions and methods of CEL's own.
const STANDARD: [&str; 27] = [
    "size",
    "string",
    "int",
    "uint",
    "double",
    "bool",
    "bytes",
    "type",
    "dyn",
    "duration",
    "timestamp",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "has",
    "getFullYear",
    "getMonth",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getHours",
    "getMinutes",
    "getSeconds",
    "getMilliseconds",
    "exists_one",
];

/// Names of types, which are values as well.
const TYPES: [&str; 12] =
    ["int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type", "dyn", "google"];

pub(crate) static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// A rule that is ready to be evaluated.
#[derive(Clone)]
pub struct Rule {
    source: Vec<char>,
    program: Arc<Program>,
    /// The expression with the bounded operators and macros.
    pub(crate) expression: Arc<IdedExpr>,
    fields: BTreeMap<String, Place>,
    uses_file: bool,
    asks: bool,
    deepest: usize,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Rule").field(&self.source()).finish()
    }
}

/// A place in a rule, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column in characters.
    pub column: usize,
}

/// An error in a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The place of the error in the rule.
    pub at: Place,
    /// The end of a sentence: `there is no function 'summe'; did you mean 'sum'?`
    pub what: String,
}

impl Rule {
    /// Parses a rule.
    pub fn parse(source: &str) -> Result<Self, RuleError> {
        let start = Place { line: 1, column: 1 };
        if source.trim().is_empty() {
            return Err(RuleError { at: start, what: "it is empty".to_owned() });
        }
        if source.chars().nth(MOST_CHARACTERS).is_some() {
            return Err(RuleError { at: start, what: format!("it has more than {MOST_CHARACTERS} characters") });
        }
        let compiled =
            with_stack(PARSER_STACK, || LANGUAGE.compile(source)).map_err(|what| RuleError { at: start, what })?;
        let program = compiled.map_err(|errors| match errors.errors.first() {
            Some(error) => {
                let place = |number: isize| usize::try_from(number).unwrap_or(1).max(1);
                let at = Place { line: place(error.pos.0), column: place(error.pos.1) };
                RuleError { at, what: syntax(&error.msg) }
            }
            None => RuleError { at: start, what: "it can't be read".to_owned() },
        })?;
        let source: Vec<char> = source.chars().collect();
        let mut names = Names {
            source: &source,
            program: &program,
            fields: BTreeMap::new(),
            uses_file: false,
            asks: false,
            depth: 0,
            deepest: 0,
        };
        names.visit(program.expression(), &mut Vec::new())?;
        if let Some(what) = no_condition(program.expression()) {
            return Err(RuleError { at: start, what: format!("it gives {what}, and is no condition") });
        }
        let Names { fields, uses_file, asks, deepest, .. } = names;
        let mut expression = program.expression().clone();
        bound(&mut expression, true);
        let expression = Arc::new(expression);
        Ok(Self { source, program: Arc::new(program), expression, fields, uses_file, asks, deepest })
    }

    /// The rule as it was written.
    pub fn source(&self) -> String {
        self.source.iter().collect()
    }

    /// The fields of the record that the rule names, each with its first place.
    pub fn fields(&self) -> impl Iterator<Item = (&str, Place)> {
        self.fields.iter().map(|(name, place)| (name.as_str(), *place))
    }

    /// The stack in bytes that evaluating the rule may take.
    pub(crate) fn stack(&self) -> usize {
        (self.deepest + 4) * STACK_OF_EXPRESSION
    }

    pub(crate) fn has_field(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Whether the rule looks at nothing but its record: equal records have the same result.
    pub fn is_of_record_alone(&self) -> bool {
        !self.uses_file && !self.asks
    }

    /// Narrows a part of the rule's text to what stands inside of blanks and brackets.
    pub(crate) fn narrowed(&self, range: Range<usize>) -> Range<usize> {
        let Range { mut start, mut end } = range;
        loop {
            let text = self.source.get(start..end).unwrap_or_default();
            match text {
                [first, ..] if first.is_whitespace() => start += 1,
                [.., last] if last.is_whitespace() => end -= 1,
                ['(', inner @ .., ')'] if is_closed(inner) => (start, end) = (start + 1, end - 1),
                _ => return start..end,
            }
        }
    }

    /// The places of a call's arguments; the call is all of a part of the rule's text: `near(a, b, 1)`.
    pub(crate) fn arguments(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let range = self.narrowed(range);
        let text = self.source.get(range.clone()).unwrap_or_default();
        let Some(open) = text.iter().position(|c| *c == '(').filter(|_| text.last() == Some(&')')) else {
            return Vec::new();
        };
        let (mut found, mut from, mut depth, mut quote) = (Vec::new(), open + 1, 0_i32, None);
        for (at, c) in text.iter().enumerate().take(text.len() - 1).skip(open + 1) {
            match (quote, c) {
                (Some(mark), c) if *c == mark => quote = None,
                (None, '\'' | '"') => quote = Some(*c),
                (None, '(' | '[' | '{') => depth += 1,
                (None, ')' | ']' | '}') => depth -= 1,
                (None, ',') if depth == 0 => {
                    found.push(range.start + from..range.start + at);
                    from = at + 1;
                }
                (Some(_) | None, _) => {}
            }
        }
        found.push(range.start + from..range.end - 1);
        found
    }

    /// A part of the rule's text, on one line.
    pub(crate) fn text(&self, range: Range<usize>) -> String {
        let text: String = self.source.get(self.narrowed(range)).unwrap_or_default().iter().collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn length(&self) -> usize {
        self.source.len()
    }

    /// The place of a call's operator, in characters from 0.
    pub(crate) fn operator_at(&self, id: u64) -> Option<usize> {
        offset(&self.program, id)
    }
}

/// Runs `work` on a stack of at least `bytes`; any thread has enough for common rules. The error is the reason.
pub(crate) fn with_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> Result<T, String> {
    if bytes <= STACK_OF_ANY_THREAD {
        return Ok(work());
    }
    thread::scope(|scope| {
        let started = thread::Builder::new().stack_size(bytes).spawn_scoped(scope, work);
        let thread = started.map_err(|error| format!("no thread can be started for it: {error}"))?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn offset(program: &Program, id: u64) -> Option<usize> {
    program.source_info().offset_for(id).map(|(start, _)| start as usize)
}

/// Whether the brackets of a text are balanced.
fn is_closed(text: &[char]) -> bool {
    let mut open = 0_i32;
    for c in text {
        open += i32::from(*c == '(') - i32::from(*c == ')');
        if open < 0 {
            return false;
        }
    }
    open == 0
}

/// Shortens an error of the parser.
fn syntax(message: &str) -> String {
    let message = message.strip_prefix("Syntax error: ").unwrap_or(message);
    let (message, _) = message.split_once(" expecting ").unwrap_or((message, ""));
    if message.contains("<EOF>") {
        return "it ends too early".to_owned();
    }
    if message.contains("recognition error at: '= '") || message.ends_with("'='") {
        return "'=' compares nothing; write '=='".to_owned();
    }
    format!("it can't be read: {message}")
}

/// The kind of an expression's result, if it can't be true or false.
fn no_condition(expression: &IdedExpr) -> Option<&'static str> {
    match &expression.expr {
        Expr::Literal(LiteralValue::Boolean(_)) => None,
        Expr::Literal(_) => Some("one value always"),
        Expr::List(_) => Some("a list"),
        Expr::Map(_) => Some("an object"),
        Expr::Call(call) => match call.func_name.as_str() {
            operators::ADD | operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO => {
                Some("a number or a text")
            }
            "size" => Some("a number"),
            name => own_function(name).and_then(|function| function.gives),
        },
        _ => None,
    }
}

/// The names that a rule uses.
struct Names<'r> {
    source: &'r [char],
    program: &'r Program,
    fields: BTreeMap<String, Place>,
    uses_file: bool,
    asks: bool,
    depth: usize,
    deepest: usize,
}

impl Names<'_> {
    fn place(&self, id: u64) -> Place {
        let before = self.source.get(..offset(self.program, id).unwrap_or(0)).unwrap_or_default();
        let line = before.iter().filter(|c| **c == '\n').count() + 1;
        Place { line, column: before.iter().rev().take_while(|c| **c != '\n').count() + 1 }
    }

    /// `bound` has the names that the surrounding macros define.
    fn visit(&mut self, expression: &IdedExpr, bound: &mut Vec<String>) -> Result<(), RuleError> {
        if self.depth == DEEPEST {
            return Err(self.wrong(expression.id, format!("it has more than {DEEPEST} expressions within each other")));
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.visit_inside(expression, bound)?;
        self.depth -= 1;
        Ok(())
    }

    fn visit_inside(&mut self, expression: &IdedExpr, bound: &mut Vec<String>) -> Result<(), RuleError> {
        match &expression.expr {
            Expr::Ident(name) => {
                let is_bound = name.starts_with('@') || bound.contains(name);
                if name == FILE && !is_bound {
                    self.uses_file = true;
                } else if name != THIS && !is_bound && !TYPES.contains(&name.as_str()) {
                    let place = self.place(expression.id);
                    self.fields.entry(name.clone()).or_insert(place);
                }
                Ok(())
            }
            Expr::Call(call) => {
                self.check(expression.id, call)?;
                call.target.iter().map(|target| &**target).chain(&call.args).try_for_each(|of| self.visit(of, bound))
            }
            Expr::Comprehension(of) => {
                self.visit(&of.iter_range, bound)?;
                let before = bound.len();
                bound.extend([of.iter_var.clone(), of.accu_var.clone()]);
                bound.extend(of.iter_var2.clone());
                [&of.accu_init, &of.loop_cond, &of.loop_step, &of.result]
                    .into_iter()
                    .try_for_each(|of| self.visit(of, bound))?;
                bound.truncate(before);
                Ok(())
            }
            Expr::List(list) => list.elements.iter().try_for_each(|of| self.visit(of, bound)),
            Expr::Map(map) => map.entries.iter().try_for_each(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => {
                    self.visit(&entry.key, bound)?;
                    self.visit(&entry.value, bound)
                }
                EntryExpr::StructField(field) => self.visit(&field.value, bound),
            }),
            Expr::Select(select) => self.visit(&select.operand, bound),
            Expr::Struct(of) => Err(self.wrong(expression.id, format!("there is no type '{}'", of.type_name))),
            Expr::Literal(_) => Ok(()),
            Expr::Unspecified => Err(self.wrong(expression.id, "it can't be read".to_owned())),
        }
    }

    fn wrong(&self, id: u64, what: String) -> RuleError {
        RuleError { at: self.place(id), what }
    }

    fn check(&mut self, id: u64, call: &CallExpr) -> Result<(), RuleError> {
        let name = call.func_name.as_str();
        if !name.starts_with(|c: char| c.is_alphabetic()) || STANDARD.contains(&name) {
            return Ok(());
        }
        let Some(function) = own_function(name) else {
            let known: BTreeSet<&str> = FUNCTIONS.iter().map(|function| function.name).chain(STANDARD).collect();
            let like = known.into_iter().find(|known| {
                let (one, other) = (known.to_lowercase(), name.to_lowercase());
                one.starts_with(&other) || other.starts_with(&one)
            });
            let hint = like.map_or_else(String::new, |like| format!("; did you mean '{like}'?"));
            return Err(self.wrong(id, format!("there is no function '{name}'{hint}")));
        };
        self.asks |= function.asks();
        let counts = &function.takes;
        let count = call.args.len() + usize::from(call.target.is_some());
        if !counts.contains(&count) {
            let takes = match (*counts.start(), *counts.end()) {
                (1, 1) => "1 value".to_owned(),
                (least, usize::MAX) => format!("at least {least} value"),
                (least, most) if least == most => format!("{least} values"),
                (least, most) => format!("{least} or {most} values"),
            };
            return Err(self.wrong(id, format!("'{name}' takes {takes}, not {count}")));
        }
        Ok(())
    }
}
