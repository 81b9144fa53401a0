//! The table of operations: each is declared once, with its route, role, and place in the OpenAPI document (3.1,
//! <https://spec.openapis.org/oas/v3.1.1>), whose schemas are those of the types that are read and written.

use super::ROOT;
use crate::{
    store::Role,
    web::{access::Visitor, state::WebState},
};
use axum::{
    Extension, Json, Router,
    extract::Request,
    http::{HeaderValue, header::CONTENT_TYPE},
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
    routing::MethodRouter,
};
use schemars::{
    JsonSchema, Schema, SchemaGenerator,
    generate::{Contract, SchemaSettings},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One operation, with everything that its caller has to know.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    /// Below [`ROOT`]; `{id}` is a job's or a batch's, `{*path}` the rest.
    pub(super) path: &'static str,
    /// By which a generated client calls it.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) role: Role,
    /// The type whose fields are the query parameters.
    pub(super) query: Option<SchemaOf>,
    pub(super) body: OperationBody,
    pub(super) answer: OperationAnswer,
}

/// The body of a request.
#[derive(Clone, Copy)]
pub(super) enum OperationBody {
    None,
    Json(SchemaOf),
    /// JSON, or a form with files.
    JsonOrForm(SchemaOf, SchemaOf),
}

/// The successful answer.
#[derive(Clone, Copy)]
pub(super) enum OperationAnswer {
    Json(SchemaOf),
    /// JSON, for a newly created resource.
    Created(SchemaOf),
    /// Bytes of these media types.
    Bytes(&'static [&'static str]),
    Events,
}

/// The schema of a type, for an [`Operation`].
pub(super) fn schema<T: JsonSchema>() -> SchemaOf {
    SchemaGenerator::subschema_for::<T>
}

impl Operation {
    /// An operation that reads.
    pub(super) fn get(path: &'static str, id: &'static str, summary: &'static str, answer: OperationAnswer) -> Self {
        let (method, role) = ("get", Role::Reader);
        Self { method, path, id, summary, role, query: None, body: OperationBody::None, answer }
    }

    /// An operation that changes something.
    pub(super) fn post(
        role: Role,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
        answer: OperationAnswer,
    ) -> Self {
        Self { method: "post", path, id, summary, role, query: None, body: OperationBody::None, answer }
    }

    pub(super) fn with_query<T: JsonSchema>(self) -> Self {
        Self { query: Some(schema::<T>()), ..self }
    }

    pub(super) fn with_body<T: JsonSchema>(self) -> Self {
        Self { body: OperationBody::Json(schema::<T>()), ..self }
    }
}

/// The operations assembled so far.
pub(super) struct ApiRoutes {
    pub(super) plain: Router<Arc<WebState>>,
    /// The operations that take uploads.
    pub(super) uploads: Router<Arc<WebState>>,
    paths: Map<String, Value>,
    read: SchemaGenerator,
    written: SchemaGenerator,
}

impl Default for ApiRoutes {
    fn default() -> Self {
        let settings = |contract: Contract| {
            let mut settings = SchemaSettings::draft2020_12();
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
            settings.contract = contract;
            settings.into_generator()
        };
        Self {
            plain: Router::new(),
            uploads: Router::new(),
            paths: Map::new(),
            read: settings(Contract::Deserialize),
            written: settings(Contract::Serialize),
        }
    }
}

impl ApiRoutes {
    /// Adds an operation with its handler.
    pub(super) fn add(&mut self, operation: Operation, handler: MethodRouter<Arc<WebState>>) {
        let role = operation.role;
        let guard = from_fn(move |Extension(visitor): Extension<Visitor>, request: Request, next: Next| async move {
            match visitor.must_be(role) {
                Ok(()) => next.run(request).await,
                Err(refused) => refused.into_response(),
            }
        });
        let (path, handler) = (format!("{ROOT}{}", operation.path), handler.layer(guard));
        let routes = match operation.body {
            OperationBody::None | OperationBody::Json(_) => &mut self.plain,
            OperationBody::JsonOrForm(..) => &mut self.uploads,
        };
        *routes = std::mem::take(routes).route(&path, handler);
        let told = self.told(&operation);
        let shown = operation.path.replace("{*", "{");
        if let Some(methods) = self.paths.entry(shown).or_insert_with(|| json!({})).as_object_mut() {
            methods.insert(operation.method.to_owned(), told);
        }
    }

