//! `locid-conformance`: the daemon's MCP on loopback HTTP, for the conformance suite, which knows no other transport.
//!
//! A program of its own behind the feature `fixtures`, so no release can hold it. Behind the HTTP it is [`Door`], as on the socket: its
//! handshake in both eras, its list, its refusals; beside its tools are the few that the suite calls by name. Its store never opens and
//! its folder is empty, since no scenario stores anything. Not here: authentication, and anything that a person could use.

use clap::Parser;
use loci_proto::group::{GroupName, Hint};
use loci_proto::hello;
use loci_proto::paths::{Paths, Variables};
use locid::embedding::first_use::FirstUse;
use locid::embedding::model::ModelConfig;
use locid::embedding::{Embedder, onnx};
use locid::mcp::Door;
use locid::service::{Service, Store};
use locid::session::Session;
use locid::settled::Settled;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, ContentBlock, ErrorData,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, json};
use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The smallest PNG there is: one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// What the suite calls.
const FIXTURES: [&str; 4] = ["test_simple_text", "test_multiple_content_types", "test_error_handling", "test_tool_with_progress"];

/// Serves MCP over HTTP until it is killed; the first line it prints is its address.
#[derive(Debug, Parser)]
#[command(name = "locid-conformance")]
struct Options {
    /// The port on loopback; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// The daemon's door, and the suite's tools beside its own.
struct Fixtures(Door);

impl Fixtures {
    async fn fixture(&self, name: &str, context: &RequestContext<RoleServer>) -> CallToolResult {
        let text = |text: &str| vec![ContentBlock::text(text)];
        match name {
            "test_simple_text" => CallToolResult::success(text("This is a simple text response for testing.")),
            "test_error_handling" => CallToolResult::error(text("This tool intentionally returns an error for testing")),
            "test_multiple_content_types" => CallToolResult::success(vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PNG, "image/png"),
                ContentBlock::embedded_text("test://mixed-content-resource", json!({"test": "data", "value": 123}).to_string()),
            ]),
            _ => {
                progress(context).await;
                CallToolResult::success(text("Three steps were told."))
            }
        }
    }
}

async fn progress(context: &RequestContext<RoleServer>) {
    for step in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            // A client that has gone needs no progress.
            let _ = context.peer.notify_progress(ProgressNotificationParam::new(token, step).with_total(100.0)).await;
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

    async fn initialize(&self, request: InitializeRequestParams, context: Context) -> Result<InitializeResult, ErrorData> {
        self.0.initialize(request, context).await
    }

    async fn list_tools(&self, page: Page, context: Context) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.0.list_tools(page, context).await?;
        let schema = || Map::from_iter([("type".to_owned(), json!("object"))]);
        listed.tools.extend(FIXTURES.map(|name| Tool::new(name, "A tool of the conformance suite.", schema())));
        Ok(listed)
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        if FIXTURES.contains(&request.name.as_ref()) {
            return Ok(CallToolResponse::Complete(self.fixture(&request.name, &context).await));
        }
        self.0.call_tool(request, context).await
    }

    async fn list_prompts(&self, page: Page, context: Context) -> Result<ListPromptsResult, ErrorData> {
        self.0.list_prompts(page, context).await
    }

    async fn list_resources(&self, page: Page, context: Context) -> Result<ListResourcesResult, ErrorData> {
        self.0.list_resources(page, context).await
    }

    async fn list_resource_templates(&self, page: Page, context: Context) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.0.list_resource_templates(page, context).await
    }

    async fn complete(&self, request: CompleteRequestParams, context: Context) -> Result<CompleteResult, ErrorData> {
        self.0.complete(request, context).await
    }
}

fn door(service: &Arc<Service>, group: &GroupName) -> Door {
    let id = uuid::Uuid::now_v7().to_string();
    let hello = hello::Session { id, group: Hint::Default, warnings: Vec::new(), agent_session: None, pid: std::process::id() };
    Door::new(Arc::clone(service), Arc::new(Session::new(hello, group, service.now())), CancellationToken::new())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    onnx::switch_off_telemetry();
    let options = Options::parse();
    let folder = tempfile::tempdir()?;
    let embedder = Embedder::start(ModelConfig { models: folder.path().to_owned(), ort_lib: None });
    let (_store, opening) = watch::channel(Store::Opening);
    let places = Variables { home: Some(folder.path().to_owned()), ..Variables::default() };
    let settled = Settled::read(&Paths::resolve(&places)?)?;
    let service = Arc::new(Service::new(embedder, FirstUse::new(false), opening, settled, String::new()));
    let group: GroupName = "conformance".parse()?;

    let factory = move || Ok(Fixtures(door(&service, &group)));
    // The usual configuration lets in loopback hosts alone.
    let config = StreamableHttpServerConfig::default();
    let mcp = StreamableHttpService::new(factory, Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", mcp)).await?;
    Ok(())
}
