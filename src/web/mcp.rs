//! The Model Context Protocol (<https://modelcontextprotocol.io/specification>), so that an agent can inspect jobs,
//! read results and doubts, and submit, if its token permits. A tool is an operation of [`super::api`]: it is called
//! through the same routes, with the caller's name and role. Texts of documents are resources.

use super::{
    access::Visitor,
    api::{self, ROOT},
    state::{AGENTS_ADDRESS, WebState},
};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Method, Request, StatusCode, header::CONTENT_TYPE, request::Parts},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
        ResourceTemplate, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio,
        streamable_http_server::session::never::NeverSessionManager,
    },
};
use serde_json::{Map, Value, json};
use std::{fmt::Write, sync::Arc};
use tower::ServiceExt as _;

/// The most bytes of an answer that an agent gets; a longer one is cut.
const MOST_TOLD: usize = 100_000;
/// The most bytes of an answer before cutting.
const MOST_ANSWER: usize = 256 << 20;
/// Jobs whose documents are listed.
const LISTED_JOBS: &str = "20";
const ABOUT: &str = "overnight works long document jobs with a language model, unattended. A batch has jobs; a job has documents, a result \
                     (records, each with a quote of its source) and doubts that a person should look at.";

/// The operations that are tools.
const TOOLS: [&str; 10] = [
    "listInstructions",
    "submitBatch",
    "listBatches",
    "getBatch",
    "getBatchRecords",
    "listJobs",
    "getJob",
    "getJobRecords",
    "getJobDoubts",
    "getDocumentText",
];

/// Answers one agent.
#[derive(Clone, Debug)]
pub(super) struct McpServer {
    routes: Router,
    tools: Arc<Vec<OperationTool>>,
    /// The caller, if requests don't state it.
    visitor: Option<Visitor>,
}

/// A tool, and its operation.
#[derive(Debug)]
struct OperationTool {
    tool: Tool,
    method: Method,
    path: String,
}

impl McpServer {
    pub(super) fn new(state: &Arc<WebState>, visitor: Option<Visitor>) -> Self {
        let routes = api::operations();
        let tools = TOOLS.iter().filter_map(|id| OperationTool::of(&routes.document, id)).collect();
        let routes = routes.plain.merge(routes.uploads).with_state(state.clone());
        Self { routes, tools: Arc::new(tools), visitor }
    }

    /// Calls an operation in the name of the caller.
    async fn ask(
        &self,
        context: &RequestContext<RoleServer>,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<(StatusCode, String), ErrorData> {
        let of_request = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Visitor>());
        let visitor = of_request.or(self.visitor.as_ref()).cloned();
        let visitor = visitor.ok_or_else(|| ErrorData::invalid_request("nobody is known who asks", None))?;
        let mut request = Request::builder().method(method).uri(format!("{ROOT}{path}"));
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let failed = |error: String| ErrorData::internal_error(error, None);
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let mut request = request.body(body).map_err(|error| failed(error.to_string()))?;
        request.extensions_mut().insert(visitor);
        let answer = self.routes.clone().oneshot(request).await.map_err(|never| match never {})?;
        let status = answer.status();
        if let Some(refused) = answer.extensions().get::<super::WebError>() {
            return Ok((status, refused.to_string()));
        }
        if !status.is_success() {
            return Ok((status, "there is no such thing".to_owned()));
        }
        let bytes = to_bytes(answer.into_body(), MOST_ANSWER).await.map_err(|error| failed(error.to_string()))?;
        Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
    }
}

impl OperationTool {
    /// The tool that an operation of the OpenAPI document is.
    fn of(document: &Value, id: &str) -> Option<Self> {
        let paths = document["paths"].as_object()?.iter();
        let mut operations = paths.flat_map(|(path, methods)| {
            methods.as_object().into_iter().flatten().map(move |(method, operation)| (path, method, operation))
        });
        let (path, method, operation) = operations.find(|(.., operation)| operation["operationId"] == id)?;
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for parameter in operation["parameters"].as_array()?.iter().filter(|one| one["in"] != "header") {
            let name = parameter["name"].as_str()?;
            properties.insert(name.to_owned(), parameter["schema"].clone());
            if parameter["required"] == true {
                required.push(json!(name));
            }
        }
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let body = match body["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            Some(name) => &document["components"]["schemas"][name],
            None => body,
        };
        properties.extend(body["properties"].as_object().cloned().unwrap_or_default());
        required.extend(body["required"].as_array().cloned().unwrap_or_default());
        let schema =
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let schema = with_definitions(schema, document).as_object()?.clone();
        let told = operation["summary"].as_str()?.to_owned();
        let is_read = method == "get";
        let annotations = ToolAnnotations::from_raw(None, Some(is_read), Some(false), Some(is_read), Some(false));
        Some(Self {
            tool: Tool::new(id.to_owned(), told, schema).with_annotations(annotations),
            method: if is_read { Method::GET } else { Method::POST },
            path: path.clone(),
        })
    }

