//! Stores a sentence and recalls it: `cargo run --example remember -p loci-client -- 'The ferry leaves at nine'`.

use loci_client::{Client, Error};
use loci_proto::memory::MemoryType;
use loci_proto::requests::recall::RecallRequest;
use loci_proto::requests::store::StoreRequest;
use std::process::ExitCode;

fn main() -> ExitCode {
    match remember() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn remember() -> Result<(), Error> {
    let text = std::env::args().nth(1).unwrap_or_else(|| "The ferry leaves at nine".to_owned());
    let mut loci = Client::builder("remember", env!("CARGO_PKG_VERSION")).connect()?;
    let stored = loci.store(&StoreRequest::new(text.clone(), MemoryType::Semantic))?;
    println!("stored as {}", stored.id);
    let reply = loci.recall(&RecallRequest { query: Some(text), ..RecallRequest::default() })?;
    for memory in reply.results {
        println!("{:.2}  {}", memory.score.unwrap_or_default(), memory.preview.unwrap_or_default());
    }
    Ok(())
}
