//! Gemini generateContent: https://ai.google.dev/api/generate-content

use super::{
    check::{Checked, image, list, names, object, one_of, string, tool, unknown, version},
    format::{Asked, Events, Refusal, Said, pieces},
    http::Asking,
};
use overnight_core::message::{Message, Prompt, Stop, ToolCall, ToolSpec, Usage};
use serde_json::{Map, Value, json};

const FIELDS: &str =
    "contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent serviceTier";
const CONFIG: &str = "stopSequences maxOutputTokens temperature topP topK seed thinkingConfig candidateCount \
    responseMimeType responseSchema presencePenalty frequencyPenalty";
/// How the name of a call begins that came without an id.
const NO_ID: &str = "at_";
/// What `parameters` knows of a schema; `parametersJsonSchema` takes any.
const SCHEMA: &str = "type format title description nullable enum maxItems minItems properties required minProperties \
    maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum \
    additionalProperties";

pub(super) fn read(asking: &Asking, body: &Value) -> Checked<Asked> {
    let name = asking.path().strip_prefix("/v1beta/models/").unwrap_or_default();
    let (model, streams) = match name.split_once(':') {
        Some((model, "streamGenerateContent")) if asking.query().split('&').any(|one| one == "alt=sse") => {
            (model, true)
        }
        Some((_, "streamGenerateContent")) => return Err("this server streams with alt=sse only".to_owned()),
        Some((model, "generateContent")) => (model, false),
        _ => return Err(format!("models/{name} is not found for API version v1beta")),
    };
    known(object(body, "body")?, &names(FIELDS), "")?;
    // ai.google.dev/gemini-api/docs/flex-inference
    one_of(&body["serviceTier"], &["standard", "flex", "priority"], "service_tier")?;
    if let Some(config) = body.get("generationConfig") {
        known(object(config, "generation_config")?, &names(CONFIG), " at 'generation_config'")?;
    }
    let mut messages = Vec::new();
    if let Some(system) = body.get("systemInstruction") {
        for part in list(&system["parts"], "system_instruction.parts")? {
            messages.push(Message::System { text: string(&part["text"], "system_instruction.parts.text")?.to_owned() });
        }
    }
    let tools = read_tools(body)?;
    if let Some(config) = body.get("toolConfig") {
        let mode = config["functionCallingConfig"]["mode"].as_str();
        if !mode.is_some_and(|mode| ["AUTO", "ANY", "NONE"].contains(&mode)) {
            return Err("Invalid value at 'tool_config.function_calling_config.mode'".to_owned());
        }
        if tools.is_empty() {
            return Err("Function calling config is set without function_declarations.".to_owned());
        }
    }
    read_contents(&body["contents"], &mut messages, is_newer(model))?;
    let asked = Asked::new(Prompt::new(tools.into(), messages), model, streams);
    Ok(Asked { thinks: Some(true), is_flex: body["serviceTier"] == "flex", ..asked })
}

/// ai.google.dev/gemini-api/docs/thought-signatures: these give their calls ids, and demand signatures back.
fn is_newer(model: &str) -> bool {
    version(model, "gemini-").is_some_and(|version| version >= (3, 0))
}

fn known(fields: &Map<String, Value>, names: &[&str], place: &str) -> Checked<()> {
    match unknown(fields, names) {
        None => Ok(()),
        Some(name) => Err(format!("Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field.")),
    }
}

fn read_tools(body: &Value) -> Checked<Vec<ToolSpec>> {
    let Some(tools) = body.get("tools") else { return Ok(Vec::new()) };
    let mut read = Vec::new();
    for one in list(tools, "tools")? {
        known(object(one, "tools")?, &["functionDeclarations"], " at 'tools[0]'")?;
        for (number, declared) in list(&one["functionDeclarations"], "function_declarations")?.iter().enumerate() {
            let place = format!("tools[0].function_declarations[{number}]");
            let fields = ["name", "description", "parameters", "parametersJsonSchema", "response", "behavior"];
            let declaration = object(declared, &place)?;
            known(declaration, &fields, &format!(" at '{place}'"))?;
            let schema = declaration.get("parametersJsonSchema").unwrap_or(&declared["parameters"]);
            if let Some(parameters) = declaration.get("parameters") {
                read_schema(parameters, &format!("{place}.parameters"))?;
            }
            // Without parameters a function takes none; an object without properties is refused.
            let none = json!({"type": "object"});
            let schema = if schema.is_null() { &none } else { schema };
            let mut schema = schema.clone();
            if schema["type"] == "OBJECT" {
                schema["type"] = "object".into();
            }
            read.push(tool(&declared["name"], declaration.get("description"), &schema, &place)?);
        }
    }
    Ok(read)
}

