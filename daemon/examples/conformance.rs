//! The daemon's MCP on loopback HTTP, for the conformance suite (tests/clients/conformance.sh), which supports no other transport.
//!
//! The HTTP layer is thin: each session is a stream of lines, as on the socket, served by the daemon's own [`LineTransport`] and
//! [`McpHandler`]. The tools that the suite calls by name are added to the daemon's. A request without a session gets a stream of its own.
//! The store never opens and its folder is empty, because no scenario stores anything. Not here: authentication, streams opened by the server, anything for users.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use clap::Parser;
use loci_proto::group::{GroupHint, GroupName};
use loci_proto::hello;
use loci_proto::paths::{Paths, Variables};
use locid::config::effective::EffectiveConfig;
use locid::embedding::auto_fetch::AutoFetch;
use locid::embedding::model_files::ModelConfig;
use locid::embedding::onnx;
use locid::interface::agents::mcp::McpHandler;
use locid::interface::agents::session::{Session, SessionKind};
use locid::interface::agents::transport::LineTransport;
use locid::service::Service;
use locid::service::models::Models;
use locid::service::store_state::StoreState;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, ErrorData, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, RunningService, serve_directly_with_ct};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// A PNG of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// The tools that the suite calls by name.
const FIXTURES: [&str; 4] = [
    "test_simple_text",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
];
/// The header that names a session.
const SESSION_HEADER: &str = "mcp-session-id";
/// Buffer of a stream of lines, in bytes.
const STREAM_BUFFER: usize = 64 * 1024;

/// Serves MCP over HTTP until it is killed; the first line it prints is its address.
#[derive(Debug, Parser)]
#[command(name = "conformance")]
struct Options {
    /// The port on loopback; 0 selects a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// The daemon's handler, plus the tools of the suite.
struct Fixtures(McpHandler);

impl Fixtures {
    /// Calls a tool of the suite.
    async fn call_fixture(
        &self,
        name: &str,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let text = |text: &str| vec![ContentBlock::text(text)];
        match name {
            "test_simple_text" => {
                CallToolResult::success(text("This is a simple text response for testing."))
            }
            "test_error_handling" => {
                CallToolResult::error(text("This tool intentionally returns an error for testing"))
            }
            "test_multiple_content_types" => CallToolResult::success(vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PNG, "image/png"),
                ContentBlock::embedded_text(
                    "test://mixed-content-resource",
                    json!({"test": "data", "value": 123}).to_string(),
                ),
            ]),
            _ => {
                send_progress(context).await;
                CallToolResult::success(text("Three progress notifications were sent."))
            }
        }
    }
}

/// Sends three progress notifications.
async fn send_progress(context: &RequestContext<RoleServer>) {
    for step in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            // Fails only if the client has disconnected.
            let _ = context
                .peer
                .notify_progress(ProgressNotificationParam::new(token, step).with_total(100.0))
                .await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

type Context = RequestContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        self.0.initialize(request, context).await
    }

    async fn list_tools(&self, page: Page, context: Context) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.0.list_tools(page, context).await?;
        let schema = || Map::from_iter([("type".to_owned(), json!("object"))]);
        listed.tools.extend(
            FIXTURES.map(|name| Tool::new(name, "A tool of the conformance suite.", schema())),
        );
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if FIXTURES.contains(&request.name.as_ref()) {
            return Ok(CallToolResponse::Complete(
                self.call_fixture(&request.name, &context).await,
            ));
        }
        self.0.call_tool(request, context).await
    }

    async fn list_prompts(
        &self,
        page: Page,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.0.list_prompts(page, context).await
    }

    async fn list_resources(
        &self,
        page: Page,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.0.list_resources(page, context).await
    }

    async fn list_resource_templates(
        &self,
        page: Page,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.0.list_resource_templates(page, context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        self.0.complete(request, context).await
    }
}

/// The client's end of a session.
struct Connection {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    _service: RunningService<RoleServer, Fixtures>,
}

