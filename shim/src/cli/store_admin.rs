//! What the commands take that move the whole store, or look after it.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `loci export`
#[derive(Debug, Args)]
pub struct Export {
    /// Write into this file instead of standard output: whole or not at all, readable by you alone.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// One record a line, or one JSON document that holds the same.
    #[arg(long, default_value = "jsonl", value_parser = ["jsonl", "json"])]
    pub format: String,
    /// Also the vectors, which can be made anew from the texts.
    #[arg(long)]
    pub vectors: bool,
    /// Replace the file if it is there.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// `loci import`
#[derive(Debug, Args)]
pub struct Import {
    /// What loci export has written; - for standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Leave out lines that cannot be imported, and list them.
    #[arg(long)]
    pub skip_bad: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci reset`
#[derive(Debug, Args)]
pub struct Reset {
    /// Do not ask.
    #[arg(long, short)]
    pub yes: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci doctor`
#[derive(Debug, Args)]
pub struct Doctor {
    /// Print the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci eval`
#[derive(Debug, Args)]
pub struct Eval {
    /// Of how many memories probes are made, 0 to 2000.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(0..=2000))]
    pub probes: u16,
    /// Which memories: the same number takes the same ones.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// Compare with another value of `retrieval.fusion`, `retrieval.vector_weight` or `retrieval.rrf_k`; may be given more than once.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Print the figures as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `loci groups`
#[derive(Debug, Subcommand)]
pub enum Groups {
    /// List the projects with their ids, other names and memories.
    #[command(after_help = "Example\n  loci groups list")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Give a project another display name; its id stays.
    #[command(after_help = "Example\n  loci groups rename shop 'the shop'")]
    Rename {
        /// The project: its id, another name of it, or its display name.
        group: String,
        /// The new display name.
        to: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Move every memory of one project into another; the old name then leads there. Can be undone.
    #[command(
        after_help = "Example: a folder that has moved\n  loci groups merge g_1f0c9a1e77ab01cd shop --yes"
    )]
    Merge {
        /// The project that ends.
        from: String,
        /// The project that goes on.
        into: String,
        /// Do not ask.
        #[arg(long, short)]
        yes: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Give a project one more name that calls can use.
    #[command(after_help = "Example: take it away again\n  loci groups alias shop store --remove")]
    Alias {
        /// The project.
        group: String,
        /// The name.
        name: String,
        /// Take the name away.
        #[arg(long)]
        remove: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
