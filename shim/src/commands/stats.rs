//! `loci stats`: prints the number of memories and relations, and the size of the database.

use crate::cli::memories::Stats;
use crate::client::call::VerbClient;
use crate::commands::reply_text::{date, print_json};
use crate::commands::stats_chart;
use crate::output::{Problem, escape_line, print_line, print_note};
use loci_proto::requests::stats::{StatsReply, StatsRequest};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Prints the statistics.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Stats) -> Result<(), Problem> {
    let raw_reply = client.ask(&StatsRequest { group: args.group.clone() }).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    // Without a project, the whole store is counted.
    let place = args.group.as_ref().map_or_else(
        || "--all-groups".to_owned(),
        |group| format!("--group {}", escape_line(group.as_str())),
    );
    if args.chart {
        return print_line(stats_chart::text(client, args.group).await?.trim_end());
    }
    let reply: StatsReply = raw_reply.parse()?;
    print_line(stats_text(&reply, &place).trim_end())?;
    if let Some(hint) = &reply.degraded.hint {
        print_note("Note:", hint);
    }
    Ok(())
}

fn stats_text(stats: &StatsReply, place: &str) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<15} {value}");
    };
    row("active", format!("{}{}", stats.active_memories, counts_text(&stats.by_type)));
    row(
        "by scope",
        counts_text(&stats.by_scope)
            .trim_start_matches([' ', '('])
            .trim_end_matches(')')
            .to_owned(),
    );
    let others = stats.forgotten + stats.compacted + stats.candidates + stats.rejected;
    let replaced = stats.superseded_memories.saturating_sub(others);
    row(
        "inactive",
        format!(
            "{replaced} replaced, {} compacted, {} forgotten",
            stats.compacted, stats.forgotten
        ),
    );
    if stats.candidates > 0 {
        row("candidates", format!("{} (loci review --candidates {place})", stats.candidates));
    }
    if stats.rejected > 0 {
        row("rejected", format!("{} (loci list --status rejected {place})", stats.rejected));
    }
    if stats.expired > 0 {
        row("expired", stats.expired.to_string());
    }
    if stats.flagged > 0 {
        row("faded", format!("{} (loci list --status flagged {place})", stats.flagged));
    }
    if stats.without_vector > 0 {
        row("without vector", format!("{} (found by keywords only)", stats.without_vector));
    }
    row("relations", stats.entity_relations.to_string());
    if let (Some(oldest), Some(newest)) = (&stats.oldest_memory, &stats.newest_memory) {
        row("stored", format!("{} to {}", date(oldest), date(newest)));
    }
    if !stats.default_scopes.is_empty() {
        let scope = |(kind, scope): (&String, &String)| format!("{kind} {scope}");
        let scopes: Vec<String> = stats.default_scopes.iter().map(scope).collect();
        row("default scope", scopes.join(", "));
    }
    if stats.isolated {
        row("isolated", "this project keeps its memories to itself".to_owned());
    }
    if let Some(off) = &stats.off {
        row("off", escape_line(off));
    }
    row("database", format!("{:.1} MiB", stats.db_size_bytes as f64 / (1024.0 * 1024.0)));
    text
}

fn counts_text(counts: &BTreeMap<String, u64>) -> String {
    let parts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}
