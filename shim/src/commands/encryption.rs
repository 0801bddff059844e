//! `loci encrypt`, `loci decrypt` and `loci rekey`: ask, stop the daemon, and have `locid encryption` convert the store. After an
//! interruption the same command goes on.

use crate::cli::encryption::{Convert, Encrypt};
use crate::client::call::VerbClient;
use crate::commands::backup::offline;
use crate::commands::short_lived;
use crate::output::{Problem, confirm, counted, escape_line, print_line};
use loci_proto::encryption::{EncryptionReply, KeyReply};
use loci_proto::error::Exit;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Runs `loci encrypt`.
///
/// # Errors
/// The build has no encryption, there is no confirmation, or the conversion fails; the same command goes on with it.
pub async fn encrypt(args: Encrypt) -> Result<ExitCode, Problem> {
    if args.show_key {
        return show_key(args.convert.json).await;
    }
    convert("encrypt", "Encrypt the memories and their backups?", args.convert).await
}

/// Runs `loci decrypt`.
///
/// # Errors
/// As [`encrypt`].
pub async fn decrypt(args: Convert) -> Result<ExitCode, Problem> {
    convert("decrypt", "Write the memories and their backups as plain files?", args).await
}

/// Runs `loci rekey`.
///
/// # Errors
/// As [`encrypt`].
pub async fn rekey(args: Convert) -> Result<ExitCode, Problem> {
    convert("rekey", "Encrypt the memories and their backups with a new key?", args).await
}

async fn convert(command: &str, question: &str, args: Convert) -> Result<ExitCode, Problem> {
    // Before the question, and before the daemon is stopped for nothing.
    short_lived::run(&["encryption", "check"]).await?;
    confirm(question, args.yes.into())?;
    let client = VerbClient::of_process()?;
    let reply = offline::run_command_alone(&client, &["encryption", command]).await?;
    if args.json {
        print_line(&reply)?;
    } else {
        print_line(reply_text(&short_lived::parse(&reply)?))?;
    }
    Ok(Exit::Ok.into())
}

async fn show_key(json: bool) -> Result<ExitCode, Problem> {
    let reply = short_lived::run(&["encryption", "key"]).await?;
    if json {
        print_line(&reply)?;
    } else {
        let KeyReply { key_file, text } = short_lived::parse(&reply)?;
        print_line(format!("# {}\n{}", escape_line(&key_file), text.trim_end()))?;
    }
    Ok(Exit::Ok.into())
}

fn reply_text(reply: &EncryptionReply) -> String {
    let done = [(reply.database_converted, "the database".to_owned())]
        .into_iter()
        .chain([(
            reply.backups_converted > 0,
            counted(reply.backups_converted, "backup", "backups"),
        )])
        .filter_map(|(is_done, what)| is_done.then_some(what))
        .collect::<Vec<_>>();
    let done = if done.is_empty() { "nothing was left to do".to_owned() } else { done.join(", ") };
    let memories = counted(reply.memories, "memory", "memories");
    let mut text = match &reply.key {
        Some(key) => format!(
            "Encrypted with the key {key}: {memories} ({done})\n  The key: {}. Without it nobody can read them: keep a copy elsewhere (loci encrypt --show-key)",
            escape_line(&reply.key_file)
        ),
        None => format!(
            "Not encrypted: {memories} ({done})\n  The keys stay in {}, for copies that you have elsewhere",
            escape_line(&reply.key_file)
        ),
    };
    for left in &reply.left {
        let (path, reason) = (escape_line(&left.path), escape_line(&left.reason));
        let _ = write!(text, "\n  Left as it is: {path}: {reason}");
    }
    text
}
