//! A stretch of the documents, read piece by piece. What is visible is worked at once and recorded in files; a block that
//! a piece's end cuts is left to the next piece.

use super::{
    calls::{Call, call, complete},
    ends,
    plans::{Kind, Segment, segments},
    position::{PATH, Position},
    records,
    seen::{Exchange, Seen, units},
    statements::{self, Line, PAGE, Start, style_of},
};
use crate::context::fence::quoted;
use serde_json::json;

/// Tokens of one read, under what a result may have.
const READ_TOKENS: u64 = 3_300;
/// Reads of one reply.
const READS: usize = 6;
/// Reads of one document that may fail before it is given up.
const MOST_FAILURES: usize = 2;

/// What becomes of the statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Into {
    Requirements,
    KeyPoints,
    Standards,
    Policies,
}

impl Into {
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Requirements => Kind::Extract,
            Self::KeyPoints => Kind::Summarise,
            Self::Standards | Self::Policies => Kind::Audit,
        }
    }
}

/// A piece of a document that can be worked now.
pub(super) struct Piece<'a> {
    pub(super) segment: &'a Segment,
    pub(super) lines: Vec<Line<'a>>,
    /// The number of the line behind it.
    pub(super) after: u64,
    pub(super) style: statements::Style,
    pub(super) start: Start,
    /// The document ends with it.
    pub(super) is_last: bool,
    /// It is the first of its document.
    pub(super) is_first: bool,
}

/// The next calls for the todo `content`.
pub(super) fn work(seen: &Seen<'_>, content: &str, into: Into) -> Vec<Call> {
    let Some(mut position) = Position::seen(seen).or_else(|| no_position_yet(seen)) else {
        return vec![call("read_file", json!({"path": PATH}))];
    };
    let counts = ends::counts(seen, &position, records::files(into));
    if !counts.is_empty() {
        return counts;
    }
    let all = segments(content);
    let done = all.iter().position(|segment| name_of(segment) == position.finished).map_or(0, |place| place + 1);
    let mut calls = Vec::new();
    let before = position.clone();
    for segment in &all[done..] {
        match piece(seen, segment, &position) {
            Next::Read { from, line, piece } => {
                if let Some(piece) = piece {
                    calls.extend(records::record(seen, &mut position, &piece, into));
                }
                if position != before {
                    calls.push(position.save());
                }
                calls.extend(reads(seen, segment, from, line));
                return calls;
            }
            Next::Work(piece) => {
                calls.extend(records::record(seen, &mut position, &piece, into));
                position.finished = name_of(segment);
            }
            Next::GiveUp => {
                position.finished = name_of(segment);
            }
        }
    }
    calls.push(position.save());
    let collected = if into.kind() == Kind::Audit { position.standards + position.policies } else { position.count };
    calls.push(complete(&format!("recorded; {collected} in all{}", position.totals_words())));
    calls
}

/// The file can't be read: nothing was recorded before.
fn no_position_yet(seen: &Seen<'_>) -> Option<Position> {
    seen.did("read_file", "path", PATH).then(Position::default)
}

fn name_of(segment: &Segment) -> String {
    format!("{} [{}-{}]", segment.name, segment.from, segment.to)
}

enum Next<'a> {
    /// Read on from unit `from`, a page from its `line` on, after working what is there.
    Read {
        from: u64,
        line: u64,
        piece: Option<Piece<'a>>,
    },
    /// The rest of the stretch is there.
    Work(Piece<'a>),
    GiveUp,
}