    /// The path with query, and the body, for these arguments.
    fn request(&self, mut given: Map<String, Value>) -> Result<(String, Option<Value>), String> {
        let mut path = String::new();
        for part in self.path.split('/').skip(1) {
            path.push('/');
            let Some(name) = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) else {
                path.push_str(part);
                continue;
            };
            let value = match given.remove(name) {
                Some(Value::String(value)) => value,
                Some(other) => return Err(format!("the argument {name} is {other}, and must be a text")),
                None => return Err(format!("the argument {name} is missing: it is a text")),
            };
            // The rest of a path keeps its slashes.
            let encoded: Vec<String> = value.split('/').map(super::files::percent_encoded).collect();
            path.push_str(&encoded.join(if name == "path" { "/" } else { "%2F" }));
        }
        if self.method == Method::POST {
            return Ok((path, Some(Value::Object(given))));
        }
        let mut separator = '?';
        for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            path.push(separator);
            path.extend([&name, "=", &super::files::percent_encoded(&value)]);
            separator = '&';
        }
        Ok((path, None))
    }
}

/// A self-contained schema: the definitions to which it refers are included.
fn with_definitions(mut schema: Value, document: &Value) -> Value {
    let mut definitions = Map::new();
    let mut open = vec![schema.to_string()];
    while let Some(text) = open.pop() {
        for (place, _) in text.match_indices("#/components/schemas/") {
            let name = text[place + 21..].split('"').next().unwrap_or_default();
            if !definitions.contains_key(name) {
                let found = document["components"]["schemas"][name].clone();
                open.push(found.to_string());
                definitions.insert(name.to_owned(), found);
            }
        }
    }
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
        let text = schema.to_string().replace("#/components/schemas/", "#/$defs/");
        schema = serde_json::from_str(&text).unwrap_or(schema);
    }
    schema
}

/// An answer in the form that an agent gets.
fn told(mut text: String) -> String {
    if text.len() > MOST_TOLD {
        let all = text.len();
        text.truncate(text.floor_char_boundary(MOST_TOLD));
        let _ = write!(text, "\n(cut: {MOST_TOLD} of {all} bytes)");
    }
    text
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let me = Implementation::new("overnight", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(me).with_instructions(ABOUT)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.iter().map(|known| known.tool.clone()).collect()))
    }

    async fn call_tool(
        &self,
        called: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let known = self.tools.iter().find(|known| known.tool.name == called.name);
        let known =
            known.ok_or_else(|| ErrorData::invalid_params(format!("there is no tool {}", called.name), None))?;
        let (path, body) = match known.request(called.arguments.unwrap_or_default()) {
            Ok(request) => request,
            Err(why) => return Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into()),
        };
        let (status, text) = self.ask(&context, known.method.clone(), &path, body).await?;
        let answer = vec![ContentBlock::text(told(text))];
        Ok(if status.is_success() { CallToolResult::success(answer) } else { CallToolResult::error(answer) }.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (_, jobs) = self.ask(&context, Method::GET, &format!("/jobs?limit={LISTED_JOBS}"), None).await?;
        let jobs: Value = serde_json::from_str(&jobs).unwrap_or_default();
        let mut resources = Vec::new();
        for id in jobs["items"].as_array().into_iter().flatten().filter_map(|job| job["id"].as_str()) {
            let (_, job) = self.ask(&context, Method::GET, &format!("/jobs/{id}"), None).await?;
            let job: Value = serde_json::from_str(&job).unwrap_or_default();
            let names = job["documents"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str());
            resources.extend(names.map(|name| {
                let encoded: Vec<String> = name.split('/').map(super::files::percent_encoded).collect();
                Resource::new(format!("overnight://jobs/{id}/documents/{}", encoded.join("/")), name)
                    .with_mime_type("text/plain")
            }));
        }
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("overnight://jobs/{id}/documents/{+name}", "The text of a job's document")
            .with_mime_type("text/plain");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        wanted: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let path = wanted.uri.strip_prefix("overnight:/").filter(|path| path.starts_with("/jobs/"));
        let path =
            path.ok_or_else(|| ErrorData::resource_not_found("a resource is overnight://jobs/…/documents/…", None))?;
        let (status, text) = self.ask(&context, Method::GET, path, None).await?;
        if !status.is_success() {
            return Err(ErrorData::resource_not_found(text, None));
        }
        Ok(ReadResourceResult::new(vec![ResourceContents::text(told(text), wanted.uri)]).into())
    }
}

/// The route at which agents call a server that permits it.
pub(super) fn routes(state: &Arc<WebState>) -> Router<Arc<WebState>> {
    if !state.config.agents {
        return Router::new();
    }
    let server = McpServer::new(state, None);
    // The guard has already checked the host name.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts();
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config);
    Router::new().route_service(AGENTS_ADDRESS, service)
}

/// Answers the agent on standard input and output, until it closes them.
pub(super) async fn serve_stdio(server: McpServer) -> Result<(), String> {
    let running = server.serve(stdio()).await.map_err(|error| error.to_string())?;
    running.waiting().await.map(drop).map_err(|error| error.to_string())
}
