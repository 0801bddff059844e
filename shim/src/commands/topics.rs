//! `loci topics`: lists what the memories are about.

use crate::cli::discovery::Topics;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::print_json;
use crate::output::{Problem, escape_line, print_line, print_note, table};
use loci_proto::requests::topics::{Topic, TopicsReply, TopicsRequest};

/// Lists the topics, the largest first.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Topics) -> Result<(), Problem> {
    let request = TopicsRequest {
        kind: args.kind,
        from_group: args.group.is_some(),
        group: args.group,
        count: args.count.map(usize::from),
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: TopicsReply = raw_reply.parse()?;
    if reply.topics.is_empty() {
        print_line("There are no topics.")?;
    } else {
        let mut rows = vec![["TOPIC", "MEMORIES", "ID", "MEMORY"].map(str::to_owned)];
        rows.extend(reply.topics.iter().map(row));
        print_line(table(&rows).trim_end())?;
        let topics = if reply.topics.len() == 1 { "topic" } else { "topics" };
        let memories = if reply.grouped == 1 { "memory" } else { "memories" };
        print_line(format!("\n{} {topics} of {} {memories}", reply.topics.len(), reply.grouped))?;
    }
    if reply.without_vector > 0 {
        let text = format!(
            "Memories in no topic, since they wait for the model: {}",
            reply.without_vector
        );
        print_note("Note:", &text);
    }
    Ok(())
}

fn row(topic: &Topic) -> [String; 4] {
    let name = if topic.name.is_empty() { "-" } else { &topic.name };
    [
        escape_line(name),
        topic.count.to_string(),
        memory_id::short(topic.example.id.as_str()),
        escape_line(&topic.example.preview),
    ]
}