fn piece<'a>(seen: &Seen<'a>, segment: &'a Segment, position: &Position) -> Next<'a> {
    let failures = seen
        .of_todo()
        .iter()
        .filter(|exchange| exchange.name == "read_document" && exchange.argument("name") == segment.name)
        .filter(|exchange| !exchange.result.starts_with("<document ") && exchange.is_answered())
        .count();
    if failures > MOST_FAILURES {
        return Next::GiveUp;
    }
    let (units, paged) = units(&seen.exchanges, &segment.name);
    let goes_on = position.document == segment.name
        && unit_of(position.next) <= segment.to
        && unit_of(position.next) + 2_000 > segment.from;
    let (next, start) = if goes_on { (position.next, position.start()) } else { (0, Start::default()) };
    let first = if goes_on { unit_of(next) } else { segment.from };
    let mut lines = Vec::new();
    let mut unit = first;
    let mut line = if next >= PAGE { next % PAGE } else { 1 };
    while let Some(shown) = units.get(&unit).filter(|_| unit <= segment.to) {
        let (more, missing) = shown.from(unit, next);
        lines.extend(more);
        line = missing.unwrap_or(1);
        if missing.is_some() {
            break;
        }
        unit += 1;
    }
    let head = format!("name={}", quoted(&segment.name));
    let is_last = seen.exchanges.iter().any(|exchange| {
        exchange.name == "read_document"
            && exchange.result.contains(&head)
            && exchange.result.contains(&format!(" of=\"{}\">", segment.to))
    });
    let style = style_of(&segment.name, &lines);
    let is_whole = unit > segment.to;
    let is_first = first == 1 && next <= first.max(PAGE * u64::from(paged));
    let after = if paged { unit * PAGE + line } else { unit };
    let piece = Piece { segment, lines, after, style, start, is_last: is_last && is_whole, is_first };
    if is_whole {
        Next::Work(piece)
    } else {
        Next::Read { from: unit, line, piece: (!piece.lines.is_empty()).then_some(piece) }
    }
}

/// The page of a line, or the line itself.
fn unit_of(line: u64) -> u64 {
    if line >= PAGE { line / PAGE } else { line }
}

fn reads(seen: &Seen<'_>, segment: &Segment, from: u64, line: u64) -> Vec<Call> {
    let wanted = (READ_TOKENS * 100 / segment.density.max(1)).max(1);
    let step = fitting(seen, segment).map_or(wanted, |units| units.min(wanted));
    // Pages that are longer than a read are read one after the other.
    let most = if segment.density > READ_TOKENS * 100 { 1 } else { READS };
    let (units, _) = units(&seen.exchanges, &segment.name);
    // From which of its lines on a unit is to be read; `None`: it is there. Behind a page that was shown in part there may
    // be others that were shown, whole or in part.
    let lacks = |unit: u64| match units.get(&unit) {
        Some(_) if unit == from => Some(line),
        Some(shown) if line > 1 => shown.from(unit, 0).1,
        Some(_) | None => Some(1),
    };
    let mut calls = Vec::new();
    let mut first = from;
    while first <= segment.to && calls.len() < most {
        let Some(line) = lacks(first) else {
            first += 1;
            continue;
        };
        let to = (first + step - 1).min(segment.to);
        let to = (first + 1..=to).find(|&unit| lacks(unit) != Some(1)).map_or(to, |unit| unit - 1);
        let mut arguments = json!({"name": segment.name, "from": first, "to": to});
        if line > 1 {
            arguments["line"] = json!(line);
        }
        calls.push(call("read_document", arguments));
        first = to + 1;
    }
    calls
}

/// How many units a read of this document gets: what one gave that was asked for more, since a window may be small and
/// units long; and twice as many as gave less than half of that one's text.
fn fitting(seen: &Seen<'_>, segment: &Segment) -> Option<u64> {
    let mut cut: Option<(u64, usize)> = None;
    for exchange in &seen.exchanges {
        if exchange.name != "read_document" || exchange.argument("name") != segment.name {
            continue;
        }
        let Some((asked, shown)) = asked_and_shown(exchange) else { continue };
        let length = exchange.result.len();
        match &mut cut {
            _ if shown < asked => cut = Some((shown, length)),
            Some((units, most)) if length * 2 < *most => *units = (*units).max(asked * 2),
            Some(_) | None => {}
        }
    }
    cut.map(|(units, _)| units)
}

/// How many units were asked for, and how many were shown.
fn asked_and_shown(exchange: &Exchange<'_>) -> Option<(u64, u64)> {
    let (from, to) = (exchange.arguments["from"].as_u64()?, exchange.arguments["to"].as_u64()?);
    let (_, shown) = exchange.result.lines().next()?.split_once("s=\"")?;
    let last: u64 = shown.split_once('"')?.0.split_once('-')?.1.parse().ok()?;
    (from <= last).then_some((to + 1 - from, last + 1 - from))
}
