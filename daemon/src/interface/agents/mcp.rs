//! What MCP says: the handshake in both eras, the list of tools, and calls. The only room that knows the protocol.
//!
//! One [`Door`] serves one connection. It keeps no state of the protocol, so any request may come first. What a model can mend comes
//! back as a tool result with `isError`; only faults of the protocol are JSON-RPC errors.

use crate::handlers;
use crate::handlers::Asked;
use crate::interface::agents::session::Session;
use crate::service::Service;
use loci_proto::error::{Code, Failure};
use loci_proto::mcp::idempotency::META_KEY;
use loci_proto::mcp::tools;
use loci_proto::{VERSION, limits};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// How long a call may take from its arrival to its answer.
const DEADLINE: Duration = Duration::from_secs(30);
/// How long a call may take before the caller is told that it is being worked on, and then again.
const PROGRESS: Duration = Duration::from_secs(1);
/// How long a client may keep the list of tools, in milliseconds; it changes only with the daemon's version.
const LIST_FRESH_MS: u64 = 3_600_000;
/// Structured answers larger than this, in bytes, are not repeated as text.
const TEXT_COPY_BYTES: usize = 128 * 1024;

/// MCP for one session.
#[derive(Clone)]
pub struct Door {
    service: Arc<Service>,
    session: Arc<Session>,
    draining: CancellationToken,
}

impl Door {
    /// The door of a session.
    #[must_use]
    pub fn new(service: Arc<Service>, session: Arc<Session>, draining: CancellationToken) -> Self {
        Self { service, session, draining }
    }
}

impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_tool_list_changed()
                .enable_prompts()
                .enable_resources()
                .build(),
        )
        .with_server_info(Implementation::new("loci", VERSION))
        .with_instructions(tools::INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        // Later requests of this session are judged by the version that was agreed, not by the one that was asked for.
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = tools::all().iter().map(tool).collect();
        Ok(ListToolsResult::with_all_items(listed).with_ttl_ms(LIST_FRESH_MS))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !tools::all().iter().any(|tool| tool.name == request.name) {
            return Err(ErrorData::invalid_params(
                format!("there is no tool {}", request.name),
                None,
            ));
        }
        self.session.called(
            context.client_info().map(|client| format!("{} {}", client.name, client.version)),
        );
        let key = context.meta.get(META_KEY).and_then(Value::as_str).map(str::to_owned);
        let (door, given) = (self.clone(), request.arguments.unwrap_or_default());
        let call = guarded(async move {
            // A session that sends many calls at once waits for itself, not the others for it.
            let _turn = door.session.turn().await;
            handlers::call(
                &door.service,
                Asked { session: &door.session, name: &request.name, given, key },
            )
            .await
        });
        let outcome = tokio::select! {
            outcome = call => outcome,
            never = tell_progress(&context) => match never {},
            // The answer is dropped by the library; what has reached the writer is done all the same.
            () = taken_back(&context, &self.draining) => Err(Failure::new(Code::Invalid, "the call was cancelled")),
        };
        Ok(CallToolResponse::Complete(match outcome {
            Ok(value) => success(value),
            Err(failure) => CallToolResult::error(vec![ContentBlock::text(failure.to_string())]),
        }))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(crate::interface::agents::offers::prompts().with_ttl_ms(LIST_FRESH_MS))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        crate::interface::agents::offers::prompt(&request).map(GetPromptResponse::Complete)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(crate::interface::agents::offers::resources().with_ttl_ms(LIST_FRESH_MS))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(crate::interface::agents::offers::templates().with_ttl_ms(LIST_FRESH_MS))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        crate::interface::agents::offers::resource(&self.service, &self.session, &request.uri)
            .await
            .map(ReadResourceResponse::Complete)
    }

    /// Requests that the library cannot read land here: of a method that exists, it is the parameters that are wrong.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let known = [
            "initialize",
            "server/discover",
            "ping",
            "tools/list",
            "tools/call",
            "prompts/list",
            "prompts/get",
            "resources/list",
            "resources/templates/list",
            "resources/read",
        ];
        if known.contains(&request.method.as_str()) {
            return Err(ErrorData::invalid_params(
                format!("the params of {} are not well formed", request.method),
                None,
            ));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }
}

/// Runs a call on a task of its own: a panic then becomes an answer, where the library would leave the caller waiting for ever.
async fn guarded(
    call: impl Future<Output = Result<Value, Failure>> + Send + 'static,
) -> Result<Value, Failure> {
    let task = AbortOnDropHandle::new(tokio::spawn(call));
    match tokio::time::timeout(DEADLINE, task).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(Failure::new(Code::Internal, "a fault of loci ended the call")
            .hint("Run loci ctl logs and report it")),
        Err(_) => Err(too_slow()),
    }
}

/// Waits until the caller takes its call back. A daemon that drains ends every call's token too, and that is no reason to drop it.
async fn taken_back(context: &RequestContext<RoleServer>, draining: &CancellationToken) {
    context.ct.cancelled().await;
    if draining.is_cancelled() {
        std::future::pending::<()>().await;
    }
}

/// Tells the caller every second that its call is being worked on, if it asked to be told.
async fn tell_progress(context: &RequestContext<RoleServer>) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut seconds = 0.0;
    loop {
        tokio::time::sleep(PROGRESS).await;
        seconds += PROGRESS.as_secs_f64();
        let told = ProgressNotificationParam::new(token.clone(), seconds)
            .with_message("loci is working on it");
        if context.peer.notify_progress(told).await.is_err() {
            return std::future::pending().await;
        }
    }
}

fn too_slow() -> Failure {
    Failure::new(Code::Busy, format!("the call took more than {} s", DEADLINE.as_secs()))
        .hint("Call again; a store may have been made")
}

fn success(value: Value) -> CallToolResult {
    let text = value.to_string();
    if text.len() > limits::REPLY_BYTES {
        let failure = Failure::new(
            Code::TooLarge,
            format!(
                "the answer has {} bytes; at most {} can be sent",
                text.len(),
                limits::REPLY_BYTES
            ),
        );
        return CallToolResult::error(vec![ContentBlock::text(
            failure.hint("Ask for fewer results, or with a token_budget").to_string(),
        )]);
    }
    let mut result = CallToolResult::structured(value);
    if text.len() > TEXT_COPY_BYTES {
        result.content = vec![ContentBlock::text("The answer is in structuredContent.")];
    }
    result
}

fn tool(tool: &tools::Tool) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(tool.read_only)
        .destructive(tool.destructive)
        .idempotent(tool.idempotent)
        .open_world(false);
    Tool::new(tool.name, tool.description, tool.input.clone()).with_annotations(annotations)
}
