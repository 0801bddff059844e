//! MCP for one connection, or for all HTTP clients: the handshake of both protocol generations, the list of tools, and tool calls.
//!
//! An [`McpHandler`] keeps no protocol state, so any request may come first. A fault that a model can correct is a tool result with
//! `isError`; only protocol faults are JSON-RPC errors. Not here: prompts and resources, lines (`transport`).

use crate::handlers;
use crate::interface::agents::exits::{error, failed, internal, invalid, structured};
use crate::interface::agents::recognised::Recognised;
use crate::interface::agents::session::Session;
use crate::interface::agents::{prompts, resources, short_ids};
use crate::interface::http::sessions::{HttpCaller, HttpSessions};
use crate::service::hooks::sessions::gone_text;
use crate::service::{Caller, Service};
use axum::http::request::Parts;
use loci_engine::flags::orders;
use loci_proto::error::{Code, Failure};
use loci_proto::gate::{ModelReply, ModelText};
use loci_proto::hello::Checkout;
use loci_proto::mcp::idempotency::{CHECKOUT_KEY, FOLDER_GONE_KEY, META_KEY};
use loci_proto::mcp::tools;
use loci_proto::requests::Request;
use loci_proto::{VERSION, limits};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Icon, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, MetaObject, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Maximum time from the arrival of a call to its answer.
const DEADLINE: Duration = Duration::from_secs(30);
/// Interval of progress notifications.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// How long a client may cache lists, in milliseconds; they change only with the daemon's version.
const LIST_TTL_MS: u64 = 3_600_000;
/// Structured results larger than this, in bytes, are not repeated as text.
const MAX_TEXT_COPY_BYTES: usize = 128 * 1024;

/// Handles the MCP requests of one session, or of all HTTP clients.
#[derive(Clone)]
pub struct McpHandler {
    service: Arc<Service>,
    sessions: SessionSource,
    draining: CancellationToken,
}

/// Where the session of a request comes from.
#[derive(Clone)]
enum SessionSource {
    /// The connection has one session.
    Connection(Arc<Session>),
    /// The headers of each request say whose it is.
    Http(Arc<HttpSessions>),
}

impl McpHandler {
    /// Creates the handler of a session.
    #[must_use]
    pub fn new(service: Arc<Service>, session: Arc<Session>, draining: CancellationToken) -> Self {
        Self { service, sessions: SessionSource::Connection(session), draining }
    }

    /// Creates the handler of all HTTP clients.
    #[must_use]
    pub fn for_http(
        service: Arc<Service>,
        sessions: Arc<HttpSessions>,
        draining: CancellationToken,
    ) -> Self {
        Self { service, sessions: SessionSource::Http(sessions), draining }
    }
}

impl McpHandler {
    /// Returns the session of a request, and the client's name if the request or the handshake of its connection has it.
    fn session(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Arc<Session>, Option<String>), ErrorData> {
        let name = |client: Implementation| format!("{} {}", client.name, client.version);
        match &self.sessions {
            SessionSource::Connection(session) => {
                Ok((Arc::clone(session), context.client_info().map(name)))
            }
            SessionSource::Http(sessions) => {
                let caller = http_caller(context)?;
                // Without a handshake of the connection, rmcp would name itself.
                let client = context.meta.client_info().map(name);
                Ok((
                    sessions.session(caller, client.as_deref()),
                    client.or(caller.user_agent.clone()),
                ))
            }
        }
    }

    /// Returns whether the other side may say in a call which call it is and what is checked out: only the shim may.
    fn trusts_meta(&self) -> bool {
        matches!(self.sessions, SessionSource::Connection(_))
    }

    /// Tells the agent that the folder of its session is gone, unless the client works in another one now.
    async fn note_missing_folder(&self, session: &Session) {
        if session.followed().session().is_none() && session.followed().learns_of_missing_folder() {
            let resolved = self.service.resolved(session).await;
            let name = self.service.project_name(resolved.as_ref().unwrap_or(session)).await;
            session.followed().tell(gone_text(&name));
        }
    }

