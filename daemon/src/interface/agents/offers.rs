//! Prompts and resources on the wire: the lists, and what stands behind a name or a URI.

use crate::handlers;
use crate::handlers::{Asked, read};
use crate::interface::agents::session::Session;
use crate::service::Service;
use loci_proto::error::{Code, Failure};
use loci_proto::mcp::prompts::PROMPTS;
use loci_proto::mcp::resources::{OWN_GROUP, Resource};
use rmcp::model::{
    ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, Prompt, PromptArgument, PromptMessage,
    ReadResourceResult, Resource as Listed, ResourceContents, ResourceTemplate, Role,
};
use serde_json::{Map, Value, json};

/// MCP: there is no such resource.
const NO_RESOURCE: ErrorCode = ErrorCode(-32002);

/// Every prompt.
pub fn prompts() -> ListPromptsResult {
    let listed = PROMPTS.iter().map(|prompt| {
        let arguments = prompt.argument.map(|argument| {
            vec![
                PromptArgument::new(argument.name)
                    .with_description(argument.description)
                    .with_required(false),
            ]
        });
        Prompt::new(prompt.name, Some(prompt.description), arguments).with_title(prompt.title)
    });
    ListPromptsResult::with_all_items(listed.collect())
}

/// The text of one prompt.
pub fn prompt(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let unknown =
        || ErrorData::invalid_params(format!("there is no prompt {}", request.name), None);
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == request.name).ok_or_else(unknown)?;
    let given = prompt
        .argument
        .and_then(|argument| request.arguments.as_ref()?.get(argument.name)?.as_str());
    let message = PromptMessage::new_text(Role::User, prompt.text(given));
    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description))
}

/// What can be read without knowing an id.
pub fn resources() -> ListResourcesResult {
    let own = Listed::new(OWN_GROUP, "group")
        .with_title("This project's memory")
        .with_description("A brief of what is known here");
    ListResourcesResult::with_all_items(vec![own.with_mime_type("text/markdown")])
}

/// What can be read by an id or a name.
pub fn templates() -> ListResourceTemplatesResult {
    let memory = ResourceTemplate::new("loci://memory/{id}", "memory")
        .with_description("Everything about one memory");
    let group = ResourceTemplate::new("loci://group/{group}", "group")
        .with_description("A brief of what is known in one project");
    ListResourceTemplatesResult::with_all_items(vec![
        memory.with_mime_type("application/json"),
        group.with_mime_type("text/markdown"),
    ])
}

/// One resource.
pub async fn resource(
    service: &Service,
    session: &Session,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let text = match Resource::parse(uri).map_err(told)? {
        Resource::Memory(id) => {
            let given = json!({"memory_id": id, "include_log": false})
                .as_object()
                .cloned()
                .unwrap_or_default();
            (
                inspected(service, session, given).await.map_err(told)?.to_string(),
                "application/json",
            )
        }
        Resource::Group(name) => {
            let own = service.lead(&session.group).await.unwrap_or_else(|| session.group.clone());
            let now = service.now();
            let brief = read(service, move |reader| reader.brief(name.as_ref(), &own, now))
                .await
                .map_err(told)?;
            (brief, "text/markdown")
        }
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text.0, uri).with_mime_type(text.1)]))
}

async fn inspected(
    service: &Service,
    session: &Session,
    given: Map<String, Value>,
) -> Result<Value, Failure> {
    handlers::call(service, Asked { session, name: "memory_inspect", given, key: None }).await
}

#[expect(clippy::needless_pass_by_value, reason = "it is what an error is mapped by")]
fn told(failure: Failure) -> ErrorData {
    let code = match failure.code {
        Code::NotFound => NO_RESOURCE,
        Code::Invalid => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    ErrorData::new(code, failure.to_string(), None)
}
