//! A text of the command line, or of standard input where it is `-`.

use crate::output::Problem;
use std::io::Read;

/// Most bytes that are read; the daemon takes less and says how much.
const MOST: u64 = 1024 * 1024;

/// The text; the line break at the end of an input is not part of it.
///
/// # Errors
/// When standard input cannot be read, is no UTF-8, or goes on and on.
pub fn given(text: String) -> Result<String, Problem> {
    if text != "-" {
        return Ok(text);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(Problem::new("Standard input is longer than any memory")
            .hint("A memory has at most 32 KiB"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        Problem::new("Standard input is not UTF-8").because(&error.utf8_error())
    })?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}