    /// Adds the warnings about storage that this session has not been shown yet, and that it is in another project, as the field `notice`.
    fn with_notice(&self, session: &Session, reply: ModelReply) -> ModelReply {
        let warning = self.service.health.unseen(&session.seen_warnings);
        let warning = warning.map(|text| ModelText::note(&text, orders));
        let present = session.followed().session();
        let recognised = present.as_deref().unwrap_or(session).recognised.get();
        let suggestion = recognised.and_then(Recognised::take_suggestion);
        let news = session.followed().take_news();
        let notices: Vec<ModelText> = news.into_iter().chain(suggestion).chain(warning).collect();
        if notices.is_empty() {
            reply
        } else {
            reply.with("notice", ModelText::joined(&notices, " "))
        }
    }
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_tool_list_changed()
                .enable_prompts()
                .enable_resources()
                .build(),
        )
        .with_server_info(
            Implementation::new("loci", VERSION)
                .with_title("loci")
                .with_icons(vec![Icon::new(tools::ICON).with_mime_type(tools::ICON_TYPE)]),
        )
        .with_instructions(tools::INSTRUCTIONS.as_str())
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        if let SessionSource::Http(sessions) = &self.sessions {
            // The later requests of this client have the same headers, but not its name.
            let client = &request.client_info;
            let session = sessions.session(http_caller(&context)?, None);
            session.record_client(format!("{} {}", client.name, client.version));
        }
        // Later requests of this session are validated against the agreed version, not the requested one.
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        static LISTED: LazyLock<Vec<Tool>> =
            LazyLock::new(|| tools::all().iter().map(tool).collect());
        Ok(ListToolsResult::with_all_items(LISTED.clone()).with_ttl_ms(LIST_TTL_MS))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::all().iter().find(|tool| tool.name == request.name) else {
            return Err(invalid("there is no tool ", &request.name));
        };
        let (session, client) = self.session(&context)?;
        session.record_call(client);
        let meta = self.trusts_meta().then_some(&context.meta);
        let key = meta.and_then(|meta| meta.get(META_KEY)).and_then(Value::as_str);
        let key = key.map(str::to_owned);
        // The shim knows what is checked out where the session began.
        let checkout = checkout(meta.and_then(|meta| meta.get(CHECKOUT_KEY)))
            .filter(|_| session.followed().session().is_none());
        if meta.and_then(|meta| meta.get(FOLDER_GONE_KEY)).is_some() {
            self.note_missing_folder(&session).await;
        }
        let (service, mut arguments) =
            (Arc::clone(&self.service), request.arguments.unwrap_or_default());
        // What models send for an argument that they do not mean to give.
        arguments.retain(|name, value| value != "" || tool.requires(name));
        let (tool, caller_session) = (request.name.clone(), session.at_present());
        let call = run_guarded(async move {
            // A session that sends many calls at once delays its own calls, not those of others.
            let _permit = caller_session.call_permit().await;
            arguments = Request::read_values(&request.name, arguments)?;
            short_ids::complete(&service, &caller_session, &mut arguments).await?;
            let parsed = Request::parse(&request.name, arguments)?;
            let checked_out = checkout.map(|checkout| caller_session.with_checkout(checkout));
            let caller = Caller { session: checked_out.as_ref().unwrap_or(&caller_session), key };
            handlers::handle(&service, caller, parsed).await
        });
        let outcome = tokio::select! {
            outcome = call => outcome,
            never = notify_progress(&context) => match never {},
            // rmcp discards the answer of a cancelled call; a job that is already queued still runs.
            () = cancelled_by_client(&context, &self.draining) => Err(Failure::new(Code::Invalid, "the call was cancelled")),
        };
        Ok(CallToolResponse::Complete(match outcome {
            Ok(value) => success(self.with_notice(&session, ModelReply::new(value, orders)), &tool),
            Err(failure) if failure.code == Code::Off => off(&failure),
            Err(failure) => failed(&failure),
        }))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list().with_ttl_ms(LIST_TTL_MS))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let (session, _) = self.session(&context)?;
        let prompt = prompts::get(&self.service, &session.at_present(), &request).await?;
        Ok(GetPromptResponse::Complete(prompt))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(resources::list().with_ttl_ms(LIST_TTL_MS))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates().with_ttl_ms(LIST_TTL_MS))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (session, _) = self.session(&context)?;
        resources::read(&self.service, &session.at_present(), &request.uri)
            .await
            .map(ReadResourceResponse::Complete)
    }

    /// Answers requests that rmcp cannot parse: a call whose arguments are the text of an object; else, if the method exists, its parameters
    /// are malformed.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if let Some(call) = call_with_text(&request) {
            let CallToolResponse::Complete(result) = self.call_tool(call, context).await? else {
                return Err(internal("the call was not completed"));
            };
            return match serde_json::to_value(result) {
                Ok(mut result) => {
                    // rmcp writes it for every revision where it does not know the result.
                    if let Some(fields) = result.as_object_mut() {
                        fields.remove("resultType");
                    }
                    Ok(CustomResult::new(result))
                }
                Err(_) => Err(internal("the result is no JSON")),
            };
        }
        let methods = [
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
        if methods.contains(&request.method.as_str()) {
            let method = ModelText::name(&request.method, orders);
            let text = ModelText::own("the params of ").and(&method).and_own(" are malformed");
            return Err(error(ErrorCode::INVALID_PARAMS, text));
        }
        Err(error(ErrorCode::METHOD_NOT_FOUND, ModelText::name(&request.method, orders)))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }
}

