//! Changes that the system makes to a plan: marks, inserted phases, the plan it writes where a model wrote none.
//! Each edits single lines of the text in its one form, so everything else stays byte for byte.

use super::{MAX_PHASES, MAX_TITLE, PhaseSpan, PhaseState, Plan, PlannedPhase, TITLE, heading, steps::boxed};

impl Plan {
    /// Ticks the steps of a phase, except those that match an entry of `unfinished` (letters and digits compared, case
    /// ignored), marks it `✓ COMPLETE` and the next open one `← CURRENT`. An unknown number changes no phase.
    #[must_use]
    pub fn complete_phase(&self, number: u32, unfinished: &[String]) -> Self {
        let left: Vec<String> = unfinished.iter().map(|text| key(text)).collect();
        let is_complete = |phase: &PlannedPhase| phase.number == number || phase.state == PhaseState::Complete;
        let current = self.phases.iter().find(|phase| !is_complete(phase)).map(|phase| phase.number);
        self.remarked(|phase| {
            phase.state = match is_complete(phase) {
                true => PhaseState::Complete,
                false if Some(phase.number) == current => PhaseState::Current,
                false => PhaseState::Open,
            };
            if phase.number == number {
                for step in &mut phase.steps {
                    step.done = !left.contains(&key(&step.text));
                }
            }
        })
    }

    /// Ticks the steps of a phase that match an entry of `done`: what was completed before its early end stays so.
    #[must_use]
    pub fn tick(&self, number: u32, done: &[String]) -> Self {
        let done: Vec<String> = done.iter().map(|text| key(text)).collect();
        self.remarked(|phase| {
            for step in phase.steps.iter_mut().filter(|_| phase.number == number) {
                step.done |= done.contains(&key(&step.text));
            }
        })
    }

    /// Marks the first phase that isn't complete `← CURRENT`, and no other.
    #[must_use]
    pub fn mark_current(&self) -> Self {
        let current = self.current().map(|phase| phase.number);
        self.with_states(|phase| match phase.state {
            PhaseState::Complete => PhaseState::Complete,
            PhaseState::Open | PhaseState::Current if Some(phase.number) == current => PhaseState::Current,
            PhaseState::Open | PhaseState::Current => PhaseState::Open,
        })
    }

    /// Every phase open: in a first plan, nothing was worked yet.
    #[must_use]
    pub fn without_marks(&self) -> Self {
        self.with_states(|_| PhaseState::Open)
    }

    /// Takes the marks of completion from `before`, since they are the system's: a completed phase with the same title
    /// and steps is kept as it was, with boxes and details; a phase that only the author marked is open again.
    #[must_use]
    pub fn with_marks_of(&self, before: &Self) -> Self {
        let worked = |number: u32, title: &str| {
            let phase = before.phases.iter().find(|phase| phase.number == number);
            phase.is_some_and(|phase| phase.state == PhaseState::Complete && key(&phase.title) == key(title))
        };
        let mut plan = self.with_states(|phase| match phase.state {
            _ if worked(phase.number, &phase.title) => PhaseState::Complete,
            PhaseState::Complete => PhaseState::Open,
            state @ (PhaseState::Open | PhaseState::Current) => state,
        });
        let before = &before.spanned();
        let (old, mut lines) = (before.lines(), plan.lines());
        let steps = |phase: &PlannedPhase| phase.steps.iter().map(|step| key(&step.text)).collect::<Vec<_>>();
        // From the last to the first, so that earlier spans stay valid; read only once, as there may be many phases.
        for (at, phase) in plan.phases.iter().enumerate().rev() {
            if worked(phase.number, &phase.title) && steps(&before.phases[at]) == steps(phase) {
                let old = old[filled(&old, &before.spans[at])].to_vec();
                lines.splice(filled(&lines, &plan.spans[at]), old);
            }
        }
        plan = plan.reread(&lines);
        // Errors refer to the lines of the text that was given.
        for (span, given) in plan.spans.iter_mut().zip(&self.spans) {
            span.source = given.source;
        }
        plan
    }

    /// Inserts a phase after phase `number` (0: before the first), and renumbers the unfinished phases after it.
    /// Completed phases keep their numbers: the new one comes after the last of them. In a plan that is full, the steps
    /// join the phase that stands at the place.
    #[must_use]
    pub fn insert_after(&self, number: u32, title: &str, steps: &[String]) -> Self {
        let complete =
            self.phases.iter().filter(|phase| phase.state == PhaseState::Complete).map(|phase| phase.number).max();
        let place = usize::try_from(number.max(complete.unwrap_or(0))).unwrap_or(usize::MAX).min(self.phases.len());
        let Some(last) = self.phases.len().checked_sub(1) else {
            return self.clone();
        };
        let (spans, mut lines) = (self.spanned().spans, self.lines());
        let title = clean_title(title);
        let mut fresh: Vec<String> = clean_steps(steps);
        let at = if self.phases.len() >= MAX_PHASES {
            let host = place.min(last);
            fresh.insert(0, String::new());
            spans[host].end
        } else {
            let number = u32::try_from(place + 1).unwrap_or(u32::MAX);
            fresh.splice(0..0, [String::new(), heading::line(number, &title, PhaseState::Open), String::new()]);
            for (phase, span) in self.phases.iter().zip(&spans).skip(place) {
                lines[span.heading] = heading::line(phase.number + 1, &phase.title, phase.state);
            }
            if place == 0 { spans[0].heading } else { spans[place - 1].end }
        };
        fresh.push(String::new());
        if at > 0 && lines[at - 1].trim().is_empty() {
            fresh.remove(0);
        }
        lines.splice(at..at, fresh);
        self.reread(&lines)
    }

