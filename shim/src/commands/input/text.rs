//! Reads a text argument; `-` means standard input.

use crate::output::Problem;
use std::collections::VecDeque;
use std::io::Read;

/// Maximum number of bytes read. The daemon's own limit is lower.
const MAX_BYTES: u64 = 1024 * 1024;

/// Bytes of the beginning and of the end of a program's output that are kept.
const OUTPUT_BYTES: usize = 512 * 1024;

/// Returns beginning and end of a program's output, of any length and encoding; the end is empty if the beginning is all of it.
///
/// # Errors
/// When standard input cannot be read.
pub fn read_output(text: String) -> Result<(String, String), Problem> {
    if text != "-" {
        return Ok((text, String::new()));
    }
    let mut input = std::io::stdin().lock();
    let mut beginning = Vec::new();
    input.by_ref().take(OUTPUT_BYTES as u64).read_to_end(&mut beginning)?;
    let (mut end, mut part) = (VecDeque::new(), vec![0; 64 * 1024]);
    loop {
        let length = input.read(&mut part)?;
        if length == 0 {
            break;
        }
        end.extend(&part[..length]);
        end.drain(..end.len().saturating_sub(OUTPUT_BYTES));
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((text(&beginning), text(end.make_contiguous())))
}

/// Returns the text, without a final line break if it comes from standard input.
///
/// # Errors
/// When standard input cannot be read, is not UTF-8, or is longer than 1 MiB.
pub fn read_argument(text: String) -> Result<String, Problem> {
    if text != "-" {
        return Ok(text);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::new("Standard input is too long").hint("A memory has at most 32 KiB"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        Problem::new("Standard input is not UTF-8").because(&error.utf8_error())
    })?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}