/// Returns the call of a request whose arguments are not an object but its JSON as a text, as some clients send them.
fn call_with_text(request: &CustomRequest) -> Option<CallToolRequestParams> {
    if request.method != "tools/call" {
        return None;
    }
    let mut params = request.params.clone()?;
    let arguments = params.get_mut("arguments")?;
    let parsed: Value = match arguments.as_str()?.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).ok()?,
    };
    *arguments = Value::Object(parsed.as_object()?.clone());
    serde_json::from_value(params).ok()
}

/// Returns who sends an HTTP request.
fn http_caller(context: &RequestContext<RoleServer>) -> Result<&HttpCaller, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    parts
        .and_then(|parts| parts.extensions.get::<HttpCaller>())
        .ok_or_else(|| internal("the request has no caller"))
}

/// Runs a call on its own task, so that a panic becomes an error; with rmcp alone the caller would wait forever.
async fn run_guarded(
    call: impl Future<Output = Result<Value, Failure>> + Send + 'static,
) -> Result<Value, Failure> {
    let task = AbortOnDropHandle::new(tokio::spawn(call));
    match tokio::time::timeout(DEADLINE, task).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(Failure::new(Code::Internal, "an internal error ended the call")
            .hint("Run loci ctl logs and report the error")),
        Err(_) => Err(deadline_exceeded()),
    }
}

/// Waits until the client cancels its call. A draining daemon cancels every call's token too, but then the call is finished.
async fn cancelled_by_client(context: &RequestContext<RoleServer>, draining: &CancellationToken) {
    context.ct.cancelled().await;
    if draining.is_cancelled() {
        std::future::pending::<()>().await;
    }
}

/// Notifies the client of progress every second, if it requested that.
async fn notify_progress(context: &RequestContext<RoleServer>) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut seconds = 0.0;
    loop {
        tokio::time::sleep(PROGRESS_INTERVAL).await;
        seconds += PROGRESS_INTERVAL.as_secs_f64();
        let notification = ProgressNotificationParam::new(token.clone(), seconds)
            .with_message("The call is in progress");
        if context.peer.notify_progress(notification).await.is_err() {
            return std::future::pending().await;
        }
    }
}

fn deadline_exceeded() -> Failure {
    Failure::new(Code::Busy, format!("the call took more than {} s", DEADLINE.as_secs()))
        .hint("Call again; a store may have succeeded")
}

/// Returns the checkout that the shim sent with a call.
fn checkout(meta: Option<&Value>) -> Option<Checkout> {
    serde_json::from_value(meta?.clone()).ok()
}

/// Returns the result of a call where loci is off. No error: there is nothing that the model could correct.
fn off(failure: &Failure) -> CallToolResult {
    let reply = json!({"off": true, "reason": failure.message, "next_step": failure.hint});
    structured(ModelReply::new(reply, orders), None)
}

/// Returns the argument that makes a tool's reply smaller.
fn smaller_reply_hint(tool: &str) -> &'static str {
    match tool {
        "recall_memory" => "Request fewer results, or set token_budget",
        "memory_inspect" => {
            "Set include_relations to false; the text alone: recall_memory with ids"
        }
        _ => "Run the command of loci with the same name",
    }
}

/// Returns the result of a successful call; an error result if the reply is too large.
fn success(reply: ModelReply, tool: &str) -> CallToolResult {
    let bytes = reply.bytes();
    if bytes > limits::REPLY_BYTES {
        let failure = Failure::new(
            Code::TooLarge,
            format!("the answer has {bytes} bytes; the limit is {}", limits::REPLY_BYTES),
        );
        return failed(&failure.hint(smaller_reply_hint(tool)));
    }
    let is_copied = bytes <= MAX_TEXT_COPY_BYTES;
    structured(reply, (!is_copied).then(|| ModelText::own("The answer is in structuredContent.")))
}

fn tool(tool: &tools::Tool) -> Tool {
    // A hint with the default of MCP, and one that a reading tool makes meaningless, is left out.
    let changes_store = !tool.read_only;
    let mut annotations = ToolAnnotations::new().open_world(false);
    annotations.read_only_hint = tool.read_only.then_some(true);
    annotations.destructive_hint = (changes_store && !tool.destructive).then_some(false);
    annotations.idempotent_hint = (changes_store && tool.idempotent).then_some(true);
    let listed = Tool::new(tool.name, tool.description.clone(), tool.input.clone())
        .with_title(tool.title)
        .with_annotations(annotations);
    if !tool.is_always_loaded {
        return listed;
    }
    let always = Map::from_iter([(tools::ALWAYS_LOAD.to_owned(), Value::Bool(true))]);
    listed.with_meta(MetaObject(always))
}
