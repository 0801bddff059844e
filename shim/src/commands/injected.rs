//! `loci injected`: lists what hooks delivered to clients, and what they withheld.

use crate::cli::hooks::Injected;
use crate::client::call::VerbClient;
use crate::commands::reply_text::{date_time, print_json};
use crate::commands::row_details::RowDetails;
use crate::output::{MarkedText, MemoryRow, Problem, Rows, Screen, escape_line, print_line};
use loci_proto::memory::MemoryId;
use loci_proto::requests::injected::{InjectedReply, InjectedRequest, Receipt, ReceiptMemory};
use std::collections::BTreeSet;

/// Prints the receipts, newest first.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Injected) -> Result<(), Problem> {
    let request = InjectedRequest {
        session: args.session,
        limit: Some(usize::from(args.limit)),
        all: args.all,
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: InjectedReply = raw_reply.parse()?;
    if reply.receipts.is_empty() {
        return print_line("No hook has delivered or withheld anything.");
    }
    let of_receipt = |receipt: &'_ Receipt| -> Vec<MemoryId> {
        receipt.memories.iter().chain(&receipt.withheld).map(|memory| memory.id.clone()).collect()
    };
    let ids: BTreeSet<MemoryId> = reply.receipts.iter().flat_map(of_receipt).collect();
    let details = RowDetails::fetch(client, &ids).await?;
    let rows = Rows::new(Screen::of_stdout());
    let mut text: Vec<String> =
        reply.receipts.iter().map(|receipt| receipt_text(receipt, &rows, &details)).collect();
    if reply.more {
        text.push("There are older receipts; show more with --limit".to_owned());
    }
    print_line(text.join("\n\n"))
}

fn receipt_text(receipt: &Receipt, rows: &Rows, details: &RowDetails) -> String {
    let project = receipt.project.as_deref().map(|name| format!(", project {}", escape_line(name)));
    let session = match receipt.session.as_str() {
        "" => String::new(),
        id => format!(", session {}", escape_line(id)),
    };
    let tokens = match receipt.tokens {
        0 => String::new(),
        tokens => format!(", {tokens} tokens"),
    };
    let head = format!(
        "{}  {} {}: {}{tokens} ({}){}{session}",
        date_time(&receipt.at),
        escape_line(&receipt.client),
        escape_line(&receipt.event),
        escape_line(&receipt.outcome),
        escape_line(&receipt.reason),
        project.unwrap_or_default(),
    );
    let row = |memory: &ReceiptMemory, mark: Option<String>| {
        let mut row = details.row(&memory.id, &memory.preview);
        let edited = memory.edited.then(|| "edited since".to_owned());
        row.marks.splice(0..0, mark.into_iter().chain(edited));
        row
    };
    let delivered = receipt.memories.iter().map(|memory| row(memory, None));
    let withheld = receipt.withheld.iter().map(|memory| {
        let why = memory.why.as_deref().unwrap_or_default();
        row(memory, Some(format!("withheld: {why}").trim_end_matches(": ").to_owned()))
    });
    let shown: Vec<MemoryRow> = delivered.chain(withheld).collect();
    let head = MarkedText::new(head).lines(rows.screen.width, rows.screen).join("\n  ");
    format!("{head}\n{}", rows.text(&shown)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_says_when_what_and_why() {
        let memory = |number: u128, why: Option<&str>| ReceiptMemory {
            id: uuid::Uuid::from_u128(number).into(),
            preview: "Deploy with \u{1b}just ship".to_owned(),
            why: why.map(str::to_owned),
            edited: number == 2,
        };
        let receipt = Receipt {
            at: "2026-02-01T09:00:00.000Z".to_owned(),
            client: "claude".to_owned(),
            event: "prompt".to_owned(),
            session: "8b1f".to_owned(),
            project: Some("shop".to_owned()),
            outcome: "delivered".to_owned(),
            reason: "matches the prompt".to_owned(),
            tokens: 30,
            memories: vec![memory(1, None)],
            withheld: vec![memory(2, Some("budget"))],
        };
        let rows = Rows::new(Screen::plain(140));
        let lines = receipt_text(&receipt, &rows, &RowDetails::default());
        let expected = "  claude prompt: delivered, 30 tokens (matches the prompt), project shop, session 8b1f";
        assert!(lines.lines().next().is_some_and(|head| head.ends_with(expected)), "{lines}");
        assert!(
            lines.contains("(withheld: budget, edited since)") && !lines.contains('\u{1b}'),
            "{lines}"
        );
    }
}
