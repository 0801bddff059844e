//! The daemon's HTTP server for the conformance suite (tests/clients/conformance.sh).
//!
//! It is the server of `interface::http`, with its checks of host, origin and body. Two things differ: the tools that the suite calls by
//! name are added, and no token is asked for, because the suite cannot send one. The store never opens and its folder is empty, because
//! no scenario stores anything. Not here: anything for users.
#![expect(clippy::disallowed_methods, reason = "it has texts of its own alone")]

use clap::Parser;
use loci_proto::paths::{Paths, Variables};
use locid::config::effective::EffectiveConfig;
use locid::embedding::auto_fetch::AutoFetch;
use locid::embedding::model_files::ModelConfig;
use locid::embedding::onnx;
use locid::interface::agents::mcp::McpHandler;
use locid::interface::http::guard::{Access, Guard};
use locid::interface::http::own_address::OwnAddress;
use locid::interface::http::routes::routes;
use locid::interface::http::server;
use locid::interface::http::sessions::HttpSessions;
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
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, json};
use std::error::Error;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A PNG of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// The tools that the suite calls by name.
const FIXTURES: [&str; 4] = [
    "test_simple_text",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
];

/// Serves MCP over HTTP until it is killed; the first line it prints is its address.
#[derive(Debug, Parser)]
#[command(name = "conformance")]
struct Options {
    /// The port on loopback; 0 selects a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// The daemon's handler, plus the tools of the suite.
#[derive(Clone)]
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
    let listener = server::bind((Ipv4Addr::LOCALHOST, options.port).into()).await?;
    let address = listener.local_addr()?;
    let sessions = Arc::new(HttpSessions::new(Arc::clone(&service), "conformance".parse()?));
    let handler = McpHandler::for_http(Arc::clone(&service), sessions, CancellationToken::new());
    let guard = Guard::new(service, Access::Everybody);
    println!("http://{address}/mcp");
    let router = routes(&guard, &OwnAddress::new(address), Fixtures(handler));
    server::serve(
        listener,
        router,
        server::Users::Everybody,
        CancellationToken::new(),
        TaskTracker::new(),
    )
    .await;
    Ok(())
}