fn read_schema(schema: &Value, place: &str) -> Checked<()> {
    let fields = object(schema, place)?;
    known(fields, &names(SCHEMA), &format!(" at '{place}'"))?;
    if !schema["type"].is_string() && !fields.contains_key("anyOf") {
        return Err(format!("Invalid value at '{place}.type': Proto field is not repeating, cannot start list."));
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, property) in properties {
        read_schema(property, &format!("{place}.properties[{name}]"))?;
    }
    if let Some(items) = fields.get("items") {
        read_schema(items, &format!("{place}.items"))?;
    }
    for one in schema["anyOf"].as_array().into_iter().flatten() {
        read_schema(one, &format!("{place}.any_of"))?;
    }
    Ok(())
}

fn read_contents(contents: &Value, read: &mut Vec<Message>, wants_signatures: bool) -> Checked<()> {
    let contents = list(contents, "contents").map_err(|_| "contents is not specified".to_owned())?;
    if contents.is_empty() {
        return Err("* GenerateContentRequest.contents: contents is not specified".to_owned());
    }
    let mut open: Vec<ToolCall> = Vec::new();
    let mut before = "";
    // A turn begins with the last text of the user; in earlier ones signatures may be missing.
    let is_text = |content: &Value| content["role"] == "user" && content["parts"][0].get("text").is_some();
    let turn = contents.iter().rposition(is_text).unwrap_or_default();
    for (number, content) in contents.iter().enumerate() {
        let place = format!("contents[{number}]");
        known(object(content, &place)?, &["role", "parts"], &format!(" at '{place}'"))?;
        let role = content["role"].as_str().unwrap_or("user");
        let parts = list(&content["parts"], &format!("{place}.parts"))?;
        if parts.is_empty() {
            return Err(format!("* GenerateContentRequest.{place}.parts: contents.parts must not be empty."));
        }
        let answers = parts.iter().filter(|part| part.get("functionResponse").is_some()).count();
        if answers != open.len() {
            return Err(
                "Please ensure that the number of function response parts is equal to the number of function call \
                        parts of the function call turn."
                    .to_owned(),
            );
        }
        match role {
            "user" | "function" => read_user(parts, read, &mut open, &place)?,
            "model" => {
                let calls = read_model(parts, read, number, wants_signatures && number > turn)?;
                if !calls.is_empty() && before != "user" && before != "function" {
                    return Err(
                        "Please ensure that function call turn comes immediately after a user turn or after a \
                                function response turn."
                            .to_owned(),
                    );
                }
                open = calls;
            }
            _ => return Err("Please use a valid role: user, model.".to_owned()),
        }
        before = role;
    }
    if before == "model" {
        return Err(
            "Please ensure that single turn requests end with a user role or the role field is empty.".to_owned()
        );
    }
    Ok(())
}

fn read_user(parts: &[Value], read: &mut Vec<Message>, open: &mut Vec<ToolCall>, place: &str) -> Checked<()> {
    for part in parts {
        let fields = object(part, place)?;
        known(fields, &["text", "functionResponse", "inlineData"], &format!(" at '{place}.parts'"))?;
        if let Some(inline) = fields.get("inlineData") {
            known(object(inline, place)?, &["mimeType", "data"], " at 'inline_data'")?;
            let images = vec![image(&inline["mimeType"], string(&inline["data"], place)?, place)?];
            read.push(Message::User { text: String::new(), images });
            continue;
        }
        match fields.get("functionResponse") {
            None => read.push(Message::user(part_text(part, place)?)),
            Some(response) => {
                known(
                    object(response, place)?,
                    &["id", "name", "response"],
                    &format!(" at '{place}.parts.function_response'"),
                )?;
                let name = string(&response["name"], "function_response.name")?;
                // Where a call came with an id, its response has it too.
                let id = response["id"].as_str();
                let answers =
                    |call: &ToolCall| call.name == name && (call.id.starts_with(NO_ID) || id == Some(&call.id));
                let Some(found) = open.iter().position(answers) else {
                    return Err(format!("{place}: function response '{name}' has no function call with its id"));
                };
                let call = open.remove(found);
                let answer = object(&response["response"], "function_response.response")?;
                // One text in it is the tool's answer; anything else is shown as it stands.
                let text = match answer.values().next() {
                    Some(Value::String(text)) if answer.len() == 1 => text.clone(),
                    _ => response["response"].to_string(),
                };
                read.push(Message::Tool { call: call.id, name: call.name, text, images: Vec::new() });
            }
        }
    }
    Ok(())
}

