//! MCP prompts: the list, and the text of one.

use crate::interface::agents::session::Session;
use crate::interface::agents::{exits, resources};
use crate::service::Service;
use loci_proto::gate::ModelText;
use loci_proto::mcp::prompts;
use loci_proto::mcp::prompts::{ANNOTATE, NOTHING_UNLINKED};
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
};

/// Lists every prompt.
pub fn list() -> ListPromptsResult {
    let listed = prompts::all().iter().map(|prompt| {
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

/// Returns one prompt with its text, and, for [`ANNOTATE`], the memories that it is about.
pub async fn get(
    service: &Service,
    session: &Session,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let unknown = || exits::invalid("there is no prompt ", &request.name);
    let prompt =
        prompts::all().iter().find(|prompt| prompt.name == request.name).ok_or_else(unknown)?;
    let argument =
        prompt.argument.and_then(|known| request.arguments.as_ref()?.get(known.name)?.as_str());
    // By itself: in the text it begins no line.
    let argument = argument.map(ModelText::reply);
    let mut text = ModelText::reply(&prompt.text(argument.as_deref()));
    if prompt.name == ANNOTATE {
        let unlinked = resources::unlinked(service, session).await?;
        let nothing = ModelText::own(NOTHING_UNLINKED);
        text = text.and_own("\n\n").and(if unlinked.is_empty() { &nothing } else { &unlinked });
    }
    Ok(GetPromptResult::new(vec![exits::message(text)]).with_description(prompt.description))
}