impl Connection {
    /// Sends a message and returns all messages up to its answer as server-sent events; nothing for a notification.
    async fn exchange(&mut self, message: &Value) -> io::Result<String> {
        self.writer.write_all(format!("{message}\n").as_bytes()).await?;
        let mut events = String::new();
        let Some(id) = message.get("id") else { return Ok(events) };
        while let Some(line) = self.lines.next_line().await? {
            events.extend(["event: message\ndata: ", &line, "\n\n"]);
            if serde_json::from_str::<Value>(&line)?.get("id") == Some(id) {
                return Ok(events);
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// The state of the HTTP server.
struct Server {
    service: Arc<Service>,
    group: GroupName,
    sessions: Mutex<HashMap<String, Arc<Mutex<Connection>>>>,
}

impl Server {
    /// Starts the daemon's handler on a new stream and returns the client's end.
    fn connect(&self) -> Arc<Mutex<Connection>> {
        let id = Uuid::now_v7().to_string();
        let hello = hello::Session {
            id,
            group: GroupHint::Default,
            pid: std::process::id(),
            ..hello::Session::default()
        };
        let session =
            Arc::new(Session::new(hello, SessionKind::Agent, &self.group, self.service.now()));
        let handler = McpHandler::new(Arc::clone(&self.service), session, CancellationToken::new());
        let (client_end, server_end) = tokio::io::duplex(STREAM_BUFFER);
        let (reader, writer) = tokio::io::split(server_end);
        let lines = LineTransport::new(BufReader::new(reader), writer, Duration::from_secs(10));
        let service =
            serve_directly_with_ct(Fixtures(handler), lines, None, CancellationToken::new());
        let (reader, writer) = tokio::io::split(client_end);
        Arc::new(Mutex::new(Connection {
            lines: BufReader::new(reader).lines(),
            writer,
            _service: service,
        }))
    }
}

/// Returns true if the Host and Origin headers name this machine, so that a foreign page cannot reach the server (DNS rebinding).
fn is_local(headers: &HeaderMap) -> bool {
    [header::HOST, header::ORIGIN].into_iter().filter_map(|name| headers.get(name)).all(|value| {
        let host = value.to_str().unwrap_or_default().trim_start_matches("http://");
        matches!(
            host.rsplit_once(':').map_or(host, |(host, _port)| host),
            "127.0.0.1" | "localhost"
        )
    })
}

/// `POST /mcp`: passes a message to its session; `initialize` opens one.
async fn post_message(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    body: String,
) -> Response {
    if !is_local(&headers) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let Ok(message) = serde_json::from_str::<Value>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let (connection, new_id) =
        if let Some(id) = headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()) {
            let Some(existing) = server.sessions.lock().await.get(id).map(Arc::clone) else {
                return StatusCode::NOT_FOUND.into_response();
            };
            (existing, None)
        } else {
            (
                server.connect(),
                message
                    .get("method")
                    .filter(|method| *method == "initialize")
                    .map(|_| Uuid::now_v7().to_string()),
            )
        };
    let events = match connection.lock().await.exchange(&message).await {
        Ok(events) => events,
        Err(error) => {
            return (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
        }
    };
    if events.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    let mut answer = ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response();
    if let Some(id) = new_id {
        answer.headers_mut().insert(SESSION_HEADER, id.parse().expect("an id is ASCII"));
        server.sessions.lock().await.insert(id, connection);
    }
    answer
}

/// `DELETE /mcp`: closes a session.
async fn delete_session(State(server): State<Arc<Server>>, headers: HeaderMap) -> StatusCode {
    let id = headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()).unwrap_or_default();
    if server.sessions.lock().await.remove(id).is_some() {
        StatusCode::OK
    } else {
        StatusCode::NOT_FOUND
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    onnx::switch_off_telemetry();
    let options = Options::parse();
    let folder = tempfile::tempdir()?;
    let source = ModelConfig { models: folder.path().to_owned(), ort_lib: None };
    let models = Models::start(source.into());
    let (_store, opening) = watch::channel(StoreState::Opening);
    let variables = Variables { home: Some(folder.path().to_owned()), ..Variables::default() };
    let config = EffectiveConfig::read(&Paths::resolve(&variables)?)?;
    let service =
        Arc::new(Service::new(models, AutoFetch::new(false), opening, config, PathBuf::new()));
    let server =
        Arc::new(Server { service, group: "conformance".parse()?, sessions: Mutex::default() });

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(
        listener,
        Router::new().route("/mcp", post(post_message).delete(delete_session)).with_state(server),
    )
    .await?;
    Ok(())
}