fn read_model(
    parts: &[Value],
    read: &mut Vec<Message>,
    number: usize,
    wants_signatures: bool,
) -> Checked<Vec<ToolCall>> {
    let (mut text, mut calls): (String, Vec<ToolCall>) = (String::new(), Vec::new());
    for part in parts {
        let place = format!("contents[{number}].parts");
        let fields = object(part, &place)?;
        known(fields, &["text", "functionCall", "thoughtSignature", "thought"], &format!(" at '{place}'"))?;
        let signature = fields.get("thoughtSignature").and_then(Value::as_str);
        let Some(called) = fields.get("functionCall") else {
            text.push_str(&part_text(part, &place)?);
            continue;
        };
        known(object(called, &place)?, &["id", "name", "args"], &format!(" at '{place}.function_call'"))?;
        let name = string(&called["name"], "function_call.name")?;
        if wants_signatures && calls.is_empty() && signature.is_none() {
            return Err(format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work \
                 correctly, and missing thought_signature may lead to degraded model performance. Additional data, function \
                 call `default_api:{name}` , position {number}."
            ));
        }
        let arguments = called.get("args").cloned().unwrap_or_else(|| json!({}));
        object(&arguments, &format!("{place}.function_call.args"))?;
        let id = called["id"].as_str().map_or_else(|| format!("{NO_ID}{number}_{}", calls.len()), str::to_owned);
        calls.push(ToolCall { id, name: name.to_owned(), arguments });
    }
    read.push(Message::Assistant { text, calls: calls.clone(), carried: None });
    Ok(calls)
}

fn part_text(part: &Value, place: &str) -> Checked<String> {
    match part["text"].as_str() {
        Some("") | None => Err(format!(
            "* GenerateContentRequest.{place}.parts.data: required oneof field 'data' must have one initialized field"
        )),
        Some(text) => Ok(text.to_owned()),
    }
}

fn usage(usage: &Usage) -> Value {
    let mut counted = json!({
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    });
    if usage.cached > 0 {
        counted["cachedContentTokenCount"] = usage.cached.into();
    }
    counted
}

fn body(said: &Said, parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if parts.is_empty() {
        // As it comes: an end without words has no parts.
        candidate["content"] = json!({"role": "model"});
    }
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage(&said.usage),
        "modelVersion": said.model,
        "responseId": format!("response-{}", said.number),
    })
}

/// The parts with the calls; `None`: a call couldn't be read, which this vendor says in place of the whole reply.
fn calls(said: &Said) -> Option<Vec<Value>> {
    let mut parts = Vec::new();
    for call in &said.calls {
        let arguments: Value = match serde_json::from_str(&call.arguments) {
            Ok(arguments) => arguments,
            Err(_) if said.stop == Stop::Length => continue,
            Err(_) => return None,
        };
        let mut part = json!({"functionCall": {"name": call.name, "args": arguments}});
        if is_newer(&said.model) {
            part["functionCall"]["id"] = call.id.as_str().into();
        }
        if let Some(thought) = said.thoughts.first().filter(|_| parts.is_empty()) {
            part["thoughtSignature"] = thought.signature.as_str().into();
        }
        parts.push(part);
    }
    Some(parts)
}

fn finish(said: &Said) -> &'static str {
    match said.stop {
        Stop::Done => "STOP",
        Stop::Length => "MAX_TOKENS",
        Stop::Refused => "SAFETY",
    }
}

pub(super) fn whole(said: &Said) -> Value {
    let Some(calls) = calls(said) else { return body(said, &[], Some("MALFORMED_FUNCTION_CALL")) };
    let mut parts = Vec::new();
    if !said.text.is_empty() {
        parts.push(json!({"text": said.text}));
    }
    parts.extend(calls);
    body(said, &parts, Some(finish(said)))
}

pub(super) fn events(said: &Said) -> Events {
    let event = |body: Value| format!("data: {body}\r\n\r\n");
    let mut events = Events::default();
    for piece in pieces(&said.text, said.letters) {
        events.said.push(event(body(said, &[json!({"text": piece})], None)));
    }
    match calls(said) {
        None => events.end.push(event(body(said, &[], Some("MALFORMED_FUNCTION_CALL")))),
        Some(calls) => {
            events.said.extend(calls.into_iter().map(|part| event(body(said, &[part], None))));
            events.end.push(event(body(said, &[json!({"text": ""})], Some(finish(said)))));
        }
    }
    events
}

pub(super) fn refusal(refusal: Refusal, words: &str) -> Value {
    let name = match refusal {
        Refusal::BadRequest | Refusal::TooLong | Refusal::Key => "INVALID_ARGUMENT",
        Refusal::NotFound => "NOT_FOUND",
        Refusal::Rate | Refusal::NoFlex => "RESOURCE_EXHAUSTED",
        Refusal::Server => "INTERNAL",
        Refusal::Unavailable | Refusal::Overloaded => "UNAVAILABLE",
    };
    let mut body = json!({"error": {"code": refusal.status(), "message": words, "status": name}});
    if refusal == Refusal::Key {
        // A wrong key is no 401 here.
        body["error"]["code"] = 400.into();
        let reason = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"});
        body["error"]["details"] = json!([reason]);
    }
    body
}
