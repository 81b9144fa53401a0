//! The figures that a chart was drawn from: they are kept beside it, so that it can be shown without its workbook. They are
//! written as their workbook shows them.

use super::package::{BlockKind, Blocks, BrokenPart, Package, Xml, XmlNode, one_line, row, rule};
use super::workbook::NumberFormat;

/// The most points of a series and series of a chart.
const MAX_POINTS: usize = 10_000;
const MAX_SERIES: usize = 200;

#[derive(Debug, Default)]
struct Series {
    name: String,
    categories: Vec<String>,
    values: Vec<String>,
}

/// A chart as its title and a table; none if it has no figures, or they can't be read.
pub(crate) fn chart(package: &Package<'_>, part: &str) -> Option<String> {
    let (title, series) = read(package, part).ok()?;
    let mut blocks = Blocks::default();
    if !title.is_empty() {
        blocks.add(BlockKind::Paragraph, &format!("Chart: {title}"));
    }
    let longest = series.iter().map(|one| one.values.len().max(one.categories.len())).max().unwrap_or(0);
    if longest == 0 {
        return None;
    }
    let header: Vec<&str> = std::iter::once("").chain(series.iter().map(|one| one.name.as_str())).collect();
    blocks.add(BlockKind::Row, &row(&header));
    blocks.add(BlockKind::Row, &rule(header.len()));
    for at in 0..longest {
        let category = series.iter().find_map(|one| one.categories.get(at)).map_or("", String::as_str);
        let values = series.iter().map(|one| one.values.get(at).map_or("", String::as_str));
        let cells: Vec<&str> = std::iter::once(category).chain(values).collect();
        blocks.add(BlockKind::Row, &row(&cells));
    }
    Some(blocks.take())
}

fn read(package: &Package<'_>, part: &str) -> Result<(String, Vec<Series>), BrokenPart> {
    let mut xml = Xml::need(package, part)?;
    let (mut title, mut all) = (String::new(), Vec::new());
    let mut series: Option<Series> = None;
    let (mut at, mut in_title) = ("", 0_u32);
    let mut index = 0_usize;
    let (mut of_all, mut of_point) = (NumberFormat::General, None);
    let (mut is_number, mut since_1904) = (false, false);
    loop {
        match xml.next()? {
            XmlNode::Start(element) => match element.name() {
                "ser" => series = Some(Series::default()),
                "title" => in_title += 1,
                "tx" => at = "tx",
                "cat" | "xVal" => at = "cat",
                "val" | "yVal" => at = "val",
                "date1904" => since_1904 = element.is_on("val"),
                "numCache" | "numLit" => (is_number, of_all) = (true, NumberFormat::General),
                "strCache" | "strLit" => is_number = false,
                "formatCode" => of_all = NumberFormat::parse(&xml.text()?),
                "pt" => {
                    index = element.number("idx").unwrap_or(0);
                    of_point = element.value("formatCode").map(|code| NumberFormat::parse(&code));
                }
                "v" => {
                    let text = one_line(&xml.text()?);
                    let number = text.parse::<f64>().ok().filter(|_| is_number);
                    let format = of_point.as_ref().unwrap_or(&of_all);
                    let text = number.map_or(text, |number| format.show(number, since_1904));
                    let Some(series) = &mut series else { continue };
                    let place = match at {
                        "tx" => {
                            series.name = text;
                            continue;
                        }
                        "cat" => &mut series.categories,
                        "val" => &mut series.values,
                        _ => continue,
                    };
                    if index < MAX_POINTS {
                        place.resize(place.len().max(index + 1), String::new());
                        if let Some(place) = place.get_mut(index) {
                            *place = text;
                        }
                    }
                }
                // An axis has a title too; the chart's comes first.
                "t" if in_title > 0 && all.is_empty() && series.is_none() => {
                    title.push_str(&xml.text()?);
                }
                _ => {}
            },
            XmlNode::End(name) => match name.as_str() {
                "title" => in_title = in_title.saturating_sub(1),
                "tx" | "cat" | "val" | "xVal" | "yVal" => at = "",
                "ser" if all.len() < MAX_SERIES => all.extend(series.take()),
                _ => {}
            },
            XmlNode::Over => return Ok((one_line(&title), all)),
            XmlNode::Text(_) => {}
        }
    }
}
