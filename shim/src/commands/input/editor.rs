//! Edits a text in the person's editor: `VISUAL`, else `EDITOR`, else `vi`. The text is in a private file that is removed afterwards.

use crate::output::Problem;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// How a shell ends if a program may not be run.
const CANNOT_START: i32 = 126;
/// How a shell ends if there is no such program.
const NOT_FOUND: i32 = 127;

/// Returns the edited text; `None` if it was not changed.
///
/// # Errors
/// When the file cannot be written or read, there is no editor, or it failed, on purpose (`:cq`) or not.
pub fn edit(text: &str) -> Result<Option<String>, Problem> {
    let mut file = tempfile::Builder::new().prefix("loci-edit-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let status = run(&editor, file.path()).map_err(|error| {
        Problem::new(format!("The editor {editor} cannot be started"))
            .because(&error)
            .hint("Set EDITOR to an editor that is installed")
    })?;
    match status.code() {
        Some(0) => {}
        Some(CANNOT_START | NOT_FOUND) => {
            return Err(Problem::new(format!("The editor {editor} cannot be started"))
                .hint("Set EDITOR to an editor that is installed"));
        }
        _ => {
            let message = format!("The editor {editor} failed ({status}); nothing was changed");
            return Err(Problem::new(message));
        }
    }
    // Editors may replace the file by another one of the same name.
    let edited = std::fs::read_to_string(file.path())?;
    let edited = edited.strip_suffix('\n').unwrap_or(&edited);
    Ok((edited.trim() != text.trim()).then(|| edited.to_owned()))
}

/// Runs the editor as a shell would, because its variable may contain arguments.
fn run(editor: &str, path: &Path) -> std::io::Result<std::process::ExitStatus> {
    Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(path).status()
}
