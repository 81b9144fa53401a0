//! The workbook: a sheet for each list of rows, the first row in bold.

use super::package::{escaped, package};
use super::source::{Cell, Document, Sheet};
use std::{error::Error, fmt::Write};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const TYPES: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml";

pub(super) fn bytes(document: &Document) -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut types, mut relations, mut sheets) = (String::new(), String::new(), String::new());
    for (at, sheet) in document.sheets.iter().enumerate() {
        let number = at + 1;
        write!(
            types,
            "<Override PartName=\"/xl/worksheets/sheet{number}.xml\" ContentType=\"{TYPES}.worksheet+xml\"/>"
        )?;
        write!(
            relations,
            "<Relationship Id=\"rId{number}\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet{number}.xml\"/>"
        )?;
        write!(sheets, "<sheet name=\"{}\" sheetId=\"{number}\" r:id=\"rId{number}\"/>", escaped(&sheet.name))?;
    }
    let styles = document.sheets.len() + 1;
    let names: Vec<String> =
        (1..=document.sheets.len()).map(|number| format!("xl/worksheets/sheet{number}.xml")).collect();
    let mut parts = vec![
        (
            "[Content_Types].xml",
            format!(
                "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
                 <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
                 <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
                 <Override PartName=\"/xl/workbook.xml\" ContentType=\"{TYPES}.sheet.main+xml\"/>\
                 <Override PartName=\"/xl/styles.xml\" ContentType=\"{TYPES}.styles+xml\"/>{types}</Types>"
            ),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{RELATIONS}\"><Relationship Id=\"rId1\" Type=\"{OFFICE}/officeDocument\" \
                 Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets>{sheets}</sheets></workbook>"),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{RELATIONS}\">{relations}<Relationship Id=\"rId{styles}\" \
                 Type=\"{OFFICE}/styles\" Target=\"styles.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/styles.xml",
            format!(
                "<styleSheet xmlns=\"{MAIN}\">\
                 <fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font>\
                 <font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts>\
                 <fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill>\
                 <fill><patternFill patternType=\"gray125\"/></fill></fills>\
                 <borders count=\"1\"><border/></borders>\
                 <cellStyleXfs count=\"1\"><xf/></cellStyleXfs>\
                 <cellXfs count=\"2\"><xf fontId=\"0\" xfId=\"0\"/><xf fontId=\"1\" xfId=\"0\" applyFont=\"1\"/></cellXfs>\
                 <cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>"
            ),
        ),
    ];
    for (name, sheet) in names.iter().zip(&document.sheets) {
        parts.push((name, worksheet(sheet)?));
    }
    package(&parts)
}

fn worksheet(sheet: &Sheet) -> Result<String, Box<dyn Error>> {
    let mut rows = String::new();
    for (row, cells) in (1..).zip(&sheet.rows) {
        write!(rows, "<row r=\"{row}\">")?;
        for (column, cell) in ('A'..).zip(cells) {
            let style = usize::from(row == 1);
            match cell {
                Cell::Number(number) => {
                    write!(rows, "<c r=\"{column}{row}\" s=\"{style}\"><v>{number}</v></c>")?;
                }
                Cell::Text(text) => write!(
                    rows,
                    "<c r=\"{column}{row}\" s=\"{style}\" t=\"inlineStr\"><is><t>{}</t></is></c>",
                    escaped(text)
                )?,
            }
        }
        rows.push_str("</row>");
    }
    let columns = "<cols><col min=\"1\" max=\"2\" width=\"14\" customWidth=\"1\"/>\
                   <col min=\"3\" max=\"3\" width=\"70\" customWidth=\"1\"/></cols>";
    Ok(format!("<worksheet xmlns=\"{MAIN}\">{columns}<sheetData>{rows}</sheetData></worksheet>"))
}
