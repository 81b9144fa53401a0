//! A page as one HTML file: no script, nothing loaded from anywhere (its own policy forbids it), light or dark as the
//! reader's system is; its links lead to deliverables and reviews. Written by hand: a page is headings, sentences and tables, and the one thing that matters, that all
//! text is escaped, is one function here.

use super::{
    cell::{PageCell, Tone},
    page::{Column, Page, ReportTable, Section},
};
use std::fmt::Write;

const STYLE: &str = concat!(include_str!("../theme.css"), include_str!("page.css"));

/// The page as an HTML document.
pub fn html(page: &Page) -> String {
    let title = escaped(&page.title);
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    for (place, line) in page.lines.iter().enumerate() {
        let class = if place == 0 { " class=\"headline\"" } else { "" };
        let _ = writeln!(text, "<p{class}>{}</p>", escaped(line));
    }
    text.extend(page.sections.iter().map(section));
    text.push_str("</main>\n</body>\n</html>\n");
    text
}

fn section(section: &Section) -> String {
    let mut text = format!("<section>\n<h2>{}</h2>\n", escaped(section.title));
    text.extend(section.lines.iter().map(|line| format!("<p>{}</p>\n", escaped(line))));
    if let Some(table) = &section.table {
        text.push_str(&self::table(table, section.title));
        text.extend(table.more_line().iter().map(|line| format!("<p>{}</p>\n", escaped(line))));
    }
    text.push_str("</section>\n");
    text
}

fn table(table: &ReportTable, title: &str) -> String {
    // A table that is wider than the screen scrolls by itself, also by keyboard.
    let mut text = format!("<div role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n", escaped(title));
    text.push_str("<table>\n<thead><tr>");
    for (name, side) in &table.columns {
        let _ = write!(text, "<th scope=\"col\"{}>{}</th>", class(*side), escaped(&name.to_lowercase()));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    let mut rows: Vec<Vec<String>> = Vec::new();
    for row in &table.rows {
        let cells = row.iter().zip(&table.columns).map(|(cell, (_, side))| content(cell, *side));
        match rows.last_mut() {
            // What else can be typed stands in the same cell.
            Some(last)
                if row
                    .iter()
                    .zip(&table.columns)
                    .all(|(cell, (_, side))| cell.text.is_empty() || *side == Column::Command) =>
            {
                for (cell, more) in last.iter_mut().zip(cells).filter(|(_, more)| !more.is_empty()) {
                    let _ = write!(cell, "<br>{more}");
                }
            }
            Some(_) | None => rows.push(cells.collect()),
        }
    }
    for row in rows {
        text.push_str("<tr>");
        for (cell, (_, side)) in row.iter().zip(&table.columns) {
            let _ = write!(text, "<td{}>{cell}</td>", class(*side));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table>\n</div>\n");
    text
}

fn content(cell: &PageCell, side: Column) -> String {
    let text = escaped(&cell.text);
    if text.is_empty() {
        return text;
    }
    let text = match side {
        Column::Command => format!("<code>{text}</code>"),
        Column::Words | Column::Name | Column::Number | Column::Sentence => text,
    };
    let text = match cell.tone {
        Tone::Plain => text,
        Tone::Good => format!("<span class=\"good\">{text}</span>"),
        Tone::Doubt => format!("<span class=\"doubt\">{text}</span>"),
        Tone::Bad => format!("<span class=\"bad\">{text}</span>"),
    };
    match &cell.link {
        Some(address) => format!("<a href=\"{}\">{text}</a>", escaped(address)),
        None => text,
    }
}

fn class(side: Column) -> &'static str {
    match side {
        Column::Words => " class=\"words\"",
        Column::Name => " class=\"name\"",
        Column::Number => " class=\"number\"",
        Column::Sentence => " class=\"sentence\"",
        Column::Command => " class=\"command\"",
    }
}

/// `text` as it stands, in an element or an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}