    /// The OpenAPI document of all operations so far.
    pub(super) fn document(&mut self) -> Value {
        let mut schemas = self.read.take_definitions(true);
        schemas.extend(self.written.take_definitions(true));
        schemas.values_mut().for_each(join_words);
        schemas.insert(
            "Problem".to_owned(),
            json!({
                "description": "Problem details (RFC 9457).",
                "type": "object",
                "required": ["title", "status", "detail"],
                "properties": {
                    "title": {"type": ["string", "null"]},
                    "status": {"type": "integer"},
                    "detail": {"type": "string", "description": "One sentence: what, where, what to do."},
                },
            }),
        );
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "overnight",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Long document jobs with a language model: submit, watch, read results and doubts, review.",
                "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
            },
            "servers": [{"url": ROOT}],
            "security": [{"token": []}],
            "paths": self.paths,
            "components": {
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
                "schemas": schemas,
            },
        })
    }

    /// An operation in the form of the document.
    fn told(&mut self, operation: &Operation) -> Value {
        let mut parameters: Vec<Value> = (operation.path.split('/'))
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
            .map(|name| {
                let name = name.trim_start_matches('*');
                let schema = if name == "id" {
                    json!({"type": "string", "format": "uuid"})
                } else {
                    json!({"type": "string", "minLength": 1})
                };
                json!({"name": name, "in": "path", "required": true, "schema": schema})
            })
            .collect();
        if let Some(query) = operation.query {
            let fields = self.inlined(query);
            let required: Vec<&str> =
                fields["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            for (name, schema) in fields["properties"].as_object().into_iter().flatten() {
                let mut parameter = json!({
                    "name": name, "in": "query", "required": required.contains(&name.as_str()), "schema": schema,
                });
                if let Some(description) = schema.get("description") {
                    parameter["description"] = description.clone();
                }
                parameters.push(parameter);
            }
        }
        let mut told = json!({
            "operationId": operation.id,
            "summary": operation.summary,
            "description": format!("Needs the role {}.", operation.role.name()),
            "parameters": parameters,
        });
        let mut json_of = |schema: SchemaOf| json!({"schema": schema(&mut self.read)});
        match operation.body {
            OperationBody::None => {}
            OperationBody::Json(body) => {
                told["requestBody"] = json!({"required": true, "content": {"application/json": json_of(body)}});
            }
            OperationBody::JsonOrForm(body, form) => {
                let content = json!({"application/json": json_of(body), "multipart/form-data": json_of(form)});
                told["requestBody"] = json!({"required": true, "content": content});
                if let Some(parameters) = told["parameters"].as_array_mut() {
                    parameters.push(json!({
                        "name": "Idempotency-Key", "in": "header", "required": false,
                        "description": "A second request with the same key gets the answer to the first one, and submits nothing.",
                        "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
                    }));
                }
            }
        }
        let mut answer_of = |schema: SchemaOf| json!({"application/json": {"schema": schema(&mut self.written)}});
        let (status, content) = match operation.answer {
            OperationAnswer::Json(answer) => ("200", answer_of(answer)),
            OperationAnswer::Created(answer) => ("201", answer_of(answer)),
            OperationAnswer::Bytes(kinds) => {
                let kinds = kinds.iter().map(|kind| ((*kind).to_owned(), json!({"schema": {}})));
                ("200", Value::Object(kinds.collect()))
            }
            OperationAnswer::Events => ("200", json!({"text/event-stream": {"schema": {"type": "string"}}})),
        };
        let problem = json!({"$ref": "#/components/schemas/Problem"});
        let mut responses = Map::new();
        responses.insert(status.to_owned(), json!({"description": "It is done.", "content": content}));
        if status == "201" {
            let again = json!({"description": "It was done before, with the same key.", "content": content});
            responses.insert("200".to_owned(), again);
        }
        responses.insert(
            "default".to_owned(),
            json!({"description": "Why not.", "content": {"application/problem+json": {"schema": problem}}}),
        );
        told["responses"] = Value::Object(responses);
        told
    }

    /// The schema of a type itself, not a reference to it.
    fn inlined(&mut self, schema: SchemaOf) -> Value {
        let found = schema(&mut self.read).to_value();
        let name = found["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        match name.and_then(|name| self.read.definitions_mut().remove(name)) {
            Some(own) => own,
            None => found,
        }
    }
}

/// Merges enum values that have a description each into one list: generators of clients understand that form.
fn join_words(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let parts = fields.get("oneOf").and_then(Value::as_array);
            let words: Option<Vec<Value>> = parts.and_then(|parts| {
                let word = |part: &Value| match (&part["const"], &part["enum"]) {
                    (word @ Value::String(_), _) => Some(vec![word.clone()]),
                    (_, Value::Array(words)) => Some(words.clone()),
                    _ => None,
                };
                parts.iter().map(word).collect::<Option<Vec<_>>>().map(|words| words.concat())
            });
            if let Some(words) = words {
                fields.remove("oneOf");
                fields.insert("type".to_owned(), json!("string"));
                fields.insert("enum".to_owned(), Value::Array(words));
            }
            fields.values_mut().for_each(join_words);
        }
        Value::Array(parts) => parts.iter_mut().for_each(join_words),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// JSON that a command has made: the text of a value of type `T`.
#[derive(Debug)]
pub(super) struct Made(pub(super) String);

impl IntoResponse for Made {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], self.0).into_response()
    }
}

/// A value as JSON.
pub(super) fn json_answer<T: serde::Serialize>(value: T) -> Response {
    Json(value).into_response()
}