    /// The plan that the system writes where there is none: phases as given, the first one current.
    /// More phases than a plan can hold are joined into the last; no phases become one.
    pub fn write(title_of_phases: &[(String, Vec<String>)], overview: &str) -> Self {
        let mut text = format!("{TITLE}\n\n## Overview\n\n{}\n", prose(overview));
        let (own, rest) = title_of_phases.split_at(title_of_phases.len().min(MAX_PHASES));
        let whole = [("Work on the task".to_owned(), Vec::new())];
        for (at, (title, steps)) in (if own.is_empty() { &whole[..] } else { own }).iter().enumerate() {
            let state = if at == 0 { PhaseState::Current } else { PhaseState::Open };
            let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
            text.extend(["\n", &heading::line(number, &clean_title(title), state), "\n\n"]);
            for step in clean_steps(steps) {
                text.push_str(&step);
                text.push('\n');
            }
        }
        for step in rest.iter().flat_map(|(_, steps)| clean_steps(steps)) {
            text.push_str(&step);
            text.push('\n');
        }
        // Only a text over the limit of bytes can fail here; the job then goes on with a plan of one phase.
        let plan = Self::parse(&text)
            .or_else(|_| Self::parse(&format!("{}\n", heading::line(1, &whole[0].0, PhaseState::Current))));
        plan.unwrap_or_else(|_| Self { text, phases: Vec::new(), spans: Vec::new() })
    }

    fn with_states(&self, state: impl Fn(&PlannedPhase) -> PhaseState) -> Self {
        self.remarked(|phase| phase.state = state(phase))
    }

    /// The plan with other marks after titles and in boxes, and everything else as it is.
    fn remarked(&self, mark: impl Fn(&mut PlannedPhase)) -> Self {
        let mut lines = self.lines();
        for (phase, span) in self.phases.iter().zip(&self.spanned().spans) {
            let mut marked = phase.clone();
            mark(&mut marked);
            lines[span.heading] = heading::line(phase.number, &phase.title, marked.state);
            for (step, &line) in marked.steps.iter().zip(&span.steps) {
                let rest = lines[line].get(5..).unwrap_or_default().trim_start().to_owned();
                lines[line] = boxed(&rest, step.done);
            }
        }
        self.reread(&lines)
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.text.lines().map(str::to_owned).collect()
    }

    /// A text in the one form, edited by whole lines, reads as a plan again; if it ever should not, nothing is changed.
    pub(super) fn reread(&self, lines: &[String]) -> Self {
        Self::parse(&lines.join("\n")).unwrap_or_else(|_| self.clone())
    }
}

/// The lines of a phase, without the blank ones at its end.
fn filled(lines: &[String], span: &PhaseSpan) -> std::ops::Range<usize> {
    let section = &lines[span.heading..span.end];
    let blank = section.iter().rev().take_while(|line| line.trim().is_empty()).count();
    span.heading..span.end - blank
}

/// The key that two spellings of one step share: letters and digits in lower case.
fn key(text: &str) -> String {
    let key: String = text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if key.is_empty() { text.trim().to_owned() } else { key }
}

/// One line without control characters.
fn one_line(text: &str) -> String {
    let clean: String =
        text.chars().map(|char| if char.is_control() || char == '\u{FEFF}' { ' ' } else { char }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn clean_title(title: &str) -> String {
    let title: String = heading::tidy(&one_line(title)).0.chars().take(MAX_TITLE).collect();
    let title = heading::tidy(&title).0;
    if title.is_empty() { "Untitled".to_owned() } else { title }
}

fn clean_steps(steps: &[String]) -> Vec<String> {
    let steps = steps.iter().map(|step| one_line(step));
    let boxed = steps.map(|step| {
        let (text, is_done, _) = heading::step(&step);
        (!text.is_empty()).then(|| boxed(text, is_done))
    });
    boxed.flatten().collect()
}

/// Paragraphs in which nothing can be read as a heading, list or fence.
fn prose(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = one_line(line);
        let is_read =
            line.starts_with(|char: char| char.is_ascii_punctuation()) || heading::bold_number(&line).is_some();
        if is_read { format!("\\{line}") } else { line }
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}
