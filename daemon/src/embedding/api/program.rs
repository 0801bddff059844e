//! `locid embed`: reads lines with texts, has the provider encode them, and writes lines with vectors. The daemon starts it.
//!
//! It ends when its input ends, or with the daemon. Not here: the daemon's side (`process`).

use crate::embedding::api::http::Client;
use crate::embedding::api::key::Key;
use crate::embedding::api::messages::{Reply, Request, Settings};
use crate::process::startup;
use loci_proto::error::Exit;
use serde::de::DeserializeOwned;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// Runs the program.
#[must_use]
pub fn run() -> ExitCode {
    startup::make_private();
    startup::end_with_parent();
    match serve(&mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(()) => Exit::Ok.into(),
        Err(error) => {
            let _ = writeln!(io::stderr(), "locid embed: {error}");
            Exit::Failed.into()
        }
    }
}

fn serve(input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
    let Some(settings) = read::<Settings>(input)? else { return Ok(()) };
    let key = match Key::read(&settings) {
        Ok(key) => key,
        Err(failure) => return write(output, &Reply::Failed(failure)),
    };
    let client = Client::new(settings, key);
    write(output, &Reply::Done { vectors: Vec::new(), tokens: None })?;
    while let Some(request) = read::<Request>(input)? {
        write(output, &client.embed(&request))?;
    }
    Ok(())
}

/// Reads a line; `None` at the end of the input.
fn read<T: DeserializeOwned>(input: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    // The error of the parser may repeat a part of the line.
    let unreadable = |_| io::Error::new(io::ErrorKind::InvalidData, "a line cannot be read");
    serde_json::from_str(&line).map(Some).map_err(unreadable)
}

fn write(output: &mut impl Write, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}
