//! `loci bridge restore`: brings back a version of a memory file. What is overwritten is kept as a version first.

use crate::cli::bridge::Restore;
use crate::client::call::VerbClient;
use crate::commands::bridge::look::scan;
use crate::commands::bridge::show::in_full;
use crate::commands::bridge::target::{Target, WRITES};
use crate::output::{Problem, confirm, escape_line, print_line, print_note};
use crate::speaker::require_person;
use loci_proto::requests::bridge::{BridgeFileReply, BridgeFileRequest};
use serde_json::json;

pub async fn run(client: &VerbClient, args: &Restore) -> Result<(), Problem> {
    if !args.dry_run {
        require_person(WRITES, "loci bridge restore")?;
    }
    let state = scan(client, args.file.is_none()).await?;
    let files = match &args.file {
        Some(file) => vec![in_full(file)],
        None => state.files.into_iter().filter(|file| file.gone).map(|file| file.path).collect(),
    };
    if files.is_empty() && !args.json {
        return print_line(
            "No memory file was deleted. For an overwritten one: loci bridge restore FILE",
        );
    }
    let mut restored = Vec::new();
    for file in files {
        let version = Some(args.version.unwrap_or(0));
        let request = BridgeFileRequest { file, version };
        let reply: BridgeFileReply = client.call(&request).await?;
        if restore(args, &reply)? {
            restored.push(json!({"path": reply.path, "version": reply.number}));
        }
    }
    if !args.dry_run && !restored.is_empty() {
        // The restored state is a version too.
        scan(client, false).await?;
    }
    if args.json {
        return print_line(json!({"restored": restored, "written": !args.dry_run}).to_string());
    }
    Ok(())
}

/// Restores one file; returns false if it has that text already.
fn restore(args: &Restore, reply: &BridgeFileReply) -> Result<bool, Problem> {
    let (text, number) = (reply.text.as_deref().unwrap_or_default(), reply.number.unwrap_or(0));
    let target = Target::new(&reply.path, &reply.roots)?;
    let shown = escape_line(&reply.path);
    if target.before.as_deref() == Some(text) {
        if !args.json {
            print_line(format!("{shown} is version {number}"))?;
        }
        return Ok(false);
    }
    if !target.is_kept_as(reply.current.as_deref()) {
        return Err(Problem::new(format!("{shown} is not kept as it is now"))
            .hint("Nothing was written. See loci bridge status, then run the command again"));
    }
    if !args.json {
        print_line(target.diff(text))?;
    }
    let replaced = reply.versions.iter().find(|version| version.number == number);
    if let Some(parts) = replaced.map(|version| version.replaced).filter(|parts| *parts > 0) {
        let text = format!(
            "What version {number} does not have: {parts} secrets, private or forgotten parts"
        );
        print_note("Note:", &text);
    }
    if args.dry_run {
        return Ok(true);
    }
    let question = format!("Write version {number} to {shown}?");
    confirm(&question, args.yes.into())?;
    target.write(text, reply.mode.unwrap_or(0o600))?;
    if !args.json {
        print_line(format!("Restored version {number} of {shown}"))?;
    }
    Ok(true)
}
