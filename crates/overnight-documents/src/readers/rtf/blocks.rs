//! Handles the end of a paragraph, a cell, a row, a table, a note, a text box.

use super::story::{ParagraphWords, RtfPart, RtfStory};
use crate::readers::flow::{Flow, FlowPart};
use crate::readers::package::{BlockKind, one_line};

impl RtfStory {
    pub(super) fn end_paragraph(&mut self) {
        self.flush();
        let properties = self.properties;
        let is_body = self.parts.len() == 1;
        let heading = properties.outline.filter(|level| *level <= 9).or_else(|| self.styles.level(properties.style));
        if !properties.is_in_table {
            self.end_table();
        }
        let part = self.part();
        let line = std::mem::take(&mut part.line);
        let label = one_line(&std::mem::take(&mut part.label));
        let behind = std::mem::take(&mut part.behind);
        let text: Vec<&str> = line.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
        let text = text.join("\n");
        let breaks = is_body && !text.is_empty() && !properties.is_in_table;
        let section_ended = breaks && std::mem::take(&mut self.section_ended);
        let part = self.part();
        if section_ended || (breaks && properties.breaks_before && !part.flow.is_blank()) {
            part.flow.add(FlowPart::Break);
        }
        let flow = if properties.is_in_table { &mut part.cell } else { &mut part.flow };
        if !text.is_empty() {
            let has_letters = label.chars().any(char::is_alphanumeric);
            match (heading, label.is_empty()) {
                (Some(level), _) => {
                    let label = if has_letters { format!("{label} ") } else { String::new() };
                    flow.add(FlowPart::Heading(level, format!("{label}{}", one_line(&text))));
                }
                (None, true) => flow.paragraph(text),
                (None, false) => {
                    let label = if has_letters { label.as_str() } else { "-" };
                    flow.add(FlowPart::Block(BlockKind::Item, format!("{label} {text}")));
                }
            }
        }
        flow.append(behind);
    }

    pub(super) fn end_cell(&mut self) {
        self.properties.is_in_table = true;
        self.end_paragraph();
        let part = self.part();
        let cell = std::mem::take(&mut part.cell);
        let text = cell.into_blocks(&mut part.flow).take();
        part.table.get_or_insert_default().cell(&text, 1);
    }

    pub(super) fn end_row(&mut self) {
        self.flush();
        let part = self.part();
        if !part.cell.is_blank() || !part.line.trim().is_empty() {
            self.end_cell();
        }
        let part = self.part();
        let RtfPart { table, flow, .. } = part;
        table.get_or_insert_default().end_row(false, flow);
    }

    pub(super) fn end_table(&mut self) {
        let part = self.part();
        let cell = std::mem::take(&mut part.cell);
        part.flow.append(cell);
        if let Some(mut table) = part.table.take() {
            table.end_row(false, &mut part.flow);
            part.flow.add(FlowPart::SetOff);
        }
    }

    /// The text of a note or a text box, which ends here.
    fn pop_part(&mut self) -> Option<Flow> {
        if self.parts.len() <= 1 {
            return None;
        }
        let properties = self.properties;
        self.properties = ParagraphWords::default();
        self.end_paragraph();
        self.end_table();
        self.properties = properties;
        self.parts.pop().map(|part| part.flow)
    }

    pub(super) fn end_note(&mut self) {
        let Some(flow) = self.pop_part() else { return };
        self.notes += 1;
        let label = format!("[{}]", self.notes);
        let part = self.part();
        let text = flow.into_blocks(&mut part.behind).take();
        if !part.line.contains(&label) {
            part.line.push_str(&label);
        }
        part.behind.add(FlowPart::Note(format!("{label} {}", text.trim())));
    }

    pub(super) fn end_box(&mut self) {
        let Some(flow) = self.pop_part() else { return };
        self.part().behind.append(flow);
    }
}
