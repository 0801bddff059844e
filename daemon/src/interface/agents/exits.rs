//! The ways by which a text leaves for a model over MCP: results of tools, errors, prompts, resources.
//!
//! Each takes only what has passed the gate (`loci_proto::gate`); Clippy refuses the functions of rmcp that take any text elsewhere
//! (`clippy.toml`). Not here: hooks, whose reply has the type itself.
#![expect(clippy::disallowed_methods, reason = "the one place where a text leaves")]

use loci_engine::flags::orders;
use loci_proto::error::{Code, Failure};
use loci_proto::gate::{ModelReply, ModelText};
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorCode, ErrorData, PromptMessage, ResourceContents, Role,
};

/// MCP's error code for a resource that does not exist.
const RESOURCE_NOT_FOUND: ErrorCode = ErrorCode(-32002);

/// Returns a protocol error.
pub(super) fn error(code: ErrorCode, text: ModelText) -> ErrorData {
    ErrorData::new(code, String::from(text), None)
}

/// Returns a protocol error that says what is wrong with a name, which the message repeats.
pub(super) fn invalid(what: &'static str, name: &str) -> ErrorData {
    let text = ModelText::own(what).and(&ModelText::name(name, orders));
    error(ErrorCode::INVALID_PARAMS, text)
}

/// Returns a fault of loci as a protocol error.
pub(super) fn internal(what: &'static str) -> ErrorData {
    error(ErrorCode::INTERNAL_ERROR, ModelText::own(what))
}

/// Returns the protocol error of a failed read.
#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
pub(super) fn error_data(failure: Failure) -> ErrorData {
    let code = match failure.code {
        Code::NotFound => RESOURCE_NOT_FOUND,
        Code::Invalid => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    error(code, ModelText::failure(&failure, orders))
}

/// Returns the result of a failed call.
pub(super) fn failed(failure: &Failure) -> CallToolResult {
    let text = ModelText::failure(failure, orders);
    CallToolResult::error(vec![ContentBlock::text(String::from(text))])
}

/// Returns the result of a call; with `copy`, its text is this instead of the reply as JSON.
pub(super) fn structured(reply: ModelReply, copy: Option<ModelText>) -> CallToolResult {
    let mut result = CallToolResult::structured(reply.into_json());
    if let Some(copy) = copy {
        result.content = vec![ContentBlock::text(String::from(copy))];
    }
    result
}

/// Returns the message of a prompt.
pub(super) fn message(text: ModelText) -> PromptMessage {
    PromptMessage::new_text(Role::User, String::from(text))
}

/// Returns the contents of a resource.
pub(super) fn contents(text: ModelText, uri: &str, mime_type: &str) -> ResourceContents {
    let uri = String::from(ModelText::reply(uri));
    ResourceContents::text(String::from(text), uri).with_mime_type(mime_type)
}
