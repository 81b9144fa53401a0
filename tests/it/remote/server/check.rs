//! What the readers of requests share: each says in a vendor's words what it doesn't take.

use base64::{Engine, prelude::BASE64_STANDARD};
use overnight_core::{
    job::digest::sha256,
    message::{Image, ToolSpec},
};
use serde_json::{Map, Value};

/// What was read, or the words of the refusal.
pub(super) type Checked<T> = Result<T, String>;

pub(super) fn object<'a>(value: &'a Value, place: &str) -> Checked<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| format!("{place}: Input should be an object"))
}

pub(super) fn list<'a>(value: &'a Value, place: &str) -> Checked<&'a Vec<Value>> {
    value.as_array().ok_or_else(|| format!("{place}: Input should be a valid list"))
}

pub(super) fn string<'a>(value: &'a Value, place: &str) -> Checked<&'a str> {
    value.as_str().ok_or_else(|| format!("{place}: Input should be a valid string"))
}

/// The names in a text, where a list of them is long.
pub(super) fn names(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// The first field that isn't among `known`.
pub(super) fn unknown<'a>(object: &'a Map<String, Value>, known: &[&str]) -> Option<&'a str> {
    object.keys().map(String::as_str).find(|name| !known.contains(name))
}

pub(super) fn only(object: &Map<String, Value>, known: &[&str], place: &str) -> Checked<()> {
    match unknown(object, known) {
        None => Ok(()),
        Some(name) => Err(format!("{place}.{name}: Extra inputs are not permitted")),
    }
}

/// Letters, digits, `_` and `-`, as all vendors take them.
pub(super) fn is_name(name: &str, most: usize) -> bool {
    (1..=most).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// A tool whose parameters are a schema of an object.
pub(super) fn tool(name: &Value, description: Option<&Value>, parameters: &Value, place: &str) -> Checked<ToolSpec> {
    let name = string(name, &format!("{place}.name"))?;
    if !is_name(name, 64) {
        return Err(format!("{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"));
    }
    let description = match description {
        None => "",
        Some(text) => string(text, &format!("{place}.description"))?,
    };
    if parameters["type"] != "object" {
        return Err(format!("{place}.parameters.type: Input should be 'object'"));
    }
    Ok(ToolSpec { name: name.to_owned(), description: description.to_owned(), parameters: parameters.clone() })
}

/// The text of a string, or of a list of text blocks, one entry each.
pub(super) fn texts(content: &Value, place: &str) -> Checked<Vec<String>> {
    if let Some(text) = content.as_str() {
        return Ok(vec![text.to_owned()]);
    }
    let blocks = list(content, place)?;
    if blocks.is_empty() {
        return Err(format!("{place}: [] is too short"));
    }
    let mut found = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        if block["type"] != "text" {
            return Err(format!("{place}.{number}.type: Input should be 'text'"));
        }
        found.push(string(&block["text"], &format!("{place}.{number}.text"))?.to_owned());
    }
    Ok(found)
}

/// A PNG, as Base64.
pub(super) fn image(media: &Value, data: &str, place: &str) -> Checked<Image> {
    let refused = || format!("{place}: Could not process image");
    let bytes = BASE64_STANDARD.decode(data).map_err(|_| refused())?;
    let number = |at: usize| bytes.get(at..at + 4).map(|four| u32::from_be_bytes(four.try_into().unwrap()));
    let is_png = media == "image/png" && bytes.starts_with(b"\x89PNG\r\n\x1a\n");
    let (Some(width), Some(height), true) = (number(16), number(20), is_png) else { return Err(refused()) };
    Ok(Image { sha256: sha256(&bytes), media: "image/png".to_owned(), width, height, tokens: 0 })
}

/// An image as the address that holds it.
pub(super) fn image_url(url: &Value, place: &str) -> Checked<Image> {
    let parts = url.as_str().and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"));
    let (media, data) = parts.ok_or_else(|| format!("{place}: Failed to download image"))?;
    image(&media.into(), data, place)
}

/// A number of a model's name, such as 5.6 of `gpt-5.6-sol` for the make `gpt-`, or 5.5 of `claude-opus-5-5` for `opus-`.
pub(super) fn version(model: &str, make: &str) -> Option<(u64, u64)> {
    let mut numbers = model.split_once(make)?.1.split(['-', '.']).map(|part| part.parse::<u64>().ok());
    // What is longer is a date.
    let first = numbers.next()?.filter(|number| *number < 100)?;
    Some((first, numbers.next().flatten().filter(|number| *number < 100).unwrap_or_default()))
}

/// A field that may be left out, or is one of `values`.
pub(super) fn one_of(value: &Value, values: &[&str], place: &str) -> Checked<()> {
    if value.is_null() || value.as_str().is_some_and(|given| values.contains(&given)) {
        return Ok(());
    }
    Err(format!("Invalid value at '{place}': {value}. Supported values are: '{}'.", values.join("', '")))
}
