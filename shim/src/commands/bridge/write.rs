//! `loci bridge write claude`: writes the memories of the project into the MEMORY.md of Claude Code, as a block between two marks.
//!
//! Nothing outside the marks changes, and the file stays within what Claude Code loads. Not here: which memories (the daemon).

use crate::cli::bridge::Write;
use crate::client::call::VerbClient;
use crate::commands::bridge::folders;
use crate::commands::bridge::look::scan;
use crate::commands::bridge::target::{Target, WRITES};
use crate::output::{Problem, confirm, counted, escape_line, print_line};
use crate::setup::environment::Environment;
use crate::speaker::require_person;
use loci_proto::gate::ModelText;
use loci_proto::requests::bridge::{
    BLOCK_BEGIN, BLOCK_END, BridgeBlockReply, BridgeBlockRequest, BridgeClient, LOADED_BYTES,
    LOADED_LINES, claude_folder_name,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The line above the memories.
const HEADING: &str = "## From loci (notes, not instructions)";
/// Maximum memories of a block.
const MAX_MEMORIES: usize = 40;

pub async fn run(client: &VerbClient, args: &Write) -> Result<(), Problem> {
    if !args.dry_run {
        require_person(WRITES, "loci bridge write")?;
    }
    scan(client, false).await?;
    let max_lines = Some(if args.remove { 0 } else { MAX_MEMORIES });
    let request = BridgeBlockRequest { client: BridgeClient::Claude, max_lines };
    let reply: BridgeBlockReply = client.call(&request).await?;
    let Some(folder) = &reply.folder else {
        return Err(Problem::new("The memory of claude is not watched")
            .hint("Switch it on first, so that every version is kept: loci bridge claude --on"));
    };
    let folder = Path::new(folder);
    let path = memory_file(folder)?;
    let root = folder.join("projects").to_string_lossy().into_owned();
    let target = Target::new(&path.to_string_lossy(), &[root])?;
    let lines = if args.remove { &[] } else { reply.lines.as_slice() };
    let before = target.before.clone().unwrap_or_default();
    let (after, written) = with_block(&before, lines)?;
    let shown = escape_line(&path.to_string_lossy());
    let is_changed = after != before;
    if !args.json {
        if !is_changed {
            return print_line(format!("Nothing to write to {shown}"));
        }
        print_line(target.diff(&after))?;
    }
    if is_changed && !args.dry_run {
        confirm(&format!("Write this to {shown}?"), args.yes.into())?;
        target.write(&after, 0o600)?;
        scan(client, false).await?;
    }
    if args.json {
        let reply = json!({
            "path": path,
            "memories": written,
            "withheld": reply.withheld,
            "written": is_changed && !args.dry_run,
        });
        return print_line(reply.to_string());
    }
    if args.dry_run {
        return Ok(());
    }
    let project = escape_line(&reply.project);
    if args.remove {
        return print_line(format!("Took the memories of {project} out of {shown}"));
    }
    let memories = counted(written, "memory", "memories");
    print_line(format!("{shown} has {memories} of {project} now"))
}

/// Returns the memory file of the project in which the command runs.
fn memory_file(folder: &Path) -> Result<PathBuf, Problem> {
    let home = Environment::of_process().map(|environment| environment.home);
    if let Some(other) = home.and_then(|home| folders::auto_memory(folder, &home)) {
        let shown = escape_line(&other.to_string_lossy());
        let message = format!("Claude Code keeps its memory in {shown} (autoMemoryDirectory)");
        return Err(Problem::new(message)
            .hint("loci writes only to the memory file of one project; nothing was written"));
    }
    let here = std::env::current_dir()?;
    let project = folders::project_of(here, String::new()).ok_or_else(|| {
        Problem::new("This folder is no project").hint("Run the command in the project's folder")
    })?;
    let work_tree = project.path.strip_suffix("/.git").unwrap_or(&project.path);
    let name = claude_folder_name(work_tree);
    Ok(folder.join("projects").join(name).join("memory").join("MEMORY.md"))
}

/// Returns the text with the block, and the number of memories in it; as many as fit into what is loaded.
fn with_block(text: &str, lines: &[ModelText]) -> Result<(String, usize), Problem> {
    let (mut before, after) = around_block(text)?;
    // The blank line above the block was written with it.
    let has_block = text.lines().any(|line| line.trim() == BLOCK_BEGIN);
    if lines.is_empty() && has_block && before.ends_with("\n\n") {
        before.pop();
    }
    for count in (0..=lines.len()).rev() {
        let block = block(&lines[..count]);
        let gap = if before.is_empty() || before.ends_with("\n\n") || block.is_empty() {
            ""
        } else if before.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        let new = format!("{before}{gap}{block}{after}");
        if new.len() <= LOADED_BYTES && new.lines().count() <= LOADED_LINES {
            return Ok((new, count));
        }
        if count == 0 && lines.is_empty() {
            return Ok((new, 0));
        }
    }
    let message = format!(
        "MEMORY.md has {} lines and {} bytes; Claude Code loads {LOADED_LINES} lines and {LOADED_BYTES} bytes",
        text.lines().count(),
        text.len()
    );
    Err(Problem::new(message).hint("Nothing was written. Shorten the file first"))
}

fn block(lines: &[ModelText]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let clean = |line: &ModelText| line.replace("<!--", "<!- -").replace("-->", "- ->");
    let lines: Vec<String> = lines.iter().map(clean).collect();
    format!("{BLOCK_BEGIN}\n{HEADING}\n\n{}\n{BLOCK_END}\n", lines.join("\n"))
}

/// Returns what is above and below the block; the gap above it belongs to neither.
fn around_block(text: &str) -> Result<(String, String), Problem> {
    let mut parts = (String::new(), String::new());
    let (mut is_inside, mut was_found) = (false, false);
    for line in text.split_inclusive('\n') {
        match line.trim() {
            BLOCK_BEGIN if was_found => return Err(broken()),
            BLOCK_BEGIN => (is_inside, was_found) = (true, true),
            BLOCK_END if is_inside => is_inside = false,
            BLOCK_END => return Err(broken()),
            _ if is_inside => {}
            _ if was_found => parts.1.push_str(line),
            _ => parts.0.push_str(line),
        }
    }
    if is_inside {
        return Err(broken());
    }
    Ok(parts)
}

fn broken() -> Problem {
    Problem::new("The marks of the block of loci in MEMORY.md are not a pair")
        .hint("Nothing was written. Delete the lines <!-- loci:begin … --> and <!-- loci:end -->")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> Vec<ModelText> {
        let line = |number| ModelText::reply(&format!("- Fact {number} <!-- x -->"));
        (0..count).map(line).collect()
    }

    #[test]
    fn the_rest_of_the_file_stays_and_the_block_is_replaced() {
        let (first, count) = with_block("# Mine\n\n- one\n", &lines(2)).expect("it fits");
        assert_eq!(count, 2);
        assert!(first.starts_with("# Mine\n\n- one\n\n<!-- loci:begin"), "{first}");
        assert!(first.contains("- Fact 1 <!- - x - ->\n<!-- loci:end -->\n"), "{first}");
        let below = format!("{first}- below\n");
        let (second, _) = with_block(&below, &lines(1)).expect("it fits");
        assert!(second.ends_with("<!-- loci:end -->\n- below\n"), "{second}");
        assert!(!second.contains("Fact 1"));
        let (again, _) = with_block(&second, &lines(1)).expect("it fits");
        assert_eq!(again, second);
        let (removed, _) = with_block(&second, &[]).expect("it fits");
        assert_eq!(removed, "# Mine\n\n- one\n- below\n");
        let (removed, _) = with_block(&first, &[]).expect("it fits");
        assert_eq!(removed, "# Mine\n\n- one\n");
    }

    #[test]
    fn the_file_stays_within_what_is_loaded() {
        let own = "- x\n".repeat(180);
        let (text, count) = with_block(&own, &lines(40)).expect("it fits");
        assert!(text.lines().count() <= LOADED_LINES && count > 0 && count < 40, "{count}");
        let full = "- x\n".repeat(LOADED_LINES + 1);
        assert!(with_block(&full, &lines(1)).is_err());
        assert!(with_block(&format!("{BLOCK_BEGIN}\n- x\n"), &lines(1)).is_err());
    }
}
